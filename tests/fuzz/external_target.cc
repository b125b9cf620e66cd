#include <unistd.h>

#include "core/onnx/data_files.h"
#include "tests/fuzz/model_check.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/workspace.h"
#include "tests/unit/models.h"

namespace onnxfs::fuzz {

namespace {

void check_location(const std::string& location) {
  require(!location.empty() && location.front() != '/' && location.back() != '/', "the location {} is followed",
          location);
  require(location.find('\0') == std::string::npos, "a location with a NUL is followed");
  for (size_t begin = 0; begin <= location.size();) {
    const size_t end = std::min(location.find('/', begin), location.size());
    const std::string_view part = std::string_view(location).substr(begin, end - begin);
    require(!part.empty() && part != "." && part != "..", "the location {} is not normal", location);
    begin = end + 1;
  }
}

// By what the kernel says, not by the name that was asked for.
std::string path_of(const FileSource& file) {
  std::string path(4096, '\0');
  const std::string link = fmt::format("/proc/self/fd/{}", file.descriptor());
  const ssize_t n = ::readlink(link.c_str(), path.data(), path.size());
  path.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return path;
}

}  // namespace

// The input is the fields of a tensor's external_data, as they stand in the file, after a byte of its size. Whatever
// they say, no file outside of the model's folder is opened, and no byte outside of the data file is served.
void run_external(std::string_view input) {
  static const Workspace workspace;
  if (input.empty()) return;
  const auto elements = static_cast<int64_t>(static_cast<uint8_t>(input[0]) % 80);
  const testing::Message tensor =
      testing::tensor("w", testing::type::uint8, {elements}).append(input.substr(1)).varint(14, 1);
  std::shared_ptr<const Model> model;
  const std::string path = workspace.write("model.onnx", testing::model(testing::graph({tensor})).str());
  if (!accepted([&] { model = Model::open(path); })) return;
  for (const DataFile& file : model->catalog().data_files()) {
    check_location(file.location);
    require((file.source == nullptr) == !file.refusal.empty(), "{} is neither open nor refused", file.location);
    if (!file.source) continue;
    require(path_of(*file.source).starts_with(workspace.path() + "/"), "{} was opened", path_of(*file.source));
  }
  for (const Tensor& tensor_found : model->catalog().tensors()) {
    if (tensor_found.broken() || tensor_found.data_file == Tensor::no_index || !tensor_found.in_one_piece) continue;
    const DataFile& file = model->catalog().data_files()[tensor_found.data_file];
    require(tensor_found.data.begin <= tensor_found.data.end && tensor_found.data.end <= file.source->size(),
            "a tensor leads past the end of {}", file.location);
  }
  check_views(model);
}

std::vector<std::string> seeds_of_external() {
  const auto entries = [](uint8_t size, const std::vector<std::pair<std::string, std::string>>& pairs) {
    testing::Message message;
    for (const auto& [key, value] : pairs) message.message(13, testing::entry(key, value));
    return static_cast<char>(size) + message.str();
  };
  return {
      entries(64, {{"location", "w.bin"}}),
      entries(8, {{"location", "w.bin"}, {"offset", "8"}, {"length", "8"}, {"checksum", "da39a3ee"}}),
      entries(8, {{"location", "./sub/..//w.bin"}, {"offset", "18446744073709551615"}}),
      entries(8, {{"location", "../w.bin"}, {"length", "9223372036854775807"}}),
      entries(8, {{"location", "out"}, {"basepath", "/etc"}}),
      entries(8, {{"location", "model.onnx"}, {"offset", "0"}}),
      entries(8, {{"location", "/etc/passwd"}}),
      entries(0, {{"location", "*/_ORT_MEM_ADDR_/*"}, {"offset", "1"}, {"prepacked_0", "a"}}),
  };
}

}  // namespace onnxfs::fuzz
