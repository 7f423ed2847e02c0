// Goal: if any single allocation of an asynchronous operation fails, the error is reported and nothing changes. This
// holds on the asynchronous thread, and on the thread that begins the operation.
// Method: like out_of_memory_test.cc, but each attempt runs within a callback, so that all of it runs on the thread
// whose n-th allocation fails. A second attempt runs on the test's thread, as far as the operation runs there. Both use
// this machine's own files.
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/store_bench.h"
#include "tests/io/temporary_directory.h"
#include "tests/support/allocation_counter.h"

namespace varve::async_out_of_memory_test {
namespace {

using namespace test;

class AsyncOutOfMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    StoreOptions options;
    options.create_if_absent = true;
    Result<std::unique_ptr<Store>> opened = Store::open(directory_.path() + "/store", options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    store_ = *std::move(opened);
    ASSERT_TRUE(store_->create_account(kAccount).ok());
    table_.emplace(*store_->create_table(kAccount, "Orders"));
    put_first_state();
  }
  void put_first_state() {
    ASSERT_TRUE(table_->insert_or_replace(with_value("p", "r", "first")).ok());
    ASSERT_TRUE(table_->insert_or_replace(with_value("p", "s", "first")).ok());
    (void)table_->remove("p", "new", ETag::any());
    ASSERT_TRUE(store_->compact().ok());  // So that reads use a table file.
  }
  void expect_unchanged() {
    EXPECT_EQ(keys_of(*table_->scan(Scan{})), (std::vector<std::string>{"p/r", "p/s"}));
    EXPECT_EQ(value_in(*table_, "p", "r"), "first");
    EXPECT_EQ(read(*table_, "p", "r")->properties().size(), 1u);
  }

  template <typename T>
  using Verb = std::function<Task<T>(const AsyncTable&)>;
  enum class Where { kOnTheAsynchronousThread, kOnThisThread };

  /// Makes one attempt with its `nth` allocation failing.
  template <typename T>
  Status attempt(const Verb<T>& verb, Where where, std::uint64_t nth, bool& failed) {
    return where == Where::kOnThisThread ? attempt_here(verb, nth, failed) : attempt_there(verb, nth, failed);
  }

  /// The allocation fails until the call returns.
  template <typename T>
  Status attempt_here(const Verb<T>& verb, std::uint64_t nth, bool& failed) {
    const AsyncTable async(*table_);
    io::Event ended(scheduler_);
    Status status;
    const std::thread::id here = std::this_thread::get_id();
    std::optional<AllocationFailure> failure;
    const auto let_go = [&] {
      if (!failure) return;
      failed = failure->happened();
      failure.reset();
    };
    failure.emplace(nth);
    try {
      start(verb(async), [&](const T& answer) {
        if (std::this_thread::get_id() == here) let_go();
        status = status_of(answer);
        ended.set();
      });
      let_go();
    } catch (const std::bad_alloc&) {  // There was no memory for the task.
      let_go();
      return Status(Code::kOutOfMemory);
    }
    ended.wait();
    return status;
  }

  /// The allocation fails within a callback.
  template <typename T>
  Status attempt_there(const Verb<T>& verb, std::uint64_t nth, bool& failed) {
    const AsyncTable async(*table_);
    io::Event ended(scheduler_);
    Status status;
    std::optional<AllocationFailure> failure;
    const auto end = [&](const Status& how) {
      failed = failure->happened();
      failure.reset();
      status = how;
      ended.set();
    };
    start(AsyncStore(*store_).run([](Store&) { return Status(); }), [&](const Status&) {
      failure.emplace(nth);
      try {
        start(verb(async), [&end](const T& answer) { end(status_of(answer)); });
      } catch (const std::bad_alloc&) {  // There was no memory for the task.
        end(Status(Code::kOutOfMemory));
      }
    });
    ended.wait();
    return status;
  }

  template <typename T>
  void sweep(const Verb<T>& verb) {
    for (const Where where : {Where::kOnThisThread, Where::kOnTheAsynchronousThread}) {
      SCOPED_TRACE(where == Where::kOnThisThread ? "on this thread" : "on the asynchronous thread");
      put_first_state();
      sweep(verb, where);
    }
  }

  /// Repeats the operation until no allocation fails.
  template <typename T>
  void sweep(const Verb<T>& verb, Where where) {
    for (std::uint64_t nth = 1; nth < 10'000; ++nth) {
      SCOPED_TRACE("allocation " + std::to_string(nth));
      bool failed = false;
      const Status status = attempt(verb, where, nth, failed);
      if (!failed) {
        EXPECT_TRUE(status.ok()) << status.to_string();
        EXPECT_GT(nth, 5u);
        return;
      }
      if (status.ok()) {  // It succeeds without some memory, for example of one more waiting thread.
        put_first_state();
        continue;
      }
      ASSERT_EQ(status.code(), Code::kOutOfMemory) << status.to_string();
      expect_unchanged();
      if (HasFailure()) return;
    }
    FAIL() << "the verb needs more than 10,000 allocations";
  }

  static const Status& status_of(const Status& status) { return status; }
  template <typename T>
  static Status status_of(const Result<T>& result) {
    return result.status();
  }

  io::TemporaryDirectory directory_;
  io::Scheduler scheduler_;
  std::unique_ptr<Store> store_;
  std::optional<Table> table_;
};

TEST_F(AsyncOutOfMemory, InAReadIsTold) {
  sweep<Result<std::optional<Entity>>>([](const AsyncTable& table) { return table.get("p", "r"); });
  sweep<Result<std::vector<std::optional<Entity>>>>([](const AsyncTable& table) {
    return table.get_many({{"p", "r"}, {"p", "s"}, {"q", "none"}});
  });
}

TEST_F(AsyncOutOfMemory, OfWhoReadsInPlaceEndsTheScan) {
  const Result<Page> page =
      wait(AsyncTable(*table_).scan_in_place(Scan{}, [](const EntityView&) { throw std::bad_alloc(); }));
  EXPECT_EQ(page.status().code(), Code::kOutOfMemory);
  expect_unchanged();
}

TEST_F(AsyncOutOfMemory, InAWriteChangesNothing) {
  sweep<Result<ETag>>([](const AsyncTable& table) {
    return table.replace(with_value("p", "r", "a value that is longer than a short string"), ETag::any());
  });
  EXPECT_EQ(value_in(*table_, "p", "r"), "a value that is longer than a short string");
}

TEST_F(AsyncOutOfMemory, InAMergeChangesNothing) {
  sweep<Result<ETag>>([](const AsyncTable& table) {
    Entity entity("p", "r");
    for (int i = 0; i < 20; ++i) entity.set("Another" + std::to_string(i), i);
    return table.merge(std::move(entity), ETag::any());
  });
  EXPECT_EQ(read(*table_, "p", "r")->properties().size(), 21u);
}

TEST_F(AsyncOutOfMemory, InAPatchChangesNothing) {
  sweep<Result<Entity>>([](const AsyncTable& table) {
    Patch patch("p", "r");
    for (int i = 0; i < 20; ++i) patch.increment("Another" + std::to_string(i), i);
    return table.patch(std::move(patch.remove("V").only_if("V eq 'first'")), ETag::any());
  });
  EXPECT_EQ(read(*table_, "p", "r")->properties().size(), 20u);
}

TEST_F(AsyncOutOfMemory, InARemovalChangesNothing) {
  sweep<Status>([](const AsyncTable& table) { return table.remove("p", "s", ETag::any()); });
  EXPECT_EQ(value_in(*table_, "p", "s"), "-");
}

TEST_F(AsyncOutOfMemory, InATransactionChangesNothing) {
  sweep<Result<std::vector<ETag>>>([](const AsyncTable& table) {
    EntityGroupTransaction transaction;
    transaction.insert(with_value("p", "new", "x")).merge(with_value("p", "r", "second"), ETag::any());
    transaction.remove("p", "s", ETag::any());
    return table.execute(std::move(transaction));
  });
  EXPECT_EQ(keys_of(*table_->scan(Scan{})), (std::vector<std::string>{"p/new", "p/r"}));
}

}  // namespace
}  // namespace varve::async_out_of_memory_test
