// Goal: a page of views holds what a page of entities holds, in memory of its own, for as long as it exists.
// Method: pages of both kinds of one scan; pages that outlive moves, later writes and their store.
#include "varve/view_page.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/copied_entity.h"
#include "tests/api/store_bench.h"

namespace varve::view_page_test {
namespace {

using namespace test;

std::vector<Entity> copied_all(const EntityViews& views) {
  std::vector<Entity> entities;
  for (const EntityView& view : views.all()) entities.push_back(copied(view));
  return entities;
}

class ViewPages : public ::testing::Test {
 protected:
  void SetUp() override { table_.emplace(bench_.table()); }
  Table& table() { return *table_; }

  void fill(int count) {
    for (int i = 0; i < count; ++i) {
      Entity entity = with_value("p" + std::to_string(i / 10), std::to_string(1'000 + i), std::string(40, 'v'));
      if (i % 3 == 0) entity.set("Bytes", Binary{std::string("\0\xFF", 2)}).set("Empty", "");
      if (i % 4 == 0) entity.set("Number", i);
      ASSERT_EQ(said(table().insert(entity)), kFine);
    }
  }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(ViewPages, AreWholeAfterTheyMovedAndTheirStoreEnded) {
  ASSERT_NO_FATAL_FAILURE(fill(100));
  ASSERT_TRUE(bench_.store->compact().ok());
  const Result<Page> expected = table().scan(Scan{});
  ASSERT_TRUE(expected.ok()) << expected.status().to_string();
  Result<ViewPage> read = scan_views(table(), Scan{});
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  const EntityView* const first = read->entities.all().data();
  std::optional<ViewPage> moved(*std::move(read));
  ViewPage page;
  page = *std::move(moved);
  moved.reset();
  ASSERT_TRUE(bench_.store->close().ok());
  table_.reset();
  bench_.store.reset();
  EXPECT_EQ(page.entities.all().data(), first) << "a move copies nothing";
  EXPECT_EQ(copied_all(page.entities), expected->entities);
}

TEST_F(ViewPages, ShareKeysAndNamesThatRepeat) {
  ASSERT_NO_FATAL_FAILURE(fill(10));
  const Result<ViewPage> page = scan_views(table(), Scan{});
  ASSERT_TRUE(page.ok()) << page.status().to_string();
  const std::span<const EntityView> all = page->entities.all();
  ASSERT_EQ(all.size(), 10U);
  for (const EntityView& entity : all) {
    EXPECT_EQ(entity.partition_key.data(), all[0].partition_key.data());
    EXPECT_EQ(entity.properties[0].name.data(), all[0].properties[0].name.data());
  }
}

TEST_F(ViewPages, HoldEntitiesOfAnySize) {
  std::vector<Entity> entities;
  for (const int bytes : {0, 1, 5'000, 30'000, 9'000}) {
    entities.push_back(
        with_value("p", std::to_string(entities.size()), std::string(static_cast<std::size_t>(bytes), 'v')));
  }
  Entity wide("p", "wide");
  for (int i = 0; i < 250; ++i) wide.add("Property" + std::to_string(i), std::to_string(i));
  entities.push_back(wide);
  entities.emplace_back("p", "without properties");
  for (const Entity& entity : entities) ASSERT_EQ(said(table().insert(entity)), kFine);
  const Result<Page> expected = table().scan(Scan{});
  ASSERT_TRUE(expected.ok()) << expected.status().to_string();
  ASSERT_EQ(expected->entities.size(), entities.size());
  const Result<ViewPage> page = scan_views(table(), Scan{});
  ASSERT_TRUE(page.ok()) << page.status().to_string();
  EXPECT_EQ(copied_all(page->entities), expected->entities);
  EXPECT_GE(page->entities.memory_bytes(), 45'000U);
}

TEST_F(ViewPages, OfNothingHoldNothing) {
  const Result<ViewPage> page = scan_views(table(), Scan{});
  ASSERT_TRUE(page.ok()) << page.status().to_string();
  EXPECT_TRUE(page->entities.all().empty());
  EXPECT_EQ(page->entities.size(), 0U);
  EXPECT_EQ(page->entities.memory_bytes(), 0U);
  EXPECT_FALSE(page->continuation);
}

TEST_F(ViewPages, AreRefusedAsScansAre) {
  ASSERT_NO_FATAL_FAILURE(fill(3));
  Scan unparsed;
  unparsed.filter = "Small gt";
  EXPECT_EQ(said(scan_views(table(), unparsed)), said(table().scan(unparsed)));
  Access adding;
  adding.permissions = *Permissions::parse("a");
  const Result<Table> fenced = table().restricted_to(adding);
  ASSERT_TRUE(fenced.ok()) << fenced.status().to_string();
  EXPECT_EQ(scan_views(*fenced, Scan{}).code(), Code::kForbidden);
}

}  // namespace
}  // namespace varve::view_page_test
