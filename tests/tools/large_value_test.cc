// Goal: `varve table create --large-values`, `put --content` and `get --content` move contents of any length whole between
// files and entities, and refuse bad input by name (BX-01, BX-21).
// Method: the program works on a store as a user does. The library reads what it wrote.
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_program.h"
#include "varve/store.h"

namespace varve::large_value_test {
namespace {

using nlohmann::json;
using test::content_of;
using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

std::string uneven_content(std::size_t bytes, std::uint32_t seed = 1) {
  std::string text(bytes, '\0');
  std::uint32_t state = seed;
  for (char& byte : text) {
    state = state * 1'664'525U + 1'013'904'223U;
    byte = static_cast<char>(state >> 24U);
  }
  return text;
}

class LargeValueVerbs : public ::testing::Test {
 protected:
  void SetUp() override {
    EXPECT_EQ(run_program({"table", "create", store_, "People", "--large-values"}).exit_code, 0);
  }

  ProgramResult put(const std::string& row, Words more, const std::string& input = "") const {
    Words words{"put", store_, "People", "p", row};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words, input);
  }
  ProgramResult get(const std::string& row, const Words& more) const {
    Words words{"get", store_, "People", "p", row};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  void put_photo(const std::string& row, const std::string& photo) const {
    const ProgramResult done = put(row, {"Name=Ann", "--content", "Photo=-"}, photo);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, ::testing::StartsWith("W/\""));
  }
  std::string photo(const std::string& row) const { return get(row, {"--content", "Photo"}).out; }

  test::ScratchDirectory scratch_;
  const std::string store_ = scratch_.path("store");
};

TEST_F(LargeValueVerbs, BX01_BringContentsOfEveryLengthBackWhole) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{65'536}, std::size_t{3'200'000}}) {
    const std::string file = scratch_.file("in", uneven_content(bytes));
    EXPECT_EQ(put("a", {"Name=Ann", "--content", "Photo=" + file}).exit_code, 0) << bytes;
    EXPECT_EQ(photo("a"), uneven_content(bytes)) << bytes;
    EXPECT_EQ(get("a", {"--content", "Photo", "--output", scratch_.path("out")}).exit_code, 0) << bytes;
    EXPECT_EQ(content_of(scratch_.path("out")), uneven_content(bytes)) << bytes;
    const json shown = json::parse(get("a", {"--json"}).out, nullptr, false);
    EXPECT_EQ(shown["Name"], "Ann") << bytes;
    EXPECT_EQ(shown["Photo@odata.type"], "LargeValue") << bytes;
  }
}

TEST_F(LargeValueVerbs, BX01_PrintRanges) {
  put_photo("a", "0123456789");
  const auto range = [&](const std::string& words) { return get("a", {"--content", "Photo", "--range", words}); };
  EXPECT_EQ(range("0-3").out, "0123");
  EXPECT_EQ(range("7-").out, "789");
  EXPECT_EQ(range("-4").out, "6789");
  const ProgramResult behind = range("10-");
  EXPECT_EQ(behind.exit_code, 1);
  EXPECT_THAT(behind.err, HasSubstr("the content has 10 bytes"));
  EXPECT_EQ(range("4").exit_code, 2);
}

TEST_F(LargeValueVerbs, BX21_AContentLeavesWithTheLastEntityThatNamesIt) {
  put_photo("a", uneven_content(40'000));
  EXPECT_EQ(put("a", {"Name=Bob", "--mode", "merge"}).exit_code, 0);
  EXPECT_EQ(photo("a"), uneven_content(40'000));
  LargeValue value;
  {
    const Result<std::unique_ptr<Store>> store = Store::open(store_);
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    const Result<Table> people = (*store)->open_table("devstoreaccount1", "People");
    ASSERT_TRUE(people.ok());
    const Result<std::optional<Entity>> entity = people->get("p", "a");
    ASSERT_TRUE(entity.ok() && entity->has_value());
    value = *(*entity)->get<LargeValue>("Photo");
    EXPECT_TRUE((*store)->open_large_value("devstoreaccount1", value.id()).ok());
  }
  EXPECT_EQ(put("a", {"--content", "Photo=-"}, "new").exit_code, 0);
  EXPECT_EQ(photo("a"), "new");
  const Result<std::unique_ptr<Store>> store = Store::open(store_);
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  EXPECT_EQ((*store)->open_large_value("devstoreaccount1", value.id()).status().service_error(), "LargeValueNotFound");
}

TEST_F(LargeValueVerbs, BX01_TheTableIsMadeForThemWhereItIsAbsent) {
  EXPECT_EQ(run_program({"put", store_, "Made", "p", "a", "--content", "Photo=-"}, "x").exit_code, 0);
  EXPECT_EQ(run_program({"get", store_, "Made", "p", "a", "--content", "Photo"}).out, "x");
  EXPECT_EQ(run_program({"table", "create", store_, "Plain"}).exit_code, 0);
  std::vector<std::string> large;
  for (const char* name : {"Made", "People", "Plain"}) {
    const json shown =
        json::parse(run_program({"table", "list", store_, "--prefix", name, "--json"}).out, nullptr, false);
    if (shown.contains("large_values")) large.emplace_back(shown["name"]);
  }
  EXPECT_EQ(large, (std::vector<std::string>{"Made", "People"}));
}

TEST_F(LargeValueVerbs, BX01_RefuseBadInputByName) {
  put_photo("a", "x");
  EXPECT_EQ(run_program({"put", store_, "Plain", "p", "a", "V=1"}).exit_code, 0);
  const std::string file = scratch_.file("in", "y");
  struct Refusal {
    Words words;
    int exit_code;
    const char* part;
  };
  const std::vector<Refusal> refusals = {
      {{"put", store_, "Plain", "p", "b", "--content", "Photo=" + file}, 1, "--large-values"},
      {{"put", store_, "People", "p", "b", "--content", "Photo"}, 1, "NAME=FILE"},
      {{"put", store_, "People", "p", "b", "--content", "Photo="}, 1, "NAME=FILE"},
      {{"put", store_, "People", "p", "b", "--content", "A=" + file, "--content", "A=" + file}, 1, "twice"},
      {{"put", store_, "People", "p", "b", "--content", "A=-", "--content", "B=-"}, 1, "twice"},
      {{"put", store_, "People", "p", "b", "A=1", "--content", "A=" + file}, 1, "\"A\""},
      {{"put", store_, "People", "p", "b", "--content", "A=" + scratch_.path("absent")}, 4, "absent"},
      {{"put", store_, "People", "p", "b", "A=x", "--type", "A=LargeValue"}, 1, "--content"},
      {{"update", store_, "People", "p", "b", "--content", "A=" + file}, 1, "ResourceNotFound"},
      {{"table", "copy", store_, "People", "Copy"}, 1, "export --contents"},
      {{"table", "rename", store_, "People", "Renamed"}, 1, "export --contents"},
      {{"get", store_, "People", "p", "none", "--content", "Photo"}, 1, "none"},
      {{"get", store_, "People", "p", "a", "--content", "Name"}, 1, "LargeValue"},
      {{"get", store_, "People", "p", "a", "--content", "None"}, 1, "None"},
      {{"get", store_, "Peple", "p", "a", "--content", "Photo"}, 1, "did you mean table `People`?"},
      {{"get", store_, "People", "p", "a", "--range", "0-1"}, 2, "--content"},
      {{"get", store_, "People", "p", "a", "--output", file}, 2, "--content"},
      {{"get", store_, "People", "p", "a", "--content", "Photo", "--json"}, 2, "--json"},
      {{"put", "http://127.0.0.1:1", "People", "p", "b", "--content", "A=" + file}, 2, "directory"},
      {{"table", "create", "http://127.0.0.1:1", "People", "--large-values"}, 1, "directory of the store"},
      {{"get", "http://127.0.0.1:1", "People", "p", "a", "--content", "Photo"}, 4, "no answer from"},
      {{"get", store_, "People", "p", "a", "--content", "Photo", "--output", scratch_.path("no/file")}, 4, "no/file"},
      {{"import", store_, "People", scratch_.file("rows.jsonl", "{\"PartitionKey\":\"p\",\"RowKey\":\"x\"}\n"),
        "--load"},
       1,
       "large values"},
  };
  for (const Refusal& refusal : refusals) {
    const ProgramResult result = run_program(refusal.words);
    std::string line;
    for (const std::string& word : refusal.words) line += word + " ";
    EXPECT_EQ(result.exit_code, refusal.exit_code) << line << result.err;
    EXPECT_EQ(result.out, "") << line;
    EXPECT_THAT(result.err, HasSubstr(refusal.part)) << line;
  }
  EXPECT_EQ(photo("a"), "x");
  EXPECT_EQ(content_of(file), "y");
  EXPECT_EQ(get("b", {}).exit_code, 1) << "nothing was written";
}

// -- Import and export ------------------------------------------------------------------------------------------------

TEST_F(LargeValueVerbs, BX01_AnExportBringsContentsToAnotherStore) {
  put_photo("a", uneven_content(100'000));
  put_photo("b", "short");
  EXPECT_EQ(put("c", {"Name=Cem"}).exit_code, 0);
  const std::string directory = scratch_.path("contents/of/people");
  const std::string other = scratch_.path("other");
  const std::vector<std::pair<std::string, Words>> forms = {
      {"jsonl", {}}, {"json", {}}, {"csv", {"--format", "csv", "--typed"}}};
  for (const auto& [form, more] : forms) {
    const std::string file = scratch_.path("people." + form);
    Words words{"export", store_, "People", "--contents", directory, "--output", file};
    if (form == "json") words.insert(words.end(), {"--format", "json"});
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult exported = run_program(words);
    EXPECT_EQ(exported.exit_code, 0) << form << exported.err;
    const std::string table = "From" + form;
    const ProgramResult imported = run_program({"import", other, table, file, "--contents", directory});
    EXPECT_EQ(imported.exit_code, 0) << form << imported.err;
    const auto photo_of = [&](const std::string& row) {
      return run_program({"get", other, table, "p", row, "--content", "Photo"}).out;
    };
    EXPECT_EQ(photo_of("a"), uneven_content(100'000)) << form;
    EXPECT_EQ(photo_of("b"), "short") << form;
    const json last = json::parse(run_program({"get", other, table, "p", "c", "--json"}).out, nullptr, false);
    EXPECT_EQ(last["Name"], "Cem") << form;
    EXPECT_FALSE(last.contains("Photo")) << form;
  }
  const std::string rows = run_program({"export", store_, "People"}).out;
  EXPECT_THAT(rows, HasSubstr("\"Photo\":\"content "));
  const ProgramResult refused =
      run_program({"import", scratch_.path("third"), "People", scratch_.file("rows.jsonl", rows)});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("--contents"));
}

TEST_F(LargeValueVerbs, BX21_RowsWithOneNameShareAContentWhileAnEntityOwnsIt) {
  scratch_.file("pic", "picture");
  scratch_.file("new", "another");
  const std::string directory = scratch_.path("");
  const auto import = [&](const std::string& text) {
    return run_program({"import", store_, "People", scratch_.file("rows.csv", "PartitionKey,RowKey,Photo\n" + text),
                        "--type", "Photo=LargeValue", "--contents", directory});
  };
  const auto shown = [&](const std::string& row) {
    return json::parse(get(row, {"--json"}).out, nullptr, false)["Photo"].get<std::string>();
  };
  const ProgramResult shared = import("p,1,pic\np,2,pic\nq,3,new\n");
  EXPECT_EQ(shared.exit_code, 0) << shared.err;
  EXPECT_EQ(shown("1"), shown("2"));
  EXPECT_EQ(photo("2"), "picture");
  // The last owner of the picture is replaced before the next row names it.
  const ProgramResult replaced = import("p,4,pic\np,4,new\np,5,pic\np,5,new\np,6,pic\n");
  EXPECT_EQ(replaced.exit_code, 0) << replaced.err;
  EXPECT_EQ(photo("4"), "another");
  EXPECT_EQ(photo("6"), "picture");
  EXPECT_EQ(shown("4"), shown("5"));
}

TEST_F(LargeValueVerbs, BX01_ARowReadsNoFileOutsideOfTheDirectory) {
  scratch_.file("secret", "secret");
  const std::string directory = scratch_.path("inside");
  std::filesystem::create_directory(directory);
  std::ofstream(directory + "/pic") << "picture";
  const std::string rows = scratch_.file("rows.csv",
                                         "PartitionKey,RowKey,Name,Photo\n"
                                         "p,1,a,../secret\n"
                                         "p,2,a,inside/../../secret\n"
                                         "p,3,a," +
                                             scratch_.path("secret") +
                                             "\n"
                                             "p,4,a,absent\n"
                                             "p,5,a,.\n"
                                             "p,6,a,pic\n"
                                             "p,7,a,\n");
  const Words words{"import", store_, "People", rows, "--type", "Photo=LargeValue", "--contents", directory};
  const ProgramResult result = run_program(words);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("names no file in the directory of --contents"));
  EXPECT_THAT(result.err, HasSubstr("absent"));
  EXPECT_THAT(result.err, HasSubstr("5 rows were refused"));
  EXPECT_EQ(photo("6"), "picture");
  EXPECT_EQ(get("7", {}).exit_code, 0) << "an empty field is an absent property";
  for (const char* row : {"1", "2", "3", "4", "5"}) EXPECT_EQ(get(row, {}).exit_code, 1) << row;
  Words loaded = words;
  loaded.emplace_back("--load");
  EXPECT_EQ(run_program(loaded).exit_code, 2);
  EXPECT_EQ(run_program({"export", store_, "People", "--contents", directory + "/pic"}).exit_code, 4);
}

}  // namespace
}  // namespace varve::large_value_test
