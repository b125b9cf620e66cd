// What the commands share in taking their arguments, in their help, and in what they say of a wrong command line.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onnxfs {

// Parses a command's arguments. When the command is not to go on (it was asked for help, or the words are wrong), the
// exit status: 0, or 2 after one line that says what is wrong and what is allowed. Throws Error when the help
// cannot be printed.
//
// An option that takes a value has a word for it as its option_text, and a check of those below unless any text is
// right: a value that the parser fails to convert is told in the parser's words.
std::optional<int> parse_arguments(CLI::App& app, int count, char** arguments);

// The line that is told of a wrong command line: the sentence, and where to read on.
std::string usage_line(std::string_view sentence, std::string_view command);

// A command's help, at most 80 columns wide: what it does, its usage, its arguments and options, and the footer, whose
// lines are kept as they are.
std::string help_text(const CLI::App& app);

// A number in decimal digits alone, within [least, most].
CLI::Validator whole_number(uint64_t least, uint64_t most);

// One of some words.
CLI::Validator one_of(std::vector<std::string> words);

// A finite number that is not negative.
CLI::Validator not_negative();

// `--sidecar DIR`, which nearly all commands have.
CLI::Option* add_sidecar_option(CLI::App& app, std::string& folder);

}  // namespace onnxfs
