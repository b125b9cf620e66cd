#include "core/onnx/model.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>

#include "core/bytes/error.h"
#include "core/onnx/data_gaps.h"
#include "core/onnx/foreign.h"
#include "core/onnx/scan.h"
#include "core/onnx/schema.h"
#include "core/onnx/test_data.h"
#include "core/onnx/typed_source.h"
#include "core/wire/reader.h"

namespace onnxfs {

namespace {

constexpr size_t head_size = 1024;

// Packed runs of floats are served where they stand, up to so many; a hostile file could have one for each number.
constexpr size_t most_runs = 1024;

Catalog scan(const std::string& path, const std::shared_ptr<const FileSource>& file) {
  std::string head(std::min<uint64_t>(head_size, file->size()), '\0');
  file->read(0, std::as_writable_bytes(std::span(head)));
  const std::string foreign = recognise_foreign(head);
  if (!foreign.empty()) fail(EINVAL, "{} is {}", path, foreign);
  file->advise(POSIX_FADV_RANDOM);
  try {
    Catalog catalog = scan_catalog(file, DataFiles::beside(path), path.ends_with(".pb"));
    file->advise(POSIX_FADV_NORMAL);
    return catalog;
  } catch (const Error& error) {
    switch (error.code()) {
      case EINVAL: fail(EINVAL, "{} {}", path, error.what());
      case EBADMSG: fail(EBADMSG, "{} is no sound ONNX model: {}", path, error.what());
      default: throw;
    }
  }
}

}  // namespace

std::shared_ptr<const Model> Model::open(const std::string& path) {
  auto file = FileSource::open(path);
  Catalog catalog = scan(path, file);
  Root root = catalog.root();
  if (root == Root::sequence_or_optional) root = root_by_model_beside(path).value_or(root);
  return std::shared_ptr<const Model>(new Model(std::move(file), path, std::move(catalog), root));
}

Model::Model(std::shared_ptr<const FileSource> file, const std::string& path, Catalog catalog, Root root)
    : file_(std::move(file)),
      path_(std::filesystem::absolute(path)),
      name_(std::filesystem::path(path).filename()),
      catalog_(std::move(catalog)),
      root_(root),
      gaps_(find_gaps(catalog_.tensors(), catalog_.data_files(), file_->identity())) {}

Rope Model::payload(uint32_t index) const {
  if (const std::string reason = problem(index); !reason.empty()) throw Error(EIO, reason);
  const Tensor& tensor = catalog_.tensors()[index];
  if (tensor.nbytes == 0) return {};
  if (!tensor.in_one_piece) return typed_payload(index);
  SourcePtr source = file_;
  if (tensor.data_file != Tensor::no_index) source = catalog_.data_files()[tensor.data_file].source;
  return Rope({Extent{std::move(source), tensor.data.begin, tensor.data.size()}});
}

Rope Model::typed_payload(uint32_t index) const {
  {
    const MutexLock lock(mutex_);
    if (const auto known = decoded_.find(index); known != decoded_.end()) return known->second;
  }
  const Tensor& tensor = catalog_.tensors()[index];
  try {
    TypedLayout layout = typed_layout(tensor, catalog_.pieces(tensor));
    std::vector<Extent> runs = packed_runs(file_, layout, most_runs);
    if (!runs.empty()) return Rope(std::move(runs));
    auto source = std::make_shared<TypedSource>(file_, std::move(layout));
    if (tensor.entries_counted && tensor.storage != Storage::keys) return Rope::of(std::move(source));
    // The scan did not look at the entries.
    const MutexLock lock(mutex_);
    if (!source->oddity().empty()) found_late(index, source->oddity(), false);
    return decoded_.emplace(index, Rope::of(std::move(source))).first->second;
  } catch (const Error& error) {
    if (error.code() != EBADMSG) throw;  // a disk that fails now may not do so later
    const MutexLock lock(mutex_);
    found_late(index, error.what(), true);
    throw Error(EIO, error.what());
  }
}

void Model::found_late(uint32_t index, const std::string& text, bool broken) const {
  if (!found_late_.emplace(index, Late{text, broken}).second) return;
  ::clock_gettime(CLOCK_REALTIME, &found_late_at_.emplace());
  any_found_late_.store(true, std::memory_order_release);
}

std::string Model::problem(uint32_t index) const {
  const Tensor& tensor = catalog_.tensors()[index];
  if (tensor.broken()) return catalog_.findings()[tensor.problem].text;
  if (!any_found_late_.load(std::memory_order_acquire)) return {};
  const MutexLock lock(mutex_);
  const auto late = found_late_.find(index);
  return late == found_late_.end() || !late->second.broken ? std::string() : late->second.text;
}

std::vector<Finding> Model::findings() const {
  std::vector<Finding> result = catalog_.findings();
  result.insert(result.end(), gaps_.begin(), gaps_.end());
  const MutexLock lock(mutex_);
  for (const auto& [index, late] : found_late_) {
    result.push_back({index, late.text, catalog_.tensors()[index].message.begin});
  }
  return result;
}

bool Model::has_findings() const {
  if (!catalog_.findings().empty() || !gaps_.empty()) return true;
  const MutexLock lock(mutex_);
  return !found_late_.empty();
}

std::optional<timespec> Model::found_late_at() const {
  const MutexLock lock(mutex_);
  return found_late_at_;
}

const std::string& Model::file_name_of(const Tensor& tensor) const {
  return tensor.data_file != Tensor::no_index ? catalog_.data_files()[tensor.data_file].location : name_;
}

}  // namespace onnxfs
