// Goal: a scan that skips blocks never shows an older version or a deleted key because of it, and leaves out no wanted
// key.
// Method: a few keys of many versions, spread over memtables, level 0, level 1 and the last level, in tables of several
// runs and small blocks. Scans with a judge at every version, between bounds, with random changes of direction, are
// compared with a map. The same scans are made by cursors that may not wait for the disk, and whose moves are continued.
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/levels/levels.h"
#include "engine/read/cursor.h"
#include "engine/read/state_cursor.h"
#include "engine/tables/block_reader.h"
#include "engine/tables/table_cursor.h"
#include "engine/tables/table_file.h"
#include "engine/tables/table_scan.h"
#include "format/block/block_statistics.h"
#include "format/bytes/bytes.h"
#include "format/keys/entity.h"
#include "format/log/file_header.h"
#include "format/table/table_builder.h"
#include "tests/engine/memory/memtable_fill.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::passed_blocks_test {
namespace {

constexpr std::uint64_t kFileSeed = 0x9a55;
constexpr std::string_view kProperty = "N";

struct Written {
  std::string key;
  CommitVersion version = 0;
  Kind kind = Kind::kPut;
  std::string value;
  bool operator<(const Written& other) const { return is_before(key, version, other.key, other.version); }
};
using Entries = std::vector<Written>;

/// Wants entities with an N from `low` to `high`.
class Between final : public BlockJudge {
 public:
  Between(std::int32_t low, std::int32_t high) : low_(low), high_(high) {}

  bool wants(std::string_view value) const {
    const Result<format::EncodedEntity> entity = format::EncodedEntity::open(value);
    if (!entity.ok()) return false;
    const std::optional<format::PropertyView> number = entity->find(kProperty);
    return number && number->type == format::PropertyType::kInt32 && low_ <= number->as_int32() &&
           number->as_int32() <= high_;
  }
  Result<bool> may_want(const format::RunEntry& run) override {
    const Result<std::optional<format::NamedRange>> named = told_of_run(run);
    if (!named.ok()) return named.status();
    return !*named || may_be_in((*named)->range);
  }
  Result<bool> may_want(const format::RunEntry& run, const format::BlockEntry& block) override {
    const Result<std::optional<format::NamedRange>> named = told_of_run(run);
    if (!named.ok()) return named.status();
    if (!*named || !(*named)->is_in_blocks) return true;
    const Result<format::PropertyRange> range = format::BlockStatistics(block.statistics).next();
    if (!range.ok()) return range.status();
    return may_be_in(*range);
  }

 private:
  /// Returns the range in the statistics of a run. Entities have one property with ranges, and one in random order.
  static Result<std::optional<format::NamedRange>> told_of_run(const format::RunEntry& run) {
    format::RunStatistics told(run.statistics);
    if (told.at_end()) return std::optional<format::NamedRange>();
    const Result<format::NamedRange> named = told.next();
    if (!named.ok()) return named.status();
    EXPECT_EQ(named->name, kProperty);
    return std::optional<format::NamedRange>(*named);
  }
  bool may_be_in(const format::PropertyRange& range) const {
    if (range.kind != format::PropertyRange::Kind::kRange) return range.kind == format::PropertyRange::Kind::kUnknown;
    const format::PropertyView smallest{{}, range.type, range.smallest};
    const format::PropertyView largest{{}, range.type, range.largest};
    return smallest.as_int32() <= high_ && low_ <= largest.as_int32();
  }
  const std::int32_t low_;
  const std::int32_t high_;
};

/// A read state built by hand.
class MadeState {
 public:
  MadeState() {
    machine_.files->change_disk([](io::MemoryDisk& disk) { disk.write_file(path_of("first"), {}); });
    directory_ = *env_.files.open_directory(test::kStorePath);
    cache_ = std::make_shared<BlockCache>(machine_.scheduler(), 8 << 20);
    files_ = std::make_unique<TableFiles>(env_, *directory_, cache_, test::few_open_files(env_.scheduler), [] {});
    reader_ = std::make_unique<BlockReader>(machine_.scheduler(), *cache_);
    state_.active = std::make_shared<Memtable>();
  }

  void add_to_memtable(const Written& entry) {
    insert(*state_.active, {{entry.key, entry.kind, entry.value}}, entry.version);
  }
  void seal() {
    state_.sealed.insert(state_.sealed.begin(), state_.active);
    state_.active = std::make_shared<Memtable>();
  }
  /// Adds a table. Each of `runs` becomes one run, or several if it is large. All of them are in order and not empty.
  void add_table(std::uint32_t level, const std::vector<Entries>& runs) {
    const auto whole = make_builder(next_number_++);
    if (runs.size() == 1) {
      fill(*whole, runs.front());
    } else {
      for (const Entries& run : runs) copy_into(*whole, run);
    }
    format::TableFileEntry entry = *whole->finish();
    entry.level = level;
    tables_.push_back(std::make_shared<const LevelFile>(LevelFile{entry, write(*whole, entry)}));
  }
  void finish() {
    Result<Levels> levels = Levels::make(std::move(tables_));
    ASSERT_TRUE(levels.ok()) << levels.status().to_string();
    state_.tables = std::make_shared<const Levels>(*std::move(levels));
  }

  Cursor walk(Between& judge, const std::string& lower, const std::string& upper, CommitVersion version,
              ReadCost* cost) const {
    return Cursor(ReadStates::Pin(), cursor_over(state_, *reader_, cost, {&judge, lower, upper}), lower, upper,
                  version);
  }
  /// Removes all blocks from the cache.
  void forget_blocks() {
    for (const auto& file : state_.tables->level(0)) forget_blocks_of(*file);
    for (std::uint32_t level = 1; level < kLevelCount; ++level) {
      for (const auto& file : state_.tables->level(level)) forget_blocks_of(*file);
    }
  }
  Cursor plain_walk(const std::string& lower, const std::string& upper, CommitVersion version, ReadCost* cost) const {
    return Cursor(ReadStates::Pin(), cursor_over(state_, *reader_, cost), lower, upper, version);
  }

 private:
  void forget_blocks_of(const LevelFile& file) {
    if (const OpenTable* const open = file.table->open_already()) cache_->erase_file(open->cache_id);
  }
  static std::string path_of(std::string_view name) { return std::string(test::kStorePath) + "/" + std::string(name); }
  static std::unique_ptr<format::TableBuilder> make_builder(std::uint64_t number) {
    format::TableOptions options;
    options.compression_level = 0;
    return *format::TableBuilder::make(number, kFileSeed, options);
  }
  static void fill(format::TableBuilder& builder, const Entries& entries) {
    for (const Written& entry : entries) {
      const Status added = builder.add({entry.key, entry.version, entry.kind, entry.value});
      ASSERT_TRUE(added.ok()) << added.to_string();
    }
  }
  /// Builds a separate run, like a compaction that copies runs.
  void copy_into(format::TableBuilder& whole, const Entries& entries) {
    const auto builder = make_builder(next_number_++);
    fill(*builder, entries);
    const format::TableFileEntry entry = *builder->finish();
    const std::shared_ptr<TableFile> file = write(*builder, entry);
    std::atomic<std::uint64_t> read_bytes{0};
    const TableScan scan(*file, read_bytes);
    ASSERT_TRUE(scan.whole_run().has_value());
    format::Decompressor decompressor;
    const Status copied = whole.append_run(*scan.whole_run(), decompressor).status();
    ASSERT_TRUE(copied.ok()) << copied.to_string();
  }
  std::shared_ptr<TableFile> write(const format::TableBuilder& builder, const format::TableFileEntry& entry) {
    const std::string path = path_of(format::file_name(format::FileType::kTable, entry.number));
    machine_.files->change_disk(
        [&](io::MemoryDisk& disk) { disk.write_file(path, format::as_bytes(builder.pending())); });
    return files_->add(entry);
  }

  test::Machine machine_;
  const io::Env env_ = machine_.env();
  std::unique_ptr<io::Directory> directory_;
  std::shared_ptr<BlockCache> cache_;
  std::unique_ptr<TableFiles> files_;
  std::unique_ptr<BlockReader> reader_;
  LevelFiles tables_;
  ReadState state_;
  std::uint64_t next_number_ = 1;
};

struct Live {
  CommitVersion version = 0;
  std::string value;
};
/// The visible content of a range at one version.
using Model = std::map<std::string, Live, std::less<>>;

struct Shape {
  std::uint64_t keys = 0;
  std::uint64_t entries = 0;
  std::uint64_t padding_max = 0;
  /// Uses one table, which has several runs only if it is large. Every run has statistics, because each key has its own
  /// number.
  bool one_table = false;
};

/// The cost of the scans of all seeds.
struct Cost {
  ReadCost judged;
  ReadCost plain;
  ReadCost in_parts;
  std::uint64_t parts = 0;  // of moves that were continued
};

/// A cursor that may not wait. A move that stops early is continued until it has ended.
class CursorInParts {
 public:
  CursorInParts(Cursor cursor, Cost& cost, std::uint64_t dead_keys_max) : cursor_(std::move(cursor)), cost_(cost) {
    cost_.in_parts.may_wait = false;
    cursor_.stop_after(dead_keys_max);
  }

  void seek_to_first() { cursor_.seek_to_first(), end_move(); }
  void seek_to_last() { cursor_.seek_to_last(), end_move(); }
  void seek(std::string_view key) { cursor_.seek(key), end_move(); }
  void next() { cursor_.next(), end_move(); }
  void previous() { cursor_.previous(), end_move(); }
  bool valid() const { return cursor_.valid(); }
  Status status() const { return cursor_.status(); }
  std::string_view key() const { return cursor_.key(); }
  std::string_view value() const { return cursor_.value(); }
  CommitVersion version() const { return cursor_.version(); }

 private:
  void end_move() {
    while (!cursor_.valid() && (cost_.in_parts.wants_disk || cursor_.has_stopped())) {
      ++cost_.parts;
      cost_.in_parts.may_wait = cost_.in_parts.wants_disk;
      cost_.in_parts.wants_disk = false;
      cursor_.go_on();
      cost_.in_parts.may_wait = false;
    }
  }

  Cursor cursor_;
  Cost& cost_;
};

class PassedBlocks {
 public:
  PassedBlocks(std::uint64_t seed, const Shape& shape) : random_(seed), shape_(shape) {}

  void run(Cost& cost) {
    ASSERT_NO_FATAL_FAILURE(write_all());
    for (int i = 0; i < 12; ++i) {
      const CommitVersion version = i == 0 ? shape_.entries : 1 + below(shape_.entries);
      const std::string lower = below(3) == 0 ? std::string() : random_key();
      const std::string upper = below(3) == 0 ? std::string() : random_key();
      const auto low = static_cast<std::int32_t>(below(shape_.keys + 2));
      Between judge(low, low + static_cast<std::int32_t>(below(4)) - 1);
      SCOPED_TRACE("version " + std::to_string(version) + ", " + testing::PrintToString(lower) + " to " +
                   testing::PrintToString(upper) + ", from " + std::to_string(low));
      const Model model = shown_at(version, lower, upper);
      Cursor cursor = state_.walk(judge, lower, upper, version, &cost.judged);
      ASSERT_NO_FATAL_FAILURE(walk_through(cursor, model, judge));
      ASSERT_NO_FATAL_FAILURE(walk_at_random(cursor, model, judge));
      Cursor plain = state_.plain_walk(lower, upper, version, &cost.plain);
      ASSERT_NO_FATAL_FAILURE(walk_plainly(plain, model));
      state_.forget_blocks();
      CursorInParts parts(state_.walk(judge, lower, upper, version, &cost.in_parts), cost, 1 + below(8));
      ASSERT_NO_FATAL_FAILURE(walk_at_random(parts, model, judge));
      state_.forget_blocks();
      ASSERT_NO_FATAL_FAILURE(walk_through(parts, model, judge));
      state_.forget_blocks();
      CursorInParts plain_parts(state_.plain_walk(lower, upper, version, &cost.in_parts), cost, 1 + below(8));
      ASSERT_NO_FATAL_FAILURE(walk_plainly(plain_parts, model));
    }
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return io::random_below(random_, bound); }
  std::string random_key() { return key_of(below(shape_.keys)); }

  /// Numbers mostly ascend with the keys, so that a block has few different ones.
  std::string random_value(std::uint64_t key) {
    if (!shape_.one_table && io::one_in(random_, 200)) return "no entity";
    format::EntityBuilder builder;
    if (!io::one_in(random_, 6)) {
      const bool is_noise = !shape_.one_table && io::one_in(random_, 8);
      builder.add_int32(kProperty, static_cast<std::int32_t>(is_noise ? below(shape_.keys) : key));
    }
    builder.add_binary("Padding", std::string(shape_.padding_max - below(shape_.padding_max / 2), 'x'));
    return builder.finish();
  }

  Entries random_entries() {
    Entries entries;
    for (CommitVersion version = 1; version <= shape_.entries; ++version) {
      const bool is_hot = !shape_.one_table && io::one_in(random_, 3);
      const std::uint64_t key = is_hot ? below(3) : below(shape_.keys);  // a few have many versions
      const bool removes = io::one_in(random_, 4);
      entries.push_back(
          {key_of(key), version, removes ? Kind::kDelete : Kind::kPut, removes ? std::string() : random_value(key)});
    }
    return entries;
  }

  /// Splits the entries randomly at the beginning of keys into non-empty parts.
  std::vector<Entries> parts_of(const Entries& sorted, std::uint64_t one_in) {
    std::vector<Entries> parts;
    for (const Written& entry : sorted) {
      const bool cuts = parts.empty() || (parts.back().back().key != entry.key && io::one_in(random_, one_in));
      if (cuts) parts.emplace_back();
      parts.back().push_back(entry);
    }
    return parts;
  }
  void add_level(std::uint32_t level, Entries entries) {
    std::sort(entries.begin(), entries.end());
    for (const Entries& file : parts_of(entries, shape_.one_table ? UINT64_MAX : shape_.keys / 2 + 1)) {
      state_.add_table(level, parts_of(file, shape_.one_table ? UINT64_MAX : shape_.keys / 3 + 1));
    }
  }
  void add_level0(Entries entries) {
    if (entries.empty()) return;
    std::sort(entries.begin(), entries.end());
    state_.add_table(0, parts_of(entries, shape_.keys / 3 + 1));
  }

  /// Writes older entries to deeper levels. On both deep levels the age of entries varies from key to key.
  void write_all() {
    const Entries entries = random_entries();
    for (const Written& entry : entries) history_[entry.key][entry.version] = entry;
    const CommitVersion deep = shape_.one_table ? shape_.entries : below(shape_.entries);
    std::map<std::string, CommitVersion> last_level_until;
    std::vector<Entries> levels(2);
    std::vector<Entries> upper(4);
    const bool only_deletes = io::one_in(random_, 3);  // the newest table of level 0
    for (const Written& entry : entries) {
      if (entry.version <= deep) {
        const CommitVersion until =
            last_level_until.try_emplace(entry.key, shape_.one_table ? deep : below(deep + 1)).first->second;
        levels[entry.version <= until ? 1 : 0].push_back(entry);
      } else {
        const std::uint64_t part = 4 * (entry.version - deep - 1) / (shape_.entries - deep);
        if (part == 1 && only_deletes && entry.kind == Kind::kPut) {
          history_[entry.key].erase(entry.version);
          continue;
        }
        upper[part].push_back(entry);
      }
    }
    add_level(kLastLevel, levels[1]);
    add_level(1, levels[0]);
    add_level0(upper[0]);
    add_level0(upper[1]);
    for (const Written& entry : upper[2]) state_.add_to_memtable(entry);
    state_.seal();
    for (const Written& entry : upper[3]) state_.add_to_memtable(entry);
    state_.finish();
  }

  Model shown_at(CommitVersion version, const std::string& lower, const std::string& upper) const {
    Model model;
    for (const auto& [key, versions] : history_) {
      if (key < lower || (!upper.empty() && key >= upper)) continue;
      auto at = versions.upper_bound(version);
      if (at == versions.begin()) continue;
      const Written& newest = std::prev(at)->second;
      if (newest.kind == Kind::kPut) model[key] = {newest.version, newest.value};
    }
    return model;
  }

  /// Checks that the cursor shows a key of the model unchanged, at `from` or after it, and that it skipped no wanted
  /// key.
  template <typename AnyCursor>
  static void expect_forward(const AnyCursor& cursor, const Model& model, const Between& judge,
                             Model::const_iterator from) {
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    auto shown = model.end();
    if (cursor.valid()) {
      ASSERT_NO_FATAL_FAILURE(expect_shown(cursor, model, &shown));
    }
    for (; from != shown; ++from) {
      ASSERT_NE(from, model.end()) << "the walk has turned round";
      ASSERT_FALSE(judge.wants(from->second.value)) << "left out: " << testing::PrintToString(from->first);
    }
  }
  /// Checks the same for the keys before the last argument.
  template <typename AnyCursor>
  static void expect_backward(const AnyCursor& cursor, const Model& model, const Between& judge,
                              Model::const_iterator behind) {
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    auto shown = model.end();
    if (cursor.valid()) {
      ASSERT_NO_FATAL_FAILURE(expect_shown(cursor, model, &shown));
    }
    while (behind != model.begin()) {
      --behind;
      if (behind == shown) return;
      ASSERT_FALSE(judge.wants(behind->second.value)) << "left out: " << testing::PrintToString(behind->first);
    }
    ASSERT_EQ(shown, model.end()) << "the walk has turned round";
  }
  template <typename AnyCursor>
  static void expect_shown(const AnyCursor& cursor, const Model& model, Model::const_iterator* shown) {
    *shown = model.find(cursor.key());
    ASSERT_NE(*shown, model.end()) << "not there: " << testing::PrintToString(cursor.key());
    ASSERT_EQ(cursor.version(), (*shown)->second.version) << "an older one";
    ASSERT_EQ(cursor.value(), (*shown)->second.value);
  }

  template <typename AnyCursor>
  static void walk_through(AnyCursor& cursor, const Model& model, const Between& judge) {
    auto from = model.begin();
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
      ASSERT_NO_FATAL_FAILURE(expect_forward(cursor, model, judge, from));
      from = std::next(model.find(cursor.key()));
    }
    ASSERT_NO_FATAL_FAILURE(expect_forward(cursor, model, judge, from));
    auto behind = model.end();
    for (cursor.seek_to_last(); cursor.valid(); cursor.previous()) {
      ASSERT_NO_FATAL_FAILURE(expect_backward(cursor, model, judge, behind));
      behind = model.find(cursor.key());
    }
    ASSERT_NO_FATAL_FAILURE(expect_backward(cursor, model, judge, behind));
  }
  template <typename AnyCursor>
  void walk_at_random(AnyCursor& cursor, const Model& model, const Between& judge) {
    for (int step = 0; step < 40; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      const auto here = cursor.valid() ? model.find(cursor.key()) : model.end();
      switch (below(cursor.valid() ? 12 : 3)) {
        case 0:
          cursor.seek_to_first();
          ASSERT_NO_FATAL_FAILURE(expect_forward(cursor, model, judge, model.begin()));
          break;
        case 1:
          cursor.seek_to_last();
          ASSERT_NO_FATAL_FAILURE(expect_backward(cursor, model, judge, model.end()));
          break;
        case 2: {
          const std::string key = random_key();
          cursor.seek(key);
          ASSERT_NO_FATAL_FAILURE(expect_forward(cursor, model, judge, model.lower_bound(key)));
          break;
        }
        default:
          if (below(2) == 0) {
            cursor.next();
            ASSERT_NO_FATAL_FAILURE(expect_forward(cursor, model, judge, std::next(here)));
          } else {
            cursor.previous();
            ASSERT_NO_FATAL_FAILURE(expect_backward(cursor, model, judge, here));
          }
      }
    }
  }
  /// Scans without a judge, to measure what it saves.
  template <typename AnyCursor>
  static void walk_plainly(AnyCursor& cursor, const Model& model) {
    std::size_t keys = 0;
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) ++keys;
    ASSERT_EQ(keys, model.size());
    for (cursor.seek_to_last(); cursor.valid(); cursor.previous()) ++keys;
    ASSERT_EQ(keys, 2 * model.size());
  }

  io::SeededRandom random_;
  const Shape shape_;
  MadeState state_;
  std::map<std::string, std::map<CommitVersion, Written>> history_;
};

void walk_all(std::uint64_t seeds, const Shape& shape, Cost& cost) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    PassedBlocks one(seed, shape);
    one.run(cost);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(PassedBlocks, HideNothingAndBringNothingBack) {
  Cost cost;
  const std::uint64_t seeds = test::effort<std::uint64_t>(120);
  ASSERT_NO_FATAL_FAILURE(walk_all(seeds, {40, 250, 1500, false}, cost));
  EXPECT_GT(cost.judged.blocks_skipped, seeds * 100);
  EXPECT_GT(cost.judged.blocks_skipped, cost.plain.blocks_skipped * 10) << "blocks of deletes alone are few";
  EXPECT_GT(cost.parts, seeds * 100);
}

TEST(PassedBlocks, OfManyKeysWithFewVersions) {
  Cost cost;
  const std::uint64_t seeds = test::effort<std::uint64_t>(60);
  ASSERT_NO_FATAL_FAILURE(walk_all(seeds, {200, 600, 1500, false}, cost));
  EXPECT_GT(cost.judged.blocks_skipped, seeds * 100);
}

/// Each block has one entry, and there are more blocks than a run takes: keys continue from run to run.
TEST(PassedBlocks, OfKeysThatGoOnInTheNextRun) {
  Cost cost;
  const std::uint64_t seeds = test::effort<std::uint64_t>(12);
  ASSERT_NO_FATAL_FAILURE(walk_all(seeds, {150, 3 * format::kRunBlocksMax, 4400, true}, cost));
  EXPECT_GT(cost.judged.blocks_skipped, seeds * 100);
}

/// A scan checks the time between moves, so no move may skip a whole table.
TEST(PassedBlocks, AreSoManyInOneMoveAndNoMore) {
  constexpr std::uint64_t kBlocks = 3 * TableCursor::kPassedAtOnceMax;
  constexpr std::uint64_t kMoveMax = TableCursor::kPassedAtOnceMax + format::kRunBlocksMax;
  MadeState state;
  Entries entries;
  for (std::uint64_t key = 0; key < kBlocks; ++key) {
    format::EntityBuilder builder;
    builder.add_int32(kProperty, static_cast<std::int32_t>(key));
    builder.add_binary("Padding", std::string(2 * format::kSectorBytes, 'x'));
    entries.push_back({key_of(key), key + 1, Kind::kPut, builder.finish()});
  }
  state.add_table(kLastLevel, {entries});
  ASSERT_NO_FATAL_FAILURE(state.finish());

  for (const bool backward : {false, true}) {
    SCOPED_TRACE(backward ? "backward" : "forward");
    const auto wanted = static_cast<std::int32_t>(backward ? 0 : kBlocks - 1);
    Between judge(wanted, wanted);
    ReadCost cost;
    Cursor cursor = state.walk(judge, std::string(), std::string(), kBlocks, &cost);
    backward ? cursor.seek_to_last() : cursor.seek_to_first();
    std::uint64_t moves = 0;
    std::string last;
    for (std::uint64_t before = 0; cursor.valid(); before = cost.blocks_skipped) {
      EXPECT_LE(cost.blocks_skipped - before, kMoveMax);
      last = cursor.key();
      backward ? cursor.previous() : cursor.next();
      ++moves;
    }
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    EXPECT_EQ(last, key_of(backward ? 0 : kBlocks - 1));
    EXPECT_GT(cost.blocks_skipped, kBlocks - 10);
    EXPECT_LT(moves, 10U);
  }
}

}  // namespace
}  // namespace varve::engine::passed_blocks_test
