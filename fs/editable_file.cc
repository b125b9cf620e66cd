#include "fs/editable_file.h"

#include <cerrno>

#include "core/bytes/error.h"

namespace onnxfs {

EditableFile::EditableFile(std::unique_ptr<Editable> target, Surroundings surroundings)
    : target_(std::move(target)), around_(std::move(surroundings)) {}

std::shared_ptr<Draft> EditableFile::draft() const {
  if (!writable) return nullptr;
  const MutexLock lock(mutex_);
  return joined_ && !joined_->finished() ? joined_ : nullptr;
}

std::optional<uint64_t> EditableFile::own_size() const {
  const auto draft = this->draft();
  return draft ? std::optional(draft->content().size()) : std::nullopt;
}

std::shared_ptr<Draft> EditableFile::join_draft(bool with_content) {
  auto draft = around_.drafts.find_or_make(around_.inode, [&] {
    auto stage = around_.sidecar->stage();
    if (with_content) copy(target_->content(), *stage);
    return std::make_shared<Draft>(std::move(stage), target_->most(),
                                   [&drafts = around_.drafts, inode = around_.inode, dropped = around_.dropped] {
                                     drafts.forget(inode);
                                     dropped();
                                   });
  });
  const MutexLock lock(mutex_);
  return joined_ = std::move(draft);
}

// Does something that may fail, with the file's name in the sentence that says why.
template <typename Work>
void EditableFile::named(Work work) const {
  try {
    work();
  } catch (const Error& error) {
    fail(error.code(), "{}: {}", around_.path, error.what());
  }
}

void EditableFile::begin_replacement() {
  around_.sidecar->acquire();
  while (!join_draft(false)->restart()) {
  }
}

Rope EditableFile::content() const {
  around_.read();
  const auto draft = this->draft();
  return draft ? draft->content() : target_->content();
}

void EditableFile::write(uint64_t offset, std::span<const std::byte> bytes) {
  if (!writable) return OpenFile::write(offset, bytes);
  named([&] { write_through(offset, bytes); });
}

void EditableFile::write_through(uint64_t offset, std::span<const std::byte> bytes) {
  // A draft may take effect at any moment; what comes after that goes to what it became.
  for (;;) {
    if (draft() == nullptr && target_->takes_patches()) {
      target_->patch(offset, bytes);
      around_.changed(false);
      return;
    }
    if (join_draft(true)->write(offset, bytes)) return;
  }
}

void EditableFile::resize(uint64_t size) {
  if (!writable) return OpenFile::resize(size);
  for (;;) {
    if (draft() == nullptr) {
      const uint64_t present = target_->content().size();
      if (size == present) return;
      if (target_->takes_patches()) fail(EINVAL, "the file has {} bytes, and keeps them", present);
    }
    if (join_draft(true)->resize(size)) return;
  }
}

std::function<void()> EditableFile::preparation() const {
  return [sidecar = around_.sidecar] { sidecar->look_ahead(); };
}

void EditableFile::closed_by(pid_t process) {
  const auto draft = this->draft();
  if (draft == nullptr) return;
  try {
    named([&] { draft->finish([this](const Stage& stage) { target_->replace(stage); }); });
  } catch (const Error& error) {
    // A child that closes its copy of the descriptor has nothing to do with what others still write.
    if (error.code() == EINVAL && process != opener) return;
    throw;
  }
  around_.drafts.forget(around_.inode);
  around_.changed(true);
  if (is_flushed_) around_.sidecar->flush();
}

}  // namespace onnxfs
