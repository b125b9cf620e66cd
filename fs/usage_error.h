#pragma once

#include <cerrno>

#include "core/bytes/error.h"

namespace onnxfs {

// An Error that is one of the command line, whatever stands on the disk: the program ends with 2 for it.
class UsageError : public Error {
 public:
  explicit UsageError(std::string_view sentence) : Error(EINVAL, sentence) {}
};

}  // namespace onnxfs
