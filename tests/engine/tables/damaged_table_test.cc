// Goal: a table file with impossible blocks under correct checksums is reported by every way of reading it. No way ends
// the process or runs without end, and each error names the file.
// Method: a small file with several runs. Bytes of each of its blocks are changed one at a time, and the block is
// sealed again. The file is read by lookups, by scans in both directions, by scans that skip deleted blocks, and by a
// scan of the whole file.
#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "engine/tables/block_reader.h"
#include "engine/tables/table_cursor.h"
#include "engine/tables/table_file.h"
#include "engine/tables/table_lookup.h"
#include "engine/tables/table_scan.h"
#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/bytes/content_hasher.h"
#include "format/log/file_header.h"
#include "format/table/table_builder.h"
#include "format/table/table_verify.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::damaged_table_test {
namespace {

constexpr std::uint64_t kSeed = 0x5eed;
constexpr CommitVersion kNewest = format::kCommitVersionMax;

/// A file in memory, and its entry in the manifest.
struct File {
  std::string bytes;
  format::TableFileEntry entry;
};

File finish(format::TableBuilder& builder) {
  Result<format::TableFileEntry> entry = builder.finish();
  EXPECT_TRUE(entry.ok()) << entry.status().to_string();
  return {std::string(builder.pending()), *std::move(entry)};
}

std::unique_ptr<format::TableBuilder> begin(std::uint64_t number) {
  format::TableOptions options;
  options.compression_level = 0;  // so that each byte of a block is a byte of its content
  return *format::TableBuilder::make(number, kSeed, options);
}

/// Adds rows of one partition, each with two versions. In the middle so many are deleted that whole blocks contain only
/// deletes.
void add_rows(format::TableBuilder& builder, std::string_view partition, int deleted) {
  for (int row = 1000; row < 1020 + deleted; ++row) {
    const std::string key = test::key_of(partition, std::to_string(row));
    if (row >= 1010 && row < 1010 + deleted) {
      EXPECT_TRUE(builder.add({key, 900, Kind::kDelete, ""}).ok());
      continue;
    }
    EXPECT_TRUE(builder.add({key, 900, Kind::kPut, std::string(200, 'n')}).ok());
    EXPECT_TRUE(builder.add({key, 800, Kind::kPut, std::string(200, 'o')}).ok());
  }
}

/// One file, opened like in a store, on a disk of its own.
class Reading {
 public:
  explicit Reading(const File& file) : cache_(std::make_shared<BlockCache>(scheduler_, 1 << 20)) {
    const std::string name = format::file_name(format::FileType::kTable, file.entry.number);
    io::MemoryDisk disk;
    disk.write_file(std::string(test::kStorePath) + "/" + name, format::as_bytes(file.bytes));
    machine_ = std::make_unique<test::Machine>(1, std::move(disk));
    env_ = std::make_unique<io::Env>(machine_->env());
    directory_ = *env_->files.open_directory(test::kStorePath);
    files_ = std::make_unique<TableFiles>(*env_, *directory_, cache_, test::few_open_files(scheduler_), [] {});
    reader_ = std::make_unique<BlockReader>(scheduler_, *cache_);
    table_ = files_->add(file.entry);
  }

  TableFile& table() { return *table_; }
  io::FaultPlan& faults() { return machine_->files->faults(); }
  BlockReader& reader() { return *reader_; }

 private:
  io::Scheduler scheduler_;
  std::shared_ptr<BlockCache> cache_;
  std::unique_ptr<test::Machine> machine_;
  std::unique_ptr<io::Env> env_;
  std::unique_ptr<io::Directory> directory_;
  std::unique_ptr<TableFiles> files_;
  std::unique_ptr<BlockReader> reader_;
  std::shared_ptr<TableFile> table_;
};

/// Returns a file of two small copied files, and some entries between them.
File made_file() {
  const auto copied = begin(60);
  format::Decompressor decompressor;
  for (const char* partition : {"a", "c"}) {
    const auto builder = begin(1);
    add_rows(*builder, partition, 5);
    const File small = finish(*builder);
    Reading reading(small);
    std::atomic<std::uint64_t> read_bytes{0};
    TableScan scan(reading.table(), read_bytes);
    const std::optional<format::RunSource> run = scan.whole_run();
    EXPECT_TRUE(run.has_value());
    EXPECT_TRUE(copied->append_run(*run, decompressor).ok());
    if (std::string_view(partition) == "c") break;
    add_rows(*copied, "b", 800);
  }
  return finish(*copied);
}

struct Seen {
  std::vector<std::string> entries;  // "key/version"
  Status status;

  void add(const Entry& entry) { entries.push_back(std::string(entry.sort_key) + "/" + std::to_string(entry.version)); }
};

constexpr std::size_t kEntriesMax = 2000;  // many more than exist: a scan that exceeds it does not end

Seen walk_forward(Reading& reading) {
  Seen seen;
  TableCursor cursor(reading.table(), reading.reader(), nullptr);
  for (cursor.seek("", kNewest); cursor.valid() && seen.entries.size() < kEntriesMax; cursor.next()) {
    seen.add(cursor.entry());
  }
  seen.status = cursor.status();
  return seen;
}

Seen walk_backward(Reading& reading) {
  Seen seen;
  TableCursor cursor(reading.table(), reading.reader(), nullptr);
  for (cursor.seek_to_last(); cursor.valid() && seen.entries.size() < kEntriesMax; cursor.previous()) {
    seen.entries.insert(seen.entries.begin(), std::string());
    seen.entries.front() = std::string(cursor.entry().sort_key) + "/" + std::to_string(cursor.entry().version);
  }
  seen.status = cursor.status();
  return seen;
}

/// Returns the entries that remain if whole blocks of deletes are skipped.
Seen walk_over_deletes(Reading& reading, bool backward) {
  Seen seen;
  ReadCost cost;
  TableCursor cursor(reading.table(), reading.reader(), &cost);
  backward ? cursor.seek_to_last() : cursor.seek("", kNewest);
  for (std::size_t moves = 0; cursor.valid() && moves < kEntriesMax; ++moves) {
    const bool passed =
        cursor.entry().kind == Kind::kDelete && (backward ? cursor.pass_deletes_backward("") : cursor.pass_deletes(""));
    if (passed) continue;
    seen.add(cursor.entry());
    backward ? cursor.previous() : cursor.next();
  }
  seen.status = cursor.status();
  return seen;
}

Seen walk_over_deletes_forward(Reading& reading) {
  return walk_over_deletes(reading, false);
}
Seen walk_over_deletes_backward(Reading& reading) {
  return walk_over_deletes(reading, true);
}

Seen scan_all(Reading& reading) {
  Seen seen;
  std::atomic<std::uint64_t> read_bytes{0};
  TableScan scan(reading.table(), read_bytes);
  for (; scan.valid() && seen.entries.size() < kEntriesMax; scan.next()) seen.add(scan.entry());
  seen.status = scan.status();
  return seen;
}

/// Seeks to every row, before and after it, and at versions between its own. The first error ends it.
Seen seek_each(Reading& reading) {
  Seen seen;
  TableCursor cursor(reading.table(), reading.reader(), nullptr);
  for (const char* partition : {"a", "b", "c", "d"}) {
    for (int row = 999; row <= 1030; ++row) {
      const std::string key = test::key_of(partition, std::to_string(row));
      for (const CommitVersion version : {kNewest, CommitVersion{850}, CommitVersion{1}}) {
        cursor.seek(key, version);
        if (cursor.valid()) seen.add(cursor.entry());
        seen.status = cursor.status();
        if (!seen.status.ok()) return seen;
      }
      cursor.seek_before(key);
      if (cursor.valid()) seen.add(cursor.entry());
      seen.status = cursor.status();
      if (!seen.status.ok()) return seen;
    }
  }
  return seen;
}

/// Looks up every row like a point read. The first error ends it.
Seen look_up_each(Reading& reading) {
  Seen seen;
  const Result<const OpenTable*> table = reading.table().open();
  if (!table.ok()) {
    seen.status = table.status();
    return seen;
  }
  for (const char* partition : {"a", "b", "c"}) {
    for (int row = 1000; row < 1030; ++row) {
      const std::string name = test::key_of(partition, std::to_string(row));
      for (const CommitVersion version : {kNewest, CommitVersion{850}, CommitVersion{750}, CommitVersion{1}}) {
        const LookupKey key{name, format::content_hash(name), version};
        TableLookup lookup;
        lookup.begin(key, **table, nullptr);
        PinnedBlock block;
        LookupStep step = lookup.advance(nullptr);
        for (int blocks = 0; step == LookupStep::kWantsBlock && blocks < 2000; ++blocks) {
          Result<PinnedBlock> wanted = reading.reader().get(lookup.wanted());
          if (!wanted.ok()) {
            seen.status = wanted.status();
            return seen;
          }
          block = *std::move(wanted);
          step = lookup.advance(&*block);
        }
        EXPECT_NE(step, LookupStep::kWantsBlock) << "it goes on for ever";
        if (step == LookupStep::kFound) seen.add(lookup.entry());
        if (step == LookupStep::kFailed) {
          seen.status = lookup.status();
          return seen;
        }
      }
    }
  }
  return seen;
}

struct Way {
  const char* name;
  Seen (*read)(Reading&);
};

constexpr Way kWays[] = {
    {"forward", walk_forward},
    {"backward", walk_backward},
    {"forward over deletes", walk_over_deletes_forward},
    {"backward over deletes", walk_over_deletes_backward},
    {"seeks", seek_each},
    {"lookups", look_up_each},
    {"scan", scan_all},
};

class Blocks : public format::TableVisitor {
 public:
  void on_run(const format::RunEntry& run) override {
    places.push_back(run.index());
    places.push_back(run.filter());
  }
  void on_block(const format::BlockHandle& handle, const format::BlockFrame&) override { places.push_back(handle); }
  std::vector<format::BlockHandle> places;
};

std::vector<format::BlockHandle> blocks_of(const File& file) {
  Blocks blocks;
  const auto verified = format::verify_table(
      {file.entry.number, kSeed, file.bytes.size()},
      [&](std::uint64_t offset, std::uint64_t count) -> Result<std::string_view> {
        return std::string_view(file.bytes).substr(offset, count);
      },
      &blocks);
  EXPECT_TRUE(verified.ok()) << verified.status().to_string();
  std::set<std::uint64_t> known;
  std::erase_if(blocks.places, [&](const format::BlockHandle& block) { return !known.insert(block.offset).second; });
  return blocks.places;
}

TEST(DamagedTable, UnharmedItSaysTheSameByEveryWay) {
  const File file = made_file();
  Reading reading(file);
  const Seen forward = walk_forward(reading);
  EXPECT_TRUE(forward.status.ok()) << forward.status.to_string();
  EXPECT_EQ(forward.entries.size(), file.entry.entry_count);
  EXPECT_EQ(walk_backward(reading).entries, forward.entries);
  EXPECT_EQ(scan_all(reading).entries, forward.entries);
  for (const Way& way : kWays) {
    const Seen seen = way.read(reading);
    EXPECT_TRUE(seen.status.ok()) << way.name << ": " << seen.status.to_string();
    EXPECT_FALSE(seen.entries.empty()) << way.name;
  }
  EXPECT_LT(walk_over_deletes_forward(reading).entries.size(), forward.entries.size());
  EXPECT_LT(walk_over_deletes_backward(reading).entries.size(), forward.entries.size());
  Result<const OpenTable*> table = reading.table().open();
  EXPECT_GE((*table)->index.runs().size(), 3U);
}

TEST(DamagedTable, UnharmedAKeyThatGoesOnInTheNextRunIsWhole) {
  const auto builder = begin(60);
  constexpr CommitVersion kVersions = 600;  // one per block: more than a run takes
  EXPECT_TRUE(builder->add({test::key_of("a", "1000"), 900, Kind::kDelete, ""}).ok());
  for (CommitVersion version = kVersions; version > 0; --version) {
    EXPECT_TRUE(builder->add({test::key_of("a", "1001"), version, Kind::kPut, std::string(5000, 'v')}).ok());
  }
  EXPECT_TRUE(builder->add({test::key_of("a", "1002"), 900, Kind::kPut, "behind"}).ok());
  const File file = finish(*builder);
  Reading reading(file);
  const Seen forward = walk_forward(reading);
  EXPECT_TRUE(forward.status.ok()) << forward.status.to_string();
  EXPECT_EQ(forward.entries.size(), kVersions + 2);
  EXPECT_EQ(walk_backward(reading).entries, forward.entries);
  EXPECT_EQ(scan_all(reading).entries, forward.entries);
  const Result<const OpenTable*> table = reading.table().open();
  EXPECT_GE((*table)->index.runs().size(), 3U);

  TableCursor cursor(reading.table(), reading.reader(), nullptr);
  for (const CommitVersion version : {kNewest, kVersions, CommitVersion{300}, CommitVersion{1}}) {
    cursor.seek(test::key_of("a", "1001"), version);
    ASSERT_TRUE(cursor.valid()) << version;
    EXPECT_EQ(cursor.entry().version, std::min(version, kVersions));
  }
  cursor.seek(test::key_of("a", "1001"), 0);
  ASSERT_TRUE(cursor.valid());
  EXPECT_EQ(cursor.entry().sort_key, test::key_of("a", "1002")) << "no version of it is so old";
  EXPECT_EQ(look_up_each(reading).entries.size(), 1U + 4U + 1U) << "each at four versions";
}

/// Returns the file with one changed byte of a block, and with the block's final checksum corrected.
File with_byte_changed(const File& file, const format::BlockHandle& block, std::uint64_t at) {
  File damaged = file;
  const std::uint64_t covered_bytes = block.bytes - sizeof(std::uint64_t);
  char& byte = damaged.bytes[block.offset + at];
  byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (at % 2 == 0 ? 0xFFU : 0x01U));
  const std::string_view covered = std::string_view(damaged.bytes).substr(block.offset, covered_bytes);
  format::store_u64(damaged.bytes.data() + block.offset + covered_bytes,
                    format::checksum_at({kSeed, block.offset}, covered));
  return damaged;
}

/// Returns the first and the last offsets of a block, where its numbers are, and some in between.
std::vector<std::uint64_t> places_in(const format::BlockHandle& block) {
  std::vector<std::uint64_t> places;
  const std::uint64_t end = block.bytes - sizeof(std::uint64_t);
  const std::uint64_t stride = end / 6 + 1;
  for (std::uint64_t at = 0; at < end; at += at < 4 || end - at < 6 ? 1 : stride) places.push_back(at);
  for (std::uint64_t at = end - std::min<std::uint64_t>(end, 6); at < end; ++at) places.push_back(at);
  return places;
}

TEST(DamagedTable, IsToldByEveryWayThatMeetsTheDamageAndEndsNone) {
  const File file = made_file();
  const std::string name = format::file_name(format::FileType::kTable, file.entry.number);
  for (const Way& way : kWays) {
    int tried = 0;
    int told = 0;
    for (const format::BlockHandle& block : blocks_of(file)) {
      for (const std::uint64_t at : places_in(block)) {
        SCOPED_TRACE(std::string(way.name) + ", block at " + std::to_string(block.offset) + ", byte " +
                     std::to_string(at));
        const File damaged = with_byte_changed(file, block, at);
        Reading reading(damaged);
        const Seen seen = way.read(reading);
        ++tried;
        ASSERT_LT(seen.entries.size(), kEntriesMax) << "it goes on for ever";
        if (seen.status.ok()) continue;
        ++told;
        EXPECT_TRUE(seen.status.code() == Code::kCorruption || seen.status.code() == Code::kUnsupported)
            << seen.status.to_string();
        EXPECT_NE(seen.status.to_string().find(name), std::string::npos) << seen.status.to_string();
      }
    }
    EXPECT_GE(tried, 150);
    EXPECT_GE(told, 20) << way.name;
  }
}

// -- Files that are not what the manifest says, or cannot be read -----------------------------------------------------

TEST(DamagedTable, AFileThatIsNotWhatTheManifestSaysIsNotOpened) {
  const File file = made_file();
  const struct {
    const char* what;
    void (*change)(format::TableFileEntry&);
  } changes[] = {
      {"entries", [](format::TableFileEntry& entry) { ++entry.entry_count; }},
      {"tombstones", [](format::TableFileEntry& entry) { ++entry.tombstone_count; }},
      {"smallest key", [](format::TableFileEntry& entry) { entry.smallest_key = test::key_of("A", "1000"); }},
      {"largest key", [](format::TableFileEntry& entry) { entry.largest_key = test::key_of("d", "1000"); }},
      {"smallest version", [](format::TableFileEntry& entry) { --entry.smallest_version; }},
      {"largest version", [](format::TableFileEntry& entry) { ++entry.largest_version; }},
      {"size", [](format::TableFileEntry& entry) { ++entry.size_bytes; }},
      {"seed", [](format::TableFileEntry& entry) { ++entry.seed; }},
  };
  for (const auto& each : changes) {
    SCOPED_TRACE(each.what);
    File changed = file;
    each.change(changed.entry);
    for (const Way& way : kWays) {
      Reading reading(changed);
      const Seen seen = way.read(reading);
      EXPECT_EQ(seen.status.code(), Code::kCorruption) << way.name << ": " << seen.status.to_string();
      EXPECT_TRUE(seen.entries.empty()) << way.name;
    }
  }
}

TEST(DamagedTable, EachReadThatFailsIsToldByEveryWayAndTheNextTimeServed) {
  const File file = made_file();
  for (const Way& way : kWays) {
    SCOPED_TRACE(way.name);
    Reading unharmed(file);
    const std::vector<std::string> all = way.read(unharmed).entries;
    std::uint64_t nth = 0;
    for (;; ++nth) {
      ASSERT_LT(nth, 1000U);
      Reading reading(file);
      io::FaultRule rule;
      rule.kind = io::OperationKind::kRead;
      rule.skip_count = nth;
      reading.faults().add(rule);
      const Seen seen = way.read(reading);
      if (reading.faults().hit_count() == 0) break;
      EXPECT_EQ(seen.status.code(), Code::kIoError) << "read " << nth << ": " << seen.status.to_string();
      EXPECT_LT(seen.entries.size(), all.size());
      EXPECT_EQ(way.read(reading).entries, all) << "after read " << nth;
    }
    EXPECT_GE(nth, 5U);
  }
}

}  // namespace
}  // namespace varve::engine::damaged_table_test
