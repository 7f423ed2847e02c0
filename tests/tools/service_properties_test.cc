// Goal: `varve account properties` prints and changes the properties of one service, and leaves what the line does not name.
// Method: the program works on a store in a directory. tests/serve/socket/served_properties_test.cc has the other ways.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_program.h"

namespace varve::service_properties_test {
namespace {

using nlohmann::json;
using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class PropertiesVerb : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(run_program({"account", "create", store_, "devstoreaccount1"}).exit_code, 0); }

  ProgramResult properties(Words words) const {
    words.insert(words.begin(), {"account", "properties", store_});
    return run_program(words);
  }
  json shown(const std::string& service) const {
    return json::parse(properties({service, "--json"}).out, nullptr, false);
  }

  test::ScratchDirectory scratch_;
  const std::string store_ = scratch_.path("store");
};

TEST_F(PropertiesVerb, PrintsWhatANewAccountHas) {
  const std::string none =
      "log              none\n"
      "log days         -\n"
      "hour metrics     none\n"
      "hour days        -\n"
      "minute metrics   none\n"
      "minute days      -\n";
  EXPECT_EQ(properties({"tables"}).out, none);
  EXPECT_EQ(properties({"queues"}).out, none);
  EXPECT_EQ(properties({"blobs"}).out, none + "default version  none\n");
}

TEST_F(PropertiesVerb, ChangesWhatTheLineNames) {
  EXPECT_EQ(properties({"tables", "--log", "write, delete", "--log-days", "30"}).out, "");
  EXPECT_EQ(json::parse(properties({"tables", "--hour-metrics", "operations", "--json"}).out, nullptr, false),
            (json{{"changed", true}, {"account", "devstoreaccount1"}, {"service", "tables"}}));
  EXPECT_EQ(properties({"tables", "--minute-metrics", "sums", "--minute-days", "1"}).exit_code, 0);
  EXPECT_EQ(properties({"tables"}).out,
            "log              write,delete\n"
            "log days         30\n"
            "hour metrics     operations\n"
            "hour days        -\n"
            "minute metrics   sums\n"
            "minute days      1\n");
  EXPECT_EQ(properties({"tables", "--log-days", "0", "--minute-metrics", "none"}).exit_code, 0);
  EXPECT_EQ(shown("tables"),
            (json{{"account", "devstoreaccount1"},
                  {"service", "tables"},
                  {"logging", {{"read", false}, {"write", true}, {"delete", true}, {"retention_days", nullptr}}},
                  {"hour_metrics", {{"enabled", true}, {"include_apis", true}, {"retention_days", nullptr}}},
                  {"minute_metrics", {{"enabled", false}, {"include_apis", false}, {"retention_days", 1}}},
                  {"cors_rules", json::array()}}));
  EXPECT_EQ(properties({"tables", "--log", "none"}).exit_code, 0);
  EXPECT_THAT(properties({"tables"}).out, HasSubstr("log              none\n"));
  EXPECT_EQ(shown("queues")["hour_metrics"]["enabled"], false) << "each service has properties of its own";
}

TEST_F(PropertiesVerb, AddsAndClearsCorsRules) {
  EXPECT_EQ(properties({"blobs", "--cors-origins", "https://shop.example, https://admin.example", "--cors-methods",
                        "GET,PUT", "--cors-max-age", "60", "--cors-headers", "x-ms-*"})
                .exit_code,
            0);
  EXPECT_EQ(properties({"blobs", "--cors-origins", "*", "--cors-methods", "GET", "--cors-exposed", "ETag,x-ms-meta-*"})
                .exit_code,
            0);
  EXPECT_THAT(
      properties({"blobs"}).out,
      HasSubstr("cors             origins https://shop.example,https://admin.example; methods GET,PUT; max-age 60; "
                "headers x-ms-*; exposed -\n"
                "cors             origins *; methods GET; max-age 0; headers -; exposed ETag,x-ms-meta-*\n"));
  const json rules = shown("blobs")["cors_rules"];
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[1], (json{{"allowed_origins", json::array({"*"})},
                            {"allowed_methods", json::array({"GET"})},
                            {"max_age_seconds", 0},
                            {"exposed_headers", json::array({"ETag", "x-ms-meta-*"})},
                            {"allowed_headers", json::array()}}));
  EXPECT_EQ(
      properties({"blobs", "--cors-clear", "--cors-origins", "https://b.example", "--cors-methods", "PUT"}).exit_code,
      0);
  EXPECT_EQ(shown("blobs")["cors_rules"].size(), 1U);
  EXPECT_EQ(properties({"blobs", "--cors-clear"}).exit_code, 0);
  EXPECT_EQ(shown("blobs")["cors_rules"].size(), 0U);
}

TEST_F(PropertiesVerb, SetsTheVersionOfAnonymousRequests) {
  EXPECT_EQ(properties({"blobs", "--default-version", "2021-12-02"}).exit_code, 0);
  EXPECT_EQ(shown("blobs")["default_version"], "2021-12-02");
  EXPECT_EQ(properties({"blobs", "--log", "read"}).exit_code, 0);
  EXPECT_THAT(properties({"blobs"}).out, HasSubstr("default version  2021-12-02\n"));
  EXPECT_EQ(properties({"blobs", "--default-version", "none"}).exit_code, 0);
  EXPECT_EQ(shown("blobs")["default_version"], "");
  EXPECT_FALSE(shown("tables").contains("default_version"));
}

TEST_F(PropertiesVerb, RefusesBadInputByName) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(properties({"queues", "--cors-origins", "*", "--cors-methods", "GET"}).exit_code, 0);
  }
  const struct {
    Words words;
    int exit_code;
    std::string part;
  } refusals[] = {
      {{"files"}, 2, "tables"},
      {{"tables", "--log", "reads"}, 2, "--log takes read, write and delete"},
      {{"tables", "--log-days", "week"}, 2, "--log-days"},
      {{"tables", "--log-days", "366"}, 1, "1 to 365"},
      {{"tables", "--log-days", "4294967297"}, 1, "1 to 365"},
      {{"tables", "--hour-metrics", "all"}, 2, "--hour-metrics"},
      {{"tables", "--cors-methods", "GET"}, 2, "need --cors-origins"},
      {{"tables", "--cors-origins", "*"}, 2, "needs --cors-methods"},
      {{"tables", "--cors-origins", "*", "--cors-methods", "FETCH"}, 1, "FETCH"},
      {{"queues", "--cors-origins", "*", "--cors-methods", "GET"}, 1, "at most 5"},
      {{"tables", "--default-version", "2021-12-02"}, 2, "only the service of blobs"},
      {{"blobs", "--default-version", "soon"}, 1, "2021-12-02"},
      {{"tables", "--account", "none"}, 1, "devstoreaccount1"},
      {{"tables", "--account", "none", "--log", "read"}, 1, "devstoreaccount1"},
  };
  for (const auto& refusal : refusals) {
    const ProgramResult refused = properties(refusal.words);
    EXPECT_EQ(refused.exit_code, refusal.exit_code) << refusal.part << ": " << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(refusal.part));
  }
  EXPECT_EQ(shown("tables")["cors_rules"].size(), 0U);
  EXPECT_EQ(shown("queues")["cors_rules"].size(), 5U);
}

}  // namespace
}  // namespace varve::service_properties_test
