// Goal: a repaired store keeps the rows of a dropped container until its work row has removed them (BX-31).
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

  const std::string work_row_ = work_key({WorkKind::kContainer, kContainer, fence_of(kContainer)});
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

INSTANTIATE_TEST_SUITE_P(WithAndWithoutLostRows, RepairedCatalogOfContainers, testing::Bool());

}  // namespace
}  // namespace varve::repaired_catalog_test
