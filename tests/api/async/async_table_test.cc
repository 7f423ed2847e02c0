// Goal: many concurrent operations have the effect of each operation alone: none is lost, none happens twice, whatever
// memory, partitions and handles they share.
// Method: one thread starts hundreds of operations at once on the in-memory disk. Their required effects are counted.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/copied_entity.h"
#include "tests/api/store_bench.h"
#include "tests/support/effort.h"

namespace varve::async_table_test {
namespace {

using namespace test;

std::string number(int i) {
  return std::to_string(100'000 + i);
}

class AsyncTables : public ::testing::Test {
 protected:
  AsyncTables() : table_(bench_.table()), async_(table_) {}
  Store& store() { return *bench_.store; }
  Table& table() { return table_; }
  const AsyncTable& async() const { return async_; }

  void fill(int partitions, int rows) {
    std::vector<Task<Result<ETag>>> inserts;
    for (int i = 0; i < partitions * rows; ++i) {
      inserts.push_back(async_.insert(with_value(number(i % partitions), number(i), number(i))));
    }
    for (const Result<ETag>& etag : wait(all(std::move(inserts)))) ASSERT_EQ(said(etag), kFine);
  }
  std::size_t entity_count() {
    const Result<Count> counted = table_.count(Scan{});
    EXPECT_TRUE(counted.ok()) << counted.status().to_string();
    return counted.ok() ? counted->entities : 0;
  }

  StoreBench bench_;
  Table table_;
  AsyncTable async_;
};

TEST_F(AsyncTables, InsertsIntoManyPartitionsAllHappen) {
  std::vector<Task<Result<ETag>>> inserts;
  for (int i = 0; i < 500; ++i) inserts.push_back(async().insert(with_value(number(i % 50), number(i), number(i))));
  std::set<std::uint64_t> versions;
  for (const Result<ETag>& etag : wait(all(std::move(inserts)))) {
    ASSERT_EQ(said(etag), kFine);
    versions.insert(etag->timestamp().ticks);
  }
  EXPECT_EQ(versions.size(), 500u);
  for (int i = 0; i < 500; ++i) ASSERT_EQ(value_in(table(), number(i % 50), number(i)), number(i));
}

TEST_F(AsyncTables, OfManyInsertsOfOneKeyExactlyOneSucceeds) {
  std::vector<Task<Result<ETag>>> inserts;
  for (int i = 0; i < 100; ++i) inserts.push_back(async().insert(with_value("p", "r", number(i))));
  int done = 0;
  for (const Result<ETag>& etag : wait(all(std::move(inserts)))) {
    if (etag.ok()) ++done;
    EXPECT_EQ(said(etag), etag.ok() ? kFine : kEntityAlreadyExists);
  }
  EXPECT_EQ(done, 1);
}

/// Increments a counter optimistically, like clients of the service. Returns the number of attempts.
Task<Result<int>> increment(AsyncTable table, int times) {
  int attempts = 0;
  for (int done = 0; done < times; ++attempts) {
    Result<std::optional<Entity>> found = co_await table.get("p", "counter");
    if (!found.ok()) co_return found.status();
    Entity entity = **std::move(found);
    const ETag read = entity.etag();
    entity.set("N", *entity.get<std::int64_t>("N") + 1);
    const Result<ETag> replaced = co_await table.replace(std::move(entity), read);
    if (replaced.ok()) {
      ++done;
    } else if (said(replaced) != kUpdateConditionNotSatisfied) {
      co_return replaced.status();
    }
  }
  co_return attempts;
}

TEST_F(AsyncTables, IncrementsUnderETagsSumUpExactly) {
  Entity counter("p", "counter");
  counter.set("N", std::int64_t{0});
  ASSERT_TRUE(table().insert(counter).ok());
  std::vector<Task<Result<int>>> tasks;
  for (int i = 0; i < 50; ++i) tasks.push_back(increment(async(), 6));
  int attempts = 0;
  for (const Result<int>& done : wait(all(std::move(tasks)))) {
    ASSERT_TRUE(done.ok()) << done.status().to_string();
    attempts += *done;
  }
  EXPECT_EQ(*read(table(), "p", "counter")->get<std::int64_t>("N"), 300);
  EXPECT_GT(attempts, 300);  // Otherwise they ran one after the other.
}

TEST_F(AsyncTables, MergesIntoOneEntityAreNeverLost) {
  std::vector<Task<Result<ETag>>> merges;
  for (int i = 0; i < 250; ++i) {
    Entity entity("p", "r");
    entity.set("N" + number(i), i);
    merges.push_back(async().insert_or_merge(std::move(entity)));
  }
  for (const Result<ETag>& etag : wait(all(std::move(merges)))) ASSERT_EQ(said(etag), kFine);
  const std::optional<Entity> merged = read(table(), "p", "r");
  ASSERT_EQ(merged->properties().size(), 250u);
  for (int i = 0; i < 250; ++i) EXPECT_EQ(*merged->get<std::int32_t>("N" + number(i)), i);
}

TEST_F(AsyncTables, TransactionsSideBySideAreEachSeenWhole) {
  std::vector<Task<Result<std::vector<ETag>>>> writes;
  std::vector<Task<Result<Page>>> reads;
  for (int i = 0; i < 60; ++i) {
    EntityGroupTransaction transaction;
    for (int row = 0; row < 5; ++row) transaction.insert_or_replace(with_value("p", number(row), number(i)));
    writes.push_back(async().execute(std::move(transaction)));
    reads.push_back(async().scan(Scan{}));
  }
  Begun<std::vector<Result<Page>>> pages(bench_.machine.scheduler(), all(std::move(reads)));
  for (const auto& etags : wait(all(std::move(writes)))) ASSERT_EQ(said(etags), kFine);
  for (const Result<Page>& page : pages.take()) {
    ASSERT_EQ(said(page), kFine);
    EXPECT_TRUE(page->entities.empty() || page->entities.size() == 5);
    for (const Entity& entity : page->entities) EXPECT_EQ(entity.etag(), page->entities[0].etag());
  }
}

// -- Reads --------------------------------------------------------------------------------------------------------

Task<Result<std::vector<std::string>>> keys_by_pages(AsyncTable table, Scan scan) {
  std::vector<std::string> keys;
  for (;;) {
    const Result<Page> page = co_await table.scan(scan);
    if (!page.ok()) co_return page.status();
    for (std::string& key : keys_of(*page)) keys.push_back(std::move(key));
    if (!page->continuation) co_return keys;
    scan.continuation = *page->continuation;
  }
}

TEST_F(AsyncTables, ScansAndCountsSideBySidePageThroughEverything) {
  fill(10, 30);
  ASSERT_TRUE(store().compact().ok());
  std::vector<std::string> expected = keys_of(*table().scan(Scan{}));
  ASSERT_EQ(expected.size(), 300u);
  std::vector<Task<Result<std::vector<std::string>>>> scans;
  std::vector<Task<Result<Count>>> counts;
  for (std::uint32_t i = 0; i < 20; ++i) {
    Scan scan;
    scan.page_entities_max = 10 + i;
    scan.backward = i % 2 == 1;
    scans.push_back(keys_by_pages(async(), scan));
    counts.push_back(async().count(Scan{}));
  }
  Begun<std::vector<Result<Count>>> counted(bench_.machine.scheduler(), all(std::move(counts)));
  for (const auto& keys : wait(all(std::move(scans)))) {
    ASSERT_TRUE(keys.ok()) << keys.status().to_string();
    EXPECT_EQ(*keys, expected);
    std::reverse(expected.begin(), expected.end());
  }
  for (const Result<Count>& count : counted.take()) {
    ASSERT_EQ(said(count), kFine);
    EXPECT_EQ(count->entities, 300u);
    EXPECT_FALSE(count->continuation);
  }
}

TEST_F(AsyncTables, AScanInPlaceIsGivenWhatThePageOfAScanHolds) {
  for (int i = 0; i < 60; ++i) {
    Entity entity = with_value(number(i % 3), number(i), "a text that is longer than a short string " + number(i));
    entity.set("Flag", i % 2 == 0).set("Small", i).set("Large", std::int64_t{i} << 40).set("Real", i / 8.0);
    entity.set("Bytes", Binary{std::string("\0\xFF", 2)})
        .set("Id", Guid{{1, 2, 3}})
        .set("Day", DateTime{limits::kDateTimeTicksMin + 7});
    ASSERT_TRUE(table().insert(entity).ok());
  }
  Scan scans[4];
  scans[1].filter = "Flag and Small gt 20";
  scans[2].backward = true;
  scans[2].range = ScanRange::partition(number(1));
  scans[3].read.select = {"Bytes", "None", "Value"};
  for (Scan& scan : scans) {
    scan.page_entities_max = 7;
    for (bool is_over = false; !is_over;) {
      const Result<Page> expected = table().scan(scan);
      ASSERT_TRUE(expected.ok()) << expected.status().to_string();
      std::vector<Entity> seen;
      const Result<Page> page =
          wait(async().scan_in_place(scan, [&seen](const EntityView& view) { seen.push_back(copied(view)); }));
      ASSERT_TRUE(page.ok()) << page.status().to_string();
      EXPECT_EQ(seen, expected->entities);
      EXPECT_TRUE(page->entities.empty());
      EXPECT_EQ(page->continuation, expected->continuation);
      EXPECT_EQ(page->cost.entities_examined, expected->cost.entities_examined);
      is_over = !page->continuation;
      scan.continuation = page->continuation.value_or(std::string());
    }
  }
}

TEST_F(AsyncTables, ReadsOfManyKeysFromTablesFindWhatIsThereInOrder) {
  fill(8, 50);
  ASSERT_TRUE(store().compact().ok());
  ResourceOptions resources;
  resources.block_cache_bytes = 0;  // Every block is read from the disk.
  StoreOptions options = bench_.options();
  options.resources = *Resources::create(resources);
  bench_.open(options);
  const AsyncTable cold(*store().open_table(kAccount, "Orders"));
  ASSERT_TRUE(wait(cold.insert(with_value(number(0), "new", "new"))).ok());
  std::vector<EntityKey> keys;
  for (int i = 0; i < 420; ++i) keys.push_back({number(i % 8), number(i * 7 % 420)});
  keys.push_back({number(0), "new"});
  keys.push_back({number(0), std::string(2000, 'k')});
  std::vector<Task<Result<std::vector<std::optional<Entity>>>>> reads;
  for (int i = 0; i < 4; ++i) reads.push_back(cold.get_many(keys));
  const auto expected = cold.table().get_many(keys);
  ASSERT_TRUE(expected.ok());
  for (const auto& found : wait(all(std::move(reads)))) {
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    EXPECT_EQ(*found, *expected);
  }
}

TEST_F(AsyncTables, ReadsOfASnapshotSeeNothingNewer) {
  ASSERT_TRUE(wait(async().insert(with_value("p", "r", "old"))).ok());
  ReadOptions before;
  before.snapshot = *store().snapshot();
  ASSERT_TRUE(wait(async().insert_or_replace(with_value("p", "r", "new"))).ok());
  ASSERT_TRUE(wait(AsyncStore(store()).drop_table(std::string(kAccount), "Orders")).ok());
  const auto found = wait(async().get("p", "r", before));
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(*(*found)->get<std::string>("V"), "old");
  EXPECT_EQ(said(wait(async().get("p", "r"))), kTableNotFound);
}

// -- What operations share ----------------------------------------------------------------------------------------

void write_more_than_fits(Durability durability) {
  StoreBench bench;
  ResourceOptions resources;
  resources.write_buffer_bytes = 512 << 10;
  StoreOptions options = bench.options();
  options.resources = *Resources::create(resources);
  bench.open(options);
  const Table table = bench.table();
  const AsyncTable async(table);
  WriteOptions writing;
  writing.durability = durability;
  std::vector<Task<Result<ETag>>> writes;
  for (int i = 0; i < 300; ++i) {
    const std::string value(20'000 + static_cast<std::size_t>(i), static_cast<char>('a' + i % 26));
    writes.push_back(i % 2 == 0 ? async.insert(with_value(number(i % 9), number(i), value), writing)
                                : async.insert_or_merge(with_value(number(i % 9), number(i), value), writing));
  }
  for (const Result<ETag>& etag : wait(all(std::move(writes)))) {
    ASSERT_TRUE(etag.ok()) << etag.status().to_string();
  }
  for (int i = 0; i < 300; ++i) {
    const std::string value = value_in(table, number(i % 9), number(i));
    ASSERT_EQ(value, std::string(20'000 + static_cast<std::size_t>(i), static_cast<char>('a' + i % 26))) << i;
  }
}

TEST(AsyncWriteBuffer, ThatIsFullOftenTakesEveryWriteInTheEnd) {
  write_more_than_fits(Durability::kSync);
  write_more_than_fits(Durability::kBuffered);
}

TEST_F(AsyncTables, AWriteThatNoBufferCouldHoldIsRefused) {
  ResourceOptions resources;
  resources.write_buffer_bytes = 128 << 10;
  StoreOptions options = bench_.options();
  options.resources = *Resources::create(resources);
  bench_.open(options);
  const AsyncTable small(*store().open_table(kAccount, "Orders"));
  Entity large("p", "large");
  for (int i = 0; i < 10; ++i) large.set("V" + std::to_string(i), std::string(30'000, 'v'));
  const Said waiting = said(Table(small.table()).insert(large));
  EXPECT_EQ(waiting.code, Code::kNoSpace);
  EXPECT_EQ(said(wait(small.insert(large))), waiting);
  EXPECT_EQ(said(wait(small.insert(with_value("p", "small", "x")))), kFine);
}

TEST_F(AsyncTables, ACommitCarriesItsTag) {
  const std::string tag = "position 17";
  WriteOptions writing;
  writing.tag = tag;
  ASSERT_EQ(said(wait(async().insert_or_merge(with_value("p", "r", "x"), writing))), kFine);
  EXPECT_EQ(*store().last_tag(), tag);
  const std::string too_long(1025, 't');
  writing.tag = too_long;
  EXPECT_EQ(said(wait(async().insert_or_merge(with_value("p", "r", "y"), writing))), kInvalidInput);
  EXPECT_EQ(value_in(table(), "p", "r"), "x");
}

TEST_F(AsyncTables, AHandleThatOutlivesTheStoreAnswersClosed) {
  ASSERT_TRUE(wait(async().insert(with_value("p", "r", "x"))).ok());
  ReadOptions at_snapshot;
  at_snapshot.snapshot = *store().snapshot();
  bench_.store.reset();
  constexpr Said kClosed = {Code::kClosed, ""};
  EXPECT_EQ(said(wait(async().insert(with_value("p", "s", "x")))), kClosed);
  EXPECT_EQ(said(wait(async().remove("p", "r", ETag::any()))), kClosed);
  EXPECT_EQ(said(wait(async().execute(EntityGroupTransaction()))), kClosed);
  EXPECT_EQ(said(wait(async().get("p", "r", at_snapshot))), kClosed);
  EXPECT_EQ(said(wait(async().get_many({{"p", "r"}}))), kClosed);
  EXPECT_EQ(said(wait(async().scan(Scan{}))), kClosed);
  EXPECT_EQ(said(wait(async().count(Scan{}))), kClosed);
}

TEST_F(AsyncTables, OfAStoreOpenedForReadingOnlyAreReadAndNotWritten) {
  fill(3, 10);
  StoreOptions options = bench_.options();
  options.create_if_absent = false;
  options.read_only = true;
  bench_.open(options);
  const AsyncTable only_read(*store().open_table(kAccount, "Orders"));
  constexpr Said kReadOnly = {Code::kReadOnly, ""};
  EXPECT_EQ(said(wait(only_read.insert(Entity("bad/key", "r")))), kReadOnly);
  EXPECT_EQ(said(wait(only_read.merge(with_value("p", "r", "x"), ETag::any()))), kReadOnly);
  EXPECT_EQ(said(wait(only_read.remove("p", "r", ETag::any()))), kReadOnly);
  EXPECT_EQ(said(wait(only_read.execute(EntityGroupTransaction()))), kReadOnly);
  EXPECT_TRUE((*wait(only_read.get(number(0), number(0)))).has_value());
  EXPECT_EQ((*wait(only_read.get_many({{number(1), number(1)}, {"no", "no"}}))).size(), 2u);
  EXPECT_EQ((*wait(only_read.scan(Scan{}))).entities.size(), 30u);
  EXPECT_EQ((*wait(only_read.count(Scan{}))).entities, 30u);
}

TEST_F(AsyncTables, WritesBegunBeforeADropAreNotInTheTableThatIsMadeAgain) {
  const AsyncStore async_store(store());
  for (int round = 0; round < test::effort(30); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    // These begin first, so that they find the old table before the drop begins, or the new one at the latest.
    std::vector<std::unique_ptr<Begun<Result<ETag>>>> before;
    io::Scheduler& scheduler = bench_.machine.scheduler();
    for (int i = 0; i < 20; ++i) {
      auto write = async().insert(with_value(number(i % 4), number(i), number(round)));
      before.push_back(std::make_unique<Begun<Result<ETag>>>(scheduler, std::move(write)));
    }
    ASSERT_EQ(said(wait(async_store.drop_table(std::string(kAccount), "Orders"))), kFine);
    ASSERT_EQ(said(wait(async_store.create_table(std::string(kAccount), "ORDERS"))), kFine);
    for (auto& write : before) {
      const Result<ETag> etag = write->take();
      EXPECT_EQ(said(etag), etag.ok() ? kFine : kTableNotFound);
    }
    ASSERT_EQ(entity_count(), 0u);
  }
}

// -- Restricted handles -------------------------------------------------------------------------------------------

/// Looks up the permissions in the store, like stored access policies.
class RuleInTheStore final : public AccessRule {
 public:
  explicit RuleInTheStore(Table rights) : rights_(std::move(rights)) {}
  Result<Permissions> permitted() const override {
    const Result<std::vector<AccessPolicy>> policies = rights_.access_policies();
    if (!policies.ok()) return policies.status();
    const Result<std::optional<Entity>> right = rights_.get("rights", "letters");
    if (!right.ok()) return right.status();
    return Permissions::parse(*(*right)->get<std::string>("V"));
  }

 private:
  const Table rights_;
};

TEST_F(AsyncTables, ARuleThatReadsTheStoreIsAskedAtEveryVerb) {
  Table rights = bench_.table("Rights");
  ASSERT_TRUE(rights.insert(with_value("rights", "letters", "raud")).ok());
  ASSERT_TRUE(table().insert(with_value("p", "r", "x")).ok());
  const AsyncTable ruled(*table().restricted_to({Permissions::all(), {}, std::make_shared<RuleInTheStore>(rights)}));
  const auto verbs = [&ruled]() -> std::vector<Said> {
    EntityGroupTransaction transaction;
    transaction.insert_or_replace(with_value("p", "t", "x"));
    return {said(wait(ruled.get("p", "r"))),
            said(wait(ruled.get_many({{"p", "r"}}))),
            said(wait(ruled.scan(Scan{}))),
            said(wait(ruled.count(Scan{}))),
            said(wait(ruled.insert_or_merge(with_value("p", "s", "x")))),
            said(wait(ruled.remove("p", "s", ETag::any()))),
            said(wait(ruled.execute(std::move(transaction))))};
  };
  EXPECT_EQ(verbs(), std::vector<Said>(7, kFine));
  ASSERT_TRUE(rights.replace(with_value("rights", "letters", ""), ETag::any()).ok());
  EXPECT_EQ(verbs(), std::vector<Said>(7, kPermissionMismatch));
  ASSERT_TRUE(store().drop_table(kAccount, "Rights").ok());
  EXPECT_EQ(verbs(), std::vector<Said>(7, kTableNotFound));
}

TEST_F(AsyncTables, ChangesByFilterDoWhatTheBlockingVerbsDoAndStopAfterABatch) {
  fill(3, 4);
  WhereOptions dry;
  dry.dry_run = true;
  EXPECT_EQ((*wait(async().delete_where({.all = true}, dry))).matched, 12u);
  PropertyChanges changes;
  changes.set.push_back({"Seen", Value(true)});
  EXPECT_EQ((*wait(async().update_where({.filter = "PartitionKey eq '100001'"}, changes))).changed, 4u);
  EXPECT_EQ(wait(async().update_where({.all = true}, {})).code(), Code::kInvalidArgument);

  std::stop_source stop;
  WhereOptions options;
  options.batch_entities_max = 3;
  options.progress = [&stop](const WhereProgress&) { stop.request_stop(); };
  options.stop = stop.get_token();
  const Result<WhereProgress> part = wait(async().delete_where({.all = true}, options));
  ASSERT_EQ(said(part.status()), kFine);
  EXPECT_EQ(part->changed, 3u);
  ASSERT_TRUE(part->continuation) << "the stop ends the change after its batch";
  EXPECT_EQ(wait(async().delete_where({.all = true}, options)).code(), Code::kCancelled) << "stopped before the call";
  WhereOptions rest;
  rest.continuation = *part->continuation;
  EXPECT_EQ((*wait(async().delete_where({.all = true}, rest))).changed, 9u);
  EXPECT_EQ((*table().count(Scan{})).entities, 0u);
}

TEST_F(AsyncTables, AScanIsExplainedAsTheBlockingVerbDoesIt) {
  fill(3, 4);
  IndexDefinition by_v;
  by_v.name = "ByV";
  by_v.components.push_back({"V", false});
  ASSERT_EQ(said(store().create_index(kAccount, "Orders", by_v)), kFine);
  Scan scan;
  scan.filter = "V eq '100003'";
  const Result<ScanPlan> plan = wait(async().explain(scan));
  ASSERT_EQ(said(plan.status()), kFine);
  ASSERT_EQ(plan->indexes.size(), 1u);
  EXPECT_EQ(plan->indexes.front().name, "ByV");
  EXPECT_TRUE(plan->indexes.front().is_taken);
  const Result<ScanPlan> blocking = table().explain(scan);
  ASSERT_EQ(said(blocking.status()), kFine);
  EXPECT_EQ(plan->ranges, blocking->ranges);
  EXPECT_EQ(plan->indexes, blocking->indexes);
  scan.filter = "V eq";
  EXPECT_EQ(said(wait(async().explain(scan))), kInvalidInput);
}

/// Answers at once, and records the threads that asked.
class RuleAtHand final : public AccessRule {
 public:
  Result<Permissions> permitted() const override {
    askers_.insert(std::this_thread::get_id());
    return permissions_;
  }
  bool may_wait() const noexcept override { return false; }

  void permit(Permissions permissions) { permissions_ = permissions; }
  const std::set<std::thread::id>& askers() const { return askers_; }

 private:
  Permissions permissions_ = Permissions::all();
  mutable std::set<std::thread::id> askers_;
};

Task<std::thread::id> asynchronous_thread(const AsyncTable& table) {
  (void)co_await table.get("p", "r");
  co_return std::this_thread::get_id();
}

TEST_F(AsyncTables, ARuleThatNeverWaitsIsAskedAtEveryVerbWhereTheVerbIs) {
  ASSERT_TRUE(table().insert(with_value("p", "r", "x")).ok());
  const auto rule = std::make_shared<RuleAtHand>();
  const AsyncTable ruled(*table().restricted_to({Permissions::all(), {}, rule}));
  const auto verbs = [&ruled]() -> std::vector<Said> {
    EntityGroupTransaction transaction;
    transaction.insert_or_replace(with_value("p", "t", "x"));
    return {said(wait(ruled.get("p", "r"))), said(wait(ruled.get_many({{"p", "r"}}))),
            said(wait(ruled.insert_or_merge(with_value("p", "s", "x")))),
            said(wait(ruled.remove("p", "s", ETag::any()))), said(wait(ruled.execute(std::move(transaction))))};
  };
  EXPECT_EQ(verbs(), std::vector<Said>(5, kFine));
  rule->permit({});
  EXPECT_EQ(verbs(), std::vector<Said>(5, kPermissionMismatch));
  EXPECT_EQ(rule->askers(), std::set<std::thread::id>{wait(asynchronous_thread(async()))});
}

TEST_F(AsyncTables, OfTwoRulesOneThatWaitsIsEnoughToBeAskedWhereThatMayBe) {
  Table rights = bench_.table("Rights");
  ASSERT_TRUE(rights.insert(with_value("rights", "letters", "r")).ok());
  ASSERT_TRUE(table().insert(with_value("p", "r", "x")).ok());
  const Table once = *table().restricted_to({Permissions::all(), {}, std::make_shared<RuleAtHand>()});
  const AsyncTable twice(*once.restricted_to({Permissions::all(), {}, std::make_shared<RuleInTheStore>(rights)}));
  EXPECT_EQ(said(wait(twice.get("p", "r"))), kFine);
  EXPECT_EQ(said(wait(twice.insert(with_value("p", "s", "x")))), kPermissionMismatch);
}

}  // namespace
}  // namespace varve::async_table_test
