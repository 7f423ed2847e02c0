// Goal: entities and blobs of one transaction are there together or not at all, and the space of uncommitted
// contents comes back (BX-20).
// Method: random transactions over a few entities and blobs, and a map that says what they must leave. At the end of each
// run the store is opened again, the keeper works, and all owners are counted again.
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/simulated/manual_clock.h"
#include "tests/api/blob/blob_recount.h"
#include "tests/api/seeded_threads.h"
#include "tests/support/effort.h"
#include "varve/blob.h"

namespace varve::test::blob_transaction_model_test {
namespace {

constexpr std::string_view kTables = "tables";  // the account of the table: a recount reads only containers

/// The values of entities ("e0") and the contents of blobs ("b0").
using Joint = std::map<std::string, std::string>;

std::string content_of(const Container& photos, const std::string& blob) {
  const Result<BlobReader> reader = photos.read(blob);
  if (!reader.ok()) {
    EXPECT_EQ(reader.status().service_error(), "BlobNotFound") << reader.status().to_string();
    return "-";
  }
  std::string content(reader->state().length, '?');
  const Result<std::size_t> got = reader->read(0, content);
  EXPECT_TRUE(got.ok()) << got.status().to_string();
  return content;
}

Joint joint_of(Store& store) {
  Joint joint;
  const Result<Table> table = store.open_table(kTables, "Orders");
  const Result<Container> photos = store.open_container(kAccount, "photos");
  EXPECT_EQ(said(table), kDone);
  EXPECT_EQ(said(photos), kDone);
  if (!table.ok() || !photos.ok()) return joint;
  for (int i = 0; i < 3; ++i) {
    const std::string number = std::to_string(i);
    if (const std::string value = value_in(*table, "p", "e" + number); value != "-") joint["e" + number] = value;
    if (const std::string content = content_of(*photos, "b" + number); content != "-") joint["b" + number] = content;
  }
  return joint;
}

class TransactionWorkload {
 public:
  TransactionWorkload(QueueBench& bench, std::uint64_t seed) : bench_(bench), random_(seed) {}

  /// The states that the store may have now.
  const std::vector<Joint>& possible() const { return possible_; }

  void run(int transactions) {
    for (int i = 0; i < transactions; ++i) {
      SCOPED_TRACE("transaction " + std::to_string(i));
      run_one();
      if (testing::Test::HasFailure()) return;
    }
  }

 private:
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_.next() % end); }
  std::string blob() { return "b" + std::to_string(below(3)); }
  std::string content() {
    constexpr std::array<std::size_t, 5> kSizes{0, 400, 20'000, 300'000, 1'100'000};
    return std::string(kSizes[below(kSizes.size())], static_cast<char>('a' + below(26)));
  }

  /// Adds a write of a blob that no other write of the transaction names. Returns whether it must be refused.
  bool add_blob(StoreTransaction& transaction, const Joint& before, Joint& after, const std::string& name) {
    const bool exists = before.contains(name);
    switch (below(5)) {
      case 0: {
        const std::string written = content();
        Result<BlobWriter> writer = photos_.write(name);
        EXPECT_EQ(said(writer), kDone);
        EXPECT_EQ(said(writer->append(written)), kDone);
        transaction.publish(*std::move(writer));
        after[name] = written;
        return false;
      }
      case 1: {
        BlobWriteOptions options;
        const bool is_new = below(3) == 0;
        if (is_new) options.conditions.if_none_match = ETag::any();
        after[name] = content();
        transaction.put(photos_, name, after[name], options);
        return is_new && exists;
      }
      case 2: {
        const std::string source = blob();
        transaction.copy(photos_, name, photos_, source);
        if (!before.contains(source)) return true;
        after[name] = before.at(source);
        return false;
      }
      default:
        if (!exists && below(4) != 0) return false;
        transaction.remove(photos_, name);
        after.erase(name);
        return !exists;
    }
  }

  bool add_entity(StoreTransaction& transaction, const Joint& before, Joint& after) {
    const std::string name = "e" + std::to_string(below(3));
    if (below(5) == 0) {
      transaction.remove(table_, "p", name, ETag::any());
      after.erase(name);
      return !before.contains(name);
    }
    after[name] = std::to_string(++values_);
    transaction.insert_or_replace(table_, with_value("p", name, after[name]));
    return false;
  }

  void run_one() {
    const Joint before = possible_.back();
    Joint after = before;
    Result<StoreTransaction> transaction = bench_.store->begin_transaction();
    ASSERT_EQ(said(transaction), kDone);
    bool is_refused = add_entity(*transaction, before, after);
    for (int i = 0; i < 3; ++i) {
      if (below(2) == 0) is_refused = add_blob(*transaction, before, after, "b" + std::to_string(i)) || is_refused;
    }
    if (below(8) == 0) return;  // Nobody commits it.
    if (!is_refused) possible_.push_back(after);
    const Result<std::vector<ETag>> done = transaction->commit();
    EXPECT_EQ(done.ok(), !is_refused) << done.status().to_string();
    possible_ = {is_refused ? before : after};
    if (below(6) == 0) {
      EXPECT_EQ(said(bench_.store->compact()), kDone);
    }
    EXPECT_TRUE(joint_of(*bench_.store) == possible_.back());
  }

  QueueBench& bench_;
  io::SeededRandom random_;
  Container photos_ = *bench_.store->create_container(kAccount, "photos");
  Table table_ = made_table(*bench_.store);
  int values_ = 0;
  std::vector<Joint> possible_{{}};

  static Table made_table(Store& store) {
    EXPECT_EQ(said(store.create_account(kTables)), kDone);
    return *store.create_table(kTables, "Orders");
  }
};

void judge_disk(io::MemoryDisk disk, const std::vector<Joint>& possible) {
  SettledStore after(43, std::move(disk), std::chrono::hours(1));
  const Joint found = joint_of(after.store());
  bool is_possible = false;
  for (const Joint& joint : possible) is_possible = is_possible || joint == found;
  EXPECT_TRUE(is_possible) << "entities and blobs are of no one state";
  after.settle();
  expect_settled(after.recount());
}

TEST(BlobTransactionModel, BX20_RandomTransactionsLeaveOneStateAndCountTheirOwners) {
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{20}); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    io::MemoryDisk disk;
    std::vector<Joint> possible;
    {
      QueueBench bench(seed, OneThreadAtATime{});
      TransactionWorkload workload(bench, seed);
      workload.run(40);
      possible = workload.possible();
      bench.store.reset();
      disk = bench.machine.files->snapshot();
    }
    judge_disk(std::move(disk), possible);
    if (testing::Test::HasFailure()) return;
  }
}

/// Transactions beside each other, beside single verbs, and beside a drop of the container.
TEST(BlobTransactionModel, BX20_BX08_TransactionsBesideOtherWritersCountTheirOwners) {
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{20}); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    io::MemoryDisk disk;
    {
      QueueBench bench(seed, OneThreadAtATime{});
      Container photos = *bench.store->create_container(kAccount, "photos");
      EXPECT_EQ(said(bench.store->create_account(kTables)), kDone);
      Table table = *bench.store->create_table(kTables, "Orders");
      EXPECT_EQ(said(photos.put("a", std::string(30'000, 'a'))), kDone);
      const auto transact = [&bench, photos, table](const std::string& from, const std::string& to) {
        return std::function<void()>([&bench, photos, table, from, to] {
          for (int i = 0; i < 3; ++i) {
            const Result<std::vector<ETag>> done = bench.store->transact([&](StoreTransaction& transaction) {
              transaction.insert_or_replace(table, with_value("p", to, std::to_string(i)))
                  .copy(photos, to, photos, from)
                  .put(photos, from, std::string(20'000, 'b'));
              return Status();
            });
            if (done.ok()) continue;
            const std::string_view error = done.status().service_error();
            EXPECT_TRUE(error == "BlobNotFound" || error == "ContainerNotFound") << done.status().to_string();
          }
        });
      };
      const std::function<void()> writer = [photos]() mutable {
        for (int i = 0; i < 3; ++i) (void)photos.put("a", std::string(40'000, 'c'));
        (void)photos.remove("b");
      };
      const std::function<void()> dropper = [&bench] {
        EXPECT_EQ(said(bench.store->drop_container(kAccount, "photos")), kDone);
        EXPECT_EQ(said(bench.store->create_container(kAccount, "photos")), kDone);
      };
      std::vector<std::function<void()>> bodies{transact("a", "b"), transact("b", "a"), writer};
      if (seed % 2 == 0) bodies.push_back(dropper);
      run_together(bench, bodies);
      bench.store.reset();
      disk = bench.machine.files->snapshot();
    }
    SettledStore settled(seed, std::move(disk), std::chrono::hours(1));
    settled.settle();
    expect_settled(settled.recount());
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::test::blob_transaction_model_test
