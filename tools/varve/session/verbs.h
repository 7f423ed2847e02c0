// Owns: the list of the program's verbs. Each verb adds its options to the command line and, when chosen, runs.
// Must never: share state between verbs except the exit code.
#pragma once

#include <CLI/CLI.hpp>

namespace varve::tool {

/// The callback of a verb stores the exit code in `exit_code`.
void add_import_verb(CLI::App& app, int& exit_code);
void add_export_verb(CLI::App& app, int& exit_code);
void add_query_verb(CLI::App& app, int& exit_code);  // query, count
void add_aggregate_verb(CLI::App& app, int& exit_code);
void add_shell_verb(CLI::App& app, int& exit_code);
void add_entity_verbs(CLI::App& app, int& exit_code);  // get, put, update, delete
void add_where_verbs(CLI::App& app, int& exit_code);   // delete-where, update-where
void add_table_verbs(CLI::App& app, int& exit_code);   // table ..., account ...
void add_index_verbs(CLI::App& app, int& exit_code);   // index ...
void add_queue_verbs(CLI::App& app, int& exit_code);   // queue ...
void add_blob_verbs(CLI::App& app, int& exit_code);    // container ..., blob ...
void add_store_verbs(CLI::App& app, int& exit_code);   // verify, compact
void add_stats_verb(CLI::App& app, int& exit_code);
void add_inspect_verb(CLI::App& app, int& exit_code);
void add_checkpoint_verb(CLI::App& app, int& exit_code);
void add_repair_verb(CLI::App& app, int& exit_code);
void add_backup_verbs(CLI::App& app, int& exit_code);    // backup, backups, restore; in builds with the server
void add_transfer_verbs(CLI::App& app, int& exit_code);  // pull, push; in builds with the server
void add_serve_verb(CLI::App& app, int& exit_code);      // in builds with the server
void add_manual_verb(CLI::App& app, int& exit_code);     // hidden; in builds with the server

}  // namespace varve::tool
