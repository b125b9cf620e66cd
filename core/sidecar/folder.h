// The names in a sidecar's folder, and how it comes and goes.
//
//   base.json       what the edits are of (base.h); without it, whatever else there is says nothing
//   NNNNNNNN.blob   the records (record.h), in the order of their numbers
//   lock            held by who writes (lock.h)
//   commit.journal  there while files are renamed by a commit
#pragma once

#include <string>
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

// Makes the folder, if there is none. Returns whether it did.
bool make_sidecar_folder(const std::string& folder, Disk& disk);

// Removes the edits, and leaves what is needed to begin anew. base.json goes first, and durably, so that at no moment
// there are other edits than there were, or none.
void remove_edits(const std::string& folder, Disk& disk);

// Removes all of a sidecar; the lock is held. Files that are not of a sidecar stay, and the folder with them.
void remove_sidecar_files(const std::string& folder, Disk& disk);

}  // namespace onnxfs
