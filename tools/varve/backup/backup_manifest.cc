#include "tools/varve/backup/backup_manifest.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <system_error>

#include "tools/varve/backup/content_hash.h"

namespace varve::tool {
namespace {

constexpr std::string_view kFirstLine = "varve backup 1";
constexpr std::string_view kFamily = "varve backup ";
constexpr std::string_view kSum = "sum ";
constexpr std::size_t kHashDigits = 64;

/// Takes the next line from a text. Every line ends with a line feed.
std::optional<std::string_view> next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

std::optional<std::string_view> value_of(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  return line.substr(name.size());
}

/// Returns whether a name is one of a file in a store's directory.
bool is_file_name(std::string_view name) {
  constexpr std::size_t kNameMax = 64;
  return !name.empty() && name.size() <= kNameMax && name.front() != '.' &&
         name.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._") ==
             std::string_view::npos;
}

/// Reads `NAME BYTES HASH`.
std::optional<BackupFile> file_of(std::string_view text) {
  const std::size_t first = text.find(' ');
  const std::size_t second = text.find(' ', std::min(first, text.size() - 1) + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return std::nullopt;
  BackupFile file{std::string(text.substr(0, first)), {0, std::string(text.substr(second + 1))}};
  const auto [stopped, error] = std::from_chars(text.data() + first + 1, text.data() + second, file.content.bytes);
  if (error != std::errc() || stopped != text.data() + second) return std::nullopt;
  if (!is_file_name(file.name) || !is_hash(file.content.hash)) return std::nullopt;
  return file;
}

Status not_whole() {
  return Status::corruption("the list of a backup's files is damaged");
}

}  // namespace

bool is_hash(std::string_view text) noexcept {
  return text.size() == kHashDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::uint64_t BackupManifest::bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const BackupFile& file : files) bytes += file.content.bytes;
  return bytes;
}

std::string encode_manifest(const BackupManifest& manifest) {
  std::string text(kFirstLine);
  text.append("\nstore ").append(manifest.store).append("\nversion ").append(manifest.version).append("\n");
  for (const BackupFile& file : manifest.files) {
    text.append("file ").append(file.name).append(" ").append(std::to_string(file.content.bytes));
    text.append(" ").append(file.content.hash).append("\n");
  }
  return text + std::string(kSum) + content_hash_of(text) + "\n";
}

Result<BackupManifest> decode_manifest(std::string_view text) {
  const std::size_t sum = text.size() < kSum.size() + kHashDigits + 1 ? 0 : text.size() - kSum.size() - kHashDigits - 1;
  std::string_view rest = text.substr(0, sum);
  const std::optional<std::string_view> first = next_line(rest);
  if (first && *first != kFirstLine && (*first).starts_with(kFamily))
    return Status::unsupported("a newer program made the backup; use that program");
  if (!first || *first != kFirstLine || !text.substr(sum).starts_with(kSum)) return not_whole();
  if (text.substr(sum + kSum.size(), kHashDigits) != content_hash_of(text.substr(0, sum))) return not_whole();
  BackupManifest manifest;
  std::set<std::string> names;
  while (!rest.empty()) {
    const std::optional<std::string_view> line = next_line(rest);
    if (!line) return not_whole();
    if (const auto store = value_of(*line, "store ")) {
      manifest.store = *store;
    } else if (const auto version = value_of(*line, "version ")) {
      manifest.version = *version;
    } else if (const auto described = value_of(*line, "file ")) {
      std::optional<BackupFile> file = file_of(*described);
      if (!file || !names.insert((*file).name).second) return not_whole();
      manifest.files.push_back(*std::move(file));
    } else {
      return not_whole();
    }
  }
  return manifest;
}

}  // namespace varve::tool
