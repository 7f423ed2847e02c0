// Goal: queues keep the rules that concern the store as a whole: one moment, durability, time, identity, cost of rows.
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/queue/queue_bench.h"

namespace varve::test::queue_rules_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

TEST(QueueRules, QX01_ACheckpointHasTablesAndQueuesOfOneMoment) {
  QueueBench bench;
  Table table = bench.table();
  Queue queue = bench.queue();
  const auto both = [&](const std::string& name) {
    StoreTransaction transaction = *bench.store->begin_transaction();
    transaction.insert(table, with_value("p", name, "v")).put(queue, name);
    EXPECT_EQ(said(transaction.commit()), kDone);
  };
  both("1");
  ASSERT_TRUE(bench.store->checkpoint("/copy").ok());
  both("2");
  StoreOptions options = bench.options();
  options.create_if_absent = false;
  const Result<std::unique_ptr<Store>> copy = Store::open("/copy", options);
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  const Queue copied = *(*copy)->open_queue(kAccount, "orders");
  EXPECT_THAT(peeked(copied), ElementsAre("1"));
  const Table entities = *(*copy)->open_table(kAccount, "Orders");
  EXPECT_TRUE((*entities.get("p", "1")).has_value());
  EXPECT_FALSE((*entities.get("p", "2")).has_value());
}

TEST(QueueRules, QX06_DurabilityIsChosenAsForEntities) {
  for (const Durability durability : {Durability::kSync, Durability::kBuffered}) {
    std::vector<io::MemoryDisk> cuts;
    std::optional<io::MemoryDisk> kill;
    {
      QueueBench bench;
      Queue queue = bench.queue();
      ASSERT_EQ(said(bench.store->sync()), kDone);
      (void)sent(queue, "text", {.durability = durability});
      io::SeededRandom picks(3);
      cuts = bench.machine.files->power_cuts(picks, 8);
      kill = bench.machine.files->process_death(picks);
    }
    const auto count = [](io::MemoryDisk disk) {
      StoreBench after(2, std::move(disk));
      after.open();
      return counted(*after.store->open_queue(kAccount, "orders"));
    };
    EXPECT_EQ(count(*std::move(kill)), 1U);
    std::uint64_t kept = 0;
    const std::size_t all = cuts.size();
    for (io::MemoryDisk& cut : cuts) kept += count(std::move(cut));
    EXPECT_EQ(kept == all, durability == Durability::kSync) << kept << " of " << all;
  }
}

TEST(QueueRules, QM07_QX14_TextIsNeverReadAndNothingOvertakes) {
  QueueBench bench;
  Queue queue = bench.queue();
  const std::vector<std::string> texts = {"aGVsbG8=", R"({"priority":9})", "<QueueMessage/>", "%41", ""};
  for (const std::string& text : texts) (void)sent(queue, text);
  EXPECT_EQ(got_texts(queue, {.count = 32}), texts);
}

TEST(QueueRules, QX11_QX16_AMessageIsVisibleAtItsTimeAndGoneAtItsExpiry) {
  QueueBench bench;
  Queue queue = bench.queue();
  const SentMessage put = sent(queue, "text", {.delay = 10s, .ttl = 20s});
  EXPECT_EQ(put.visible.ticks - put.inserted.ticks, 100'000'000U);
  EXPECT_EQ(put.expires.ticks - put.inserted.ticks, 200'000'000U);
  // The engine's clock may be ahead of the machine's by the ticks that it has given, far less than a millisecond.
  bench.pass(9'999ms);
  EXPECT_THAT(peeked(queue), ElementsAre());
  bench.pass(2ms);
  EXPECT_THAT(peeked(queue), ElementsAre("text"));
  bench.pass(9'998ms);
  EXPECT_THAT(peeked(queue), ElementsAre("text"));
  bench.pass(2ms);
  EXPECT_THAT(peeked(queue), ElementsAre());
  EXPECT_EQ(said(queue.remove(put.id, put.receipt)), kMessageGone);
}

TEST(QueueRules, QX21_QX23_IdsAscendAndReceiptsNameTheChange) {
  QueueBench bench;
  Queue queue = bench.queue();
  std::string id_before;
  for (int i = 0; i < 50; ++i) {
    const SentMessage put = sent(queue, std::to_string(i));
    EXPECT_LT(id_before, put.id.to_string());
    id_before = put.id.to_string();
    const std::string text = put.receipt.to_string();
    EXPECT_EQ(text.size(), 32U);  // base64 of 24 bytes
    const Result<PopReceipt> parsed = PopReceipt::parse(text);
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, put.receipt);
    EXPECT_LT(put.receipt.sequence, put.receipt.version);
  }
  bench.open();
  Queue reopened = *bench.store->open_queue(kAccount, "orders");
  EXPECT_LT(id_before, sent(reopened, "later").id.to_string());
  const ReceivedMessage first = got(reopened).front();
  PopReceipt forged = first.receipt;
  ++forged.version;
  EXPECT_FALSE(reopened.remove(first.id, forged).ok());
  EXPECT_EQ(said(reopened.remove(first)), kDone);
}

TEST(QueueRules, QX25_ALongTextIsWrittenOnce) {
  QueueBench bench;
  Queue queue = bench.queue();
  (void)sent(queue, std::string(60'000, 'x'));
  const std::uint64_t before = (*bench.store->statistics()).batch_bytes;
  const ReceivedMessage message = got(queue).front();
  EXPECT_EQ(message.text.size(), 60'000U);
  ASSERT_TRUE(queue.update(message.id, message.receipt, 5s).ok());
  EXPECT_LT((*bench.store->statistics()).batch_bytes - before, 4'000U);
}

/// The archive example of the design guide: a worker moves an entity to another table by steps that may be repeated.
class Archive {
 public:
  explicit Archive(Store& store)
      : current_(*store.open_table(kAccount, "Current")),
        archive_(*store.open_table(kAccount, "Archive")),
        orders_(*store.open_queue(kAccount, "archive")) {}

  /// Works until no message is visible.
  void work() {
    for (;;) {
      const Result<std::vector<ReceivedMessage>> messages = orders_.get({.hold = 1s});
      ASSERT_TRUE(messages.ok()) << messages.status().to_string();
      if (messages->empty()) return;
      const ReceivedMessage& message = messages->front();
      const Result<std::optional<Entity>> entity = current_.get("p", message.text);
      ASSERT_TRUE(entity.ok());
      if (*entity) {
        ASSERT_TRUE(archive_.insert_or_replace(**entity).ok());
        ASSERT_TRUE(current_.remove("p", message.text, ETag::any()).ok());
      }
      ASSERT_EQ(said(orders_.remove(message)), kDone);
    }
  }
  std::size_t places_of(const std::string& name) const {
    return std::size_t{(*current_.get("p", name)).has_value()} + std::size_t{(*archive_.get("p", name)).has_value()};
  }
  bool is_archived(const std::string& name) const { return (*archive_.get("p", name)).has_value(); }
  Queue& orders() { return orders_; }
  Table& current() { return current_; }

 private:
  Table current_;
  Table archive_;
  Queue orders_;
};

TEST(QueueRules, QX33_TheArchiveExampleEndsWithEachEntityInOneTable) {
  const std::vector<std::string> names = {"a", "b", "c"};
  std::vector<io::MemoryDisk> images;
  {
    QueueBench bench(5, OneThreadAtATime{});
    (void)bench.table("Current");
    (void)bench.table("Archive");
    (void)bench.queue("archive");
    Archive archive(*bench.store);
    for (const std::string& name : names) ASSERT_TRUE(archive.current().insert(with_value("p", name, "v")).ok());
    for (const std::string& name : names) (void)sent(archive.orders(), name);
    io::SeededRandom picks(6);
    bench.machine.files->set_observer([&](const io::Operation& /*operation*/, io::Moment moment) {
      if (moment == io::Moment::kBefore) return;
      for (io::MemoryDisk& disk : bench.machine.files->power_cuts(picks, 1)) images.push_back(std::move(disk));
      images.push_back(bench.machine.files->process_death(picks));
    });
    archive.work();
    bench.machine.files->set_observer({});
  }
  EXPECT_GT(images.size(), 12U);
  for (std::size_t image = 0; image < images.size(); ++image) {
    SCOPED_TRACE("image " + std::to_string(image));
    StoreBench after(7, std::move(images[image]));
    after.open();
    after.machine.clock.advance(std::chrono::hours(1));  // all holds are over
    Archive archive(*after.store);
    for (const std::string& name : names) EXPECT_GE(archive.places_of(name), 1U) << name;
    archive.work();
    for (const std::string& name : names) {
      EXPECT_EQ(archive.places_of(name), 1U) << name;
      EXPECT_TRUE(archive.is_archived(name)) << name;
    }
    EXPECT_EQ(counted(archive.orders()), 0U);
  }
}

}  // namespace
}  // namespace varve::test::queue_rules_test
