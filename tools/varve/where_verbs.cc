// Owns: `varve delete-where` and `varve update-where`: changes of the entities that match a filter.
// Must never: change anything without a filter or --all, or without a confirmation.
#include <iostream>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/varve/input/stop_signal.h"
#include "tools/varve/query/range_words.h"
#include "tools/varve/session/named_table.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/progress.h"
#include "tools/varve/terminal/question.h"
#include "tools/varve/terminal/terminal.h"
#include "tools/varve/text/value_text.h"

namespace varve::tool {

namespace {

struct WhereWords : RangeWords {
  bool deletes = false;
  std::vector<std::string> set;
  std::vector<std::string> types;
  std::vector<std::string> remove;
  std::string continuation;
  std::uint32_t batch = limits::kTransactionOperationsMax;
  std::string durability;
  bool all = false;
  bool dry_run = false;
  bool yes = false;
  bool json = false;
};

/// The change that the words ask for.
struct AskedChange {
  Where where;
  PropertyChanges changes;
};

Result<AskedChange> asked_change(const WhereWords& words) {
  AskedChange asked;
  const Result<QueryPlan> plan = plan_query(words.keys);
  if (!plan.ok()) return plan.status();
  asked.where = {plan->range, words.filter, words.all};
  if (words.all == !words.filter.empty()) {
    return Status::invalid_argument(words.all ? "--all cannot be combined with --filter"
                                              : "give --filter, or --all for all entities of the range");
  }
  if (words.deletes) return asked;
  const Result<std::map<std::string, PropertyType>> types = parse_types(words.types);
  if (!types.ok()) return types.status();
  Result<std::vector<Property>> set = parse_properties(words.set, *types);
  if (!set.ok()) return set.status();
  if (Status used = check_types_used(*types, *set); !used.ok()) return used;
  asked.changes = {*std::move(set), words.remove};
  if (words.set.empty() && words.remove.empty()) return Status::invalid_argument("give --set or --remove");
  return asked;
}

Result<WhereProgress> change(TableAccess& table, const WhereWords& words, const AskedChange& asked,
                             const WhereOptions& options) {
  return table.change_where(asked.where, words.deletes ? nullptr : &asked.changes, options);
}

/// Counts at a terminal, and asks. Returns kSuccess if the change may begin.
int confirm(StoreAccess& store, const WhereWords& words, const AskedChange& asked) {
  const Result<std::unique_ptr<TableAccess>> table = open_named_table(store, words.place);
  if (!table.ok()) return fail(table.status());
  WhereOptions options;
  options.dry_run = true;
  options.continuation = words.continuation;
  const Result<WhereProgress> matched = change(**table, words, asked, options);
  if (!matched.ok()) return fail(matched.status());
  const std::string question = std::string(words.deletes ? "Delete " : "Change ") +
                               counted(matched->matched, "entity", "entities") + " of table " + words.place.table + "?";
  return asked_yes(question) ? kSuccess : fail(kRefused, "nothing was changed");
}

void print_outcome(const WhereWords& words, const WhereProgress& done) {
  const char* const changed = words.deletes ? "deleted" : "updated";
  if (words.json) {
    nlohmann::ordered_json object{{"matched", done.matched}};
    if (words.dry_run) {
      object["dry_run"] = true;
    } else {
      object[changed] = done.changed;
      object["left"] = done.left;
    }
    if (done.continuation) object["continuation"] = *done.continuation;
    std::cout << object.dump() << "\n";
    return;
  }
  if (words.dry_run) {
    std::cout << counted(done.matched, "entity matches", "entities match") << "; nothing was changed\n";
    return;
  }
  std::cout << changed << " " << counted(done.changed, "entity", "entities");
  if (done.left > 0) std::cout << "; " << with_commas(done.left) << " no longer matched when their turn came";
  std::cout << "\n";
}

void print_how_to_continue(const std::optional<std::string>& continuation) {
  if (continuation) print_hint("continue with --continuation '" + *continuation + "'");
}

/// Changes the entities of the table. Returns the exit code.
int change_entities(TableAccess& table, const WhereWords& words, const AskedChange& asked) {
  stop_reading_on_signals();
  Progress progress("entities", 0);
  std::stop_source stop;
  std::optional<std::string> last;
  WhereOptions options;
  options.continuation = words.continuation;
  options.batch_entities_max = words.batch;
  options.dry_run = words.dry_run;
  options.stop = stop.get_token();
  options.write.durability = durability_of(words.durability);
  options.progress = [&](const WhereProgress& now) {
    last = now.continuation;
    progress.update(words.dry_run ? now.matched : now.changed, 0);
    if (stop_signal_seen() != 0) stop.request_stop();
  };
  const Result<WhereProgress> done = change(table, words, asked, options);
  progress.clear();
  if (!done.ok()) {
    const int failed = fail(done.status());
    if (done.code() != Code::kNotFound) print_how_to_continue(last);
    return failed;
  }
  print_outcome(words, *done);
  std::cout.flush();
  if (!done->continuation) return kSuccess;
  print_how_to_continue(done->continuation);
  return 128 + stop_signal_seen();
}

int run_where(const WhereWords& words) {
  const Result<AskedChange> asked = asked_change(words);
  if (!asked.ok()) return fail(kUsage, asked.status().message());
  if (!words.dry_run && !words.yes && !can_ask()) {
    return fail(kUsage, std::string(words.deletes ? "delete-where" : "update-where") +
                            " changes all entities that match; give --yes, because there is no terminal to ask at, or "
                            "--dry-run to count them");
  }
  if (is_address(words.place.store)) {
    return fail(kUsage, "a change by filter needs the directory of the store instead of an address");
  }
  Result<std::unique_ptr<StoreAccess>> store =
      words.dry_run ? reach_briefly(words.place) : reach_for_writing(words.place);
  if (!store.ok()) return fail(store.status());
  if (!words.dry_run && !words.yes) {
    if (const int refused = confirm(**store, words, *asked); refused != kSuccess) return refused;
    if (const Status reached = reach_after_question(words.place, *store); !reached.ok()) return fail(reached);
  }
  const Result<std::unique_ptr<TableAccess>> table = open_named_table(**store, words.place);
  if (!table.ok()) return fail(table.status());
  const int exit_code = change_entities(**table, words, *asked);
  if (exit_code != kSuccess) return exit_code;
  if (const Status closed = (*store)->close(); !closed.ok()) return fail(closed);
  return kSuccess;
}

void add_where_words(CLI::App& verb, const std::shared_ptr<WhereWords>& words, int& exit_code) {
  add_named_table_words(verb, words->place);
  add_range_options(verb, *words);
  verb.add_flag("--all", words->all, "All entities of the range, in place of --filter")->group(kRangeGroup);
  verb.add_flag("--dry-run", words->dry_run, "Only count the entities that match");
  verb.add_flag("--yes", words->yes, "Do not ask");
  verb.add_option("--batch", words->batch, "Entities of one batch")
      ->check(CLI::Range(std::uint32_t{1}, static_cast<std::uint32_t>(limits::kTransactionOperationsMax)))
      ->capture_default_str();
  verb.add_option("--continuation", words->continuation,
                  "Continue where an interrupted change of the same range stopped");
  add_durability_words(verb, words->durability);
  add_json_words(verb, words->json, "Print the numbers as JSON");
  verb.callback([words, &exit_code] { exit_code = run_where(*words); });
}

}  // namespace

void add_where_verbs(CLI::App& app, int& exit_code) {
  constexpr const char* kAsks =
      "At a terminal, counts the entities and asks for confirmation. Elsewhere it needs --yes; without it the exit\n"
      "code is 2. Each batch is one transaction for each partition. A signal ends the change after a batch, and the\n"
      "hint says how to continue. STORE must be given: VARVE_STORE does not count here. If a server has the store\n"
      "open, it changes one batch after another for this program. When the program ends, the server finishes the\n"
      "batch that it has begun, and begins no other.\n";
  auto deleted = std::make_shared<WhereWords>();
  deleted->deletes = true;
  CLI::App* remove = app.add_subcommand("delete-where", "Delete the entities that match a filter");
  remove->footer(std::string(kAsks) +
                 "\nExamples\n"
                 "  varve delete-where ./shop Orders --filter \"Paid eq true\" --dry-run\n"
                 "  varve delete-where ./shop Orders --partition eu --filter \"Total lt 1.0\" --yes\n"
                 "  varve delete-where ./shop Orders --partition old --all --yes");
  add_where_words(*remove, deleted, exit_code);

  auto updated = std::make_shared<WhereWords>();
  CLI::App* update =
      app.add_subcommand("update-where", "Set and remove properties of the entities that match a filter");
  update->footer(std::string(kAsks) +
                 "\nExamples\n"
                 "  varve update-where ./shop Orders --filter \"Total gt 100.0\" --set Large=true --yes\n"
                 "  varve update-where ./shop Orders --all --remove Draft --dry-run");
  add_where_words(*update, updated, exit_code);
  update->add_option("--set", updated->set, "Property to set, NAME=VALUE; may be repeated")->expected(1)->take_all();
  update->add_option("--remove", updated->remove, "Property to remove; may be repeated")->expected(1)->take_all();
  update
      ->add_option("--type", updated->types, "Type of a property, NAME=TYPE, such as Price=Edm.Double; may be repeated")
      ->expected(1)
      ->take_all();
}

}  // namespace varve::tool
