// The payload of a tensor that stands in a typed field in another form than the payload's.
#pragma once

#include <vector>

#include "core/bytes/rope.h"
#include "core/onnx/entry_values.h"
#include "core/onnx/typed_layout.h"

namespace onnxfs {

// What an entry becomes in the payload (the format's rules for typed fields):
//  * INT32 and INT64 and their like, FLOAT16 and its like, and 8-bit types: the low bytes of the number
//  * BOOL: 1 for any number but 0
//  * 4-bit and 2-bit types: the low byte, which holds 2 or 4 elements
//  * FLOAT6: the low six bits, one after another in a stream of bits, least significant first
//  * floats and doubles: the bytes as they are
//  * STRING: the string's length in four bytes, and its bytes
//
// Nothing decoded is kept: the kernel's page cache does that. What is kept is where every so many entries stand in the
// file, so that a read anywhere costs the bytes that it asks for. That index is made when the source is, by one pass
// over the field, which proves the count of entries too.
//
// That pass also looks at the numbers of types that not every number is an element of.
//
// Any number of threads may use one.
class TypedSource final : public Source {
 public:
  // `file` holds the layout's pieces. Throws Error(EBADMSG) when the field does not hold what the tensor's shape needs.
  TypedSource(SourcePtr file, TypedLayout layout);

  // What is odd in the entries (entry_values.h); "" when nothing is.
  const std::string& oddity() const noexcept { return oddity_; }

  uint64_t size() const noexcept override { return layout_.nbytes; }
  void read(uint64_t offset, std::span<std::byte> out) const override;
  void require_current() const override { file_->require_current(); }

 private:
  struct Checkpoint {
    TypedEntries::Position position;
    uint64_t output = 0;  // where in the payload the entry there begins
  };

  void index();
  void require_count(uint64_t count) const;
  void index_strings();
  // Each fills `out` from the entries that follow, but for the first `skip` bytes of them.
  void read_fixed(wire::Window& window, TypedEntries& entries, uint64_t skip, std::span<std::byte> out) const;
  void read_varints(TypedEntries& entries, uint64_t skip, std::span<std::byte> out) const;
  void read_strings(wire::Window& window, TypedEntries& entries, uint64_t skip, std::span<std::byte> out) const;
  TypedEntries entries(wire::Window& window) const { return {window, layout_.pieces, layout_.field}; }

  SourcePtr file_;
  TypedLayout layout_;
  uint32_t unit_entries_ = 1;  // entries that fill whole bytes: four for FLOAT6, else one
  uint64_t unit_bytes_ = 0;    // what they fill; 0 for strings
  std::vector<Checkpoint> checkpoints_;
  std::string oddity_;
};

// The payload of a field of floats or doubles that is all packed, where it stands in the file: an extent a run. Empty
// when the field is another, or has unpacked entries or more than `most` runs; then it takes a TypedSource.
std::vector<Extent> packed_runs(const SourcePtr& file, const TypedLayout& layout, size_t most);

}  // namespace onnxfs
