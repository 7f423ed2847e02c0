// Goal: stored entities are returned with their types, at the requested level.
#include "api/rest/encoding/entity_writer.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "api/rest/encoding/entity_reader.h"
#include "tests/serve/service_bench.h"

namespace varve::serve::entity_writer_test {
namespace {

using namespace test;

constexpr std::string_view kRoot = "https://myaccount.table.example.net";

WritingPlace place(PayloadLevel level) {
  return {level, kRoot, "myaccount", "Orders"};
}

/// Returns the entity of the specification's example.
Entity example() {
  Entity entity("eu", "1");
  entity.set("Customer", "Ann").set("Lines", 3).set("Total", 12.0).set("Paid", true);
  entity.set("Serial", std::int64_t{123456789012}).set("Due", at("2026-04-01T00:00:00Z"));
  entity.set("Token", *Guid::parse("0f1e2d3c-0000-4000-8000-00000000abcd"));
  entity.set("Sig", Binary{std::string("\0\1\2\xFF", 4)}).set("Ratio", std::numeric_limits<double>::quiet_NaN());
  entity.set_etag(ETag::of_timestamp(at("2026-03-03T10:20:30.4767Z")));
  return entity;
}

constexpr std::string_view kMinimal =
    R"({"odata.metadata":"https://myaccount.table.example.net/$metadata#Orders/@Element",)"
    R"("odata.etag":"W/\"datetime'2026-03-03T10%3A20%3A30.4767Z'\"",)"
    R"("PartitionKey":"eu","RowKey":"1","Timestamp":"2026-03-03T10:20:30.4767Z",)"
    R"("Customer":"Ann","Lines":3,"Total":12.0,"Paid":true,)"
    R"("Serial@odata.type":"Edm.Int64","Serial":"123456789012",)"
    R"("Due@odata.type":"Edm.DateTime","Due":"2026-04-01T00:00:00Z",)"
    R"("Token@odata.type":"Edm.Guid","Token":"0f1e2d3c-0000-4000-8000-00000000abcd",)"
    R"("Sig@odata.type":"Edm.Binary","Sig":"AAEC/w==",)"
    R"("Ratio@odata.type":"Edm.Double","Ratio":"NaN"})";

TEST(ServeEntityWriter, H41_H43_X01_MinimalMetadataIsTheExample) {
  EXPECT_EQ(write_entity(place(PayloadLevel::kMinimal), example()), kMinimal);
}

TEST(ServeEntityWriter, H41_H45_WithoutMetadataTypesAreGone) {
  EXPECT_EQ(write_entity(place(PayloadLevel::kNone), example()),
            R"({"PartitionKey":"eu","RowKey":"1","Timestamp":"2026-03-03T10:20:30.4767Z","Customer":"Ann","Lines":3,)"
            R"("Total":12.0,"Paid":true,"Serial":"123456789012","Due":"2026-04-01T00:00:00Z",)"
            R"("Token":"0f1e2d3c-0000-4000-8000-00000000abcd","Sig":"AAEC/w==","Ratio":"NaN"})");
}

TEST(ServeEntityWriter, H41_H44_FullMetadataNamesTheEntity) {
  Entity entity("eu", "1");
  entity.set_etag(ETag::of_timestamp(at("2026-03-03T10:20:30Z")));
  EXPECT_EQ(write_entity(place(PayloadLevel::kFull), entity),
            R"({"odata.metadata":"https://myaccount.table.example.net/$metadata#Orders/@Element",)"
            R"("odata.type":"myaccount.Orders",)"
            R"J("odata.id":"https://myaccount.table.example.net/Orders(PartitionKey='eu',RowKey='1')",)J"
            R"J("odata.editLink":"Orders(PartitionKey='eu',RowKey='1')",)J"
            R"("odata.etag":"W/\"datetime'2026-03-03T10%3A20%3A30Z'\"","PartitionKey":"eu","RowKey":"1",)"
            R"("Timestamp@odata.type":"Edm.DateTime","Timestamp":"2026-03-03T10:20:30Z"})");
}

TEST(ServeEntityWriter, H42_PagesWrapTheirEntities) {
  const std::vector<Entity> none;
  EXPECT_EQ(write_entities(place(PayloadLevel::kMinimal), none),
            R"({"odata.metadata":"https://myaccount.table.example.net/$metadata#Orders","value":[]})");
  EXPECT_EQ(write_entities(place(PayloadLevel::kNone), none), R"({"value":[]})");
  const std::vector<Entity> two = {example(), example()};
  const std::string page = write_entities(place(PayloadLevel::kNone), two);
  const std::string one = write_entity(place(PayloadLevel::kNone), example());
  EXPECT_EQ(page, R"({"value":[)" + one + "," + one + "]}");
}

TEST(ServeEntityWriter, H42_Q51_AProjectedPageIsWrittenWhileItIsRead) {
  const std::vector<PropertyView> properties = {{"Lines", 3}, {"Note", std::string_view("a\nb")}};
  const ETag etag = ETag::of_timestamp(at("2026-03-03T10:20:30Z"));
  PageWriter page(place(PayloadLevel::kMinimal), {"RowKey", "Note", "Missing"});
  page.add({"eu", "1", properties, etag});
  page.add({"eu", "2", {}, etag});
  EXPECT_EQ(page.take(),
            R"({"odata.metadata":"https://myaccount.table.example.net/$metadata#Orders&$select=RowKey,Note,Missing",)"
            R"("value":[{"odata.etag":"W/\"datetime'2026-03-03T10%3A20%3A30Z'\"","RowKey":"1","Note":"a\nb",)"
            R"("Missing":null},{"odata.etag":"W/\"datetime'2026-03-03T10%3A20%3A30Z'\"","RowKey":"2","Note":null,)"
            R"("Missing":null}]})");
}

TEST(ServeEntityWriter, Q51_Q52_Q53_AProjectionHoldsWhatItNamesAndNullForTheRest) {
  EXPECT_EQ(write_entity(place(PayloadLevel::kMinimal), example(), {"Lines", "Missing", "RowKey", "Lines"}),
            R"({"odata.metadata":"https://myaccount.table.example.net/$metadata#Orders/@Element&$select=)"
            R"(Lines,Missing,RowKey,Lines","odata.etag":"W/\"datetime'2026-03-03T10%3A20%3A30.4767Z'\"",)"
            R"("RowKey":"1","Lines":3,"Missing":null})");
  EXPECT_EQ(write_entity(place(PayloadLevel::kNone), example(), {"PartitionKey", "Timestamp"}),
            R"({"PartitionKey":"eu","Timestamp":"2026-03-03T10:20:30.4767Z"})");
}

TEST(ServeEntityWriter, H42_TablesAreListedByName) {
  const WritingPlace full{PayloadLevel::kFull, kRoot, "myaccount", ""};
  EXPECT_EQ(
      write_table({PayloadLevel::kMinimal, kRoot, "myaccount", ""}, "Orders"),
      R"({"odata.metadata":"https://myaccount.table.example.net/$metadata#Tables/@Element","TableName":"Orders"})");
  const std::vector<std::string> names = {"Orders"};
  EXPECT_EQ(write_tables(full, names),
            R"J({"odata.metadata":"https://myaccount.table.example.net/$metadata#Tables","value":[)J"
            R"J({"odata.type":"myaccount.Tables","odata.id":"https://myaccount.table.example.net/Tables('Orders')",)J"
            R"J("odata.editLink":"Tables('Orders')","TableName":"Orders"}]})J");
  EXPECT_EQ(write_tables({PayloadLevel::kNone, kRoot, "myaccount", ""}, names),
            R"({"value":[{"TableName":"Orders"}]})");
}

TEST(ServeEntityWriter, D36_DoublesNeverLookLikeIntegers) {
  EXPECT_EQ(double_text(1.0), "1.0");
  EXPECT_EQ(double_text(1.5), "1.5");
  EXPECT_EQ(double_text(-0.25), "-0.25");
  EXPECT_EQ(double_text(6824053932181.0), "6824053932181.0");
  EXPECT_EQ(double_text(1.2345e24), "1.2345E+24");
  EXPECT_EQ(double_text(-0.0), "0.0");
  EXPECT_EQ(double_text(5e-324), "5E-324");
}

TEST(ServeEntityWriter, D31_D36_WhatIsWrittenReadsBackTheSame) {
  Entity entity = example();
  entity.set("Ratio", -std::numeric_limits<double>::infinity());  // NaN equals nothing
  entity.set("Least", std::numeric_limits<double>::denorm_min()).set("Most", std::numeric_limits<double>::max());
  entity.set("Text", "\"quoted\" \\ \n \xF0\x9F\x98\x80").set("Empty", "").set("Nothing", Binary{});
  Result<Entity> read = read_entity(write_entity(place(PayloadLevel::kMinimal), entity));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  read->set_etag(entity.etag());
  EXPECT_EQ(*read, entity);
}

}  // namespace
}  // namespace varve::serve::entity_writer_test
