#include "fs/scratch_files.h"

#include <algorithm>
#include <cerrno>

#include "core/bytes/error.h"

namespace onnxfs {

bool ScratchFiles::empty() const {
  const MutexLock lock(mutex_);
  return names_.empty();
}

ScratchFiles::FilePtr ScratchFiles::add(uint64_t folder, std::string_view name, std::shared_ptr<Stage> stage,
                                        ScratchFile::Attributes attributes) {
  const MutexLock lock(mutex_);
  const auto [place, is_new] = names_.try_emplace({folder, std::string(name)});
  if (!is_new) fail(EEXIST, "{} is there already", name);
  place->second = std::make_shared<ScratchFile>(++last_id_, std::move(stage), attributes);
  std::erase_if(ids_, [](const auto& entry) { return entry.second.expired(); });
  ids_.emplace(last_id_, place->second);
  return place->second;
}

ScratchFiles::FilePtr ScratchFiles::find(uint64_t folder, std::string_view name) const {
  const MutexLock lock(mutex_);
  const auto place = names_.find(InFolder(folder, name));
  return place == names_.end() ? nullptr : place->second;
}

ScratchFiles::FilePtr ScratchFiles::find(uint64_t id) const {
  const MutexLock lock(mutex_);
  const auto file = ids_.find(id);
  return file == ids_.end() ? nullptr : file->second.lock();
}

std::vector<ScratchFiles::Listed> ScratchFiles::list(uint64_t folder) const {
  const MutexLock lock(mutex_);
  std::vector<Listed> result;
  const auto first = names_.lower_bound(InFolder(folder, ""));
  for (auto place = first; place != names_.end() && place->first.first == folder; ++place) {
    result.push_back({place->first.second, place->second->id()});
  }
  std::ranges::sort(result, std::less(), &Listed::id);
  return result;
}

std::vector<std::pair<uint64_t, std::string>> ScratchFiles::all() const {
  const MutexLock lock(mutex_);
  std::vector<InFolder> result;
  for (const auto& [name, file] : names_) result.push_back(name);
  return result;
}

bool ScratchFiles::remove(uint64_t folder, std::string_view name) {
  FilePtr removed;  // ends after the lock
  const MutexLock lock(mutex_);
  const auto place = names_.find(InFolder(folder, name));
  if (place == names_.end()) return false;
  removed = std::move(place->second);
  names_.erase(place);
  return true;
}

void ScratchFiles::rename(uint64_t folder, std::string_view name, uint64_t new_folder, std::string_view new_name) {
  FilePtr replaced;  // ends after the lock
  const MutexLock lock(mutex_);
  const auto place = names_.find(InFolder(folder, name));
  if (place == names_.end()) fail(ENOENT, "{} is not there", name);
  FilePtr file = std::move(place->second);
  names_.erase(place);
  FilePtr& owner = names_[InFolder(new_folder, new_name)];
  replaced = std::exchange(owner, std::move(file));
}

}  // namespace onnxfs
