#include "tests/lab/kill/outbox.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include "varve/store.h"
#include "varve/store_transaction.h"
#include "varve/verify.h"

namespace varve::lab {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view kOutboxAccount = "outbox";
constexpr std::string_view kOutboxQueue = "work";
/// So short that the message of a killed worker is soon delivered again.
constexpr auto kOutboxHold = 50ms;
constexpr std::uint64_t kLargeTextEvery = 16;
constexpr std::size_t kLargeText = 20'000;

/// The store with its names. A child uses it.
struct Outbox {
  std::unique_ptr<Store> store;
  Table orders;
  Table done;
  Queue queue;
};

Result<Outbox> open_outbox(const OutboxLife& life, const RealMachine& machine) {
  StoreOptions options;
  options.create_if_absent = true;
  options.default_durability = life.seed % 2 == 0 ? Durability::kSync : Durability::kBuffered;
  options.env = &machine.env();
  Result<std::unique_ptr<Store>> store = Store::open(life.store(), options);
  if (!store.ok()) return store.status();
  // A kill may have come between any two of these.
  if (Status made = (*store)->create_account(kOutboxAccount); !made.ok() && made.code() != Code::kExists) return made;
  for (const std::string_view table : {"Orders", "Done"}) {
    const Status made = (*store)->create_table(kOutboxAccount, table).status();
    if (!made.ok() && made.code() != Code::kExists) return made;
  }
  const Status made = (*store)->create_queue(kOutboxAccount, kOutboxQueue).status();
  if (!made.ok() && made.code() != Code::kExists) return made;
  Result<Table> orders = (*store)->open_table(kOutboxAccount, "Orders");
  if (!orders.ok()) return orders.status();
  Result<Table> done = (*store)->open_table(kOutboxAccount, "Done");
  if (!done.ok()) return done.status();
  Result<Queue> queue = (*store)->open_queue(kOutboxAccount, kOutboxQueue);
  if (!queue.ok()) return queue.status();
  return Outbox{*std::move(store), *std::move(orders), *std::move(done), *std::move(queue)};
}

std::string partition_of_item(std::uint64_t item) {
  return std::to_string(item % 10);
}

/// The text begins with the number of the item. Some texts are so large that they have a row of their own.
std::string text_of_item(std::uint64_t item) {
  std::string text = std::to_string(item) + " ";
  if (item % kLargeTextEvery == 0) text.resize(kLargeText, 'x');
  return text;
}

void produce(Outbox& outbox, const OutboxLife& life, OutboxLedger& ledger) {
  for (std::uint64_t made = 0; made < life.items_max; ++made) {
    const std::uint64_t item = ledger.next_item.fetch_add(1);
    if (item >= OutboxLedger::kItemsMax) return;
    Entity order(partition_of_item(item), std::to_string(item));
    order.set("Number", static_cast<std::int64_t>(item));
    Result<StoreTransaction> transaction = outbox.store->begin_transaction();
    if (!transaction.ok()) return ledger.common.complain("no transaction: " + transaction.status().to_string());
    transaction->insert(outbox.orders, std::move(order)).put(outbox.queue, text_of_item(item));
    ledger.items[item].put_begun = true;
    if (const Status done = transaction->commit().status(); !done.ok()) {
      return ledger.common.complain("a put failed: " + done.to_string());
    }
    ledger.items[item].put_acknowledged = true;
  }
}

/// Deletes the message: in the commit of the work, or by itself after the work. Another worker may have got it since.
Status finish_item(Outbox& outbox, std::uint64_t item, const ReceivedMessage& message) {
  Entity note(partition_of_item(item), std::to_string(item));
  if (item % 2 == 0) {
    if (Status noted = outbox.done.insert_or_replace(note).status(); !noted.ok()) return noted;
    return outbox.queue.remove(message);
  }
  Result<StoreTransaction> transaction = outbox.store->begin_transaction();
  if (!transaction.ok()) return transaction.status();
  transaction->insert_or_replace(outbox.done, note).remove(outbox.queue, message);
  return transaction->commit().status();
}

void work_on(Outbox& outbox, OutboxLedger& ledger, const ReceivedMessage& message, std::uint64_t asked_at) {
  const std::uint64_t number = std::stoull(message.text);
  const std::string name = "message " + std::to_string(number);
  OutboxLedger::Item& item = ledger.items[number];
  item.delivered = true;
  ++ledger.deliveries;
  if (message.text != text_of_item(number)) ledger.common.complain(name + " has another text than was put");
  const std::uint64_t deleted_at = item.deleted_at;
  if (deleted_at != 0 && deleted_at <= asked_at) {
    ledger.common.complain(name + " was delivered after its delete was acknowledged");
  }
  const Result<std::optional<Entity>> order = outbox.orders.get(partition_of_item(number), std::to_string(number));
  if (!order.ok()) return ledger.common.complain(name + ": reading failed: " + order.status().to_string());
  if (!order->has_value()) ledger.common.complain(name + " was delivered, and its entity is not there");
  item.delete_begun = true;
  const Status done = finish_item(outbox, number, message);
  if (done.ok()) {
    std::uint64_t none = 0;
    item.deleted_at.compare_exchange_strong(none, ledger.moment.fetch_add(1) + 1);
  } else if (done.service_error() != "MessageNotFound") {
    ledger.common.complain(name + ": the delete failed: " + done.to_string());
  }
}

/// Works until `may_end` is set and no message was visible for the time `patience`.
void work(Outbox& outbox, OutboxLedger& ledger, const std::atomic<bool>& may_end, std::chrono::milliseconds patience) {
  for (;;) {
    const bool is_last = may_end;
    const std::uint64_t asked_at = ledger.moment;
    const Result<std::vector<ReceivedMessage>> got =
        outbox.queue.get({.count = 4, .hold = kOutboxHold, .wait = is_last ? patience : 5ms});
    if (!got.ok()) return ledger.common.complain("a get failed: " + got.status().to_string());
    for (const ReceivedMessage& message : *got) work_on(outbox, ledger, message, asked_at);
    if (got->empty() && is_last) return;
  }
}

void check_items(const Outbox& outbox, OutboxLedger& ledger) {
  const Result<QueueFigures> figures = outbox.queue.figures();
  if (!figures.ok()) return ledger.common.complain("no figures: " + figures.status().to_string());
  if (figures->messages != 0) ledger.common.complain("the queue counts messages that nobody can get");
  const std::uint64_t items = std::min(ledger.next_item.load(), OutboxLedger::kItemsMax);
  for (std::uint64_t number = 0; number < items; ++number) {
    const OutboxLedger::Item& item = ledger.items[number];
    const std::string name = "message " + std::to_string(number);
    if (item.put_acknowledged && !item.delete_begun) ledger.common.complain(name + " was lost");
    const Result<std::optional<Entity>> order = outbox.orders.get(partition_of_item(number), std::to_string(number));
    if (!order.ok()) return ledger.common.complain(name + ": reading failed: " + order.status().to_string());
    if (order->has_value() && !item.delivered) ledger.common.complain(name + " is missing, and its entity is there");
    if (!order->has_value() && item.delivered) ledger.common.complain(name + " was delivered, and its entity is gone");
    if (item.deleted_at == 0) continue;
    const Result<std::optional<Entity>> note = outbox.done.get(partition_of_item(number), std::to_string(number));
    if (!note.ok() || !note->has_value()) ledger.common.complain(name + " was deleted, and its work was not done");
  }
}

}  // namespace

SharedOutboxLedger::SharedOutboxLedger() {
  void* const memory = ::mmap(nullptr, sizeof(OutboxLedger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    std::abort();
  }
  ledger_ = new (memory) OutboxLedger{};
}

SharedOutboxLedger::~SharedOutboxLedger() {
  ::munmap(ledger_, sizeof(OutboxLedger));
}

int run_outbox(const OutboxLife& life, OutboxLedger& ledger) {
  const RealMachine machine(life.back_end, life.kill_at);
  Result<Outbox> outbox = open_outbox(life, machine);
  if (!outbox.ok()) {
    ledger.common.complain("the store could not be opened: " + outbox.status().to_string());
    return 1;
  }
  std::atomic<bool> may_end{life.producers == 0};
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < life.workers; ++i) {
      workers.emplace_back([&] { work(*outbox, ledger, may_end, 2 * kOutboxHold); });
    }
    std::vector<std::jthread> producers;
    for (int i = 0; i < life.producers; ++i) producers.emplace_back([&] { produce(*outbox, life, ledger); });
    producers.clear();
    may_end = true;
  }
  if (Status closed = outbox->store->close(); !closed.ok())
    ledger.common.complain("close failed: " + closed.to_string());
  return 0;
}

int run_outbox_checker(const OutboxLife& life, OutboxLedger& ledger) {
  const RealMachine machine(life.back_end, KillCount::kNever);
  {
    Result<Outbox> outbox = open_outbox(life, machine);
    if (!outbox.ok()) {
      ledger.common.complain("the store could not be opened: " + outbox.status().to_string());
      return 1;
    }
    const std::atomic<bool> may_end{true};
    work(*outbox, ledger, may_end, 4 * kOutboxHold);
    check_items(*outbox, ledger);
    if (Status closed = outbox->store->close(); !closed.ok()) {
      ledger.common.complain("close failed: " + closed.to_string());
    }
  }
  StoreOptions options;
  options.env = &machine.env();
  const Result<VerifyReport> report = Store::verify(life.store(), options);
  if (!report.ok()) ledger.common.complain("verification failed: " + report.status().to_string());
  if (report.ok() && !report->sound()) ledger.common.complain("verification found: " + report->findings.front());
  return 0;
}

}  // namespace varve::lab
