// Goal: a repair reads the parts around bytes that the device cannot read, reports each range, and saves everything
// else.
// Method: a store with every kind of file. Each sector of each file fails in turn, each file fails completely, and each
// file cannot be opened. The repaired store must contain all readable rows, and a verification must not report the
// damaged store as sound.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::unreadable_repair_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

constexpr std::string_view kTargetPath = "/target";
constexpr std::uint64_t kSectorBytes = 4096;
using Rows = std::map<std::string, std::string>;

void add_rows(const Store& store, std::string_view account, Rows& rows) {
  const Result<TablePage> tables = store.list_tables(account);
  EXPECT_TRUE(tables.ok());
  for (const TableInfo& info : tables->tables) {
    const Result<Table> table = store.open_table(account, info.name);
    EXPECT_TRUE(table.ok());
    const Result<Page> page = table->scan(Scan{});
    EXPECT_TRUE(page.ok()) << page.status().to_string();
    for (const Entity& entity : page->entities) {
      rows[entity.partition_key() + "/" + entity.row_key()] =
          entity.etag().to_string() + " " + *entity.get<std::string>("V");
    }
  }
}

/// Returns the rows of all accounts and tables. If their names were lost, they have new ones.
Rows rows_of(const Store& store) {
  Rows rows;
  const Result<AccountPage> accounts = store.list_accounts();
  EXPECT_TRUE(accounts.ok());
  for (const AccountInfo& account : accounts->accounts) add_rows(store, account.name, rows);
  return rows;
}

/// Returns text that hardly compresses, so that a sector has few rows.
std::string text_of(int seed, std::size_t bytes) {
  io::SeededRandom random(static_cast<std::uint64_t>(seed) + 1);
  std::string text;
  for (std::size_t j = 0; j < bytes; ++j) text.push_back(static_cast<char>('!' + random.next() % 90));
  return text;
}

class UnreadableRepair : public ::testing::Test {
 protected:
  /// Makes a store with table files of several blocks, a value file, and rows only in the log. It is closed, or left as
  /// after a crash.
  void make(bool is_closed) {
    StoreBench bench(11);
    Table table = bench.table("Rows");
    for (int i = 0; i < 60; ++i)
      ASSERT_TRUE(table.insert(with_value("p", std::to_string(100 + i), text_of(i, 600))).ok());
    ASSERT_TRUE(bench.store->compact().ok());
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(table.insert(with_value("v", std::to_string(i), text_of(i, 30'000))).ok());
    ASSERT_TRUE(bench.store->compact().ok());
    for (int i = 0; i < 20; ++i)
      ASSERT_TRUE(table.insert(with_value("w", std::to_string(100 + i), text_of(i, 900))).ok());
    expected_ = rows_of(*bench.store);
    ASSERT_EQ(expected_.size(), 84U);
    if (is_closed) {
      ASSERT_TRUE(bench.store->close().ok());
      disk_ = bench.machine.files->snapshot();
    } else {
      io::SeededRandom random(3);
      disk_ = bench.machine.files->process_death(random);
    }
  }

  static io::FaultRule failing(io::OperationKind kind, const std::string& name,
                               std::function<bool(const io::Operation&)> concerns) {
    io::FaultRule rule;
    rule.kind = kind;
    rule.fail_count = io::FaultRule::kFromThenOn;
    rule.predicate = [name, concerns = std::move(concerns)](const io::Operation& operation) {
      return operation.directory == kStorePath && operation.name == name && concerns(operation);
    };
    return rule;
  }

  /// Returns the rows that a repair saves with this fault.
  Rows repair_with(io::FaultRule rule, RepairReport* report) {
    StoreBench bench(5, disk_);
    bench.machine.files->faults().add(std::move(rule));
    StoreOptions options = bench.options();
    options.create_if_absent = false;
    hits_ = 0;
    const Result<VerifyReport> verified = Store::verify(kStorePath, options);
    hits_ = bench.machine.files->faults().hit_count();
    says_damage_ = !verified.ok() || verified->finding_count > 0;
    Result<RepairReport> repaired = Store::repair(kStorePath, kTargetPath, options);
    EXPECT_TRUE(repaired.ok()) << repaired.status().to_string();
    if (!repaired.ok()) return {};
    *report = *std::move(repaired);
    bench.machine.files->faults().clear();
    const Result<VerifyReport> result = Store::verify(kTargetPath, options);
    EXPECT_TRUE(result.ok() && result->finding_count == 0);
    const auto store = Store::open(kTargetPath, options);
    EXPECT_TRUE(store.ok()) << store.status().to_string();
    return store.ok() ? rows_of(**store) : Rows();
  }

  /// Returns the number of missing rows. Checks that each saved row is unchanged.
  std::size_t count_missing(const Rows& saved) const {
    for (const auto& [key, value] : saved) {
      const auto found = expected_.find(key);
      EXPECT_TRUE(found != expected_.end() && found->second == value) << key;
    }
    return expected_.size() - saved.size();
  }

  bool names(const RepairReport& report, const std::string& file, std::uint64_t offset) const {
    for (const std::string& finding : report.findings) {
      if (finding.find(file + " at offset " + std::to_string(offset)) != std::string::npos) return true;
    }
    return false;
  }

  void sweep_sectors();

  Rows expected_;
  io::MemoryDisk disk_;
  std::uint64_t hits_ = 0;
  bool says_damage_ = false;
};

void UnreadableRepair::sweep_sectors() {
  for (const std::string& name : disk_.file_names(kStorePath)) {
    const std::string path = std::string(kStorePath) + "/" + name;
    const std::vector<std::byte> bytes = *disk_.read_file(path);
    for (std::uint64_t sector = 0; sector < bytes.size(); sector += kSectorBytes) {
      const auto end = std::min<std::uint64_t>(sector + kSectorBytes, bytes.size());
      const bool is_empty = std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(sector),
                                        bytes.begin() + static_cast<std::ptrdiff_t>(end),
                                        [](std::byte byte) { return byte == std::byte{0}; });
      // In space that was never written, only every thirty-second sector is tried.
      if (is_empty && sector / kSectorBytes % 32 != 0) continue;
      SCOPED_TRACE(name + " at " + std::to_string(sector));
      RepairReport report;
      const Rows saved = repair_with(
          failing(io::OperationKind::kRead, name,
                  [=](const io::Operation& read) {
                    return read.offset < end && sector < read.offset + std::max<std::uint64_t>(read.size_bytes, 1);
                  }),
          &report);
      const std::size_t missing = count_missing(saved);
      if (hits_ > 0) {
        EXPECT_TRUE(says_damage_) << "verify calls it sound";
      }
      if (missing > 0) {
        EXPECT_GT(report.loss_count, 0U);
        EXPECT_TRUE(names(report, name, sector));
      }
      if (name == "CURRENT" || name.starts_with("MANIFEST") || name.ends_with(".buf")) {
        EXPECT_EQ(missing, 0U) << "it holds no row";
      }
      if (name.ends_with(".sst")) {
        EXPECT_LE(missing, 16U) << "a sector holds few rows";
      }
    }
  }
}

TEST_F(UnreadableRepair, ASectorOfAnyFileOfAClosedStore) {
  make(true);
  sweep_sectors();
}

TEST_F(UnreadableRepair, ASectorOfAnyFileOfACrashedStore) {
  make(false);
  sweep_sectors();
}

TEST_F(UnreadableRepair, AFileThatCannotBeReadOrOpenedAtAll) {
  make(true);
  for (const std::string& name : disk_.file_names(kStorePath)) {
    for (const io::OperationKind kind : {io::OperationKind::kRead, io::OperationKind::kOpen}) {
      SCOPED_TRACE(name + (kind == io::OperationKind::kRead ? " read" : " opened"));
      RepairReport report;
      const Rows saved = repair_with(failing(kind, name, [](const io::Operation&) { return true; }), &report);
      const std::size_t missing = count_missing(saved);
      EXPECT_LT(missing, expected_.size());
      if (hits_ > 0) {
        EXPECT_TRUE(says_damage_);
        EXPECT_THAT(report.findings, ::testing::Contains(HasSubstr(name)));
      }
      if (missing > 0) {
        EXPECT_GT(report.loss_count, 0U);
      }
    }
  }
}

TEST_F(UnreadableRepair, ADeviceThatReadsNothingIsAnErrorAndLeavesNoTarget) {
  make(true);
  StoreBench bench(5, disk_);
  io::FaultRule rule;
  rule.kind = io::OperationKind::kRead;
  rule.fail_count = io::FaultRule::kFromThenOn;
  bench.machine.files->faults().add(rule);
  StoreOptions options = bench.options();
  EXPECT_EQ(Store::repair(kStorePath, kTargetPath, options).code(), Code::kIoError);
  EXPECT_FALSE(bench.machine.files->open_directory(kTargetPath).ok());
}

}  // namespace
}  // namespace varve::unreadable_repair_test
