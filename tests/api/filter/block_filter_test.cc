// Goal: a filter never excludes a block that contains a match, and excludes a block in plain cases.
// Method: random entities in blocks, ranges built from them like those of tables, and random filters. The filter itself
// and a slow evaluation decide what matches. Also, the plain cases one by one.
#include "api/filter/block_filter.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/model/entity_codec.h"
#include "format/block/statistics_builder.h"
#include "tests/api/filter/slow_filter.h"
#include "tests/support/effort.h"
#include "tests/support/entity_bytes.h"

namespace varve::block_filter_test {
namespace {

using namespace test;

constexpr format::CommitVersion kFirstVersion = 638'000'000'000'000'000;

/// A run in memory: entities in blocks, and the statistics of its index.
class ToldRun {
 public:
  struct Stored {
    Entity entity;
    std::string bytes;
  };
  using Block = std::vector<Stored>;

  void add(const Entity& entity, format::CommitVersion version) {
    const std::string bytes = test::encoded_properties(entity);
    Result<Entity> dated = test::decoded_entity(entity.partition_key(), entity.row_key(), version, bytes);
    ASSERT_TRUE(dated.ok());
    if (open_.empty()) block_.smallest_version = version;
    block_.smallest_version = std::min(block_.smallest_version, version);
    block_.largest_version = std::max(block_.largest_version, version);
    builder_.add(bytes);
    open_.push_back({*std::move(dated), bytes});
  }
  void end_block() {
    builder_.end_block();
    blocks_.push_back(std::move(open_));
    entries_.push_back(block_);
    open_.clear();
    block_ = format::BlockEntry();
  }
  void finish() {
    fields_ = builder_.finish();
    run_.statistics = fields_.run;
    run_.smallest_version = entries_.front().smallest_version;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      entries_[i].has_statistics = true;
      entries_[i].statistics = fields_.blocks[i].field;
      run_.smallest_version = std::min(run_.smallest_version, entries_[i].smallest_version);
      run_.largest_version = std::max(run_.largest_version, entries_[i].largest_version);
    }
  }

  const std::vector<Block>& blocks() const { return blocks_; }
  bool may_want(const Filter& filter) const { return judged(BlockFilter(filter).may_want(run_)); }
  bool may_want(const Filter& filter, std::size_t block) const {
    return judged(BlockFilter(filter).may_want(run_, entries_[block]));
  }

 private:
  static bool judged(const Result<bool>& result) {
    EXPECT_TRUE(result.ok()) << result.status().to_string();
    return !result.ok() || *result;
  }

  format::StatisticsBuilder builder_;
  format::StatisticsBuilder::Fields fields_;
  Block open_;
  format::BlockEntry block_;
  std::vector<Block> blocks_;
  std::vector<format::BlockEntry> entries_;
  format::RunEntry run_;
};

/// Returns a text that is longer than the stored part of a range's end, or as long. The cut may be within a character.
std::string long_text(RandomEngine& random) {
  std::string text(13 + random() % 3, random() % 2 == 0 ? 'a' : 'b');
  for (std::uint64_t left = random() % 4; left > 0; --left) {
    text += random() % 3 == 0 ? "\xF0\x9F\x98\x80" : random() % 2 == 0 ? "\xEF\xBF\xBD" : "a";
  }
  return text;
}

Value random_value_of(RandomEngine& random, PropertyType type) {
  for (;;) {
    Value value = random_literal(random);
    if (value.type() != type) continue;
    const auto* const number = value.get_if<double>();
    if (number != nullptr && std::isnan(*number) && random() % 8 != 0) continue;
    return type == PropertyType::kString && random() % 4 == 0 ? Value(long_text(random)) : value;
  }
}

/// Random entities. All values of most properties have one type, and a block has few different values.
class RandomRun {
 public:
  explicit RandomRun(RandomEngine& random) : random_(random) {
    for (const char* const name : {"A", "B", "C", "D", "E", "Fluss_", "G1", "\xC3\x84rger"}) {
      types_[name] = static_cast<PropertyType>(1 + random_() % 8);
    }
  }
  ToldRun make() {
    ToldRun run;
    for (std::uint64_t blocks = 1 + random_() % 5; blocks > 0; --blocks) {
      choose_values();
      for (std::uint64_t left = 1 + random_() % 5; left > 0; --left) {
        run.add(entity(), kFirstVersion + blocks % 3 + random_() % 2);
      }
      run.end_block();
    }
    run.finish();
    return run;
  }

 private:
  void choose_values() {
    values_.clear();
    for (const auto& [name, type] : types_) {
      if (random_() % 5 == 0) continue;
      for (std::uint64_t left = 1 + random_() % 2; left > 0; --left) {
        values_[name].push_back(random_value_of(random_, type));
      }
    }
  }
  Entity entity() {
    Entity made = random_() % 12 == 0 ? random_entity(random_) : Entity("p", "r");
    for (const auto& [name, values] : values_) {
      if (random_() % 4 != 0) made.set(name, values[random_() % values.size()]);
    }
    return made;
  }

  RandomEngine& random_;
  std::map<std::string, PropertyType> types_;
  std::map<std::string, std::vector<Value>> values_;
};

void lengthen_texts(RandomEngine& random, SlowFilter& filter) {
  for (SlowFilter& child : filter.children) lengthen_texts(random, child);
  const bool may_be_text = filter.kind == SlowFilter::Kind::kComparison || filter.kind == SlowFilter::Kind::kFunction;
  const bool is_text = may_be_text && filter.literal.get_if<std::string>() != nullptr;
  if (is_text && random() % 2 == 0) filter.literal = Value(long_text(random));
  for (Value& value : filter.values) {
    if (value.type() == PropertyType::kString && random() % 2 == 0) value = Value(long_text(random));
  }
}

bool matches(const Filter& filter, const ToldRun::Stored& stored) {
  const Result<format::EncodedEntity> view = format::EncodedEntity::open(stored.bytes);
  EXPECT_TRUE(view.ok());
  const Entity& entity = stored.entity;
  return filter.matches({entity.partition_key(), entity.row_key(), entity.timestamp().ticks, *view});
}

struct Answers {
  std::uint64_t no = 0;
  std::uint64_t nothing_matches = 0;
};

/// Checks a block. If an entity of it matches, the filter must not exclude the block.
bool judge_block(const ToldRun& run, std::size_t block, const Filter& filter, const SlowFilter& slow,
                 Answers& answers) {
  const ToldRun::Block& stored = run.blocks()[block];
  const bool any = std::any_of(stored.begin(), stored.end(), [&](const auto& one) { return matches(filter, one); });
  const bool any_slowly =
      std::any_of(stored.begin(), stored.end(), [&](const auto& one) { return slow.matches(one.entity); });
  EXPECT_EQ(any, any_slowly);
  const bool wanted = run.may_want(filter, block);
  EXPECT_TRUE(wanted || !any) << "a block with a match is passed";
  EXPECT_TRUE(wanted || BlockFilter(filter).is_of_use());
  answers.nothing_matches += any ? 0 : 1;
  answers.no += wanted ? 0 : 1;
  return any;
}

TEST(BlockFilterProperty, NeverDeniesAMatch) {
  Answers of_blocks;
  std::uint64_t runs_denied = 0;
  for (std::uint64_t seed = 1; seed <= effort<std::uint64_t>(400); ++seed) {
    RandomEngine random(seed);
    RandomRun shape(random);
    const ToldRun run = shape.make();
    for (int i = 0; i < 60; ++i) {
      SlowFilter slow = random_filter(random, static_cast<int>(random() % 5));
      lengthen_texts(random, slow);
      SCOPED_TRACE("seed " + std::to_string(seed) + ": " + slow.text());
      const Result<Filter> filter = Filter::parse(slow.text());
      ASSERT_TRUE(filter.ok()) << filter.status().to_string();
      bool any = false;
      for (std::size_t block = 0; block < run.blocks().size(); ++block) {
        any = judge_block(run, block, *filter, slow, of_blocks) || any;
      }
      const bool wanted = run.may_want(*filter);
      EXPECT_TRUE(wanted || !any) << "a run with a match is passed";
      runs_denied += wanted ? 0 : 1;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(of_blocks.no * 4, of_blocks.nothing_matches) << "of use: of blocks without a match many are passed";
  EXPECT_GT(runs_denied, effort<std::uint64_t>(1000));
}

/// The filter's answers about one block with these values of V (none: entities without it), in a run with others.
class PlainBlock {
 public:
  PlainBlock(const std::vector<Value>& values, const std::vector<Value>& others) {
    add_block(values);
    add_block(others);
    run_.finish();
  }
  bool is_wanted_by(std::string_view text) const {
    const Result<Filter> filter = Filter::parse(text);
    EXPECT_TRUE(filter.ok()) << text << ": " << filter.status().to_string();
    return run_.may_want(*filter, 0);
  }

 private:
  void add_block(const std::vector<Value>& values) {
    for (const Value& value : values) run_.add(Entity("p", "r").set("V", value), kFirstVersion);
    if (values.empty()) run_.add(Entity("p", "r").set("W", 1), kFirstVersion);
    run_.end_block();
  }
  ToldRun run_;
};

/// A block from `low` to `high`, and literals below, within, and above this range.
struct PlainCase {
  const char* type;
  Value low;
  Value high;
  Value other;  // far away, so that blocks have statistics
  std::string below;
  std::string within;
  std::string above;
};

class BlockFilterPlain : public testing::TestWithParam<PlainCase> {};

TEST_P(BlockFilterPlain, PassesWhatIsOutsideOfItsRange) {
  const PlainCase& one = GetParam();
  SCOPED_TRACE(one.type);
  const PlainBlock block({one.low, one.high}, {one.other});
  const auto wants = [&](const std::string& compare, const std::string& literal) {
    return block.is_wanted_by("V " + compare + " " + literal);
  };
  const std::string low = literal_text(one.low);
  const std::string high = literal_text(one.high);
  for (const char* const compare : {"eq", "lt", "le"}) EXPECT_FALSE(wants(compare, one.below)) << compare;
  for (const char* const compare : {"ne", "gt", "ge"}) EXPECT_TRUE(wants(compare, one.below)) << compare;
  for (const char* const compare : {"eq", "gt", "ge"}) EXPECT_FALSE(wants(compare, one.above)) << compare;
  for (const char* const compare : {"ne", "lt", "le"}) EXPECT_TRUE(wants(compare, one.above)) << compare;
  for (const char* const compare : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    EXPECT_TRUE(wants(compare, one.within)) << compare;
  }
  for (const std::string& bound : {low, high}) EXPECT_TRUE(wants("eq", bound)) << bound;
  EXPECT_FALSE(wants("lt", low));
  EXPECT_TRUE(wants("le", low));
  EXPECT_FALSE(wants("gt", high));
  EXPECT_TRUE(wants("ge", high));
  const PlainBlock alike({one.low, one.low}, {one.other});
  EXPECT_FALSE(alike.is_wanted_by("V ne " + low)) << "all are equal to it";
  EXPECT_TRUE(alike.is_wanted_by("V ne " + high));
  const PlainBlock without({}, {one.low, one.high});
  for (const char* const compare : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    EXPECT_FALSE(without.is_wanted_by(std::string("V ") + compare + " " + low)) << "Q-20: " << compare;
  }
}

const DateTime kNoon{638'000'000'000'000'000};
DateTime after_noon(std::uint64_t ticks) {
  return {kNoon.ticks + ticks};
}

INSTANTIATE_TEST_SUITE_P(
    Types, BlockFilterPlain,
    testing::Values(PlainCase{"Int32", Value(10), Value(20), Value(1000), "9", "15", "21"},
                    PlainCase{"Int64", Value(std::int64_t{10}), Value(std::int64_t{20}), Value(std::int64_t{1000}),
                              "9L", "15", "21"},
                    PlainCase{"Double", Value(1.5), Value(2.5), Value(1e9), "1.25", "2", "3L"},
                    PlainCase{"DateTime", Value(after_noon(10)), Value(after_noon(20)), Value(after_noon(1'000)),
                              literal_text(Value(kNoon)), literal_text(Value(after_noon(15))),
                              literal_text(Value(after_noon(21)))},
                    PlainCase{"String", Value("bb"), Value("dd"), Value("zzzz"), "'ba'", "'c'", "'de'"}));

TEST(BlockFilter, TellsTrueFromFalse) {
  const PlainBlock all_true({Value(true)}, {Value(false)});
  EXPECT_FALSE(all_true.is_wanted_by("V eq false"));
  EXPECT_FALSE(all_true.is_wanted_by("V ne true"));
  EXPECT_TRUE(all_true.is_wanted_by("V"));
  const PlainBlock all_false({Value(false)}, {Value(true)});
  EXPECT_FALSE(all_false.is_wanted_by("V"));
  EXPECT_TRUE(all_false.is_wanted_by("not V"));
}

TEST(BlockFilter, Q25_ValuesOfAnotherTypeStandBelowEveryLiteral) {
  const PlainBlock numbers({Value(10), Value(20)}, {Value(1000)});
  for (const char* const literal : {"'a'", "15L", "true", "datetime'2020-01-01T00:00:00Z'", "15.5"}) {
    for (const char* const compare : {"eq", "gt", "ge"}) {
      EXPECT_FALSE(numbers.is_wanted_by(std::string("V ") + compare + " " + literal)) << compare << " " << literal;
    }
    for (const char* const compare : {"ne", "lt", "le"}) {
      EXPECT_TRUE(numbers.is_wanted_by(std::string("V ") + compare + " " + literal)) << compare << " " << literal;
    }
  }
}

TEST(BlockFilter, NothingIsKnownOfMixedTypesAndOfWhatIsInNoOrder) {
  const double nan = std::nan("");
  for (const std::vector<Value>& values :
       {std::vector<Value>{Value(10), Value("x")}, std::vector<Value>{Value(1.0), Value(nan)},
        std::vector<Value>{Value(Guid())}, std::vector<Value>{Value(Binary{"x"})}}) {
    const PlainBlock block(values, {values.front()});
    for (const char* const compare : {"eq", "ne", "lt", "le", "gt", "ge"}) {
      EXPECT_TRUE(block.is_wanted_by(std::string("V ") + compare + " 5000")) << compare;
    }
  }
  const PlainBlock doubles({Value(1.5)}, {Value(1e9)});
  EXPECT_TRUE(doubles.is_wanted_by("V ne NaN"));
}

TEST(BlockFilter, AndOrNotJoinWhatMayHoldAndWhatMayFail) {
  const PlainBlock block({Value(10), Value(20)}, {Value(1000)});
  EXPECT_FALSE(block.is_wanted_by("V gt 30 and V lt 40"));
  EXPECT_FALSE(block.is_wanted_by("V eq 15 and V eq 30"));
  EXPECT_FALSE(block.is_wanted_by("V eq 5 or V eq 30 or false"));
  EXPECT_TRUE(block.is_wanted_by("V eq 5 or V eq 15"));
  EXPECT_TRUE(block.is_wanted_by("V eq 5 or PartitionKey eq 'x'"));
  EXPECT_FALSE(block.is_wanted_by("V eq 5 and PartitionKey eq 'x'"));
  EXPECT_TRUE(block.is_wanted_by("not (V eq 30)"));
  EXPECT_TRUE(block.is_wanted_by("not (V lt 30)")) << "entities without V match it";
  EXPECT_FALSE(block.is_wanted_by("not (not (V eq 30))"));
  EXPECT_FALSE(block.is_wanted_by("not (not (V eq 30) or Unknown)"));
  EXPECT_FALSE(block.is_wanted_by("false"));
  EXPECT_FALSE(block.is_wanted_by("not true"));
  EXPECT_TRUE(block.is_wanted_by("Unknown eq 3")) << "a property that no range tells of";
}

TEST(BlockFilter, TextsThatWereCutMayBeLarger) {
  const std::string cut(16, 'm');
  const PlainBlock block({Value("ma"), Value(cut + "q")}, {Value("zz")});
  EXPECT_TRUE(block.is_wanted_by("V eq '" + cut + "q'"));
  EXPECT_TRUE(block.is_wanted_by("V gt '" + cut + "p'"));
  EXPECT_TRUE(block.is_wanted_by("V ge '" + cut + "zzz'")) << "what follows the cut is not known";
  EXPECT_TRUE(block.is_wanted_by("V gt '" + cut + "'"));
  EXPECT_FALSE(block.is_wanted_by("V gt '" + cut.substr(1) + "n'"));
  EXPECT_FALSE(block.is_wanted_by("V eq 'n'"));
  const PlainBlock one({Value(cut + "q")}, {Value("zz")});
  EXPECT_TRUE(one.is_wanted_by("V ne '" + cut + "'")) << "it was longer";
  EXPECT_TRUE(one.is_wanted_by("V ne '" + cut + "q'")) << "whether all are equal to it is not known";
  const PlainBlock whole({Value(cut)}, {Value("zz")});
  EXPECT_FALSE(whole.is_wanted_by("V ne '" + cut + "'"));
  EXPECT_FALSE(whole.is_wanted_by("V gt '" + cut + "'"));
}

TEST(BlockFilter, TimestampsAreWithinTheVersions) {
  const PlainBlock block({Value(1)}, {Value(2)});  // all written at kFirstVersion, which is noon
  const auto wants = [&](const std::string& compare, DateTime time) {
    return block.is_wanted_by("Timestamp " + compare + " " + literal_text(Value(time)));
  };
  const DateTime before{kNoon.ticks - 1};
  for (const char* const compare : {"eq", "lt", "le"}) EXPECT_FALSE(wants(compare, before)) << compare;
  for (const char* const compare : {"ne", "gt", "ge"}) EXPECT_TRUE(wants(compare, before)) << compare;
  for (const char* const compare : {"eq", "gt", "ge"}) EXPECT_FALSE(wants(compare, after_noon(1))) << compare;
  for (const char* const compare : {"ne", "lt", "le"}) EXPECT_TRUE(wants(compare, after_noon(1))) << compare;
  for (const char* const compare : {"eq", "le", "ge"}) EXPECT_TRUE(wants(compare, kNoon)) << compare;
  for (const char* const compare : {"ne", "gt", "lt"}) EXPECT_FALSE(wants(compare, kNoon)) << compare;
}

TEST(BlockFilter, ListsPrefixesAndFunctionsPassBlocksOutsideOfTheirRange) {
  const PlainBlock texts({Value("ma"), Value("mz")}, {Value("a")});
  for (const char* const text : {"startswith(V,'n')", "startswith(V,'l')", "startswith(V,'mzz')",
                                 "V in ('a','l','mzz','n')", "V in (1,true)", "V in ('mb') and startswith(V,'n')"}) {
    EXPECT_FALSE(texts.is_wanted_by(text)) << text;
  }
  for (const char* const text :
       {"startswith(V,'')", "startswith(V,'m')", "startswith(V,'mb')", "startswith(V,'ma')", "startswith(V,'mz')",
        "V in ('a','mb')", "V in ('ma')", "V in (1,'mz')", "contains(V,'q')", "endswith(V,'q')", "exists(V)",
        "equals_ignoring_case(V,'x')", "V lt V", "not startswith(V,'n')", "not (V in ('n'))"}) {
    EXPECT_TRUE(texts.is_wanted_by(text)) << text;
  }
  const std::string cut(16, 'm');
  const PlainBlock long_texts({Value(cut + "a"), Value(cut + "b")}, {Value("a")});
  EXPECT_TRUE(long_texts.is_wanted_by("startswith(V,'" + cut + "zz')"));
  EXPECT_TRUE(long_texts.is_wanted_by("V in ('a','" + cut + "zz')"));
  EXPECT_FALSE(long_texts.is_wanted_by("startswith(V,'" + std::string(15, 'm') + "n')"));

  const PlainBlock numbers({Value(3), Value(5)}, {Value(900)});
  for (const char* const text : {"V in (2,6)", "V in (4L,4.0,'4')", "startswith(V,'')", "contains(V,'')",
                                 "endswith(V,'')", "equals_ignoring_case(V,'3')"}) {
    EXPECT_FALSE(numbers.is_wanted_by(text)) << text;
  }
  for (const char* const text : {"V in (2,4)", "V in (5)", "V in (NaN,3)", "exists(V)", "V eq PartitionKey"}) {
    EXPECT_TRUE(numbers.is_wanted_by(text)) << text;
  }
  const PlainBlock without({}, {Value(1)});
  for (const char* const text :
       {"exists(V)", "V in (1)", "V eq W", "W eq V", "RowKey ne V", "Timestamp ne V", "contains(V,'')"}) {
    EXPECT_FALSE(without.is_wanted_by(text)) << text;
  }
  EXPECT_TRUE(without.is_wanted_by("not exists(V)"));
}

TEST(BlockFilter, DamagedStatisticsAreTold) {
  const Filter filter = *Filter::parse("V eq 1");
  format::RunEntry run;
  run.statistics = "\x02";
  EXPECT_EQ(BlockFilter(filter).may_want(run).status().code(), Code::kCorruption);
  EXPECT_EQ(BlockFilter(filter).may_want(run, {}).status().code(), Code::kCorruption);
  run.statistics = std::string("\x01\x01V\x06", 4) + std::string(8, '\0');
  EXPECT_TRUE(BlockFilter(filter).may_want(run).ok());
  EXPECT_EQ(BlockFilter(filter).may_want(run, {}).status().code(), Code::kCorruption) << "a range is missing";
}

TEST(BlockFilter, IsOfUseWhereItMaySayNo) {
  const Filter everything;
  EXPECT_FALSE(BlockFilter(everything).is_of_use());
  EXPECT_TRUE(*BlockFilter(everything).may_want(format::RunEntry()));
  const auto is_of_use = [](std::string_view text) {
    const Filter filter = *Filter::parse(text);
    return BlockFilter(filter).is_of_use();
  };
  for (const char* const text : {"A eq 1", "A and RowKey eq 'x'", "Timestamp gt datetime'2020-01-01T00:00:00Z' or A",
                                 "not (not A)", "false", "A and not B", "A in (1)", "exists(A)", "RowKey lt A",
                                 "Timestamp lt A", "contains(A,'x') and contains(RowKey,'x')"}) {
    EXPECT_TRUE(is_of_use(text)) << text;
  }
  for (const char* const text : {"RowKey eq 'x'", "not A", "A or PartitionKey ge 'x'", "A or not B", "true",
                                 "RowKey in ('x')", "startswith(RowKey,'x')", "PartitionKey lt RowKey",
                                 "exists(Timestamp)", "Timestamp lt RowKey", "not exists(A)"}) {
    EXPECT_FALSE(is_of_use(text)) << text;
  }
}

}  // namespace
}  // namespace varve::block_filter_test
