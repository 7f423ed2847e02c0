// Goal: keys with very many versions cost a scan little, in either direction, and it shows what it should.
// Method: scans over several memtables, whose moves are counted, and compared with sorted maps. One half of the sources
// has only the moves that every source has.
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/memory/memtable_cursor.h"
#include "engine/read/cursor.h"
#include "engine/read/merge_cursor.h"
#include "tests/engine/memory/memtable_fill.h"

namespace varve::engine::hot_keys_test {
namespace {

struct Moves {
  std::uint64_t seeks = 0;
  std::uint64_t steps = 0;
};

/// A memtable's entries, by the moves that every source has.
class PlainCursor : public EntryCursor {
 public:
  PlainCursor(const Memtable& memtable, Moves& moves) noexcept : cursor_(memtable), moves_(moves) {}

  void seek(std::string_view sort_key, CommitVersion at_most) override {
    ++moves_.seeks;
    cursor_.seek(std::string(sort_key), at_most);
  }
  void seek_before(std::string_view sort_key) override {
    ++moves_.seeks;
    cursor_.seek_before(std::string(sort_key));
  }
  void seek_to_last() override {
    ++moves_.seeks;
    cursor_.seek_to_last();
  }
  void next() override {
    ++moves_.steps;
    cursor_.next();
  }
  void previous() override {
    ++moves_.steps;
    cursor_.previous();
  }
  bool valid() const noexcept override { return cursor_.valid(); }
  Entry entry() const noexcept override { return cursor_.entry(); }
  Status status() const override { return Status(); }

 private:
  Memtable::Cursor cursor_;
  Moves& moves_;
};

/// Memtables from the newest to the oldest, as the sources of a scan.
class HotKeys : public testing::Test {
 protected:
  static constexpr std::uint64_t kSources = 6;
  static constexpr CommitVersion kVersionsOfASource = 1000;

  /// Each source has keys 10 to 19. Key 15 is hot in `hot_sources` of them.
  void fill(std::uint64_t hot_sources) {
    for (std::uint64_t i = 0; i < kSources; ++i) {
      Memtable& memtable = *memtables_.insert(memtables_.begin(), std::make_unique<Memtable>())->get();
      for (std::uint64_t key = 10; key < 20; ++key) {
        insert(memtable, {put(key_of(100 * key + i), "quiet")}, ++version_);
      }
      for (CommitVersion n = 0; i < hot_sources && n < kVersionsOfASource; ++n) {
        insert(memtable, {put(key_of(1'550), std::to_string(n))}, ++version_);
      }
    }
  }

  Cursor scan(CommitVersion version) {
    std::vector<std::unique_ptr<EntryCursor>> sources;
    moves_.assign(memtables_.size(), Moves());
    for (std::size_t i = 0; i < memtables_.size(); ++i) {
      sources.push_back(std::make_unique<PlainCursor>(*memtables_[i], moves_[i]));
    }
    return Cursor(ReadStates::Pin(), std::make_unique<MergeCursor>(std::move(sources)), "", "", version);
  }

  /// Checks that quiet sources, the first ones, were sought once, and how often the others were at most.
  void expect_seeks(std::uint64_t hot_sources, std::uint64_t seeks_max) {
    for (std::size_t i = 0; i < memtables_.size(); ++i) {
      SCOPED_TRACE(i);
      EXPECT_LE(moves_[i].seeks, i < kSources - hot_sources ? 1 : seeks_max);
      EXPECT_LE(moves_[i].steps, 10 + 2 * EntryCursor::kVersionStepsMax);
    }
  }

  std::vector<std::unique_ptr<Memtable>> memtables_;
  std::vector<Moves> moves_;
  CommitVersion version_ = 0;
};

TEST_F(HotKeys, ArePassedForwardBySeeksOfTheSourcesThatHoldThem) {
  for (const std::uint64_t hot : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}, kSources}) {
    SCOPED_TRACE(hot);
    memtables_.clear();
    fill(hot);
    Cursor cursor = scan(version_);
    std::uint64_t count = 0;
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) ++count;
    EXPECT_EQ(count, 10 * kSources + (hot > 0 ? 1 : 0));
    expect_seeks(hot, 2);
  }
}

TEST_F(HotKeys, ArePassedBackwardBySeeksOfTheSourcesThatHoldThem) {
  for (const std::uint64_t hot : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}, kSources}) {
    SCOPED_TRACE(hot);
    memtables_.clear();
    fill(hot);
    Cursor cursor = scan(version_);
    std::uint64_t count = 0;
    for (cursor.seek_to_last(); cursor.valid(); cursor.previous()) ++count;
    EXPECT_EQ(count, 10 * kSources + (hot > 0 ? 1 : 0));
    expect_seeks(hot, 3);
  }
}

TEST_F(HotKeys, WithVersionsAboveTheScansArePassedBySeeksOfTheSourcesThatHoldThem) {
  fill(kSources);
  const CommitVersion old = 500;  // in the middle of the oldest source's versions
  Cursor forward = scan(old);
  std::uint64_t count = 0;
  for (forward.seek_to_first(); forward.valid(); forward.next()) ++count;
  EXPECT_EQ(count, 11u);
  for (const Moves& moves : moves_) EXPECT_LE(moves.seeks, 3u);
  Cursor backward = scan(old);
  count = 0;
  for (backward.seek_to_last(); backward.valid(); backward.previous()) ++count;
  EXPECT_EQ(count, 11u);
  for (const Moves& moves : moves_) EXPECT_LE(moves.seeks, 3u);
}

TEST_F(HotKeys, WithVersionsAboveTheScansAloneMoveNoOtherSource) {
  fill(0);
  const CommitVersion old = version_;
  Memtable& newest = *memtables_.insert(memtables_.begin(), std::make_unique<Memtable>())->get();
  for (CommitVersion n = 0; n < kVersionsOfASource; ++n) insert(newest, {put(key_of(1'550), "hot")}, ++version_);
  for (const bool backward : {false, true}) {
    SCOPED_TRACE(backward);
    Cursor cursor = scan(old);
    std::uint64_t count = 0;
    for (backward ? cursor.seek_to_last() : cursor.seek_to_first(); cursor.valid();
         backward ? cursor.previous() : cursor.next()) {
      ++count;
    }
    EXPECT_EQ(count, 10 * kSources);
    EXPECT_LE(moves_[0].seeks, 2u);
    for (std::size_t i = 1; i < moves_.size(); ++i) EXPECT_EQ(moves_[i].seeks, 1u);
  }
}

TEST_F(HotKeys, InAMemtableArePassedInAFewSteps) {
  Memtable memtable;
  for (const std::uint64_t versions : std::initializer_list<std::uint64_t>{1, 2, 3, 10, 10'000}) {
    const std::string hot = key_of(2 * versions);
    const std::string next = key_of(2 * versions + 1);
    for (std::uint64_t n = 0; n < versions; ++n) insert(memtable, {put(hot, "")}, ++version_);
    insert(memtable, {put(next, "")}, ++version_);
    Memtable::Cursor cursor(memtable);
    for (const CommitVersion from : {version_, version_ - 1 - versions / 2}) {
      cursor.seek(hot, from);
      ASSERT_TRUE(cursor.valid());
      ASSERT_EQ(cursor.entry().sort_key, hot);
      EXPECT_LE(cursor.pass_key(hot), 3u);
      ASSERT_TRUE(cursor.valid());
      EXPECT_EQ(cursor.entry().sort_key, next);
    }
  }
  memtable.check_invariants();
}

/// Few keys with many versions, in several memtables. Commits are inserted in a shuffled order, as several leaders do.
class HotKeyModel : public testing::TestWithParam<std::uint64_t> {
 protected:
  using Model = std::map<std::string, std::pair<CommitVersion, std::string>>;
  static constexpr std::uint64_t kKeys = 8;

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void add_memtable() {
    memtables_.insert(memtables_.begin(), std::make_unique<Memtable>());
    std::vector<std::pair<CommitVersion, std::string>> commits;
    const std::uint64_t hot = below(kKeys);
    for (std::uint64_t i = below(60); i > 0; --i) {
      const std::string key = key_of(below(3) == 0 ? below(kKeys) : hot);
      const std::string value = std::to_string(++version_);
      Model next = states_.rbegin()->second;
      if (below(4) == 0) {
        next.erase(key);
        commits.emplace_back(version_, batch_of({remove(key)}));
      } else {
        next[key] = {version_, value};
        commits.emplace_back(version_, batch_of({put(key, value)}));
      }
      states_[version_] = std::move(next);
    }
    for (std::size_t i = 0; i + 1 < commits.size(); ++i) {
      if (below(3) == 0) std::swap(commits[i], commits[i + 1]);
    }
    for (const auto& [version, batch] : commits) insert(*memtables_.front(), batch, version);
    memtables_.front()->check_invariants();
  }

  Cursor scan(CommitVersion version) {
    std::vector<std::unique_ptr<EntryCursor>> sources;
    for (const auto& memtable : memtables_) {
      if (below(2) == 0) {
        sources.push_back(std::make_unique<PlainCursor>(*memtable, moves_));
      } else {
        sources.push_back(std::make_unique<MemtableCursor>(*memtable));
      }
    }
    return Cursor(ReadStates::Pin(), std::make_unique<MergeCursor>(std::move(sources)), "", "", version);
  }

  void walk(CommitVersion version) {
    const Model& model = states_.at(version);
    Cursor cursor = scan(version);
    Model::const_iterator at = model.end();
    const auto before = [&](Model::const_iterator place) {
      return place == model.begin() ? model.end() : std::prev(place);
    };
    for (int step = 0; step < 30; ++step) {
      SCOPED_TRACE(step);
      const std::string key = key_of(below(kKeys + 1));
      switch (below(cursor.valid() ? 12 : 4)) {
        case 0: cursor.seek_to_first(), at = model.begin(); break;
        case 1: cursor.seek_to_last(), at = before(model.end()); break;
        case 2: cursor.seek(key), at = model.lower_bound(key); break;
        case 3: cursor.seek_before(key), at = before(model.lower_bound(key)); break;
        default:
          if (below(3) > 0) {
            cursor.next(), ++at;
          } else {
            cursor.previous(), at = before(at);
          }
      }
      ASSERT_EQ(cursor.valid(), at != model.end());
      if (!cursor.valid()) continue;
      ASSERT_EQ(cursor.key(), at->first);
      ASSERT_EQ(cursor.version(), at->second.first);
      ASSERT_EQ(cursor.value(), at->second.second);
    }
  }

  std::mt19937_64 random_{GetParam()};
  std::vector<std::unique_ptr<Memtable>> memtables_;
  std::map<CommitVersion, Model> states_{{0, {}}};
  CommitVersion version_ = 0;
  Moves moves_;
};

TEST_P(HotKeyModel, IsScannedAsSortedMapsAreAtEveryVersion) {
  for (std::uint64_t i = 1 + below(5); i > 0; --i) add_memtable();
  for (CommitVersion version = 0; version <= version_; ++version) {
    SCOPED_TRACE("seed " + std::to_string(GetParam()) + ", version " + std::to_string(version));
    ASSERT_NO_FATAL_FAILURE(walk(version));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, HotKeyModel, testing::Range<std::uint64_t>(1, 41));

}  // namespace
}  // namespace varve::engine::hot_keys_test
