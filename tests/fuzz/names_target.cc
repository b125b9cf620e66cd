#include <algorithm>

#include "core/bytes/utf8.h"
#include "fs/layout.h"
#include "fs/names.h"
#include "tests/fuzz/model_check.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/workspace.h"
#include "tests/unit/models.h"

namespace onnxfs::fuzz {

namespace {

void check_components(std::string_view name) {
  const std::vector<std::string> components = path_components(name);
  require(!components.empty(), "a name without a path");
  for (const std::string& part : components) {
    require(!part.empty() && part != "." && part != ".." && part.size() <= 200, "a component that is none: {}",
            printable(part));
    require(part.find('/') == std::string::npos && is_utf8(part) && printable(part) == part,
            "a component that cannot be written: {}", printable(part));
    // What was changed stays what it became.
    require(path_components(part) == std::vector{part}, "the path of {} is another one", part);
  }
}

}  // namespace

// The input is names, a line each. Each stands for a path that can be opened, and in a model whose tensors, nodes,
// attributes and functions have these names, no two things have one path (check_views sees to that).
void run_names(std::string_view input) {
  static const Workspace workspace;
  std::vector<std::string_view> names;
  for (size_t begin = 0; begin <= input.size() && names.size() < 40;) {
    const size_t end = std::min(input.find('\n', begin), input.size());
    names.push_back(input.substr(begin, end - begin));
    begin = end + 1;
  }
  std::vector<testing::Message> tensors, nodes;
  testing::Message functions;
  for (size_t i = 0; i < names.size(); ++i) {
    check_components(names[i]);
    const auto value = [&](std::string_view name) {
      return testing::Message().bytes(1, name).message(5, testing::scalar("")).varint(20, 4);
    };
    const auto nested = [&](std::string_view name) {
      return testing::Message().bytes(1, name).message(6, testing::graph({testing::scalar(names[0])})).varint(20, 5);
    };
    const std::string_view next = names[(i + 1) % names.size()];
    switch (i % 4) {
      case 0: tensors.push_back(testing::scalar(names[i])); break;
      case 1: nodes.push_back(testing::node("Op", {}, {std::string(next)}, names[i]).message(5, value(next))); break;
      case 2:
        nodes.push_back(
            testing::node("If", {}, {std::string(names[i])}).message(5, nested(next)).message(5, value(next)));
        break;
      default:
        functions.message(25, testing::Message()
                                  .bytes(1, names[i])
                                  .bytes(10, next)
                                  .message(7, testing::node("Op", {}, {}, names[i]).message(5, value(names[i]))));
    }
  }
  testing::Message graph = testing::graph(tensors);
  for (const testing::Message& node : nodes) graph.message(1, node);
  const std::string path = workspace.write("model.onnx", testing::model(graph).append(functions.str()).str());
  std::shared_ptr<const Model> model;
  require(accepted([&] { model = Model::open(path); }), "names make a model unsound");
  check_views(model);
}

std::vector<std::string> seeds_of_names() {
  return {
      "encoder/layer.0/W\nencoder/layer.0/W\n/encoder/layer.0/W\nencoder",
      "a\na.bin/x\na/x\na.json\na@2\na@2.bin\na@3\na",
      ".\n..\n/\n\n//\n./.\n%2E\n%2E%2E\nunnamed",
      std::string(250, 'x') + "\n" + std::string(199, 'y') + "\xc3\xa4\xc3\xa4\n" + std::string(198, 'z') + "\x01\x02",
      "\xff\xfe\n\xed\xa0\x80\n\xc2\x85\x7f\t\n\xe4\xbd\xa0\xe5\xa5\xbd",
      "values\nindices\n0\nattributes\nsubgraphs\nnode_0\nnode_1\ninitializers\ndefaults\nX.Y:Z\nX\nY:Z",
  };
}

}  // namespace onnxfs::fuzz
