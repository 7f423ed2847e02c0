// Goal: each service of an account has properties of its own (QP-01).
// Method: properties are set for one service and read for all, across drops, new starts, power cuts and a repair.
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/catalog/service_property_rows.h"
#include "format/keys/batch.h"
#include "format/keys/entity.h"
#include "tests/api/store_bench.h"
#include "varve/verify.h"

namespace varve::test::services_test {
namespace {

constexpr std::array kServices = {StorageService::kTables, StorageService::kQueues, StorageService::kBlobs};

ServicePropertiesChange change_with_days(std::uint32_t days) {
  ServicePropertiesChange change;
  change.logging = LoggingProperties{.read = true, .retention_days = days};
  change.cors_rules =
      std::vector<CorsRule>{{.allowed_origins = {"*"}, .allowed_methods = {"GET"}, .max_age_seconds = days}};
  return change;
}

class Services : public testing::Test {
 protected:
  Services() {
    bench_.open();
    EXPECT_EQ(said(store().create_account(kAccount)), kFine);
  }
  Store& store() { return *bench_.store; }
  /// Returns the days that the service's properties have, or 0 for the defaults.
  static std::uint32_t days_in(Store& store, StorageService service) {
    const Result<ServiceProperties> properties = store.service_properties(kAccount, service);
    EXPECT_TRUE(properties.ok()) << properties.status().to_string();
    if (!properties.ok() || *properties == ServiceProperties()) return 0;
    EXPECT_EQ(properties->cors_rules.size(), 1U);
    return properties->logging.retention_days.value_or(1000);
  }
  std::uint32_t days(StorageService service) { return days_in(store(), service); }
  void set(StorageService service, std::uint32_t value) {
    ASSERT_EQ(said(store().set_service_properties(kAccount, change_with_days(value), service)), kFine);
  }
  void plant(const std::string& key, const std::string& value) {
    bench_.store.reset();
    auto engine = bench_.machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    format::BatchBuilder batch;
    batch.put(key, value);
    engine::CommitRequest request;
    request.batch = batch.finish();
    ASSERT_TRUE((*engine)->commit(std::move(request)).ok());
  }

  StoreBench bench_;
};

TEST_F(Services, QP01_HavePropertiesOfTheirOwn) {
  for (const StorageService service : kServices) EXPECT_EQ(days(service), 0U);
  std::uint32_t value = 10;
  for (const StorageService service : kServices) set(service, ++value);
  EXPECT_EQ(days(StorageService::kTables), 11U);
  EXPECT_EQ(days(StorageService::kQueues), 12U);
  EXPECT_EQ(days(StorageService::kBlobs), 13U);
  set(StorageService::kQueues, 20);
  EXPECT_EQ(days(StorageService::kTables), 11U);
  EXPECT_EQ(days(StorageService::kQueues), 20U);
  EXPECT_EQ(days(StorageService::kBlobs), 13U);
}

TEST_F(Services, QP01_TablesAreTheServiceThatIsMeantWithoutOne) {
  ASSERT_EQ(said(store().set_service_properties(kAccount, change_with_days(7))), kFine);
  EXPECT_EQ(days(StorageService::kTables), 7U);
  EXPECT_EQ((*store().service_properties(kAccount)).logging.retention_days, 7U);
  EXPECT_EQ(days(StorageService::kQueues), 0U);
}

TEST_F(Services, QP01_AChangeReplacesWhatItSetsAlone) {
  for (const StorageService service : kServices) {
    set(service, 9);
    ServicePropertiesChange change;
    change.hour_metrics = MetricsProperties{.enabled = true};
    ASSERT_EQ(said(store().set_service_properties(kAccount, change, service)), kFine);
    const ServiceProperties properties = *store().service_properties(kAccount, service);
    EXPECT_TRUE(properties.hour_metrics.enabled);
    EXPECT_EQ(properties.logging.retention_days, 9U);
    change.hour_metrics = MetricsProperties{.enabled = false, .include_apis = true};
    EXPECT_EQ(said(store().set_service_properties(kAccount, change, service)), kInvalidXmlDocument);
    EXPECT_EQ(*store().service_properties(kAccount, service), properties);
  }
}

TEST_F(Services, QP01_AnAccountThatIsNotThereHasNone) {
  for (const StorageService service : kServices) {
    EXPECT_EQ(said(store().service_properties("nobody", service)), kResourceNotFound);
    EXPECT_EQ(said(store().set_service_properties("nobody", change_with_days(1), service)), kResourceNotFound);
  }
}

TEST_F(Services, QP01_ADropOfTheAccountTakesThem) {
  for (const StorageService service : kServices) set(service, 5);
  ASSERT_EQ(said(store().drop_account(kAccount)), kFine);
  EXPECT_EQ(said(store().service_properties(kAccount, StorageService::kQueues)), kResourceNotFound);
  ASSERT_EQ(said(store().create_account(kAccount)), kFine);
  for (const StorageService service : kServices) EXPECT_EQ(days(service), 0U);
  set(StorageService::kQueues, 6);
  EXPECT_EQ(days(StorageService::kQueues), 6U);
}

TEST_F(Services, ARowOfAnEarlierAccountOfTheNameDoesNotCount) {
  const Result<std::string> row = with_service_properties(encode_service_row(77), {.logging = {.read = true}});
  ASSERT_TRUE(row.ok());
  plant(service_properties_key(kAccount, StorageService::kQueues), *row);
  bench_.open();
  EXPECT_EQ(days(StorageService::kQueues), 0U);
  ServicePropertiesChange change;
  change.minute_metrics = MetricsProperties{.enabled = true};
  ASSERT_EQ(said(store().set_service_properties(kAccount, change, StorageService::kQueues)), kFine);
  const ServiceProperties properties = *store().service_properties(kAccount, StorageService::kQueues);
  EXPECT_TRUE(properties.minute_metrics.enabled);
  EXPECT_FALSE(properties.logging.read) << "the earlier account's";
}

TEST_F(Services, QB10_SurviveANewStartAPowerCutAndARepair) {
  set(StorageService::kQueues, 3);
  set(StorageService::kBlobs, 4);
  io::SeededRandom picks(2);
  for (io::MemoryDisk& disk : bench_.machine.files->power_cuts(picks, 3)) {
    StoreBench after(6, std::move(disk));
    after.open();
    EXPECT_EQ(days_in(*after.store, StorageService::kQueues), 3U);
    EXPECT_EQ(days_in(*after.store, StorageService::kTables), 0U);
  }
  bench_.open();
  EXPECT_EQ(days(StorageService::kQueues), 3U);
  EXPECT_EQ(days(StorageService::kBlobs), 4U);
  EXPECT_EQ(said(store().close()), kFine);
  const Result<RepairReport> report = Store::repair(kStorePath, "/repaired", bench_.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_TRUE(report->was_sound());
  const std::unique_ptr<Store> repaired = *Store::open("/repaired", bench_.options());
  EXPECT_EQ(days_in(*repaired, StorageService::kQueues), 3U);
}

TEST_F(Services, DamagedPropertiesAreAFindingAndAnError) {
  set(StorageService::kQueues, 3);
  format::EntityBuilder builder;
  builder.add_int64("Number", 1);
  builder.add_int32("LoggingDays", 100'000);
  plant(service_properties_key(kAccount, StorageService::kQueues), builder.finish());
  const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->finding_count, 1U);
  bench_.open();
  EXPECT_EQ(store().service_properties(kAccount, StorageService::kQueues).code(), Code::kCorruption);
  EXPECT_EQ(days(StorageService::kTables), 0U);
}

}  // namespace
}  // namespace varve::test::services_test
