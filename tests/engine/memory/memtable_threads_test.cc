// Owns: the promises of the memtable (engine/memory/memtable.h) to many threads: M1 and M2 during insertions.

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/memory/memtable.h"
#include "io/scheduler.h"
#include "tests/engine/memory/memtable_fill.h"

namespace varve::engine::memtable_threads_test {
namespace {

constexpr std::uint64_t kWriters = 4;
constexpr std::uint64_t kReaders = 2;
constexpr std::uint64_t kBatches = 1'000;  // of each writer

/// Returns a value that the key and the version determine, so that a reader detects an incomplete entry.
std::string value_of(std::string_view key, CommitVersion version) {
  return std::string(key) + "@" + std::to_string(version) + std::string(version % 40, '.');
}

CommitVersion version_of(std::uint64_t writer, std::uint64_t batch) {
  return 1 + batch * kWriters + writer;
}

/// Returns the writes of one batch, which a reader expects. Writers use the same keys. Only half of the batches are in
/// the order of keys.
std::vector<Write> writes_of(std::uint64_t seed, std::uint64_t writer, std::uint64_t batch) {
  const CommitVersion version = version_of(writer, batch);
  std::mt19937_64 random(seed * 1'000'003 + version);
  std::set<std::uint64_t> numbers;
  const std::uint64_t count = 1 + random() % (batch % 50 == 0 ? 100 : 8);
  while (numbers.size() < count) numbers.insert(random() % (random() % 4 == 0 ? 8 : 3'000));
  std::vector<Write> writes;
  for (const std::uint64_t number : numbers) {
    const std::string key = key_of(number);
    writes.push_back(number % 5 == 0 ? remove(key) : put(key, value_of(key, version)));
  }
  if (random() % 2 == 0) std::shuffle(writes.begin(), writes.end(), random);
  return writes;
}

class MemtableThreadsBySeed : public testing::TestWithParam<std::uint64_t> {
 protected:
  void write(std::uint64_t writer) {
    for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
      const std::string bytes = batch_of(writes_of(GetParam(), writer, batch));
      const MemtableDemand demand = *Memtable::demand_of(bytes);
      Memtable::Reservation reservation;
      {
        const io::MutexGuard guard(reserving_);
        reservation = *memtable_.reserve(demand);
        entries_ += demand.entry_count;
      }
      memtable_.insert(reservation, bytes, version_of(writer, batch));
      inserted_[writer].store(batch + 1, std::memory_order_release);
    }
    writers_left_.fetch_sub(1, std::memory_order_release);
  }

  /// Checks that every reached entry is complete and in order.
  void walk() {
    std::string last_key;
    CommitVersion last_version = 0;
    Memtable::Cursor cursor(memtable_);
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
      const Entry entry = cursor.entry();
      if (entry.kind == Kind::kPut) {
        ASSERT_EQ(entry.value, value_of(entry.sort_key, entry.version));
      } else {
        ASSERT_EQ(entry.kind, Kind::kDelete);
      }
      ASSERT_LE(last_key, entry.sort_key);
      if (last_key == entry.sort_key) {
        ASSERT_GT(last_version, entry.version);
      }
      last_key = entry.sort_key;
      last_version = entry.version;
    }
  }

  /// Checks that every entry of a batch whose insert() has returned is found, or covered by a newer one.
  void look_up(std::uint64_t writer, std::uint64_t batch) {
    const CommitVersion version = version_of(writer, batch);
    for (const Write& write : writes_of(GetParam(), writer, batch)) {
      const std::optional<Entry> exact = memtable_.find(write.key, version);
      ASSERT_TRUE(exact.has_value());
      ASSERT_EQ(exact->version, version);
      ASSERT_EQ(exact->kind, write.kind);
      ASSERT_EQ(exact->value, write.value);
      ASSERT_GE(memtable_.find(write.key, format::kCommitVersionMax)->version, version);
      Memtable::Cursor cursor(memtable_);
      cursor.seek(write.key, version);
      ASSERT_TRUE(cursor.valid());
      ASSERT_EQ(cursor.entry().sort_key, write.key);
      ASSERT_EQ(cursor.entry().version, version);
    }
  }

  void read(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    while (writers_left_.load(std::memory_order_acquire) > 0 && !HasFatalFailure()) {
      walk();
      for (int i = 0; i < 200 && !HasFatalFailure(); ++i) {
        const std::uint64_t writer = random() % kWriters;
        const std::uint64_t done = inserted_[writer].load(std::memory_order_acquire);
        if (done > 0) look_up(writer, random() % 2 == 0 ? done - 1 : random() % done);
      }
    }
  }

  io::Scheduler scheduler_;
  Memtable memtable_;
  io::Mutex reserving_{scheduler_};
  std::uint64_t entries_ = 0;
  std::array<std::atomic<std::uint64_t>, kWriters> inserted_{};
  std::atomic<std::uint64_t> writers_left_{kWriters};
};

TEST_P(MemtableThreadsBySeed, ReadersFindWhatWasInsertedWholeAndInOrder) {
  SCOPED_TRACE(GetParam());
  std::vector<io::Thread> threads;
  for (std::uint64_t i = 0; i < kReaders; ++i) {
    threads.push_back(*scheduler_.start("reader", [this, i] { read(GetParam() * kReaders + i); }));
  }
  for (std::uint64_t i = 0; i < kWriters; ++i) {
    threads.push_back(*scheduler_.start("writer", [this, i] { write(i); }));
  }
  threads.clear();

  ASSERT_EQ(memtable_.entry_count(), entries_);
  memtable_.check_invariants();
  walk();
  for (std::uint64_t writer = 0; writer < kWriters; ++writer) {
    for (std::uint64_t batch = 0; batch < kBatches; ++batch) ASSERT_NO_FATAL_FAILURE(look_up(writer, batch));
  }
}

TEST(MemtableThreads, WritersAtOnePlacePutEveryEntryInItsPlace) {
  // Different threads insert neighbouring keys at about the same time, and invalidate each other's insertion position.
  constexpr std::uint64_t kBatchesHere = 400;
  constexpr std::uint64_t kPerBatch = 60;
  io::Scheduler scheduler;
  io::Mutex reserving(scheduler);
  io::Event begin(scheduler);
  Memtable memtable;
  std::vector<io::Thread> threads;
  for (std::uint64_t writer = 0; writer < kWriters; ++writer) {
    threads.push_back(*scheduler.start("writer", [&, writer] {
      std::vector<std::string> batches;
      for (std::uint64_t batch = 0; batch < kBatchesHere; ++batch) {
        std::vector<Write> writes;
        for (std::uint64_t i = 0; i < kPerBatch; ++i) {
          writes.push_back(put(key_of((batch * kPerBatch + i) * kWriters + writer), ""));
        }
        batches.push_back(batch_of(writes));
      }
      begin.wait();
      for (std::uint64_t batch = 0; batch < kBatchesHere; ++batch) {
        const MemtableDemand demand = *Memtable::demand_of(batches[batch]);
        Memtable::Reservation reservation;
        {
          const io::MutexGuard guard(reserving);
          reservation = *memtable.reserve(demand);
        }
        memtable.insert(reservation, batches[batch], version_of(writer, batch));
      }
    }));
  }
  begin.set();
  threads.clear();

  ASSERT_EQ(memtable.entry_count(), kWriters * kBatchesHere * kPerBatch);
  memtable.check_invariants();
  for (std::uint64_t number = 0; number < kWriters * kBatchesHere * kPerBatch; ++number) {
    ASSERT_TRUE(memtable.find(key_of(number), format::kCommitVersionMax).has_value());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, MemtableThreadsBySeed, testing::Range<std::uint64_t>(1, 4));

}  // namespace
}  // namespace varve::engine::memtable_threads_test
