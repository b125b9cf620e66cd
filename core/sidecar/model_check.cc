#include "core/sidecar/model_check.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/onnx/external_reference.h"
#include "core/onnx/scan.h"
#include "core/onnx/typed_source.h"
#include "core/views/padding.h"

namespace onnxfs {

namespace {

bool have_same_bytes(const Rope& a, const Rope& b) {
  if (a.size() != b.size()) return false;
  std::array<std::byte, 16 * 1024> of_a, of_b;
  for (const ByteRange range : changed_ranges(a, b)) {
    for (uint64_t at = range.begin; at != range.end;) {
      const size_t n = static_cast<size_t>(std::min<uint64_t>(of_a.size(), range.end - at));
      a.read(at, std::span(of_a).first(n));
      b.read(at, std::span(of_b).first(n));
      if (!std::equal(of_a.begin(), of_a.begin() + static_cast<ptrdiff_t>(n), of_b.begin())) return false;
      at += n;
    }
  }
  return true;
}

TensorFields fields_of(wire::Window& window, std::span<const ByteRange> pieces) {
  TensorFields fields;
  for (const ByteRange piece : pieces) fields.scan(window, piece);
  return fields;
}

class ModelCheck {
 public:
  ModelCheck(const std::shared_ptr<const FileSource>& written, const Rope& content, const Model& model,
             const Edits& edits, const Relocations& relocations, const Moves& moves)
      : content_(content),
        model_(model),
        edits_(edits),
        relocations_(relocations),
        moves_(moves),
        file_(written),
        window_(written),
        old_window_(model.file()),
        catalog_(scan_catalog(written, DataFiles::beside(model.path()), model.path().ends_with(".pb"))) {}

  void run() {
    const auto& before = model_.catalog();
    if (catalog_.tensors().size() != before.tensors().size()) fail_with("another number of tensors");
    if (catalog_.sections().size() != before.sections().size()) fail_with("other nodes and graphs");
    for (index_ = 0; index_ < catalog_.tensors().size(); ++index_) check();
  }

 private:
  const Tensor& was() const { return model_.catalog().tensors()[index_]; }
  const Tensor& is() const { return catalog_.tensors()[index_]; }

  void check() {
    const auto found = edits_.find(index_);
    static const TensorEdit nothing;
    const TensorEdit& edit = found == edits_.end() || !found->second ? nothing : *found->second;
    if (is().name != was().name || is().leaf != was().leaf) fail_with("another name");
    if (is().data_type != was().data_type || is().kind != was().kind) fail_with("another type");
    const std::span<const int64_t> dims = edit.dims ? std::span<const int64_t>(*edit.dims) : was().dims;
    if (!std::ranges::equal(is().dims, dims)) fail_with("another shape");
    if (edit.doc_string) check_doc_string(*edit.doc_string);
    if (const auto move = moves_.find(index_); move != moves_.end()) return check_move(move->second);
    if (was().broken() || was().storage == Storage::delayed) return;
    if (was().storage == Storage::external) return check_reference();
    if (is().broken()) fail_with(catalog_.findings()[is().problem].text);
    if (edit.payload && was().nbytes != 0) return check_payload(with_clear_padding(was(), *edit.payload));
    if (was().in_one_piece && !has_itself_as_data_) check_payload(with_clear_padding(was(), model_.payload(index_)));
  }

  void check_payload(const Rope& expected) {
    Rope found;
    if (is().in_one_piece) {
      found = content_.slice(is().data.begin, is().data.size());
    } else {
      // Typed fields are read as a model reads them.
      found = Rope::of(std::make_shared<TypedSource>(file_, typed_layout(is(), catalog_.pieces(is()))));
    }
    if (!have_same_bytes(with_clear_padding(is(), found), expected)) fail_with("another payload");
  }

  void check_doc_string(const std::string& expected) {
    const TensorFields fields = fields_of(window_, catalog_.pieces(is()));
    const std::string found = fields.doc_string ? window_.text(*fields.doc_string) : std::string();
    if (found != expected) fail_with("another doc_string");
  }

  void check_reference() {
    if (is().storage != Storage::external) fail_with("no external data");
    if (was().elements == 0) return;
    const ExternalReference old =
        parse_external(old_window_, fields_of(old_window_, model_.catalog().pieces(was())).external_data);
    const ExternalReference now = parse_external(window_, fields_of(window_, catalog_.pieces(is())).external_data);
    const auto relocated = relocations_.find(was().data_file);
    const std::string& location = relocated == relocations_.end() ? old.location : relocated->second;
    if (now.location != location || now.offset != old.offset || now.length != old.length) {
      fail_with("another place in its data file");
    }
  }

  void check_move(const Move& move) {
    if (move.location.empty()) {
      if (is().storage == Storage::external) fail_with("external data");
      if (is().broken()) fail_with(catalog_.findings()[is().problem].text);
      if (!move.payload.empty()) check_payload(with_clear_padding(is(), move.payload));
      return;
    }
    if (is().storage != Storage::external) fail_with("no external data");
    const ExternalReference now = parse_external(window_, fields_of(window_, catalog_.pieces(is())).external_data);
    if (now.location != move.location || now.offset != move.offset || now.length != move.payload.size()) {
      fail_with("another place in its data file");
    }
  }

  [[noreturn]] void fail_with(std::string_view what) const {
    if (index_ >= model_.catalog().tensors().size())
      fail(EIO, "the new {} has {}; it was not put in place", model_.name(), what);
    fail(EIO, "tensor \"{}\" of the new {} is wrong: {}; it was not put in place", was().leaf, model_.name(), what);
  }

  const Rope& content_;
  const Model& model_;
  const Edits& edits_;
  const Relocations& relocations_;
  const Moves& moves_;
  SourcePtr file_;
  wire::Window window_;
  wire::Window old_window_;
  Catalog catalog_;
  // Whether external tensors may stand on the bytes of others, so that an edit of one is an edit of both.
  bool has_itself_as_data_ = std::ranges::any_of(model_.catalog().data_files(), [this](const DataFile& file) {
    return file.source && file.source->identity() == model_.file()->identity();
  });
  uint32_t index_ = Tensor::no_index;  // of the tensor that is looked at
};

}  // namespace

void require_edits_in(const std::shared_ptr<const FileSource>& written, const Rope& content, const Model& model,
                      const Edits& edits, const Relocations& relocations, const Moves& moves) {
  ModelCheck(written, content, model, edits, relocations, moves).run();
}

}  // namespace onnxfs
