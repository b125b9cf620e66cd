#include <sys/wait.h>

#include <future>
#include <thread>
#include <utility>

#include "core/sidecar/base.h"
#include "tests/unit/faulty_disk.h"
#include "tests/unit/sidecar_reference.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::FaultyDisk;
using testing::Operation;
using testing::Reference;
using testing::string_payload;
using Fault = FaultyDisk::Fault;

// A session with edits of all kinds, of several blobs, that is compacted twice; and then another one.
class SidecarFaultsTest : public testing::SidecarTest {
 protected:
  static constexpr SidecarLimits limits{.blob = 700, .garbage = 500};

  static std::vector<Operation> session(char mark) {
    const auto text = [mark](size_t size) { return std::string(size, mark); };
    std::vector<Operation> operations = {
        testing::write_operation({raw}, 1, text(3)),
        testing::write_operation({outside, tied}, 0, text(2)),
        testing::annotate_operation(other, std::vector<int64_t>{2, 2}, text(5)),
        testing::flush_operation(),
        testing::replace_operation({strings}, string_payload({text(9), "b"})),
        testing::replace_operation({tied, outside}, "sha" + text(5)),
        testing::write_operation({numbers}, 8, text(8)),
        testing::replace_operation({raw}, text(15) + "."),
        testing::revert_operation({numbers}, model_numbers()),
        testing::write_operation({raw}, 15, "!"),
    };
    for (const uint32_t tensor : {other, raw}) {
      for (int i = 0; i < 9; ++i) operations.push_back(testing::write_operation({tensor}, 0, "123" + text(1)));
      operations.push_back(testing::compact_operation());
    }
    operations.push_back(testing::write_operation({raw}, 0, "last"));
    operations.push_back(testing::flush_operation());
    return operations;
  }
  static std::string model_numbers() {
    std::string bytes;
    for (const uint64_t number : {1, 2, 300, 4}) bytes += testing::fixed_bytes(number, 8);
    return bytes;
  }

  void begin() {
    files::remove_all(folder());
    state_ = testing::reference_of(*open());
  }

  // Returns how many steps the session takes on a sound disk.
  uint64_t count_steps() {
    begin();
    FaultyDisk disk;
    {
      const auto sidecar = open(limits, disk);
      for (const Operation& operation : session('a')) operation.run(*sidecar);
      EXPECT_FALSE(files::exists(blob(1))) << "nothing was compacted";
    }
    return disk.steps();
  }

  // Runs the session in a process that dies. Returns how many of its calls returned.
  size_t run_and_die(uint64_t step, Fault fault) {
    int pipe[2];
    EXPECT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      FaultyDisk disk(step, fault);
      {
        const auto sidecar = open(limits, disk);
        for (const Operation& operation : session('a')) {
          operation.run(*sidecar);
          if (::write(pipe[1], "+", 1) != 1) ::_exit(1);
        }
      }
      ::_exit(0);
    }
    ::close(pipe[1]);
    char text[256];
    size_t returned = 0;
    for (ssize_t n; (n = ::read(pipe[0], text, sizeof text)) > 0;) returned += static_cast<size_t>(n);
    ::close(pipe[0]);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status)) << "step " << step << " was not reached";
    return returned;
  }

  Reference state_;  // of the model without edits, and then of the calls that succeeded
};

TEST_F(SidecarFaultsTest, DeathLosesNothingThatReturnedAndLeavesNothingHalfDone) {
  const uint64_t steps = count_steps();
  ASSERT_GT(steps, 60u);
  for (const Fault fault : {Fault::death, Fault::half_death, Fault::late_death}) {
    for (uint64_t step = 0; step < steps; ++step) {
      SCOPED_TRACE(fmt::format("step {} of {}, fault {}", step, steps, static_cast<int>(fault)));
      begin();
      const size_t returned = run_and_die(step, fault);
      const std::vector<Operation> operations = session('a');
      for (size_t i = 0; i < returned; ++i) operations[i].apply(state_);
      Reference next = state_;
      if (returned < operations.size()) operations[returned].apply(next);
      FaultyDisk sound;
      auto sidecar = open(limits, sound);
      Reference found = testing::reference_of(*sidecar);
      ASSERT_TRUE(found == state_ || found == next) << "after " << returned << " calls";

      // What is found can be worked on, and is found again.
      for (const Operation& operation : session('b')) {
        operation.run(*sidecar);
        operation.apply(found);
      }
      ASSERT_EQ(testing::reference_of(*sidecar), found);
      sidecar.reset();
      sidecar = open(limits, sound);
      ASSERT_EQ(testing::reference_of(*sidecar), found);
      ASSERT_TRUE(sidecar->remarks().empty()) << sidecar->remarks()[0];
    }
  }
}

TEST_F(SidecarFaultsTest, ErrorsAreReportedAndChangeNothing) {
  const uint64_t steps = count_steps();
  for (const int code : {ENOSPC, EIO}) {
    for (const Fault fault : {Fault::error, Fault::half_error, Fault::late_error}) {
      for (uint64_t step = 0; step < steps; ++step) {
        SCOPED_TRACE(fmt::format("step {} of {}, fault {}, errno {}", step, steps, static_cast<int>(fault), code));
        begin();
        int errors = 0;
        {
          FaultyDisk disk(step, fault, code);
          const auto sidecar = open(limits, disk);
          for (const Operation& operation : session('a')) {
            const auto caught = testing::caught([&] { operation.run(*sidecar); });
            if (caught.code == 0) {
              operation.apply(state_);
            } else {
              ASSERT_EQ(caught.code, code) << operation.name << ": " << caught.text;
              ASSERT_FALSE(std::filesystem::exists(Base::temporary_path(folder()))) << operation.name;
              ++errors;
            }
            ASSERT_EQ(testing::reference_of(*sidecar), state_) << operation.name;
          }
        }
        ASSERT_LE(errors, 1);
        ASSERT_EQ(testing::reference_of(*open(limits)), state_);
      }
    }
  }
}

TEST_F(SidecarFaultsTest, FullDiskRefusesEveryEditUntilThereIsRoom) {
  begin();
  FaultyDisk disk(FaultyDisk::never, Fault::half_error, ENOSPC);
  const auto sidecar = open(limits, disk);
  const auto refuse_all = [&] {
    disk.fail_always(true);
    for (const Operation& operation : session('x')) {
      const auto caught = testing::caught([&] { operation.run(*sidecar); });
      EXPECT_TRUE(caught.code == ENOSPC || caught.code == 0) << operation.name << ": " << caught.text;
      if (caught.code == 0) operation.apply(state_);  // such as a flush of nothing
      EXPECT_EQ(testing::reference_of(*sidecar), state_) << operation.name;
    }
    disk.fail_always(false);
  };
  refuse_all();
  EXPECT_EQ(sidecar->edits().size(), 0u);
  for (const char mark : {'a', 'b'}) {
    for (const Operation& operation : session(mark)) {
      operation.run(*sidecar);
      operation.apply(state_);
    }
    refuse_all();
    EXPECT_EQ(testing::reference_of(*open(limits)), state_) << "as a reader sees it";
  }
}

TEST_F(SidecarFaultsTest, FlushFailsUntilOneSucceeds) {
  FaultyDisk disk(FaultyDisk::never, Fault::error, EIO);
  const auto sidecar = open({}, disk);
  write(*sidecar, raw, 0, "x");
  disk.fail_always(true);
  for (int i = 0; i < 3; ++i) EXPECT_ERROR(sidecar->flush(), EIO, "on fire");
  disk.fail_always(false);
  const uint64_t before = disk.steps();
  sidecar->flush();
  EXPECT_EQ(disk.steps(), before + 4) << "written again, flushed, and both folders";
  sidecar->flush();
  EXPECT_EQ(disk.steps(), before + 4) << "nothing is left to be flushed";
  write(*sidecar, raw, 0, "y");
  sidecar->flush();
  EXPECT_EQ(disk.steps(), before + 6);
  EXPECT_EQ(reopened(raw).substr(0, 2), "y1");
}

// A disk that takes its time to flush a blob.
class SlowDisk final : public FaultyDisk {
 public:
  void flush(int fd, const std::string& path) override {
    if (path.ends_with(".blob") && !std::exchange(begun_, true)) {
      begun.set_value();
      go_on.get_future().wait();
    }
    FaultyDisk::flush(fd, path);
  }

  std::promise<void> begun, go_on;

 private:
  bool begun_ = false;
};

TEST_F(SidecarFaultsTest, NobodyWaitsForAFlushButWhoAskedForIt) {
  SlowDisk disk;
  const auto sidecar = open({}, disk);
  write(*sidecar, raw, 0, "x");
  std::thread flusher([&] { sidecar->flush(); });
  disk.begun.get_future().wait();
  write(*sidecar, raw, 1, "y");
  EXPECT_EQ(sidecar->payload(raw).text().substr(0, 3), "xy2");
  disk.go_on.set_value();
  flusher.join();
  const uint64_t steps = disk.steps();
  sidecar->flush();
  EXPECT_EQ(disk.steps(), steps + 1) << "the second write came after the first flush began";
}

TEST_F(SidecarFaultsTest, RemovalThatEndsAnywhereNeverLeavesOtherEdits) {
  const auto make = [&] {
    begin();
    FaultyDisk sound;
    const auto sidecar = open({.blob = 200, .garbage = 1 << 20}, sound);
    for (const char* text : {"a", "b", "c", "d"}) write(*sidecar, raw, 0, text);
    state_ = testing::reference_of(*sidecar);
  };
  const auto unedited = [&] {
    begin();
    return state_;
  }();
  bool done = false;
  for (uint64_t step = 0; !done; ++step) {
    for (const Fault fault : {Fault::error, Fault::late_error}) {
      make();
      FaultyDisk disk(step, fault);
      const auto caught = testing::caught([&] { remove_sidecar(folder(), disk); });
      done = caught.code == 0;
      auto sidecar = open();
      const Reference found = testing::reference_of(*sidecar);
      ASSERT_TRUE(found == state_ || found == unedited) << step;
      write(*sidecar, raw, 1, "e");
      const Reference edited = testing::reference_of(*sidecar);
      sidecar.reset();
      ASSERT_EQ(testing::reference_of(*open()), edited) << step;
      if (files::exists(folder())) remove_sidecar(folder());
      ASSERT_FALSE(files::exists(folder()));
    }
  }
}

}  // namespace
}  // namespace onnxfs
