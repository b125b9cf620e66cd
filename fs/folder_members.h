#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/bytes/file_source.h"
#include "core/bytes/mutex.h"
#include "core/bytes/unique_fd.h"

namespace onnxfs {

// A folder or a model file below the folder that is mounted. Lives as long as the mount, so that its number does.
struct FolderMember {
  enum class Kind : uint8_t { folder, model };

  uint32_t number = 0;
  Kind kind = Kind::folder;
  uint32_t parent = 0;    // its number
  std::string name;       // in its folder, as on disk
  std::string path;       // relative to the mounted folder, "" for that itself
  FileIdentity identity;  // of a model: another file under the same name is another member
};

// What there is below a folder on disk, as seen so far. A member keeps its number and its place in its folder's list;
// what is found anew is appended, what vanished is passed over. Numbers are drawn from the hash of path and identity,
// so that they are, but for collisions, the same on each mount.
//
// Any number of threads may use one. Links to folders are not followed, links to model files are. The sidecars of
// models are passed over, and so are mounts of onnxfs, by whichever way they are come to: in our own, or that of one who
// looks into ours, a look-up would wait for itself.
class FolderMembers {
 public:
  // The folder itself is number 0; the others have numbers from `first_number` to `most_members`.
  static constexpr uint32_t first_number = 2;
  static constexpr uint32_t most_members = (1u << 23) - 1;

  // `mount_point` is where all this is mounted. When it lies in the folder it is passed over: to ask what it is would
  // be to ask ourselves. Both paths are absolute and without links. Throws Error as open(2) does.
  explicit FolderMembers(const std::string& folder, const std::string& mount_point = "");

  const std::string& folder() const noexcept { return folder_; }

  // Throws Error(ENOENT) for a number that was never given.
  const FolderMember& member(uint32_t number) const;

  // What is called `name` in a folder now, if it is a folder or a model file.
  const FolderMember* find(const FolderMember& folder, std::string_view name);

  // All that is in a folder now, in the order in which it was first seen; null for what has vanished. Throws Error when
  // the folder is gone.
  std::vector<const FolderMember*> list(const FolderMember& folder);

  // When the folder last changed. Throws Error(ENOENT) when it is gone.
  timespec changed_at(const FolderMember& folder) const;

  // As it is now: the folder may have been moved.
  std::string absolute_path(const FolderMember& member) const;

 private:
  static std::string path_in(const FolderMember& folder, std::string_view name);
  struct Children {
    std::vector<const FolderMember*> in_order;
    std::unordered_map<std::string, size_t> place_of;  // of the newest of a name
  };

  UniqueFd open_folder(const FolderMember& folder) const;

  // What is called `name` on disk, if it may be a member. Takes no lock, since a slow disk may keep it.
  struct Found {
    std::string name;
    FolderMember::Kind kind;
    FileIdentity identity;
  };
  std::optional<Found> look(int folder_fd, const FolderMember& folder, std::string_view name) const;
  bool is_mount_of_ours(int folder_fd, const FolderMember& folder, std::string_view name,
                        const struct stat& status) const;

  // Takes the status of what a link leads to; false when it leads nowhere.
  bool follow(int folder_fd, const FolderMember& folder, const std::string& link, struct stat& status) const;

  const FolderMember* add(const FolderMember& folder, const Found& found) ONNXFS_REQUIRES(mutex_);

  std::string folder_;  // where it was
  std::string hidden_;  // the path of the mount point in it, or ""
  UniqueFd fd_;
  mutable Mutex mutex_;
  std::unordered_map<uint32_t, std::unique_ptr<FolderMember>> members_ ONNXFS_GUARDED_BY(mutex_);
  std::unordered_map<uint32_t, Children> children_ ONNXFS_GUARDED_BY(mutex_);  // by the folder's number
};

}  // namespace onnxfs
