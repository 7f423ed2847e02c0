// Goal: a page of a scan, a listing or a count is read where it begins, as long as that needs no wait and is short. The
// rest is read elsewhere, from where the first thread stopped. The answer is always that of the waiting operation.
// Method: entities in memory, in the cache, or on the disk alone; readers that note their thread; a home that counts
// what returns to it; random contents and scans, compared with the waiting operations.
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "format/log/warm_list.h"
#include "tests/api/async/async_support.h"
#include "tests/api/copied_entity.h"
#include "tests/api/store_bench.h"
#include "tests/support/effort.h"

namespace varve::async_scan_test {
namespace {

using namespace test;

std::string number(std::uint64_t i) {
  return std::to_string(100'000 + i);
}

class AsyncScans : public ::testing::Test {
 protected:
  AsyncScans() : table_(bench_.table()), home_(bench_.machine.scheduler()) {}

  AsyncTable async() { return AsyncTable(*table_, &home_); }
  /// Inserts rows of one partition. Their values have this many bytes.
  void fill(const std::string& partition, std::uint64_t rows, std::size_t bytes) {
    for (std::uint64_t first = 0; first < rows; first += 100) {
      EntityGroupTransaction group;
      for (std::uint64_t i = first; i < std::min(rows, first + 100); ++i) {
        group.insert_or_replace(with_value(partition, number(i), value_of(i, bytes)));
      }
      ASSERT_EQ(said(table_->execute(group)), kFine);
    }
  }
  /// Text that compresses badly, so that the rows take many blocks.
  static std::string value_of(std::uint64_t i, std::size_t bytes) {
    io::SeededRandom random(i + 1);
    std::string text(bytes, ' ');
    for (char& letter : text) letter = static_cast<char>('!' + io::random_below(random, 90));
    return text;
  }
  /// Opens the store again. No block is in memory then, and no table is known.
  void forget_everything() {
    ASSERT_TRUE(bench_.store->compact().ok());
    table_.reset();
    bench_.store.reset();
    // Without the list of cached blocks, the next open reads none of them back.
    const auto directory = *bench_.machine.files->open_directory(kStorePath);
    (void)directory->remove(format::kWarmListName);
    bench_.open();
    table_ = *bench_.store->open_table(kAccount, "Orders");
    ASSERT_EQ(table_->remove("none", "none", ETag::any()).code(), Code::kNotFound);  // The table is known afterwards.
  }
  std::size_t posts() { return home_.posts(); }

  StoreBench bench_;
  std::optional<Table> table_;
  HeldHome home_;
  const std::thread::id thread_ = std::this_thread::get_id();
};

TEST_F(AsyncScans, OfWhatIsInMemoryEndWhereTheyBegin) {
  fill("p", 200, 20);
  EXPECT_EQ((*home_.run(async().scan(Scan{}))).entities.size(), 200u);
  EXPECT_EQ((*home_.run(async().count(Scan{}))).entities, 200u);
  RowListing listing;
  listing.partition_key = "p";
  EXPECT_EQ((*home_.run(async().list_rows(listing))).entities.size(), 200u);
  std::vector<std::thread::id> threads;
  ASSERT_TRUE(
      home_
          .run(async().scan_in_place(Scan{}, [&](const EntityView&) { threads.push_back(std::this_thread::get_id()); }))
          .ok());
  EXPECT_EQ(threads, std::vector<std::thread::id>(200, std::this_thread::get_id()));
  EXPECT_EQ(posts(), 0u);
}

TEST_F(AsyncScans, OfWhatTheCacheHasEndWhereTheyBegin) {
  fill("p", 300, 500);
  forget_everything();
  ASSERT_EQ((*table_->count(Scan{})).entities, 300u);
  EXPECT_EQ((*home_.run(async().scan(Scan{}))).entities.size(), 300u);
  Scan points;
  points.filter = "PartitionKey eq 'p' and (RowKey eq '" + number(3) + "' or RowKey eq '" + number(90) + "')";
  EXPECT_EQ((*home_.run(async().scan(points))).entities.size(), 2u);
  EXPECT_EQ(posts(), 0u);
}

TEST_F(AsyncScans, GoOnElsewhereFromTheFirstBlockThatIsNotInMemory) {
  fill("p", 600, 500);
  for (const bool backward : {false, true}) {
    SCOPED_TRACE(backward ? "backward" : "forward");
    forget_everything();
    Scan scan;
    scan.backward = backward;
    scan.page_entities_max = 50;
    ASSERT_EQ((*table_->scan(scan)).entities.size(), 50u);  // These blocks are in memory now.
    scan.page_entities_max = 600;
    std::vector<Entity> seen;
    std::size_t here = 0;
    const std::size_t before = posts();
    const Result<Page> page = home_.run(async().scan_in_place(scan, [&](const EntityView& view) {
      if (std::this_thread::get_id() == thread_) {
        EXPECT_EQ(here, seen.size()) << "it has come back";
        ++here;
      }
      seen.push_back(copied(view));
    }));
    ASSERT_TRUE(page.ok()) << page.status().to_string();
    EXPECT_GE(here, 50u);
    EXPECT_LT(here, 600u);
    EXPECT_EQ(posts(), before + 1);
    EXPECT_EQ(page->cost.entities_examined, 600u) << "none twice";
    EXPECT_EQ(seen, (*table_->scan(scan)).entities);
  }
}

TEST_F(AsyncScans, GiveWayWhenTheyAreLong) {
  fill("p", 3000, 10);
  const std::size_t before = posts();
  EXPECT_EQ((*home_.run(async().count(Scan{}))).entities, 3000u);
  EXPECT_EQ(posts(), before + 1);
  Scan none;
  none.filter = "Value eq 'none'";
  EXPECT_EQ((*home_.run(async().scan(none))).entities.size(), 0u);
  EXPECT_EQ(posts(), before + 2);
}

TEST_F(AsyncScans, GiveWayWhenTheyAreLarge) {
  fill("p", 30, 30'000);
  const Result<Page> page = home_.run(async().scan(Scan{}));
  EXPECT_EQ(posts(), 1u);
  EXPECT_EQ(page->entities, (*table_->scan(Scan{})).entities);
}

TEST_F(AsyncScans, FindWhatIsBehindManyDeletedEntities) {
  fill("p", 3000, 10);
  for (std::uint64_t i = 0; i < 2999; ++i) ASSERT_EQ(said(table_->remove("p", number(i), ETag::any())), kFine);
  for (const bool backward : {false, true}) {
    fill("o", 1, 10);
    fill("q", 1, 10);
    Scan scan;
    scan.backward = backward;
    scan.range = ScanRange::partition("p");
    const std::size_t before = posts();
    const Result<Page> page = home_.run(async().scan(scan));
    ASSERT_TRUE(page.ok()) << page.status().to_string();
    EXPECT_EQ(page->entities.size(), 1u);
    EXPECT_LE(posts(), before + 1);
  }
}

// -- At random ----------------------------------------------------------------------------------------------------

class RandomScans {
 public:
  explicit RandomScans(std::uint64_t seed) : random_(seed), bench_(seed), table_(bench_.table()) {}

  void run() {
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      change();
      if (testing::Test::HasFailure()) return;
      const bool is_cold = io::one_in(random_, 2);
      if (is_cold) open_again();
      const Scan scan = random_scan();
      const std::string found = pages(scan);
      const std::string listed = listings();
      if (is_cold) open_again();
      ASSERT_EQ(pages_in_place(scan), found);
      if (is_cold) open_again();
      ASSERT_EQ(listings_apart(), listed);
      if (is_cold) open_again();
      ASSERT_EQ(counted_apart(scan), counted(scan));
    }
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return io::random_below(random_, bound); }
  std::string random_partition() { return std::string(1, static_cast<char>('a' + below(3))); }
  std::string random_row() { return number(below(400)); }

  void change() {
    const std::string partition = random_partition();
    EntityGroupTransaction group;
    const std::uint64_t first = below(300);
    const bool removes = io::one_in(random_, 3);
    for (std::uint64_t i = first; i < first + 100; ++i) {
      if (io::one_in(random_, 3)) continue;
      if (removes) {
        if (*table_->get(partition, number(i))) group.remove(partition, number(i), ETag::any());
      } else {
        Entity entity = with_value(partition, number(i), std::string(below(700), static_cast<char>('a' + below(26))));
        group.insert_or_replace(entity.set("N", static_cast<std::int32_t>(below(10))));
      }
    }
    if (group.size() == 0) return;
    ASSERT_EQ(said(table_->execute(group)), kFine);
    if (!io::one_in(random_, 4)) return;
    ASSERT_TRUE(bench_.store->compact().ok());
  }
  void open_again() {
    table_.reset();
    bench_.open();
    table_ = *bench_.store->open_table(kAccount, "Orders");
  }
  Scan random_scan() {
    Scan scan;
    scan.backward = io::one_in(random_, 2);
    scan.page_entities_max = 1 + static_cast<std::uint32_t>(below(300));
    switch (below(4)) {
      case 0: scan.range = ScanRange::partition(random_partition()); break;
      case 1: scan.range = ScanRange::rows(random_partition(), random_row(), random_row()); break;
      default: break;
    }
    switch (below(4)) {
      case 0: scan.filter = "N lt " + std::to_string(below(10)); break;
      case 1:
        scan.filter = "PartitionKey eq '" + random_partition() + "' and (RowKey eq '" + random_row() +
                      "' or RowKey eq '" + random_row() + "' or RowKey eq '" + random_row() + "')";
        break;
      default: break;
    }
    if (io::one_in(random_, 4)) scan.take = below(500);
    return scan;
  }

  static std::string words_of(const Page& page, const std::vector<Entity>& entities) {
    std::string words;
    for (const Entity& entity : entities) {
      words += entity.partition_key() + entity.row_key() + entity.etag().to_string() + " ";
    }
    return words + std::to_string(page.cost.entities_examined) + " " + page.continuation.value_or("over") + "\n";
  }
  std::string pages(Scan scan) {
    std::string words;
    for (;;) {
      const Result<Page> page = table_->scan(scan);
      if (!page.ok()) return words + page.status().to_string();
      words += words_of(*page, page->entities);
      if (!page->continuation) return words;
      scan.continuation = *page->continuation;
    }
  }
  std::string pages_in_place(Scan scan) {
    std::string words;
    for (;;) {
      std::vector<Entity> seen;
      const Result<Page> page =
          wait(AsyncTable(*table_).scan_in_place(scan, [&](const EntityView& view) { seen.push_back(copied(view)); }));
      if (!page.ok()) return words + page.status().to_string();
      words += words_of(*page, seen);
      if (!page->continuation) return words;
      scan.continuation = *page->continuation;
    }
  }
  static std::string words_of(const Result<Count>& count) {
    if (!count.ok()) return count.status().to_string();
    return std::to_string(count->entities) + " " + count->continuation.value_or("over");
  }
  std::string counted(const Scan& scan) { return words_of(table_->count(scan)); }
  std::string counted_apart(const Scan& scan) { return words_of(wait(AsyncTable(*table_).count(scan))); }

  static RowListing listing() {
    RowListing listing;
    listing.partition_key = "a";
    listing.delimiter = "2";
    listing.page_entities_max = 40;
    return listing;
  }
  static std::string words_of(const RowListingPage& page) {
    std::string words;
    for (const Entity& entity : page.entities) words += entity.row_key() + " ";
    for (const std::string& prefix : page.common_prefixes) words += prefix + "* ";
    return words + std::to_string(page.cost.entities_examined) + " " + page.continuation.value_or("over") + "\n";
  }
  template <typename Read>
  static std::string all_listings(const Read& read) {
    std::string words;
    for (RowListing next = listing();;) {
      const Result<RowListingPage> page = read(next);
      if (!page.ok()) return words + page.status().to_string();
      words += words_of(*page);
      if (!page->continuation) return words;
      next.continuation = *page->continuation;
    }
  }
  std::string listings() {
    return all_listings([&](const RowListing& next) { return table_->list_rows(next); });
  }
  std::string listings_apart() {
    return all_listings([&](const RowListing& next) { return wait(AsyncTable(*table_).list_rows(next)); });
  }

  io::SeededRandom random_;
  StoreBench bench_;
  std::optional<Table> table_;
};

TEST(AsyncRandomScans, AnswerAsThoseThatWait) {
  for (std::uint64_t seed = 1; seed <= test::effort<std::uint64_t>(12); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomScans(seed).run();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::async_scan_test
