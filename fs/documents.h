#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/bytes/mutex.h"
#include "core/bytes/rope.h"
#include "core/sidecar/sidecar.h"
#include "core/views/digest_cache.h"
#include "fs/tree.h"

namespace onnxfs {

// The files that are made for a model as a whole. One that tells of the model is made when it is first asked for, and
// anew when an edit has changed what it tells; one that tells of the mount, each time. Any number of threads may use
// one; of two that ask for the same document, one waits.
class Documents {
 public:
  // `status` gives the content of status.json.
  Documents(std::shared_ptr<Sidecar> sidecar, const Tree& tree, std::shared_ptr<DigestCache> digests,
            std::function<std::string()> status);

  // Whether it tells of the mount, so that it may be another at each look.
  static bool is_momentary(Document document) noexcept;

  // Whether edits change it.
  static bool follows_edits(Document document) noexcept {
    return document == Document::index_tsv || document == Document::safetensors || document == Document::sums;
  }

  // A document that says nothing now, and so is not there.
  bool is_absent(Document document) const;

  // Of one that cannot be made: 0. It is an empty file, whose opening says why: the folder it is in can be listed.
  uint64_t size(Document document) const;

  std::shared_ptr<const Rope> content(Document document) const;

 private:
  struct Made {
    Mutex mutex;
    uint64_t version ONNXFS_GUARDED_BY(mutex) = 0;  // of the edits
    std::optional<uint64_t> size ONNXFS_GUARDED_BY(mutex);
    std::weak_ptr<const Rope> content ONNXFS_GUARDED_BY(mutex);  // while someone has it open
  };

  bool is_outdated(const Made& made, Document document) const ONNXFS_REQUIRES(made.mutex);
  Rope make(Document document) const;
  std::shared_ptr<const Rope> make_current(Made& made, Document document) const ONNXFS_REQUIRES(made.mutex);

  std::shared_ptr<Sidecar> sidecar_;
  const Tree& tree_;
  std::shared_ptr<DigestCache> digests_;
  std::function<std::string()> status_;
  mutable std::array<Made, 5> made_;  // of those that are not momentary
};

}  // namespace onnxfs
