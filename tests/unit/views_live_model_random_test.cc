// Random edits of random models: whoever opens the live model finds the edits, and all else as it was.
#include <gtest/gtest.h>
#include <onnx.pb.h>

#include "core/views/live_model.h"
#include "tests/unit/edits.h"
#include "tests/unit/random_model.h"

namespace onnxfs {
namespace {

using testing::Message;
using testing::RandomEdits;
using testing::RandomModel;
using testing::states;

// Writes what would be committed into a folder of its own, and opens it.
std::shared_ptr<const Model> written(const testing::TemporaryFolder& folder, const Model& model, const Edits& edits) {
  for (uint32_t i = 0; i < model.catalog().data_files().size(); ++i) {
    folder.write("new/" + model.catalog().data_files()[i].location, live_data_file(model, i, edits).text());
  }
  return Model::open(folder.write("new/" + model.name(), live_model(model, edits).text()));
}

void expect_states(const std::vector<testing::TensorState>& actual, const std::vector<testing::TensorState>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(actual[i], expected[i]) << i;
}

// That bytes of the file are left out only inside of messages that were edited, and where lengths stand.
void expect_all_else_copied(const Model& model, const Edits& edits) {
  constexpr uint64_t longest_varint = 10;
  uint64_t at = 0;
  const auto expect_edited = [&](ByteRange gone) {
    for (const auto& [index, edit] : edits) {
      for (const ByteRange piece : model.catalog().pieces(model.catalog().tensors()[index])) {
        // The message's own length stands right before it.
        if (piece.begin <= gone.begin + longest_varint && gone.end <= piece.end) return;
      }
    }
    EXPECT_LE(gone.size(), longest_varint) << "at " << gone.begin;
  };
  for (const Extent& extent : live_model(model, edits).extents()) {
    if (extent.source != model.file()) continue;
    ASSERT_GE(extent.offset, at);
    if (extent.offset != at) expect_edited({at, extent.offset});
    at = extent.offset + extent.length;
  }
  if (at != model.file()->size()) expect_edited({at, model.file()->size()});
}

class LiveModelRandomTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  std::shared_ptr<const Model> open(RandomModel& random) {
    const std::string text = random.model().str();
    folder_.write("w.bin", random.data());
    return Model::open(folder_.write("model.onnx", text));
  }

  testing::TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Seeds, LiveModelRandomTest, ::testing::Range<uint64_t>(0, 150));

TEST_P(LiveModelRandomTest, HasItsEditsAndAllElse) {
  RandomModel random(GetParam());
  const auto model = open(random);
  RandomEdits edits(*model, GetParam());
  edits.edit_some(1 + GetParam() % 4);
  expect_states(states(*written(folder_, *model, edits.edits())), edits.expected());
  expect_all_else_copied(*model, edits.edits());
}

TEST_P(LiveModelRandomTest, WithoutEditsIsTheOriginal) {
  RandomModel random(GetParam());
  const auto model = open(random);
  const auto extents = live_model(*model, {}).extents();
  ASSERT_EQ(extents.size(), 1U);
  EXPECT_EQ(extents[0].source, model->file());
  EXPECT_EQ(extents[0].length, model->file()->size());
  EXPECT_TRUE(model_patches(*model, {}).value().empty());
}

TEST_P(LiveModelRandomTest, EditedWithItsOwnBytesIsTheSame) {
  RandomModel random(GetParam());
  const auto model = open(random);
  Edits all, in_place;
  const auto before = states(*model);
  std::vector<testing::TensorState> expected = before;
  for (uint32_t i = 0; i < before.size(); ++i) {
    const Tensor& tensor = model->catalog().tensors()[i];
    ASSERT_EQ(before[i].problem, "") << i;
    expected[i].payload = testing::with_zero_padding(tensor, before[i].payload);
    TensorEdit edit;
    edit.payload = Rope::of(before[i].payload);
    edit.dims.emplace(tensor.dims.begin(), tensor.dims.end());
    edit.doc_string = before[i].doc_string;
    if (!testing::is_tensor_message(tensor)) edit.dims.reset();
    all.emplace(i, std::make_shared<const TensorEdit>(edit));
    const bool is_padded = expected[i].payload != before[i].payload;
    if (tensor.in_one_piece && !is_padded) in_place.emplace(i, std::make_shared<const TensorEdit>(edit));
  }
  expect_states(states(*written(folder_, *model, all)), expected);
  EXPECT_TRUE(live_model(*model, in_place).text() == Rope::of(model->file()).text());
  EXPECT_TRUE(model_patches(*model, in_place));
}

TEST_P(LiveModelRandomTest, ValuesHaveTheirEditsToo) {
  RandomModel random(GetParam());
  const auto sequence = [&random](uint64_t count) {
    Message message = Message().varint(2, 1);
    for (; count != 0; --count) message.message(3, random.tensor());
    return message;
  };
  const Message map = Message().varint(2, 7).varint(3, random.random()()).packed(3, {1}).message(5, sequence(2));
  const Message nested = Message().varint(2, 3).message(5, sequence(3)).message(5, sequence(1));
  const Message flat = sequence(2 + random.random()() % 4);
  folder_.write("w.bin", random.data());
  for (const Message& root : {flat, map, nested}) {
    const auto model = Model::open(folder_.write("values.pb", root.str()));
    RandomEdits edits(*model, GetParam());
    edits.edit_some(2);
    const auto after = written(folder_, *model, edits.edits());
    EXPECT_EQ(after->root(), model->root());
    expect_states(states(*after), edits.expected());
  }
}

// The same edits made with protobuf's own classes, on the tensors and attributes of the names.
class ProtobufEditor {
 public:
  ProtobufEditor(const std::vector<testing::TensorState>& wanted, const Model& model, const Edits& edits) {
    for (const auto& [index, edit] : edits) {
      const Tensor& tensor = model.catalog().tensors()[index];
      const auto extents = tensor.broken() ? std::vector<Extent>() : model.payload(index).extents();
      const bool in_place = std::ranges::all_of(extents, [&](const Extent& e) { return e.source == model.file(); });
      auto& changes = testing::is_tensor_message(tensor) ? tensors_ : attributes_;
      changes[testing::is_tensor_message(tensor) ? wanted[index].name : wanted[index].leaf] = {&tensor, &wanted[index],
                                                                                               edit, in_place};
    }
  }

  void edit(proto::ModelProto& model) {
    edit(*model.mutable_graph());
    for (auto& function : *model.mutable_functions()) {
      for (auto& node : *function.mutable_node()) edit(node);
      for (auto& attribute : *function.mutable_attribute_proto()) edit(attribute);
    }
    for (auto& training : *model.mutable_training_info()) {
      edit(*training.mutable_initialization());
      edit(*training.mutable_algorithm());
    }
  }

 private:
  struct Change {
    const Tensor* tensor = nullptr;
    const testing::TensorState* state = nullptr;
    TensorEditPtr edit;
    bool in_place = false;
  };

  void edit(proto::GraphProto& graph) {
    for (auto& tensor : *graph.mutable_initializer()) edit(tensor);
    for (auto& sparse : *graph.mutable_sparse_initializer()) edit(sparse);
    for (auto& node : *graph.mutable_node()) edit(node);
  }

  void edit(proto::SparseTensorProto& sparse) {
    edit(*sparse.mutable_values());
    edit(*sparse.mutable_indices());
  }

  void edit(proto::NodeProto& node) {
    for (auto& attribute : *node.mutable_attribute()) edit(attribute);
  }

  void edit(proto::AttributeProto& attribute) {
    if (attribute.has_t()) edit(*attribute.mutable_t());
    for (auto& tensor : *attribute.mutable_tensors()) edit(tensor);
    if (attribute.has_sparse_tensor()) edit(*attribute.mutable_sparse_tensor());
    if (attribute.has_g()) edit(*attribute.mutable_g());
    for (auto& graph : *attribute.mutable_graphs()) edit(graph);
    const auto change = attributes_.find(attribute.name());
    if (change != attributes_.end()) set_list(attribute, change->second.state->payload);
  }

  static std::vector<std::string> split(const std::string& payload) {
    std::vector<std::string> strings;
    for (size_t at = 0; at < payload.size();) {
      uint32_t size = 0;
      std::memcpy(&size, payload.data() + at, 4);
      strings.push_back(payload.substr(at + 4, size));
      at += 4 + size;
    }
    return strings;
  }

  template <typename Number>
  static Number number(const std::string& payload, size_t i) {
    Number value;
    std::memcpy(&value, payload.data() + i * sizeof value, sizeof value);
    return value;
  }

  static void set_list(proto::AttributeProto& attribute, const std::string& payload) {
    if (attribute.has_f()) attribute.set_f(number<float>(payload, 0));
    if (attribute.has_i()) attribute.set_i(number<int64_t>(payload, 0));
    if (attribute.has_s()) attribute.set_s(split(payload).front());
    for (int i = 0; i < attribute.floats_size(); ++i) attribute.set_floats(i, number<float>(payload, size_t(i)));
    for (int i = 0; i < attribute.ints_size(); ++i) attribute.set_ints(i, number<int64_t>(payload, size_t(i)));
    for (int i = 0; i < attribute.strings_size(); ++i) attribute.set_strings(i, split(payload)[size_t(i)]);
  }

  void edit(proto::TensorProto& tensor) {
    const auto found = tensors_.find(tensor.name());
    if (found == tensors_.end()) return;
    const auto& [known, state, change, in_place] = found->second;
    if (change->payload && known->storage == Storage::typed) {
      if (known->data_type == string_type) {
        tensor.clear_string_data();
        for (const std::string& text : split(state->payload)) tensor.add_string_data(text);
      } else if (!in_place) {
        tensor.clear_float_data();
        tensor.clear_double_data();
        tensor.clear_int32_data();
        tensor.clear_int64_data();
        tensor.clear_uint64_data();
        tensor.set_raw_data(state->payload);
      } else {
        for (int i = 0; i < tensor.float_data_size(); ++i) {
          tensor.set_float_data(i, number<float>(state->payload, size_t(i)));
        }
        for (int i = 0; i < tensor.double_data_size(); ++i) {
          tensor.set_double_data(i, number<double>(state->payload, size_t(i)));
        }
      }
    } else if (change->payload && known->storage == Storage::raw_data) {
      tensor.set_raw_data(state->payload);
    }
    if (change->dims) {
      tensor.clear_dims();
      for (const int64_t dim : state->dims) tensor.add_dims(dim);
    }
    if (!change->doc_string) return;
    if (!state->doc_string.empty()) tensor.set_doc_string(state->doc_string);
    else if (!tensor.doc_string().empty()) tensor.clear_doc_string();
  }

  std::map<std::string, Change> tensors_, attributes_;
};

TEST_P(LiveModelRandomTest, IsWhatProtobufWouldMakeOfTheEdits) {
  RandomModel random(GetParam(), 5);
  const auto model = open(random);
  RandomEdits edits(*model, GetParam());
  edits.edit_some(2);
  proto::ModelProto expected, actual;
  ASSERT_TRUE(expected.ParseFromString(Rope::of(model->file()).text()));
  ProtobufEditor(edits.expected(), *model, edits.edits()).edit(expected);
  ASSERT_TRUE(actual.ParseFromString(live_model(*model, edits.edits()).text()));
  EXPECT_TRUE(actual.SerializeAsString() == expected.SerializeAsString());
}

}  // namespace
}  // namespace onnxfs
