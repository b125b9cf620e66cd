#include "core/sidecar/base.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>
#include <random>

#include "core/bytes/error.h"
#include "core/bytes/hash.h"
#include "core/sidecar/folder.h"

namespace onnxfs {

namespace {

using nlohmann::json;

constexpr int format = 1;
constexpr uint64_t largest_base = 16 << 20;

std::string hexadecimal(uint64_t number) { return fmt::format("{:016x}", number); }

std::string checksum_of(const json& object) {
  const std::string text = object.dump(-1, ' ', false, json::error_handler_t::replace);
  return hexadecimal(xxh3(std::as_bytes(std::span(text))));
}

Base::FileState state_in(const json& object) {
  return {object.at("size").get<uint64_t>(), object.at("mtime").get<int64_t>()};
}

std::optional<uint64_t> parse_hexadecimal(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A json's string has to be UTF-8, and a file's name need not be: it is escaped as XX bytes.
std::string escape(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x80 && c != '%') text += c;
    else text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

[[noreturn]] void refuse(const Model& model, const std::string& folder, const std::string& what) {
  fail(ESTALE,
       "the edits in {} are of another model than {}: {}; put the right model there, or drop them with "
       "onnxfs discard {}",
       folder, model.path(), what, model.path());
}

}  // namespace

Base::FileState Base::FileState::of(const FileIdentity& identity) {
  return {identity.size, identity.mtime.tv_sec * 1'000'000'000 + identity.mtime.tv_nsec};
}

bool Base::Doubts::of(const Tensor& tensor) const {
  return tensor.data_file == Tensor::no_index ? model : data_files.contains(tensor.data_file);
}

Base Base::of(const Model& model) {
  std::random_device random;
  Base base;
  base.log_id = uint64_t{random()} << 32 | random();
  base.structure = structure_hash(model);
  base.refresh(model);
  return base;
}

std::string Base::temporary_path(const std::string& folder) { return base_path(folder) + ".new"; }

std::optional<Base> Base::read(const std::string& folder) {
  const std::string path = base_path(folder);
  if (!exists(path)) return std::nullopt;
  const auto file = FileSource::open(path);
  if (file->size() > largest_base) fail(EBADMSG, "{} is damaged: it has {} bytes", path, file->size());
  const auto damaged = [&](const char* what) {
    if (!has_edits(folder)) {
      fail(EBADMSG, "{} is none of onnxfs; move it elsewhere, or name another folder for edits with --sidecar", path);
    }
    fail(EBADMSG, "{} is damaged: {}; restore it, or drop the edits with onnxfs discard", path, what);
  };
  try {
    json object = json::parse(Rope::of(file).text());
    if (object.at("format") != format) {
      fail(ENOTSUP, "{} was made by another version of onnxfs, in format {}", path, object.at("format").dump());
    }
    const std::string checksum = object.at("checksum").get<std::string>();
    object.erase("checksum");
    if (checksum != checksum_of(object)) damaged("its checksum is not that of its content");
    Base base;
    const auto log_id = parse_hexadecimal(object.at("log").get<std::string>());
    if (!log_id) damaged("the log's id is no number");
    base.log_id = *log_id;
    base.model_name = object.at("model").get<std::string>();
    base.model = state_in(object);
    base.structure = object.at("structure").get<std::string>();
    for (const json& file_object : object.at("data_files")) {
      base.data_files.emplace(file_object.at("location").get<std::string>(), state_in(file_object));
    }
    base.durable = object.at("durable").get<uint64_t>();
    return base;
  } catch (const json::exception& error) {
    damaged(error.what());
  }
  return std::nullopt;
}

void Base::write(const std::string& folder, Disk& disk) const {
  write_lazily(folder, disk);
  disk.flush_folder(folder);
}

void Base::write_lazily(const std::string& folder, Disk& disk) const {
  json object = {
      {"format", format},     {"log", hexadecimal(log_id)}, {"model", model_name},         {"size", model.size},
      {"mtime", model.mtime}, {"structure", structure},     {"data_files", json::array()}, {"durable", durable}};
  for (const auto& [location, state] : data_files) {
    object["data_files"].push_back({{"location", location}, {"size", state.size}, {"mtime", state.mtime}});
  }
  object["checksum"] = checksum_of(object);
  const std::string text = object.dump(2) + "\n";
  replace_file(base_path(folder), temporary_path(folder), text, disk);
}

Base::Doubts Base::require_same(const Model& now, const std::string& folder) const {
  Doubts doubts;
  const FileState state = FileState::of(now.file()->identity());
  if (state.size != model.size)
    refuse(now, folder, fmt::format("it was {} bytes and is {} now", model.size, state.size));
  doubts.model = state.mtime != model.mtime || escape(now.name()) != model_name;
  if (doubts.model && structure_hash(now) != structure) {
    refuse(now, folder, "what is in it beside the weights is not what it was");
  }
  for (const auto& [location, then] : data_files) {
    const auto& files = now.catalog().data_files();
    const auto found = std::ranges::find(files, location, [](const DataFile& file) { return escape(file.location); });
    if (found == files.end()) refuse(now, folder, fmt::format("it does not use {}", location));
    if (found->source == nullptr)
      fail(ESTALE,
           "{} has edits in {}, which cannot be read: {}; put it back, or drop the edits with onnxfs discard {}",
           folder, location, found->refusal, now.path());
    const FileState data = FileState::of(found->source->identity());
    if (data.size != then.size) {
      refuse(now, folder, fmt::format("its data file {} was {} bytes and is {} now", location, then.size, data.size));
    }
    if (data.mtime != then.mtime) doubts.data_files.insert(static_cast<uint32_t>(found - files.begin()));
  }
  return doubts;
}

bool Base::add(const DataFile& file) {
  return data_files.emplace(escape(file.location), FileState::of(file.source->identity())).second;
}

void Base::refresh(const Model& now) {
  model_name = escape(now.name());
  model = FileState::of(now.file()->identity());
  for (const DataFile& file : now.catalog().data_files()) {
    const auto known = data_files.find(escape(file.location));
    if (known != data_files.end()) known->second = FileState::of(file.source->identity());
  }
}

std::string structure_hash(const Model& model) {
  std::vector<ByteRange> payloads;
  for (const Tensor& tensor : model.catalog().tensors()) {
    if (tensor.in_one_piece && tensor.data_file == Tensor::no_index) payloads.push_back(tensor.data);
  }
  std::ranges::sort(payloads, {}, &ByteRange::begin);
  const uint64_t size = model.file()->size();
  std::vector<Extent> rest;
  uint64_t at = 0;
  for (const ByteRange& payload : payloads) {
    if (payload.begin > at) rest.push_back({model.file(), at, payload.begin - at});
    at = std::max(at, payload.end);
  }
  if (at < size) rest.push_back({model.file(), at, size - at});
  return xxh128(Rope(std::move(rest)));
}

}  // namespace onnxfs
