// Owns: the verbs on queues: create, list, show, metadata, policies, drop, clear.
// Must never: create a queue as a side effect. Only `create` does, and it reports if the name existed.
#include <functional>
#include <iostream>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/varve/queue/message_text.h"
#include "tools/varve/queue/message_verbs.h"
#include "tools/varve/queue/named_queue.h"
#include "tools/varve/session/policy_words.h"
#include "tools/varve/session/verbs.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/pager.h"
#include "tools/varve/terminal/question.h"

namespace varve::tool {

namespace {

struct QueueWords {
  QueuePlace place;
  std::vector<std::string> metadata;
  PolicyWords policies;
  std::string prefix;
  std::uint32_t message_bytes_max = QueueOptions().message_bytes_max;
  bool releases = false;
  bool clears = false;
  bool is_long = false;
  bool yes = false;
  bool json = false;
};

/// Closes the store after a change. Prints `{"done":true,...}` if the words want JSON.
int finish_change(QueueAccess& queue, const QueueWords& words, const char* done) {
  if (const Status closed = queue.close(); !closed.ok()) return fail(closed);
  if (words.json) {
    std::cout << nlohmann::ordered_json{{done, true},
                                        {"account", words.place.place.account},
                                        {"queue", words.place.queue}}
                     .dump()
              << "\n";
  }
  return kSuccess;
}

int create_queue(const QueueWords& words) {
  Result<std::vector<MetadataPair>> metadata = parse_metadata(words.metadata);
  if (!metadata.ok()) return fail(metadata.status());
  if (Status named = check_queue_name(words.place.queue); !named.ok()) return fail(named);
  const Result<std::unique_ptr<QueueAccess>> queue = reach_or_make_queue(words.place);
  if (!queue.ok()) return fail(queue.status());
  QueueOptions options;
  options.metadata = *std::move(metadata);
  options.message_bytes_max = words.message_bytes_max;
  options.release_on_open = words.releases;
  if (Status made = (*queue)->create(options); !made.ok()) return fail(made);
  return finish_change(**queue, words, "created");
}

void print_listed(const QueueWords& words, const ListedQueue& queue) {
  if (words.json) {
    print_queue(words.place.place.account, queue, true);
  } else if (words.is_long) {
    std::cout << queue.info.name << "  " << queue.figures.messages << "\n";
  } else {
    std::cout << queue.info.name << "\n";
  }
}

int list_queues(const QueueWords& words) {
  const Result<std::unique_ptr<QueueAccess>> reached = reach_queue_briefly(words.place);
  if (!reached.ok()) return fail(reached.status());
  page_long_output();
  ListOptions options;
  options.prefix = words.prefix;
  for (;;) {
    const Result<ListedQueues> page = (*reached)->list(options, words.json || words.is_long);
    if (!page.ok()) return fail(with_nearest_queues(**reached, words.place, page.status()));
    for (const ListedQueue& queue : page->queues) print_listed(words, queue);
    if (!page->continuation || !std::cout) return kSuccess;
    options.continuation = *page->continuation;
  }
}

int show_queue(const QueueWords& words) {
  const Result<std::unique_ptr<QueueAccess>> queue = reach_queue_briefly(words.place);
  if (!queue.ok()) return fail(queue.status());
  if (const Status exists = (*queue)->metadata().status(); !exists.ok()) {
    return fail(with_nearest_queues(**queue, words.place, exists));
  }
  ListOptions options;
  options.prefix = words.place.queue;
  options.page_names_max = 1;  // the name itself is the first of the names that begin with it
  const Result<ListedQueues> page = (*queue)->list(options, true);
  if (!page.ok()) return fail(page.status());
  if (page->queues.empty()) return fail(kRefused, "queue " + words.place.queue + " was dropped meanwhile");
  print_queue(words.place.place.account, page->queues.front(), words.json);
  return kSuccess;
}

int print_queue_metadata(const QueueWords& words) {
  const Result<std::unique_ptr<QueueAccess>> queue = reach_queue_briefly(words.place);
  if (!queue.ok()) return fail(queue.status());
  const Result<std::vector<MetadataPair>> metadata = (*queue)->metadata();
  if (!metadata.ok()) return fail(with_nearest_queues(**queue, words.place, metadata.status()));
  print_metadata(*metadata, words.json);
  return kSuccess;
}

using QueueChange = std::function<Status(QueueAccess&)>;

/// Reaches the queue for writing, and carries out the change.
int change_queue(const QueueWords& words, const char* done, const QueueChange& work) {
  const Result<std::unique_ptr<QueueAccess>> queue = reach_queue(words.place);
  if (!queue.ok()) return fail(queue.status());
  if (Status changed = work(**queue); !changed.ok()) return fail(with_nearest_queues(**queue, words.place, changed));
  return finish_change(**queue, words, done);
}

int queue_metadata(const QueueWords& words) {
  if (words.metadata.empty() && !words.clears) return print_queue_metadata(words);
  if (!words.metadata.empty() && words.clears) return fail(kUsage, "--clear cannot be combined with NAME=VALUE");
  const Result<std::vector<MetadataPair>> metadata = parse_metadata(words.metadata);
  if (!metadata.ok()) return fail(metadata.status());
  return change_queue(words, "changed", [&](QueueAccess& queue) { return queue.set_metadata(*metadata); });
}

int print_queue_policies(const QueueWords& words) {
  const Result<std::unique_ptr<QueueAccess>> queue = reach_queue_briefly(words.place);
  if (!queue.ok()) return fail(queue.status());
  const Result<std::vector<AccessPolicy>> policies = (*queue)->policies();
  if (!policies.ok()) return fail(with_nearest_queues(**queue, words.place, policies.status()));
  print_policies(*policies, words.json);
  return kSuccess;
}

int queue_policies(const QueueWords& words) {
  if (const std::string misuse = misuse_of(words.policies); !misuse.empty()) return fail(kUsage, misuse);
  if (!changes_policies(words.policies)) return print_queue_policies(words);
  return change_queue(words, "changed", [&](QueueAccess& queue) -> Status {
    Result<std::vector<AccessPolicy>> present = queue.policies();
    if (!present.ok()) return present.status();
    const Result<std::vector<AccessPolicy>> changed =
        changed_policies(*std::move(present), words.policies, &Permissions::parse_for_queue);
    return changed.ok() ? queue.set_policies(*changed) : changed.status();
  });
}

/// Returns kSuccess if messages may be removed.
int confirm_removal(const QueueWords& words, const std::string& verb, const std::string& question) {
  if (words.yes) return kSuccess;
  if (!can_ask()) {
    return fail(kUsage, verb + " removes all messages; give --yes, because there is no terminal to ask at");
  }
  return asked_yes(question) ? kSuccess : fail(kRefused, "nothing was removed");
}

int drop_queue(const QueueWords& words) {
  const int confirmed =
      confirm_removal(words, "queue drop", "Remove queue " + words.place.queue + " with all its messages?");
  if (confirmed != kSuccess) return confirmed;
  return change_queue(words, "dropped", [](QueueAccess& queue) { return queue.drop(); });
}

int clear_queue(const QueueWords& words) {
  const int confirmed =
      confirm_removal(words, "queue clear", "Remove all messages of queue " + words.place.queue + "?");
  if (confirmed != kSuccess) return confirmed;
  return change_queue(words, "cleared", [](QueueAccess& queue) { return queue.clear(); });
}

CLI::App* add_queue_verb(CLI::App& group, const char* name, const char* about, const char* footer,
                         const std::shared_ptr<QueueWords>& words, int (*run)(const QueueWords&), int& exit_code) {
  CLI::App* verb = group.add_subcommand(name, about);
  verb->footer(footer);
  add_queue_words(*verb, words->place, std::string_view(name) != "list");
  verb->callback([words, run, &exit_code] { exit_code = run(*words); });
  return verb;
}

void add_queue_create(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<QueueWords>();
  CLI::App* verb =
      add_queue_verb(group, "create", "Create an empty queue, and the store and the account if they are absent",
                     "Examples\n"
                     "  varve queue create ./shop invoices\n"
                     "  varve queue create ./shop invoices --metadata Owner=Ann --json",
                     words, &create_queue, exit_code);
  verb->add_option("--metadata", words->metadata, "Metadata of the queue as NAME=VALUE; may be repeated")
      ->expected(1)
      ->take_all();
  verb->add_option("--message-bytes", words->message_bytes_max, "Limit of a message's text in bytes, up to 1048576")
      ->check(whole_number(1))
      ->capture_default_str();
  verb->add_flag("--release-on-open", words->releases,
                 "Each open of the store makes the messages visible that consumers held before");
  add_json_words(*verb, words->json, "Print JSON");
}

void add_queue_readers(CLI::App& group, int& exit_code) {
  auto listed = std::make_shared<QueueWords>();
  CLI::App* list = add_queue_verb(group, "list", "Print the names of an account's queues",
                                  "Examples\n"
                                  "  varve queue list ./shop\n"
                                  "  varve queue list ./shop --prefix o --long",
                                  listed, &list_queues, exit_code);
  list->add_option("--prefix", listed->prefix, "Only names with this prefix");
  list->add_flag("--long", listed->is_long, "Also print the number of messages")->group(kOutputGroup);
  add_json_words(*list, listed->json, "Print one JSON object a line, with figures and metadata");

  auto shown = std::make_shared<QueueWords>();
  CLI::App* show = add_queue_verb(group, "show", "Print the figures and the metadata of a queue",
                                  "Counts all messages that have not expired, visible or not.\n"
                                  "\nExamples\n"
                                  "  varve queue show ./shop orders\n"
                                  "  varve queue show ./shop orders --json",
                                  shown, &show_queue, exit_code);
  add_json_words(*show, shown->json, "Print JSON");
}

void add_queue_metadata(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<QueueWords>();
  CLI::App* verb =
      add_queue_verb(group, "metadata", "Print or replace the metadata of a queue",
                     "With NAME=VALUE words, these replace all metadata. Names are C# identifiers, in upper or "
                     "lower case. Names and values together have at most 8 KiB.\n"
                     "\nExamples\n"
                     "  varve queue metadata ./shop orders Owner=Ann 'Note=two words'\n"
                     "  varve queue metadata ./shop orders\n"
                     "  varve queue metadata ./shop orders --clear",
                     words, &queue_metadata, exit_code);
  verb->add_option("METADATA", words->metadata, "Metadata of the queue as NAME=VALUE");
  verb->add_flag("--clear", words->clears, "Remove all metadata");
  add_json_words(*verb, words->json, "Print JSON");
}

void add_queue_policies(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<QueueWords>();
  CLI::App* verb = add_queue_verb(
      group, "policies", "Print or change the access policies of a queue",
      "A signature that names a policy permits what the policy says, as long as the policy is there. A queue has 5 "
      "policies at most. Prints a policy a line: its id, permissions, start and expiry, with - for what it leaves "
      "out.\n"
      "\nExamples\n"
      "  varve queue policies ./shop orders --set workers --permissions p --expiry 2027-01-01\n"
      "  varve queue policies ./shop orders\n"
      "  varve queue policies ./shop orders --remove workers",
      words, &queue_policies, exit_code);
  add_policy_words(*verb, words->policies, "raup: read, add, update, process");
  add_json_words(*verb, words->json, "Print JSON");
}

void add_queue_removers(CLI::App& group, int& exit_code) {
  auto dropped = std::make_shared<QueueWords>();
  CLI::App* drop =
      add_queue_verb(group, "drop", "Remove a queue with all its messages, in one small commit",
                     "At a terminal, asks for confirmation first. Elsewhere it needs --yes; without it the exit "
                     "code is 2.\n"
                     "\nExamples\n"
                     "  varve queue drop ./shop orders --yes\n"
                     "  varve queue drop ./shop orders --yes --json",
                     dropped, &drop_queue, exit_code);
  drop->add_flag("--yes", dropped->yes, "Do not ask");
  add_json_words(*drop, dropped->json, "Print JSON");

  auto cleared = std::make_shared<QueueWords>();
  CLI::App* clear = add_queue_verb(group, "clear", "Delete all messages of a queue, in one small commit",
                                   "Deletes held and hidden messages too; the metadata stays. At a terminal, asks for "
                                   "confirmation first. Elsewhere it needs --yes; without it the exit code is 2.\n"
                                   "\nExamples\n"
                                   "  varve queue clear ./shop orders --yes\n"
                                   "  varve queue clear ./shop orders --yes --json",
                                   cleared, &clear_queue, exit_code);
  clear->add_flag("--yes", cleared->yes, "Do not ask");
  add_json_words(*clear, cleared->json, "Print JSON");
}

}  // namespace

void add_queue_verbs(CLI::App& app, int& exit_code) {
  CLI::App* group = app.add_subcommand("queue", "Create, list or drop queues; put, get or delete messages");
  group->require_subcommand(1);
  add_queue_create(*group, exit_code);
  add_queue_readers(*group, exit_code);
  add_message_verbs(*group, exit_code);
  add_queue_metadata(*group, exit_code);
  add_queue_policies(*group, exit_code);
  add_queue_removers(*group, exit_code);
}

}  // namespace varve::tool
