#include "core/sidecar/compaction.h"

#include <algorithm>

#include "core/sidecar/hash.h"
#include "core/sidecar/stage_content.h"

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

}  // namespace

Compaction::Compaction(std::shared_ptr<SidecarLog> log) : log_(std::move(log)) {}

bool Compaction::run() {
  RecordLog& records = log_->records();
  if (records.size() < log_->worth_compacting_at) return false;
  const std::unique_lock only(log_->compacting(), std::try_to_lock);
  if (!only) return false;
  const uint64_t garbage = log_->limits().garbage;
  log_->worth_compacting_at = records.size() + garbage;

  const auto choose = [this, &records] {
    victims_ = records.older_than(log_->oldest_stage());
    old_.clear();
    for (const BlobPtr& blob : victims_.blobs) old_.insert(blob.get());
  };
  {
    const auto lock = records.lock();
    choose();
  }
  const uint64_t needed = needed_bytes();
  if (victims_.size < needed || victims_.size - needed < std::max(needed, garbage)) return false;
  {
    const auto lock = records.lock();
    choose();
    records.end_blob();
  }
  records.flush();
  for (const auto& [tensor, edit] : log_->editor().edits().snapshot()) move(tensor);
  records.flush();
  records.drop(victims_);
  log_->worth_compacting_at = records.size() + garbage;
  return true;
}

// What the victims' content takes in new records.
uint64_t Compaction::needed_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [tensor, edit] : log_->editor().edits().snapshot()) {
    if (edit->payload && log_->editor().shared().owner(tensor) == tensor) {
      for (const Extent& extent : edit->payload->extents()) {
        if (is_old(extent)) bytes += extent.length + (extent.length / largest_piece + 1) * Record::header_size;
      }
    }
    bytes += Record::header_size;
    if (edit->dims) bytes += 8 * edit->dims->size();
    if (edit->doc_string) bytes += edit->doc_string->size();
  }
  return bytes;
}

// Zeros stand nowhere but in the record that put them there, which may be in a victim.
bool Compaction::is_old(const Extent& extent) const { return old_.contains(extent.source.get()) || is_zeros(extent); }

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
    const auto lock = log_->records().lock();
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
    const std::lock_guard staging(stage.mutex_);
    const auto lock = log_->records().lock();
    const TensorEditPtr now = editor.edits().find(tensor);
    if (!now || !now->payload || !is_same(now->payload->extents(), expected)) continue;
    log_->append_replace(tensor, {stage.id_, stage.records_}, content.size(), base_hash, now->at);
    log_->editor().relocate(tensor, stage.content_);
    return;
  }
}

void Compaction::move_annotation(uint32_t tensor) {
  const auto lock = log_->records().lock();
  const TensorEditPtr now = log_->editor().edits().find(tensor);
  if (!now || (!now->dims && !now->doc_string)) return;
  log_->append_annotation(tensor, {now->dims, now->doc_string}, now->at);
}

}  // namespace onnxfs
