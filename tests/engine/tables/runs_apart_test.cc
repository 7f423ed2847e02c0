// Goal: a table file whose runs are made by helpers has the bytes that it has without helpers. A failure of a helper or
// of the file is reported, and all work that was begun ends.
// Method: files of random entries, under seeded schedules, with pools of several sizes.
#include "engine/tables/runs_apart.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/keys/value_pointer.h"
#include "format/table/table_verify.h"
#include "io/probe.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::runs_apart_test {
namespace {

constexpr std::uint64_t kNumber = 9;
constexpr std::string_view kByHelper = "a run was made by a helper";

struct Row {
  std::string key;
  CommitVersion version = 0;
  Kind kind = Kind::kPut;
  std::string value;
  bool operator==(const Row&) const = default;
  Entry entry() const { return {key, version, kind, value}; }
};

/// Collects what a file contains.
class Content final : public format::TableVisitor {
 public:
  void on_run(const format::RunEntry& /*run*/) override { ++runs; }
  void on_entry(const format::DataEntry& entry) override {
    rows.push_back({std::string(entry.key), entry.version, entry.kind, std::string(entry.value)});
  }
  void on_directory(const std::vector<format::DirectoryEntry>& found) override { tables = found; }

  std::vector<Row> rows;
  std::vector<format::DirectoryEntry> tables;
  std::size_t runs = 0;
};

class RunsApartTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  RunsApartTest() {
    EXPECT_TRUE(machine_.files->create_directory(test::kStorePath, {"test"}).ok());
    directory_ = *machine_.files->open_directory(test::kStorePath);
    make_rows();
  }

  /// Makes entries of a few tables, in order: puts, deletes and pointers, and keys with many versions.
  void make_rows() {
    for (std::uint32_t table = 1; table <= 4; ++table) {
      const std::uint64_t keys = table % 2 == 0 ? 3 : 250 + io::random_below(random_, 100);
      for (std::uint64_t key = 0; key < keys; ++key) {
        const std::uint64_t versions = io::one_in(random_, 20) ? 1 + io::random_below(random_, 40) : 1;
        for (std::uint64_t version = versions; version > 0; --version) rows_.push_back(row(table, key, version));
      }
    }
  }
  Row row(std::uint32_t table, std::uint64_t key, CommitVersion version) {
    Row made{test::key_of("p", std::to_string(1000 + key), format::make_table_id(7, table)), version, Kind::kPut, ""};
    switch (io::random_below(random_, 8)) {
      case 0: made.kind = Kind::kDelete; break;
      case 1:
        made.kind = Kind::kPutExternal;
        format::append_value_pointer(made.value, {3 + io::random_below(random_, 3), 4096, 20'000, 7});
        break;
      default:
        made.value = std::to_string(key * version) + std::string(io::random_below(random_, 300), 'x');
        for (int i = 0; i < 60; ++i) made.value += static_cast<char>(random_.next());
    }
    return made;
  }

  io::Env env(io::RandomSource& random) {
    return io::Env{*machine_.files, machine_.clock, random, machine_.scheduler()};
  }

  struct Way {
    std::uint64_t chunk_weight = 4096;
    bool stays = false;
    /// The entries that the file's own builder takes first.
    std::size_t first_rows = 0;
    /// The place at which everything is appended, as before a copied run.
    std::size_t pause_at = SIZE_MAX;
    /// The place at which the file is given up.
    std::size_t end_at = SIZE_MAX;
  };

  /// Writes all rows to a file, and returns its size. Sizes that the caller could see are added to `seen_`.
  Result<format::TableFileEntry> write(BackgroundPool& pool, const Way& way) {
    io::SeededRandom seeds(5);
    const io::Env with_seed = env(seeds);
    format::TableOptions options;
    options.compression_level = -7;
    Result<std::unique_ptr<TableWriter>> writer = TableWriter::create(with_seed, *directory_, kNumber, options);
    if (!writer.ok()) return writer.status();
    RunsApart apart(pool, machine_.scheduler(), way.chunk_weight);
    std::uint64_t weight = 0;
    Row passing;
    seen_.clear();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (i == way.end_at) return Status(Code::kClosed, "given up");
      passing = rows_[i];  // Views of it are valid until the next turn.
      const Entry entry = way.stays ? rows_[i].entry() : passing.entry();
      if (i < way.first_rows) {
        weight += RunChunk::weight_of(entry);
        if (Status added = (*writer)->add(entry); !added.ok()) return added;
        continue;
      }
      if (!apart.is_begun())
        apart.begin(**writer, options, {weight, (*writer)->estimated_bytes(), weight == 0 ? 0u : 10u});
      if (Status added = apart.add(entry, false, way.stays); !added.ok()) return added;
      seen_.push_back(apart.estimated_bytes());
      if (i != way.pause_at) continue;
      if (Status appended = apart.append_all(); !appended.ok()) return appended;
      apart.note_growth();
    }
    if (Status appended = apart.append_all(); !appended.ok()) return appended;
    apart.end();
    return (*writer)->finish(0);
  }

  std::string path() const {
    return std::string(test::kStorePath) + "/" + format::file_name(format::FileType::kTable, kNumber);
  }
  bool is_there() const { return machine_.files->snapshot().contains(path()); }
  std::string bytes() const {
    const std::vector<std::byte> all = *machine_.files->snapshot().read_file(path());
    return std::string(format::as_text(all));
  }
  void remove() { ASSERT_TRUE(directory_->remove(format::file_name(format::FileType::kTable, kNumber)).ok()); }

  /// Writes the file without any thread of a pool, and returns its bytes.
  std::string bytes_alone(const Way& way) {
    BackgroundPool nobody(env(random_), 2);
    const auto written = write(nobody, way);
    EXPECT_TRUE(written.ok()) << written.status().to_string();
    std::string alone = bytes();
    remove();
    return alone;
  }

  std::uint64_t made_by_helpers() const {
    const std::map<std::string, std::uint64_t> counts = io::probe_counts();
    const auto found = counts.find(std::string(kByHelper));
    return found == counts.end() ? 0 : found->second;
  }

  io::SeededRandom random_{GetParam()};
  test::Machine machine_{GetParam(), test::OneThreadAtATime{}};
  std::unique_ptr<io::Directory> directory_;
  std::vector<Row> rows_;
  std::vector<std::uint64_t> seen_;
};

TEST_P(RunsApartTest, HaveTheSameBytesWhoeverMadeThem) {
  const Way ways[] = {{}, {1, true, 0}, {700, false, 100}, {700, true, 5, 300}, {30'000, false, 0, 200}, {1 << 20}};
  const std::uint64_t before = made_by_helpers();
  for (const Way& way : ways) {
    SCOPED_TRACE("chunks of " + std::to_string(way.chunk_weight));
    const std::string alone = bytes_alone(way);
    const std::vector<std::uint64_t> seen_alone = seen_;
    for (const std::size_t threads : {1u, 2u, 5u}) {
      const auto started = *PoolThreads::start(env(random_), threads);
      const auto written = write(*started->pool(), way);
      ASSERT_TRUE(written.ok()) << written.status().to_string();
      ASSERT_EQ(bytes(), alone) << threads << " threads";
      ASSERT_EQ(seen_, seen_alone) << "the sizes that decide where files end";
      Content content;
      const std::string made = bytes();
      const auto read = [&made](std::uint64_t offset, std::uint64_t size) -> Result<std::string_view> {
        return std::string_view(made).substr(offset, size);
      };
      const auto verified = format::verify_table({kNumber, written->seed, made.size()}, read, &content);
      ASSERT_TRUE(verified.ok()) << verified.status().to_string();
      EXPECT_EQ(content.rows, rows_);
      EXPECT_EQ(content.tables.size(), 4u);
      remove();
    }
  }
  EXPECT_GT(made_by_helpers(), before) << "no helper did anything";
}

TEST_P(RunsApartTest, EstimateTheFileWell) {
  const auto started = *PoolThreads::start(env(random_), 3);
  Way way;
  way.first_rows = 50;
  const auto written = write(*started->pool(), way);
  ASSERT_TRUE(written.ok()) << written.status().to_string();
  EXPECT_GT(seen_.back(), written->size_bytes * 2 / 3);
  EXPECT_LT(seen_.back(), written->size_bytes * 4 / 3);
}

TEST_P(RunsApartTest, GivenUpAtAnyPlaceLeaveNoFileAndNoThreadAtWork) {
  const auto started = *PoolThreads::start(env(random_), 3);
  for (std::size_t end = 0; end < rows_.size(); end += 1 + io::random_below(random_, 200)) {
    Way way;
    way.chunk_weight = 2000;
    way.end_at = end;
    EXPECT_EQ(write(*started->pool(), way).code(), Code::kClosed);
    EXPECT_FALSE(is_there());
  }
  const auto written = write(*started->pool(), {});
  EXPECT_TRUE(written.ok()) << written.status().to_string();
}

TEST_P(RunsApartTest, TellAFailureOfTheFile) {
  const auto started = *PoolThreads::start(env(random_), 3);
  for (std::uint64_t nth = 0; nth < 8; ++nth) {
    io::FaultRule rule;
    rule.kind = io::OperationKind::kAppend;
    rule.skip_count = nth;
    rule.code = Code::kNoSpace;
    machine_.files->faults().add(rule);
    EXPECT_EQ(write(*started->pool(), {}).code(), Code::kNoSpace);
    EXPECT_FALSE(is_there());
    machine_.files->faults().clear();
  }
}

TEST_P(RunsApartTest, TellAnEntryThatNoTableHolds) {
  const auto started = *PoolThreads::start(env(random_), 3);
  rows_[rows_.size() / 2].kind = Kind::kPutExternal;
  rows_[rows_.size() / 2].value = "no pointer";
  EXPECT_EQ(write(*started->pool(), {}).code(), Code::kCorruption);
  EXPECT_FALSE(is_there());
}

TEST_P(RunsApartTest, TellThatAHelperLacksMemory) {
  test::exempt_allocations(io::inside_memory_file_system);
  const auto started = *PoolThreads::start(env(random_), 3);
  std::uint64_t happened = 0;
  for (std::uint64_t nth = 1; nth < 60; nth += 1 + io::random_below(random_, 6)) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    std::optional<Result<format::TableFileEntry>> written;
    bool failed = false;
    {
      const test::OtherThreadsAllocationFailure failure(nth, false);
      written = write(*started->pool(), {});
      failed = failure.happened();
    }
    if (written->ok()) {
      remove();
      continue;
    }
    ++happened;
    EXPECT_TRUE(failed);
    EXPECT_EQ(written->code(), Code::kOutOfMemory) << written->status().to_string();
    EXPECT_FALSE(is_there());
  }
  test::exempt_allocations(nullptr);
  EXPECT_GT(happened, 0u);
  const auto written = write(*started->pool(), {});
  EXPECT_TRUE(written.ok()) << written.status().to_string();
}

INSTANTIATE_TEST_SUITE_P(Seeds, RunsApartTest, testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(12)));

}  // namespace
}  // namespace varve::engine::runs_apart_test
