#include <algorithm>
#include <utility>

#include "core/sidecar/log.h"
#include "core/sidecar/record.h"
#include "core/sidecar/sidecar.h"
#include "core/sidecar/stage_content.h"
#include "core/sidecar/stage_state.h"

namespace onnxfs {

Stage::Stage(std::shared_ptr<SidecarLog> log) : log_(std::move(log)), state_(std::make_shared<StageState>()) {
  const auto lock = log_->records().lock();
  log_->add_stage(state_);
}

Stage::~Stage() {
  const Rope dropped = content();
  const uint64_t bytes = dropped.size() + headers_in(dropped, 0, dropped.size());
  std::function<void()> untidy;
  {
    const auto lock = log_->records().lock();
    log_->remove_stage(state_);
    log_->note_less_needed(bytes);
    if (state_->records != 0 && log_->garbage().may_be_worthwhile(log_->records().size())) untidy = log_->untidy();
  }
  if (untidy) untidy();
}

Rope Stage::content() const {
  const std::lock_guard lock(state_->mutex);
  return state_->content;
}

void Stage::write(uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  log_->acquire();
  const std::lock_guard lock(state_->mutex);
  require_room(offset, bytes.size());  // before it is in the log
  Record record;
  record.type = RecordType::staged_write;
  record.offset = offset;
  const Rope before = state_->content;
  state_->content = with_written(before, offset, append(record, bytes));
  const uint64_t begin = std::min(offset, before.size()), end = std::min(offset + bytes.size(), before.size());
  log_->note_less_needed(headers_in(before, begin, end - begin));
}

void Stage::resize(uint64_t size) {
  log_->acquire();
  const std::lock_guard lock(state_->mutex);
  const Rope before = state_->content;
  if (size == before.size()) return;
  const Rope content = with_size(before, size);
  Record record;
  record.type = RecordType::staged_resize;
  record.offset = size;
  append(record, {});
  state_->content = content;
  if (size < before.size()) {
    const uint64_t cut = before.size() - size;
    log_->note_less_needed(cut + headers_in(before, size, cut));
  }
}

Rope Stage::append(const Record& like, std::span<const std::byte> bytes) {
  Record record = like;
  record.tensor = state_->records;
  record.message = state_->id;
  const auto lock = log_->records().lock();
  const RecordLog::Appended appended = log_->records().append(record, bytes);
  if (state_->id == 0) state_->id = appended.sequence;
  ++state_->records;
  return appended.bytes;
}

}  // namespace onnxfs
