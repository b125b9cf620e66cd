#include "fs/scratch_file.h"

#include <cerrno>

#include "core/bytes/error.h"

namespace onnxfs {

namespace {

constexpr mode_t permission_bits = 0777;

}  // namespace

ScratchFile::ScratchFile(uint64_t id, std::shared_ptr<Stage> stage, Attributes attributes)
    : id_(id), stage_(std::move(stage)), attributes_(attributes) {
  attributes_.mode &= permission_bits;
}

ScratchFile::Attributes ScratchFile::attributes() const {
  const MutexLock lock(mutex_);
  return attributes_;
}

void ScratchFile::change_attributes(const Filesystem::AttributeChange& change) {
  const MutexLock lock(mutex_);
  attributes_.mode = change.mode.value_or(attributes_.mode) & permission_bits;
  attributes_.uid = change.uid.value_or(attributes_.uid);
  attributes_.gid = change.gid.value_or(attributes_.gid);
  attributes_.mtime = change.mtime.value_or(attributes_.mtime);
}

void ScratchFile::become(std::unique_ptr<Editable> target, std::function<void()> changed) {
  const MutexLock lock(mutex_);
  target->replace(*stage_);
  stage_.reset();
  became_ = std::move(target);
  changed_ = std::move(changed);
}

Rope ScratchFile::content() const {
  const MutexLock lock(mutex_);
  return stage_ ? stage_->content() : became_->content();
}

void ScratchFile::write(uint64_t offset, std::span<const std::byte> bytes) {
  const MutexLock lock(mutex_);
  if (stage_) return stage_->write(offset, bytes);
  if (!became_->takes_patches()) fail(ESTALE, "the file was renamed over one that is only replaced as a whole");
  became_->patch(offset, bytes);
  changed_();
}

void ScratchFile::resize(uint64_t size) {
  const MutexLock lock(mutex_);
  if (stage_) return stage_->resize(size);
  if (size != became_->content().size()) fail(EINVAL, "the file was renamed over one that keeps its size");
}

void OpenScratchFile::write(uint64_t offset, std::span<const std::byte> bytes) {
  if (!writable) return OpenFile::write(offset, bytes);
  file_->write(offset, bytes);
}

void OpenScratchFile::resize(uint64_t size) {
  if (!writable) return OpenFile::resize(size);
  file_->resize(size);
}

}  // namespace onnxfs
