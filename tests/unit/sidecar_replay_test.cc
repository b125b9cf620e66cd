// What replay makes of logs that are damaged or torn.
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
