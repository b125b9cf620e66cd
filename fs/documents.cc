#include "fs/documents.h"

#include <new>

#include "core/bytes/error.h"
#include "core/views/graph_txt.h"
#include "core/views/listing.h"
#include "core/views/model_json.h"

namespace onnxfs {

Documents::Documents(std::shared_ptr<Sidecar> sidecar, const Tree& tree, std::function<std::string()> status)
    : sidecar_(std::move(sidecar)), tree_(tree), status_(std::move(status)) {}

bool Documents::is_momentary(Document document) noexcept {
  switch (document) {
    case Document::problems_txt:
    case Document::status_json:
    case Document::edits_tsv: return true;
    case Document::model_json:
    case Document::index_tsv:
    case Document::graph_txt: break;
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
    const std::lock_guard lock(made.mutex);
    if (!made.size || (follows_edits(wanted) && made.version != sidecar_->edits().version()))
      make_current(made, wanted);
    return *made.size;
  } catch (const Error&) {
    return 0;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

std::shared_ptr<const Rope> Documents::content(Document wanted) const {
  if (is_momentary(wanted)) return std::make_shared<const Rope>(Rope::of(make(wanted)));
  Made& made = made_[static_cast<size_t>(wanted)];
  const std::lock_guard lock(made.mutex);
  std::shared_ptr<const Rope> content = made.content.lock();
  if (content && (!follows_edits(wanted) || made.version == sidecar_->edits().version())) return content;
  return make_current(made, wanted);
}

std::shared_ptr<const Rope> Documents::make_current(Made& made, Document wanted) const {
  const uint64_t version = sidecar_->edits().version();  // what is edited while it is made is for the next time
  auto content = std::make_shared<const Rope>(Rope::of(make(wanted)));
  made.version = version;
  made.size = content->size();
  made.content = content;
  return content;
}

std::string Documents::make(Document wanted) const {
  const Model& model = sidecar_->model();
  switch (wanted) {
    case Document::model_json: return model_json(model);
    case Document::index_tsv: return index_tsv(model, tree_.paths_for_listing(), sidecar_->edits().snapshot());
    case Document::graph_txt: return graph_txt(model);
    case Document::problems_txt: return problems_txt(model, tree_.paths_for_listing());
    case Document::status_json: return status_();
    case Document::edits_tsv: return edits_tsv(tree_.paths_for_listing(), sidecar_->edits().snapshot());
  }
  return {};
}

}  // namespace onnxfs
