#include "fs/tensor_views.h"

#include "core/bytes/error.h"
#include "core/bytes/hash.h"
#include "core/views/npy.h"
#include "core/views/pb.h"
#include "core/views/tensor_json.h"
#include "core/views/text.h"

namespace onnxfs {

uint64_t TensorViews::size(uint32_t index, Facet facet) const {
  const Model& model = sidecar_->model();
  const Tensor& tensor = model.catalog().tensors()[index];
  const TensorEditPtr edit = sidecar_->edits().find(index);
  if (facet == Facet::json) return tensor_json(model, index, edit.get()).size();
  if (facet == Facet::payload) return payload_size(tensor, edit.get());
  if (!model.problem(index).empty()) return 0;
  try {
    if (tensor.data_type == string_type) return size_of_strings(index, facet);
    const TensorContent content = tensor_content(model, index, edit.get(), {});
    switch (facet) {
      case Facet::npy: return npy_size(content);
      case Facet::text: return text_size(content);
      case Facet::pb: return pb_size(content);
      default: return 0;
    }
  } catch (const Error&) {
    return 0;  // opening it says why
  }
}

uint64_t TensorViews::size_of_strings(uint32_t index, Facet facet) const {
  const uint64_t version = sidecar_->edits().version(index);
  const uint64_t key = uint64_t{index} << 8 | static_cast<uint8_t>(facet);
  {
    const MutexLock lock(mutex_);
    const auto known = strings_.find(key);
    if (known != strings_.end() && known->second.version == version) return known->second.size;
  }
  const uint64_t size = content(index, facet).size();
  const MutexLock lock(mutex_);
  strings_.insert_or_assign(key, Measured{version, size});
  return size;
}

Rope TensorViews::content(uint32_t index, Facet facet) const {
  const TensorEditPtr edit = sidecar_->edits().find(index);
  if (facet == Facet::json) return Rope::of(tensor_json(sidecar_->model(), index, edit.get()));
  Rope payload = edit != nullptr && edit->payload ? *edit->payload : sidecar_->model().payload(index);
  if (facet == Facet::payload) return payload;
  const TensorContent content = tensor_content(sidecar_->model(), index, edit.get(), std::move(payload));
  switch (facet) {
    case Facet::npy: return npy(content);
    case Facet::text: return text(content);
    case Facet::pb: return pb(content);
    default: return {};
  }
}

std::string TensorViews::xxh128(uint32_t index) const {
  const uint64_t version = sidecar_->edits().version(index);
  return digests_->get(index, version, [&] { return onnxfs::xxh128(sidecar_->payload(index)); });
}

}  // namespace onnxfs
