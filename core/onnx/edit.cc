#include "core/onnx/edit.h"

namespace onnxfs {

TensorEditPtr EditTable::find(uint32_t tensor) const {
  if (version() == 0) return nullptr;
  const ReaderLock lock(mutex_);
  const auto slot = slots_.find(tensor);
  return slot == slots_.end() ? nullptr : slot->second.edit;
}

Edits EditTable::snapshot() const {
  const ReaderLock lock(mutex_);
  Edits edits;
  for (const auto& [tensor, slot] : slots_) {
    if (slot.edit) edits.emplace(tensor, slot.edit);
  }
  return edits;
}

size_t EditTable::size() const {
  const ReaderLock lock(mutex_);
  size_t count = 0;
  for (const auto& [tensor, slot] : slots_) count += slot.edit != nullptr;
  return count;
}

uint64_t EditTable::version(uint32_t tensor) const {
  if (version() == 0) return 0;
  const ReaderLock lock(mutex_);
  const auto slot = slots_.find(tensor);
  return slot == slots_.end() ? 0 : slot->second.version;
}

void EditTable::put(uint32_t tensor, TensorEditPtr edit) {
  const WriterLock lock(mutex_);
  Slot& slot = slots_[tensor];
  slot.edit = std::move(edit);
  ++slot.version;
  version_.fetch_add(1, std::memory_order_release);
}

void EditTable::relocate(uint32_t tensor, TensorEditPtr edit) {
  const WriterLock lock(mutex_);
  slots_[tensor].edit = std::move(edit);
}

}  // namespace onnxfs
