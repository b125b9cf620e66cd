#include "fs/statistics_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fs/counted.h"
#include "fs/histogram_drawing.h"

namespace onnxfs {

namespace {

using Json = nlohmann::ordered_json;

std::string end_text(const Statistics& numbers, bool is_max) {
  if (numbers.finite() == 0) return "-";
  if (!numbers.exact_ends) return fmt::format("{:.6g}", is_max ? numbers.max : numbers.min);
  const uint64_t end = is_max ? numbers.exact_ends->max : numbers.exact_ends->min;
  return numbers.exact_ends->is_signed ? fmt::to_string(static_cast<int64_t>(end)) : fmt::to_string(end);
}

Json end_json(const Statistics& numbers, bool is_max, bool are_integers) {
  if (numbers.finite() == 0) return nullptr;
  const double end = is_max ? numbers.max : numbers.min;
  if (!numbers.exact_ends) return are_integers ? Json(static_cast<int64_t>(end)) : Json(end);
  const uint64_t exact = is_max ? numbers.exact_ends->max : numbers.exact_ends->min;
  return numbers.exact_ends->is_signed ? Json(static_cast<int64_t>(exact)) : Json(exact);
}

std::string number_text(const Statistics& numbers, double value) {
  return numbers.finite() == 0 ? "-" : fmt::format("{:.6g}", value);
}

Json number_json(const Statistics& numbers, double value) {
  return numbers.finite() == 0 || !std::isfinite(value) ? Json(nullptr) : Json(value);
}

// Of finite numbers, at least one.
bool are_all_the_same(const Statistics& numbers) {
  return numbers.exact_ends ? numbers.exact_ends->min == numbers.exact_ends->max : numbers.min == numbers.max;
}

void append_numbers(std::string& text, const TensorStatistics& tensor, size_t width, size_t most_bins) {
  const Statistics& numbers = *tensor.numbers;
  const Moments& moments = numbers.moments;
  text +=
      fmt::format("  min  {:<13} max   {:<13} mean {:<13} std {}\n", end_text(numbers, false), end_text(numbers, true),
                  number_text(numbers, moments.mean()), number_text(numbers, moments.deviation()));
  text +=
      fmt::format("  L2   {:<13} zeros {:<13} NaN  {:<5} Inf {:<3} subnormal {}\n", number_text(numbers, moments.l2()),
                  numbers.zeros, numbers.nan, numbers.infinite, numbers.subnormal);
  const size_t room = most_bars(width, numbers.finite());
  const auto bins = numbers.histogram.bins(most_bins == 0 ? room : std::min(room, most_bins));
  if (bins.counts.empty()) return;
  const auto drawing = are_all_the_same(numbers) ? draw_single_value(end_text(numbers, false), width, numbers.finite())
                                                 : draw_histogram(bins, width, numbers.finite(), tensor.are_integers);
  for (const std::string& line : drawing) text.append(line).append("\n");
}

}  // namespace

std::string statistics_text(const TensorStatistics& tensor, size_t width, size_t bins) {
  std::string text = fmt::format("{}  {} {}  {}, {}\n", tensor.path, tensor.dtype, tensor.shape,
                                 counted(tensor.elements, "element"), counted(tensor.nbytes, "byte"));
  if (!tensor.problem.empty()) text += fmt::format("  broken: {}\n", tensor.problem);
  if (tensor.numbers && tensor.numbers->numbers != 0) append_numbers(text, tensor, width, bins);
  if (tensor.strings && tensor.strings->strings != 0) {
    const StringStatistics& strings = *tensor.strings;
    text += fmt::format("  shortest {}, longest {}, mean {:.6g}, empty {}\n", counted(strings.shortest, "byte"),
                        strings.longest, static_cast<double>(strings.bytes) / static_cast<double>(strings.strings),
                        strings.empty);
  }
  return text;
}

Json statistics_json(const TensorStatistics& tensor, size_t bins) {
  Json json{{"path", tensor.path},
            {"bin", fmt::format("{}.bin", tensor.path)},
            {"dtype", tensor.dtype},
            {"shape", Json::parse(tensor.shape)},
            {"elements", tensor.elements},
            {"nbytes", tensor.nbytes},
            {"problem", tensor.problem.empty() ? Json(nullptr) : Json(tensor.problem)}};
  if (tensor.numbers) {
    const Statistics& numbers = *tensor.numbers;
    json["numbers"] = numbers.numbers;
    json["min"] = end_json(numbers, false, tensor.are_integers);
    json["max"] = end_json(numbers, true, tensor.are_integers);
    json["mean"] = number_json(numbers, numbers.moments.mean());
    json["std"] = number_json(numbers, numbers.moments.deviation());
    json["l2"] = number_json(numbers, numbers.moments.l2());
    json["zeros"] = numbers.zeros;
    json["nan"] = numbers.nan;
    json["inf"] = numbers.infinite;
    json["subnormal"] = numbers.subnormal;
    auto histogram = numbers.histogram.bins(bins);
    json["histogram"] = {{"edges", std::move(histogram.edges)}, {"counts", std::move(histogram.counts)}};
  }
  if (tensor.strings) {
    json["shortest"] = tensor.strings->shortest;
    json["longest"] = tensor.strings->longest;
    json["string_bytes"] = tensor.strings->bytes;
    json["empty"] = tensor.strings->empty;
  }
  return json;
}

}  // namespace onnxfs
