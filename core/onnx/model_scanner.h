#pragma once

#include "core/onnx/catalog_builder.h"

namespace onnxfs {

// Scans the file as a ModelProto: the main graph, functions and training graphs. Throws as scan_catalog does.
void scan_model(CatalogBuilder& builder);

}  // namespace onnxfs
