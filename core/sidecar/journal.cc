#include "core/sidecar/journal.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/bytes/error.h"
#include "core/bytes/file_source.h"
#include "core/bytes/utf8.h"
#include "core/sidecar/folder.h"

namespace onnxfs {

namespace {

using nlohmann::json;

constexpr int format = 1;

// A model with a hundred thousand data files has a journal of some megabytes.
constexpr uint64_t longest_journal = 64 << 20;

std::string_view word(Journal::Kind kind) { return kind == Journal::Kind::rename ? "rename" : "in place"; }

std::string checksum_of(const json& object) {
  const std::string text = object.dump(-1, ' ', false, json::error_handler_t::replace);
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

// A path that could lead out of the model's folder is not one that was written here.
bool is_beneath(const std::string& path) {
  const std::filesystem::path parts(path);
  if (path.empty() || parts.is_absolute() || parts.filename().empty()) return false;
  for (const auto& part : parts) {
    if (part == ".." || part == ".") return false;
  }
  return true;
}

std::string hex_of(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string path_of(const json& file) {
  if (file.contains("path")) return file["path"].get<std::string>();
  const auto text = file.at("path_hex").get<std::string>();
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

Journal parse(json object) {
  const std::string checksum = object.at("checksum").get<std::string>();
  object.erase("checksum");
  if (checksum != checksum_of(object)) throw std::runtime_error("its checksum is another");
  Journal journal;
  const std::string kind = object.at("kind").get<std::string>();
  if (kind != "rename" && kind != "in place") throw std::runtime_error("its kind is unknown");
  journal.kind = kind == "rename" ? Journal::Kind::rename : Journal::Kind::in_place;
  journal.edits = object.at("edits").get<size_t>();
  for (const json& file : object.at("files")) {
    journal.files.push_back({path_of(file), file.at("size").get<uint64_t>(), file.at("inode").get<uint64_t>()});
    if (!is_beneath(journal.files.back().path)) throw std::runtime_error("a path in it leads elsewhere");
  }
  return journal;
}

}  // namespace

std::optional<Journal> Journal::read(const std::string& sidecar) {
  const std::string path = journal_path(sidecar);
  if (!exists(path)) return std::nullopt;
  const auto file = FileSource::open(path);
  if (file->size() > longest_journal) fail(EBADMSG, "{} has {} bytes, and is no journal", path, file->size());
  std::string text(file->size(), '\0');
  file->read(0, std::as_writable_bytes(std::span(text)));
  const json object = json::parse(text, nullptr, false);
  if (object.is_object() && object.contains("format") && object["format"] != format) {
    fail(ENOTSUP, "{} was written by another version of onnxfs; finish its commit with that", path);
  }
  try {
    return parse(object);
  } catch (const std::exception& error) {
    fail(EBADMSG,
         "{} is damaged: {}; see whether the model is as it should be, then remove the edits with onnxfs discard", path,
         error.what());
  }
}

void Journal::write(const std::string& sidecar, Disk& disk) const {
  json object = {{"format", format}, {"kind", word(kind)}, {"edits", edits}, {"files", json::array()}};
  for (const File& file : files) {
    json entry = {{"size", file.size}, {"inode", file.inode}};
    is_utf8(file.path) ? entry["path"] = file.path : entry["path_hex"] = hex_of(file.path);
    object["files"].push_back(std::move(entry));
  }
  object["checksum"] = checksum_of(object);
  const std::string text = object.dump() + "\n";
  replace_file(journal_path(sidecar), new_journal_path(sidecar), text, disk);
  disk.flush_folder(sidecar);
}

void Journal::remove(const std::string& sidecar, Disk& disk) {
  disk.remove(journal_path(sidecar));
  disk.flush_folder(sidecar);
}

}  // namespace onnxfs
