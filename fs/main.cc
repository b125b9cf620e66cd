#include <cstdio>
#include <exception>
#include <string_view>

#include "fs/commands.h"
#include "fs/log.h"

int main(int count, char** arguments) {
  using namespace onnxfs;
  log_to_terminal();
  const std::string_view command = count > 1 ? arguments[1] : "";
  try {
    if (command == "check") return check_command(count - 1, arguments + 1);
    if (command == "commit") return commit_command(count - 1, arguments + 1);
    if (command == "discard") return discard_command(count - 1, arguments + 1);
    if (command == "status") return status_command(count - 1, arguments + 1);
    if (command == "umount" || command == "unmount") return umount_command(count - 1, arguments + 1);
    if (command == "mount") return mount_command(count - 1, arguments + 1);
    return mount_command(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "onnxfs: %s\n", error.what());
    return command == "check" ? 2 : 1;  // of check, 1 is an answer
  }
}
