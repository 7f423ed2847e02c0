// Owns: the fixture of tests that cut work at keys: random rows over a base of many small files, and versions that are held and
// compared with their rows.
// Must never: write a level 0 of its own. The tests say when memtables are flushed.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/engine_bench.h"
#include "tests/support/small_trees.h"

namespace varve::engine {

/// The parameter is a seed.
class HeldRows : public testing::TestWithParam<std::uint64_t> {
 protected:
  using Change = test::Change;
  using Machine = test::Machine;
  using Rows = std::map<std::string, std::string>;

  static constexpr std::uint64_t kRowCount = 600;
  static constexpr std::size_t kValueBytes = 500;
  static constexpr std::uint64_t kFileBytes = 16 << 10;

  /// An update has so many bytes, and one write in `one_removes` is a delete.
  HeldRows(std::size_t update_bytes, std::uint64_t one_removes)
      : update_bytes_(update_bytes), one_removes_(one_removes) {}

  static std::string name_of(std::uint64_t row) { return std::to_string(10'000 + row); }
  static std::string key_of(std::uint64_t row) { return test::key_of("p", name_of(row)); }

  void put(Change& change, std::uint64_t row, std::size_t bytes, Rows& rows) {
    std::string value(bytes, ' ');
    for (char& byte : value) byte = static_cast<char>(random_.next());  // incompressible
    change.put("p", name_of(row), value);
    rows[key_of(row)] = value;
  }

  /// Writes every second row.
  void write_half(Engine& engine, std::uint64_t first, Rows& rows) {
    Change change;
    for (std::uint64_t row = first; row < kRowCount; row += 2) put(change, row, kValueBytes, rows);
    ASSERT_TRUE(change.commit(engine).ok());
  }
  /// Makes a base of many files. Two files that overlap are merged, and so cut into files of the tree's size.
  void make_base(Engine& engine, Rows& rows) {
    for (std::uint64_t file = 0; file < 2; ++file) {
      write_half(engine, file, rows);
      ASSERT_EQ(engine.flush().to_string(), "Ok");
    }
    ASSERT_EQ(engine.compact().to_string(), "Ok");
    ASSERT_GT(engine.statistics().levels[kLastLevel].files, 3u);
    ASSERT_EQ(engine.statistics().levels[0].files, 0u);
  }

  /// Updates or removes random rows.
  void write(std::uint64_t count) {
    Change change;
    std::set<std::uint64_t> written;
    while (written.size() < count) {
      const std::uint64_t row = io::random_below(random_, kRowCount);
      if (!written.insert(row).second) continue;
      if (!io::one_in(random_, one_removes_)) {
        put(change, row, update_bytes_, rows_);
        continue;
      }
      change.remove("p", name_of(row));
      rows_.erase(key_of(row));
    }
    ASSERT_TRUE(change.commit(*engine_).ok());
  }

  LevelStatistics level(std::uint32_t number) const { return engine_->statistics().levels[number]; }

  static void compare(const ReadView& view, const Rows& rows) {
    Cursor cursor = view.cursor("", "");
    auto at = rows.begin();
    for (cursor.seek_to_first(); cursor.valid(); cursor.next(), ++at) {
      ASSERT_NE(at, rows.end());
      ASSERT_EQ(cursor.key(), at->first);
      ASSERT_EQ(cursor.value(), at->second);
    }
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    ASSERT_EQ(at, rows.end());
    auto back = rows.rbegin();
    for (cursor.seek_to_last(); cursor.valid(); cursor.previous(), ++back) ASSERT_EQ(cursor.key(), back->first);
    ASSERT_EQ(back, rows.rend());
    for (std::uint64_t row = 0; row < kRowCount; row += 50) {
      const std::string end = key_of(row + 20);
      Cursor part = view.cursor(key_of(row), end);
      auto expected = rows.lower_bound(key_of(row));
      for (part.seek_to_first(); part.valid(); part.next(), ++expected) {
        ASSERT_NE(expected, rows.end());
        ASSERT_EQ(part.key(), expected->first);
        ASSERT_EQ(part.value(), expected->second);
      }
      ASSERT_TRUE(expected == rows.end() || expected->first >= end);
    }
    for (std::uint64_t row = 0; row < kRowCount; row += 7) {
      const auto found = view.get(key_of(row));
      ASSERT_TRUE(found.ok());
      const auto expected = rows.find(key_of(row));
      ASSERT_EQ(found->has_value(), expected != rows.end());
      if (*found) {
        ASSERT_EQ((**found).value, expected->second);
      }
    }
  }

  /// Compares the newest state, and those of all snapshots.
  void check(const Engine& engine) const {
    compare(engine.view(), rows_);
    if (&engine != engine_.get()) return;
    for (const auto& [snapshot, rows] : held_) compare(engine.view_at(snapshot), rows);
  }

  const std::size_t update_bytes_;
  const std::uint64_t one_removes_;
  const test::SmallTrees trees_{kFileBytes};
  io::SeededRandom random_{GetParam()};
  Machine machine_{GetParam(), test::OneThreadAtATime{}};
  std::unique_ptr<Engine> engine_;
  Rows rows_;
  std::vector<std::pair<HeldVersion, Rows>> held_;
};

}  // namespace varve::engine
