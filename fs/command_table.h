#pragma once

#include <span>
#include <string>
#include <string_view>

namespace onnxfs {

// A command of the program, as main dispatches to it and as `onnxfs --help` lists it.
struct Command {
  std::string_view name;
  std::string_view arguments;    // what follows the name, in a few words; options are left to the command's own help
  std::string_view description;  // half a line: what it does
  int (*run)(int count, char** arguments);
  int trouble = 1;  // the exit status of an Error; 2 where 1 is an answer, as of cmp
};

// In the order in which a person needs them.
std::span<const Command> commands();

// The command of that name, or nullptr. `unmount` is another name for `umount`.
const Command* find_command(std::string_view name);

// "; did you mean NAME?" of a word that is nearly the name of a command; "" of any other.
std::string meant_command(std::string_view word);

// What `onnxfs --help` prints: every command, in a screen of 24 lines of 80 characters.
std::string program_help();

}  // namespace onnxfs
