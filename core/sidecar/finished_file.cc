#include "core/sidecar/finished_file.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "core/bytes/error.h"
#include "core/sidecar/checked_copy.h"

namespace onnxfs {

std::shared_ptr<const FileSource> finished_file(const std::string& path, const Rope& content) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat status;
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  if (static_cast<uint64_t>(status.st_size) != content.size()) return nullptr;
  // Whoever writes a file holds it alone until all of its files are in place.
  while (::flock(fd.get(), LOCK_SH | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) break;
    fail(EBUSY, "another process is writing {}; try again when it has ended", path);
  }
  const auto file = FileSource::adopt(std::move(fd), path);
  try {
    const bool has_name = Inode::at(path) == Inode::of(file->descriptor());
    return has_name && has_bytes(content, *file) ? file : nullptr;
  } catch (const Error&) {
    return nullptr;  // what cannot be read is in the way, whatever it is
  }
}

}  // namespace onnxfs
