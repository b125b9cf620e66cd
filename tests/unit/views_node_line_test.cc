#include "core/views/node_line.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/errors.h"
#include "tests/unit/models.h"
#include "tests/unit/sources.h"

namespace onnxfs {
namespace {

using testing::guarded;
using testing::Message;
using testing::node;
using testing::tensor;
namespace type = testing::type;

NodeLine line(const Message& message) {
  wire::Window window(guarded("\x01\x02\x03" + message.str()));
  return node_line(window, {3, 3 + message.size()});
}

Message attribute(std::string_view name) { return Message().bytes(1, name); }

// The text of a node's one attribute, from behind its name.
std::string value(const Message& attribute) {
  const std::string text = line(node("Op", {}, {}).message(5, Message().bytes(1, "a").append(attribute.str()))).text;
  const std::string before = "Op() {a=";
  EXPECT_TRUE(text.starts_with(before) && text.ends_with("}")) << text;
  return text.substr(before.size(), text.size() - before.size() - 1);
}

TEST(NodeLine, HasOutputsOperatorInputsAndName) {
  EXPECT_EQ(line(node("Conv", {"x", "w", "b"}, {"y"}, "conv1")).text, "y = Conv(x, w, b) # conv1");
  EXPECT_EQ(line(node("Split", {"x"}, {"a", "b"})).text, "a, b = Split(x)");
  EXPECT_EQ(line(node("Constant", {}, {"c"})).text, "c = Constant()");
  EXPECT_EQ(line(node("Print", {"x"}, {})).text, "Print(x)");
  EXPECT_EQ(line(node("Gelu", {"x"}, {"y"}).bytes(7, "com.microsoft")).text, "y = com.microsoft.Gelu(x)");
  EXPECT_EQ(line(node("f", {"x"}, {"y"}).bytes(7, "local").bytes(8, "v2")).text, "y = local.f:v2(x)");
  EXPECT_EQ(line(Message()).text, "\"\"()");
}

TEST(NodeLine, OrderOfFieldsDoesNotMatter) {
  const Message mixed =
      Message().bytes(3, "n").bytes(4, "Add").bytes(2, "y").bytes(1, "a").bytes(6, "doc").bytes(1, "b");
  EXPECT_EQ(line(mixed).text, "y = Add(a, b) # n");
}

TEST(NodeLine, NamesThatAreHardToReadAreQuoted) {
  EXPECT_EQ(line(node("Clip", {"x", "", "max"}, {"y"})).text, "y = Clip(x, \"\", max)");
  EXPECT_EQ(line(node("Op", {"a b", "c,d", "e\nf"}, {"g=h"}, "n\"o")).text,
            R"("g=h" = Op("a b", "c,d", "e\nf") # "n\"o")");
  for (const std::string plain : {"a/b.c:0", "onnx::MatMul_1", "é中", "A-b_c|d", "%", "~", "@2"}) {
    EXPECT_EQ(plain_name(plain), plain);
  }
  for (const std::string odd : {"", " ", "a(", ")", "{", "}", "[", "]", "#", "=", "\"", "\x7f", "\x1b", ","}) {
    EXPECT_TRUE(plain_name(odd).starts_with('"')) << odd;
  }
  EXPECT_EQ(plain_name("\xff"), R"("\udcff")");
  EXPECT_EQ(plain_name("a\u009b\u202e"), R"("a\u009b\u202e")");
  EXPECT_EQ(plain_name(std::string_view("\0", 1)), "\"\\u0000\"");
}

TEST(NodeLine, LabelIsTheNameElseTheFirstOutput) {
  EXPECT_EQ(line(node("Op", {"x"}, {"y", "z"}, "n")).label, "n");
  EXPECT_EQ(line(node("Op", {"x"}, {"y", "z"})).label, "y");
  EXPECT_EQ(line(node("Op", {"x"}, {"", "z"})).label, "");
  EXPECT_EQ(line(node("Op", {"x"}, {})).label, "");
  EXPECT_EQ(line(node("Op", {"x"}, {"a b"})).label, "a b");
}

TEST(NodeLine, AttributesAreSortedByName) {
  const auto with = [](const std::vector<std::string>& names) {
    Message message = node("Op", {}, {"y"});
    for (const std::string& name : names) message.message(5, attribute(name).varint(3, name.size()));
    return line(message).text;
  };
  EXPECT_EQ(with({"strides", "alpha", "pads", "B"}), "y = Op() {B=1, alpha=5, pads=4, strides=7}");
  EXPECT_EQ(with({"B", "pads", "alpha", "strides"}), with({"strides", "alpha", "pads", "B"}));
}

TEST(NodeLine, ValuesOfEveryKind) {
  EXPECT_EQ(value(Message().varint(3, 5)), "5");
  EXPECT_EQ(value(Message().varint(3, static_cast<uint64_t>(INT64_MIN))), "-9223372036854775808");
  EXPECT_EQ(value(Message().number(2, 0.1f)), "0.1");
  EXPECT_EQ(value(Message().number(2, -1e30f)), "-1e+30");
  EXPECT_EQ(value(Message().number(2, std::numeric_limits<float>::infinity())), "inf");
  EXPECT_EQ(value(Message().bytes(4, "NOTSET")), "\"NOTSET\"");
  EXPECT_EQ(value(Message().bytes(4, "")), "\"\"");
  EXPECT_EQ(value(Message().message(5, tensor("t", type::float16, {2, 3}))), "float16[2, 3]");
  EXPECT_EQ(value(Message().message(6, Message())), "graph");
  EXPECT_EQ(value(Message().number(7, 1).number(7, 2.5f)), "[1, 2.5]");
  EXPECT_EQ(value(Message().varint(8, 1).varint(8, UINT64_MAX)), "[1, -1]");
  EXPECT_EQ(value(Message().bytes(9, "a").bytes(9, "b\n")), R"(["a", "b\n"])");
  EXPECT_EQ(value(Message().message(10, tensor("t", type::int4, {})).message(10, tensor("t", 99, {1}))),
            "[int4[], unknown[1]]");
  EXPECT_EQ(value(Message().message(11, Message()).message(11, Message())), "2 graphs");
  const Message tensor_type = Message().message(1, Message().varint(1, type::float32));
  EXPECT_EQ(value(Message().message(14, tensor_type)), R"({"type":"tensor","dtype":"float32","shape":null})");
  EXPECT_EQ(value(Message().message(15, Message()).message(15, Message())), R"([{"type":null}, {"type":null}])");
  EXPECT_TRUE(value(Message().bytes(14, "\xff")).starts_with("type of 1 bytes, xxh3 "));
  EXPECT_EQ(value(Message().bytes(21, "alpha")), "@alpha");
  const Message sparse = Message()
                             .message(1, tensor("v", type::float64, {3}))
                             .message(2, tensor("i", type::int64, {3}))
                             .varint(3, 4)
                             .bytes(3, "\x05");
  EXPECT_EQ(value(Message().message(22, sparse)), "sparse float64[4, 5]");
  EXPECT_EQ(value(Message().message(23, sparse)), "[sparse float64[4, 5]]");
  EXPECT_EQ(value(Message()), "[]");
  EXPECT_EQ(value(Message().varint(20, 7)), "[]");
}

TEST(NodeLine, PackedListsAreTheSame) {
  EXPECT_EQ(value(Message().packed(8, {1, 2, 300})), "[1, 2, 300]");
  EXPECT_EQ(value(Message().varint(8, 1).packed(8, {2, 300})), "[1, 2, 300]");
  EXPECT_EQ(value(Message().bytes(7, testing::float_bytes({1, 2.5}))), "[1, 2.5]");
  EXPECT_EQ(value(Message().packed(8, {})), "[]");
}

TEST(NodeLine, OtherWireTypesAreUnknownFields) {
  EXPECT_EQ(value(Message().varint(3, 5).fixed32(3, 1).bytes(3, "x").varint(2, 1).varint(4, 1).group(6, Message())),
            "5");
  EXPECT_EQ(line(node("Op", {"x"}, {"y"}).varint(1, 5).fixed64(4, 1).group(5, Message()).bytes(1000, "z")).text,
            "y = Op(x)");
}

Message ints(size_t count, uint64_t last) {
  Message message;
  for (size_t i = 0; i + 1 < count; ++i) message.varint(8, i);
  return message.varint(8, last);
}

TEST(NodeLine, LongListsAreBeginningLengthAndHash) {
  EXPECT_EQ(value(ints(16, 99)), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 99]");
  const std::string seventeen = value(ints(17, 99));
  EXPECT_TRUE(seventeen.starts_with("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ... 17 values, xxh3 "))
      << seventeen;
  EXPECT_EQ(seventeen.size(), value(ints(17, 98)).size());
  EXPECT_NE(seventeen, value(ints(17, 98)));
  EXPECT_EQ(seventeen, value(ints(17, 99)));
  Message floats, strings, packed;
  for (int i = 0; i < 20; ++i) {
    floats.number(7, static_cast<float>(i));
    strings.bytes(9, std::to_string(i));
  }
  EXPECT_NE(value(floats).find("... 20 values, xxh3 "), std::string::npos);
  EXPECT_NE(value(strings).find("... 20 values, xxh3 "), std::string::npos);
  EXPECT_NE(value(Message(strings).bytes(9, "x")), value(Message(strings).bytes(9, "y")));
}

TEST(NodeLine, LongStringsAreBeginningLengthAndHash) {
  const std::string most(128, 's'), more(129, 's');
  EXPECT_EQ(value(Message().bytes(4, most)), "\"" + most + "\"");
  const std::string text = value(Message().bytes(4, more));
  EXPECT_TRUE(text.starts_with("\"" + most + "\"... 129 bytes, xxh3 ")) << text;
  EXPECT_NE(text, value(Message().bytes(4, most + "t")));
  EXPECT_NE(value(Message().bytes(9, "a").bytes(9, more)), value(Message().bytes(9, "a").bytes(9, most + "t")));
}

TEST(NodeLine, NestedGraphsAreListedInFileOrder) {
  const Message first = Message().bytes(2, "first"), second = Message().bytes(2, "second");
  const Message message = node("If", {"c"}, {"y"})
                              .message(5, attribute("then_branch").message(6, first))
                              .message(5, attribute("list").message(11, first).message(11, second))
                              .message(5, attribute("else_branch").message(6, first).message(6, second));
  const NodeLine got = line(message);
  EXPECT_EQ(got.text, "y = If(c) {else_branch=graph, list=2 graphs, then_branch=graph}");
  ASSERT_EQ(got.graphs.size(), 4u);
  EXPECT_EQ(got.graphs[0].attribute, "then_branch");
  EXPECT_EQ(got.graphs[1].attribute, "list/0");
  EXPECT_EQ(got.graphs[2].attribute, "list/1");
  EXPECT_EQ(got.graphs[3].attribute, "else_branch");
  EXPECT_EQ(got.graphs[0].parts.size(), 1u);
  EXPECT_EQ(got.graphs[3].parts.size(), 2u);
  const ByteRange part = got.graphs[3].parts[1];
  EXPECT_EQ(("\x01\x02\x03" + message.str()).substr(part.begin, part.size()), second.str());
}

TEST(NodeLine, PayloadsAreNotTouched) {
  constexpr uint64_t size = 100 << 20;
  const auto field = [](uint32_t number, uint64_t length) { return testing::header_bytes(number, length); };
  const std::string raw = tensor("t", type::uint8, {size}).str() + field(9, size);
  const std::string as_tensor = field(5, raw.size() + size) + raw;
  const std::string as_text = field(4, size);
  const auto source = std::make_shared<testing::PatchworkSource>();
  source->text(node("Op", {"x"}, {"y"}).str() + field(5, as_tensor.size() + size) + as_tensor).hole(size);
  source->text(field(5, as_text.size() + size) + as_text).hole(size);
  wire::Window window(source);
  const std::string text = node_line(window, {0, source->size()}).text;
  EXPECT_NE(text.find("uint8[104857600]"), std::string::npos) << text;
  EXPECT_NE(text.find("... 104857600 bytes"), std::string::npos) << text;
  EXPECT_LE(source->bytes_read(), 256 * 1024u);
}

TEST(NodeLine, CorruptNodesAreErrorsWithTheirOffsets) {
  EXPECT_ERROR(line(Message().bytes(4, "Op").raw("\x0a\x05x")), EBADMSG, "truncated at offset 10");
  EXPECT_ERROR(line(Message().message(5, Message().raw("\x07"))), EBADMSG, "corrupt at offset 5: 0 is no field number");
  EXPECT_ERROR(line(Message().message(5, Message().message(5, Message().raw("\x07")))), EBADMSG, "corrupt at offset 7");
  EXPECT_ERROR(line(Message().message(5, Message().bytes(8, "\x80"))), EBADMSG, "truncated at offset 8");
}

}  // namespace
}  // namespace onnxfs
