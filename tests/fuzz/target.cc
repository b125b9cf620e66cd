#include "tests/fuzz/target.h"

#include <algorithm>
#include <array>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "tests/fuzz/targets.h"

namespace onnxfs::fuzz {

std::span<const Target> all_targets() {
  static const std::array targets{
      Target{"model", 4096, run_model, seeds_of_model},
      Target{"values", 2048, run_values, seeds_of_values},
      Target{"external", 512, run_external, seeds_of_external},
      Target{"names", 1024, run_names, seeds_of_names},
      Target{"sidecar", 1024, run_sidecar, seeds_of_sidecar},
      Target{"npy", 1024, run_npy, seeds_of_npy},
      Target{"json", 2048, run_json, seeds_of_json},
      Target{"commit", 4096, run_commit, seeds_of_commit},
  };
  return targets;
}

const Target& find_target(std::string_view name) {
  const auto found = std::ranges::find(all_targets(), name, &Target::name);
  if (found == all_targets().end()) throw std::invalid_argument(fmt::format("there is no fuzz target {}", name));
  return *found;
}

std::string refusal(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    const std::string_view sentence = error.what();
    require(error.code() > 0, "an error without an errno: {}", sentence);
    require(!sentence.empty() && printable(sentence) == sentence, "an error that is no printable line: {}", sentence);
    return error.what();
  }
}

bool accepted(const std::function<void()>& work) { return refusal(work).empty(); }

}  // namespace onnxfs::fuzz
