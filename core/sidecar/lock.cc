#include "core/sidecar/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/bytes/error.h"
#include "core/sidecar/folder.h"

namespace onnxfs {

namespace {

UniqueFd open_or_create(const std::string& path, Disk& disk) {
  for (;;) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status;
    if (fd && ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode)) return fd;
    const int code = fd ? EISDIR : errno;
    if (code == EISDIR || code == ELOOP || code == ENXIO) {
      fail(code, "{} is not a regular file, and so cannot be the lock of the edits; move it elsewhere", path);
    }
    if (code != ENOENT) fail(code, "cannot open {}: {}", path, describe_errno(code));
    try {
      return disk.create(path, 0600);
    } catch (const Error& error) {
      if (error.code() != EEXIST) throw;
    }
  }
}

// Who asks whether the lock is held takes it for a moment (holder), which must not look like a writer.
bool try_lock(int fd) {
  constexpr int tries = 20;
  for (int i = 0;; ++i) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) fail(errno, "cannot lock a sidecar: {}", describe_errno(errno));
    if (i == tries) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Whether the path still names the file: the holder before may have removed the sidecar.
bool is_at(int fd, const std::string& path) {
  struct stat opened, named;
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

std::string read_holder(int fd) {
  constexpr size_t longest = 64 * 1024;
  std::string text(longest, '\0');
  const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
  text.resize(n < 0 ? 0 : static_cast<size_t>(n));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("holder") || !json["holder"].is_string()) return "another process";
  return json["holder"].get<std::string>();
}

}  // namespace

Lock Lock::take(const std::string& folder, const std::string& holder, Disk& disk) {
  const std::string path = lock_path(folder);
  for (;;) {
    UniqueFd fd = open_or_create(path, disk);
    if (!try_lock(fd.get())) fail(EBUSY, "the edits in {} are being written by {}", folder, read_holder(fd.get()));
    if (!is_at(fd.get(), path)) continue;
    const nlohmann::json json = {{"pid", ::getpid()}, {"holder", holder}};
    const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    disk.resize(fd.get(), 0, path);
    disk.write(fd.get(), std::as_bytes(std::span(text)), 0, path);
    return Lock(std::move(fd));
  }
}

bool Lock::is_in_place(const std::string& folder) const { return is_at(fd_.get(), lock_path(folder)); }

std::optional<std::string> Lock::holder(const std::string& folder) {
  const UniqueFd fd(::open(lock_path(folder).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return std::nullopt;
  if (::flock(fd.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
  return read_holder(fd.get());
}

}  // namespace onnxfs
