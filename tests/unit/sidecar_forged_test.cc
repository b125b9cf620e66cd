// Logs of sound records that are not ours.
#include "core/bytes/hash.h"
#include "core/sidecar/annotation.h"
#include "core/sidecar/base.h"
#include "core/sidecar/record.h"
#include "tests/unit/sidecar_replay_fixture.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::contents;
using testing::overwrite;

// Records written by hand, each sound by itself.
class SidecarForgedTest : public testing::SidecarReplayTest {
 protected:
  void forge(Record record, const std::string& bytes = "") {
    begin();
    record.sequence = 1;
    write_blob(1, {{record, bytes}});
  }

  void begin() {
    files::remove_all(folder());
    files::create_directory(folder());
    base_ = Base::of(*model_);
    base_.write(folder(), Disk::real());
  }

  void write_blob(int number, const std::vector<std::pair<Record, std::string>>& records) {
    const auto text = [](const auto& array) {
      return std::string(reinterpret_cast<const char*>(array.data()), array.size());
    };
    std::string content = text(BlobHeader{log_version, static_cast<uint32_t>(number), base_.log_id}.encode());
    for (auto [record, bytes] : records) {
      record.length = static_cast<uint32_t>(bytes.size());
      record.bytes_hash = xxh3(testing::bytes_of(bytes));
      content += text(record.encode(base_.log_id)) + bytes + std::string((8 - bytes.size() % 8) % 8, '\0');
    }
    overwrite(blob(number), content);
  }
  Record record(RecordType type, uint32_t tensor, uint64_t offset = 0) const {
    Record record;
    record.type = type;
    record.tensor = tensor;
    record.message = model_->catalog().tensors()[tensor].message.begin;
    record.offset = offset;
    return record;
  }

  Base base_;
};

TEST_F(SidecarForgedTest, SoundRecordTakesEffect) {
  forge(record(RecordType::write, raw, 14), "zz");
  EXPECT_EQ(reopened(raw), "0123456789abcdzz");
}

TEST_F(SidecarForgedTest, TensorsHaveToBeCountedTheSame) {
  Record wrong = record(RecordType::write, raw);
  ++wrong.message;
  forge(wrong, "x");
  EXPECT_ERROR(open(), ENOTSUP, "another version of onnxfs");
  wrong = record(RecordType::write, raw);
  wrong.tensor = 1000;
  forge(wrong, "x");
  EXPECT_ERROR(open(), ENOTSUP, "no tensor 1000");
}

TEST_F(SidecarForgedTest, RangesHaveToBeWithinTheTensor) {
  for (const uint64_t offset : {uint64_t{16}, uint64_t{15}, UINT64_MAX, UINT64_MAX - 1}) {
    forge(record(RecordType::write, raw, offset), "xy");
    EXPECT_ERROR(open(), EBADMSG, "are not in a tensor of 16 bytes");
    EXPECT_ERROR(open(), EBADMSG, blob() + " at offset 32");
  }
  Record far = record(RecordType::staged_write, raw, UINT64_MAX);
  far.tensor = 0;
  far.message = 0;
  forge(far, "xy");
  EXPECT_ERROR(open(), EBADMSG, blob() + " at offset 32");
}

TEST_F(SidecarForgedTest, ReplacementsHaveToBeWhole) {
  const auto encoded = [](StageReference reference) {
    const auto bytes = reference.encode();
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  forge(record(RecordType::replace, raw, 16), "short");
  EXPECT_ERROR(open(), EBADMSG, "is damaged");
  forge(record(RecordType::replace, raw, 15), encoded({0, 0}));
  EXPECT_ERROR(open(), EBADMSG, "a tensor of 16 bytes is replaced by 15 bytes");
  forge(record(RecordType::replace, raw, 16), encoded({0, 0}));
  EXPECT_ERROR(open(), EBADMSG, "not there as a whole");
  forge(record(RecordType::replace, raw, 16), encoded({1, 1}));
  EXPECT_ERROR(open(), EBADMSG, "not there as a whole");
  forge(record(RecordType::annotate, raw), "no annotation");
  EXPECT_ERROR(open(), EBADMSG, "the annotation is damaged");
}

TEST_F(SidecarForgedTest, ShapesHaveToBeOfTheTensorsElements) {
  forge(record(RecordType::annotate, raw), Annotation{std::vector<int64_t>{2, 8}, {}}.encode());
  EXPECT_EQ(open()->edits().find(raw)->dims, (std::vector<int64_t>{2, 8}));
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {17}, {-4, -4}, {INT64_MAX, INT64_MAX}}) {
    forge(record(RecordType::annotate, raw), Annotation{dims, {}}.encode());
    EXPECT_ERROR(open(), EBADMSG, blob() + " at offset 32: the annotation is damaged");
  }
}

TEST_F(SidecarForgedTest, PartsOfStringsAreNotWritten) {
  forge(record(RecordType::write, strings), "\xff\xff\xff\xff");
  EXPECT_ERROR(open(), EBADMSG, "a part of strings is written");
}

TEST_F(SidecarForgedTest, BrokenTensorsAreNotEdited) {
  for (const RecordType type : {RecordType::write, RecordType::annotate, RecordType::replace}) {
    forge(record(type, broken), "1");
    EXPECT_ERROR(open(), EBADMSG, "tensor \"broken\" is edited, which is broken: raw_data has 4 bytes");
  }
}

// A power cut in the last flush of a compaction: the record that says that the old blob is not needed any more reached
// the disk, and one before it did not. What cuts that one cuts both, and the old blob stays until that is said again.
TEST_F(SidecarForgedTest, CompactionThatIsCutIsSaidAgain) {
  begin();
  const auto numbered = [](Record record, uint64_t sequence, uint64_t flushed) {
    record.sequence = sequence;
    record.flushed = flushed;
    return record;
  };
  Record compacted;
  compacted.type = RecordType::compacted;
  compacted.offset = 3;
  write_blob(1, {{numbered(record(RecordType::write, raw, 0), 1, 0), "A"},
                 {numbered(record(RecordType::write, raw, 0), 2, 0), "B"}});
  write_blob(2, {{numbered(record(RecordType::write, raw, 0), 3, 2), "B"},
                 {numbered(record(RecordType::write, raw, 9), 4, 2), "torn"},
                 {numbered(compacted, 5, 3), ""}});
  testing::put_byte(blob(2), 32 + 88 + 80, '?');
  EXPECT_EQ(reopened(raw), "B123456789abcdef");
  for (const char* edit : {"x", "y", "z"}) {
    const auto sidecar = open();
    write(*sidecar, raw, 5, edit);
  }
  EXPECT_EQ(reopened(raw), "B1234z6789abcdef");
  EXPECT_FALSE(files::exists(blob(1)));
}

TEST_F(SidecarForgedTest, RecordsSaidToBeLostAreSaidAgain) {
  begin();
  Record first = record(RecordType::write, raw, 0), torn = record(RecordType::write, raw, 9), lost;
  first.sequence = 1;
  torn.sequence = 4;
  lost.type = RecordType::lost;
  lost.offset = 2;
  lost.message = 4;
  lost.sequence = 5;
  write_blob(1, {{first, "A"}});
  write_blob(2, {{torn, "torn"}, {lost, ""}});
  testing::put_byte(blob(2), 32 + 80, '?');
  for (const char* edit : {"x", "y", "z"}) {
    const auto sidecar = open();
    write(*sidecar, raw, 5, edit);
    sidecar->flush();
  }
  EXPECT_EQ(reopened(raw), "A1234z6789abcdef");
}

TEST_F(SidecarForgedTest, AnotherVersionIsNamed) {
  forge(record(RecordType::write, raw), "x");
  const auto header = BlobHeader{2, 1, Base::read(folder())->log_id}.encode();
  std::string bytes = contents(blob());
  bytes.replace(0, header.size(), reinterpret_cast<const char*>(header.data()), header.size());
  overwrite(blob(), bytes);
  EXPECT_ERROR(open(), ENOTSUP, "in format 2");
}

}  // namespace
}  // namespace onnxfs
