#include <cerrno>
#include <cstdio>

#include "core/bytes/error.h"
#include "core/onnx/model.h"
#include "core/views/listing.h"
#include "fs/arguments.h"
#include "fs/commands.h"
#include "fs/tree.h"

namespace onnxfs {

namespace {

// What only reading a payload shows: the counts of long varint fields.
void read_what_is_uncounted(const Model& model) {
  const auto& tensors = model.catalog().tensors();
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].entries_counted) continue;
    try {
      model.payload(i);
    } catch (const Error& error) {
      if (error.code() != EIO) throw;  // it is a finding by now
    }
  }
}

}  // namespace

int check_command(int count, char** argument_values) {
  std::string path;
  CLI::App app("Prints what is wrong or odd in a model, one line each, as problems.txt in its mount has it.",
               "onnxfs check");
  app.add_option("MODEL", path, "The model file (.onnx), or a file of values (.pb)")->required();
  app.footer(
      "Exit status: 0 nothing is wrong, 1 something is, 2 the file cannot be examined.\n\n"
      "Example:\n  onnxfs check resnet50.onnx");
  if (const auto status = parse_arguments(app, count, argument_values)) return *status;
  const auto model = Model::open(path);
  read_what_is_uncounted(*model);
  const Tree tree(model->catalog());
  const std::string problems = problems_txt(*model, tree.paths_for_listing());
  std::fwrite(problems.data(), 1, problems.size(), stdout);
  return problems.empty() ? 0 : 1;
}

}  // namespace onnxfs
