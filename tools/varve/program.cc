#include "tools/varve/program.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tools/varve/command/common_words.h"
#include "tools/varve/command/help_text.h"
#include "tools/varve/command/help_verb.h"
#include "tools/varve/session/verbs.h"
#include "varve/version.h"

namespace varve::tool {

namespace {

constexpr const char* kFooter =
    R"(`varve help VERB` explains a verb. Where STORE may be left out, the environment's VARVE_STORE is meant.

Examples
  varve import ./shop Orders orders.csv --partition-key region --row-key id
  varve get ./shop Orders eu 0001
  varve query ./shop Orders --partition eu --top 10
  varve table drop ./shop Orders

Exit codes
  0    done
  1    refused: absent, already there, another ETag, a bad value, rows that were
       not imported, or a person did not confirm a drop
  2    the command line is not valid, or lacks --yes (account drop, delete-where)
  3    the store is damaged; the message names file and offset
  4    the machine: no space, no permission, an I/O error, or another program
       has the store open
  128 and more: a signal stopped the import, after the rows read so far; or
       the transfer of a blob
  141  the reader of standard output is gone, as with `| head`)";

/// The groups of the list of verbs, in its order.
struct VerbGroup {
  const char* name;
  std::vector<std::string> verbs;
};

void group_verbs(CLI::App& app) {
  const std::array<VerbGroup, 7> groups = {
      {{"Read", {"get", "query", "count", "aggregate", "export", "shell"}},
       {"Write", {"put", "update", "patch", "delete", "delete-where", "update-where", "import"}},
       {"Tables and accounts", {"table", "index", "account", "pull", "push"}},
       {"Queues", {"queue"}},
       {"Blobs", {"container", "blob"}},
       {"Whole store",
        {"stats", "verify", "compact", "checkpoint", "backup", "backups", "restore", "repair", "inspect"}},
       {"Serve and help", {"serve", "help"}}}};
  for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    for (const VerbGroup& group : groups) {
      if (std::find(group.verbs.begin(), group.verbs.end(), verb->get_name()) != group.verbs.end())
        verb->group(group.name);
    }
  }
}

}  // namespace

std::unique_ptr<CLI::App> command_line(int& exit_code) {
  auto app = std::make_unique<CLI::App>("varve: a table store in a directory", "varve");
  app->formatter(std::make_shared<HelpFormatter>());
  app->require_subcommand(1);
  app->set_version_flag("--version", "varve " VARVE_VERSION);
  add_entity_verbs(*app, exit_code);
  add_where_verbs(*app, exit_code);
  add_query_verb(*app, exit_code);
  add_aggregate_verb(*app, exit_code);
  add_export_verb(*app, exit_code);
  add_shell_verb(*app, exit_code);
  add_import_verb(*app, exit_code);
  add_table_verbs(*app, exit_code);
  add_index_verbs(*app, exit_code);
  add_queue_verbs(*app, exit_code);
  add_blob_verbs(*app, exit_code);
#ifdef VARVE_HAS_SERVER
  add_transfer_verbs(*app, exit_code);
#endif
  add_stats_verb(*app, exit_code);
  add_store_verbs(*app, exit_code);
  add_checkpoint_verb(*app, exit_code);
#ifdef VARVE_HAS_SERVER
  add_backup_verbs(*app, exit_code);
#endif
  add_repair_verb(*app, exit_code);
  add_inspect_verb(*app, exit_code);
#ifdef VARVE_HAS_SERVER
  add_serve_verb(*app, exit_code);
  add_manual_verb(*app, exit_code);
#endif
  add_help_verb(*app, exit_code);
  app->footer(kFooter);  // after the verbs, which would inherit it
  group_verbs(*app);
  add_common_words(*app);
  return app;
}

}  // namespace varve::tool
