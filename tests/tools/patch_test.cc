// Goal: `varve patch` changes the named properties of one entity at once or not at all, and prints the entity.
// Method: the program runs as a process, on the real file system. Each refusal is followed by a read.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_program.h"

namespace varve::patch_test {
namespace {

using nlohmann::json;
using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class PatchVerb : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_program({"put", store_, "Stock", "eu", "0007", "Name=bolt", "Quantity=7", "Note=old"}).exit_code, 0);
  }
  ProgramResult patch(const Words& more, const std::string& row = "0007") const {
    Words words{"patch", store_, "Stock", "eu", row};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  std::string stored() const { return run_program({"get", store_, "Stock", "eu", "0007", "--json"}).out; }
  void expect_refused(const Words& more, int exit_code, const std::string& error) const {
    const std::string before = stored();
    const ProgramResult refused = patch(more);
    EXPECT_EQ(refused.exit_code, exit_code) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(error));
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(stored(), before);
  }

  test::ScratchDirectory scratch_;
  const std::string store_ = scratch_.path("store");
};

TEST_F(PatchVerb, SetsRemovesAndIncrementsAndPrintsTheEntity) {
  const ProgramResult patched =
      patch({"--set", "Colour=red", "--set", "Name=7", "--type", "Name=Edm.String", "--remove", "Note", "--increment",
             "Quantity=-5", "--increment", "Sales=1", "--json"});
  ASSERT_EQ(patched.exit_code, 0) << patched.err;
  EXPECT_EQ(patched.out, stored());
  const json entity = json::parse(patched.out, nullptr, false);
  EXPECT_EQ(entity.value("Colour", ""), "red");
  EXPECT_EQ(entity.value("Name", ""), "7");
  EXPECT_EQ(entity.value("Quantity", 0), 2);
  EXPECT_EQ(entity.value("Sales", 0), 1);
  EXPECT_FALSE(entity.contains("Note"));
  const ProgramResult for_people = patch({"--increment", "Quantity=1"});
  EXPECT_EQ(for_people.exit_code, 0) << for_people.err;
  EXPECT_THAT(for_people.out, HasSubstr("Quantity      3  (Edm.Int32)\n"));
}

TEST_F(PatchVerb, AFilterAndAnETagMustHold) {
  const std::string etag = json::parse(stored(), nullptr, false).value("odata.etag", "");
  EXPECT_EQ(patch({"--increment", "Quantity=-5", "--if", "Quantity ge 5", "--if-match", etag}).exit_code, 0);
  expect_refused({"--increment", "Quantity=-5", "--if", "Quantity ge 5"}, 1, "ConditionNotMet");
  expect_refused({"--increment", "Quantity=-5", "--if-match", etag}, 1, "UpdateConditionNotSatisfied");
  expect_refused({"--increment", "Quantity=-5", "--if", "Quantity ge"}, 1, "InvalidInput");
}

TEST_F(PatchVerb, UpdateAndDeleteTakeAFilterToo) {
  const auto refused = [&](const Words& words) {
    const std::string before = stored();
    const ProgramResult result = run_program(words);
    EXPECT_EQ(result.exit_code, 1) << words[0];
    EXPECT_THAT(result.err, HasSubstr("ConditionNotMet"));
    EXPECT_EQ(stored(), before);
  };
  refused({"update", store_, "Stock", "eu", "0007", "Name=nut", "--if", "Quantity lt 7"});
  refused({"update", store_, "Stock", "eu", "0007", "Name=nut", "--mode", "replace", "--if", "Quantity lt 7"});
  refused({"delete", store_, "Stock", "eu", "0007", "--if", "Quantity lt 7"});
  EXPECT_EQ(run_program({"update", store_, "Stock", "eu", "0007", "Quantity=0", "--if", "Quantity eq 7"}).exit_code, 0);
  EXPECT_EQ(run_program({"update", store_, "Stock", "eu", "0007", "--if", "true", "--content", "Photo=-"}).exit_code,
            2);
  EXPECT_EQ(run_program({"delete", store_, "Stock", "eu", "0007", "--if", "Quantity lt 7"}).exit_code, 0);
  EXPECT_EQ(stored(), "");
}

TEST_F(PatchVerb, AnIncrementThatTheStoredValueCannotTakeIsRefused) {
  expect_refused({"--set", "Name=nut", "--increment", "Note=1"}, 1, "PropertyTypeMismatch");
  expect_refused({"--set", "Name=nut", "--increment", "Quantity=2147483647"}, 1, "IncrementOutOfRange");
  expect_refused({"--increment", "Quantity=many"}, 1, "InvalidInput");
  expect_refused({"--remove", "RowKey"}, 1, "DuplicateKeyPropertySpecified");
}

TEST_F(PatchVerb, OnlyWithInsertAnAbsentEntityIsMade) {
  EXPECT_EQ(patch({"--increment", "Quantity=1"}, "0008").exit_code, 1);
  for (const int count : {1, 2}) {
    const ProgramResult patched = patch({"--increment", "Quantity=1", "--insert", "--json"}, "0008");
    ASSERT_EQ(patched.exit_code, 0) << patched.err;
    EXPECT_EQ(json::parse(patched.out, nullptr, false).value("Quantity", 0), count);
  }
}

TEST_F(PatchVerb, ALineThatMakesNoSenseIsRefused) {
  expect_refused({}, 2, "--set, --remove or --increment");
  expect_refused({"--increment", "Quantity=1", "--insert", "--if", "Quantity ge 5"}, 2, "--if");
  expect_refused({"--increment", "Quantity=1", "--insert", "--if-match", "*"}, 2, "--if-match");
  expect_refused({"--set", "Quantity"}, 1, "NAME=VALUE");
}

TEST_F(PatchVerb, ATypeOfAPropertyThatIsNotGivenIsRefused) {
  expect_refused({"--increment", "Quantity=1", "--type", "quantity=Edm.Int64"}, 1, "\"quantity\"");
  const std::string before = stored();
  const ProgramResult update =
      run_program({"update", store_, "Stock", "eu", "0007", "Name=7", "--type", "name=Edm.String"});
  EXPECT_EQ(update.exit_code, 1);
  EXPECT_THAT(update.err, HasSubstr("\"name\""));
  EXPECT_EQ(stored(), before);
}

}  // namespace
}  // namespace varve::patch_test
