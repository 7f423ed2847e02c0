// Goal: stored access policies are kept with their table unchanged, within their limits.
#include "varve/access_policy.h"

#include <gtest/gtest.h>

#include "api/catalog/catalog_rows.h"
#include "api/catalog/policy_rows.h"
#include "format/keys/entity.h"
#include "tests/api/store_bench.h"

namespace varve::access_policy_test {
namespace {

using namespace test;
using Policies = std::vector<AccessPolicy>;

const DateTime kStart = *DateTime::parse("2026-03-03T00:00:00Z");
const DateTime kExpiry = *DateTime::parse("2026-04-03T00:00:00.1234567Z");

Policies some() {
  return {{"readers", kStart, kExpiry, *Permissions::parse("r")},
          {"open", {}, {}, {}},
          {"all", {}, kExpiry, Permissions::all()}};
}

class StoredPolicies : public ::testing::Test {
 protected:
  void SetUp() override { table_.emplace(bench_.table()); }
  Store& store() { return *bench_.store; }
  Status set(const Policies& policies) { return store().set_access_policies(kAccount, "Orders", policies); }
  Policies stored() {
    const Result<Policies> policies = store().access_policies(kAccount, "ORDERS");
    EXPECT_TRUE(policies.ok()) << policies.status().to_string();
    return policies.ok() ? *policies : Policies();
  }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(StoredPolicies, S40_AreReplacedAsAWholeAndSurviveAReopen) {
  EXPECT_EQ(stored(), Policies{});
  ASSERT_TRUE(set(some()).ok());
  EXPECT_EQ(stored(), some());
  EXPECT_EQ(*table_->access_policies(), some());
  bench_.open();
  EXPECT_EQ(stored(), some());
  ASSERT_TRUE(set({some()[1]}).ok());
  EXPECT_EQ(stored(), Policies{some()[1]});
  ASSERT_TRUE(set({}).ok());
  bench_.open();
  EXPECT_EQ(stored(), Policies{});
}

TEST_F(StoredPolicies, S40_OfNoTableAreNotFound) {
  EXPECT_EQ(said(store().access_policies(kAccount, "Missing")), kTableNotFound);
  EXPECT_EQ(said(store().set_access_policies(kAccount, "Missing", some())), kTableNotFound);
  EXPECT_EQ(said(store().access_policies(kAccount, "1")), kTableNotFound);
  EXPECT_EQ(said(store().set_access_policies(kAccount, "1", some())), kTableNotFound);
  EXPECT_EQ(said(store().access_policies("nobody", "Orders")), kResourceNotFound);
  EXPECT_EQ(said(store().set_access_policies("nobody", "Orders", some())), kResourceNotFound);
}

TEST_F(StoredPolicies, S40_ARestrictedHandleDoesNotTellThem) {
  EXPECT_EQ(said((*table_->restricted_to({})).access_policies()), kAuthorizationFailure);
}

TEST_F(StoredPolicies, S41_HaveLimitsAndNothingChangesBeyondThem) {
  ASSERT_TRUE(set(some()).ok());
  Policies many;
  for (int i = 0; i < 6; ++i) many.push_back({"policy" + std::to_string(i)});
  EXPECT_EQ(said(set(many)), kInvalidXmlDocument);
  many.pop_back();
  EXPECT_EQ(said(set({{""}})), kInvalidXmlDocument);
  EXPECT_EQ(said(set({{std::string(65, 'i')}})), kInvalidXmlDocument);
  EXPECT_EQ(said(set({{"\xFF"}})), kInvalidXmlDocument);
  EXPECT_EQ(said(set({{"twice"}, {"twice"}})), kInvalidXmlDocument);
  EXPECT_EQ(said(set({{"early", DateTime{1}, {}, {}}})), kInvalidXmlNodeValue);
  EXPECT_EQ(said(set({{"late", {}, DateTime{UINT64_MAX}, {}}})), kInvalidXmlNodeValue);
  EXPECT_EQ(stored(), some());
  many.back().id = std::string(64, 'i');
  EXPECT_TRUE(set(many).ok());
  EXPECT_EQ(stored(), many);
}

TEST_F(StoredPolicies, S42_VanishWithTheTable) {
  ASSERT_TRUE(set(some()).ok());
  ASSERT_TRUE(store().drop_table(kAccount, "Orders").ok());
  EXPECT_EQ(said(store().access_policies(kAccount, "Orders")), kTableNotFound);
  ASSERT_TRUE(store().create_table(kAccount, "Orders").ok());
  EXPECT_EQ(stored(), Policies{});
}

TEST_F(StoredPolicies, LeaveTheTableAsItWas) {
  ASSERT_TRUE(table_->insert(with_value("p", "r", "x")).ok());
  const std::string name = "OrDeRs2";
  ASSERT_TRUE(store().create_table(kAccount, name).ok());
  const DateTime created = (*store().list_tables(kAccount)).tables[1].created;
  ASSERT_TRUE(store().set_access_policies(kAccount, "orders2", some()).ok());
  ASSERT_TRUE(set(some()).ok());
  bench_.open();
  const TableInfo info = (*store().list_tables(kAccount)).tables[1];
  EXPECT_EQ(info.name, name);
  EXPECT_EQ(info.created, created);
  EXPECT_EQ(value_in(*store().open_table(kAccount, "Orders"), "p", "r"), "x");
}

TEST_F(StoredPolicies, S42_TimesAreReadInSeveralFormsAndWrittenInOne) {
  for (const auto& [text, written] : std::vector<std::pair<std::string, std::string>>{
           {"2026-03-03", "2026-03-03T00:00:00.0000000Z"},
           {"2026-03-03T10:20Z", "2026-03-03T10:20:00.0000000Z"},
           {"2026-03-03T10:20", "2026-03-03T10:20:00.0000000Z"},
           {"2026-03-03T11:20+01:00", "2026-03-03T10:20:00.0000000Z"},
           {"2026-03-03T10:20:30Z", "2026-03-03T10:20:30.0000000Z"},
           {"2026-03-03T11:20:30+01:00", "2026-03-03T10:20:30.0000000Z"},
           {"2026-03-03T10:20:30.123456Z", "2026-03-03T10:20:30.1234560Z"},
           {"2026-03-03T10:20:30.1234567Z", "2026-03-03T10:20:30.1234567Z"}}) {
    const Result<DateTime> time = parse_access_time(text);
    ASSERT_TRUE(time.ok()) << text;
    EXPECT_EQ(access_time_text(*time), written) << text;
    EXPECT_EQ(*parse_access_time(written), *time);
  }
  for (const std::string text : {"", "2026", "2026-03", "2026-13-01", "2026-02-30", "2026-03-03T", "2026-03-03T10",
                                 "2026-03-03T10:20:", "2026-03-03T25:20Z", "2026-03-03T10:20ZZ", "1600-01-01",
                                 "2026-03-03 10:20", "x026-03-03", "2026-03-03T10:20:30.Z"}) {
    EXPECT_EQ(said(parse_access_time(text)), kInvalidXmlNodeValue) << text;
  }
}

TEST(PolicyRows, ReplaceTheirOwnPropertiesAlone) {
  const std::string row = encode_table_row("Orders", format::make_table_id(3, 4));
  const std::string with = *with_access_policies(row, some());
  EXPECT_EQ(*decode_access_policies(with), some());
  EXPECT_EQ((*decode_table_row("abc", "orders", 9, with)).id, format::make_table_id(3, 4));
  EXPECT_EQ(*with_access_policies(with, {}), row);
}

TEST(PolicyRows, ThatCouldNotHaveBeenSetAreCorruption) {
  const auto decode = [](void (*fill)(format::EntityBuilder&)) {
    format::EntityBuilder builder;
    fill(builder);
    return decode_access_policies(builder.finish()).code();
  };
  using Builder = format::EntityBuilder;
  EXPECT_EQ(decode([](Builder& row) { row.add_int64("Policy0Id", 1); }), Code::kCorruption);
  EXPECT_EQ(decode([](Builder& row) { row.add_string("Policy0Id", ""); }), Code::kCorruption);
  EXPECT_EQ(decode([](Builder& row) {
              row.add_string("Policy0Id", "a");
              row.add_string("Policy0Start", "2026");
            }),
            Code::kCorruption);
  EXPECT_EQ(decode([](Builder& row) {
              row.add_string("Policy0Id", "a");
              row.add_string("Policy0Permissions", "dr");
            }),
            Code::kCorruption);
  EXPECT_EQ(decode([](Builder& row) {
              row.add_string("Policy0Id", "a");
              row.add_int32("Policy0Permissions", 1);
            }),
            Code::kCorruption);
  EXPECT_EQ(decode([](Builder& row) {
              row.add_string("Policy0Id", "a");
              row.add_string("Policy1Id", "a");
            }),
            Code::kCorruption);
  const std::string whole = *with_access_policies(encode_table_row("Orders", format::make_table_id(3, 4)), some());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Result<Policies> cut = decode_access_policies(whole.substr(0, length));
    // Only the end of the last value can be cut without detection.
    for (std::size_t i = 0; cut.ok() && i < cut->size(); ++i) {
      EXPECT_EQ((*cut)[i].id, some()[i].id) << length;
      EXPECT_TRUE(!(*cut)[i].permissions || some()[i].permissions->contains(*(*cut)[i].permissions)) << length;
    }
  }
}

}  // namespace
}  // namespace varve::access_policy_test
