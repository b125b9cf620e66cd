#include "core/onnx/settle.h"

#include <array>
#include <cerrno>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/onnx/external_reference.h"

namespace onnxfs {

namespace {

using enum TypedField;

constexpr std::array typed_fields{float_data, int32_data, string_data, int64_data, double_data, uint64_data};

class Settler {
 public:
  Settler(const TensorFields& fields, ByteRange message, wire::Window& window, DataFiles& files,
          std::vector<Remark>& remarks)
      : fields_(fields), window_(window), files_(files), remarks_(remarks) {
    tensor_.message = message;
    tensor_.data_type = fields.data_type;
    tensor_.annotated = fields.doc_string && !fields.doc_string->empty();
  }

  Tensor run() {
    try {
      settle();
    } catch (const Error& error) {
      if (error.code() == EIO || error.code() == ESTALE) throw;  // the model file itself cannot be read
      broken(error.what());
    }
    return tensor_;
  }

 private:
  void settle() {
    remark_on_oddities();
    const DataType* type = tensor_.type();
    const auto elements = element_count(fields_.dims);
    tensor_.elements_known = elements.has_value();
    tensor_.elements = elements.value_or(0);
    if (type == nullptr) return settle_unknown_type();
    if (!elements) fail(EINVAL, "{} is no shape", describe(fields_.data_type, fields_.dims));
    if (type->number != string_type) {
      const auto size = payload_size(*type, *elements);
      if (!size) fail(EINVAL, "{} is larger than any file", describe(fields_.data_type, fields_.dims));
      tensor_.nbytes = *size;
    }
    if (*elements == 0) return settle_empty();
    if (fields_.external) return settle_external(*type);
    if (fields_.raw_data) return settle_raw(*type);
    settle_typed(*type);
  }

  // What is odd but leaves no doubt about the bytes.
  void remark_on_oddities() {
    if (fields_.segment) note("a segment field, which readers ignore");
    if (fields_.external && fields_.raw_data) note("raw_data beside external data; the external data counts");
    if (!fields_.external && !fields_.external_data.empty()) {
      note("external_data entries, but data_location does not say EXTERNAL; they are ignored");
    }
    const DataType* type = tensor_.type();
    for (const TypedField field : typed_fields) {
      if (fields_.of(field).most == 0) continue;
      if (fields_.external) note("{} beside external data; the external data counts", name_of(field));
      else if (fields_.raw_data) note("both raw_data and {}; raw_data counts", name_of(field));
      else if (type != nullptr && type->typed_field != field) {
        note("entries in {}, which {} does not use; they are ignored", name_of(field), type->onnx_name);
      }
    }
  }

  void settle_unknown_type() {
    if (fields_.external) {
      tensor_.storage = Storage::external;
      const ExternalReference reference = parse_external(window_, fields_.external_data);
      const FileSource& file = open_data_file(reference);
      const uint64_t rest = reference.offset <= file.size() ? file.size() - reference.offset : 0;
      tensor_.nbytes = reference.length.value_or(rest);
      place_external(reference, file);
    } else if (fields_.raw_data) {
      tensor_.nbytes = fields_.raw_data->size();
      place(Storage::raw_data, *fields_.raw_data);
    } else {
      fail(EINVAL, "data type {} and no raw_data: its bytes are unknown",
           fields_.data_type == undefined_type ? "UNDEFINED" : fmt::to_string(fields_.data_type));
    }
    note("data type {} is {}; its bytes are shown as they are", fields_.data_type,
         fields_.data_type == undefined_type ? "UNDEFINED" : "unknown");
  }

  // Size 0, whatever is there. No data file is opened for it.
  void settle_empty() {
    if (fields_.external) {
      tensor_.storage = Storage::external;
    } else if (fields_.raw_data) {
      tensor_.storage = Storage::raw_data;
      if (!fields_.raw_data->empty())
        note("no elements, but {} bytes of raw_data; it is empty", fields_.raw_data->size());
    } else if (fields_.of(tensor_.type()->typed_field).most != 0) {
      tensor_.storage = Storage::typed;
      note("no elements, but entries in {}; it is empty", name_of(tensor_.type()->typed_field));
    }
  }

  void settle_external(const DataType& type) {
    tensor_.storage = Storage::external;
    if (type.number == string_type) fail(EINVAL, "a tensor of strings cannot have external data");
    const ExternalReference reference = parse_external(window_, fields_.external_data);
    if (reference.length && *reference.length != tensor_.nbytes) {
      fail(EINVAL, "its external data has length {}, {} needs {}", *reference.length, shape(), tensor_.nbytes);
    }
    place_external(reference, open_data_file(reference));
  }

  const FileSource& open_data_file(const ExternalReference& reference) {
    for (const std::string& key : reference.unknown) note("unknown external_data key \"{}\"; it is ignored", key);
    tensor_.annotated |= !reference.checksum.empty();
    tensor_.data_file = files_.open(reference.location);
    const DataFile& file = files_.files()[tensor_.data_file];
    if (!file.source) throw Error(EINVAL, file.refusal);
    return *file.source;
  }

  void place_external(const ExternalReference& reference, const FileSource& file) {
    if (!fits(reference.offset, tensor_.nbytes, file.size())) {
      fail(EINVAL, "its external data at {} + {} bytes ends past the {} bytes of \"{}\"", reference.offset,
           tensor_.nbytes, file.size(), reference.location);
    }
    place(Storage::external, {reference.offset, reference.offset + tensor_.nbytes});
    try {
      remark_on_padding(file);
    } catch (const Error& error) {
      throw Error(EINVAL, error.what());  // a data file that cannot be read breaks this tensor and no other
    }
  }

  void settle_raw(const DataType& type) {
    tensor_.storage = Storage::raw_data;
    if (type.number == string_type) fail(EINVAL, "a tensor of strings cannot have raw_data");
    if (fields_.raw_data->size() != tensor_.nbytes) {
      fail(EINVAL, "raw_data has {} bytes, {} needs {}", fields_.raw_data->size(), shape(), tensor_.nbytes);
    }
    place(Storage::raw_data, *fields_.raw_data);
    remark_on_padding(*window_.source());
  }

  // The bits that are left over in the last byte of packed elements have to be zero, though few readers mind.
  void remark_on_padding(const Source& source) {
    const DataType* type = tensor_.type();
    if (type == nullptr || tensor_.nbytes == 0) return;
    const uint32_t used = used_bits_of_last_byte(*type, tensor_.elements);
    if (used == 0) return;
    std::byte last{};
    source.read(tensor_.data.end - 1, {&last, 1});
    if (std::to_integer<unsigned>(last) >> used != 0) note("{}", padding_is_not_zero);
  }

  void settle_typed(const DataType& type) {
    const TypedOccurrences& typed = fields_.of(type.typed_field);
    if (typed.most == 0) fail(EINVAL, "no data; {} needs {} bytes", shape(), tensor_.nbytes);
    tensor_.storage = Storage::typed;
    const uint64_t needed = typed_entries(type, tensor_.elements);
    if (needed < typed.fewest || needed > typed.most) {
      fail(EINVAL, "{} has {} entries, {} needs {}", name_of(type.typed_field),
           typed.counted() ? fmt::to_string(typed.most) : fmt::format("{} to {}", typed.fewest, typed.most), shape(),
           needed);
    }
    tensor_.entries_counted = typed.counted();
    if (typed.longest > longest_string) {
      fail(EINVAL, "a string of {} bytes; no length of four bytes says that", typed.longest);
    }
    remark_on_entries(type, typed);
    if (type.number == string_type) tensor_.nbytes = string_length_prefix * typed.fewest + typed.bytes;
    const bool as_they_are = type.typed_field == float_data || type.typed_field == double_data;
    if (as_they_are && typed.packed == 1 && typed.unpacked == 0) place(Storage::typed, typed.first_packed);
  }

  // Of a long field that is found out when it is read.
  void remark_on_entries(const DataType& type, const TypedOccurrences& typed) {
    if (!typed.counted() || !can_be_odd(type, type.typed_field)) return;
    const std::string odd =
        odd_entries(type, type.typed_field, name_of(type.typed_field), tensor_.elements, typed.values);
    if (!odd.empty()) note("{}", odd);
  }

  void place(Storage storage, ByteRange data) {
    tensor_.storage = storage;
    tensor_.data = data;
    tensor_.in_one_piece = true;
  }

  std::string shape() const { return describe(fields_.data_type, fields_.dims); }

  template <typename... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    remarks_.push_back({printable(fmt::format(format, std::forward<Args>(args)...)), tensor_.message.begin, false});
  }

  void broken(const char* text) {
    tensor_.in_one_piece = false;
    remarks_.push_back({text, tensor_.message.begin, true});
  }

  const TensorFields& fields_;
  wire::Window& window_;
  DataFiles& files_;
  std::vector<Remark>& remarks_;
  Tensor tensor_;
};

}  // namespace

Tensor settle(const TensorFields& fields, ByteRange message, wire::Window& window, DataFiles& files,
              std::vector<Remark>& remarks) {
  return Settler(fields, message, window, files, remarks).run();
}

std::string describe(int32_t data_type, std::span<const int64_t> dims) {
  const DataType* type = find_data_type(data_type);
  return fmt::format("{}[{}]", type ? type->name : "unknown", fmt::join(dims, ", "));
}

}  // namespace onnxfs
