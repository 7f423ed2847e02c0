// Owns: the words that several verbs have: the place, its key, durability, counts.
// Must never: run a verb, or open a store.
#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "tools/varve/session/session.h"

namespace varve::tool {

/// The environment's variable with the store of lines that name none.
inline constexpr const char* kStoreVariable = "VARVE_STORE";

/// Adds the word STORE. A line without it means the store of VARVE_STORE.
void add_store_words(CLI::App& verb, Place& place);
/// As add_store_words(), for verbs that remove or write so much that the line must name the store.
void add_named_store_words(CLI::App& verb, Place& place);
/// As add_store_words(), for verbs that also take an address: adds the options for its key.
void add_reach_words(CLI::App& verb, Place& place);
/// As add_reach_words(), with TABLE and --account.
void add_table_words(CLI::App& verb, Place& place);
/// As add_named_store_words(), with TABLE and --account.
void add_named_table_words(CLI::App& verb, Place& place);
/// Returns a validator for counts: only digits, at least `least` and at most 64 bits.
CLI::Validator whole_number(std::uint64_t least);
/// The group of options that choose what a verb prints.
inline constexpr const char* kOutputGroup = "Output";
/// Adds --json with what it prints.
void add_json_words(CLI::App& verb, bool& json, const std::string& about);
/// Adds --durability to verbs that write.
void add_durability_words(CLI::App& verb, std::string& word);

}  // namespace varve::tool
