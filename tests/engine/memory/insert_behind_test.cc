// Goal: when wait() returns, an added batch is in the memtable once, whichever thread inserted it, and its bytes are
// not read any more.
// Method: commits of few keys, in chunks and in parts of chunks, under schedules by seed and on threads of the system.
// The bytes of the batches are freed after each wait().
#include "engine/memory/insert_behind.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "io/simulated/manual_clock.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/engine/memory/memtable_fill.h"
#include "tests/support/effort.h"
#include "tests/support/thread_refusal.h"

namespace varve::engine::insert_behind_test {
namespace {

/// Adds to a memtable, and records the newest value of each key.
class Filling {
 public:
  Filling(io::Scheduler& scheduler, std::uint64_t seed) : random_(seed), inserts_(scheduler, memtable_) {}

  void add(std::size_t bytes) {
    for (std::size_t added = 0; added < bytes;) {
      const std::uint64_t key = random_() % 200;
      const std::string value = std::to_string(version_) + std::string(random_() % 4000, 'v');
      batches_.push_back(std::make_unique<std::string>(batch_of({put(key_of(key), value)})));
      const std::string& batch = *batches_.back();
      const Result<MemtableDemand> demand = Memtable::demand_of(batch);
      ASSERT_TRUE(demand.ok());
      const Result<Memtable::Reservation> room = memtable_.reserve(*demand);
      ASSERT_TRUE(room.ok());
      inserts_.add(*room, batch, version_++);
      newest_[key] = value;
      ++count_;
      added += batch.size();
    }
  }
  void wait() {
    inserts_.wait();
    batches_.clear();
  }
  void expect_all() const {
    EXPECT_EQ(memtable_.entry_count(), count_);
    memtable_.check_invariants();
    for (const auto& [key, value] : newest_) {
      const std::optional<Entry> found = memtable_.find(key_of(key), format::kCommitVersionMax);
      ASSERT_TRUE(found.has_value());
      EXPECT_TRUE(found->value == value);
    }
  }

 private:
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<std::string>> batches_;
  std::map<std::uint64_t, std::string> newest_;
  std::uint64_t count_ = 0;
  CommitVersion version_ = 1;
  Memtable memtable_;
  InsertBehind inserts_;
};

void fill_in_parts(io::Scheduler& scheduler, std::uint64_t seed) {
  Filling filling(scheduler, seed);
  filling.wait();
  for (const std::size_t bytes :
       {InsertBehind::kChunkBytes / 3, 9 * InsertBehind::kChunkBytes, std::size_t{1}, 2 * InsertBehind::kChunkBytes}) {
    filling.add(bytes);
    filling.wait();
    filling.expect_all();
  }
}

TEST(InsertBehind, EverythingIsThereAfterTheWait) {
  for (std::uint64_t seed = 1; seed <= test::effort<std::uint64_t>(10); ++seed) {
    SCOPED_TRACE(seed);
    io::ManualClock clock;
    io::SeededScheduler simulation(seed, clock);
    fill_in_parts(simulation.scheduler(), seed);
  }
}

TEST(InsertBehind, EverythingIsThereWithThreadsOfTheSystem) {
  io::Scheduler scheduler;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) fill_in_parts(scheduler, seed);
}

TEST(InsertBehind, WithoutASecondThreadTheFirstInsertsAll) {
  io::ManualClock clock;
  io::SeededScheduler simulation(1, clock);
  test::ThreadRefusal threads(simulation);
  threads.refuse(0);
  fill_in_parts(threads.scheduler(), 1);
  EXPECT_TRUE(threads.happened());
}

/// A thread that was refused is not asked for again.
TEST(InsertBehind, MoreThreadsComeWhenAllChunksWait) {
  for (std::size_t refused = 1; refused <= InsertBehind::kThreadsMax; ++refused) {
    SCOPED_TRACE(refused);
    bool has_asked = false;
    for (std::uint64_t seed = 1; seed <= 10 && !has_asked; ++seed) {
      io::ManualClock clock;
      io::SeededScheduler simulation(seed, clock);
      test::ThreadRefusal threads(simulation);
      threads.refuse(refused);
      Filling filling(threads.scheduler(), seed);
      filling.add(40 * InsertBehind::kChunkBytes);
      filling.wait();
      filling.expect_all();
      has_asked = threads.happened();
    }
    EXPECT_EQ(has_asked, refused < InsertBehind::kThreadsMax);
  }
}

TEST(InsertBehind, EndsWhatWasNotWaitedFor) {
  for (std::uint64_t seed = 1; seed <= test::effort<std::uint64_t>(10); ++seed) {
    io::ManualClock clock;
    io::SeededScheduler simulation(seed, clock);
    Filling filling(simulation.scheduler(), seed);
    filling.add(7 * InsertBehind::kChunkBytes + 1000);
  }
}

}  // namespace
}  // namespace varve::engine::insert_behind_test
