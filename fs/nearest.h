// What somebody may have meant by a word that names nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onnxfs {

// The least number of characters to insert, drop, replace, or swap with the next one that makes one text of the other,
// where no character is touched twice (Damerau and Levenshtein's distance of optimal string alignment). Bytes, without
// regard to case. Takes time in proportion to the product of the lengths.
size_t edit_distance(std::string_view a, std::string_view b);

// Those of `words` that are nearest to `word`, at most `most`, in their order; none that differs in more than a third
// of its characters (of a word of two, in more than one; of a single one, in anything but its case).
std::vector<std::string_view> nearest(std::string_view word, std::span<const std::string_view> words, size_t most);

// "; did you mean a, b or c?", "" of none.
std::string did_you_mean(std::span<const std::string_view> words);

}  // namespace onnxfs
