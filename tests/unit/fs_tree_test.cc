#include "fs/tree.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

#include "core/onnx/scan.h"
#include "fs/names.h"
#include "tests/unit/models.h"
#include "tests/unit/sources.h"
#include "tests/unit/tensor_paths.h"

namespace onnxfs {
namespace {

using Names = std::vector<std::string>;

// A tree and the catalog that its tensors are in.
struct Planted {
  explicit Planted(const Names& names) : catalog(scan(names)), tree(catalog) {}

  static Catalog scan(const Names& names) {
    std::vector<testing::Message> tensors;
    for (const std::string& name : names) tensors.push_back(testing::scalar(name));
    return scan_catalog(testing::guarded(testing::model(testing::graph(tensors)).str()), DataFiles("/", ""), false);
  }
  Names paths() const { return testing::tensor_paths(tree); }

  Catalog catalog;
  Tree tree;
};

// The paths of tensors below initializers/.
Names paths(const Names& names) {
  Names result = Planted(names).paths();
  for (std::string& path : result) {
    EXPECT_TRUE(path.starts_with("initializers/"));
    path.erase(0, std::string("initializers/").size());
  }
  return result;
}

TEST(Tree, OrdinaryNamesAreTheirPaths) {
  const Names names{"conv1.weight",      "encoder/layer.0/W", "encoder/layer.0/b",
                    "encoder/layer.1/W", "encoder",           "encoder/layer.0"};
  EXPECT_EQ(paths(names), names);
}

TEST(Tree, EmptyModelHasItsDocuments) {
  const Planted planted({});
  EXPECT_FALSE(planted.tree.find_entry(Tree::root, "initializers"));
  for (const std::string name : {"model.json", "index.tsv", "graph.txt", "problems.txt", ".onnxfs"}) {
    EXPECT_TRUE(planted.tree.find_entry(Tree::root, name)) << name;
  }
}

TEST(Tree, RepeatedNamesAreNumbered) {
  EXPECT_EQ(paths({"a", "a", "a"}), (Names{"a", "a@2", "a@3"}));
  EXPECT_EQ(paths({"/a", "a", "a/", "//a//"}), (Names{"a", "a@2", "a@3", "a@4"}));
  EXPECT_EQ(paths({"", "", "/", "unnamed"}), (Names{"unnamed", "unnamed@2", "unnamed@3", "unnamed@4"}));
  EXPECT_EQ(paths({"d/a", "d/a", "e/a"}), (Names{"d/a", "d/a@2", "e/a"}));
  EXPECT_EQ(paths({"\n", "%0A"}), (Names{"%0A", "%0A@2"}));
}

TEST(Tree, NumbersThatAreTakenAreLeftOut) {
  EXPECT_EQ(paths({"a", "a@2", "a", "a"}), (Names{"a", "a@2", "a@3", "a@4"}));
  EXPECT_EQ(paths({"a", "a", "a@2", "a@2"}), (Names{"a", "a@2", "a@2@2", "a@2@3"}));
}

TEST(Tree, LeafAndFolderOfOneNameAreNoClash) {
  EXPECT_EQ(paths({"a", "a/b", "a/b/c"}), (Names{"a", "a/b", "a/b/c"}));
  EXPECT_EQ(paths({"a/b/c", "a/b", "a"}), (Names{"a/b/c", "a/b", "a"}));
}

TEST(Tree, FoldersWhereFilesAreGiveWay) {
  for (const std::string suffix : {".bin", ".json", ".npy", ".txt", ".pb"}) {
    EXPECT_EQ(paths({"a", "a" + suffix + "/x", "a" + suffix + "/y"}),
              (Names{"a", "a" + suffix + "@2/x", "a" + suffix + "@2/y"}));
    EXPECT_EQ(paths({"d/a", "d/a" + suffix + "/x", "a" + suffix + "/x"}),
              (Names{"d/a", "d/a" + suffix + "@2/x", "a" + suffix + "/x"}));
  }
  EXPECT_EQ(paths({"a", "a.bin"}), (Names{"a", "a.bin"}));
  EXPECT_EQ(paths({"a", "a.onnx/x"}), (Names{"a", "a.onnx/x"}));
}

TEST(Tree, FilesWhereFoldersAreGiveWay) {
  for (const std::string suffix : {".bin", ".json", ".npy", ".txt", ".pb"}) {
    EXPECT_EQ(paths({"a" + suffix + "/x", "a", "a"}), (Names{"a" + suffix + "/x", "a@2", "a@3"}));
  }
  EXPECT_EQ(paths({"a.bin/x", "a@2.bin/x", "a"}), (Names{"a.bin/x", "a@2.bin/x", "a@3"}));
}

TEST(Tree, RenamedFolderIsOnlyForThoseWhoWantedIt) {
  EXPECT_EQ(paths({"a", "a.bin/x", "a.bin@2/x", "a.bin/y", "a.bin@2/y"}),
            (Names{"a", "a.bin@2/x", "a.bin@2@2/x", "a.bin@2/y", "a.bin@2@2/y"}));
  EXPECT_EQ(paths({"a.bin@2/x", "a", "a.bin/x", "a.bin@2/y"}), (Names{"a.bin@2/x", "a", "a.bin@3/x", "a.bin@2/y"}));
}

TEST(Tree, DocumentsAndTensorsDoNotMeet) {
  EXPECT_EQ(paths({"model.json", ".onnxfs/status.json"}), (Names{"model.json", ".onnxfs/status.json"}));
}

TEST(Tree, FindsWhatIsThereAndNothingElse) {
  const Planted planted({"a", "d/b"});
  const Tree& tree = planted.tree;
  const auto initializers = tree.find_entry(Tree::root, "initializers");
  ASSERT_TRUE(initializers);
  EXPECT_TRUE(tree.find_tensor(*initializers, "a"));
  EXPECT_FALSE(tree.find_entry(*initializers, "a"));
  EXPECT_FALSE(tree.find_tensor(*initializers, "b"));
  EXPECT_FALSE(tree.find_tensor(*initializers, ""));
  EXPECT_FALSE(tree.find_tensor(Tree::root, "a"));
  const auto folder = tree.find_entry(*initializers, "d");
  ASSERT_TRUE(folder);
  EXPECT_FALSE(tree.find_tensor(*initializers, "d"));
  const auto leaf = tree.find_tensor(*folder, "b");
  ASSERT_TRUE(leaf);
  EXPECT_EQ(tree.node(*leaf).subject, 1u);
  EXPECT_EQ(tree.path(*leaf), "initializers/d/b");
  EXPECT_EQ(tree.path(Tree::root), "");
}

// All nodes hang together: each is once among its parent's children, in file order, and is found by its name.
void expect_sound(const Tree& tree) {
  std::multiset<uint32_t> seen;
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const auto children = tree.children(i);
    EXPECT_TRUE(std::ranges::is_sorted(children));
    for (const uint32_t child : children) {
      seen.insert(child);
      ASSERT_LT(i, child) << "parents come before their children";
      ASSERT_EQ(tree.node(child).parent, i);
      const bool is_tensor = tree.node(child).kind == Node::Kind::tensor;
      ASSERT_EQ(is_tensor ? tree.find_tensor(i, tree.node(child).name) : tree.find_entry(i, tree.node(child).name),
                child);
    }
  }
  EXPECT_EQ(seen.size(), tree.size() - 1);
  EXPECT_EQ(std::set<uint32_t>(seen.begin(), seen.end()).size(), tree.size() - 1);
}

// In each folder, no two entries of any kind have one file name, over all suffixes.
void expect_unique_files(const Tree& tree) {
  for (uint32_t i = 0; i < tree.size(); ++i) {
    std::set<std::string> files;
    for (const uint32_t child : tree.children(i)) {
      const std::string name(tree.node(child).name);
      ASSERT_LE(name.size(), 250u);
      if (tree.node(child).kind != Node::Kind::tensor) {
        ASSERT_TRUE(files.insert(name).second) << name << " twice in " << tree.path(i);
        continue;
      }
      for (const std::string suffix : {".bin", ".json", ".npy", ".txt", ".pb"}) {
        ASSERT_TRUE(files.insert(name + suffix).second) << name << suffix << " twice in " << tree.path(i);
      }
    }
  }
}

// A path is what the name stands for, but for an @N behind any of its components.
bool stands_for(const std::string& path, const std::string& name) {
  std::string rest = path.substr(std::string("initializers").size());
  for (const std::string& component : path_components(name)) {
    if (!rest.starts_with("/" + component)) return false;
    rest.erase(0, component.size() + 1);
    if (!rest.starts_with('@')) continue;
    size_t end = 1;
    while (end < rest.size() && rest[end] >= '0' && rest[end] <= '9') ++end;
    if (end == 1) return false;
    rest.erase(0, end);
  }
  return rest.empty();
}

// Names made of few words, so that they meet each other all the time.
Names adversarial_names(uint64_t seed) {
  static const Names words{"a",
                           "b",
                           "a.bin",
                           "a.json",
                           "a.npy",
                           "a.txt",
                           "a.pb",
                           "a@2",
                           "a@3",
                           "a@2.bin",
                           "a.bin@2",
                           "a.bin@3",
                           "",
                           ".",
                           "..",
                           "%2E",
                           "\n",
                           "%0A",
                           "\xff",
                           "%FF",
                           "unnamed",
                           "unnamed@2",
                           std::string(200, 'l'),
                           std::string(201, 'l'),
                           std::string(201, 'l') + ".bin",
                           std::string(70, '\x01'),
                           "é",
                           "\xc3"};
  std::mt19937_64 random(seed);
  Names chosen;
  for (int i = 0; i < 7; ++i) chosen.push_back(words[random() % words.size()]);
  chosen.insert(chosen.end(), {"a", "a.bin"});
  Names names;
  for (int i = 0; i < 300; ++i) {
    std::string name = chosen[random() % chosen.size()];
    for (uint64_t depth = random() % 4; depth != 0; --depth) name += "/" + chosen[random() % chosen.size()];
    names.push_back(name);
  }
  return names;
}

TEST(Tree, NothingIsHiddenWhateverTheNames) {
  const char* given = std::getenv("ONNXFS_SEED");
  const uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
  for (uint64_t seed = first; seed < first + (given != nullptr ? 1 : 150); ++seed) {
    SCOPED_TRACE("ONNXFS_SEED=" + std::to_string(seed));
    const Names names = adversarial_names(seed);
    const Planted planted(names);
    const Names paths = planted.paths();
    ASSERT_EQ(std::set<std::string>(paths.begin(), paths.end()).size(), names.size());
    for (size_t i = 0; i < names.size(); ++i)
      ASSERT_TRUE(stands_for(paths[i], names[i])) << paths[i] << " for " << names[i];
    expect_sound(planted.tree);
    expect_unique_files(planted.tree);
    ASSERT_EQ(Planted(names).paths(), paths);
  }
}

// Whether the earlier entry keeps its path does not depend on what comes later.
TEST(Tree, LaterTensorsDoNotMoveEarlierOnes) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Names names = adversarial_names(seed);
    const Names all = Planted(names).paths();
    for (const size_t count : {size_t{1}, size_t{50}, size_t{299}}) {
      const Names first = Planted({names.begin(), names.begin() + static_cast<ptrdiff_t>(count)}).paths();
      ASSERT_EQ(first, Names(all.begin(), all.begin() + static_cast<ptrdiff_t>(count))) << seed;
    }
  }
}

TEST(Tree, ManyEqualNamesCostTheirNumber) {
  const Planted planted(Names(30'000, "same"));
  EXPECT_EQ(planted.paths()[29'999], "initializers/same@30000");
}

TEST(Tree, NamesMayBeVeryDeep) {
  std::string name;
  for (int i = 0; i < 20'000; ++i) name += "d/";
  const Planted planted({name + "x"});
  EXPECT_EQ(planted.paths()[0], "initializers/" + name + "x");
}

}  // namespace
}  // namespace onnxfs
