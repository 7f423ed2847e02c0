// Goal: a shared sequence and a shared map behave like a vector and a map, never change a copy, and copy a bounded
// number of items for each change.
#include "engine/base/shared_sequence.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/shared_map.h"
#include "tests/support/effort.h"

namespace varve::engine::shared_sequence_test {
namespace {

struct ItsValue {
  std::uint64_t operator()(int item) const noexcept { return static_cast<std::uint64_t>(item); }
};
using Sequence = SharedSequence<int, ItsValue>;

void expect_same(const Sequence& sequence, const std::vector<int>& model) {
  ASSERT_EQ(sequence.size(), model.size());
  ASSERT_EQ(sequence.empty(), model.empty());
  ASSERT_TRUE(std::equal(sequence.begin(), sequence.end(), model.begin(), model.end()));
  ASSERT_EQ(sequence.weight(), std::accumulate(model.begin(), model.end(), std::uint64_t{0}));
}

/// Compares everything that a caller can ask of a sequence of rising items.
void expect_same_answers(const Sequence& sequence, const std::vector<int>& model, std::mt19937_64& random) {
  expect_same(sequence, model);
  if (model.empty()) return;
  ASSERT_EQ(sequence.front(), model.front());
  ASSERT_EQ(sequence.back(), model.back());
  const std::size_t at = random() % model.size();
  ASSERT_EQ(sequence[at], model[at]);
  const int wanted = static_cast<int>(random() % 1'000'000);
  const auto is_before = [wanted](int item) { return item < wanted; };
  const auto found = std::partition_point(model.begin(), model.end(), is_before);
  ASSERT_EQ(sequence.index_of_first(is_before), static_cast<std::size_t>(found - model.begin()));
  const int* const item = sequence.find_first(is_before);
  ASSERT_EQ(item == nullptr, found == model.end());
  if (item != nullptr) {
    ASSERT_EQ(*item, *found);
  }
  const std::size_t count = random() % (model.size() - at + 1);
  const Sequence::Span span = sequence.span(at, count);
  ASSERT_EQ(span.size(), count);
  const auto first = model.begin() + static_cast<std::ptrdiff_t>(at);
  ASSERT_TRUE(std::equal(span.begin(), span.end(), first, first + static_cast<std::ptrdiff_t>(count)));
  ASSERT_EQ(span.weight(), std::accumulate(first, first + static_cast<std::ptrdiff_t>(count), std::uint64_t{0}));
  ASSERT_EQ(sequence.weight_of_first(at), std::accumulate(model.begin(), first, std::uint64_t{0}));
  ASSERT_TRUE(std::equal(std::make_reverse_iterator(sequence.end()), std::make_reverse_iterator(sequence.begin()),
                         model.rbegin(), model.rend()));
}

TEST(SharedSequenceProperty, BehavesLikeAVectorAndChangesNoCopy) {
  for (std::uint64_t seed = 1; seed <= test::effort<std::uint64_t>(30); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<int> model(random() % 3000);
    for (int& item : model) item = static_cast<int>(random() % 1'000'000);
    std::sort(model.begin(), model.end());
    Sequence sequence{std::vector<int>(model)};
    Sequence kept = sequence;
    std::vector<int> kept_model = model;
    for (int step = 0; step < 3000; ++step) {
      const bool shrinks = step / 1000 == 1;  // so that the sequence also becomes small
      const std::uint64_t choice = random() % 4;
      if (!model.empty() && (shrinks ? choice > 0 : choice == 0)) {
        const std::size_t at = random() % model.size();
        sequence.erase(at);
        model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
      } else if (!model.empty() && choice == 1) {
        const std::size_t at = random() % model.size();
        sequence.replace(at, model[at]);
      } else {
        const int item = static_cast<int>(random() % 1'000'000);
        const auto place = std::lower_bound(model.begin(), model.end(), item);
        sequence.insert(static_cast<std::size_t>(place - model.begin()), item);
        model.insert(place, item);
      }
      if (step % 50 == 0) {
        expect_same_answers(sequence, model, random);
        expect_same(kept, kept_model);
        kept = sequence;
        kept_model = model;
      }
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(SharedSequence, ARowOfRemovalsLeavesAnEmptyOne) {
  Sequence sequence(std::vector<int>(2000, 1));
  while (!sequence.empty()) sequence.erase(sequence.size() / 2);
  EXPECT_EQ(sequence.size(), 0u);
  EXPECT_TRUE(sequence.begin() == sequence.end());
  sequence.insert(0, 7);
  EXPECT_EQ(sequence.back(), 7);
}

/// Counts its copies.
struct Counted {
  static inline std::size_t copies = 0;
  Counted() = default;
  Counted(const Counted& /*other*/) { ++copies; }
  Counted(Counted&&) noexcept = default;
  Counted& operator=(const Counted& /*other*/) {
    ++copies;
    return *this;
  }
  Counted& operator=(Counted&&) noexcept = default;
};

TEST(SharedSequence, AChangeCopiesTheItemsOfOnePartHoweverManyThereAre) {
  for (const std::size_t count : {100u, 1'000u, 16'000u, 100'000u}) {
    SCOPED_TRACE(count);
    SharedSequence<Counted> sequence{std::vector<Counted>(count)};
    const SharedSequence<Counted> copy = sequence;
    std::mt19937_64 random(count);
    for (int change = 0; change < 300; ++change) {
      Counted::copies = 0;
      const std::size_t at = random() % sequence.size();
      if (change % 3 == 0) sequence.insert(at, Counted());
      if (change % 3 == 1) sequence.erase(at);
      if (change % 3 == 2) sequence.replace(at, Counted());
      ASSERT_LE(Counted::copies, 2 * SharedSequence<Counted>::kWidth);
    }
    EXPECT_EQ(copy.size(), count);
  }
}

TEST(SharedMapProperty, BehavesLikeAMapAndChangesNoCopy) {
  using Map = SharedMap<std::string>;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Map map;
    std::map<std::uint64_t, std::string> model;
    Map kept;
    std::map<std::uint64_t, std::string> kept_model;
    for (int step = 0; step < 2000; ++step) {
      const std::uint64_t number = 1 + random() % 500;
      const std::string value = std::to_string(random());
      switch (random() % 5) {
        case 0: ASSERT_EQ(map.erase(number), model.erase(number) == 1); break;
        case 1:
          map.insert_or_assign(number, value);
          model.insert_or_assign(number, value);
          break;
        case 2: {
          std::vector<Map::Entry> added;
          std::map<std::uint64_t, std::string> next = model;
          bool twice = false;
          for (std::uint64_t count = random() % 60; count > 0; --count) {
            const std::uint64_t new_number = 1 + random() % 5000;
            added.push_back(std::make_shared<const Map::value_type>(new_number, value));
            twice |= !next.emplace(new_number, value).second;
          }
          ASSERT_EQ(map.insert_all(std::move(added)).has_value(), twice);
          if (!twice) model = std::move(next);
          break;
        }
        default: ASSERT_EQ(map.emplace(number, value), model.emplace(number, value).second);
      }
      ASSERT_EQ(map.contains(number), model.contains(number));
      ASSERT_EQ(map.find(number) == map.end(), !model.contains(number));
      ASSERT_EQ(map.largest_number(), model.empty() ? 0 : model.rbegin()->first);
      if (step % 50 == 0) {
        ASSERT_TRUE(std::equal(map.begin(), map.end(), model.begin(), model.end()));
        ASSERT_TRUE(std::equal(kept.begin(), kept.end(), kept_model.begin(), kept_model.end()));
        ASSERT_EQ(map == kept, model == kept_model);
        kept = map;
        kept_model = model;
      }
    }
  }
}

}  // namespace
}  // namespace varve::engine::shared_sequence_test
