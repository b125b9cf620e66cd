#include <algorithm>
#include <utility>

#include "core/sidecar/log.h"
#include "core/sidecar/record.h"
#include "core/sidecar/sidecar.h"
#include "core/sidecar/stage_content.h"
#include "core/sidecar/stage_state.h"

namespace onnxfs {

namespace {

// A record of the stage, which is numbered here. Returns where its bytes now stand.
Rope append(SidecarLog& log, StageState& stage, Record record, std::span<const std::byte> bytes)
    ONNXFS_REQUIRES(stage.mutex) {
  record.tensor = stage.records;
  record.message = stage.id;
  const MutexLock lock(log.records().mutex());
  const RecordLog::Appended appended = log.records().append(record, bytes);
  if (stage.id == 0) stage.id = appended.sequence;
  ++stage.records;
  return appended.bytes;
}

}  // namespace

Stage::Stage(std::shared_ptr<SidecarLog> log) : log_(std::move(log)), state_(std::make_shared<StageState>()) {
  const MutexLock lock(log_->records().mutex());
  log_->add_stage(state_);
}

Stage::~Stage() {
  Rope dropped;
  bool had_records = false;
  {
    const MutexLock lock(state_->mutex);
    dropped = state_->content;
    had_records = state_->records != 0;
  }
  const uint64_t bytes = dropped.size() + headers_in(dropped, 0, dropped.size());
  std::function<void()> untidy;
  {
    const MutexLock lock(log_->records().mutex());
    log_->remove_stage(state_);
    log_->note_less_needed(bytes);
    if (had_records && log_->garbage().may_be_worthwhile(log_->records().size())) untidy = log_->untidy();
  }
  if (untidy) untidy();
}

Rope Stage::content() const {
  const MutexLock lock(state_->mutex);
  return state_->content;
}

void Stage::write(uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  log_->acquire();
  const MutexLock lock(state_->mutex);
  require_room(offset, bytes.size());  // before it is in the log
  Record record;
  record.type = RecordType::staged_write;
  record.offset = offset;
  const Rope before = state_->content;
  state_->content = with_written(before, offset, append(*log_, *state_, record, bytes));
  const uint64_t begin = std::min(offset, before.size()), end = std::min(offset + bytes.size(), before.size());
  log_->note_less_needed(headers_in(before, begin, end - begin));
}

void Stage::resize(uint64_t size) {
  log_->acquire();
  const MutexLock lock(state_->mutex);
  const Rope before = state_->content;
  if (size == before.size()) return;
  const Rope content = with_size(before, size);
  Record record;
  record.type = RecordType::staged_resize;
  record.offset = size;
  append(*log_, *state_, record, {});
  state_->content = content;
  if (size < before.size()) {
    const uint64_t cut = before.size() - size;
    log_->note_less_needed(cut + headers_in(before, size, cut));
  }
}

}  // namespace onnxfs
