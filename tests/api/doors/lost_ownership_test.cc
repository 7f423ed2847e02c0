// Goal: a store that lost its ownership answers every verb with a typed error, and closes.
// Method: a store on a model of RADOS, whose lease ends by the clock, or is ended by another owner.
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/store_bench.h"
#include "tests/support/rados_machine.h"
#include "varve/async.h"
#include "varve/store.h"

namespace varve::lost_ownership_test {
namespace {

class LostStore : public testing::Test {
 protected:
  explicit LostStore(bool verified = false) : program_(start(verified)), env_(machine_.env_of(program_)) {
    store_ = open(env_);
    EXPECT_TRUE(store_->create_account("account1").ok());
    table_.emplace(*store_->create_table("account1", "Orders"));
    EXPECT_TRUE(table_->insert(test::with_value("p", "r", "x")).ok());
  }

  test::RadosProgram& start(bool verified = false) {
    io::RadosOptions options;
    options.verified_reads = verified;
    options.renewal_time = std::chrono::hours(1);
    return machine_.start(options);
  }
  static std::unique_ptr<Store> open(const io::Env& env) {
    StoreOptions options;
    options.create_if_absent = true;
    options.env = &env;
    auto opened = Store::open(test::kRadosPath, options);
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  void expect_no_answer(Code code) {
    EXPECT_EQ(table_->get("p", "r").code(), code);
    EXPECT_EQ(table_->get("p", "absent").code(), code);
    EXPECT_EQ(table_->scan(Scan{}).code(), code);
    EXPECT_EQ(test::await(machine_.scheduler(), AsyncTable(*table_).get("p", "r")).code(), code);
    EXPECT_EQ(test::await(machine_.scheduler(), AsyncTable(*table_).insert(test::with_value("p", "r", "x"))).code(),
              code);
    EXPECT_EQ(table_->insert(test::with_value("p", "r", "x")).code(), code) << "a refusal is an answer";
    EXPECT_EQ(store_->open_table("account1", "Absent").code(), code);
    EXPECT_EQ(store_->list_tables("account1").code(), code);
    EXPECT_EQ(store_->last_tag().code(), code);
    EXPECT_EQ(store_->snapshot().code(), code);
  }

  test::RadosMachine machine_{1};
  test::RadosProgram& program_;
  const io::Env env_;
  std::unique_ptr<Store> store_;
  std::optional<Table> table_;
};

TEST_F(LostStore, SaysThatItIsBusyWhileItsLeaseIsLate) {
  machine_.clock.advance(std::chrono::seconds(3));
  expect_no_answer(Code::kBusy);
  EXPECT_TRUE(table_->insert_or_replace(test::with_value("p", "s", "x")).ok()) << "durable commits go on";
  program_.files->process().renew();
  EXPECT_TRUE(table_->get("p", "r").ok());
}

TEST_F(LostStore, SaysThatItIsFencedAfterATakeoverAndCloses) {
  machine_.clock.advance(std::chrono::seconds(3));
  test::RadosProgram& second = start();
  const io::Env env = machine_.env_of(second);
  const std::unique_ptr<Store> owner = open(env);
  ASSERT_NE(owner, nullptr);
  program_.files->process().renew();
  expect_no_answer(Code::kFenced);
  EXPECT_EQ(table_->insert_or_replace(test::with_value("p", "r", "x")).code(), Code::kFenced);
  EXPECT_TRUE(store_->statistics().ok());
  (void)store_->close();
  EXPECT_EQ(table_->get("p", "r").code(), Code::kClosed);
}

class LostVerifiedStore : public LostStore {
 protected:
  LostVerifiedStore() : LostStore(true) {}
};

TEST_F(LostVerifiedStore, FindsOutByEachReadThoughItsLeaseIsFresh) {
  EXPECT_TRUE(test::await(machine_.scheduler(), AsyncTable(*table_).get("p", "r")).ok());
  EXPECT_TRUE(test::await(machine_.scheduler(), AsyncTable(*table_).scan(Scan{})).ok());
  EXPECT_EQ(test::await(machine_.scheduler(), AsyncTable(*table_).insert(test::with_value("p", "r", "x"))).code(),
            Code::kExists);
  io::RadosOptions hasty;
  hasty.takeover_wait = false;
  test::RadosProgram& second = machine_.start(hasty);
  machine_.cluster.hold_blocklists();
  const io::Env env = machine_.env_of(second);
  const std::unique_ptr<Store> owner = open(env);
  ASSERT_NE(owner, nullptr);
  EXPECT_TRUE(program_.files->process().is_fresh());
  EXPECT_EQ(test::await(machine_.scheduler(), AsyncTable(*table_).scan(Scan{})).code(), Code::kFenced);
  expect_no_answer(Code::kFenced);
}

}  // namespace
}  // namespace varve::lost_ownership_test
