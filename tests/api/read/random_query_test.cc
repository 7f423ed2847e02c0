// Goal: a scan returns the results of a slow evaluation by the wording of the rules, for any query: forward and
// backward, with a projection, in pages of any size, with a limit over all pages, counted, and with short pages.
// Method: random queries over random data, before and after flush, compaction and reopen, and over a mixture of
// memtable and tables. A few thousand queries run every time, and a million in the long test. Half of the queries use
// properties that ascend with the keys, in tables of many blocks and levels, so that blocks are skipped.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/filter/slow_filter.h"
#include "tests/api/store_bench.h"
#include "tests/support/effort.h"

namespace varve::random_query_test {
namespace {

using namespace test;

/// The manner of a query.
struct Manner {
  bool backward = false;
  std::uint32_t page_size = 1000;
  std::optional<std::uint64_t> take;
  std::vector<std::string> select;
};

enum class Shape : std::uint8_t {
  /// Any entities, in few blocks.
  kAny,
  /// Large entities with properties that ascend with the PartitionKey. All but one have one type.
  kRising,
};

/// Returns the rank of the first character of a random entity's PartitionKey, 0 to 5.
std::size_t rank_of(const std::string& partition_key) {
  constexpr std::string_view kFirstBytes = "Babz\xF0\xEF";  // in the order of texts
  return partition_key.empty() ? 0 : std::min<std::size_t>(5, kFirstBytes.find(partition_key.front()));
}

Entity rising_entity(RandomEngine& random) {
  const Entity keys = random_entity(random);
  Entity entity(keys.partition_key(), keys.row_key());
  const std::size_t rank = rank_of(keys.partition_key());
  const auto set = [&](const char* name, const Value& value) {
    if (random() % 8 != 0) entity.set(name, value);
  };
  constexpr std::array<double, 6> kDoubles = {-1, 0, 3, 3.5, 9'007'199'254'740'992.0, 1e300};
  constexpr std::array<std::int64_t, 6> kIntegers = {INT64_MIN, -1, 0, 3, 4, 9'007'199'254'740'993};
  set("A", Value(static_cast<std::int32_t>(rank) - 1));
  set("B", Value(keys.partition_key()));
  set("C", Value(kDoubles[rank]));
  set("D", Value(DateTime{638'000'000'000'000'000 + rank / 2}));
  set("E", Value(rank > 2));
  set("Fluss_", Value(kIntegers[rank]));
  set("G1", random_literal(random));
  std::string padding(1200, ' ');  // incompressible
  for (char& c : padding) c = static_cast<char>('0' + random() % 64);
  entity.set("Padding", padding);
  return entity;
}

class RandomQueries {
 public:
  RandomQueries(std::uint64_t seed, Shape shape) : random_(seed), shape_(shape) {
    bench_.open(options());
    (void)bench_.table();
  }

  void fill(int entities) {
    Table table = this->table();
    for (int i = 0; i < entities; ++i) {
      const Result<ETag> written =
          table.insert_or_replace(shape_ == Shape::kAny ? random_entity(random_) : rising_entity(random_));
      ASSERT_TRUE(written.ok()) << written.status().to_string();
    }
    all_ = read("", Manner());
    for (const Entity& entity : all_) {
      if (random_() % 10 != 0) continue;
      ASSERT_TRUE(table.remove(entity.partition_key(), entity.row_key(), ETag::any()).ok());
    }
    all_ = read("", Manner());
  }
  void compact() { ASSERT_TRUE(bench_.store->compact().ok()); }
  void reopen(bool short_pages) {
    StoreOptions options = this->options();
    options.short_pages = short_pages;
    bench_.open(options);
  }

  void ask(int queries) {
    for (int i = 0; i < queries; ++i) {
      const SlowFilter slow = random_filter(random_, 4);
      const std::string text = slow.text();
      const Manner manner = random_manner();
      std::vector<const Entity*> expected;
      for (const Entity& entity : all_) {
        if (slow.matches(entity)) expected.push_back(&entity);
      }
      if (manner.backward) std::reverse(expected.begin(), expected.end());
      if (manner.take && expected.size() > *manner.take) expected.resize(*manner.take);
      const std::vector<Entity> found = read(text, manner);
      ASSERT_TRUE(same(found, expected, manner.select))
          << text << "\nfound " << found.size() << " of " << expected.size() << (manner.backward ? " backward" : "");
      if (random_() % 8 == 0) {
        ASSERT_EQ(count(text, manner), expected.size()) << text;
      }
      returned_ += found.size();
    }
  }
  /// Runs `queries` queries in total, in every state of the data.
  void ask_in_every_state(int queries, int entities) {
    const int part = queries / 5;
    ASSERT_NO_FATAL_FAILURE(fill(entities));
    ASSERT_NO_FATAL_FAILURE(ask(queries - 4 * part)) << "from the memtable";
    reopen(false);
    ASSERT_NO_FATAL_FAILURE(ask(part)) << "recovered";
    ASSERT_NO_FATAL_FAILURE(compact());
    ASSERT_NO_FATAL_FAILURE(ask(part)) << "from tables";
    ASSERT_NO_FATAL_FAILURE(fill(entities / 2));
    ASSERT_NO_FATAL_FAILURE(ask(part)) << "from both";
    reopen(true);
    ASSERT_NO_FATAL_FAILURE(ask(part)) << "in short pages";
  }
  std::size_t returned() const { return returned_; }
  std::uint64_t blocks_skipped() const { return blocks_skipped_; }

 private:
  /// Returns options with a small write buffer, which makes overlapping tables.
  StoreOptions options() const {
    StoreOptions options = bench_.options();
    if (shape_ == Shape::kAny) return options;
    ResourceOptions resources;
    resources.write_buffer_bytes = 64 << 10;
    options.resources = *Resources::create(resources);
    return options;
  }
  Table table() { return *bench_.store->open_table(kAccount, "Orders"); }

  Manner random_manner() {
    Manner manner;
    manner.backward = random_() % 2 == 0;
    if (random_() % 4 == 0) manner.page_size = static_cast<std::uint32_t>(1 + random_() % 7);
    if (random_() % 4 == 0) manner.take = random_() % 12;
    if (random_() % 4 == 0) manner.select = {"A", "Missing", "B"};
    return manner;
  }
  static Scan scan_of(const std::string& filter, const Manner& manner) {
    Scan scan;
    scan.filter = filter;
    scan.backward = manner.backward;
    scan.page_entities_max = manner.page_size;
    scan.take = manner.take;
    scan.read.select = manner.select;
    return scan;
  }

  std::vector<Entity> read(const std::string& filter, const Manner& manner) {
    std::vector<Entity> found;
    Scan scan = scan_of(filter, manner);
    const Table table = this->table();
    for (;;) {
      Result<Page> page = table.scan(scan);
      EXPECT_TRUE(page.ok()) << filter << ": " << page.status().to_string();
      if (!page.ok()) return found;
      EXPECT_LE(page->entities.size(), manner.page_size);
      blocks_skipped_ += page->cost.blocks_skipped;
      for (Entity& entity : page->entities) found.push_back(std::move(entity));
      if (!page->continuation) return found;
      scan.continuation = *page->continuation;
    }
  }
  std::uint64_t count(const std::string& filter, const Manner& manner) {
    std::uint64_t counted = 0;
    Scan scan = scan_of(filter, manner);
    const Table table = this->table();
    for (;;) {
      const Result<Count> part = table.count(scan);
      EXPECT_TRUE(part.ok()) << filter << ": " << part.status().to_string();
      if (!part.ok()) return counted;
      counted += part->entities;
      if (!part->continuation) return counted;
      scan.continuation = *part->continuation;
    }
  }

  /// Compares properties by their number, because a Double that is NaN does not equal itself.
  static bool same(const std::vector<Entity>& found, const std::vector<const Entity*>& expected,
                   const std::vector<std::string>& select) {
    const auto is_selected = [&](const Property& property) {
      return select.empty() || std::find(select.begin(), select.end(), property.name) != select.end();
    };
    return std::equal(
        found.begin(), found.end(), expected.begin(), expected.end(), [&](const Entity& x, const Entity* y) {
          const auto properties = std::count_if(y->properties().begin(), y->properties().end(), is_selected);
          return x.partition_key() == y->partition_key() && x.row_key() == y->row_key() && x.etag() == y->etag() &&
                 static_cast<std::ptrdiff_t>(x.properties().size()) == properties;
        });
  }

  RandomEngine random_;
  const Shape shape_;
  StoreBench bench_;
  std::vector<Entity> all_;
  std::size_t returned_ = 0;
  std::uint64_t blocks_skipped_ = 0;
};

TEST(RandomQuery, Q31_GivesWhatASlowEvaluationGivesInEveryState) {
  for (const std::uint64_t seed : {std::uint64_t{91}, std::uint64_t{92}}) {
    SCOPED_TRACE(seed);
    RandomQueries queries(seed, Shape::kAny);
    const int asked = effort(2000);
    ASSERT_NO_FATAL_FAILURE(queries.ask_in_every_state(asked, seed == 91 ? 300 : 40));
    EXPECT_GT(queries.returned(), static_cast<std::size_t>(asked) * 5);
  }
}

TEST(RandomQuery, Q31_GivesWhatASlowEvaluationGivesThoughItPassesBlocks) {
  constexpr std::uint64_t kSeed = 93;
  SCOPED_TRACE(kSeed);
  RandomQueries queries(kSeed, Shape::kRising);
  const int asked = effort(2000);
  ASSERT_NO_FATAL_FAILURE(queries.ask_in_every_state(asked, 200));
  EXPECT_GT(queries.returned(), static_cast<std::size_t>(asked) * 5);
  EXPECT_GT(queries.blocks_skipped(), static_cast<std::uint64_t>(asked));
}

/// A million queries in twenty parts, so that each part is reported and stays within the time limit of a test.
class RandomQuerySoak : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomQuerySoak, Q31_GiveWhatASlowEvaluationGives) {
  constexpr int kQueries = 1'000'000 / 20;
  SCOPED_TRACE(GetParam());
  RandomQueries queries(1000 + GetParam(), GetParam() % 2 == 0 ? Shape::kAny : Shape::kRising);
  ASSERT_NO_FATAL_FAILURE(queries.ask_in_every_state(kQueries, 20 + 4 * static_cast<int>(GetParam())));
  EXPECT_GT(queries.returned(), std::size_t{kQueries});
  if (GetParam() % 2 != 0) {
    EXPECT_GT(queries.blocks_skipped(), std::uint64_t{kQueries} / 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomQuerySoak, ::testing::Range<std::uint64_t>(1, 1 + effort<std::uint64_t>(20)));

}  // namespace
}  // namespace varve::random_query_test
