// Owns: the proof that a file's filter is equally good for absent keys, whatever the level of the file's creation. The
// file may move to the last level unchanged.
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "engine/compaction/tree.h"
#include "format/block/filter.h"

namespace varve::engine::level_filters_test {
namespace {

/// Returns the share of absent keys that passes, in percent. Their number is that of the keys in a file of the last
/// level.
double passed_percent(const format::FilterChoice& options) {
  constexpr std::size_t kKeys = 200'000;
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> hashes(kKeys);
  for (std::uint64_t& hash : hashes) hash = random();
  const Result<std::string> content = format::build_filter(options.kind, hashes, options.bits_per_key);
  EXPECT_TRUE(content.ok()) << content.status().to_string();
  const Result<format::FilterView> filter = format::FilterView::parse(*content);
  EXPECT_TRUE(filter.ok()) << filter.status().to_string();
  std::size_t passed = 0;
  for (std::size_t i = 0; i < kKeys; ++i) passed += filter->may_contain(random()) ? 1U : 0U;
  return 100.0 * static_cast<double>(passed) / kKeys;
}

TEST(LevelFilters, LetOneAbsentKeyOf200PassAtMostAtEveryLevel) {
  for (std::uint32_t level = 0; level <= kLastLevel; ++level) {
    SCOPED_TRACE(level);
    EXPECT_LE(passed_percent(table_options(level).filter), 0.5);
  }
  EXPECT_LE(passed_percent(passing_table_options().filter), 0.5);
}

}  // namespace
}  // namespace varve::engine::level_filters_test
