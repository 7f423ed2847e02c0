// Owns: the content that a user can read in a store, in a form that can be compared, and that a model can change.
// Must never: know the history of the content. The ledger knows it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "varve/store.h"

namespace varve::lab {

/// An entity, or a row for an account, a table, an index, a queue, a message, a container, a blob or the last tag. A
/// version of zero equals every version, because the model does not know it.
struct Row {
  std::map<std::string, std::string> properties;
  std::uint64_t version = 0;
};

/// Rows by name, see the functions below.
using Content = std::map<std::string, Row>;

std::string account_name(std::string_view account);
std::string table_name(std::string_view account, std::string_view table);
std::string entity_name(std::string_view account, std::string_view table, std::string_view partition_key,
                        std::string_view row_key);

std::string index_name(std::string_view account, std::string_view table, std::string_view index);
/// The name of the row whose property is the tag of the last commit.
inline constexpr std::string_view kTagName = "!tag";

/// Removes a table with all of its content, or an account with all its tables.
void erase_below(Content& content, const std::string& name);

/// Returns a value with its type.
std::string text_of(const Value& value);
Row row_of(const Entity& entity, std::uint64_t version);
Row policies_row(std::span<const AccessPolicy> policies);
Row index_row(IndexState state);

/// Reads all accounts, tables, policies, indexes, entities, queues, containers (object_rows.h) and the tag. Errors: those of
/// reading.
Result<Content> read_content(const Store& store);

/// Returns an empty text if both are equal. Otherwise it returns one line with the first few differences.
std::string difference(const Content& expected, const Content& found);

}  // namespace varve::lab
