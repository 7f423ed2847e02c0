#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "api/model/continuation_token.h"
#include "format/keys/sort_key.h"
#include "tests/api/store_bench.h"

namespace varve::scan_test {
namespace {

using namespace test;

using Keys = std::vector<std::string>;

class Scans : public ::testing::Test {
 protected:
  void SetUp() override { table_.emplace(bench_.table()); }

  Table& table() { return *table_; }
  void insert(std::string_view partition, std::string_view row) {
    ASSERT_TRUE(table().insert(with_value(partition, row, "x")).ok());
  }
  static Scan over(ScanRange range) {
    Scan scan;
    scan.range = std::move(range);
    return scan;
  }
  Keys page(const Scan& scan) {
    const Result<Page> result = table().scan(scan);
    EXPECT_TRUE(result.ok()) << result.status().to_string();
    return result.ok() ? keys_of(*result) : Keys{"failed"};
  }
  Keys all(ScanRange range) { return page(over(std::move(range))); }
  /// Returns every page separately, to the end.
  std::vector<Keys> pages(Scan scan) {
    std::vector<Keys> all_pages;
    for (;;) {
      const Result<Page> result = table().scan(scan);
      EXPECT_TRUE(result.ok()) << result.status().to_string();
      if (!result.ok()) return all_pages;
      all_pages.push_back(keys_of(*result));
      if (!result->continuation) return all_pages;
      scan.continuation = *result->continuation;
    }
  }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(Scans, Q40_AscendByPartitionKeyThenRowKeyOrdinal) {
  for (const auto& [partition, row] : {std::pair("p-2", "a"), std::pair("p-10", "b"), std::pair("p-10", "B"),
                                       std::pair("p", ""), std::pair("", "z"), std::pair("p", "a")}) {
    insert(partition, row);
  }
  EXPECT_EQ(all(ScanRange::whole_table()), (Keys{"/z", "p/", "p/a", "p-10/B", "p-10/b", "p-2/a"}));
}

TEST_F(Scans, Q40_CharactersBeyondTheBasicPlaneSortByCodeUnit) {
  const std::string private_use = "\xEF\xBF\xBD";        // U+FFFD
  const std::string supplementary = "\xF0\x9F\x98\x80";  // D83D DE00 in UTF-16, so below U+FFFD
  insert("p", private_use);
  insert("p", supplementary);
  EXPECT_EQ(all(ScanRange::whole_table()), (Keys{"p/" + supplementary, "p/" + private_use}));
}

TEST_F(Scans, Q31_EachRangeHoldsExactlyWhatItNames) {
  for (const std::string_view partition : {"a", "b", "ba", "c"}) {
    for (const std::string_view row : {"", "1", "10", "11", "2"}) insert(partition, row);
  }
  EXPECT_EQ(all(ScanRange::whole_table()).size(), 20u);
  EXPECT_EQ(all(ScanRange::partition("b")), (Keys{"b/", "b/1", "b/10", "b/11", "b/2"}));
  EXPECT_EQ(all(ScanRange::partition("")), Keys{});
  EXPECT_EQ(all(ScanRange::rows("b", "1", "11")), (Keys{"b/1", "b/10"}));
  EXPECT_EQ(all(ScanRange::rows("b", "10")), (Keys{"b/10", "b/11", "b/2"}));
  EXPECT_EQ(all(ScanRange::rows("b", "")), (Keys{"b/", "b/1", "b/10", "b/11", "b/2"}));
  EXPECT_EQ(all(ScanRange::rows("b", "", "")), Keys{});
  EXPECT_EQ(all(ScanRange::rows("b", "2", "1")), Keys{});
  EXPECT_EQ(all(ScanRange::rows("b", "1", "1")), Keys{});
  EXPECT_EQ(all(ScanRange::rows_with_prefix("b", "1")), (Keys{"b/1", "b/10", "b/11"}));
  EXPECT_EQ(all(ScanRange::rows_with_prefix("b", "")).size(), 5u);
  EXPECT_EQ(all(ScanRange::rows_with_prefix("b", "3")), Keys{});
  EXPECT_EQ(all(ScanRange::partitions("b")).size(), 15u);
  EXPECT_EQ(all(ScanRange::partitions("b", "ba")), (Keys{"b/", "b/1", "b/10", "b/11", "b/2"}));
  EXPECT_EQ(all(ScanRange::partitions("", "a")), Keys{});
  EXPECT_EQ(all(ScanRange::partitions("c", "b")), Keys{});
  EXPECT_EQ(all(ScanRange::partitions("d")), Keys{});
}

TEST_F(Scans, Q31_BoundsNeedNotBeLegalKeys) {
  insert("p", "a");
  insert("p", "b");
  EXPECT_EQ(all(ScanRange::rows("p", "a/", "b#")), Keys{"p/b"});
  EXPECT_EQ(all(ScanRange::rows("p", std::string("\0", 1), std::string(5000, 'z'))), (Keys{"p/a", "p/b"}));
  EXPECT_EQ(said(table().scan(over(ScanRange::rows("p", "\xFF")))), kInvalidInput);
  EXPECT_EQ(said(table().scan(over(ScanRange::rows("p", "a", "\xFF")))), kInvalidInput);
  EXPECT_EQ(said(table().scan(over(ScanRange::rows_with_prefix("p", "\xC3")))), kInvalidInput);
  EXPECT_EQ(said(table().scan(over(ScanRange::partition("\xFF")))), kInvalidInput);
  EXPECT_EQ(said(table().scan(over(ScanRange::partitions("\xFF")))), kInvalidInput);
}

TEST_F(Scans, AScanNeverLeavesItsTable) {
  Table before = bench_.table("Aaaa");
  Table after = bench_.table("Zzzz");
  ASSERT_TRUE(before.insert(with_value("p", "r", "x")).ok());
  ASSERT_TRUE(after.insert(with_value("p", "r", "x")).ok());
  insert("p", "mine");
  EXPECT_EQ(all(ScanRange::whole_table()), Keys{"p/mine"});
  EXPECT_EQ(all(ScanRange::partitions("")), Keys{"p/mine"});
}

TEST_F(Scans, Q44_PagesOfEverySizeTogetherAreTheWhole) {
  Keys expected;
  for (int i = 0; i < 12; ++i) {
    insert("p" + std::to_string(i / 5), std::to_string(10 + i));
    expected.push_back("p" + std::to_string(i / 5) + "/" + std::to_string(10 + i));
  }
  for (std::uint32_t size = 1; size <= 13; ++size) {
    SCOPED_TRACE(size);
    Scan scan;
    scan.page_entities_max = size;
    const std::vector<Keys> found = pages(scan);
    EXPECT_EQ(found.size(), (12 + size - 1) / size);  // without an empty page at the end: Q45
    Keys joined;
    for (const Keys& each : found) {
      EXPECT_LE(each.size(), size);
      joined.insert(joined.end(), each.begin(), each.end());
    }
    EXPECT_EQ(joined, expected);
  }
}

TEST_F(Scans, Q41_APageHoldsAtMostAThousandEntities) {
  for (int i = 0; i < 11; ++i) {
    EntityGroupTransaction transaction;
    for (int j = 0; j < 91; ++j) transaction.insert(Entity("p", std::to_string(1000 + i * 91 + j)));
    ASSERT_TRUE(table().execute(transaction).ok());
  }
  Scan scan;
  EXPECT_EQ(pages(scan).front().size(), 1000u);
  EXPECT_EQ(pages(scan).size(), 2u);
  scan.page_entities_max = 1000;
  EXPECT_EQ(said(table().scan(scan)), kFine);
  scan.page_entities_max = 1001;
  EXPECT_EQ(said(table().scan(scan)), kInvalidInput);
}

TEST_F(Scans, Q44_APageOfNoneIsEmptyAndEndsTheScan) {
  insert("p", "a");
  Scan scan;
  scan.page_entities_max = 0;
  const Result<Page> result = table().scan(scan);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->entities.empty());
  EXPECT_FALSE(result->continuation.has_value());
}

TEST_F(Scans, Q41_APageEndsByItsTimeButHoldsAtLeastOneEntity) {
  for (int i = 0; i < 5; ++i) insert("p", std::to_string(i));
  Scan scan;
  scan.page_time_max = std::chrono::milliseconds(0);
  const std::vector<Keys> found = pages(scan);
  ASSERT_EQ(found.size(), 5u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(found[static_cast<std::size_t>(i)], Keys{"p/" + std::to_string(i)});
  scan.page_time_max = std::chrono::milliseconds(1);  // This clock does not advance.
  EXPECT_EQ(pages(scan).size(), 1u);
  scan.page_time_max = limits::kPageTimeMax;
  EXPECT_EQ(said(table().scan(scan)), kFine);
  scan.page_time_max = limits::kPageTimeMax + std::chrono::milliseconds(1);
  EXPECT_EQ(said(table().scan(scan)), kInvalidInput);
  scan.page_time_max = std::chrono::milliseconds(-1);
  EXPECT_EQ(said(table().scan(scan)), kInvalidInput);
}

TEST_F(Scans, Q43_ATokenNamesTheNextEntityAndSurvivesItsDeletionAndAReopen) {
  for (const std::string_view row : {"a", "b", "c", "d"}) insert("p", row);
  Scan scan;
  scan.page_entities_max = 2;
  const Result<Page> first = table().scan(scan);
  ASSERT_TRUE(first.ok() && first->continuation);
  EXPECT_EQ((*decode_scan_token(*first->continuation)).row_key, "c");
  scan.continuation = *first->continuation;
  EXPECT_EQ(page(scan), (Keys{"p/c", "p/d"}));
  ASSERT_TRUE(table().remove("p", "c", ETag::any()).ok());
  EXPECT_EQ(page(scan), Keys{"p/d"});
  ASSERT_TRUE(table().remove("p", "d", ETag::any()).ok());
  EXPECT_EQ(page(scan), Keys{});
  table_.reset();
  bench_.open();
  table_.emplace(*bench_.store->open_table(kAccount, "Orders"));
  insert("p", "bb");
  insert("p", "cc");
  EXPECT_EQ(page(scan), Keys{"p/cc"});
}

TEST_F(Scans, Q43_AStoreFullOfEmptyAndUnusualKeysIsPagedExactly) {
  Keys expected;
  for (const std::string_view partition : {"", " ", "\xC3\xA9", "\xF0\x9F\x98\x80"}) {
    for (const std::string_view row : {"", "!", "~", "\xE2\x82\xAC"}) {
      insert(partition, row);
      expected.push_back(std::string(partition) + "/" + std::string(row));
    }
  }
  Scan scan;
  scan.page_entities_max = 1;
  Keys joined;
  for (const Keys& each : pages(scan)) joined.insert(joined.end(), each.begin(), each.end());
  EXPECT_EQ(joined, expected);
}

TEST_F(Scans, Q43_ATokenOutsideItsRangeNeverLeavesTheRange) {
  for (const std::string_view row : {"a", "b", "c", "d"}) insert("p", row);
  insert("q", "a");
  Scan scan = over(ScanRange::rows("p", "b", "d"));
  scan.continuation = encode_scan_token("p", "a");
  EXPECT_EQ(page(scan), (Keys{"p/b", "p/c"}));
  scan.continuation = encode_scan_token("", "");
  EXPECT_EQ(page(scan), (Keys{"p/b", "p/c"}));
  scan.continuation = encode_scan_token("p", "c");
  EXPECT_EQ(page(scan), Keys{"p/c"});
  scan.continuation = encode_scan_token("p", "d");
  EXPECT_EQ(page(scan), Keys{});
  scan.continuation = encode_scan_token("q", "");
  EXPECT_EQ(page(scan), Keys{});
}

TEST_F(Scans, Q46_GarbageIsNoToken) {
  for (const std::string_view token :
       {"x", " ", "1!0!", "1!0! ", " 1!0!", "1!0!  1!0!", "1!8!MDA0Mg--", "1!4!/w== 1!0!", "1!4!_w-- 1!0!"}) {
    Scan scan;
    scan.continuation = token;
    EXPECT_EQ(said(table().scan(scan)), kInvalidInput) << token;
  }
}

TEST_F(Scans, Q47_PagesSeeWhatIsWrittenBetweenThemUnlessTheyReadOneSnapshot) {
  for (const std::string_view row : {"b", "d", "f"}) insert("p", row);
  Scan scan;
  scan.page_entities_max = 1;
  scan.read.snapshot = *bench_.store->snapshot();
  Scan newest;
  newest.page_entities_max = 1;
  scan.continuation = newest.continuation = *(*table().scan(scan)).continuation;
  insert("p", "a");
  insert("p", "c");
  insert("p", "e");
  ASSERT_TRUE(table().remove("p", "f", ETag::any()).ok());
  EXPECT_EQ(pages(newest), (std::vector<Keys>{{"p/d"}, {"p/e"}}));
  EXPECT_EQ(pages(scan), (std::vector<Keys>{{"p/d"}, {"p/f"}}));
}

TEST_F(Scans, Q50_OnlyTheSelectedPropertiesAreThereAndKeysAndTimestampAlways) {
  Entity entity("p", "r");
  entity.set("A", 1).set("B", 2).set("a", 3);
  const ETag etag = *table().insert(entity);
  insert("p", "s");
  Scan scan;
  scan.read.select = {"B", "a", "None"};
  const Result<Page> result = table().scan(scan);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->entities.size(), 2u);  // Q-52: an entity that lacks all of them is returned too.
  const Entity& first = result->entities[0];
  EXPECT_EQ(first.properties().size(), 2u);
  EXPECT_EQ(*first.get<std::int32_t>("B"), 2);
  EXPECT_EQ(*first.get<std::int32_t>("a"), 3);
  EXPECT_EQ(first.etag(), etag);
  EXPECT_EQ(first.row_key(), "r");
  EXPECT_TRUE(result->entities[1].properties().empty());
  ReadOptions options;
  options.select = {"A"};
  EXPECT_EQ(read(table(), "p", "r", options)->properties().size(), 1u);
}

TEST_F(Scans, Q50_SelectedPropertiesHaveTheOrderOfTheNames) {
  Entity entity("p", "r");
  for (const char* const name : {"C", "A", "D", "B"}) entity.set(name, name);
  ASSERT_EQ(said(table().insert(entity)), kFine);
  ReadOptions options;
  const auto names = [&] {
    Scan scan;
    scan.read = options;
    const Page page = *table().scan(scan);
    EXPECT_EQ(*read(table(), "p", "r", options), page.entities.front());
    std::string found;
    for (const Property& property : page.entities.front().properties()) found += property.name;
    return found;
  };
  EXPECT_EQ(names(), "CADB") << "the stored order";
  options.select = {"B", "None", "A", "B", "C", "Timestamp"};
  EXPECT_EQ(names(), "BAC");
  for (int i = 0; i < 30; ++i) options.select.insert(options.select.begin(), "N" + std::to_string(i));
  EXPECT_EQ(names(), "BAC") << "of many names too";
}

TEST_F(Scans, Q50_AtMost255NamesAreSelected) {
  Scan scan;
  for (int i = 0; i < 255; ++i) scan.read.select.push_back("N" + std::to_string(i));
  EXPECT_EQ(said(table().scan(scan)), kFine);
  EXPECT_EQ(said(table().get("p", "r", scan.read)), kFine);
  scan.read.select.emplace_back("more");
  EXPECT_EQ(said(table().scan(scan)), kInvalidInput);
  EXPECT_EQ(said(table().get("p", "r", scan.read)), kInvalidInput);
}

TEST_F(Scans, Q03_NoMatchIsAnEmptyPageAndAMissingTableAnError) {
  EXPECT_EQ(all(ScanRange::whole_table()), Keys{});
  ASSERT_TRUE(bench_.store->drop_table(kAccount, "Orders").ok());
  EXPECT_EQ(said(table().scan(Scan{})), kTableNotFound);
}

TEST_F(Scans, Q48_TheLastNAreTheFirstOfAScanBackward) {
  for (const std::string_view row : {"a", "b", "c", "d"}) insert("p", row);
  insert("q", "a");
  Scan scan = over(ScanRange::partition("p"));
  scan.backward = true;
  scan.page_entities_max = 3;
  EXPECT_EQ(pages(scan), (std::vector<Keys>{{"p/d", "p/c", "p/b"}, {"p/a"}}));
  scan.range = ScanRange::whole_table();
  scan.page_entities_max = 5;
  EXPECT_EQ(pages(scan), (std::vector<Keys>{{"q/a", "p/d", "p/c", "p/b", "p/a"}})) << "and no empty page at the end";
}

TEST_F(Scans, Q43_ATokenOfAScanBackwardSurvivesTheDeletionOfTheEntityItNames) {
  for (const std::string_view row : {"a", "b", "c", "d"}) insert("p", row);
  Scan scan;
  scan.backward = true;
  scan.page_entities_max = 2;
  const Result<Page> first = table().scan(scan);
  ASSERT_TRUE(first.ok() && first->continuation);
  EXPECT_EQ((*decode_scan_token(*first->continuation)).row_key, "b");
  scan.continuation = *first->continuation;
  EXPECT_EQ(page(scan), (Keys{"p/b", "p/a"}));
  ASSERT_TRUE(table().remove("p", "b", ETag::any()).ok());
  EXPECT_EQ(page(scan), Keys{"p/a"});
  insert("p", "aa");
  insert("p", "bb");
  EXPECT_EQ(page(scan), (Keys{"p/aa", "p/a"}));
  Scan narrow = over(ScanRange::rows("p", "aa", "bb"));
  narrow.backward = true;
  narrow.continuation = encode_scan_token("q", "x", true);
  EXPECT_EQ(page(narrow), Keys{"p/aa"}) << "a token never widens its range";
}

TEST_F(Scans, Q43_ATokenIsOfOneDirection) {
  for (const std::string_view row : {"a", "b", "c"}) insert("p", row);
  Scan forward;
  forward.page_entities_max = 1;
  Scan backward = forward;
  backward.backward = true;
  const std::string ahead = *(*table().scan(forward)).continuation;
  const std::string back = *(*table().scan(backward)).continuation;
  forward.continuation = back;
  EXPECT_EQ(said(table().scan(forward)), kInvalidInput);
  backward.continuation = ahead;
  EXPECT_EQ(said(table().scan(backward)), kInvalidInput);
}

TEST_F(Scans, AScanBackwardAtASnapshotSeesItsVersionsAndNoDroppedTable) {
  for (const std::string_view row : {"a", "b", "c"}) insert("p", row);
  Scan scan;
  scan.backward = true;
  scan.read.snapshot = *bench_.store->snapshot();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(table().insert_or_replace(with_value("p", "b", "later")).ok());
  ASSERT_TRUE(table().remove("p", "c", ETag::any()).ok());
  insert("p", "bb");
  EXPECT_EQ(page(scan), (Keys{"p/c", "p/b", "p/a"}));
  ASSERT_TRUE(bench_.store->compact().ok());
  EXPECT_EQ(page(scan), (Keys{"p/c", "p/b", "p/a"}));
  scan.read.snapshot.reset();
  EXPECT_EQ(page(scan), (Keys{"p/bb", "p/b", "p/a"}));
  ASSERT_TRUE(bench_.store->drop_table(kAccount, "Orders").ok());
  Table again = bench_.table();
  ASSERT_TRUE(again.insert(with_value("q", "x", "v")).ok());
  EXPECT_EQ(page(scan), Keys{"q/x"});
}

// Goal: any scan, in pages of any size, gives the result of a sorted map.
TEST_F(Scans, Q43_RandomRangesInRandomPagesAgreeWithASortedMap) {
  const std::uint64_t seed = 20260303;
  SCOPED_TRACE(seed);
  io::SeededRandom random(seed);
  const auto less = [](const std::pair<std::string, std::string>& a, const std::pair<std::string, std::string>& b) {
    const int partitions = format::compare_text(a.first, b.first);
    return partitions != 0 ? partitions < 0 : format::compare_text(a.second, b.second) < 0;
  };
  std::map<std::pair<std::string, std::string>, int, decltype(less)> model(less);
  const std::vector<std::string> alphabet = {"", "a", "b", "\xC3\xA9", "\xEF\xBF\xBD", "\xF0\x9F\x98\x80"};
  const auto text = [&] {
    std::string out;
    for (int i = 0; i < 3; ++i) out += alphabet[random_below(random, alphabet.size())];
    return out;
  };
  for (int i = 0; i < 400; ++i) {
    const std::string partition = text();
    const std::string row = text();
    if (one_in(random, 4)) {
      (void)table().remove(partition, row, ETag::any());
      model.erase({partition, row});
    } else {
      ASSERT_TRUE(table().insert_or_replace(Entity(partition, row)).ok());
      model[{partition, row}] = 1;
    }
  }
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    const std::string partition = text();
    const std::string from = text();
    const std::string to = text();
    const std::uint64_t kind = random_below(random, 5);
    const ScanRange range = kind == 0   ? ScanRange::whole_table()
                            : kind == 1 ? ScanRange::partition(partition)
                            : kind == 2 ? ScanRange::rows(partition, from, to)
                            : kind == 3 ? ScanRange::rows_with_prefix(partition, from)
                                        : ScanRange::partitions(from, to);
    Keys expected;
    for (const auto& [key, value] : model) {
      const bool same = key.first == partition;
      const bool inside =
          kind == 0 || (kind == 1 && same) ||
          (kind == 2 && same && format::compare_text(key.second, from) >= 0 &&
           format::compare_text(key.second, to) < 0) ||
          (kind == 3 && same && key.second.starts_with(from)) ||
          (kind == 4 && format::compare_text(key.first, from) >= 0 && format::compare_text(key.first, to) < 0);
      if (inside) expected.push_back(key.first + "/" + key.second);
    }
    Scan scan = over(range);
    scan.page_entities_max = static_cast<std::uint32_t>(1 + random_below(random, 20));
    scan.backward = one_in(random, 2);
    if (scan.backward) std::reverse(expected.begin(), expected.end());
    Keys joined;
    for (const Keys& each : pages(scan)) joined.insert(joined.end(), each.begin(), each.end());
    EXPECT_EQ(joined, expected);
    if (i == 100 || i == 200) {
      ASSERT_TRUE(bench_.store->compact().ok());
    }
  }
}

}  // namespace
}  // namespace varve::scan_test
