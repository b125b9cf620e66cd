#include "fs/mount_point.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "core/bytes/error.h"

extern char** environ;

namespace onnxfs {

namespace {

int run_fusermount(const std::string& path, bool lazily) {
  std::vector<const char*> arguments{"fusermount3", "-u", "-q"};
  if (lazily) arguments.push_back("-z");
  arguments.insert(arguments.end(), {"--", path.c_str(), nullptr});
  pid_t child;
  const int error =
      ::posix_spawnp(&child, "fusermount3", nullptr, nullptr, const_cast<char**>(arguments.data()), environ);
  if (error != 0) fail(error, "cannot run fusermount3: {}", describe_errno(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

// Whether nobody serves the mount at a path. The question has to reach whoever does: the kernel remembers for a while
// what a process that is gone has told it.
bool is_dead(const std::string& path) {
  struct statx status;
  return ::statx(AT_FDCWD, path.c_str(), AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &status) != 0 && errno == ENOTCONN;
}

}  // namespace

std::string absolute_path(const std::string& path) {
  namespace files = std::filesystem;
  std::error_code error;
  const files::path real = files::canonical(path, error);
  if (!error) return real;
  files::path result = files::absolute(path, error).lexically_normal();
  if (!result.has_filename()) result = result.parent_path();  // a trailing slash
  const files::path folder = files::canonical(result.parent_path(), error);
  return error ? result.string() : (folder / result.filename()).string();
}

std::optional<MountTableEntry> find_mounted(const std::string& relative_path) {
  const auto topmost = topmost_mount(absolute_path(relative_path));
  return topmost && topmost->is_ours() ? topmost : std::nullopt;
}

void unmount(const std::string& path, bool lazily) {
  if (::geteuid() == 0) {
    if (::umount2(path.c_str(), UMOUNT_NOFOLLOW | (lazily ? MNT_DETACH : 0)) == 0) return;
    const int code = errno;
    if (code == EBUSY)
      fail(code,
           "{} is in use: a program has a file open or its working directory there, or something is mounted below it",
           path);
    fail(code, "cannot unmount {}: {}", path, describe_errno(code));
  }
  if (run_fusermount(path, lazily) != 0) {
    fail(EBUSY, "cannot unmount {}: it is in use, or was mounted by another user", path);
  }
}

MountPoint::MountPoint(const std::string& path) : path_(absolute_path(path)) {
  while (find_mounted(path_)) {
    if (!is_dead(path_)) fail(EBUSY, "{} is busy: a model is mounted there; `onnxfs umount {}` ends that", path_, path);
    unmount(path_, true);
  }
  // A folder that vanishes under the one step is made by the next.
  constexpr int most_turns = 100;
  for (int turn = 0; turn < most_turns; ++turn) {
    if (make() || take()) return;
  }
  fail(EBUSY, "cannot mount at {}: the folder comes and goes", path_);
}

// False when there is something of that name.
bool MountPoint::make() {
  struct stat status;
  if (::lstat(path_.c_str(), &status) == 0 || errno != ENOENT) return false;
  // Locked before it has its name, so that nobody can take it for a folder that stays.
  std::string temporary = path_ + ".XXXXXX";
  if (::mkdtemp(temporary.data()) == nullptr) {
    fail(errno, "cannot make the mount point {}: {}", path_, describe_errno(errno));
  }
  UniqueFd folder(::open(temporary.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const bool named = folder && ::flock(folder.get(), LOCK_EX) == 0 && ::fchmod(folder.get(), 0755) == 0 &&
                     ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0;
  const int code = errno;
  if (named) {
    made_ = std::move(folder);
    return true;
  }
  ::rmdir(temporary.c_str());
  if (code == EINVAL) return make_unlocked();  // some network file systems cannot rename so
  if (code != EEXIST) fail(code, "cannot make the mount point {}: {}", path_, describe_errno(code));
  return false;
}

// As `make`, where a folder cannot get its name and its lock at once.
bool MountPoint::make_unlocked() {
  if (::mkdir(path_.c_str(), 0755) != 0) {
    if (errno == EEXIST) return false;
    fail(errno, "cannot make the mount point {}: {}", path_, describe_errno(errno));
  }
  made_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (made_) ::flock(made_.get(), LOCK_EX);
  return true;
}

// False when the folder there was another process's, which has removed it.
bool MountPoint::take() {
  const UniqueFd folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) {
    if (errno == ENOENT) return false;
    if (errno == ENOTDIR) fail(ENOTDIR, "cannot mount at {}: it is not a folder", path_);
    fail(errno, "cannot mount at {}: {}", path_, describe_errno(errno));
  }
  constexpr auto pause = std::chrono::milliseconds(5);
  constexpr auto longest_wait = std::chrono::seconds(5);
  const auto give_up = std::chrono::steady_clock::now() + longest_wait;
  while (::flock(folder.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    if (std::chrono::steady_clock::now() > give_up) fail(EBUSY, "cannot mount at {}: another process locks it", path_);
    std::this_thread::sleep_for(pause);
  }
  struct stat status;
  return ::fstat(folder.get(), &status) == 0 && status.st_nlink != 0;
}

MountPoint::~MountPoint() {
  if (made_) ::rmdir(path_.c_str());
}

}  // namespace onnxfs
