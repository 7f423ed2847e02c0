// Goal: a fork of an owner gets kLocked from each call, whatever a thread of its parent does at that moment.
// Method: a thread of the parent waits in a change of the root, with the mutex of the root. Then the process forks.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "io/rados/rados_file_system.h"
#include "io/rados/rados_names.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/object_cluster.h"
#include "tests/io/child_process.h"
#include "tests/io/io_test_support.h"
#include "tests/support/passing_door.h"
#include "tests/support/rados_machine.h"

namespace varve::io::rados_fork_test {
namespace {

using std::chrono::milliseconds;

constexpr SyncPoint kPoint{"test"};

/// A door whose next change of the root waits until it is released.
class HeldDoor final : public test::PassingDoor {
 public:
  HeldDoor(Scheduler& scheduler, std::unique_ptr<ObjectDoor> door)
      : PassingDoor(std::move(door)), reached_(scheduler), released_(scheduler) {}
  ObjectAnswer change(const ObjectChange& change) override {
    if (change.object.ends_with("/root") && is_armed_.exchange(false)) {
      reached_.set();
      released_.wait();
    }
    return PassingDoor::change(change);
  }
  void hold_next() { is_armed_ = true; }
  void await_held() { reached_.wait(); }
  void release() { released_.set(); }

 private:
  std::atomic<bool> is_armed_{false};
  Event reached_;
  Event released_;
};

template <typename Outcome>
std::string unless_locked(const char* call, const Outcome& outcome) {
  const Status& status = status_of(outcome);
  return status.code() == Code::kLocked ? std::string() : std::string(call) + ": " + status.to_string() + "; ";
}

TEST(RadosFork, EachCallIsLockedWhileAThreadOfTheParentChangesTheRoot) {
  Scheduler scheduler;
  ManualClock clock;
  SeededRandom random(1);
  ObjectCluster cluster(scheduler, 1);
  HeldDoor door(scheduler, cluster.make_door());
  RadosOptions options;
  options.takeover_wait = false;
  options.renewal_time = std::chrono::hours(1);
  RadosFileSystem files("pool", door, clock, random, scheduler, options);
  ASSERT_TRUE(is_ok(files.create_directory(test::kRadosPath, kPoint)));
  const std::unique_ptr<Directory> owned = *files.open_directory(test::kRadosPath);
  const auto lock = owned->lock("LOCK", LockMode::kExclusive, milliseconds(0));
  ASSERT_TRUE(is_ok(lock));
  ASSERT_TRUE(is_ok(write_whole(*owned, "a", bytes_of("x"))));
  auto segment = owned->create_log_segment("1.wal", 2 * kSectorBytes);
  auto file = owned->create("b");
  ASSERT_TRUE(is_ok(segment) && is_ok(file));

  door.hold_next();
  Status changed(Code::kUnknown);
  Thread changer = *scheduler.start("changer", [&] { changed = owned->create("c").status(); });
  door.await_held();
  const std::string answer = in_child([&] {
    const AlignedBuffer sector = sectors_by_seed(1, kSectorBytes);
    return unless_locked("create", owned->create("d")) +
           unless_locked("create_log_segment", owned->create_log_segment("2.wal", 2 * kSectorBytes)) +
           unless_locked("replace", owned->replace("CURRENT", {}, bytes_of("x"), kPoint)) +
           unless_locked("remove", owned->remove("a")) + unless_locked("list", owned->list()) +
           unless_locked("open", owned->open("a", ReadMode::kDirect)) +
           unless_locked("set_ballast", owned->set_ballast("ballast", kSectorBytes)) +
           unless_locked("sync", owned->sync(kPoint)) + unless_locked("check", (*lock)->check()) +
           unless_locked("confirm_owner", owned->confirm_owner()) +
           unless_locked("lock", owned->lock("LOCK", LockMode::kExclusive, milliseconds(0))) +
           unless_locked("append", (*file)->append(bytes_of("y"))) +
           unless_locked("write", (*segment)->write(0, sector.bytes(), kPoint)) +
           unless_locked("cut", (*segment)->cut(0, kPoint));
  });
  EXPECT_EQ(answer, "");
  door.release();
  changer = Thread();
  EXPECT_TRUE(is_ok(changed));
  EXPECT_TRUE(is_ok(owned->confirm_owner()));
}

}  // namespace
}  // namespace varve::io::rados_fork_test
