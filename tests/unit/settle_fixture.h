// Settles TensorProtos of one file, beside a data file w.bin of 100 bytes.
#pragma once

#include <gtest/gtest.h>

#include "core/onnx/settle.h"
#include "tests/unit/models.h"
#include "tests/unit/sources.h"

namespace onnxfs::testing {

struct Settled {
  Tensor tensor;
  std::vector<Remark> remarks;

  // The sentence that says why it is broken, or "".
  std::string problem() const {
    std::string text;
    for (size_t i = 0; i < remarks.size(); ++i) {
      if (!remarks[i].broken) continue;
      EXPECT_EQ(i + 1, remarks.size()) << "a remark after the one that it is broken";
      text = remarks[i].text;
      EXPECT_FALSE(tensor.in_one_piece);
    }
    return text;
  }
  std::vector<std::string> notes() const {
    std::vector<std::string> texts;
    for (const Remark& remark : remarks) {
      if (!remark.broken) texts.push_back(remark.text);
    }
    return texts;
  }
};

class SettleTest : public ::testing::Test {
 protected:
  static constexpr uint64_t at = 3;  // where the message begins in its file

  Settled settled(const Message& message) {
    wire::Window window(guarded("\x08\x01\x07" + message.str() + "\x08"));
    TensorFields fields;
    const ByteRange range{at, at + message.size()};
    fields.scan(window, range);
    Settled result;
    DataFiles files(folder_.path(), "");
    result.tensor = settle(fields, range, window, files, result.remarks);
    for (const Remark& remark : result.remarks) EXPECT_EQ(remark.offset, at);
    EXPECT_EQ(result.tensor.message, range);
    opened_ = std::move(files).take();
    return result;
  }

  testing::TemporaryFolder folder_;
  std::string data_ = folder_.write("w.bin", std::string(100, 'w'));
  std::vector<DataFile> opened_;  // by the last settling
};

}  // namespace onnxfs::testing
