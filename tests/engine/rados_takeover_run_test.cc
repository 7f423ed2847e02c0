// Goal: no takeover loses, doubles or changes an acknowledged commit, whatever the former owners still send. Each half of
// the fence is needed for that.
// Method: owners follow each other on one store over a model of RADOS. A former owner lives on and commits while its
// successor opens, and later. What it sent before it was cut off may also come in the time of a third owner or a fourth.
// Changes arrive twice, late, in another order or never. The network loses requests or answers.
// Some owners are waited for, with clocks that stop or are slow: only reads rest on them, and the ledger asks none of a former
// owner. Flushes let the log be truncated. A ledger beside the store has the acknowledged values. By the seed, blocklists have
// no effect, so that the fence alone must suffice, or they take effect late or never. In the last two cases no object may lack
// an entry.
// VARVE_TAKEOVERS=<number> makes a long run. The same run goes over a real cluster, that of CEPH_CONF, if VARVE_CEPH_POOL
// names a pool of it; tools/check-cluster sets both. The threads are real ones then, and the former owner commits until the
// cluster refuses it.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/rados/librados_door.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"
#include "tests/support/rados_machine.h"

namespace varve::engine::rados_takeover_run_test {
namespace {

using test::Change;
using test::RadosMachine;
using test::RadosProgram;

constexpr int kRows = 12;

int takeovers() {
  const char* const chosen = std::getenv("VARVE_TAKEOVERS");
  return chosen == nullptr ? test::effort(16) : std::atoi(chosen);
}

/// What a row may have: the last acknowledged value, or one whose commit has an unknown end.
struct Row {
  std::string acknowledged = "-";
  std::set<std::string> possible;
};

class TakeoverRun {
 public:
  /// `pool` is one of a real cluster. Without it, the run goes over the model.
  explicit TakeoverRun(std::uint64_t seed, std::string pool = "")
      : machine(seed),
        pool_(std::move(pool)),
        blocklists_(static_cast<Blocklists>((seed + seed / 1000) % 3)),
        lateness_(seed) {
    if (!pool_.empty()) path_ = "rados:pool/takeovers-" + std::to_string(io::system_env().random.next());
    switch (blocklists_) {
      case Blocklists::kNever: machine.cluster.delay_blocklists(); break;
      case Blocklists::kWithoutEffect: machine.cluster.hold_blocklists(); break;
      case Blocklists::kLate: machine.cluster.delay_blocklists(1 + draw(4)); break;
    }
    machine.cluster.repeat(10);
    machine.simulation.set_decisions_max(UINT64_MAX);
  }

  /// Returns what went wrong first, or nothing.
  std::string run(int count) {
    for (int takeover = 0; takeover < count && failure_.empty(); ++takeover) take_over();
    for (const std::string& client : earlier_) (void)machine.cluster.deliver(client, kLate);
    if (pool_.empty() && blocklists_ != Blocklists::kWithoutEffect) {
      for (const std::string& object : machine.strays()) fail("no entry names the object " + object);
    }
    return failure_;
  }

  RadosMachine machine;
  std::uint64_t acknowledged = 0;
  std::uint64_t refused = 0;

 private:
  static constexpr std::size_t kLate = 4;  // changes of an owner that is cut off
  enum class Blocklists : std::uint8_t { kNever, kWithoutEffect, kLate };
  struct Owner {
    RadosProgram* program = nullptr;
    std::unique_ptr<Engine> engine;
  };

  std::uint64_t draw(std::uint64_t bound) { return io::random_below(machine.random, bound); }

  void fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }

  /// Returns whether the commit was acknowledged.
  bool write(Engine& engine) {
    const std::string row = std::to_string(draw(kRows));
    const std::string value = "v" + std::to_string(++values_) + std::string(draw(4) == 0 ? 20'000 : 20, 'x');
    Row& entry = rows_[row];
    entry.possible.insert(value);
    const bool is_acknowledged = Change().put("p", row, value).commit(engine).ok();
    ++(is_acknowledged ? acknowledged : refused);
    if (is_acknowledged) {
      entry.acknowledged = value;
      entry.possible.clear();
    }
    return is_acknowledged;
  }

  /// Lets a change arrive that an owner before the former one sent.
  void deliver_of_earlier() {
    if (earlier_.empty() || io::random_below(lateness_, 6) != 0) return;
    (void)machine.cluster.deliver(earlier_[io::random_below(lateness_, earlier_.size())], 1);
  }

  /// Remembers the former owner as one whose changes may still arrive.
  void leave_behind(std::string client) {
    constexpr std::size_t kEarlier = 3;
    if (earlier_.size() == kEarlier) earlier_.erase(earlier_.begin());
    earlier_.push_back(std::move(client));
  }

  void take_over() {
    // The former owner commits beside the open, or it is cut off with changes on their way, or in one direction.
    const bool is_model = pool_.empty();
    const bool has_former = is_model && former_.engine != nullptr;
    const bool is_cut = has_former && draw(3) == 0;
    const bool is_lost = has_former && !is_cut && draw(3) == 0;
    io::RadosOptions options;
    options.takeover_wait = (is_cut || is_lost) && draw(2) == 0;  // Otherwise, no lease is asked for.
    options.owner_wait = std::chrono::minutes(options.takeover_wait ? 1 : 0);
    if (!options.takeover_wait) options.renewal_time = std::chrono::hours(1);
    std::unique_ptr<io::ObjectDoor> door;
    if (!pool_.empty()) {
      auto connected = io::connect_to_pool(pool_);
      if (!connected.ok()) return fail("no connection: " + connected.status().to_string());
      door = *std::move(connected);
    }
    Owner next{pool_.empty() ? &machine.start(options) : &machine.start_real(options, std::move(door)), nullptr};
    const io::Env env = pool_.empty() ? machine.env_of(*next.program) : RadosMachine::real_env_of(*next.program);
    std::size_t late = 0;
    if (is_cut) {
      machine.cluster.cut_off(former_.program->door->client(), draw(12), draw(kLate));
      late = kLate;
    }
    if (has_former && draw(2) == 0) {
      const bool stops = draw(2) == 0;
      former_.program->lease_clock->set_rate(stops ? 0 : 9, 10);
    }
    {
      io::Thread writer;
      io::Thread network;
      // Without a commit beside the open, the former owner has not been refused when its successor removes its log.
      const std::uint64_t commits = former_.engine == nullptr ? 0 : draw(2) * (pool_.empty() ? 8 : 1000);
      if (commits > 0) {
        writer = *env.scheduler.start("former", [this, commits, &env] {
          for (std::uint64_t i = 0; i < commits && write(*former_.engine); ++i) env.scheduler.yield();
        });
      }
      if (is_lost) lose_one_direction(*former_.program, draw(40));
      if (is_model && draw(6) == 0) {
        lose_one_direction(*next.program, 0);
        network = *env.scheduler.start("network", [this, &env, &next, turns = draw(200)] {
          for (std::uint64_t turn = 0; turn < turns; ++turn) env.scheduler.yield();
          machine.cluster.reconnect(next.program->door->client());
        });
      }
      auto opened = Engine::open(env, path_, test::Machine::writable());
      if (is_lost) machine.cluster.reconnect(former_.program->door->client());
      if (!opened.ok()) return fail("the open failed: " + opened.status().to_string());
      next.engine = *std::move(opened);
    }
    check(*next.engine);
    for (int step = 0; step < 20 && failure_.empty(); ++step) {
      if (late > 0 && draw(4) == 0) (void)machine.cluster.deliver(former_.program->door->client(), 1);
      deliver_of_earlier();
      if (former_.engine != nullptr && draw(5) == 0) try_as_former();
      if (draw(8) == 0) {
        if (const Status flushed = next.engine->flush(); !flushed.ok()) fail("a flush failed: " + flushed.to_string());
      } else if (draw(16) == 0) {
        if (const Status done = next.engine->compact(); !done.ok()) fail("a compaction failed: " + done.to_string());
      } else if (!write(*next.engine)) {
        fail("the owner could not commit");
      }
    }
    check(*next.engine);
    if (is_cut) leave_behind(former_.program->door->client());
    former_.engine.reset();
    if (former_.program != nullptr) machine.stop(*former_.program);
    former_ = std::move(next);
  }

  /// After some turns of other threads, so that a commit may be on its way.
  void lose_one_direction(RadosProgram& program, std::uint64_t turns) {
    for (std::uint64_t turn = 0; turn < turns; ++turn) machine.scheduler().yield();
    machine.cluster.lose(program.door->client(),
                         draw(2) == 0 ? io::ObjectCluster::Loss::kRequests : io::ObjectCluster::Loss::kAnswers);
  }

  void try_as_former() {
    const std::map<std::string, Row> before = rows_;
    if (write(*former_.engine)) fail("a former owner's commit was acknowledged");
    rows_ = before;  // What was refused may not be found later either.
  }

  void check(Engine& engine) {
    for (auto& [row, entry] : rows_) {
      const std::string found = test::value_of(engine, "p", row);
      if (found != entry.acknowledged && !entry.possible.contains(found)) {
        fail("row " + row + " has " + found.substr(0, 40) + ", but " + entry.acknowledged.substr(0, 40) +
             " was acknowledged");
      }
      entry.acknowledged = found;
      entry.possible.clear();
    }
  }

  const std::string pool_;
  const Blocklists blocklists_;
  io::SeededRandom lateness_;
  std::vector<std::string> earlier_;  // clients
  std::string path_ = test::kRadosPath;
  std::map<std::string, Row> rows_;
  int values_ = 0;
  Owner former_;
  std::string failure_;
};

/// What a long run reports.
struct Counts {
  void add(const TakeoverRun& run) {
    acknowledged += run.acknowledged;
    refused += run.refused;
  }
  void print(std::uint64_t seed) const {
    if (std::getenv("VARVE_TAKEOVERS") == nullptr) return;
    std::printf("takeovers: %d from seed %" PRIu64 ", %" PRIu64 " acknowledged commits, %" PRIu64 " others\n",
                takeovers(), seed, acknowledged, refused);
  }

  std::uint64_t acknowledged = 0;
  std::uint64_t refused = 0;
};

class RadosTakeoverRun : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RadosTakeoverRun, LosesNothingThatWasAcknowledged) {
  constexpr int kOfOneStore = 20;  // The scheduler becomes slow when it has seen many threads.
  std::uint64_t seed = GetParam();
  Counts counts;
  for (int left = takeovers(); left > 0; left -= kOfOneStore, seed += 1000) {
    SCOPED_TRACE(seed);
    TakeoverRun run(seed);
    ASSERT_EQ(run.run(std::min(left, kOfOneStore)), "");
    counts.add(run);
  }
  counts.print(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RadosTakeoverRun, testing::Range(std::uint64_t{1}, std::uint64_t{4}));

TEST(RadosClusterTakeoverRun, LosesNothingThatWasAcknowledged) {
  const char* const pool = std::getenv("VARVE_CEPH_POOL");
  if (pool == nullptr) GTEST_SKIP() << "VARVE_CEPH_POOL names no pool of a cluster";
  constexpr int kOfOneStore = 20;
  const std::uint64_t first = io::system_env().random.next() >> 16;
  std::uint64_t seed = first;
  Counts counts;
  for (int left = takeovers(); left > 0; left -= kOfOneStore, ++seed) {
    SCOPED_TRACE(seed);
    TakeoverRun run(seed, pool);
    ASSERT_EQ(run.run(std::min(left, kOfOneStore)), "");
    counts.add(run);
  }
  counts.print(first);
}

constexpr int kTakeoversMax = 60;

/// Returns whether some seed sees something go wrong.
bool is_killed(void (*change)(io::ObjectCluster&)) {
  for (std::uint64_t seed = 1; seed <= 7; seed += 3) {  // Blocklists have no effect.
    TakeoverRun run(seed);
    change(run.machine.cluster);
    if (!run.run(kTakeoversMax / 3).empty()) return true;
  }
  return false;
}

TEST(RadosFence, LosesCommitsWithoutEpochs) {
  EXPECT_TRUE(is_killed([](io::ObjectCluster& cluster) { cluster.ignore_epochs(); }));
}

TEST(RadosFence, LosesCommitsWithoutThePresenceOfObjects) {
  EXPECT_TRUE(is_killed([](io::ObjectCluster& cluster) { cluster.ignore_presence(); }));
}

}  // namespace
}  // namespace varve::engine::rados_takeover_run_test
