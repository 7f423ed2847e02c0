// Owns: `varve table expiry`, and the words of a rule by which the entities of a table end.
// Must never: change a rule that the line does not name.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "tools/varve/session/session.h"
#include "varve/table_expiry.h"

namespace varve::tool {

/// A rule as the line gives it. At most one of the words is given.
struct ExpiryWords {
  std::optional<std::string> property;
  std::chrono::milliseconds age{-1};  // negative: not given

  bool is_given() const noexcept { return property || age.count() >= 0; }
  std::optional<TableExpiry> rule() const;
};

/// Adds --expire-at and --expire-after, which exclude each other.
void add_expiry_words(CLI::App& verb, const std::shared_ptr<ExpiryWords>& words);

void add_table_expiry_verb(CLI::App& group, int& exit_code);

}  // namespace varve::tool
