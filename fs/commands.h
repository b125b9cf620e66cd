#pragma once

#include <string>

namespace onnxfs {

struct CommitOptions;

// The commands of the program, as command_table.h lists them: each parses its own arguments (the command's name is the
// first), and returns the exit status. Errors are thrown as Error for main to print.
int mount_command(int count, char** arguments);
int umount_command(int count, char** arguments);
int check_command(int count, char** arguments);
int commit_command(int count, char** arguments);
int diff_command(int count, char** arguments);
int discard_command(int count, char** arguments);
int export_command(int count, char** arguments);
int ls_command(int count, char** arguments);
int stats_command(int count, char** arguments);
int status_command(int count, char** arguments);

// What mount(8) runs as mount.fuse.onnxfs, with its conventions: MODEL MNT [-sfnv] [-o OPTIONS] [-t TYPE]; -f, of fake,
// mounts nothing.
int mount_helper(int count, char** arguments);

// What `commit` does once its arguments are parsed. Without a sidecar in the options, the model's own.
int commit_and_report(const std::string& model, CommitOptions options);

}  // namespace onnxfs
