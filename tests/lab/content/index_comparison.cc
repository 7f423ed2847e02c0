#include "tests/lab/content/index_comparison.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "api/catalog/catalog_rows.h"
#include "api/core/store_core.h"
#include "engine/read/cursor.h"
#include "format/bytes/bytes.h"
#include "format/keys/entity.h"
#include "format/keys/index_key.h"
#include "format/keys/sort_key.h"

namespace varve::lab {
namespace {

using Entries = std::map<std::string, std::string>;

struct ComparedIndex {
  TableIndex index;
  Entries made{};   // by the entities
  Entries found{};  // stored
};

/// Returns what an entry holds: its carried properties, and the end of its entity.
std::string content_of_entry(std::string_view carried, std::uint64_t end) {
  std::string content(carried);
  format::append_u64(content, end);
  return content;
}

std::string named(const ComparedIndex& compared, std::string_view what) {
  return "index " + compared.index.name + ": " + std::string(what);
}

std::string index_fault(const ComparedIndex& compared) {
  for (const auto& [key, value] : compared.found) {
    const auto made = compared.made.find(key);
    if (made == compared.made.end()) return named(compared, "an entry that no entity makes");
    if (made->second != value) return named(compared, "an entry whose carried properties or end are not its entity's");
  }
  const bool is_whole = compared.index.state == IndexState::kReady;
  const bool lacks_some = compared.found.size() < compared.made.size();
  return is_whole && lacks_some ? named(compared, "an entity without its entry") : "";
}

class IndexComparison {
 public:
  explicit IndexComparison(StoreCore& core) : core_(core), view_(core.backend().view()) {}

  std::string compare(bool is_compacted) {
    read_catalog();
    engine::Cursor cursor = view_.cursor({}, {});
    for (cursor.seek_to_first(); cursor.valid() && wrong_.empty(); cursor.next()) {
      const format::TableId id = format::table_id_of(cursor.key());
      if (format::is_index(id)) {
        look_at_entry(id, cursor, is_compacted);
      } else if (const auto table = tables_.find(id); table != tables_.end()) {
        look_at_entity(table->second, cursor);
      }
    }
    if (wrong_.empty() && !cursor.status().ok()) wrong_ = "a read: " + cursor.status().to_string();
    for (auto entry = indexes_.begin(); wrong_.empty() && entry != indexes_.end(); ++entry) {
      wrong_ = index_fault(entry->second);
    }
    return std::move(wrong_);
  }

 private:
  void read_catalog() {
    const std::string prefix = format::encode_table(kTablesTable);
    engine::Cursor rows = view_.cursor(prefix, format::end_of_prefix(prefix));
    for (rows.seek_to_first(); rows.valid(); rows.next()) {
      const Result<format::SortKey> key = format::decode_sort_key(rows.key());
      if (!key.ok()) return wrong("a key", key.status());
      const Result<TableRow> row = decode_table_row(key->partition_key, key->row_key, rows.version(), rows.value());
      if (!row.ok()) return wrong("a row of the catalog", row.status());
      for (const TableIndex& index : row->indexes.all) {
        if (!index.is_maintained()) continue;
        indexes_[index.id] = {index};
        tables_[row->id].push_back(&indexes_[index.id]);
      }
    }
    if (!rows.status().ok()) wrong("the catalog", rows.status());
  }

  void look_at_entity(const std::vector<ComparedIndex*>& indexes, const engine::Cursor& cursor) {
    const Result<format::EncodedEntity> entity = format::EncodedEntity::open(cursor.value());
    if (!entity.ok()) return wrong("an entity", entity.status());
    for (ComparedIndex* const compared : indexes) {
      const format::IndexDefinition& definition = compared->index.definition;
      const std::optional<std::string> components =
          format::index_components(definition, cursor.key(), cursor.version(), *entity);
      if (!components) continue;
      compared->made[format::encode_index_key(compared->index.id, *components, cursor.key())] =
          content_of_entry(format::encode_index_value(definition, *entity), cursor.end());
    }
  }

  void look_at_entry(format::TableId id, const engine::Cursor& cursor, bool is_compacted) {
    const auto index = indexes_.find(id);
    if (index != indexes_.end()) {
      index->second.found.emplace(cursor.key(), content_of_entry(cursor.value(), cursor.end()));
    } else if (!core_.engine().was_dropped(id)) {
      wrong_ = "an entry of an index that is no table's";
    } else if (is_compacted) {
      wrong_ = "an entry of a dropped index after a compaction";
    }
  }

  void wrong(std::string_view what, const Status& status) { wrong_ = std::string(what) + ": " + status.to_string(); }

  StoreCore& core_;
  const engine::ReadView view_;
  std::map<format::TableId, ComparedIndex> indexes_;
  std::map<format::TableId, std::vector<ComparedIndex*>> tables_;
  std::string wrong_;
};

}  // namespace

std::string index_difference(const io::Env& env, std::string_view path, bool is_compacted) {
  StoreOptions options;
  options.read_only = true;
  options.env = &env;
  const Result<std::shared_ptr<StoreCore>> core = StoreCore::open(path, options);
  if (!core.ok()) return "indexes: " + core.status().to_string();
  return IndexComparison(**core).compare(is_compacted);
}

}  // namespace varve::lab
