#include "api/catalog/catalog_rows.h"

#include <gtest/gtest.h>

#include "format/keys/entity.h"

namespace varve::catalog_rows_test {
namespace {

constexpr format::CommitVersion kVersion = 1'000;

std::string row_with(std::initializer_list<std::pair<std::string_view, std::int64_t>> numbers) {
  format::EntityBuilder builder;
  for (const auto& [name, value] : numbers) builder.add_int64(name, value);
  return builder.finish();
}

TEST(CatalogRows, KeysLieWhereTheCatalogIsSaidToBe) {
  EXPECT_EQ(account_row_key("abc"), *format::encode_sort_key(format::make_table_id(0, 1), "abc", ""));
  EXPECT_EQ(table_row_key("abc", "orders"), *format::encode_sort_key(format::make_table_id(0, 2), "abc", "orders"));
  EXPECT_EQ(account_counter_key(), *format::encode_sort_key(format::make_table_id(0, 3), "", "accounts"));
  EXPECT_TRUE(table_row_key("abc", "orders").starts_with(table_rows_prefix("abc")));
  EXPECT_FALSE(table_row_key("abcd", "orders").starts_with(table_rows_prefix("abc")));
}

TEST(CatalogRows, AnAccountBeginsWithItsFirstTableAndKeepsWhenItWasMade) {
  const std::string fresh = encode_account_row(5);
  const Result<AccountRow> row = decode_account_row("abc", kVersion, fresh);
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->number, 5u);
  EXPECT_EQ(row->next_table, kFirstNumber);
  EXPECT_EQ(row->created, kVersion);
  const Result<std::string> raised = with_next_table(fresh, *row, 2);
  ASSERT_TRUE(raised.ok());
  const Result<AccountRow> later = decode_account_row("abc", kVersion + 10, *raised);
  EXPECT_EQ(later->number, 5u);
  EXPECT_EQ(later->next_table, 2u);
  EXPECT_EQ(later->created, kVersion);
}

TEST(CatalogRows, UnknownPropertiesSurviveARewrite) {
  format::EntityBuilder builder;
  builder.add_string("Later", "kept");
  builder.add_int64("Number", 5);
  builder.add_int64("NextTable", 9);
  builder.add_double("Other", 1.5);
  const std::string stored = builder.finish();
  const Result<AccountRow> row = decode_account_row("abc", kVersion, stored);
  ASSERT_TRUE(row.ok());
  const Result<std::string> raised = with_next_table(stored, *row, 10);
  ASSERT_TRUE(raised.ok());
  const Result<format::EncodedEntity> view = format::EncodedEntity::open(*raised);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->property_count(), 5u);
  EXPECT_EQ(view->find("Later")->value, "kept");
  EXPECT_EQ(view->find("Other")->as_double(), 1.5);
  EXPECT_EQ(view->find("NextTable")->as_int64(), 10);
}

TEST(CatalogRows, ATableRowTellsSpellingIdAndCreation) {
  const format::TableId id = format::make_table_id(0xFFFF'FFF0, 7);
  const Result<TableRow> row = decode_table_row("abc", "orders", kVersion, encode_table_row("OrDers", id));
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->name, "OrDers");
  EXPECT_EQ(row->id, id);
  EXPECT_EQ(row->created, kVersion);
}

TEST(CatalogRows, NumbersOutOfTheirRangeAreCorruptionAndTheRowIsNamed) {
  const std::int64_t end = std::int64_t{1} << 31;
  EXPECT_TRUE(decode_account_row("abc", kVersion, row_with({{"Number", 1}, {"NextTable", end}})).ok());
  for (const std::string& row :
       {row_with({}), row_with({{"Number", 1}}), row_with({{"NextTable", 1}}),
        row_with({{"Number", 0}, {"NextTable", 1}}), row_with({{"Number", -1}, {"NextTable", 1}}),
        row_with({{"Number", std::int64_t{UINT32_MAX}}, {"NextTable", 1}}), row_with({{"Number", 1}, {"NextTable", 0}}),
        row_with({{"Number", 1}, {"NextTable", end + 1}}),
        row_with({{"Number", 1}, {"NextTable", 1}, {"Created", 1001}}),
        row_with({{"Number", 1}, {"NextTable", 1}, {"Created", 0}})}) {
    const Result<AccountRow> decoded = decode_account_row("abc", kVersion, row);
    EXPECT_EQ(decoded.code(), Code::kCorruption);
    EXPECT_NE(decoded.status().message().find("'abc'"), std::string_view::npos);
  }
  format::EntityBuilder wrong_type;
  wrong_type.add_int32("Number", 1);
  wrong_type.add_int64("NextTable", 1);
  EXPECT_EQ(decode_account_row("abc", kVersion, wrong_type.finish()).code(), Code::kCorruption);
  EXPECT_EQ(decode_account_row("abc", kVersion, "garbage").code(), Code::kUnsupported);
  EXPECT_EQ(decode_account_row("abc", kVersion, "").code(), Code::kCorruption);

  EXPECT_EQ(decode_table_row("abc", "orders", kVersion, row_with({{"Id", 7}})).code(), Code::kCorruption);
  const Result<TableRow> in_the_system = decode_table_row("abc", "orders", kVersion, encode_table_row("Orders", 7));
  EXPECT_EQ(in_the_system.code(), Code::kCorruption);
  EXPECT_NE(in_the_system.status().message().find("'orders'"), std::string_view::npos);

  EXPECT_EQ(*decode_account_counter(encode_account_counter(3)), 3u);
  EXPECT_EQ(decode_account_counter(row_with({{"NextAccount", 0}})).code(), Code::kCorruption);
  EXPECT_EQ(*decode_account_counter(*with_next_account(encode_account_counter(3), 4)), 4u);
}

}  // namespace
}  // namespace varve::catalog_rows_test
