#include "core/onnx/scan.h"

#include <cerrno>

#include "core/bytes/error.h"
#include "core/onnx/catalog_builder.h"
#include "core/onnx/model_scanner.h"
#include "core/onnx/value_scanner.h"

namespace onnxfs {

Catalog scan_catalog(const SourcePtr& file, DataFiles files, bool any_message) {
  if (file->size() == 0) fail(EINVAL, "is empty");
  CatalogBuilder builder(file, std::move(files));
  const Root root = any_message ? recognise_root(builder.window(), builder.data_files()) : Root::model;
  builder.set_root(root);
  root == Root::model ? scan_model(builder) : scan_values(builder, root);
  return std::move(builder).finish();
}

}  // namespace onnxfs
