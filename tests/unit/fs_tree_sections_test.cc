// The folders of nodes, nested graphs and functions, told apart whatever their names.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "fs/model_filesystem.h"
#include "tests/unit/placed.h"

namespace onnxfs {
namespace {

using testing::attribute;
using testing::Message;
using testing::node;
using testing::scalar;
using testing::with;
namespace attribute_type = testing::attribute_type;

using Names = std::vector<std::string>;

class TreeSectionsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Model> open(const Message& graph) {
    return testing::open_model(folder_, testing::model(graph));
  }
  Names paths(const Message& graph) { return testing::tensor_paths(Tree(open(graph)->catalog())); }

  testing::TemporaryFolder folder_;
};

Message holding_tensor(const std::string& name, const std::string& attribute_name) {
  return with(node("Op", {}, {}, name), {attribute(attribute_name, attribute_type::tensor).message(5, scalar(""))});
}

Message holding_graph(const std::string& name, const std::string& attribute_name, const Message& graph) {
  return with(node("If", {}, {}, name), {attribute(attribute_name, attribute_type::graph).message(6, graph)});
}

TEST_F(TreeSectionsTest, NodesOfOneNameHaveFoldersOfTheirOwn) {
  EXPECT_EQ(paths(testing::graph_of({holding_tensor("n", "t"), holding_tensor("n", "t"), holding_tensor("n", "u")})),
            (Names{"attributes/n/t", "attributes/n@2/t", "attributes/n@3/u"}));
  EXPECT_EQ(paths(testing::graph_of({holding_tensor("/n", "t"), holding_tensor("n/", "t"), holding_tensor("\n", "t"),
                                     holding_tensor("%0A", "t")})),
            (Names{"attributes/n/t", "attributes/n@2/t", "attributes/%0A/t", "attributes/%0A@2/t"}));
}

TEST_F(TreeSectionsTest, AttributesOfOneNameAreToldApart) {
  Message twice = holding_tensor("n", "t");
  twice.message(5, attribute("t", attribute_type::tensor).message(5, scalar("")));
  EXPECT_EQ(paths(testing::graph_of({twice})), (Names{"attributes/n/t", "attributes/n/t@2"}));
}

TEST_F(TreeSectionsTest, AFolderThatNamesLeadThroughMayBeANodesOwn) {
  EXPECT_EQ(paths(testing::graph_of({holding_tensor("a/b", "t"), holding_tensor("a", "t"), holding_tensor("a", "u")})),
            (Names{"attributes/a/b/t", "attributes/a/t", "attributes/a@2/u"}));
}

TEST_F(TreeSectionsTest, NodesWhereTensorsAreGiveWay) {
  EXPECT_EQ(paths(testing::graph_of({holding_tensor("n", "t"), holding_tensor("n/t.bin", "u")})),
            (Names{"attributes/n/t", "attributes/n/t.bin@2/u"}));
  EXPECT_EQ(paths(testing::graph_of({holding_tensor("n/t.bin", "u"), holding_tensor("n", "t")})),
            (Names{"attributes/n/t.bin/u", "attributes/n/t@2"}));
}

TEST_F(TreeSectionsTest, GraphsOfOneNodeNameAreToldApart) {
  const Message inner = testing::graph({scalar("w")});
  EXPECT_EQ(paths(testing::graph_of({holding_graph("n", "g", inner), holding_graph("n", "g", inner)})),
            (Names{"subgraphs/n/g/initializers/w", "subgraphs/n@2/g/initializers/w"}));
}

TEST_F(TreeSectionsTest, FoldersWithNothingInThemAreAbsent) {
  const auto model = open(testing::graph_of({holding_graph("n", "g", Message()), node("Relu", {"x"}, {"y"})}));
  const Tree tree(model->catalog());
  EXPECT_FALSE(tree.find_entry(Tree::root, "subgraphs"));
  EXPECT_FALSE(tree.find_entry(Tree::root, "attributes"));
  EXPECT_FALSE(tree.find_entry(Tree::root, "initializers"));
}

TEST_F(TreeSectionsTest, StatusIsThereWhenItIsWanted) {
  const auto model = open(testing::graph({scalar("w")}));
  EXPECT_TRUE(Tree(model->catalog(), true).find_entry(Tree::root, ".onnxfs"));
  EXPECT_FALSE(Tree(model->catalog(), false).find_entry(Tree::root, ".onnxfs"));
}

// A graph of nodes that hold tensors, lists and graphs, named with few words.
Message random_graph(std::mt19937_64& random, int depth) {
  static const Names words{"a",          "b", "a/b", "b/a", "a.bin", "a.bin@2", "a@2", "initializers",
                           "attributes", "0", "",    "..",  "\n",    "%0A"};
  const auto word = [&random] { return words[random() % words.size()]; };
  Message graph;
  for (uint64_t i = random() % 12; i != 0; --i) graph.message(5, scalar(word()));
  for (uint64_t i = random() % 3; i != 0; --i) graph.message(15, testing::sparse(word(), 1));
  for (uint64_t i = random() % 8; i != 0; --i) {
    Message op = node("Op", {}, {word()}, random() % 2 == 0 ? word() : "");
    for (uint64_t j = random() % 4; j != 0; --j) {
      switch (random() % 4) {
        case 0: op.message(5, attribute(word(), 4).message(5, scalar(""))); break;
        case 1: op.message(5, attribute(word(), 9).message(10, scalar("")).message(10, scalar(""))); break;
        case 2: op.message(5, attribute(word(), 11).message(22, testing::sparse("", 1))); break;
        default:
          if (depth > 0) op.message(5, attribute(word(), 5).message(6, random_graph(random, depth - 1)));
      }
    }
    graph.message(1, op);
  }
  return graph;
}

// No two files, of any kind, have one path; and each tensor is found where its path says.
TEST_F(TreeSectionsTest, NothingIsHiddenWhateverTheNames) {
  size_t tensors = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 random(seed);
    const auto model = open(random_graph(random, 3));
    const Tree tree(model->catalog());
    for (uint32_t i = 0; i < tree.size(); ++i) {
      std::set<std::string> files;
      ASSERT_TRUE(i == Tree::root || tree.node(i).kind != Node::Kind::folder || !tree.children(i).empty());
      for (const uint32_t child : tree.children(i)) {
        const std::string name(tree.node(child).name);
        const bool is_tensor = tree.node(child).kind == Node::Kind::tensor;
        ASSERT_EQ(is_tensor ? tree.find_tensor(i, name) : tree.find_entry(i, name), child);
        ASSERT_TRUE(is_tensor || files.insert(name).second) << name;
        for (const std::string suffix : {".bin", ".json", ".npy", ".txt", ".pb"}) {
          ASSERT_TRUE(!is_tensor || files.insert(name + suffix).second) << name << suffix << " in " << tree.path(i);
        }
      }
    }
    const Names all = testing::tensor_paths(tree);
    const std::set<std::string> paths(all.begin(), all.end());
    ASSERT_EQ(paths.size(), model->catalog().tensors().size());
    tensors += paths.size();
    const Tree again(model->catalog());
    for (uint32_t i = 0; i < tree.size(); ++i) ASSERT_EQ(again.path(i), tree.path(i));
  }
  EXPECT_GT(tensors, 3000u);
}

// Else a small file costs all memory: a list of tensors repeats the names around each of them. Some tens of megabytes
// are nobody's trouble.
TEST_F(TreeSectionsTest, ListsStayNearTheSizeOfTheFile) {
  Message graph;
  for (int i = 0; i < 60'000; ++i) graph.message(5, Message());
  for (int i = 0; i < 60; ++i) {
    graph = testing::graph_of({holding_graph(std::string(200, 'n'), std::string(200, 'g'), graph)});
  }
  const ModelFilesystem files(Sidecar::open(open(graph), folder_ / "edits", "test"), {}, nullptr);
  for (const std::string name : {"index.tsv", "problems.txt"}) {
    std::optional<Absence> absence;
    const Entry entry = files.lookup(Filesystem::root_inode, name, absence);
    ASSERT_FALSE(absence);
    EXPECT_LT(entry.attributes.st_size, 100 * static_cast<off_t>(graph.size()) + (96 << 20)) << name;
  }
}

}  // namespace
}  // namespace onnxfs
