#include "tools/varve/program.h"

#include "tools/varve/session/verbs.h"
#include "varve/version.h"

namespace varve::tool {

namespace {

constexpr const char* kFooter = R"(
Examples
  varve import ./shop Orders orders.csv --partition-key region --row-key id
  varve query ./shop Orders --partition eu --prefix 00 --top 10
  varve get ./shop Orders eu 0001
  varve put ./shop Orders eu 0002 Customer=Ann Lines=3
  varve shell ./shop
  varve export ./shop Orders --format jsonl > orders.jsonl
  varve table drop ./shop Orders
  varve verify ./shop
  varve stats ./shop
  varve inspect ./shop/CURRENT

Exit codes
  0  done
  1  refused: the entity, table or store does not exist or exists already, the ETag differs, a value is not valid,
     rows were not imported, or a person did not confirm a drop
  2  the command line is not valid, or lacks --yes (account drop without a terminal)
  3  the store is damaged; the message names file and offset
  4  the machine: no space, no permission, an I/O error, or another program has the store open
  128 and more: a signal stopped the import, after the rows read so far
  141  the reader of standard output is gone, as with `| head`; changes to the store were made before)";

}  // namespace

std::unique_ptr<CLI::App> command_line(int& exit_code) {
  auto app =
      std::make_unique<CLI::App>("varve: a table store in a directory. `varve VERB --help` explains a verb.", "varve");
  app->footer(kFooter);
  app->require_subcommand(1);
  app->set_version_flag("--version", "varve " VARVE_VERSION);
  add_import_verb(*app, exit_code);
  add_export_verb(*app, exit_code);
  add_query_verb(*app, exit_code);
  add_shell_verb(*app, exit_code);
  add_entity_verbs(*app, exit_code);
  add_table_verbs(*app, exit_code);
  add_store_verbs(*app, exit_code);
  add_stats_verb(*app, exit_code);
  add_inspect_verb(*app, exit_code);
  add_checkpoint_verb(*app, exit_code);
  add_repair_verb(*app, exit_code);
#ifdef VARVE_HAS_SERVER
  add_backup_verbs(*app, exit_code);
  add_transfer_verbs(*app, exit_code);
  add_serve_verb(*app, exit_code);
#endif
  return app;
}

}  // namespace varve::tool
