#include "core/sidecar/in_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "core/bytes/error.h"
#include "core/sidecar/checked_copy.h"
#include "core/sidecar/file_use.h"
#include "core/views/live_model.h"

namespace onnxfs {

namespace {

constexpr uint64_t piece_size = 1 << 20;

[[noreturn]] void refuse(const std::string& name, const std::string& reason) {
  fail(EINVAL, "{} {}, so it cannot be written in place; commit without --in-place", name, reason);
}

UniqueFd open_to_patch(const std::string& path, const FileIdentity& expected) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) {
    const int code = errno;
    fail(code, "cannot open {} to write into it: {}", path, describe_errno(code));
  }
  struct stat status;
  if (::fstat(fd.get(), &status) != 0 || FileIdentity::of(status) != expected) {
    fail(ESTALE, "{} is not the file any more that was opened; run the commit again", path);
  }
  return fd;
}

}  // namespace

InPlaceCommit::InPlaceCommit(const Model& model, const Edits& edits, Opening opening)
    : folder_(std::filesystem::path(model.path()).parent_path()) {
  FileUse use(model.path());
  auto patches = model_patches(model, edits);
  if (!patches) {
    fail(EINVAL, "the edits of {} change the size or the structure of the file; commit without --in-place",
         model.name());
  }
  const auto& data_files = model.catalog().data_files();
  for (uint32_t i = 0; i < data_files.size(); ++i) {
    const auto& source = data_files[i].source;
    if (!source || source->identity() == model.file()->identity()) continue;
    std::vector<Patch> in_data_file = data_file_patches(model, i, edits);
    const bool is_known =
        std::ranges::any_of(files_, [&](const File& file) { return file.source->identity() == source->identity(); });
    if (in_data_file.empty() || is_known) continue;
    if (opening == Opening::ordinary) {
      const std::string obstacle = use.obstacle_of(data_files[i].location, source->identity());
      if (!obstacle.empty()) refuse(data_files[i].location, obstacle);
    }
    files_.push_back({data_files[i].location, source, std::move(in_data_file)});
  }
  if (patches->empty()) return;
  if (opening == Opening::ordinary) {
    const std::string obstacle = use.obstacle_of_model(model.file()->identity());
    if (!obstacle.empty()) refuse(model.name(), obstacle);
  }
  files_.push_back({model.name(), model.file(), std::move(*patches)});
}

std::vector<Journal::File> InPlaceCommit::journal_files() const {
  std::vector<Journal::File> result;
  for (const File& file : files_) {
    result.push_back({file.location, file.source->size(), file.source->identity().inode});
  }
  return result;
}

std::vector<std::string> InPlaceCommit::run(const Progress& progress, Disk& disk) {
  std::vector<std::string> paths;
  for (const File& file : files_) {
    patch(file, progress, disk);
    paths.push_back(path_of(file));
  }
  return paths;
}

std::string InPlaceCommit::path_of(const File& file) const { return std::filesystem::path(folder_) / file.location; }

void InPlaceCommit::patch(const File& file, const Progress& progress, Disk& disk) {
  const std::string path = path_of(file);
  const UniqueFd fd = open_to_patch(path, file.source->identity());
  for (const Patch& patch : file.patches) {
    const auto write = [&](uint64_t at, std::span<const std::byte> piece) {
      has_begun_ = true;
      disk.write(fd.get(), piece, patch.range.begin + at, path);
      done_ += piece.size();
      if (progress) progress(done_, size());
    };
    read_in_pieces(patch.content, 0, patch.content.size(), piece_size, write);
  }
  disk.flush(fd.get(), path);
  for (const Patch& patch : file.patches) require_same_bytes(patch.content, fd.get(), patch.range.begin, path);
}

uint64_t InPlaceCommit::size() const {
  uint64_t sum = 0;
  for (const File& file : files_) {
    for (const Patch& patch : file.patches) sum += patch.range.size();
  }
  return sum;
}

}  // namespace onnxfs
