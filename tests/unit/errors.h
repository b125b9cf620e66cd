// Looks at what a piece of code throws.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/bytes/error.h"

namespace onnxfs::testing {

struct Caught {
  int code = 0;  // 0 when nothing was thrown
  std::string text;
};

template <typename Work>
Caught caught(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

}  // namespace onnxfs::testing

// That `statement` throws an Error with a code, and a sentence of one line with `part` in it.
#define EXPECT_ERROR(statement, expected_code, part)                                            \
  do {                                                                                          \
    const auto error_caught = ::onnxfs::testing::caught([&] { static_cast<void>(statement); }); \
    EXPECT_EQ(error_caught.code, expected_code) << error_caught.text;                           \
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, part, error_caught.text);                       \
    EXPECT_EQ(error_caught.text.find('\n'), std::string::npos) << error_caught.text;            \
  } while (false)
