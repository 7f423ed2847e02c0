// Goal: `varve export --output` leaves a complete file under its name, or the previous file, and nothing else.
// Method: it runs as a process, on the real file system.
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/tools/run_program.h"
#include "varve/large_value.h"
#include "varve/store.h"

namespace varve::export_test {
namespace {

using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr const char* kBefore = "what was there before\n";

class ExportOutput : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string rows;
    for (int row = 1000; row < 2000; ++row) {
      rows += R"({"PartitionKey":"p","RowKey":")" + std::to_string(row) + R"(","V":"some words of its own"})" + "\n";
    }
    std::filesystem::create_directory(place_);
    ASSERT_EQ(run_program({"import", store_, "Rows", scratch_.file("rows.jsonl", rows)}).exit_code, 0);
    whole_ = run_program({"export", store_, "Rows"}).out;
    ASSERT_GT(whole_.size(), 50'000u);
  }
  ProgramResult export_rows(const std::string& table = "Rows", const test::ProgramLimits& limits = {}) const {
    return run_program({"export", store_, table, "--output", file_}, "", limits);
  }
  /// Returns the names in the directory of the file.
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(place_)) found.insert(entry.path().filename());
    return found;
  }
  /// Simulates a full device: the file cannot become as long as the export.
  static test::ProgramLimits no_room() { return {.file_bytes_max = 20'000}; }

  test::ScratchDirectory scratch_;
  std::string store_ = scratch_.path("store");
  std::string place_ = scratch_.path("place");
  std::string file_ = place_ + "/rows.jsonl";
  std::string whole_;
};

TEST_F(ExportOutput, IsThereWhenItIsWhole) {
  ASSERT_EQ(export_rows().exit_code, 0);
  EXPECT_EQ(test::content_of(file_), whole_);
  EXPECT_EQ(names(), std::set<std::string>{"rows.jsonl"});
}

TEST_F(ExportOutput, ReplacesAFileAndKeepsItsPermissions) {
  scratch_.file("place/rows.jsonl", kBefore);
  ASSERT_EQ(::chmod(file_.c_str(), 0640), 0);
  ASSERT_EQ(export_rows().exit_code, 0);
  EXPECT_EQ(test::content_of(file_), whole_);
  struct stat now {};
  ASSERT_EQ(::stat(file_.c_str(), &now), 0);
  EXPECT_EQ(now.st_mode & 07777, 0640u);
  EXPECT_EQ(names(), std::set<std::string>{"rows.jsonl"});
}

TEST_F(ExportOutput, OfAFailedExportIsWhatWasThereBefore) {
  scratch_.file("place/rows.jsonl", kBefore);
  const ProgramResult full = export_rows("Rows", no_room());
  EXPECT_EQ(full.exit_code, 4) << full.err;
  EXPECT_THAT(full.err, HasSubstr(file_));
  EXPECT_EQ(test::content_of(file_), kBefore);
  EXPECT_EQ(export_rows("Unknown").exit_code, 1);
  EXPECT_EQ(test::content_of(file_), kBefore);
  EXPECT_EQ(names(), std::set<std::string>{"rows.jsonl"});
}

TEST_F(ExportOutput, OfAFailedExportIsNotThereWhereNothingWas) {
  EXPECT_EQ(export_rows("Rows", no_room()).exit_code, 4);
  EXPECT_EQ(names(), std::set<std::string>());
}

TEST_F(ExportOutput, GoesWhereALinkLeads) {
  const std::string behind = scratch_.file("behind", kBefore);
  std::filesystem::create_symlink(behind, file_);
  ASSERT_EQ(export_rows().exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(file_));
  EXPECT_EQ(test::content_of(behind), whole_);
}

TEST_F(ExportOutput, MayBeNoFile) {
  std::filesystem::create_symlink("/dev/null", file_);
  EXPECT_EQ(export_rows().exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_character_file(file_));
  std::filesystem::remove(file_);
  std::filesystem::create_symlink("/dev/full", file_);
  EXPECT_EQ(export_rows().exit_code, 4);
}

// An import of a text would replace each content by a String.
TEST_F(ExportOutput, InCsvHasNoTextForLargeValues) {
  {
    const Result<std::unique_ptr<Store>> store = Store::open(store_);
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    const Result<AccountPage> accounts = (*store)->list_accounts();
    ASSERT_TRUE(accounts.ok() && !accounts->accounts.empty());
    Result<Table> people =
        (*store)->create_table(accounts->accounts.front().name, "People", {.has_large_values = true});
    ASSERT_TRUE(people.ok()) << people.status().to_string();
    ASSERT_TRUE(people->insert(Entity("p", "1").set("Name", "Ann")).ok());
    Result<LargeValueWriter> writer = people->write_large_value();
    ASSERT_TRUE(writer.ok() && writer->append("content").ok());
    ASSERT_TRUE(people->insert(Entity("p", "2").set("Photo", *writer->finish())).ok());
  }
  scratch_.file("place/rows.jsonl", kBefore);
  const ProgramResult refused = run_program({"export", store_, "People", "--format", "csv", "--output", file_});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("the large value Photo of the entity 'p', '2'"));
  EXPECT_THAT(refused.err, HasSubstr("--typed"));
  EXPECT_EQ(test::content_of(file_), kBefore);
  const ProgramResult typed = run_program({"export", store_, "People", "--format", "csv", "--typed"});
  EXPECT_EQ(typed.exit_code, 0) << typed.err;
  EXPECT_THAT(typed.out, HasSubstr("Photo@type"));
  // With a file for each content, the text is its name, and an import reads the file.
  const std::string contents = scratch_.path("contents");
  const ProgramResult named = run_program({"export", store_, "People", "--format", "csv", "--contents", contents});
  EXPECT_EQ(named.exit_code, 0) << named.err;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(contents)) files.push_back(entry.path());
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(test::content_of(files.front().string()), "content");
  EXPECT_THAT(named.out, HasSubstr("," + files.front().filename().string()));
  const Words again{"import",           store_,       "Again", scratch_.file("people.csv", named.out), "--type",
                    "Photo=LargeValue", "--contents", contents};
  const ProgramResult imported = run_program(again);
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(run_program({"get", store_, "Again", "p", "2", "--content", "Photo"}).out, "content");
}

TEST_F(ExportOutput, IsRefusedWhereItCannotBe) {
  file_ = scratch_.path("nowhere/rows.jsonl");
  const ProgramResult refused = export_rows();
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.err, HasSubstr(file_ + ": cannot be written completely: No such file or directory"));
}

}  // namespace
}  // namespace varve::export_test
