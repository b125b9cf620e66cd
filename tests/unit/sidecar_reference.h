// What edits come to, kept in plain memory: what a sidecar is held against.
#pragma once

#include <map>
#include <optional>

#include "tests/unit/sidecar_fixture.h"

namespace onnxfs::testing {

struct ReferenceTensor {
  std::string payload;
  std::optional<std::vector<int64_t>> dims;
  std::optional<std::string> doc_string;

  bool operator==(const ReferenceTensor&) const = default;
};

// By tensor.
using Reference = std::map<uint32_t, ReferenceTensor>;

inline Reference reference_of(const Sidecar& sidecar) {
  Reference reference;
  const auto& tensors = sidecar.model().catalog().tensors();
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].broken()) continue;
    ReferenceTensor& tensor = reference[i];
    tensor.payload = sidecar.payload(i).text();
    if (const TensorEditPtr edit = sidecar.edits().find(i)) {
      tensor.dims = edit->dims;
      tensor.doc_string = edit->doc_string;
    }
  }
  return reference;
}

// One call of a session, and what it does when it succeeds.
struct Operation {
  std::string name;
  std::function<void(Sidecar&)> run;
  std::function<void(Reference&)> apply;
};

inline Operation write_operation(std::vector<uint32_t> sharers, uint64_t offset, const std::string& text) {
  return {fmt::format("write {} at {}", text.size(), offset),
          [=](Sidecar& sidecar) { sidecar.write(sharers[0], offset, bytes_of(text)); },
          [=](Reference& reference) {
            for (const uint32_t tensor : sharers) reference[tensor].payload.replace(offset, text.size(), text);
          }};
}

// The text in pieces, last piece first.
inline Operation replace_operation(std::vector<uint32_t> sharers, const std::string& text, size_t piece = 5) {
  return {fmt::format("replace by {}", text.size()),
          [=](Sidecar& sidecar) {
            const auto stage = sidecar.stage();
            for (size_t at = (text.size() + piece - 1) / piece * piece; at != 0;) {
              at -= piece;
              put(*stage, text.substr(at, piece), at);
            }
            sidecar.replace(sharers[0], *stage);
          },
          [=](Reference& reference) {
            for (const uint32_t tensor : sharers) reference[tensor].payload = text;
          }};
}

inline Operation annotate_operation(uint32_t tensor, std::optional<std::vector<int64_t>> dims,
                                    std::optional<std::string> doc) {
  return {"annotate",
          [=](Sidecar& sidecar) { sidecar.annotate(tensor, dims ? &*dims : nullptr, doc ? &*doc : nullptr); },
          [=](Reference& reference) {
            if (dims) reference[tensor].dims = dims;
            if (doc) reference[tensor].doc_string = doc;
          }};
}

inline Operation revert_operation(std::vector<uint32_t> sharers, const std::string& original) {
  return {"revert", [=](Sidecar& sidecar) { sidecar.revert(sharers[0]); },
          [=](Reference& reference) {
            for (const uint32_t tensor : sharers) reference[tensor].payload = original;
            reference[sharers[0]].dims.reset();
            reference[sharers[0]].doc_string.reset();
          }};
}

inline Operation flush_operation() {
  return {"flush", [](Sidecar& sidecar) { sidecar.flush(); }, [](Reference&) {}};
}

inline Operation compact_operation() {
  return {"compact", [](Sidecar& sidecar) { sidecar.compact(); }, [](Reference&) {}};
}

}  // namespace onnxfs::testing
