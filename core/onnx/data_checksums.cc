#include "core/onnx/data_checksums.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <span>

#include "core/bytes/error.h"
#include "core/bytes/utf8.h"
#include "core/onnx/tensor_notes.h"

namespace onnxfs {

namespace {

constexpr size_t piece_size = 1 << 20;

// Calls visit(tensor, checksum) for each tensor that has one.
template <typename Visit>
void for_each_checksum(const Model& model, Visit visit) {
  const auto& tensors = model.catalog().tensors();
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].annotated || tensors[i].data_file == Tensor::no_index) continue;
    const std::string checksum = read_notes(model, tensors[i]).checksum;
    if (!checksum.empty()) visit(i, checksum);
  }
}

int value_of(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

template <typename Digest>
std::optional<Digest> parse(const std::string& text) {
  Digest digest;
  if (text.size() != 2 * digest.size()) return std::nullopt;
  for (size_t i = 0; i < digest.size(); ++i) {
    const int high = value_of(text[2 * i]), low = value_of(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest[i] = static_cast<unsigned char>(high << 4 | low);
  }
  return digest;
}

// `progress` is told of each piece how long it is.
template <typename Digest, typename Progress>
Digest sha1_of(const std::shared_ptr<const FileSource>& file, Progress progress) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha1(), nullptr) != 1) {
    fail(ENOTSUP, "OpenSSL has no SHA-1 here, so checksums cannot be verified");
  }
  file->advise(POSIX_FADV_SEQUENTIAL);
  read_in_pieces(Rope::of(file), 0, file->size(), piece_size, [&](uint64_t, std::span<const std::byte> piece) {
    if (EVP_DigestUpdate(context.get(), piece.data(), piece.size()) != 1) fail(EIO, "OpenSSL failed to hash");
    progress(piece.size());
  });
  file->advise(POSIX_FADV_NORMAL);
  Digest digest;
  if (EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) != 1) fail(EIO, "OpenSSL failed to hash");
  return digest;
}

}  // namespace

std::set<uint32_t> data_files_with_checksums(const Model& model) {
  std::set<uint32_t> files;
  for_each_checksum(
      model, [&](uint32_t tensor, const std::string&) { files.insert(model.catalog().tensors()[tensor].data_file); });
  return files;
}

DataChecksums::DataChecksums(const Model& model) : model_(model) {
  const auto& catalog = model.catalog();
  for_each_checksum(model, [&](uint32_t tensor, const std::string& text) {
    const auto digest = parse<Digest>(text);
    if (!digest) {
      malformed_.push_back(
          {tensor, fmt::format("its checksum \"{}\" is no SHA-1 in hexadecimal", printable(text.substr(0, 80))),
           catalog.tensors()[tensor].message.begin});
      return;
    }
    const auto [entry, is_new] =
        entries_.emplace(std::pair(catalog.tensors()[tensor].data_file, *digest), Entry{tensor});
    if (!is_new) ++entry->second.tensors;
  });
  std::optional<uint32_t> last;
  for (const auto& [key, entry] : entries_) {
    if (last != key.first) size_ += catalog.data_files()[key.first].source->size();
    last = key.first;
  }
}

std::vector<Finding> DataChecksums::verify(const std::function<void(uint64_t)>& progress) const {
  std::vector<Finding> findings = malformed_;
  const auto& catalog = model_.catalog();
  uint64_t done = 0;
  std::optional<uint32_t> last;
  Digest digest{};
  for (const auto& [key, entry] : entries_) {
    const DataFile& file = catalog.data_files()[key.first];
    if (last != key.first) {
      digest = sha1_of<Digest>(file.source, [&](uint64_t length) {
        done += length;
        if (progress) progress(done);
      });
      last = key.first;
    }
    if (key.second == digest) continue;
    const std::string others = entry.tensors == 1 ? "" : fmt::format(" (nor is that of {} others)", entry.tensors - 1);
    findings.push_back({entry.first_tensor,
                        fmt::format("its checksum entry is not the SHA-1 of \"{}\"{}, which is {:02x}: the file was "
                                    "edited since, as onnxfs commit does, or is damaged",
                                    printable(file.location), others, fmt::join(digest, "")),
                        catalog.tensors()[entry.first_tensor].message.begin});
  }
  return findings;
}

}  // namespace onnxfs
