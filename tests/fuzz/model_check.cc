#include "tests/fuzz/model_check.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/onnx/scan.h"
#include "core/onnx/shared_payloads.h"
#include "core/sidecar/base.h"
#include "core/views/graph_txt.h"
#include "core/views/json_edit.h"
#include "core/views/live_model.h"
#include "core/views/model_json.h"
#include "core/views/npy.h"
#include "core/views/padding.h"
#include "core/views/pb.h"
#include "core/views/safetensors.h"
#include "core/views/sums.h"
#include "core/views/tensor_json.h"
#include "core/views/text.h"
#include "fs/layout.h"
#include "tests/fuzz/target.h"

namespace onnxfs::fuzz {

namespace {

size_t lines_of(std::string_view text) {
  require(text.empty() || text.back() == '\n', "a document does not end with a line");
  return static_cast<size_t>(std::ranges::count(text, '\n'));
}

class ViewsCheck {
 public:
  explicit ViewsCheck(const std::shared_ptr<const Model>& model)
      : model_(model), layout_(*model, false), tree_(layout_.tree()) {}

  void run() {
    check_paths();
    for (uint32_t i = 0; i < tensors().size(); ++i) check_tensor(i);
    check_documents();
  }

 private:
  const std::deque<Tensor>& tensors() const { return model_->catalog().tensors(); }

  // Each tensor has one place, which is found again by its name, and by its number.
  void check_paths() {
    std::set<std::string> paths;
    for (uint32_t i = 0; i < tensors().size(); ++i) {
      const uint32_t number = tree_.node_of_tensor(i);
      const Node& node = tree_.node(number);
      require(tree_.find_tensor(node.parent, node.name) == number, "tensor {} is not found where it is", i);
      require(paths.insert(tree_.path(number)).second, "two tensors have the path {}", tree_.path(number));
      for (const Place place : layout_.files_of(i)) {
        require(layout_.place(Layout::inode(place)) == place, "an inode of {} is another's", tree_.path(number));
      }
    }
    check_folder(Place{});
  }

  void check_folder(Place folder) {
    std::set<std::string> names;
    std::vector<Place> folders;
    layout_.list(folder, 0, [&](const std::string& name, Place place, uint64_t) {
      require(!name.empty() && name.size() <= NAME_MAX && is_utf8(name) && name.find('/') == std::string::npos,
              "a name that is none: {}", printable(name));
      require(names.insert(name).second, "two entries are called {}", name);
      require(layout_.find(folder, name) == place, "{} is listed and not found", name);
      if (is_folder(place.facet)) folders.push_back(place);
      return true;
    });
    for (const Place place : folders) {
      require(layout_.parent(place) == folder, "a folder is in another than it is listed in");
      check_folder(place);
    }
  }

  void check_tensor(uint32_t index) {
    const Tensor& tensor = tensors()[index];
    accepted([&] {
      const std::string json = tensor_json(*model_, index);
      require(nlohmann::json::accept(json), "the JSON of tensor {} is none", index);
      const JsonEdit edit = parse_json_edit(*model_, index, nullptr, json);
      require(!edit.dims && !edit.doc_string, "the JSON of tensor {} edits it", index);
    });
    Rope payload;
    const bool broken = !model_->problem(index).empty();
    const bool readable = accepted([&] { payload = model_->payload(index); });
    require(!readable || !broken, "tensor {} is broken and can be read", index);
    if (!readable) {
      require(!model_->problem(index).empty(), "tensor {} cannot be read, and nothing says why", index);
      return;
    }
    require(payload.size() == payload_size(tensor, nullptr), "the payload of tensor {} has {} bytes where {} are said",
            index, payload.size(), payload_size(tensor, nullptr));
    if (!budget_.allows(payload.size())) return;
    accepted([&] { check_contents(index, payload); });
  }

  void check_contents(uint32_t index, const Rope& payload) {
    const std::string bytes = read_both_ways(payload);
    const TensorContent content = tensor_content(*model_, index, nullptr, payload);
    const bool strings = content.tensor.data_type == string_type;
    // Few elements of 2 bits are many lines.
    const uint64_t lines = strings ? payload.size() * 6 + content.tensor.elements * 3 : text_size(content);
    if (budget_.allows(lines)) {
      const Rope view = text(content);
      require(strings || view.size() == lines, "text of tensor {} has {} bytes, not {}", index, view.size(), lines);
      require(lines_of(read_both_ways(view)) == stored_elements(content.tensor), "text of tensor {} has other lines",
              index);
    }
    if (has_npy(content.tensor) && budget_.allows(npy_size(content))) {
      const Rope view = npy(content);
      require(view.size() == npy_size(content), "npy of tensor {} has another size", index);
      read_both_ways(view);
      const Rope again = parse_npy(view, content.tensor);
      require(read_both_ways(again) == with_clear_padding(content.tensor, payload).text(),
              "npy of tensor {} has other elements", index);
    }
    if (!budget_.allows(payload.size() + 1000)) return;
    const Rope message = pb(content);
    require(strings || message.size() == pb_size(content), "pb of tensor {} has another size", index);
    check_message(index, read_both_ways(message), bytes);
  }

  // That a reader of .pb files finds the tensor.
  void check_message(uint32_t index, const std::string& message, const std::string& payload) {
    const Tensor& was = tensors()[index];
    if (was.type() == nullptr || !was.elements_known) return;
    const auto source = std::make_shared<MemorySource>(message);
    const Catalog catalog = scan_catalog(source, DataFiles::beside(model_->path()), true);
    require(catalog.tensors().size() == 1, "pb of tensor {} is {} tensors", index, catalog.tensors().size());
    const Tensor& is = catalog.tensors()[0];
    require(is.data_type == was.data_type && std::ranges::equal(is.dims, was.dims) && is.nbytes == payload.size(),
            "pb of tensor {} is another tensor", index);
    if (!is.in_one_piece) return;
    require(message.substr(is.data.begin, is.data.size()) == payload, "pb of tensor {} has another payload", index);
  }

  void check_documents() {
    const PathOf path_of = [this](uint32_t tensor) { return tree_.path_of_tensor(tensor); };
    accepted([&] { require(nlohmann::json::accept(model_json(*model_)), "model.json is no JSON"); });
    accepted([&] {
      const std::string text = graph_txt(*model_);
      require(is_utf8(text), "graph.txt is not UTF-8");
      lines_of(text);
    });
    const std::string rows = index_tsv(*model_, path_of);
    require(lines_of(rows) == tensors().size() + 1 && is_utf8(rows), "index.tsv has other rows than the tensors");
    const std::string problems = problems_txt(*model_, path_of);
    require(lines_of(problems) == model_->findings().size(), "problems.txt has other lines than there are findings");
    require(problems.empty() != model_->has_findings(), "problems.txt is there, or it is not");
    check_safetensors(path_of);
    accepted([&] {
      SumsSubject subject{model_, path_of, [this](uint32_t tensor) { return model_->payload(tensor); },
                          [](uint32_t) { return uint64_t{0}; }, std::make_shared<DigestCache>()};
      const Rope sums = xxh128_sums(std::move(subject));
      if (budget_.allows(sums.size())) lines_of(sums.text());
    });
    const std::vector<Extent> live = live_model(*model_, {}).extents();
    require(live.size() == 1 && live[0].source == model_->file() && live[0].length == model_->file()->size(),
            "the live model without edits is not the original");
    require(model_patches(*model_, {}).value().empty(), "a model without edits has patches");
    for (uint32_t i = 0; i < model_->catalog().data_files().size(); ++i) {
      const DataFile& file = model_->catalog().data_files()[i];
      if (!file.source) continue;
      require(live_data_file(*model_, i, {}).size() == file.source->size(), "a data file without edits is another");
    }
    structure_hash(*model_);
    const SharedPayloads shared(model_->catalog());
    for (uint32_t i = 0; i < tensors().size(); ++i) {
      const auto sharers = shared.sharers(shared.owner(i));
      require(std::ranges::count(sharers, i) == 1, "tensor {} does not share its own payload", i);
    }
  }

  // By the rules of the format's reference reader.
  void check_safetensors(const PathOf& path_of) {
    Rope file;
    if (!accepted([&] { file = safetensors(model_, {}, path_of); })) return;
    require(file.size() >= 8, "model.safetensors has no header");
    const std::string length = file.slice(0, 8).text();
    uint64_t header_size = 0;
    for (size_t i = 8; i-- != 0;) header_size = header_size << 8 | static_cast<uint8_t>(length[i]);
    require(header_size % 8 == 0 && header_size <= file.size() - 8, "model.safetensors has a header of {} bytes",
            header_size);
    const auto header = nlohmann::json::parse(file.slice(8, header_size).text());
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (const auto& [key, value] : header.items()) {
      if (key == "__metadata__") continue;
      ranges.emplace_back(value["data_offsets"][0], value["data_offsets"][1]);
    }
    std::ranges::sort(ranges);
    uint64_t at = 0;
    for (const auto& [begin, end] : ranges) {
      require(begin == at && end >= begin, "model.safetensors has a hole at {}", at);
      at = end;
    }
    require(at == file.size() - 8 - header_size, "model.safetensors has bytes behind its tensors");
  }

  std::shared_ptr<const Model> model_;
  Layout layout_;
  const Tree& tree_;
  Budget budget_;
};

}  // namespace

std::string read_both_ways(const Rope& rope) {
  const std::string whole = rope.text();
  require(whole.size() == rope.size(), "a rope has another size than its bytes");
  // Not a multiple of anything that lies on the way.
  const uint64_t piece = rope.size() / 7 + 3;
  std::string pieces(whole.size(), '\0');
  for (uint64_t end = pieces.size(); end != 0;) {
    const uint64_t begin = end - std::min(piece, end);
    rope.read(begin, std::as_writable_bytes(std::span(pieces).subspan(begin, end - begin)));
    end = begin;
  }
  require(pieces == whole, "a rope has other bytes when it is read in pieces");
  return whole;
}

void check_views(const std::shared_ptr<const Model>& model) { ViewsCheck(model).run(); }

}  // namespace onnxfs::fuzz
