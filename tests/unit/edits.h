// Edits of a model, and what a model must be with them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/onnx/edit.h"
#include "core/onnx/model.h"
#include "core/onnx/tensor_fields.h"
#include "tests/unit/message.h"

namespace onnxfs::testing {

// All that there is to know of one tensor.
struct TensorState {
  std::string name;
  std::string leaf;
  std::string scope;
  int32_t data_type = 0;
  std::vector<int64_t> dims;
  std::string doc_string;
  std::string payload;
  std::string problem;

  bool operator==(const TensorState&) const = default;
  friend void PrintTo(const TensorState& state, std::ostream* out) {
    *out << state.scope << " " << state.leaf << " \"" << state.name << "\" type " << state.data_type << " dims "
         << ::testing::PrintToString(state.dims) << " doc " << state.doc_string << " payload "
         << ::testing::PrintToString(state.payload) << " " << state.problem;
  }
};

inline std::string doc_string_of(const Model& model, const Tensor& tensor) {
  if (!tensor.annotated) return {};
  wire::Window window(model.file());
  TensorFields fields;
  for (const ByteRange piece : model.catalog().pieces(tensor)) fields.scan(window, piece);
  return fields.doc_string ? window.text(*fields.doc_string) : std::string();
}

inline std::vector<TensorState> states(const Model& model) {
  std::vector<TensorState> result;
  for (const Tensor& tensor : model.catalog().tensors()) {
    const auto index = static_cast<uint32_t>(result.size());
    TensorState state{std::string(tensor.name),
                      std::string(tensor.leaf),
                      scope_of(model.catalog().sections(), tensor.section),
                      tensor.data_type,
                      {tensor.dims.begin(), tensor.dims.end()},
                      doc_string_of(model, tensor),
                      {},
                      model.problem(index)};
    if (state.problem.empty()) state.payload = model.payload(index).text();
    result.push_back(std::move(state));
  }
  return result;
}

inline bool is_tensor_message(const Tensor& tensor) {
  return tensor.storage != Storage::attribute && tensor.storage != Storage::keys && tensor.storage != Storage::delayed;
}

inline std::string with_zero_padding(const Tensor& tensor, std::string payload) {
  const uint64_t used = tensor.type() == nullptr ? 0 : tensor.elements % 8 * tensor.type()->bits % 8;
  if (used != 0 && !payload.empty()) payload.back() = static_cast<char>(payload.back() & ((1 << used) - 1));
  return payload;
}

// Random edits of a model's tensors, and the states that they lead to.
class RandomEdits {
 public:
  RandomEdits(const Model& model, uint64_t seed) : model_(model), random_(seed), expected_(states(model)) {}

  void edit_payload(uint32_t index) {
    const Tensor& tensor = model_.catalog().tensors()[index];
    const std::string payload = tensor.data_type == string_type
                                    ? random_strings(tensor.elements)
                                    : with_zero_padding(tensor, random_bytes(tensor.nbytes));
    set(index).payload = Rope::of(payload);
    expected_[index].payload = payload;
  }

  // A part of it, as writing into it would.
  void edit_part(uint32_t index) {
    const Tensor& tensor = model_.catalog().tensors()[index];
    if (tensor.data_type == string_type || tensor.nbytes == 0) return;
    const uint64_t at = random_() % tensor.nbytes;
    // To the end where there are unused bits: those that the file has stay when its last byte is not written over.
    const bool is_packed = tensor.type() != nullptr && tensor.type()->bits < 8;
    const std::string bytes = random_bytes(is_packed ? tensor.nbytes - at : random_() % (tensor.nbytes - at) + 1);
    std::string& payload = expected_[index].payload;
    payload.replace(at, bytes.size(), bytes);
    payload = with_zero_padding(tensor, std::move(payload));
    set(index).payload = model_.payload(index).spliced(at, bytes.size(), Rope::of(payload.substr(at, bytes.size())));
  }

  void edit_dims(uint32_t index) {
    const Tensor& tensor = model_.catalog().tensors()[index];
    if (!is_tensor_message(tensor)) return;
    const auto count = static_cast<int64_t>(tensor.elements);
    std::vector<int64_t> dims{count};
    if (random_() % 2 == 0) dims.insert(dims.begin(), 1);
    if (random_() % 2 == 0) dims.push_back(1);
    if (count == 1 && random_() % 2 == 0) dims.clear();
    if (count == 300) dims = {random_() % 2 == 0 ? 3 : 300, dims.front() == 3 ? 100 : 1};
    if (element_count(dims) != tensor.elements) dims = {count};
    set(index).dims = dims;
    expected_[index].dims = dims;
  }

  void edit_doc_string(uint32_t index) {
    if (!is_tensor_message(model_.catalog().tensors()[index])) return;
    const std::string text = random_() % 4 == 0 ? "" : std::string(random_() % 300, 'd');
    set(index).doc_string = text;
    expected_[index].doc_string = text;
  }

  // One tensor in so many, in one or more ways.
  void edit_some(uint64_t one_in) {
    for (uint32_t i = 0; i < expected_.size(); ++i) {
      if (random_() % one_in != 0 || !expected_[i].problem.empty()) continue;
      if (random_() % 2 == 0) random_() % 2 == 0 ? edit_payload(i) : edit_part(i);
      if (random_() % 3 == 0) edit_dims(i);
      if (random_() % 3 == 0) edit_doc_string(i);
    }
  }

  Edits edits() const {
    Edits result;
    for (const auto& [index, edit] : edits_) result.emplace(index, std::make_shared<const TensorEdit>(edit));
    return result;
  }

  const std::vector<TensorState>& expected() const { return expected_; }

 private:
  TensorEdit& set(uint32_t index) { return edits_[index]; }

  std::string random_bytes(size_t size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random_());
    return bytes;
  }

  std::string random_strings(uint64_t count) {
    std::string bytes;
    for (; count != 0; --count) {
      const size_t size = random_() % 10 == 0 ? 2000 + random_() % 1000 : random_() % 12;
      bytes += fixed_bytes(size, 4) + random_bytes(size);
    }
    return bytes;
  }

  const Model& model_;
  std::mt19937_64 random_;
  std::map<uint32_t, TensorEdit> edits_;
  std::vector<TensorState> expected_;
};

}  // namespace onnxfs::testing
