#include "tools/varve/table_expiry_verb.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/varve/queue/duration.h"
#include "tools/varve/session/named_table.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"

namespace varve::tool {

namespace {

struct RuleWords {
  Place place;
  std::shared_ptr<ExpiryWords> expiry = std::make_shared<ExpiryWords>();
  bool never = false;
  bool json = false;

  bool changes() const noexcept { return never || expiry->is_given(); }
};

/// Returns an age as the largest unit that divides it, such as 30m.
std::string age_text(std::chrono::milliseconds age) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 4> kUnits = {
      {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1000, "s"}}};
  for (const auto& [milliseconds, unit] : kUnits) {
    if (age.count() % milliseconds == 0) return std::to_string(age.count() / milliseconds) + unit;
  }
  return std::to_string(age.count()) + "ms";
}

std::string rule_text(const std::optional<TableExpiry>& rule) {
  if (!rule) return "never end";
  if (!rule->property.empty()) return "end at the value of their property " + rule->property;
  return "end " + age_text(rule->age) + " after their Timestamp";
}

void print(const RuleWords& words, const std::optional<TableExpiry>& rule) {
  const std::string& table = words.place.table;
  if (words.json) {
    nlohmann::ordered_json json{{"account", words.place.account}, {"table", table}};
    json["expire_at"] = rule && !rule->property.empty() ? nlohmann::ordered_json(rule->property) : nullptr;
    json["expire_after_ms"] = rule && rule->age.count() != 0 ? nlohmann::ordered_json(rule->age.count()) : nullptr;
    std::cout << json.dump() << "\n";
    return;
  }
  std::cout << "entities that are written to " << table << (words.changes() ? " from now on " : " now ")
            << rule_text(rule) << "\n";
  if (words.changes()) std::cout << "stored entities keep their ends until they are written again\n";
}

int show_or_set(const RuleWords& words) {
  Result<std::unique_ptr<StoreAccess>> reached =
      words.changes() ? reach_for_writing(words.place) : reach_briefly(words.place);
  if (!reached.ok()) return fail(reached.status());
  StoreAccess& access = **reached;
  const Place& place = words.place;
  std::optional<TableExpiry> rule = words.expiry->rule();
  if (words.changes()) {
    if (Status set = access.set_table_expiry(place.account, place.table, rule); !set.ok()) {
      return fail(with_nearest_names(access, place, set));
    }
  } else {
    Result<std::optional<TableExpiry>> found = access.table_expiry(place.account, place.table);
    if (!found.ok()) return fail(with_nearest_names(access, place, found.status()));
    rule = *std::move(found);
  }
  if (const Status closed = access.close(); !closed.ok()) return fail(closed);
  print(words, rule);
  return kSuccess;
}

}  // namespace

std::optional<TableExpiry> ExpiryWords::rule() const {
  if (property) return TableExpiry::at(*property);
  if (age.count() >= 0) return TableExpiry::after(age);
  return std::nullopt;
}

void add_expiry_words(CLI::App& verb, const std::shared_ptr<ExpiryWords>& words) {
  CLI::Option* const at = verb.add_option_function<std::string>(
                                  "--expire-at", [words](const std::string& name) { words->property = name; },
                                  "Entities end at the value of this DateTime property")
                              ->type_name("PROPERTY");
  CLI::Option* const after =
      add_duration(verb, "--expire-after", words->age, "Entities end this long after their Timestamp, such as 30m");
  at->excludes(after);
}

void add_table_expiry_verb(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<RuleWords>();
  CLI::App* verb = group.add_subcommand("expiry", "Show or set when the entities of a table end");
  verb->footer(
      "An entity that has ended is absent at once, and a compaction gives its space back. Another rule concerns the "
      "entities that are written after it. Builds of Varve that know no expiry refuse a store from its first rule on.\n"
      "\nExamples\n"
      "  varve table expiry ./shop Orders --expire-after 30d\n"
      "  varve table expiry ./shop Orders --expire-at KeepUntil --json");
  add_table_words(*verb, words->place);
  add_expiry_words(*verb, words->expiry);
  CLI::Option* const never = verb->add_flag("--never", words->never, "Entities that are written from now on never end");
  never->excludes("--expire-at")->excludes("--expire-after");
  add_json_words(*verb, words->json, "Print the rule as JSON");
  verb->callback([words, &exit_code] { exit_code = show_or_set(*words); });
}

}  // namespace varve::tool
