// Owns: a queue of Varve in the race of messages.
// Must never: include code below api/.
#include "bench/messages/varve_messages.h"

#include <chrono>
#include <utility>

namespace varve::bench {

namespace {

constexpr std::string_view kAccount = "bench";
constexpr std::chrono::hours kHold{1};

Entity entity_of(std::uint64_t record, std::string_view text) {
  Entity entity("p" + std::to_string(record % 100), std::to_string(record));
  entity.add("Text", text);
  return entity;
}

}  // namespace

Result<std::unique_ptr<VarveMessages>> VarveMessages::open(const std::string& directory) {
  std::unique_ptr<VarveMessages> messages(new VarveMessages(directory));
  if (Status opened = messages->open_store(); !opened.ok()) return opened;
  Store& store = *messages->store_;
  if (Status made = store.create_account(kAccount); !made.ok()) return made;
  if (Status made = store.create_table(kAccount, "Records").status(); !made.ok()) return made;
  if (Status made = store.create_queue(kAccount, "messages").status(); !made.ok()) return made;
  if (Status named = messages->open_names(); !named.ok()) return named;
  return messages;
}

Status VarveMessages::open_store() {
  StoreOptions options;
  options.create_if_absent = true;
  Result<std::unique_ptr<Store>> store = Store::open(directory_ + "/store", options);
  if (!store.ok()) return store.status();
  store_ = *std::move(store);
  return Status();
}

Status VarveMessages::open_names() {
  Result<Table> table = store_->open_table(kAccount, "Records");
  if (!table.ok()) return table.status();
  table_.emplace(*std::move(table));
  Result<Queue> queue = store_->open_queue(kAccount, "messages");
  if (!queue.ok()) return queue.status();
  queue_.emplace(*std::move(queue));
  return Status();
}

Status VarveMessages::reopen() {
  queue_.reset();
  table_.reset();
  store_.reset();
  if (Status opened = open_store(); !opened.ok()) return opened;
  return open_names();
}

Status VarveMessages::insert(std::uint64_t record, std::string_view text) {
  return table_->insert(entity_of(record, text), {.durability = Durability::kSync}).status();
}

Status VarveMessages::insert_in_transaction(std::uint64_t record, std::string_view text, bool with_message) {
  Result<StoreTransaction> transaction = store_->begin_transaction();
  if (!transaction.ok()) return transaction.status();
  transaction->insert(*table_, entity_of(record, text));
  if (with_message) transaction->put(*queue_, std::string(text));
  return transaction->commit({.durability = Durability::kSync}).status();
}

Status VarveMessages::put(int /*thread*/, std::string_view text) {
  PutOptions options;
  options.durability = Durability::kSync;
  return queue_->put(text, options).status();
}

Status VarveMessages::put_with_record(int /*thread*/, std::uint64_t record, std::string_view text) {
  return insert_in_transaction(record, text, true);
}

Result<std::optional<MessageContender::Taken>> VarveMessages::take(int /*thread*/) {
  Result<std::vector<ReceivedMessage>> got = queue_->get({.hold = kHold});
  if (!got.ok()) return got.status();
  if (got->empty()) return std::optional<Taken>();
  const ReceivedMessage& message = got->front();
  return std::optional(
      Taken{message.receipt.sequence, message.receipt.version, message.id.to_string() + message.receipt.to_string()});
}

Status VarveMessages::remove(int /*thread*/, const Taken& taken) {
  constexpr std::size_t kReceiptCharacters = 32;
  const std::string_view both = taken.name;
  const Result<Guid> id = Guid::parse(both.substr(0, both.size() - kReceiptCharacters));
  if (!id.ok()) return id.status();
  const Result<PopReceipt> receipt = PopReceipt::parse(both.substr(both.size() - kReceiptCharacters));
  if (!receipt.ok()) return receipt.status();
  return queue_->remove(*id, *receipt, {.durability = Durability::kSync});
}

Status VarveMessages::fill(std::uint64_t count, std::size_t bytes, std::chrono::milliseconds delay) {
  const std::string text(bytes, 'x');
  PutOptions options;
  options.delay = delay;
  constexpr std::uint64_t kAtOnce = 100;
  for (std::uint64_t n = 0; n < count;) {
    Result<StoreTransaction> transaction = store_->begin_transaction();
    if (!transaction.ok()) return transaction.status();
    for (std::uint64_t i = 0; i < kAtOnce && n < count; ++i, ++n) transaction->put(*queue_, text, options);
    if (Status put = transaction->commit({.durability = Durability::kBuffered}).status(); !put.ok()) return put;
  }
  return Status();
}

Status VarveMessages::drain() {
  for (;;) {
    Result<std::vector<ReceivedMessage>> got = queue_->get({.count = 32, .hold = kHold});
    if (!got.ok()) return got.status();
    if (got->empty()) return Status();
    Result<StoreTransaction> transaction = store_->begin_transaction();
    if (!transaction.ok()) return transaction.status();
    for (const ReceivedMessage& message : *got) transaction->remove(*queue_, message);
    if (Status done = transaction->commit({.durability = Durability::kBuffered}).status(); !done.ok()) return done;
  }
}

Result<std::unique_ptr<MessageContender>> open_varve_messages(const std::string& directory) {
  Result<std::unique_ptr<VarveMessages>> opened = VarveMessages::open(directory);
  if (!opened.ok()) return opened.status();
  return std::unique_ptr<MessageContender>(*std::move(opened));
}

}  // namespace varve::bench
