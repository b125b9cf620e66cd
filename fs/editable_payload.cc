#include <cerrno>
#include <limits>

#include "core/bytes/error.h"
#include "core/bytes/range.h"
#include "core/onnx/string_payload.h"
#include "fs/editable.h"

namespace onnxfs {

namespace {

class EditablePayload final : public Editable {
 public:
  EditablePayload(std::shared_ptr<Sidecar> sidecar, uint32_t tensor)
      : sidecar_(std::move(sidecar)),
        index_(tensor),
        tensor_(sidecar_->model().catalog().tensors()[tensor]),
        version_(sidecar_->edits().version(tensor)),
        first_content_(sidecar_->payload(tensor)) {}

  Rope content() const override {
    return sidecar_->edits().version(index_) == version_ ? first_content_ : sidecar_->payload(index_);
  }

  uint64_t most() const override {
    return is_strings() ? static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) : tensor_.nbytes;
  }

  bool takes_patches() const override { return !is_strings(); }

  void patch(uint64_t offset, std::span<const std::byte> bytes) override {
    if (!fits(offset, bytes.size(), tensor_.nbytes)) {
      fail(EFBIG, "{} bytes at {} lead past the end of the tensor, which has {}", bytes.size(), offset, tensor_.nbytes);
    }
    sidecar_->write(index_, offset, bytes);
  }

  void replace(const Stage& draft) override {
    const Rope content = draft.content();
    if (is_strings()) {
      const auto count = count_strings(content);
      if (!count) fail(EINVAL, "what was written is no list of strings, each with its length in four bytes before it");
      if (*count != tensor_.elements)
        fail(EINVAL, "{} strings were written, and the tensor has {}", *count, tensor_.elements);
    } else if (content.size() != tensor_.nbytes) {
      fail(EINVAL, "{} bytes were written, and the tensor has {}", content.size(), tensor_.nbytes);
    }
    sidecar_->replace(index_, draft);
  }

 private:
  bool is_strings() const noexcept { return tensor_.data_type == string_type; }

  std::shared_ptr<Sidecar> sidecar_;
  uint32_t index_;
  const Tensor& tensor_;
  // Of an unedited tensor, and of one that rests, no read has to ask for more than this.
  uint64_t version_;
  Rope first_content_;
};

}  // namespace

std::unique_ptr<Editable> editable_payload(std::shared_ptr<Sidecar> sidecar, uint32_t tensor) {
  return std::make_unique<EditablePayload>(std::move(sidecar), tensor);
}

}  // namespace onnxfs
