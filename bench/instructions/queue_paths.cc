#include "bench/instructions/queue_paths.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/varve_bench/entities.h"
#include "varve/store.h"

namespace varve::bench {

namespace {

using Counted = std::function<void(const std::function<void()>&)>;
using Setting = HotPath::Setting;

constexpr std::string_view kAccountOfQueues = "account1";
constexpr std::size_t kMessageBytes = 1024;
/// Messages that were taken, or that are hidden, before the counted ones.
constexpr std::uint64_t kMany = 100'000;
constexpr std::uint64_t kFew = 1'000;
constexpr WriteOptions kBufferedWrite{.durability = Durability::kBuffered};

class QueueMachine {
 public:
  explicit QueueMachine(std::string directory) : directory_(std::move(directory)) {
    open();
    (void)payload_of(0, kMessageBytes);  // makes the payloads, before any path is counted
    is_well_ = store_->create_account(kAccountOfQueues).ok();
    (void)store_->create_table(kAccountOfQueues, "Orders");
    (void)store_->create_queue(kAccountOfQueues, "orders");
    name();
  }

  Store& store() { return *store_; }
  Table& table() { return *table_; }
  Queue& queue() { return *queue_; }
  bool is_well() const noexcept { return is_well_; }
  void expect(bool succeeded) noexcept { is_well_ = is_well_ && succeeded; }

  void put(std::uint64_t count, std::chrono::milliseconds delay = std::chrono::milliseconds(0)) {
    PutOptions options;
    options.delay = delay;
    options.durability = Durability::kBuffered;
    for (std::uint64_t n = 0; n < count; ++n) expect(queue_->put(payload_of(n, kMessageBytes), options).ok());
  }
  /// Gets and deletes one message after another, until none is visible.
  void take_all() {
    for (;;) {
      const auto got = queue_->get({.count = 32});
      expect(got.ok());
      if (!got.ok() || got->empty()) return;
      for (const ReceivedMessage& message : *got) expect(queue_->remove(message, kBufferedWrite).ok());
    }
  }
  /// No work in the background remains, which would be counted.
  void compact() { expect(store_->compact().ok()); }
  void get_one() {
    const auto got = queue_->get();
    expect(got.ok() && got->size() == 1);
  }
  void reopen() {
    queue_.reset();
    table_.reset();
    store_.reset();
    open();
    name();
  }

 private:
  void open() {
    const Result<std::shared_ptr<Resources>> resources =
        Resources::create({.write_buffer_bytes = 64 << 20, .block_cache_bytes = 64 << 20});
    StoreOptions options;
    options.create_if_absent = true;
    options.resources = *resources;
    store_ = *Store::open(directory_, options);
  }
  void name() {
    table_ = std::make_unique<Table>(*store_->open_table(kAccountOfQueues, "Orders"));
    queue_ = std::make_unique<Queue>(*store_->open_queue(kAccountOfQueues, "orders"));
  }

  const std::string directory_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Table> table_;
  std::unique_ptr<Queue> queue_;
  bool is_well_ = false;
};

Entity entity_of_a_message_size(std::uint64_t n) {
  const Keys keys = keys_of(n);
  Entity entity(keys.partition, keys.row);
  entity.set("Text", std::string(payload_of(n, kMessageBytes)));
  return entity;
}

bool inserts(const Setting& setting, const Counted& counted) {
  QueueMachine machine(setting.directory);
  std::vector<Entity> entities;
  for (std::uint64_t n = 0; n < setting.operations; ++n) entities.push_back(entity_of_a_message_size(n));
  counted([&] {
    for (const Entity& entity : entities) machine.expect(machine.table().insert(entity).ok());
  });
  return machine.is_well();
}

bool puts(const Setting& setting, const Counted& counted) {
  QueueMachine machine(setting.directory);
  counted([&] {
    for (std::uint64_t n = 0; n < setting.operations; ++n) {
      machine.expect(machine.queue().put(payload_of(n, kMessageBytes)).ok());
    }
  });
  return machine.is_well();
}

bool gets_and_deletes(const Setting& setting, const Counted& counted) {
  QueueMachine machine(setting.directory);
  machine.put(setting.operations);
  counted([&] {
    for (std::uint64_t n = 0; n < setting.operations; ++n) {
      const auto got = machine.queue().get();
      machine.expect(got.ok() && got->size() == 1 && machine.queue().remove(got->front()).ok());
    }
  });
  return machine.is_well();
}

bool transactions(const Setting& setting, const Counted& counted, bool with_message) {
  QueueMachine machine(setting.directory);
  std::vector<Entity> entities;
  for (std::uint64_t n = 0; n < setting.operations; ++n) entities.push_back(entity_of_a_message_size(n));
  counted([&] {
    for (std::uint64_t n = 0; n < setting.operations; ++n) {
      Result<StoreTransaction> transaction = machine.store().begin_transaction();
      transaction->insert(machine.table(), std::move(entities[n]));
      if (with_message) transaction->put(machine.queue(), std::string(payload_of(n, kMessageBytes)));
      machine.expect(transaction->commit().ok());
    }
  });
  return machine.is_well();
}
bool transactions_alone(const Setting& setting, const Counted& counted) {
  return transactions(setting, counted, false);
}
bool transactions_with_messages(const Setting& setting, const Counted& counted) {
  return transactions(setting, counted, true);
}

bool count_gets(QueueMachine& machine, const Setting& setting, const Counted& counted) {
  machine.put(kFew);
  counted([&] {
    for (std::uint64_t n = 0; n < setting.operations; ++n) machine.get_one();
  });
  return machine.is_well();
}

bool gets(const Setting& setting, const Counted& counted, std::uint64_t taken, bool right_after_open) {
  QueueMachine machine(setting.directory);
  machine.put(taken);
  machine.take_all();
  machine.compact();
  if (right_after_open) machine.reopen();
  return count_gets(machine, setting, counted);
}
bool gets_at_a_fresh_head(const Setting& setting, const Counted& counted) {
  return gets(setting, counted, 0, false);
}
bool gets_behind_taken_messages(const Setting& setting, const Counted& counted) {
  return gets(setting, counted, kMany, false);
}
bool first_get(const Setting& setting, const Counted& counted) {
  return gets(setting, counted, 0, true);
}
bool first_get_behind_taken_messages(const Setting& setting, const Counted& counted) {
  return gets(setting, counted, kMany, true);
}

bool gets_beside_hidden_messages(const Setting& setting, const Counted& counted) {
  QueueMachine machine(setting.directory);
  machine.put(kMany, std::chrono::hours(24));
  machine.compact();
  return count_gets(machine, setting, counted);
}

}  // namespace

const std::vector<HotPath>& queue_paths() {
  static const std::vector<HotPath> paths{
      {"insert of 1 KiB, durable", "an entity", 2'000, inserts},
      {"message put, durable", "a message", 2'000, puts},
      {"message got, and deleted durably", "a message", 2'000, gets_and_deletes},
      {"transaction of one insert, durable", "a transaction", 2'000, transactions_alone},
      {"the same and a message put", "a transaction", 2'000, transactions_with_messages},
      {"message got", "a message", 500, gets_at_a_fresh_head},
      {"message got after many taken ones", "a message", 500, gets_behind_taken_messages},
      {"message got beside many hidden ones", "a message", 500, gets_beside_hidden_messages},
      {"first get after an open", "a get", 1, first_get},
      {"the same after many taken messages", "a get", 1, first_get_behind_taken_messages},
  };
  return paths;
}

}  // namespace varve::bench
