#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/disk.h"
#include "core/bytes/rope.h"
#include "core/sidecar/record.h"
#include "core/sidecar/replay.h"

namespace onnxfs {

// The blobs of a sidecar as one log: numbers records, appends them, makes them durable, and gives back blobs that
// nobody needs. It knows nothing of what records mean.
//
// Any number of threads may use one. What says "wants the lock" is called with `lock()` held: an append and what it
// does in memory are one step to others, so that memory and disk have one order. `flush` and reading hold it for
// moments only, whatever the disk takes.
class RecordLog {
 public:
  RecordLog(std::string folder, uint64_t blob_capacity, Disk& disk);

  // Goes on where a replay ended: cuts what was not whole, and removes what was compacted away. To be called with the
  // right to write, before anything else, and again until it succeeds.
  void begin(const Replayed& replayed, uint64_t log_id);
  // The size of what was replayed, as long as it is only read.
  void show(const Replayed& replayed);

  std::unique_lock<std::mutex> lock() const { return std::unique_lock(mutex_); }

  struct Appended {
    uint64_t sequence = 0;
    Rope bytes;  // where they now stand
  };

  // Wants the lock. The log sets the record's numbers, hash and length. When it throws, nothing was appended.
  Appended append(Record record, std::span<const std::byte> bytes);

  // Makes all records so far durable. Any number of callers at once share one flush. What fails is tried again by the
  // next call, and reported by each until one succeeds. EIO when a blob with what is to be flushed, or the newest, is
  // not any more where it was made.
  void flush();

  // Flushes, and marks in the log that all was. Returns up to which number the records are durable, the mark not among
  // them; nothing when none was appended. What it throws changes nothing.
  std::optional<uint64_t> close();

  // What a person can do whose edits are gone from the disk.
  static constexpr std::string_view way_out = "copy what is edited out of the mount while it lasts, then remount";

  // So that a new blob is begun by the next append. Wants the lock.
  void end_blob() { blob_is_ended_ = true; }

  // Its files are being removed: nothing is appended any more, ESTALE. Wants the lock.
  void retire() { retired_ = true; }

  // How many bytes there are on disk.
  uint64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  struct Victims {
    std::vector<BlobPtr> blobs;
    uint64_t size = 0;
    uint64_t end = 0;  // the number of the first record after them
  };

  // All blobs that there are. Wants the lock.
  Victims all() const;

  // Says durably that the records in the victims are needed no more, and removes the blobs.
  void drop(const Victims& victims);

 private:
  struct Written {
    BlobPtr blob;
    uint64_t first_sequence = 0;  // of its records, also of those to come
    uint64_t end = 0;
    uint64_t flushed_end = 0;  // all before is durable
    bool failed = false;       // to flush: the system may have forgotten what was not written
  };

  void take_over(const Replayed& replayed);
  Written& room_for(uint64_t size);
  static void require_in_place(const Written& blob);
  void flush_blob(const Written& blob) const;
  void flush_names(uint64_t changes);

  const std::string folder_;
  const uint64_t blob_capacity_;
  Disk& disk_;

  std::mutex flush_mutex_;  // held by who flushes; taken before the other
  uint64_t names_flushed_ = 0;

  mutable std::mutex mutex_;  // guards what follows
  uint64_t log_id_ = 0;
  bool begun_ = false;
  std::vector<LostRecords> lost_;   // that are still to be said
  bool compaction_is_cut_ = false;  // that records before the next number are not needed is still to be said
  uint64_t needed_from_ = 1;
  std::vector<Written> blobs_;
  bool blob_is_ended_ = false;
  uint32_t next_number_ = 1;
  uint64_t next_sequence_ = 1;
  uint64_t flushed_ = 0;
  uint64_t names_changed_ = 0;  // how often the folder's list of names has changed
  bool appended_ = false;
  bool retired_ = false;

  std::atomic<uint64_t> size_ = 0;
};

}  // namespace onnxfs
