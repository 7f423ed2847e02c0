// Owns: the promises of the memtable (engine/memory/memtable.h) to one thread.

#include "engine/memory/memtable.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <utility>

#include "io/env.h"
#include "tests/engine/memory/memtable_fill.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/effort.h"

namespace varve::engine::memtable_test {
namespace {

/// (key, newest version first), as the memtable orders them.
using ModelKey = std::pair<std::string, CommitVersion>;
struct ModelOrder {
  bool operator()(const ModelKey& a, const ModelKey& b) const {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  }
};
using Model = std::map<ModelKey, std::pair<Kind, std::string>, ModelOrder>;

void expect_same(const Entry& entry, const Model::value_type& expected) {
  EXPECT_EQ(entry.sort_key, expected.first.first);
  EXPECT_EQ(entry.version, expected.first.second);
  EXPECT_EQ(entry.kind, expected.second.first);
  EXPECT_EQ(entry.value, expected.second.second);
}

void expect_same(const Memtable::Cursor& cursor, const Model& model, Model::const_iterator expected) {
  ASSERT_EQ(cursor.valid(), expected != model.end());
  if (cursor.valid()) expect_same(cursor.entry(), *expected);
}

/// Returns the model's last element before `at`, or its end.
Model::const_iterator before(const Model& model, Model::const_iterator at) {
  return at == model.begin() ? model.end() : std::prev(at);
}

TEST(Memtable, AnEmptyOneHasNothing) {
  const Memtable memtable;
  EXPECT_EQ(memtable.entry_count(), 0u);
  EXPECT_EQ(memtable.used_bytes(), 0u);
  EXPECT_EQ(memtable.find(key_of(1), format::kCommitVersionMax), std::nullopt);
  Memtable::Cursor cursor(memtable);
  EXPECT_FALSE(cursor.valid());
  cursor.seek_to_first();
  EXPECT_FALSE(cursor.valid());
  cursor.seek_to_last();
  EXPECT_FALSE(cursor.valid());
  cursor.seek("", format::kCommitVersionMax);
  EXPECT_FALSE(cursor.valid());
  cursor.seek_before(key_of(1));
  EXPECT_FALSE(cursor.valid());
  memtable.check_invariants();
}

TEST(Memtable, FindsTheNewestVersionNotAboveTheOneAsked) {
  Memtable memtable;
  insert(memtable, {put(key_of(1), "ten"), put(key_of(2), "other")}, 10);
  insert(memtable, {remove(key_of(1))}, 20);
  insert(memtable, {put(key_of(1), "thirty")}, 30);

  EXPECT_EQ(memtable.find(key_of(1), 9), std::nullopt);
  EXPECT_EQ(memtable.find(key_of(1), 10)->value, "ten");
  EXPECT_EQ(memtable.find(key_of(1), 19)->value, "ten");
  const std::optional<Entry> tombstone = memtable.find(key_of(1), 20);
  ASSERT_TRUE(tombstone.has_value());
  EXPECT_EQ(tombstone->kind, Kind::kDelete);
  EXPECT_EQ(tombstone->version, 20u);
  EXPECT_EQ(tombstone->value, "");
  EXPECT_EQ(memtable.find(key_of(1), 29)->version, 20u);
  EXPECT_EQ(memtable.find(key_of(1), 30)->value, "thirty");
  EXPECT_EQ(memtable.find(key_of(1), format::kCommitVersionMax)->value, "thirty");
  EXPECT_EQ(memtable.find(key_of(2), format::kCommitVersionMax)->value, "other");
  EXPECT_EQ(memtable.find(key_of(3), format::kCommitVersionMax), std::nullopt);
  memtable.check_invariants();
}

TEST(Memtable, FindsAnOldVersionBehindVeryManyNewerOnes) {
  Memtable memtable;
  for (CommitVersion version = 2; version <= 1'000; version += 2) {
    insert(memtable, {put(key_of(1), std::to_string(version))}, version);
  }
  for (CommitVersion version = 2; version <= 1'001; ++version) {
    ASSERT_EQ(memtable.find(key_of(1), version)->value, std::to_string(version / 2 * 2));
  }
  EXPECT_EQ(memtable.find(key_of(1), 1), std::nullopt);
  memtable.check_invariants();
}

TEST(Memtable, FindsTheNewestVersionWhateverTheOrderOfInsertion) {
  Memtable memtable;
  for (const CommitVersion version : {50u, 10u, 30u, 90u, 70u}) insert(memtable, {put(key_of(1), "")}, version);
  EXPECT_EQ(memtable.find(key_of(1), format::kCommitVersionMax)->version, 90u);
  EXPECT_EQ(memtable.find(key_of(1), 60)->version, 50u);
  memtable.check_invariants();
}

TEST(Memtable, KeysMayHoldAnyBytesAndBeLong) {
  Memtable memtable;
  const std::vector<std::string> keys = {
      key_of(std::string(1, '\0'), ""), key_of("", ""), key_of("", std::string("\x01\0\x01", 3)),
      key_of(std::string(1'024, 'p'), std::string(1'024, '\0')), key_of("\xF0\x9F\x98\x80", "\xEE\x80\x80")};
  CommitVersion version = 1;
  for (const std::string& key : keys) insert(memtable, {put(key, key)}, version++);
  for (const std::string& key : keys) EXPECT_EQ(memtable.find(key, 100)->value, key);
  memtable.check_invariants();
}

TEST(Memtable, KeysThatDifferAtAnyByteOrInLengthAreInTheirOrder) {
  std::vector<std::string> keys;
  for (std::size_t length = 0; length <= 20; ++length) {
    keys.push_back(key_of("p", std::string(length, 'm')));
    for (std::size_t at = 0; at < length; ++at) {
      for (const std::string_view other : {"a", "z", "\xC3\xA9"}) {
        keys.push_back(key_of("p", std::string(length, 'm').replace(at, 1, other)));
      }
    }
  }
  std::shuffle(keys.begin(), keys.end(), std::mt19937_64(7));
  Memtable memtable;
  CommitVersion version = 1;
  for (const std::string& key : keys) insert(memtable, {put(key, "")}, version++);
  std::sort(keys.begin(), keys.end());
  Memtable::Cursor cursor(memtable);
  cursor.seek_to_first();
  for (const std::string& key : keys) {
    ASSERT_TRUE(cursor.valid());
    ASSERT_EQ(cursor.entry().sort_key, key);
    cursor.next();
  }
  EXPECT_FALSE(cursor.valid());
}

TEST(Memtable, ValuesMayBeEmptyAndLargerThanABlockOfTheArena) {
  Memtable memtable;
  const std::string large(3 << 20, 'x');
  insert(memtable, {put(key_of(1), ""), put(key_of(2), large), put(key_of(3), "small")}, 1);
  EXPECT_EQ(memtable.find(key_of(1), 1)->value, "");
  EXPECT_EQ(memtable.find(key_of(2), 1)->value, large);
  EXPECT_EQ(memtable.find(key_of(3), 1)->value, "small");
}

TEST(Memtable, OperationsThatAreNoEntriesTakeNothingAndAreSkipped) {
  format::BatchBuilder builder;
  builder.retire_table(7);
  builder.put(key_of(1), "one");
  builder.adopt(8);
  builder.remove(key_of(2));
  builder.retire_account(9);
  builder.set_tag("tag");
  const std::string batch = builder.finish();
  const Result<MemtableDemand> demand = Memtable::demand_of(batch);
  ASSERT_TRUE(demand.ok());
  EXPECT_EQ(demand->entry_count, 2u);
  EXPECT_EQ(demand->other_count, 3u);
  EXPECT_EQ(demand->entry_bytes % 8, 0u);

  Memtable memtable;
  insert(memtable, batch, 5);
  EXPECT_EQ(memtable.entry_count(), 2u);
  EXPECT_EQ(memtable.find(key_of(1), 5)->value, "one");
  EXPECT_EQ(memtable.find(key_of(2), 5)->kind, Kind::kDelete);
  memtable.check_invariants();
}

TEST(Memtable, ABatchThatDoesNotReadIsRefused) {
  std::string cut = batch_of({put(key_of(1), "value")});
  cut.pop_back();
  EXPECT_EQ(Memtable::demand_of(cut).code(), Code::kCorruption);
  EXPECT_EQ(Memtable::demand_of("").code(), Code::kCorruption);
  std::string unknown_kind = batch_of({put(key_of(1), "value")});
  unknown_kind[2] = 99;
  EXPECT_EQ(Memtable::demand_of(unknown_kind).code(), Code::kUnsupported);
}

TEST(Memtable, ABatchOf4GiBIsRefusedUnread) {
  const std::string small = batch_of({put(key_of(1), "value")});
  const std::string_view large(small.data(), std::size_t{std::numeric_limits<std::uint32_t>::max()} + 1);
  const Result<MemtableDemand> demand = Memtable::demand_of(large);
  EXPECT_EQ(demand.code(), Code::kTooLarge);
  EXPECT_NE(demand.status().message().find("4294967296"), std::string_view::npos);
}

TEST(Memtable, RefusesWhatIsOverItsBudgetAndChangesNothing) {
  const std::string batch = batch_of({put(key_of(1), std::string(1'000, 'x'))});
  const MemtableDemand demand = *Memtable::demand_of(batch);
  Memtable unbounded;
  ASSERT_TRUE(unbounded.reserve(demand).ok());
  const std::uint64_t need_bytes = unbounded.used_bytes();  // every memtable builds an equal first tower

  Memtable exact;
  exact.join(std::make_shared<WriteBudget>(io::system_env().scheduler, need_bytes));
  EXPECT_TRUE(exact.reserve(demand, BudgetPart::kAll).ok());
  EXPECT_EQ(exact.used_bytes(), need_bytes);

  const auto budget = std::make_shared<WriteBudget>(io::system_env().scheduler, need_bytes);
  Memtable one_less;
  one_less.join(budget);
  ASSERT_TRUE(budget->take(1, BudgetPart::kAll));
  const Result<Memtable::Reservation> refused = one_less.reserve(demand, BudgetPart::kAll);
  EXPECT_EQ(refused.code(), Code::kNoSpace);
  EXPECT_EQ(refused.status().message(), "write buffer is full: 1 of " + std::to_string(need_bytes) + " bytes used, " +
                                            std::to_string(need_bytes) + " needed");
  EXPECT_EQ(one_less.used_bytes(), 0u);
  EXPECT_EQ(one_less.allocated_bytes(), 0u);
  budget->give_back(1);
  EXPECT_TRUE(one_less.reserve(demand, BudgetPart::kAll).ok());
}

TEST(Memtable, AFullOneStillTakesBatchesWithoutEntries) {
  const auto budget = std::make_shared<WriteBudget>(io::system_env().scheduler, 1 << 20);
  Memtable memtable;
  memtable.join(budget);
  const MemtableDemand demand = *Memtable::demand_of(batch_of({put(key_of(1), std::string(1'000, 'x'))}));
  Result<Memtable::Reservation> reservation = memtable.reserve(demand);
  while (reservation.ok()) reservation = memtable.reserve(demand);
  ASSERT_EQ(reservation.code(), Code::kNoSpace);
  budget->take_regardless(1 << 20);  // recovery may exceed the bound

  format::BatchBuilder builder;
  builder.retire_table(7);
  const std::string drop = builder.finish();
  insert(memtable, drop, 9);
  EXPECT_EQ(memtable.entry_count(), 0u);
  EXPECT_EQ(memtable.reserve(demand).code(), Code::kNoSpace);
}

TEST(Memtable, CountsItsMemoryInFull) {
  Memtable memtable;
  std::uint64_t payload_bytes = 0;
  for (CommitVersion version = 1; version <= 20'000; ++version) {
    insert(memtable, {put(key_of(version), std::string(100, 'x'))}, version);
    payload_bytes += key_of(version).size() + format::kInternalSuffixBytes + 100;
  }
  EXPECT_EQ(memtable.entry_count(), 20'000u);
  EXPECT_GT(memtable.used_bytes(), payload_bytes + 20'000 * (8 + 8 + 8));  // sizes, a link, a slot of the index
  EXPECT_LT(memtable.used_bytes(), payload_bytes + 20'000 * 64);
  EXPECT_GE(memtable.allocated_bytes(), memtable.used_bytes());
  EXPECT_LT(memtable.allocated_bytes(), memtable.used_bytes() + (2 << 20));
}

TEST(Memtable, ReservationsThatFailForWantOfMemoryChangeNothing) {
  const std::string batch = batch_of({put(key_of(1), "one"), put(key_of(2), "two")});
  const MemtableDemand demand = *Memtable::demand_of(batch);
  std::uint64_t failures = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    Memtable memtable;
    std::optional<Result<Memtable::Reservation>> reservation;
    bool happened = false;
    {
      const test::AllocationFailure failure(nth);
      reservation.emplace(memtable.reserve(demand));
      happened = failure.happened();
    }
    if (!happened) {
      EXPECT_TRUE(reservation->ok());
      break;
    }
    ++failures;
    EXPECT_EQ(reservation->code(), Code::kOutOfMemory);
    EXPECT_EQ(memtable.used_bytes(), 0u);
    EXPECT_EQ(memtable.allocated_bytes(), 0u);
    insert(memtable, batch, 1);
    EXPECT_EQ(memtable.find(key_of(2), 1)->value, "two");
    memtable.check_invariants();
  }
  EXPECT_GE(failures, 2u);
}

TEST(Memtable, InsertAndLookupsTakeNoMemory) {
  Memtable memtable;
  std::vector<Write> writes;
  for (std::uint64_t i = 0; i < 2'000; ++i) writes.push_back(put(key_of(i), std::string(50, 'x')));
  const std::string batch = batch_of(writes);
  const Result<Memtable::Reservation> reservation = memtable.reserve(*Memtable::demand_of(batch));
  ASSERT_TRUE(reservation.ok());
  const std::string key = key_of(1'234);

  const std::uint64_t before = test::allocation_count();
  memtable.insert(*reservation, batch, 1);
  EXPECT_EQ(test::allocation_count(), before);
  const bool found = memtable.find(key, 1).has_value();
  Memtable::Cursor cursor(memtable);
  cursor.seek(key, 1);
  cursor.next();
  cursor.previous();
  cursor.seek_before(key);
  cursor.seek_to_last();
  EXPECT_EQ(test::allocation_count(), before);
  EXPECT_TRUE(found);
  EXPECT_EQ(memtable.entry_count(), 2'000u);
}

/// Batches of random size over few keys, some in the order of keys and some not.
class MemtableModel : public testing::TestWithParam<std::uint64_t> {
 protected:
  MemtableModel() : random_(GetParam()), trace_(__FILE__, __LINE__, "seed " + std::to_string(GetParam())) {}

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void fill(int batches) {
    for (int i = 0; i < batches; ++i) {
      version_ += 1 + below(3);
      std::map<std::string, Write> writes;
      const std::uint64_t count = 1 + (below(10) == 0 ? below(200) : below(5));
      for (std::uint64_t n = 0; n < count; ++n) {
        const std::string key = random_key();
        writes[key] = below(4) == 0 ? remove(key) : put(key, std::string(below(60), 'v') + std::to_string(version_));
      }
      std::vector<Write> batch;
      for (auto& [key, write] : writes) {
        model_[{key, version_}] = {write.kind, write.value};
        batch.push_back(std::move(write));
      }
      if (below(2) == 0) std::shuffle(batch.begin(), batch.end(), random_);
      insert(memtable_, batch, version_);
    }
  }

  std::string random_key() {
    return key_of(std::to_string(below(8)), std::string(below(3), 'r') + std::to_string(below(60)));
  }

  /// Returns the element that find() must return.
  Model::const_iterator newest(const std::string& key, CommitVersion at_most) const {
    const auto found = model_.lower_bound({key, at_most});
    return found != model_.end() && found->first.first == key ? found : model_.end();
  }

  std::mt19937_64 random_;
  testing::ScopedTrace trace_;
  Memtable memtable_;
  Model model_;
  CommitVersion version_ = 0;
};

TEST_P(MemtableModel, FindsWhatASortedMapFinds) {
  for (int round = 0; round < 20; ++round) {
    fill(100);
    memtable_.check_invariants();
    ASSERT_EQ(memtable_.entry_count(), model_.size());
    for (int i = 0; i < 500; ++i) {
      const std::string key = random_key();
      const CommitVersion at_most = below(3) == 0 ? format::kCommitVersionMax : below(version_ + 2);
      const std::optional<Entry> entry = memtable_.find(key, at_most);
      const auto expected = newest(key, at_most);
      ASSERT_EQ(entry.has_value(), expected != model_.end());
      if (entry) expect_same(*entry, *expected);
    }
  }
}

TEST_P(MemtableModel, CursorsWalkAsASortedMapDoes) {
  fill(400);
  Memtable::Cursor cursor(memtable_);
  Model::const_iterator expected = model_.end();
  for (int step = 0; step < 20'000; ++step) {
    switch (below(cursor.valid() ? 20 : 4)) {
      case 0: {
        const std::string key = random_key();
        const CommitVersion at_most = below(version_ + 2);
        cursor.seek(key, at_most);
        expected = model_.lower_bound({key, at_most});
        break;
      }
      case 1: {
        const std::string key = random_key();
        cursor.seek_before(key);
        expected = before(model_, model_.lower_bound({key, format::kCommitVersionMax}));
        break;
      }
      case 2:
        cursor.seek_to_first();
        expected = model_.begin();
        break;
      case 3:
        cursor.seek_to_last();
        expected = before(model_, model_.end());
        break;
      default:
        if (step / 50 % 2 == 0) {
          cursor.next();
          ++expected;
        } else {
          cursor.previous();
          expected = before(model_, expected);
        }
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(cursor, model_, expected)) << step;
  }
}

TEST_P(MemtableModel, ACursorSeesWhatIsInsertedWhileItStands) {
  fill(100);
  Memtable::Cursor cursor(memtable_);
  cursor.seek_to_first();
  Model::const_iterator expected = model_.begin();
  std::size_t steps = 0;
  while (cursor.valid()) {
    if (++steps < 1'000) fill(1);  // std::map's iterators remain valid too
    ASSERT_NO_FATAL_FAILURE(expect_same(cursor, model_, expected));
    cursor.next();
    ++expected;
  }
  EXPECT_EQ(expected, model_.end());
}

INSTANTIATE_TEST_SUITE_P(Seeds, MemtableModel, testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(6)));

}  // namespace
}  // namespace varve::engine::memtable_test
