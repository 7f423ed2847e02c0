// Goal: the memory of adjacent deleted keys never hides a live key, at any version and in either direction, and makes
// scans over them short.
// Method: the list alone; scans of a memtable compared with sorted maps, with commits that are noted but not yet
// visible; an engine whose threads put, delete, flush and compact under seeded schedules; figures of the entries that a
// scan examined.
#include "engine/memory/dead_stretches.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "engine/memory/memtable_cursor.h"
#include "engine/read/cursor.h"
#include "tests/engine/memory/memtable_fill.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::dead_stretches_test {
namespace {

using Found = std::optional<std::string>;

std::string behind(std::string key) {
  key.push_back('\0');
  return key;
}

// -- The list ---------------------------------------------------------------------------------------------------------

class DeadStretchList : public testing::Test {
 protected:
  void begin(CommitVersion newest_unnoted) {
    list_.begin([newest_unnoted] { return newest_unnoted; });
  }
  void note(const std::vector<Write>& writes, CommitVersion version) { list_.note(batch_of(writes), version); }

  io::Scheduler scheduler_;
  StretchRoom room_{StretchRoom::bytes_beside(kWriteBufferBytes)};
  DeadStretches list_{scheduler_, room_};
};

TEST_F(DeadStretchList, KnowsNothingBeforeItIsAsked) {
  EXPECT_FALSE(list_.is_on());
  list_.add(key_of(1), key_of(9), 5);
  EXPECT_EQ(list_.end_of(key_of(2), 5), Found());
  begin(0);
  EXPECT_TRUE(list_.is_on());
  EXPECT_EQ(list_.end_of(key_of(2), 5), Found());
}

TEST_F(DeadStretchList, TellsWhereAStretchEndsAndBegins) {
  begin(0);
  list_.add(key_of(3), key_of(7), 5);
  EXPECT_EQ(list_.end_of(key_of(2), 5), Found());
  EXPECT_EQ(list_.end_of(key_of(3), 5), key_of(7));
  EXPECT_EQ(list_.end_of(key_of(6), 9), key_of(7));
  EXPECT_EQ(list_.end_of(key_of(7), 5), Found());
  EXPECT_EQ(list_.begin_below(key_of(3), 5), Found());
  EXPECT_EQ(list_.begin_below(behind(key_of(3)), 5), key_of(3));
  EXPECT_EQ(list_.begin_below(key_of(7), 5), key_of(3));
  EXPECT_EQ(list_.begin_below(behind(key_of(7)), 5), Found());
}

TEST_F(DeadStretchList, IsForVersionsFromTheWalksOnAlone) {
  begin(0);
  list_.add(key_of(3), key_of(7), 5);
  EXPECT_EQ(list_.end_of(key_of(4), 4), Found());
  EXPECT_EQ(list_.begin_below(key_of(4), 4), Found());
}

TEST_F(DeadStretchList, JoinsWhatOverlapsOrTouchesAtTheLaterVersion) {
  begin(0);
  list_.add(key_of(3), key_of(5), 5);
  list_.add(key_of(7), key_of(9), 8);
  list_.add(key_of(5), key_of(7), 6);
  EXPECT_EQ(list_.end_of(key_of(3), 8), key_of(9));
  EXPECT_EQ(list_.begin_below(key_of(9), 8), key_of(3));
  EXPECT_EQ(list_.end_of(key_of(3), 7), Found());
}

TEST_F(DeadStretchList, IsCutByAPut) {
  begin(0);
  list_.add(key_of(3), key_of(9), 5);
  note({put(key_of(1), ""), put(key_of(5), ""), remove(key_of(7)), put(key_of(20), "")}, 6);
  EXPECT_EQ(list_.end_of(key_of(3), 6), key_of(5));
  EXPECT_EQ(list_.end_of(key_of(5), 6), Found());
  EXPECT_EQ(list_.end_of(behind(key_of(5)), 6), key_of(9));
  note({put(key_of(3), "")}, 7);
  EXPECT_EQ(list_.end_of(key_of(3), 7), Found());
  EXPECT_EQ(list_.end_of(key_of(4), 7), key_of(5));
  EXPECT_EQ(list_.end_of(key_of(8), 7), key_of(9));
}

TEST_F(DeadStretchList, DoesNotBelieveAWalkBelowANotedPut) {
  begin(0);
  note({put(key_of(4), "")}, 6);
  list_.add(key_of(3), key_of(9), 5);
  EXPECT_EQ(list_.end_of(key_of(3), 9), Found());
  list_.add(key_of(3), key_of(4), 5);  // It ends before the put.
  EXPECT_EQ(list_.end_of(key_of(3), 9), key_of(4));
  list_.add(key_of(3), key_of(9), 6);  // The put was deleted before, in the view of this version.
  EXPECT_EQ(list_.end_of(key_of(3), 9), key_of(9));
}

TEST_F(DeadStretchList, DoesNotBelieveAWalkBelowAPutThatWasNotNotedOrIsForgotten) {
  begin(10);
  list_.add(key_of(3), key_of(9), 9);
  EXPECT_EQ(list_.end_of(key_of(3), 99), Found());
  for (std::size_t i = 0; i <= DeadStretches::kRecentPuts; ++i) note({put(key_of(50), "")}, 20 + i);
  list_.add(key_of(3), key_of(9), 19);
  EXPECT_EQ(list_.end_of(key_of(3), 99), Found());
  list_.add(key_of(3), key_of(9), 20);
  EXPECT_EQ(list_.end_of(key_of(3), 99), key_of(9));
}

TEST_F(DeadStretchList, KeepsItsEndsForReadersFromBeforeItGrew) {
  begin(0);
  list_.add(key_of(1), key_of(4), 5);
  EXPECT_EQ(list_.end_of(key_of(2), 4), Found());
  list_.add(key_of(4), key_of(8), 9);
  EXPECT_EQ(list_.end_of(key_of(2), 9), key_of(8));
  EXPECT_EQ(list_.end_of(key_of(2), 8), key_of(4));
  EXPECT_EQ(list_.end_of(key_of(5), 8), Found());
  EXPECT_EQ(list_.begin_below(key_of(3), 8), key_of(1));
  EXPECT_EQ(list_.begin_below(key_of(5), 8), Found());
  list_.add(key_of(1), key_of(8), 12);  // a later walk that found the same
  EXPECT_EQ(list_.end_of(key_of(2), 9), key_of(8));
  EXPECT_EQ(list_.bytes(), room_.used_bytes());

  note({put(key_of(3), "")}, 13);
  for (const CommitVersion version : {5U, 8U}) EXPECT_EQ(list_.end_of(key_of(2), version), Found());
  EXPECT_EQ(list_.end_of(key_of(2), 9), key_of(3));
}

TEST_F(DeadStretchList, LeavesALateReaderNoMoreThanItsAgeOfAQueueThatIsConsumed) {
  constexpr CommitVersion kCommits = 20'000;
  begin(0);
  list_.add(key_of(0), key_of(1), 1);
  EXPECT_EQ(list_.end_of(key_of(0), 0), Found());
  for (CommitVersion version = 2; version <= kCommits; ++version) {
    list_.add(key_of(version - 1), key_of(version), version);
  }
  EXPECT_EQ(list_.size(), 1U);
  EXPECT_EQ(list_.bytes(), room_.used_bytes());
  for (CommitVersion age = 0; age < kCommits; age = 2 * age + 1) {
    const Found end = list_.end_of(key_of(0), kCommits - age);
    EXPECT_GE(end, key_of(kCommits - std::min(kCommits - 1, 4 * age))) << "a reader of " << age << " commits ago";
    EXPECT_LE(end, key_of(kCommits - age));
  }
}

TEST_F(DeadStretchList, IsWholeAgainWhenWhatCutItIsDeleted) {
  begin(0);
  list_.add(key_of(3), key_of(9), 5);
  note({put(key_of(6), "")}, 7);
  EXPECT_EQ(list_.size(), 2U);
  list_.join_around(key_of(5), 8);
  EXPECT_EQ(list_.size(), 2U) << "the deleted key did not cut it";
  list_.join_around(key_of(6), 8);
  EXPECT_EQ(list_.size(), 1U);
  EXPECT_EQ(list_.end_of(key_of(3), 8), key_of(9));
  EXPECT_NE(list_.end_of(key_of(3), 7), key_of(9)) << "the key is live at this version";
}

TEST_F(DeadStretchList, StaysCutIfTheKeyIsPutAgainAfterItsDelete) {
  begin(0);
  list_.add(key_of(3), key_of(9), 5);
  note({put(key_of(6), "")}, 7);
  note({put(key_of(6), "")}, 9);
  list_.join_around(key_of(6), 8);
  EXPECT_EQ(list_.end_of(key_of(3), 9), key_of(6));
  list_.join_around(key_of(6), 10);
  EXPECT_EQ(list_.end_of(key_of(3), 10), key_of(9));
}

TEST_F(DeadStretchList, TakesNothingBeyondATable) {
  begin(0);
  const std::string table = key_of(1).substr(0, format::kTableIdBytes);
  list_.add("", key_of(9), 5);
  list_.add(key_of(3), format::end_of_prefix(table) + "x", 5);
  list_.add(key_of(3), key_of(3), 5);
  list_.add(key_of(3), key_of(2), 5);
  EXPECT_EQ(list_.end_of(key_of(3), 5), Found());
  list_.add(key_of(3), format::end_of_prefix(table), 5);
  EXPECT_EQ(list_.end_of(key_of(3), 5), format::end_of_prefix(table));
}

TEST_F(DeadStretchList, ForgetsAllWhenALoadIsAdoptedOrNobodyAsks) {
  begin(0);
  list_.add(key_of(3), key_of(9), 5);
  format::BatchBuilder builder;
  builder.adopt(format::make_table_id(1, 2));
  list_.note(builder.finish(), 6);
  EXPECT_FALSE(list_.is_on());
  EXPECT_EQ(list_.end_of(key_of(3), 9), Found());

  begin(6);
  list_.add(key_of(3), key_of(9), 6);
  for (std::uint64_t i = 0; i < DeadStretches::kUnaskedMax; ++i) note({put(key_of(50), "")}, 10 + i);
  EXPECT_TRUE(list_.is_on());
  note({put(key_of(50), "")}, 1'000'000);
  EXPECT_FALSE(list_.is_on());
}

TEST_F(DeadStretchList, KeepsThoseOfThousandsOfQueuesInRoomThatIsCounted) {
  begin(0);
  const auto first_of = [](std::uint64_t queue) { return key_of(10 * queue); };
  const auto end_of = [](std::uint64_t queue) { return key_of(10 * queue + 5); };
  for (std::uint64_t queue = 0; queue < 10'000; ++queue) list_.add(first_of(queue), end_of(queue), 5);
  EXPECT_EQ(list_.size(), 10'000u);
  EXPECT_EQ(list_.bytes(), room_.used_bytes());
  EXPECT_GE(list_.bytes(), 10'000 * (first_of(0).size() + end_of(0).size()));
  for (std::uint64_t queue = 0; queue < 10'000; ++queue) ASSERT_EQ(list_.end_of(first_of(queue), 5), end_of(queue));
}

TEST_F(DeadStretchList, ForgetsThoseThatNobodyAskedForWhenItsRoomIsFull) {
  StretchRoom small(StretchRoom::bytes_beside(0));
  DeadStretches list(scheduler_, small);
  list.begin([] { return CommitVersion{0}; });
  const std::string asked_for = key_of(500);
  list.add(asked_for, key_of(501), 5);
  for (std::uint64_t i = 100; i < 3'000; ++i) {
    list.add(key_of(10 * i), key_of(10 * i + 5), 5);
    ASSERT_LE(small.used_bytes(), small.bytes_max() / 2);
    ASSERT_EQ(list.end_of(asked_for, 5), key_of(501));
  }
  EXPECT_LT(list.size(), 2'000u);
  EXPECT_GT(list.size(), 64u);
  EXPECT_EQ(list.end_of(key_of(29'990), 5), key_of(29'995));
}

TEST_F(DeadStretchList, LeavesRoomForTheFirstStretchesOfAnotherStore) {
  StretchRoom room(StretchRoom::bytes_beside(0));
  DeadStretches first(scheduler_, room);
  DeadStretches second(scheduler_, room);
  for (DeadStretches* list : {&first, &second}) {
    list->begin([] { return CommitVersion{0}; });
    for (std::uint64_t i = 0; i < 2'000; ++i) list->add(key_of(10 * i), key_of(10 * i + 5), 5);
  }
  EXPECT_GT(second.size(), first.size() / 4);
  EXPECT_EQ(room.used_bytes(), first.bytes() + second.bytes());
  format::BatchBuilder builder;
  builder.adopt(format::make_table_id(1, 2));
  first.note(builder.finish(), 6);  // It ends.
  EXPECT_EQ(room.used_bytes(), second.bytes());
}

TEST_F(DeadStretchList, CountsDeletesBetweenLooks) {
  EXPECT_FALSE(list_.count_deletes(0));
  EXPECT_FALSE(list_.count_deletes(DeadStretches::kDeletesBetweenLooks - 1));
  EXPECT_TRUE(list_.count_deletes(1));
  EXPECT_FALSE(list_.count_deletes(1));
  EXPECT_TRUE(list_.count_deletes(1'000));
}

// -- Walks ------------------------------------------------------------------------------------------------------------

using Model = std::map<std::string, std::string, std::less<>>;

/// Commits are noted, inserted, and become visible some time later. Scans read the visible version or an older one.
class StretchWalkModel : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::uint64_t kKeys = 600;

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void commit() {
    std::vector<Write> writes;
    const std::uint64_t first = below(kKeys);
    if (below(3) > 0) {
      const std::uint64_t step = 1 + below(2);
      for (std::uint64_t i = first; i < std::min(kKeys, first + below(300)); i += step) {
        writes.push_back(remove(key_of(i)));
      }
    } else {
      for (std::uint64_t i = first; i < std::min(kKeys, first + 1 + below(4)); ++i) {
        writes.push_back(put(key_of(i), std::to_string(version_)));
      }
    }
    if (writes.empty()) return;
    ++version_;
    Model next = states_.rbegin()->second;
    for (const Write& write : writes) {
      if (write.kind == Kind::kPut) {
        next[write.key] = write.value;
      } else {
        next.erase(write.key);
      }
    }
    states_[version_] = std::move(next);
    const std::string batch = batch_of(writes);
    // The commit is noted before or after its insertion.
    const bool is_noted_first = below(2) == 0;
    if (is_noted_first && list_.is_on()) list_.note(batch, version_);
    insert(memtable_, batch, version_);
    if (!is_noted_first && list_.is_on()) list_.note(batch, version_);
  }

  Cursor cursor_at(CommitVersion version, std::string_view lower, std::string_view upper) {
    Cursor cursor(ReadStates::Pin(), std::make_unique<MemtableCursor>(memtable_), lower, upper, version);
    cursor.know(list_, WalkSees::kAll);
    return cursor;
  }

  void expect_at(const Cursor& cursor, const Model& model, Model::const_iterator at) {
    ASSERT_EQ(cursor.valid(), at != model.end());
    if (!cursor.valid()) return;
    ASSERT_EQ(cursor.key(), at->first);
    ASSERT_EQ(cursor.value(), at->second);
  }

  void walk(CommitVersion version) {
    const std::string lower = below(2) == 0 ? kTableStart : key_of(below(kKeys));
    const std::string upper = below(2) == 0 ? format::end_of_prefix(kTableStart) : key_of(below(kKeys));
    const Model& state = states_.at(version);
    Model model;
    if (lower < upper) model = {state.lower_bound(lower), state.lower_bound(upper)};
    Cursor cursor = cursor_at(version, lower, upper);
    Model::const_iterator at = model.end();
    const auto before = [&](Model::const_iterator place) -> Model::const_iterator {
      return place == model.cbegin() ? model.cend() : std::prev(place);
    };
    for (int step = 0; step < 40; ++step) {
      SCOPED_TRACE(step);
      if (below(10) == 0) commit();
      const std::string key = key_of(below(kKeys));
      switch (below(cursor.valid() ? 12 : 4)) {
        case 0: cursor.seek_to_first(), at = model.begin(); break;
        case 1: cursor.seek_to_last(), at = before(model.end()); break;
        case 2: cursor.seek(key), at = model.lower_bound(key); break;
        case 3: cursor.seek_before(key), at = before(model.lower_bound(key)); break;
        default:
          if (below(2) == 0) {
            cursor.next(), ++at;
          } else {
            cursor.previous(), at = before(at);
          }
      }
      ASSERT_NO_FATAL_FAILURE(expect_at(cursor, model, at));
    }
  }

  inline static const std::string kTableStart = key_of(0).substr(0, format::kTableIdBytes);
  std::mt19937_64 random_{GetParam()};
  io::Scheduler scheduler_;
  StretchRoom room_{StretchRoom::bytes_beside(kWriteBufferBytes)};
  DeadStretches list_{scheduler_, room_};
  Memtable memtable_;
  CommitVersion version_ = 0;
  std::map<CommitVersion, Model> states_{{0, {}}};
};

TEST_P(StretchWalkModel, WalksAsSortedMapsDoAtVisibleVersions) {
  CommitVersion visible = 0;
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE("seed " + std::to_string(GetParam()) + ", round " + std::to_string(round));
    for (std::uint64_t i = below(4); i > 0; --i) commit();
    if (below(20) == 0) list_.begin([this] { return version_; });
    visible += below(version_ - visible + 1);
    // Old snapshots are only a few versions old.
    const CommitVersion version = below(3) == 0 ? visible - std::min(visible, below(10)) : visible;
    ASSERT_NO_FATAL_FAILURE(walk(version));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, StretchWalkModel,
                         testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(12)));

// -- The engine -------------------------------------------------------------------------------------------------------

std::string row_of(std::uint64_t number) {
  std::string row = std::to_string(number);
  return std::string(8 - row.size(), '0') + row;
}

std::string table_start() {
  return test::key_of("p", "").substr(0, format::kTableIdBytes);
}

/// Returns the rows that a scan shows and `mine` accepts, by row number.
template <typename Mine>
std::map<std::uint64_t, std::string> rows_of(const ReadView& view, bool backward, const Mine& mine) {
  std::map<std::uint64_t, std::string> rows;
  const std::string lower = table_start();
  Cursor cursor = view.cursor(lower, format::end_of_prefix(lower));
  for (backward ? cursor.seek_to_last() : cursor.seek_to_first(); cursor.valid();
       backward ? cursor.previous() : cursor.next()) {
    const std::uint64_t row = std::stoull((*format::decode_sort_key(cursor.key())).row_key);
    if (mine(row)) rows[row] = std::string(cursor.value());
  }
  EXPECT_TRUE(cursor.status().ok()) << cursor.status().to_string();
  return rows;
}

class StretchesOfAnEngine : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::uint64_t kWriters = 2;
  static constexpr std::uint64_t kRows = 400;
  using Rows = std::map<std::uint64_t, std::string>;

  /// Writes every second row, so that stretches contain rows of both writers.
  void write(std::uint64_t writer) {
    std::mt19937_64 random(GetParam() * kWriters + writer);
    const auto below = [&random](std::uint64_t bound) { return random() % bound; };
    const auto is_mine = [writer](std::uint64_t row) { return row % kWriters == writer; };
    Rows mine;
    struct Held {
      HeldVersion snapshot;
      Rows rows;
    };
    std::optional<Held> held;
    for (int step = 0; step < 60; ++step) {
      test::Change change;
      const std::uint64_t first = below(kRows) / kWriters * kWriters + writer;
      if (below(3) > 0) {
        const std::uint64_t end = std::min(kRows, first + below(kRows));
        for (std::uint64_t row = first; row < end; row += kWriters) {
          change.remove("p", row_of(row));
          mine.erase(row);
        }
        if (first >= end) continue;
      } else {
        const std::string value = std::to_string(step);
        for (std::uint64_t row = first; row < std::min(kRows, first + 1 + below(60)); row += kWriters) {
          change.put("p", row_of(row), value);
          mine[row] = value;
        }
      }
      if (below(2) == 0) change.buffered();
      ASSERT_TRUE(change.commit(*engine_).ok());
      const ReadView view = engine_->view();
      ASSERT_EQ(rows_of(view, below(2) == 0, is_mine), mine);
      if (below(6) == 0) held.emplace(Held{engine_->snapshot(), mine});
      if (held && below(2) == 0) {
        const ReadView older = engine_->view_at(held->snapshot);
        ASSERT_EQ(rows_of(older, below(2) == 0, is_mine), held->rows);
      }
      if (below(12) == 0) {
        ASSERT_TRUE(engine_->flush().ok());
      }
      if (below(24) == 0) {
        ASSERT_TRUE(engine_->compact().ok());
      }
    }
  }

  test::Machine machine_{GetParam(), test::OneThreadAtATime{}};
  std::unique_ptr<Engine> engine_ = *machine_.open();
};

TEST_P(StretchesOfAnEngine, EachWriterSeesWhatItWrote) {
  std::vector<io::Thread> threads;
  for (std::uint64_t writer = 1; writer < kWriters; ++writer) {
    threads.push_back(*machine_.scheduler().start("writer", [this, writer] { write(writer); }));
  }
  write(0);
  for (io::Thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Seeds, StretchesOfAnEngine,
                         testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(24)));

class ManyDeletes : public testing::Test {
 protected:
  static constexpr std::uint64_t kRows = 20'000;
  static constexpr std::uint64_t kRowsOfBatch = 100;

  void SetUp() override {
    for (std::uint64_t row = 0; row <= kRows; row += kRowsOfBatch) {
      test::Change change;
      for (std::uint64_t i = row; i < std::min(kRows + 1, row + kRowsOfBatch); ++i) change.put("p", row_of(i), "v");
      ASSERT_TRUE(change.buffered().commit(*engine_).ok());
    }
    ASSERT_TRUE(engine_->compact().ok());
  }

  void remove_rows(std::uint64_t first, std::uint64_t count) {
    test::Change change;
    for (std::uint64_t i = first; i < first + count; ++i) change.remove("p", row_of(i));
    ASSERT_TRUE(change.buffered().commit(*engine_).ok());
  }

  /// Checks the first live row, and the number of entries examined to find it.
  void expect_first(std::uint64_t row, std::uint64_t examined_max) {
    const ReadView view = engine_->view();
    const std::string lower = table_start();
    Cursor cursor = view.cursor(lower, format::end_of_prefix(lower));
    cursor.seek_to_first();
    ASSERT_TRUE(cursor.valid());
    EXPECT_EQ(cursor.key(), test::key_of("p", row_of(row)));
    EXPECT_LE(cursor.entries_examined(), examined_max);
  }

  test::Machine machine_;
  std::unique_ptr<Engine> engine_ = *machine_.open();
};

TEST_F(ManyDeletes, AtTheHeadCostAWalkNothing) {
  for (std::uint64_t row = 0; row < kRows; row += kRowsOfBatch) ASSERT_NO_FATAL_FAILURE(remove_rows(row, kRowsOfBatch));
  expect_first(kRows, 1);
  ASSERT_TRUE(engine_->flush().ok());
  expect_first(kRows, 1);
}

TEST_F(ManyDeletes, FromTheTailBackwardCostAWalkNothing) {
  for (std::uint64_t row = kRows; row > 0; row -= kRowsOfBatch) {
    ASSERT_NO_FATAL_FAILURE(remove_rows(row - kRowsOfBatch, kRowsOfBatch));
  }
  expect_first(kRows, 1);
}

TEST_F(ManyDeletes, OneByOneCostAWalkLittle) {
  for (std::uint64_t row = 0; row < 2'000; ++row) ASSERT_NO_FATAL_FAILURE(remove_rows(row, 1));
  expect_first(2'000, 2 * DeadStretches::kDeletesBetweenLooks + 20);
}

TEST(ManyQueues, OfOneTableCostAReaderOfTheirHeadsLittle) {
  constexpr std::uint64_t kQueues = 100;
  constexpr std::uint64_t kSteps = 200;  // for each queue
  constexpr std::uint64_t kDepth = 3;
  test::Machine machine;
  const std::unique_ptr<Engine> engine = *machine.open();
  const auto name_of = [](std::uint64_t queue) { return "q" + row_of(queue); };
  for (std::uint64_t step = 0; step < kSteps + kDepth; ++step) {
    for (std::uint64_t queue = 0; queue < kQueues; ++queue) {
      ASSERT_TRUE(test::Change().put(name_of(queue), row_of(step), "v").buffered().commit(*engine).ok());
      if (step < kDepth) continue;
      ASSERT_TRUE(test::Change().remove(name_of(queue), row_of(step - kDepth)).buffered().commit(*engine).ok());
    }
  }
  // Since a search, a queue has at most kDeletesBetweenLooks deletes, each with the entry that it hides.
  for (std::uint64_t queue = 0; queue < kQueues; ++queue) {
    const ReadView view = engine->view();
    const std::string lower = *format::encode_partition(test::kTable, name_of(queue));
    Cursor cursor = view.cursor(lower, format::end_of_prefix(lower));
    cursor.seek_to_first();
    ASSERT_TRUE(cursor.valid());
    ASSERT_EQ(cursor.key(), test::key_of(name_of(queue), row_of(kSteps)));
    ASSERT_LE(cursor.entries_examined(), 2 * DeadStretches::kDeletesBetweenLooks + 20) << name_of(queue);
  }
}

TEST_F(ManyDeletes, DoNotHideWhatIsPutAgain) {
  for (std::uint64_t row = 0; row < kRows; row += kRowsOfBatch) ASSERT_NO_FATAL_FAILURE(remove_rows(row, kRowsOfBatch));
  ASSERT_TRUE(test::Change().put("p", row_of(7'000), "again").commit(*engine_).ok());
  expect_first(7'000, 1);
  ASSERT_NO_FATAL_FAILURE(remove_rows(7'000, 1));
  expect_first(kRows, 20);
}

// Fewer deletes than lead to a search, so that no search joins what the puts cut.
TEST_F(ManyDeletes, AreOneStretchAgainAfterEachPutAmongThemIsDeleted) {
  for (std::uint64_t row = 0; row < kRows; row += kRowsOfBatch) ASSERT_NO_FATAL_FAILURE(remove_rows(row, kRowsOfBatch));
  const HeldVersion before = engine_->snapshot();
  for (std::uint64_t row = 100; row < 6'000; row += 100) {
    ASSERT_TRUE(test::Change().put("p", row_of(row), "again").buffered().commit(*engine_).ok());
    if (row == 3'000) continue;
    ASSERT_NO_FATAL_FAILURE(remove_rows(row, 1));
  }
  expect_first(3'000, 2);
  ASSERT_NO_FATAL_FAILURE(remove_rows(3'000, 1));
  expect_first(kRows, 2);
  const auto any = [](std::uint64_t) { return true; };
  EXPECT_EQ(rows_of(engine_->view_at(before), false, any).size(), 1u);
}

TEST_F(ManyDeletes, HideNothingFromASnapshotBeforeThem) {
  const HeldVersion snapshot = engine_->snapshot();
  for (std::uint64_t row = 0; row < kRows; row += kRowsOfBatch) ASSERT_NO_FATAL_FAILURE(remove_rows(row, kRowsOfBatch));
  const auto any = [](std::uint64_t) { return true; };
  EXPECT_EQ(rows_of(engine_->view_at(snapshot), false, any).size(), kRows + 1);
  EXPECT_EQ(rows_of(engine_->view_at(snapshot), true, any).size(), kRows + 1);
  EXPECT_EQ(rows_of(engine_->view(), false, any).size(), 1u);
}

}  // namespace
}  // namespace varve::engine::dead_stretches_test
