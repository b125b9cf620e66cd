#include "core/sidecar/compaction.h"

#include <algorithm>

#include "core/bytes/hash.h"
#include "core/sidecar/annotation.h"
#include "core/sidecar/stage_content.h"
#include "core/sidecar/stage_state.h"

namespace onnxfs {

namespace {

constexpr uint64_t largest_piece = 1 << 20;

using Extents = std::vector<Extent>;

bool is_same(const Extents& a, const Extents& b) {
  return std::ranges::equal(a, b, [](const Extent& x, const Extent& y) {
    return x.source == y.source && x.offset == y.offset && x.length == y.length;
  });
}

Extents collect(const Rope& rope, uint64_t offset, uint64_t length) {
  Extents extents;
  rope.collect(offset, length, extents);
  return extents;
}

std::vector<std::byte> read(const Rope& rope, uint64_t offset, uint64_t length) {
  std::vector<std::byte> bytes(length);
  rope.read(offset, bytes);
  return bytes;
}

// What moving those extents takes that are to be: neighbours go into one record.
template <typename IsMoved>
uint64_t size_moved(const Rope& content, IsMoved is_moved) {
  uint64_t bytes = 0, run = 0;
  const auto end_run = [&] {
    if (run != 0) bytes += run + (run / largest_piece + 1) * Record::header_size;
    run = 0;
  };
  for (const Extent& extent : content.extents()) {
    if (is_moved(extent)) run += extent.length;
    else end_run();
  }
  end_run();
  return bytes;
}

}  // namespace

Compaction::Compaction(std::shared_ptr<SidecarLog> log) : log_(std::move(log)) {}

bool Compaction::run() {
  RecordLog& records = log_->records();
  GarbageWatch& garbage = log_->garbage();
  if (!garbage.may_be_worthwhile(records.size())) return false;
  if (!log_->compacting().try_lock()) return false;
  const MutexLock only(log_->compacting(), std::adopt_lock);
  const auto look = [&] {
    {
      const MutexLock lock(log_->records().mutex());
      choose();
    }
    const uint64_t noted = garbage.noted(), needed = needed_bytes();
    garbage.set_needed(needed, noted);
    return records.size() >= garbage.worthwhile_size(needed);
  };
  if (!look()) return false;
  garbage.wait_from(records.size());
  {
    const MutexLock lock(log_->records().mutex());
    choose();
    log_->records().end_blob();
  }
  records.flush();
  // Stages first: what is then made of one has no part in the old blobs.
  for (const auto& stage : stages()) move(*stage);
  for (const auto& [tensor, edit] : log_->editor().edits().snapshot()) move(tensor);
  records.flush();
  records.drop(victims_);
  look();
  return true;
}

void Compaction::choose() {
  victims_ = log_->records().all();
  old_.clear();
  for (const BlobPtr& blob : victims_.blobs) old_.insert(blob.get());
}

std::vector<std::shared_ptr<StageState>> Compaction::stages() const {
  const MutexLock lock(log_->records().mutex());
  return log_->stages();
}

uint64_t Compaction::needed_bytes() const {
  const Editor& editor = log_->editor();
  uint64_t bytes = 0;
  for (const auto& [tensor, edit] : editor.edits().snapshot()) {
    if (edit->payload && editor.shared().owner(tensor) == tensor) {
      bytes += size_moved(*edit->payload, [this](const Extent& extent) { return is_old(extent); });
    }
    if (edit->dims || edit->doc_string) {
      bytes += Record::header_size + Annotation{edit->dims, edit->doc_string}.encode().size();
    }
  }
  for (const auto& stage : stages()) {
    const MutexLock staging(stage->mutex);
    bytes += size_moved(stage->content, [](const Extent& extent) { return !is_zeros(extent); });
  }
  return bytes;
}

// Zeros stand nowhere but in the record that put them there, which may be in a victim.
bool Compaction::is_old(const Extent& extent) const { return old_.contains(extent.source.get()) || is_zeros(extent); }

// What was not written stays so: the size says where it is.
void Compaction::move(StageState& stage) {
  const MutexLock staging(stage.mutex);
  if (stage.id == 0 || stage.id >= victims_.end) return;
  const Rope content = stage.content;
  Stage moved(log_);
  const auto copy = [&](uint64_t at, uint64_t end) {
    for (; at < end; at += std::min(largest_piece, end - at)) {
      moved.write(at, read(content, at, std::min(largest_piece, end - at)));
    }
  };
  uint64_t begin = 0, end = 0;  // of what was written, and is still to be copied
  for (const Extent& extent : content.extents()) {
    if (is_zeros(extent)) {
      copy(begin, end);
      begin = end + extent.length;
    }
    end += extent.length;
  }
  copy(begin, end);
  moved.resize(content.size());
  StageState& state = *moved.state_;
  const MutexLock lock(state.mutex);
  stage.id = state.id;
  stage.records = state.records;
  stage.content = state.content;
}

void Compaction::move(uint32_t tensor) {
  if (log_->editor().shared().owner(tensor) == tensor) {
    if (log_->editor().model().catalog().tensors()[tensor].data_type == string_type) move_whole(tensor);
    else move_pieces(tensor);
  }
  move_annotation(tensor);
}

void Compaction::move_pieces(uint32_t tensor) {
  const Editor& editor = log_->editor();
  for (uint64_t at = 0;;) {
    const TensorEditPtr edit = editor.edits().find(tensor);
    if (!edit || !edit->payload || at >= edit->payload->size()) return;
    const Rope& content = *edit->payload;
    const Extents window = collect(content, at, std::min(largest_piece, content.size() - at));
    auto extent = window.begin();
    for (; extent != window.end() && !is_old(*extent); ++extent) at += extent->length;
    uint64_t length = 0;
    for (; extent != window.end() && is_old(*extent); ++extent) length += extent->length;
    if (length == 0) continue;

    const Extents expected = collect(content, at, length);
    const std::vector<std::byte> bytes = read(content, at, length);
    const uint64_t base_hash = xxh3(editor.model().payload(tensor), at, length);
    const MutexLock lock(log_->records().mutex());
    const TensorEditPtr now = editor.edits().find(tensor);
    if (!now || !now->payload || !is_same(collect(*now->payload, at, length), expected)) continue;
    const Rope moved = log_->append_write(tensor, at, bytes, base_hash, now->at);
    log_->editor().relocate(tensor, now->payload->spliced(at, length, moved));
    at += length;
  }
}

// Strings change their size with their content, which only a replacement says.
void Compaction::move_whole(uint32_t tensor) {
  const Editor& editor = log_->editor();
  for (;;) {
    const TensorEditPtr edit = editor.edits().find(tensor);
    if (!edit || !edit->payload) return;
    const Rope& content = *edit->payload;
    const Extents expected = content.extents();
    if (!expected.empty() && std::ranges::none_of(expected, [this](const Extent& e) { return is_old(e); })) return;
    Stage stage(log_);
    for (uint64_t at = 0; at < content.size();) {
      const uint64_t length = std::min(largest_piece, content.size() - at);
      stage.write(at, read(content, at, length));
      at += length;
    }
    const uint64_t base_hash = xxh3(editor.model().payload(tensor));
    StageState& state = *stage.state_;
    const MutexLock staging(state.mutex);
    const MutexLock lock(log_->records().mutex());
    const TensorEditPtr now = editor.edits().find(tensor);
    if (!now || !now->payload || !is_same(now->payload->extents(), expected)) continue;
    log_->append_replace(tensor, state.reference(), content.size(), base_hash, now->at);
    log_->editor().relocate(tensor, state.content);
    return;
  }
}

void Compaction::move_annotation(uint32_t tensor) {
  const MutexLock lock(log_->records().mutex());
  const TensorEditPtr now = log_->editor().edits().find(tensor);
  if (!now || (!now->dims && !now->doc_string)) return;
  log_->append_annotation(tensor, {now->dims, now->doc_string}, now->at);
}

}  // namespace onnxfs
