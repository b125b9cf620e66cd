// XXH128SUMS: a line a tensor, in file order, which `xxhsum -c` and `xxh128sum -c` check:
//
//     32 hexadecimal digits, the XXH3 hash of 128 bits of the tensor's payload
//     two spaces
//     the path of its .bin
//
// Tensors that are broken have no line, because none would be true of them.
#pragma once

#include "core/onnx/edit.h"
#include "core/views/digest_cache.h"
#include "core/views/listing.h"

namespace onnxfs {

// What the lines are made from. The functions are called from any thread, as long as the file is read; a tensor's path
// stays what it is.
struct SumsSubject {
  std::shared_ptr<const Model> model;
  PathOf path_of;
  std::function<Rope(uint32_t tensor)> payload_of;      // the current payload
  std::function<uint64_t(uint32_t tensor)> version_of;  // of the edits that are in it (EditTable::version)
  std::shared_ptr<DigestCache> cache;                   // for every file that is made of this model
};

// Hashes nothing. A read hashes the tensors whose hashes it asks for, as they are then, unless the cache has them; it
// throws what reading their payloads does, of a tensor that is found broken only now EIO.
Rope xxh128_sums(SumsSubject subject);

}  // namespace onnxfs
