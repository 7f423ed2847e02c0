#include "tools/varve/table/table_drop_verb.h"

#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "tools/varve/session/named_table.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/progress.h"
#include "tools/varve/terminal/question.h"

namespace varve::tool {

namespace {

struct DropWords {
  Place place;
  bool yes = false;
  bool no_wait = false;
  std::uint64_t wait_seconds = 60;
  bool json = false;
};

/// What the store still holds of dropped tables.
struct SpaceLeft {
  std::uint64_t tables = 0;
  bool is_compacted = false;
  std::uint64_t log_bytes = 0;
  std::uint64_t table_bytes = 0;
  std::uint64_t value_bytes = 0;

  std::uint64_t bytes() const noexcept { return log_bytes + table_bytes + value_bytes; }
  /// A compaction finds what no figure counts yet. After it, the store may still know the name of a table without bytes.
  bool is_free() const noexcept { return bytes() == 0 && (tables == 0 || is_compacted); }
};

SpaceLeft space_left(const Statistics& statistics, bool is_compacted) noexcept {
  return {statistics.retired_ids, is_compacted, statistics.dead_log_bytes, statistics.dead_table_bytes,
          statistics.dead_value_bytes};
}

/// Lets the store give the space back: it flushes and merges what holds entries of dropped tables. Ends early when the
/// time is over. A signal ends the program, and the drop stays. Errors: those of Store::compact and Store::statistics.
Result<SpaceLeft> wait_for_space(Store& store, const DropWords& words) {
  Progress progress("bytes", 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(words.wait_seconds);
  constexpr std::chrono::milliseconds kPause(20);
  bool has_compacted = false;
  for (;;) {
    const Result<Statistics> now = store.statistics();
    if (!now.ok()) return now.status();
    const SpaceLeft left = space_left(*now, has_compacted);
    if (left.is_free() || std::chrono::steady_clock::now() >= end) return left;
    if (!has_compacted) {
      has_compacted = true;
      const Status compacted = progress.while_running(
          [&] { return store.compact(); },
          [&] {
            const Result<Statistics> so_far = store.statistics();
            return so_far.ok() ? bytes_text(space_left(*so_far, false).bytes()) + " of dropped tables to give back"
                               : std::string();
          });
      if (!compacted.ok()) return compacted;
      continue;
    }
    std::this_thread::sleep_for(kPause);
  }
}

std::string reason_of(const SpaceLeft& left) {
  if (left.bytes() == 0) return "the files of dropped tables were not merged yet";
  std::string reason = bytes_text(left.bytes()) + " of dropped tables are not back yet: log " +
                       bytes_text(left.log_bytes) + ", table files " + bytes_text(left.table_bytes) + ", value files " +
                       bytes_text(left.value_bytes);
  return reason + ". A snapshot or a reader may hold files, and files may have entries of other tables";
}

void print(const DropWords& words, const std::optional<SpaceLeft>& left, std::chrono::nanoseconds elapsed) {
  if (words.json) {
    nlohmann::ordered_json json{{"dropped", true}, {"account", words.place.account}, {"table", words.place.table}};
    json["space_is_back"] = left ? nlohmann::ordered_json(left->is_free()) : nlohmann::ordered_json(nullptr);
    json["bytes_left"] = left ? nlohmann::ordered_json(left->bytes()) : nlohmann::ordered_json(nullptr);
    json["seconds"] = std::chrono::duration<double>(elapsed).count();
    std::cout << json.dump() << "\n";
    return;
  }
  std::cout << "dropped " << words.place.table << " of " << words.place.store;
  if (left && left->is_free()) std::cout << "; its space is back, in " << duration_text(elapsed);
  std::cout << "\n";
  if (left && !left->is_free()) {
    std::cout << reason_of(*left) << "\n";
    print_hint("a store that stays open gives the space back by itself; `varve stats` shows how much is left");
  }
}

int drop_table(const DropWords& words) {
  Result<std::unique_ptr<StoreAccess>> reached = reach_for_writing(words.place);
  if (!reached.ok()) return fail(reached.status());
  const bool exists = (*reached)->open_table(words.place.account, words.place.table).ok();  // else the drop says why
  if (exists && !words.yes && can_ask()) {
    if (!asked_yes("Remove table " + words.place.table + " of " + words.place.store + " with all its entities?"))
      return fail(kRefused, "nothing was removed");
    if (const Status again = reach_after_question(words.place, *reached); !again.ok()) return fail(again);
  }
  StoreAccess& store = **reached;
  const auto begun = std::chrono::steady_clock::now();
  if (Status dropped = store.drop_table(words.place.account, words.place.table); !dropped.ok())
    return fail(with_nearest_names(store, words.place, dropped));
  std::optional<SpaceLeft> left;
  if (store.local() != nullptr && !words.no_wait) {
    const Result<SpaceLeft> waited = wait_for_space(*store.local(), words);
    if (!waited.ok()) return fail(waited.status());
    left = *waited;
  }
  if (const Status closed = store.close(); !closed.ok()) return fail(closed);
  print(words, left, std::chrono::steady_clock::now() - begun);
  return kSuccess;
}

}  // namespace

void add_table_drop_verb(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<DropWords>();
  CLI::App* verb = group.add_subcommand("drop", "Remove a table with all its entities, in one commit of any size");
  verb->footer(
      "At a terminal, asks for confirmation first; elsewhere it does not ask. Then waits until the store has given the "
      "space back, or reports how much it still holds. For that the files that have entries of the table are written "
      "anew without them. A signal ends only the wait, and so does the time, between two merges. At a server the "
      "server "
      "does this by itself, and the verb does not wait.\n"
      "\nExamples\n"
      "  varve table drop ./shop Orders\n"
      "  varve table drop ./shop Orders --no-wait --json");
  add_table_words(*verb, words->place);
  verb->add_flag("--yes", words->yes, "Do not ask at a terminal");
  CLI::Option* const no_wait = verb->add_flag("--no-wait", words->no_wait, "Do not wait for the space");
  verb->add_option("--wait-seconds", words->wait_seconds, "The longest time to wait for the space")
      ->check(whole_number(0))
      ->capture_default_str()
      ->excludes(no_wait);
  add_json_words(*verb, words->json, "Print the report as JSON");
  verb->callback([words, &exit_code] { exit_code = drop_table(*words); });
}

}  // namespace varve::tool
