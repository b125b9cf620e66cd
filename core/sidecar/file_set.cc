#include "core/sidecar/file_set.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>

#include "core/bytes/error.h"
#include "core/sidecar/folder.h"
#include "core/sidecar/model_check.h"

namespace onnxfs {

namespace {

namespace filesystem = std::filesystem;

std::string folder_of(const std::string& path) { return filesystem::path(path).parent_path(); }

// Where a file system does not say, writing will.
void require_room(const CommitPlan& plan) {
  struct Need {
    std::string folder;
    uint64_t bytes = 0;
  };
  std::map<dev_t, Need> needs;
  const auto add = [&needs](const CommitPlan::File& file) {
    const std::string folder = folder_of(file.path);
    struct stat status;
    if (::stat(folder.c_str(), &status) != 0) fail(errno, "cannot examine {}: {}", folder, describe_errno(errno));
    Need& need = needs[status.st_dev];
    need.folder = folder;
    need.bytes += file.content.size();
  };
  for (const CommitPlan::File& file : plan.data_files) add(file);
  if (plan.model) add(*plan.model);
  for (const auto& [device, need] : needs) {
    struct statvfs room;
    if (::statvfs(need.folder.c_str(), &room) != 0 || room.f_blocks == 0) continue;
    const auto free = checked_multiply(room.f_bavail, room.f_frsize);
    if (free && *free < need.bytes) {
      fail(ENOSPC, "the new files take {} bytes in {}, and {} are free there; {}", need.bytes, need.folder, *free,
           plan.if_no_room);
    }
  }
}

}  // namespace

FileSet::FileSet(const CommitPlan& plan, const Model& model, const Edits& edits, const Progress& progress, Disk& disk)
    : disk_(disk), inputs_(inodes_of(model)) {
  require_room(plan);
  remove_remains_of_finished(plan);
  const uint64_t total = plan.size();
  for (const CommitPlan::File& file : plan.data_files) add(file, progress, total);
  if (!plan.model) return;
  add(*plan.model, progress, total);
  require_edits_in(files_.back()->open(), plan.model->content, model, edits, plan.relocations, plan.moves);
}

// Who was killed between giving a file its name and taking the temporary one away left both, and its lock is held here.
void FileSet::remove_remains_of_finished(const CommitPlan& plan) {
  for (const auto& file : plan.finished) {
    const std::string temporary = temporary_path(file->label());
    if (Inode::at(temporary) == Inode::of(file->descriptor())) disk_.remove(temporary);
    else remove_remains(file->label(), inputs_, disk_);
  }
}

void FileSet::add(const CommitPlan::File& file, const Progress& progress, uint64_t total) {
  files_.push_back(std::make_unique<TemporaryFile>(file.path, *file.like, inputs_, disk_));
  files_.back()->fill(file.content, [&](uint64_t done) {
    if (progress) progress(written_ + done, total);
  });
  written_ += file.content.size();
}

std::vector<Journal::File> FileSet::journal_files(const std::string& folder) const {
  std::vector<Journal::File> result;
  for (const auto& file : files_) {
    result.push_back({filesystem::path(file->path()).lexically_relative(folder), file->size(), file->inode()});
  }
  return result;
}

std::vector<std::string> FileSet::put_all(void (TemporaryFile::*put)()) {
  std::vector<std::string> paths;
  for (const auto& file : files_) {
    // The model names data files, which have to be there before it is.
    if (file == files_.back()) flush_folders_of(paths, disk_);
    (*file.*put)();
    paths.push_back(file->path());
  }
  flush_folders_of(paths, disk_);
  return paths;
}

std::vector<std::string> FileSet::replace() { return put_all(&TemporaryFile::replace); }

bool FileSet::any_in_place() const {
  return std::ranges::any_of(files_, [](const auto& file) { return file->is_in_place(); });
}

std::vector<std::string> FileSet::put_in_place_or_none() {
  try {
    return put_all(&TemporaryFile::put_in_place);
  } catch (...) {
    // The model first, which names the others.
    std::for_each(files_.rbegin(), files_.rend(), [](const auto& file) { file->withdraw(); });
    throw;
  }
}

void FileSet::leave() noexcept {
  for (const auto& file : files_) file->leave();
}

void require_free(const std::string& path) {
  if (exists(path)) fail(EEXIST, "{} is there already; remove it, or choose another name", path);
}

void flush_folders_of(const std::vector<std::string>& paths, Disk& disk) {
  std::set<std::string> folders;
  for (const std::string& path : paths) folders.insert(folder_of(path));
  for (const std::string& folder : folders) disk.flush_folder(folder);
}

}  // namespace onnxfs
