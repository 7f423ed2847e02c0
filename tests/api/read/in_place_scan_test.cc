// Goal: a scan in place, and a scan of views, show the entities that a scan returns, page by page, and affect no other
// operation.
// Method: all three scans of the same pages; entities of every type and of different properties, in memory, in tables, and
// in both.
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/copied_entity.h"
#include "tests/api/store_bench.h"
#include "varve/limits.h"
#include "varve/view_page.h"

namespace varve::in_place_scan_test {
namespace {

using namespace test;

std::string number(int i) {
  return std::to_string(100'000 + i);
}

class InPlaceScans : public ::testing::Test {
 protected:
  void SetUp() override { table_.emplace(bench_.table()); }
  Table& table() { return *table_; }

  /// Writes entities whose neighbours have different properties, and more or fewer of them.
  void fill(int from, int to) {
    for (int i = from; i < to; ++i) {
      Entity entity = with_value(number(i % 3), number(i), "a text that is longer than a short string " + number(i));
      if (i % 2 == 0) entity.set("Flag", i % 4 == 0).set("Small", i).set("Large", std::int64_t{i} << 40);
      if (i % 5 != 0) entity.set("Real", i / 8.0).set("Bytes", Binary{std::string("\0\xFF", 2)});
      if (i % 3 == 0) entity.set("Id", Guid{{1, 2, 3}}).set("Day", DateTime{limits::kDateTimeTicksMin + 7});
      ASSERT_EQ(said(table().insert(entity)), kFine);
    }
  }

  void expect_the_same_pages(Scan scan) {
    for (bool is_over = false; !is_over;) {
      const Result<Page> expected = table().scan(scan);
      ASSERT_TRUE(expected.ok()) << expected.status().to_string();
      std::vector<Entity> seen;
      const Result<Page> page =
          table().scan_in_place(scan, [&seen](const EntityView& view) { seen.push_back(copied(view)); });
      ASSERT_TRUE(page.ok()) << page.status().to_string();
      EXPECT_EQ(seen, expected->entities);
      EXPECT_TRUE(page->entities.empty());
      EXPECT_EQ(page->continuation, expected->continuation);
      EXPECT_EQ(page->cost.entities_examined, expected->cost.entities_examined);
      const Result<ViewPage> views = scan_views(table(), scan);
      ASSERT_TRUE(views.ok()) << views.status().to_string();
      std::vector<Entity> viewed;
      for (const EntityView& view : views->entities.all()) viewed.push_back(copied(view));
      EXPECT_EQ(viewed, expected->entities);
      EXPECT_EQ(views->continuation, expected->continuation);
      EXPECT_EQ(views->cost.entities_examined, expected->cost.entities_examined);
      is_over = !page->continuation;
      scan.continuation = page->continuation.value_or(std::string());
    }
  }

  void expect_the_same_of_every_kind() {
    Scan scans[5];
    scans[1].filter = "Flag and Small gt 20";
    scans[2].backward = true;
    scans[2].range = ScanRange::partition(number(1));
    scans[3].read.select = {"Bytes", "None", "Value"};
    scans[4].take = 11;
    for (Scan& scan : scans) {
      SCOPED_TRACE(&scan - scans);
      scan.page_entities_max = 7;
      expect_the_same_pages(scan);
    }
  }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(InPlaceScans, ShowWhatScansReturn) {
  ASSERT_NO_FATAL_FAILURE(fill(0, 60));
  expect_the_same_of_every_kind();
  ASSERT_TRUE(bench_.store->compact().ok());
  expect_the_same_of_every_kind();
  ASSERT_NO_FATAL_FAILURE(fill(60, 90));
  expect_the_same_of_every_kind();
}

TEST_F(InPlaceScans, ShowALargePartitionOverManyBlocks) {
  for (int i = 0; i < 2'000; ++i)
    ASSERT_EQ(said(table().insert(with_value("p", number(i), std::string(200, 'v')))), kFine);
  ASSERT_TRUE(bench_.store->compact().ok());
  Scan scan;
  scan.range = ScanRange::partition("p");
  for (const bool backward : {false, true, false}) {  // the last one reads cached blocks
    scan.backward = backward;
    expect_the_same_pages(scan);
  }
}

TEST_F(InPlaceScans, NameTheKeysOfEachEntityThoughOthersBeforeItDoNotMatch) {
  std::vector<std::pair<std::string, std::string>> keys;
  for (const char* const partition : {"partition-1", "partition-2", "partition-3"}) {
    for (int i = 0; i < 40; ++i) keys.emplace_back(partition, "row-" + number(i));
    keys.emplace_back(partition, "row-\xC3\xA9");
    keys.emplace_back(partition, "row-\xC3\xA9-and-more");
    keys.emplace_back(partition, "row-\xEE\x80\x80-and-more");
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Entity entity(keys[i].first, keys[i].second);
    ASSERT_EQ(said(table().insert(entity.set("Number", static_cast<int>(i)))), kFine);
  }
  ASSERT_TRUE(bench_.store->compact().ok());
  for (std::size_t from = 0; from < keys.size(); ++from) {
    for (const std::size_t passed : {1u, 2u, 30u, 43u}) {
      Scan scan;
      scan.filter = "Number eq " + std::to_string(from) + " or Number ge " + std::to_string(from + passed);
      std::vector<std::pair<std::string, std::string>> expected{keys[from]};
      for (std::size_t i = from + passed; i < keys.size(); ++i) expected.push_back(keys[i]);
      std::vector<std::pair<std::string, std::string>> seen;
      const Result<Page> page = table().scan_in_place(
          scan, [&seen](const EntityView& view) { seen.emplace_back(view.partition_key, view.row_key); });
      ASSERT_TRUE(page.ok()) << page.status().to_string();
      ASSERT_EQ(seen, expected) << scan.filter;
    }
  }
}

TEST_F(InPlaceScans, GoOnWhileTheirReaderReadsAndWrites) {
  ASSERT_NO_FATAL_FAILURE(fill(0, 30));
  ASSERT_TRUE(bench_.store->compact().ok());
  int seen = 0;
  const Result<Page> page = table().scan_in_place(Scan{}, [&](const EntityView& view) {
    ++seen;
    const Result<std::optional<Entity>> again = table().get(view.partition_key, view.row_key);
    ASSERT_TRUE(again.ok()) << again.status().to_string();
    ASSERT_TRUE(again->has_value());
    EXPECT_EQ(**again, copied(view));
    Entity entity = copied(view);
    entity.set("Seen", true);
    EXPECT_EQ(said(table().replace(entity, view.etag)), kFine);
  });
  ASSERT_EQ(said(page), kFine);
  EXPECT_EQ(seen, 30);
  Scan changed;
  changed.filter = "Seen";
  EXPECT_EQ((*table().count(changed)).entities, 30u);
}

TEST_F(InPlaceScans, EndWhereTheirReaderFindsNoMemory) {
  ASSERT_NO_FATAL_FAILURE(fill(0, 10));
  int seen = 0;
  const Result<Page> page = table().scan_in_place(Scan{}, [&seen](const EntityView&) {
    if (++seen == 3) throw std::bad_alloc();
  });
  EXPECT_EQ(page.status().code(), Code::kOutOfMemory);
  EXPECT_EQ(seen, 3);
  EXPECT_EQ((*table().count(Scan{})).entities, 10u);
}

TEST_F(InPlaceScans, AreRefusedAsScansAre) {
  ASSERT_NO_FATAL_FAILURE(fill(0, 3));
  const EntityReader nobody = [](const EntityView&) { FAIL() << "nothing was to be shown"; };
  Scan unparsed;
  unparsed.filter = "Small gt";
  EXPECT_EQ(said(table().scan_in_place(unparsed, nobody)), said(table().scan(unparsed)));
  Access adding;
  adding.permissions = *Permissions::parse("a");
  const Result<Table> fenced = table().restricted_to(adding);
  ASSERT_TRUE(fenced.ok()) << fenced.status().to_string();
  EXPECT_EQ(said(fenced->scan_in_place(Scan{}, nobody)), said(fenced->scan(Scan{})));
  EXPECT_EQ(fenced->scan_in_place(Scan{}, nobody).code(), Code::kForbidden);
  ASSERT_TRUE(bench_.store->close().ok());
  EXPECT_EQ(table().scan_in_place(Scan{}, nobody).code(), Code::kClosed);
}

}  // namespace
}  // namespace varve::in_place_scan_test
