#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/views/json_lines.h"
#include "fs/arguments.h"
#include "fs/commands.h"
#include "fs/counted.h"
#include "fs/examination.h"
#include "fs/model_walk.h"
#include "fs/progress_line.h"
#include "fs/standard_output.h"
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
    std::optional<Examination> examined;
    std::string why;
    try {
      const auto hashing = [&](uint64_t done, uint64_t total) {
        progress_.say(progress_text(what, done, total, progress_.seconds()));
      };
      examined.emplace(path, hashing);
    } catch (const Error& error) {
      why = error.what();
    }
    if (examined) return print(path, *examined);
    ++unexamined_;
    report_trouble(why);
    if (as_json_) print_json(path, false, "", json_quote(why));
  }

  void report_trouble(const std::string& sentence) {
    ++troubles_;
    progress_.wipe();
    std::fprintf(stderr, "onnxfs: %s\n", printable(sentence).c_str());
  }

  // Every model beneath it.
  void check_folder(const std::string& folder) {
    const uint64_t before = files_;
    walk_models(folder, {[this](const std::string& file) { check(file); },
                         [this](const std::string& sentence) { report_trouble(sentence); }});
    progress_.wipe();
    if (files_ == before) report_trouble(fmt::format("there is no .onnx and no .pb file beneath {}", folder));
  }

  // The last line, where there may be several files.
  void summarise() {
    progress_.wipe();
    const uint64_t with_problems = files_ - sound_ - unexamined_;
    if (as_json_) {
      print_out(fmt::format("{{\"files\": {}, \"sound\": {}, \"with_problems\": {}, \"unexamined\": {}}}\n", files_,
                            sound_, with_problems, unexamined_));
    } else {
      print_out(fmt::format("{}: {} sound, {} with problems, {} that cannot be examined\n", counted(files_, "file"),
                            sound_, with_problems, unexamined_));
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
    std::string text;
    for (const Finding& finding : examined.findings()) {
      text.append(prefix).append(examined.line(finding)).append("\n");
    }
    print_out(text);
  }

  static void print_json(const std::string& path, bool is_sound, const std::string& problems, const std::string& why) {
    print_out(fmt::format("{{\"file\": {}, \"sound\": {}, \"problems\": [{}], \"trouble\": {}}}\n", json_quote(path),
                          is_sound, problems, why));
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
  std::vector<std::string> paths;
  bool as_json = false;
  CLI::App app("Prints what is wrong or odd in models, a line each, as problems.txt in a mount.", "onnxfs check");
  app.add_option("MODEL|FOLDER|MNT", paths, "Models (.onnx), values (.pb), folders of them, or mounts")->required();
  app.add_flag("--json", as_json, "A JSON object a line: one a file, and a last one of counts");
  app.footer(
      "Of a folder or several files, lines begin with the file's path, and the last has\n"
      "counts. Looks at files on disk, without edits. Data files are hashed where the\n"
      "model has a checksum of them. Links to folders, sidecars and mounts beneath a\n"
      "folder are passed over.\n"
      "Exit status: 0 nothing is wrong, 1 something is, 2 a file cannot be examined.\n\n"
      "Examples:\n"
      "  onnxfs check resnet50.onnx\n"
      "  onnxfs check --json models | jq -r 'select(.sound == false).file'");
  if (const auto status = parse_arguments(app, count, argument_values)) return *status;
  const auto is_folder = [](const std::string& path) {
    std::error_code ignored;
    return files::is_directory(path, ignored);
  };
  for (std::string& path : paths) path = path_on_disk(path);
  const bool are_many = paths.size() > 1 || is_folder(paths.front());
  Checker checker(as_json, are_many);
  for (const std::string& path : paths) is_folder(path) ? checker.check_folder(path) : checker.check(path);
  if (are_many) checker.summarise();
  return checker.status();
}

}  // namespace onnxfs
