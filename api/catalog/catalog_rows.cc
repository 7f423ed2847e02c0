// Owns: the encoding of catalog rows (catalog_rows.h).
// Must never: accept a number from a row that is out of its range.
#include "api/catalog/catalog_rows.h"

#include <optional>
#include <utility>

#include "api/catalog/expiry_rule.h"
#include "api/catalog/row_numbers.h"
#include "api/model/quoted.h"
#include "format/keys/entity.h"

namespace varve {
namespace {

constexpr std::string_view kNumber = "Number";
constexpr std::string_view kNextTable = "NextTable";
constexpr std::string_view kNextAccount = "NextAccount";
constexpr std::string_view kName = "Name";
constexpr std::string_view kId = "Id";
constexpr std::string_view kExpiryProperty = "ExpiryProperty";
constexpr std::string_view kExpiryAge = "ExpiryAge";
constexpr std::string_view kAccountCounterRow = "accounts";

std::string account_in_message(std::string_view account) {
  return "catalog row of account " + quoted(account);
}
std::string table_in_message(std::string_view account, std::string_view lower_name) {
  return "catalog row of table " + quoted(lower_name) + " of account " + quoted(account);
}
constexpr std::string_view kCounterInMessage = "catalog row of the next account number";

/// Returns false if the row has an expiry that is never written.
bool take_expiry(const format::EncodedEntity& row, std::optional<TableExpiry>& expiry) {
  const std::optional<format::PropertyView> property = row.find(kExpiryProperty);
  const std::optional<format::PropertyView> age = row.find(kExpiryAge);
  if (!property && !age) return true;
  TableExpiry found;
  if (property) {
    if (property->type != format::PropertyType::kString) return false;
    found.property = property->value;
  }
  if (age) {
    if (age->type != format::PropertyType::kInt64 || age->as_int64() % kAgeTicksPerMillisecond != 0) return false;
    found.age = std::chrono::milliseconds(age->as_int64() / kAgeTicksPerMillisecond);
  }
  if (!check_table_expiry(found).ok()) return false;
  expiry = std::move(found);
  return true;
}

void add_expiry(format::EntityBuilder& builder, const std::optional<TableExpiry>& expiry) {
  if (!expiry) return;
  if (!expiry->property.empty()) return builder.add_string(kExpiryProperty, expiry->property);
  builder.add_int64(kExpiryAge, expiry->age.count() * kAgeTicksPerMillisecond);
}

}  // namespace

// Legal names are ASCII, so encoding them cannot fail.

std::string account_row_key(std::string_view account) {
  return *format::encode_sort_key(kAccountsTable, account, "");
}

std::string table_row_key(std::string_view account, std::string_view lower_name) {
  return *format::encode_sort_key(kTablesTable, account, lower_name);
}

std::string account_counter_key() {
  return *format::encode_sort_key(kServiceTable, "", kAccountCounterRow);
}

std::string drop_note_key(std::string_view account, std::string_view lower_name) {
  return *format::encode_sort_key(kDropsTable, account, lower_name);
}

std::string table_rows_prefix(std::string_view account) {
  return *format::encode_partition(kTablesTable, account);
}

Result<AccountRow> decode_account_row(std::string_view account, format::CommitVersion version, std::string_view value) {
  const Result<format::EncodedEntity> row = format::EncodedEntity::open(value);
  if (!row.ok()) return row.status().in_file(account_in_message(account));
  const std::optional<std::uint64_t> number = find_number(*row, kNumber, kFirstNumber, kAccountNumberEnd - 1);
  const std::optional<std::uint64_t> next_table = find_number(*row, kNextTable, kFirstNumber, kTableNumberEnd);
  const std::optional<format::CommitVersion> created = find_created(*row, version);
  if (!number || !next_table || !created) {
    return Status::corruption("a number is missing or out of its range").in_file(account_in_message(account));
  }
  return AccountRow{static_cast<std::uint32_t>(*number), static_cast<std::uint32_t>(*next_table), *created};
}

Result<TableRow> decode_table_row(std::string_view account, std::string_view lower_name, format::CommitVersion version,
                                  std::string_view value) {
  const Result<format::EncodedEntity> row = format::EncodedEntity::open(value);
  if (!row.ok()) return row.status().in_file(table_in_message(account, lower_name));
  const std::optional<format::PropertyView> name = row->find(kName);
  const std::optional<std::uint64_t> id =
      find_number(*row, kId, format::make_table_id(kFirstNumber, kFirstNumber), UINT64_MAX);
  const std::optional<format::CommitVersion> created = find_created(*row, version);
  if (!name || name->type != format::PropertyType::kString || !id || !created) {
    return Status::corruption("the name or a number is missing or out of its range")
        .in_file(table_in_message(account, lower_name));
  }
  TableRow table{std::string(name->value), *id, *created};
  if (!take_expiry(*row, table.expiry)) {
    return Status::corruption("the expiry is invalid").in_file(table_in_message(account, lower_name));
  }
  Result<TableIndexes> indexes = decode_table_indexes(*row, *id);
  if (!indexes.ok()) return indexes.status().in_file(table_in_message(account, lower_name));
  table.indexes = *std::move(indexes);
  return table;
}

Result<std::uint32_t> decode_account_counter(std::string_view value) {
  const Result<format::EncodedEntity> row = format::EncodedEntity::open(value);
  if (!row.ok()) return row.status().in_file(kCounterInMessage);
  const std::optional<std::uint64_t> next = find_number(*row, kNextAccount, kFirstNumber, kAccountNumberEnd);
  if (!next) return Status::corruption("the number is missing or out of its range").in_file(kCounterInMessage);
  return static_cast<std::uint32_t>(*next);
}

std::string encode_account_row(std::uint32_t number) {
  format::EntityBuilder builder;
  builder.add_int64(kNumber, number);
  builder.add_int64(kNextTable, kFirstNumber);
  return builder.finish();
}

std::string encode_table_row(std::string_view name, format::TableId id, const std::optional<TableExpiry>& expiry) {
  format::EntityBuilder builder;
  builder.add_string(kName, name);
  builder.add_int64(kId, static_cast<std::int64_t>(id));
  add_expiry(builder, expiry);
  return builder.finish();
}

std::string encode_account_counter(std::uint32_t next_account) {
  format::EntityBuilder builder;
  builder.add_int64(kNextAccount, next_account);
  return builder.finish();
}

Result<std::string> with_next_table(std::string_view value, const AccountRow& row, std::uint32_t next_table) {
  return with_numbers(value, {{kNextTable, next_table}, {kCreated, static_cast<std::int64_t>(row.created)}});
}

Result<std::string> with_table_id(std::string_view value, const TableRow& row, format::TableId id) {
  return with_numbers(value,
                      {{kId, static_cast<std::int64_t>(id)}, {kCreated, static_cast<std::int64_t>(row.created)}});
}

Result<std::string> with_table_expiry(std::string_view value, const TableRow& row,
                                      const std::optional<TableExpiry>& expiry) {
  const Result<std::string> renewed = with_table_id(value, row, row.id);
  if (!renewed.ok()) return renewed;
  const Result<format::EncodedEntity> view = format::EncodedEntity::open(*renewed);
  if (!view.ok()) return view.status();
  format::EntityBuilder builder;
  for (std::size_t i = 0; i < view->property_count(); ++i) {
    const format::PropertyView property = view->property(i);
    if (property.name != kExpiryProperty && property.name != kExpiryAge) builder.add(property);
  }
  add_expiry(builder, expiry);
  return builder.finish();
}

Result<std::string> with_next_account(std::string_view value, std::uint32_t next_account) {
  return with_numbers(value, {{kNextAccount, next_account}});
}

}  // namespace varve
