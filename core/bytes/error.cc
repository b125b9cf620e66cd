#include "core/bytes/error.h"

#include <system_error>

#include "core/bytes/utf8.h"

namespace onnxfs {

Error::Error(int code, std::string_view sentence) : code_(code), sentence_(printable(sentence)) {}

std::string describe_errno(int code) { return std::generic_category().message(code); }

}  // namespace onnxfs
