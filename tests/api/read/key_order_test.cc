// Goal: an order that is the order of the keys, forward or backward, reads the entities of its page and no others. Its pages
// and tokens are those of any other order.
// Method: orders, ranges, filters and sizes of pages, compared with a sort by rules of its own; how many entities each page
// examines; a clock that moves while a page is made.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"
#include "varve/entity_view.h"

namespace varve::test::key_order_test {
namespace {

using Keys = std::vector<std::string>;

constexpr int kRows = 40;

struct Row {
  std::string partition;
  std::string row;
  int n = 0;
};

class KeyOrder : public ::testing::Test {
 protected:
  void SetUp() override {
    table_.emplace(bench_.table());
    for (const std::string partition : {"", "a", "ab", "b"}) {
      EntityGroupTransaction group;
      for (int i = 0; i < kRows; ++i) {
        const Row row{partition, std::to_string(10 + i), i % 5};
        group.insert(Entity(row.partition, row.row).set("N", row.n));
        rows_.push_back(row);
      }
      ASSERT_EQ(said(table_->execute(group)), kFine);
    }
  }

  Page page_of(const Scan& scan) {
    Result<Page> page = table_->scan(scan);
    EXPECT_EQ(said(page), kFine) << page.status().to_string();
    return page.ok() ? *std::move(page) : Page();
  }
  /// Expects that no page examines more than its own entities, and one more, if `is_short`.
  Keys pages_of(Scan scan, bool is_short) {
    Keys keys;
    for (int pages = 0; pages < 1'000; ++pages) {
      const Page page = page_of(scan);
      for (std::string& key : keys_of(page)) keys.push_back(std::move(key));
      if (is_short) {
        // One more says that another page follows.
        EXPECT_LE(page.cost.entities_examined, page.entities.size() + 1) << scan.order_by;
      }
      if (!page.continuation) return keys;
      scan.continuation = *page.continuation;
    }
    ADD_FAILURE() << "the pages do not end";
    return keys;
  }
  /// Returns the keys in this order.
  template <typename Is, typename IsBefore>
  Keys sorted(Is is, IsBefore is_before) const {
    std::vector<Row> found;
    std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(found), is);
    std::stable_sort(found.begin(), found.end(), is_before);
    Keys keys;
    for (const Row& row : found) keys.push_back(row.partition + "/" + row.row);
    return keys;
  }

  StoreBench bench_;
  std::optional<Table> table_;
  std::vector<Row> rows_;  // in the order of keys
};

struct Order {
  std::string_view text;
  bool (*is_before)(const Row&, const Row&);
  bool is_by_key = false;
  bool is_by_key_in_partition = false;
};

const Order kOrders[] = {
    {"RowKey", [](const Row& a, const Row& b) { return a.row < b.row; }, false, true},
    {"RowKey desc", [](const Row& a, const Row& b) { return a.row > b.row; }, false, true},
    {"RowKey desc, N", [](const Row& a, const Row& b) { return a.row > b.row || (a.row == b.row && a.n < b.n); }, false,
     true},
    {"PartitionKey", [](const Row& a, const Row& b) { return a.partition < b.partition; }, true, true},
    {"PartitionKey desc", [](const Row& a, const Row& b) { return a.partition > b.partition; }, false, true},
    {"PartitionKey, RowKey",
     [](const Row& a, const Row& b) { return a.partition != b.partition ? a.partition < b.partition : a.row < b.row; },
     true, true},
    {"PartitionKey desc, RowKey desc",
     [](const Row& a, const Row& b) { return a.partition != b.partition ? a.partition > b.partition : a.row > b.row; },
     true, true},
    {"PartitionKey desc, RowKey",
     [](const Row& a, const Row& b) { return a.partition != b.partition ? a.partition > b.partition : a.row < b.row; },
     false, true},
    {"PartitionKey, RowKey desc",
     [](const Row& a, const Row& b) { return a.partition != b.partition ? a.partition < b.partition : a.row > b.row; },
     false, true},
    {"PartitionKey, N",
     [](const Row& a, const Row& b) { return a.partition != b.partition ? a.partition < b.partition : a.n < b.n; }},
};

TEST_F(KeyOrder, APageReadsItsOwnEntitiesAlone) {
  for (const Order& order : kOrders) {
    for (const std::uint32_t entities_max : {1U, 7U, 40U, 1000U}) {
      Scan scan;
      scan.order_by = order.text;
      scan.page_entities_max = entities_max;
      const auto any = [](const Row&) { return true; };
      EXPECT_EQ(pages_of(scan, order.is_by_key), sorted(any, order.is_before)) << order.text << " " << entities_max;
      const auto in_partition = [](const Row& row) { return row.partition == "ab"; };
      scan.range = ScanRange::partition("ab");
      EXPECT_EQ(pages_of(scan, order.is_by_key_in_partition), sorted(in_partition, order.is_before)) << order.text;
      const auto in_range = [](const Row& row) { return row.partition == "ab" && row.row >= "20" && row.row < "41"; };
      scan.range = ScanRange::rows("ab", "20", "41");
      EXPECT_EQ(pages_of(scan, order.is_by_key_in_partition), sorted(in_range, order.is_before)) << order.text;
      scan.range = ScanRange::whole_table();
      scan.filter = "PartitionKey eq 'ab' and (RowKey lt '15' or RowKey eq '20' or RowKey gt '45')";
      const auto filtered = [](const Row& row) {
        return row.partition == "ab" && (row.row < "15" || row.row == "20" || row.row > "45");
      };
      EXPECT_EQ(pages_of(scan, order.is_by_key_in_partition), sorted(filtered, order.is_before)) << order.text;
      scan.filter = "N eq 3 and PartitionKey ne 'a'";
      const auto judged = [](const Row& row) { return row.n == 3 && row.partition != "a"; };
      EXPECT_EQ(pages_of(scan, false), sorted(judged, order.is_before)) << order.text;
      scan.filter = "PartitionKey eq 'b' and RowKey eq '11' or PartitionKey eq 'a' and RowKey eq '12'";
      const auto is_one = [](const Row& row) {
        return (row.partition == "b" && row.row == "11") || (row.partition == "a" && row.row == "12");
      };
      EXPECT_EQ(pages_of(scan, false), sorted(is_one, order.is_before)) << order.text;
    }
  }
}

TEST_F(KeyOrder, TakeAndBytesEndItsPages) {
  for (const Order& order : kOrders) {
    if (!order.is_by_key_in_partition) continue;
    Scan scan;
    scan.order_by = order.text;
    scan.range = ScanRange::partition("a");
    const Keys all = sorted([](const Row& row) { return row.partition == "a"; }, order.is_before);
    for (const std::uint64_t take : {1U, 10U, 39U, 40U, 41U}) {
      scan.take = take;
      const Keys first(all.begin(), all.begin() + std::min<std::ptrdiff_t>(kRows, static_cast<std::ptrdiff_t>(take)));
      for (const std::uint32_t entities_max : {3U, 10U, 1000U}) {
        scan.page_entities_max = entities_max;
        EXPECT_EQ(pages_of(scan, true), first) << order.text << " " << take << " " << entities_max;
      }
    }
    // The last entity that is wanted ends the page, though a filter could match others.
    scan.take = 8;
    scan.filter = "N eq 3";
    const Page page = page_of(scan);
    EXPECT_EQ(page.entities.size(), 8U);
    EXPECT_FALSE(page.continuation);
    scan.take = 2;
    EXPECT_LE(page_of(scan).cost.entities_examined, 10U) << order.text;
    scan.take.reset();
    scan.filter.clear();
    scan.page_bytes_max = 100;
    EXPECT_EQ(pages_of(scan, true), all) << order.text;
    EXPECT_LT(page_of(scan).entities.size(), 10U);
  }
}

/// The same text orders entities of several partitions, so a token may name an entity of another one.
TEST_F(KeyOrder, ATokenOfAnotherRangeGoesOnBehindItsPlace) {
  for (const std::string_view text : {"RowKey", "RowKey desc"}) {
    Scan scan;
    scan.order_by = text;
    scan.page_entities_max = 22;
    const Page first = page_of(scan);
    ASSERT_TRUE(first.continuation);
    const Entity& last = first.entities.back();
    scan.continuation = *first.continuation;
    scan.page_entities_max = 1000;
    for (const std::string partition : {"", "a", "ab", "b"}) {
      scan.range = ScanRange::partition(partition);
      const bool backward = text != "RowKey";
      const auto is_after = [&](const Row& row) {
        if (row.partition != partition) return false;
        if (row.row == last.row_key()) return row.partition > last.partition_key();
        return backward ? row.row < last.row_key() : row.row > last.row_key();
      };
      const auto is_before = [backward](const Row& a, const Row& b) {
        return backward ? a.row > b.row : a.row < b.row;
      };
      EXPECT_EQ(pages_of(scan, false), sorted(is_after, is_before)) << text << " in " << partition;
    }
  }
}

TEST_F(KeyOrder, APageEndsByItsTimeWithTheEntitiesThatItHas) {
  for (const std::string_view text : {"PartitionKey desc, RowKey desc", "PartitionKey"}) {
    Scan scan;
    scan.order_by = text;
    scan.order_time_max = std::chrono::milliseconds(0);
    const Keys all = keys_of(page_of([&] {
      Scan whole;
      whole.order_by = text;
      return whole;
    }()));
    Keys found;
    int pages = 0;
    for (; pages < 1000; ++pages) {
      const Page page = page_of(scan);
      EXPECT_FALSE(page.entities.empty());
      for (std::string& key : keys_of(page)) found.push_back(std::move(key));
      if (!page.continuation) break;
      scan.continuation = *page.continuation;
    }
    EXPECT_EQ(found, all);
    EXPECT_GT(pages, 2);
  }
}

TEST_F(KeyOrder, IndexesAndDeletedEntitiesChangeNothing) {
  ASSERT_EQ(said(bench_.store->create_index(kAccount, "Orders", {"ByN", {{"N"}}, {}})), kFine);
  for (int i = 0; i < kRows; i += 3) {
    ASSERT_EQ(said(table_->remove("ab", std::to_string(10 + i), ETag::any())), kFine);
  }
  rows_.erase(
      std::remove_if(rows_.begin(), rows_.end(),
                     [](const Row& row) { return row.partition == "ab" && (std::stoi(row.row) - 10) % 3 == 0; }),
      rows_.end());
  for (const Order& order : kOrders) {
    for (const std::uint32_t entities_max : {1U, 4U, 1000U}) {
      Scan scan;
      scan.order_by = order.text;
      scan.page_entities_max = entities_max;
      scan.filter = "N eq 2";
      EXPECT_EQ(pages_of(scan, false), sorted([](const Row& row) { return row.n == 2; }, order.is_before))
          << order.text;
      scan.filter = "N eq 2 and PartitionKey eq 'ab'";
      const auto in_partition = [](const Row& row) { return row.n == 2 && row.partition == "ab"; };
      EXPECT_EQ(pages_of(scan, order.is_by_key_in_partition), sorted(in_partition, order.is_before)) << order.text;
    }
  }
}

}  // namespace
}  // namespace varve::test::key_order_test
