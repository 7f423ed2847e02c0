// Owns: the walk over the blobs of a container (damaged_blobs.h).
// Must never: report a blob twice.
#include "api/read/damaged_blobs.h"

#include <algorithm>
#include <string>
#include <vector>

#include "api/blob/blob_rows.h"
#include "api/blob/large_values.h"
#include "api/read/blob_read.h"
#include "engine/read/cursor.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

bool has_damage(const engine::ReadView& view, format::TableId contents, const BlobRow& row,
                const std::set<ContentId>& damaged) {
  const auto is_damaged = [&damaged](const auto& named) { return damaged.count(named.content) != 0; };
  if (std::any_of(row.pieces.begin(), row.pieces.end(), is_damaged)) return true;
  const std::size_t lists = row.is_list ? 1 : row.lists;
  return std::any_of(row.pieces.begin(), row.pieces.begin() + static_cast<std::ptrdiff_t>(lists),
                     [&](const ContentPiece& list) {
                       const Result<std::vector<ListEntry>> entries = read_list(view, contents, list.content);
                       return !entries.ok() || std::any_of(entries->begin(), entries->end(), is_damaged);
                     });
}

}  // namespace

Status find_damaged_blobs(const engine::ReadView& view, format::TableId container, const std::set<ContentId>& damaged,
                          const std::function<void(std::string_view name)>& report) {
  const std::string prefix = named_rows_prefix(container, 'B', {});
  engine::Cursor rows = view.cursor(prefix, format::end_of_prefix(prefix));
  for (rows.seek_to_first(); rows.valid(); rows.next()) {
    const Result<std::string> name = decode_named_key(rows.key());
    const Result<BlobRow> row = decode_blob_row(rows.version(), rows.value());
    if (name.ok() && row.ok() && has_damage(view, contents_of(container), *row, damaged)) report(*name);
  }
  return rows.status();
}

Status find_damaged_entities(
    const engine::ReadView& view, format::TableId table, const std::set<ContentId>& damaged,
    const std::function<void(std::string_view partition_key, std::string_view row_key)>& report) {
  const std::string prefix = format::encode_table(table);
  engine::Cursor rows = view.cursor(prefix, format::end_of_prefix(prefix));
  for (rows.seek_to_first(); rows.valid(); rows.next()) {
    const Result<format::SortKey> key = format::decode_sort_key(rows.key());
    std::vector<format::ContentReference> named;
    if (!key.ok() || !add_large_values(rows.value(), named).ok()) continue;
    const bool has_damaged_value = std::any_of(
        named.begin(), named.end(), [&damaged](const auto& each) { return damaged.count(each.content) != 0; });
    if (has_damaged_value) report(key->partition_key, key->row_key);
  }
  return rows.status();
}

}  // namespace varve
