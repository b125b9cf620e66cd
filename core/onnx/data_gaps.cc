#include "core/onnx/data_gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/bytes/utf8.h"

namespace onnxfs {

namespace {

struct Use {
  ByteRange range;
  uint32_t tensor;
};

bool is_padding(ByteRange gap) {
  constexpr uint64_t most_aligned = 65536;
  const uint64_t alignment = std::min(gap.end & -gap.end, most_aligned);  // the largest power of two that divides it
  return gap.size() < alignment;
}

struct Gaps {
  uint64_t count = 0;
  uint64_t bytes = 0;
  uint64_t first = 0;

  void add(ByteRange gap) {
    if (gap.empty() || is_padding(gap)) return;
    if (count++ == 0) first = gap.begin;
    bytes += gap.size();
  }
};

void examine(std::vector<Use>& uses, const DataFile& file, std::vector<Finding>& findings) {
  std::ranges::sort(uses, {}, [](const Use& use) { return std::tuple(use.range.begin, use.range.end, use.tensor); });
  Gaps gaps;
  ByteRange last{0, 0};
  uint64_t end = 0;  // of all that came before
  for (const Use& use : uses) {
    if (use.range.begin > end) gaps.add({end, use.range.begin});
    if (use.range.begin < end && use.range != last) {
      findings.push_back({use.tensor,
                          fmt::format("its bytes from {} of \"{}\" on are partly those of another tensor too",
                                      use.range.begin, printable(file.location)),
                          std::nullopt});
    }
    end = std::max(end, use.range.end);
    last = use.range;
  }
  // The end of the last tensor may be padded too.
  if (end < file.source->size()) gaps.add({end, file.source->size()});
  if (gaps.count == 0) return;
  findings.push_back({Tensor::no_index,
                      fmt::format("\"{}\" has {} bytes in {} that belong to no tensor, the first at offset {}",
                                  printable(file.location), gaps.bytes, gaps.count == 1 ? "a gap" : "gaps", gaps.first),
                      std::nullopt});
}

}  // namespace

std::vector<Finding> find_gaps(const std::deque<Tensor>& tensors, const std::vector<DataFile>& files,
                               const FileIdentity& model) {
  // Two locations may be one file.
  std::map<std::pair<dev_t, ino_t>, size_t> first_name;
  const auto file_of = [&](size_t i) {
    if (!files[i].source) return i;
    const FileIdentity& identity = files[i].source->identity();
    return first_name.try_emplace({identity.device, identity.inode}, i).first->second;
  };
  std::vector<std::vector<Use>> uses(files.size());
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (tensor.data_file != Tensor::no_index && tensor.in_one_piece && tensor.nbytes != 0) {
      uses[file_of(tensor.data_file)].push_back({tensor.data, i});
    }
  }
  std::vector<Finding> findings;
  for (size_t i = 0; i < files.size(); ++i) {
    const bool is_model = files[i].source && files[i].source->identity() == model;
    if (!uses[i].empty() && !is_model) examine(uses[i], files[i], findings);
  }
  return findings;
}

}  // namespace onnxfs
