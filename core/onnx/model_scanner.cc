#include "core/onnx/model_scanner.h"

#include <fmt/format.h>

#include <cerrno>

#include "core/bytes/error.h"
#include "core/onnx/graph_scanner.h"
#include "core/onnx/root.h"
#include "core/onnx/schema.h"
#include "core/onnx/small_message.h"
#include "core/wire/reader.h"

namespace onnxfs {

namespace {

using wire::Field;
using wire::Reader;
using wire::Type;

struct Parts {
  std::vector<ByteRange> functions, trainings;
  bool is_perhaps_tensor = false;  // has a number where a tensor has its data type, and a model a name
};

constexpr const char* is_tensor = "is no model: it is a single tensor (a TensorProto); call it .pb to mount it";

void require_sound_metadata(wire::Window& window) {
  Reader reader(window, {0, window.size()});
  for (Field field; reader.next(field);) {
    switch (field.number) {
      case field::model::opset_import:
        require_sound<proto::OperatorSetIdProto>(window, field, "an opset_import");
        break;
      case field::model::metadata_props:
        require_sound<proto::StringStringEntryProto>(window, field, "an entry of the metadata");
        break;
      case field::model::configuration:
        require_sound<proto::DeviceConfigurationProto>(window, field, "a device configuration");
        break;
      default: break;
    }
  }
}

// Top level first, without entering anything: whether this is a model at all should be known before a byte of
// something else is taken for a graph.
Parts read_top(CatalogBuilder& builder) {
  Parts parts;
  bool has_data_type = false;
  wire::Window& window = builder.window();
  Reader reader(window, {0, window.size()});
  for (Field field; reader.next(field);) {
    has_data_type = has_data_type || field.is(field::model::producer_name, Type::varint);
    if (field.is(field::model::graph, Type::bytes)) builder.graphs().push_back(field.payload);
    if (field.is(field::model::functions, Type::bytes)) parts.functions.push_back(field.payload);
    if (field.is(field::model::training_info, Type::bytes)) parts.trainings.push_back(field.payload);
  }
  parts.is_perhaps_tensor = has_data_type;
  if (has_data_type && is_sound_tensor(window, builder.data_files())) throw Error(EINVAL, is_tensor);
  if (builder.graphs().empty() && parts.functions.empty() && parts.trainings.empty()) {
    fail(EINVAL, "is no ONNX model: it has no graph");
  }
  builder.counts().functions = parts.functions.size();
  builder.counts().training_infos = parts.trainings.size();
  return parts;
}

void scan_training(CatalogBuilder& builder, GraphScanner& graphs, uint32_t section, ByteRange training) {
  std::vector<ByteRange> initialization, algorithm;
  Reader reader(builder.window(), training);
  for (Field field; reader.next(field);) {
    if (field.is(field::training::initialization, Type::bytes)) initialization.push_back(field.payload);
    if (field.is(field::training::algorithm, Type::bytes)) algorithm.push_back(field.payload);
  }
  using Kind = Section::Kind;
  graphs.scan_graph(builder.add_section(section, Kind::training, "initialization"), std::move(initialization), false);
  graphs.scan_graph(builder.add_section(section, Kind::training, "algorithm"), std::move(algorithm), false);
}

void scan_parts(CatalogBuilder& builder, const Parts& parts) {
  require_sound_metadata(builder.window());
  GraphScanner graphs(builder);
  graphs.scan_graph(0, builder.graphs(), true);
  std::optional<uint32_t> functions, training;
  for (const ByteRange function : parts.functions) {
    graphs.scan_function(builder.label(functions, 0, "functions"), function);
  }
  for (size_t i = 0; i < parts.trainings.size(); ++i) {
    const uint32_t all = builder.label(training, 0, "training");
    const uint32_t section = builder.add_section(all, Section::Kind::label, fmt::to_string(i));
    scan_training(builder, graphs, section, parts.trainings[i]);
  }
}

}  // namespace

void scan_model(CatalogBuilder& builder) {
  const Parts parts = read_top(builder);
  try {
    scan_parts(builder, parts);
  } catch (const Error& error) {
    if (parts.is_perhaps_tensor && error.code() == EBADMSG) throw Error(EINVAL, is_tensor);
    throw;
  }
}

}  // namespace onnxfs
