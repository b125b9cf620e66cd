#include "core/sidecar/replay.h"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "core/bytes/error.h"
#include "core/sidecar/folder.h"
#include "core/sidecar/replayer.h"

namespace onnxfs {

namespace {

// What headers say about the log as a whole, which has to be known before the first record is judged.
struct Survey {
  uint64_t flushed = 0;
  uint64_t needed_from = 1;
  std::vector<LostRecords> lost;

  // A record speaks of those before it, and of no others.
  void see(const Record& record) {
    flushed = std::max(flushed, std::min(record.flushed, record.sequence));
    if (record.type == RecordType::compacted) {
      needed_from = std::max(needed_from, std::min(record.offset, record.sequence));
    }
    if (record.type == RecordType::lost) lost.push_back({record.offset, std::min(record.message, record.sequence)});
  }

  bool is_lost(uint64_t sequence) const {
    return std::ranges::any_of(lost, [=](const LostRecords& l) { return l.first <= sequence && sequence < l.end; });
  }

  // The first of the records [from, to) whose absence is not explained, if there is one.
  std::optional<uint64_t> first_missed(uint64_t from, uint64_t to) const {
    from = std::max(from, needed_from);
    for (bool moved = true; moved && from < to;) {
      moved = false;
      for (const LostRecords& range : lost) {
        if (range.first > from || from >= range.end) continue;
        from = range.end;
        moved = true;
      }
    }
    return from < to ? std::optional(from) : std::nullopt;
  }
};

// Another process may remove blobs while we open them, after it has written their content anew.
std::vector<ReplayedBlob> open_blobs(const std::string& folder, uint64_t capacity) {
  constexpr int tries = 10;
  for (int i = 1;; ++i) {
    try {
      std::vector<ReplayedBlob> blobs;
      for (const uint32_t number : list_blobs(folder)) {
        ReplayedBlob& blob = blobs.emplace_back();
        blob.blob = Blob::open(folder, number, capacity);
      }
      for (ReplayedBlob& blob : blobs) {
        struct stat status;
        if (::fstat(blob.blob->fd(), &status) != 0) {
          const int code = errno;
          fail(code, "cannot stat {}: {}", blob.blob->path(), describe_errno(code));
        }
        blob.identity = FileIdentity::of(status);
      }
      return blobs;
    } catch (const Error& error) {
      if (error.code() != ENOENT || i == tries) throw;
    }
  }
}

class Replay {
 public:
  Replay(const std::string& folder, uint64_t log_id, const ReplayOptions& options, Editor& editor)
      : folder_(folder), log_id_(log_id), options_(options), editor_(editor) {}

  Replayed run() {
    result_.blobs = open_blobs(folder_, options_.blob_capacity);
    survey_.flushed = options_.durable;
    for (const ReplayedBlob& blob : result_.blobs) survey(blob);
    result_.flushed = survey_.flushed;
    result_.needed_from = survey_.needed_from;
    expected_ = survey_.needed_from;
    Replayer replayer(editor_, options_.doubts, survey_.needed_from);
    for (ReplayedBlob& blob : result_.blobs) follow(blob, replayer);
    first_lost(expected_, survey_.flushed + 1, fmt::format("the end of {}", folder_));
    result_.next_sequence = expected_;
    say_again_what_is_cut();
    replayer.require_base(folder_);
    return std::move(result_);
  }

 private:
  BlobWalker walker(const ReplayedBlob& blob) const { return {*blob.blob, blob.identity.size, log_id_}; }

  void survey(const ReplayedBlob& blob) {
    BlobWalker walk = walker(blob);
    const auto header = walk.header();
    if (header && (header->log_id != log_id_ || header->number != blob.blob->number())) {
      fail(EBADMSG, "{} is a part of other edits, or of another name; restore {} from a copy, or drop the edits",
           blob.blob->path(), folder_);
    }
    BlobWalker::Found found;
    while ((found = walk.next()) == BlobWalker::Found::record) survey_.see(walk.record());
    if (found == BlobWalker::Found::end) return;
    while (walk.find_header()) survey_.see(walk.record());
  }

  void follow(ReplayedBlob& blob, Replayer& replayer) {
    BlobWalker walk = walker(blob);
    uint64_t next = expected_;  // the number of the next record in this blob; of the first, at least that
    if (!walk.header()) return cut(blob, 0);
    blob.end = BlobHeader::encoded_size;
    for (;;) {
      const BlobWalker::Found found = walk.next();
      if (found == BlobWalker::Found::end) return;
      const bool sound = found == BlobWalker::Found::record && is_in_order(blob, walk.record(), next) &&
                         (walk.record().sequence < survey_.needed_from || walk.bytes_are_sound());
      if (!sound) return cut(blob, walk.offset());
      take(blob, walk, replayer);
      next = walk.record().sequence + 1;
    }
  }

  // Within a blob, numbers follow one another; from one to the next, records may be missing.
  bool is_in_order(const ReplayedBlob& blob, const Record& record, uint64_t next) const {
    if (blob.first_sequence != 0) return record.sequence == next;
    return record.sequence >= next || record.sequence < survey_.needed_from;
  }

  void take(ReplayedBlob& blob, BlobWalker& walk, Replayer& replayer) {
    const Record& record = walk.record();
    if (blob.first_sequence == 0) blob.first_sequence = record.sequence;
    blob.last_sequence = record.sequence;
    blob.end = walk.offset() + record.size();
    if (record.sequence < survey_.needed_from) return;
    kept_.see(record);
    if (const auto lost = first_lost(expected_, record.sequence, blob.blob->path())) {
      result_.lost.push_back({*lost, record.sequence});
      result_.torn.push_back(
          fmt::format("{} records before {} did not survive a power cut", record.sequence - *lost, blob.blob->path()));
    }
    const bool records_were_lost = !survey_.lost.empty() || !result_.lost.empty();
    if (!survey_.is_lost(record.sequence) && !replayer.apply(walk, blob.blob, records_were_lost)) {
      // Said to be lost too, so that it is left out for good: later, nothing else will tell why it is not whole.
      result_.lost.push_back({record.sequence, record.sequence + 1});
      result_.torn.push_back(fmt::format("a replacement of tensor {} in {} did not survive a power cut as a whole",
                                         editor_.model().catalog().tensors()[record.tensor].name, folder_));
    }
    expected_ = record.sequence + 1;
  }

  // Whether that is corruption shows when it is known which records are missing for it.
  void cut(const ReplayedBlob& blob, uint64_t offset) {
    damage_ = fmt::format("{} at offset {} fails its checksum", blob.blob->path(), offset);
    if (offset == blob.identity.size) return;
    result_.torn.push_back(fmt::format("{} bytes at the end of {} were not whole, after a crash, and are left out",
                                       blob.identity.size - offset, blob.blob->path()));
  }

  // What records say that are behind damage counts, since they may have been durable before it came about. But they are
  // cut with what is damaged, and their numbers are used anew.
  void say_again_what_is_cut() {
    result_.compaction_is_cut = kept_.needed_from < survey_.needed_from;
    for (const LostRecords& range : survey_.lost) {
      const LostRecords left{std::max(range.first, survey_.needed_from), std::min(range.end, expected_)};
      const auto says_so = [&](const LostRecords& kept) { return kept.first <= left.first && left.end <= kept.end; };
      if (left.first < left.end && std::ranges::none_of(kept_.lost, says_so)) result_.lost.push_back(left);
    }
  }

  // That nothing durable is missing of the records [from, to). `where` is where that is seen.
  std::optional<uint64_t> first_lost(uint64_t from, uint64_t to, const std::string& where) const {
    const auto missed = survey_.first_missed(from, to);
    if (!missed || *missed > survey_.flushed) return missed;
    fail(EBADMSG, "{}; restore {} from a copy, or drop the edits with onnxfs discard {}",
         damage_.empty() ? fmt::format("record {} is missing before {}", *missed, where) : damage_, folder_,
         editor_.model().path());
  }

  const std::string& folder_;
  uint64_t log_id_;
  const ReplayOptions& options_;
  Editor& editor_;
  Survey survey_;
  Survey kept_;  // of what is not cut
  Replayed result_;
  uint64_t expected_ = 1;
  std::string damage_;  // the last that was found
};

}  // namespace

Replayed replay(const std::string& folder, uint64_t log_id, const ReplayOptions& options, Editor& editor) {
  return Replay(folder, log_id, options, editor).run();
}

}  // namespace onnxfs
