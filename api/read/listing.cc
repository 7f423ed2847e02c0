// Owns: pages of names (listing.h).
// Must never: read more rows than a page shows plus one.
#include "api/read/listing.h"

#include <algorithm>
#include <string>
#include <utility>

#include "api/catalog/catalog.h"
#include "api/model/continuation_token.h"
#include "api/model/listed_bytes.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "engine/read/cursor.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve {
namespace {

/// The range of keys that a listing scans.
struct NameRange {
  std::string lower;
  std::string upper;
};

/// Returns the name in the continuation token, or an empty text without a token. Errors: kInvalidArgument
/// (InvalidInput).
Result<std::string> check_options(const ListOptions& options) {
  if (options.page_names_max == 0 || options.page_names_max > limits::kPageEntitiesMax) {
    return service_error::invalid_input("page_names_max is " + std::to_string(options.page_names_max) +
                                        "; 1 to 1000 are allowed");
  }
  if (!format::is_valid_utf8(options.prefix)) {
    return service_error::invalid_input("the prefix " + quoted(options.prefix) + " is not valid UTF-8");
  }
  if (options.continuation.empty()) return std::string();
  return decode_key_token(options.continuation);
}

/// Returns the range of all keys that consist of `keys` and a text that begins with `prefix` and is at least `from`.
/// Both texts are UTF-8.
Result<NameRange> names_behind(const std::string& keys, std::string_view prefix, std::string_view from) {
  std::string lower = keys;
  if (Status appended = format::append_text_prefix(lower, prefix); !appended.ok()) return appended;
  std::string upper = format::end_of_prefix(lower);
  std::string start = keys;
  if (Status appended = format::append_text_prefix(start, from); !appended.ok()) return appended;
  if (start > lower) lower = std::move(start);
  return NameRange{std::move(lower), std::move(upper)};
}

/// Calls `add` for each row of a page. If another row follows, returns its token. `name_of` takes the row's name from
/// its key.
template <typename NameOf, typename Add>
Result<std::optional<std::string>> walk(const engine::ReadView& view, const NameRange& range, std::uint32_t rows_max,
                                        NameOf name_of, Add add) {
  if (range.lower >= range.upper) return std::optional<std::string>();
  engine::Cursor cursor = view.cursor(range.lower, range.upper);
  std::uint32_t rows = 0;
  std::uint64_t bytes = 0;
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
    const Result<format::SortKey> key = format::decode_sort_key(cursor.key());
    if (!key.ok()) return key.status();
    const bool is_full = rows++ == rows_max || bytes >= kListedBytesMax;
    if (is_full) return std::optional<std::string>(encode_key_token(name_of(*key)));
    bytes += cursor.key().size() + cursor.value().size();
    if (Status added = add(*key, cursor); !added.ok()) return added;
  }
  if (!cursor.status().ok()) return cursor.status();
  return std::optional<std::string>();
}

}  // namespace

Result<AccountPage> list_account_page(const engine::ReadView& view, const ListOptions& options) {
  const Result<std::string> from = check_options(options);
  if (!from.ok()) return from.status();
  const Result<NameRange> range = names_behind(format::encode_table(kAccountsTable), options.prefix, *from);
  if (!range.ok()) return range.status();

  AccountPage page;
  const auto name_of = [](const format::SortKey& key) { return key.partition_key; };
  const auto add = [&page](const format::SortKey& key, const engine::Cursor& cursor) {
    const Result<AccountRow> row = decode_account_row(key.partition_key, cursor.version(), cursor.value());
    if (!row.ok()) return row.status();
    page.accounts.push_back({key.partition_key, DateTime{row->created}});
    return Status();
  };
  Result<std::optional<std::string>> next = walk(view, *range, options.page_names_max, name_of, add);
  if (!next.ok()) return next.status();
  page.continuation = *std::move(next);
  return page;
}

Result<TablePage> list_table_page(const engine::ReadView& view, std::string_view account, const ListOptions& options) {
  const Result<std::string> from = check_options(options);
  if (!from.ok()) return from.status();
  const Result<std::optional<AccountRow>> owner = Catalog::find_account(view, account);
  if (!owner.ok()) return owner.status();
  if (!*owner) return no_such_account(account);
  // The names of users' tables begin with letters, so they follow `$` and the byte after it.
  const bool has_metrics = options.include_metrics_tables || options.prefix.starts_with('$');
  const std::string first = std::max(lower_case(*from), std::string(has_metrics ? "" : "%"));
  const Result<NameRange> range = names_behind(table_rows_prefix(account), lower_case(options.prefix), first);
  if (!range.ok()) return range.status();

  TablePage page;
  const auto name_of = [](const format::SortKey& key) { return key.row_key; };
  const auto add = [&page](const format::SortKey& key, const engine::Cursor& cursor) {
    Result<TableRow> row = decode_table_row(key.partition_key, key.row_key, cursor.version(), cursor.value());
    if (!row.ok()) return row.status();
    page.tables.push_back(
        {std::move(row->name), DateTime{row->created}, has_large_values(row->id), std::move(row->expiry)});
    return Status();
  };
  Result<std::optional<std::string>> next = walk(view, *range, options.page_names_max, name_of, add);
  if (!next.ok()) return next.status();
  page.continuation = *std::move(next);
  return page;
}

Result<QueuePage> list_queue_page(const engine::ReadView& view, std::string_view account, const ListOptions& options) {
  const Result<std::string> from = check_options(options);
  if (!from.ok()) return from.status();
  const Result<std::optional<AccountRow>> owner = Catalog::find_account(view, account);
  if (!owner.ok()) return owner.status();
  if (!*owner) return no_such_account(account);
  const Result<NameRange> range = names_behind(queue_rows_prefix(account), options.prefix, *from);
  if (!range.ok()) return range.status();

  QueuePage page;
  const auto name_of = [](const format::SortKey& key) { return key.row_key; };
  const auto add = [&page](const format::SortKey& key, const engine::Cursor& cursor) {
    Result<QueueRow> row = decode_queue_row(key.partition_key, key.row_key, cursor.version(), cursor.value());
    if (!row.ok()) return row.status();
    page.queues.push_back({key.row_key, DateTime{row->created}, std::move(row->metadata)});
    return Status();
  };
  Result<std::optional<std::string>> next = walk(view, *range, options.page_names_max, name_of, add);
  if (!next.ok()) return next.status();
  page.continuation = *std::move(next);
  return page;
}

Result<ContainerPage> list_container_page(const engine::ReadView& view, std::string_view account,
                                          const ListOptions& options, Ticks now) {
  const Result<std::string> from = check_options(options);
  if (!from.ok()) return from.status();
  const Result<std::optional<AccountRow>> owner = Catalog::find_account(view, account);
  if (!owner.ok()) return owner.status();
  if (!*owner) return no_such_account(account);
  const Result<NameRange> range = names_behind(container_rows_prefix(account), options.prefix, *from);
  if (!range.ok()) return range.status();

  ContainerPage page;
  const auto name_of = [](const format::SortKey& key) { return key.row_key; };
  const auto add = [&page, now](const format::SortKey& key, const engine::Cursor& cursor) {
    Result<ContainerRow> row = decode_container_row(key.partition_key, key.row_key, cursor.version(), cursor.value());
    if (!row.ok()) return row.status();
    const DateTime modified{row->changed};
    page.containers.push_back({key.row_key, ETag::of_timestamp(modified), modified, std::move(row->metadata),
                               row->public_access, row->lease.info(now)});
    return Status();
  };
  Result<std::optional<std::string>> next = walk(view, *range, options.page_names_max, name_of, add);
  if (!next.ok()) return next.status();
  page.continuation = *std::move(next);
  return page;
}

}  // namespace varve
