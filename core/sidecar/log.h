#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "core/bytes/mutex.h"
#include "core/sidecar/base_hasher.h"
#include "core/sidecar/editor.h"
#include "core/sidecar/garbage.h"
#include "core/sidecar/lock.h"
#include "core/sidecar/model_lock.h"
#include "core/sidecar/record_log.h"
#include "core/sidecar/sidecar.h"
#include "core/sidecar/stage_state.h"

namespace onnxfs {

// What a Sidecar and its stages share: the log of one model's edits, what they come to, and the right to write it.
// Any number of threads may use one.
class SidecarLog {
 public:
  // Replays what there is.
  SidecarLog(std::shared_ptr<const Model> model, const std::string& folder, std::string holder, Disk& disk,
             Opening opening, const SidecarLimits& limits);
  // Closes the log, and lets go of the lock.
  ~SidecarLog();
  SidecarLog(const SidecarLog&) = delete;
  SidecarLog& operator=(const SidecarLog&) = delete;

  const std::string& folder() const noexcept { return folder_; }
  const SidecarLimits& limits() const noexcept { return limits_; }
  const std::vector<std::string>& remarks() const noexcept { return remarks_; }
  Editor& editor() noexcept { return editor_; }
  RecordLog& records() noexcept { return records_; }

  // As Sidecar::acquire; the second also for a first edit in a data file.
  void acquire();
  void acquire_for(uint32_t tensor);
  bool acquired() const noexcept { return acquired_.load(std::memory_order_acquire); }

  void flush();
  void remove();

  // Each appends the record of an edit, which is then still to be put into effect.
  Rope append_write(uint32_t tensor, uint64_t offset, std::span<const std::byte> bytes, uint64_t base_hash, timespec at)
      ONNXFS_REQUIRES(records().mutex());
  void append_replace(uint32_t tensor, StageReference stage, uint64_t size, uint64_t base_hash, timespec at)
      ONNXFS_REQUIRES(records().mutex());
  void append_annotation(uint32_t tensor, const Annotation& annotation, timespec at) ONNXFS_REQUIRES(records().mutex());
  void append_revert(uint32_t tensor, timespec at) ONNXFS_REQUIRES(records().mutex());

  // Stages that may still become something.
  void add_stage(std::shared_ptr<StageState> stage) ONNXFS_REQUIRES(records().mutex()) {
    stages_.insert(std::move(stage));
  }
  void remove_stage(const std::shared_ptr<StageState>& stage) ONNXFS_REQUIRES(records().mutex()) {
    stages_.erase(stage);
  }
  std::vector<std::shared_ptr<StageState>> stages() ONNXFS_REQUIRES(records().mutex()) {
    return {stages_.begin(), stages_.end()};
  }

  // As Sidecar::when_untidy. What is given may be called without the lock.
  void set_untidy(std::function<void()> untidy) ONNXFS_REQUIRES(records().mutex()) { untidy_ = std::move(untidy); }
  const std::function<void()>& untidy() noexcept ONNXFS_REQUIRES(records().mutex()) { return untidy_; }

  BaseHasher& base_hasher() noexcept { return base_hasher_; }
  Mutex& compacting() noexcept ONNXFS_RETURN_CAPABILITY(compacting_) { return compacting_; }
  GarbageWatch& garbage() noexcept { return garbage_; }
  void note_less_needed(uint64_t bytes) noexcept { garbage_.note_less_needed(bytes, records_.size()); }

 private:
  void load() ONNXFS_REQUIRES(acquiring_);
  void take_lock() ONNXFS_REQUIRES(acquiring_);
  void require_unchanged() const ONNXFS_REQUIRES(acquiring_);
  void require_unchanged(const DataFile& file) const;
  void require_in_place() const ONNXFS_REQUIRES(acquiring_);
  void prepare() ONNXFS_REQUIRES(acquiring_);
  void close() ONNXFS_REQUIRES(acquiring_);
  Record record_of(RecordType type, uint32_t tensor, timespec at) const;

  const std::string folder_;
  const std::string holder_;
  Disk& disk_;
  const Opening opening_;
  const SidecarLimits limits_;
  Editor editor_;
  RecordLog records_;
  std::vector<std::string> remarks_;

  std::atomic<bool> acquired_ = false;
  Mutex acquiring_;
  Replayed replayed_ ONNXFS_GUARDED_BY(acquiring_);
  std::optional<Lock> lock_ ONNXFS_GUARDED_BY(acquiring_);  // held, and the folder found as it was opened
  std::optional<ModelLock> model_lock_ ONNXFS_GUARDED_BY(acquiring_);
  std::optional<Base> base_ ONNXFS_GUARDED_BY(acquiring_);  // as on disk; nothing while there is none
  bool doubted_ ONNXFS_GUARDED_BY(acquiring_) = false;      // and found to be right: base_ is to be written anew
  bool removed_ ONNXFS_GUARDED_BY(acquiring_) = false;
  // By their index in the catalog; of those, base_ knows.
  std::set<uint32_t> edited_data_files_ ONNXFS_GUARDED_BY(acquiring_);

  std::set<std::shared_ptr<StageState>> stages_ ONNXFS_GUARDED_BY(records().mutex());
  std::function<void()> untidy_ ONNXFS_GUARDED_BY(records().mutex());  // may be empty
  BaseHasher base_hasher_;
  Mutex compacting_;
  GarbageWatch garbage_;
};

timespec time_now();

}  // namespace onnxfs
