#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/views/json_lines.h"
#include "fs/arguments.h"
#include "fs/commands.h"
#include "fs/counted.h"
#include "fs/difference_report.h"
#include "fs/model_comparison.h"
#include "fs/progress_line.h"
#include "fs/standard_output.h"
#include "fs/usage_error.h"

namespace onnxfs {

namespace {

constexpr int same = 0, different = 1, trouble = 2;

struct DiffArguments {
  std::string a, b, sidecar_a, sidecar_b;
  std::vector<std::string> patterns;
  std::vector<PrefixMap> maps;
  Tolerance tolerance;
  bool of_edits = false;  // A without its edits, and with them
  bool as_json = false;
};

struct Counts {
  uint64_t pairs = 0, different = 0, only_a = 0, only_b = 0, troubled = 0;
  uint64_t unlike = 0;  // other bytes, but by the values no difference

  void add(const TensorComparison& tensor, const Tolerance& tolerance) {
    ++pairs;
    const bool is_different = tensor.is_different(tolerance);
    different += is_different;
    only_a += !tensor.b;
    only_b += !tensor.a;
    troubled += !tensor.trouble.empty();
    unlike += !is_different && tensor.difference && !tensor.difference->bytes_equal;
  }
};

std::string graph_summary(const ModelComparison::Graphs& graphs) {
  if (graphs.empty()) return "graph: same";
  std::string text = "graph: ";
  const auto add = [&text](size_t count, std::string_view what, std::string_view how) {
    if (count == 0) return;
    text += fmt::format("{}{} {}", text.ends_with(": ") ? "" : ", ", counted(count, what), how);
  };
  const auto add_all = [&add](const GraphDifference& difference, std::string_view what) {
    add(difference.changed.size(), what, "changed");
    add(difference.removed.size(), what, "only in A");
    add(difference.added.size(), what, "only in B");
  };
  add_all(graphs.nodes, "node");
  add_all(graphs.declarations, "declaration");
  return text;
}

std::string summary(const Counts& counts) {
  std::string text = fmt::format("{} of {} {}", counts.different, counted(counts.pairs, "tensor"),
                                 counts.pairs == 1 && counts.different == 1 ? "differs" : "differ");
  if (counts.only_a + counts.only_b != 0) {
    text += fmt::format(" ({} only in A, {} only in B)", counts.only_a, counts.only_b);
  }
  if (counts.unlike != 0) text += fmt::format(", {} in bytes only or within the tolerance", counts.unlike);
  if (counts.troubled != 0) text += fmt::format(", {} cannot be compared", counts.troubled);
  return text;
}

class Diff {
 public:
  explicit Diff(const DiffArguments& arguments)
      : arguments_(arguments),
        b_(arguments.of_edits ? EditedModel::open(arguments.a, arguments.sidecar_a, "onnxfs diff")
                              : EditedModel::open(arguments.b, arguments.sidecar_b, "onnxfs diff")),
        a_(arguments.of_edits ? EditedModel::without_edits(*b_)
                              : EditedModel::open(arguments.a, arguments.sidecar_a, "onnxfs diff")),
        comparison_(*a_, *b_, arguments.patterns, arguments.maps, arguments.tolerance) {}

  int run() {
    const bool with_graph = arguments_.patterns.empty();
    if (with_graph) {
      graphs_ = comparison_.graphs();
      header_ = comparison_.header();
    }
    begin(with_graph);
    compare_tensors();
    end(with_graph);
    if (counts_.troubled != 0) return trouble;
    const bool header_differs = std::ranges::any_of(header_, [](const HeaderDifference& it) { return it.counts; });
    return counts_.different != 0 || !graphs_.empty() || header_differs ? different : same;
  }

 private:
  void begin(bool with_graph) const {
    if (!arguments_.as_json) {
      print_out(
          fmt::format("{}{}{}", header_text(header_), graph_text(graphs_.declarations), graph_text(graphs_.nodes)));
      return;
    }
    print_out(fmt::format("{{\"a\":{},\"b\":{}", json_quote(a_->subject().model), json_quote(b_->subject().model)));
    if (with_graph) {
      print_out(fmt::format(",\n\"header\":{},\n\"declarations\":{},\n\"nodes\":{}", json_inline(header_json(header_)),
                            json_inline(graph_json(graphs_.declarations)), json_inline(graph_json(graphs_.nodes))));
    }
    print_out(",\n\"tensors\":[");
  }

  void compare_tensors() {
    uint64_t total = 0;
    for (const Pair& pair : comparison_.pairs()) total += comparison_.bytes(pair);
    Workers workers;
    ProgressLine line("comparing");
    workers.on_progress = [&](uint64_t done) { line.show(done, total); };
    for (const Pair& pair : comparison_.pairs()) {
      const TensorComparison tensor = comparison_.compare(pair, workers);
      counts_.add(tensor, arguments_.tolerance);
      print(tensor, line);
    }
  }

  // JSON has all that is not equal byte for byte.
  void print(const TensorComparison& tensor, ProgressLine& line) {
    const bool is_different = tensor.is_different(arguments_.tolerance);
    if (arguments_.as_json && !(tensor.difference && tensor.difference->bytes_equal && !is_different)) {
      line.wipe();
      print_out(
          fmt::format("{}\n{}", rows_++ == 0 ? "" : ",", json_inline(difference_json(tensor, arguments_.tolerance))));
    } else if (is_different && !arguments_.as_json) {
      line.wipe();
      print_out(fmt::format("{}{}", rows_++ == 0 ? difference_head() : "", difference_text(tensor)));
    }
    if (tensor.trouble.empty()) return;
    line.wipe();
    fmt::print(stderr, "onnxfs: {}\n", tensor.trouble);
  }

  void end(bool with_graph) const {
    if (arguments_.as_json) {
      print_out(fmt::format("\n],\n\"compared\":{},\"different\":{}}}\n", counts_.pairs, counts_.different));
      return;
    }
    print_out(
        fmt::format("{}{}{}\n", summary(counts_), with_graph ? "; " : "", with_graph ? graph_summary(graphs_) : ""));
  }

  const DiffArguments& arguments_;
  std::shared_ptr<const EditedModel> b_, a_;
  ModelComparison comparison_;
  ModelComparison::Graphs graphs_;
  std::vector<HeaderDifference> header_;
  Counts counts_;
  uint64_t rows_ = 0;
};

// "OLD=NEW".
std::vector<PrefixMap> parse_maps(const std::vector<std::string>& texts) {
  std::vector<PrefixMap> maps;
  for (const std::string& text : texts) {
    const size_t sign = text.find('=');
    if (sign == std::string::npos || sign == 0) throw UsageError(fmt::format("--map {}: OLD=NEW is wanted", text));
    maps.push_back({text.substr(0, sign), text.substr(sign + 1)});
  }
  return maps;
}

}  // namespace

int diff_command(int count, char** argument_values) {
  DiffArguments arguments;
  std::vector<std::string> maps;
  CLI::App app("Compares two models: header, nodes, and tensors by their paths and values.", "onnxfs diff");
  app.add_option("A", arguments.a, "A model file, or the folder that it is mounted at")->required();
  app.add_option("B", arguments.b, "The other one; not with --edits");
  app.add_option("GLOB", arguments.patterns, "Only these tensors, by path or name; not header, nodes");
  app.add_option("--map", maps, "What begins with OLD in A begins with NEW in B")
      ->option_text("OLD=NEW")
      ->allow_extra_args(false);
  app.add_option("--rtol", arguments.tolerance.relative, "b is as a when |b - a| <= ATOL + RTOL x |a| (0)")
      ->option_text("RTOL")
      ->check(not_negative());
  app.add_option("--atol", arguments.tolerance.absolute, "The other part of it (0)")
      ->option_text("ATOL")
      ->check(not_negative());
  app.add_flag("--equal-nan", arguments.tolerance.equal_nan, "NaN is as NaN, whatever its bits");
  app.add_flag("--edits", arguments.of_edits, "What the edits of A change: A without them, and with them");
  app.add_flag("--json", arguments.as_json, "Print it as JSON");
  app.add_option("--sidecar-a", arguments.sidecar_a, "The folder with A's edits (A.sidecar)")->option_text("DIR");
  app.add_option("--sidecar-b", arguments.sidecar_b, "The folder with B's edits (B.sidecar)")->option_text("DIR");
  app.footer(
      "With a tolerance, another dtype is no difference; of complex elements, the parts\n"
      "count. Exit status: 0 same, 1 different, 2 trouble.\n\n"
      "Example:\n  onnxfs diff resnet50.onnx resnet50-fp16.onnx --rtol 1e-3 --atol 1e-5");
  if (const auto status = parse_arguments(app, count, argument_values)) return *status;
  if (arguments.of_edits && !arguments.b.empty()) {
    arguments.patterns.insert(arguments.patterns.begin(), std::exchange(arguments.b, ""));
  }
  if (!arguments.of_edits && arguments.b.empty()) {
    throw UsageError(fmt::format("B is required: the model to compare {} with, or --edits", arguments.a));
  }
  arguments.maps = parse_maps(maps);
  return Diff(arguments).run();
}

}  // namespace onnxfs
