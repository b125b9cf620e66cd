#include <algorithm>

#include "core/bytes/error.h"
#include "core/sidecar/commit_plan.h"
#include "core/sidecar/model_check.h"
#include "core/views/live_model.h"
#include "tests/fuzz/model_check.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/workspace.h"
#include "tests/unit/edits.h"
#include "tests/unit/random_model.h"

namespace onnxfs::fuzz {

namespace {

// A byte for the edits to make, then the model.
constexpr size_t model_begin = 1;

bool has_room(const Model& model) {
  Budget budget;
  return std::ranges::all_of(model.catalog().tensors(), [&](const Tensor& t) { return budget.allows(t.nbytes); });
}

// Data files that are the model itself are edited with it, so that edits of tensors are not each their own.
bool refers_to_itself(const Model& model) {
  return std::ranges::any_of(model.catalog().data_files(), [&](const DataFile& file) {
    return file.source && file.source->identity() == model.file()->identity();
  });
}

}  // namespace

// A byte that says which edits to make, and a model. The model written with the edits has them, and all else is as it
// was; or the edits are refused.
void run_commit(std::string_view input) {
  static const Workspace workspace;
  if (input.size() <= model_begin) return;
  std::shared_ptr<const Model> model;
  const std::string path = workspace.write("model.onnx", input.substr(model_begin));
  if (!accepted([&] { model = Model::open(path); })) return;
  if (!has_room(*model) || refers_to_itself(*model)) return;
  const auto seed = static_cast<uint8_t>(input[0]);
  std::optional<testing::RandomEdits> random;
  if (!accepted([&] { random.emplace(*model, seed).edit_some(1 + seed % 4); })) return;
  const Edits edits = random->edits();

  Rope live;
  std::vector<Patch> patches;
  bool in_place = false;
  const bool possible = accepted([&] {
    live = live_model(*model, edits);
    const auto found = model_patches(*model, edits);
    in_place = found.has_value();
    if (found) patches = *found;
  });
  if (!possible) return;
  const std::string bytes = read_both_ways(live);
  if (in_place) {
    require(patched(model->file(), patches).text() == bytes, "patches in place make another model");
  }
  const auto written = FileSource::open(workspace.write("written.onnx", bytes));
  try {
    require_edits_in(written, live, *model, edits, {}, {});
  } catch (const Error& error) {
    throw Violation(error.what());
  }
  const std::vector<testing::TensorState> states = testing::states(*Model::open(written->label()));
  const std::vector<testing::TensorState>& expected = random->expected();
  require(states.size() == expected.size(), "{} tensors became {}", expected.size(), states.size());
  for (uint32_t i = 0; i < states.size(); ++i) {
    testing::TensorState wanted = expected[i];
    // External bytes are in another file, which was not written here.
    if (model->catalog().tensors()[i].data_file != Tensor::no_index) wanted.payload = states[i].payload;
    // Reasons name sizes and places, which edits of others may move.
    if (!wanted.problem.empty() && !states[i].problem.empty()) wanted.problem = states[i].problem;
    require(states[i] == wanted, "tensor {} is not as it was edited", i);
  }
}

std::vector<std::string> seeds_of_commit() {
  std::vector<std::string> seeds;
  for (uint64_t i = 0; seeds.size() < 16; ++i) {
    std::string bytes = testing::RandomModel(100 + i, i % 2 == 0 ? 5 : 10).model().str();
    if (bytes.size() < find_target("commit").longest) seeds.push_back(static_cast<char>(i) + bytes);
  }
  return seeds;
}

}  // namespace onnxfs::fuzz
