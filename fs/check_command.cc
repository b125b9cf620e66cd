#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/views/json_lines.h"
#include "fs/arguments.h"
#include "fs/commands.h"
#include "fs/counted.h"
#include "fs/examination.h"
#include "fs/model_walk.h"
#include "fs/progress_line.h"
#include "fs/subject.h"

namespace onnxfs {

namespace {

namespace files = std::filesystem;

enum ExitStatus { sound = 0, unsound = 1, trouble = 2 };

// Examines files one after another, and prints what is wrong with each when it is known. Keeps nothing of them but
// counts.
class Checker {
 public:
  Checker(bool as_json, bool names_files) : as_json_(as_json), names_files_(names_files) {}

  void check(const std::string& path) {
    ++files_;
    const std::string what =
        names_files_ ? fmt::format("checking file {}, {}", files_, printable(path)) : std::string("checking");
    if (names_files_) progress_.say(what);
    try {
      const auto hashing = [&](uint64_t done, uint64_t total) {
        progress_.say(progress_text(what, done, total, progress_.seconds()));
      };
      print(path, Examination(path, hashing));
    } catch (const Error& error) {
      ++unexamined_;
      report_trouble(error.what());
      if (as_json_) print_json(path, false, "", json_quote(error.what()));
    }
    std::fflush(stdout);
  }

  void report_trouble(const std::string& sentence) {
    ++troubles_;
    progress_.wipe();
    std::fprintf(stderr, "onnxfs: %s\n", printable(sentence).c_str());
  }

  // The last line, about a whole folder.
  void summarise(const std::string& folder) {
    progress_.wipe();
    if (files_ == 0) report_trouble(fmt::format("there is no .onnx and no .pb file beneath {}", folder));
    const uint64_t with_problems = files_ - sound_ - unexamined_;
    if (as_json_) {
      fmt::print("{{\"files\": {}, \"sound\": {}, \"with_problems\": {}, \"unexamined\": {}}}\n", files_, sound_,
                 with_problems, unexamined_);
    } else {
      fmt::print("{}: {} sound, {} with problems, {} that cannot be examined\n", counted(files_, "file"), sound_,
                 with_problems, unexamined_);
    }
  }

  ExitStatus status() const {
    if (troubles_ != 0) return trouble;
    return sound_ == files_ ? sound : unsound;
  }

 private:
  void print(const std::string& path, const Examination& examined) {
    progress_.wipe();
    sound_ += examined.is_sound();
    if (as_json_) {
      std::string problems;
      for (const Finding& finding : examined.findings()) {
        const std::string tensor = examined.tensor_path(finding);
        fmt::format_to(std::back_inserter(problems), "{}{{\"tensor\": {}, \"text\": {}, \"offset\": {}}}",
                       problems.empty() ? "" : ", ", tensor.empty() ? "null" : json_quote(tensor),
                       json_quote(finding.text), finding.offset ? fmt::to_string(*finding.offset) : "null");
      }
      return print_json(path, examined.is_sound(), problems, "null");
    }
    const std::string prefix = names_files_ ? printable(path) + ": " : "";
    for (const Finding& finding : examined.findings()) fmt::print("{}{}\n", prefix, examined.line(finding));
  }

  static void print_json(const std::string& path, bool is_sound, const std::string& problems, const std::string& why) {
    fmt::print("{{\"file\": {}, \"sound\": {}, \"problems\": [{}], \"trouble\": {}}}\n", json_quote(path), is_sound,
               problems, why);
  }

  const bool as_json_;
  const bool names_files_;
  ProgressLine progress_{"checking"};
  uint64_t files_ = 0;
  uint64_t sound_ = 0;
  uint64_t unexamined_ = 0;
  uint64_t troubles_ = 0;  // those, and folders that cannot be listed
};

}  // namespace

int check_command(int count, char** argument_values) {
  std::string path;
  bool as_json = false;
  CLI::App app(
      "Prints what is wrong or odd in a model, one line each, as problems.txt in its mount has it; of a folder, in "
      "every\n"
      ".onnx and .pb file beneath it, with the file's path before each line, and a last line of counts.",
      "onnxfs check");
  app.add_option("MODEL|FOLDER|MNT", path,
                 "A model file (.onnx), a file of values (.pb), a folder of them, or where one of these is mounted")
      ->required();
  app.add_flag("--json", as_json, "Print a JSON object a line: one a file, and of a folder a last one with the counts");
  app.footer(
      "Looks at the files on disk: edits that are not committed are not in them. Data files that the model has a\n"
      "checksum of are read and hashed; other weights are read only where they cannot be counted otherwise. Links to\n"
      "folders, the sidecars of models, and mounts of onnxfs beneath a folder are passed over.\n"
      "Exit status: 0 nothing is wrong, 1 something is, 2 a file cannot be examined (all others are).\n\n"
      "Examples:\n  onnxfs check resnet50.onnx\n  onnxfs check --json models | jq -r 'select(.sound == false).file'");
  if (const auto status = parse_arguments(app, count, argument_values)) return *status;
  const std::string subject = path_on_disk(path);
  std::error_code ignored;
  const bool is_folder = files::is_directory(subject, ignored);
  Checker checker(as_json, is_folder);
  if (is_folder) {
    walk_models(subject, {[&](const std::string& file) { checker.check(file); },
                          [&](const std::string& sentence) { checker.report_trouble(sentence); }});
    checker.summarise(subject);
  } else {
    checker.check(subject);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail(EIO, "what was found cannot be printed");
  return checker.status();
}

}  // namespace onnxfs
