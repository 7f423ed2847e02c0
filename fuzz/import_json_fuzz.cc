// Owns: the fuzzer of JSON imports: the place of records, record paths, key templates and rows.
// Must never: let records depend on how the bytes arrive. Must never find other records in a valid array than a parser
// of whole texts does.
//
// Input: a byte that chooses options, a path or template up to a line feed, then the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/varve/rows/json_records.h"
#include "tools/varve/rows/json_row.h"
#include "tools/varve/text/entity_json.h"

namespace varve {
namespace {

using Path = std::optional<std::vector<std::string>>;

struct Found {
  std::vector<std::string> records;
  bool ok = false;
};

Found records_of(std::string_view text, std::size_t piece, const Path& path) {
  tool::JsonRecords records(path);
  Found found;
  Status status;
  for (std::size_t at = 0; at < text.size() && status.ok(); at += piece) {
    status = records.take(text.substr(at, piece));
    while (std::optional<tool::JsonRecord> record = records.next()) {
      if (record->last_line < record->line) std::abort();
      found.records.push_back(std::move(record->text));
    }
  }
  if (status.ok()) status = records.finish();
  while (std::optional<tool::JsonRecord> record = records.next()) found.records.push_back(std::move(record->text));
  found.ok = status.ok();
  return found;
}

void check_array(std::string_view text, const Found& found) {
  if (text.starts_with("\xEF\xBB\xBF")) return;           // the lines of an import remove a mark
  if (text.find('\0') != std::string_view::npos) return;  // the other parser takes a zero byte for the end
  const nlohmann::json whole = nlohmann::json::parse(text, nullptr, false);
  if (!whole.is_array()) return;
  if (!found.ok || found.records.size() != whole.size()) std::abort();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (nlohmann::json::parse(found.records[i], nullptr, false) != whole[i]) std::abort();
  }
}

void check(std::uint8_t choice, std::string_view word, std::string_view text) {
  Path path;
  if ((choice & 1) != 0) {
    Result<std::vector<std::string>> parsed = tool::parse_record_path(word);
    if (!parsed.ok()) return;
    path = *std::move(parsed);
  }
  const Found found = records_of(text, text.size() + 1, path);
  const Found again = records_of(text, 1, path);
  if (found.ok != again.ok || found.records != again.records) std::abort();
  if (!path) check_array(text, found);
  tool::RowShape shape;
  shape.nested = static_cast<tool::NestedValues>(choice >> 1 & 1 ? 1 : choice >> 2 & 1 ? 2 : 0);
  shape.fixes_names = (choice & 8) != 0;
  // A key that is not UTF-8 is refused later, by the table.
  const bool is_ascii =
      std::all_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  Result<tool::KeyTemplate> key = tool::KeyTemplate::parse(is_ascii ? word : "=");
  if (key.ok()) shape.row_key = *std::move(key);
  for (const std::string& record : found.records) {
    tool::JsonRowFault fault;
    const Result<Entity> entity = tool::entity_from_json(record, shape, {1, 1, "f", "n"}, fault);
    if (entity.ok() != (fault.kind == tool::RowFault::kNone)) std::abort();
    if (entity.ok()) tool::entity_to_row(*entity);
  }
}

}  // namespace
}  // namespace varve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\n');
  if (size == 0 || end == std::string_view::npos) return 0;
  varve::check(data[0], input.substr(1, end == 0 ? 0 : end - 1), input.substr(end + 1));
  return 0;
}
