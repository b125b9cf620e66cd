// What replay makes of logs that are damaged or torn.
#include "core/sidecar/base.h"
#include "core/sidecar/blob_walker.h"
#include "core/sidecar/folder.h"
#include "tests/unit/sidecar_replay_fixture.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::contents;
using testing::overwrite;
using testing::put_byte;
using testing::Reference;

class SidecarReplayTest : public testing::SidecarReplayTest {};

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

// What is left of the log is sound by itself, so only the base can tell.
TEST_F(SidecarReplayTest, BlobsThatEndTooEarlyOrAreMissingAreFoundOut) {
  const Reference state = run({});
  const std::string good = contents(blob());
  files::remove(blob());
  EXPECT_ERROR(open(), EBADMSG, "is missing before the end of " + folder());
  EXPECT_ERROR(open(), EBADMSG, "onnxfs discard " + path_);
  overwrite(blob(), "");
  EXPECT_ERROR(open(), EBADMSG, blob() + " at offset 0");
  std::vector<uint64_t> ends;
  {
    overwrite(blob(), good);
    const auto whole = Blob::open(folder(), 1, 1 << 20);
    BlobWalker walker(*whole, good.size(), Base::read(folder())->log_id);
    for (ends.push_back(BlobHeader::encoded_size); walker.next() == BlobWalker::Found::record;) {
      ends.push_back(walker.offset() + walker.record().size());
    }
  }
  ASSERT_GT(ends.size(), 15u);
  ASSERT_EQ(ends.back(), good.size());
  ends.resize(ends.size() - 2);  // without the mark, all edits are there
  for (const uint64_t end : ends) {
    overwrite(blob(), good.substr(0, end));
    EXPECT_ERROR(open(), EBADMSG, folder());
  }
  overwrite(blob(), good.substr(0, good.size() - Record::header_size));
  EXPECT_EQ(testing::reference_of(*open()), state);
}

TEST_F(SidecarReplayTest, MissingBlobIsFoundOutAfterACompactionToo) {
  {
    testing::FaultyDisk disk;
    const auto sidecar = open({.blob = 600, .garbage = 400}, disk);
    for (int i = 0; i < 30; ++i) write(*sidecar, other, 0, "fill");
    EXPECT_TRUE(sidecar->compact());
  }
  const Reference state = testing::reference_of(*open());
  open()->acquire();
  EXPECT_EQ(testing::reference_of(*open()), state);
  for (const uint32_t number : list_blobs(folder())) files::remove(blob(static_cast<int>(number)));
  EXPECT_ERROR(open(), EBADMSG, "is missing before the end of " + folder());
}

TEST_F(SidecarReplayTest, ClosingCostsTwoFlushesOfFiles) {
  struct Counter : Disk {
    void flush(int, const std::string&) override { ++files; }
    void flush_folder(const std::string&) override { ++folders; }
    int files = 0, folders = 0;
  } disk;
  auto sidecar = open({}, disk);
  write(*sidecar, raw, 0, "x");
  sidecar->flush();
  write(*sidecar, raw, 0, "y");
  disk.files = disk.folders = 0;
  sidecar.reset();
  EXPECT_EQ(disk.files, 2);
  EXPECT_EQ(disk.folders, 0);
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

}  // namespace
}  // namespace onnxfs
