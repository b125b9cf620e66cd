#include "core/views/export_plan.h"

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/onnx/shared_payloads.h"
#include "core/views/model_rewrite.h"
#include "core/views/padding.h"

namespace onnxfs {

namespace {

constexpr uint64_t smallest_integers = 1024;
constexpr uint64_t smallest_others = 128;

constexpr uint64_t page = 4096;
constexpr uint64_t large_page = 65536;      // the granularity of maps on Windows
constexpr uint64_t large_tensor = 1 << 20;  // from more than this on, it is worth the gap

bool is_integer(const DataType& type) {
  return type.bits >= 8 && (type.name.starts_with("int") || type.name.starts_with("uint") || type.name == "bool");
}

// Whether readers of external data look for it where a tensor stands.
bool is_looked_for(const Catalog& catalog, const Tensor& tensor) {
  const auto& sections = catalog.sections();
  bool in_function = false, is_nested = false;
  for (uint32_t number = tensor.section; number != 0; number = sections[number].parent) {
    const Section& section = sections[number];
    if (section.kind == Section::Kind::training) return false;
    if (section.kind == Section::Kind::function) in_function = true;
    if (section.kind == Section::Kind::graph) is_nested = true;
  }
  if (tensor.kind == Kind::initializer) return !in_function;
  if (tensor.kind != Kind::attribute || (in_function && is_nested)) return false;
  return node_attribute_of(sections, tensor.section, tensor.leaf).has_value();  // and no default of a function
}

class Planner {
 public:
  Planner(const Model& model, const Edits& edits, const ExportOptions& options, const LocationOf& location_of)
      : model_(model), edits_(edits), options_(options), location_of_(location_of), shared_(model.catalog()) {}

  ExportPlan run() {
    const auto count = static_cast<uint32_t>(model_.catalog().tensors().size());
    require_sound(model_);
    for (uint32_t index = 0; index < count; ++index) place(index);
    for (File& file : files_) {
      plan_.data_files.push_back({std::move(file.location), Rope(std::move(file.extents))});
    }
    return std::move(plan_);
  }

 private:
  struct File {
    std::string location;
    std::vector<Extent> extents;
    uint64_t size = 0;
  };

  const Tensor& tensor(uint32_t index) const { return model_.catalog().tensors()[index]; }

  bool goes_out(const Tensor& tensor) const {
    if (options_.all_in_model || tensor.nbytes == 0 || tensor.type() == nullptr) return false;
    const bool is_external = tensor.storage == Storage::external;
    if (!is_external && tensor.storage != Storage::raw_data && tensor.storage != Storage::typed) return false;
    if (tensor.data_type == string_type) return false;
    if (!is_looked_for(model_.catalog(), tensor) || (tensor.kind == Kind::attribute && !options_.attributes)) {
      return is_external;
    }
    const uint64_t smallest = is_integer(*tensor.type()) ? smallest_integers : smallest_others;
    return tensor.nbytes >= std::max(options_.size_threshold, smallest);
  }

  void place(uint32_t index) {
    if (goes_out(tensor(index))) move_out(index);
    else if (tensor(index).storage == Storage::external) plan_.moves.emplace(index, Move{"", 0, payload_of(index)});
  }

  void move_out(uint32_t index) {
    ++plan_.moved_tensors;
    if (const auto first = plan_.moves.find(shared_.owner(index)); first != plan_.moves.end()) {
      if (!first->second.location.empty()) {
        const Move move = first->second;
        plan_.moves.emplace(index, move);
        return;
      }
    }
    Rope payload = payload_of(index);
    File& file = file_at(location_of_(index));
    append_gap(file, alignment_of(payload.size()));
    payload.collect(0, payload.size(), file.extents);
    Move move{file.location, file.size, std::move(payload)};
    file.size += move.payload.size();
    plan_.moves.emplace(index, std::move(move));
  }

  // As it is shown, to the bit; of an edit, as a commit writes it, with no stray bits behind its last element.
  Rope payload_of(uint32_t index) const {
    for (const uint32_t edited : {index, shared_.owner(index)}) {
      const auto edit = edits_.find(edited);
      if (edit == edits_.end() || edit->second == nullptr || !edit->second->payload) continue;
      const Rope& payload = *edit->second->payload;
      if (payload.size() == tensor(index).nbytes) return with_clear_padding(tensor(index), payload);
      fail(EINVAL, "tensor \"{}\" has {} bytes; an edit of {} cannot take their place", tensor(index).leaf,
           tensor(index).nbytes, payload.size());
    }
    return model_.payload(index);
  }

  uint64_t alignment_of(uint64_t size) const {
    if (options_.alignment != 0) return options_.alignment;
    return size > large_tensor ? large_page : page;
  }

  File& file_at(const std::string& location) {
    const auto [found, is_new] = by_location_.emplace(location, files_.size());
    if (is_new) files_.push_back({location, {}, 0});
    return files_[found->second];
  }

  void append_gap(File& file, uint64_t alignment) const {
    uint64_t gap = (alignment - file.size % alignment) % alignment;
    file.size += gap;
    for (uint64_t n; gap != 0; gap -= n) {
      n = std::min(gap, zeros_->size());
      file.extents.push_back({zeros_, 0, n});
    }
  }

  const Model& model_;
  const Edits& edits_;
  const ExportOptions& options_;
  const LocationOf& location_of_;
  SharedPayloads shared_;
  SourcePtr zeros_ = std::make_shared<MemorySource>(std::string(large_page, '\0'));
  std::map<std::string, size_t> by_location_;  // in the list
  std::vector<File> files_;
  ExportPlan plan_;
};

}  // namespace

void require_sound(const Model& model) {
  const auto& tensors = model.catalog().tensors();
  for (uint32_t index = 0; index < tensors.size(); ++index) {
    const std::string problem = model.problem(index);
    if (problem.empty()) continue;
    fail(EIO, "tensor \"{}\" of {} is broken: {}; mend it, or copy the model as it is", tensors[index].leaf,
         model.path(), problem);
  }
}

ExportPlan plan_export(const Model& model, const Edits& edits, const ExportOptions& options,
                       const LocationOf& location_of) {
  return Planner(model, edits, options, location_of).run();
}

Rope exported_model(const Model& model, const Edits& edits, const ExportPlan& plan) {
  ModelRewrite rewrite(model);
  for (const auto& [index, edit] : edits) {
    if (edit == nullptr) continue;
    if (edit->payload && !plan.moves.contains(index)) rewrite.set_payload(index, *edit->payload);
    rewrite.annotate(index, *edit);
  }
  for (const auto& [index, move] : plan.moves) {
    const Tensor& tensor = model.catalog().tensors()[index];
    if (move.location.empty()) rewrite.fields().set_raw_data(tensor, move.payload);
    else rewrite.fields().set_external(tensor, move.location, move.offset, move.payload.size());
  }
  return patched(model.file(), std::move(rewrite).take().patches);
}

}  // namespace onnxfs
