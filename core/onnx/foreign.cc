#include "core/onnx/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace onnxfs {

namespace {

using namespace std::string_view_literals;

struct Magic {
  size_t offset;
  std::string_view bytes;
  std::string_view meaning;
};

constexpr std::array magics{
    Magic{0, "PK\x03\x04"sv, "a zip archive; unpack it first"},
    Magic{0, "PK\x05\x06"sv, "an empty zip archive"},
    Magic{0, "\x1f\x8b"sv, "gzip-compressed; unpack it with gunzip first"},
    Magic{0, "BZh"sv, "bzip2-compressed; unpack it first"},
    Magic{0,
          "\xfd"
          "7zXZ\0"sv,
          "xz-compressed; unpack it first"},
    Magic{0, "\x28\xb5\x2f\xfd"sv, "zstd-compressed; unpack it first"},
    Magic{0, "7z\xbc\xaf\x27\x1c"sv, "a 7-zip archive; unpack it first"},
    Magic{0, "\x89HDF\r\n"sv, "an HDF5 file (a Keras model?), not an ONNX model"},
    Magic{0, "GGUF"sv, "a GGUF model, not an ONNX one"},
    Magic{0, "\x93NUMPY"sv, "a numpy array, not an ONNX model"},
};

// The value that follows `key` on a line of a git-lfs pointer.
std::string_view pointer_value(std::string_view head, std::string_view key) {
  const size_t at = head.find(key);
  if (at == head.npos) return "unknown";
  const std::string_view rest = head.substr(at + key.size());
  return rest.substr(0, rest.find_first_of("\r\n"));
}

// A FlatBuffer begins with the offset of its root, which is near, and a name of its format. A model may have the name's
// letters in the same place, behind a tag and a length.
bool is_flatbuffer(std::string_view head, std::string_view format) {
  return head.size() > 8 && head.substr(4, 4) == format && head[2] == 0 && head[3] == 0;
}

// A tar header has a checksum in octal digits before the mark of its format.
bool is_tar(std::string_view head) {
  constexpr size_t mark = 257, checksum = 148, digits = 6;
  return head.size() > mark + 5 && head.substr(mark, 5) == "ustar" &&
         std::ranges::all_of(head.substr(checksum, digits), [](char c) { return (c >= '0' && c <= '7') || c == ' '; });
}

// A pickle of protocol 0 … 6 begins with the opcode PROTO and the protocol's number.
bool is_pickle(std::string_view head) { return head.size() > 2 && head[0] == '\x80' && head[1] >= 0 && head[1] < 7; }

// 8 bytes of length, then JSON.
bool is_safetensors(std::string_view head) {
  return head.size() > 9 && head[8] == '{' && head[6] == 0 && head[7] == 0 && (head[9] == '"' || head[9] == '}');
}

std::string_view skip_space(std::string_view text) {
  const size_t at = text.find_first_not_of(" \t\r\n");
  return at == text.npos ? std::string_view() : text.substr(at);
}

bool is_text(std::string_view head) {
  return std::ranges::none_of(head, [](unsigned char c) { return c < 0x20 && c != '\t' && c != '\r' && c != '\n'; });
}

std::string_view recognise_text(std::string_view text) {
  if (text.starts_with("{")) {
    return text.find("\"irVersion\"") != text.npos || text.find("\"graph\"") != text.npos ||
                   text.find("\"ir_version\"") != text.npos
               ? "an ONNX model as JSON; save it as protobuf first (onnx.save in Python)"
               : "JSON, not an ONNX model";
  }
  if (text.starts_with("<")) {
    return text.find("ir_version") != text.npos
               ? "an ONNX model in ONNX's text syntax; save it as protobuf first (onnx.save in Python)"
               : "HTML or XML, not an ONNX model; was a web page saved in place of the download?";
  }
  for (const auto key : {"ir_version"sv, "producer_name"sv, "graph"sv, "opset_import"sv, "domain"sv}) {
    if (!text.starts_with(key)) continue;
    const std::string_view rest = skip_space(text.substr(key.size()));
    if (rest.starts_with(":") || rest.starts_with("{")) {
      return "an ONNX model as protobuf text; save it as protobuf first (onnx.save in Python)";
    }
  }
  return "text, not an ONNX model";
}

// A SavedModel is {1 schema version, 2 MetaGraphDef {1 MetaInfoDef …} …}: a model's producer_name in field 2 is
// printable, a message is not.
bool is_saved_model(std::string_view head) {
  if (head.size() < 8 || head[0] != '\x08' || head[2] != '\x12') return false;
  size_t at = 3;
  while (at < head.size() && (head[at] & 0x80) != 0) ++at;
  ++at;
  return head.size() > at + 1 && head[at] == '\x0a' && (head[at + 1] & 0x80 || head[at + 1] < 0x20);
}

// A GraphDef begins with its nodes: {1 NodeDef {1 name, 2 op}}.
bool is_graph_def(std::string_view head) {
  if (head.size() < 8 || head[0] != '\x0a') return false;
  const size_t name = (head[1] & 0x80) != 0 ? 3 : 2;
  if (head.size() <= name + 1 || head[name] != '\x0a') return false;
  const size_t op = name + 2 + static_cast<unsigned char>(head[name + 1]);
  return op < head.size() && head[op] == '\x12' && is_text(head.substr(name + 2, op - name - 2));
}

}  // namespace

std::string recognise_foreign(std::string_view head) {
  if (head.empty()) return "empty";
  if (head.starts_with("version https://git-lfs.github.com/spec/")) {
    return fmt::format("a git-lfs pointer, not the model (oid {}, {} bytes); fetch it with `git lfs pull`",
                       pointer_value(head, "oid "), pointer_value(head, "size "));
  }
  // torch.save writes a zip archive with a pickle as its first or second member.
  if (head.starts_with("PK\x03\x04") && head.find("/data.pkl") != head.npos) {
    return "a PyTorch checkpoint, not an ONNX model; export it with torch.onnx";
  }
  for (const Magic& magic : magics) {
    if (head.size() >= magic.offset && head.substr(magic.offset).starts_with(magic.bytes)) {
      return std::string(magic.meaning);
    }
  }
  if (is_flatbuffer(head, "ORTM")) {
    return "a model in ONNX Runtime's own ORT format; mount the .onnx file that it was made from";
  }
  if (is_flatbuffer(head, "TFL3")) return "a TensorFlow Lite model, not an ONNX one";
  if (is_tar(head)) return "a tar archive; unpack it first";
  if (is_pickle(head)) return "a Python pickle (a PyTorch checkpoint?), not an ONNX model; export it with torch.onnx";
  if (is_safetensors(head)) return "a safetensors file, not an ONNX model";
  if (is_saved_model(head)) return "a TensorFlow SavedModel; convert it with tf2onnx first";
  if (is_graph_def(head)) return "a TensorFlow graph; convert it with tf2onnx first";
  if (is_text(head)) return std::string(recognise_text(skip_space(head)));
  return {};
}

}  // namespace onnxfs
