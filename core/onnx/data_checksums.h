// The `checksum` entries of external data: what a model says of its data files.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/onnx/model.h"

namespace onnxfs {

// The data files of a model, by their index in the catalog, that a tensor has a checksum of. Reads the messages of
// tensors that have documentation or a checksum; throws Error as that does.
std::set<uint32_t> data_files_with_checksums(const Model& model);

// The checksums in a model, and whether they are those of its data files: each is the SHA-1 of the whole file, in
// hexadecimal. Of many tensors that say the same of one file, one entry is kept. One thread.
class DataChecksums {
 public:
  // Reads what the model says. Throws Error as reading it does.
  explicit DataChecksums(const Model& model);

  // How many bytes `verify` reads.
  uint64_t size() const noexcept { return size_; }

  // Hashes each data file once, whatever is said of it, and returns a finding for each entry that is wrong, on the
  // first tensor that has it. `progress` is told now and then how many bytes were read, and may be empty. Throws Error:
  // EIO or ESTALE, with the file's name, when one cannot be read or changes meanwhile; ENOTSUP when OpenSSL is set up
  // to have no SHA-1.
  std::vector<Finding> verify(const std::function<void(uint64_t done)>& progress) const;

 private:
  using Digest = std::array<unsigned char, 20>;
  struct Entry {
    uint32_t first_tensor;
    uint64_t tensors = 1;
  };

  const Model& model_;
  std::map<std::pair<uint32_t, Digest>, Entry> entries_;  // by data file and what is said of it
  std::vector<Finding> malformed_;
  uint64_t size_ = 0;
};

}  // namespace onnxfs
