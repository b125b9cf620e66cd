#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>

#include "core/bytes/utf8.h"
#include "fs/arguments.h"
#include "fs/command_table.h"
#include "fs/commands.h"
#include "fs/log.h"
#include "fs/open_files.h"
#include "fs/standard_output.h"
#include "fs/usage_error.h"

namespace {

using namespace onnxfs;

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

// `onnxfs help [COMMAND]`.
int help(int count, char** arguments) {
  if (count == 2) {
    print_out(program_help());
    return 0;
  }
  const Command* command = count == 3 ? find_command(arguments[2]) : nullptr;
  if (command == nullptr) {
    const std::string word = arguments[2];
    throw UsageError(count > 3 ? "help is for one command"
                               : fmt::format("{} is no command{}", word, meant_command(word)));
  }
  std::string name(command->name), flag("--help");
  char* words[] = {name.data(), flag.data(), nullptr};
  return command->run(2, words);
}

int run(int count, char** arguments, const Command* command) {
  const std::string word = count > 1 ? arguments[1] : "";
  if (command != nullptr) return command->run(count - 1, arguments + 1);
  if (count < 2) {
    std::fputs(program_help().c_str(), stderr);
    return 2;
  }
  if (count == 2 && (word == "--help" || word == "-h")) return help(count, arguments);
  if (word == "help") return help(count, arguments);
  if (is_mistyped(word))
    throw UsageError(fmt::format("{} is neither a command nor a file{}", word, meant_command(word)));
  return mount_command(count, arguments);
}

}  // namespace

int main(int count, char** arguments) {
  occupy_standard_streams();
  ::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error of the write that meets it, as any other
  log_to_terminal();
  allow_many_files();
  const bool for_mount = count > 0 && is_name_of_mount_helper(arguments[0]);
  const Command* command = for_mount || count < 2 ? nullptr : find_command(arguments[1]);
  try {
    return for_mount ? mount_helper(count, arguments) : run(count, arguments, command);
  } catch (const UsageError& error) {
    const std::string name = command == nullptr ? "onnxfs" : fmt::format("onnxfs {}", command->name);
    std::fputs(usage_line(error.what(), name).c_str(), stderr);
    return 2;
  } catch (const std::bad_alloc&) {
    std::fputs("onnxfs: there is not enough memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "onnxfs: %s\n", error.what());
  }
  return command != nullptr ? command->trouble : 1;
}
