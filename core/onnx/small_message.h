#pragma once

#include <onnx.pb.h>

#include <cerrno>

#include "core/bytes/error.h"
#include "core/wire/reader.h"

namespace onnxfs {

// Proves that a field holds a message of type `Message`, by letting protobuf parse it: for the few and small ones that
// describe a model. Throws Error(EBADMSG) with the offset.
template <typename Message>
void require_sound(wire::Window& window, const wire::Field& field, std::string_view what) {
  if (field.type != wire::Type::bytes) return;
  if (!Message().ParseFromString(window.text(field.payload))) {
    fail(EBADMSG, "corrupt at offset {}: {} is no sound message", field.begin, what);
  }
}

}  // namespace onnxfs
