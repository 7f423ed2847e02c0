#include "varve/verify.h"

#include <gtest/gtest.h>

#include "api/catalog/catalog_rows.h"
#include "api/catalog/service_property_rows.h"
#include "api/model/entity_codec.h"
#include "engine/base/sync_points.h"
#include "format/bytes/bytes.h"
#include "format/keys/batch.h"
#include "format/keys/entity.h"
#include "format/log/warm_list.h"
#include "tests/api/store_bench.h"
#include "tests/support/entity_bytes.h"

namespace varve::verify_test {
namespace {

using namespace test;

class Verification : public ::testing::Test {
 protected:
  VerifyReport verify() {
    bench_.store.reset();
    const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
    EXPECT_TRUE(report.ok()) << report.status().to_string();
    return report.ok() ? *report : VerifyReport();
  }

  /// Writes a row without the checks that would refuse it.
  void plant(const std::string& sort_key, std::string_view value) {
    bench_.store.reset();
    auto engine = bench_.machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    format::BatchBuilder batch;
    batch.put(sort_key, value);
    engine::CommitRequest request;
    request.batch = batch.finish();
    ASSERT_TRUE((*engine)->commit(std::move(request)).ok());
  }

  void expect_finding(std::string_view words) {
    const VerifyReport report = verify();
    EXPECT_FALSE(report.sound());
    EXPECT_EQ(report.finding_count, report.findings.size());
    std::string all;
    for (const std::string& finding : report.findings) all += finding + "\n";
    EXPECT_NE(all.find(words), std::string::npos) << all;
  }

  StoreBench bench_;
};

TEST_F(Verification, CountsEverythingOfASoundStoreAndChangesNothing) {
  Table table = bench_.table();
  bench_.table("Empty");
  ASSERT_TRUE(bench_.store->create_account("second").ok());
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(table.insert(Entity("p", std::to_string(i)).set("A", 1).set("B", "two")).ok());
  }
  ASSERT_TRUE(table.insert_or_replace(Entity("p", "0").set("A", 1)).ok());
  ASSERT_TRUE(table.remove("p", "1", ETag::any()).ok());
  Table dropped = bench_.table("Dropped");
  ASSERT_TRUE(dropped.insert(Entity("p", "r")).ok());
  ASSERT_TRUE(bench_.store->drop_table(kAccount, "Dropped").ok());
  bench_.store.reset();
  const std::uint64_t steps = bench_.machine.files->operation_count();
  int calls = 0;
  const Result<VerifyReport> report =
      Store::verify(kStorePath, bench_.options(), [&calls](const VerifyReport&) { ++calls; });
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_TRUE(report->sound()) << report->findings[0];
  EXPECT_EQ(report->accounts, 2u);
  EXPECT_EQ(report->tables, 2u);
  EXPECT_EQ(report->entities, 9u);
  EXPECT_EQ(report->properties, 17u);
  EXPECT_GT(report->value_bytes, 9u * 4);
  EXPECT_TRUE(report->recovery.clean);
  EXPECT_GE(calls, 1);
  EXPECT_EQ(bench_.machine.files->operation_count(), steps);
}

TEST_F(Verification, TellsADamagedListOfCachedBlocksAndTakesAWholeOne) {
  bench_.open();
  bench_.store.reset();
  const auto directory = *bench_.machine.files->open_directory(kStorePath);
  std::string list = format::encode_warm_list({{{format::Heat::kProven, 999, 1, {64}}}, {}}, 7);
  const auto replace = [&](std::string_view before, std::string_view after) {
    ASSERT_TRUE(directory
                    ->replace(format::kWarmListName, format::as_bytes(before), format::as_bytes(after),
                              engine::sync_points::kWarmList)
                    .ok());
  };
  replace("", list);
  EXPECT_TRUE(verify().sound());
  std::string damaged = list;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  replace(list, damaged);
  expect_finding("WARM");
}

TEST_F(Verification, SaysThatThereIsNoStore) {
  EXPECT_EQ(Store::verify(kStorePath, bench_.options()).code(), Code::kNotFound);
}

TEST_F(Verification, SaysThatAWriterHasTheStore) {
  bench_.open();
  EXPECT_EQ(Store::verify(kStorePath, bench_.options()).code(), Code::kLocked);
}

TEST_F(Verification, FindsAnEntityOfNoTable) {
  bench_.table();
  plant(*format::encode_sort_key(format::make_table_id(1, 77), "p", "r"), test::encoded_properties(Entity()));
  expect_finding("table 1/77, entity 'p', 'r': no catalog row names its table");
}

TEST_F(Verification, LeavesCompanionsAlone) {
  bench_.table();
  plant(*format::encode_sort_key(format::make_table_id(1, kTableNumberEnd), "p", "r"),
        test::encoded_properties(Entity()));
  plant(*format::encode_sort_key(format::make_table_id(0, 99), "p", "r"), test::encoded_properties(Entity()));
  EXPECT_TRUE(verify().sound());
}

TEST_F(Verification, FindsAnEntityThatIsNone) {
  bench_.table();
  plant(*format::encode_sort_key(format::make_table_id(1, 1), "p", "r"), "garbage");
  expect_finding("entity 'p', 'r'");
  format::EntityBuilder builder;
  builder.add_string("S", "text that is not UTF-8: \xFF");
  plant(*format::encode_sort_key(format::make_table_id(1, 1), "p", "r"), builder.finish());
  expect_finding("entity 'p', 'r'");
}

TEST_F(Verification, FindsServicePropertiesThatCouldNotHaveBeenSet) {
  ASSERT_TRUE(bench_.open().create_account("abc").ok());
  ServiceProperties properties;
  properties.logging.retention_days = 366;
  plant(account_row_key("abc"), *with_service_properties(encode_account_row(1), properties));
  expect_finding("account 'abc': ");
}

TEST_F(Verification, FindsCatalogRowsThatContradictEachOther) {
  bench_.table();
  plant(table_row_key(kAccount, "other"), encode_table_row("Other", format::make_table_id(1, 1)));
  expect_finding("another table, queue or container has its id");
  plant(table_row_key(kAccount, "other"), encode_table_row("Else", format::make_table_id(1, 9)));
  expect_finding("its row has the name 'Else'");
  plant(table_row_key(kAccount, "other"), encode_table_row("Other", format::make_table_id(1, 9)));
  expect_finding("its number was never assigned");
  plant(table_row_key(kAccount, "other"), encode_table_row("Other", format::make_table_id(2, 1)));
  expect_finding("its id is another account's");
  plant(table_row_key("nobody", "other"), encode_table_row("Other", format::make_table_id(2, 1)));
  expect_finding("its account does not exist");
}

TEST_F(Verification, FindsAccountsThatContradictEachOther) {
  bench_.table();
  plant(account_row_key("second"), encode_account_row(1));
  expect_finding("another account has its number");
  plant(account_row_key("second"), encode_account_row(9));
  expect_finding("its number was never assigned");
  plant(account_row_key("second"), "garbage");
  expect_finding("account 'second'");
}

TEST_F(Verification, KeepsAsManyFindingsAsAPersonWouldReadAndCountsTheRest) {
  bench_.table();
  for (std::uint32_t i = 0; i < 150; ++i) {
    plant(*format::encode_sort_key(format::make_table_id(9, i + 1), "p", "r"), test::encoded_properties(Entity()));
  }
  const VerifyReport report = verify();
  EXPECT_EQ(report.findings.size(), VerifyReport::kFindingsKept);
  EXPECT_EQ(report.finding_count, 150u);
}

}  // namespace
}  // namespace varve::verify_test
