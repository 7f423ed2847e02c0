// Owns: the content that a store shows its users, as a comparable value: accounts, tables, policies, entities. It reads
// the content, and formats it as lines of JSON.
// Must never: stop at the first error of a read. The data that a damaged store still returns is checked too.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "varve/store.h"

namespace varve::lab {

struct TableContent {
  std::string account;
  std::string name;
  DateTime created;
  std::vector<AccessPolicy> policies;
  std::vector<Entity> entities;  // in the order of their keys
  bool operator==(const TableContent&) const = default;
};

struct StoreContent {
  std::vector<AccountInfo> accounts;
  std::vector<TableContent> tables;  // by account, then by name
  std::optional<std::string> last_tag;
};

/// Appends a text as a string of JSON.
void append_quoted(std::string& out, std::string_view text);

/// Returns one line for each "account", "table" and "entity" in their order, and last the commit tag if there is one.
std::vector<std::string> json_lines(const StoreContent& content);

/// Returns the whole content, or the first error.
Result<StoreContent> read_store_content(const Store& store);

/// Returns an empty text if both are equal. Otherwise it returns one line that names the first difference.
std::string difference(const StoreContent& expected, const StoreContent& found);

/// The result of comparing a store with its expected content.
struct Comparison {
  /// A wrong answer that was not an error, as one line. Empty: none.
  std::string wrong;
  /// The errors with which reads were refused.
  std::vector<Status> errors;
  std::uint64_t entities_read = 0;
};
/// Lists, scans and gets everything, and continues after errors. Gets every `get_every`-th entity by its key, and an
/// absent key next to it.
Comparison compare(const Store& store, const StoreContent& expected, std::size_t get_every);

}  // namespace varve::lab
