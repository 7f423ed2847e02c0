// Goal: a server ends the builds of indexes that an earlier server left, whatever else it builds, and however often its store
// is busy, and they end with the server.
// Method: calls that a test begins one by one, and a store whose lease has lapsed at each of its checks in turn.
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/rest/service/index_builds.h"
#include "io/file_system.h"
#include "tests/api/store_bench.h"
#include "tests/serve/held_calls.h"
#include "varve/table_index.h"

namespace varve::serve::left_builds_test {
namespace {

using namespace varve::test;
using namespace serve::test;

constexpr std::array<const char*, IndexBuilds::kAtOnceMax> kOthers = {"A", "B", "C", "D"};

template <typename Is>
bool comes_true(const Is& is) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!is()) {
    if (std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}

/// Declares an index, and leaves its build.
void leave_build(Store& store, const IndexDefinition& definition) {
  const auto stop = [](const IndexBuildProgress&) { return false; };
  ASSERT_EQ(store.create_index(kAccount, "Orders", definition, stop).code(), Code::kCancelled);
}

IndexState state_of(Store& store, std::string_view name) {
  const Result<std::vector<IndexInfo>> indexes = store.indexes(kAccount, "Orders");
  for (std::size_t i = 0; indexes.ok() && i < indexes->size(); ++i) {
    if ((*indexes)[i].definition.name == name) return (*indexes)[i].state;
  }
  return IndexState::kFailed;
}

class LeftBuilds : public ::testing::Test {
 protected:
  void SetUp() override {
    Table table = bench_.table();
    ASSERT_EQ(said(table.insert(Entity("p", "1").set("V", 1))), kFine);
    leave_build(*bench_.store, {"Left", {{"V"}}});
  }
  /// Begins as many builds as may go on at once, which do not get on, and makes the one that is left wait for a place.
  void begin_with_all_places_taken(HeldCalls& calls, IndexBuilds& builds) {
    builds.resume(stopping_.get_token());
    for (const char* const name : kOthers) {
      ASSERT_EQ(said(builds.begin(kAccount, "Orders", {name, {{"V"}}}, stopping_.get_token())), kFine);
    }
    calls.let_one_go();
    ASSERT_TRUE(comes_true([&builds] { return builds.left() == IndexBuilds::Left::kWait; }));
  }

  StoreBench bench_;
  std::stop_source stopping_;
};

TEST_F(LeftBuilds, WaitForAPlace) {
  IndexBuilds builds(*bench_.store);
  HeldCalls calls(*bench_.store);
  ASSERT_NO_FATAL_FAILURE(begin_with_all_places_taken(calls, builds));
  EXPECT_EQ(state_of(*bench_.store, "Left"), IndexState::kBuilding);
  calls.let_all_go();
  EXPECT_TRUE(comes_true([&builds] { return builds.left() == IndexBuilds::Left::kEnded; }));
  EXPECT_EQ(state_of(*bench_.store, "Left"), IndexState::kReady);
  for (const char* const name : kOthers) {
    EXPECT_TRUE(comes_true([&] { return state_of(*bench_.store, name) == IndexState::kReady; })) << name;
  }
}

TEST_F(LeftBuilds, EndWithTheServer) {
  Store& store = *bench_.store;
  {
    IndexBuilds builds(store);
    HeldCalls calls(store);
    ASSERT_NO_FATAL_FAILURE(begin_with_all_places_taken(calls, builds));
    stopping_.request_stop();
    EXPECT_TRUE(comes_true([&builds] { return builds.left() == IndexBuilds::Left::kEnded; }))
        << "no place has become free";
    EXPECT_EQ(state_of(store, "Left"), IndexState::kBuilding);
  }
  EXPECT_EQ(said(store.close()), kFine) << "it waits for the builds";
}

/// A lease that has lapsed at some of its checks.
class LapsingLease final : public io::Lease {
 public:
  /// Makes the lease lapse after so many checks, for the next `lapsed` ones.
  void lapse_after(int checks, int lapsed) noexcept {
    lapsed_left_ = lapsed;
    checks_left_ = checks;
  }
  int lapsed_left() const noexcept { return lapsed_left_; }

  Status check() const noexcept override {
    if (checks_left_ > 0) --checks_left_;
    if (checks_left_ > 0 || lapsed_left_ <= 0) return Status();
    return lapsed_left_-- > 0 ? Status(Code::kBusy) : Status();
  }

 private:
  mutable std::atomic<int> checks_left_{0};
  mutable std::atomic<int> lapsed_left_{0};
};

class LeasedLock final : public io::DirectoryLock {
 public:
  LeasedLock(std::unique_ptr<io::DirectoryLock> lock, std::shared_ptr<const io::Lease> lease)
      : lock_(std::move(lock)), lease_(std::move(lease)) {}
  std::uint64_t epoch() const noexcept override { return lock_->epoch(); }
  Status check() const noexcept override { return lock_->check(); }
  std::shared_ptr<const io::Lease> lease() const override { return lease_; }

 private:
  std::unique_ptr<io::DirectoryLock> lock_;
  std::shared_ptr<const io::Lease> lease_;
};

class LeasedDirectory final : public io::Directory {
 public:
  LeasedDirectory(std::unique_ptr<io::Directory> directory, std::shared_ptr<const io::Lease> lease)
      : directory_(std::move(directory)), lease_(std::move(lease)) {}

  Result<std::unique_ptr<io::DirectoryLock>> lock(std::string_view name, io::LockMode mode,
                                                  std::chrono::milliseconds wait_max) override {
    Result<std::unique_ptr<io::DirectoryLock>> lock = directory_->lock(name, mode, wait_max);
    if (!lock.ok()) return lock.status();
    return std::unique_ptr<io::DirectoryLock>(std::make_unique<LeasedLock>(*std::move(lock), lease_));
  }

  std::string_view path() const noexcept override { return directory_->path(); }
  Result<std::vector<io::DirectoryEntry>> list() override { return directory_->list(); }
  Result<std::unique_ptr<io::WritableFile>> create(std::string_view name) override { return directory_->create(name); }
  Result<std::unique_ptr<io::ReadableFile>> open(std::string_view name, io::ReadMode mode) override {
    return directory_->open(name, mode);
  }
  Result<std::unique_ptr<io::LogSegment>> create_log_segment(std::string_view name, std::uint64_t bytes) override {
    return directory_->create_log_segment(name, bytes);
  }
  Result<std::unique_ptr<io::LogSegment>> recycle_log_segment(std::string_view from, std::string_view to,
                                                              std::uint64_t bytes) override {
    return directory_->recycle_log_segment(from, to, bytes);
  }
  Result<std::unique_ptr<io::SharedMemory>> create_shared_memory(std::string_view name, std::uint64_t bytes) override {
    return directory_->create_shared_memory(name, bytes);
  }
  Status replace(std::string_view name, std::span<const std::byte> expected, std::span<const std::byte> content,
                 io::SyncPoint point) override {
    return directory_->replace(name, expected, content, point);
  }
  Status link(std::string_view name, io::Directory& into) override { return directory_->link(name, into); }
  Status remove(std::string_view name) override { return directory_->remove(name); }
  Status sync(io::SyncPoint point) override { return directory_->sync(point); }
  Status confirm_owner() override { return directory_->confirm_owner(); }
  Status set_ballast(std::string_view name, std::uint64_t bytes) override {
    return directory_->set_ballast(name, bytes);
  }

 private:
  std::unique_ptr<io::Directory> directory_;
  std::shared_ptr<const io::Lease> lease_;
};

class LeasedFiles final : public io::FileSystem {
 public:
  LeasedFiles(io::FileSystem& files, std::shared_ptr<const io::Lease> lease)
      : files_(files), lease_(std::move(lease)) {}

  std::string_view name() const noexcept override { return files_.name(); }
  Result<std::unique_ptr<io::Directory>> open_directory(std::string_view path) override {
    Result<std::unique_ptr<io::Directory>> directory = files_.open_directory(path);
    if (!directory.ok()) return directory.status();
    return std::unique_ptr<io::Directory>(std::make_unique<LeasedDirectory>(*std::move(directory), lease_));
  }
  Status create_directory(std::string_view path, io::SyncPoint point) override {
    return files_.create_directory(path, point);
  }
  Result<std::unique_ptr<io::ReadQueue>> make_read_queue(io::Scheduler& scheduler, std::size_t depth) override {
    return files_.make_read_queue(scheduler, depth);
  }

 private:
  io::FileSystem& files_;
  std::shared_ptr<const io::Lease> lease_;
};

TEST(LeftBuildsOfABusyStore, BeginAnewWhereverItWasBusy) {
  constexpr int kLapsed = 4;
  StoreBench bench;
  const auto lease = std::make_shared<LapsingLease>();
  LeasedFiles files(bench.env.files, lease);
  const io::Env env{files, bench.env.clock, bench.env.random, bench.env.scheduler};
  StoreOptions options = bench.options();
  options.env = &env;
  Store& store = bench.open(options);
  Table table = bench.table();
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(said(table.insert(Entity("p", std::to_string(i)).set("V", i).set("W", i))), kFine);
  }
  for (const bool is_unique : {false, true}) {
    const IndexDefinition definition{"Left", {{"V"}}, {}, is_unique};
    bool was_busy = true;
    for (int checks = 1; was_busy; ++checks) {
      ASSERT_LT(checks, 1000);
      ASSERT_NO_FATAL_FAILURE(leave_build(store, definition));
      IndexBuilds builds(store);
      builds.set_busy_wait(std::chrono::milliseconds(0));
      lease->lapse_after(checks, kLapsed);
      builds.resume({});
      ASSERT_TRUE(comes_true([&builds] { return builds.left() == IndexBuilds::Left::kEnded; })) << "check " << checks;
      was_busy = lease->lapsed_left() < kLapsed;
      lease->lapse_after(0, 0);
      ASSERT_EQ(state_of(store, "Left"), IndexState::kReady) << "check " << checks;
      ASSERT_EQ(said(store.drop_index(kAccount, "Orders", "Left")), kFine);
    }
  }
  bench.store.reset();
}

}  // namespace
}  // namespace varve::serve::left_builds_test
