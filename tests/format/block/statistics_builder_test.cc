// Owns: the proof that statistics of blocks and runs are true for every put in them, and are as narrow as possible.
// Must never: leave out a put: an entity outside of a recorded range is one that no query finds.
#include "format/block/statistics_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/block/statistics_check.h"
#include "format/keys/sort_key.h"
#include "tests/format/hex_text.h"
#include "tests/format/hostile_text.h"
#include "tests/format/keys/property_sample.h"
#include "tests/format/random_values.h"

namespace varve::format::statistics_builder_test {
namespace {

using GatheredFields = StatisticsBuilder::Fields;
using PutsOfBlock = std::vector<std::string>;

struct GatheredRun {
  std::vector<PutsOfBlock> blocks;
  std::vector<bool> goes_on;  // by block: whether its last key continues in the next block
};

void feed(StatisticsBuilder& builder, const GatheredRun& run) {
  for (std::size_t i = 0; i < run.blocks.size(); ++i) {
    for (const std::string& put : run.blocks[i]) builder.add(put);
    builder.end_block();
    if (i < run.goes_on.size() && run.goes_on[i]) builder.last_block_goes_on();
  }
}

GatheredFields gathered(const GatheredRun& run) {
  StatisticsBuilder builder;
  feed(builder, run);
  return builder.finish();
}

std::vector<NamedRange> told_of_run(const GatheredFields& fields) {
  std::vector<NamedRange> told;
  for (RunStatistics statistics(fields.run); !statistics.at_end();) {
    const Result<NamedRange> named = statistics.next();
    EXPECT_TRUE(named.ok()) << named.status().to_string();
    if (!named.ok()) break;
    told.push_back(*named);
  }
  return told;
}

/// Returns the ranges of a block by name. Returns nothing if the block has no statistics.
std::map<std::string, PropertyRange> told_of_block(const GatheredFields& fields, std::size_t block) {
  std::map<std::string, PropertyRange> told;
  if (!fields.blocks[block].is_told) return told;
  BlockStatistics statistics(fields.blocks[block].field);
  for (const NamedRange& named : told_of_run(fields)) {
    if (!named.is_in_blocks) continue;
    const Result<PropertyRange> range = statistics.next();
    EXPECT_TRUE(range.ok()) << range.status().to_string();
    if (range.ok()) told.emplace(named.name, *range);
  }
  EXPECT_TRUE(statistics.at_end());
  return told;
}

std::optional<NamedRange> told_of(const GatheredFields& fields, std::string_view name) {
  for (const NamedRange& named : told_of_run(fields)) {
    if (named.name == name) return named;
  }
  return std::nullopt;
}

// -- Random entities in random blocks ---------------------------------------------------------------------------------

/// The form of a property's values in one run.
struct PropertyWay {
  std::string name;
  PropertyType type = PropertyType::kString;
  std::uint64_t one_has_it_in = 1;
  bool follows_order = false;
  bool is_mixed = false;
  bool has_nan = false;
  std::string prefix;
};

std::vector<PropertyWay> random_ways(RandomValues& random) {
  std::vector<PropertyWay> ways(1 + random.below(random.one_in(3) ? 24 : 8));
  for (std::size_t i = 0; i < ways.size(); ++i) {
    PropertyWay& way = ways[i];
    way.name = "n" + std::to_string(i);
    if (random.one_in(8)) way.name.resize(random.one_in(2) ? kWatchedNameBytesMax : kWatchedNameBytesMax + 1, 'x');
    way.type = static_cast<PropertyType>(1 + random.below(8));
    way.one_has_it_in = random.one_in(2) ? 1 : 1 + random.below(300);
    way.follows_order = random.one_in(2);
    way.is_mixed = random.one_in(12);
    way.has_nan = random.one_in(8);
    if (random.one_in(2))
      way.prefix = hostile_text(random).substr(0, random.below(3)) + std::string(random.below(20), 'p');
    while (!is_valid_utf8(way.prefix)) way.prefix.pop_back();
  }
  return ways;
}

PropertySample random_sample(const PropertyWay& way, std::uint64_t row, RandomValues& random) {
  const auto type = way.is_mixed && random.one_in(50) ? static_cast<PropertyType>(1 + random.below(8)) : way.type;
  const std::uint64_t number = way.follows_order ? row * 3 + random.below(5) : random.number();
  switch (type) {
    case PropertyType::kBinary: return {type, random.bytes(random.below(20))};
    case PropertyType::kBoolean: return sample_boolean(way.follows_order ? row > 100 : random.one_in(2));
    case PropertyType::kDateTime: return sample_date_time(number);
    case PropertyType::kDouble:
      if (way.has_nan && random.one_in(60)) return sample_double(std::nan(""));
      if (random.one_in(20)) return sample_double(random.one_in(2) ? 0.0 : -0.0);
      return sample_double(std::ldexp(static_cast<double>(number) - 500, way.follows_order ? 0 : -5));
    case PropertyType::kGuid:
    case PropertyType::kLargeValue: return {type, random.bytes(16)};
    case PropertyType::kInt32: return sample_int32(static_cast<std::int32_t>(number - 500));
    case PropertyType::kInt64: return sample_int64(static_cast<std::int64_t>(number - 500));
    case PropertyType::kString: break;
  }
  std::string digits = std::to_string(row);
  digits.insert(0, 8 - std::min<std::size_t>(digits.size(), 8), '0');
  return sample_string(way.prefix + (way.follows_order ? digits : hostile_text(random)));
}

std::string random_put(const std::vector<PropertyWay>& ways, std::uint64_t row, RandomValues& random) {
  std::vector<NamedSample> properties;
  for (const PropertyWay& way : ways) {
    if (!random.one_in(way.one_has_it_in)) continue;
    properties.push_back({way.name, random_sample(way, row, random)});
    if (random.one_in(200)) properties.push_back({way.name, random_sample(way, row, random)});
  }
  if (random.one_in(4) && properties.size() > 1) std::swap(properties.front(), properties.back());
  return entity_of(properties);
}

GatheredRun random_run(RandomValues& random) {
  const std::vector<PropertyWay> ways = random_ways(random);
  const bool has_other_values = random.one_in(10);
  GatheredRun run;
  run.blocks.resize(1 + random.below(12));
  std::uint64_t row = 0;
  for (PutsOfBlock& block : run.blocks) {
    const std::uint64_t puts = random.one_in(10) ? 0 : random.below(60);  // zero: only deletes
    for (std::uint64_t i = 0; i < puts; ++i) {
      const bool is_entity = !has_other_values || !random.one_in(100);
      block.push_back(is_entity ? random_put(ways, row, random) : random.bytes(random.below(30)));
      ++row;
    }
    run.goes_on.push_back(random.one_in(6));
  }
  return run;
}

/// Counts of the checked ranges, so that a test that checked nothing is detected.
struct ToldCounts {
  std::map<PropertyType, std::size_t> ranges;
  std::size_t absent = 0;
  std::size_t unknown = 0;
  std::size_t cut = 0;
  std::size_t in_blocks = 0;
  std::size_t runs_untold = 0;
  std::size_t puts_judged = 0;
};

/// Returns whether an end of the range is an existing value.
bool is_end(std::string_view end, const PropertyView& property) {
  return property.value.substr(0, property.type == PropertyType::kString ? kRangeTextBytesMax : 16) == end;
}

/// Checks that the range covers each existing value of the property, and that its ends are existing values.
void expect_true_and_narrow(const PropertyRange& range, std::string_view name, const std::vector<PutsOfBlock>& blocks,
                            ToldCounts& counts) {
  std::size_t values = 0;
  bool smallest_met = false;
  bool largest_met = false;
  bool cut_met = false;
  for (const PutsOfBlock& block : blocks) {
    for (const std::string& put : block) {
      const Result<EncodedEntity> view = EncodedEntity::open(put);
      if (!view.ok()) {
        EXPECT_EQ(range.kind, PropertyRange::Kind::kUnknown);
        continue;
      }
      ++counts.puts_judged;
      for (std::size_t i = 0; i < view->property_count(); ++i) {
        const PropertyView property = view->property(i);
        if (property.name != name) continue;
        ++values;
        EXPECT_TRUE(covers(range, property)) << name << " " << to_hex(property.value);
        smallest_met = smallest_met || is_end(range.smallest, property);
        if (!is_end(range.largest, property)) continue;
        largest_met = true;
        cut_met = cut_met || property.value.size() > kRangeTextBytesMax;
      }
    }
  }
  switch (range.kind) {
    case PropertyRange::Kind::kUnknown: ++counts.unknown; return;
    case PropertyRange::Kind::kAbsent:
      ++counts.absent;
      EXPECT_EQ(values, 0u);
      return;
    case PropertyRange::Kind::kRange: break;
  }
  ++counts.ranges[range.type];
  if (range.largest_is_cut) ++counts.cut;
  EXPECT_GT(values, 0u);
  EXPECT_TRUE(smallest_met && largest_met) << name;
  EXPECT_EQ(range.largest_is_cut, cut_met) << name;
}

void expect_check_agrees(const GatheredRun& run, const GatheredFields& fields) {
  StatisticsCheck check;
  ASSERT_TRUE(check.open(fields.run).ok());
  for (std::size_t i = 0; i < run.blocks.size(); ++i) {
    if (fields.blocks[i].is_told) {
      ASSERT_TRUE(check.begin_block(fields.blocks[i].field).ok());
    } else {
      check.begin_untold_block();
    }
    for (const std::string& put : run.blocks[i]) ASSERT_TRUE(check.check(put).ok());
  }
}

void judge_run(const GatheredRun& run, const GatheredFields& fields, ToldCounts& counts) {
  ASSERT_EQ(fields.blocks.size(), run.blocks.size());
  const std::vector<NamedRange> told = told_of_run(fields);
  std::size_t in_blocks = 0;
  for (const NamedRange& named : told) {
    EXPECT_LE(named.name.size(), kWatchedNameBytesMax);
    in_blocks += named.is_in_blocks ? 1U : 0U;
    expect_true_and_narrow(named.range, named.name, run.blocks, counts);
  }
  EXPECT_LE(told.size(), kPropertiesToldOfRunMax);
  EXPECT_LE(in_blocks, kPropertiesToldOfBlocksMax);
  counts.runs_untold += told.empty() ? 1U : 0U;
  for (std::size_t i = 0; i < run.blocks.size(); ++i) {
    EXPECT_EQ(fields.blocks[i].is_told, !run.goes_on[i]);
    for (const auto& [name, range] : told_of_block(fields, i)) {
      ++counts.in_blocks;
      expect_true_and_narrow(range, name, {run.blocks[i]}, counts);
    }
  }
  expect_check_agrees(run, fields);
}

TEST(StatisticsBuilder, EveryRangeCoversEveryPut) {
  StatisticsBuilder builder;  // for all runs: statistics of one run must not contain values of another
  ToldCounts counts;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomValues random(seed);
    const GatheredRun run = random_run(random);
    feed(builder, run);
    judge_run(run, builder.finish(), counts);
    if (HasFailure()) return;
  }
  for (const PropertyType type : {PropertyType::kBoolean, PropertyType::kDateTime, PropertyType::kDouble,
                                  PropertyType::kInt32, PropertyType::kInt64, PropertyType::kString}) {
    EXPECT_GT(counts.ranges[type], 100u) << static_cast<int>(type);
  }
  EXPECT_EQ(counts.ranges.count(PropertyType::kBinary) + counts.ranges.count(PropertyType::kGuid), 0u);
  EXPECT_GT(counts.absent, 100u);
  EXPECT_GT(counts.cut, 100u);
  EXPECT_GT(counts.in_blocks, 1000u);
  EXPECT_GT(counts.runs_untold, 20u);
  EXPECT_LT(counts.runs_untold, 200u);
  EXPECT_GT(counts.puts_judged, 100'000u);
}

TEST(StatisticsBuilder, AnotherRunsPutsAreDenied) {
  std::size_t denied = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    RandomValues random(seed);
    const GatheredFields fields = gathered(random_run(random));
    const GatheredRun other = random_run(random);
    StatisticsCheck check;
    ASSERT_TRUE(check.open(fields.run).ok());
    for (const PutsOfBlock& block : other.blocks) {
      for (const std::string& put : block) {
        const Status status = check.check(put);
        ASSERT_TRUE(status.ok() || status.code() == Code::kCorruption);
        denied += status.ok() ? 0U : 1U;
      }
    }
  }
  EXPECT_GT(denied, 500u);
}

// -- Contents of the statistics ---------------------------------------------------------------------------------------

/// Builds blocks of 20 puts. `properties_of(row)` returns the properties of a put.
template <typename PropertiesOf>
GatheredRun run_of_rows(std::size_t blocks, const PropertiesOf& properties_of) {
  GatheredRun run;
  run.blocks.resize(blocks);
  for (std::size_t row = 0; row < blocks * 20; ++row) run.blocks[row / 20].push_back(entity_of(properties_of(row)));
  return run;
}

std::vector<NamedSample> one_number(std::size_t row) {
  return {{"n", sample_int64(static_cast<std::int64_t>(row))}};
}

TEST(StatisticsBuilder, WhatFollowsTheOrderIsToldOfBlocks) {
  const GatheredFields fields = gathered(run_of_rows(30, one_number));
  ASSERT_TRUE(told_of(fields, "n").has_value());
  EXPECT_TRUE(told_of(fields, "n")->is_in_blocks);
  EXPECT_EQ(told_of(fields, "n")->range.smallest, sample_int64(0).value);
  EXPECT_EQ(told_of(fields, "n")->range.largest, sample_int64(599).value);
  for (std::size_t block = 0; block < 30; ++block) {
    const PropertyRange range = told_of_block(fields, block).at("n");
    EXPECT_EQ(range.smallest, sample_int64(static_cast<std::int64_t>(block * 20)).value);
    EXPECT_EQ(range.largest, sample_int64(static_cast<std::int64_t>(block * 20 + 19)).value);
  }
}

TEST(StatisticsBuilder, TextsThatFollowTheOrderAreToldOfBlocksWhateverTheyBeginWith) {
  for (const std::string& prefix : {std::string(), std::string("a-prefix-"), utf8(U"\uFFFF\U00010000")}) {
    SCOPED_TRACE(prefix);
    const GatheredFields fields = gathered(run_of_rows(30, [&prefix](std::size_t row) {
      return std::vector<NamedSample>{{"s", sample_string(prefix + std::to_string(1000 + row))}};
    }));
    ASSERT_TRUE(told_of(fields, "s").has_value());
    EXPECT_TRUE(told_of(fields, "s")->is_in_blocks);
    EXPECT_EQ(told_of_block(fields, 3).at("s").smallest, prefix + "1060");
    EXPECT_EQ(told_of_block(fields, 3).at("s").largest, prefix + "1079");
  }
}

TEST(StatisticsBuilder, TextsOnBothSidesOfTheSurrogatesAreMeasuredInTheirOrder) {
  const GatheredFields fields = gathered(run_of_rows(30, [](std::size_t row) {
    const bool is_lifted = row >= 300;  // U+E000 and above sort after U+10000 and above
    const auto code_point = static_cast<char32_t>((is_lifted ? 0xE000 : 0x10000) + row * 8);
    return std::vector<NamedSample>{{"s", sample_string(utf8(std::u32string(1, code_point)))}};
  }));
  ASSERT_TRUE(told_of(fields, "s").has_value());
  EXPECT_TRUE(told_of(fields, "s")->is_in_blocks);
}

TEST(StatisticsBuilder, WhatDoesNotFollowTheOrderIsToldOfTheRunAlone) {
  RandomValues random(7);
  const GatheredFields fields = gathered(run_of_rows(30, [&random](std::size_t) {
    return std::vector<NamedSample>{{"n", sample_int64(static_cast<std::int64_t>(random.below(1'000'000)))},
                                    {"s", sample_string(std::to_string(random.below(1'000'000)))}};
  }));
  for (const char* const name : {"n", "s"}) {
    ASSERT_TRUE(told_of(fields, name).has_value());
    EXPECT_FALSE(told_of(fields, name)->is_in_blocks) << name;
  }
  for (std::size_t block = 0; block < 30; ++block) {
    EXPECT_TRUE(fields.blocks[block].is_told);
    EXPECT_TRUE(fields.blocks[block].field.empty());
  }
}

TEST(StatisticsBuilder, WhatABlockLacksIsToldAbsent) {
  const GatheredFields fields = gathered(run_of_rows(10, [](std::size_t row) {
    std::vector<NamedSample> properties = {{"common", sample_int32(static_cast<std::int32_t>(row % 20))}};
    if (row / 20 == 4) properties.push_back({"rare", sample_boolean(true)});
    return properties;
  }));
  ASSERT_TRUE(told_of(fields, "rare").has_value());
  EXPECT_TRUE(told_of(fields, "rare")->is_in_blocks);
  EXPECT_EQ(told_of(fields, "rare")->range.kind, PropertyRange::Kind::kRange);
  for (std::size_t block = 0; block < 10; ++block) {
    EXPECT_EQ(told_of_block(fields, block).at("rare").kind,
              block == 4 ? PropertyRange::Kind::kRange : PropertyRange::Kind::kAbsent)
        << block;
  }
}

TEST(StatisticsBuilder, TheBestOfManyPropertiesAreTold) {
  RandomValues random(8);
  const GatheredFields fields = gathered(run_of_rows(20, [&random](std::size_t row) {
    std::vector<NamedSample> properties;
    for (int i = 0; i < 10; ++i) {
      properties.push_back({"r" + std::to_string(i), sample_int32(static_cast<std::int32_t>(random.below(1'000'000)))});
    }
    for (int i = 0; i < 3; ++i) {
      properties.push_back({"o" + std::to_string(i), sample_int32(static_cast<std::int32_t>(row * 10))});
    }
    properties.push_back({"one", sample_string("everywhere the same")});
    properties.push_back({"o3", sample_double(static_cast<double>(row))});
    properties.push_back({"o4", sample_date_time(row)});
    return properties;
  }));
  const std::vector<NamedRange> told = told_of_run(fields);
  EXPECT_EQ(told.size(), kPropertiesToldOfRunMax);
  EXPECT_EQ(std::count_if(told.begin(), told.end(), [](const NamedRange& named) { return named.is_in_blocks; }), 4);
  for (const char* const name : {"o0", "o1", "o2", "o3", "o4", "one"}) {
    EXPECT_TRUE(told_of(fields, name).has_value()) << name;
  }
  ASSERT_TRUE(told_of(fields, "one").has_value());
  EXPECT_FALSE(told_of(fields, "one")->is_in_blocks) << "no block says more of it than the run";
}

TEST(StatisticsBuilder, TheFirstPropertiesMetAreWatchedIfTheirNamesAreShort) {
  const auto properties = [](std::size_t row, std::size_t count) {
    std::vector<NamedSample> made = {
        {std::string(kWatchedNameBytesMax + 1, 'l'), sample_int32(static_cast<std::int32_t>(row))}};
    for (std::size_t i = 0; i < count; ++i) {
      made.push_back({"p" + std::to_string(i), sample_int32(static_cast<std::int32_t>(i < 16 ? 1 : row))});
    }
    return made;
  };
  for (const std::size_t count : {std::size_t{15}, std::size_t{17}, std::size_t{200}}) {
    const GatheredFields fields = gathered(run_of_rows(10, [&](std::size_t row) { return properties(row, count); }));
    EXPECT_EQ(told_of_run(fields).size(), kPropertiesToldOfRunMax);
    EXPECT_FALSE(told_of(fields, "p16").has_value());
    EXPECT_FALSE(told_of(fields, std::string(kWatchedNameBytesMax + 1, 'l')).has_value());
  }
  const GatheredFields fields = gathered(run_of_rows(10, [](std::size_t row) {
    return std::vector<NamedSample>{{std::string(kWatchedNameBytesMax, 'l'), sample_date_time(row)}};
  }));
  EXPECT_TRUE(told_of(fields, std::string(kWatchedNameBytesMax, 'l')).has_value());
}

// -- Left out of the statistics ---------------------------------------------------------------------------------------

TEST(StatisticsBuilder, NothingIsToldOfABlockWhoseLastKeyGoesOn) {
  GatheredRun run = run_of_rows(5, one_number);
  run.goes_on = {false, true, false, true, false};
  const GatheredFields fields = gathered(run);
  for (std::size_t block = 0; block < 5; ++block) {
    EXPECT_EQ(fields.blocks[block].is_told, !run.goes_on[block]);
    EXPECT_EQ(fields.blocks[block].field.empty(), run.goes_on[block]);
  }
  EXPECT_EQ(told_of(fields, "n")->range.largest, sample_int64(99).value) << "it is part of the run";
}

TEST(StatisticsBuilder, NothingIsToldOfTypesInNoOrderMixedTypesAndNoNumbers) {
  const auto is_told = [](const PropertySample& usual, const PropertySample& once) {
    const GatheredFields fields = gathered(run_of_rows(10, [&](std::size_t row) {
      return std::vector<NamedSample>{{"p", row == 77 ? once : usual}, one_number(row)[0]};
    }));
    EXPECT_TRUE(told_of(fields, "n").has_value()) << "another property is told of all the same";
    return told_of(fields, "p").has_value();
  };
  for (const PropertySample& usual : samples_of_each_type()) {
    const bool is_ordered = usual.type != PropertyType::kBinary && usual.type != PropertyType::kGuid;
    EXPECT_EQ(is_told(usual, usual), is_ordered);
    for (const PropertySample& once : samples_of_each_type()) {
      if (once.type == usual.type) continue;
      EXPECT_FALSE(is_told(usual, once));
    }
  }
  EXPECT_FALSE(is_told(sample_double(1), sample_double(std::nan(""))));
  EXPECT_TRUE(is_told(sample_double(1), sample_double(std::numeric_limits<double>::infinity())));
}

TEST(StatisticsBuilder, NothingIsToldOfARunWithAValueThatIsNoEntity) {
  for (const std::string& value : {std::string(), std::string("no entity"), std::string(3, '\0')}) {
    GatheredRun run = run_of_rows(5, one_number);
    run.blocks[3].insert(run.blocks[3].begin() + 4, value);
    const GatheredFields fields = gathered(run);
    EXPECT_TRUE(fields.run.empty());
    for (const auto& block : fields.blocks) EXPECT_TRUE(block.is_told && block.field.empty());
  }
}

TEST(StatisticsBuilder, BothValuesOfANameThatStandsTwiceAreCovered) {
  const GatheredFields fields = gathered(run_of_rows(1, [](std::size_t) {
    return std::vector<NamedSample>{{"n", sample_int32(3)}, {"n", sample_int32(900)}, {"n", sample_int32(-7)}};
  }));
  ASSERT_TRUE(told_of(fields, "n").has_value());
  EXPECT_EQ(told_of(fields, "n")->range.smallest, sample_int32(-7).value);
  EXPECT_EQ(told_of(fields, "n")->range.largest, sample_int32(900).value);
}

// -- Repeated use -----------------------------------------------------------------------------------------------------

TEST(StatisticsBuilder, ToldOnceItIsEmptyAgain) {
  StatisticsBuilder builder;
  feed(builder, run_of_rows(8, [](std::size_t row) {
         return std::vector<NamedSample>{{"other", sample_int32(static_cast<std::int32_t>(row))}};
       }));
  builder.add(entity_of({{"other", sample_string("in no block")}}));
  builder.add("no entity");
  (void)builder.finish();
  EXPECT_TRUE(builder.finish().blocks.empty());

  const GatheredRun run = run_of_rows(8, one_number);
  feed(builder, run);
  const GatheredFields again = builder.finish();
  const GatheredFields fresh = gathered(run);
  EXPECT_EQ(again.run, fresh.run);
  ASSERT_EQ(again.blocks.size(), fresh.blocks.size());
  for (std::size_t i = 0; i < fresh.blocks.size(); ++i) EXPECT_EQ(again.blocks[i].field, fresh.blocks[i].field);
}

}  // namespace
}  // namespace varve::format::statistics_builder_test
