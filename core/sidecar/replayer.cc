#include "core/sidecar/replayer.h"

#include <cerrno>

#include "core/bytes/error.h"
#include "core/bytes/hash.h"
#include "core/bytes/range.h"
#include "core/sidecar/stage_content.h"

namespace onnxfs {

namespace {

timespec time_of(const Record& record) {
  constexpr int64_t second = 1'000'000'000;
  int64_t seconds = record.time / second, rest = record.time % second;
  if (rest < 0) --seconds, rest += second;
  return {seconds, rest};
}

}  // namespace

Replayer::Replayer(Editor& editor, Base::Doubts doubts, uint64_t needed_from)
    : editor_(editor), doubts_(std::move(doubts)), needed_from_(needed_from) {}

bool Replayer::apply(BlobWalker& walker, const BlobPtr& blob, bool records_were_lost) {
  const Record& record = walker.record();
  const auto where = [&] { return fmt::format("{} at offset {}", blob->path(), walker.offset()); };
  const auto bytes = [&] { return Rope({Extent{blob, walker.bytes_offset(), record.length}}); };
  switch (record.type) {
    case RecordType::write: {
      require_tensor(record, where);
      if (editor_.model().catalog().tensors()[record.tensor].data_type == string_type) {
        fail(EBADMSG, "{}: a part of strings is written, which are replaced as a whole", where());
      }
      const uint64_t size = editor_.payload(record.tensor).size();
      if (!fits(record.offset, record.length, size)) {
        fail(EBADMSG, "{}: {} bytes at {} are not in a tensor of {} bytes", where(), record.length, record.offset,
             size);
      }
      editor_.write(record.tensor, record.offset, bytes(), time_of(record));
      note(record, record.length, false);
      return true;
    }
    case RecordType::staged_write:
    case RecordType::staged_resize:
      if (!has_room(record.offset, record.length)) fail(EBADMSG, "{}: no file has a byte {}", where(), record.offset);
      stage(record, bytes());
      return true;
    case RecordType::replace: require_tensor(record, where); return replace(walker, records_were_lost, where);
    case RecordType::annotate: {
      require_tensor(record, where);
      const auto annotation = Annotation::decode(walker.bytes());
      const uint64_t elements = editor_.model().catalog().tensors()[record.tensor].elements;
      if (!annotation || (annotation->dims && element_count(*annotation->dims) != elements)) {
        fail(EBADMSG, "{}: the annotation is damaged", where());
      }
      editor_.annotate(record.tensor, *annotation, time_of(record));
      return true;
    }
    case RecordType::revert:
      require_tensor(record, where);
      editor_.revert(record.tensor, time_of(record));
      replaced_.erase(editor_.shared().owner(record.tensor));
      return true;
    case RecordType::mark:
    case RecordType::compacted:
    case RecordType::lost: return true;
  }
  return true;
}

void Replayer::require_tensor(const Record& record, const Where& where) const {
  const auto& tensors = editor_.model().catalog().tensors();
  if (record.tensor >= tensors.size() || tensors[record.tensor].message.begin != record.message) {
    fail(
        ENOTSUP,
        "{}: no tensor {} begins at {} in {}; another version of onnxfs made the edits, which counts tensors otherwise",
        where(), record.tensor, record.message, editor_.model().path());
  }
  // Nobody could edit it, or its data file has gone since.
  if (const std::string problem = editor_.model().problem(record.tensor); !problem.empty()) {
    fail(EBADMSG, "{}: tensor \"{}\" is edited, which is broken: {}", where(), tensors[record.tensor].name, problem);
  }
}

// A compaction takes the first records of a stage that has become a tensor's content, and writes what they held anew,
// later in the log. So what is missing at the beginning may be anything, such as zeros.
void Replayer::stage(const Record& record, const Rope& bytes) {
  const auto [found, is_new] = stages_.try_emplace(record.stage_id());
  StagedContent& stage = found->second;
  if (is_new && record.stage_id() < needed_from_) stage.records = record.tensor;
  if (record.tensor != stage.records) stage.whole = false;
  stage.records = uint64_t{record.tensor} + 1;
  stage.content = record.type == RecordType::staged_write ? with_written(stage.content, record.offset, bytes)
                                                          : with_size(stage.content, record.offset);
}

bool Replayer::replace(BlobWalker& walker, bool records_were_lost, const Where& where) {
  const Record& record = walker.record();
  if (record.length != StageReference::encoded_size) fail(EBADMSG, "{}: the replacement is damaged", where());
  const std::vector<std::byte> encoded = walker.bytes();
  const auto reference = StageReference::decode(std::span(encoded).first<StageReference::encoded_size>());
  const Tensor& tensor = editor_.model().catalog().tensors()[record.tensor];
  if (tensor.data_type != string_type && record.offset != tensor.nbytes) {
    fail(EBADMSG, "{}: a tensor of {} bytes is replaced by {} bytes", where(), tensor.nbytes, record.offset);
  }
  StagedContent stage;
  if (const auto found = stages_.find(reference.id); found != stages_.end()) stage = found->second;
  const bool compacted = reference.id != 0 && reference.id < needed_from_;
  const bool complete = stage.whole && stage.records == reference.records && stage.content.size() == record.offset;
  if (!complete && !compacted) {
    if (records_were_lost) return false;
    fail(EBADMSG, "{}: what replaces a tensor is not there as a whole", where());
  }
  editor_.replace(record.tensor, with_size(stage.content, record.offset), time_of(record));
  note(record, 0, true);
  return true;
}

void Replayer::note(const Record& record, uint64_t length, bool all) {
  if (!doubts_.of(editor_.model().catalog().tensors()[record.tensor])) return;
  replaced_[editor_.shared().owner(record.tensor)].push_back({record.offset, length, record.base_hash, all});
}

void Replayer::require_base(const std::string& folder) const {
  const Model& model = editor_.model();
  for (const auto& [tensor, pieces] : replaced_) {
    const Rope base = model.payload(tensor), now = editor_.payload(tensor);
    for (const Replaced& piece : pieces) {
      const uint64_t offset = piece.all ? 0 : piece.offset;
      const uint64_t length = piece.all ? base.size() : piece.length;
      if (fits(offset, length, base.size())) {
        const uint64_t hash = xxh3(base, offset, length);
        if (hash == piece.base_hash) continue;
        const bool comparable = piece.all ? now.size() == length : fits(offset, length, now.size());
        if (comparable && xxh3(now, offset, length) == hash) continue;
      }
      fail(
          ESTALE,
          "the edits in {} are of another state of {}: {} bytes at {} of tensor {} are not those that were edited; put "
          "the right model there, or drop the edits with onnxfs discard {}",
          folder, model.path(), length, offset, model.catalog().tensors()[tensor].name, model.path());
    }
  }
}

}  // namespace onnxfs
