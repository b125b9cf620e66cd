#include "core/sidecar/sidecar.h"

#include <cerrno>

#include "core/bytes/error.h"
#include "core/bytes/hash.h"
#include "core/bytes/range.h"
#include "core/sidecar/compaction.h"
#include "core/sidecar/folder.h"
#include "core/sidecar/log.h"
#include "core/sidecar/stage_state.h"

namespace onnxfs {

std::string sidecar_path(const std::string& model_path) { return model_path + ".sidecar"; }

std::shared_ptr<Sidecar> Sidecar::open(std::shared_ptr<const Model> model, std::string folder, std::string holder,
                                       Disk& disk, Opening opening, const SidecarLimits& limits) {
  return std::shared_ptr<Sidecar>(new Sidecar(
      std::make_shared<SidecarLog>(std::move(model), std::move(folder), std::move(holder), disk, opening, limits)));
}

Sidecar::Sidecar(std::shared_ptr<SidecarLog> log) : log_(std::move(log)) {}

Sidecar::~Sidecar() = default;

const Model& Sidecar::model() const noexcept { return log_->editor().model(); }
const std::string& Sidecar::folder() const noexcept { return log_->folder(); }
const EditTable& Sidecar::edits() const noexcept { return log_->editor().edits(); }
const SharedPayloads& Sidecar::shared_payloads() const noexcept { return log_->editor().shared(); }
Rope Sidecar::payload(uint32_t tensor) const { return log_->editor().payload(tensor); }
const std::vector<std::string>& Sidecar::remarks() const noexcept { return log_->remarks(); }
uint64_t Sidecar::size_on_disk() const { return log_->records().size(); }

bool Sidecar::may_be_worth_compacting() const noexcept {
  return log_->garbage().may_be_worthwhile(log_->records().size());
}

void Sidecar::acquire() { log_->acquire(); }

void Sidecar::write(uint32_t tensor, uint64_t offset, std::span<const std::byte> bytes) {
  const Rope base = model().payload(tensor);
  const Tensor& what = model().catalog().tensors()[tensor];
  if (what.data_type == string_type) fail(EINVAL, "tensor {} holds strings, which are replaced as a whole", what.name);
  if (!fits(offset, bytes.size(), base.size())) {
    fail(EFBIG, "{} bytes at {} are not in tensor {} of {} bytes", bytes.size(), offset, what.name, base.size());
  }
  if (bytes.empty()) return;
  log_->acquire_for(tensor);
  const uint64_t base_hash = log_->base_hasher().hash(tensor, base, offset, bytes.size());
  const timespec now = time_now();
  const MutexLock lock(log_->records().mutex());
  const Rope piece = log_->append_write(tensor, offset, bytes, base_hash, now);
  log_->note_less_needed(headers_in(payload(tensor), offset, bytes.size()));
  log_->editor().write(tensor, offset, piece, now);
}

void Sidecar::look_ahead() noexcept { log_->base_hasher().look_ahead(); }

std::shared_ptr<Stage> Sidecar::stage() { return std::shared_ptr<Stage>(new Stage(log_)); }

void Sidecar::replace(uint32_t tensor, const Stage& stage) {
  const Rope base = model().payload(tensor);
  const Tensor& what = model().catalog().tensors()[tensor];
  StageState& state = *stage.state_;
  const MutexLock staging(state.mutex);
  const uint64_t size = state.content.size();
  if (what.data_type != string_type && size != base.size()) {
    fail(EINVAL, "tensor {} has {} bytes, and what is to replace it has {}", what.name, base.size(), size);
  }
  log_->acquire_for(tensor);
  const uint64_t base_hash = xxh3(base);
  const timespec now = time_now();
  const MutexLock lock(log_->records().mutex());
  const Rope before = payload(tensor);
  log_->append_replace(tensor, state.reference(), size, base_hash, now);
  log_->editor().replace(tensor, state.content, now);
  log_->note_less_needed(before.size() + headers_in(before, 0, before.size()));
}

void Sidecar::annotate(uint32_t tensor, const std::vector<int64_t>* dims, const std::string* doc_string) {
  const Tensor& what = model().catalog().tensors()[tensor];
  if (dims != nullptr && element_count(*dims) != what.elements) {
    fail(EINVAL, "a shape of [{}] has not the {} elements of tensor {}", fmt::join(*dims, ", "), what.elements,
         what.name);
  }
  Annotation annotation;
  if (dims != nullptr) annotation.dims = *dims;
  if (doc_string != nullptr) annotation.doc_string = *doc_string;
  log_->acquire();
  const timespec now = time_now();
  const MutexLock lock(log_->records().mutex());
  const TensorEditPtr before = edits().find(tensor);
  log_->append_annotation(tensor, annotation, now);
  log_->editor().annotate(tensor, annotation, now);
  if (before && before->doc_string) log_->note_less_needed(before->doc_string->size());
  if (before && before->dims) log_->note_less_needed(8 * before->dims->size());
}

void Sidecar::revert(uint32_t tensor) {
  if (edits().find(tensor) == nullptr) return;
  log_->acquire();
  const timespec now = time_now();
  const MutexLock lock(log_->records().mutex());
  log_->append_revert(tensor, now);
  log_->editor().revert(tensor, now);
  log_->note_less_needed(log_->records().size());
}

void Sidecar::flush() { log_->flush(); }

bool Sidecar::compact() { return log_->acquired() && Compaction(log_).run(); }

void Sidecar::when_untidy(std::function<void()> untidy) {
  const MutexLock lock(log_->records().mutex());
  log_->set_untidy(std::move(untidy));
}

void Sidecar::remove() { log_->remove(); }

void remove_sidecar(const std::string& folder, Disk& disk) {
  if (!exists(folder)) fail(ENOENT, "there are no edits in {}", folder);
  require_folder(folder);
  if (!has_edits(folder) && !is_remains_of_sidecar(folder)) {
    fail(EINVAL, "{} has files that onnxfs did not make, and no edits; see for yourself what may go", folder);
  }
  const Lock lock = Lock::take(folder, "onnxfs discard", disk);
  remove_sidecar_files(folder, disk);
}

std::string sidecar_holder(const std::string& folder) { return Lock::holder(folder).value_or(""); }

}  // namespace onnxfs
