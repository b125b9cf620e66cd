#include "fs/documents.h"

#include <malloc.h>

#include <new>

#include "core/bytes/error.h"
#include "core/views/graph_txt.h"
#include "core/views/listing.h"
#include "core/views/model_json.h"
#include "core/views/safetensors.h"
#include "core/views/sums.h"
#include "fs/log.h"

namespace onnxfs {

Documents::Documents(std::shared_ptr<Sidecar> sidecar, const Tree& tree, std::shared_ptr<DigestCache> digests,
                     std::function<std::string()> status)
    : sidecar_(std::move(sidecar)), tree_(tree), digests_(std::move(digests)), status_(std::move(status)) {}

bool Documents::is_momentary(Document document) noexcept {
  switch (document) {
    case Document::problems_txt:
    case Document::status_json:
    case Document::edits_tsv:
    case Document::log_txt: return true;
    case Document::model_json:
    case Document::index_tsv:
    case Document::graph_txt:
    case Document::safetensors:
    case Document::sums: break;
  }
  return false;
}

bool Documents::is_absent(Document document) const {
  return document == Document::problems_txt && !sidecar_->model().has_findings();
}

uint64_t Documents::size(Document wanted) const {
  try {
    if (is_momentary(wanted)) return make(wanted).size();
    Made& made = made_[static_cast<size_t>(wanted)];
    const MutexLock lock(made.mutex);
    if (!made.size || is_outdated(made, wanted)) make_current(made, wanted);
    return *made.size;
  } catch (const Error&) {
    return 0;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

std::shared_ptr<const Rope> Documents::content(Document wanted) const {
  if (is_momentary(wanted)) return std::make_shared<const Rope>(make(wanted));
  Made& made = made_[static_cast<size_t>(wanted)];
  const MutexLock lock(made.mutex);
  std::shared_ptr<const Rope> content = made.content.lock();
  return content && !is_outdated(made, wanted) ? content : make_current(made, wanted);
}

bool Documents::is_outdated(const Made& made, Document document) const {
  return follows_edits(document) && made.version != sidecar_->edits().version();
}

std::shared_ptr<const Rope> Documents::make_current(Made& made, Document wanted) const {
  const uint64_t version = sidecar_->edits().version();  // what is edited while it is made is for the next time
  auto content = std::make_shared<const Rope>(make(wanted));
  made.version = version;
  made.size = content->size();
  made.content = content;
  // Each thread that made a document would keep the memory that this took, to make another.
  constexpr size_t many_tensors = 4096;
  if (sidecar_->model().catalog().tensors().size() >= many_tensors) ::malloc_trim(0);
  return content;
}

Rope Documents::make(Document wanted) const {
  const Model& model = sidecar_->model();
  const std::shared_ptr<const Model> shared(sidecar_, &model);
  const auto edits = [this] { return sidecar_->edits().snapshot(); };
  const auto path_of = [this](uint32_t tensor) { return tree_.path_of_tensor(tensor); };
  switch (wanted) {
    case Document::model_json: return Rope::of(model_json(model));
    case Document::index_tsv: return Rope::of(index_tsv(model, tree_.paths_for_listing(), edits()));
    case Document::graph_txt: return Rope::of(graph_txt(model));
    case Document::problems_txt: return Rope::of(problems_txt(model, tree_.paths_for_listing()));
    case Document::status_json: return Rope::of(status_());
    case Document::log_txt: return Rope::of(recent_log());
    case Document::edits_tsv: return Rope::of(edits_tsv(tree_.paths_for_listing(), edits()));
    case Document::safetensors: return safetensors(shared, edits(), path_of);
    case Document::sums:
      return xxh128_sums({shared, path_of, [sidecar = sidecar_](uint32_t tensor) { return sidecar->payload(tensor); },
                          [sidecar = sidecar_](uint32_t tensor) { return sidecar->edits().version(tensor); },
                          digests_});
  }
  return {};
}

}  // namespace onnxfs
