// Exports on a disk that fails, or ends the process, at each step.
#include <gtest/gtest.h>

#include "tests/unit/export_fixture.h"

namespace onnxfs {
namespace {

namespace files = std::filesystem;
using testing::contents;
using testing::dies;
using testing::FaultyDisk;
using testing::graph;
using testing::states;
using testing::tensor;
using testing::TensorState;
using Fault = FaultyDisk::Fault;
namespace type = testing::type;

// Into one data file, one for each tensor, or a safetensors file; on file systems with and without renames that replace
// nothing.
enum class Way { external, per_tensor, safetensors };
using Parameters = std::tuple<Way, bool>;

class ExportFaultsTest : public testing::ExportFixture, public ::testing::WithParamInterface<Parameters> {
 protected:
  ExportFaultsTest() {
    folder_.write("m/model.onnx",
                  testing::model(graph({tensor("large", type::uint8, {large}).bytes(9, std::string(large, 'L')),
                                        tensor("second", type::uint8, {5000}).bytes(9, std::string(5000, 's'))}))
                      .str());
    write("large", 1000, "edited");
    expected_ = edited_states();
    before_ = contents(path_);
  }

  void begin() {
    files::remove_all(folder_ / "out");
    folder_.folder("out");
  }

  void work(FaultyDisk& disk) {
    if (std::get<bool>(GetParam())) disk.lack_new_renames();
    const auto location_of = [](uint32_t tensor) { return fmt::format("d{}", tensor); };
    switch (std::get<Way>(GetParam())) {
      case Way::external: run(out(), {}, "d", &disk); break;
      case Way::per_tensor: run_to(out(), {}, location_of, disk); break;
      case Way::safetensors: run_safetensors(disk); break;
    }
  }

  std::vector<std::string> all_files() const {
    switch (std::get<Way>(GetParam())) {
      case Way::external: return {"d", "new.onnx"};
      case Way::per_tensor: return {"d0", "d1", "new.onnx"};
      case Way::safetensors: return {"new.onnx"};
    }
    return {};
  }

  uint64_t count_steps() {
    begin();
    FaultyDisk disk;
    work(disk);
    whole_ = contents(out());
    return disk.steps();
  }

  void expect_whole() {
    ASSERT_TRUE(contents(out()) == whole_);
    if (std::get<Way>(GetParam()) == Way::safetensors) return;
    ASSERT_NO_FATAL_FAILURE(testing::expect_states(out(), expected_));
  }

  void expect_unharmed() {
    ASSERT_TRUE(contents(path_) == before_);
    ASSERT_EQ(edited_states(), expected_);
  }

  std::vector<TensorState> expected_;
  std::string before_, whole_;
};

INSTANTIATE_TEST_SUITE_P(Ways, ExportFaultsTest,
                         ::testing::Combine(::testing::Values(Way::external, Way::per_tensor, Way::safetensors),
                                            ::testing::Bool()));

TEST_P(ExportFaultsTest, ErrorsLeaveNothing) {
  const uint64_t steps = count_steps();
  ASSERT_GT(steps, 5U);
  for (const int code : {ENOSPC, EIO}) {
    for (const Fault fault : {Fault::error, Fault::half_error, Fault::late_error}) {
      for (uint64_t step = 0; step < steps; ++step) {
        SCOPED_TRACE(fmt::format("step {} of {}, fault {}, errno {}", step, steps, static_cast<int>(fault), code));
        begin();
        FaultyDisk disk(step, fault, code);
        const auto error = testing::caught([&] { work(disk); });
        ASSERT_EQ(error.code, code);
        ASSERT_PRED_FORMAT2(::testing::IsSubstring, folder_ / "out", error.text);
        ASSERT_TRUE(written().empty()) << error.text;
        ASSERT_NO_FATAL_FAILURE(expect_unharmed());
      }
    }
  }
}

TEST_P(ExportFaultsTest, KilledAtAnyStepItLeavesAWholeModelOrNone) {
  const uint64_t steps = count_steps();
  for (const Fault fault : {Fault::death, Fault::half_death, Fault::late_death}) {
    for (uint64_t step = 0; step < steps; ++step) {
      SCOPED_TRACE(fmt::format("step {} of {}, fault {}", step, steps, static_cast<int>(fault)));
      begin();
      ASSERT_TRUE(dies(step, fault, [this](FaultyDisk& disk) { work(disk); }));
      ASSERT_NO_FATAL_FAILURE(expect_unharmed());
      if (files::exists(out())) {
        ASSERT_NO_FATAL_FAILURE(expect_whole());
        files::remove(out());
      }
      FaultyDisk disk;
      work(disk);
      ASSERT_NO_FATAL_FAILURE(expect_whole());
      ASSERT_EQ(written(), all_files());
    }
  }
}

}  // namespace
}  // namespace onnxfs
