// Owns: everything that a user can read in a store, in a form that compares and that a model can change.
// Must never: know how it came about; the ledger does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "varve/store.h"

namespace varve::lab {

/// An entity, or what stands for an account, a table or the last tag. A version of zero equals every version: the model
/// does not know it.
struct Row {
  std::map<std::string, std::string> properties;
  std::uint64_t version = 0;
};

/// By name: see the functions below.
using Content = std::map<std::string, Row>;

std::string account_name(std::string_view account);
std::string table_name(std::string_view account, std::string_view table);
std::string entity_name(std::string_view account, std::string_view table, std::string_view partition_key,
                        std::string_view row_key);
/// Of the row that holds the last commit's tag as its property.
inline constexpr std::string_view kTagName = "!tag";

/// Takes a table with everything in it, or an account with all its tables.
void erase_below(Content& content, const std::string& name);

/// A value with its type.
std::string text_of(const Value& value);
Row row_of(const Entity& entity, std::uint64_t version);
Row policies_row(std::span<const AccessPolicy> policies);

/// Reads all accounts, tables, policies, entities and the tag. Errors: those of reading.
Result<Content> read_content(const Store& store);

/// Empty where they are equal; else one line with the first few that differ.
std::string difference(const Content& expected, const Content& found);

}  // namespace varve::lab
