#include "core/sidecar/commit_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/bytes/error.h"
#include "core/sidecar/data_file_name.h"
#include "core/sidecar/file_use.h"
#include "core/sidecar/finished_file.h"
#include "core/sidecar/folder.h"

namespace onnxfs {

namespace {

namespace filesystem = std::filesystem;

// A data file of the catalog, by all the locations that lead to it.
struct DataFileGroup {
  std::vector<uint32_t> indices;
  std::shared_ptr<const FileSource> source;
};

std::vector<DataFileGroup> group_data_files(const Model& model) {
  std::vector<DataFileGroup> groups;
  std::map<std::pair<dev_t, ino_t>, size_t> known;
  const auto& files = model.catalog().data_files();
  for (uint32_t i = 0; i < files.size(); ++i) {
    if (!files[i].source) continue;
    const FileIdentity& identity = files[i].source->identity();
    const auto [group, is_new] = known.emplace(std::pair(identity.device, identity.inode), groups.size());
    if (is_new) groups.push_back({{}, files[i].source});
    groups[group->second].indices.push_back(i);
  }
  return groups;
}

bool is_same_file(const FileSource& a, const FileSource& b) {
  return a.identity().device == b.identity().device && a.identity().inode == b.identity().inode;
}

bool is_whole(const Rope& content, const SourcePtr& source) {
  return content.size() == source->size() && changed_ranges(Rope::of(source), content).empty();
}

class Planner {
 public:
  Planner(const Model& model, const Edits& edits, filesystem::path target)
      : model_(model), edits_(edits), target_(std::move(target)), folder_(target_.parent_path()) {}

 protected:
  const std::string& location_of(uint32_t index) const { return model_.catalog().data_files()[index].location; }
  bool is_model_file(const DataFileGroup& group) const { return is_same_file(*group.source, *model_.file()); }
  std::string folder() const { return folder_; }

  // What the data file is to be; nothing when it has no edits.
  std::optional<Rope> edited(const DataFileGroup& group) const {
    if (data_file_patches(model_, group.indices.front(), edits_).empty()) return std::nullopt;
    return live_data_file(model_, group.indices.front(), edits_);
  }

  bool is_reached(const DataFileGroup& group) const {
    return std::ranges::all_of(group.indices, [&](uint32_t index) {
      return is_reached_from(folder_, location_of(index), group.source->identity());
    });
  }

  // Has the tensors of a group say that they stand in `name`, in the model's folder.
  void relocate(const DataFileGroup& group, const std::string& name) {
    for (const uint32_t index : group.indices) {
      if (location_of(index) != name) plan_.relocations[index] = name;
    }
  }

  void add(const std::string& path, Rope content, const DataFileGroup& group) {
    taken_.insert(path);
    plan_.data_files.push_back({path, std::move(content), group.source});
  }

  bool is_free(const std::string& path) const { return path != target_ && !taken_.contains(path) && !exists(path); }

  // A name that nothing has.
  std::string new_name() const {
    for (unsigned n = 0;; ++n) {
      std::string name = data_file_name(target_.filename(), n);
      if (is_free(folder_ / name)) return name;
    }
  }

  const Model& model_;
  const Edits& edits_;
  filesystem::path target_;
  filesystem::path folder_;
  std::set<std::string> taken_;  // by this plan
  CommitPlan plan_;
};

class CommitPlanner : Planner {
 public:
  CommitPlanner(const Model& model, const Edits& edits) : Planner(model, edits, model.path()), use_(model.path()) {}

  CommitPlan run() {
    std::vector<const DataFileGroup*> unedited;
    const std::vector<DataFileGroup> groups = group_data_files(model_);
    for (const DataFileGroup& group : groups) {
      if (is_model_file(group)) continue;
      if (auto content = edited(group)) place(group, std::move(*content));
      else unedited.push_back(&group);
    }
    Rope content = live_model(model_, edits_, plan_.relocations);
    if (is_whole(content, model_.file())) return std::move(plan_);
    const size_t relocated = plan_.relocations.size();
    for (const DataFileGroup& group : groups) {
      if (is_model_file(group)) relocate(group, target_.filename());
    }
    for (const DataFileGroup* group : unedited) keep_reachable(*group);
    if (plan_.relocations.size() != relocated) content = live_model(model_, edits_, plan_.relocations);
    plan_.model = {target_, std::move(content), model_.file()};
    return std::move(plan_);
  }

 private:
  void place(const DataFileGroup& group, Rope content) {
    std::string obstacle;
    for (const uint32_t index : group.indices) {
      obstacle = use_.obstacle_of(location_of(index), group.source->identity());
      if (obstacle.empty()) return add(folder_ / location_of(index), std::move(content), group);
    }
    add_new(group, std::move(content), obstacle, "its edited tensors are");
  }

  // A model that was reached by a link, and is a file of its own now, has only its own folder to look in.
  void keep_reachable(const DataFileGroup& group) {
    if (!is_reached(group)) add_new(group, Rope::of(group.source), "lies in another folder", "its tensors are");
  }

  void add_new(const DataFileGroup& group, Rope content, const std::string& reason, std::string_view what) {
    const std::string name = new_name();
    plan_.remarks.push_back(fmt::format("{} {}, so it stays as it is; {} in {} now", location_of(group.indices.front()),
                                        reason, what, name));
    relocate(group, name);
    add(folder_ / name, std::move(content), group);
  }

  FileUse use_;
};

class OutputPlanner : Planner {
 public:
  using Planner::Planner;

  CommitPlan run() {
    for (const DataFileGroup& group : group_data_files(model_)) {
      if (is_model_file(group)) {
        relocate(group, target_.filename());
      } else if (auto content = edited(group)) {
        place(group, std::move(*content));
      } else if (!is_reached(group)) {
        place(group, Rope::of(group.source));
      }
    }
    plan_.model = {target_, live_model(model_, edits_, plan_.relocations), model_.file()};
    return std::move(plan_);
  }

 private:
  // Under its own name, but for the folders that it lies in, or under a new one.
  void place(const DataFileGroup& group, Rope content) {
    const std::string& location = location_of(group.indices.front());
    std::string name = filesystem::path(location).filename();
    for (unsigned n = 0; !is_free(folder_ / name); name = data_file_name(target_.filename(), n++)) {
      auto finished = finished_file(folder_ / name, content);
      if (!finished) continue;
      plan_.finished.push_back(std::move(finished));
      return relocate(group, name);
    }
    if (name != location) plan_.remarks.push_back(fmt::format("the data of {} are in {}", location, name));
    relocate(group, name);
    add(folder_ / name, std::move(content), group);
  }
};

}  // namespace

uint64_t CommitPlan::size() const {
  uint64_t sum = model ? model->content.size() : 0;
  for (const File& file : data_files) sum += file.content.size();
  return sum;
}

CommitPlan plan_commit(const Model& model, const Edits& edits) {
  CommitPlan plan = CommitPlanner(model, edits).run();
  plan.if_no_room = "edits of one size can be committed with --in-place";
  return plan;
}

CommitPlan plan_output(const Model& model, const Edits& edits, const std::string& output) {
  return OutputPlanner(model, edits, output).run();
}

}  // namespace onnxfs
