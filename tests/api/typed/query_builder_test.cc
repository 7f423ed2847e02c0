// Goal: queries built in code return the matching entities over all pages, and none of their errors is lost.
// Method: a small table read in many small pages; errors in the middle of a scan; the cost of data that was not
// requested.
#include "varve/query_builder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tests/api/store_bench.h"
#include "varve/typed_table.h"

namespace varve::query_builder_test {
namespace {

enum class Colour : std::uint8_t { kRed, kBlue };

struct Size {
  std::int32_t width = 0;
};
struct Part {
  std::string bin;
  std::string number;
  std::int64_t weight = 0;
  std::uint32_t stock = 0;
  double price = 0;
  Colour colour = Colour::kRed;
  std::optional<std::string> note;
  Size size;
};
struct Crate {
  std::string bin;
  std::string number;
};
struct Pallet {
  std::string bin;
  std::string number;
  std::int32_t crates = 0;
};

}  // namespace
}  // namespace varve::query_builder_test

namespace varve {

template <>
inline constexpr auto enum_names<query_builder_test::Colour> =
    std::array<std::pair<query_builder_test::Colour, std::string_view>, 2>{
        {{query_builder_test::Colour::kRed, "red"}, {query_builder_test::Colour::kBlue, "blue"}}};
template <>
inline constexpr auto mapping<query_builder_test::Size> =
    mapped::members(mapped::property("Width", &query_builder_test::Size::width));
template <>
inline constexpr auto mapping<query_builder_test::Part> = mapped::members(
    mapped::partition_key(&query_builder_test::Part::bin), mapped::row_key(&query_builder_test::Part::number),
    mapped::property("Weight", &query_builder_test::Part::weight),
    mapped::property("Stock", &query_builder_test::Part::stock),
    mapped::property("Price", &query_builder_test::Part::price),
    mapped::property("Colour", &query_builder_test::Part::colour),
    mapped::property("Note", &query_builder_test::Part::note),
    mapped::flattened("Size", &query_builder_test::Part::size));
template <>
inline constexpr auto mapping<query_builder_test::Crate> =
    mapped::members(mapped::partition_key(&query_builder_test::Crate::bin),
                    mapped::row_key(&query_builder_test::Crate::number), mapped::discriminator("Kind", "crate"));
template <>
inline constexpr auto mapping<query_builder_test::Pallet> = mapped::members(
    mapped::partition_key(&query_builder_test::Pallet::bin), mapped::row_key(&query_builder_test::Pallet::number),
    mapped::discriminator("Kind", "pallet"), mapped::property("Crates", &query_builder_test::Pallet::crates));

}  // namespace varve

namespace varve::query_builder_test {
namespace {

using namespace test;

std::string filter_of(const Condition& condition) {
  return condition.status().ok() ? condition.text() : condition.status().to_string();
}

TEST(TypedConditions, C05_NamesAndTypesComeFromTheMapping) {
  EXPECT_EQ(filter_of(field<&Part::bin>() == "a'b"), "PartitionKey eq 'a''b'");
  EXPECT_EQ(filter_of(field<&Part::number>().starts_with("1")), "RowKey ge '1' and RowKey lt '2'");
  EXPECT_EQ(filter_of(field<&Part::colour>() != Colour::kBlue), "Colour ne 'blue'");
  EXPECT_EQ(filter_of(field<&Part::note>() >= "x"), "Note ge 'x'");
  EXPECT_EQ(filter_of(field<&Part::size, &Size::width>() < 3), "SizeWidth lt 3");
  EXPECT_EQ(filter_of(field<&Part::note>().is_absent()), "not (Note ge '' or Note lt '')");
  EXPECT_EQ(filter_of(field<&Part::note>().contains("a'b") && field<&Part::number>().ends_with("9")),
            "contains(Note,'a''b') and endswith(RowKey,'9')");
  EXPECT_EQ(filter_of(field<&Part::bin>().equals_ignoring_case("a") && !field<&Part::price>().exists()),
            "equals_ignoring_case(PartitionKey,'a') and not (exists(Price))");
  EXPECT_EQ(filter_of(field<&Part::note>() == field<&Part::number>() && field<&Part::note>() != field<&Part::bin>()),
            "Note eq RowKey and Note ne PartitionKey");
  EXPECT_EQ(filter_of(field<&Part::size, &Size::width>() < field<&Part::size, &Size::width>()),
            "SizeWidth lt SizeWidth");
  EXPECT_EQ(filter_of((field<&Part::bin>() <= field<&Part::number>()) ||
                      (field<&Part::bin>() >= field<&Part::note>()) || (field<&Part::bin>() > field<&Part::number>())),
            "PartitionKey le RowKey or PartitionKey ge Note or PartitionKey gt RowKey");
}

TEST(TypedConditions, C05_AValueThatThePropertyCannotHoldIsAnError) {
  const Condition nameless = field<&Part::colour>() == static_cast<Colour>(9);
  EXPECT_EQ(nameless.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Query<Part>().where(nameless).scan().code(), Code::kInvalidArgument);
}

TEST(TypedConditions, C05_NumbersAreAsNarrowAsReadingWidens) {
  EXPECT_EQ(filter_of(field<&Part::weight>() > 3), "Weight gt 3");
  EXPECT_EQ(filter_of(field<&Part::weight>() > INT64_C(3'000'000'000)), "Weight gt 3000000000L");
  EXPECT_EQ(filter_of(field<&Part::stock>() <= 4'000'000'000U), "Stock le 4000000000L");
  EXPECT_EQ(filter_of(field<&Part::price>() >= 3.0), "Price ge 3");
  EXPECT_EQ(filter_of(field<&Part::price>() >= 3.5), "Price ge 3.5");
  EXPECT_EQ(filter_of(field<&Part::price>() < 1e300), "Price lt 1e+300");
}

class Walks : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 60; ++i) {
      Part part;
      part.bin = i < 30 ? "a" : "b";
      part.number = std::to_string(100 + i);
      part.weight = i;
      part.colour = i % 3 == 0 ? Colour::kBlue : Colour::kRed;
      ASSERT_TRUE(parts_.insert(part).ok());
    }
  }

  static std::vector<std::string> numbers(Cursor<Part> cursor) {
    std::vector<std::string> found;
    for (Result<Part>& part : cursor) found.push_back(part.ok() ? part->number : part.status().to_string());
    return found;
  }

  StoreBench bench_;
  TypedTable<Part> parts_{bench_.table()};
  const Table& table_ = parts_.table();
};

TEST_F(Walks, C06_ALoopGoesOverAllPages) {
  for (const std::uint32_t page_size : {1U, 7U, 60U, 1000U}) {
    Query<Part> query;
    query.page_entities(page_size);
    const std::vector<std::string> found = numbers(parts_.run(query));
    ASSERT_EQ(found.size(), 60U);
    EXPECT_EQ(found.front(), "100");
    EXPECT_EQ(found.back(), "159");
  }
}

TEST_F(Walks, C06_PagesThatAreEmptyDoNotEndTheLoop) {
  Query<Part> query;
  query.where(field<&Part::weight>() == 59).page_time(std::chrono::milliseconds(0));
  EXPECT_EQ(numbers(parts_.run(query)), (std::vector<std::string>{"159"}));
  PageCursor pages = query.pages(table_);
  std::size_t count = 0;
  for (;; ++count) {
    const Result<std::optional<Page>> page = pages.next();
    ASSERT_TRUE(page.ok());
    if (!page->has_value()) break;
  }
  EXPECT_GT(count, 5U) << "the limit of time cuts pages before anything matches";
}

TEST_F(Walks, AnOrderHoldsOverAllPages) {
  for (const std::uint32_t page_size : {1U, 7U, 1000U}) {
    Query<Part> query;
    query.order_by(field<&Part::colour>()).order_by(field<&Part::weight>(), SortDirection::kDescending);
    query.where(field<&Part::weight>() < 6).page_entities(page_size);
    EXPECT_EQ(numbers(parts_.run(query)), (std::vector<std::string>{"103", "100", "105", "104", "102", "101"}));
    query.take(2);
    EXPECT_EQ(numbers(parts_.run(query)).size(), 2U);
  }
  Query<Part> backward;
  backward.order_by("RowKey", SortDirection::kDescending).take(2);
  EXPECT_EQ(numbers(parts_.run(backward)), (std::vector<std::string>{"159", "158"}));
}

TEST_F(Walks, C06_TakeCountsAllPagesTogether) {
  for (const std::uint32_t page_size : {1U, 4U, 1000U}) {
    Query<Part> query;
    query.where(field<&Part::colour>() == Colour::kBlue).take(10).page_entities(page_size);
    EXPECT_EQ(numbers(parts_.run(query)).size(), 10U);
  }
  EXPECT_TRUE(numbers(parts_.run(Query<Part>().take(0))).empty());
  EXPECT_EQ(numbers(parts_.run(Query<Part>().take(1000))).size(), 60U);
  EXPECT_TRUE(numbers(parts_.run(Query<Part>().page_entities(0))).empty()) << "and it ends";
}

TEST_F(Walks, C06_WhatIsNotAskedForIsNotRead) {
  Cursor<Part> cursor = parts_.run(Query<Part>().page_entities(10));
  EXPECT_EQ(cursor.cost().entities_examined, 0U);
  int seen = 0;
  for (const Result<Part>& part : cursor) {
    ASSERT_TRUE(part.ok());
    if (++seen == 12) break;
  }
  EXPECT_EQ(cursor.cost().entities_examined, 20U) << "two pages of six";
}

TEST_F(Walks, C06_TheFirstElementsAreEasilyHad) {
  const Result<std::optional<Part>> one = parts_.query(field<&Part::weight>() == 31).first();
  ASSERT_TRUE(one.ok() && one->has_value());
  EXPECT_EQ((*one)->number, "131");
  EXPECT_FALSE((*parts_.query(field<&Part::weight>() == 99).first()).has_value());
  EXPECT_EQ((*parts_.query(field<&Part::bin>() == "b").all()).size(), 30U);
}

TEST_F(Walks, C06_AnErrorIsTheLastElement) {
  ASSERT_TRUE(parts_.table().insert(Entity("a", "1155").set("Weight", "heavy")).ok());
  std::vector<bool> seen;
  for (const Result<Part>& part : parts_.run(Query<Part>().page_entities(4))) seen.push_back(part.ok());
  ASSERT_EQ(seen.size(), 17U) << "sixteen good ones, then the bad one";
  EXPECT_FALSE(seen.back());
  EXPECT_EQ(parts_.query().all().status().message(), "property 'Weight' is Edm.String, expected Edm.Int64");

  Cursor<Part> cursor = parts_.run(Query<Part>().page_entities(50));
  for (const Result<Part>& part : cursor) (void)part.ok();
  EXPECT_FALSE(cursor.next().has_value()) << "it has ended";
}

TEST_F(Walks, C06_AnErrorOfTheStoreEndsTheLoopAndIsSeen) {
  Cursor<Part> cursor = parts_.run(Query<Part>().page_entities(10));
  std::vector<Code> codes;
  for (const Result<Part>& part : cursor) {
    codes.push_back(part.code());
    if (codes.size() < 10) continue;
    (void)bench_.store->close();
  }
  ASSERT_EQ(codes.size(), 11U);
  EXPECT_EQ(codes.back(), Code::kClosed);
}

TEST_F(Walks, C06_AnErrorOfTheQueryIsSeen) {
  const Result<std::vector<Entity>> found = Query<>().where(field("not a name") == 1).run(table_).all();
  EXPECT_EQ(found.code(), Code::kInvalidArgument);
  EXPECT_EQ(Query<>().where(field("and") == 1).scan().code(), Code::kInvalidArgument);
  Scan scan;
  scan.filter = "N eq";
  EXPECT_EQ(open_cursor(table_, scan).all().code(), Code::kInvalidArgument);
}

TEST_F(Walks, C07_AWalkGoesOnFromItsTokenInAnotherProcess) {
  Query<Part> query;
  query.where(field<&Part::colour>() == Colour::kBlue).page_entities(6);
  PageCursor pages = query.pages(table_);
  const Result<std::optional<Page>> first = pages.next();
  ASSERT_TRUE(first.ok() && first->has_value());
  ASSERT_TRUE(pages.continuation().has_value());
  const std::string token = *pages.continuation();

  bench_.open();
  const TypedTable<Part> again(*bench_.store->open_table(kAccount, "Orders"));
  const std::vector<std::string> rest = numbers(again.run(query.continue_from(token)));
  EXPECT_EQ((*first)->entities.size() + rest.size(), 20U);
  EXPECT_EQ(rest.front(), "118");
}

TEST_F(Walks, C06_AllPagesAreOneStateAtASnapshot) {
  const Result<Snapshot> snapshot = bench_.store->snapshot();
  ASSERT_TRUE(snapshot.ok());
  ASSERT_TRUE(parts_.table().remove("b", "159", ETag::any()).ok());
  EXPECT_EQ(numbers(parts_.run(Query<Part>().at(*snapshot).page_entities(9))).size(), 60U);
  EXPECT_EQ(numbers(parts_.query()).size(), 59U);
}

TEST_F(Walks, C05_SelectAndRangeAndConditionsGoTogether) {
  Query<Part> query;
  query.in(ScanRange::partition("b")).where(field<&Part::weight>() >= 40).where(field<&Part::weight>() < 45);
  query.select<&Part::weight>();
  EXPECT_EQ((*query.scan()).filter, "Weight ge 40 and Weight lt 45");
  EXPECT_EQ((*query.scan()).read.select, (std::vector<std::string>{"Weight"}));
  const Result<std::vector<Part>> found = query.run(table_).all();
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 5U);
  EXPECT_EQ(found->front().weight, 40);
  EXPECT_EQ(found->front().colour, Colour::kRed) << "not selected, so the default";
}

class Mixed : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(table_.insert(*to_entity(Crate{"a", "1"})).ok());
    ASSERT_TRUE(table_.insert(*to_entity(Pallet{"a", "2", 6})).ok());
    ASSERT_TRUE(table_.insert(*to_entity(Crate{"a", "3"})).ok());
  }
  StoreBench bench_;
  Table table_ = bench_.table();
};

TEST_F(Mixed, C04_AQueryOfAStructReturnsOnlyWhatHasItsDiscriminator) {
  EXPECT_EQ((*Query<Crate>().run(table_).all()).size(), 2U);
  EXPECT_EQ((*Query<Pallet>().where(field<&Pallet::crates>() > 5).run(table_).all()).size(), 1U);
  const Result<std::vector<Pallet>> keys_only = Query<Pallet>().select<>().run(table_).all();
  ASSERT_TRUE(keys_only.ok()) << keys_only.status().to_string();
  EXPECT_EQ(keys_only->front().crates, 0);
}

TEST_F(Mixed, C04_AVariantHoldsWhateverComes) {
  std::string seen;
  for (const auto& found : Query<std::variant<Crate, Pallet>>().run(table_)) {
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    seen += std::holds_alternative<Crate>(*found) ? "c" : "p";
  }
  EXPECT_EQ(seen, "cpc");
}

TEST_F(Mixed, C04_AResolverSeesTheWholeEntityAndPicksByWhatItLikes) {
  const auto describe = [](const Entity& entity) -> Result<std::string> {
    if (entity.etag().is_none()) return Status::invalid_argument("no ETag");
    return entity.partition_key() + entity.row_key() + (entity.row_key() < "3" ? "early" : "late") +
           std::to_string(entity.properties().size());
  };
  const Result<std::vector<std::string>> found = Query<>().run_as<std::string>(table_, describe).all();
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, (std::vector<std::string>{"a1early1", "a2early2", "a3late1"}));
}

}  // namespace
}  // namespace varve::query_builder_test
