// Goal: the verbs on large values do the same beside a server that has the store open as without one (BX-01, BX-21).
// Method: the same lines run on a served store and on a store of their own. Exit codes, outputs and errors are compared.
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/serve/socket/served_program.h"
#include "tests/tools/run_program.h"
#include "tools/serve/local/value_fields.h"

namespace varve::serve::served_large_value_test {
namespace {

using test::ProgramOptions;
using test::ServedProgram;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using varve::test::content_of;
using varve::test::ProgramResult;
using varve::test::run_program;
using varve::test::ScratchDirectory;
using Words = std::vector<std::string>;

std::string long_content(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>((i * 2'654'435'761U) >> 13U);
  return text;
}

/// Replaces the word STORE by a path.
Words words_at(const std::string& store, Words words) {
  for (std::string& word : words) {
    if (word == "STORE") word = store;
  }
  return words;
}

/// Replaces what differs between two runs: times, ETags, numbers of contents, and the path of the store.
std::string without_times(std::string text, const std::string& store) {
  constexpr std::size_t kTextMax = 65'536;  // a longer output is a content
  if (text.size() > kTextMax) return text;
  for (std::size_t at = text.find(store); at != std::string::npos; at = text.find(store)) {
    text.replace(at, store.size(), "STORE");
  }
  text = std::regex_replace(text, std::regex("datetime'[^']*'|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z"), "TIME");
  text = std::regex_replace(text, std::regex("content [0-9]+,"), "content,");
  return std::regex_replace(text, std::regex("in [0-9.]+ [a-z]+ \\([0-9,]+ rows/s\\)\ndevice .*\n"), "");
}

class ServedLargeValues : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server_.is_ready()) << server_.err();
    EXPECT_EQ(both({"table", "create", "STORE", "People", "--large-values"}).exit_code, 0);
  }

  /// Runs the line on both stores. Returns the result of the served one.
  ProgramResult both(const Words& words, const std::string& input = "") {
    const ProgramResult served = run_program(words_at(server_.data(), words), input);
    const ProgramResult local = run_program(words_at(local_, words), input);
    EXPECT_EQ(served.exit_code, local.exit_code) << words[0] << ": " << served.err << local.err;
    EXPECT_EQ(without_times(served.out, server_.data()), without_times(local.out, local_)) << words[0];
    EXPECT_EQ(without_times(served.err, server_.data()), without_times(local.err, local_)) << words[0];
    return served;
  }
  std::string photo(const std::string& row) {
    return both({"get", "STORE", "People", "p", row, "--content", "Photo"}).out;
  }

  const ServedProgram server_{ProgramOptions{}};
  ScratchDirectory scratch_;
  const std::string local_ = scratch_.path("store");
};

TEST_F(ServedLargeValues, BX01_AreWrittenAndReadAsWithoutAServer) {
  constexpr std::size_t kMebibyte = std::size_t{1} << 20;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kMebibyte, 3 * kMebibyte + 5}) {
    const Words put{"put", "STORE", "People", "p", "a", "Name=Ann", "--content", "Photo=-", "--durability", "sync"};
    EXPECT_EQ(both(put, long_content(bytes)).exit_code, 0) << bytes;
    EXPECT_EQ(photo("a"), long_content(bytes)) << bytes;
  }
  EXPECT_EQ(both({"get", "STORE", "People", "p", "a", "--content", "Photo", "--range", "-5"}).out,
            long_content(3 * kMebibyte + 5).substr(3 * kMebibyte));
  const std::string first = scratch_.file("first", "one");
  const std::string second = scratch_.file("second", long_content(kMebibyte + 1));
  EXPECT_EQ(both({"update", "STORE", "People", "p", "a", "Age=7", "--content", "Photo=" + first, "--content",
                  "Scan=" + second})
                .exit_code,
            0);
  EXPECT_EQ(photo("a"), "one");
  EXPECT_EQ(both({"get", "STORE", "People", "p", "a", "--content", "Scan"}).out, long_content(kMebibyte + 1));
  const ProgramResult shown = both({"get", "STORE", "People", "p", "a", "--json"});
  EXPECT_EQ(nlohmann::json::parse(shown.out, nullptr, false)["Name"], "Ann") << "a merge keeps the others";
  EXPECT_THAT(shown.out, HasSubstr(", 3 bytes\"")) << "the length of the content in place of an address";
  EXPECT_THAT(both({"get", "STORE", "People", "p", "a"}).out, HasSubstr(", 3 bytes  (LargeValue)\n"));
  EXPECT_THAT(both({"get", "STORE", "People", "p", "a", "--select", "Scan,Age"}).out,
              AllOf(HasSubstr(", 1048577 bytes"), Not(HasSubstr("Photo"))));
  EXPECT_EQ(both({"get", "STORE", "People", "p", "none"}).exit_code, 1);
  EXPECT_EQ(both({"put", "STORE", "Made", "p", "a", "--content", "Photo=" + first}).exit_code, 0);
  EXPECT_EQ(both({"get", "STORE", "Made", "p", "a", "--content", "Photo"}).out, "one");
  EXPECT_EQ(both({"put", "STORE", "People", "p", "a", "--content", "Photo=" + first, "--mode", "insert"}).exit_code, 1);
  EXPECT_EQ(both({"update", "STORE", "People", "p", "none", "--content", "Photo=" + first}).exit_code, 1);
  EXPECT_EQ(both({"put", "STORE", "Plain", "p", "a", "V=1"}).exit_code, 0);
  EXPECT_THAT(both({"put", "STORE", "Plain", "p", "a", "--content", "Photo=" + first}).err,
              HasSubstr("--large-values"));
}

TEST_F(ServedLargeValues, BX21_AreImportedAndExportedAsWithoutAServer) {
  scratch_.file("pic", "picture");
  scratch_.file("new", "another");
  const std::string rows = scratch_.file("rows.csv",
                                         "PartitionKey,RowKey,Photo\n"
                                         "p,1,pic\np,1,new\np,2,pic\np,3,pic\np,4,../pic\n");
  const Words import{"import", "STORE", "People", rows, "--type", "Photo=LargeValue", "--contents", scratch_.path("")};
  EXPECT_THAT(both(import).err, HasSubstr("names no file in the directory"));
  EXPECT_EQ(photo("1"), "another");
  EXPECT_EQ(photo("2"), "picture");
  EXPECT_EQ(photo("3"), "picture");
  const std::string directory = scratch_.path("contents");
  const std::string file = scratch_.path("people.jsonl");
  const ProgramResult exported =
      run_program({"export", server_.data(), "People", "--contents", directory, "--output", file});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_EQ(both({"import", "STORE", "Copies", file, "--contents", directory}).exit_code, 0);
  EXPECT_EQ(both({"get", "STORE", "Copies", "p", "3", "--content", "Photo"}).out, "picture");
}

TEST(ValueFields, BX01_ComeBackAsTheyWereSent) {
  const Fields sent{{"id", "7"}, {"length", "18446744073709551615"}};
  const Result<LargeValue> value = large_value_of(sent);
  ASSERT_TRUE(value.ok());
  Fields again;
  add_fields(again, *value);
  EXPECT_EQ(again, sent);
  Fields entity;
  add_fields(entity, EntityFields{"{}", {{"a:b", *value}, {"", *value}}});
  const Result<EntityFields> read = entity_fields_of(entity);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->json, "{}");
  EXPECT_EQ(read->large_values, (std::vector<std::pair<std::string, LargeValue>>{{"a:b", *value}, {"", *value}}));
}

TEST(ValueFields, BX01_MalformedOnesAreRefused) {
  for (const Fields& fields :
       {Fields{}, Fields{{"id", "7"}}, Fields{{"id", "7"}, {"length", "-1"}},
        Fields{{"id", "7"}, {"length", "18446744073709551616"}}, Fields{{"id", ""}, {"length", "1"}}}) {
    EXPECT_EQ(large_value_of(fields).code(), Code::kInvalidArgument);
  }
  for (const char* text : {"", "7", ":", "7:", ":7", "a:1", "1:2:3", "1: 2"}) {
    EXPECT_EQ(entity_fields_of(Fields{{"entity", "{}"}, {"large:Photo", text}}).code(), Code::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace varve::serve::served_large_value_test
