// Owns: the promises of the cursor (engine/read/cursor.h).

#include "engine/read/cursor.h"

#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/memory/memtable_cursor.h"
#include "io/scheduler.h"
#include "tests/engine/memory/memtable_fill.h"

namespace varve::engine::cursor_test {
namespace {

struct Live {
  CommitVersion version = 0;
  std::string value;
};
/// The visible content of a range at one version.
using Model = std::map<std::string, Live, std::less<>>;

std::vector<std::string> keys_forward(Cursor& cursor) {
  std::vector<std::string> keys;
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) keys.emplace_back(cursor.key());
  return keys;
}

std::vector<std::string> keys_backward(Cursor& cursor) {
  std::vector<std::string> keys;
  for (cursor.seek_to_last(); cursor.valid(); cursor.previous()) keys.emplace_back(cursor.key());
  return {keys.rbegin(), keys.rend()};
}

/// Returns a cursor over memory that outlives it, so that it pins no state of a store.
Cursor walk_over(const Memtable& memtable, std::string_view lower, std::string_view upper, CommitVersion version) {
  return Cursor(ReadStates::Pin(), std::make_unique<MemtableCursor>(memtable), lower, upper, version);
}

class CursorTest : public testing::Test {
 protected:
  Cursor cursor(CommitVersion version, std::string_view lower = "", std::string_view upper = "") {
    return walk_over(memtable_, lower, upper, version);
  }
  Memtable memtable_;
};

TEST_F(CursorTest, IsNowhereBeforeItMoves) {
  insert(memtable_, {put(key_of(1), "")}, 1);
  const Cursor one = cursor(1);
  EXPECT_FALSE(one.valid());
  EXPECT_TRUE(one.status().ok());
}

TEST_F(CursorTest, ShowsNothingOfAnEmptyMemtable) {
  Cursor one = cursor(1);
  one.seek_to_first();
  EXPECT_FALSE(one.valid());
  one.seek_to_last();
  EXPECT_FALSE(one.valid());
  one.seek(key_of(1));
  EXPECT_FALSE(one.valid());
  EXPECT_TRUE(one.status().ok());
}

TEST_F(CursorTest, ShowsEachKeyOnceAtItsVersion) {
  insert(memtable_, {put(key_of(1), "a1"), put(key_of(2), "b1")}, 10);
  insert(memtable_, {put(key_of(1), "a2"), put(key_of(3), "c2")}, 20);

  Cursor one = cursor(10);
  one.seek_to_first();
  ASSERT_TRUE(one.valid());
  EXPECT_EQ(one.key(), key_of(1));
  EXPECT_EQ(one.value(), "a1");
  EXPECT_EQ(one.version(), 10u);
  one.next();
  EXPECT_EQ(one.key(), key_of(2));
  one.next();
  EXPECT_FALSE(one.valid());

  Cursor later = cursor(20);
  later.seek_to_last();
  EXPECT_EQ(later.key(), key_of(3));
  later.previous();
  EXPECT_EQ(later.key(), key_of(2));
  EXPECT_EQ(later.version(), 10u);
  later.previous();
  EXPECT_EQ(later.value(), "a2");
  later.previous();
  EXPECT_FALSE(later.valid());
}

TEST_F(CursorTest, HidesWhatWasDeletedAtItsVersion) {
  insert(memtable_, {put(key_of(1), ""), put(key_of(2), ""), put(key_of(3), "")}, 10);
  insert(memtable_, {remove(key_of(2)), remove(key_of(9))}, 20);
  insert(memtable_, {put(key_of(2), "again")}, 30);
  for (const CommitVersion version : {10u, 19u, 30u, 99u}) {
    Cursor one = cursor(version);
    EXPECT_EQ(keys_forward(one), (std::vector{key_of(1), key_of(2), key_of(3)}));
    EXPECT_EQ(keys_backward(one), (std::vector{key_of(1), key_of(2), key_of(3)}));
  }
  for (const CommitVersion version : {20u, 29u}) {
    Cursor one = cursor(version);
    EXPECT_EQ(keys_forward(one), (std::vector{key_of(1), key_of(3)}));
    EXPECT_EQ(keys_backward(one), (std::vector{key_of(1), key_of(3)}));
  }
  Cursor before = cursor(9);
  EXPECT_TRUE(keys_forward(before).empty());
  EXPECT_TRUE(keys_backward(before).empty());
}

TEST_F(CursorTest, KeepsWithinItsRange) {
  std::vector<Write> writes;
  for (std::uint64_t i = 0; i < 10; ++i) writes.push_back(put(key_of(i), ""));
  insert(memtable_, writes, 1);
  Cursor one = cursor(1, key_of(3), key_of(6));
  EXPECT_EQ(keys_forward(one), (std::vector{key_of(3), key_of(4), key_of(5)}));
  EXPECT_EQ(keys_backward(one), (std::vector{key_of(3), key_of(4), key_of(5)}));
  one.seek(key_of(0));
  EXPECT_EQ(one.key(), key_of(3));
  one.previous();
  EXPECT_FALSE(one.valid());
  one.seek(key_of(5));
  EXPECT_EQ(one.key(), key_of(5));
  one.next();
  EXPECT_FALSE(one.valid());
  one.seek(key_of(6));
  EXPECT_FALSE(one.valid());
  one.seek(key_of(8));
  EXPECT_FALSE(one.valid());

  for (const auto& [lower, upper] : {std::pair(key_of(5), key_of(5)), std::pair(key_of(6), key_of(3))}) {
    Cursor empty = cursor(1, lower, upper);
    EXPECT_TRUE(keys_forward(empty).empty());
    EXPECT_TRUE(keys_backward(empty).empty());
  }
}

TEST_F(CursorTest, ARangeMayBeAPrefixThatIsNoKey) {
  insert(memtable_,
         {put(key_of("a", "1"), ""), put(key_of("b", "1"), ""), put(key_of("b", "2"), ""), put(key_of("bb", "1"), ""),
          put(key_of("c", "1"), "")},
         1);
  const std::string partition = *format::encode_partition(format::make_table_id(1, 1), "b");
  Cursor one = cursor(1, partition, format::end_of_prefix(partition));
  EXPECT_EQ(keys_forward(one), (std::vector{key_of("b", "1"), key_of("b", "2")}));
  EXPECT_EQ(keys_backward(one), (std::vector{key_of("b", "1"), key_of("b", "2")}));
}

TEST_F(CursorTest, PassesVeryManyVersionsOfAKeyCheaply) {
  for (CommitVersion version = 1; version <= 10'000; ++version) {
    insert(memtable_, {version % 2 == 0 ? put(key_of(2), "") : remove(key_of(2))}, version);
  }
  insert(memtable_, {put(key_of(1), ""), put(key_of(3), "")}, 1);
  insert(memtable_, {put(key_of(4), "")}, 10'001);
  for (const CommitVersion version :
       {CommitVersion{1}, CommitVersion{4'999}, CommitVersion{5'000}, CommitVersion{10'000}}) {
    SCOPED_TRACE(version);
    Cursor one = cursor(version);
    const std::size_t expected = version % 2 == 0 ? 3 : 2;
    EXPECT_EQ(keys_forward(one).size(), expected);
    EXPECT_EQ(keys_backward(one).size(), expected);
    EXPECT_LT(one.entries_examined(), 60u);
  }
}

/// A scan that often changes direction, compared with a sorted map.
class CursorModel : public testing::TestWithParam<std::uint64_t> {
 protected:
  CursorModel() : random_(GetParam()), trace_(__FILE__, __LINE__, "seed " + std::to_string(GetParam())) {}

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::string random_key() { return key_of(below(120)); }

  void write_one_batch() {
    version_ += 1 + below(2);
    std::map<std::string, Write> writes;
    const std::uint64_t count = 1 + below(6);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string key = below(3) == 0 ? key_of(below(4)) : random_key();  // a few with many versions
      writes[key] = below(3) == 0 ? remove(key) : put(key, std::to_string(random_()));
    }
    std::vector<Write> batch;
    for (auto& [key, write] : writes) {
      if (write.kind == Kind::kPut) {
        state_[key] = {version_, write.value};
      } else {
        state_.erase(key);
      }
      batch.push_back(std::move(write));
    }
    insert(memtable_, batch, version_);
  }

  static Model within(const Model& model, const std::string& lower, const std::string& upper) {
    if (!upper.empty() && lower >= upper) return {};
    return {model.lower_bound(lower), upper.empty() ? model.end() : model.lower_bound(upper)};
  }

  void expect_same(const Cursor& cursor, const Model& model, Model::const_iterator expected) {
    ASSERT_EQ(cursor.valid(), expected != model.end());
    if (!cursor.valid()) return;
    ASSERT_EQ(cursor.key(), expected->first);
    ASSERT_EQ(cursor.value(), expected->second.value);
    ASSERT_EQ(cursor.version(), expected->second.version);
  }

  /// Moves both randomly `steps` times, while new versions are inserted.
  void walk(Cursor& cursor, const Model& model, int steps) {
    const auto before = [&](Model::const_iterator at) { return at == model.begin() ? model.end() : std::prev(at); };
    auto expected = model.end();
    for (int step = 0; step < steps; ++step) {
      SCOPED_TRACE(step);
      if (below(8) == 0) write_one_batch();
      switch (below(cursor.valid() ? 16 : 3)) {
        case 0:
          cursor.seek_to_first();
          expected = model.begin();
          break;
        case 1:
          cursor.seek_to_last();
          expected = before(model.end());
          break;
        case 2: {
          const std::string key = random_key();
          cursor.seek(key);
          expected = model.lower_bound(key);
          break;
        }
        default:
          if (below(2) == 0) {
            cursor.next();
            ++expected;
          } else {
            cursor.previous();
            expected = before(expected);
          }
      }
      ASSERT_NO_FATAL_FAILURE(expect_same(cursor, model, expected));
    }
  }

  std::mt19937_64 random_;
  testing::ScopedTrace trace_;
  Memtable memtable_;
  Model state_;  // at version_
  CommitVersion version_ = 0;
};

TEST_P(CursorModel, WalksAsASortedMapDoesAtAnyVersionInAnyRange) {
  std::map<CommitVersion, Model> states;
  for (int i = 0; i < 300; ++i) {
    write_one_batch();
    if (below(10) == 0) states[version_] = state_;
  }
  for (const auto& [version, state] : states) {
    SCOPED_TRACE(version);
    const std::string lower = below(3) == 0 ? std::string() : random_key();
    const std::string upper = below(3) == 0 ? std::string() : random_key();
    SCOPED_TRACE(testing::PrintToString(lower) + " to " + testing::PrintToString(upper));
    const Model model = within(state, lower, upper);
    Cursor cursor = walk_over(memtable_, lower, upper, version);
    ASSERT_NO_FATAL_FAILURE(walk(cursor, model, 150));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CursorModel, testing::Range<std::uint64_t>(1, 9));

TEST(CursorThreads, AWalkShowsItsVersionWhileOthersWrite) {
  constexpr std::uint64_t kKeys = 400;
  constexpr CommitVersion kSnapshot = 2;
  Memtable memtable;
  std::vector<Write> first;
  std::vector<Write> second;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    first.push_back(put(key_of(i), "first"));
    if (i % 3 == 0) second.push_back(remove(key_of(i)));
  }
  insert(memtable, first, 1);
  insert(memtable, second, kSnapshot);

  io::Scheduler scheduler;
  std::atomic<bool> done{false};
  io::Thread writer = *scheduler.start("writer", [&] {
    for (CommitVersion version = kSnapshot + 1; version < 400; ++version) {
      std::vector<Write> writes;
      for (std::uint64_t i = version % 7; i < 2 * kKeys; i += 7) {
        writes.push_back(version % 2 == 0 ? put(key_of(i), "later") : remove(key_of(i)));
      }
      insert(memtable, writes, version);
    }
    done.store(true, std::memory_order_release);
  });
  bool last = false;
  while (!last) {
    last = done.load(std::memory_order_acquire);
    Cursor cursor = walk_over(memtable, "", "", kSnapshot);
    std::uint64_t shown = 0;
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
      ASSERT_EQ(cursor.value(), "first");
      ++shown;
    }
    for (cursor.seek_to_last(); cursor.valid(); cursor.previous()) {
      ASSERT_EQ(cursor.value(), "first");
      ++shown;
    }
    ASSERT_EQ(shown, 2 * (kKeys - (kKeys + 2) / 3));
  }
}

}  // namespace
}  // namespace varve::engine::cursor_test
