// Goal: whatever crashes, no acknowledged put is lost, no acknowledged delete comes back, and a message is there exactly
// if its entity is (QX-05, QX-07, QX-30).
// Method: a producer, a consumer and transactions work on the in-memory disk. Images of the disk are taken at every step.
// Each image is opened, and compared with the operations that were acknowledged before it.
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "tests/api/queue/queue_bench.h"
#include "tests/support/effort.h"

namespace varve::test::queue_crash_test {
namespace {

using namespace std::chrono_literals;

/// The acknowledged state, and changes that may have happened besides.
struct Law {
  std::set<std::string> there;   // put and not deleted
  std::set<std::string> may_be;  // under way: to be put, or to be deleted
  std::map<std::string, std::uint32_t> deliveries;
};

struct Image {
  io::MemoryDisk disk;
  Law law;
  std::string where;
};

class Workload {
 public:
  Workload(QueueBench& bench, const QueueOptions& options)
      : bench_(bench), table_(bench.table()), queue_(bench.queue("orders", options)) {}

  const Law& law() const { return law_; }

  void run() {
    for (int i = 0; i < 6; ++i) {
      put("plain" + std::to_string(i), i % 3 == 2 ? 20'000 : 20);
      if (i % 2 == 0) outbox("outbox" + std::to_string(i));
      if (i % 2 == 1) outbox_of_group("outbox" + std::to_string(i));
      if (i % 2 == 1) remove_one();
      if (i % 3 == 1) inbox();
      if (i != 3) continue;
      EXPECT_EQ(said(bench_.store->compact()), kDone);
    }
  }

 private:
  void put(const std::string& name, std::size_t size) {
    law_.may_be.insert(name);
    (void)sent(queue_, name + std::string(size, ' '), {.ttl = kNever});
    law_.there.insert(name);
    law_.may_be.erase(name);
  }
  void outbox(const std::string& name) {
    law_.may_be.insert(name);
    StoreTransaction transaction = *bench_.store->begin_transaction();
    transaction.insert(table_, with_value("p", name, "v")).put(queue_, name, {.ttl = kNever});
    EXPECT_EQ(said(transaction.commit()), kDone);
    law_.there.insert(name);
    law_.may_be.erase(name);
  }
  void outbox_of_group(const std::string& name) {
    law_.may_be.insert(name);
    const WriteOperation insert = WriteOperation::insert(with_value("p", name, "v"));
    const MessageWrite message = MessageWrite::put(queue_, name, {.ttl = kNever});
    EXPECT_EQ(said(table_.execute_with_messages({&insert, 1}, {&message, 1})), kDone);
    law_.there.insert(name);
    law_.may_be.erase(name);
  }
  static std::string name_of(const std::string& text) { return text.substr(0, text.find(' ')); }

  ReceivedMessage take() {
    const ReceivedMessage message = got(queue_, {.hold = hold_, .durability = Durability::kSync}).front();
    law_.deliveries[name_of(message.text)] = message.deliveries;
    return message;
  }
  void remove_one() {
    const ReceivedMessage message = take();
    const std::string name = name_of(message.text);
    law_.there.erase(name);
    law_.may_be.insert(name);
    EXPECT_EQ(said(queue_.remove(message)), kDone);
    law_.may_be.erase(name);
  }
  /// Deletes a message together with the entity that it is about, if there is one.
  void inbox() {
    const ReceivedMessage message = take();
    const std::string name = name_of(message.text);
    law_.there.erase(name);
    law_.may_be.insert(name);
    StoreTransaction transaction = *bench_.store->begin_transaction();
    if (name.starts_with("outbox")) transaction.remove(table_, "p", name, ETag::any());
    transaction.remove(queue_, message);
    EXPECT_EQ(said(transaction.commit()), kDone);
    law_.may_be.erase(name);
  }

  QueueBench& bench_;
  Table table_;
  Queue queue_;
  /// Longer than any test, so that only an open can release a message.
  const std::chrono::milliseconds hold_ = std::chrono::minutes(50);
  Law law_;
};

/// Takes all messages out of the store, and compares. If the open released the messages, no hold need end first.
void judge(StoreBench& bench, const Law& law, bool are_released) {
  Queue queue = *bench.store->open_queue(kAccount, "orders");
  const Table table = *bench.store->open_table(kAccount, "Orders");
  if (!are_released) bench.machine.clock.advance(std::chrono::hours(1));  // All holds are over.
  std::uint64_t bytes = 0;
  std::map<std::string, std::uint32_t> found;
  const std::uint64_t count = counted(queue);
  const std::uint64_t text_bytes = (*queue.figures()).text_bytes;
  for (;;) {
    const std::vector<ReceivedMessage> messages = got(queue, {.count = 32, .hold = std::chrono::hours(1)});
    if (messages.empty()) break;
    for (const ReceivedMessage& message : messages) {
      const std::string name = message.text.substr(0, message.text.find(' '));
      EXPECT_TRUE(found.emplace(name, message.deliveries).second) << name << " is there twice";
      bytes += message.text.size();
    }
  }
  EXPECT_EQ(found.size(), count) << "the counters differ from a recount";
  EXPECT_EQ(bytes, text_bytes);
  for (const std::string& name : law.there) EXPECT_TRUE(found.contains(name)) << name << " was lost";
  for (const auto& [name, deliveries] : found) {
    EXPECT_TRUE(law.there.contains(name) || law.may_be.contains(name)) << name << " came back";
    const auto acknowledged = law.deliveries.find(name);
    const std::uint32_t before = acknowledged == law.deliveries.end() ? 0 : acknowledged->second;
    EXPECT_GT(deliveries, before) << name;
  }
  for (int i = 0; i < 6; ++i) {
    const std::string name = "outbox" + std::to_string(i);
    const bool has_entity = (*table.get("p", name)).has_value();
    // A message that was removed alone leaves its entity.
    EXPECT_TRUE(has_entity || !found.contains(name)) << name;
  }
}

void expect_law_at_every_step(const QueueOptions& options) {
  std::vector<Image> images;
  {
    QueueBench bench(11, OneThreadAtATime{});
    Workload workload(bench, options);
    io::SeededRandom picks(12);
    std::size_t steps = 0;
    bench.machine.files->set_observer([&](const io::Operation& operation, io::Moment moment) {
      if (moment == io::Moment::kBefore || ++steps % kStride != 0) return;
      const std::string where = std::string(io::operation_name(operation.kind)) + " " + std::string(operation.name);
      for (io::MemoryDisk& disk : bench.machine.files->power_cuts(picks, 2)) {
        images.push_back({std::move(disk), workload.law(), where + ", power cut"});
      }
      images.push_back({bench.machine.files->process_death(picks), workload.law(), where + ", kill"});
    });
    workload.run();
    bench.machine.files->set_observer({});
  }
  EXPECT_GT(images.size() * kStride, 60U);
  for (Image& image : images) {
    SCOPED_TRACE(image.where);
    StoreBench after(13, std::move(image.disk));
    after.open();
    judge(after, image.law, options.release_on_open);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(QueueCrash, QX05_QX07_QX27_QX30_AcknowledgedIsAcknowledgedAtEveryStep) {
  expect_law_at_every_step({});
}

TEST(QueueCrash, QX10_QX30_AfterACrashAtEveryStepAnOpenReleasesWhatWasHeld) {
  expect_law_at_every_step({.release_on_open = true});
}

constexpr PutOptions keyed(Durability durability) {
  PutOptions options;
  options.ttl = kNever;
  options.deduplication_key = "k";
  options.durability = durability;
  return options;
}

/// Puts a message whose key is known, alone or in a transaction.
Status put_again(QueueBench& bench, Queue& queue, Durability durability, bool in_transaction) {
  if (!in_transaction) return queue.put("again", keyed(durability)).status();
  StoreTransaction transaction = *bench.store->begin_transaction();
  transaction.put(queue, "again", keyed(durability));
  WriteOptions options;
  options.durability = durability;
  return transaction.commit(options).status();
}

TEST(QueueCrash, QX13_ADurableDuplicateMakesTheEarlierPutDurable) {
  for (const bool in_transaction : {false, true}) {
    SCOPED_TRACE(in_transaction);
    std::optional<io::MemoryDisk> disk;
    {
      QueueBench bench;
      Queue queue = bench.queue();
      EXPECT_EQ(said(bench.store->sync()), kDone);
      (void)sent(queue, "text", keyed(Durability::kBuffered));
      EXPECT_EQ(said(put_again(bench, queue, Durability::kSync, in_transaction)), kDone);
      io::SeededRandom picks(1);
      disk = std::move(bench.machine.files->power_cuts(picks, 1).front());  // first what is durable alone
    }
    StoreBench after(2, std::move(*disk));
    after.open();
    EXPECT_EQ(peeked(*after.store->open_queue(kAccount, "orders")), std::vector<std::string>{"text"});
  }
}

TEST(QueueCrash, QX13_ADuplicateOfAPutThatFailedIsNoSuccess) {
  for (const bool in_transaction : {false, true}) {
    SCOPED_TRACE(in_transaction);
    QueueBench bench;
    Queue queue = bench.queue();
    io::FaultRule fails;
    fails.sync_point = engine::sync_points::kLogGroup.name;
    fails.fail_count = io::FaultRule::kFromThenOn;
    bench.machine.files->faults().add(fails);
    EXPECT_EQ(queue.put("text", keyed(Durability::kSync)).code(), Code::kUnknown);
    EXPECT_EQ(put_again(bench, queue, Durability::kBuffered, in_transaction).code(), Code::kPoisoned);
    EXPECT_EQ(peeked(queue), std::vector<std::string>());
  }
}

TEST(QueueCrash, QX08_AReceiptWhoseGetAPowerCutTookStillDeletes) {
  std::optional<io::MemoryDisk> disk;
  ReceivedMessage message;
  {
    QueueBench bench;
    Queue queue = bench.queue();
    (void)sent(queue, "text");
    message = got(queue, {.hold = std::chrono::hours(1)}).front();  // buffered
    io::SeededRandom picks(1);
    disk = std::move(bench.machine.files->power_cuts(picks, 1).front());
  }
  StoreBench after(2, std::move(*disk));
  after.open();
  Queue queue = *after.store->open_queue(kAccount, "orders");
  EXPECT_EQ(said(queue.remove(message)), kDone);
  EXPECT_EQ(counted(queue), 0U);
}

}  // namespace
}  // namespace varve::test::queue_crash_test
