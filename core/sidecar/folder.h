// The names in a sidecar's folder, and how it comes and goes.
//
//   base.json       what the edits are of (base.h); without it, whatever else there is says nothing
//   NNNNNNNN.blob   the records (record.h), in the order of their numbers
//   lock            held by who writes (lock.h)
//   commit.journal  there while files are renamed by a commit
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/disk.h"

namespace onnxfs {

std::string base_path(const std::string& folder);
std::string lock_path(const std::string& folder);
std::string journal_path(const std::string& folder);
std::string new_journal_path(const std::string& folder);  // while it is being written

bool exists(const std::string& path);

// The numbers of the blobs, in order; none when there is no folder.
std::vector<uint32_t> list_blobs(const std::string& folder);

// Whether a folder was made for edits, by what is in it, damaged or not: a blob of ours, a base.json that names what ours
// do, or a journal that begins as ours do. Another folder may have files of the same names.
bool has_edits(const std::string& folder);

// Makes the folder, if there is nothing. ENOTDIR or ENOENT, with what is there, when that is no folder.
void make_sidecar_folder(const std::string& folder, Disk& disk);
void require_folder(const std::string& folder);

// ELOOP when the folder, or what is found in it by name, is a link into a mount of onnxfs: in its own, a daemon would
// wait for itself.
void require_folder_outside_mounts(const std::string& folder);

// Makes a small file, or what takes its place: writes it under a temporary name, where remains of that may be, flushes
// and renames it. When it throws, nothing is left there. The caller flushes the folder.
void replace_file(const std::string& path, const std::string& temporary, std::string_view text, Disk& disk);

// Removes the edits, and leaves what is needed to begin anew. base.json goes first, and durably, so that at no moment
// there are other edits than there were, or none.
//
// Next to a base.json, a file with the name of a blob is one, whatever is left of it. Without one, only those are
// removed that begin as a blob does, or are empty: others may be somebody else's, and stay. So does all that is no
// regular file.
void remove_edits(const std::string& folder, Disk& disk);

// Whether there is a folder, which has nothing in it but what a sidecar that is being removed still has: no base.json.
bool is_remains_of_sidecar(const std::string& folder);

// Removes all of a sidecar; the lock is held. Files that are not of a sidecar stay, and the folder with them.
void remove_sidecar_files(const std::string& folder, Disk& disk);

}  // namespace onnxfs
