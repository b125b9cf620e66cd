#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/bytes/utf8.h"
#include "fs/command_table.h"
#include "fs/commands.h"
#include "fs/log.h"
#include "fs/open_files.h"

namespace {

// mount(8) runs the program of a type of file system by the name mount.TYPE.
bool is_name_of_mount_helper(std::string_view program) {
  return program.substr(program.rfind('/') + 1).starts_with("mount.");
}

// A word that is no path to look at, and names nothing: a command, mistyped, rather than a model.
bool is_mistyped(const std::string& word) {
  std::error_code ignored;
  return !word.empty() && !word.starts_with('-') && word.find_first_of("./") == std::string::npos &&
         !std::filesystem::exists(word, ignored);
}

// What a program starts without, the files that it opens first would be: it would write its words into somebody's
// edits. Reading and writing such a one fails as that of a closed one does.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int main(int count, char** arguments) {
  using namespace onnxfs;
  occupy_standard_streams();
  log_to_terminal();
  allow_many_files();
  const bool for_mount = count > 0 && is_name_of_mount_helper(arguments[0]);
  const std::string word = count > 1 ? arguments[1] : "";
  const Command* command = for_mount ? nullptr : find_command(word);
  try {
    if (for_mount) return mount_helper(count, arguments);
    if (command != nullptr) return command->run(count - 1, arguments + 1);
    if (count == 2 && (word == "--help" || word == "-h")) return std::fputs(program_help().c_str(), stdout) < 0;
    if (is_mistyped(word)) {
      std::fprintf(stderr, "onnxfs: %s is neither a command nor a file; see onnxfs --help\n", printable(word).c_str());
      return 2;
    }
    return mount_command(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "onnxfs: %s\n", error.what());
    return command != nullptr ? command->trouble : 1;
  }
}
