// A small model with a tensor of each kind that is edited in a way of its own, and its sidecar.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/sidecar/sidecar.h"
#include "tests/unit/errors.h"
#include "tests/unit/models.h"
#include "tests/unit/temporary_folder.h"

namespace onnxfs::testing {

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

inline void put(Stage& stage, std::string_view text, uint64_t offset = 0) { stage.write(offset, bytes_of(text)); }

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As the payload of strings has them.
inline std::string string_payload(const std::vector<std::string>& strings) {
  std::string bytes;
  for (const std::string& text : strings) bytes += fixed_bytes(text.size(), 4) + text;
  return bytes;
}

class SidecarTest : public ::testing::Test {
 protected:
  enum : uint32_t { raw, numbers, strings, outside, tied, other, broken };

  SidecarTest() {
    folder_.write("w.bin", "external data....");
    path_ = folder_.write("model.onnx", bytes());
    model_ = Model::open(path_);
  }

  static std::string bytes(std::string_view weights = "0123456789abcdef", std::string_view doc = "") {
    const auto in_file = [](std::string_view name) {
      return external(tensor(name, type::uint8, {8}), {{"location", "w.bin"}, {"length", "8"}});
    };
    return model(graph({
                     tensor("raw", type::uint8, {16}).bytes(9, weights).bytes(12, doc),
                     tensor("numbers", type::int64, {4}).packed(7, {1, 2, 300, 4}),
                     tensor("strings", type::string, {2}).bytes(6, "one").bytes(6, "two"),
                     in_file("outside"),
                     in_file("tied"),
                     tensor("other", type::uint8, {4}).bytes(9, "wxyz"),
                     tensor("broken", type::float32, {3}).bytes(9, "1234"),
                 }))
        .str();
  }

  std::string folder() const { return path_ + ".sidecar"; }
  std::string blob(int number = 1) const { return fmt::format("{}/{:08}.blob", folder(), number); }

  std::shared_ptr<Sidecar> open(const SidecarLimits& limits = {}, Disk& disk = Disk::real()) const {
    return Sidecar::open(model_, folder(), "/mnt/test", disk, Opening::ordinary, limits);
  }

  static void write(Sidecar& sidecar, uint32_t tensor, uint64_t offset, std::string_view text) {
    sidecar.write(tensor, offset, bytes_of(text));
  }
  static void replace(Sidecar& sidecar, uint32_t tensor, std::string_view text) {
    const auto stage = sidecar.stage();
    put(*stage, text);
    sidecar.replace(tensor, *stage);
  }
  std::string reopened(uint32_t tensor) const { return open()->payload(tensor).text(); }

  TemporaryFolder folder_;
  std::string path_;
  std::shared_ptr<const Model> model_;
};

}  // namespace onnxfs::testing
