#include "core/sidecar/model_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "core/bytes/error.h"

namespace onnxfs {

// By a descriptor of its own, since a lock belongs to the opening, and the model's is shared.
ModelLock ModelLock::take(const Model& model) {
  const std::string& path = model.path();
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) fail(errno, "cannot open {}: {}", path, describe_errno(errno));
  struct stat status;
  if (::fstat(fd.get(), &status) != 0 || FileIdentity::of(status) != model.file()->identity()) {
    fail(ESTALE, "{} is not the file any more that was opened; remount to edit it", path);
  }
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) break;
    fail(EBUSY, "{} is being edited by another process, which reached it by another path or keeps its edits elsewhere",
         path);
  }
  return ModelLock(std::move(fd));
}

}  // namespace onnxfs
