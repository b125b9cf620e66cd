#include "core/sidecar/output_names.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/bytes/error.h"
#include "core/sidecar/sidecar.h"
#include "core/sidecar/temporary_file.h"

namespace onnxfs {

namespace {

namespace filesystem = std::filesystem;

// With no links in it but perhaps its last part, as far as the folders are there.
filesystem::path resolved(const filesystem::path& path) {
  std::error_code ignored;
  const filesystem::path folder = filesystem::weakly_canonical(filesystem::absolute(path).parent_path(), ignored);
  return folder / path.filename();
}

bool is_at_or_beneath(const filesystem::path& path, const filesystem::path& folder) {
  const filesystem::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

void require_usable_name(const std::string& path, const std::string& output, const Model& model) {
  if (is_temporary_name(path)) {
    fail(EINVAL, "{} has a name that is for files while they are written; choose another name", path);
  }
  for (const std::string& edited : {output, model.path()}) {
    if (!is_at_or_beneath(resolved(path), resolved(sidecar_path(edited)))) continue;
    fail(EINVAL, "{} is where edits of {} are kept; choose another name", path, edited);
  }
}

void require_location_reached(const std::string& output, const std::string& location) {
  const filesystem::path folder = resolved(output).parent_path();
  const filesystem::path path = resolved(folder / location);
  if (path == resolved(output)) fail(EINVAL, "{} cannot be both the model and its data file", path.string());
  if (is_at_or_beneath(path.parent_path(), folder)) return;
  fail(EINVAL, "\"{}\" cannot be a data file's name: a link in it leads out of {}, where readers do not follow it",
       location, folder.string());
}

}  // namespace onnxfs
