// Goal: a page that the entries of an index answer alone is the page that its entities would give (I6): the same values in
// the same order, Timestamps, ETags, borders and tokens.
// Method: each page is read with and without its selection. Without it, the entities themselves are read. The test selects
// from these by itself, and says how many entities the first page may examine. Every way to write is followed by such pages.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/store_bench.h"
#include "varve/aggregate.h"
#include "varve/async.h"
#include "varve/loader.h"
#include "varve/repair.h"
#include "varve/store_transaction.h"
#include "varve/table_index.h"

namespace varve::covered_page_test {
namespace {

using namespace test;

using Names = std::vector<std::string>;

const IndexDefinition kByA{"ByA", {{"A"}, {"Timestamp", true}}, {"B", "C"}};

class CoveredPage : public ::testing::Test {
 protected:
  CoveredPage() : table_(bench_.table()) {}

  Store& store() { return *bench_.store; }
  Table& table() { return table_; }
  void add_index(const IndexDefinition& definition = kByA) {
    ASSERT_EQ(said(store().create_index(kAccount, "Orders", definition)), kFine);
  }
  static Entity entity(std::string_view row, const Value& a, std::string_view partition = "p") {
    Entity made{std::string(partition), std::string(row)};
    made.set("D", "is in no entry");
    made.set("C", std::string(row) + "-c");
    made.set("A", a);
    made.set("B", std::int32_t{7});
    return made;
  }
  void put(const Entity& entity) { ASSERT_EQ(said(table_.insert_or_replace(entity)), kFine); }
  void fill(int rows) {
    for (int i = 0; i < rows; ++i) put(entity("r" + std::to_string(10 + i), std::int32_t{1}));
  }
  static Scan scan_of(std::string_view filter, Names select = {"C", "A", "B"}) {
    Scan scan;
    scan.filter = filter;
    scan.read.select = std::move(select);
    return scan;
  }

  /// Returns the entity with its selected properties, in the order of the selection; with all if none is selected.
  static Entity selected(const Entity& entity, const Names& select) {
    if (select.empty()) return entity;
    Entity made(entity.partition_key(), entity.row_key());
    for (auto name = select.begin(); name != select.end(); ++name) {
      if (std::find(select.begin(), name, *name) != name) continue;
      if (const Value* const value = entity.find(*name)) made.add(*name, *value);
    }
    made.set_etag(entity.etag());
    return made;
  }
  /// Compares all pages of a scan with those that read whole entities. Returns how many entities they examined.
  static std::uint64_t examined(const Table& table, Scan scan) {
    std::uint64_t examined = 0;
    for (int pages = 0; pages < 1000; ++pages) {
      Scan whole = scan;
      whole.read.select.clear();
      const Result<Page> page = table.scan(scan);
      const Result<Page> expected = table.scan(whole);
      EXPECT_EQ(said(page), kFine) << page.status().to_string();
      EXPECT_EQ(said(expected), kFine);
      if (!page.ok() || !expected.ok()) return examined;
      EXPECT_EQ(page->continuation, expected->continuation) << scan.filter;
      EXPECT_EQ(page->entities.size(), expected->entities.size()) << scan.filter;
      for (std::size_t i = 0; i < std::min(page->entities.size(), expected->entities.size()); ++i) {
        const Entity wanted = selected(expected->entities[i], scan.read.select);
        EXPECT_TRUE(page->entities[i] == wanted || has_nan(wanted)) << scan.filter << ": " << wanted.row_key();
        EXPECT_EQ(page->entities[i].etag(), wanted.etag()) << wanted.row_key();
        EXPECT_EQ(page->entities[i].timestamp(), wanted.timestamp()) << wanted.row_key();
      }
      examined += page->cost.entities_examined;
      if (!page->continuation) return examined;
      scan.continuation = *page->continuation;
    }
    ADD_FAILURE() << "the pages do not end";
    return examined;
  }
  std::uint64_t examined(const Scan& scan) { return examined(table_, scan); }
  bool answers_pages(const Scan& scan) {
    const Result<ScanPlan> plan = table_.explain(scan);
    EXPECT_EQ(said(plan), kFine);
    if (!plan.ok() || plan->indexes.empty()) return false;
    return plan->indexes.front().is_taken && plan->indexes.front().answers_pages;
  }
  static std::size_t found(const Table& table, const Scan& scan) { return (*table.scan(scan)).entities.size(); }

  StoreBench bench_;

 private:
  static bool has_nan(const Entity& entity) {
    return std::any_of(entity.properties().begin(), entity.properties().end(), [](const Property& property) {
      const double* const number = property.value.get_if<double>();
      return number != nullptr && std::isnan(*number);
    });
  }

  Table table_;
};

TEST_F(CoveredPage, I6_ReadsNoEntityAndGivesTheSame) {
  add_index();
  fill(9);
  put(entity("other", std::int32_t{2}));
  Entity less("p", "less");
  less.set("A", std::int32_t{1});
  put(less);
  put(entity("r12", std::int32_t{1}, "q"));
  Scan scan = scan_of("A eq 1");
  EXPECT_TRUE(answers_pages(scan));
  EXPECT_EQ(found(table(), scan), 11U);
  EXPECT_EQ(examined(scan), 0U);
  EXPECT_EQ(examined(scan_of("A eq 1 and RowKey ge 'r13' and not (B eq 8)", {"B", "B", "RowKey", "Timestamp"})), 0U);
  EXPECT_EQ(examined(scan_of("A ge 1 and C ne 'r12-c'", {"PartitionKey"})), 0U);
  for (const bool backward : {false, true}) {
    scan.backward = backward;
    for (const std::uint32_t entities_max : {1U, 2U, 5U, 11U}) {
      scan.page_entities_max = entities_max;
      scan.take.reset();
      EXPECT_EQ(examined(scan), 0U) << "pages of " << entities_max;
      scan.take = 7;
      EXPECT_EQ(examined(scan), 0U) << "pages of " << entities_max;
    }
  }
  scan.range = ScanRange::rows("p", "r11", "r14");
  EXPECT_EQ(examined(scan), 0U);
}

TEST_F(CoveredPage, ReadsNoBlockOfTheTable) {
  add_index();
  for (int i = 0; i < 60; ++i) {
    Entity made = entity("r" + std::to_string(100 + i), std::int32_t{i / 30});
    made.set("D", std::string(20'000, static_cast<char>('a' + i % 26)));
    put(made);
  }
  ASSERT_EQ(said(store().compact()), kFine);
  const auto blocks = [&](const Scan& scan) {
    const Page page = *table().scan(scan);
    return page.cost.blocks_read + page.cost.blocks_from_cache;
  };
  const Scan scan = scan_of("A eq 1");
  EXPECT_LT(blocks(scan), 12U);
  EXPECT_GT(blocks(scan_of("A eq 1", {})), 30U) << "an entity takes a block";
}

TEST_F(CoveredPage, ReadsEntitiesIfTheEntriesLackWhatItGives) {
  add_index();
  fill(4);
  for (const Scan& scan :
       {scan_of("A eq 1", {}), scan_of("A eq 1", {"A", "D"}), scan_of("A eq 1 and D ne 'x'", {"A"})}) {
    EXPECT_FALSE(answers_pages(scan));
    EXPECT_EQ(examined(scan), 4U);
  }
  Scan ordered = scan_of("A eq 1");
  ordered.page_entities_max = 1000;
  ordered.order_by = "C desc";
  EXPECT_FALSE(answers_pages(ordered));
  EXPECT_EQ(examined(ordered), 4U);
  ASSERT_EQ(said(store().drop_index(kAccount, "Orders", "ByA")), kFine);
  add_index({"NoTime", {{"A"}}, {"B", "C"}});
  EXPECT_FALSE(answers_pages(scan_of("A eq 1")));
  EXPECT_EQ(examined(scan_of("A eq 1")), 4U) << "such an entry may be older than its entity";
}

TEST_F(CoveredPage, OfTwoIndexesThatBoundTheFilterAlikeTheOneThatAnswersAloneIsTaken) {
  add_index({"First", {{"A"}}});
  add_index();
  add_index({"Last", {{"A", true}, {"Timestamp"}}});
  fill(3);
  EXPECT_EQ(examined(scan_of("A eq 1")), 0U);
  const ScanPlan plan = *table().explain(scan_of("A eq 1"));
  ASSERT_EQ(plan.indexes.size(), 3U);
  EXPECT_TRUE(plan.indexes[0].name == "ByA" && plan.indexes[0].is_taken && plan.indexes[0].answers_pages);
  EXPECT_FALSE(plan.indexes[1].answers_pages || plan.indexes[2].answers_pages);
  const ScanPlan whole = *table().explain(scan_of("A eq 1", {}));
  EXPECT_TRUE(whole.indexes[0].name == "First" && whole.indexes[0].is_taken && whole.indexes[0].answers_counts);
}

TEST_F(CoveredPage, OfATableWithLargeValuesReadsItsEntities) {
  Table docs = *store().create_table(kAccount, "Docs", {.has_large_values = true});
  ASSERT_EQ(said(store().create_index(kAccount, "Docs", kByA)), kFine);
  ASSERT_EQ(said(docs.insert(entity("r", std::int32_t{1}))), kFine);
  EXPECT_EQ(examined(docs, scan_of("A eq 1")), 1U);
}

TEST_F(CoveredPage, ReadsTheOneEntityWhoseComponentIsNotItsValue) {
  add_index();
  const double other_nan = std::bit_cast<double>(std::uint64_t{0xFFF8'0000'0000'0123});
  put(entity("a", std::string(256, 'k')));
  put(entity("b", std::string(257, 'k')));
  put(entity("c", std::string(256, 'k') + "x"));
  put(entity("d", Binary{std::string(300, 'k')}));
  put(entity("e", -0.0));
  put(entity("f", 0.0));
  put(entity("g", other_nan));
  put(entity("h", 1.5));
  EXPECT_EQ(examined(scan_of("A ge '" + std::string(256, 'k') + "'")), 2U);
  EXPECT_EQ(examined(scan_of("A ge X'00'")), 1U);
  EXPECT_EQ(examined(scan_of("A eq 0.0")), 2U);
  EXPECT_EQ(examined(scan_of("A ge -1.0 and A le 2.0")), 2U);
  EXPECT_EQ(examined(scan_of("A eq 0.0", {"C"})), 2U) << "the filter judges the entity";
  add_index({"ByB", {{"B"}, {"A", true}, {"Timestamp"}}});
  const Scan all = scan_of("B eq 7 and exists(A)", {"A"});
  EXPECT_EQ(examined(all), 6U);
  const auto bits = [](const Entity& of) { return std::bit_cast<std::uint64_t>(*of.find("A")->get_if<double>()); };
  const Page page = *table().scan(all);
  ASSERT_EQ(page.entities.size(), 8U);
  for (std::size_t i = 4; i < 8; ++i) {
    const Entity stored = **table().get("p", page.entities[i].row_key());
    EXPECT_EQ(bits(page.entities[i]), bits(stored)) << stored.row_key();
  }
  ASSERT_EQ(said(store().drop_index(kAccount, "Orders", "ByA")), kFine);
  add_index({"ByA", {{"A", true}, {"Timestamp"}}, {"A", "C", "B"}});
  EXPECT_EQ(examined(scan_of("A ge '" + std::string(256, 'k') + "'")), 0U) << "the entry carries the text too";
  EXPECT_EQ(examined(scan_of("A eq 0.0")), 0U);
}

TEST_F(CoveredPage, TheTimestampServesFiltersInAnyPlaceAndDirection) {
  fill(6);
  const DateTime third = (**table().get("p", "r12")).timestamp();
  const std::string time = "datetime'" + third.to_string() + "'";
  const std::vector<IndexDefinition> definitions = {{"T", {{"Timestamp"}}, {"A", "B", "C"}},
                                                    {"T", {{"Timestamp", true}}, {"A", "B", "C"}},
                                                    {"T", {{"A", true}, {"Timestamp"}}, {"B", "C"}},
                                                    {"T", {{"A"}, {"C"}, {"Timestamp", true}, {"B", true}}, {}}};
  for (const IndexDefinition& definition : definitions) {
    add_index(definition);
    for (const char* const compared : {"eq", "ge", "gt", "le", "lt"}) {
      const Scan scan =
          scan_of("Timestamp " + std::string(compared) + " " + time + " and A eq 1 and C ge '' and B ge 0");
      EXPECT_EQ(examined(scan), 0U) << compared;
      const Result<Count> count = table().count(scan);
      ASSERT_EQ(said(count), kFine);
      EXPECT_EQ(count->entities, found(table(), scan)) << compared;
      EXPECT_EQ(count->cost.entities_examined, 0U) << "a count judges the Timestamp too";
    }
    EXPECT_EQ(found(table(), scan_of("A eq 1 and C ge '' and B ge 0 and Timestamp gt " + time)), 3U);
    Aggregation latest = *Aggregation::create({Aggregate::max("Timestamp")});
    const Result<Count> counted =
        table().aggregate(scan_of("Timestamp le " + time + " and A eq 1 and C ge '' and B ge 0"), latest);
    ASSERT_EQ(said(counted), kFine);
    EXPECT_EQ(counted->cost.entities_examined, 0U);
    EXPECT_EQ((*latest.rows()).front().figures.front(), std::optional<Value>(third));
    ASSERT_EQ(said(store().drop_index(kAccount, "Orders", "T")), kFine);
  }
}

TEST_F(CoveredPage, AWriteThatChangesNothingInTheEntryStillMovesItsTimestamp) {
  add_index();
  fill(5);
  Entity more("p", "r10");
  more.set("D", "other");
  ASSERT_EQ(said(table().merge(more, ETag::any())), kFine);
  EXPECT_EQ(examined(scan_of("A eq 1")), 0U);
  ASSERT_EQ(said(table().insert_or_merge(Entity("p", "r11"))), kFine);
  EXPECT_EQ(examined(scan_of("A eq 1")), 0U);
  ASSERT_EQ(said(table().insert_or_replace(entity("r12", std::int32_t{1}))), kFine);
  EXPECT_EQ(examined(scan_of("A eq 1")), 0U);
  ASSERT_EQ(said(table().patch(Patch("p", "r13").remove("D"), ETag::any())), kFine);
  EXPECT_EQ(examined(scan_of("A eq 1")), 0U);
  const Page page = *table().scan(scan_of("A eq 1", {"A"}));
  for (const Entity& each : page.entities) {
    EXPECT_EQ(said(table().remove("p", each.row_key(), each.etag())), kFine) << "the ETag is that of the entity";
  }
  EXPECT_EQ(found(table(), scan_of("A eq 1")), 0U);
}

TEST_F(CoveredPage, E1_AnEndedEntityIsInNone) {
  Table sessions =
      *store().create_table(kAccount, "Sessions", {.expiry = TableExpiry::after(std::chrono::seconds(10))});
  ASSERT_EQ(said(store().create_index(kAccount, "Sessions", kByA)), kFine);
  ASSERT_EQ(said(sessions.insert(entity("old", std::int32_t{1}))), kFine);
  bench_.machine.clock.advance(std::chrono::seconds(6));
  ASSERT_EQ(said(sessions.insert(entity("new", std::int32_t{1}))), kFine);
  const Scan scan = scan_of("A eq 1");
  EXPECT_EQ(found(sessions, scan), 2U);
  EXPECT_EQ(examined(sessions, scan), 0U);
  const Result<Snapshot> before = store().snapshot();
  ASSERT_TRUE(before.ok());
  bench_.machine.clock.advance(std::chrono::seconds(6));
  EXPECT_EQ(found(sessions, scan), 1U);
  EXPECT_EQ(examined(sessions, scan), 0U);
  Scan then = scan;
  then.read.snapshot = *before;
  EXPECT_EQ(found(sessions, then), 2U);
  EXPECT_EQ(examined(sessions, then), 0U);
  ASSERT_EQ(said(store().compact()), kFine);
  EXPECT_EQ(examined(sessions, scan), 0U);
  ASSERT_EQ(said(sessions.insert(entity("old", std::int32_t{1}))), kFine);
  EXPECT_EQ(found(sessions, scan), 2U);
  EXPECT_EQ(examined(sessions, scan), 0U);
}

TEST_F(CoveredPage, ASnapshotShowsItsOwnTimestamps) {
  add_index();
  fill(4);
  const Result<Snapshot> snapshot = store().snapshot();
  ASSERT_TRUE(snapshot.ok());
  Scan then = scan_of("A eq 1");
  then.read.snapshot = *snapshot;
  const std::vector<Entity> before = (*table().scan(then)).entities;
  ASSERT_EQ(said(table().remove("p", "r10", ETag::any())), kFine);
  put(entity("r11", std::int32_t{1}));
  put(entity("r12", std::int32_t{2}));
  put(entity("r15", std::int32_t{1}));
  EXPECT_EQ((*table().scan(then)).entities, before);
  EXPECT_EQ(examined(then), 0U);
  EXPECT_EQ(examined(scan_of("A eq 1")), 0U);
}

TEST_F(CoveredPage, I6_EndsByTheBytesOfTheSelectionWhereverItComesFrom) {
  fill(12);
  put(entity("zero", -0.0));
  std::vector<std::vector<std::pair<Names, std::optional<std::string>>>> expected;
  const auto pages = [&](Scan scan) {
    std::vector<std::pair<Names, std::optional<std::string>>> made;
    for (;;) {
      const Page page = *table().scan(scan);
      made.emplace_back(keys_of(page), page.continuation);
      if (!page.continuation) return made;
      scan.continuation = *page.continuation;
    }
  };
  std::vector<Scan> scans;
  for (const bool backward : {false, true}) {
    for (const std::uint64_t bytes : {0U, 1U, 100U, 250U, 1000U}) {
      for (const Names& select : {Names{"A"}, Names{"C", "None", "B", "C"}, Names{"Timestamp"}}) {
        scans.push_back(scan_of("A ge 0", select));
        scans.back().page_bytes_max = bytes;
        scans.back().backward = backward;
        expected.push_back(pages(scans.back()));
      }
    }
  }
  add_index();
  for (std::size_t i = 0; i < scans.size(); ++i) {
    EXPECT_EQ(pages(scans[i]), expected[i]) << scans[i].page_bytes_max << " bytes of " << scans[i].read.select.front();
  }
  EXPECT_GT(expected[2 * 3].size(), 2U);
  EXPECT_LT(expected[2 * 3].size(), 13U);
}

TEST_F(CoveredPage, EveryKindOfReaderGetsTheSame) {
  add_index();
  fill(5);
  const Scan scan = scan_of("A eq 1");
  const std::vector<Entity> expected = (*table().scan(scan)).entities;
  const AsyncTable async(table());
  const Result<Page> page = wait(async.scan(scan));
  ASSERT_EQ(said(page), kFine);
  EXPECT_EQ(page->entities, expected);
  EXPECT_EQ(page->cost.entities_examined, 0U);
  std::vector<std::string> viewed;
  const Result<Page> in_place = table().scan_in_place(scan, [&](const EntityView& view) {
    viewed.push_back(std::string(view.row_key) + " " + view.etag.to_string());
    for (const PropertyView& property : view.properties) viewed.back() += " " + std::string(property.name);
  });
  ASSERT_EQ(said(in_place), kFine);
  EXPECT_EQ(in_place->cost.entities_examined, 0U);
  ASSERT_EQ(viewed.size(), expected.size());
  for (std::size_t i = 0; i < viewed.size(); ++i) {
    EXPECT_EQ(viewed[i], expected[i].row_key() + " " + expected[i].etag().to_string() + " C A B");
  }
  Result<StoreTransaction> begun = store().begin_transaction();
  ASSERT_TRUE(begun.ok());
  Scan checked = scan;
  checked.range = ScanRange::partition("p");
  const Result<Page> of_transaction = begun->scan_checked(table(), checked);
  ASSERT_EQ(said(of_transaction), kFine);
  EXPECT_EQ(of_transaction->entities, expected);
  put(entity("r99", std::int32_t{1}));
  begun->insert(table(), Entity("p", "more"));
  EXPECT_EQ(begun->commit().code(), Code::kConflict) << "an entity came that the page would have";
  const auto removed = table().delete_where({.filter = "A eq 1"});
  ASSERT_EQ(said(removed), kFine);
  EXPECT_EQ(removed->changed, 6U);
  EXPECT_EQ(found(table(), scan), 0U);
}

TEST_F(CoveredPage, I1_EveryWriterGivesItsEntryTheTimestampOfTheEntity) {
  fill(3);  // before the index: its build reads them
  add_index();
  EXPECT_EQ(examined(scan_of("A eq 1")), 0U) << "build";
  Result<StoreTransaction> begun = store().begin_transaction();
  ASSERT_TRUE(begun.ok());
  begun->insert(table(), entity("s1", std::int32_t{1}, "s"));
  begun->replace(table(), entity("r10", std::int32_t{1}), ETag::any());
  begun->patch(table(), Patch("p", "r11").set("B", std::int32_t{9}), ETag::any());
  ASSERT_TRUE(begun->commit().ok());
  EXPECT_EQ(examined(scan_of("A eq 1")), 0U) << "store transaction";
  const std::vector<WriteOperation> group = {
      {WriteOperation::Kind::kInsert, entity("g1", std::int32_t{1}), ETag()},
      {WriteOperation::Kind::kInsertOrReplace, entity("g2", std::int32_t{1}), ETag()},
      {WriteOperation::Kind::kMerge, Entity("p", "r12"), ETag::any()}};
  ASSERT_TRUE(table().execute(group).ok());
  EXPECT_EQ(examined(scan_of("A eq 1")), 0U) << "group";
  ASSERT_EQ(said(table().update_where({.filter = "A eq 1"}, {.set = {{"D", "by a filter"}}})), kFine);
  ASSERT_EQ(said(table().update_where({.filter = "A eq 1"}, {.remove = {"D"}})), kFine);
  EXPECT_EQ(examined(scan_of("A eq 1")), 0U) << "change by a filter";
  bench_.open();  // The log is replayed.
  Table reopened = *store().open_table(kAccount, "Orders");
  EXPECT_EQ(examined(reopened, scan_of("A eq 1")), 0U) << "replay";
  ASSERT_EQ(said(store().compact()), kFine);
  EXPECT_EQ(examined(reopened, scan_of("A eq 1")), 0U) << "compaction";
  EXPECT_EQ(found(reopened, scan_of("A eq 1")), 6U);

  ASSERT_TRUE(store().checkpoint("/copied").ok());
  bench_.store.reset();
  const Result<RepairReport> repaired = Store::repair(kStorePath, "/repaired", bench_.options());
  ASSERT_TRUE(repaired.ok()) << repaired.status().to_string();
  for (const char* const path : {"/copied", "/repaired"}) {
    Result<std::unique_ptr<Store>> opened = Store::open(path, bench_.options());
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    const Table copy = *(*opened)->open_table(kAccount, "Orders");
    EXPECT_EQ(examined(copy, scan_of("A eq 1")), 0U) << path;
    EXPECT_EQ(found(copy, scan_of("A eq 1")), 6U) << path;
  }
}

TEST_F(CoveredPage, I8_ALoadGivesEntriesTheTimestampsOfTheLoadedEntities) {
  add_index();
  Result<Loader> loader = store().load_table(kAccount, "Orders");
  ASSERT_EQ(said(loader), kFine) << loader.status().to_string();
  for (const char* const row : {"c", "a", "d", "b"}) {
    ASSERT_EQ(said(loader->add(entity(row, std::int32_t{1}))), kFine);
  }
  ASSERT_EQ(said(loader->finish()), kFine);
  Table loaded = *store().open_table(kAccount, "Orders");
  EXPECT_EQ(found(loaded, scan_of("A eq 1")), 4U);
  EXPECT_EQ(examined(loaded, scan_of("A eq 1")), 0U);
  ASSERT_EQ(said(loaded.merge(Entity("p", "a"), ETag::any())), kFine);
  EXPECT_EQ(examined(loaded, scan_of("A eq 1")), 0U);
}

}  // namespace
}  // namespace varve::covered_page_test
