// Goal: each view and each snapshot shows exactly the entities whose end is above its time, whatever the clock does,
// wherever the entries lie, and however often it is asked. An entity that was seen as ended stays so while the store is
// open (E1, E3, E6).
// Method: random puts with ends, ages or neither, and deletes, over few keys; flushes, compactions, snapshots, clocks that
// stop, run, jump ahead and go back, and clean reopens. A map of all versions has the entities that each view must show.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/env.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"
#include "tests/support/small_trees.h"

namespace varve::engine::expiry_model_test {
namespace {

using test::Change;
using test::Machine;

constexpr std::uint64_t kRows = 120;
constexpr CommitVersion kSecond = io::kTicksPerSecond;

/// One version of a key: a put or a delete.
struct Stored {
  std::optional<std::string> value;
  CommitVersion end = 0;  // zero: none
};

/// Every version of every key, newest first.
using History = std::map<std::string, std::map<CommitVersion, Stored, std::greater<>>>;

class ExpiryModel : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    open();
    ASSERT_EQ(engine_->allow_ends().to_string(), "Ok");
  }

  void open() {
    EngineOptions options = Machine::writable();
    options.write_budget = std::make_shared<WriteBudget>(io::system_env().scheduler, 256 << 10);
    options.block_cache = std::make_shared<BlockCache>(machine_.scheduler(), 64 << 10);
    auto opened = machine_.open(options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }

  std::uint64_t below(std::uint64_t bound) { return io::random_below(random_, bound); }
  static std::string row(std::uint64_t number) { return std::to_string(1000 + number); }

  std::size_t value_bytes() {
    return writes_large_values_ && below(4) == 0 ? kExternalValueBytesMin + below(3000) : below(300);
  }

  /// Returns an end near the present time, an age, or zero.
  std::uint64_t any_end() {
    switch (below(5)) {
      case 0: return 0;
      case 1: return 1 + below(1000);  // long ago
      case 2: return format::kAgeMark + 1 + below(20 * kSecond);
      case 3: return engine_->time() + 1 + below(5 * kSecond);
      default: return engine_->time() + 1 + below(60 * kSecond);
    }
  }

  void write() {
    Change change;
    std::map<std::string, Stored> changes;
    const std::uint64_t count = 1 + below(12);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string name = row(below(kRows));
      if (changes.contains(name)) continue;
      Stored& stored = changes[name];
      if (below(6) == 0) {
        change.remove("p", name);
        continue;
      }
      stored.value = std::string(value_bytes(), static_cast<char>('a' + below(26)));
      stored.end = any_end();
      if (stored.end == 0) {
        change.put("p", name, *stored.value);
      } else {
        change.put_until("p", name, stored.end, *stored.value);
      }
    }
    if (below(2) == 0) change.buffered();
    const auto version = change.commit(*engine_);
    ASSERT_TRUE(version.ok()) << version.status().to_string();
    ASSERT_GT(*version, judged_) << "a commit is at or below an end that had passed";
    for (auto& [name, stored] : changes) {
      if (format::is_age(stored.end)) stored.end = *version + (stored.end - format::kAgeMark);
      history_[name][*version] = std::move(stored);
    }
  }

  void move_clock() {
    switch (below(8)) {
      case 0: machine_.clock.set_wall(machine_.clock.wall() - below(1000) * kSecond); break;
      case 1:
        machine_.clock.set_wall(machine_.clock.wall() + 7200 * kSecond);
        break;  // not followed before the next open
      default: machine_.clock.advance(std::chrono::milliseconds(below(4000)));
    }
  }

  /// Returns the newest version of a key that a view may see, whether it has ended or not.
  const Stored* newest(const std::string& name, CommitVersion at_most, CommitVersion* version) const {
    const auto known = history_.find(name);
    if (known == history_.end()) return nullptr;
    const auto found = known->second.lower_bound(at_most);
    if (found == known->second.end()) return nullptr;
    *version = found->first;
    return &found->second;
  }

  std::map<std::string, std::string> expected_at(const ReadView& view) const {
    std::map<std::string, std::string> live;
    for (const auto& [name, versions] : history_) {
      CommitVersion version = 0;
      const Stored* const stored = newest(name, view.version(), &version);
      if (stored == nullptr || !stored->value) continue;
      if (stored->end == 0 || stored->end > view.time()) live[name] = *stored->value;
    }
    return live;
  }

  void check_cursor(const ReadView& view, const std::map<std::string, std::string>& expected) {
    Cursor cursor = view.cursor("", "");
    auto at = expected.begin();
    for (cursor.seek_to_first(); cursor.valid(); cursor.next(), ++at) {
      ASSERT_NE(at, expected.end());
      ASSERT_EQ(cursor.key(), test::key_of("p", at->first));
      ASSERT_EQ(cursor.value(), at->second);
    }
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    ASSERT_EQ(at, expected.end());
    auto back = expected.rbegin();
    for (cursor.seek_to_last(); cursor.valid(); cursor.previous(), ++back) {
      ASSERT_NE(back, expected.rend());
      ASSERT_EQ(cursor.key(), test::key_of("p", back->first));
      ASSERT_EQ(cursor.value(), back->second);
    }
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    ASSERT_EQ(back, expected.rend());
  }

  void check_points(const ReadView& view, const std::map<std::string, std::string>& expected) {
    std::vector<std::string> keys;
    for (std::uint64_t i = 0; i < kRows; ++i) keys.push_back(test::key_of("p", row(i)));
    const auto many = view.get_many(std::vector<std::string_view>(keys.begin(), keys.end()));
    ASSERT_TRUE(many.ok()) << many.status().to_string();
    for (std::uint64_t i = 0; i < kRows; ++i) {
      const auto known = expected.find(row(i));
      const auto one = view.get(keys[i]);
      ASSERT_TRUE(one.ok()) << one.status().to_string();
      ASSERT_EQ(one->has_value(), known != expected.end()) << row(i);
      ASSERT_EQ((*many)[i].has_value(), known != expected.end()) << row(i);
      if (known == expected.end()) continue;
      ASSERT_EQ((*one)->value, known->second);
      ASSERT_EQ((*many)[i]->value, known->second);
    }
  }

  /// Compares what a write under the locks would see.
  void check_newest(const ReadView& view) {
    const std::string name = row(below(kRows));
    const auto state = view.newest(test::key_of("p", name), below(2) == 0 ? EntryPart::kAll : EntryPart::kVersion);
    ASSERT_TRUE(state.ok()) << state.status().to_string();
    CommitVersion version = 0;
    const Stored* const stored = newest(name, format::kCommitVersionMax, &version);
    const bool is_live = stored != nullptr && stored->value && (stored->end == 0 || stored->end > view.time());
    ASSERT_EQ(state->value.has_value(), is_live) << name;
    if (!is_live) return;
    ASSERT_EQ(state->version, version);
    ASSERT_EQ(state->end(), stored->end);
  }

  void check_now() {
    const ReadView view = engine_->view();
    ASSERT_GE(view.time(), view.version());
    ASSERT_GE(view.time(), judged_) << "the time went back below an end that had passed";
    const auto expected = expected_at(view);
    check_cursor(view, expected);
    check_points(view, expected);
    check_newest(view);
    for (const auto& [name, versions] : history_) {
      CommitVersion version = 0;
      const Stored* const stored = newest(name, view.version(), &version);
      if (stored != nullptr && stored->end <= view.time()) judged_ = std::max(judged_, stored->end);
    }
  }

  void check_held() {
    for (const auto& [held, expected] : held_) {
      const ReadView view = engine_->view_at(held);
      ASSERT_EQ(view.time(), held.time());
      check_cursor(view, expected);
      check_points(view, expected);
    }
  }

  void hold() {
    HeldVersion held = engine_->snapshot();
    ASSERT_GE(held.time(), held.version());
    auto expected = expected_at(engine_->view_at(held));
    held_.emplace_back(std::move(held), std::move(expected));
  }

  void reopen() {
    held_.clear();
    ASSERT_EQ(engine_->close().to_string(), "Ok");
    open();
    ASSERT_TRUE(engine_->has_ends());
  }

  void one_step() {
    switch (below(16)) {
      case 0: ASSERT_EQ(engine_->flush().to_string(), "Ok"); break;
      case 1:
        if (below(3) != 0) break;
        ASSERT_EQ(engine_->compact().to_string(), "Ok");
        break;
      case 2: hold(); break;
      case 3:
        if (!held_.empty()) held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(below(held_.size())));
        break;
      case 4:
        if (below(8) == 0) reopen();
        break;
      case 5: check_held(); break;
      case 6:
      case 7: check_now(); break;
      case 8:
      case 9: move_clock(); break;
      default: write();
    }
  }

  const bool writes_large_values_ = GetParam() % 2 == 0;
  const test::SmallTrees trees_{GetParam() % 4 < 2 ? 1024 : TreeShape().file_bytes};
  io::SeededRandom random_{GetParam()};
  Machine machine_{GetParam()};
  std::unique_ptr<Engine> engine_;
  History history_;
  CommitVersion judged_ = 0;  // the largest end that was seen as passed
  std::vector<std::pair<HeldVersion, std::map<std::string, std::string>>> held_;
};

constexpr int kSteps = test::kStride > 1 ? 200 : 700;

TEST_P(ExpiryModel, E1_E3_E6_EachViewShowsWhatHasNotEndedAtItsTime) {
  for (int step = 0; step < kSteps && !HasFatalFailure(); ++step) {
    SCOPED_TRACE("seed " + std::to_string(GetParam()) + ", step " + std::to_string(step));
    one_step();
  }
  if (HasFatalFailure()) return;
  check_now();
  check_held();
  held_.clear();
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  check_now();
}

INSTANTIATE_TEST_SUITE_P(Seeds, ExpiryModel, testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(12)));

}  // namespace
}  // namespace varve::engine::expiry_model_test
