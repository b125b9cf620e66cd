#include "fs/command_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace onnxfs {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(CommandTable, CommandsAreFoundByTheirNames) {
  for (const Command& command : commands()) EXPECT_EQ(find_command(command.name), &command) << command.name;
  EXPECT_EQ(find_command("unmount"), find_command("umount"));
  for (const char* name : {"", "moun", "mounts", "--help", "./check"}) EXPECT_EQ(find_command(name), nullptr) << name;
}

TEST(CommandTable, AMistypedNameIsNearAnother) {
  EXPECT_EQ(meant_command("lst"), "; did you mean ls?");
  EXPECT_EQ(meant_command("stat"), "; did you mean stats?");
  EXPECT_EQ(meant_command("comit"), "; did you mean commit?");
  EXPECT_EQ(meant_command("Chekc"), "; did you mean check?");
  EXPECT_EQ(meant_command("resnet50"), "");
  EXPECT_EQ(meant_command(""), "");
}

TEST(CommandTable, OneIsAnAnswerOfCheck) {
  EXPECT_EQ(find_command("check")->trouble, 2);
  EXPECT_EQ(find_command("mount")->trouble, 1);
}

TEST(CommandTable, HelpHasALineForEachCommandAndFitsAScreen) {
  const auto lines = lines_of(program_help());
  EXPECT_LE(lines.size(), 24u);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
  for (const Command& command : commands()) {
    const std::string start = "  " + std::string(command.name) + " ";
    EXPECT_EQ(std::ranges::count_if(lines, [&](const std::string& line) { return line.starts_with(start); }), 1)
        << command.name;
  }
}

}  // namespace
}  // namespace onnxfs
