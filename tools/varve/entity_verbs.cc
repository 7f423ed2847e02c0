// Owns: the verbs on one entity: get, put, update, patch, delete.
// Must never: write if the verb reads.
#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "tools/varve/input/stop_signal.h"
#include "tools/varve/large/content_get.h"
#include "tools/varve/large/entity_contents.h"
#include "tools/varve/session/named_table.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/pager.h"
#include "tools/varve/terminal/terminal.h"
#include "tools/varve/text/entity_json.h"
#include "tools/varve/text/value_text.h"

namespace varve::tool {

namespace {

struct EntityWords {
  Place place;
  std::string partition_key;
  std::string row_key;
  std::vector<std::string> select;
  std::vector<std::string> properties;
  std::vector<std::string> types;
  std::vector<std::string> contents;
  ContentGetWords content;
  std::string mode = "insert-or-replace";
  std::string if_match = "*";
  std::string condition;
  std::string durability;
  bool json = false;
};

struct PatchWords {
  Place place;
  std::string partition_key;
  std::string row_key;
  std::vector<std::string> set;
  std::vector<std::string> removed;
  std::vector<std::string> increments;
  std::vector<std::string> types;
  std::string if_match;
  std::string condition;
  bool may_insert = false;
  std::string durability;
  bool json = false;
};

void print_for_people(const Entity& entity) {
  std::size_t width = std::string_view("PartitionKey").size();
  for (const Property& property : entity.properties()) width = std::max(width, property.name.size());
  const auto line = [width](std::string_view name, std::string_view value, std::string_view type) {
    std::cout << name << std::string(width - name.size() + 2, ' ') << for_output(value);
    if (!type.empty()) std::cout << "  (" << type << ")";
    std::cout << "\n";
  };
  line("PartitionKey", entity.partition_key(), "");
  line("RowKey", entity.row_key(), "");
  line("Timestamp", entity.timestamp().to_string(), "");
  line("ETag", entity.etag().to_string(), "");
  for (const Property& property : entity.properties()) {
    const bool text = property.value.type() == PropertyType::kString;
    line(property.name, to_text(property.value), text ? "" : property_type_name(property.value.type()));
  }
}

void print_entity(const Entity& entity, bool json) {
  page_long_output();
  if (json) {
    std::cout << entity_to_json(entity) << "\n";
  } else {
    print_for_people(entity);
  }
}

int get_entity(const EntityWords& words) {
  if (!words.content.property.empty()) {
    return get_content(words.place, words.partition_key, words.row_key, words.content);
  }
  Result<std::unique_ptr<StoreAccess>> store = reach_briefly(words.place);
  if (!store.ok()) return fail(store.status());
  const Result<std::unique_ptr<TableAccess>> table = open_named_table(**store, words.place);
  if (!table.ok()) return fail(table.status());
  ReadOptions options;
  options.select = words.select;
  const Result<std::optional<Entity>> entity = (*table)->get(words.partition_key, words.row_key, options);
  if (!entity.ok()) return fail(entity.status());
  if (!*entity) {
    return fail(kRefused, "table " + words.place.table + " has no entity \"" + words.partition_key + "\", \"" +
                              words.row_key + "\"");
  }
  print_entity(**entity, words.json);
  return kSuccess;
}

Result<Entity> entity_of(const EntityWords& words) {
  const Result<std::map<std::string, PropertyType>> types = parse_types(words.types);
  if (!types.ok()) return types.status();
  Result<std::vector<Property>> properties = parse_properties(words.properties, *types);
  if (!properties.ok()) return properties.status();
  if (Status used = check_types_used(*types, *properties); !used.ok()) return used;
  Entity entity(words.partition_key, words.row_key);
  for (Property& property : *properties) entity.add(std::move(property.name), std::move(property.value));
  return entity;
}

Result<Patch> patch_of(const PatchWords& words) {
  const Result<std::map<std::string, PropertyType>> types = parse_types(words.types);
  if (!types.ok()) return types.status();
  Patch patch(words.partition_key, words.row_key);
  const Result<std::vector<Property>> set = parse_properties(words.set, *types);
  if (!set.ok()) return set.status();
  const Result<std::vector<Property>> increments = parse_properties(words.increments, *types);
  if (!increments.ok()) return increments.status();
  std::vector<Property> given = *set;
  given.insert(given.end(), increments->begin(), increments->end());
  if (Status used = check_types_used(*types, given); !used.ok()) return used;
  for (const Property& property : *set) patch.set(property.name, property.value);
  for (const std::string& name : words.removed) patch.remove(name);
  for (const Property& property : *increments) patch.increment(property.name, property.value);
  patch.only_if(words.condition);
  return patch;
}

WriteOperation::Kind kind_of(const std::string& mode) {
  using Kind = WriteOperation::Kind;
  if (mode == "insert") return Kind::kInsert;
  if (mode == "replace") return Kind::kReplace;
  if (mode == "merge") return Kind::kMerge;
  return mode == "insert-or-merge" ? Kind::kInsertOrMerge : Kind::kInsertOrReplace;
}

/// Opens the store for put. A verb that changes existing entities must not create the store.
Result<std::unique_ptr<StoreAccess>> reach_for_put(const EntityWords& words, bool may_make) {
  if (!may_make) return reach_for_writing(words.place);
  if (Status named = check_place(words.place); !named.ok()) return named;
  return reach_or_make(words.place);
}

/// Writes the contents, and then the entity that names them.
Result<ETag> write_with_contents(StoreAccess& access, const EntityWords& words, EntityContents& contents,
                                 WriteOperation operation, const WriteOptions& options) {
  const Result<std::unique_ptr<ValueAccess>> values = reach_values(access, words.place);
  if (!values.ok()) return values.status();
  if (Status written = contents.write(**values, operation.entity); !written.ok()) return written;
  return (*values)->write(operation, options);
}

int fail_put(const Status& failure, const EntityContents& contents) {
  if (failure.code() != Code::kCancelled) return fail(failure);
  print_hint("nothing was stored");
  return 128 + contents.stop_signal();
}

int put_entity(const EntityWords& words) {
  const bool may_make = words.mode != "replace" && words.mode != "merge";
  if (may_make && words.if_match != "*")
    return fail(kUsage, "--if-match needs --mode replace or --mode merge; --mode " + words.mode + " compares no ETag");
  Result<Entity> entity = entity_of(words);
  if (!entity.ok()) return fail(entity.status());
  const Result<ETag> if_match = ETag::parse(words.if_match);
  if (!if_match.ok()) return fail(if_match.status());
  if (!words.contents.empty()) stop_reading_on_signals();
  Result<EntityContents> contents = EntityContents::open(words.contents);
  if (!contents.ok()) return fail(contents.status());
  if (Status checked = contents->check(*entity); !checked.ok()) return fail(checked);
  if (!contents->empty() && !words.condition.empty()) return fail(kUsage, "--if cannot be combined with --content");
  if (!contents->empty() && is_address(words.place.store)) {
    return fail(kUsage, "--content writes into the store; give its directory in place of an address");
  }
  Result<std::unique_ptr<StoreAccess>> store = reach_for_put(words, may_make);
  if (!store.ok()) return fail(store.status());
  const bool has_contents = !contents->empty();
  const TableOptions made{.has_large_values = has_contents};
  Result<std::unique_ptr<TableAccess>> table =
      may_make ? open_or_make_table(**store, words.place.account, words.place.table, made)
               : open_named_table(**store, words.place);
  if (!table.ok()) return fail(table.status());
  WriteOptions options;
  options.durability = durability_of(words.durability);
  WriteOperation operation{kind_of(words.mode), *std::move(entity), *if_match};
  operation.condition = words.condition;
  const Result<ETag> etag = has_contents ? write_with_contents(**store, words, *contents, std::move(operation), options)
                                         : (*table)->write(operation, options);
  if (!etag.ok()) return fail_put(etag.status(), *contents);
  if (Status closed = (*store)->close(); !closed.ok()) return fail(closed);
  if (words.json) {
    std::cout << nlohmann::ordered_json{{"etag", etag->to_string()}}.dump() << "\n";
  } else {
    std::cout << etag->to_string() << "\n";
  }
  return kSuccess;
}

int patch_entity(const PatchWords& words) {
  if (words.set.empty() && words.removed.empty() && words.increments.empty()) {
    return fail(kUsage, "patch needs --set, --remove or --increment");
  }
  const Result<Patch> patch = patch_of(words);
  if (!patch.ok()) return fail(patch.status());
  const Result<ETag> if_match = ETag::parse(words.if_match.empty() ? "*" : words.if_match);
  if (!if_match.ok()) return fail(if_match.status());
  Result<std::unique_ptr<StoreAccess>> store = reach_for_writing(words.place);
  if (!store.ok()) return fail(store.status());
  const Result<std::unique_ptr<TableAccess>> table = open_named_table(**store, words.place);
  if (!table.ok()) return fail(table.status());
  WriteOptions options;
  options.durability = durability_of(words.durability);
  const Result<Entity> patched =
      words.may_insert ? (*table)->insert_or_patch(*patch, options) : (*table)->patch(*patch, *if_match, options);
  if (!patched.ok()) return fail(patched.status());
  if (const Status closed = (*store)->close(); !closed.ok()) return fail(closed);
  print_entity(*patched, words.json);
  return kSuccess;
}

int delete_entity(const EntityWords& words) {
  const Result<ETag> if_match = ETag::parse(words.if_match);
  if (!if_match.ok()) return fail(if_match.status());
  Result<std::unique_ptr<StoreAccess>> store = reach_for_writing(words.place);
  if (!store.ok()) return fail(store.status());
  Result<std::unique_ptr<TableAccess>> table = open_named_table(**store, words.place);
  if (!table.ok()) return fail(table.status());
  WriteOptions options;
  options.durability = durability_of(words.durability);
  const Result<ETag> removed = (*table)->write(
      WriteOperation::remove(words.partition_key, words.row_key, *if_match).only_if(words.condition), options);
  if (!removed.ok()) return fail(removed.status());
  if (const Status closed = (*store)->close(); !closed.ok()) return fail(closed);
  if (words.json)
    std::cout << R"({"deleted":true})"
              << "\n";
  return kSuccess;
}

template <typename Words>
void add_key_words(CLI::App& verb, Words& words) {
  add_table_words(verb, words.place);
  verb.add_option("PARTITION_KEY", words.partition_key, "PartitionKey")->required();
  verb.add_option("ROW_KEY", words.row_key, "RowKey")->required();
}

void add_property_words(CLI::App& verb, EntityWords& words) {
  verb.add_option("PROPERTIES", words.properties, "Properties of the entity as NAME=VALUE");
  verb.add_option("--type", words.types, "Type of a property, NAME=TYPE, such as Price=Edm.Double; may be repeated")
      ->expected(1)
      ->take_all();
  verb.add_option("--content", words.contents,
                  "Large value of the entity as NAME=FILE, - is standard input; may be repeated")
      ->type_name("NAME=FILE")
      ->expected(1)
      ->take_all();
}

CLI::Option* add_condition_word(CLI::App& verb, std::string& condition) {
  return verb.add_option("--if", condition, "Filter that the stored entity must meet")->type_name("FILTER");
}

void add_put(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<EntityWords>();
  CLI::App* verb = app.add_subcommand("put", "Write one entity; prints its new ETag");
  verb->footer(
      "Creates the store and the table if they are absent. --mode replace and merge only change an existing entity.\n"
      "\n"
      "With --content, the entity owns the content of a file, whatever its length. The table must have been created "
      "with "
      "--large-values; put creates an absent table so. A content leaves the store with the last entity that names it.\n"
      "\nExamples\n"
      "  varve put ./shop Orders eu 0002 Customer=Ann Lines=3\n"
      "  varve put ./shop Orders eu 0003 Code=007 --type Code=Edm.String\n"
      "  varve put ./shop Orders eu 0001 Lines=4 --mode merge\n"
      "  varve put ./staff People sales 0007 Name=Ann --content Photo=ann.jpg");
  add_key_words(*verb, *words);
  add_property_words(*verb, *words);
  verb->add_option("--mode", words->mode, "What to do if the entity exists, and if it does not")
      ->check(CLI::IsMember({"insert", "replace", "merge", "insert-or-replace", "insert-or-merge"}))
      ->capture_default_str();
  verb->add_option("--if-match", words->if_match,
                   "With --mode replace or merge: the ETag that the stored entity must have, or *")
      ->capture_default_str();
  add_durability_words(*verb, words->durability);
  add_json_words(*verb, words->json, "Print the new ETag as JSON");
  verb->callback([words, &exit_code] { exit_code = put_entity(*words); });
}

void add_update(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<EntityWords>();
  words->mode = "merge";
  CLI::App* verb = app.add_subcommand("update", "Change properties of an existing entity; prints its new ETag");
  verb->footer(
      "The same as put --mode merge: properties that are not given stay. --mode replace removes them.\n"
      "\nExamples\n"
      "  varve update ./shop Orders eu 0001 Lines=4 --if 'Lines lt 4'\n"
      "  varve update ./shop Orders eu 0001 Customer=Ann --mode replace");
  add_key_words(*verb, *words);
  add_property_words(*verb, *words);
  verb->add_option("--mode", words->mode, "What to do with properties that are not given")
      ->check(CLI::IsMember({"merge", "replace"}))
      ->capture_default_str();
  verb->add_option("--if-match", words->if_match, "The ETag that the stored entity must have, or *")
      ->capture_default_str();
  add_condition_word(*verb, words->condition);
  add_durability_words(*verb, words->durability);
  add_json_words(*verb, words->json, "Print the new ETag as JSON");
  verb->callback([words, &exit_code] { exit_code = put_entity(*words); });
}

void add_patch(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<PatchWords>();
  CLI::App* verb = app.add_subcommand("patch", "Set, remove or increment properties of one entity; prints the entity");
  verb->footer(
      "All changes happen at once or none. --if refuses the patch if the stored entity does not meet the filter.\n"
      "An incremented property keeps its type. It begins at zero if the entity lacks it.\n"
      "\nExamples\n"
      "  varve patch ./shop Orders eu 0001 --increment Lines=-2 --if 'Lines ge 2'\n"
      "  varve patch ./shop Orders eu 0001 --set State=paid --remove Total\n"
      "  varve patch ./shop Orders eu visits --increment Count=1 --insert");
  add_key_words(*verb, *words);
  const auto add_list = [verb](const char* name, std::vector<std::string>& list, const char* help, const char* form) {
    verb->add_option(name, list, help)->type_name(form)->expected(1)->take_all();
  };
  add_list("--set", words->set, "Property to set; may be repeated", "NAME=VALUE");
  add_list("--remove", words->removed, "Property to remove; may be repeated", "NAME");
  add_list("--increment", words->increments, "Property to increment, with the number to add; may be repeated",
           "NAME=N");
  add_list("--type", words->types, "Type of a property to set or increment, such as Price=Edm.Double; may be repeated",
           "NAME=TYPE");
  CLI::Option* const if_match =
      verb->add_option("--if-match", words->if_match, "The ETag that the stored entity must have; any if not given");
  CLI::Option* const condition = add_condition_word(*verb, words->condition);
  verb->add_flag("--insert", words->may_insert, "Insert the entity if it does not exist")
      ->excludes(if_match)
      ->excludes(condition);
  add_durability_words(*verb, words->durability);
  add_json_words(*verb, words->json, "Print the entity as one line of JSON");
  verb->callback([words, &exit_code] { exit_code = patch_entity(*words); });
}

}  // namespace

void add_entity_verbs(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<EntityWords>();
  CLI::App* get = app.add_subcommand("get", "Print one entity");
  get->footer(
      "Examples\n"
      "  varve get ./shop Orders eu 0001\n"
      "  varve get ./shop Orders eu 0001 --select Customer,Lines --json\n"
      "  varve get ./staff People sales 0007 --content Photo --output ann.jpg\n"
      "  varve get ./staff People sales 0007 --content Photo --range 0-99");
  add_key_words(*get, *words);
  CLI::Option* const select =
      get->add_option("--select", words->select, "Properties to print, separated by commas")->delimiter(',');
  add_json_words(*get, words->json, "Print it as one line of JSON");
  add_content_get_words(*get, words->content, {select, get->get_option("--json")});
  get->callback([words, &exit_code] { exit_code = get_entity(*words); });

  add_put(app, exit_code);
  add_update(app, exit_code);
  add_patch(app, exit_code);

  auto gone = std::make_shared<EntityWords>();
  CLI::App* remove = app.add_subcommand("delete", "Delete one entity");
  remove->footer(
      "Examples\n"
      "  varve delete ./shop Orders eu 0001\n"
      "  varve delete ./shop Orders eu 0001 --if-match '*' --durability sync");
  add_key_words(*remove, *gone);
  remove->add_option("--if-match", gone->if_match, "The ETag that the stored entity must have, or *")
      ->capture_default_str();
  add_condition_word(*remove, gone->condition);
  add_durability_words(*remove, gone->durability);
  add_json_words(*remove, gone->json, "Print {\"deleted\":true}");
  remove->callback([gone, &exit_code] { exit_code = delete_entity(*gone); });
}

}  // namespace varve::tool
