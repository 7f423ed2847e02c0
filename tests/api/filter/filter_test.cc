// Goal: `$filter` is parsed and evaluated by the rules, each named.
// Method: the examples and truth tables of the rules, and random filters and entities compared with a slow evaluation.
// Every key that matches must be in the plan.
#include "api/filter/filter.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/filter/key_plan.h"
#include "api/model/entity_codec.h"
#include "format/keys/sort_key.h"
#include "tests/api/filter/slow_filter.h"
#include "tests/support/effort.h"
#include "tests/support/entity_bytes.h"

namespace varve::filter_test {
namespace {

constexpr format::TableId kTable = format::make_table_id(3, 4);

bool matches(const Filter& filter, const Entity& entity) {
  const std::string bytes = test::encoded_properties(entity);
  const auto view = format::EncodedEntity::open(bytes);
  EXPECT_TRUE(view.ok());
  return filter.matches({entity.partition_key(), entity.row_key(), entity.timestamp().ticks, *view});
}

bool matches(std::string_view text, const Entity& entity) {
  const Result<Filter> filter = Filter::parse(text);
  EXPECT_TRUE(filter.ok()) << text << ": " << filter.status().to_string();
  return filter.ok() && matches(*filter, entity);
}

/// Returns "InvalidInput 7": the error and the character that the message names.
std::string refusal(std::string_view text, FilterGrammar grammar = FilterGrammar::kService) {
  const Result<Filter> filter = Filter::parse(text, grammar);
  if (filter.ok()) return "accepted";
  const std::string message(filter.status().message());
  const std::string key = "character ";
  const std::size_t at = message.find(key);
  const std::string place =
      at == std::string::npos ? "" : " " + std::to_string(std::stoi(message.substr(at + key.size())));
  return std::string(filter.status().service_error()) + place;
}

Entity sample() {
  return Entity("p", "r").set("A", 3).set("B", "x");
}

TEST(FilterText, Q02_BlankMatchesEverything) {
  EXPECT_TRUE(matches("", sample()));
  EXPECT_TRUE(matches("   ", sample()));
}

TEST(FilterText, Q11_AndBindsTighterThanOrAndNotTighterThanBoth) {
  EXPECT_TRUE(matches("true or false and false", sample()));
  EXPECT_FALSE(matches("(true or false) and false", sample()));
  EXPECT_TRUE(matches("not false and true", sample()));
  EXPECT_FALSE(matches("not (false or true)", sample()));
  EXPECT_TRUE(matches("not A eq 1", sample()));
  EXPECT_TRUE(matches("not(A eq 1)and(B eq 'x')", sample()));
  EXPECT_TRUE(matches("not not A eq 3", sample()));
}

TEST(FilterText, Q12_X08_KeywordsAreLowerCase) {
  EXPECT_EQ(refusal("A Eq 3"), "InvalidInput 3");
  EXPECT_EQ(refusal("A eq 3 AND B eq 'x'"), "InvalidInput 8");
  EXPECT_FALSE(matches("TRUE", sample()));  // a missing property
  EXPECT_TRUE(matches("TRUE", Entity("p", "r").set("TRUE", true)));
}

TEST(FilterText, Q13_OneSideIsAPropertyAndTheOtherALiteral) {
  EXPECT_TRUE(matches("2 lt A", sample()));
  EXPECT_FALSE(matches("3 lt A", sample()));
  EXPECT_TRUE(matches("3 le A", sample()));
  EXPECT_TRUE(matches("'x' eq B", sample()));
  EXPECT_EQ(refusal("A eq B"), "NotImplemented 1");
  EXPECT_EQ(refusal("1 eq 1"), "NotImplemented 1");
  EXPECT_EQ(refusal("true eq true"), "NotImplemented 1");
}

TEST(FilterText, Q14_ABarePropertyIsOneThatEqualsTrue) {
  EXPECT_FALSE(matches("A", sample()));
  EXPECT_FALSE(matches("B", sample()));
  EXPECT_FALSE(matches("C", sample()));
  EXPECT_TRUE(matches("C and (true and PartitionKey eq 'p')", sample().set("C", true)));
}

TEST(FilterText, X15_WhiteSpaceIsSpaceTabCrAndLfAndNoneIsNeededBesideQuotesAndParentheses) {
  for (const char* const text :
       {"PartitionKey eq 'p'and A eq 3", "PartitionKey eq'p'and(A eq 3)", "'p'eq PartitionKey and 3 eq(A)",
        "not(A eq 4)and(B eq'x')or false", "\tA\teq\r\n3\n", "A eq 3 and\tnot\r\n(B eq 'y')\t",
        "datetime'2026-03-03T10:20:30Z'gt Timestamp and'x'eq B"}) {
    EXPECT_TRUE(matches(text, sample())) << text;
  }
  EXPECT_TRUE(matches("\t\r\n", sample()));
  EXPECT_EQ(refusal("A eq 3and B eq 'x'"), "InvalidInput 6");
  EXPECT_EQ(refusal("A\veq 3"), "InvalidInput 2");
  EXPECT_EQ(refusal("A\xC2\xA0"
                    "eq 3"),
            "InvalidInput 1");
  EXPECT_EQ(refusal("B eq texts'x'"), "InvalidInput 6");
}

TEST(FilterText, X15_OperandsStandInParenthesesOnEitherSide) {
  for (const char* const text :
       {"(A) eq 3", "A eq (3)", "((A)) eq ( ( 3 ) )", "(3) eq (A)", "((A) eq 3)", "not (A) eq 4", "(B)eq('x')",
        "(A eq 3) and (B) eq 'x'", "((true) and (A) eq (3))", "(false) or ((A)ge(3))"}) {
    EXPECT_TRUE(matches(text, sample())) << text;
  }
  EXPECT_TRUE(matches("(C) and (A) eq 3", sample().set("C", true)));
  EXPECT_TRUE(matches("((C))", sample().set("C", true)));
  EXPECT_TRUE(matches("(C) eq true", sample().set("C", true)));
  EXPECT_EQ(refusal("(A eq 3) eq true"), "InvalidInput 10");
  EXPECT_EQ(refusal("A eq (B eq 3)"), "InvalidInput 6");
  EXPECT_EQ(refusal("A eq (3"), "InvalidInput 6");
  EXPECT_EQ(refusal("A eq 3)"), "InvalidInput 7");
  EXPECT_EQ(refusal("(A) eq (B)"), "NotImplemented 2");
  EXPECT_EQ(refusal("(A) add 1 eq 4"), "NotImplemented 5");
  EXPECT_EQ(refusal("A eq (3 add 1)"), "NotImplemented 9");
  EXPECT_EQ(refusal("A eq (3) add 1"), "NotImplemented 10");
  EXPECT_EQ(refusal("(3)"), "InvalidInput 4");
  const std::string deep(200, '(');
  const std::string up(200, ')');
  EXPECT_TRUE(matches(deep + "A" + up + " eq 3", sample()));
  EXPECT_TRUE(matches("A eq " + deep + "3" + up, sample()));
  EXPECT_EQ(refusal("A eq " + std::string(300, '(') + "3" + std::string(300, ')')), "InvalidInput 262");
}

TEST(FilterText, X24_ABareSystemPropertyIsNoCondition) {
  for (const char* const name : {"PartitionKey", "RowKey", "Timestamp"}) {
    const std::string text = name;
    EXPECT_EQ(refusal(text), "InvalidInput 1");
    EXPECT_EQ(refusal("(" + text + ")"), "InvalidInput 2");
    EXPECT_EQ(refusal("not " + text), "InvalidInput 5");
    EXPECT_EQ(refusal("A eq 3 or " + text + " and true"), "InvalidInput 11");
    EXPECT_FALSE(matches(text + " eq true", sample())) << "a comparison stays one (Q-26)";
  }
}

TEST(FilterText, X16_DatesMayLeaveOutSecondsOrTheirTime) {
  const Entity entity = Entity("p", "r").set("D", *DateTime::parse("2026-03-03T00:00:00Z"));
  EXPECT_TRUE(matches("D eq datetime'2026-03-03'", entity));
  EXPECT_TRUE(matches("D eq datetime'2026-03-03T00:00'", entity));
  EXPECT_TRUE(matches("D eq datetime'2026-03-03T01:00+01:00'", entity));
  EXPECT_TRUE(matches("D lt datetime'2026-03-03T00:01Z'", entity));
  for (const char* const text : {"2026-03", "2026-03-03T", "2026-03-03T10", "2026-03-03T10:20:", "2026-03-03T10:20.5",
                                 "2026-03-03Z", "2026-03-03T10:2"}) {
    EXPECT_EQ(refusal("D eq datetime'" + std::string(text) + "'"), "InvalidInput 6") << text;
  }
}

TEST(FilterText, Q15_ThereIsNoNull) {
  EXPECT_EQ(refusal("A eq null"), "InvalidInput 6");
  EXPECT_EQ(refusal("null ne A"), "InvalidInput 1");
}

TEST(FilterText, Q16_FunctionsAndArithmeticAreNotImplemented) {
  EXPECT_EQ(refusal("startswith(B,'x')"), "NotImplemented 1");
  EXPECT_EQ(refusal("A eq 3 or substringof('x',B)"), "NotImplemented 11");
  EXPECT_EQ(refusal("A add 1 eq 4"), "NotImplemented 3");
  EXPECT_EQ(refusal("A eq 4 sub 1"), "NotImplemented 8");
}

TEST(FilterText, Q17_ErrorsNameTheCharacter) {
  EXPECT_EQ(refusal("A eq"), "InvalidInput 5");
  EXPECT_EQ(refusal("A eq 3 B"), "InvalidInput 8");
  EXPECT_EQ(refusal("(A eq 3"), "InvalidInput 1");
  EXPECT_EQ(refusal("A eq 3)"), "InvalidInput 7");
  EXPECT_EQ(refusal("()"), "InvalidInput 2");
  EXPECT_EQ(refusal("and A"), "InvalidInput 1");
  EXPECT_EQ(refusal("A and"), "InvalidInput 6");
  EXPECT_EQ(refusal("not"), "InvalidInput 4");
  EXPECT_EQ(refusal("B eq 'x"), "InvalidInput 6");
  EXPECT_EQ(refusal("B eq 'x'' and A eq 3"), "InvalidInput 6");
  EXPECT_EQ(refusal("B eq X'0'"), "InvalidInput 6");
  EXPECT_EQ(refusal("B eq X'0g'"), "InvalidInput 6");
  EXPECT_EQ(refusal("B eq datetime'2026-13-03'"), "InvalidInput 6");
  EXPECT_EQ(refusal("B eq guid'0F1E2D3C000040008000 00000000abcd'"), "InvalidInput 6");
  EXPECT_EQ(refusal("B eq guid'0F1E2D3C00004000800000000000abcd'"), "InvalidInput 6");
  EXPECT_EQ(refusal("B eq time'1'"), "InvalidInput 6");
  EXPECT_EQ(refusal("A eq 3and B"), "InvalidInput 6");
  EXPECT_EQ(refusal("B eq 'x'and"), "InvalidInput 12");
  EXPECT_EQ(refusal("'\xC3\xA4\xF0\x9F\x98\x80' ne B and ?"), "InvalidInput 15") << "characters, not bytes";
  EXPECT_EQ(refusal("A eq '\xFF'"), "InvalidInput");
}

TEST(FilterText, Q18_IntegersKeepTheirRange) {
  EXPECT_EQ(refusal("A eq 2147483648"), "InvalidInput 6");
  EXPECT_EQ(refusal("A eq -2147483649"), "InvalidInput 6");
  EXPECT_TRUE(matches("A le 2147483647 and A gt -2147483648", sample()));
  EXPECT_TRUE(matches("A lt 2147483648L", sample()));
  EXPECT_EQ(refusal("A eq 9223372036854775808L"), "InvalidInput 6");
  EXPECT_EQ(refusal("A eq 1e999"), "InvalidInput 6");
}

TEST(FilterText, Q19_DatesWithoutZoneAreUtcAndOffsetsAreConverted) {
  const Entity entity = Entity("p", "r").set("D", *DateTime::parse("2026-03-03T10:20:30Z"));
  EXPECT_TRUE(matches("D eq datetime'2026-03-03T10:20:30'", entity));
  EXPECT_TRUE(matches("D eq datetime'2026-03-03T11:20:30+01:00'", entity));
  EXPECT_FALSE(matches("D eq datetime'2026-03-03T10:20:30.0000001Z'", entity));
  EXPECT_EQ(refusal("D eq datetime'1500-01-01T00:00:00Z'"), "InvalidInput 6");
}

TEST(FilterText, LiteralsOfEveryForm) {
  EXPECT_TRUE(matches("B eq 'O''Brien'", Entity("p", "r").set("B", "O'Brien")));
  EXPECT_TRUE(matches("B eq ''", Entity("p", "r").set("B", "")));
  EXPECT_TRUE(matches("A eq -7", Entity("p", "r").set("A", -7)));
  EXPECT_TRUE(matches("A eq 7L and A eq 7l", Entity("p", "r").set("A", std::int64_t{7})));
  const Entity two = Entity("p", "r").set("A", 2.0);
  for (const char* const text : {"2D", "2d", "2.0", "2e0", "2E+0", "20e-1", "2.0D", "0.2e1d"}) {
    EXPECT_TRUE(matches(std::string("A eq ") + text, two)) << text;
  }
  for (const char* const text : {"2.", ".2", "2e", "2e+", "2DD", "0x2", "--2", "2L0", "-", "1_000"}) {
    EXPECT_EQ(refusal(std::string("A eq ") + text).substr(0, 12), "InvalidInput") << text;
  }
  EXPECT_TRUE(matches("G eq guid'0F1E2D3C-0000-4000-8000-00000000abcd'",
                      Entity("p", "r").set("G", *Guid::parse("0f1e2d3c-0000-4000-8000-00000000ABCD"))));
  EXPECT_TRUE(matches("A eq X'0aFF' and A eq x'0AFF' and A eq binary'0aff' and A gt X''",
                      Entity("p", "r").set("A", Binary{"\x0A\xFF"})));
}

/// Describes a parsed filter, or its refusal. A space at the end changes nothing of it.
std::string described(std::string_view text, FilterGrammar grammar) {
  const Result<Filter> filter = Filter::parse(text, grammar);
  if (!filter.ok()) return refusal(text, grammar);
  std::string described = std::to_string(filter->nodes().size()) + " nodes, " +
                          std::to_string(filter->comparison_count()) + " counted, " +
                          (filter->names_keys() ? "keys, " : "") + (filter->is_extended() ? "extended, " : "") +
                          std::string(filter->text_of(static_cast<std::uint32_t>(filter->nodes().size() - 1)));
  for (const Comparison& comparison : filter->comparisons()) {
    const std::string* const literal = comparison.literal.get_if<std::string>();
    described += "; " + comparison.property + " " + std::to_string(comparison.property_hash) + " subject " +
                 std::to_string(static_cast<int>(comparison.subject)) + " kind " +
                 std::to_string(static_cast<int>(comparison.kind)) + " operator " +
                 std::to_string(static_cast<int>(comparison.compare)) + " " +
                 (literal == nullptr ? std::string("no text") : "text " + *literal);
  }
  return described;
}

TEST(FilterText, AComparisonWithATextIsReadAsEveryOtherFilter) {
  const std::vector<std::string> names = {"A",
                                          "_a1",
                                          "B2_",
                                          "PartitionKey",
                                          "RowKey",
                                          "Timestamp",
                                          "add",
                                          "in",
                                          "NaN",
                                          "INF",
                                          "true",
                                          "false",
                                          "null",
                                          "and",
                                          "eq",
                                          "not",
                                          "1A",
                                          "A-B",
                                          "",
                                          "\xC3\xA9",
                                          std::string(255, 'n'),
                                          std::string(256, 'n')};
  const std::vector<std::string> operators = {" eq ", " ne ",  " gt ",  " ge ", " lt ", " le ", " xx ",
                                              " EQ ", "  eq ", " eq  ", "eq ",  " eq",  " in ", " add "};
  const std::vector<std::string> literals = {"''",
                                             "'x'",
                                             "'O''Brien'",
                                             "'x",
                                             "x'",
                                             "'",
                                             "'''",
                                             "''''",
                                             "'\xC3\xA9'",
                                             "'\xC3'",
                                             "'a' and B eq 'b'",
                                             "'a' 'b'",
                                             "('a')",
                                             "1",
                                             "B",
                                             "X'0a'",
                                             "guid'x'",
                                             "'" + std::string(300, 'k') + "'"};
  for (const FilterGrammar grammar : {FilterGrammar::kService, FilterGrammar::kExtended}) {
    for (const std::string& name : names) {
      for (const std::string& with : operators) {
        for (const std::string& literal : literals) {
          const std::string text = name + with + literal;
          EXPECT_EQ(described(text, grammar), described(text + " ", grammar)) << text;
        }
      }
    }
  }
  EXPECT_EQ(described("A eq 'x'", FilterGrammar::kService).substr(0, 32), "1 nodes, 1 counted, A eq 'x'; A ");
}

TEST(FilterText, Q21_ValuesOfOneTypeAreOrdered) {
  const Entity entity = Entity("p", "r").set("B", "b").set("T", false).set("X", Binary{"\x7F"});
  EXPECT_TRUE(matches("B gt 'B' and B lt 'bB' and B gt ''", entity));
  EXPECT_TRUE(matches("B lt '\xF0\x9F\x98\x80' and B lt '\xEF\xBF\xBD'", entity));
  EXPECT_TRUE(matches("B lt '\xEF\xBF\xBD'", Entity("p", "r").set("B", "\xF0\x9F\x98\x80"))) << "by code unit";
  EXPECT_TRUE(matches("T lt true and T ge false", entity));
  EXPECT_TRUE(matches("X lt X'80' and X gt X'7E' and X lt X'7F00'", entity));
}

TEST(FilterText, Q22_WhatIsNotANumberIsUnequalToAll) {
  const Entity entity = Entity("p", "r").set("A", std::numeric_limits<double>::quiet_NaN()).set("B", -0.0);
  EXPECT_TRUE(matches("A ne 1.0 and A ne NaN", entity));
  EXPECT_FALSE(matches("A eq NaN or A lt 1.0 or A ge 1.0 or A le 3 or A gt 3L", entity));
  EXPECT_TRUE(matches("B eq 0.0", entity));
  EXPECT_TRUE(matches("B lt INF and B gt -INF", entity));
}

TEST(FilterText, Q20_Q23_Q25_TheTruthTable) {
  EXPECT_TRUE(matches("A eq 3", sample()));
  EXPECT_FALSE(matches("A eq 3L", sample()));
  EXPECT_TRUE(matches("A le 3.0", sample()));
  EXPECT_FALSE(matches("B eq 3", sample()));
  EXPECT_TRUE(matches("A gt 2 and not (C ge 0 or C lt 0)", sample()));
  EXPECT_FALSE(matches("C ne 'q'", sample()));
  EXPECT_TRUE(matches("not (C eq 'q')", sample()));
  EXPECT_TRUE(matches("B gt 'X'", sample()));
  EXPECT_TRUE(matches("B ne 3", sample()));
  EXPECT_TRUE(matches("A lt 3L", sample()));
  EXPECT_FALSE(matches("A ge 3L", sample()));
  EXPECT_TRUE(matches("A ne '3'", sample()));
}

TEST(FilterText, Q26_KeysAreStrings) {
  EXPECT_FALSE(matches("PartitionKey eq 5", sample()));
  EXPECT_TRUE(matches("PartitionKey ne 5 and RowKey lt 5", sample()));
}

// The extended grammar.

std::string extended_refusal(std::string_view text) {
  return refusal(text, FilterGrammar::kExtended);
}

TEST(FilterExtensions, AreRefusedByTheGrammarOfTheService) {
  EXPECT_EQ(refusal("startswith(B,'x')"), "NotImplemented 1");
  EXPECT_EQ(refusal("A eq 3 and (exists(B))"), "NotImplemented 13");
  EXPECT_EQ(refusal("equals_ignoring_case(B,'x')"), "NotImplemented 1");
  EXPECT_EQ(refusal("A in (1,2)"), "InvalidInput 3");
  EXPECT_EQ(refusal("A eq 1,2"), "InvalidInput 7");
  EXPECT_EQ(refusal("A eq 1 ,2"), "InvalidInput 8");
  EXPECT_EQ(refusal("A lt B"), "NotImplemented 1");
  EXPECT_FALSE((*Filter::parse("A eq 3 and (B eq 'x')")).is_extended());
  for (const char* const text : {"exists(A)", "A in (1)", "A eq B", "A eq 3 or contains(B, 'x')"})
    EXPECT_TRUE((*Filter::parse(text)).is_extended()) << text;
}

TEST(FilterExtensions, FunctionsLookIntoTexts) {
  const Entity entity = Entity("part", "row").set("B", "Grüße aus Köln").set("A", 3).set("E", "");
  for (const char* const text :
       {"startswith(B,'Grü')", "startswith( B ,\t'' )", "endswith(B,'Köln')", "contains(B,'ße a')", "contains(B,'')",
        "contains(E,'')", "endswith(B,'')", "startswith(PartitionKey,'pa')", "endswith(RowKey,'w')",
        "not startswith(B,'grü')", "A eq 3 and(contains(B,'aus'))and true", "equals_ignoring_case(RowKey,'rOw')",
        "contains(B,'x')or contains(B,'K')", "startswith(B,'Grüße aus Köln')"}) {
    EXPECT_TRUE(matches(text, entity)) << text;
  }
  for (const char* const text : {"startswith(B,'grü')", "startswith(B,'Grüße aus Köln ')", "endswith(B,'koln')",
                                 "contains(B,'AUS')", "contains(E,'a')", "endswith(E,'a')"}) {
    EXPECT_FALSE(matches(text, entity)) << text;
  }
}

TEST(FilterExtensions, Q20_Q23_AFunctionIsFalseForOtherTypesAndAbsentProperties) {
  const Entity entity = Entity("p", "r").set("A", 3).set("X", Binary{"x"}).set("T", true).set("D", 1.5);
  for (const std::string function : {"startswith", "endswith", "contains", "equals_ignoring_case"}) {
    for (const std::string property : {"A", "X", "T", "D", "Timestamp", "Missing"}) {
      const std::string text = function + "(" + property + ",'')";
      EXPECT_FALSE(matches(text, entity)) << text;
      EXPECT_TRUE(matches("not " + text, entity)) << text;
    }
  }
}

TEST(FilterExtensions, OnlyAToZAreEqualInBothLetterCases) {
  const Entity entity = Entity("p", "r").set("B", "Ärger@[`{Z");
  EXPECT_TRUE(matches("equals_ignoring_case(B,'ÄRGER@[`{z')", entity));
  EXPECT_FALSE(matches("equals_ignoring_case(B,'ärger@[`{Z')", entity));
  EXPECT_FALSE(matches("equals_ignoring_case(B,'Ärger`{@[Z')", entity)) << "these differ by 32, too";
  EXPECT_FALSE(matches("equals_ignoring_case(B,'Ärger@[`{')", entity));
}

TEST(FilterExtensions, ExistsIsTrueForEveryType) {
  const Entity entity = sample().set("X", Binary{""}).set("E", "");
  for (const char* const name : {"A", "B", "X", "E", "PartitionKey", "RowKey", "Timestamp"}) {
    EXPECT_TRUE(matches(std::string("exists(") + name + ")", entity)) << name;
    EXPECT_FALSE(matches(std::string("not(exists( ") + name + " ))", entity)) << name;
  }
  EXPECT_FALSE(matches("exists(Missing)", entity));
}

TEST(FilterExtensions, Q24_AListIsTheSameAsItsComparisons) {
  EXPECT_TRUE(matches("A in (1,2,3)", sample()));
  EXPECT_TRUE(matches("B in ('a','x',3)and A in(3)", sample()));
  EXPECT_FALSE(matches("A in (3L, 3.0, '3')", sample()));
  EXPECT_TRUE(matches("A in (1, 3L, -INF)", Entity("p", "r").set("A", std::int64_t{3})));
  EXPECT_TRUE(matches("A in (NaN, 0.0)", Entity("p", "r").set("A", -0.0)));
  EXPECT_FALSE(matches("A in (NaN, INF)", Entity("p", "r").set("A", std::numeric_limits<double>::quiet_NaN())));
  EXPECT_TRUE(matches("(C)in(true,datetime'2026-03-03')", sample().set("C", true)));
  EXPECT_FALSE(matches("C in (1)", sample()));
  EXPECT_TRUE(matches("not C in (1)", sample()));
  EXPECT_TRUE(matches("PartitionKey in ('q','p') and RowKey in ('r', 5)", sample()));
  EXPECT_TRUE(matches("in in ('x') and in eq 'x'", Entity("p", "r").set("in", "x"))) << "`in` is no reserved word";
}

TEST(FilterExtensions, Q25_TwoPropertiesAreComparedAsWithALiteral) {
  const Entity entity = Entity("p", "r")
                            .set("I", 3)
                            .set("L", std::int64_t{4})
                            .set("D", 3.5)
                            .set("S", "p")
                            .set("X", Binary{"p"})
                            .set("N", std::numeric_limits<double>::quiet_NaN());
  for (const char* const text :
       {"L gt I", "I lt L", "I lt D", "D gt I", "D lt L", "S eq PartitionKey", "RowKey gt PartitionKey", "I eq I",
        "I ne S", "S ne X", "X lt S", "S lt X", "N ne N", "(I) lt (L)", "Timestamp le Timestamp"}) {
    EXPECT_TRUE(matches(text, entity)) << text;
  }
  for (const char* const text : {"I eq L", "I ge L", "I ge D", "S eq X", "S gt X", "N eq N", "I eq Missing",
                                 "Missing ne I", "Missing eq Missing", "Timestamp gt S"}) {
    EXPECT_FALSE(matches(text, entity)) << text;
  }
}

TEST(FilterExtensions, ErrorsNameTheCharacter) {
  EXPECT_EQ(extended_refusal("startswith(B, 5)"), "InvalidInput 15");
  EXPECT_EQ(extended_refusal("startswith(B, X'00')"), "InvalidInput 15");
  EXPECT_EQ(extended_refusal("startswith(B, true)"), "InvalidInput 15");
  EXPECT_EQ(extended_refusal("startswith(B, C)"), "InvalidInput 15");
  EXPECT_EQ(extended_refusal("startswith('x', B)"), "InvalidInput 12");
  EXPECT_EQ(extended_refusal("startswith(true, 'x')"), "InvalidInput 12");
  EXPECT_EQ(extended_refusal("startswith(B)"), "InvalidInput 13");
  EXPECT_EQ(extended_refusal("startswith(B,'x','y')"), "InvalidInput 17");
  EXPECT_EQ(extended_refusal("startswith(B,'x'"), "InvalidInput 17");
  EXPECT_EQ(extended_refusal("startswith((B),'x')"), "InvalidInput 12");
  EXPECT_EQ(extended_refusal("exists(A,'x')"), "InvalidInput 9");
  EXPECT_EQ(extended_refusal("exists()"), "InvalidInput 8");
  EXPECT_EQ(extended_refusal("exists(A) eq true"), "InvalidInput 11");
  EXPECT_EQ(extended_refusal("A eq exists(B)"), "InvalidInput 6");
  EXPECT_EQ(extended_refusal("tolower(B) eq 'x'"), "NotImplemented 1");
  EXPECT_EQ(extended_refusal("StartsWith(B,'x')"), "NotImplemented 1");
  EXPECT_EQ(extended_refusal("A in 1"), "InvalidInput 6");
  EXPECT_EQ(extended_refusal("A in ()"), "InvalidInput 7");
  EXPECT_EQ(extended_refusal("A in (1,)"), "InvalidInput 9");
  EXPECT_EQ(extended_refusal("A in (1 2)"), "InvalidInput 9");
  EXPECT_EQ(extended_refusal("A in (B)"), "InvalidInput 7");
  EXPECT_EQ(extended_refusal("A in ((1))"), "InvalidInput 7");
  EXPECT_EQ(extended_refusal("A in (null)"), "InvalidInput 7");
  EXPECT_EQ(extended_refusal("1 in (1)"), "InvalidInput 1");
  EXPECT_EQ(extended_refusal("A in (1"), "InvalidInput 8");
  EXPECT_EQ(extended_refusal("A eq 1, B eq 2"), "InvalidInput 7");
  EXPECT_EQ(extended_refusal("1 eq 1"), "NotImplemented 1");
  EXPECT_EQ(extended_refusal("exists(" + std::string(300, 'n') + ")"), "InvalidInput 8");
}

TEST(FilterExtensions, AListHasABoundAndEachOfItsValuesCounts) {
  const auto list_of = [](std::size_t values) {
    std::string text = "A in (0";
    for (std::size_t i = 1; i < values; ++i) text += "," + std::to_string(i % 1000);
    return text + ")";
  };
  const Result<Filter> longest = Filter::parse(list_of(Filter::kListValuesMax) + " and B eq 'x'");
  ASSERT_TRUE(longest.ok()) << longest.status().to_string();
  EXPECT_EQ(longest->comparison_count(), Filter::kListValuesMax + 1);
  EXPECT_TRUE(matches(*longest, sample()));
  EXPECT_EQ(extended_refusal(list_of(Filter::kListValuesMax + 1)).substr(0, 12), "InvalidInput");
}

TEST(FilterExtensions, SearchTakesLinearTimeForTheWorstText) {
  const Entity entity = Entity("p", "r").set("B", std::string(32'000, 'a'));
  const std::string half(16'000, 'a');
  EXPECT_FALSE(matches("contains(B,'" + half + "b')", entity));
  EXPECT_FALSE(matches("contains(B,'b" + half + "')", entity));
  EXPECT_TRUE(matches("contains(B,'" + half + "')", entity));
}

TEST(FilterText, HostileTextsAreRefusedInBoundedTimeAndMemory) {
  EXPECT_EQ(refusal(std::string(8192, '(')), "InvalidInput 257");
  EXPECT_EQ(refusal(std::string(33'000, ' ')), "InvalidInput");
  std::string nots;
  for (int i = 0; i < 1000; ++i) nots += "not ";
  EXPECT_EQ(refusal(nots + "A").substr(0, 12), "InvalidInput");
  std::string flat = "A eq 1";
  while (flat.size() < 32'000) flat += " or A eq 1 and B";
  EXPECT_EQ(refusal(flat), "accepted") << "neither operator nests";
}

// The plan.

KeyRange whole() {
  const std::string begin = format::encode_table(kTable);
  return {begin, format::end_of_prefix(begin), false};
}

std::vector<KeyRange> plan(std::string_view text) {
  const Result<Filter> filter = Filter::parse(text);
  EXPECT_TRUE(filter.ok()) << text << ": " << filter.status().to_string();
  return plan_keys(*filter, kTable, whole()).ranges;
}

std::string partition(std::string_view key) {
  return *format::encode_partition(kTable, key);
}
std::string key(std::string_view partition_key, std::string_view row_key) {
  return *format::encode_sort_key(kTable, partition_key, row_key);
}
KeyRange point(std::string_view partition_key, std::string_view row_key) {
  return {key(partition_key, row_key), format::end_of_prefix(key(partition_key, row_key)), true};
}

using Ranges = std::vector<KeyRange>;

TEST(KeyPlan, Q31_FindsPointRangePartitionAndTable) {
  EXPECT_EQ(plan("PartitionKey eq 'p' and RowKey eq 'r' and A gt 3"), (Ranges{point("p", "r")}));
  EXPECT_EQ(plan("RowKey ge 'a' and PartitionKey eq 'p' and RowKey lt 'b'"),
            (Ranges{{key("p", "a"), key("p", "b"), false}}));
  EXPECT_EQ(plan("PartitionKey eq 'p' and A eq 3"),
            (Ranges{{partition("p"), format::end_of_prefix(partition("p")), false}}));
  EXPECT_EQ(plan("PartitionKey ge 'ab' and PartitionKey lt 'ac'"), (Ranges{{partition("ab"), partition("ac"), false}}));
  EXPECT_EQ(plan("PartitionKey gt 'p' and RowKey eq 'r'"),
            (Ranges{{format::end_of_prefix(partition("p")), whole().upper, false}}));
  for (const char* const text : {"", "A eq 3", "RowKey eq 'r'", "not (PartitionKey eq 'p')",
                                 "PartitionKey eq 'p' or A eq 3", "PartitionKey ne 'p'", "true"}) {
    EXPECT_EQ(plan(text), (Ranges{whole()})) << text;
  }
}

TEST(KeyPlan, Q32_ADisjunctionOfKeysIsAsManyPoints) {
  EXPECT_EQ(plan("(PartitionKey eq 'p' and RowKey eq 'b') or (PartitionKey eq 'p' and RowKey eq 'a')"),
            (Ranges{point("p", "a"), point("p", "b")}));
  EXPECT_EQ(plan("PartitionKey eq 'p' and (RowKey eq 'b' or RowKey eq 'a' or RowKey eq 'b')"),
            (Ranges{point("p", "a"), point("p", "b")}));
  std::string fifty = "RowKey eq '0'";
  for (int i = 1; i < 50; ++i) fifty += " or RowKey eq '" + std::to_string(i) + "'";
  EXPECT_EQ(plan("PartitionKey eq 'p' and (" + fifty + ")").size(), 50U);
}

TEST(KeyPlan, Q32_AListOfKeysIsAsManyPointsInOrderAndEachOnce) {
  EXPECT_EQ(plan("PartitionKey eq 'p' and RowKey in ('b', 5, 'a', 'b', X'00')"),
            (Ranges{point("p", "a"), point("p", "b")}));
  EXPECT_EQ(plan("PartitionKey in ('q','p') and RowKey in ('b','a')"),
            (Ranges{point("p", "a"), point("p", "b"), point("q", "a"), point("q", "b")}));
  EXPECT_EQ(plan("PartitionKey in ('b','a') and A eq 3"),
            (Ranges{{partition("a"), format::end_of_prefix(partition("a")), false},
                    {partition("b"), format::end_of_prefix(partition("b")), false}}));
  EXPECT_TRUE(plan("PartitionKey in (5, true)").empty());
  EXPECT_EQ(plan("not (PartitionKey in ('p'))"), (Ranges{whole()}));
  const Result<Filter> filter = Filter::parse("PartitionKey eq 'p' and RowKey in ('a','b') and A eq 3");
  EXPECT_EQ(plan_keys(*filter, kTable, whole()).residual.text(), "A eq 3");
}

TEST(KeyPlan, Q31_APrefixOfAKeyIsARange) {
  std::string prefix = partition("p");
  EXPECT_TRUE(format::append_text_prefix(prefix, "a\xEF\xBF\xBD").ok());
  EXPECT_EQ(plan("PartitionKey eq 'p' and startswith(RowKey,'a\xEF\xBF\xBD')"),
            (Ranges{{prefix, format::end_of_prefix(prefix), false}}));
  EXPECT_EQ(plan("PartitionKey eq 'p' and startswith(RowKey,'a') and RowKey in ('b','ab','a')"),
            (Ranges{point("p", "a"), point("p", "ab")}));
  for (const char* const text :
       {"startswith(PartitionKey,'')", "exists(RowKey)", "endswith(PartitionKey,'p')", "contains(PartitionKey,'p')",
        "PartitionKey eq RowKey", "startswith(A,'p')", "not startswith(PartitionKey,'p')", "PartitionKey eq A"}) {
    EXPECT_EQ(plan(text), (Ranges{whole()})) << text;
  }
  const Result<Filter> filter = Filter::parse("startswith(PartitionKey,'p') and exists(RowKey)");
  EXPECT_TRUE(plan_keys(*filter, kTable, whole()).residual.matches_everything());
}

TEST(KeyPlan, TheLetterCasesOfAKeyAreARange) {
  EXPECT_EQ(plan("equals_ignoring_case(PartitionKey,'a1B')"),
            (Ranges{{partition("A1B"), format::end_of_prefix(partition("a1b")), false}}));
  EXPECT_EQ(plan("equals_ignoring_case(PartitionKey,'17') and equals_ignoring_case(RowKey,'3')"),
            (Ranges{point("17", "3")}));
}

TEST(KeyPlan, Q33_ContradictionsReadNothing) {
  for (const char* const text :
       {"PartitionKey eq 'p' and PartitionKey eq 'q'", "PartitionKey eq 'p' and RowKey gt 'b' and RowKey lt 'a'",
        "PartitionKey eq 5", "false", "A eq 3 and false", "PartitionKey lt ''"}) {
    EXPECT_TRUE(plan(text).empty()) << text;
  }
}

TEST(KeyPlan, ManyAlternativesAreNarrowedAsFarAsThereIsRoom) {
  std::string partitions = "PartitionKey eq '0'";
  std::string rows = "RowKey eq '0'";
  for (int i = 1; i < 100; ++i) {
    partitions += " or PartitionKey eq '" + std::to_string(i) + "'";
    rows += " or RowKey eq '" + std::to_string(i) + "'";
  }
  const Ranges ranges = plan("(" + partitions + ") and (" + rows + " or RowKey eq '100')");
  EXPECT_EQ(ranges.size(), 100U) << "ten thousand points are too many; the partitions are kept";
}

TEST(Filters, AgreeWithASlowEvaluationAndTheirPlanHoldsEveryMatch) {
  constexpr std::uint64_t kSeed = 71;
  SCOPED_TRACE(kSeed);
  test::RandomEngine random(kSeed);
  std::vector<Entity> entities;
  for (int i = 0; i < 200; ++i) {
    entities.push_back(test::random_entity(random));
    entities.back().set_etag(ETag::of_timestamp(DateTime{638'000'000'000'000'000 + random() % 3}));
  }
  int matched = 0;
  int left_out = 0;
  for (int round = 0; round < test::effort(20'000); ++round) {
    const test::SlowFilter slow = test::random_filter(random, 5);
    const std::string text = slow.text();
    const Result<Filter> filter = Filter::parse(text);
    ASSERT_TRUE(filter.ok()) << text << ": " << filter.status().to_string();
    const Ranges ranges = plan_keys(*filter, kTable, whole()).ranges;
    for (std::size_t i = 1; i < ranges.size(); ++i) ASSERT_LE(ranges[i - 1].upper, ranges[i].lower) << text;
    for (std::size_t i = 0; i < 10; ++i) {
      const Entity& entity = entities[random() % entities.size()];
      const bool expected = slow.matches(entity);
      ASSERT_EQ(matches(*filter, entity), expected)
          << text << "\nof " << entity.partition_key() << " / " << entity.row_key();
      const std::string sort_key = key(entity.partition_key(), entity.row_key());
      bool planned = false;
      for (const KeyRange& range : ranges) planned = planned || (range.lower <= sort_key && sort_key < range.upper);
      ASSERT_TRUE(planned || !expected) << text << "\nof " << entity.partition_key() << " / " << entity.row_key();
      matched += expected ? 1 : 0;
      left_out += planned ? 0 : 1;
    }
  }
  EXPECT_GT(matched, test::effort(20'000));
  EXPECT_GT(left_out, test::effort(10'000));
}

}  // namespace
}  // namespace varve::filter_test
