#include "tools/varve/queue/named_queue.h"

#include <vector>

#include "tools/varve/reach/reach.h"
#include "tools/varve/session/named_table.h"
#include "tools/varve/session/words.h"

namespace varve::tool {

namespace {

Status check_directory(const QueuePlace& place) {
  if (!is_address(place.place.store)) return Status();
  return Status::invalid_argument("the queue verbs need the directory of a store instead of " + place.place.store);
}

Result<OpenedStore> open_by(const QueuePlace& place, Result<OpenedStore> (*open)(const Place& place)) {
  if (Status checked = check_directory(place); !checked.ok()) return checked;
  Result<OpenedStore> opened = open(place.place);
  if (opened.ok() || opened.code() != Code::kLocked) return opened;
  return opened.status().with_hint(
      "queue verbs that write need the store itself: end the program that has it open, or let that program write. "
      "`queue list`, `show` and `peek` work beside `varve serve`");
}

}  // namespace

void add_queue_words(CLI::App& verb, QueuePlace& place, bool with_queue) {
  add_store_words(verb, place.place);
  if (with_queue) {
    verb.add_option("QUEUE", place.queue, "Name of the queue: 3 to 63 lower-case letters, digits and hyphens")
        ->required();
  }
  verb.add_option("--account", place.place.account, "Account that the queue belongs to")
      ->capture_default_str()
      ->group("Place");
}

Result<OpenedStore> open_queues_for_reading(const QueuePlace& place) {
  if (Status checked = check_directory(place); !checked.ok()) return checked;
  return open_for_reading(place.place);
}

Result<OpenedStore> open_queues_for_writing(const QueuePlace& place) {
  return open_by(place, &open_for_writing);
}

Result<OpenedStore> open_or_make_queues(const QueuePlace& place) {
  return open_by(place, &open_or_make);
}

Result<Queue> open_named_queue(Store& store, const QueuePlace& place, const std::string& queue) {
  Result<Queue> opened = store.open_queue(place.place.account, queue);
  if (opened.ok()) return opened;
  QueuePlace other = place;
  other.queue = queue;
  return with_nearest_queues(store, other, opened.status());
}

Result<Queue> open_named_queue(Store& store, const QueuePlace& place) {
  return open_named_queue(store, place, place.queue);
}

Status with_nearest_queues(Store& store, const QueuePlace& place, const Status& failure) {
  if (failure.code() != Code::kNotFound || !failure.hint().empty()) return failure;
  const Result<QueuePage> page = store.list_queues(place.place.account);
  std::vector<std::string> names;
  if (page.ok()) {
    for (const QueueInfo& queue : page->queues) {
      if (queue.name == place.queue) return failure;
      names.push_back(queue.name);
    }
    const std::string nearest = hint_among("queue", place.queue, names);
    return failure.with_hint(nearest.empty() ? "`varve queue create` creates a queue" : nearest);
  }
  const Result<AccountPage> accounts = store.list_accounts();
  if (!accounts.ok()) return failure;
  for (const AccountInfo& account : accounts->accounts) names.push_back(account.name);
  return failure.with_hint(hint_among("account", place.place.account, names));
}

}  // namespace varve::tool
