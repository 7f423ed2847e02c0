#include "tools/varve/table/index_verbs.h"

#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/varve/session/named_table.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/progress.h"
#include "varve/names.h"

namespace varve::tool {

namespace {

using Json = nlohmann::ordered_json;

struct IndexWords {
  Place place;
  std::string name;
  std::vector<std::string> components;
  std::vector<std::string> carried;
  bool is_unique = false;
  bool json = false;
};

std::string_view state_name(IndexState state) noexcept {
  switch (state) {
    case IndexState::kBuilding: return "building";
    case IndexState::kReady: return "ready";
    case IndexState::kFailed: return "failed";
  }
  return "unknown";
}

/// Reads PROPERTY, PROPERTY:asc or PROPERTY:desc.
Result<IndexComponent> component_of(std::string_view word) {
  IndexComponent component{std::string(word), false};
  for (const auto& [ending, is_descending] : {std::pair<std::string_view, bool>(":asc", false), {":desc", true}}) {
    if (!word.ends_with(ending)) continue;
    component = {std::string(word.substr(0, word.size() - ending.size())), is_descending};
  }
  if (const Status named = check_property_name(component.property); !named.ok()) {
    return named.with_hint(
        "--on takes names, each with :asc or :desc after it or neither, such as Customer,Total:desc");
  }
  return component;
}

std::string component_text(const IndexComponent& component) {
  return component.property + (component.is_descending ? ":desc" : "");
}

/// Runs the verb, and closes the store.
template <typename Verb>
int with_store(Result<std::unique_ptr<StoreAccess>> reached, const IndexWords& words, Verb verb) {
  if (!reached.ok()) return fail(reached.status());
  StoreAccess& access = **reached;
  if (const Status done = verb(access); !done.ok()) return fail(with_nearest_names(access, words.place, done));
  if (const Status closed = access.close(); !closed.ok()) return fail(closed);
  return kSuccess;
}

void print_change(const IndexWords& words, const char* change) {
  if (!words.json) {
    std::cout << change << " index " << words.name << " of " << words.place.table << "\n";
    return;
  }
  std::cout << Json{{change, true},
                    {"account", words.place.account},
                    {"table", words.place.table},
                    {"index", words.name}}
                   .dump()
            << "\n";
}

int create(const IndexWords& words) {
  IndexDefinition definition{words.name, {}, words.carried, words.is_unique};
  for (const std::string& word : words.components) {
    Result<IndexComponent> component = component_of(word);
    if (!component.ok()) return fail(component.status());
    definition.components.push_back(*std::move(component));
  }
  const int code = with_store(reach_for_writing(words.place), words, [&](StoreAccess& store) {
    Progress progress("entities", 0);
    return store.create_index(words.place.account, words.place.table, definition, [&](const IndexBuildProgress& built) {
      progress.update(built.entities, 0);
      return true;
    });
  });
  if (code == kSuccess) print_change(words, "created");
  return code;
}

int drop(const IndexWords& words) {
  const int code = with_store(reach_for_writing(words.place), words, [&](StoreAccess& store) {
    return store.drop_index(words.place.account, words.place.table, words.name);
  });
  if (code == kSuccess) print_change(words, "dropped");
  return code;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

void print(const IndexInfo& index, bool json) {
  std::vector<std::string> components;
  for (const IndexComponent& component : index.definition.components) components.push_back(component_text(component));
  if (json) {
    std::cout << Json{{"name", index.definition.name},
                      {"state", state_name(index.state)},
                      {"components", components},
                      {"carried", index.definition.carried},
                      {"unique", index.definition.is_unique},
                      {"failure", index.failure}}
                     .dump()
              << "\n";
    return;
  }
  std::cout << index.definition.name << "  " << state_name(index.state) << "  " << joined(components)
            << (index.definition.is_unique ? "  unique" : "");
  if (!index.definition.carried.empty()) std::cout << "  carries " << joined(index.definition.carried);
  if (!index.failure.empty()) std::cout << "  " << index.failure;
  std::cout << "\n";
}

int list(const IndexWords& words) {
  return with_store(reach_briefly(words.place), words, [&](StoreAccess& store) {
    const Result<std::vector<IndexInfo>> indexes = store.indexes(words.place.account, words.place.table);
    if (!indexes.ok()) return indexes.status();
    for (const IndexInfo& index : *indexes) print(index, words.json);
    return Status();
  });
}

/// Adds the words STORE, TABLE and INDEX.
void add_index_words(CLI::App& verb, IndexWords& words) {
  add_table_words(verb, words.place);
  verb.add_option("INDEX", words.name, "The name of the index")->required();
}

}  // namespace

void add_index_verbs(CLI::App& app, int& exit_code) {
  CLI::App* const group = app.add_subcommand("index", "Create, list or drop indexes of a table");
  group->require_subcommand(1);
  auto made = std::make_shared<IndexWords>();
  CLI::App* const create_verb = group->add_subcommand("create", "Create an index of a table, and build it");
  create_verb->footer(
      "A query with a filter takes an index by itself, and its results are the same without one. A build that was "
      "interrupted begins again with the same line. Builds of Varve that know no indexes refuse a store from its first "
      "index on. A server builds the index itself, also after this line was interrupted. At an address it needs "
      "`--extensions allow`.\n"
      "\nExamples\n"
      "  varve index create ./shop Orders ByCustomer --on Customer,Total:desc\n"
      "  varve index create ./shop Customers ByMail --on Mail --unique\n"
      "  varve index create ./shop Orders ByRow --on RowKey --carry Total --json");
  add_index_words(*create_verb, *made);
  create_verb
      ->add_option("--on", made->components,
                   "1 to 4 properties, keys or Timestamp, each with :desc if the largest comes first")
      ->type_name("PROPERTY,...")
      ->delimiter(',')
      ->required();
  create_verb->add_option("--carry", made->carried, "Properties that the index repeats")
      ->type_name("PROPERTY,...")
      ->delimiter(',');
  create_verb->add_flag("--unique", made->is_unique, "Refuse a second entity with the same values of --on");
  add_json_words(*create_verb, made->json, "Print JSON");
  create_verb->callback([made, &exit_code] { exit_code = create(*made); });

  auto listed = std::make_shared<IndexWords>();
  CLI::App* const list_verb = group->add_subcommand("list", "Print the indexes of a table and their states");
  list_verb->footer(
      "An index is building, ready or failed. Queries take only those that are ready.\n"
      "\nExamples\n"
      "  varve index list ./shop Orders\n"
      "  varve index list ./shop Orders --json");
  add_table_words(*list_verb, listed->place);
  add_json_words(*list_verb, listed->json, "Print one JSON object for each index");
  list_verb->callback([listed, &exit_code] { exit_code = list(*listed); });

  auto dropped = std::make_shared<IndexWords>();
  CLI::App* const drop_verb = group->add_subcommand("drop", "Drop an index of a table");
  drop_verb->footer(
      "The entities stay. A compaction gives the space of the index back.\n"
      "\nExamples\n"
      "  varve index drop ./shop Orders ByCustomer\n"
      "  varve index drop ./shop Orders ByCustomer --json");
  add_index_words(*drop_verb, *dropped);
  add_json_words(*drop_verb, dropped->json, "Print JSON");
  drop_verb->callback([dropped, &exit_code] { exit_code = drop(*dropped); });
}

}  // namespace varve::tool
