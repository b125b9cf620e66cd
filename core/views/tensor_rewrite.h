// What edits make of the message that holds a tensor: which of its fields make way, and for what.
#pragma once

#include <string_view>
#include <vector>

#include "core/onnx/edit.h"
#include "core/onnx/model.h"
#include "core/wire/reader.h"
#include "core/wire/splice.h"

namespace onnxfs {

// Adds splices for the parts of one model's tensors that cannot be changed where they stand. All of a message's old
// fields go, in whichever pieces of it they are, and the new ones stand where the first of them stood; where there was
// none, dims come first in the message and the documentation last. What already is as it is wanted is left alone.
//
// Reads messages, without payloads but those that are encoded as a list. One thread.
class TensorRewriter {
 public:
  explicit TensorRewriter(const Model& model) : model_(model), window_(model.file()) {}

  // The payload of a tensor in a typed field, a plain list or the keys of a map; EINVAL for strings of a wrong count.
  void set_payload(const Tensor& tensor, const Rope& payload);

  // EINVAL for what is no TensorProto, and has no place for them.
  void set_dims(const Tensor& tensor, const std::vector<int64_t>& dims);
  void set_doc_string(const Tensor& tensor, const std::string& text);

  // Of an external tensor: its offset and length stay. What is said of the file besides goes with the old location: a
  // checksum, a base path, and ONNX Runtime's prepacked copies.
  void set_location(const Tensor& tensor, std::string_view location);

  // Moves the data of a TensorProto: all of its fields that hold or name data, in use or not, make way for what is said
  // here. Of external data that is a location, an offset and a length, which all readers know, and nothing else;
  // without any bytes, raw_data is left out, as readers want it of a tensor without elements.
  void set_external(const Tensor& tensor, std::string_view location, uint64_t offset, uint64_t length);
  void set_raw_data(const Tensor& tensor, const Rope& payload);

  wire::Window& window() noexcept { return window_; }
  std::vector<wire::Splice> take() && { return std::move(splices_); }

 private:
  enum class Otherwise { first, last };  // where new fields stand in a message that had none

  template <typename IsOld>
  void replace_fields(const Tensor& tensor, IsOld is_old, Rope content, Otherwise otherwise);
  void require_message(const Tensor& tensor, std::string_view what) const;
  bool names_file(const wire::Field& entry);

  const Model& model_;
  wire::Window window_;
  std::vector<wire::Splice> splices_;
};

}  // namespace onnxfs
