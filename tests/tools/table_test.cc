// Goal: tables are copied and renamed whole, and described in little memory.
// Method: the program works on tables with values of every type. Exports are compared.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_program.h"
#include "tests/tools/stored_end.h"

namespace varve::table_test {
namespace {

using nlohmann::json;
using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;

class TableVerbs : public ::testing::Test {
 protected:
  void SetUp() override {
    rows_ =
        R"({"PartitionKey":"p","RowKey":"1","B":true,"I":-1,"L@odata.type":"Edm.Int64","L":"5","D@odata.type":"Edm.Double","D":"NaN"})"
        "\n"
        R"({"PartitionKey":"p","RowKey":"2","G@odata.type":"Edm.Guid","G":"0f1e2d3c-0000-4000-8000-00000000abcd","T":"ä"})"
        "\n";
    for (int i = 0; i < 2500; ++i) {
      std::string number = std::to_string(i);
      number.insert(0, 5 - number.size(), '0');
      rows_ += R"({"PartitionKey":"q","RowKey":")" + number + R"(","I":)" + std::to_string(i % 10) + "}\n";
    }
    ASSERT_EQ(run_program({"import", store_, "Rows", scratch_.file("rows.jsonl", rows_)}).exit_code, 0);
  }
  std::string exported(const std::string& table) const { return run_program({"export", store_, table}).out; }

  test::ScratchDirectory scratch_;
  const std::string store_ = scratch_.path("store");
  std::string rows_;
};

TEST_F(TableVerbs, ACopyHasEveryEntity) {
  const ProgramResult copied = run_program({"table", "copy", store_, "Rows", "Copy", "--json"});
  EXPECT_EQ(copied.exit_code, 0) << copied.err;
  EXPECT_EQ(json::parse(copied.out, nullptr, false).value("entities", 0), 2502);
  EXPECT_EQ(exported("Copy"), rows_);
  EXPECT_EQ(exported("Rows"), rows_);
  EXPECT_EQ(run_program({"table", "copy", store_, "Rows", "Rows", "--to-account", "other"}).exit_code, 0);
  EXPECT_EQ(run_program({"export", store_, "Rows", "--account", "other"}).out, rows_);
  EXPECT_EQ(run_program({"table", "copy", store_, "Rows", "Copy"}).exit_code, 1) << "the copy has entities";
  EXPECT_EQ(run_program({"table", "copy", store_, "Absent", "New"}).exit_code, 1);
  EXPECT_EQ(run_program({"table", "list", store_}).out, "Copy\nRows\n");
}

TEST_F(TableVerbs, IndexesAreCreatedListedCopiedAndDropped) {
  const ProgramResult made = run_program({"index", "create", store_, "Rows", "ByI", "--on", "I,RowKey:desc", "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(json::parse(made.out, nullptr, false).value("index", ""), "ByI");
  EXPECT_EQ(run_program({"index", "list", store_, "Rows"}).out, "ByI  ready  I,RowKey:desc\n");
  const ProgramResult counted = run_program({"count", store_, "Rows", "--filter", "I eq 3"});
  EXPECT_THAT(counted.out, HasSubstr("250")) << counted.err;
  EXPECT_THAT(run_program({"query", store_, "Rows", "--filter", "I eq 3", "--all", "--explain"}).err,
              HasSubstr("index   ByI: 250 entities, taken"));
  EXPECT_EQ(run_program({"index", "create", store_, "Rows", "ByI", "--on", "T"}).exit_code, 1);
  for (const char* const components : {"T desc", "T:down", "I,T:DESC", ":desc"}) {
    const ProgramResult refused = run_program({"index", "create", store_, "Rows", "ByT", "--on", components});
    EXPECT_EQ(refused.exit_code, 1) << components;
    EXPECT_THAT(refused.err, HasSubstr("such as Customer,Total:desc")) << components;
  }
  EXPECT_EQ(run_program({"table", "copy", store_, "Rows", "Copy"}).exit_code, 0);
  EXPECT_EQ(run_program({"index", "list", store_, "Copy"}).out, "ByI  ready  I,RowKey:desc\n");
  EXPECT_EQ(run_program({"index", "drop", store_, "Rows", "ByI"}).exit_code, 0);
  EXPECT_EQ(run_program({"index", "list", store_, "Rows"}).out, "");
  EXPECT_EQ(run_program({"index", "drop", store_, "Rows", "ByI"}).exit_code, 1);
  EXPECT_EQ(run_program({"verify", store_}).exit_code, 0);
}

TEST_F(TableVerbs, AnImportWithoutALoadKeepsIndexesWhole) {
  const auto import_text = [this](const std::string& text, const std::string& mode) {
    return run_program({"import", store_, "Rows", scratch_.file("more.csv", text), "--mode", mode});
  };
  ASSERT_EQ(run_program({"index", "create", store_, "Rows", "ByMail", "--on", "Mail", "--unique"}).exit_code, 0);
  ASSERT_EQ(run_program({"index", "create", store_, "Rows", "ByTown", "--on", "Town", "--carry", "Mail"}).exit_code, 0);
  std::string text = "PartitionKey,RowKey,Mail,Town\n";
  for (int i = 0; i < 300; ++i) {
    const std::string number = std::to_string(i);
    text += "new" + std::to_string(i % 2) + "," + number + ",m" + number + "," + (i % 3 == 0 ? "Ulm" : "Rome") + "\n";
  }
  const ProgramResult imported = import_text(text, "insert");
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  const auto counted = [this](const std::string& filter) {
    return run_program({"count", store_, "Rows", "--filter", filter}).out;
  };
  EXPECT_THAT(counted("Town eq 'Ulm'"), HasSubstr("100"));
  ASSERT_EQ(import_text("PartitionKey,RowKey,Mail,Town\nnew0,0,m0,Rome\nnew1,3,,Rome\n", "replace").exit_code, 0);
  EXPECT_THAT(counted("Town eq 'Ulm'"), HasSubstr("98"));
  const ProgramResult refused = import_text("PartitionKey,RowKey,Mail\nnew9,1,m7\n", "merge");
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.out + refused.err, HasSubstr("ByMail"));
  EXPECT_THAT(run_program({"query", store_, "Rows", "--filter", "Town eq 'Ulm'", "--all", "--explain"}).err,
              HasSubstr("ByTown: 98 entities, taken"));
  EXPECT_EQ(run_program({"verify", store_}).exit_code, 0);
}

TEST_F(TableVerbs, AUniqueIndexRefusesASecondEntityAndItsBuildNamesTwo) {
  ASSERT_EQ(run_program({"index", "create", store_, "Rows", "ByRow", "--on", "RowKey,PartitionKey", "--unique",
                         "--carry", "I,T"})
                .exit_code,
            0);
  EXPECT_EQ(run_program({"index", "list", store_, "Rows"}).out,
            "ByRow  ready  RowKey,PartitionKey  unique  carries I,T\n");
  ASSERT_EQ(run_program({"put", store_, "Customers", "p", "ada", "Mail=a@b"}).exit_code, 0);
  ASSERT_EQ(run_program({"put", store_, "Customers", "q", "grace", "Mail=a@b"}).exit_code, 0);
  const std::vector<std::string> create{"index", "create", store_, "Customers", "ByMail", "--on", "Mail", "--unique"};
  const ProgramResult failed = run_program(create);
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.err, HasSubstr("ada"));
  EXPECT_THAT(failed.err, HasSubstr("grace"));
  EXPECT_THAT(run_program({"index", "list", store_, "Customers"}).out,
              HasSubstr("ByMail  failed  Mail  unique  the entity"));
  // What failed is not copied.
  EXPECT_EQ(run_program({"table", "copy", store_, "Customers", "Copy"}).exit_code, 0);
  EXPECT_EQ(run_program({"index", "list", store_, "Copy"}).out, "");
  ASSERT_EQ(run_program({"index", "drop", store_, "Customers", "ByMail"}).exit_code, 0);
  ASSERT_EQ(run_program({"delete", store_, "Customers", "q", "grace"}).exit_code, 0);
  ASSERT_EQ(run_program(create).exit_code, 0);
  const ProgramResult refused = run_program({"put", store_, "Customers", "q", "grace", "Mail=a@b"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("ByMail"));
  EXPECT_EQ(run_program({"verify", store_}).exit_code, 0);
}

TEST_F(TableVerbs, ARenameKeepsTheAccessPolicies) {
  const AccessPolicy reader{"reader", {}, {}, {}};
  {
    const Result<std::unique_ptr<Store>> store = Store::open(store_, StoreOptions());
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    ASSERT_TRUE((*store)->set_access_policies("devstoreaccount1", "Rows", {&reader, 1}).ok());
    ASSERT_TRUE((*store)->close().ok());
  }
  ASSERT_EQ(run_program({"table", "copy", store_, "Rows", "Copy"}).exit_code, 0);
  ASSERT_EQ(run_program({"table", "rename", store_, "Rows", "New"}).exit_code, 0);
  const Result<std::unique_ptr<Store>> store = Store::open(store_, StoreOptions());
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  EXPECT_EQ(*(*store)->access_policies("devstoreaccount1", "New"), std::vector<AccessPolicy>{reader});
  EXPECT_TRUE((*(*store)->access_policies("devstoreaccount1", "Copy")).empty()) << "a copy is a table of its own";
}

TEST_F(TableVerbs, ARenameLeavesOneTable) {
  const ProgramResult renamed = run_program({"table", "rename", store_, "Rows", "New"});
  EXPECT_EQ(renamed.exit_code, 0) << renamed.err;
  EXPECT_EQ(exported("New"), rows_);
  EXPECT_EQ(run_program({"table", "list", store_}).out, "New\n");
  EXPECT_THAT(run_program({"table", "rename", store_, "New", "new"}).err, HasSubstr("are those of one table"));
  ASSERT_EQ(run_program({"table", "create", store_, "Taken"}).exit_code, 0);
  EXPECT_THAT(run_program({"table", "rename", store_, "New", "taken"}).err, HasSubstr("exists already"));
  EXPECT_EQ(run_program({"table", "list", store_}).out, "New\nTaken\n");
  EXPECT_EQ(run_program({"verify", store_}).exit_code, 0);
}

TEST_F(TableVerbs, AnExpiryIsSetShownAndRemoved) {
  ASSERT_EQ(run_program({"table", "create", store_, "Sessions", "--expire-after", "90m"}).exit_code, 0);
  EXPECT_EQ(run_program({"table", "expiry", store_, "Sessions"}).out,
            "entities that are written to Sessions now end 90m after their Timestamp\n");
  const ProgramResult changed = run_program({"table", "expiry", store_, "Sessions", "--expire-at", "Until"});
  EXPECT_EQ(changed.exit_code, 0) << changed.err;
  EXPECT_THAT(changed.out, HasSubstr("stored entities keep their ends"));
  const json shown = json::parse(run_program({"table", "expiry", store_, "Sessions", "--json"}).out, nullptr, false);
  EXPECT_EQ(shown["table"], "Sessions");
  EXPECT_EQ(shown["expire_at"], "Until");
  EXPECT_EQ(shown["expire_after_ms"], nullptr);
  EXPECT_EQ(run_program(
                {"put", store_, "Sessions", "p", "gone", "Until=2020-01-01T00:00:00Z", "--type", "Until=Edm.DateTime"})
                .exit_code,
            0);
  EXPECT_EQ(run_program({"get", store_, "Sessions", "p", "gone"}).exit_code, 1);
  EXPECT_EQ(run_program({"table", "expiry", store_, "Sessions", "--never"}).exit_code, 0);
  EXPECT_THAT(run_program({"table", "expiry", store_, "Sessions"}).out, HasSubstr("now never end"));
  EXPECT_EQ(run_program({"table", "expiry", store_, "Absent"}).exit_code, 1);
  EXPECT_EQ(run_program({"table", "expiry", store_, "Sessions", "--expire-after", "0s"}).exit_code, 1);
  EXPECT_EQ(run_program({"table", "expiry", store_, "Sessions", "--expire-after", "1m", "--never"}).exit_code, 2);
  EXPECT_EQ(run_program({"verify", store_}).exit_code, 0);
}

TEST_F(TableVerbs, AccessPoliciesAreShownAndChanged) {
  const auto policies = [this](std::vector<std::string> more) {
    more.insert(more.begin(), {"table", "policies", store_, "Rows"});
    return run_program(more);
  };
  EXPECT_EQ(policies({}).out, "");
  EXPECT_EQ(policies({"--set", "readers", "--permissions", "r", "--expiry", "2027-01-01"}).exit_code, 0);
  EXPECT_THAT(policies({"--set", "all", "--permissions", "raud", "--json"}).out, HasSubstr("\"changed\":true"));
  EXPECT_EQ(policies({}).out, "readers  r  -  2027-01-01T00:00:00.0000000Z\nall  raud  -  -\n");
  EXPECT_EQ(policies({"--set", "all", "--permissions", "dr"}).exit_code, 1) << "in another order";
  EXPECT_EQ(policies({"--remove", "absent"}).exit_code, 1);
  EXPECT_EQ(policies({"--remove", "readers"}).exit_code, 0);
  EXPECT_EQ(policies({"--json"}).out, "[{\"id\":\"all\",\"permissions\":\"raud\"}]\n");
  EXPECT_EQ(policies({"--clear", "--set", "a"}).exit_code, 2);
  EXPECT_EQ(policies({"--clear"}).exit_code, 0);
  EXPECT_EQ(policies({}).out, "");
  EXPECT_THAT(run_program({"table", "policies", store_, "Row"}).err, HasSubstr("did you mean table `Rows`?"));
}

TEST_F(TableVerbs, ACopyKeepsTheEndsAndTheRule) {
  ASSERT_EQ(run_program({"put", store_, "Sessions", "p", "before", "V=1"}).exit_code, 0);
  ASSERT_EQ(run_program({"table", "expiry", store_, "Sessions", "--expire-after", "30d"}).exit_code, 0);
  ASSERT_EQ(run_program({"put", store_, "Sessions", "p", "aged", "V=2"}).exit_code, 0);
  const std::uint64_t end = test::end_in(store_, "Sessions", "p", "aged");
  ASSERT_NE(end, 0U);
  const ProgramResult copied = run_program({"table", "copy", store_, "Sessions", "Copy"});
  EXPECT_EQ(copied.exit_code, 0) << copied.err;
  ASSERT_EQ(run_program({"table", "rename", store_, "Sessions", "New"}).exit_code, 0);
  for (const char* const table : {"Copy", "New"}) {
    EXPECT_EQ(test::end_in(store_, table, "p", "aged"), end) << table;
    EXPECT_EQ(test::end_in(store_, table, "p", "before"), 0U) << table;
    EXPECT_THAT(run_program({"table", "expiry", store_, table}).out, HasSubstr("end 30d after")) << table;
  }
  // Without its rule, the table has entities that end all the same.
  ASSERT_EQ(run_program({"table", "expiry", store_, "New", "--never"}).exit_code, 0);
  ASSERT_EQ(run_program({"table", "create", store_, "Short", "--expire-after", "1d"}).exit_code, 0);
  ASSERT_EQ(run_program({"table", "copy", store_, "New", "Short"}).exit_code, 0);
  EXPECT_EQ(test::end_in(store_, "Short", "p", "aged"), end);
  EXPECT_EQ(test::end_in(store_, "Short", "p", "before"), 0U) << "the rule of a table that exists ends no copy";
  EXPECT_THAT(run_program({"table", "expiry", store_, "Short"}).out, HasSubstr("end 1d after"));
  EXPECT_EQ(run_program({"verify", store_}).exit_code, 0);
}

TEST_F(TableVerbs, ADescriptionHasNamesTypesFillAndExamples) {
  const ProgramResult told = run_program({"table", "describe", store_, "Rows", "--json"});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const json summary = json::parse(told.out, nullptr, false);
  EXPECT_EQ(summary["entities"], 2502);
  EXPECT_EQ(summary["partitions"], 2);
  EXPECT_EQ(summary["whole"], true);
  for (const json& property : summary["properties"]) {
    if (property["name"] == "I") {
      EXPECT_EQ(property["types"]["Edm.Int32"], 2501);
      EXPECT_EQ(property["distinct"], 11);
      EXPECT_EQ(property["examples"], (json{"-1", "0", "1"}));
    }
    if (property["name"] == "RowKey") {
      EXPECT_NEAR(property["distinct"].get<double>(), 2502, 200);
    }
  }
  const ProgramResult part = run_program({"table", "describe", store_, "Rows", "--first", "2"});
  EXPECT_THAT(part.out, HasSubstr("of the first 2 entities in about 1 partition"));
  EXPECT_THAT(part.out, HasSubstr("Edm.Guid"));
  EXPECT_THAT(part.out, HasSubstr("50.0 %"));
}

}  // namespace
}  // namespace varve::table_test
