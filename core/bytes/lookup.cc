#include "core/bytes/lookup.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "core/bytes/error.h"
#include "core/bytes/mount_table.h"

namespace onnxfs {

namespace {

// Takes the first name off a path; "" when there is none left.
std::string take_name(std::string& path) {
  const size_t begin = std::min(path.find_first_not_of('/'), path.size());
  const size_t end = std::min(path.find('/', begin), path.size());
  std::string name = path.substr(begin, end - begin);
  path.erase(0, end);
  return name;
}

bool is_link(int fd) {
  struct stat status;
  return ::fstat(fd, &status) == 0 && S_ISLNK(status.st_mode);
}

std::string link_text(int fd) {
  std::string text(PATH_MAX, '\0');
  const ssize_t length = ::readlinkat(fd, "", text.data(), text.size());
  if (length < 0) fail(errno, "a link cannot be read: {}", describe_errno(errno));
  text.resize(static_cast<size_t>(length));
  return text;
}

// The folders from "/" to where a look-up has come, and what it found there last.
class Steps {
 public:
  Steps() { restart(); }

  void restart() {
    steps_.clear();
    steps_.push_back({{}, UniqueFd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC))});
  }

  void up() {
    if (steps_.size() > 1) steps_.pop_back();
  }

  // Looks a name up in the last folder, without following it if it is a link.
  UniqueFd look(const std::string& name) const {
    UniqueFd fd = openat2(folder(), name, O_PATH | O_NOFOLLOW, RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV);
    if (!fd && errno == EXDEV) {
      const std::string mount_point = path() + "/" + name;
      const auto mounted = topmost_mount(mount_point);
      if (mounted && mounted->is_ours()) fail(EXDEV, "{} is a mount of onnxfs", mount_point);
      fd = openat2(folder(), name, O_PATH | O_NOFOLLOW, RESOLVE_NO_MAGICLINKS);
    }
    if (!fd) fail(errno, "{}/{}: {}", path(), name, describe_errno(errno));
    return fd;
  }

  void down(std::string name, UniqueFd fd) { steps_.push_back({std::move(name), std::move(fd)}); }

  // Of "/": "".
  std::string path() const {
    std::string path;
    for (size_t i = 1; i < steps_.size(); ++i) path += "/" + steps_[i].name;
    return path;
  }

  UniqueFd take() && { return std::move(steps_.back().fd); }

 private:
  struct Step {
    std::string name;
    UniqueFd fd;
  };

  int folder() const { return steps_.back().fd.get(); }

  std::vector<Step> steps_;
};

}  // namespace

UniqueFd openat2(int folder, const std::string& path, uint64_t flags, uint64_t resolve) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = resolve;
  // EAGAIN: a rename somewhere on the system kept the kernel from proving that ".." stays beneath. It passes.
  constexpr int most_tries = 16;
  int fd = -1;
  for (int i = 0; i < most_tries; ++i) {
    fd = static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  return UniqueFd(fd);
}

UniqueFd look_up_in(int folder, const std::string& folder_path, const std::string& name) {
  UniqueFd fd = openat2(folder, name, O_PATH, RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV);
  if (fd) return fd;
  if (errno != EXDEV) fail(errno, "{}/{}: {}", folder_path, name, describe_errno(errno));
  return look_up(fmt::format("{}/{}", folder_path, name)).fd;
}

void require_outside_mounts(const std::string& path) {
  const std::filesystem::path absolute = std::filesystem::absolute(path);
  const UniqueFd folder(::open(absolute.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return;
  try {
    look_up_in(folder.get(), absolute.parent_path(), absolute.filename());
  } catch (const Error& error) {
    if (error.code() == EXDEV) fail(ELOOP, "{} leads into a mount of onnxfs: {}", path, error.what());
  }
}

std::string path_of(int fd) {
  struct stat status;
  std::error_code error;
  const std::string path = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd), error);
  return error || ::fstat(fd, &status) != 0 || status.st_nlink == 0 ? "" : path;
}

LookedUp look_up(const std::string& path) {
  constexpr int most_links = 40;  // as of Linux, path_resolution(7)
  constexpr size_t longest = 1 << 16;
  Steps steps;
  std::string rest = path;
  int links = 0;
  for (std::string name = take_name(rest); !name.empty(); name = take_name(rest)) {
    if (name == ".") continue;
    if (name == "..") {
      steps.up();
      continue;
    }
    UniqueFd fd = steps.look(name);
    if (!is_link(fd.get())) {
      steps.down(std::move(name), std::move(fd));
      continue;
    }
    if (++links > most_links) fail(ELOOP, "{}: {}", path, describe_errno(ELOOP));
    const std::string text = link_text(fd.get());
    if (text.starts_with('/')) steps.restart();
    rest.insert(0, text);
    if (rest.size() > longest) fail(ENAMETOOLONG, "{}: {}", path, describe_errno(ENAMETOOLONG));
  }
  std::string found = steps.path();
  return {std::move(steps).take(), found.empty() ? "/" : std::move(found)};
}

}  // namespace onnxfs
