// Commits on a disk that fails, or ends the process, at each step.
#include <gtest/gtest.h>

#include "core/sidecar/temporary_file.h"
#include "tests/unit/commit_fixture.h"
#include "tests/unit/faulty_disk.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::contents;
using testing::dies;
using testing::expect_states;
using testing::FaultyDisk;
using testing::states;
using testing::TensorState;
using Fault = FaultyDisk::Fault;

class CommitFaultsTest : public testing::CommitTest {
 protected:
  using Work = std::function<void(Disk&)>;

  // A fresh model with edits, and what it is to become.
  void begin(bool in_place) {
    files::remove_all(folder_ / "m");
    files::remove_all(folder_ / "out");
    files::create_directories(folder_ / "m/sub");
    files::create_directories(folder_ / "out");
    write_model();
    before_ = states(*Model::open(path_));
    in_place ? edit_same_sizes() : edit_all();
    expected_ = edited_states();
  }

  void edit_same_sizes() {
    write("large", 1000, "edited");
    write("raw", 0, "RRR");
    write("w", 2, "WW");
  }

  uint64_t count_steps(bool in_place, const Work& work) {
    begin(in_place);
    FaultyDisk disk;
    work(disk);
    return disk.steps();
  }

  // Whether each tensor is as it was, or as it is to be: of a commit of several files, one may be new already.
  void expect_whole() {
    const std::vector<TensorState> found = states(*Model::open(path_));
    ASSERT_EQ(found.size(), expected_.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i] == before_[i] || found[i] == expected_[i]) << i;
  }

  void expect_done() {
    ASSERT_NO_FATAL_FAILURE(expect_states(path_, expected_));
    ASSERT_EQ(files_in(folder_ / "m"), (std::vector<std::string>{"model.onnx", "sub/v.bin", "w.bin"}));
    ASSERT_FALSE(files::exists(sidecar_folder()));
  }

  bool has_temporaries() const {
    return std::ranges::any_of(files_in(folder_.path()),
                               [](const auto& name) { return name.ends_with("onnxfs-commit"); });
  }

  std::vector<TensorState> before_, expected_;
};

constexpr Fault deaths[] = {Fault::death, Fault::half_death, Fault::late_death};
constexpr Fault errors[] = {Fault::error, Fault::half_error, Fault::late_error};

TEST_F(CommitFaultsTest, KilledAtAnyStepAFullCommitIsFinishedByTheNext) {
  const Work work = [this](Disk& disk) { commit_model({}, &disk); };
  const uint64_t steps = count_steps(false, work);
  ASSERT_GT(steps, 20U);
  for (const Fault fault : deaths) {
    for (uint64_t step = 0; step < steps; ++step) {
      SCOPED_TRACE(fmt::format("step {} of {}, fault {}", step, steps, static_cast<int>(fault)));
      begin(false);
      ASSERT_TRUE(dies(step, fault, work));
      ASSERT_NO_FATAL_FAILURE(expect_whole());
      commit_model();
      ASSERT_NO_FATAL_FAILURE(expect_done());
    }
  }
}

TEST_F(CommitFaultsTest, KilledAtAnyStepACommitInPlaceIsFinishedByTheNext) {
  const Work work = [this](Disk& disk) { commit_in_place(&disk); };
  const uint64_t steps = count_steps(true, work);
  ASSERT_GT(steps, 10U);
  for (const Fault fault : deaths) {
    for (uint64_t step = 0; step < steps; ++step) {
      SCOPED_TRACE(fmt::format("step {} of {}, fault {}", step, steps, static_cast<int>(fault)));
      begin(true);
      ASSERT_TRUE(dies(step, fault, work));
      commit_in_place();
      ASSERT_NO_FATAL_FAILURE(expect_done());
    }
  }
}

TEST_F(CommitFaultsTest, TheFinishingMayBeKilledToo) {
  const Work work = [this](Disk& disk) { commit_model({}, &disk); };
  for (const bool in_place : {false, true}) {
    const Work first = [&](Disk& disk) { in_place ? commit_in_place(&disk) : commit_model({}, &disk); };
    const uint64_t steps = count_steps(in_place, first);
    for (uint64_t step = 0; step < steps; ++step) {
      begin(in_place);
      ASSERT_TRUE(dies(step, Fault::death, first));
      // How many steps finishing takes is found out on the way: at last one is not reached any more.
      for (uint64_t second = 0; dies(second, Fault::late_death, work); ++second) continue;
      SCOPED_TRACE(fmt::format("step {} of {}", step, steps));
      ASSERT_NO_FATAL_FAILURE(expect_done());
    }
  }
}

TEST_F(CommitFaultsTest, KilledAtAnyStepACommitToAnOutputIsDoneByTheNext) {
  const std::string output = folder_ / "out/new.onnx";
  const Work work = [&](Disk& disk) { commit_to(output, &disk); };
  const uint64_t steps = count_steps(false, work);
  for (const Fault fault : deaths) {
    for (uint64_t step = 0; step < steps; ++step) {
      SCOPED_TRACE(fmt::format("step {} of {}, fault {}", step, steps, static_cast<int>(fault)));
      begin(false);
      ASSERT_TRUE(dies(step, fault, work));
      ASSERT_NO_FATAL_FAILURE(expect_states(path_, before_));
      if (!files::exists(output)) commit_to(output);
      ASSERT_NO_FATAL_FAILURE(expect_states(output, expected_));
      ASSERT_EQ(files_in(folder_ / "out"), (std::vector<std::string>{"new.onnx", "v.bin", "w.bin"}));
      ASSERT_EQ(edited_states(), expected_);
    }
  }
}

TEST_F(CommitFaultsTest, ErrorsLoseNothingAndLeaveNothingBehind) {
  for (const bool in_place : {false, true}) {
    const Work work = [&](Disk& disk) { in_place ? commit_in_place(&disk) : commit_model({}, &disk); };
    const uint64_t steps = count_steps(in_place, work);
    for (const int code : {ENOSPC, EIO}) {
      for (const Fault fault : errors) {
        for (uint64_t step = 0; step < steps; ++step) {
          SCOPED_TRACE(fmt::format("step {} of {}, fault {}, errno {}", step, steps, static_cast<int>(fault), code));
          begin(in_place);
          FaultyDisk disk(step, fault, code);
          const auto error = testing::caught([&] { work(disk); });
          ASSERT_TRUE(error.code == 0 || error.code == code) << error.text;
          ASSERT_NO_FATAL_FAILURE(in_place ? void() : expect_whole());  // the sidecar is the redo log
          // Where files were renamed already, the rest wait for the next commit.
          const bool has_journal = files::exists(sidecar_folder() + "/commit.journal");
          ASSERT_TRUE(has_journal || !has_temporaries());
          commit_model();
          ASSERT_NO_FATAL_FAILURE(expect_done());
        }
      }
    }
  }
}

TEST_F(CommitFaultsTest, ErrorsOfACommitToAnOutputLeaveNothingBehind) {
  const std::string output = folder_ / "out/new.onnx";
  const Work work = [&](Disk& disk) { commit_to(output, &disk); };
  const uint64_t steps = count_steps(false, work);
  for (const Fault fault : errors) {
    for (uint64_t step = 0; step < steps; ++step) {
      SCOPED_TRACE(fmt::format("step {} of {}, fault {}", step, steps, static_cast<int>(fault)));
      begin(false);
      FaultyDisk disk(step, fault, ENOSPC);
      const auto error = testing::caught([&] { work(disk); });
      ASSERT_EQ(error.code != 0, files_in(folder_ / "out").empty());
      ASSERT_FALSE(has_temporaries());
      ASSERT_NO_FATAL_FAILURE(expect_states(path_, before_));
      ASSERT_EQ(edited_states(), expected_);
    }
  }
}

TEST_F(CommitFaultsTest, FilesThatAnInterruptedCommitDidNotLeaveAreNotTakenForIts) {
  begin(false);
  // Up to the first rename.
  const Work work = [this](Disk& disk) { commit_model({}, &disk); };
  for (uint64_t step = 0; !files::exists(sidecar_folder() + "/commit.journal"); ++step) {
    begin(false);
    ASSERT_TRUE(dies(step, Fault::late_death, work));
  }
  folder_.write("m/.w.bin.onnxfs-commit", "something else");
  EXPECT_ERROR(commit_model(), EBADMSG, "m/w.bin is not what an interrupted commit left there");
  files::remove(folder_ / "m/.w.bin.onnxfs-commit");
  EXPECT_ERROR(commit_model(), EBADMSG, "m/w.bin is not what an interrupted commit left there");
  ASSERT_NO_FATAL_FAILURE(expect_states(path_, before_));
}

}  // namespace
}  // namespace onnxfs
