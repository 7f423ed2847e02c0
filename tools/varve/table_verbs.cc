// Owns: the verbs on tables and accounts.
// Must never: create a table or account as a side effect. Only `create` does, and it reports if the name existed.
#include <functional>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "tools/varve/session/named_table.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/table/service_properties_verb.h"
#include "tools/varve/table/table_copy_verbs.h"
#include "tools/varve/table/table_describe_verb.h"
#include "tools/varve/table/table_drop_verb.h"
#include "tools/varve/table/table_policies_verb.h"
#include "tools/varve/table_expiry_verb.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/pager.h"
#include "tools/varve/terminal/question.h"

namespace varve::tool {

namespace {

struct NameWords {
  Place place;
  std::string prefix;
  bool json = false;
  bool yes = false;
  TableOptions options{};
};

using Work = std::function<Status(StoreAccess&)>;

/// Carries out the work. Prints `{"done":...}` if the words want JSON.
int change(Result<std::unique_ptr<StoreAccess>> store, const NameWords& words, const char* done, const Work& work) {
  if (!store.ok()) return fail(store.status());
  if (Status worked = work(**store); !worked.ok()) return fail(with_nearest_names(**store, words.place, worked));
  if (const Status closed = (*store)->close(); !closed.ok()) return fail(closed);
  if (!words.json) return kSuccess;
  nlohmann::ordered_json json{{done, true}, {"account", words.place.account}};
  if (!words.place.table.empty()) json["table"] = words.place.table;
  std::cout << json.dump() << "\n";
  return kSuccess;
}

Status create_table(StoreAccess& store, const Place& place, const TableOptions& options) {
  Status made = store.create_account(place.account);
  if (!made.ok() && made.code() != Code::kExists) return made;
  return store.create_table(place.account, place.table, options);
}

void print_name(const NameWords& words, const std::string& name, const DateTime& created,
                bool has_large_values = false) {
  if (words.json) {
    nlohmann::json json{{"name", name}, {"created", created.to_string()}};
    if (has_large_values) json["large_values"] = true;
    std::cout << json.dump() << "\n";
  } else {
    std::cout << name << "\n";
  }
}

template <typename PageResult, typename Print>
int list_pages(const NameWords& words, const std::function<Result<PageResult>(StoreAccess&, const ListOptions&)>& list,
               const Print& print) {
  Result<std::unique_ptr<StoreAccess>> store = reach_briefly(words.place);
  if (!store.ok()) return fail(store.status());
  page_long_output();
  ListOptions options;
  options.prefix = words.prefix;
  for (;;) {
    const Result<PageResult> page = list(**store, options);
    if (!page.ok()) return fail(with_nearest_names(**store, words.place, page.status()));
    print(*page);
    if (!page->continuation || !std::cout) return kSuccess;
    options.continuation = *page->continuation;
  }
}

int list_tables(const NameWords& words) {
  return list_pages<TablePage>(
      words,
      [&](StoreAccess& store, const ListOptions& options) { return store.list_tables(words.place.account, options); },
      [&](const TablePage& page) {
        for (const TableInfo& table : page.tables) {
          print_name(words, table.name, table.created, table.has_large_values);
        }
      });
}

int list_accounts(const NameWords& words) {
  return list_pages<AccountPage>(
      words, [](StoreAccess& store, const ListOptions& options) { return store.list_accounts(options); },
      [&](const AccountPage& page) {
        for (const AccountInfo& account : page.accounts) print_name(words, account.name, account.created);
      });
}

CLI::App* add_group(CLI::App& app, const std::string& name, const std::string& about) {
  CLI::App* group = app.add_subcommand(name, about);
  group->require_subcommand(1);
  return group;
}

void add_list(CLI::App& group, const std::string& about, int& exit_code, bool of_account,
              int (*list)(const NameWords&)) {
  auto words = std::make_shared<NameWords>();
  CLI::App* verb = group.add_subcommand("list", about);
  add_reach_words(*verb, words->place);
  if (of_account) verb->add_option("--account", words->place.account, "Account")->capture_default_str();
  verb->add_option("--prefix", words->prefix, "Only names with this prefix");
  add_json_words(*verb, words->json, "Print one JSON object a line, with the creation time");
  const std::string example = "  varve " + group.get_name() + " list ./shop";
  verb->footer("Examples\n" + example + "\n" + example + " --prefix o --json");
  verb->callback([words, list, &exit_code] { exit_code = list(*words); });
}

void add_account_words(CLI::App& verb, Place& place, void (*add_store)(CLI::App&, Place&)) {
  add_store(verb, place);
  verb.add_option("ACCOUNT", place.account, "3 to 24 lower-case letters and digits")->required();
}

/// Returns kSuccess if the account may be dropped.
int confirm_drop(const std::string& account) {
  if (!can_ask())
    return fail(kUsage,
                "account drop removes all tables and queues of the account; give --yes, because there is no terminal "
                "to ask at");
  return asked_yes("Remove account " + account + " with all its tables and queues?")
             ? kSuccess
             : fail(kRefused, "nothing was removed");
}

void add_account_verbs(CLI::App& app, int& exit_code) {
  CLI::App* group = add_group(app, "account", "Create, list or drop accounts, or change properties of their services");
  auto made = std::make_shared<NameWords>();
  CLI::App* create = group->add_subcommand("create", "Create an account, and the store if it is absent");
  add_account_words(*create, made->place, &add_store_words);
  add_json_words(*create, made->json, "Print JSON");
  create->footer(
      "Examples\n"
      "  varve account create ./shop reports\n"
      "  varve account create ./shop reports2026 --json");
  create->callback([made, &exit_code] {
    exit_code = change(reach_or_make(made->place), *made, "created",
                       [&](StoreAccess& store) { return store.create_account(made->place.account); });
  });
  auto dropped = std::make_shared<NameWords>();
  CLI::App* drop = group->add_subcommand("drop", "Remove an account with all its tables and queues, in one commit");
  drop->footer(
      "At a terminal, asks for confirmation first. Elsewhere it needs --yes; without it the exit code is 2. STORE must "
      "be given: VARVE_STORE does not count here.\n"
      "\nExamples\n"
      "  varve account drop ./shop old --yes\n"
      "  varve account drop ./shop old --yes --json");
  add_account_words(*drop, dropped->place, &add_named_store_words);
  drop->add_flag("--yes", dropped->yes, "Do not ask");
  add_json_words(*drop, dropped->json, "Print JSON");
  drop->callback([dropped, &exit_code] {
    if (!dropped->yes) {
      exit_code = confirm_drop(dropped->place.account);
      if (exit_code != kSuccess) return;
    }
    exit_code = change(reach_for_writing(dropped->place), *dropped, "dropped",
                       [&](StoreAccess& store) { return store.drop_account(dropped->place.account); });
  });
  add_list(*group, "Print the names of accounts", exit_code, false, &list_accounts);
  add_service_properties_verb(*group, exit_code);
}

}  // namespace

void add_table_verbs(CLI::App& app, int& exit_code) {
  CLI::App* group = add_group(app, "table", "Create, list, describe, copy, rename, expire or drop tables");
  auto made = std::make_shared<NameWords>();
  CLI::App* create =
      group->add_subcommand("create", "Create an empty table, and the store and the account if they are absent");
  add_table_words(*create, made->place);
  create->add_flag("--large-values", made->options.has_large_values,
                   "Let entities of the table own contents of any length, which put --content writes");
  auto expiry = std::make_shared<ExpiryWords>();
  add_expiry_words(*create, expiry);
  add_json_words(*create, made->json, "Print JSON");
  create->footer(
      "With --large-values, each replace, merge and delete reads the entity first, and import --load refuses the "
      "table. This stays as it was created.\n"
      "\nExamples\n"
      "  varve table create ./shop Invoices\n"
      "  varve table create ./shop Invoices --account archive\n"
      "  varve table create ./staff Interns --large-values\n"
      "  varve table create ./shop Sessions --expire-after 30m");
  create->callback([made, expiry, &exit_code] {
    made->options.expiry = expiry->rule();
    exit_code = change(reach_or_make(made->place), *made, "created",
                       [&](StoreAccess& store) { return create_table(store, made->place, made->options); });
  });
  add_table_expiry_verb(*group, exit_code);
  add_table_policies_verb(*group, exit_code);
  add_table_drop_verb(*group, exit_code);
  add_table_copy_verbs(*group, exit_code);
  add_table_describe_verb(*group, exit_code);
  add_list(*group, "Print the names of an account's tables", exit_code, true, &list_tables);
  add_account_verbs(app, exit_code);
}

}  // namespace varve::tool
