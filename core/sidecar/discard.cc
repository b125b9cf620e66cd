#include "core/sidecar/discard.h"

#include <cerrno>
#include <filesystem>
#include <optional>

#include "core/bytes/error.h"
#include "core/sidecar/journal.h"
#include "core/sidecar/sidecar.h"
#include "core/sidecar/temporary_file.h"

namespace onnxfs {

namespace {

// One that is damaged says nothing; to drop it is the way out.
std::optional<Journal> read_if_sound(const std::string& sidecar) {
  try {
    return Journal::read(sidecar);
  } catch (const Error& error) {
    if (error.code() != EBADMSG) throw;
    return std::nullopt;
  }
}

}  // namespace

void discard_all(const std::string& model_path, const std::string& sidecar, Disk& disk) {
  const std::optional<Journal> journal = read_if_sound(sidecar);
  if (journal && journal->kind == Journal::Kind::in_place) {
    fail(EINPROGRESS,
         "a commit in place of {} was interrupted, and only its edits can make it whole; run onnxfs commit {}",
         model_path, model_path);
  }
  remove_sidecar(sidecar, disk);
  if (!journal) return;
  const std::filesystem::path folder = std::filesystem::absolute(model_path).parent_path();
  for (const Journal::File& file : journal->files) {
    const std::string path = folder / file.path;
    const auto found = Inode::at(temporary_path(path));
    if (found && found->number == file.inode) remove_remains(path, {}, disk);
  }
}

}  // namespace onnxfs
