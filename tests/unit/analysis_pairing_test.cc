#include "core/analysis/pairing.h"

#include <gtest/gtest.h>

#include "core/analysis/graph_difference.h"
#include "core/analysis/header_difference.h"
#include "tests/unit/errors.h"

namespace onnxfs {
namespace {

using Paths = std::vector<std::string>;

// "a-b", "a-" and "-b".
Paths paired(const Paths& a, const Paths& b, const std::vector<PrefixMap>& maps = {}) {
  Paths result;
  for (const Pair& pair : pair_by_path(a, b, maps)) {
    result.push_back(fmt::format("{}-{}", pair.a ? a[*pair.a] : "", pair.b ? b[*pair.b] : ""));
  }
  return result;
}

TEST(PairByPath, KeepsTheOrderOfTheFirst) {
  EXPECT_EQ(paired({"w", "x", "y"}, {"z", "y", "w"}), (Paths{"w-w", "x-", "y-y", "-z"}));
  EXPECT_EQ(paired({}, {}), Paths{});
}

TEST(PairByPath, MapsPrefixesOfPathsAndOfNames) {
  const Paths a{"initializers/old.w", "attributes/n/old.v"};
  EXPECT_EQ(paired(a, {"initializers/new.w"}, {{"old.", "new."}}),
            (Paths{"initializers/old.w-initializers/new.w", "attributes/n/old.v-"}));
  EXPECT_EQ(paired(a, {"values/n/old.v"}, {{"attributes/", "values/"}}),
            (Paths{"initializers/old.w-", "attributes/n/old.v-values/n/old.v"}));
  EXPECT_EQ(paired({"ab", "ac"}, {"1", "2c"}, {{"ab", "1"}, {"a", "2"}}), (Paths{"ab-1", "ac-2c"}));
  EXPECT_ERROR(paired(a, a, {{"new.", ""}}), EINVAL, "new.");
  EXPECT_ERROR(paired({"a", "b"}, {"c"}, {{"a", "c"}, {"b", "c"}}), EINVAL, "both become c");
}

TEST(GraphDifference, OrderIsNone) {
  EXPECT_TRUE(graph_difference("a = A()\nb = B()\n", "b = B()\na = A()\n").empty());
}

TEST(GraphDifference, NodesAreToldByNameOrElseOutputs) {
  const auto difference = graph_difference("a = A(x) # n\nb = B()\nt.body: b = B()\nC(x)\nD()\nsame()\nd = P() # p\n",
                                           "z = A(x) # n\nb = E()\nt.body: b = F()\nC(y)\nsame()\nd = P() # q\n");
  using Changes = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(
      difference.changed,
      (Changes{{"a = A(x) # n", "z = A(x) # n"}, {"b = B()", "b = E()"}, {"t.body: b = B()", "t.body: b = F()"}}));
  EXPECT_EQ(difference.removed, (Paths{"C(x)", "D()", "d = P() # p"}));
  EXPECT_EQ(difference.added, (Paths{"C(y)", "d = P() # q"}));
}

TEST(GraphDifference, EqualLinesCountAsOftenAsTheyAreThere) {
  const auto difference = graph_difference("A()\nA()\nA()\n", "A()\nB() # n\nC() # n\n");
  EXPECT_EQ(difference.removed, (Paths{"A()", "A()"}));
  EXPECT_EQ(difference.added, (Paths{"B() # n", "C() # n"}));
  EXPECT_EQ(graph_difference("A() # n\nB() # n\n", "C() # n\nD() # n\n").changed.size(), 2u);
}

TEST(WithOtherNames, ReplacesWholeWords) {
  EXPECT_EQ(with_other_names("y = Add(w, w.1, ww) {w=1} # w\n", {{"w", "v"}, {"w.1", "v 1"}}),
            "y = Add(v, v 1, ww) {v=1} # v\n");
  EXPECT_EQ(with_other_names("", {{"w", "v"}}), "");
}

TEST(HeaderDifferences, OfWhatBothHaveAndOfWhatOneLacks) {
  const auto differences =
      header_differences(R"({"file": "a", "ir_version": 8, "opset_import": [], "producer_name": "x"})",
                         R"({"file": "b", "ir_version": 9, "opset_import": [], "producer_name": "y", "inputs": [1]})");
  ASSERT_EQ(differences.size(), 3u);
  EXPECT_EQ(differences[0].key, "ir_version");
  EXPECT_EQ(differences[0].a, "8");
  EXPECT_EQ(differences[0].b, "9");
  EXPECT_EQ(differences[1].key, "inputs");
  EXPECT_EQ(differences[1].a, "");
  EXPECT_TRUE(differences[1].counts);
  EXPECT_FALSE(differences[2].counts);
}

}  // namespace
}  // namespace onnxfs
