#include "fs/tensor_file_names.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <filesystem>

#include "core/sidecar/data_file_name.h"

namespace onnxfs {

namespace {

constexpr std::string_view suffix = ".data";
constexpr size_t longest_prefix = 80, longest_path = 100;  // together less than the 255 bytes of a name

std::string model_part(const std::string& output) {
  std::string name = data_file_name(std::filesystem::path(output).filename().string(), 0);
  if (name.size() > longest_prefix) name = name.substr(0, longest_prefix).append(suffix);
  return name.substr(0, name.size() - suffix.size());
}

std::string tensor_part(std::string_view path) {
  constexpr std::string_view usual_folder = "initializers/";
  if (path.starts_with(usual_folder)) path.remove_prefix(usual_folder.size());
  if (path.size() <= longest_path) return plain_file_name(path);
  return fmt::format("{}-{:016x}", plain_file_name(path.substr(0, longest_path)),
                     XXH3_64bits(path.data(), path.size()));
}

}  // namespace

TensorFileNames::TensorFileNames(const EditedModel& model, const std::string& output)
    : model_(model), prefix_(model_part(output)) {}

std::string TensorFileNames::take(uint32_t tensor) {
  const std::string name = fmt::format("{}.{}", prefix_, tensor_part(model_.path_of(tensor)));
  std::string unique = fmt::format("{}{}", name, suffix);
  for (unsigned n = 2; !taken_.insert(unique).second; ++n) unique = fmt::format("{}-{}{}", name, n, suffix);
  return unique;
}

}  // namespace onnxfs
