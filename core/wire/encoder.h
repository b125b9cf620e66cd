// Writes the pieces of protobuf's wire format that reader.h describes, in their shortest form.
#pragma once

#include <string>

#include "core/wire/reader.h"

namespace onnxfs::wire {

void append_varint(std::string& bytes, uint64_t value);
void append_tag(std::string& bytes, uint32_t number, Type type);

// What stands before `length` bytes of a string or message.
void append_header(std::string& bytes, uint32_t number, uint64_t length);

}  // namespace onnxfs::wire
