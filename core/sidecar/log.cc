#include "core/sidecar/log.h"

#include <cerrno>
#include <filesystem>

#include "core/bytes/error.h"
#include "core/onnx/data_files.h"
#include "core/sidecar/folder.h"

namespace onnxfs {

timespec time_now() {
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

SidecarLog::SidecarLog(std::shared_ptr<const Model> model, const std::string& folder, std::string holder, Disk& disk,
                       Opening opening, const SidecarLimits& limits)
    : folder_(std::filesystem::absolute(folder)),
      holder_(std::move(holder)),
      disk_(disk),
      opening_(opening),
      limits_(limits),
      editor_(std::move(model)),
      records_(folder_, limits.blob, disk),
      garbage_(limits.garbage) {
  load();
}

SidecarLog::~SidecarLog() {
  try {
    if (acquired() && !removed_) close();
  } catch (const std::exception&) {
    // Whoever wants to know flushes first. The edits are in the log either way.
  }
}

void SidecarLog::load() {
  require_folder_outside_mounts(folder_);
  base_ = Base::read(folder_);
  if (!base_) return;
  const Model& model = editor_.model();
  if (opening_ == Opening::ordinary && exists(journal_path(folder_))) {
    fail(EINPROGRESS, "a commit of {} was interrupted; run onnxfs commit {} to finish it", model.path(), model.path());
  }
  ReplayOptions options;
  options.blob_capacity = limits_.blob;
  options.durable = base_->durable;
  const Base::Doubts doubts = base_->require_same(model, folder_);
  if (opening_ == Opening::ordinary) {
    options.doubts = doubts;
    doubted_ = doubts.any();
  }
  replayed_ = replay(folder_, base_->log_id, options, editor_);
  records_.show(replayed_);
  // To a reader, a writer in the middle of a record looks the same as a crash there.
  if (!Lock::holder(folder_)) remarks_ = replayed_.torn;
}

void SidecarLog::acquire() {
  if (acquired()) return;
  const MutexLock acquiring(acquiring_);
  if (acquired()) return;
  if (removed_) fail(ESTALE, "the edits in {} were removed", folder_);
  require_folder_outside_mounts(folder_);
  make_sidecar_folder(folder_, disk_);
  take_lock();
  prepare();
  acquired_.store(true, std::memory_order_release);
}

void SidecarLog::take_lock() {
  if (lock_) return;
  Lock lock = Lock::take(folder_, holder_, disk_);
  require_unchanged();
  model_lock_ = ModelLock::take(editor_.model());
  lock_ = std::move(lock);
}

void SidecarLog::require_unchanged() const {
  const Model& model = editor_.model();
  struct stat status;
  if (::stat(model.path().c_str(), &status) != 0 || FileIdentity::of(status) != model.file()->identity()) {
    fail(ESTALE, "{} is not the file any more that was opened; remount to edit it", model.path());
  }
  const auto changed = [this] { fail(ESTALE, "the edits in {} were changed by another process; remount", folder_); };
  const std::optional<Base> base = Base::read(folder_);
  if (base.has_value() != base_.has_value() || (base && base->log_id != base_->log_id)) changed();
  if (base && base->durable != base_->durable) changed();
  if (!base) return;
  const std::vector<uint32_t> numbers = list_blobs(folder_);
  if (numbers.size() != replayed_.blobs.size()) changed();
  for (const ReplayedBlob& blob : replayed_.blobs) {
    if (::stat(blob.blob->path().c_str(), &status) != 0 || FileIdentity::of(status) != blob.identity) changed();
  }
}

// Each step is one that may be taken again, when a later one fails.
void SidecarLog::prepare() {
  if (!base_) {
    remove_edits(folder_, disk_);  // of a sidecar that was being removed
    if (const std::vector<uint32_t> numbers = list_blobs(folder_); !numbers.empty()) {
      fail(EEXIST, "{} is in the way of the edits, and onnxfs did not make it; move it elsewhere",
           blob_path(folder_, numbers.front()));
    }
    const Base base = Base::of(editor_.model());
    base.write(folder_, disk_);
    base_ = base;
  } else if (doubted_) {
    Base base = *base_;
    base.refresh(editor_.model());
    base.write(folder_, disk_);
    base_ = base;
    doubted_ = false;
  }
  records_.begin(replayed_, base_->log_id);
}

void SidecarLog::acquire_for(uint32_t index) {
  acquire();
  const auto& catalog = editor_.model().catalog();
  const uint32_t number = catalog.tensors()[index].data_file;
  if (number == Tensor::no_index) return;
  const MutexLock acquiring(acquiring_);
  if (edited_data_files_.contains(number)) return;
  const DataFile& file = catalog.data_files()[number];
  require_unchanged(file);
  Base base = *base_;
  if (base.add(file)) {
    require_in_place();
    base.write(folder_, disk_);
    base_ = base;
  }
  edited_data_files_.insert(number);
}

// Where the model will look for it when it is opened again.
void SidecarLog::require_unchanged(const DataFile& file) const {
  const Model& model = editor_.model();
  DataFiles files = DataFiles::beside(model.path());
  const DataFile& now = files.files()[files.open(file.location)];
  if (now.source && now.source->identity() == file.source->identity()) return;
  fail(ESTALE, "{}, a data file of {}, is not the file any more that was opened; remount to edit it", file.location,
       model.path());
}

// Blobs are looked after by the records.
void SidecarLog::require_in_place() const {
  if (lock_->is_in_place(folder_) && exists(base_path(folder_))) return;
  fail(EIO, "the edits in {} were removed or replaced by another program while they were made; {}", folder_,
       RecordLog::way_out);
}

void SidecarLog::flush() {
  if (!acquired()) return;
  {
    const MutexLock acquiring(acquiring_);
    if (removed_) return;
    require_in_place();
  }
  records_.flush();
}

// The base is written in place of flushing the mark: from then on it says the same, and needs one flush as well.
void SidecarLog::close() {
  require_in_place();
  const auto durable = records_.close();
  if (!durable) return;
  Base base = *base_;
  base.durable = *durable;
  base.write_lazily(folder_, disk_);
}

void SidecarLog::remove() {
  if (!exists(folder_)) return;
  const MutexLock acquiring(acquiring_);
  if (removed_) fail(ESTALE, "the edits in {} were removed", folder_);
  require_folder(folder_);
  take_lock();
  if (!lock_->is_in_place(folder_)) fail(ESTALE, "the edits in {} were removed, and others are there now", folder_);
  {
    const MutexLock lock(records_.mutex());
    records_.retire();
  }
  remove_sidecar_files(folder_, disk_);
  removed_ = true;
  acquired_.store(false, std::memory_order_release);
  model_lock_.reset();
  lock_.reset();
}

Record SidecarLog::record_of(RecordType type, uint32_t tensor, timespec at) const {
  Record record;
  record.type = type;
  record.tensor = tensor;
  record.message = editor_.model().catalog().tensors()[tensor].message.begin;
  record.time = at.tv_sec * 1'000'000'000 + at.tv_nsec;
  return record;
}

Rope SidecarLog::append_write(uint32_t tensor, uint64_t offset, std::span<const std::byte> bytes, uint64_t base_hash,
                              timespec at) {
  Record record = record_of(RecordType::write, tensor, at);
  record.offset = offset;
  record.base_hash = base_hash;
  return records().append(record, bytes).bytes;
}

void SidecarLog::append_replace(uint32_t tensor, StageReference stage, uint64_t size, uint64_t base_hash, timespec at) {
  Record record = record_of(RecordType::replace, tensor, at);
  record.offset = size;
  record.base_hash = base_hash;
  records().append(record, stage.encode());
}

void SidecarLog::append_annotation(uint32_t tensor, const Annotation& annotation, timespec at) {
  const std::string text = annotation.encode();
  records().append(record_of(RecordType::annotate, tensor, at), std::as_bytes(std::span(text)));
}

void SidecarLog::append_revert(uint32_t tensor, timespec at) {
  records().append(record_of(RecordType::revert, tensor, at), {});
}

}  // namespace onnxfs
