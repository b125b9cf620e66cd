// Files that are opened as models, or as values.
#include "tests/fuzz/model_check.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/workspace.h"
#include "tests/unit/random_model.h"

namespace onnxfs::fuzz {

namespace {

using testing::Message;

void run_file(std::string_view name, std::string_view input) {
  static const Workspace workspace;
  std::shared_ptr<const Model> model;
  const std::string path = workspace.write(name, input);
  if (accepted([&] { model = Model::open(path); })) check_views(model);
}

// With what RandomModel leaves out: nodes that load their weights themselves, sparse tensors by name, metadata.
std::string handmade_model() {
  const auto sparse = Message()
                          .message(1, testing::tensor("s", 1, {1}).bytes(9, "1234"))
                          .message(2, testing::tensor("", 7, {1}).packed(7, {3}))
                          .varint(3, 9);
  const Message delayed = testing::node("DelayedInitializer", {}, {"d"}, "n")
                              .bytes(7, "ai.rt")
                              .message(5, Message().bytes(1, "file").bytes(4, "w.bin").varint(20, 3));
  const Message constant = testing::node("Constant", {}, {"c"})
                               .message(5, Message().bytes(1, "value_floats").packed(8, {1, 2}).varint(20, 6));
  Message graph = testing::graph({testing::tensor("w", 22, {3}).bytes(9, "12"), testing::scalar("/a/../b"),
                                  testing::tensor("t", 8, {2}).bytes(6, "x\xff").bytes(6, ""),
                                  testing::external(testing::tensor("e", 2, {4}), {{"location", "./w.bin"}}),
                                  testing::tensor("u", 99, {2}).bytes(9, "??")});
  graph.message(1, delayed).message(1, constant).message(15, sparse).bytes(10, "documentation");
  graph.message(11, Message().bytes(1, "x").message(
                        2, Message().message(
                               1, Message().varint(1, 1).message(2, Message().message(1, Message().bytes(2, "N"))))));
  return testing::model(graph).message(14, testing::entry("key", "value")).str();
}

}  // namespace

// What a model holds is shown in full and in agreement with itself, or it is refused with one line.
void run_model(std::string_view input) { run_file("model.onnx", input); }

// The same of a file that may be any of ONNX's messages.
void run_values(std::string_view input) { run_file("value.pb", input); }

std::vector<std::string> seeds_of_model() {
  std::vector<std::string> seeds{handmade_model()};
  for (uint64_t i = 0; seeds.size() < 12; ++i) {
    std::string bytes = testing::RandomModel(i, i % 2 == 0 ? 5 : 10).model().str();
    if (bytes.size() <= find_target("model").longest) seeds.push_back(std::move(bytes));
  }
  return seeds;
}

std::vector<std::string> seeds_of_values() {
  std::vector<std::string> seeds{handmade_model()};
  for (uint64_t i = 0; i < 8; ++i) {
    testing::RandomModel random(i);
    const auto sequence = [&random](int count) {
      Message message = Message().varint(2, 1);
      for (; count != 0; --count) message.message(3, random.tensor());
      return message;
    };
    seeds.push_back(random.tensor().str());
    seeds.push_back(sequence(static_cast<int>(i % 4)).str());
    seeds.push_back(Message().varint(2, 7).varint(3, 5).packed(3, {1}).message(5, sequence(2)).str());
    seeds.push_back(Message().varint(2, 3).message(5, sequence(2)).message(5, sequence(1)).str());
  }
  seeds.push_back(Message().varint(2, 8).bytes(4, "k").bytes(4, "l").message(5, Message().varint(2, 1)).str());
  seeds.push_back(Message()
                      .message(1, testing::tensor("", 1, {1}).bytes(9, "1234"))
                      .message(2, testing::tensor("", 7, {1}).packed(7, {3}))
                      .varint(3, 9)
                      .str());
  std::erase_if(seeds, [](const std::string& seed) { return seed.size() > find_target("values").longest; });
  return seeds;
}

}  // namespace onnxfs::fuzz
