#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/disk.h"
#include "core/bytes/mutex.h"
#include "core/bytes/rope.h"
#include "core/sidecar/record.h"
#include "core/sidecar/replay.h"

namespace onnxfs {

// The blobs of a sidecar as one log: numbers records, appends them, makes them durable, and gives back blobs that
// nobody needs. It knows nothing of what records mean.
//
// Any number of threads may use one. Its mutex is the caller's to hold for an append and what it does in memory: they
// are one step to others, so that memory and disk have one order. `flush` and reading hold it for moments only,
// whatever the disk takes.
class RecordLog {
 public:
  RecordLog(std::string folder, uint64_t blob_capacity, Disk& disk);

  // Goes on where a replay ended: cuts what was not whole, and removes what was compacted away. To be called with the
  // right to write, before anything else, and again until it succeeds.
  void begin(const Replayed& replayed, uint64_t log_id) ONNXFS_EXCLUDES(mutex_);
  // The size of what was replayed, as long as it is only read.
  void show(const Replayed& replayed);

  Mutex& mutex() const ONNXFS_RETURN_CAPABILITY(mutex_) { return mutex_; }

  struct Appended {
    uint64_t sequence = 0;
    Rope bytes;  // where they now stand
  };

  // The log sets the record's numbers, hash and length. When it throws, nothing was appended.
  Appended append(Record record, std::span<const std::byte> bytes) ONNXFS_REQUIRES(mutex_);

  // Makes all records so far durable. Any number of callers at once share one flush. What fails is tried again by the
  // next call, and reported by each until one succeeds. EIO when a blob with what is to be flushed, or the newest, is
  // not any more where it was made.
  void flush() ONNXFS_EXCLUDES(mutex_, flush_mutex_);

  // Flushes, and marks in the log that all was. Returns up to which number the records are durable, the mark not among
  // them; nothing when none was appended. What it throws changes nothing.
  std::optional<uint64_t> close() ONNXFS_EXCLUDES(mutex_, flush_mutex_);

  // What a person can do whose edits are gone from the disk.
  static constexpr std::string_view way_out = "copy what is edited out of the mount while it lasts, then remount";

  // So that a new blob is begun by the next append.
  void end_blob() ONNXFS_REQUIRES(mutex_) { blob_is_ended_ = true; }

  // Its files are being removed: nothing is appended any more, ESTALE.
  void retire() ONNXFS_REQUIRES(mutex_) { retired_ = true; }

  // How many bytes there are on disk.
  uint64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  struct Victims {
    std::vector<BlobPtr> blobs;
    uint64_t size = 0;
    uint64_t end = 0;  // the number of the first record after them
  };

  // All blobs that there are.
  Victims all() const ONNXFS_REQUIRES(mutex_);

  // Says durably that the records in the victims are needed no more, and removes the blobs.
  void drop(const Victims& victims) ONNXFS_EXCLUDES(mutex_, flush_mutex_);

 private:
  struct Written {
    BlobPtr blob;
    uint64_t first_sequence = 0;  // of its records, also of those to come
    uint64_t end = 0;
    uint64_t flushed_end = 0;  // all before is durable
    bool failed = false;       // to flush: the system may have forgotten what was not written
  };

  void take_over(const Replayed& replayed) ONNXFS_REQUIRES(mutex_);
  Written& room_for(uint64_t size) ONNXFS_REQUIRES(mutex_);
  static void require_in_place(const Written& blob);
  void flush_blob(const Written& blob) const;
  void flush_names(uint64_t changes) ONNXFS_REQUIRES(flush_mutex_);

  const std::string folder_;
  const uint64_t blob_capacity_;
  Disk& disk_;

  Mutex flush_mutex_ ONNXFS_ACQUIRED_BEFORE(mutex_);  // held by who flushes
  uint64_t names_flushed_ ONNXFS_GUARDED_BY(flush_mutex_) = 0;

  mutable Mutex mutex_;
  uint64_t log_id_ ONNXFS_GUARDED_BY(mutex_) = 0;
  bool begun_ ONNXFS_GUARDED_BY(mutex_) = false;
  std::vector<LostRecords> lost_ ONNXFS_GUARDED_BY(mutex_);  // that are still to be said
  // That records before the next number are not needed is still to be said.
  bool compaction_is_cut_ ONNXFS_GUARDED_BY(mutex_) = false;
  uint64_t needed_from_ ONNXFS_GUARDED_BY(mutex_) = 1;
  std::vector<Written> blobs_ ONNXFS_GUARDED_BY(mutex_);
  bool blob_is_ended_ ONNXFS_GUARDED_BY(mutex_) = false;
  uint32_t next_number_ ONNXFS_GUARDED_BY(mutex_) = 1;
  uint64_t next_sequence_ ONNXFS_GUARDED_BY(mutex_) = 1;
  uint64_t flushed_ ONNXFS_GUARDED_BY(mutex_) = 0;
  uint64_t names_changed_ ONNXFS_GUARDED_BY(mutex_) = 0;  // how often the folder's list of names has changed
  bool appended_ ONNXFS_GUARDED_BY(mutex_) = false;
  bool retired_ ONNXFS_GUARDED_BY(mutex_) = false;

  std::atomic<uint64_t> size_ = 0;
};

}  // namespace onnxfs
