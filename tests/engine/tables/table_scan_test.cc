// Goal: a scan of a span of keys returns exactly the entries of the whole file in that span, from any place to any place.
// Method: files of several runs with random entries. Each span has bounds at, between and beyond the keys. Runs that
// lie wholly in the span are offered as whole runs, and no other. The same holds if runs are read ahead.
#include "engine/tables/table_scan.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/entry.h"
#include "engine/tables/table_file.h"
#include "format/table/table_builder.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::table_scan_test {
namespace {

struct Row {
  std::string key;
  CommitVersion version = 0;
  bool operator==(const Row&) const = default;
};

class TableScanSpan : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    auto builder = *format::TableBuilder::make(7, GetParam(), format::TableOptions());
    // Incompressible values, so that they fill several runs.
    for (int number = 0; number < 5'000; ++number) {
      if (io::one_in(random_, 3)) continue;
      const std::string key = key_of(number);
      std::string value(1'000, ' ');
      for (CommitVersion version = io::one_in(random_, 4) ? 3 : 1; version > 0; --version) {
        for (char& byte : value) byte = static_cast<char>(random_.next());
        ASSERT_TRUE(builder->add({key, version, Kind::kPut, value}).ok());
        rows_.push_back({key, version});
      }
    }
    Result<format::TableFileEntry> entry = builder->finish();
    ASSERT_TRUE(entry.ok());
    io::MemoryDisk disk;
    disk.write_file(std::string(test::kStorePath) + "/" + format::file_name(format::FileType::kTable, 7),
                    format::as_bytes(builder->pending()));
    machine_ = std::make_unique<test::Machine>(1, std::move(disk));
    env_ = std::make_unique<io::Env>(machine_->env());
    queues_ = std::make_unique<ReadQueues>(*env_);
    directory_ = *env_->files.open_directory(test::kStorePath);
    cache_ = std::make_shared<BlockCache>(machine_->scheduler(), 1 << 20);
    files_ =
        std::make_unique<TableFiles>(*env_, *directory_, cache_, test::few_open_files(machine_->scheduler()), [] {});
    table_ = files_->add(*entry);
  }

  static std::string key_of(int number) { return test::key_of("p", std::to_string(10'000 + number)); }

  std::vector<Row> expected(KeySpan span) const {
    std::vector<Row> rows;
    for (const Row& row : rows_) {
      if (span.from <= row.key && !span.ends_before(row.key)) rows.push_back(row);
    }
    return rows;
  }

  /// Scans entry by entry, or passes whole runs and fills in their rows.
  std::vector<Row> scanned(KeySpan span, bool passes_runs, RunReads* reads = nullptr) {
    std::vector<Row> rows;
    TableScan scan(*table_, read_bytes_, span, reads);
    while (scan.valid()) {
      const std::optional<format::RunSource> run = scan.whole_run();
      if (run && passes_runs) {
        ++runs_passed_;
        for (const Row& row : rows_) {
          if (run->run->smallest_key <= row.key && row.key <= run->run->largest_key) rows.push_back(row);
        }
        scan.pass_run();
        continue;
      }
      rows.push_back({std::string(scan.entry().sort_key), scan.entry().version});
      scan.next();
    }
    EXPECT_TRUE(scan.status().ok()) << scan.status().to_string();
    return rows;
  }

  io::SeededRandom random_{GetParam()};
  std::vector<Row> rows_;
  std::unique_ptr<test::Machine> machine_;
  std::unique_ptr<io::Env> env_;
  std::unique_ptr<ReadQueues> queues_;
  std::unique_ptr<io::Directory> directory_;
  std::shared_ptr<BlockCache> cache_;
  std::unique_ptr<TableFiles> files_;
  std::shared_ptr<TableFile> table_;
  std::atomic<std::uint64_t> read_bytes_{0};
  int runs_passed_ = 0;
};

TEST_P(TableScanSpan, ReadsARunOnceMoreBeforeItCountsAsDamaged) {
  ASSERT_TRUE(scanned({}, false) == expected({}));  // opens the file
  for (const bool reads_ahead : {false, true}) {
    for (int skipped = 0; skipped < 4; ++skipped) {
      io::FaultRule rule;
      rule.kind = io::OperationKind::kRead;
      rule.name_suffix = ".sst";
      rule.predicate = [left = skipped](const io::Operation&) mutable { return left-- == 0; };
      rule.effect = io::FaultEffect::kFlipBitOnce;
      machine_->files->faults().add(rule);
      RunReads reads(*queues_);
      EXPECT_TRUE(scanned({}, false, reads_ahead ? &reads : nullptr) == expected({}));
      machine_->files->faults().clear();
    }
  }
}

TEST_P(TableScanSpan, HasTheEntriesOfTheFileBetweenItsBounds) {
  for (int round = 0; round < 30; ++round) {
    const std::string from = io::one_in(random_, 4) ? "" : key_of(static_cast<int>(io::random_below(random_, 5'010)));
    const std::string to = io::one_in(random_, 4) ? "" : key_of(static_cast<int>(io::random_below(random_, 5'010)));
    const KeySpan span{from, to};
    SCOPED_TRACE("seed " + std::to_string(GetParam()) + ", round " + std::to_string(round));
    ASSERT_EQ(scanned(span, false).size(), expected(span).size());
    ASSERT_TRUE(scanned(span, false) == expected(span));
    ASSERT_TRUE(scanned(span, true) == expected(span));
    RunReads reads(*queues_);
    ASSERT_TRUE(scanned(span, false, &reads) == expected(span));
    ASSERT_TRUE(scanned(span, true, &reads) == expected(span));
  }
  EXPECT_GT(runs_passed_, 0);
}

TEST_P(TableScanSpan, ReadsEachFurtherRunAheadOfItsFirstEntry) {
  const std::size_t runs = (*table_->open())->index.runs().size();
  ASSERT_GT(runs, 2u);
  RunReads reads(*queues_);
  ASSERT_TRUE(scanned({}, false, &reads) == rows_);
  EXPECT_EQ(reads.taken(), runs - 1);
  ASSERT_TRUE(scanned({}, true, &reads) == rows_);
  EXPECT_EQ(reads.taken(), 2 * (runs - 1) - 1) << "the second run is wanted at once";
}

TEST_P(TableScanSpan, ReadsARunAgainWhoseReadAheadFailed) {
  const std::size_t runs = (*table_->open())->index.runs().size();
  for (std::uint64_t nth = 1; nth < runs; ++nth) {
    io::FaultRule rule;
    rule.kind = io::OperationKind::kRead;
    rule.skip_count = nth;
    machine_->files->faults().add(rule);
    RunReads reads(*queues_);
    ASSERT_TRUE(scanned({}, false, &reads) == rows_);
    EXPECT_EQ(reads.taken(), runs - 2);
    machine_->files->faults().clear();
  }
}

TEST_P(TableScanSpan, MayEndWhileARunIsReadAhead) {
  RunReads reads(*queues_);
  for (int round = 0; round < 30; ++round) {
    TableScan scan(*table_, read_bytes_, {}, &reads);
    for (std::uint64_t steps = io::random_below(random_, 1000); steps > 0; --steps) scan.next();
    EXPECT_TRUE(scan.valid());
  }
  EXPECT_TRUE(scanned({}, false, &reads) == rows_);
}

TEST_P(TableScanSpan, OfOneRangeReadsNoRunOfTheOthers) {
  TableScan whole(*table_, read_bytes_);
  const std::uint64_t first_run = read_bytes_;
  while (whole.valid()) whole.next();
  const std::uint64_t all = read_bytes_;
  ASSERT_GT(all, first_run) << "the file has several runs";
  read_bytes_ = 0;
  const auto second = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.key != rows_[0].key; });
  const KeySpan span{"", second->key};
  (void)scanned(span, false);
  EXPECT_EQ(read_bytes_, first_run);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TableScanSpan, testing::Range<std::uint64_t>(1, 5));

}  // namespace
}  // namespace varve::engine::table_scan_test
