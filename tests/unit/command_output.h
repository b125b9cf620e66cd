// Running a command of the program in this process.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace onnxfs::testing {

// Runs a command, which has to end with the status `expected`, and returns what it printed on standard output. What it
// throws is passed on.
inline std::string output_of(int (*command)(int, char**), std::vector<std::string> arguments, int expected = 0) {
  arguments.insert(arguments.begin(), "command");
  std::vector<char*> values;
  for (std::string& argument : arguments) values.push_back(argument.data());
  values.push_back(nullptr);
  ::testing::internal::CaptureStdout();
  int status = -1;
  try {
    status = command(static_cast<int>(arguments.size()), values.data());
  } catch (...) {
    ::testing::internal::GetCapturedStdout();
    throw;
  }
  std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(status, expected) << text;
  return text;
}

}  // namespace onnxfs::testing
