#include "tools/varve/table/table_policies_verb.h"

#include <iostream>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/varve/session/named_table.h"
#include "tools/varve/session/policy_words.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"

namespace varve::tool {

namespace {

struct TablePolicyWords {
  Place place;
  PolicyWords policies;
  bool json = false;
};

Status change_table_policies(StoreAccess& access, const TablePolicyWords& words) {
  const Place& place = words.place;
  Result<std::vector<AccessPolicy>> present = access.access_policies(place.account, place.table);
  if (!present.ok()) return present.status();
  const Result<std::vector<AccessPolicy>> changed =
      changed_policies(*std::move(present), words.policies, &Permissions::parse);
  return changed.ok() ? access.set_access_policies(place.account, place.table, *changed) : changed.status();
}

int print_table_policies(const TablePolicyWords& words) {
  const Result<std::unique_ptr<StoreAccess>> access = reach_briefly(words.place);
  if (!access.ok()) return fail(access.status());
  const Result<std::vector<AccessPolicy>> policies = (*access)->access_policies(words.place.account, words.place.table);
  if (!policies.ok()) return fail(with_nearest_names(**access, words.place, policies.status()));
  print_policies(*policies, words.json);
  return kSuccess;
}

int table_policies(const TablePolicyWords& words) {
  if (const std::string misuse = misuse_of(words.policies); !misuse.empty()) return fail(kUsage, misuse);
  if (!changes_policies(words.policies)) return print_table_policies(words);
  const Result<std::unique_ptr<StoreAccess>> access = reach_for_writing(words.place);
  if (!access.ok()) return fail(access.status());
  if (const Status changed = change_table_policies(**access, words); !changed.ok()) {
    return fail(with_nearest_names(**access, words.place, changed));
  }
  if (const Status closed = (*access)->close(); !closed.ok()) return fail(closed);
  if (words.json) {
    std::cout << nlohmann::ordered_json{{"changed", true},
                                        {"account", words.place.account},
                                        {"table", words.place.table}}
                     .dump()
              << "\n";
  }
  return kSuccess;
}

}  // namespace

void add_table_policies_verb(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<TablePolicyWords>();
  CLI::App* verb = group.add_subcommand("policies", "Print or change the access policies of a table");
  verb->footer(
      "A signature that names a policy permits what the policy says, as long as the policy is there. A table has 5 "
      "policies at most. Prints a policy a line: its id, permissions, start and expiry, with - for what it leaves "
      "out.\n"
      "\nExamples\n"
      "  varve table policies ./shop Orders --set readers --permissions r --expiry 2027-01-01\n"
      "  varve table policies ./shop Orders\n"
      "  varve table policies ./shop Orders --remove readers");
  add_table_words(*verb, words->place);
  add_policy_words(*verb, words->policies, "raud in that order: read, add, update, delete");
  add_json_words(*verb, words->json, "Print JSON");
  verb->callback([words, &exit_code] { exit_code = table_policies(*words); });
}

}  // namespace varve::tool
