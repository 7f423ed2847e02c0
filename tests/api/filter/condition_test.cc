// Goal: a condition built in code has the meaning of its text, for every name and value.
// Method: hand-written texts; random expressions built both ways, whose filters must agree on random entities, and
// whose plans must be equal.
#include "varve/condition.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/filter/filter.h"
#include "api/filter/key_plan.h"
#include "api/model/entity_codec.h"
#include "format/keys/sort_key.h"
#include "tests/api/filter/slow_filter.h"
#include "tests/support/effort.h"
#include "tests/support/entity_bytes.h"

namespace varve::condition_test {
namespace {

using namespace test;

constexpr format::TableId kTable = format::make_table_id(3, 4);

std::vector<KeyRange> plan(const Filter& filter) {
  const std::string begin = format::encode_table(kTable);
  return plan_keys(filter, kTable, {begin, format::end_of_prefix(begin), false}).ranges;
}

bool matches(const Filter& filter, const Entity& entity) {
  const std::string bytes = test::encoded_properties(entity);
  const auto view = format::EncodedEntity::open(bytes);
  EXPECT_TRUE(view.ok());
  return filter.matches({entity.partition_key(), entity.row_key(), entity.timestamp().ticks, *view});
}

Filter parsed(const std::string& text) {
  Result<Filter> filter = Filter::parse(text);
  EXPECT_TRUE(filter.ok()) << text << ": " << filter.status().to_string();
  return filter.ok() ? *std::move(filter) : Filter();
}

bool matches(const Condition& condition, const Entity& entity) {
  return matches(parsed(condition.text()), entity);
}

TEST(Conditions, C05_LiteralsAreWrittenByTheirTypes) {
  EXPECT_EQ(filter_literal("O'Brien"), "'O''Brien'");
  EXPECT_EQ(filter_literal(""), "''");
  EXPECT_EQ(filter_literal(-7), "-7");
  EXPECT_EQ(filter_literal(std::int64_t{7}), "7L");
  EXPECT_EQ(filter_literal(3.0), "3.0");
  EXPECT_EQ(filter_literal(-0.0), "-0.0");
  EXPECT_EQ(filter_literal(1e300), "1e+300");
  EXPECT_EQ(filter_literal(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(filter_literal(-std::numeric_limits<double>::infinity()), "-INF");
  EXPECT_EQ(filter_literal(true), "true");
  EXPECT_EQ(filter_literal(*DateTime::parse("2026-03-03T11:20:30+01:00")), "datetime'2026-03-03T10:20:30Z'");
  EXPECT_EQ(filter_literal(Guid{{0x0F, 0x1E}}), "guid'0f1e0000-0000-0000-0000-000000000000'");
  EXPECT_EQ(filter_literal(Binary{"\x0A\xFF"}), "X'0aff'");
  EXPECT_EQ(filter_literal(Binary{}), "X''");
}

TEST(Conditions, C05_EveryLiteralIsReadBackAsItWas) {
  const std::vector<Value> values = {Value(std::numeric_limits<std::int32_t>::min()),
                                     Value(std::numeric_limits<std::int64_t>::min()),
                                     Value(std::numeric_limits<std::int64_t>::max()),
                                     Value(std::numeric_limits<double>::max()),
                                     Value(std::numeric_limits<double>::denorm_min()),
                                     Value(0.1),
                                     Value(1e15),
                                     Value(123456789012345678.0),
                                     Value("''"),
                                     Value("' or true"),
                                     Value(std::string(3, '\0')),
                                     Value("\xF0\x9F\x98\x80"),
                                     Value(Binary{"'"}),
                                     Value(DateTime{504'911'232'000'000'001}),
                                     Value(false)};
  for (const Value& value : values) {
    const Filter filter = parsed((field("A") == value).text());
    ASSERT_EQ(filter.comparisons().size(), 1U);
    EXPECT_EQ(filter.comparisons()[0].literal, value) << filter_literal(value);
  }
}

TEST(Conditions, C05_ParenthesesStandWhereTheyMustAndNowhereElse) {
  const Condition a = field("A") == 1;
  const Condition b = field("B") != "x";
  const Condition c = field("C") > 2.5;
  EXPECT_EQ((a && b && c).text(), "A eq 1 and B ne 'x' and C gt 2.5");
  EXPECT_EQ((a && (b && c)).text(), "A eq 1 and B ne 'x' and C gt 2.5");
  EXPECT_EQ((a || (b && c)).text(), "A eq 1 or B ne 'x' and C gt 2.5");
  EXPECT_EQ(((a || b) && c).text(), "(A eq 1 or B ne 'x') and C gt 2.5");
  EXPECT_EQ((c && (a || b)).text(), "C gt 2.5 and (A eq 1 or B ne 'x')");
  EXPECT_EQ((!a && !(a || b)).text(), "not (A eq 1) and not (A eq 1 or B ne 'x')");
  EXPECT_EQ((field("D") >= 1 && field("D") < 9 && field("D") <= 8).text(), "D ge 1 and D lt 9 and D le 8");
}

TEST(Conditions, C05_TheEmptyConditionIsEverything) {
  const Condition a = field("A") == 1;
  EXPECT_EQ(Condition().text(), "");
  EXPECT_EQ((Condition() && a).text(), a.text());
  EXPECT_EQ((a && Condition()).text(), a.text());
  EXPECT_EQ((a || Condition()).text(), "");
  EXPECT_EQ((Condition() || a).text(), "");
  EXPECT_EQ((!Condition()).text(), "false");
  EXPECT_EQ(field("A").one_of({}).text(), "false");
}

TEST(Conditions, C05_TextsAreReadAndJoinedAsOne) {
  const Result<Condition> either = Condition::parse("A eq 1 or B eq 2");
  ASSERT_TRUE(either.ok());
  EXPECT_EQ(either->text(), "A eq 1 or B eq 2");
  EXPECT_EQ((*either && field("C") == 3).text(), "(A eq 1 or B eq 2) and C eq 3");
  EXPECT_EQ((!*either).text(), "not (A eq 1 or B eq 2)");
  EXPECT_EQ((*Condition::parse("  ")).text(), "");
  EXPECT_EQ(Condition::parse("A eq").status().service_error(), "InvalidInput");
  EXPECT_EQ(Condition::parse("A) or (B").code(), Code::kInvalidArgument) << "it cannot close what it did not open";
}

TEST(Conditions, C05_NamesCannotChangeTheMeaning) {
  for (const std::string_view name : {"", "A eq 1 or B", "true", "and", "not", "null", "eq", "9a", "a-b", "'", "a)"}) {
    const Condition bad = field(name) == 1;
    EXPECT_EQ(bad.status().code(), Code::kInvalidArgument) << name;
    const Condition good = field("A") == 1;
    for (const Condition& joined : {bad, !bad, good || bad, bad && good, Condition() || bad, bad || Condition()}) {
      EXPECT_FALSE(joined.status().ok()) << name;
      EXPECT_FALSE(Filter::parse(joined.text()).ok()) << name;
    }
  }
  for (const std::string_view name : {"add", "datetime", "NaN", "INF", "X", "\xC3\x84rger", "_", "startswith"}) {
    const Condition condition = field(name) == 1;
    EXPECT_TRUE(condition.status().ok()) << name;
    EXPECT_TRUE(matches(condition, Entity("p", "r").set(name, 1))) << name;
  }
}

TEST(Conditions, C05_PrefixesAreRangesUpToTheirSuccessor) {
  EXPECT_EQ(field("N").starts_with("ab").text(), "N ge 'ab' and N lt 'ac'");
  EXPECT_EQ(field("N").starts_with("").text(), "N ge ''");
  EXPECT_EQ(prefix_successor("a\xEF\xBF\xBF"), "b");
  EXPECT_EQ(prefix_successor("\xEF\xBF\xBF\xEF\xBF\xBF"), "");
  EXPECT_EQ(prefix_successor("\x7F"), "\xC2\x80");
  EXPECT_EQ(prefix_successor("\xDF\xBF"), "\xE0\xA0\x80");
  EXPECT_EQ(prefix_successor("\xED\x9F\xBF"), "\xF0\x90\x80\x80") << "above U+D7FF stand the surrogates";
  EXPECT_EQ(prefix_successor("\xF4\x8F\xBF\xBF"), "\xEE\x80\x80");
  EXPECT_FALSE(field("N").starts_with("\xFF").status().ok());
}

TEST(Conditions, C05_APrefixConditionHoldsForWhatBeginsWithIt) {
  constexpr std::uint64_t kSeed = 5;
  SCOPED_TRACE(kSeed);
  RandomEngine random(kSeed);
  const std::vector<std::string> characters = {
      "a", "b", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"};
  const auto text = [&] {
    std::string made;
    for (std::uint64_t left = random() % 4; left > 0; --left) made += characters[random() % characters.size()];
    return made;
  };
  int held = 0;
  for (int round = 0; round < effort(20'000); ++round) {
    const std::string value = text();
    const std::string prefix = text();
    const bool begins = value.starts_with(prefix);
    ASSERT_EQ(matches(field("V").starts_with(prefix), Entity("p", "r").set("V", value)), begins)
        << value << " and " << prefix;
    held += begins ? 1 : 0;
  }
  EXPECT_GT(held, effort(20'000) / 10);
}

TEST(Conditions, C05_FunctionsAndTwoPropertiesAreWrittenAsTheyAreParsed) {
  EXPECT_EQ(field("N").ends_with("O'Hara").text(), "endswith(N,'O''Hara')");
  EXPECT_EQ((field("N").contains("") && field("M").exists()).text(), "contains(N,'') and exists(M)");
  EXPECT_EQ((!field("RowKey").equals_ignoring_case("x)") || field("A") == 1).text(),
            "not (equals_ignoring_case(RowKey,'x)')) or A eq 1");
  EXPECT_EQ((field("A") < field("B")).text(), "A lt B");
  EXPECT_EQ((field("A") == field("RowKey") && field("A") >= field("in")).text(), "A eq RowKey and A ge in");
  const Entity entity = Entity("p", "r").set("A", 1).set("B", 2).set("N", "x\"y").set("INF", 3);
  for (const Condition& condition :
       {field("A") < field("B"), field("A") <= field("B"), field("A") != field("B"), field("B") > field("A"),
        field("B") >= field("A"), field("PartitionKey") == field("PartitionKey"), field("INF") > field("B"),
        field("N").ends_with("\"y"), field("N").contains(""), field("N").equals_ignoring_case("X\"Y"),
        field("A").exists(), !field("C").exists(), field("C").is_absent(), !field("C").contains("")}) {
    EXPECT_TRUE(condition.status().ok()) << condition.text();
    EXPECT_TRUE(matches(condition, entity)) << condition.text();
  }
  for (const Condition& refused :
       {field("A") < field("NaN"), field("A") == field("INF"), field("A") == field("true"), field("and") < field("A"),
        field("A") < field("1 or B"), field("A,'') or exists(B").exists(), field("true").contains("x"),
        field("N").contains("\xFF"), field("N").ends_with("\xFF"), field("").exists()}) {
    EXPECT_EQ(refused.status().code(), Code::kInvalidArgument) << refused.text();
    EXPECT_FALSE(Filter::parse(refused.text()).ok()) << refused.text();
  }
}

TEST(Conditions, C05_AbsentIsWhatNoTypeOfValueIs) {
  const Condition absent = field("V").is_absent();
  EXPECT_TRUE(matches(absent, Entity("p", "r")));
  RandomEngine random(3);
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(matches(absent, Entity("p", "r").set("V", random_literal(random))));
}

TEST(Conditions, C05_AnOrOfKeysIsAsManyLookups) {
  std::vector<Value> rows;
  for (int i = 0; i < 50; ++i) rows.emplace_back(std::to_string(i));
  const Condition condition = field("PartitionKey") == "p" && field("RowKey").one_of(rows);
  EXPECT_EQ(plan(parsed(condition.text())).size(), 50U);
}

/// Builds the same expression with the builder.
Condition built(const SlowFilter& slow) {
  switch (slow.kind) {
    case SlowFilter::Kind::kLiteral: return *slow.literal.get_if<bool>() ? !!Condition() : !Condition();
    case SlowFilter::Kind::kNot: return !built(slow.children[0]);
    case SlowFilter::Kind::kAnd: return built(slow.children[0]) && built(slow.children[1]);
    case SlowFilter::Kind::kOr: return built(slow.children[0]) || built(slow.children[1]);
    case SlowFilter::Kind::kBareProperty: return field(slow.property) == true;
    case SlowFilter::Kind::kFunction:
      if (slow.function_name == "exists") return field(slow.property).exists();
      if (slow.function_name == "endswith") return field(slow.property).ends_with(*slow.literal.get_if<std::string>());
      if (slow.function_name == "contains") return field(slow.property).contains(*slow.literal.get_if<std::string>());
      [[fallthrough]];
    case SlowFilter::Kind::kTwoProperties:
    case SlowFilter::Kind::kList: {
      Result<Condition> condition = Condition::parse(slow.text());
      EXPECT_TRUE(condition.ok()) << condition.status().to_string();
      return condition.ok() ? *std::move(condition) : Condition();
    }
    case SlowFilter::Kind::kComparison: break;
  }
  const Field property = field(slow.property);
  if (slow.operator_name == "eq") return property == slow.literal;
  if (slow.operator_name == "ne") return property != slow.literal;
  if (slow.operator_name == "gt") return property > slow.literal;
  if (slow.operator_name == "ge") return property >= slow.literal;
  if (slow.operator_name == "lt") return property < slow.literal;
  return property <= slow.literal;
}

TEST(Conditions, C05_BuiltAndWrittenFiltersHaveTheSamePlanAndTheSameAnswers) {
  constexpr std::uint64_t kSeed = 17;
  SCOPED_TRACE(kSeed);
  RandomEngine random(kSeed);
  std::vector<Entity> entities;
  for (int i = 0; i < 200; ++i) {
    entities.push_back(random_entity(random));
    entities.back().set_etag(ETag::of_timestamp(DateTime{638'000'000'000'000'000 + random() % 3}));
  }
  int matched = 0;
  for (int round = 0; round < effort(20'000); ++round) {
    const SlowFilter slow = random_filter(random, 5);
    const Condition condition = built(slow);
    const Filter by_builder = parsed(condition.text());
    const Filter by_text = parsed(slow.text());
    ASSERT_EQ(plan(by_builder), plan(by_text)) << condition.text() << "\nand " << slow.text();
    for (int i = 0; i < 5; ++i) {
      const Entity& entity = entities[random() % entities.size()];
      const bool expected = slow.matches(entity);
      ASSERT_EQ(matches(by_builder, entity), expected) << condition.text() << "\nfor " << slow.text();
      matched += expected ? 1 : 0;
    }
  }
  EXPECT_GT(matched, effort(20'000));
}

}  // namespace
}  // namespace varve::condition_test
