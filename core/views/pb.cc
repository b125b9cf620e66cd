#include "core/views/pb.h"

#include <cerrno>
#include <limits>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/onnx/schema.h"
#include "core/views/recoded_strings.h"
#include "core/wire/encoder.h"

namespace onnxfs {

namespace {

class StringData final : public StringEncoding {
 public:
  void begin(uint64_t length, std::string& out) const override {
    wire::append_header(out, field::tensor::string_data, length);
  }
  size_t convert(std::string_view text, bool, std::string& out) const override {
    out += text;
    return text.size();
  }
  void end(std::string&) const override {}
};

void append_varint_field(std::string& out, uint32_t number, uint64_t value) {
  wire::append_tag(out, number, wire::Type::varint);
  wire::append_varint(out, value);
}

void append_text_field(std::string& out, uint32_t number, std::string_view text) {
  wire::append_header(out, number, text.size());
  out += text;
}

// The message but for its elements.
struct Frame {
  std::string before_strings;
  std::string before_raw;  // its tag and length too, unless the elements are strings
  std::string after;
};

Frame frame_of(const TensorContent& content) {
  const Tensor& tensor = content.tensor;
  Frame frame;
  for (const int64_t dim : content.dims) {
    append_varint_field(frame.before_strings, field::tensor::dims, static_cast<uint64_t>(dim));
  }
  // As protobuf writes an int32: its sign is extended.
  const auto data_type = static_cast<uint64_t>(int64_t{tensor.data_type});
  append_varint_field(frame.before_strings, field::tensor::data_type, data_type);
  if (!tensor.name.empty()) append_text_field(frame.before_raw, field::tensor::name, tensor.name);
  if (tensor.data_type != string_type) wire::append_header(frame.before_raw, field::tensor::raw_data, tensor.nbytes);
  if (!content.doc_string.empty()) append_text_field(frame.after, field::tensor::doc_string, content.doc_string);
  return frame;
}

}  // namespace

uint64_t pb_size(const TensorContent& content) {
  const Frame frame = frame_of(content);
  const uint64_t around = frame.before_strings.size() + frame.before_raw.size() + frame.after.size();
  if (content.tensor.nbytes > std::numeric_limits<int64_t>::max() - around) {
    fail(EOVERFLOW, "the message of tensor {} is larger than any file", printable(content.tensor.name));
  }
  return around + content.tensor.nbytes;
}

Rope pb(const TensorContent& content) {
  Frame frame = frame_of(content);
  std::vector<Extent> extents;
  const auto add = [&extents](const Rope& rope) { rope.collect(0, rope.size(), extents); };
  if (content.tensor.data_type == string_type) {
    static const StringData encoding;
    add(Rope::of(std::move(frame.before_strings)));
    add(Rope::of(std::make_shared<RecodedStrings>(content.payload, content.tensor.elements, encoding)));
    add(Rope::of(std::move(frame.before_raw)));
  } else {
    add(Rope::of(std::move(frame.before_strings) + frame.before_raw));
    add(content.payload);
  }
  add(Rope::of(std::move(frame.after)));
  return Rope(std::move(extents));
}

}  // namespace onnxfs
