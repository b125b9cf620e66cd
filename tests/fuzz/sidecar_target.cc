#include <xxhash.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/bytes/error.h"
#include "core/bytes/hash.h"
#include "core/onnx/tensor_fields.h"
#include "core/sidecar/annotation.h"
#include "core/sidecar/base.h"
#include "core/sidecar/journal.h"
#include "core/sidecar/record.h"
#include "core/sidecar/sidecar.h"
#include "core/views/json_edit.h"
#include "core/views/live_model.h"
#include "core/views/tensor_json.h"
#include "tests/fuzz/model_check.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/workspace.h"
#include "tests/unit/models.h"

namespace onnxfs::fuzz {

namespace {

namespace files = std::filesystem;
using nlohmann::json;

// What an input damages, by its first byte.
enum Part : uint8_t { records, base_json, journal_json, parts };

// A record of an input: what to do (its type, and the flags below), tensor or stage, offset (two bytes, 0xffff for the
// largest that there is), length, and then the bytes.
constexpr size_t head_size = 5;
constexpr uint8_t torn_header = 0x10, torn_bytes = 0x20, next_blob = 0x40, gap = 0x80;

std::string text_of(const auto& array) { return {reinterpret_cast<const char*>(array.data()), array.size()}; }

// One model and, for each input, another sidecar of it.
class Subject {
 public:
  Subject() {
    const auto outside = [](std::string_view name) {
      return testing::external(testing::tensor(name, testing::type::uint8, {8}),
                               {{"location", "w.bin"}, {"length", "8"}});
    };
    const auto graph = testing::graph({
        testing::tensor("raw", testing::type::uint8, {16}).bytes(9, "0123456789abcdef"),
        testing::tensor("numbers", testing::type::int64, {4}).packed(7, {1, 2, 300, 4}),
        testing::tensor("strings", testing::type::string, {2}).bytes(6, "one").bytes(6, "two"),
        outside("outside"),
        outside("tied"),
        testing::tensor("broken", testing::type::float32, {3}).bytes(9, "1234"),
    });
    model_ = Model::open(workspace_.write("model.onnx", testing::model(graph).str()));
    base_ = Base::of(*model_);
    for (const DataFile& file : model_->catalog().data_files()) base_.add(file);
  }

  const Model& model() const { return *model_; }
  const std::string& folder() const { return folder_; }
  std::shared_ptr<Sidecar> open(Opening opening = Opening::ordinary) const {
    return Sidecar::open(model_, folder_, "a fuzz target", Disk::real(), opening);
  }

  void begin(bool durable) const {
    files::remove_all(folder_);
    files::create_directory(folder_);
    files::permissions(folder_, files::perms::owner_all);
    Base base = base_;
    if (durable) base.durable = 2;
    base.write(folder_, Disk::real());
  }

  // Encodes the records, each sound by itself but where the input says otherwise.
  void write_records(std::string_view input) const {
    uint32_t number = 1;
    uint64_t sequence = 1;
    std::string bytes = text_of(BlobHeader{log_version, number, base_.log_id}.encode());
    for (; input.size() >= head_size; ++sequence) {
      const std::string_view head = input.substr(0, head_size);
      const auto at = [head](size_t i) { return static_cast<uint8_t>(head[i]); };
      const uint8_t what = at(0);
      if ((what & next_blob) != 0) {
        write_blob(number++, bytes);
        bytes = text_of(BlobHeader{log_version, number, base_.log_id}.encode());
      }
      if ((what & gap) != 0) ++sequence;
      Record record;
      record.type = static_cast<RecordType>(what & 0xf);
      record.offset = at(2) | at(3) << 8;
      if (record.offset == 0xffff) record.offset = UINT64_MAX;
      record.sequence = sequence;
      record.tensor = at(1);
      std::string content(input.substr(head_size, at(4)));
      input.remove_prefix(head_size + content.size());
      const auto& tensors = model_->catalog().tensors();
      if (record.staged() || record.type == RecordType::lost) {
        record.message = at(1) >> 4;
        record.tensor = at(1) & 0xf;
      } else if (record.tensor < tensors.size()) {
        record.message = tensors[record.tensor].message.begin;
      }
      if (record.type == RecordType::replace && content.size() == 2) {
        content = text_of(StageReference{static_cast<uint8_t>(content[0]), static_cast<uint8_t>(content[1])}.encode());
      }
      record.length = static_cast<uint32_t>(content.size());
      record.bytes_hash = xxh3(std::as_bytes(std::span(content))) ^ ((what & torn_bytes) != 0 ? 1 : 0);
      std::string header = text_of(record.encode(base_.log_id));
      if ((what & torn_header) != 0) header[header.size() / 2] ^= 1;
      bytes += header + content;
      bytes.resize((bytes.size() + 7) / 8 * 8);
    }
    write_blob(number, bytes);
  }

  // Writes one of the JSON files, with its checksum put right if it is an object.
  void write_json(const std::string& name, std::string_view input) const {
    json object = json::parse(input, nullptr, false);
    std::string text(input);
    if (object.is_object()) {
      object.erase("checksum");
      const std::string plain = object.dump(-1, ' ', false, json::error_handler_t::replace);
      object["checksum"] = fmt::format("{:016x}", XXH3_64bits(plain.data(), plain.size()));
      text = object.dump(-1, ' ', false, json::error_handler_t::replace);
    }
    workspace_.write("model.onnx.sidecar/" + name, text);
  }

  std::string read(const std::string& name) const { return Rope::of(FileSource::open(folder_ + "/" + name)).text(); }

 private:
  void write_blob(uint32_t number, const std::string& bytes) const {
    workspace_.write(fmt::format("model.onnx.sidecar/{:08}.blob", number), bytes);
  }

  Workspace workspace_;
  std::string folder_ = workspace_ / "model.onnx.sidecar";
  std::shared_ptr<const Model> model_;
  Base base_;
};

const Subject& subject() {
  static const Subject subject;
  return subject;
}

struct State {
  std::string payload;
  std::string json;  // but for the time, all that there is to see of an edit
  bool operator==(const State&) const = default;
};

// What the edits make of each tensor that is not broken. That what replaced a tensor is one of its values.
std::vector<State> states_of(const Sidecar& sidecar) {
  std::vector<State> states;
  const Model& model = sidecar.model();
  for (uint32_t i = 0; i < model.catalog().tensors().size(); ++i) {
    const Tensor& tensor = model.catalog().tensors()[i];
    const TensorEditPtr edit = sidecar.edits().find(i);
    if (tensor.broken()) {
      require(edit == nullptr, "a broken tensor is edited");
      continue;
    }
    const Rope payload = sidecar.payload(i);
    if (tensor.data_type != string_type) {
      require(payload.size() == tensor.nbytes, "a tensor of {} bytes became one of {}", tensor.nbytes, payload.size());
    }
    if (edit != nullptr && edit->dims) {
      require(element_count(*edit->dims) == tensor.elements, "a tensor has the shape of another number of elements");
    }
    states.push_back({read_both_ways(payload), tensor_json(model, i, edit.get())});
    require(json::accept(states.back().json), "the JSON of tensor {} is none", i);
  }
  return states;
}

}  // namespace

// A sidecar's log, its base.json, or the journal of a commit, made of the input. Opening it says what is wrong, and
// says the same again, since it changes nothing; or the edits are there and fit the model, can be added to, and are
// there when it is opened again.
void run_sidecar(std::string_view input) {
  if (input.empty()) return;
  const auto control = static_cast<uint8_t>(input[0]);
  const std::string_view rest = input.substr(1);
  subject().begin((control & 0x10) != 0);
  switch (control % 4 % parts) {
    case records: subject().write_records(rest); break;
    case base_json: subject().write_json("base.json", rest); break;
    case journal_json: subject().write_json("commit.journal", rest); break;
    default: break;
  }
  accepted([&] { Journal::read(subject().folder()); });
  std::shared_ptr<Sidecar> sidecar;
  const auto opening = (control & 0x20) != 0 ? Opening::resuming : Opening::ordinary;
  if (!accepted([&] { sidecar = subject().open(opening); })) {
    require(!accepted([&] { sidecar = subject().open(opening); }), "a sidecar that was refused is taken");
    return;
  }
  const std::vector<State> before = states_of(*sidecar);
  accepted([&] { live_model(subject().model(), sidecar->edits().snapshot()); });
  // Another opening of what is there already sees the same.
  require(states_of(*subject().open(opening)) == before, "a log that is read twice says something else");
  const bool written = accepted([&] { sidecar->write(0, 3, std::as_bytes(std::span("!", 1))); });
  const std::vector<State> after = states_of(*sidecar);
  require(written || after == before, "a write that was refused changed something");
  sidecar.reset();
  const std::string why = refusal([&] { sidecar = subject().open(opening); });
  require(why.empty(), "what was written cannot be opened: {}", why);
  require(states_of(*sidecar) == after, "what was written is another when it is opened again");
}

std::vector<std::string> seeds_of_sidecar() {
  const auto record = [](RecordType type, uint8_t tensor, uint16_t offset, std::string_view bytes, uint8_t flags = 0) {
    std::string text;
    for (const int byte :
         {static_cast<int>(type) | flags, int{tensor}, offset & 0xff, offset >> 8, static_cast<int>(bytes.size())}) {
      text += static_cast<char>(byte);
    }
    return text += bytes;
  };
  const auto reference = [](uint8_t id, uint8_t count) {
    return std::string{static_cast<char>(id), static_cast<char>(count)};
  };
  const std::string dims = Annotation{std::vector<int64_t>{2, 8}, "doc"}.encode();
  using enum RecordType;
  const std::string edits = record(write, 0, 4, "abcd") + record(write, 1, 0, "12345678") +
                            record(annotate, 0, 0, dims) + record(write, 4, 7, "z") + record(mark, 0, 0, "");
  const std::string strings("\1\0\0\0a\2\0\0\0bc", 11);
  const std::string staged = record(staged_write, 0x00, 0, strings) + record(replace, 2, 11, reference(1, 1)) +
                             record(staged_write, 0x00, 0, "01234567") + record(staged_resize, 0x31, 16, "") +
                             record(replace, 0, 16, reference(3, 2), next_blob) + record(revert, 2, 0, "");
  const std::string missing = record(staged_write, 0x23, 2, "xy", gap) + record(replace, 0, 16, reference(2, 4)) +
                              record(compacted, 0, 4, "") + record(lost, 0x60, 2, "");
  std::vector<std::string> seeds;
  for (const int control : {0, 0x10, 0x20}) {
    for (const std::string& log : {edits, staged, missing, edits + staged}) {
      seeds.push_back(static_cast<char>(control) + log);
    }
    seeds.push_back(static_cast<char>(control) + edits + record(write, 0, 0, "torn", torn_bytes));
    seeds.push_back(static_cast<char>(control) + edits + record(write, 0, 0, "torn", torn_header) + staged);
  }
  subject().begin(true);
  seeds.push_back('\1' + subject().read("base.json"));
  seeds.push_back(
      "\2{\"format\": 1, \"kind\": \"rename\", \"edits\": 1, \"files\": [{\"path\": \"w.bin\", \"size\": 64, "
      "\"inode\": 4}, {\"path_hex\": \"ff41\", \"size\": 1, \"inode\": 2}]}");
  seeds.push_back("\2{\"format\": 1, \"kind\": \"in place\", \"edits\": 1, \"files\": []}");
  return seeds;
}

}  // namespace onnxfs::fuzz
