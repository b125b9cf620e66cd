// A tensor as text: an element a line, in row-major order.
//
// Numbers are written as element_format.h says, so that line n begins at n × (width + 1) bytes. A string is a line of
// its own length, a JSON string: control characters, the quote and the backslash are escaped, UTF-8 is as it is. A byte
// that is not part of any UTF-8 is \udcXX, half of a surrogate pair, which no UTF-8 can be; Python makes such bytes of
// it again: json.loads(line).encode(errors="surrogateescape").
#pragma once

#include "core/views/tensor_content.h"

namespace onnxfs {

// The size of the text of a tensor that is not of strings. Needs no payload. Throws Error(EOVERFLOW) for what no file
// can hold.
uint64_t text_size(const TensorContent& content);

// Made when it is read, and not kept. Of strings, this reads the payload once, to find the size and where every so many
// lines begin: worth keeping while the tensor is not edited.
Rope text(const TensorContent& content);

}  // namespace onnxfs
