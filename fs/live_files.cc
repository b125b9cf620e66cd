#include "fs/live_files.h"

#include <tuple>

#include "core/views/live_model.h"

namespace onnxfs {

LiveFiles::LiveFiles(std::shared_ptr<Sidecar> sidecar, const LiveTree& tree)
    : sidecar_(std::move(sidecar)), tree_(tree), made_(tree.files().size()) {}

Rope LiveFiles::content(uint32_t number) const {
  const MutexLock lock(mutex_);
  Made& made = made_[number];
  const uint64_t version = this->version();  // what is edited while it is made is for the next time
  if (made.version == version) return made.content;
  const LiveTree::File& file = tree_.files()[number];
  const Edits edits = sidecar_->edits().snapshot();
  made.content = file.data_file == Tensor::no_index ? live_model(sidecar_->model(), edits)
                                                    : live_data_file(sidecar_->model(), file.data_file, edits);
  made.version = version;
  return made.content;
}

timespec LiveFiles::changed_at() const {
  const MutexLock lock(mutex_);
  const uint64_t version = this->version();
  if (changed_version_ == version) return changed_at_;
  const auto later = [](const timespec& a, const timespec& b) {
    return std::tie(a.tv_sec, a.tv_nsec) < std::tie(b.tv_sec, b.tv_nsec) ? b : a;
  };
  changed_at_ = sidecar_->model().file()->identity().mtime;
  for (const auto& [tensor, edit] : sidecar_->edits().snapshot()) changed_at_ = later(changed_at_, edit->at);
  changed_version_ = version;
  return changed_at_;
}

}  // namespace onnxfs
