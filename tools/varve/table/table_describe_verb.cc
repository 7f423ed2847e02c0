#include "tools/varve/table/table_describe_verb.h"

#include <iostream>
#include <memory>

#include "tools/varve/describe/entity_summary.h"
#include "tools/varve/session/entity_walk.h"
#include "tools/varve/session/named_table.h"
#include "tools/varve/session/session.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"

namespace varve::tool {

namespace {

struct DescribeWords {
  Place place;
  std::uint64_t entities_max = 0;
  bool json = false;
};

int describe_table(const DescribeWords& words) {
  const Result<std::unique_ptr<StoreAccess>> opened = reach_state(words.place);
  if (!opened.ok()) return fail(opened.status());
  StoreAccess& store = **opened;
  const Result<std::unique_ptr<TableAccess>> table = open_named_table(store, words.place);
  if (!table.ok()) return fail(table.status());
  const Result<ReadOptions> options = options_of_present_state(store);
  if (!options.ok()) return fail(options.status());
  EntitySummary summary;
  bool is_part = false;
  {
    Progress progress("entities", 0);
    const Status read = for_each_entity(**table, *options, progress, [&](const Entity& entity) {
      is_part = words.entities_max > 0 && summary.entities() == words.entities_max;
      if (!is_part) summary.add(entity);
      return !is_part;
    });
    if (!read.ok()) return fail(read);
  }
  if (words.json) {
    std::cout << "{" << summary_json(summary) << R"(,"whole":)" << (is_part ? "false" : "true") << "}\n";
    return kSuccess;
  }
  if (is_part) std::cout << "of the first ";
  std::cout << summary_text(summary);
  return kSuccess;
}

}  // namespace

void add_table_describe_verb(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<DescribeWords>();
  CLI::App* verb = group.add_subcommand("describe", "Print names, types and examples of a table's properties");
  verb->footer(
      "Reads every entity, in little memory. The numbers of partitions and of different values are estimates, right\n"
      "within some percent. The percentage is the share of entities that have the property.\n"
      "\nExamples\n"
      "  varve table describe ./shop Orders\n"
      "  varve table describe ./shop Orders --first 10000 --json");
  add_table_words(*verb, words->place);
  verb->add_option("--first", words->entities_max, "Read only this number of entities; default: all")
      ->check(whole_number(1));
  add_json_words(*verb, words->json, "Print JSON");
  verb->callback([words, &exit_code] { exit_code = describe_table(*words); });
}

}  // namespace varve::tool
