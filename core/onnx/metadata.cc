#include "core/onnx/metadata.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/onnx/schema.h"
#include "core/wire/reader.h"

namespace onnxfs {

namespace {

constexpr std::array model_fields{
    field::model::ir_version,   field::model::producer_name,  field::model::producer_version,
    field::model::domain,       field::model::model_version,  field::model::doc_string,
    field::model::opset_import, field::model::metadata_props, field::model::configuration};

constexpr std::array graph_fields{field::graph::name, field::graph::doc_string, field::graph::input,
                                  field::graph::output, field::graph::metadata_props};

// Protobuf parses no more than 2 GB; nothing that describes a model comes near a part of that.
constexpr size_t most_bytes = size_t{1} << 30;

// Appends the given fields of the message at `range` to `bytes`: a sound message again, without the rest.
void gather(wire::Window& window, ByteRange range, std::span<const uint32_t> wanted, std::string& bytes) {
  wire::Reader reader(window, range);
  for (wire::Field field; reader.next(field);) {
    if (std::ranges::find(wanted, field.number) == wanted.end()) continue;
    if (reader.offset() - field.begin > most_bytes - bytes.size()) {
      fail(EIO, "the metadata at offset {} is too large to show", field.begin);
    }
    bytes += window.text({field.begin, reader.offset()});
  }
}

}  // namespace

proto::ModelProto read_metadata(const Model& model) {
  wire::Window window(model.file());
  std::string bytes;
  gather(window, {0, window.size()}, model_fields, bytes);
  proto::ModelProto result;
  if (!result.ParseFromString(bytes)) fail(EIO, "the metadata of {} is corrupt", model.name());
  bytes.clear();
  for (const ByteRange graph : model.catalog().graphs()) gather(window, graph, graph_fields, bytes);
  if (!result.mutable_graph()->ParseFromString(bytes)) {
    fail(EIO, "the inputs or outputs of the graph of {} are corrupt", model.name());
  }
  return result;
}

}  // namespace onnxfs
