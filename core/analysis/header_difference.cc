#include "core/analysis/header_difference.h"

#include <nlohmann/json.hpp>

#include "core/views/json_lines.h"

namespace onnxfs {

namespace {

struct Member {
  const char* key;
  bool counts;
};

constexpr Member members[] = {{"message", true},
                              {"ir_version", true},
                              {"opset_import", true},
                              {"inputs", true},
                              {"outputs", true},
                              {"metadata_props", true},
                              {"producer_name", false},
                              {"producer_version", false},
                              {"domain", true},
                              {"model_version", true},
                              {"doc_string", false},
                              {"graph_name", false},
                              {"graph_doc_string", false},
                              {"graph_metadata_props", false}};

std::string member_text(const nlohmann::ordered_json& model, const char* key) {
  const auto found = model.find(key);
  return found == model.end() ? std::string() : json_inline(*found);
}

}  // namespace

std::vector<HeaderDifference> header_differences(std::string_view a, std::string_view b) {
  const auto model_a = nlohmann::ordered_json::parse(a), model_b = nlohmann::ordered_json::parse(b);
  std::vector<HeaderDifference> differences;
  for (const Member& member : members) {
    std::string text_a = member_text(model_a, member.key), text_b = member_text(model_b, member.key);
    if (text_a != text_b) differences.push_back({member.key, std::move(text_a), std::move(text_b), member.counts});
  }
  return differences;
}

}  // namespace onnxfs
