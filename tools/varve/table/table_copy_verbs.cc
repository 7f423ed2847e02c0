#include "tools/varve/table/table_copy_verbs.h"

#include <iostream>
#include <memory>
#include <string>

#include "tools/varve/input/stop_signal.h"
#include "tools/varve/session/session.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/table/table_copy.h"
#include "tools/varve/terminal/outcome.h"

namespace varve::tool {

namespace {

struct CopyWords {
  Place place;
  std::string target;
  std::string target_account;
  bool json = false;
};

using CopyWork = Result<std::uint64_t> (*)(Store&, const TableName&, const TableName&, Progress&);

int run_copy(const CopyWords& words, CopyWork work, const char* done) {
  stop_reading_on_signals();
  const Result<OpenedStore> opened = open_for_writing(words.place);
  if (!opened.ok()) return fail(opened.status());
  Store& store = **opened;
  const std::string& account = words.target_account.empty() ? words.place.account : words.target_account;
  Progress progress("entities", 0);
  const Result<std::uint64_t> copied =
      work(store, {words.place.account, words.place.table}, {account, words.target}, progress);
  progress.clear();
  if (copied.code() == Code::kCancelled) {
    fail(kRefused, copied.status().message());
    return 128 + stop_signal_seen();
  }
  if (!copied.ok()) return fail(copied.status());
  const Status closed = store.close();
  if (!closed.ok()) return fail(closed);
  if (words.json) {
    std::cout << R"({"entities":)" << *copied << R"(,"seconds":)"
              << std::chrono::duration<double>(progress.elapsed()).count() << "}\n";
    return kSuccess;
  }
  std::cout << done << " " << counted(*copied, "entity", "entities") << " of " << words.place.table << " to "
            << words.target << " in " << duration_text(progress.elapsed()) << "\n";
  return kSuccess;
}

void add_copy_verb(CLI::App& group, const char* name, const char* about, const char* help, CopyWork work,
                   const char* done, int& exit_code) {
  auto words = std::make_shared<CopyWords>();
  CLI::App* verb = group.add_subcommand(name, about);
  verb->footer(help);
  add_table_words(*verb, words->place);
  verb->add_option("NEW", words->target, "Name of the new table")->required();
  verb->add_option("--to-account", words->target_account, "Account of the new table; default: the same");
  add_json_words(*verb, words->json, "Print the report as JSON");
  verb->callback([words, work, done, &exit_code] { exit_code = run_copy(*words, work, done); });
}

}  // namespace

void add_table_copy_verbs(CLI::App& group, int& exit_code) {
  add_copy_verb(group, "copy", "Copy a table into a new or empty one",
                "Copies the entities of one moment. The new table has all of them or, after an error or Ctrl-C, none.\n"
                "Timestamps and ETags of the copy are new.\n"
                "\nExamples\n"
                "  varve table copy ./shop Orders OrdersOfMonday\n"
                "  varve table copy ./shop Orders Orders --to-account archive",
                &copy_table, "copied", exit_code);
  add_copy_verb(group, "rename", "Give a table another name",
                "Copies the entities, compares both tables, and then drops the old one. So the store needs room for\n"
                "both for a while, and Timestamps and ETags are new. If the program dies meanwhile, the old table is\n"
                "whole; run it again after dropping the new one.\n"
                "\nExamples\n"
                "  varve table rename ./shop Orders OldOrders\n"
                "  varve table rename ./shop Orders Orders --to-account archive",
                &rename_table, "moved", exit_code);
}

}  // namespace varve::tool
