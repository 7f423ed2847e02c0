// Goal: `varve repair` saves the readable data of a damaged store, reports the rest, and does not change the store.
// Method: it runs as a process, on the real file system.
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_program.h"
#include "varve/store.h"

namespace varve::repair_test {
namespace {

using test::ProgramResult;
using test::run_program;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

class RepairVerb : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string csv = "PartitionKey,RowKey,V\n";
    for (int row = 1000; row < 2000; ++row) {
      csv += "p," + std::to_string(row) + "," + std::to_string(row * 7919 % 10007) + " some words of its own\n";
    }
    ASSERT_EQ(varve({"import", store_, "Rows", scratch_.file("rows.csv", csv), "--partition-key", "PartitionKey",
                     "--row-key", "RowKey"})
                  .exit_code,
              0);
    ASSERT_EQ(varve({"compact", store_}).exit_code, 0);
    ASSERT_EQ(varve({"put", store_, "Rows", "p", "1500", "V=newer"}).exit_code, 0);
  }
  static ProgramResult varve(const Words& arguments) { return run_program(arguments); }
  static std::string exported(const std::string& store) {
    const ProgramResult result = varve({"export", store, "Rows", "--format", "jsonl"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(store_)) {
      all[entry.path().filename().string()] = test::content_of(entry.path());
    }
    return all;
  }
  /// Returns the largest file of this kind.
  std::string file_of(const std::string& ending) const {
    std::string found;
    std::size_t largest = 0;
    for (const auto& [name, content] : files()) {
      if (name.find(ending) == std::string::npos || content.size() <= largest) continue;
      largest = content.size();
      found = store_ + "/" + name;
    }
    return found;
  }
  static void damage(const std::string& path, std::uint64_t offset) {
    std::string content = test::content_of(path);
    ASSERT_LT(offset, content.size());
    content[offset] = static_cast<char>(content[offset] ^ 0x40);
    std::ofstream(path, std::ios::binary) << content;
  }

  test::ScratchDirectory scratch_;
  std::string store_ = scratch_.path("store");
  std::string target_ = scratch_.path("target");
};

TEST_F(RepairVerb, MakesAnEqualStoreOfASoundOne) {
  const std::string rows = exported(store_);
  const auto before = files();
  const ProgramResult repaired = varve({"repair", store_, target_});
  ASSERT_EQ(repaired.exit_code, 0) << repaired.err;
  EXPECT_THAT(repaired.out, HasSubstr("saved     1 account, 1 table, 1,000 entities"));
  EXPECT_THAT(repaired.out, HasSubstr("the store was sound"));
  EXPECT_EQ(files(), before);
  EXPECT_EQ(exported(target_), rows);  // including Timestamps
  EXPECT_EQ(varve({"verify", target_}).exit_code, 0);
}

TEST_F(RepairVerb, SavesWhatIsLeftOfADamagedTableAndNamesTheRest) {
  damage(file_of(".sst"), 5000);
  ASSERT_EQ(varve({"verify", store_}).exit_code, 3);
  const ProgramResult repaired = varve({"repair", store_, target_});
  EXPECT_EQ(repaired.exit_code, 3) << repaired.err;
  EXPECT_THAT(repaired.out, HasSubstr("lost      000"));
  EXPECT_THAT(repaired.out, HasSubstr("from devstoreaccount1/Rows 'p' '"));
  EXPECT_EQ(varve({"verify", target_}).exit_code, 0);
  EXPECT_THAT(exported(target_), HasSubstr("newer"));
}

TEST_F(RepairVerb, IsNamedWithTheStoreWhereDamageIsMet) {
  damage(file_of(".sst"), 5000);
  const std::string verify = "`varve verify " + store_ + "`";
  const std::string repair = "`varve repair " + store_ + " TARGET`";
  const ProgramResult exported = varve({"export", store_, "Rows"});
  EXPECT_EQ(exported.exit_code, 3);
  EXPECT_THAT(exported.err, AllOf(HasSubstr(verify), HasSubstr(repair)));
  const ProgramResult verified = varve({"verify", store_});
  EXPECT_EQ(verified.exit_code, 3);
  EXPECT_THAT(verified.err, AllOf(HasSubstr(repair), Not(HasSubstr(verify)))) << "it has just been verified";
}

TEST_F(RepairVerb, IsNamedAsAShellTakesIt) {
  damage(store_ + "/CURRENT", 20);
  const std::string renamed = scratch_.path("a store's name");
  std::filesystem::rename(store_, renamed);
  const ProgramResult result = varve({"get", renamed, "Rows", "p", "1500"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("`varve repair '" + scratch_.path("a store'\\''s name") + "' TARGET`"));
}

TEST_F(RepairVerb, TellsAMachineTheSame) {
  damage(file_of(".sst"), 5000);
  const ProgramResult repaired = varve({"repair", store_, target_, "--json"});
  EXPECT_EQ(repaired.exit_code, 3) << repaired.err;
  const auto told = nlohmann::json::parse(repaired.out, nullptr, false);
  EXPECT_EQ(told["lost_nothing"], false);
  EXPECT_EQ(told["table_files"]["damaged"], 1);
  ASSERT_EQ(told["losses"].size(), 1u);
  EXPECT_EQ(told["losses"][0]["first"]["table"], "Rows");
  EXPECT_GT(told["losses"][0]["bytes"], 0);
  EXPECT_LT(told["entities"], 1000);
  EXPECT_GT(told["entities"], 500);
}

TEST_F(RepairVerb, LosesNothingWithCurrent) {
  const std::string rows = exported(store_);
  std::filesystem::remove(store_ + "/CURRENT");
  EXPECT_NE(varve({"verify", store_}).exit_code, 0);
  const ProgramResult repaired = varve({"repair", store_, target_});
  EXPECT_EQ(repaired.exit_code, 0) << repaired.out;
  EXPECT_THAT(repaired.out, HasSubstr("CURRENT: 1 missing"));
  EXPECT_THAT(repaired.out, HasSubstr("nothing was lost"));
  EXPECT_EQ(exported(target_), rows);
}

TEST_F(RepairVerb, RefusesATargetThatHoldsSomethingAndWhatIsNoStore) {
  ASSERT_EQ(varve({"repair", store_, target_}).exit_code, 0);
  const ProgramResult again = varve({"repair", store_, target_});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("absent or empty"));
  EXPECT_EQ(varve({"repair", store_, store_}).exit_code, 1);
  EXPECT_EQ(varve({"repair", store_, store_ + "/inside"}).exit_code, 1);
  EXPECT_EQ(varve({"repair", scratch_.path("absent"), scratch_.path("target2")}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(scratch_.path("target2")));
  EXPECT_EQ(varve({"repair", store_}).exit_code, 2);
}

TEST_F(RepairVerb, LeavesAStoreAloneThatIsOpenForWriting) {
  const auto open = Store::open(store_);
  ASSERT_TRUE(open.ok()) << open.status().to_string();
  const ProgramResult repaired = varve({"repair", store_, target_});
  EXPECT_EQ(repaired.exit_code, 4) << repaired.out;
  EXPECT_FALSE(std::filesystem::exists(target_));
}

}  // namespace
}  // namespace varve::repair_test
