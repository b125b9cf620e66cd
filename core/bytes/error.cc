#include "core/bytes/error.h"

#include <system_error>

namespace onnxfs {

std::string describe_errno(int code) { return std::generic_category().message(code); }

}  // namespace onnxfs
