#include <cstdio>
#include <exception>
#include <string_view>

#include "fs/command_table.h"
#include "fs/commands.h"
#include "fs/log.h"

namespace {

// mount(8) runs the program of a type of file system by the name mount.TYPE.
bool is_name_of_mount_helper(std::string_view program) {
  return program.substr(program.rfind('/') + 1).starts_with("mount.");
}

}  // namespace

int main(int count, char** arguments) {
  using namespace onnxfs;
  log_to_terminal();
  const bool for_mount = count > 0 && is_name_of_mount_helper(arguments[0]);
  const std::string_view word = count > 1 ? arguments[1] : "";
  const Command* command = for_mount ? nullptr : find_command(word);
  try {
    if (for_mount) return mount_helper(count, arguments);
    if (command != nullptr) return command->run(count - 1, arguments + 1);
    if (count == 2 && (word == "--help" || word == "-h")) return std::fputs(program_help().c_str(), stdout) < 0;
    return mount_command(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "onnxfs: %s\n", error.what());
    return command != nullptr ? command->trouble : 1;
  }
}
