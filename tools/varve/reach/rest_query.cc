#include "tools/varve/reach/rest_query.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "api/security/query_fields.h"

namespace varve::tool {
namespace {

std::string literal_of(std::string_view text) {
  std::string literal = "'";
  for (const char c : text) literal += c == '\'' ? std::string("''") : std::string(1, c);
  return literal + "'";
}

void add_condition(std::string& filter, const std::string& condition) {
  if (!filter.empty()) filter += " and ";
  filter += condition;
}

void add_bounds(std::string& filter, const std::string& key, std::string_view from,
                const std::optional<std::string>& to) {
  if (!from.empty()) add_condition(filter, key + " ge " + literal_of(from));
  if (to) add_condition(filter, key + " lt " + literal_of(*to));
}

std::string filter_of(const Scan& scan) {
  const ScanRange& range = scan.range;
  std::string filter;
  if (range.kind() != ScanRange::Kind::kTable && range.kind() != ScanRange::Kind::kPartitions) {
    filter = "PartitionKey eq " + literal_of(range.partition_key());
  }
  switch (range.kind()) {
    case ScanRange::Kind::kTable:
    case ScanRange::Kind::kPartition: break;
    case ScanRange::Kind::kRows: add_bounds(filter, "RowKey", range.from(), range.to()); break;
    case ScanRange::Kind::kRowPrefix: add_bounds(filter, "RowKey", range.from(), end_of_prefix(range.from())); break;
    case ScanRange::Kind::kPartitions: add_bounds(filter, "PartitionKey", range.from(), range.to()); break;
  }
  if (!scan.filter.empty()) add_condition(filter, filter.empty() ? scan.filter : "(" + scan.filter + ")");
  return filter;
}

/// Returns the bytes of the last character. `text` is UTF-8 and not empty.
std::size_t last_character(std::string_view text) {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
  return text.size() - begin;
}

std::uint32_t decoded(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first;
  std::uint32_t point = first & (0x7FU >> character.size());
  for (const char c : character.substr(1)) point = point << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  return point;
}

std::string encoded(std::uint32_t point) {
  const auto tail = [point](unsigned shift) { return static_cast<char>(0x80U | (point >> shift & 0x3FU)); };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xC0U | point >> 6U), tail(0)};
  if (point < 0x10000) return {static_cast<char>(0xE0U | point >> 12U), tail(6), tail(0)};
  return {static_cast<char>(0xF0U | point >> 18U), tail(12), tail(6), tail(0)};
}

/// Returns the next character in the order of UTF-16 code units: characters outside the first plane, which are pairs
/// of surrogates, come between U+D7FF and U+E000. Returns nothing after the last character, U+FFFF.
std::optional<std::uint32_t> next_character(std::uint32_t point) {
  if (point == 0xD7FF) return 0x10000;
  if (point == 0x10FFFF) return 0xE000;
  if (point == 0xFFFF) return std::nullopt;
  return point + 1;
}

}  // namespace

std::optional<std::string> end_of_prefix(std::string_view prefix) {
  while (!prefix.empty()) {
    const std::size_t bytes = last_character(prefix);
    const std::optional<std::uint32_t> next = next_character(decoded(prefix.substr(prefix.size() - bytes)));
    prefix.remove_suffix(bytes);
    if (next) return std::string(prefix) + encoded(*next);
  }
  return std::nullopt;
}

Result<std::string> query_of(const Scan& scan) {
  if (scan.backward) {
    return Status::invalid_argument("the protocol has no backward queries; give the directory of the store instead");
  }
  std::string query;
  security::append_field(query, "$filter", filter_of(scan));
  if (!scan.read.select.empty()) {
    std::string select = "PartitionKey,RowKey,Timestamp";
    for (const std::string& name : scan.read.select) select += "," + name;
    security::append_field(query, "$select", select);
  }
  security::append_field(query, "$top", std::to_string(scan.page_entities_max));
  if (!scan.order_by.empty()) {  // Its token is one word.
    security::append_field(query, "$orderby", scan.order_by);
    if (!scan.continuation.empty()) security::append_field(query, "NextPartitionKey", scan.continuation);
    return query;
  }
  if (scan.continuation.empty()) return query;
  const std::size_t space = std::min(scan.continuation.find(' '), scan.continuation.size());
  security::append_field(query, "NextPartitionKey", scan.continuation.substr(0, space));
  security::append_field(query, "NextRowKey", scan.continuation.substr(std::min(space + 1, scan.continuation.size())));
  return query;
}

}  // namespace varve::tool
