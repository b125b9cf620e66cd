// What replay makes of logs that are damaged, torn, or no log of ours.

#include <random>

#include "core/sidecar/base.h"
#include "core/sidecar/blob.h"
#include "core/sidecar/folder.h"
#include "core/sidecar/hash.h"
#include "core/sidecar/record.h"
#include "tests/unit/faulty_disk.h"
#include "tests/unit/sidecar_reference.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::contents;
using testing::Operation;
using testing::Reference;
using testing::string_payload;

void overwrite(const std::string& path, const std::string& bytes) {
  files::remove(path);  // some file systems flush a file that is truncated and written anew
  std::ofstream(path, std::ios::binary) << bytes;
}

void put_byte(const std::string& path, size_t at, char byte) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at)).put(byte);
}

// Knows how much of each file was flushed.
class WatchfulDisk : public testing::FaultyDisk {
 public:
  void flush(int fd, const std::string& path) override {
    struct stat status;
    ASSERT_EQ(::fstat(fd, &status), 0);
    flushed[files::path(path).filename()] = static_cast<uint64_t>(status.st_size);
    FaultyDisk::flush(fd, path);
  }

  std::map<std::string, uint64_t> flushed;
};

class SidecarReplayTest : public testing::SidecarTest {
 protected:
  static std::vector<Operation> operations() {
    return {
        testing::write_operation({raw}, 1, "first"),
        testing::replace_operation({strings}, string_payload({"a longer one", "b"})),
        testing::flush_operation(),
        testing::write_operation({outside, tied}, 0, "EX"),
        testing::replace_operation({raw}, "fedcba9876543210"),
        testing::annotate_operation(other, std::vector<int64_t>{4}, "doc"),
        testing::write_operation({numbers}, 3, "numbers"),
        testing::flush_operation(),
        testing::replace_operation({other}, "OTHR", 1),
        testing::revert_operation({raw}, "0123456789abcdef"),
        testing::write_operation({raw}, 0, "x"),
        testing::write_operation({raw}, 8, std::string(8, 'y')),
    };
  }

  // Runs all operations, and leaves a clean log.
  Reference run(const SidecarLimits& limits) {
    testing::FaultyDisk disk;
    const auto sidecar = open(limits, disk);
    for (const Operation& operation : operations()) operation.run(*sidecar);
    return testing::reference_of(*sidecar);
  }

  std::shared_ptr<Sidecar> open_at(const std::string& folder) const {
    static testing::FaultyDisk disk;
    return Sidecar::open(model_, folder, "/mnt/copy", disk);
  }
};

TEST_F(SidecarReplayTest, DamageAnywhereIsAnErrorOrHarmless) {
  for (const uint64_t capacity : {uint64_t{1} << 20, uint64_t{500}}) {
    files::remove_all(folder());
    const Reference state = run({.blob = capacity, .garbage = 1 << 20});
    size_t errors = 0, bytes = 0;
    for (const uint32_t number : list_blobs(folder())) {
      const std::string path = blob(static_cast<int>(number)), good = contents(path);
      for (size_t i = 0; i < good.size(); ++i) {
        put_byte(path, i, static_cast<char>(good[i] ^ 0x10));
        ++bytes;
        try {
          ASSERT_EQ(testing::reference_of(*open()), state) << path << " at " << i;
        } catch (const Error& error) {
          ASSERT_EQ(error.code(), EBADMSG) << error.what();
          ASSERT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
          ++errors;
        }
        put_byte(path, i, good[i]);
      }
    }
    EXPECT_GT(errors, bytes * 7 / 10) << "only padding and the last mark are not needed";
  }
}

TEST_F(SidecarReplayTest, MissingBlobIsNamedByWhatIsMissing) {
  run({.blob = 500, .garbage = 1 << 20});
  const auto numbers_of_blobs = list_blobs(folder());
  ASSERT_GE(numbers_of_blobs.size(), 3u);
  for (const uint32_t number : {numbers_of_blobs[0], numbers_of_blobs[1]}) {
    const std::string path = blob(static_cast<int>(number)), good = contents(path);
    files::remove(path);
    EXPECT_ERROR(open(), EBADMSG, "is missing before");
    overwrite(path, good.substr(0, good.size() - 8));
    EXPECT_ERROR(open(), EBADMSG, path);
    overwrite(path, good);
  }
  files::copy_file(blob(1), blob(99));
  EXPECT_ERROR(open(), EBADMSG, blob(99));
}

// After a power cut, what was flushed is there, and of the rest anything may be.
class SidecarPowerCutTest : public SidecarReplayTest {
 protected:
  uint64_t below(uint64_t end) { return end == 0 ? 0 : random_() % end; }

  // A copy of the folder as it may be after a power cut.
  std::string cut(const std::map<std::string, uint64_t>& flushed) {
    const std::string cut = folder_ / "cut.sidecar";
    files::remove_all(cut);
    files::copy(folder(), cut);
    for (const uint32_t number : list_blobs(cut)) {
      const std::string path = blob_path(cut, number);
      const auto known = flushed.find(files::path(path).filename());
      const uint64_t durable = known == flushed.end() ? 0 : known->second;
      const std::string bytes = contents(path);
      if (durable == bytes.size()) continue;
      if (durable == 0 && below(8) == 0) files::remove(path);
      else overwrite(path, damaged(bytes, durable + below(bytes.size() - durable)));
    }
    return cut;
  }

  std::string damaged(std::string bytes, uint64_t from) {
    switch (below(4)) {
      case 0: bytes.resize(from); break;
      case 1: std::fill(bytes.begin() + static_cast<ptrdiff_t>(from), bytes.end(), '\0'); break;
      case 2:
        std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(from), std::min<size_t>(bytes.size() - from, 64), '\0');
      default: break;
    }
    return bytes;
  }

  // That tensors are as in the first state, but for those that were edited later.
  static void expect_untouched(const Reference& found, std::span<const Reference> states) {
    for (const auto& [tensor, content] : states[0]) {
      const auto same = [&, t = tensor](const Reference& state) { return state.at(t) == states[0].at(t); };
      if (std::ranges::all_of(states, same)) {
        EXPECT_EQ(found.at(tensor), content) << tensor;
      }
    }
  }

  std::minstd_rand random_{1};
};

TEST_F(SidecarPowerCutTest, OnlyWhatWasNotFlushedIsLost) {
  for (const uint64_t capacity : {uint64_t{1} << 20, uint64_t{300}}) {
    const bool one_blob = capacity > 1000;
    files::remove_all(folder());
    WatchfulDisk disk;
    const auto sidecar = open({.blob = capacity, .garbage = 1 << 20}, disk);
    std::vector<Reference> states = {testing::reference_of(*sidecar)};  // since the last flush
    for (const Operation& operation : operations()) {
      operation.run(*sidecar);
      if (operation.name == "flush") states.clear();
      states.push_back(testing::reference_of(*sidecar));
      for (int i = 0; i < 25; ++i) {
        const std::string path = cut(disk.flushed);
        auto found = open_at(path);
        Reference state = testing::reference_of(*found);
        expect_untouched(state, states);
        if (one_blob) {
          ASSERT_EQ(std::ranges::count(states, state), 1);
        }

        // What is left can be worked on, and is left for good.
        found->write(other, 1, testing::bytes_of("go"));
        state = testing::reference_of(*found);
        found.reset();
        found = open_at(path);
        ASSERT_EQ(testing::reference_of(*found), state);
      }
    }
  }
}

// A power cut may take the first of two blobs, and leave the second.
TEST_F(SidecarPowerCutTest, ReplacementsWithoutAllTheirRecordsAreLeftOutForGood) {
  testing::FaultyDisk disk;
  {
    const auto sidecar = open({.blob = 400, .garbage = 10}, disk);
    const auto stage = sidecar->stage();
    for (const uint64_t at : {0, 4, 8, 12}) testing::put(*stage, "new!", at);
    sidecar->replace(raw, *stage);
    write(*sidecar, other, 0, "kept");
    files::copy(folder(), folder_ / "cut.sidecar");
  }
  const std::string cut = folder_ / "cut.sidecar";
  files::resize_file(blob_path(cut, 1), files::file_size(blob_path(cut, 1)) - 88);
  const auto expect_left_out = [&](const Sidecar& sidecar, size_t remarks) {
    EXPECT_EQ(sidecar.payload(raw).text(), "0123456789abcdef");
    EXPECT_EQ(sidecar.payload(other).text(), "kept");
    EXPECT_EQ(sidecar.remarks().size(), remarks);
  };
  expect_left_out(*open_at(cut), 2);
  const auto sidecar = Sidecar::open(model_, cut, "", disk, Opening::ordinary, {.blob = 10'000, .garbage = 10});
  expect_left_out(*sidecar, 2);
  const auto stage = sidecar->stage();
  testing::put(*stage, "keeps the second blob");
  expect_left_out(*open_at(cut), 0);
  EXPECT_TRUE(sidecar->compact()) << "the first blob";
  EXPECT_FALSE(files::exists(blob_path(cut, 1)));
  expect_left_out(*open_at(cut), 0);
}

TEST_F(SidecarReplayTest, TornTailIsReportedAndCutByTheNextWriter) {
  run({});
  const std::string good = contents(blob());
  overwrite(blob(), good + "oxr\1 a record that was not whole");
  {
    const auto reader = open();
    ASSERT_EQ(reader->remarks().size(), 1u);
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "32 bytes at the end of " + blob(), reader->remarks()[0]);
  }
  EXPECT_EQ(contents(blob()).size(), good.size() + 32) << "a reader changes nothing";
  open()->acquire();
  EXPECT_EQ(contents(blob()), good);
  EXPECT_TRUE(open()->remarks().empty());
}

// Records written by hand, each sound by itself.
class SidecarForgedTest : public SidecarReplayTest {
 protected:
  void forge(Record record, const std::string& bytes = "") {
    files::remove_all(folder());
    files::create_directory(folder());
    Base base = Base::of(*model_);
    base.write(folder(), Disk::real());
    record.sequence = 1;
    record.length = static_cast<uint32_t>(bytes.size());
    record.bytes_hash = xxh3(testing::bytes_of(bytes));
    const auto text = [](const auto& array) {
      return std::string(reinterpret_cast<const char*>(array.data()), array.size());
    };
    overwrite(blob(), text(BlobHeader{log_version, 1, base.log_id}.encode()) + text(record.encode(base.log_id)) +
                          bytes + std::string((8 - bytes.size() % 8) % 8, '\0'));
  }
  Record record(RecordType type, uint32_t tensor, uint64_t offset = 0) const {
    Record record;
    record.type = type;
    record.tensor = tensor;
    record.message = model_->catalog().tensors()[tensor].message.begin;
    record.offset = offset;
    return record;
  }
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
