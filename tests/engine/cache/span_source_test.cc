// Goal: a span comes from the documented region (engine/cache/span_source.h), and no span is given out twice.
// Method: small regions of four spans each, taken completely and returned partly; and a random sequence of many
// operations.
#include "engine/cache/span_source.h"

#include <cstddef>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "io/scheduler.h"
#include "tests/format/random_values.h"

namespace varve::engine::span_source_test {
namespace {

using Span = SpanSource::Span;

class SpanSourceTest : public testing::Test {
 protected:
  ~SpanSourceTest() override {
    for (const Span& span : taken_) source_.give_back(span);
  }

  void take(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) taken_.push_back(source_.take());
  }
  /// Returns the taken spans of the region that contains the span `number`.
  std::vector<Span> neighbours_of(std::size_t number) const {
    std::vector<Span> found;
    for (const Span& span : taken_) {
      if (span.region == taken_[number].region) found.push_back(span);
    }
    return found;
  }
  void give_back(const Span& span) {
    std::erase_if(taken_, [&](const Span& other) { return other.begin == span.begin; });
    source_.give_back(span);
  }

  io::Scheduler scheduler_;
  SpanSource source_{scheduler_};
  std::vector<Span> taken_;
};

TEST_F(SpanSourceTest, TheRegionWithTheFewestFreeSpansGivesFirst) {
  take(40);
  const std::vector<Span> two = neighbours_of(0);
  const std::vector<Span> one = neighbours_of(20);
  give_back(two[0]);
  give_back(one[0]);
  give_back(two[1]);
  EXPECT_EQ(source_.take().begin, one[0].begin);
  taken_.push_back(one[0]);
  take(2);
  EXPECT_EQ(taken_[taken_.size() - 2].region, two[0].region);
  EXPECT_EQ(taken_.back().region, two[0].region);
}

TEST_F(SpanSourceTest, SpansWhosePagesAreThereComeBeforeThoseWhosePagesAreNot) {
  take(40);
  const std::vector<Span> kept = neighbours_of(0);
  const std::vector<Span> absent = neighbours_of(20);
  give_back(kept[0]);
  give_back(kept[1]);
  give_back(neighbours_of(10)[0]);
  give_back(neighbours_of(10)[0]);
  const std::uint64_t held = source_.held_bytes();
  give_back(absent[0]);  // the fifth free span
  ASSERT_EQ(source_.held_bytes(), held - kSpanBytes);
  take(4);
  for (std::size_t i = taken_.size() - 4; i < taken_.size(); ++i) EXPECT_NE(taken_[i].region, absent[0].region) << i;
  take(1);
  EXPECT_EQ(taken_.back().begin, absent[0].begin);
}

TEST_F(SpanSourceTest, ManySpansComeAndGoAndNoneIsGivenTwice) {
  format::RandomValues random(11);
  std::set<std::byte*> begins;
  for (int step = 0; step < 20'000; ++step) {
    const bool grows = (step / 2000) % 2 == 0;
    if (taken_.empty() || random.below(10) < (grows ? 7u : 3u)) {
      take(1);
      ASSERT_NE(taken_.back().begin, nullptr);
      ASSERT_TRUE(begins.insert(taken_.back().begin).second) << "at step " << step;
      *taken_.back().begin = std::byte{1};
    } else {
      const Span span = taken_[random.below(taken_.size())];
      begins.erase(span.begin);
      give_back(span);
    }
    ASSERT_GE(source_.held_bytes(), taken_.size() * kSpanBytes);
  }
}

}  // namespace
}  // namespace varve::engine::span_source_test
