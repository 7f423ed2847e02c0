// Goal: a repaired store keeps the rows of a dropped container, or of a dropped table with large values, until its work row
// has removed them (BX-31, BX-32).
// Method: the catalog is given system rows as a repair finds them, and asked about ids.
#include "api/catalog/repaired_catalog.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/catalog/work_rows.h"

namespace varve::repaired_catalog_test {
namespace {

constexpr std::uint32_t kNumber = 7;
constexpr format::TableId kContainer = format::make_table_id(kNumber, 3);
constexpr format::TableId kNameless = format::make_table_id(kNumber, 9);
constexpr format::TableId kPeople = with_large_values(format::make_table_id(kNumber, 5));

class RepairedCatalogOfContainers : public testing::TestWithParam<bool> {
 protected:
  void add(std::string key, std::string value) { rows_.rows.push_back({std::move(key), 5, std::move(value), false}); }
  void take(const std::set<format::TableId>& dropped) {
    std::sort(rows_.rows.begin(), rows_.rows.end(),
              [](const engine::SystemRow& left, const engine::SystemRow& right) { return left.key < right.key; });
    rows_.may_be_incomplete = GetParam();
    rows_.drops_are_known = true;
    rows_.is_dropped = [dropped](format::TableId id) { return dropped.contains(id); };
    catalog_.take_system_rows(rows_);
  }
  bool is_mended(const std::string& key) {
    const Result<std::vector<engine::SystemRow>> mended = catalog_.mended_rows(100);
    EXPECT_TRUE(mended.ok()) << mended.status().to_string();
    return mended.ok() &&
           std::any_of(mended->begin(), mended->end(), [&](const engine::SystemRow& row) { return row.key == key; });
  }

  /// The ids of the account whose rows may name contents.
  std::vector<format::TableId> owners() const {
    const auto all = catalog_.owners_of_contents();
    const auto found = all.find(kNumber);
    return found == all.end() ? std::vector<format::TableId>() : found->second;
  }

  const std::string work_row_ = work_key({WorkKind::kContainer, kContainer, fence_of(kContainer)});
  const std::string table_work_row_ = work_key({WorkKind::kTable, kPeople, table_fence_of(kPeople)});
  engine::SystemRows rows_;
  RepairedCatalog catalog_;
};

TEST_P(RepairedCatalogOfContainers, BX31_RowsOfADroppedContainerStayWithTheirWorkRow) {
  add(account_row_key("shop"), encode_account_row(kNumber));
  add(work_row_, encode_work());
  take({fence_of(kContainer)});
  EXPECT_TRUE(catalog_.keeps(kContainer));
  EXPECT_TRUE(catalog_.keeps(contents_of(kContainer)));
  EXPECT_EQ(catalog_.keeps(kNameless), GetParam());
  EXPECT_TRUE(is_mended(work_row_));
  EXPECT_EQ(catalog_.container_count(), 0U);
  EXPECT_EQ(catalog_.tables().size(), GetParam() ? 1U : 0U) << "the container does not become a table";
}

TEST_P(RepairedCatalogOfContainers, BX31_ARemovedContainerHasNoRows) {
  add(account_row_key("shop"), encode_account_row(kNumber));
  add(work_row_, encode_work());
  take({fence_of(kContainer), kContainer});
  EXPECT_FALSE(catalog_.keeps(kContainer));
}

/// Its drop is lost, and the work row of the drop is not.
TEST_P(RepairedCatalogOfContainers, BX31_AContainerWithTheWorkRowOfItsDropIsDropped) {
  add(account_row_key("shop"), encode_account_row(kNumber));
  add(container_row_key("shop", "photos"), encode_new_container_row(kContainer, {}));
  add(work_row_, encode_work());
  take({});
  EXPECT_TRUE(catalog_.keeps(kContainer));
  EXPECT_FALSE(is_mended(container_row_key("shop", "photos")));
  EXPECT_EQ(catalog_.container_count(), 0U);
}

TEST_P(RepairedCatalogOfContainers, BX08_ContentsOfNoAccountAreLeftOut) {
  add(account_row_key("shop"), encode_account_row(kNumber));
  take({});
  EXPECT_TRUE(catalog_.keeps(contents_of_account(kNumber)));
  EXPECT_EQ(catalog_.keeps(format::make_table_id(kNumber + 1, 2)), GetParam());
  EXPECT_EQ(catalog_.keeps(contents_of_account(kNumber + 1)), GetParam())
      << "a table that lost its row may be a container";
  EXPECT_FALSE(catalog_.keeps(contents_of_account(kNumber + 2)));
  EXPECT_EQ(catalog_.has_nameless_tables(kNumber + 1), GetParam());
  EXPECT_FALSE(catalog_.has_nameless_tables(kNumber));
}

TEST_P(RepairedCatalogOfContainers, BX32_RowsOfADroppedTableStayWithTheirWorkRow) {
  add(account_row_key("shop"), encode_account_row(kNumber));
  add(table_work_row_, encode_work());
  take({table_fence_of(kPeople)});
  EXPECT_TRUE(catalog_.keeps(kPeople));
  EXPECT_TRUE(catalog_.keeps(contents_of(kPeople)));
  EXPECT_EQ(owners(), std::vector<format::TableId>{kPeople}) << "its entities count as owners as long as they stay";
  EXPECT_TRUE(is_mended(table_work_row_));
  EXPECT_TRUE(catalog_.tables().empty()) << "it does not become a table again";
}

TEST_P(RepairedCatalogOfContainers, BX32_ARemovedTableHasNoRows) {
  add(account_row_key("shop"), encode_account_row(kNumber));
  add(table_work_row_, encode_work());
  take({table_fence_of(kPeople), kPeople});
  EXPECT_FALSE(catalog_.keeps(kPeople));
}

TEST_P(RepairedCatalogOfContainers, BX32_ATableWithTheWorkRowOfItsDropIsDropped) {
  add(account_row_key("shop"), encode_account_row(kNumber));
  add(table_row_key("shop", "people"), encode_table_row("People", kPeople));
  add(table_work_row_, encode_work());
  take({});
  EXPECT_TRUE(catalog_.keeps(kPeople));
  EXPECT_FALSE(is_mended(table_row_key("shop", "people")));
  EXPECT_EQ(owners(), std::vector<format::TableId>{kPeople}) << "once";
}

TEST_P(RepairedCatalogOfContainers, BX21_TheEntitiesOfATableThatLostItsNameAreCounted) {
  add(account_row_key("shop"), encode_account_row(kNumber));
  add(container_row_key("shop", "photos"), encode_new_container_row(kContainer, {}));
  take({});
  EXPECT_TRUE(catalog_.keeps(kContainer));
  EXPECT_EQ(catalog_.keeps(kPeople), GetParam());
  std::vector<format::TableId> expected{kContainer};
  if (GetParam()) expected.push_back(kPeople);
  EXPECT_EQ(owners(), expected);
  EXPECT_FALSE(catalog_.has_nameless_tables(kNumber)) << "it is no container";
}

TEST_P(RepairedCatalogOfContainers, BX32_ATableWithoutItsFenceIsNotKept) {
  add(account_row_key("shop"), encode_account_row(kNumber));
  take({table_fence_of(kPeople)});
  EXPECT_FALSE(catalog_.keeps(kPeople));
  EXPECT_TRUE(owners().empty());
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutLostRows, RepairedCatalogOfContainers, testing::Bool());

}  // namespace
}  // namespace varve::repaired_catalog_test
