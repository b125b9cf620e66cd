#pragma once

#include <functional>
#include <map>
#include <optional>

#include "core/sidecar/base.h"
#include "core/sidecar/blob_walker.h"
#include "core/sidecar/editor.h"

namespace onnxfs {

// Applies sound records to an editor, one after another, and proves that they fit the model. One thread.
class Replayer {
 public:
  // What is doubted of the model is checked at the end. Records before `needed_from` are compacted away.
  Replayer(Editor& editor, Base::Doubts doubts, uint64_t needed_from);

  // The record that the walker stands at. Returns false for one that cannot take effect, since a power cut took a part
  // of the stage that it names. Throws EBADMSG for what does not fit together, ENOTSUP for what does not fit the model.
  bool apply(BlobWalker& walker, const BlobPtr& blob, bool records_were_lost);

  // ESTALE when bytes that edits replaced are not there any more, and neither are the edits' own.
  void require_base(const std::string& folder) const;

 private:
  struct StagedContent {
    Rope content;
    uint64_t records = 0;
    bool whole = true;
  };
  struct Replaced {
    uint64_t offset;
    uint64_t length;
    uint64_t base_hash;
    bool all;  // of the payload, whatever its size is
  };

  using Where = std::function<std::string()>;  // the record's place, for messages

  void require_tensor(const Record& record, const Where& where) const;
  void stage(const Record& record, const Rope& bytes);
  bool replace(BlobWalker& walker, bool records_were_lost, const Where& where);
  void note(const Record& record, uint64_t length, bool all);

  Editor& editor_;
  Base::Doubts doubts_;
  uint64_t needed_from_;
  std::map<uint64_t, StagedContent> stages_;
  std::map<uint32_t, std::vector<Replaced>> replaced_;  // of doubted tensors, by the owner of their payload
};

}  // namespace onnxfs
