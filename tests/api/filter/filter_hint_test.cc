// Goal: an error about a habit of another language says what a filter has instead.
// Method: the replacement of each hint is put into the filter, which must then be valid.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/filter/filter.h"

namespace varve::filter_hint_test {
namespace {

using ::testing::HasSubstr;

std::string hint_of(const std::string& filter, FilterGrammar grammar = FilterGrammar::kExtended) {
  const Result<Filter> parsed = Filter::parse(filter, grammar);
  EXPECT_FALSE(parsed.ok()) << filter;
  return std::string(parsed.status().hint());
}

/// Returns the first text between backticks.
std::string replacement_in(const std::string& hint) {
  const std::size_t begin = hint.find('`');
  if (begin == std::string::npos) return "";
  return hint.substr(begin + 1, hint.find('`', begin + 1) - begin - 1);
}

TEST(FilterHint, NamesTheWordForEachSymbol) {
  for (const std::string symbol : {"=", "==", "!=", "<>", "<", ">", "<=", ">=", "=<", "=>"}) {
    for (const std::string space : {"", " "}) {
      const std::string word = replacement_in(hint_of("A" + space + symbol + space + "5"));
      EXPECT_TRUE(Filter::parse("A " + word + " 5").ok()) << symbol << ": " << word;
    }
  }
  for (const std::string symbol : {"&&", "||", "&", "|"}) {
    const std::string word = replacement_in(hint_of("A eq 1 " + symbol + " B eq 2"));
    EXPECT_TRUE(Filter::parse("A eq 1 " + word + " B eq 2").ok()) << symbol << ": " << word;
  }
  EXPECT_EQ(replacement_in(hint_of("!A")), "not");
}

TEST(FilterHint, NamesTheLowerCaseOfEachWord) {
  const std::vector<std::string> operators = {"eq", "ne", "gt", "ge", "lt", "le"};
  for (const std::string& word : operators) {
    for (const bool is_first_alone : {false, true}) {
      std::string upper = word;
      upper[0] = static_cast<char>(upper[0] - 'a' + 'A');
      if (!is_first_alone) upper[1] = static_cast<char>(upper[1] - 'a' + 'A');
      EXPECT_EQ(replacement_in(hint_of("A " + upper + " 5")), word);
    }
  }
  EXPECT_EQ(replacement_in(hint_of("A eq 1 AND B eq 2")), "and");
  EXPECT_EQ(replacement_in(hint_of("A eq 1 Or B eq 2")), "or");
  EXPECT_EQ(replacement_in(hint_of("A eq TRUE", FilterGrammar::kService)), "true");
}

TEST(FilterHint, SaysHowToQuoteATextAndWhatReplacesAFunction) {
  EXPECT_THAT(hint_of("A eq \"x\""), HasSubstr("single quotes"));
  EXPECT_THAT(hint_of("A eq Ann", FilterGrammar::kService), HasSubstr("'Ann'"));
  EXPECT_THAT(hint_of("A eq 'O'Brien'"), HasSubstr("two single quotes"));
  for (const std::string filter : {"contains(A, 'x')", "substringof('x', A)", "indexof(A, 'x') eq 1", "A like 'x'",
                                   "startswith(A, 'x')", "A in (1, 2)", "A between 1 and 2", "A eq null"}) {
    EXPECT_FALSE(hint_of(filter, FilterGrammar::kService).empty()) << filter;
  }
  for (const std::string filter :
       {"substringof('x', A)", "indexof(A, 'x') eq 1", "A like 'x'", "A matches 'x'", "tolower(A) eq 'x'",
        "toupper(A) eq 'X'", "A between 1 and 2", "A eq null", "A is null", "A not in (1, 2)", "StartsWith(A, 'x')",
        "ENDSWITH(A, 'x')", "A IN (1, 2)"}) {
    const std::string instead = replacement_in(hint_of(filter));
    EXPECT_TRUE(Filter::parse(instead).ok()) << filter << ": " << instead;
  }
}

TEST(FilterHint, NamesTheWordForNegativeInfinity) {
  for (const std::string filter : {"A gt -Infinity", "A gt -inf"}) {
    EXPECT_EQ(replacement_in(hint_of(filter)), "-INF") << filter;
  }
  EXPECT_TRUE(Filter::parse("A gt -INF").ok());
}

TEST(FilterHint, IsNoPartOfTheMessageAndSurvivesACopyThatNamesAFile) {
  const Status status = Filter::parse("A > 5").status();
  EXPECT_EQ(status.to_string().find("write"), std::string::npos);
  EXPECT_EQ(std::string(status.in_file("x").hint()), std::string(status.hint()));
  EXPECT_TRUE(Status().with_hint("none").ok());
  EXPECT_EQ(Status(Code::kBusy).hint(), "");
}

TEST(FilterHint, IsAbsentWhereNothingIsKnown) {
  EXPECT_EQ(hint_of("A eq 5 )"), "");
  EXPECT_EQ(hint_of("A eq"), "");
}

}  // namespace
}  // namespace varve::filter_hint_test
