// Goal: whatever crashes, an acknowledged entity is there until its end and not afterwards, an older version does not come
// back in its place, and a store that may have ends says so (E1, E3).
// Method: puts with ends, deletes, flushes and compactions on the in-memory disk, while time passes. Images of the disk are
// taken at every step, from before the feature is set. Each is opened at its time and later, compared with the commits that
// were acknowledged, and its files are verified.
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"
#include "tests/support/small_trees.h"

namespace varve::engine::expiry_crash_test {
namespace {

using test::Change;
using test::key_of;
using test::Machine;

constexpr CommitVersion kSecond = io::kTicksPerSecond;

/// A state of a key: a value with its end (zero: none), or nothing.
struct State {
  std::optional<std::string> value;
  CommitVersion end = 0;

  bool is_live(CommitVersion time) const { return value && (end == 0 || end > time); }
};

/// The states that a key may have: one, or two while a commit is under way.
using Law = std::map<std::string, std::vector<State>>;

struct Image {
  io::MemoryDisk disk;
  Law law;
  io::Ticks wall = 0;
  std::string where;
};

class Verbs {
 public:
  explicit Verbs(Machine& machine) : machine_(machine), engine_(*machine.open()) {}

  const Law& law() const { return law_; }

  void run() {
    put("early", 0);  // before the store has the feature
    ASSERT_EQ(engine_->allow_ends().to_string(), "Ok");
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 6; ++i) {
        const std::string row = std::to_string(i);
        if ((round + i) % 5 == 4) {
          remove(row);
        } else {
          put(row, (round + i) % 3 == 0 ? 0 : engine_->time() + static_cast<CommitVersion>(5 + 10 * i) * kSecond);
        }
      }
      ASSERT_EQ((round % 2 == 0 ? engine_->flush() : engine_->compact()).to_string(), "Ok");
      machine_.clock.advance(std::chrono::seconds(15));
    }
    ASSERT_EQ(engine_->compact().to_string(), "Ok");
    ASSERT_EQ(engine_->close().to_string(), "Ok");
  }

 private:
  template <typename Apply>
  void change(const std::string& row, State after, Apply apply) {
    std::vector<State>& states = law_.try_emplace(row, std::vector<State>(1)).first->second;
    states.push_back(after);
    const auto committed = apply();
    ASSERT_TRUE(committed.ok()) << committed.status().to_string();
    states = {std::move(after)};
  }
  void put(const std::string& row, CommitVersion end) {
    ++writes_;
    const std::string value = row + " " + std::to_string(writes_) + std::string(writes_ % 4 * 400, 'x');
    change(row, {value, end}, [&] {
      Change put;
      if (end == 0) {
        put.put("p", row, value);
      } else {
        put.put_until("p", row, end, value);
      }
      return put.commit(*engine_);
    });
  }
  void remove(const std::string& row) {
    change(row, {}, [&] { return Change().remove("p", row).commit(*engine_); });
  }

  Machine& machine_;
  std::unique_ptr<Engine> engine_;
  Law law_;
  unsigned writes_ = 0;
};

void judge(const Engine& engine, const Law& law) {
  const ReadView view = engine.view();
  for (const auto& [row, states] : law) {
    const auto found = view.get(key_of("p", row));
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    bool is_possible = false;
    for (const State& state : states) {
      const bool is_live = state.is_live(view.time());
      is_possible = is_possible || (*found ? is_live && (*found)->value == *state.value : !is_live);
    }
    EXPECT_TRUE(is_possible) << row << (*found ? " is " + std::string((*found)->value) : " is absent");
  }
  engine.check_tables([](std::uint64_t, const Status& sound) { EXPECT_TRUE(sound.ok()) << sound.to_string(); });
}

void judge_image(Image image) {
  Machine after(33, std::move(image.disk));
  after.clock.set_wall(image.wall);
  auto engine = after.open();
  ASSERT_TRUE(engine.ok()) << engine.status().to_string();
  judge(**engine, image.law);
  after.clock.advance(std::chrono::seconds(20));
  judge(**engine, image.law);
  ASSERT_EQ((*engine)->compact().to_string(), "Ok");
  judge(**engine, image.law);
  after.clock.advance(std::chrono::seconds(1000));
  ASSERT_EQ((*engine)->compact().to_string(), "Ok");
  judge(**engine, image.law);
}

TEST(ExpiryCrash, E1_E3_AcknowledgedIsAcknowledgedAtEveryStep) {
  const test::SmallTrees trees;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<Image> images;
    {
      Machine machine(seed, test::OneThreadAtATime{});
      io::SeededRandom picks(seed + 100);
      Verbs verbs(machine);
      std::size_t steps = 0;
      machine.files->set_observer([&](const io::Operation& operation, io::Moment moment) {
        if (moment == io::Moment::kBefore || ++steps % test::kStride != 0) return;
        const std::string where = std::string(io::operation_name(operation.kind)) + " " + std::string(operation.name);
        const io::Ticks wall = machine.clock.wall();
        for (io::MemoryDisk& disk : machine.files->power_cuts(picks, 1)) {
          images.push_back({std::move(disk), verbs.law(), wall, where + ", power cut"});
        }
        images.push_back({machine.files->process_death(picks), verbs.law(), wall, where + ", kill"});
      });
      verbs.run();
      machine.files->set_observer({});
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GT(images.size() * test::kStride, 100U);
    for (Image& image : images) {
      SCOPED_TRACE(image.where);
      judge_image(std::move(image));
      if (testing::Test::HasFailure()) return;
    }
  }
}

/// Removes an entity that has ended, and returns the time of readers after a kill and a wall clock that was set back.
CommitVersion time_after(Status (Engine::*remove)(), CommitVersion* end) {
  std::optional<io::MemoryDisk> disk;
  io::Ticks wall = 0;
  {
    Machine machine(1, test::OneThreadAtATime{});
    io::SeededRandom picks(1);
    wall = machine.clock.wall();
    const std::unique_ptr<Engine> engine = *machine.open();
    EXPECT_EQ(engine->allow_ends().to_string(), "Ok");
    *end = engine->time() + 10 * kSecond;
    EXPECT_TRUE(Change().put_until("p", "r", *end, "value").commit(*engine).ok());
    if (remove == &Engine::compact) {
      EXPECT_EQ(engine->flush().to_string(), "Ok");
    }
    machine.clock.advance(std::chrono::seconds(20));
    EXPECT_EQ(((*engine).*remove)().to_string(), "Ok");
    disk = machine.files->process_death(picks);
  }
  Machine after(2, *std::move(disk));
  after.clock.set_wall(wall);
  const auto engine = after.open();
  if (!engine.ok()) return 0;
  EXPECT_FALSE((*(*engine)->view().get(key_of("p", "r"))).has_value());
  return (*engine)->view().time();
}

TEST(ExpiryCrash, E3_NoReaderIsBelowTheTimeAtWhichEndedEntitiesWereRemoved) {
  CommitVersion end = 0;
  EXPECT_GE(time_after(&Engine::flush, &end), end);
  EXPECT_GE(time_after(&Engine::compact, &end), end);
}

}  // namespace
}  // namespace varve::engine::expiry_crash_test
