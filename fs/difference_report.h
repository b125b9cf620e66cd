#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fs/model_comparison.h"

namespace onnxfs {

// The heads of the columns that lines of tensors have.
std::string difference_head();

// A line of a tensor that is different, for people; numbers first, so that they are aligned whatever the path.
std::string difference_text(const TensorComparison& tensor);

// Lines of nodes that are gone and that are new, and of what is otherwise in the header, as diff marks them.
std::string graph_text(const GraphDifference& graph);
std::string header_text(const std::vector<HeaderDifference>& header);

// The same for programs. What is no number (the cosine with 0, an infinite SQNR, any distance of strings) is null.
nlohmann::ordered_json difference_json(const TensorComparison& tensor, const Tolerance& tolerance);
nlohmann::ordered_json graph_json(const GraphDifference& graph);
nlohmann::ordered_json header_json(const std::vector<HeaderDifference>& header);

}  // namespace onnxfs
