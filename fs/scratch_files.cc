#include "fs/scratch_files.h"

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"

namespace onnxfs {

ScratchFile ScratchFiles::add(uint64_t folder, std::string_view name, ScratchFile file) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = names_.try_emplace({folder, std::string(name)}, last_id_ + 1);
  if (!is_new) fail(EEXIST, "{} is there already", name);
  file.id = ++last_id_;
  return files_.emplace(file.id, std::move(file)).first->second;
}

std::optional<ScratchFile> ScratchFiles::find(uint64_t folder, std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto place = names_.find(InFolder(folder, name));
  if (place == names_.end()) return std::nullopt;
  return files_.at(place->second);
}

std::optional<ScratchFile> ScratchFiles::find(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(id);
  if (file == files_.end()) return std::nullopt;
  return file->second;
}

std::vector<ScratchFiles::Listed> ScratchFiles::list(uint64_t folder) const {
  const std::lock_guard lock(mutex_);
  std::vector<Listed> result;
  for (auto place = names_.lower_bound(InFolder(folder, "")); place != names_.end() && place->first.first == folder;
       ++place) {
    result.push_back({place->first.second, place->second});
  }
  std::ranges::sort(result, std::less(), &Listed::id);
  return result;
}

void ScratchFiles::update(uint64_t id, const std::function<void(ScratchFile&)>& change) {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(id);
  if (file == files_.end()) fail(ENOENT, "the file was removed");
  change(file->second);
}

bool ScratchFiles::remove(uint64_t folder, std::string_view name) {
  ScratchFile removed;  // ends after the lock
  const std::lock_guard lock(mutex_);
  const auto place = names_.find(InFolder(folder, name));
  if (place == names_.end()) return false;
  removed = std::move(files_.extract(place->second).mapped());
  names_.erase(place);
  return true;
}

void ScratchFiles::rename(uint64_t folder, std::string_view name, uint64_t new_folder, std::string_view new_name) {
  ScratchFile replaced;  // ends after the lock
  const std::lock_guard lock(mutex_);
  const auto place = names_.find(InFolder(folder, name));
  if (place == names_.end()) fail(ENOENT, "{} is not there", name);
  const uint64_t id = place->second;
  names_.erase(place);
  uint64_t& owner = names_[InFolder(new_folder, new_name)];
  if (owner != 0) replaced = std::move(files_.extract(owner).mapped());
  owner = id;
}

void OpenScratchFile::write(uint64_t offset, std::span<const std::byte> bytes) {
  if (!writable) return OpenFile::write(offset, bytes);
  stage_->write(offset, bytes);
}

void OpenScratchFile::resize(uint64_t size) {
  if (!writable) return OpenFile::resize(size);
  stage_->resize(size);
}

}  // namespace onnxfs
