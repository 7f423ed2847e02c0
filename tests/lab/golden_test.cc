// Goal: this build reads stores of the first release as they were written, and refuses stores of newer formats.
// Method: the stores of tests/golden, on the in-memory disk and on a real one. Their headers are also given other
// versions.
#include "tests/lab/golden/golden.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/log/file_header.h"
#include "format/log/root.h"
#include "io/env.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "tests/io/temporary_directory.h"
#include "tests/lab/content/index_comparison.h"
#include "tests/lab/content/object_content.h"
#include "tests/lab/content/store_content.h"
#include "tests/lab/corrupt/sample.h"
#include "tests/support/disk_machine.h"

namespace varve::lab::golden_test {
namespace {

constexpr std::uint16_t kNewerVersion = format::kFormatVersion + 1;

GoldenStore golden(std::string_view name) {
  Result<GoldenStore> store = read_golden_store(std::string(VARVE_SOURCE_DIR) + "/tests/golden", name);
  EXPECT_TRUE(store.ok()) << store.status().to_string();
  return store.ok() ? *std::move(store) : GoldenStore{};
}

void expect_content(const Store& store, const std::vector<std::string>& expected) {
  const Result<StoreContent> content = read_store_content(store);
  ASSERT_TRUE(content.ok()) << content.status().to_string();
  std::vector<std::string> found = json_lines(*content);
  const Result<std::vector<std::string>> objects = object_lines(store, *content);
  ASSERT_TRUE(objects.ok()) << objects.status().to_string();
  found.insert(found.end(), objects->begin(), objects->end());
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], expected[i]) << "line " << i + 1;
}

void expect_sound(std::string_view path, const StoreOptions& options, const std::vector<std::string>& expected) {
  const Result<VerifyReport> report = Store::verify(path, options);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_TRUE(report->sound()) << report->findings.front();
  const auto is_entity = [](const std::string& line) { return line.starts_with("{\"entity\""); };
  const auto entities = static_cast<std::uint64_t>(std::count_if(expected.begin(), expected.end(), is_entity));
  EXPECT_GE(entities, 20u);
  EXPECT_GE(report->entities, entities);
}

/// Opens the store, compares it, writes new data, closes and reopens it, and checks that the old data is still there.
void expect_writable(std::string_view path, const StoreOptions& options, const std::vector<std::string>& expected) {
  {
    const Result<std::unique_ptr<Store>> store = Store::open(path, options);
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    expect_content(**store, expected);
    Result<Table> added = (*store)->create_table("golden2", "Added");
    ASSERT_TRUE(added.ok()) << added.status().to_string();
    ASSERT_TRUE(added->insert(Entity("new", "row").set("V", 1)).ok());
    ASSERT_TRUE((*store)->compact().ok());
    ASSERT_TRUE((*store)->drop_table("golden2", "Added").ok());
    ASSERT_TRUE((*store)->close().ok());
  }
  expect_sound(path, options, expected);
  const Result<std::unique_ptr<Store>> store = Store::open(path, options);
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  expect_content(**store, expected);
}

class Golden : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Golden, IsReadAsItWasWritten) {
  const GoldenStore store = golden(GetParam());
  const test::DiskMachine machine(store.disk);
  const Result<std::unique_ptr<Store>> opened = Store::open(kSamplePath, machine.options(false));
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  expect_content(**opened, store.expected);
  EXPECT_EQ((*(*opened)->statistics()).recovery.clean, GetParam() != "killed");
  expect_sound(kSamplePath, machine.options(false), store.expected);
  EXPECT_EQ(index_difference(machine.env, kSamplePath, false), "");
  EXPECT_TRUE(machine.files.snapshot().same_content(store.disk)) << "reading has changed it";
}

TEST_P(Golden, IsWrittenToAndKeepsWhatItHeld) {
  const GoldenStore store = golden(GetParam());
  const test::DiskMachine machine(store.disk);
  expect_writable(kSamplePath, machine.options(true), store.expected);
}

TEST_P(Golden, IsTheSameOnTheRealFileSystem) {
  const GoldenStore store = golden(GetParam());
  const io::TemporaryDirectory directory;
  for (const std::string& name : store.disk.file_names(kSamplePath)) {
    const auto bytes = store.disk.read_file(sample_path(name));
    ASSERT_TRUE(bytes.ok());
    const std::string_view text = format::as_text(*bytes);
    std::ofstream file(directory.path_of(name), std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    ASSERT_TRUE(file.flush());
  }
  {
    StoreOptions reading;
    reading.read_only = true;
    const Result<std::unique_ptr<Store>> opened = Store::open(directory.path(), reading);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    expect_content(**opened, store.expected);
  }
  expect_writable(directory.path(), {}, store.expected);
}

INSTANTIATE_TEST_SUITE_P(Stores, Golden, ::testing::ValuesIn(kGoldenNames),
                         [](const auto& parameter) { return std::string(parameter.param); });
INSTANTIATE_TEST_SUITE_P(Features, Golden, ::testing::ValuesIn(kGoldenFeatureNames),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST(GoldenKilled, HasWhatAKillLeaves) {
  const GoldenStore store = golden("killed");
  const test::DiskMachine machine(store.disk);
  const Result<std::unique_ptr<Store>> opened = Store::open(kSamplePath, machine.options(false));
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  const RecoveryStatistics recovery = (*(*opened)->statistics()).recovery;
  EXPECT_GE(recovery.commits, 4u);
  EXPECT_GE(recovery.commits_from_buffer, 1u);
}

TEST(GoldenExpected, HasEveryType) {
  std::string all;
  for (const std::string& line : golden("clean").expected) all += line + "\n";
  for (const std::string_view word :
       {"Edm.Binary", "Edm.Boolean", "Edm.DateTime", "Edm.Double", "Edm.Guid", "Edm.Int32", "Edm.Int64", "Edm.String",
        "\"policies\":[{", "\"tag\":", "golden2"}) {
    EXPECT_NE(all.find(word), std::string::npos) << word;
  }
}

// -- Indexes and ends ------------------------------------------------------------------------------------------------

constexpr std::string_view kGoldenAccount = "golden1";
using Keys = std::vector<std::string>;

std::uint64_t incompatible_features(const GoldenStore& store) {
  const auto bytes = store.disk.read_file(sample_path("CURRENT"));
  const Result<format::Root> root = format::decode_root(format::as_text(*bytes));
  EXPECT_TRUE(root.ok());
  return root.ok() ? root->features.incompatible : 0;
}

/// Returns the RowKeys of the first page, which the index must have served. If it is empty: any index.
Keys rows_by(const Store& store, std::string_view index, std::string_view table, std::string_view filter,
             std::string_view order = {}) {
  const Result<Table> opened = store.open_table(kGoldenAccount, table);
  EXPECT_TRUE(opened.ok());
  if (!opened.ok()) return {};
  Scan scan;
  scan.filter = filter;
  scan.order_by = order;
  if (!order.empty()) scan.page_entities_max = 3;
  const Result<ScanPlan> plan = opened->explain(scan);
  EXPECT_TRUE(plan.ok()) << plan.status().to_string();
  const auto is_meant = [index](const std::string& name) { return index.empty() ? !name.empty() : name == index; };
  const auto is_taken = [is_meant](const IndexCandidate& each) { return each.is_taken && is_meant(each.name); };
  const bool has_order = plan.ok() && !order.empty() && is_meant(plan->order_index);
  EXPECT_TRUE(has_order || (plan.ok() && std::any_of(plan->indexes.begin(), plan->indexes.end(), is_taken))) << filter;
  const Result<Page> page = opened->scan(scan);
  EXPECT_TRUE(page.ok()) << page.status().to_string();
  Keys rows;
  if (!page.ok()) return rows;
  for (const Entity& entity : page->entities) rows.push_back(entity.row_key());
  return rows;
}

TEST(GoldenIndexed, HasItsDefinitionsAndStates) {
  const GoldenStore golden_store = golden("indexed");
  EXPECT_EQ(incompatible_features(golden_store), 2u);
  const test::DiskMachine machine(golden_store.disk);
  const Result<std::unique_ptr<Store>> store = Store::open(kSamplePath, machine.options(false));
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  const std::vector<std::pair<IndexDefinition, IndexState>> expected = {
      {{"ByCustomer", {{"Customer"}, {"Total", true}}, {"Note"}}, IndexState::kReady},
      {{"ByTime", {{"Timestamp", true}}}, IndexState::kReady},
      {{"BySerial", {{"Serial"}}, {}, true}, IndexState::kReady},
      {{"ByRow", {{"RowKey"}, {"PartitionKey", true}}}, IndexState::kReady},
      {{"Unfinished", {{"Total"}}}, IndexState::kBuilding},
      {{"Failed", {{"Customer"}}, {}, true}, IndexState::kFailed}};
  const Result<std::vector<IndexInfo>> found = (*store)->indexes(kGoldenAccount, "Orders");
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  ASSERT_EQ(found->size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ((*found)[i].definition, expected[i].first) << (*found)[i].definition.name;
    EXPECT_EQ((*found)[i].state, expected[i].second) << (*found)[i].definition.name;
    EXPECT_EQ((*found)[i].failure.empty(), expected[i].second != IndexState::kFailed);
  }
  EXPECT_EQ((*(*store)->indexes(kGoldenAccount, "Values")).size(), 2u);
}

TEST(GoldenIndexed, AnswersByItsIndexes) {
  const test::DiskMachine machine(golden("indexed").disk);
  const Result<std::unique_ptr<Store>> opened = Store::open(kSamplePath, machine.options(false));
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  const Store& store = **opened;
  EXPECT_EQ(rows_by(store, "ByCustomer", "Orders", "Customer eq 'customer 0' and Total ge -5.0"),
            (Keys{"100", "121", "107", "128", "102", "114", "1"}));
  EXPECT_EQ(rows_by(store, "ByCustomer", "Orders", "Customer eq 'customer 1' and Total gt 4.0"),
            (Keys{"115", "122", "129"}));
  EXPECT_EQ(rows_by(store, "BySerial", "Orders", "Serial eq 1001L"), (Keys{"2"}));
  EXPECT_EQ(rows_by(store, "BySerial", "Orders", "Serial le 7L"), (Keys{"103"}));
  EXPECT_EQ(rows_by(store, "ByRow", "Orders", "RowKey eq '105' and PartitionKey ge 'p2'"), (Keys{"105"}));
  const Keys newest = rows_by(store, "ByTime", "Orders", "", "Timestamp desc");
  ASSERT_EQ(newest.size(), 3u);
  EXPECT_EQ(newest[0].size() + newest[1].size(), 2u) << "1 and 2 of the last group";
  EXPECT_EQ(rows_by(store, "", "Values", "", "V desc").size(), 3u);
  const std::vector<std::pair<std::string, const char*>> literals = {
      {"true", "booleanTrue"},
      {"datetime'9999-12-31T23:59:59.9999999Z'", "datetimeLast"},
      {"0.0", "doubleMinusZero"},
      {"guid'00000000-0000-0000-0000-000000000000'", "guidZero"},
      {"2147483647", "int32Most"},
      {"9223372036854775807L", "int64Most"},
      {"X'00010d0aff'", "binaryBytes"},
      {"''", "stringEmpty"},
      {"'" + std::string(300, 'l') + "'", "long"}};
  for (const auto& [literal, row] : literals) {
    EXPECT_EQ(rows_by(store, "", "Values", "V eq " + literal), (Keys{row})) << literal;
  }
}

TEST(GoldenIndexed, RefusesASecondValueAndEndsItsBuild) {
  const test::DiskMachine machine(golden("indexed").disk);
  {
    const Result<std::unique_ptr<Store>> store = Store::open(kSamplePath, machine.options(true));
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    Result<Table> orders = (*store)->open_table(kGoldenAccount, "Orders");
    ASSERT_TRUE(orders.ok());
    const Status refused = orders->insert(Entity("new", "1").set("Serial", std::int64_t{1001})).status();
    ASSERT_NE(refused.taken_value(), nullptr) << refused.to_string();
    EXPECT_EQ(refused.taken_value()->row_key, "2");
    EXPECT_TRUE(orders->insert(Entity("new", "1").set("Serial", std::int64_t{1003}).set("Total", 1e9)).ok())
        << "103 has another value by now";
    ASSERT_TRUE((*store)->create_index(kGoldenAccount, "Orders", {"Unfinished", {{"Total"}}}).ok());
    EXPECT_EQ(rows_by(**store, "Unfinished", "Orders", "Total ge 14.5"), (Keys{"1", "129"}));
    ASSERT_TRUE((*store)->compact().ok());
    ASSERT_TRUE((*store)->close().ok());
  }
  EXPECT_EQ(index_difference(machine.env, kSamplePath, true), "");
}

TEST(GoldenExpiring, ItsEntitiesEndAtTheStoredTimes) {
  const GoldenStore store = golden("expiring");
  EXPECT_EQ(incompatible_features(store), 3u);
  const std::vector<std::tuple<const char*, std::size_t, std::size_t, std::size_t>> years = {
      {"2027-01-01T00:00:00Z", 3, 20, 4}, {"2127-01-01T00:00:00Z", 0, 20, 4}, {"2201-01-01T00:00:00Z", 0, 11, 2}};
  for (const auto& [time, aged, sessions, of_user] : years) {
    test::DiskMachine machine(store.disk);
    machine.clock.set_wall((*DateTime::parse(time)).ticks);
    const Result<std::unique_ptr<Store>> opened = Store::open(kSamplePath, machine.options(false));
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    const auto count = [&](const char* table) {
      const Result<Table> of_store = (*opened)->open_table(kGoldenAccount, table);
      const Result<Count> counted = of_store.ok() ? of_store->count(Scan()) : Result<Count>(of_store.status());
      EXPECT_TRUE(counted.ok()) << counted.status().to_string();
      return counted.ok() ? counted->entities : 0;
    };
    EXPECT_EQ(count("Aged"), aged) << time;
    EXPECT_EQ(count("Brief"), 0u) << time;
    EXPECT_EQ(count("Sessions"), sessions) << time;
    EXPECT_EQ(rows_by(**opened, "ByUser", "Sessions", "User eq 'user 0'").size(), of_user) << time;
    EXPECT_EQ(*(*opened)->table_expiry(kGoldenAccount, "Sessions"), TableExpiry::at("Until"));
    EXPECT_EQ(*(*opened)->table_expiry(kGoldenAccount, "Aged"), TableExpiry::after(TableExpiry::kAgeMax));
    EXPECT_TRUE((*Store::verify(kSamplePath, machine.options(false))).sound()) << time;
    EXPECT_EQ(index_difference(machine.env, kSamplePath, false), "") << time;
  }
}

// -- Formats newer than this build ------------------------------------------------------------------------------------

/// Returns the disk with another format version in the file's header, whose checksum is correct.
io::MemoryDisk with_newer_header(const io::MemoryDisk& disk, const std::string& name) {
  std::string bytes(format::as_text(*disk.read_file(sample_path(name))));
  const format::FileType type = (*format::parse_file_name(name)).type;
  Result<format::FileHeader> header =
      format::decode_file_header(std::string_view(bytes).substr(0, format::kFileHeaderBytes), type);
  EXPECT_TRUE(header.ok()) << header.status().to_string();
  header->format_version = kNewerVersion;
  bytes.replace(0, format::kFileHeaderBytes, format::encode_file_header(*header));
  io::MemoryDisk changed = disk;
  changed.write_file(sample_path(name), format::as_bytes(bytes));
  return changed;
}

void expect_refused_and_untouched(const io::MemoryDisk& disk, const std::string& name) {
  for (const bool for_writing : {false, true}) {
    const test::DiskMachine machine(disk);
    const Status refused = Store::open(kSamplePath, machine.options(for_writing)).status();
    EXPECT_EQ(refused.code(), Code::kUnsupported) << name << ": " << refused.to_string();
    EXPECT_NE(refused.message().find(name), std::string_view::npos) << refused.to_string();
    EXPECT_TRUE(machine.files.snapshot().same_content(disk)) << name;
  }
}

class GoldenNewer : public ::testing::TestWithParam<std::string_view> {};

TEST_P(GoldenNewer, HeadersAreRefusedAndLeftAsTheyAre) {
  const GoldenStore store = golden(GetParam());
  int tables = 0;
  for (const std::string& name : store.disk.file_names(kSamplePath)) {
    if (!format::parse_file_name(name).ok()) continue;
    const io::MemoryDisk newer = with_newer_header(store.disk, name);
    if (!name.ends_with(".sst")) {
      expect_refused_and_untouched(newer, name);
      continue;
    }
    ++tables;  // table files are read on demand
    const test::DiskMachine machine(newer);
    const Result<VerifyReport> report = Store::verify(kSamplePath, machine.options(false));
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    ASSERT_FALSE(report->sound());
    EXPECT_NE(report->findings.front().find("Unsupported: " + name), std::string::npos) << report->findings.front();
    const Result<std::unique_ptr<Store>> opened = Store::open(kSamplePath, machine.options(true));
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    EXPECT_EQ(read_store_content(**opened).code(), Code::kUnsupported);
    ASSERT_TRUE((*opened)->close().ok());
    EXPECT_EQ(*machine.files.snapshot().read_file(sample_path(name)), *newer.read_file(sample_path(name)));
  }
  EXPECT_GE(tables, 2);
}

INSTANTIATE_TEST_SUITE_P(Stores, GoldenNewer, ::testing::ValuesIn(kGoldenNames),
                         [](const auto& parameter) { return std::string(parameter.param); });

io::MemoryDisk with_features(const io::MemoryDisk& disk, const format::Features& features) {
  const auto bytes = disk.read_file(sample_path("CURRENT"));
  Result<format::Root> root = format::decode_root(format::as_text(*bytes));
  EXPECT_TRUE(root.ok());
  root->features = features;
  io::MemoryDisk changed = disk;
  changed.write_file(sample_path("CURRENT"), format::as_bytes(format::encode_root(*root, 99)));
  return changed;
}

TEST(GoldenNewer, FeaturesAreRefusedByTheirKind) {
  const GoldenStore store = golden("clean");
  expect_refused_and_untouched(with_features(store.disk, {.incompatible = std::uint64_t{1} << 40}), "CURRENT");
  const io::MemoryDisk reading = with_features(store.disk, {.read_compatible = 2});
  const test::DiskMachine machine(reading);
  EXPECT_EQ(Store::open(kSamplePath, machine.options(true)).code(), Code::kUnsupported);
  EXPECT_TRUE(machine.files.snapshot().same_content(reading));
}

/// Returns the disk with flags in the first record of a file at `offset`. The frame verifies. Such a record belongs to
/// a later version.
io::MemoryDisk with_flags_in_a_record(const io::MemoryDisk& disk, const std::string& name, std::size_t offset,
                                      std::size_t flags_at) {
  std::string bytes(format::as_text(*disk.read_file(sample_path(name))));
  const format::FileType type = (*format::parse_file_name(name)).type;
  const std::uint64_t seed =
      (*format::decode_file_header(std::string_view(bytes).substr(0, format::kFileHeaderBytes), type)).seed;
  bytes[offset + flags_at] = 1;
  const std::size_t header_bytes = format::load_u16(bytes.data() + offset + 8);
  const std::string_view covered = std::string_view(bytes).substr(offset + 8, header_bytes - 8);
  format::store_u64(bytes.data() + offset, format::checksum_at({seed, offset}, covered));
  io::MemoryDisk changed = disk;
  changed.write_file(sample_path(name), format::as_bytes(bytes));
  return changed;
}

TEST(GoldenNewer, RecordsAreRefusedAndLeftAsTheyAre) {
  constexpr std::size_t kFlagsAt = 11;
  const GoldenStore store = golden("killed");
  bool has_manifest = false;
  bool has_log = false;
  for (const std::string& name : store.disk.file_names(kSamplePath)) {
    if (name.starts_with("MANIFEST-")) {
      has_manifest = true;
      expect_refused_and_untouched(with_flags_in_a_record(store.disk, name, 64, kFlagsAt), name);
    }
    const bool has_records =
        name.ends_with(".wal") && std::to_integer<int>((*store.disk.read_file(sample_path(name)))[4096 + 8]) != 0;
    if (!has_records) continue;
    has_log = true;
    expect_refused_and_untouched(with_flags_in_a_record(store.disk, name, 4096, kFlagsAt), name);
  }
  EXPECT_TRUE(has_manifest && has_log);
}

}  // namespace
}  // namespace varve::lab::golden_test
