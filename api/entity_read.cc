// Owns: reads of entities (entity_read.h).
// Must never: end a page without a token while something may follow.
#include "api/entity_read.h"

#include <chrono>
#include <string>
#include <utility>

#include "api/continuation_token.h"
#include "api/entity_codec.h"
#include "api/filter/filter.h"
#include "api/filter/key_plan.h"
#include "api/limits.h"
#include "api/names.h"
#include "api/page_walk.h"
#include "api/quoted.h"
#include "api/service_error.h"
#include "format/sort_key.h"
#include "io/env.h"

namespace varve {
namespace {

Status check_selection(const ReadOptions& options) {
  if (options.select.size() <= limits::kSelectedNamesMax) return Status();
  return service_error::invalid_input(std::to_string(options.select.size()) +
                                      " names are selected; at most 255 are allowed");
}

Status check_scan(const Scan& scan) {
  if (scan.page_size_max > limits::kPageSizeMax) {
    return service_error::invalid_input("a page of " + std::to_string(scan.page_size_max) +
                                        " entities is asked for; at most 1000 are allowed");
  }
  if (scan.time_max < std::chrono::milliseconds(0) || scan.time_max > limits::kPageTimeMax) {
    return service_error::invalid_input("a page of " + std::to_string(scan.time_max.count()) +
                                        " ms is asked for; 0 to 5000 are allowed");
  }
  return check_selection(scan.read);
}

Status check_bound(std::string_view text) {
  if (format::is_valid_utf8(text)) return Status();
  return service_error::invalid_input("the bound " + quoted(text) + " is not valid UTF-8");
}

Status check_range(const ScanRange& range) {
  if (Status checked = check_bound(range.partition_key()); !checked.ok()) return checked;
  if (Status checked = check_bound(range.from()); !checked.ok()) return checked;
  return check_bound(range.to().value_or(std::string()));
}

// Texts are UTF-8 from here on, so encoding them cannot fail.

std::string row_prefix(format::TableId table, const ScanRange& range) {
  std::string prefix = *format::encode_partition(table, range.partition_key());
  const Status appended = format::append_text_prefix(prefix, range.from());
  return appended.ok() ? prefix : std::string();
}

KeyRange everything_with(std::string prefix) {
  std::string end = format::end_of_prefix(prefix);
  return {std::move(prefix), std::move(end), false};
}

KeyRange key_range(format::TableId table, const ScanRange& range) {
  switch (range.kind()) {
    case ScanRange::Kind::kTable: return everything_with(format::encode_table(table));
    case ScanRange::Kind::kPartition: return everything_with(*format::encode_partition(table, range.partition_key()));
    case ScanRange::Kind::kRowPrefix: return everything_with(row_prefix(table, range));
    case ScanRange::Kind::kRows:
      return {*format::encode_sort_key(table, range.partition_key(), range.from()),
              range.to() ? *format::encode_sort_key(table, range.partition_key(), *range.to())
                         : format::end_of_prefix(*format::encode_partition(table, range.partition_key())),
              false};
    case ScanRange::Kind::kPartitions:
      return {*format::encode_partition(table, range.from()),
              range.to() ? *format::encode_partition(table, *range.to())
                         : format::end_of_prefix(format::encode_table(table)),
              false};
  }
  return {};
}

/// The state a read sees and the table's id in it.
Result<ResolvedTable> resolve(StoreCore& core, const TableName& name, NameEntry& entry, const ReadOptions& options) {
  if (!options.snapshot) return core.catalog().resolve_newest(name, entry);
  Result<engine::ReadView> view = core.view(options.snapshot);
  if (!view.ok()) return view.status();
  const Result<format::TableId> id = Catalog::resolve_at(*view, name);
  if (!id.ok()) return id.status();
  return ResolvedTable{*std::move(view), *id};
}

Status check_key(std::string_view partition_key, std::string_view row_key) {
  if (Status key = check_key_characters(partition_key, "PartitionKey", KeyUse::kLookup); !key.ok()) return key;
  return check_key_characters(row_key, "RowKey", KeyUse::kLookup);
}

Result<std::optional<Entity>> entity_of(std::string_view partition_key, std::string_view row_key,
                                        const std::optional<engine::FoundEntry>& found, const ReadOptions& options) {
  if (!found) return std::optional<Entity>();
  Result<Entity> entity =
      decode_entity(std::string(partition_key), std::string(row_key), found->version, found->value, options.select);
  if (!entity.ok()) return entity.status();
  return std::optional<Entity>(*std::move(entity));
}

}  // namespace

Result<std::optional<Entity>> read_entity(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant,
                                          std::string_view partition_key, std::string_view row_key,
                                          const ReadOptions& options) {
  if (Status granted = grant.check_read(partition_key, row_key); !granted.ok()) return granted;
  if (Status key = check_key(partition_key, row_key); !key.ok()) return key;
  if (Status selection = check_selection(options); !selection.ok()) return selection;
  const Result<ResolvedTable> table = resolve(core, name, entry, options);
  if (!table.ok()) return table.status();
  if (is_key_too_long(partition_key) || is_key_too_long(row_key)) return std::optional<Entity>();

  const Result<std::string> sort_key = format::encode_sort_key(table->id, partition_key, row_key);
  if (!sort_key.ok()) return sort_key.status();
  const auto found = table->view.get(*sort_key);
  if (!found.ok()) return found.status();
  return entity_of(partition_key, row_key, *found, options);
}

Result<std::vector<std::optional<Entity>>> read_entities(StoreCore& core, const TableName& name, NameEntry& entry,
                                                         const Grant& grant, std::span<const EntityKey> keys,
                                                         const ReadOptions& options) {
  if (Status granted = grant.check_query(); !granted.ok()) return granted;
  for (const EntityKey& key : keys) {
    if (Status granted = grant.check_read(key.partition_key, key.row_key); !granted.ok()) return granted;
    if (Status checked = check_key(key.partition_key, key.row_key); !checked.ok()) return checked;
  }
  if (Status selection = check_selection(options); !selection.ok()) return selection;
  const Result<ResolvedTable> table = resolve(core, name, entry, options);
  if (!table.ok()) return table.status();

  std::vector<std::string> sort_keys;
  std::vector<std::size_t> places;  // of those that can be there
  for (std::size_t place = 0; place < keys.size(); ++place) {
    const EntityKey& key = keys[place];
    if (is_key_too_long(key.partition_key) || is_key_too_long(key.row_key)) continue;
    Result<std::string> sort_key = format::encode_sort_key(table->id, key.partition_key, key.row_key);
    if (!sort_key.ok()) return sort_key.status();
    sort_keys.push_back(*std::move(sort_key));
    places.push_back(place);
  }
  const std::vector<std::string_view> wanted(sort_keys.begin(), sort_keys.end());
  const auto found = table->view.get_many(wanted);
  if (!found.ok()) return found.status();
  std::vector<std::optional<Entity>> entities(keys.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const EntityKey& key = keys[places[i]];
    Result<std::optional<Entity>> entity = entity_of(key.partition_key, key.row_key, (*found)[i], options);
    if (!entity.ok()) return entity.status();
    entities[places[i]] = *std::move(entity);
  }
  return entities;
}

Result<Page> read_page(StoreCore& core, const TableName& name, NameEntry& entry, const Grant& grant, const Scan& scan) {
  if (Status granted = grant.check_query(); !granted.ok()) return granted;
  if (Status checked = check_scan(scan); !checked.ok()) return checked;
  if (Status checked = check_range(scan.range); !checked.ok()) return checked;
  const Result<Filter> filter = Filter::parse(scan.filter);
  if (!filter.ok()) return filter.status();
  std::optional<ScanPosition> position;
  if (!scan.continuation.empty()) {
    Result<ScanPosition> decoded = decode_scan_token(scan.continuation);
    if (!decoded.ok()) return decoded.status();
    position = *std::move(decoded);
  }
  const Result<ResolvedTable> table = resolve(core, name, entry, scan.read);
  if (!table.ok()) return table.status();
  if (scan.page_size_max == 0) return Page();

  KeyRange range = grant.within(key_range(table->id, scan.range), table->id);
  if (position) {
    std::string from = *format::encode_sort_key(table->id, position->partition_key, position->row_key);
    if (from > range.lower) range.lower = std::move(from);
  }
  if (range.lower >= range.upper) return Page();
  return PageWalk(table->view, *filter, scan, core.engine().env().clock).run(plan_ranges(*filter, table->id, range));
}

}  // namespace varve
