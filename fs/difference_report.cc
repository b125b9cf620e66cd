#include "fs/difference_report.h"

#include <fmt/format.h>

#include <cmath>

#include "core/views/json_lines.h"

namespace onnxfs {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* columns = "{:>10} {:>11} {:>9} {:>9} {:>9} {:>10} {:>7}  ";

std::string short_number(double value) { return std::isnan(value) ? "-" : fmt::format("{:.3g}", value); }

// Whether there are elements to tell the distance of; without, a measure of it would be one of nothing.
bool has_distance(const Difference& difference) { return !difference.bytes_equal && difference.finite != 0; }

Json number_json(const Difference& difference, double value) {
  return has_distance(difference) && std::isfinite(value) ? Json(value) : Json(nullptr);
}

void add_note(std::string& notes, const std::string& note) { notes.append(notes.empty() ? "  " : ", ").append(note); }

std::string notes_of(const TensorComparison& tensor) {
  std::string notes;
  if (!tensor.b) add_note(notes, fmt::format("only in A: {} {}", tensor.a->dtype, tensor.a->shape));
  if (!tensor.a) add_note(notes, fmt::format("only in B: {} {}", tensor.b->dtype, tensor.b->shape));
  if (!tensor.a || !tensor.b) return notes;
  if (tensor.a->path != tensor.b->path) add_note(notes, fmt::format("in B {}", tensor.b->path));
  if (tensor.dtype_changed()) add_note(notes, fmt::format("{} -> {}", tensor.a->dtype, tensor.b->dtype));
  if (tensor.a->shape != tensor.b->shape) add_note(notes, fmt::format("{} -> {}", tensor.a->shape, tensor.b->shape));
  if (tensor.a->dense_shape != tensor.b->dense_shape) {
    add_note(notes, fmt::format("dense {} -> {}", tensor.a->dense_shape, tensor.b->dense_shape));
  }
  if (tensor.name_changed()) {
    add_note(notes, fmt::format("name {} -> {}", exact_json_quote(tensor.a->name), exact_json_quote(tensor.b->name)));
  }
  if (!tensor.difference) return notes;
  if (tensor.difference->new_nan != 0) add_note(notes, fmt::format("{} new NaN", tensor.difference->new_nan));
  if (tensor.difference->new_infinite != 0) add_note(notes, fmt::format("{} new Inf", tensor.difference->new_infinite));
  return notes;
}

Json side_json(const TensorComparison::Side& side) {
  Json json{{"path", side.path},
            {"bin", fmt::format("{}.bin", side.path)},
            {"dtype", side.dtype},
            {"shape", Json::parse(side.shape)}};
  if (!side.dense_shape.empty()) json["dense_shape"] = Json::parse(side.dense_shape);
  return json;
}

}  // namespace

std::string difference_head() {
  return fmt::format(fmt::runtime(columns), "changed", "of", "max |d|", "mean |d|", "rel. L2", "cosine", "SQNR dB") +
         "tensor\n";
}

std::string difference_text(const TensorComparison& tensor) {
  const std::string& path = tensor.a ? tensor.a->path : tensor.b->path;
  std::string line;
  if (!tensor.difference) {
    line = fmt::format(fmt::runtime(columns), "-", "-", "-", "-", "-", "-", "-");
  } else {
    const Difference& d = *tensor.difference;
    const bool is_told = has_distance(d);
    const auto distance = [is_told](double value) { return is_told ? short_number(value) : "-"; };
    line = fmt::format(fmt::runtime(columns), d.changed, d.numbers, distance(d.max_absolute),
                       distance(d.mean_absolute()), distance(d.relative_l2()),
                       is_told && !std::isnan(d.cosine()) ? fmt::format("{:.7f}", d.cosine()) : "-",
                       is_told && std::isfinite(d.sqnr()) ? fmt::format("{:.1f}", d.sqnr()) : "-");
  }
  return line.append(path).append(notes_of(tensor)).append("\n");
}

std::string graph_text(const GraphDifference& graph) {
  std::string text;
  for (const auto& [a, b] : graph.changed) text += fmt::format("- {}\n+ {}\n", a, b);
  for (const std::string& line : graph.removed) text += fmt::format("- {}\n", line);
  for (const std::string& line : graph.added) text += fmt::format("+ {}\n", line);
  return text;
}

std::string header_text(const std::vector<HeaderDifference>& header) {
  std::string text;
  for (const HeaderDifference& difference : header) {
    text += fmt::format("{}: {} -> {}\n", difference.key, difference.a.empty() ? "none" : difference.a,
                        difference.b.empty() ? "none" : difference.b);
  }
  return text;
}

Json difference_json(const TensorComparison& tensor, const Tolerance& tolerance) {
  Json json{{"a", tensor.a ? side_json(*tensor.a) : Json(nullptr)},
            {"b", tensor.b ? side_json(*tensor.b) : Json(nullptr)},
            {"different", tensor.trouble.empty() ? Json(tensor.is_different(tolerance)) : Json(nullptr)},
            {"trouble", tensor.trouble.empty() ? Json(nullptr) : Json(tensor.trouble)}};
  if (tensor.name_changed()) {
    json["a"]["name"] = tensor.a->name;
    json["b"]["name"] = tensor.b->name;
  }
  if (!tensor.difference) return json;
  const Difference& d = *tensor.difference;
  json["bytes_equal"] = d.bytes_equal;
  json["numbers"] = d.numbers;
  json["changed"] = d.changed;
  if (d.bytes_equal) return json;
  json["new_nan"] = d.new_nan;
  json["new_inf"] = d.new_infinite;
  json["max_abs"] = number_json(d, d.max_absolute);
  json["mean_abs"] = number_json(d, d.mean_absolute());
  json["relative_l2"] = number_json(d, d.relative_l2());
  json["cosine"] = number_json(d, d.cosine());
  json["sqnr_db"] = number_json(d, d.sqnr());
  return json;
}

Json graph_json(const GraphDifference& graph) {
  Json changed = Json::array();
  for (const auto& [a, b] : graph.changed) changed.push_back({{"a", a}, {"b", b}});
  return {{"removed", graph.removed}, {"added", graph.added}, {"changed", std::move(changed)}};
}

Json header_json(const std::vector<HeaderDifference>& header) {
  Json list = Json::array();
  for (const HeaderDifference& difference : header) {
    const auto value = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json::parse(text); };
    list.push_back({{"key", difference.key},
                    {"a", value(difference.a)},
                    {"b", value(difference.b)},
                    {"different", difference.counts}});
  }
  return list;
}

}  // namespace onnxfs
