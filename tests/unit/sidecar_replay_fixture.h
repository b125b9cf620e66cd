// Logs of a short session with edits of all kinds, for tests that damage them.
#pragma once

#include <algorithm>

#include "tests/unit/faulty_disk.h"
#include "tests/unit/sidecar_reference.h"

namespace onnxfs::testing {

inline void overwrite(const std::string& path, const std::string& bytes) {
  std::filesystem::remove(path);  // some file systems flush a file that is truncated and written anew
  std::ofstream(path, std::ios::binary) << bytes;
}

inline void put_byte(const std::string& path, size_t at, char byte) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at)).put(byte);
}

class SidecarReplayTest : public SidecarTest {
 protected:
  static std::vector<Operation> operations() {
    return {
        write_operation({raw}, 1, "first"),
        replace_operation({strings}, string_payload({"a longer one", "b"})),
        flush_operation(),
        write_operation({outside, tied}, 0, "EX"),
        replace_operation({raw}, "fedcba9876543210"),
        annotate_operation(other, std::vector<int64_t>{4}, "doc"),
        write_operation({numbers}, 3, "numbers"),
        flush_operation(),
        replace_operation({other}, "OTHR", 1),
        revert_operation({raw}, "0123456789abcdef"),
        write_operation({raw}, 0, "x"),
        write_operation({raw}, 8, std::string(8, 'y')),
    };
  }

  // Runs all operations, and leaves a clean log.
  Reference run(const SidecarLimits& limits) {
    FaultyDisk disk;
    const auto sidecar = open(limits, disk);
    for (const Operation& operation : operations()) operation.run(*sidecar);
    return reference_of(*sidecar);
  }

  // As after a restart: whoever else still edits the model holds a lock on its file, so this is of a copy of it.
  std::shared_ptr<Sidecar> open_at(const std::string& folder) {
    static FaultyDisk disk;
    if (!copy_) {
      std::filesystem::copy_file(path_, folder_ / "copy.onnx");
      copy_ = Model::open(folder_ / "copy.onnx");
    }
    return Sidecar::open(copy_, folder, "/mnt/copy", disk);
  }

 private:
  std::shared_ptr<const Model> copy_;
};

}  // namespace onnxfs::testing
