#include "fs/arguments.h"
#include "fs/commands.h"
#include "fs/standard_output.h"
#include "fs/tensor_list.h"
#include "fs/tensor_selection.h"
#include "fs/terminal.h"

namespace onnxfs {

namespace {

struct Arguments {
  std::string path;
  std::string sidecar;
  std::vector<std::string> patterns;
  std::string order_word;
  std::optional<ListOrder> order;
  bool is_long = false;
  bool only_totals = false;
  bool only_paths = false;
  bool as_json = false;
};

// A line each, and nothing that would take time: shells ask for them while somebody types.
std::string paths_text(const EditedModel& model, const std::vector<std::string>& patterns) {
  std::string text;
  const auto path_of = model.tree().paths_for_listing();
  for (const uint32_t tensor :
       select_tensors(model.model()->catalog(), model.tree(), patterns, model.subject().model)) {
    text.append(path_of(tensor)).append("\n");
  }
  return text;
}

std::string text_of(const Arguments& arguments) {
  const auto model = EditedModel::open(arguments.path, arguments.sidecar, "onnxfs ls");
  if (arguments.only_paths) return paths_text(*model, arguments.patterns);
  const TensorList list = list_tensors(*model, arguments.patterns, arguments.order.value_or(ListOrder::file));
  // Of sums, the largest are what they are asked for.
  const ListOrder order = arguments.order.value_or(ListOrder::size);
  if (arguments.as_json) return list_json(*model, list, order, arguments.only_totals);
  const auto columns = terminal_columns(STDOUT_FILENO);
  if (arguments.only_totals) return drawn_totals_text(list, order, columns);
  std::string text = list_text(*model, list, arguments.is_long, columns);
  if (!text.empty()) text += '\n';
  return text += totals_text(list);
}

}  // namespace

int ls_command(int count, char** argument_values) {
  Arguments arguments;
  CLI::App app("Lists the tensors of a model: path, dtype, shape, size and storage.", "onnxfs ls");
  app.add_option("MODEL|MNT", arguments.path, "A model file, or the folder that it is mounted at")->required();
  app.add_option("GLOB", arguments.patterns, "Tensors or folders, by path or name; * matches / too")->expected(-1);
  auto* is_long = app.add_flag("-l,--long", arguments.is_long, "Exact sizes, and where the bytes stand");
  auto* totals = app.add_flag("--totals", arguments.only_totals, "Sums by dtype and by layer instead of tensors");
  app.add_option("--sort", arguments.order_word, "By path, or the largest first; else as in the file")
      ->option_text("path|size")
      ->check(one_of({"path", "size"}));
  auto* as_json = app.add_flag("--json", arguments.as_json, "Print it as JSON");
  app.add_flag("--paths", arguments.only_paths, "Nothing but the paths, a line each")
      ->excludes(is_long)
      ->excludes(totals)
      ->excludes(as_json);
  add_sidecar_option(app, arguments.sidecar);
  app.footer("Example:\n  onnxfs ls resnet50.onnx 'initializers/layer1.*' --sort size");
  if (const auto status = parse_arguments(app, count, argument_values)) return *status;
  if (!arguments.order_word.empty())
    arguments.order = arguments.order_word == "path" ? ListOrder::path : ListOrder::size;
  print_out(text_of(arguments));
  return 0;
}

}  // namespace onnxfs
