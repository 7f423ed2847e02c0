// Goal: an asynchronous operation owns what it was given. The caller may free all of it before the operation begins.
// Method: each operation is made from memory that is overwritten and freed before the task starts.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/store_bench.h"
#include "varve/async.h"
#include "varve/async_typed_table.h"
#include "varve/store_transaction.h"

namespace varve::async_owned_test {
namespace {

struct Lamp {
  std::string room;
  std::string number;
  std::string colour;
  ETag etag;
};

}  // namespace
}  // namespace varve::async_owned_test

namespace varve {

template <>
inline constexpr auto mapping<async_owned_test::Lamp> = mapped::members(
    mapped::partition_key(&async_owned_test::Lamp::room), mapped::row_key(&async_owned_test::Lamp::number),
    mapped::property("Colour", &async_owned_test::Lamp::colour), mapped::etag(&async_owned_test::Lamp::etag));

}  // namespace varve

namespace varve::async_owned_test {
namespace {

using namespace test;

/// A text of the caller, in memory of its own, which ends when the test says so.
class CallersText {
 public:
  explicit CallersText(std::string_view text) : bytes_(text.begin(), text.end()) {}
  std::string_view view() const { return {bytes_.data(), bytes_.size()}; }
  void free() {
    std::fill(bytes_.begin(), bytes_.end(), '#');  // seen without a sanitizer too
    std::vector<char>().swap(bytes_);
  }

 private:
  std::vector<char> bytes_;
};

class AsyncOwnership : public ::testing::Test {
 protected:
  /// Makes a task with a tag, frees the tag, runs the task, and returns the tag that the store keeps.
  template <typename Make>
  std::optional<std::string> tag_after(std::string_view text, const Make& make) {
    CallersText tag(text);
    auto task = make(WriteOptions{.tag = tag.view()});
    tag.free();
    const auto ended = wait(std::move(task));
    EXPECT_EQ(ended.code(), Code::kOk);
    const Result<std::optional<std::string>> kept = bench_.store->last_tag();
    EXPECT_TRUE(kept.ok());
    return kept.ok() ? *kept : std::nullopt;
  }

  StoreBench bench_;
  Table table_ = bench_.table();
  AsyncTable async_{table_};
  AsyncStore store_{*bench_.store};
};

TEST_F(AsyncOwnership, EveryWriteKeepsItsTag) {
  const std::string kLong(200, 't');  // longer than a string keeps inside
  for (const std::string& tag : {std::string("short"), kLong}) {
    EXPECT_EQ(tag_after(tag + "1", [&](WriteOptions o) { return async_.insert_or_replace(Entity("p", "r"), o); }),
              tag + "1");
    EXPECT_EQ(tag_after(tag + "2", [&](WriteOptions o) { return async_.replace(Entity("p", "r"), ETag::any(), o); }),
              tag + "2");
    EXPECT_EQ(tag_after(tag + "3", [&](WriteOptions o) { return async_.merge(Entity("p", "r"), ETag::any(), o); }),
              tag + "3");
    EXPECT_EQ(tag_after(tag + "4", [&](WriteOptions o) { return async_.insert_or_merge(Entity("p", "r"), o); }),
              tag + "4");
    EXPECT_EQ(tag_after(tag + "5", [&](WriteOptions o) { return async_.remove("p", "r", ETag::any(), o); }), tag + "5");
    EXPECT_EQ(tag_after(tag + "6", [&](WriteOptions o) { return async_.insert(Entity("p", "r"), o); }), tag + "6");
    EXPECT_EQ(tag_after(tag + "7",
                        [&](WriteOptions o) {
                          EntityGroupTransaction transaction;
                          transaction.remove("p", "r", ETag::any());
                          return async_.execute(std::move(transaction), o);
                        }),
              tag + "7");
  }
}

TEST_F(AsyncOwnership, ATransactionOfTheStoreKeepsItsTag) {
  const std::string tag(200, 's');
  EXPECT_EQ(tag_after(tag,
                      [&](WriteOptions options) {
                        return store_.transact(
                            [table = table_](StoreTransaction& transaction) {
                              transaction.insert(table, Entity("p", "s"));
                              return Status();
                            },
                            options);
                      }),
            tag);
}

TEST_F(AsyncOwnership, EveryTypedWriteKeepsItsTagAndItsObject) {
  const AsyncTypedTable<Lamp> lamps(bench_.table("Lamps"));
  const std::string tag(200, 'l');
  const Lamp lamp{"hall", "1", std::string(100, 'c'), ETag::any()};
  EXPECT_EQ(tag_after(tag + "1", [&](WriteOptions o) { return lamps.insert(Lamp(lamp), o); }), tag + "1");
  EXPECT_EQ(tag_after(tag + "2", [&](WriteOptions o) { return lamps.insert_or_replace(Lamp(lamp), o); }), tag + "2");
  EXPECT_EQ(tag_after(tag + "3", [&](WriteOptions o) { return lamps.insert_or_merge(Lamp(lamp), o); }), tag + "3");
  EXPECT_EQ(tag_after(tag + "4", [&](WriteOptions o) { return lamps.replace(Lamp(lamp), o); }), tag + "4");
  EXPECT_EQ(tag_after(tag + "5", [&](WriteOptions o) { return lamps.merge(Lamp(lamp), o); }), tag + "5");
  const Result<std::optional<Lamp>> found = wait(lamps.get("hall", "1"));
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->colour, lamp.colour);
  EXPECT_EQ(tag_after(tag + "6",
                      [&](WriteOptions o) {
                        const auto gone = std::make_unique<Lamp>(lamp);
                        return lamps.remove(*gone, ETag::any(), o);
                      }),
            tag + "6");
}

TEST_F(AsyncOwnership, AReadKeepsItsKeysAndItsHandle) {
  ASSERT_TRUE(table_.insert(Entity("p", "r").set("V", 1)).ok());
  CallersText partition("p");
  CallersText row("r");
  auto handle = std::make_unique<AsyncTable>(table_);
  Task<Result<std::optional<Entity>>> get = handle->get(std::string(partition.view()), std::string(row.view()));
  Scan scan;
  scan.filter = "PartitionKey eq 'p' and V eq 1";
  Task<Result<Page>> page = handle->scan(scan);
  scan.filter.assign(scan.filter.size(), '#');
  handle.reset();
  partition.free();
  row.free();
  const Result<std::optional<Entity>> found = wait(std::move(get));
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->has_value());
  const Result<Page> read = wait(std::move(page));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->entities.size(), 1u);
}

}  // namespace
}  // namespace varve::async_owned_test
