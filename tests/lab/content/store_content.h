// Owns: everything that a store shows its users, as a value that compares: accounts, tables, policies, entities; the
// reading of it, and its form as lines of JSON.
// Must never: stop at the first error of a read: what a damaged store still answers is judged too.
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

/// One line each: "account", "table", "entity", in their order; last the commit tag, if there is one.
std::vector<std::string> json_lines(const StoreContent& content);

/// All of it, or the first error.
Result<StoreContent> read_store_content(const Store& store);

/// Empty if both are equal, else one line that names the first difference.
std::string difference(const StoreContent& expected, const StoreContent& found);

/// What comparing a store with what it should hold came to.
struct Comparison {
  /// An answer that was not an error, and was wrong: one line. Empty: none.
  std::string wrong;
  /// What reads were refused with.
  std::vector<Status> errors;
  std::uint64_t entities_read = 0;
};
/// Lists, scans and gets everything, and goes on behind errors. Gets every `get_every`-th entity by its key, and a key
/// beside it that is not there.
Comparison compare(const Store& store, const StoreContent& expected, std::size_t get_every);

}  // namespace varve::lab
