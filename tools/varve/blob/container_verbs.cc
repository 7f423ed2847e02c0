#include "tools/varve/blob/container_verbs.h"

#include <iostream>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/varve/blob/blob_text.h"
#include "tools/varve/blob/lease_verbs.h"
#include "tools/varve/blob/named_container.h"
#include "tools/varve/session/policy_words.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/pager.h"
#include "tools/varve/terminal/question.h"
#include "tools/varve/terminal/terminal.h"

namespace varve::tool {

namespace {

struct ContainerWords {
  BlobPlace place;
  std::vector<std::string> metadata;
  PolicyWords policies;
  std::string public_access;
  std::string prefix;
  std::string lease;
  bool is_long = false;
  bool yes = false;
  bool json = false;
};

/// Closes the store after a change. Prints `{"done":true,...}` if the words want JSON.
int finish_container_change(BlobAccess& access, const ContainerWords& words, const char* done) {
  if (const Status closed = access.close(); !closed.ok()) return fail(closed);
  if (words.json) {
    std::cout << nlohmann::ordered_json{{done, true},
                                        {"account", words.place.place.account},
                                        {"container", words.place.container}}
                     .dump()
              << "\n";
  }
  return kSuccess;
}

/// Adds --public.
void add_public_word(CLI::App& verb, std::string& word) {
  verb.add_option("--public", word, "The reads that need no key if the server allows them: none, blobs or container")
      ->check(CLI::IsMember({"none", "blobs", "container"}));
}

/// Returns what the word of --public names, or `standard` without the word.
PublicAccess public_access_of(const std::string& word, PublicAccess standard) noexcept {
  if (word == "none") return PublicAccess::kNone;
  if (word == "blobs") return PublicAccess::kBlobs;
  return word == "container" ? PublicAccess::kContainer : standard;
}

int create_container(const ContainerWords& words) {
  Result<std::vector<MetadataPair>> metadata = parse_blob_metadata(words.metadata);
  if (!metadata.ok()) return fail(metadata.status());
  if (Status named = check_container_name(words.place.container); !named.ok()) return fail(named);
  const Result<std::unique_ptr<BlobAccess>> access = reach_or_make_blobs(words.place);
  if (!access.ok()) return fail(access.status());
  ContainerOptions options;
  options.metadata = *std::move(metadata);
  options.public_access = public_access_of(words.public_access, options.public_access);
  if (Status made = (*access)->create(options); !made.ok()) return fail(made);
  return finish_container_change(**access, words, "created");
}

int list_containers(const ContainerWords& words) {
  const Result<std::unique_ptr<BlobAccess>> access = reach_blobs_briefly(words.place);
  if (!access.ok()) return fail(access.status());
  page_long_output();
  ListOptions options;
  options.prefix = words.prefix;
  for (;;) {
    const Result<ContainerPage> page = (*access)->containers(options);
    if (!page.ok()) return fail(with_nearest_blobs(**access, words.place, page.status()));
    for (const ContainerState& container : page->containers) {
      if (words.json) {
        print_container(words.place.place.account, container, true);
      } else {
        std::cout << for_output(container.name);
        if (words.is_long) std::cout << "  " << container.modified.to_string();
        std::cout << "\n";
      }
    }
    if (!page->continuation || !std::cout) return kSuccess;
    options.continuation = *page->continuation;
  }
}

int show_container(const ContainerWords& words) {
  const Result<std::unique_ptr<BlobAccess>> access = reach_blobs_briefly(words.place);
  if (!access.ok()) return fail(access.status());
  const Result<ContainerState> container = (*access)->container();
  if (!container.ok()) return fail(with_nearest_blobs(**access, words.place, container.status()));
  print_container(words.place.place.account, *container, words.json);
  return kSuccess;
}

int print_container_policies(const ContainerWords& words) {
  const Result<std::unique_ptr<BlobAccess>> access = reach_blobs_briefly(words.place);
  if (!access.ok()) return fail(access.status());
  const Result<std::vector<AccessPolicy>> policies = (*access)->policies();
  if (!policies.ok()) return fail(with_nearest_blobs(**access, words.place, policies.status()));
  print_policies(*policies, words.json);
  return kSuccess;
}

/// Changes the policies or the public access, and keeps the other.
Status change_access(BlobAccess& access, const ContainerWords& words, const BlobConditions& conditions) {
  const Result<ContainerState> container = access.container();
  if (!container.ok()) return container.status();
  Result<std::vector<AccessPolicy>> present = access.policies();
  if (!present.ok()) return present.status();
  const Result<std::vector<AccessPolicy>> changed =
      changed_policies(*std::move(present), words.policies, &Permissions::parse_for_blob);
  if (!changed.ok()) return changed.status();
  return access.set_access(*changed, public_access_of(words.public_access, container->public_access), conditions);
}

int container_policies(const ContainerWords& words) {
  if (const std::string misuse = misuse_of(words.policies); !misuse.empty()) return fail(kUsage, misuse);
  if (!changes_policies(words.policies) && words.public_access.empty()) return print_container_policies(words);
  BlobConditions conditions;
  if (Status leased = add_lease_condition(words.lease, conditions); !leased.ok()) return fail(leased);
  const Result<std::unique_ptr<BlobAccess>> access = reach_blobs(words.place);
  if (!access.ok()) return fail(access.status());
  const Status changed = change_access(**access, words, conditions);
  if (!changed.ok()) return fail(with_nearest_blobs(**access, words.place, changed));
  return finish_container_change(**access, words, "changed");
}

/// Returns kSuccess if the container may be removed.
int confirm_container_drop(const ContainerWords& words) {
  if (words.yes) return kSuccess;
  if (!can_ask()) {
    return fail(kUsage, "container drop removes all blobs; give --yes, because there is no terminal to ask at");
  }
  return asked_yes("Remove container " + words.place.container + " with all its blobs?")
             ? kSuccess
             : fail(kRefused, "nothing was removed");
}

int drop_container(const ContainerWords& words) {
  BlobConditions conditions;
  if (Status leased = add_lease_condition(words.lease, conditions); !leased.ok()) return fail(leased);
  if (const int confirmed = confirm_container_drop(words); confirmed != kSuccess) return confirmed;
  const Result<std::unique_ptr<BlobAccess>> access = reach_blobs(words.place);
  if (!access.ok()) return fail(access.status());
  Status dropped = (*access)->drop(conditions);
  if (dropped.service_error() == "LeaseIdMissing") {
    dropped =
        dropped.with_hint("another holder has a lease; give its id by --lease, or end it with `varve container lease`");
  }
  if (!dropped.ok()) return fail(with_nearest_blobs(**access, words.place, dropped));
  return finish_container_change(**access, words, "dropped");
}

using AddWords = void (*)(CLI::App& verb, BlobPlace& place);

CLI::App* add_container_verb(CLI::App& group, const char* name, const char* about, const char* footer,
                             const std::shared_ptr<ContainerWords>& words, int (*run)(const ContainerWords&),
                             int& exit_code, AddWords add_words = &add_container_words) {
  CLI::App* verb = group.add_subcommand(name, about);
  verb->footer(footer);
  add_words(*verb, words->place);
  verb->callback([words, run, &exit_code] { exit_code = run(*words); });
  return verb;
}

void add_container_create(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<ContainerWords>();
  CLI::App* verb =
      add_container_verb(group, "create", "Create an empty container, and the store and the account if they are absent",
                         "Examples\n"
                         "  varve container create ./shop films\n"
                         "  varve container create ./shop films --metadata Owner=Ann --json\n"
                         "  varve container create ./shop films --public blobs",
                         words, &create_container, exit_code);
  verb->add_option("--metadata", words->metadata, "Metadata of the container as NAME=VALUE; may be repeated")
      ->expected(1)
      ->take_all();
  add_public_word(*verb, words->public_access);
  add_json_words(*verb, words->json, "Print JSON");
}

void add_container_readers(CLI::App& group, int& exit_code) {
  auto listed = std::make_shared<ContainerWords>();
  CLI::App* list = add_container_verb(group, "list", "Print the names of an account's containers",
                                      "Examples\n"
                                      "  varve container list ./shop\n"
                                      "  varve container list ./shop --prefix p --long",
                                      listed, &list_containers, exit_code, &add_account_words);
  list->add_option("--prefix", listed->prefix, "Only names with this prefix");
  list->add_flag("--long", listed->is_long, "Also print the time of the last change of the container itself")
      ->group(kOutputGroup);
  add_json_words(*list, listed->json, "Print one JSON object a line, with the metadata");

  auto shown = std::make_shared<ContainerWords>();
  CLI::App* show = add_container_verb(group, "show", "Print the state and the metadata of a container",
                                      "Examples\n"
                                      "  varve container show ./shop photos\n"
                                      "  varve container show ./shop photos --json",
                                      shown, &show_container, exit_code);
  add_json_words(*show, shown->json, "Print JSON");
}

void add_container_policies(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<ContainerWords>();
  CLI::App* verb = add_container_verb(
      group, "policies", "Print or change the access policies and the public access of a container",
      "A signature that names a policy permits what the policy says, as long as the policy is there. A container has 5 "
      "policies at most. Prints a policy a line: its id, permissions, start and expiry, with - for what it leaves "
      "out.\n"
      "\nExamples\n"
      "  varve container policies ./shop photos --set readers --permissions rl --expiry 2027-01-01\n"
      "  varve container policies ./shop photos --public blobs\n"
      "  varve container policies ./shop photos --clear",
      words, &container_policies, exit_code);
  add_policy_words(*verb, words->policies, "racwdlt: read, add, create, write, delete, list, tags");
  add_public_word(*verb, words->public_access);
  add_lease_word(*verb, words->lease, "container");
  add_json_words(*verb, words->json, "Print JSON");
}

void add_container_drop(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<ContainerWords>();
  CLI::App* verb = add_container_verb(group, "drop", "Remove a container with all its blobs, in one small commit",
                                      "The space of the blobs comes back in the background. At a terminal, asks for "
                                      "confirmation first. Elsewhere it needs --yes; without it the exit code is 2.\n"
                                      "\nExamples\n"
                                      "  varve container drop ./shop photos --yes\n"
                                      "  varve container drop ./shop photos --yes --json",
                                      words, &drop_container, exit_code);
  verb->add_flag("--yes", words->yes, "Do not ask");
  add_lease_word(*verb, words->lease, "container");
  add_json_words(*verb, words->json, "Print JSON");
}

}  // namespace

void add_container_verbs(CLI::App& app, int& exit_code) {
  CLI::App* group = app.add_subcommand("container", "Create, list, show, drop or lease containers, which hold blobs");
  group->require_subcommand(1);
  add_container_create(*group, exit_code);
  add_container_readers(*group, exit_code);
  add_container_policies(*group, exit_code);
  add_container_drop(*group, exit_code);
  add_container_lease(*group, exit_code);
}

}  // namespace varve::tool
