// Owns: the verbs `varve pull` and `varve push`.
// Must never: end with success if a table differs.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/varve/input/stop_signal.h"
#include "tools/varve/reach/reach.h"
#include "tools/varve/reach/service_address.h"
#include "tools/varve/session/session.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/progress.h"
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
  std::uint64_t tables_at_once = 2;
  bool dry_run = false;
  bool json = false;
};

/// Returns one more connection to a place at an address. A store of this process needs none.
std::function<Result<std::unique_ptr<StoreAccess>>()> connector_of(StoreAccess* store, const Place& place) {
  if (store == nullptr || store->local() != nullptr) return nullptr;
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

/// Checks that each table can be read: with a wrong key, or without the table, nothing is made in the target.
Status check_readable(StoreAccess& store, const std::string& account, const std::vector<std::string>& tables) {
  Scan one;
  one.page_entities_max = 1;
  for (const std::string& table : tables) {
    const Result<std::unique_ptr<TableAccess>> opened = store.open_table(account, table);
    if (!opened.ok()) return opened.status();
    if (const Result<Page> read = (*opened)->scan(one); !read.ok()) return read.status();
  }
  return Status();
}

/// Returns what a transfer leaves out of a table, such as "its index ByTotal, and its rule of expiry". Empty if that is
/// nothing.
Result<std::string> left_out(const Store& store, const std::string& account, const std::string& table) {
  const Result<std::vector<IndexInfo>> indexes = store.indexes(account, table);
  if (!indexes.ok()) return indexes.status();
  const Result<std::optional<TableExpiry>> expiry = store.table_expiry(account, table);
  if (!expiry.ok()) return expiry.status();
  std::string text;
  for (const IndexInfo& index : *indexes) {
    text += text.empty() ? (indexes->size() == 1 ? "its index " : "its indexes ") : ", ";
    text += index.definition.name;
  }
  if (*expiry) text += std::string(text.empty() ? "" : ", and ") + "its rule of expiry";
  return text;
}

/// Prints for each table what the transfer leaves out: its indexes and its rule of expiry. A source at an address does
/// not show them.
void print_left_out(StoreAccess& source, const std::string& account, const std::vector<std::string>& tables) {
  const Store* const store = source.local();
  if (store == nullptr) return;
  for (const std::string& table : tables) {
    const Result<std::string> text = left_out(*store, account, table);
    if (text.ok() && !text->empty()) print_hint("the transfer of table " + table + " leaves out " + *text);
  }
}

/// Returns the target. Null if a dry run has a target that does not exist, since it makes none.
Result<std::unique_ptr<StoreAccess>> reach_target(const Place& target, bool dry_run) {
  if (!dry_run) return reach_or_make(target);
  Result<std::unique_ptr<StoreAccess>> reached = reach_state(target);
  const bool is_absent = reached.code() == Code::kNotFound && reached.status().service_error().empty();
  return is_absent ? std::unique_ptr<StoreAccess>() : std::move(reached);
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

/// The tables of a transfer. Several workers take the next one until none is left, or one failed.
class TableQueue {
 public:
  TableQueue(const TransferWords& words, const std::vector<std::string>& tables)
      : words_(words), tables_(tables), outcomes_(tables.size()), progress_("entities", 0) {}

  /// Transfers tables until none is left.
  void work(const TransferSide& from, const TransferSide& to) {
    for (std::size_t at = next_++; at < tables_.size() && !failed_; at = next_++) {
      Outcome& outcome = outcomes_[at];
      const Status ended = transfer_table(
          from, to, tables_[at], {words_.threads, words_.dry_run}, [this] { note_progress(); }, outcome.figures);
      const std::lock_guard<std::mutex> lock(mutex_);
      outcome.ended = ended;
      outcome.is_done = true;
      if (!ended.ok()) failed_ = true;
      print_done();
    }
  }
  /// Notes that a worker could not begin.
  void fail_worker(const Status& reason) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (worker_.ok()) worker_ = reason;
    failed_ = true;
  }

  /// Reports after all workers have ended. Returns the exit code.
  int finish() {
    progress_.clear();
    std::uint64_t different = 0;
    for (std::size_t at = 0; at < tables_.size(); ++at) {
      Outcome& outcome = outcomes_[at];
      if (outcome.is_done && outcome.ended.ok() && !outcome.is_printed)
        print_table(words_, tables_[at], outcome.figures);
      different += outcome.figures.different;
    }
    for (std::size_t at = 0; at < tables_.size(); ++at) {
      if (!outcomes_[at].ended.ok()) return report_stop(tables_[at], outcomes_[at]);
    }
    if (!worker_.ok()) return fail(worker_);
    if (different == 0) return kSuccess;
    return fail(kRefused,
                "the tables differ: the source changed meanwhile, or the target changed values; run it again");
  }

 private:
  struct Outcome {
    TransferFigures figures;
    Status ended;
    bool is_done = false;
    bool is_printed = false;
  };

  void note_progress() {
    const std::lock_guard<std::mutex> lock(mutex_);
    progress_.update(++read_, 0);
  }

  /// Prints the tables in their order, each once it and all before it are done.
  void print_done() {
    progress_.clear();
    while (printed_ < tables_.size() && outcomes_[printed_].is_done && outcomes_[printed_].ended.ok()) {
      print_table(words_, tables_[printed_], outcomes_[printed_].figures);
      outcomes_[printed_++].is_printed = true;
    }
  }

  static int report_stop(const std::string& table, const Outcome& outcome) {
    std::cerr << "varve: stopped in table " << show_text(table, SIZE_MAX).text << " after "
              << counted(outcome.figures.read, "entity", "entities")
              << "; run it again to continue, it writes only what is missing\n";
    if (outcome.ended.code() == Code::kCancelled) return 128 + stop_signal_seen();
    return fail(outcome.ended);
  }

  const TransferWords& words_;
  const std::vector<std::string>& tables_;
  std::vector<Outcome> outcomes_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  Progress progress_;
  std::uint64_t read_ = 0;
  std::size_t printed_ = 0;
  Status worker_;
};

/// A worker's own access to a side. A connection serves one thread; a store of this process serves all.
struct OwnSide {
  std::unique_ptr<StoreAccess> connection;
  Status status;

  explicit OwnSide(const TransferSide& side) {
    if (!side.connect) return;
    Result<std::unique_ptr<StoreAccess>> made = side.connect();
    if (made.ok()) {
      connection = *std::move(made);
    } else {
      status = made.status();
    }
  }
  TransferSide of(const TransferSide& side) const {
    return {connection == nullptr ? side.store : connection.get(), side.account, side.connect};
  }
};

int run_tables(const TransferWords& words, const TransferSide& from, const TransferSide& to,
               const std::vector<std::string>& tables) {
  TableQueue queue(words, tables);
  const auto work_apart = [&] {
    const OwnSide source(from);
    const OwnSide target(to);
    const Status& fault = source.status.ok() ? target.status : source.status;
    if (fault.ok()) {
      queue.work(source.of(from), target.of(to));
    } else {
      queue.fail_worker(fault);
    }
  };
  std::vector<std::thread> workers;
  const std::size_t count = std::min<std::size_t>(words.tables_at_once, tables.size());
  for (std::size_t i = 1; i < count; ++i) workers.emplace_back(work_apart);
  queue.work(from, to);
  for (std::thread& worker : workers) worker.join();
  return queue.finish();
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
  if (const Status readable = check_readable(**source, words.from.account, *tables); !readable.ok())
    return fail(readable);
  const Result<std::unique_ptr<StoreAccess>> reached = reach_target(target, words.dry_run);
  if (!reached.ok()) return fail(reached.status());
  StoreAccess* const store = (*reached).get();
  const int exit_code =
      run_tables(words, {(*source).get(), words.from.account, connector_of((*source).get(), words.from)},
                 {store, target.account, connector_of(store, target)}, *tables);
  if (exit_code == kSuccess) print_left_out(**source, words.from.account, *tables);
  const Status closed = store == nullptr ? Status() : store->close();
  if (exit_code != kSuccess || closed.ok()) return exit_code;
  return fail(closed);
}

constexpr const char* kTransferHelp = R"(
FROM and TO are a directory of a store, its address rados:POOL/NAME on Ceph, or the http(s):// address of a table
service. Without --table, all tables of the account are copied. Only entities that TO lacks, or has with other values,
are written. So a transfer that was stopped is continued by running it again. At the end both tables are read again and
compared; Timestamps differ. Entities that only TO has stay, and are counted. Indexes and rules of expiry are not
copied; if FROM is a directory, a hint names them. The key of a service is found as for all verbs (--key-file, the
environment).
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
  verb->add_option("--tables-at-once", words->tables_at_once, "Tables that are copied at the same time")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
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
