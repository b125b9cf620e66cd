#pragma once

#include <CLI/CLI.hpp>

#include <cstdio>
#include <optional>

namespace onnxfs {

// Parses a command's arguments. When the command is not to go on (it was asked for help, or the words are wrong), the
// exit status: 0, or 2 after one line that says what is wrong.
inline std::optional<int> parse_arguments(CLI::App& app, int count, char** arguments) {
  try {
    app.parse(count, arguments);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "onnxfs: %s; see %s --help\n", error.what(), app.get_name().c_str());
    return 2;
  }
}

}  // namespace onnxfs
