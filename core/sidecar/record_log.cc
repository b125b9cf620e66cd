#include "core/sidecar/record_log.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "core/bytes/error.h"
#include "core/bytes/hash.h"
#include "core/sidecar/folder.h"

namespace onnxfs {

RecordLog::RecordLog(std::string folder, uint64_t blob_capacity, Disk& disk)
    : folder_(std::move(folder)), blob_capacity_(blob_capacity), disk_(disk) {}

void RecordLog::show(const Replayed& replayed) {
  uint64_t size = 0;
  for (const ReplayedBlob& blob : replayed.blobs) size += blob.identity.size;
  size_.store(size, std::memory_order_relaxed);
}

void RecordLog::begin(const Replayed& replayed, uint64_t log_id) {
  const MutexLock lock(mutex_);
  if (!begun_) {
    log_id_ = log_id;
    take_over(replayed);
    begun_ = true;
  }
  if (compaction_is_cut_) {
    Record record;
    record.type = RecordType::compacted;
    record.offset = needed_from_;
    append(record, {});
    compaction_is_cut_ = false;
  }
  while (!lost_.empty()) {
    Record record;
    record.type = RecordType::lost;
    record.offset = lost_.back().first;
    record.message = lost_.back().end;
    append(record, {});
    lost_.pop_back();
  }
}

void RecordLog::take_over(const Replayed& replayed) {
  std::vector<Written> blobs;
  uint64_t size = 0;
  for (const ReplayedBlob& found : replayed.blobs) {
    const std::string& path = found.blob->path();
    next_number_ = std::max(next_number_, found.blob->number() + 1);
    if (found.last_sequence < replayed.needed_from) {  // compacted away, or without a record
      // Not before it is durable that nobody needs it, which the next who begins will find.
      if (!exists(path)) continue;
      if (!replayed.compaction_is_cut) disk_.remove(path);
      else if (found.end < found.identity.size) disk_.resize(found.blob->fd(), found.end, path);
      continue;
    }
    if (found.end < found.identity.size) disk_.resize(found.blob->fd(), found.end, path);
    const uint64_t flushed_end = found.last_sequence <= replayed.flushed ? found.end : 0;
    blobs.push_back({found.blob, found.first_sequence, found.end, flushed_end});
    size += found.end;
  }
  blobs_ = std::move(blobs);
  blob_is_ended_ = blobs_.empty() || !blobs_.back().blob->writable();
  next_sequence_ = replayed.next_sequence;
  flushed_ = replayed.flushed;
  lost_ = replayed.lost;
  needed_from_ = replayed.needed_from;
  compaction_is_cut_ = replayed.compaction_is_cut;
  names_changed_ = 1;  // who wrote before us may not have got to it
  size_.store(size, std::memory_order_relaxed);
}

RecordLog::Appended RecordLog::append(Record record, std::span<const std::byte> bytes) {
  static constexpr std::byte padding[8] = {};
  if (retired_) fail(ESTALE, "the edits in {} were removed", folder_);
  if (bytes.size() > largest_record) fail(EINVAL, "{} bytes are too many for one edit", bytes.size());
  record.length = static_cast<uint32_t>(bytes.size());
  record.bytes_hash = xxh3(bytes);
  record.flushed = flushed_;
  Written& blob = room_for(record.size());
  record.sequence = next_sequence_;
  const Record::Header header = record.encode(log_id_);
  const auto piece = [](std::span<const std::byte> part) {
    return iovec{const_cast<std::byte*>(part.data()), part.size()};
  };
  const size_t padded = record.size() - Record::header_size - bytes.size();
  const iovec pieces[] = {piece(header), piece(bytes), piece(std::span(padding).first(padded))};
  try {
    disk_.write(blob.blob->fd(), pieces, blob.end, blob.blob->path());
  } catch (const Error&) {
    try {
      disk_.resize(blob.blob->fd(), blob.end, blob.blob->path());
    } catch (const Error&) {
      // The next record overwrites it, and what is left after that is no record.
    }
    throw;
  }
  Appended result{record.sequence, Rope({Extent{blob.blob, blob.end + Record::header_size, record.length}})};
  blob.end += record.size();
  ++next_sequence_;
  appended_ = true;
  size_.fetch_add(record.size(), std::memory_order_relaxed);
  return result;
}

RecordLog::Written& RecordLog::room_for(uint64_t size) {
  if (!blob_is_ended_ && size <= blobs_.back().blob->size() - blobs_.back().end) return blobs_.back();
  const uint64_t capacity = std::max(blob_capacity_, BlobHeader::encoded_size + size);
  auto blob = Blob::create(disk_, folder_, next_number_++, log_id_, capacity);
  blobs_.push_back({std::move(blob), next_sequence_, BlobHeader::encoded_size, 0});
  blob_is_ended_ = false;
  ++names_changed_;
  size_.fetch_add(BlobHeader::encoded_size, std::memory_order_relaxed);
  return blobs_.back();
}

void RecordLog::flush() {
  uint64_t last;
  {
    const MutexLock lock(mutex_);
    last = next_sequence_ - 1;
  }
  const MutexLock flushing(flush_mutex_);
  std::vector<Written> dirty;
  std::optional<Written> newest;
  uint64_t names;
  bool done;  // by another, while we waited
  {
    const MutexLock lock(mutex_);
    if (!blobs_.empty()) newest = blobs_.back();
    names = names_changed_;
    done = flushed_ >= last && names == names_flushed_;
    last = next_sequence_ - 1;
    std::ranges::copy_if(blobs_, std::back_inserter(dirty), [](const Written& b) { return b.end > b.flushed_end; });
  }
  if (newest) require_in_place(*newest);
  if (done) return;
  const auto now = [this](const Written& then, auto change) {
    const MutexLock lock(mutex_);
    const auto blob = std::ranges::find(blobs_, then.blob, &Written::blob);
    if (blob != blobs_.end()) change(*blob);
  };
  for (const Written& blob : dirty) {
    require_in_place(blob);
    try {
      flush_blob(blob);
    } catch (const Error&) {
      now(blob, [](Written& failed) { failed.failed = true; });
      throw;
    }
    now(blob, [&blob](Written& flushed) { flushed.flushed_end = blob.end, flushed.failed = false; });
  }
  flush_names(names);
  const MutexLock lock(mutex_);
  flushed_ = std::max(flushed_, last);
}

void RecordLog::require_in_place(const Written& written) {
  const Blob& blob = *written.blob;
  struct stat opened, named;
  if (::fstat(blob.fd(), &opened) != 0) fail(EIO, "cannot examine {}: {}", blob.path(), describe_errno(errno));
  const bool is_there = ::lstat(blob.path().c_str(), &named) == 0 && named.st_dev == opened.st_dev &&
                        named.st_ino == opened.st_ino && static_cast<uint64_t>(opened.st_size) >= written.end;
  if (is_there) return;
  fail(EIO, "{}, with edits, was removed, replaced or cut by another program while it was written; {}", blob.path(),
       way_out);
}

// After a flush that failed, the system may hold for clean what is not on the disk: so all of it is written once more.
void RecordLog::flush_blob(const Written& written) const {
  const Blob& blob = *written.blob;
  if (written.failed) {
    constexpr uint64_t chunk = 256 * 1024;
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(chunk);
    for (uint64_t at = written.flushed_end; at < written.end;) {
      const std::span piece(buffer.get(), std::min(chunk, written.end - at));
      blob.read(at, piece);
      disk_.write(blob.fd(), piece, at, blob.path());
      at += piece.size();
    }
  }
  disk_.flush(blob.fd(), blob.path());
}

void RecordLog::flush_names(uint64_t changes) {
  if (changes == names_flushed_) return;
  disk_.flush_folder(folder_);
  if (names_flushed_ == 0) disk_.flush_folder(std::filesystem::path(folder_).parent_path());
  names_flushed_ = changes;
}

std::optional<uint64_t> RecordLog::close() {
  {
    const MutexLock lock(mutex_);
    if (!appended_) return std::nullopt;
  }
  flush();
  const MutexLock lock(mutex_);
  const uint64_t durable = flushed_;
  append(Record(), {});
  appended_ = false;
  return durable;
}

RecordLog::Victims RecordLog::all() const {
  Victims victims;
  for (const Written& blob : blobs_) {
    victims.blobs.push_back(blob.blob);
    victims.size += blob.end;
  }
  victims.end = next_sequence_;
  return victims;
}

void RecordLog::drop(const Victims& victims) {
  {
    const MutexLock lock(mutex_);
    Record record;
    record.type = RecordType::compacted;
    record.offset = victims.end;
    append(record, {});
  }
  flush();
  {
    const MutexLock lock(mutex_);
    std::erase_if(blobs_, [&](const Written& blob) { return std::ranges::count(victims.blobs, blob.blob) != 0; });
    size_.fetch_sub(victims.size, std::memory_order_relaxed);
  }
  for (const BlobPtr& blob : victims.blobs) disk_.remove(blob->path());
}

}  // namespace onnxfs
