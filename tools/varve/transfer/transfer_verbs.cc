// Owns: the verbs `varve pull` and `varve push`.
// Must never: end with success if a table differs.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/varve/input/stop_signal.h"
#include "tools/varve/reach/reach.h"
#include "tools/varve/reach/service_address.h"
#include "tools/varve/session/entity_walk.h"
#include "tools/varve/session/session.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/terminal.h"
#include "tools/varve/transfer/table_transfer.h"

namespace varve::tool {

namespace {

struct TransferWords {
  Place from;
  Place to;
  std::string to_account;
  std::vector<std::string> tables;
  std::uint64_t threads = 4;
  bool dry_run = false;
  bool json = false;
};

/// Returns one more connection to a place at an address. A store of this process needs none.
std::function<Result<std::unique_ptr<StoreAccess>>()> connector_of(StoreAccess& store, const Place& place) {
  if (store.local() != nullptr) return nullptr;
  return [&place] { return reach_for_writing(place); };
}

Result<std::vector<std::string>> tables_of(StoreAccess& store, const std::string& account) {
  std::vector<std::string> tables;
  ListOptions options;
  for (;;) {
    const Result<TablePage> read = store.list_tables(account, options);
    if (!read.ok()) return read.status();
    const TablePage& page = *read;
    for (const TableInfo& table : page.tables) tables.push_back(table.name);
    if (!page.continuation) return tables;
    options.continuation = *page.continuation;
  }
}

void print_table(const TransferWords& words, const std::string& table, const TransferFigures& figures) {
  if (words.json) {
    std::cout << nlohmann::ordered_json{{"table", table},
                                        {"read", figures.read},
                                        {"written", figures.written},
                                        {"only_in_target", figures.only_in_target},
                                        {"different", figures.different},
                                        {"dry_run", words.dry_run}}
                     .dump()
              << "\n";
    return;
  }
  std::cout << table << ": " << counted(figures.read, "entity", "entities") << ", " << with_commas(figures.written)
            << (words.dry_run ? " would be written" : " written");
  if (!words.dry_run) {
    std::cout << (figures.different == 0 ? "; compared, equal"
                                         : "; compared, " + with_commas(figures.different) + " differ");
  }
  if (figures.only_in_target > 0) std::cout << "; " << with_commas(figures.only_in_target) << " are only in the target";
  std::cout << "\n";
}

int run_tables(const TransferWords& words, const TransferSide& from, const TransferSide& to,
               const std::vector<std::string>& tables) {
  std::uint64_t different = 0;
  for (const std::string& table : tables) {
    TransferFigures figures;
    Progress progress("entities of " + table, 0);
    const Status ended = transfer_table(from, to, table, {words.threads, words.dry_run}, progress, figures);
    progress.clear();
    if (!ended.ok()) {
      std::cerr << "varve: stopped in table " << show_text(table, SIZE_MAX).text << " after "
                << counted(figures.read, "entity", "entities")
                << "; run it again to continue, it writes only what is missing\n";
      if (ended.code() == Code::kCancelled) return 128 + stop_signal_seen();
      return fail(ended);
    }
    print_table(words, table, figures);
    different += figures.different;
  }
  if (different == 0) return kSuccess;
  return fail(kRefused, "the tables differ: the source changed meanwhile, or the target changed values; run it again");
}

/// Prints what a transfer into a store that does not exist yet would write: everything.
int count_tables(const TransferWords& words, StoreAccess& source, const std::vector<std::string>& tables) {
  for (const std::string& name : tables) {
    const Result<std::unique_ptr<TableAccess>> table = source.open_table(words.from.account, name);
    if (!table.ok()) return fail(table.status());
    const Result<ReadOptions> options = options_of_present_state(source);
    if (!options.ok()) return fail(options.status());
    TransferFigures figures;
    Progress progress("entities of " + name, 0);
    const Status read = for_each_entity(**table, *options, progress, [&](const Entity&) {
      ++figures.read;
      return true;
    });
    progress.clear();
    if (!read.ok()) return fail(read);
    figures.written = figures.read;
    print_table(words, name, figures);
  }
  return kSuccess;
}

int run_transfer(const TransferWords& words) {
  stop_reading_on_signals();
  Place target = words.to;
  target.account = words.to_account.empty() ? words.from.account : words.to_account;
  const Result<std::unique_ptr<StoreAccess>> source = reach_state(words.from);
  if (!source.ok()) return fail(source.status());
  const Result<std::vector<std::string>> tables =
      words.tables.empty() ? tables_of(**source, words.from.account) : words.tables;
  if (!tables.ok()) return fail(tables.status());
  // A dry run writes nothing, not even an empty store.
  const Result<std::unique_ptr<StoreAccess>> reached = words.dry_run ? reach_state(target) : reach_or_make(target);
  if (words.dry_run && reached.code() == Code::kNotFound) return count_tables(words, **source, *tables);
  if (!reached.ok()) return fail(reached.status());
  StoreAccess& store = **reached;
  const int exit_code = run_tables(words, {**source, words.from.account, nullptr},
                                   {store, target.account, connector_of(store, target)}, *tables);
  const Status closed = store.close();
  if (exit_code != kSuccess || closed.ok()) return exit_code;
  return fail(closed);
}

constexpr const char* kTransferHelp = R"(
FROM and TO are a directory of a store or the http(s):// address of a table service. Without --table, all tables of the
account are copied. Only entities that TO lacks, or has with other values, are written. So a transfer that was stopped
is continued by running it again. At the end both tables are read again and compared; Timestamps differ. Entities that
only TO has stay, and are counted. The key of an address is found as for all verbs (--key-file, the environment).
)";

void add_transfer_verb(CLI::App& app, const std::string& name, const std::string& about, const std::string& examples,
                       int& exit_code) {
  auto words = std::make_shared<TransferWords>();
  CLI::App* verb = app.add_subcommand(name, about);
  verb->footer(kTransferHelp + examples);
  verb->add_option("FROM", words->from.store, "Directory or address to read")->required();
  verb->add_option("TO", words->to.store, "Directory or address to write; a directory is created")->required();
  verb->add_option("--table", words->tables, "Copy this table only; may be repeated")->expected(1)->take_all();
  verb->add_option("--account", words->from.account, "Account of FROM")->capture_default_str();
  verb->add_option("--to-account", words->to_account, "Account of TO; default: as FROM");
  verb->add_option("--threads", words->threads, "Threads that write")->check(CLI::Range(1, 64))->capture_default_str();
  verb->add_option_function<std::string>("--key-file", &set_key_file, "File with the key or signature of the address");
  verb->add_option_function<std::string>("--ca-file", &set_certificates, "PEM file of the authorities to trust");
  verb->add_flag("--dry-run", words->dry_run, "Write nothing; count what would be written");
  verb->add_flag("--json", words->json, "Print one JSON object for each table");
  verb->callback([words, &exit_code] { exit_code = run_transfer(*words); });
}

}  // namespace

void add_transfer_verbs(CLI::App& app, int& exit_code) {
  add_transfer_verb(app, "pull", "Copy an account or tables from a service into a store",
                    "\nExamples\n"
                    "  varve pull http://127.0.0.1:10002/devstoreaccount1 ./copy\n"
                    "  varve pull http://127.0.0.1:10002/devstoreaccount1 ./copy --table Orders --dry-run",
                    exit_code);
  add_transfer_verb(app, "push", "Copy an account or tables of a store to a service",
                    "\nExamples\n"
                    "  varve push ./shop http://127.0.0.1:10002/devstoreaccount1\n"
                    "  varve push ./shop http://127.0.0.1:10002/devstoreaccount1 --table Orders --dry-run",
                    exit_code);
}

}  // namespace varve::tool
