// Field numbers of the messages that the scanner walks; the whole schema is onnx.proto. Constants rather than
// enumerations, because they are compared with numbers from files.
#pragma once

#include <cstdint>

namespace onnxfs::field {

namespace model {
constexpr uint32_t ir_version = 1, producer_name = 2, producer_version = 3, domain = 4, model_version = 5,
                   doc_string = 6, graph = 7, opset_import = 8, metadata_props = 14, training_info = 20, functions = 25,
                   configuration = 26;
}
namespace graph {
constexpr uint32_t node = 1, name = 2, initializer = 5, doc_string = 10, input = 11, output = 12, value_info = 13,
                   quantization_annotation = 14, sparse_initializer = 15, metadata_props = 16;
}
namespace node {
constexpr uint32_t input = 1, output = 2, name = 3, op_type = 4, attribute = 5, doc_string = 6, domain = 7,
                   overload = 8;
}
namespace attribute {
constexpr uint32_t name = 1, f = 2, i = 3, s = 4, t = 5, g = 6, floats = 7, ints = 8, strings = 9, tensors = 10,
                   graphs = 11, tp = 14, type_protos = 15, type = 20, ref_attr_name = 21, sparse_tensor = 22,
                   sparse_tensors = 23;
}
namespace function {
constexpr uint32_t name = 1, input = 4, output = 5, attribute = 6, node = 7, opset_import = 9, domain = 10,
                   attribute_proto = 11, overload = 13;
}
namespace training {
constexpr uint32_t initialization = 1, algorithm = 2, initialization_binding = 3, update_binding = 4;
}
namespace value_info {
constexpr uint32_t name = 1;
}
namespace opset {  // OperatorSetIdProto
constexpr uint32_t domain = 1, version = 2;
}
namespace annotation {  // TensorAnnotation
constexpr uint32_t tensor_name = 1, quant_parameter_tensor_names = 2;
}
namespace tensor {
constexpr uint32_t dims = 1, data_type = 2, segment = 3, float_data = 4, int32_data = 5, string_data = 6,
                   int64_data = 7, name = 8, raw_data = 9, double_data = 10, uint64_data = 11, doc_string = 12,
                   external_data = 13, data_location = 14;
}
namespace sequence {  // and OptionalProto
constexpr uint32_t name = 1, elem_type = 2, tensor = 3, sparse_tensor = 4, sequence = 5, map = 6, optional = 7;
}
namespace map {
constexpr uint32_t name = 1, key_type = 2, keys = 3, string_keys = 4, values = 5;
}
namespace sparse_tensor {
constexpr uint32_t values = 1, indices = 2, dims = 3;
}
namespace entry {  // StringStringEntryProto
constexpr uint32_t key = 1, value = 2;
}

}  // namespace onnxfs::field
