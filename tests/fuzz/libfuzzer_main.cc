// What libFuzzer calls. One program a target, which its build names.
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const onnxfs::fuzz::Target& target = onnxfs::fuzz::find_target(ONNXFS_FUZZ_TARGET);
  // What it throws ends the process, which is how libFuzzer learns of it.
  target.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
