// Owns: the words by which a verb chooses entities of a table: a range of keys and a filter.
// Must never: run a verb, or open a store.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "tools/varve/query/query_plan.h"
#include "tools/varve/session/session.h"

namespace varve::tool {

/// A table, and which of its entities are meant.
struct RangeWords {
  Place place;
  KeyWords keys;
  std::string filter;
};

/// The group of options that choose entities.
inline constexpr const char* kRangeGroup = "Which entities";

/// Adds the options for a range and a filter.
void add_range_options(CLI::App& verb, RangeWords& words);
/// As add_range_options(), with the table.
void add_range_words(CLI::App& verb, RangeWords& words);
/// Adds the options for single keys, after add_range_words().
void add_key_words(CLI::App& verb, RangeWords& words);

}  // namespace varve::tool
