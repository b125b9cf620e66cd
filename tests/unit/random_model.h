// Random models that are sound, and as odd as the wire format lets them be: every data type in every storage, nested
// in every way, with unknown fields, groups, overlong varints, and messages in several pieces.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "tests/unit/models.h"
#include "tests/unit/typed_fields.h"

namespace onnxfs::testing {

class RandomModel {
 public:
  // Lengths of messages take up to so many bytes: ten are legal, and protobuf's own parser reads five.
  explicit RandomModel(uint64_t seed, uint64_t longest_length = 10) : random_(seed), longest_length_(longest_length) {}

  // A ModelProto. Every TensorProto and every attribute in it has a name of its own.
  Message model() {
    Message message = Message().varint(1, 8);
    odd(message);
    const int graphs = chance(4) ? 2 : 1;
    for (int i = 0; i < graphs; ++i) nest(message, 7, graph(2));
    for (uint64_t i = random_() % 3; i != 0; --i) nest(message, 25, function());
    for (uint64_t i = random_() % 2; i != 0; --i) {
      Message training;
      nest(training, 1, graph(1));
      if (chance(2)) nest(training, 1, graph(0));
      nest(training, 2, graph(0));
      nest(message, 20, training);
    }
    return message.message(8, Message().varint(2, 17));
  }

  // Where its external tensors stand: "w.bin".
  const std::string& data() const { return data_; }

  // A TensorProto, of known fields only.
  Message tensor() {
    switch (random_() % 4) {
      case 0: return raw();
      case 1: return strings();
      case 2: return external();
      default: return typed();
    }
  }

  std::string bytes(size_t size) {
    std::string result(size, '\0');
    for (char& byte : result) byte = static_cast<char>(random_());
    return result;
  }

  bool chance(uint64_t one_in) { return random_() % one_in == 0; }
  std::mt19937_64& random() { return random_; }

 private:
  std::string name(char kind) { return fmt::format("{}{}", kind, ++names_); }

  // Something that no reader of ONNX knows.
  void odd(Message& message) {
    switch (random_() % 12) {
      case 0: message.varint(1000, random_()); break;
      case 1: message.bytes(1001, bytes(random_() % 300)); break;
      case 2: message.group(17, Message().varint(5, 1).bytes(9, "not raw_data")); break;
      case 3: message.fixed64(9, 1); break;  // no field of this number has this type
      default: break;
    }
  }

  // A nested message, now and then with a length that takes more bytes than it has to.
  void nest(Message& message, uint32_t number, const Message& inner) {
    odd(message);
    message.raw(chance(4) ? tag_bytes(number, 2) + varint_bytes(inner.size(), 2 + random_() % (longest_length_ - 1)) +
                                inner.str()
                          : header_bytes(number, inner.size()) + inner.str());
  }

  // The same in one or two occurrences, for a field that readers merge.
  void nest_merged(Message& message, uint32_t number, const Message& inner) {
    if (!chance(3) || inner.borders().empty()) return nest(message, number, inner);
    const size_t border = inner.borders()[random_() % inner.borders().size()];
    nest(message, number, Message().raw(inner.str().substr(0, border)));
    nest(message, number, Message().raw(inner.str().substr(border)));
  }

  Message graph(int depth) {
    Message message;
    for (uint64_t i = random_() % 6; i != 0; --i) nest(message, 5, odd_tensor());
    for (uint64_t i = random_() % 2; i != 0; --i) nest(message, 15, sparse());
    for (uint64_t i = random_() % 4; i != 0; --i) nest(message, 1, node(depth));
    return message.bytes(2, "g");
  }

  Message node(int depth) {
    Message message = Message().bytes(2, name('n')).bytes(4, "Constant");
    if (chance(2)) message.bytes(5, "");  // an attribute without anything
    for (uint64_t i = 1 + random_() % 3; i != 0; --i) nest(message, 5, attribute(depth));
    return message;
  }

  Message attribute(int depth) {
    Message message = Message().bytes(1, name('a'));
    odd(message);
    switch (random_() % (depth > 0 ? 11 : 9)) {
      case 0: nest_merged(message, 5, odd_tensor()); break;
      case 1:
        for (int i = 0; i < 3; ++i) nest(message, 10, odd_tensor());
        break;
      case 2: nest_merged(message, 22, sparse()); break;
      case 3: message.fixed32(2, static_cast<uint32_t>(random_())); break;
      case 4: message.varint(3, random_() >> random_() % 64); break;
      case 5: message.bytes(4, bytes(random_() % 200)); break;
      case 6: list_of_floats(message); break;
      case 7: list_of_integers(message); break;
      case 8:
        for (uint64_t i = 1 + random_() % 5; i != 0; --i) message.bytes(9, bytes(random_() % 200)).varint(20, 8);
        break;
      case 9: nest_merged(message, 6, graph(depth - 1)); break;
      default:
        for (int i = 0; i < 2; ++i) nest(message, 11, graph(depth - 1));
    }
    odd(message);
    return message;
  }

  void list_of_floats(Message& message) {
    for (uint64_t i = 1 + random_() % 5; i != 0; --i) {
      chance(3) ? message.bytes(7, bytes(4 * (random_() % 4))) : message.fixed32(7, static_cast<uint32_t>(random_()));
    }
    message.fixed32(7, 0x3f80'0000);
  }

  void list_of_integers(Message& message) {
    for (uint64_t i = 1 + random_() % 5; i != 0; --i) {
      chance(3) ? message.packed(8, {random_(), 1, 2}) : message.varint(8, random_() >> random_() % 64);
    }
  }

  Message function() {
    Message message = Message().bytes(1, name('f'));
    for (uint64_t i = random_() % 3; i != 0; --i) nest(message, 7, node(1));
    for (uint64_t i = random_() % 3; i != 0; --i) {
      Message fallback = Message().bytes(1, name('a'));
      nest(fallback, 5, odd_tensor());
      nest(message, 11, fallback);
    }
    return message;
  }

  Message sparse() {
    Message message;
    nest_merged(message, 1, odd_tensor());
    nest(message, 2, odd_tensor());
    return message.varint(3, 7);
  }

  Message odd_tensor() {
    const Message sound = tensor();
    Message result;
    // Field by field, so that it can be cut into pieces between any two.
    const std::string& text = sound.str();
    odd(result);
    for (size_t i = 0; i < sound.borders().size(); ++i) {
      const size_t end = i + 1 < sound.borders().size() ? sound.borders()[i + 1] : text.size();
      result.raw(text.substr(sound.borders()[i], end - sound.borders()[i]));
      if (chance(6)) odd(result);
    }
    return result;
  }

  const TypedRule& rule() { return typed_rules()[random_() % typed_rules().size()]; }

  uint64_t some_elements() { return chance(8) ? 0 : chance(8) ? 300 : 1 + random_() % 20; }

  void finish(Message& message) {
    message.bytes(8, name('t'));
    if (chance(3)) message.bytes(12, chance(4) ? "" : "documented");
    if (chance(6)) message.bytes(12, "documented again");
  }

  // The dims of so many elements, in one of the ways that they can be written.
  void write_dims(Message& message, uint64_t elements) {
    switch (random_() % 4) {
      case 0: message.packed(1, {1, elements}); break;
      case 1: message.varint(1, elements).packed(1, {1}).varint(1, 1); break;
      case 2: message.raw(tag_bytes(1, 0) + varint_bytes(elements, 4)); break;
      default:
        if (elements != 1) message.varint(1, elements);
    }
  }

  Message numbers_of(const TypedRule& of, uint64_t elements, std::string& payload) {
    const TypedField field = TypedFieldWriter(of, random_()).write(elements, Layout::packed);
    payload = field.payload;
    Message message;
    write_dims(message, elements);
    return message.varint(2, static_cast<uint64_t>(of.data_type));
  }

  Message raw() {
    std::string payload;
    Message message = numbers_of(rule(), some_elements(), payload);
    if (chance(8)) message.bytes(9, "an earlier occurrence");
    message.bytes(9, payload);
    finish(message);
    return message;
  }

  Message external() {
    std::string payload;
    Message message = numbers_of(rule(), some_elements(), payload);
    data_.resize(data_.size() + random_() % 5, 'x');
    message.message(13, entry("offset", fmt::to_string(data_.size()))).message(13, entry("location", "w.bin"));
    if (chance(3)) message.message(13, entry("checksum", "0123"));
    data_ += payload;
    finish(message);
    return message.varint(14, 1);
  }

  Message typed() {
    const Layout layout = all_layouts[random_() % 3];
    Message message = TypedFieldWriter(rule(), random_()).write(some_elements(), layout).message;
    finish(message);
    return message;
  }

  Message strings() {
    const uint64_t elements = some_elements();
    Message message;
    write_dims(message, elements);
    message.varint(2, 8);
    for (uint64_t i = 0; i < elements; ++i) message.bytes(6, bytes(chance(10) ? 3000 : random_() % 9));
    finish(message);
    return message;
  }

  std::mt19937_64 random_;
  uint64_t longest_length_;
  std::string data_;
  int names_ = 0;
};

}  // namespace onnxfs::testing
