// Owns: the list of the program's verbs: each adds its words to the command line and, when chosen, runs.
// Must never: share state between verbs but the exit code.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/varve/session.h"

namespace varve::tool {

/// A verb's callback leaves the exit code here.
void add_import_verb(CLI::App& app, int& exit_code);
void add_export_verb(CLI::App& app, int& exit_code);
void add_query_verb(CLI::App& app, int& exit_code);
void add_shell_verb(CLI::App& app, int& exit_code);
void add_entity_verbs(CLI::App& app, int& exit_code);  // get, put, delete
void add_table_verbs(CLI::App& app, int& exit_code);   // table ..., account ...
void add_store_verbs(CLI::App& app, int& exit_code);   // verify, compact
void add_stats_verb(CLI::App& app, int& exit_code);
void add_inspect_verb(CLI::App& app, int& exit_code);
void add_checkpoint_verb(CLI::App& app, int& exit_code);
void add_repair_verb(CLI::App& app, int& exit_code);
void add_serve_verb(CLI::App& app, int& exit_code);  // in builds with the server

/// The words that say where: STORE, TABLE, --account.
void add_store_words(CLI::App& verb, Place& place);
void add_table_words(CLI::App& verb, Place& place);
/// For options that count: digits alone, at least `least` and not above 64 bits.
CLI::Validator whole_number(std::uint64_t least);
/// --durability, of verbs that write.
void add_durability_words(CLI::App& verb, std::string& word);

}  // namespace varve::tool
