// Owns: the rows by which the catalog is stored: their keys, and what each one says.
// Must never: lose a property of a row that it does not know.
//
// The catalog is made of ordinary entities in tables of account 0, the system's:
//
//   (0,1) accounts   PartitionKey the account's name, RowKey empty: Number, NextTable, perhaps Created,
//                    perhaps service properties (service_property_rows.h)
//   (0,2) tables     PartitionKey the account's name, RowKey the table's name in lower case: Name (as it was spelt),
//                    Id, perhaps Created, perhaps access policies (policy_rows.h)
//   (0,3) service    PartitionKey empty, RowKey "accounts": NextAccount
//   (0,4) drops      PartitionKey the account's name, RowKey the table's name in lower case: nothing; see
//   name_release.h
//
// All numbers are Int64. Created is the commit version that made the account or table; it is left out while that is the
// row's own version, so until the row is written again. NextTable and NextAccount are the next numbers to be given:
// they only rise, so that no number is given twice. Table numbers from 2^31 on are kept for tables that belong to other
// tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"

namespace varve {

inline constexpr format::TableId kAccountsTable = format::make_table_id(0, 1);
inline constexpr format::TableId kTablesTable = format::make_table_id(0, 2);
inline constexpr format::TableId kServiceTable = format::make_table_id(0, 3);
inline constexpr format::TableId kDropsTable = format::make_table_id(0, 4);

inline constexpr std::uint32_t kFirstNumber = 1;
/// No table of a user's has this number or a higher one.
inline constexpr std::uint32_t kTableNumberEnd = std::uint32_t{1} << 31;
inline constexpr std::uint32_t kAccountNumberEnd = UINT32_MAX;

// Names are legal ones (names.h).
std::string account_row_key(std::string_view account);
std::string table_row_key(std::string_view account, std::string_view lower_name);
std::string account_counter_key();
std::string drop_note_key(std::string_view account, std::string_view lower_name);
/// What the keys of all table rows of an account begin with.
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
};

// `version` is the commit that wrote `value`. Errors: kCorruption, kUnsupported; the row is named.
Result<AccountRow> decode_account_row(std::string_view account, format::CommitVersion version, std::string_view value);
Result<TableRow> decode_table_row(std::string_view account, std::string_view lower_name, format::CommitVersion version,
                                  std::string_view value);
Result<std::uint32_t> decode_account_counter(std::string_view value);

std::string encode_account_row(std::uint32_t number);
std::string encode_table_row(std::string_view name, format::TableId id);
std::string encode_account_counter(std::uint32_t next_account);

/// The row again, with another next table number; `row` is what it was decoded to. Errors: as decoding.
Result<std::string> with_next_table(std::string_view value, const AccountRow& row, std::uint32_t next_table);
/// The row again, for another id; `row` is what it was decoded to.
Result<std::string> with_table_id(std::string_view value, const TableRow& row, format::TableId id);
Result<std::string> with_next_account(std::string_view value, std::uint32_t next_account);

}  // namespace varve
