#include "fs/command_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "fs/commands.h"
#include "fs/nearest.h"

namespace onnxfs {

namespace {

constexpr std::array table{
    Command{"mount", "MODEL MNT", "mount it; the word mount may be left out", mount_command},
    Command{"umount", "MNT", "unmount a model", umount_command},
    Command{"status", "MODEL|MNT", "list the edits", status_command},
    Command{"commit", "MODEL", "write the edits into the model", commit_command},
    Command{"discard", "MODEL [GLOB...]", "drop edits", discard_command},
    Command{"ls", "MODEL|MNT [GLOB...]", "list the tensors", ls_command},
    Command{"stats", "MODEL|MNT [GLOB...]", "describe the numbers in tensors", stats_command},
    Command{"diff", "A B [GLOB...]", "compare two models", diff_command, 2},
    Command{"export", "MODEL|MNT OUT", "write it with its tensors stored elsewhere", export_command},
    Command{"check", "MODEL|FOLDER...", "print what is wrong or odd in models", check_command, 2},
};

}  // namespace

std::span<const Command> commands() { return table; }

const Command* find_command(std::string_view name) {
  if (name == "unmount") name = "umount";
  const auto found = std::ranges::find(table, name, &Command::name);
  return found == table.end() ? nullptr : &*found;
}

std::string meant_command(std::string_view word) {
  std::vector<std::string_view> names{"unmount", "help"};
  for (const Command& command : commands()) names.push_back(command.name);
  return did_you_mean(nearest(word, names, 2));
}

std::string program_help() {
  std::string text =
      "Mounts an ONNX model as a folder in which each tensor is a file.\n"
      "Usage: onnxfs MODEL MNT [-o OPTIONS] [-f] [--sidecar DIR]\n"
      "       onnxfs COMMAND ...\n\n";
  for (const Command& command : commands()) {
    text += fmt::format("  {:<8} {:<24} {}\n", command.name, command.arguments, command.description);
  }
  text +=
      "\n`onnxfs help COMMAND` has a command's options, onnxfs(1) everything.\n"
      "`onnxfs --version` prints the version.\n\n"
      "Example:\n"
      "  onnxfs resnet50.onnx mnt && ls mnt/initializers && onnxfs umount mnt\n";
  return text;
}

}  // namespace onnxfs
