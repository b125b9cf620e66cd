#include "core/sidecar/commit.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include "core/bytes/error.h"
#include "core/onnx/data_checksums.h"
#include "core/sidecar/commit_plan.h"
#include "core/sidecar/data_file_name.h"
#include "core/sidecar/file_set.h"
#include "core/sidecar/folder.h"
#include "core/sidecar/in_place.h"
#include "core/sidecar/journal.h"
#include "core/sidecar/output_names.h"
#include "core/sidecar/sidecar.h"

namespace onnxfs {

namespace {

namespace filesystem = std::filesystem;

class Commit {
 public:
  Commit(const std::string& model_path, const CommitOptions& options, Disk& disk)
      : path_(filesystem::absolute(model_path)), folder_(path_.parent_path()), options_(options), disk_(disk) {}

  CommitReport run() {
    require_no_writer();
    if (const auto journal = Journal::read(options_.sidecar)) {
      resume(*journal);
      return std::move(report_);
    }
    open(Opening::ordinary);
    if (edits_.empty() && options_.output.empty()) {
      remove_remains_of_sidecar();
      return std::move(report_);
    }
    if (!edits_.empty()) sidecar_->acquire();
    if (!options_.output.empty()) write_output();
    else if (options_.in_place) patch(Opening::ordinary);
    else replace();
    return std::move(report_);
  }

 private:
  void require_no_writer() const {
    const std::string holder = sidecar_holder(options_.sidecar);
    if (holder.empty()) return;
    fail(EBUSY, "the edits of {} are being made by {}; unmount it, or wait for it to end, and commit then",
         path_.string(), holder);
  }

  void open(Opening opening) {
    model_ = Model::open(path_);
    sidecar_ =
        Sidecar::open(model_, options_.sidecar, fmt::format("onnxfs commit, process {}", ::getpid()), disk_, opening);
    edits_ = sidecar_->edits().snapshot();
    report_.edits = edits_.size();
    report_.remarks = sidecar_->remarks();
  }

  // New files in place of the old.
  void replace() {
    remove_all_remains();
    const CommitPlan plan = plan_commit(*model_, edits_);
    if (plan.model) remark_on_links();
    add_remarks(plan);
    const std::set<uint32_t> checksums = edited_files_with_checksums();
    FileSet files(plan, *model_, edits_, options_.progress, disk_);
    try {
      Journal{Journal::Kind::rename, edits_.size(), files.journal_files(folder_)}.write(options_.sidecar, disk_);
      report_.written = files.replace();
    } catch (...) {
      if (files.any_in_place() || !withdraw_journal()) files.leave();
      throw;
    }
    sidecar_->remove();
    remark_on_checksums(checksums, folder_, plan.relocations);
  }

  void write_output() {
    const std::string output = filesystem::absolute(options_.output);
    require_usable_name(output, output, *model_);
    require_free(output);
    const CommitPlan plan = plan_output(*model_, edits_, output);
    add_remarks(plan);
    const std::set<uint32_t> checksums = edited_files_with_checksums();
    FileSet files(plan, *model_, edits_, options_.progress, disk_);
    report_.written = files.put_in_place_or_none();
    remark_on_checksums(checksums, filesystem::path(output).parent_path(), plan.relocations);
  }

  void patch(Opening opening) {
    InPlaceCommit work(*model_, edits_, opening);
    const std::set<uint32_t> checksums = edited_files_with_checksums();
    sidecar_->flush();  // it is the redo log
    try {
      if (opening == Opening::ordinary) {
        Journal{Journal::Kind::in_place, edits_.size(), work.journal_files()}.write(options_.sidecar, disk_);
      }
      report_.written = work.run(options_.progress, disk_);
    } catch (...) {
      if (opening == Opening::ordinary && !work.has_begun()) withdraw_journal();
      throw;
    }
    sidecar_->remove();
    remark_on_checksums(checksums, folder_, {});
  }

  void resume(const Journal& journal) {
    if (!options_.output.empty()) {
      fail(EINPROGRESS, "a commit of {} was interrupted; finish it with onnxfs commit {}", path_.string(),
           path_.string());
    }
    if (journal.kind == Journal::Kind::rename) finish_renames(journal);
    else finish_in_place(journal);
    report_.edits = journal.edits;
    report_.remarks.push_back("a commit that was interrupted was finished");
  }

  void finish_renames(const Journal& journal) {
    for (const Journal::File& file : journal.files) {
      const std::string path = folder_ / file.path;
      const std::string temporary = temporary_path(path);
      const bool is_waiting = exists(temporary);
      struct stat status;
      if (::lstat(is_waiting ? temporary.c_str() : path.c_str(), &status) != 0 ||
          static_cast<uint64_t>(status.st_size) != file.size || status.st_ino != file.inode) {
        fail(EBADMSG,
             "{} is not what an interrupted commit left there; if the model is as it should be, drop the edits "
             "with onnxfs discard {}",
             path, path_.string());
      }
      report_.written.push_back(path);
      if (!is_waiting) continue;
      if (&file == &journal.files.back()) flush_folders_of(report_.written, disk_);
      disk_.rename(temporary, path);
    }
    flush_folders_of(report_.written, disk_);
    remove_sidecar(options_.sidecar, disk_);
  }

  void finish_in_place(const Journal& journal) {
    for (const Journal::File& file : journal.files) {
      const std::string path = folder_ / file.path;
      struct stat status;
      if (::stat(path.c_str(), &status) == 0 && static_cast<uint64_t>(status.st_size) == file.size) continue;
      fail(ESTALE, "{} does not have the {} bytes that it had when a commit in place was interrupted", path, file.size);
    }
    open(Opening::resuming);
    if (!edits_.empty()) {
      sidecar_->acquire();
      patch(Opening::resuming);
    } else {
      // All was done but for removing the sidecar.
      sidecar_.reset();
      remove_sidecar(options_.sidecar, disk_);
    }
  }

  // A commit that was killed at its very end leaves a sidecar without edits. One that lost some is not removed unasked.
  void remove_remains_of_sidecar() {
    if (!report_.remarks.empty()) return;
    if (!exists(base_path(options_.sidecar)) && !is_remains_of_sidecar(options_.sidecar)) return;
    try {
      sidecar_->remove();
    } catch (const Error& error) {
      report_.remarks.push_back(fmt::format("there are no edits, but the sidecar stays: {}", error.what()));
    }
  }

  // Whether there is none now, whatever happens.
  bool withdraw_journal() const noexcept {
    try {
      if (exists(journal_path(options_.sidecar))) Journal::remove(options_.sidecar, disk_);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  // What killed commits left that planned other files than this one.
  void remove_all_remains() const {
    const Inodes inputs = inodes_of(*model_);
    const auto remove = [&](const std::string& name) {
      const std::string path = folder_ / name;
      if (!exists(temporary_path(path))) return false;
      try {
        remove_remains(path, inputs, disk_);
      } catch (const Error&) {
        return true;  // another process's, perhaps; it is in the way only of who writes the same file
      }
      return true;
    };
    remove(path_.filename());
    for (const DataFile& file : model_->catalog().data_files()) remove(file.location);
    for (unsigned n = 0;; ++n) {
      const std::string name = data_file_name(path_.filename(), n);
      if (!remove(name) && !exists(folder_ / name)) break;
    }
  }

  // Found before anything is written: then the model can still be read.
  std::set<uint32_t> edited_files_with_checksums() const {
    std::set<uint32_t> files = data_files_with_checksums(*model_);
    std::erase_if(files, [this](uint32_t index) { return data_file_patches(*model_, index, edits_).empty(); });
    return files;
  }

  // The model's entries are left as they are. Where it says that a file is another one now, they were dropped.
  void remark_on_checksums(const std::set<uint32_t>& edited, const filesystem::path& folder,
                           const Relocations& relocations) {
    for (const uint32_t index : edited) {
      const std::string& location = model_->catalog().data_files()[index].location;
      const bool is_written = std::ranges::find(report_.written, (folder / location).string()) != report_.written.end();
      if (!is_written || relocations.contains(index)) continue;
      report_.remarks.push_back(
          fmt::format("the checksum entries of {} in the model are those of what it was before", location));
    }
  }

  // Found before the model is replaced: a rename parts it from its other names, and from what it was a link to.
  void remark_on_links() {
    struct stat status;
    if (::lstat(path_.c_str(), &status) != 0) return;
    if (S_ISLNK(status.st_mode)) {
      report_.remarks.push_back(fmt::format(
          "{} was a symbolic link, and is a file of its own now; what it led to stays as it is", path_.string()));
    } else if (status.st_nlink > 1) {
      report_.remarks.push_back(
          fmt::format("{} had {} names (hard links), and is a file of its own now; what has the "
                      "others stays as it is",
                      path_.string(), status.st_nlink));
    }
  }

  void add_remarks(const CommitPlan& plan) {
    report_.remarks.insert(report_.remarks.end(), plan.remarks.begin(), plan.remarks.end());
    if (plan.model && plan.model->content.size() > largest_readable && model_->file()->size() <= largest_readable) {
      report_.remarks.push_back(fmt::format("{} has {} bytes now; most programs read no model of more than {}",
                                            plan.model->path, plan.model->content.size(), largest_readable));
    }
  }

  filesystem::path path_;
  filesystem::path folder_;
  const CommitOptions& options_;
  Disk& disk_;
  std::shared_ptr<const Model> model_;
  std::shared_ptr<Sidecar> sidecar_;
  Edits edits_;
  CommitReport report_;
};

}  // namespace

CommitReport commit(const std::string& model_path, const CommitOptions& options, Disk& disk) {
  return Commit(model_path, options, disk).run();
}

}  // namespace onnxfs
