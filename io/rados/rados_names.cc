// Owns: writing and parsing the texts of rados_names.h.
// Must never: guess what a damaged text meant.
#include "io/rados/rados_names.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace varve::io {

namespace {

constexpr std::string_view kScheme = "rados:";
constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kDigitsMax = 19;

bool is_name_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

bool is_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kNameBytesMax && std::all_of(name.begin(), name.end(), is_name_character);
}

Status bad_entry(std::string_view text) {
  return Status::corruption("the root has an entry that cannot be read: " + std::string(text));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace

bool is_rados_address(std::string_view text) noexcept {
  return text.starts_with(kScheme);
}

Result<RadosAddress> parse_rados_address(std::string_view text) {
  if (!is_rados_address(text)) {
    return Status::invalid_argument("an address of a store on Ceph begins with rados:, but this is " +
                                    std::string(text));
  }
  const std::string_view rest = text.substr(kScheme.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) {
    return Status::invalid_argument("expected rados:POOL/NAME, but found no '/' in " + std::string(text));
  }
  RadosAddress address{std::string(rest.substr(0, slash)), std::string(rest.substr(slash + 1))};
  const auto refused = [&](std::string_view what) {
    return Status::invalid_argument("the " + std::string(what) +
                                    " must have 1 to 64 letters, digits, '-', '_' or '.', in " + std::string(text));
  };
  if (!is_name(address.pool)) return refused("pool");
  if (!is_name(address.name)) return refused("name");
  return address;
}

std::string root_object(std::string_view name) {
  return std::string(name) + "/root";
}

std::string lease_object(std::string_view process) {
  return std::string(process) + "/lease";
}

std::string stripe_object(std::string_view store, std::string_view id, std::uint64_t stripe) {
  return std::string(store) + "/" + std::string(id) + "." + std::to_string(stripe);
}

std::string file_key(std::string_view name) {
  return std::string(kFilePrefix).append(name);
}

std::string nameless_key(std::string_view id) {
  return std::string(kNamelessPrefix).append(id);
}

std::string FileEntry::id() const {
  return std::to_string(epoch) + "." + std::to_string(number);
}

std::string entry_text(const FileEntry& entry) {
  return std::string(1, static_cast<char>(entry.phase)) + " " + entry.id() + " " + std::to_string(entry.size_bytes);
}

Result<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result parsed = std::from_chars(text.data(), end, number);
  const bool is_padded = text.size() > 1 && text.front() == '0';
  if (text.empty() || text.size() > kDigitsMax || is_padded || parsed.ec != std::errc() || parsed.ptr != end) {
    return bad_entry(text);
  }
  return number;
}

Result<FileEntry> parse_entry(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ' ');
  if (parts.size() != 3 || parts[0].size() != 1) return bad_entry(text);
  const std::vector<std::string_view> id = split(parts[1], '.');
  if (id.size() != 2) return bad_entry(text);
  FileEntry entry;
  entry.phase = static_cast<FilePhase>(parts[0].front());
  switch (entry.phase) {
    case FilePhase::kGrowing:
    case FilePhase::kFinished:
    case FilePhase::kSegment:
    case FilePhase::kCutSegment: break;
    default:
      return Status::unsupported("the root has a file of the state " + std::string(parts[0]) +
                                 ", which this build does not know; open it with a later build");
  }
  const Result<std::uint64_t> epoch = parse_number(id[0]);
  const Result<std::uint64_t> number = parse_number(id[1]);
  const Result<std::uint64_t> size = parse_number(parts[2]);
  if (!epoch.ok() || !number.ok() || !size.ok()) return bad_entry(text);
  entry.epoch = *epoch;
  entry.number = *number;
  entry.size_bytes = *size;
  return entry;
}

std::uint64_t epoch_of(std::string_view id) noexcept {
  std::uint64_t epoch = 0;
  (void)std::from_chars(id.data(), id.data() + id.size(), epoch);
  return epoch;
}

std::string former_owners_text(const FormerOwners& owners) {
  std::string text;
  for (const auto& [epoch, client] : owners) text.append(std::to_string(epoch)).append(" ").append(client).append("\n");
  return text;
}

Result<FormerOwners> parse_former_owners(std::string_view text) {
  FormerOwners owners;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t space = line.find(' ');
    if (end == std::string_view::npos || space == std::string_view::npos) return bad_entry(text);
    const Result<std::uint64_t> epoch = parse_number(line.substr(0, space));
    if (!epoch.ok()) return epoch.status();
    owners.emplace(*epoch, line.substr(space + 1));
    text.remove_prefix(end + 1);
  }
  return owners;
}

}  // namespace varve::io
