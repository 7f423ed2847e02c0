// Owns: the rows that store the catalog: their keys and their content.
// Must never: lose a property of a row that it does not know.
//
// The catalog consists of ordinary entities in tables of account 0, the system account:
//
//   (0,1) accounts   PartitionKey: account name, RowKey: empty. Properties: Number, NextTable, optionally Created,
//                    optionally service properties (service_property_rows.h)
//   (0,2) tables     PartitionKey: account name, RowKey: table name in lower case. Properties: Name (as it was spelt),
//                    Id, optionally Created, optionally access policies (policy_rows.h), optionally ExpiryProperty
//                    (String) or ExpiryAge (Int64, ticks): when its entities end (table_expiry.h), optionally
//                    its indexes (index_rows.h). The Id says whether
//                    its entities may have large values: see has_large_values()
//   (0,3) service    PartitionKey: empty, RowKey: "accounts". Property: NextAccount
//   (0,4) drops      PartitionKey: account name, RowKey: table name in lower case. No properties (name_release.h)
//   (0,5) queues     see queue_rows.h
//   (0,6) services   see service_property_rows.h
//   (0,7) drops      of queues, see queue_rows.h
//   (0,8) containers see container_rows.h; (0,9) and (0,10), too
//
// All numbers are Int64. Created is the commit version that created the account or table. It is absent while it equals
// the version of the row, that is, until the row is written again. NextTable and NextAccount are the next numbers to
// assign. They only rise, so no number is assigned twice. Table numbers from 2^31 on are reserved for tables that
// belong to other tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/catalog/index_rows.h"
#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"
#include "varve/table_expiry.h"

namespace varve {

inline constexpr format::TableId kAccountsTable = format::make_table_id(0, 1);
inline constexpr format::TableId kTablesTable = format::make_table_id(0, 2);
inline constexpr format::TableId kServiceTable = format::make_table_id(0, 3);
inline constexpr format::TableId kDropsTable = format::make_table_id(0, 4);

inline constexpr std::uint32_t kFirstNumber = 1;
/// The numbers of user tables are below this one.
inline constexpr std::uint32_t kTableNumberEnd = std::uint32_t{1} << 31;
inline constexpr std::uint32_t kAccountNumberEnd = UINT32_MAX;

/// A table whose entities may have large values has the number n + kLargeValueTables, where n is the number that it drew.
/// n itself is its fence: an id without rows, which each commit to the table names. The drop of the table retires the
/// fence, and the table's id when nothing refers to contents any more. So the id alone says how entities are written, and
/// no write looks it up. n is below 2^29.
inline constexpr std::uint32_t kLargeValueTables = 0xA000'0000;
inline constexpr std::uint32_t kLargeValueTablesMax = std::uint32_t{1} << 29;
constexpr bool has_large_values(format::TableId table) noexcept {
  return static_cast<std::uint32_t>(table) / kLargeValueTablesMax == kLargeValueTables / kLargeValueTablesMax;
}
/// Returns the id of the table that drew this one.
constexpr format::TableId with_large_values(format::TableId drawn) noexcept {
  return drawn + kLargeValueTables;
}
/// Returns the fence of a table with large values, and the id itself of any other table.
constexpr format::TableId table_fence_of(format::TableId table) noexcept {
  return has_large_values(table) ? table - kLargeValueTables : table;
}

// Names must be legal (names.h).
std::string account_row_key(std::string_view account);
std::string table_row_key(std::string_view account, std::string_view lower_name);
std::string account_counter_key();
std::string drop_note_key(std::string_view account, std::string_view lower_name);
/// Returns the common prefix of the keys of all table rows of an account.
std::string table_rows_prefix(std::string_view account);

struct AccountRow {
  std::uint32_t number = 0;
  std::uint32_t next_table = kFirstNumber;
  format::CommitVersion created = 0;
};

struct TableRow {
  std::string name;
  format::TableId id = 0;
  format::CommitVersion created = 0;
  std::optional<TableExpiry> expiry{};
  TableIndexes indexes{};
};

// `version` is the commit that wrote `value`. Errors: kCorruption, kUnsupported; the message names the row.
Result<AccountRow> decode_account_row(std::string_view account, format::CommitVersion version, std::string_view value);
Result<TableRow> decode_table_row(std::string_view account, std::string_view lower_name, format::CommitVersion version,
                                  std::string_view value);
Result<std::uint32_t> decode_account_counter(std::string_view value);

std::string encode_account_row(std::uint32_t number);
std::string encode_table_row(std::string_view name, format::TableId id,
                             const std::optional<TableExpiry>& expiry = std::nullopt);
std::string encode_account_counter(std::uint32_t next_account);

/// Returns the row with another next table number. `row` is the decoded `value`. Errors: as decoding.
Result<std::string> with_next_table(std::string_view value, const AccountRow& row, std::uint32_t next_table);
/// Returns the row with another id. `row` is the decoded `value`.
Result<std::string> with_table_id(std::string_view value, const TableRow& row, format::TableId id);
/// Returns the row with another rule by which entities end, or with none. `row` is the decoded `value`.
Result<std::string> with_table_expiry(std::string_view value, const TableRow& row,
                                      const std::optional<TableExpiry>& expiry);
Result<std::string> with_next_account(std::string_view value, std::uint32_t next_account);

}  // namespace varve
