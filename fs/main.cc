#include <cstdio>
#include <exception>
#include <string_view>

#include "fs/command_table.h"
#include "fs/commands.h"
#include "fs/log.h"

namespace {

using namespace onnxfs;

// mount(8) runs the program of a type of file system by the name mount.TYPE.
bool is_name_of_mount_helper(std::string_view program) {
  return program.substr(program.rfind('/') + 1).starts_with("mount.");
}

int run(int count, char** arguments) {
  if (count > 0 && is_name_of_mount_helper(arguments[0])) return mount_helper(count, arguments);
  const std::string_view word = count > 1 ? arguments[1] : "";
  if (count == 2 && (word == "--help" || word == "-h")) {
    std::fputs(program_help().c_str(), stdout);
    return 0;
  }
  if (const Command* command = find_command(word)) return command->run(count - 1, arguments + 1);
  return mount_command(count, arguments);
}

}  // namespace

int main(int count, char** arguments) {
  log_to_terminal();
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "onnxfs: %s\n", error.what());
    const Command* command = find_command(count > 1 ? arguments[1] : "");
    return command != nullptr ? command->trouble : 1;
  }
}
