#include "engine/memory/read_states.h"

#include <atomic>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "engine/levels/levels.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/seeded_scheduler.h"

namespace varve::engine::read_states_test {
namespace {

std::shared_ptr<Memtable> new_memtable() {
  return std::make_shared<Memtable>();
}

ReadState first_state() {
  return {new_memtable(), {}, std::make_shared<Levels>()};
}

class ReadStatesTest : public testing::Test {
 protected:
  io::Scheduler scheduler_;
  ReadStates states_{scheduler_, first_state()};
};

TEST_F(ReadStatesTest, APinKeepsItsStateWhileOthersAreInstalled) {
  const std::weak_ptr<Memtable> first = states_.pin()->active;
  {
    const ReadStates::Pin pin = states_.pin();
    states_.update([](ReadState& state) { state.active = new_memtable(); });
    EXPECT_FALSE(states_.is_current(pin));
    EXPECT_EQ(states_.replaced_count(), 1u);
    EXPECT_EQ(pin->active, first.lock());
  }
  EXPECT_TRUE(first.expired());
  EXPECT_EQ(states_.replaced_count(), 0u);
}

TEST_F(ReadStatesTest, AStateThatNobodyPinsGoesWhenItIsReplaced) {
  const std::weak_ptr<Memtable> first = states_.pin()->active;
  states_.update([](ReadState& state) { state.active = new_memtable(); });
  EXPECT_TRUE(first.expired());
}

TEST_F(ReadStatesTest, AnotherPinOfAStateKeepsItToo) {
  ReadStates::Pin again;
  const std::weak_ptr<Memtable> first = states_.pin()->active;
  {
    const ReadStates::Pin pin = states_.pin();
    again = pin.again();
    states_.update([](ReadState& state) { state.active = new_memtable(); });
  }
  EXPECT_FALSE(first.expired());
  again = ReadStates::Pin();
  EXPECT_TRUE(first.expired());
}

TEST_F(ReadStatesTest, AChangeThatThrowsLeavesTheStateAsItWas) {
  const std::shared_ptr<Memtable> before = states_.pin()->active;
  EXPECT_THROW(states_.update([](ReadState& state) {
    state.active = new_memtable();
    throw std::bad_alloc();
  }),
               std::bad_alloc);
  EXPECT_EQ(states_.pin()->active, before);
}

TEST_F(ReadStatesTest, ManyStatesAreKeptAsLongAsTheirOwnPin) {
  std::vector<ReadStates::Pin> pins;
  std::vector<std::weak_ptr<Memtable>> memtables;
  for (int i = 0; i < 50; ++i) {
    pins.push_back(states_.pin());
    memtables.push_back(pins.back()->active);
    states_.update([](ReadState& state) { state.active = new_memtable(); });
  }
  EXPECT_EQ(states_.replaced_count(), 50u);
  for (std::size_t i = 0; i < pins.size(); i += 2) pins[i] = ReadStates::Pin();
  for (std::size_t i = 0; i < pins.size(); ++i) EXPECT_EQ(memtables[i].expired(), i % 2 == 0) << i;
}

// Each state is identified by its number of sealed memtables. A pinned state never changes, and no state is older than
// one that the thread saw before.
void pin_and_check(ReadStates& states, io::Scheduler& scheduler, std::atomic<bool>& done) {
  std::size_t seen = 0;
  while (!done.load()) {
    const ReadStates::Pin pin = states.pin();
    const std::size_t count = pin->sealed.size();
    ASSERT_GE(count, seen);
    seen = count;
    scheduler.yield();
    ASSERT_EQ(pin->sealed.size(), count);
    for (const auto& memtable : pin->sealed) ASSERT_EQ(memtable->entry_count(), 0u);
  }
}

void change_beside_readers(io::Scheduler& scheduler, int changes) {
  ReadStates states(scheduler, first_state());
  std::atomic<bool> done{false};
  {
    std::vector<io::Thread> readers;
    for (int i = 0; i < 3; ++i) {
      readers.push_back(*scheduler.start("reader", [&] { pin_and_check(states, scheduler, done); }));
    }
    for (int i = 0; i < changes; ++i) {
      states.update([](ReadState& state) { state.sealed.push_back(new_memtable()); });
      scheduler.yield();
    }
    done = true;
  }
  EXPECT_EQ(states.replaced_count(), 0u);
  EXPECT_EQ(states.pin()->sealed.size(), static_cast<std::size_t>(changes));
}

TEST(ReadStatesThreads, ReadersSeeWholeStatesThatNeverGoBack) {
  io::Scheduler scheduler;
  change_beside_readers(scheduler, 500);
}

TEST(ReadStatesThreads, TheSameUnderManySchedules) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    io::ManualClock clock;
    io::SeededScheduler simulation(seed, clock);
    change_beside_readers(simulation.scheduler(), 20);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::engine::read_states_test
