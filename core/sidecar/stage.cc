#include "core/sidecar/log.h"
#include "core/sidecar/record.h"
#include "core/sidecar/sidecar.h"
#include "core/sidecar/stage_content.h"

namespace onnxfs {

Stage::Stage(std::shared_ptr<SidecarLog> log) : log_(std::move(log)) {}

Stage::~Stage() {
  if (id_ == 0) return;
  const auto lock = log_->records().lock();
  log_->remove_stage(id_);
}

Rope Stage::content() const {
  const std::lock_guard lock(mutex_);
  return content_;
}

void Stage::write(uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  log_->acquire();
  const std::lock_guard lock(mutex_);
  require_room(offset, bytes.size());  // before it is in the log
  Record record;
  record.type = RecordType::staged_write;
  record.offset = offset;
  content_ = with_written(content_, offset, append(record, bytes));
}

void Stage::resize(uint64_t size) {
  log_->acquire();
  const std::lock_guard lock(mutex_);
  if (size == content_.size()) return;
  const Rope content = with_size(content_, size);
  Record record;
  record.type = RecordType::staged_resize;
  record.offset = size;
  append(record, {});
  content_ = content;
}

Rope Stage::append(const Record& like, std::span<const std::byte> bytes) {
  Record record = like;
  record.tensor = records_;
  record.message = id_;
  const auto lock = log_->records().lock();
  const RecordLog::Appended appended = log_->records().append(record, bytes);
  if (id_ == 0) {
    id_ = appended.sequence;
    log_->add_stage(id_);
  }
  ++records_;
  return appended.bytes;
}

}  // namespace onnxfs
