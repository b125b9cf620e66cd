#include "fs/file_handles.h"

#include <gtest/gtest.h>

namespace onnxfs {
namespace {

class Counted final : public OpenFile {
 public:
  explicit Counted(int& living) : living_(living) { ++living_; }
  ~Counted() override { --living_; }
  Rope content() const override { return {}; }
  void closed_by(pid_t) override { ADD_FAILURE() << "nobody closed it"; }

 private:
  int& living_;
};

TEST(FileHandlesTest, WhatIsTakenIsTheTakers) {
  int living = 0;
  FileHandles files;
  OpenFile* const first = files.add(std::make_unique<Counted>(living));
  files.add(std::make_unique<Counted>(living));
  {
    const auto taken = files.take(first);
    EXPECT_EQ(taken.get(), first);
    EXPECT_EQ(files.take(first), nullptr);
    EXPECT_EQ(living, 2);
  }
  EXPECT_EQ(living, 1);
}

// As of a connection that was aborted: the kernel releases nothing, and nothing was closed.
TEST(FileHandlesTest, WhatIsLeftEndsWithoutAClose) {
  int living = 0;
  {
    FileHandles files;
    files.add(std::make_unique<Counted>(living))->writable = true;
    files.add(std::make_unique<Counted>(living));
    files.clear();
    EXPECT_EQ(living, 0);
    files.add(std::make_unique<Counted>(living));
  }
  EXPECT_EQ(living, 0);
}

}  // namespace
}  // namespace onnxfs
