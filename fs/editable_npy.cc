#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/bytes/range.h"
#include "core/views/npy.h"
#include "fs/editable.h"

namespace onnxfs {

namespace {

// numpy writes as much as the header needs; others may pad it further.
constexpr uint64_t longest_header = 64 * 1024;

class EditableNpy final : public Editable {
 public:
  EditableNpy(std::shared_ptr<Sidecar> sidecar, uint32_t tensor)
      : sidecar_(std::move(sidecar)), index_(tensor), tensor_(sidecar_->model().catalog().tensors()[tensor]) {}

  Rope content() const override {
    const TensorEditPtr edit = sidecar_->edits().find(index_);
    return npy(tensor_content(sidecar_->model(), index_, edit.get(), sidecar_->payload(index_)));
  }

  uint64_t most() const override { return content().size() + longest_header; }

  // Elements that are packed in the payload are not where the file has them.
  bool takes_patches() const override { return tensor_.type()->bits % 8 == 0; }

  // What a map of the file writes back has the header in its first page.
  void patch(uint64_t offset, std::span<const std::byte> bytes) override {
    const Rope now = content();
    if (!fits(offset, bytes.size(), now.size())) {
      fail(EFBIG, "{} bytes at {} lead past the end of the file, which has {}", bytes.size(), offset, now.size());
    }
    const uint64_t header = now.size() - tensor_.nbytes;
    if (offset < header) {
      const auto n = static_cast<size_t>(std::min<uint64_t>(bytes.size(), header - offset));
      std::vector<std::byte> present(n);
      now.read(offset, present);
      if (!std::ranges::equal(present, bytes.first(n))) {
        fail(EINVAL, "the header of a .npy file stays as it is, unless the file is replaced as a whole");
      }
      bytes = bytes.subspan(n);
      offset = header;
    }
    if (!bytes.empty()) sidecar_->write(index_, offset - header, bytes);
  }

  void replace(const Stage& draft) override {
    const Rope payload = parse_npy(draft.content(), tensor_);
    const auto stage = sidecar_->stage();
    copy(payload, *stage);
    sidecar_->replace(index_, *stage);
  }

 private:
  std::shared_ptr<Sidecar> sidecar_;
  uint32_t index_;
  const Tensor& tensor_;
};

}  // namespace

std::unique_ptr<Editable> editable_npy(std::shared_ptr<Sidecar> sidecar, uint32_t tensor) {
  return std::make_unique<EditableNpy>(std::move(sidecar), tensor);
}

}  // namespace onnxfs
