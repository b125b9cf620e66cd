// Writes the seeds of each target into a folder of its name: fuzz_seeds FOLDER
#include <filesystem>
#include <fstream>

#include "tests/fuzz/target.h"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  for (const onnxfs::fuzz::Target& target : onnxfs::fuzz::all_targets()) {
    const std::filesystem::path folder = std::filesystem::path(arguments[1]) / target.name;
    std::filesystem::create_directories(folder);
    size_t number = 0;
    for (const std::string& seed : target.seeds()) {
      std::ofstream file(folder / fmt::format("seed-{:03}", number++), std::ios::binary);
      file << seed;
      if (!file.flush()) return 1;
    }
  }
}
