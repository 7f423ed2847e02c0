// Goal: service properties are kept with their account unchanged, part by part, within their limits.
#include "varve/service_properties.h"

#include <gtest/gtest.h>

#include "api/catalog/catalog_rows.h"
#include "api/catalog/service_property_rows.h"
#include "format/keys/entity.h"
#include "tests/api/async/async_support.h"
#include "tests/api/store_bench.h"

namespace varve::service_properties_test {
namespace {

using namespace test;

CorsRule shop_rule() {
  return {
      {"https://shop.example", "https://admin.example"}, {"GET", "POST"}, 300, {"x-ms-*"}, {"x-ms-*", "content-type"}};
}

ServicePropertiesChange everything() {
  return {LoggingProperties{true, false, true, 7}, MetricsProperties{true, true, 365},
          MetricsProperties{true, false, {}}, std::vector<CorsRule>{shop_rule(), {{"*"}, {"GET"}}}};
}

ServiceProperties as_set(const ServicePropertiesChange& change) {
  return {*change.logging, *change.hour_metrics, *change.minute_metrics, *change.cors_rules};
}

class StoredServiceProperties : public ::testing::Test {
 protected:
  void SetUp() override { (void)bench_.table(); }
  Store& store() { return *bench_.store; }
  Status set(const ServicePropertiesChange& change) { return store().set_service_properties(kAccount, change); }
  ServiceProperties stored() {
    const Result<ServiceProperties> properties = store().service_properties(kAccount);
    EXPECT_TRUE(properties.ok()) << properties.status().to_string();
    return properties.ok() ? *properties : ServiceProperties();
  }

  StoreBench bench_;
};

TEST_F(StoredServiceProperties, P01_AreKeptWithTheirAccountAcrossAReopen) {
  EXPECT_EQ(stored(), ServiceProperties());
  ASSERT_TRUE(set(everything()).ok());
  EXPECT_EQ(stored(), as_set(everything()));
  bench_.open();
  EXPECT_EQ(stored(), as_set(everything()));
  ASSERT_TRUE(store().create_account("other").ok());
  EXPECT_EQ(*store().service_properties("other"), ServiceProperties());
}

TEST_F(StoredServiceProperties, P03_WhatIsLeftOutKeepsItsValue) {
  ASSERT_TRUE(set(everything()).ok());
  ASSERT_TRUE(set({}).ok());
  EXPECT_EQ(stored(), as_set(everything()));
  ServiceProperties expected = as_set(everything());
  ServicePropertiesChange only_logging;
  only_logging.logging = LoggingProperties();
  ASSERT_TRUE(set(only_logging).ok());
  expected.logging = {};
  EXPECT_EQ(stored(), expected);
  ServicePropertiesChange only_rules;
  only_rules.cors_rules = std::vector<CorsRule>{};
  ASSERT_TRUE(set(only_rules).ok());
  expected.cors_rules.clear();
  EXPECT_EQ(stored(), expected);
}

TEST_F(StoredServiceProperties, OfNoAccountAreNotFound) {
  EXPECT_EQ(said(store().service_properties("nobody")), kResourceNotFound);
  EXPECT_EQ(said(store().set_service_properties("nobody", everything())), kResourceNotFound);
  EXPECT_EQ(said(store().set_service_properties("?", everything())), kResourceNotFound);
}

TEST_F(StoredServiceProperties, VanishWithTheAccount) {
  ASSERT_TRUE(set(everything()).ok());
  ASSERT_TRUE(store().drop_account(kAccount).ok());
  EXPECT_EQ(said(store().service_properties(kAccount)), kResourceNotFound);
  ASSERT_TRUE(store().create_account(kAccount).ok());
  EXPECT_EQ(stored(), ServiceProperties());
}

TEST_F(StoredServiceProperties, AreKeptByCreatesOfTablesAndLeaveTheAccountAsItWas) {
  const DateTime created = (*store().list_accounts()).accounts.front().created;
  ASSERT_TRUE(set(everything()).ok());
  ASSERT_TRUE(store().create_table(kAccount, "Second").ok());
  EXPECT_EQ(stored(), as_set(everything()));
  EXPECT_EQ((*store().list_accounts()).accounts.front().created, created);
  EXPECT_EQ((*store().list_tables(kAccount)).tables.size(), 2U);
  ASSERT_TRUE(store().close().ok());
  EXPECT_TRUE((*Store::verify(kStorePath, bench_.options())).findings.empty());
}

TEST_F(StoredServiceProperties, SurviveAPowerCutAsSoonAsTheyAreSet) {
  ASSERT_TRUE(set(everything()).ok());
  StoreBench after(7, bench_.machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, bench_.machine.random));
  EXPECT_EQ(*after.open().service_properties(kAccount), as_set(everything()));
}

TEST_F(StoredServiceProperties, P03_DaysAreOneToAYear) {
  ServicePropertiesChange change;
  for (const std::uint32_t days : {1U, 365U}) {
    change.logging = LoggingProperties{false, false, false, days};
    EXPECT_TRUE(set(change).ok()) << days;
  }
  for (const std::uint32_t days : {366U, UINT32_MAX}) {
    change.logging = LoggingProperties{false, false, false, days};
    EXPECT_EQ(said(set(change)), kInvalidXmlDocument) << days;
  }
  change.logging = LoggingProperties{false, false, false, 0};
  EXPECT_EQ(said(set(change)), kInvalidXmlNodeValue);
  EXPECT_EQ(stored().logging.retention_days, 365U);
  change = {};
  change.minute_metrics = MetricsProperties{true, false, 0};
  EXPECT_EQ(said(set(change)), kInvalidXmlNodeValue);
  change.minute_metrics = MetricsProperties{false, true, {}};
  EXPECT_EQ(said(set(change)), kInvalidXmlDocument);
}

class CorsLimits : public ::testing::Test {
 protected:
  static Said judged(const std::vector<CorsRule>& rules) {
    ServicePropertiesChange change;
    change.cors_rules = rules;
    return said(check_service_properties(change));
  }
  static Said judged(const CorsRule& rule) { return judged(std::vector<CorsRule>{rule}); }
  static std::vector<std::string> names(std::size_t count, const std::string& end = "") {
    std::vector<std::string> made;
    for (std::size_t i = 0; i < count; ++i) made.push_back("n" + std::to_string(i) + end);
    return made;
  }
  static CorsRule plain() { return {{"*"}, {"GET"}}; }
};

constexpr Said kFine = {Code::kOk, ""};

TEST_F(CorsLimits, P10_ThereAreAtMostFiveRulesOfTwoKibibytes) {
  EXPECT_EQ(judged(std::vector<CorsRule>(5, plain())), kFine);
  EXPECT_EQ(judged(std::vector<CorsRule>(6, plain())), kInvalidXmlDocument);
  CorsRule wide = plain();                                                    // "*", "GET", "0" are 5 characters
  wide.exposed_headers = std::vector<std::string>(8, std::string(254, 'h'));  // with their 7 commas 2039
  wide.max_age_seconds = 10'000;                                              // 5 characters
  EXPECT_EQ(judged(wide), kFine);                                             // 2048
  wide.max_age_seconds = 100'000;
  EXPECT_EQ(judged(wide), kInvalidXmlDocument);
  wide.max_age_seconds = 10'000;
  EXPECT_EQ(judged({wide, plain()}), kInvalidXmlDocument);
}

TEST_F(CorsLimits, P10_OriginsAreOneToSixtyFourOfAtMost256Characters) {
  CorsRule rule = plain();
  rule.allowed_origins = names(64);
  EXPECT_EQ(judged(rule), kFine);
  rule.allowed_origins = names(65);
  EXPECT_EQ(judged(rule), kInvalidXmlNodeValue);
  rule.allowed_origins = {};
  EXPECT_EQ(judged(rule), kInvalidXmlNodeValue);
  rule.allowed_origins = {std::string(256, 'o')};
  EXPECT_EQ(judged(rule), kFine);
  for (const std::string& origin : {std::string(257, 'o'), std::string(), std::string("a b"), std::string("a\r\nb"),
                                    std::string("a,b"), std::string("\xC3\xA4")}) {
    rule.allowed_origins = {origin};
    EXPECT_EQ(judged(rule), kInvalidXmlNodeValue) << origin;
  }
}

TEST_F(CorsLimits, P10_AListOfHeadersHas64NamesAndTwoPrefixes) {
  for (std::vector<std::string> CorsRule::*const list : {&CorsRule::exposed_headers, &CorsRule::allowed_headers}) {
    CorsRule rule = plain();
    rule.*list = names(2, "*");
    for (const std::string& name : names(64)) (rule.*list).push_back(name);
    EXPECT_EQ(judged(rule), kFine);
    rule.*list = names(65);
    EXPECT_EQ(judged(rule), kInvalidXmlNodeValue);
    rule.*list = names(3, "*");
    EXPECT_EQ(judged(rule), kInvalidXmlNodeValue);
    rule.*list = {std::string(257, 'h')};
    EXPECT_EQ(judged(rule), kInvalidXmlNodeValue);
    rule.*list = {"x\r\ny"};
    EXPECT_EQ(judged(rule), kInvalidXmlNodeValue);
  }
}

TEST_F(CorsLimits, P10_MethodsAreThoseOfTheProtocol) {
  CorsRule rule = plain();
  rule.allowed_methods = {"DELETE", "GET", "HEAD", "MERGE", "POST", "OPTIONS", "PUT", "PATCH"};
  EXPECT_EQ(judged(rule), kFine);
  for (const std::vector<std::string>& methods :
       std::vector<std::vector<std::string>>{{}, {"get"}, {"TRACE"}, {"GET", ""}}) {
    rule.allowed_methods = methods;
    EXPECT_EQ(judged(rule), kInvalidXmlNodeValue);
  }
  rule = plain();
  rule.max_age_seconds = 2'147'483'647;
  EXPECT_EQ(judged(rule), kFine);
  rule.max_age_seconds = 2'147'483'648;
  EXPECT_EQ(judged(rule), kInvalidXmlNodeValue);
}

TEST(ServicePropertyRows, ReplaceTheirOwnPropertiesAlone) {
  const std::string row = encode_account_row(7);
  const std::string with = *with_service_properties(row, as_set(everything()));
  EXPECT_EQ(*decode_service_properties(with), as_set(everything()));
  EXPECT_EQ((*decode_account_row("abc", 9, with)).number, 7U);
  EXPECT_EQ(*with_service_properties(with, {}), row);
}

TEST(ServicePropertyRows, ThatCouldNotHaveBeenSetAreCorruption) {
  const auto decode = [](void (*fill)(format::EntityBuilder&)) {
    format::EntityBuilder builder;
    fill(builder);
    return decode_service_properties(builder.finish()).code();
  };
  using Builder = format::EntityBuilder;
  EXPECT_EQ(decode([](Builder& row) { row.add_boolean("LoggingRead", true); }), Code::kOk);
  EXPECT_EQ(decode([](Builder& row) { row.add_int32("LoggingRead", 1); }), Code::kCorruption);
  EXPECT_EQ(decode([](Builder& row) { row.add_int32("HourMetricsDays", -1); }), Code::kCorruption);
  EXPECT_EQ(decode([](Builder& row) { row.add_boolean("MinuteMetricsIncludeAPIs", true); }), Code::kCorruption);
  EXPECT_EQ(decode([](Builder& row) { row.add_string("Cors0Origins", "*"); }), Code::kCorruption);
  EXPECT_EQ(decode_service_properties("garbage").code(), Code::kUnsupported);
}

TEST(AsyncServiceProperties, AreTheSameAsTasks) {
  StoreBench bench;
  (void)bench.table();
  const AsyncStore store(*bench.store);
  EXPECT_TRUE(wait(store.set_service_properties(std::string(kAccount), everything())).ok());
  EXPECT_EQ(*wait(store.service_properties(std::string(kAccount))), as_set(everything()));
  EXPECT_EQ(said(wait(store.service_properties("nobody"))), kResourceNotFound);
}

}  // namespace
}  // namespace varve::service_properties_test
