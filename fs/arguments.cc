#include "fs/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "core/bytes/utf8.h"
#include "fs/nearest.h"
#include "fs/standard_output.h"

namespace onnxfs {

namespace {

constexpr size_t columns = 80;

bool is_positional(const CLI::Option& option) { return option.get_positional(); }
bool takes_value(const CLI::Option& option) { return option.get_expected_max() > 0; }

// "MODEL|MNT"; "-o,--output FILE".
std::string left_side(const CLI::Option& option) {
  if (is_positional(option)) return option.get_name(true, false);
  const std::string& value = option.get_option_text();
  return option.get_name(false, true) + (value.empty() ? "" : " ") + value;
}

std::string usage(const CLI::App& app) {
  std::string text = fmt::format("Usage: {} [OPTIONS]", app.get_name());
  for (const CLI::Option* option : app.get_options()) {
    if (!is_positional(*option)) continue;
    const bool is_list = option->get_expected_max() > 1;
    const std::string word = option->get_name(true, false) + (is_list ? "..." : "");
    text += option->get_required() ? fmt::format(" {}", word) : fmt::format(" [{}]", word);
  }
  return text;
}

// Words in lines of which all but the first are indented.
std::string wrapped(std::string_view text, size_t indent) {
  std::string result;
  size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column != indent && column + 1 + word.size() > columns) {
      result.append("\n").append(indent, ' ');
      column = indent;
    }
    if (column != indent) result += ' ';
    column += word.size() + (column != indent ? 1 : 0);
    result += word;
  }
  return result;
}

std::string described(const CLI::App& app) {
  std::vector<const CLI::Option*> options = app.get_options();
  // The parser has its help first; arguments, and what is a command's own, are what is looked for.
  std::ranges::stable_sort(options, {}, [&app](const CLI::Option* option) {
    return is_positional(*option) ? 0 : option == app.get_help_ptr() ? 2 : 1;
  });
  size_t width = 0;
  for (const CLI::Option* option : options) width = std::max(width, left_side(*option).size());
  std::string text;
  for (const CLI::Option* option : options) {
    const std::string what = option == app.get_help_ptr() ? "Print this help" : option->get_description();
    text += fmt::format("  {:<{}}  {}\n", left_side(*option), width, wrapped(what, width + 4));
  }
  return text;
}

// The parser has names with their dashes or without.
const CLI::Option* option_that_begins(const CLI::App& app, std::string sentence) {
  sentence.erase(0, sentence.find_first_not_of('-'));
  for (const CLI::Option* option : app.get_options()) {
    std::string name = option->get_name();
    name.erase(0, name.find_first_not_of('-'));
    const char next = sentence.starts_with(name) ? sentence.c_str()[name.size()] : '\0';
    if (next == ':' || next == ' ') return option;
  }
  return nullptr;
}

std::string of_unexpected(const CLI::App& app, const std::string& word) {
  if (!word.starts_with('-') || word == "-") return fmt::format("\"{}\" is one argument too many", word);
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& known : option->get_lnames()) names.push_back("--" + known);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const bool is_long = name.starts_with("--");
  return fmt::format("there is no option {}{}", name, is_long ? did_you_mean(nearest(name, views, 1)) : "");
}

std::string of_excluded(const CLI::App& app, const std::string& otherwise) {
  for (const CLI::Option* option : app.get_options()) {
    for (const CLI::Option* excluded : option->get_excludes()) {
      if (option->count() != 0 && excluded->count() != 0) {
        return fmt::format("{} and {} cannot go together", option->get_name(), excluded->get_name());
      }
    }
  }
  return otherwise;
}

std::string of_value(const CLI::App& app, const std::string& sentence) {
  const CLI::Option* option = option_that_begins(app, sentence);
  if (option == nullptr) return sentence;
  if (!takes_value(*option)) return fmt::format("{} takes no value", option->get_name());
  if (option->count() > 1) return fmt::format("{} is given more than once", option->get_name());
  return fmt::format("{} needs a value: {}", option->get_name(), option->get_option_text());
}

// In words of ours; those of the parser tell how it works.
std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  std::string sentence = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto rest = app.remaining();
    return rest.empty() ? sentence : of_unexpected(app, rest.front());
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) return of_excluded(app, sentence);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr ||
      dynamic_cast<const CLI::ConversionError*>(&error) != nullptr)
    return of_value(app, sentence);
  return sentence;
}

// What a script passes of a variable that it never set. An empty -o would be none, and the model be written instead.
const CLI::Option* find_empty(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const bool may_stand_alone = option->get_expected_min() == 0;
    if (!may_stand_alone && std::ranges::find(option->results(), "") != option->results().end()) return option;
  }
  return nullptr;
}

}  // namespace

std::string help_text(const CLI::App& app) {
  return fmt::format("{}\n\n{}\n\n{}\n{}\n", app.get_description(), usage(app), described(app), app.get_footer());
}

std::string usage_line(std::string_view sentence, std::string_view command) {
  return fmt::format("onnxfs: {}{} {} --help\n", sentence, sentence.ends_with('?') ? " See" : "; see", command);
}

std::optional<int> parse_arguments(CLI::App& app, int count, char** arguments) {
  for (CLI::Option* option : app.get_options({})) {
    if (!takes_value(*option)) option->disable_flag_override();
  }
  try {
    app.parse(count, arguments);
    const CLI::Option* empty = find_empty(app);
    if (empty == nullptr) return std::nullopt;
    std::fputs(usage_line(fmt::format("{} is empty", empty->get_name()), app.get_name()).c_str(), stderr);
    return 2;
  } catch (const CLI::CallForHelp&) {
    print_out(help_text(app));
    return 0;
  } catch (const CLI::CallForVersion& version) {
    print_out(fmt::format("{}\n", version.what()));
    return 0;
  } catch (const CLI::ParseError& error) {
    std::fputs(usage_line(printable(complaint(app, error)), app.get_name()).c_str(), stderr);
    return 2;
  }
}

CLI::Validator whole_number(uint64_t least, uint64_t most) {
  const auto wrong = [least, most](const std::string& text) {
    uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (!text.empty() && error == std::errc() && stop == end && value >= least && value <= most) return std::string();
    if (most == std::numeric_limits<uint64_t>::max())
      return fmt::format("\"{}\" is no whole number of {} or more", text, least);
    return fmt::format("\"{}\" is no whole number from {} to {}", text, least, most);
  };
  return {wrong, ""};
}

CLI::Validator one_of(std::vector<std::string> words) {
  const auto wrong = [words = std::move(words)](const std::string& text) {
    if (std::ranges::find(words, text) != words.end()) return std::string();
    return fmt::format("\"{}\" is not one of {}", text, fmt::join(words, ", "));
  };
  return {wrong, ""};
}

CLI::Validator not_negative() {
  const auto wrong = [](const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool is_number = !text.empty() && text.find_first_not_of("0123456789+-.eE") == text.npos && *end == '\0';
    if (is_number && std::isfinite(value) && value >= 0) return std::string();
    return fmt::format("\"{}\" is no number of 0 or more", text);
  };
  return {wrong, ""};
}

CLI::Option* add_sidecar_option(CLI::App& app, std::string& folder) {
  return app.add_option("--sidecar", folder, "The folder that keeps the edits (MODEL.sidecar)")->option_text("DIR");
}

}  // namespace onnxfs
