#include "fs/folder_filesystem.h"

#include <fcntl.h>
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "core/bytes/error.h"
#include "fs/failed_filesystem.h"
#include "fs/log.h"

namespace onnxfs {

namespace {

constexpr int member_shift = 40;
constexpr uint64_t local_mask = (uint64_t{1} << member_shift) - 1;

// What stands in the mounted folder and not on disk: a number that no member has.
constexpr uint64_t status_folder = (uint64_t{1} << member_shift) | Filesystem::root_inode;
constexpr std::string_view status_folder_name = ".onnxfs";
constexpr std::string_view status_names[] = {"status.json", "log.txt"};
constexpr uint64_t status_json = status_folder + 1;  // and so on, as they are named

bool is_status_file(uint64_t inode) { return inode >= status_json && inode < status_json + std::size(status_names); }

constexpr uint64_t dots = 2;  // the offsets of "." and ".."

uint32_t member_of(uint64_t inode) { return static_cast<uint32_t>(inode >> member_shift); }
uint64_t inode_of(uint32_t member, uint64_t local) { return uint64_t{member} << member_shift | local; }

// A file of a model, and the model's mount for as long as it is open.
class MemberFile final : public OpenFile {
 public:
  MemberFile(std::shared_ptr<Filesystem> filesystem, std::unique_ptr<OpenFile> file)
      : filesystem_(std::move(filesystem)), file_(std::move(file)) {
    keep_cache = file_->keep_cache;
    direct = file_->direct;
    writable = file_->writable;
  }

  Rope content() const override { return file_->content(); }
  std::optional<uint64_t> own_size() const override { return file_->own_size(); }
  void write(uint64_t offset, std::span<const std::byte> bytes) override { file_->write(offset, bytes); }
  void resize(uint64_t size) override { file_->resize(size); }
  std::function<void()> preparation() const override { return file_->preparation(); }
  void flushed() override { file_->flushed(); }
  void closed_by(pid_t process) override {
    file_->opener = opener;
    file_->closed_by(process);
  }

 private:
  std::shared_ptr<Filesystem> filesystem_;
  std::unique_ptr<OpenFile> file_;  // ends before the mount
};

void list_dots(uint64_t self, uint64_t parent, uint64_t offset, const Filesystem::Visit& visit, bool& go_on) {
  if (offset == 0) go_on = visit(".", self, S_IFDIR, 1);
  if (go_on && offset <= 1) go_on = visit("..", parent, S_IFDIR, dots);
}

}  // namespace

FolderFilesystem::FolderFilesystem(const std::string& folder, const std::string& mount_point, Ownership ownership,
                                   OpenModel open_model, StatusText status, FolderLimits limits)
    : members_(folder, mount_point),
      ownership_(ownership),
      open_model_(std::move(open_model)),
      status_(std::move(status)),
      limits_(std::move(limits)) {}

const FolderMember* FolderFilesystem::folder_at(uint64_t inode) const {
  const FolderMember& member = members_.member(member_of(inode));
  if (member.kind != FolderMember::Kind::folder) return nullptr;
  if ((inode & local_mask) != root_inode) fail(ENOENT, "inode {} does not exist", inode);
  return &member;
}

// Links are not counted: 1 says to those who would rely on it that they cannot.
Entry FolderFilesystem::entry_of(const FolderMember& member) const {
  const bool is_model = member.kind == FolderMember::Kind::model;
  const timespec mtime = is_model ? member.identity.mtime : members_.changed_at(member);
  Entry entry = folder_entry(inode_of(member.number, root_inode), 1, mtime, ownership_);
  entry.attributes_valid = entry.name_valid = seconds_to_notice;
  return entry;
}

Rope FolderFilesystem::content_of_own(uint64_t inode) const {
  return Rope::of(inode == status_json ? status_(scratch_files()) : recent_log());
}

Entry FolderFilesystem::lookup(uint64_t inode, std::string_view name, std::optional<Absence>& absence) const {
  absence.reset();
  if (is_status_file(inode)) fail(ENOTDIR, "inode {} is no folder", inode);
  if (inode == status_folder) {
    const auto* const found = std::ranges::find(status_names, name);
    if (found != std::end(status_names)) return entry(status_json + static_cast<uint64_t>(found - status_names));
    absence = Absence{lasting};
    return {};
  }
  if (inode == root_inode && name == status_folder_name) return entry(status_folder);
  if (const FolderMember* folder = folder_at(inode)) {
    if (const FolderMember* member = members_.find(*folder, name)) return entry_of(*member);
    absence = Absence{seconds_to_notice};
    return {};
  }
  const uint32_t number = member_of(inode);
  Entry entry = opened(members_.member(number))->lookup(inode & local_mask, name, absence);
  if (!absence) entry.attributes.st_ino = inode_of(number, entry.attributes.st_ino);
  return entry;
}

Entry FolderFilesystem::entry(uint64_t inode) const {
  if (inode == status_folder) return folder_entry(status_folder, 2, {}, ownership_);
  if (is_status_file(inode)) {
    Entry file = file_entry(inode, content_of_own(inode).size(), {}, ownership_);
    file.attributes_valid = file.name_valid = 0;
    return file;
  }
  const FolderMember& member = members_.member(member_of(inode));
  if ((inode & local_mask) == root_inode) return entry_of(member);
  Entry entry = opened(member)->entry(inode & local_mask);
  entry.attributes.st_ino = inode;
  return entry;
}

std::unique_ptr<OpenFile> FolderFilesystem::open(uint64_t inode, int flags) const {
  if (is_status_file(inode)) {
    if ((flags & O_ACCMODE) != O_RDONLY) fail(EROFS, "the mount is read-only");
    auto file = std::make_unique<SnapshotFile>(content_of_own(inode));
    file->direct = true;
    return file;
  }
  if (inode == status_folder || folder_at(inode) != nullptr) fail(EISDIR, "inode {} is a folder", inode);
  auto filesystem = opened(members_.member(member_of(inode)));
  auto file = filesystem->open(inode & local_mask, flags);
  return std::make_unique<MemberFile>(std::move(filesystem), std::move(file));
}

void FolderFilesystem::list(uint64_t inode, uint64_t offset, const Visit& visit) const {
  bool go_on = true;
  if (is_status_file(inode)) fail(ENOTDIR, "inode {} is no folder", inode);
  if (inode == status_folder) {
    list_dots(inode, root_inode, offset, visit, go_on);
    for (uint64_t i = offset > dots ? offset - dots : 0; go_on && i < std::size(status_names); ++i) {
      go_on = visit(std::string(status_names[i]), status_json + i, S_IFREG, dots + i + 1);
    }
    return;
  }
  const FolderMember* folder = folder_at(inode);
  const FolderMember& member = members_.member(member_of(inode));
  const uint64_t parent = inode_of(member.parent, root_inode);
  if (folder == nullptr) {
    const bool is_root = (inode & local_mask) == root_inode;
    opened(member)->list(inode & local_mask, offset,
                         [&](const std::string& name, uint64_t local, mode_t type, uint64_t next) {
                           const bool up = is_root && name == "..";
                           return visit(name, up ? parent : inode_of(member.number, local), type, next);
                         });
    return;
  }
  list_dots(inode, parent, offset, visit, go_on);
  // The mounted folder has one entry more, and it comes first, so that it keeps its place.
  const uint64_t extra = inode == root_inode ? 1 : 0;
  if (go_on && extra != 0 && offset <= dots) {
    go_on = visit(std::string(status_folder_name), status_folder, S_IFDIR, dots + 1);
  }
  const uint64_t first = dots + extra;
  const auto children = members_.list(*folder);
  for (uint64_t i = offset > first ? offset - first : 0; go_on && i < children.size(); ++i) {
    if (children[i] == nullptr || (extra != 0 && children[i]->name == status_folder_name)) continue;
    go_on = visit(children[i]->name, inode_of(children[i]->number, root_inode), S_IFDIR, first + i + 1);
  }
}

std::vector<std::string_view> FolderFilesystem::attribute_names(uint64_t inode) const {
  if ((inode & local_mask) == root_inode || is_status_file(inode)) return {};
  return opened(members_.member(member_of(inode)))->attribute_names(inode & local_mask);
}

size_t FolderFilesystem::attribute_size(uint64_t inode, std::string_view name) const {
  if ((inode & local_mask) == root_inode || is_status_file(inode)) fail(ENODATA, "there is no such attribute");
  return opened(members_.member(member_of(inode)))->attribute_size(inode & local_mask, name);
}

std::string FolderFilesystem::attribute(uint64_t inode, std::string_view name) const {
  if ((inode & local_mask) == root_inode || is_status_file(inode)) fail(ENODATA, "there is no such attribute");
  return opened(members_.member(member_of(inode)))->attribute(inode & local_mask, name);
}

struct statvfs FolderFilesystem::statistics() const {
  struct statvfs result = {};
  result.f_bsize = result.f_frsize = 4096;
  result.f_namemax = 255;
  return result;
}

std::shared_ptr<Filesystem> FolderFilesystem::model_of(uint64_t inode) const {
  if (inode == status_folder || is_status_file(inode) || folder_at(inode) != nullptr) {
    fail(EPERM, "what is in the folder itself is changed there");
  }
  return opened(members_.member(member_of(inode)));
}

Filesystem::Created FolderFilesystem::create(uint64_t inode, std::string_view name, mode_t mode, int flags) {
  auto filesystem = model_of(inode);
  Created created = filesystem->create(inode & local_mask, name, mode, flags);
  created.entry.attributes.st_ino = inode_of(member_of(inode), created.entry.attributes.st_ino);
  created.file = std::make_unique<MemberFile>(std::move(filesystem), std::move(created.file));
  return created;
}

void FolderFilesystem::resize(uint64_t inode, uint64_t size) { model_of(inode)->resize(inode & local_mask, size); }

void FolderFilesystem::change_attributes(uint64_t inode, const AttributeChange& change) {
  model_of(inode)->change_attributes(inode & local_mask, change);
}

void FolderFilesystem::rename(uint64_t inode, std::string_view name, uint64_t new_inode, std::string_view new_name,
                              bool replaces) {
  const auto filesystem = model_of(inode);
  if (member_of(inode) != member_of(new_inode)) fail(EXDEV, "{} cannot become a file of another model", name);
  filesystem->rename(inode & local_mask, name, new_inode & local_mask, new_name, replaces);
}

void FolderFilesystem::remove(uint64_t inode, std::string_view name) {
  model_of(inode)->remove(inode & local_mask, name);
}

void FolderFilesystem::flush() {
  for (const auto& [number, filesystem] : all_open()) filesystem->flush();
}

void FolderFilesystem::tidy() noexcept {
  for (const auto& [number, filesystem] : all_open()) filesystem->tidy();
}

std::vector<std::pair<uint32_t, std::shared_ptr<FolderFilesystem::Slot>>> FolderFilesystem::all_slots() const {
  const MutexLock lock(mutex_);
  std::vector<std::pair<uint32_t, std::shared_ptr<Slot>>> slots;
  for (const auto& [number, used] : slots_) slots.emplace_back(number, used.slot);
  return slots;
}

std::vector<FolderFilesystem::Opened> FolderFilesystem::all_open() const {
  std::vector<Opened> result;
  for (const auto& [number, slot] : all_slots()) {
    const MutexLock lock(slot->opening);
    if (slot->filesystem) result.push_back({number, slot->filesystem});
  }
  return result;
}

// Those that are open may tell of changes as long as they are, and whom they told may be gone before.
void FolderFilesystem::watch(const Watcher& watcher) {
  watcher_ = watcher;
  for (const auto& [number, filesystem] : all_open()) filesystem->watch(watcher_of(number));
}

Filesystem::Watcher FolderFilesystem::watcher_of(uint32_t number) const {
  return {[changed = watcher_.changed, number](uint64_t local) { changed(inode_of(number, local)); },
          [changed = watcher_.attributes_changed, number](uint64_t local) { changed(inode_of(number, local)); },
          watcher_.untidy};
}

// Of models that are open; one with such a file is not dropped. One that is being opened just now has none yet, and is
// not waited for.
std::vector<std::string> FolderFilesystem::scratch_files() const {
  std::vector<std::string> paths;
  for (const auto& [number, slot] : all_slots()) {
    if (!slot->opening.try_lock()) continue;
    const MutexLock lock(slot->opening, std::adopt_lock);
    if (!slot->filesystem) continue;
    for (const std::string& path : slot->filesystem->scratch_files()) {
      paths.push_back(members_.member(number).path + "/" + path);
    }
  }
  return paths;
}

// The slot is taken with the lock held; the model is opened without it, which may take as long as its disk does.
std::shared_ptr<Filesystem> FolderFilesystem::opened(const FolderMember& model) const {
  if (model.kind != FolderMember::Kind::model) fail(ENOENT, "there is no such file in {}", model.path);
  const std::shared_ptr<Slot> slot = slot_of(model.number);
  const MutexLock lock(slot->opening);
  if (slot->filesystem) return slot->filesystem;
  const std::string path = members_.absolute_path(model);
  try {
    slot->filesystem = open_model_(path);
    // What was opened has to be what the number stands for: the kernel may know things of that.
    struct stat status;
    if (::stat(path.c_str(), &status) != 0 || FileIdentity::of(status) != model.identity) {
      slot->filesystem.reset();
      fail(ESTALE, "{} is not the file any more that it was", path);
    }
    slot->filesystem->watch(watcher_of(model.number));
    note_opened(model.number, *slot->filesystem);
  } catch (const Error& error) {
    if (error.code() != EINVAL && error.code() != EBADMSG && error.code() != EOVERFLOW) throw;
    slot->filesystem = std::make_shared<FailedFilesystem>(error.what(), model.identity.mtime, ownership_);
  }
  return slot->filesystem;
}

std::shared_ptr<FolderFilesystem::Slot> FolderFilesystem::slot_of(uint32_t number) const {
  const MutexLock lock(mutex_);
  if (const auto found = slots_.find(number); found != slots_.end()) {
    recently_used_.splice(recently_used_.begin(), recently_used_, found->second.place);
    found->second.at = limits_.now();
    return found->second.slot;
  }
  if (slots_.size() >= limits_.models) drop_one();
  recently_used_.push_front(number);
  Used used{std::make_shared<Slot>(), recently_used_.begin(), limits_.now()};
  return slots_.emplace(number, std::move(used)).first->second.slot;
}

// Of one that was dropped, the kernel may have cached what others have changed since, or what was changed before by
// other ways than it knows of.
void FolderFilesystem::note_opened(uint32_t number, const Filesystem& filesystem) const {
  std::optional<std::vector<uint32_t>> doubted;
  {
    const MutexLock lock(mutex_);
    if (const auto before = dropped_.find(number); before != dropped_.end()) {
      doubted = std::move(before->second);
      dropped_.erase(before);
    }
    Used& used = slots_.at(number);
    used.memory = filesystem.memory();
    memory_ += used.memory;
    while (memory_ > limits_.memory && drop_one()) {
    }
  }
  if (!doubted) return;
  filesystem.doubt(*doubted);
  filesystem.doubt(filesystem.edited());
}

// The one whose use is longest ago, of those that nobody is using: its edits are on disk, and what a program has open
// or is about to rename would be lost. False when there is none, or only such as were used after `time`.
bool FolderFilesystem::drop_one(FolderLimits::Clock::time_point time) const {
  for (auto number = recently_used_.end(); number != recently_used_.begin();) {
    if (slots_.at(*--number).at > time) return false;
    if (drop_unless_in_use(number)) return true;
  }
  return false;
}

// It ends while the lock is held, since then nobody can begin to use it, nor open it again before it let go of what it
// has locked.
bool FolderFilesystem::drop_unless_in_use(std::list<uint32_t>::iterator number) const {
  const auto used = slots_.find(*number);
  const std::shared_ptr<Slot>& slot = used->second.slot;
  if (slot.use_count() > 1) return false;
  {
    // Nobody has the slot, so its lock is free; taking it makes seen what the last who had it did.
    if (!slot->opening.try_lock()) return false;
    const MutexLock lock(slot->opening, std::adopt_lock);
    if (slot->filesystem) {
      if (slot->filesystem.use_count() > 1 || !slot->filesystem->is_at_rest()) return false;
      dropped_.insert_or_assign(*number, slot->filesystem->edited());
    }
  }
  memory_ -= used->second.memory;
  slots_.erase(used);
  recently_used_.erase(number);
  return true;
}

void FolderFilesystem::let_go() noexcept {
  bool any = false;
  {
    const MutexLock lock(mutex_);
    const auto long_ago = limits_.now() - limits_.unused;
    while (drop_one(long_ago)) any = true;
  }
#ifdef __GLIBC__
  if (any) ::malloc_trim(0);  // what a model took lies in pieces between those of others
#endif
}

std::optional<std::chrono::milliseconds> FolderFilesystem::let_go_interval() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(limits_.unused / 4);
}

}  // namespace onnxfs
