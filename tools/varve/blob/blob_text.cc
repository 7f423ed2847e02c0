#include "tools/varve/blob/blob_text.h"

#include <array>
#include <iomanip>
#include <iostream>
#include <optional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/varve/terminal/progress.h"
#include "tools/varve/terminal/terminal.h"
#include "varve/queue.h"

namespace varve::tool {

namespace {

using BlobJson = nlohmann::ordered_json;

constexpr std::size_t kLabelColumns = 14;
constexpr int kLengthColumns = 14;
constexpr int kTimeColumns = 28;

void print_label(std::string_view label, std::string_view value) {
  std::cout << label << std::string(label.size() < kLabelColumns ? kLabelColumns - label.size() : 1, ' ')
            << for_output(value) << "\n";
}

void print_given(std::string_view label, std::string_view value) {
  if (!value.empty()) print_label(label, value);
}

/// Prints JSON. Texts of blobs need not be UTF-8.
void print_json_line(const BlobJson& json) {
  std::cout << json.dump(-1, ' ', false, BlobJson::error_handler_t::replace) << "\n";
}

Result<std::vector<std::pair<std::string, std::string>>> pairs_of(const std::vector<std::string>& words,
                                                                  const std::string& what) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Status::invalid_argument(what + " must be NAME=VALUE, not \"" + word + "\"");
    }
    pairs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return pairs;
}

template <typename Pairs>
BlobJson json_of_pairs(const Pairs& pairs) {
  BlobJson json = BlobJson::object();
  for (const auto& pair : pairs) json[pair.name] = pair.value;
  return json;
}

template <typename Pairs>
void print_pairs(std::string_view label, const Pairs& pairs) {
  for (const auto& pair : pairs) print_label(label, pair.name + "=" + pair.value);
}

std::string_view kind_name(BlobKind kind) noexcept {
  return kind == BlobKind::kAppend ? "append" : "block";
}

std::string_view name_of_tier(BlobTier tier) noexcept {
  switch (tier) {
    case BlobTier::kCool: return "cool";
    case BlobTier::kCold: return "cold";
    case BlobTier::kArchive: return "archive";
    default: return "hot";
  }
}

std::string_view name_of_lease(LeaseState state) noexcept {
  switch (state) {
    case LeaseState::kLeased: return "leased";
    case LeaseState::kExpired: return "expired";
    case LeaseState::kBreaking: return "breaking";
    case LeaseState::kBroken: return "broken";
    default: return "available";
  }
}

std::string_view name_of_access(PublicAccess access) noexcept {
  switch (access) {
    case PublicAccess::kBlobs: return "blobs";
    case PublicAccess::kContainer: return "container";
    default: return "none";
  }
}

template <typename Bytes>
std::string digits_of_bytes(const Bytes& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

std::string crc_text(std::uint64_t crc) {
  std::array<std::uint8_t, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(crc >> (8 * (7 - i)));
  return digits_of_bytes(bytes);
}

std::string_view content_type_of(const BlobProperties& properties) noexcept {
  return properties.content_type.empty() ? std::string_view("application/octet-stream") : properties.content_type;
}

void add_given(BlobJson& json, const char* name, const std::string& value) {
  if (!value.empty()) json[name] = value;
}

void add_state(BlobJson& json, const BlobState& blob) {
  json["etag"] = blob.etag.to_string();
  json["created"] = blob.created.to_string();
  json["modified"] = blob.modified.to_string();
  json["content_type"] = content_type_of(blob.properties);
  add_given(json, "content_encoding", blob.properties.content_encoding);
  add_given(json, "content_language", blob.properties.content_language);
  add_given(json, "content_disposition", blob.properties.content_disposition);
  add_given(json, "cache_control", blob.properties.cache_control);
  if (blob.properties.content_md5) json["content_md5"] = digits_of_bytes(*blob.properties.content_md5);
  if (blob.crc64) json["crc64"] = crc_text(*blob.crc64);
  json["tier"] = name_of_tier(blob.tier);
  json["lease"] = name_of_lease(blob.lease.state);
  if (blob.kind == BlobKind::kAppend) json["appends"] = blob.append_count;
  add_given(json, "copy_source", blob.copy_source);
  if (blob.copied) json["copied"] = blob.copied->to_string();
  json["metadata"] = json_of_pairs(blob.metadata);
  json["tags"] = json_of_pairs(blob.tags);
}

void print_for_reading(const BlobState& blob) {
  print_label("blob", blob.name);
  print_label("kind", kind_name(blob.kind));
  print_label("length", with_commas(blob.length) + " bytes (" + bytes_text(blob.length) + ")");
  print_label("etag", blob.etag.to_string());
  print_label("created", blob.created.to_string());
  print_label("modified", blob.modified.to_string());
  print_label("type", content_type_of(blob.properties));
  print_given("encoding", blob.properties.content_encoding);
  print_given("language", blob.properties.content_language);
  print_given("disposition", blob.properties.content_disposition);
  print_given("cache-control", blob.properties.cache_control);
  if (blob.properties.content_md5) print_label("md5", digits_of_bytes(*blob.properties.content_md5));
  if (blob.crc64) print_label("crc64", crc_text(*blob.crc64));
  print_label("tier", name_of_tier(blob.tier));
  print_label("lease", name_of_lease(blob.lease.state));
  if (blob.kind == BlobKind::kAppend) print_label("appends", with_commas(blob.append_count));
  print_given("copy of", blob.copy_source);
  print_pairs("metadata", blob.metadata);
  print_pairs("tag", blob.tags);
}

}  // namespace

Result<std::vector<MetadataPair>> parse_blob_metadata(const std::vector<std::string>& words) {
  Result<std::vector<std::pair<std::string, std::string>>> pairs = pairs_of(words, "metadata");
  if (!pairs.ok()) return pairs.status();
  std::vector<MetadataPair> metadata;
  for (auto& [name, value] : *pairs) metadata.push_back({std::move(name), std::move(value)});
  if (Status checked = check_metadata(metadata); !checked.ok()) return checked;
  return metadata;
}

Result<std::vector<BlobTag>> parse_blob_tags(const std::vector<std::string>& words) {
  Result<std::vector<std::pair<std::string, std::string>>> pairs = pairs_of(words, "a tag");
  if (!pairs.ok()) return pairs.status();
  std::vector<BlobTag> tags;
  for (auto& [name, value] : *pairs) tags.push_back({std::move(name), std::move(value)});
  if (Status checked = check_blob_tags(tags); !checked.ok()) return checked;
  return tags;
}

void print_container(const std::string& account, const ContainerState& container, bool json) {
  if (json) {
    print_json_line({{"name", container.name},
                     {"account", account},
                     {"etag", container.etag.to_string()},
                     {"modified", container.modified.to_string()},
                     {"public_access", name_of_access(container.public_access)},
                     {"lease", name_of_lease(container.lease.state)},
                     {"metadata", json_of_pairs(container.metadata)}});
    return;
  }
  print_label("container", container.name);
  print_label("account", account);
  print_label("etag", container.etag.to_string());
  print_label("modified", container.modified.to_string());
  print_label("public access", name_of_access(container.public_access));
  print_label("lease", name_of_lease(container.lease.state));
  print_pairs("metadata", container.metadata);
}

void print_blob(const BlobState& blob, bool json) {
  if (!json) return print_for_reading(blob);
  BlobJson line{{"name", blob.name}, {"kind", kind_name(blob.kind)}, {"length", blob.length}};
  if (blob.is_uncommitted) {
    line["uncommitted"] = true;
  } else {
    add_state(line, blob);
  }
  print_json_line(line);
}

void print_blob_line(const BlobState& blob) {
  std::cout << std::right << std::setw(kLengthColumns) << with_commas(blob.length) << "  " << std::left
            << std::setw(kTimeColumns) << (blob.is_uncommitted ? "uncommitted" : blob.modified.to_string()) << "  "
            << for_output(blob.name) << "\n";
}

}  // namespace varve::tool
