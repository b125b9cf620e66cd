#include "core/onnx/edit.h"

#include <gtest/gtest.h>

namespace onnxfs {
namespace {

TensorEditPtr edit_of(const std::string& doc_string) {
  TensorEdit edit;
  edit.doc_string = doc_string;
  return std::make_shared<const TensorEdit>(edit);
}

TEST(EditTable, IsEmptyAtFirst) {
  const EditTable table;
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_TRUE(table.snapshot().empty());
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.version(), 0u);
  EXPECT_EQ(table.version(7), 0u);
}

TEST(EditTable, FindsWhatWasPutLast) {
  EditTable table;
  table.put(3, edit_of("a"));
  table.put(5, edit_of("b"));
  table.put(3, edit_of("c"));
  EXPECT_EQ(table.find(3)->doc_string, "c");
  EXPECT_EQ(table.find(5)->doc_string, "b");
  EXPECT_EQ(table.find(4), nullptr);
  EXPECT_EQ(table.size(), 2u);
}

TEST(EditTable, CountsChangesOfEachTensorAndOfAll) {
  EditTable table;
  table.put(3, edit_of("a"));
  table.put(3, nullptr);
  table.put(5, edit_of("b"));
  EXPECT_EQ(table.version(3), 2u);
  EXPECT_EQ(table.version(5), 1u);
  EXPECT_EQ(table.version(), 3u);
}

TEST(EditTable, ForgetsWhatIsTakenAway) {
  EditTable table;
  table.put(3, edit_of("a"));
  table.put(3, nullptr);
  EXPECT_EQ(table.find(3), nullptr);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_TRUE(table.snapshot().empty());
}

TEST(EditTable, SnapshotsStayAsTheyWere) {
  EditTable table;
  table.put(3, edit_of("a"));
  const Edits before = table.snapshot();
  table.put(3, edit_of("b"));
  table.put(1, edit_of("c"));
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before.at(3)->doc_string, "a");
  EXPECT_EQ(table.snapshot().begin()->first, 1u);
}

}  // namespace
}  // namespace onnxfs
