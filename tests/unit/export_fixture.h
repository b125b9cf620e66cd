// A model that is exported into a folder of its own.
#pragma once

#include "core/sidecar/export.h"
#include "tests/unit/commit_fixture.h"

namespace onnxfs::testing {

class ExportFixture : public CommitTest {
 protected:
  ExportFixture() { folder_.folder("out"); }

  ExportReport run(const std::string& output, const ExportOptions& options = {}, const std::string& location = "d",
                   Disk* disk = nullptr, const Progress& progress = {}) {
    return run_to(
        output, options, [&](uint32_t) { return location; }, disk == nullptr ? disk_ : *disk, progress);
  }
  ExportReport run_to(const std::string& output, const ExportOptions& options, const LocationOf& location_of,
                      Disk& disk, const Progress& progress = {}) {
    const auto model = Model::open(path_);
    return export_model(*model, edits_of(model), output, options, location_of, progress, disk);
  }
  ExportReport run_safetensors(Disk& disk, const Progress& progress = {}) {
    const auto model = Model::open(path_);
    const PathOf path_of = [](uint32_t tensor) { return fmt::to_string(tensor); };
    return export_safetensors(model, edits_of(model), path_of, out(), progress, disk);
  }

  Edits edits_of(const std::shared_ptr<const Model>& model) const {
    return Sidecar::open(model, sidecar_folder(), "a test")->edits().snapshot();
  }
  std::string out() const { return folder_ / "out/new.onnx"; }
  std::vector<std::string> written() const { return files_in(folder_ / "out"); }
};

}  // namespace onnxfs::testing
