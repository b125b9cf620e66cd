#pragma once

#include <functional>
#include <string>

namespace onnxfs {

// Whom walk_models tells what it finds. Either may throw to end the walk.
struct ModelVisitor {
  std::function<void(const std::string& path)> model;
  std::function<void(const std::string& sentence)> trouble;  // a folder cannot be listed
};

// Visits every model file beneath a folder (.onnx, .pb), as a mount of it shows them: links to files are followed,
// links to folders are not, sidecars are passed over. So are mounts of onnxfs in it: what they show are these models
// again. Paths begin with `folder` as it is given. In the order of the names' bytes, a folder's models before those of
// its sub-folders.
//
// Keeps the names in the folders that it is in, and nothing else. One thread.
void walk_models(const std::string& folder, const ModelVisitor& visitor);

}  // namespace onnxfs
