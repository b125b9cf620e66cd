#include "core/views/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "core/bytes/error.h"
#include "core/bytes/mutex.h"
#include "core/views/json_lines.h"
#include "core/views/safetensors_entries.h"
#include "core/views/tensor_json.h"

namespace onnxfs {

namespace {

constexpr size_t longest_header = 100'000'000;
constexpr size_t header_alignment = 8;

// The payload of an unedited tensor that it takes reading to find: found when it is first read.
class LatePayload final : public Source {
 public:
  LatePayload(std::shared_ptr<const Model> model, uint32_t tensor) : model_(std::move(model)), tensor_(tensor) {}

  uint64_t size() const noexcept override { return model_->catalog().tensors()[tensor_].nbytes; }
  void read(uint64_t offset, std::span<std::byte> out) const override { payload().read(offset, out); }
  void require_current() const override { model_->file()->require_current(); }

 private:
  Rope payload() const {
    const MutexLock lock(mutex_);
    if (!payload_) payload_ = model_->payload(tensor_);
    return *payload_;
  }

  std::shared_ptr<const Model> model_;
  uint32_t tensor_;
  mutable Mutex mutex_;
  mutable std::optional<Rope> payload_ ONNXFS_GUARDED_BY(mutex_);
};

Rope payload_of(const std::shared_ptr<const Model>& model, const Edits& edits, uint32_t tensor) {
  if (const auto edit = edits.find(tensor); edit != edits.end() && edit->second->payload) return *edit->second->payload;
  const Tensor& known = model->catalog().tensors()[tensor];
  if (known.in_one_piece || known.nbytes == 0) return model->payload(tensor);
  return Rope::of(std::make_shared<LatePayload>(model, tensor));
}

// A JSON object that grows by its members, and not past what a header may be. `before` stands before it.
class Header {
 public:
  explicit Header(std::string_view before = {}, size_t expected = 0) : begin_(before.size()) {
    text_.reserve(std::min(expected, longest_header));
    text_ = before;
  }

  void add(std::string_view key, std::string_view json) {
    text_ += empty() ? '{' : ',';
    text_.append(json_quote(key)).append(":").append(json);
    if (text_.size() - begin_ > longest_header - header_alignment) {
      fail(EFBIG, "the names and shapes of the tensors take more than the {} bytes of a safetensors header",
           longest_header);
    }
  }
  bool empty() const noexcept { return text_.size() == begin_; }

  std::string object() && {
    text_ += empty() ? "{}" : "}";
    return std::move(text_);
  }

 private:
  std::string text_;
  size_t begin_;
};

std::string metadata(const Model& model, const Edits& edits, const PathOf& path_of,
                     const std::vector<SafetensorsEntry>& entries) {
  Header header;
  const auto& tensors = model.catalog().tensors();
  for (const SafetensorsEntry& entry : entries) {
    if (!entry.is_opaque) continue;
    const Tensor& tensor = tensors[entry.tensor];
    const auto edit = edits.find(entry.tensor);
    const bool reshaped = edit != edits.end() && edit->second->dims;
    header.add(fmt::format("dtype:{}", entry.key), json_quote(dtype_word(tensor)));
    header.add(fmt::format("shape:{}", entry.key),
               json_quote(reshaped ? dims_json(*edit->second->dims) : shape_json(tensor)));
  }
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    if (const std::string problem = model.problem(i); !problem.empty()) {
      header.add(fmt::format("problem:{}", path_of(i)), json_quote(problem));
    }
  }
  return header.empty() ? std::string() : std::move(header).object();
}

std::string file_header(const std::string& metadata, const std::vector<SafetensorsEntry>& entries) {
  constexpr size_t length_size = 8;
  // Else it takes thrice its size for a moment, each time that it grows.
  constexpr size_t member_size = 90;
  size_t expected = metadata.size();
  for (const SafetensorsEntry& entry : entries) expected += entry.key.size() + member_size;
  Header header(std::string(length_size, ' '), expected);
  if (!metadata.empty()) header.add("__metadata__", metadata);
  uint64_t offset = 0;
  for (const SafetensorsEntry& entry : entries) {
    header.add(entry.key, fmt::format(R"({{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", entry.dtype,
                                      entry.is_opaque ? fmt::format("[{}]", entry.size) : dims_json(entry.shape),
                                      offset, offset + entry.size));
    offset += entry.size;
  }
  std::string text = std::move(header).object();
  text.resize((text.size() + header_alignment - 1) / header_alignment * header_alignment, ' ');
  const uint64_t length = text.size() - length_size;
  for (size_t i = 0; i < length_size; ++i) text[i] = static_cast<char>(length >> (8 * i));
  return text;
}

}  // namespace

Rope safetensors(const std::shared_ptr<const Model>& model, const Edits& edits, const PathOf& path_of) {
  const SafetensorsEntries entries = safetensors_entries(*model, edits, path_of);
  const Rope header = Rope::of(file_header(metadata(*model, edits, path_of, entries.list), entries.list));
  std::vector<Extent> extents;
  extents.reserve(entries.list.size() + 1);
  header.collect(0, header.size(), extents);
  for (const SafetensorsEntry& entry : entries.list) {
    const Rope payload = payload_of(model, edits, entry.tensor);
    payload.collect(0, payload.size(), extents);
  }
  return Rope(std::move(extents));
}

}  // namespace onnxfs
