#include "tools/varve/queue/named_queue.h"

#include <vector>

#include "tools/varve/reach/reach.h"
#include "tools/varve/session/named_table.h"
#include "tools/varve/session/words.h"

namespace varve::tool {

namespace {

/// Goes through the server that has the store open. If there is none, opens the store by `open`.
Result<std::unique_ptr<QueueAccess>> reach_by(const QueuePlace& place,
                                              Result<OpenedStore> (*open)(const Place& place)) {
  const std::string& account = place.place.account;
  if (is_address(place.place.store)) return queue_at_address(place.place.store, account, place.queue);
  std::unique_ptr<QueueAccess> served = queue_through_server_of(place.place.store, account, place.queue);
  if (served != nullptr) return served;
  Result<OpenedStore> opened = open(place.place);
  if (!opened.ok()) return opened.status();
  return queue_in(*std::move(opened), account, place.queue);
}

}  // namespace

void add_queue_words(CLI::App& verb, QueuePlace& place, bool with_queue) {
  add_reach_words(verb, place.place);
  if (with_queue) {
    verb.add_option("QUEUE", place.queue, "Name of the queue: 3 to 63 lower-case letters, digits and hyphens")
        ->required();
  }
  verb.add_option("--account", place.place.account, "Account that the queue belongs to")
      ->capture_default_str()
      ->group("Place");
}

Result<std::unique_ptr<QueueAccess>> reach_queue_briefly(const QueuePlace& place) {
  return reach_by(place, [](const Place& of) {
    StoreOptions options;
    options.read_only = true;
    return open_here(of.store, options);
  });
}

Result<std::unique_ptr<QueueAccess>> reach_queue(const QueuePlace& place) {
  return reach_by(place, &open_for_writing);
}

Result<std::unique_ptr<QueueAccess>> reach_or_make_queue(const QueuePlace& place) {
  return reach_by(place, &open_or_make);
}

Status with_nearest_queues(QueueAccess& queue, const QueuePlace& place, const Status& failure) {
  const bool is_absent = failure.service_error() == "QueueNotFound" || failure.service_error() == "ResourceNotFound";
  if (!is_absent || !failure.hint().empty()) return failure;
  if (queue.local() != nullptr && queue.local()->open_table(place.place.account, place.queue).ok()) {
    return failure.with_hint(place.queue + " is a table; `varve help` lists the verbs of tables");
  }
  const Result<ListedQueues> page = queue.list(ListOptions(), false);
  std::vector<std::string> names;
  if (page.ok()) {
    for (const ListedQueue& listed : page->queues) {
      if (listed.info.name == place.queue) return failure;
      names.push_back(listed.info.name);
    }
    const std::string nearest = hint_among("queue", place.queue, names);
    return failure.with_hint(nearest.empty() ? "`varve queue create` creates a queue" : nearest);
  }
  if (queue.local() == nullptr) return failure;
  const Result<AccountPage> accounts = queue.local()->list_accounts();
  if (!accounts.ok()) return failure;
  for (const AccountInfo& account : accounts->accounts) names.push_back(account.name);
  return failure.with_hint(hint_among("account", place.place.account, names));
}

}  // namespace varve::tool
