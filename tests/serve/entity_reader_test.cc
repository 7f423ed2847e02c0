// Goal: a JSON body is converted to the entity that the service would make of it, or reports the service's error.
#include "api/rest/encoding/entity_reader.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"

namespace varve::serve::entity_reader_test {
namespace {

using namespace test;

/// Returns the value that a property V gets. `members` follows its name.
Result<Value> value_of(const std::string& members) {
  const Result<Entity> entity = read_entity("{" + members + "}", "p", "r");
  if (!entity.ok()) return entity.status();
  const Value* const value = entity->find("V");
  if (value == nullptr) return Status::not_found("no V");
  return *value;
}
Value value(const std::string& members) {
  const Result<Value> found = value_of(members);
  EXPECT_TRUE(found.ok()) << members << ": " << found.status().to_string();
  return found.ok() ? *found : Value("?");
}
Said refusal(const std::string& members) {
  return said(value_of(members));
}

TEST(ServeEntityReader, D30_AValueHasTheTypeThatItsFormTells) {
  EXPECT_EQ(value(R"("V":"x")"), Value("x"));
  EXPECT_EQ(value(R"("V":true)"), Value(true));
  EXPECT_EQ(value(R"("V":false)"), Value(false));
  EXPECT_EQ(value(R"("V":3)"), Value(std::int32_t{3}));
  EXPECT_EQ(value(R"("V":-2147483648)"), Value(std::numeric_limits<std::int32_t>::min()));
  EXPECT_EQ(value(R"("V":2147483648)"), Value(2147483648.0));
  EXPECT_EQ(value(R"("V":5454161346626)"), Value(5454161346626.0));
  EXPECT_EQ(value(R"("V":20.0)"), Value(20.0));
  EXPECT_EQ(value(R"("V":1e3)"), Value(1000.0));
  EXPECT_EQ(value(R"("V":"2026-03-03T10:20:30Z")"), Value("2026-03-03T10:20:30Z"));
}

TEST(ServeEntityReader, X25_TheTextOfABooleanIsOfAnyCase) {
  for (const std::string yes : {"true", "True", "TRUE", "tRUE"}) {
    EXPECT_EQ(value(R"("V@odata.type":"Edm.Boolean","V":")" + yes + "\""), Value(true)) << yes;
  }
  for (const std::string no : {"false", "False", "FALSE", "falsE"}) {
    EXPECT_EQ(value(R"("V@odata.type":"Edm.Boolean","V":")" + no + "\""), Value(false)) << no;
  }
  for (const std::string other : {"", " true", "true ", "yes", "1", "0", "truefalse", "TRU\u00C9"}) {
    EXPECT_EQ(refusal(R"("V@odata.type":"Edm.Boolean","V":")" + other + "\""), kInvalidInput) << other;
  }
  EXPECT_EQ(value(R"("V":"True")"), Value("True")) << "without an annotation it is a text";
}

/// Checks that reading stops: the text after the first property above the limit may be anything.
TEST(ServeEntityReader, D22_ReadingStopsAtTheFirstPropertyAboveTheLimit) {
  const auto body = [](std::size_t properties, const std::string& value, const std::string& end) {
    std::string text = R"({"PartitionKey":"p","RowKey":"r","Timestamp":"x","odata.etag":"y")";
    for (std::size_t i = 0; i < properties; ++i) text += ",\"P" + std::to_string(i) + "\":" + value;
    return text + end;
  };
  EXPECT_TRUE(read_entity(body(252, "1", "}")).ok());
  EXPECT_EQ(said(read_entity(body(253, "1", "}"))), kTooManyProperties);
  EXPECT_EQ(said(read_entity(body(253, "1", "\x01 no JSON at all"))), kInvalidInput) << "control characters come first";
  EXPECT_EQ(said(read_entity(body(253, "1", " no JSON at all"))), kTooManyProperties);
  EXPECT_EQ(said(read_entity(body(253, "1", ",\"P0\":1}"))), kTooManyProperties) << "nothing behind it is compared";
  EXPECT_TRUE(read_entity(body(1'000, "null", "}")).ok()) << "nulls are no properties";
  EXPECT_EQ(said(read_entity(body(100'000, "null", " no JSON at all"))), kTooManyProperties);
  EXPECT_TRUE(read_entity(body(1'000, "1", "}"), 1'000).ok());
  EXPECT_EQ(said(read_entity(body(1'001, "1", " no JSON at all"), 1'000)), kTooManyProperties);
  EXPECT_EQ(said(read_entity(body(253, "1", " no JSON"), "p", "r")), kTooManyProperties);
}

TEST(ServeEntityReader, D32_X03_AnAnnotationOfAKeySaysThatItIsAText) {
  const auto keyed = [](const std::string& type) {
    return read_entity(R"({"PartitionKey":"1","RowKey":"2","RowKey@odata.type":")" + type + "\"}");
  };
  EXPECT_TRUE(keyed("Edm.String").ok());
  for (const std::string type : {"Edm.Int32", "Edm.Int64", "Edm.Guid", "Edm.Binary", "Edm.Nothing"}) {
    EXPECT_EQ(said(keyed(type)), kInvalidInput) << type;
  }
}

/// A body that is only partly understood is never carried out: each of these begins like a valid body.
TEST(ServeEntityReader, D33_WhatIsNotOneJsonObjectToItsEndIsRefused) {
  const std::string taken = R"({"PartitionKey":"p","RowKey":"r","V":1,"B@odata.type":"Edm.Binary","B":"AAEC"})";
  ASSERT_TRUE(read_entity(taken).ok());
  for (const std::string noise : {"x", "{}", "//", "/**/", ",", "]", "}", "1", "\"\"", "\\"}) {
    for (std::size_t at = 0; at <= taken.size(); ++at) {
      std::string noisy = taken;
      noisy.insert(at, noise);
      const Result<Entity> entity = read_entity(noisy);
      const Result<Entity> clean = read_entity(taken);
      if (!entity.ok()) continue;
      // The noise is inside of a name or a value in this case, and is visible there. It is never skipped.
      const bool is_equal = entity->partition_key() == clean->partition_key() &&
                            entity->row_key() == clean->row_key() && entity->properties().size() == 2 &&
                            entity->find("V") != nullptr && *entity->find("V") == *clean->find("V") &&
                            entity->find("B") != nullptr && *entity->find("B") == *clean->find("B");
      EXPECT_FALSE(is_equal) << noisy;
    }
  }
}

TEST(ServeEntityReader, D31_AnAnnotationConvertsTheValue) {
  EXPECT_EQ(value(R"("V@odata.type":"Edm.Double","V":4)"), Value(4.0));
  EXPECT_EQ(value(R"("V@odata.type":"Edm.Double","V":"4.5")"), Value(4.5));
  EXPECT_EQ(value(R"("V@odata.type":"Edm.Double","V":"-Infinity")"), Value(-std::numeric_limits<double>::infinity()));
  const Value not_a_number = value(R"("V@odata.type":"Edm.Double","V":"NaN")");
  EXPECT_TRUE(std::isnan(*not_a_number.get_if<double>()));
  EXPECT_EQ(value(R"("V@odata.type":"Edm.Int64","V":"-9223372036854775808")"),
            Value(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(value(R"("V@odata.type":"Edm.Int64","V":4)"), Value(std::int64_t{4}));
  EXPECT_EQ(value(R"("V@odata.type":"Edm.Int32","V":"7")"), Value(std::int32_t{7}));
  EXPECT_EQ(value(R"("V@odata.type":"Edm.Boolean","V":"true")"), Value(true));
  EXPECT_EQ(value(R"("V@odata.type":"Edm.Boolean","V":false)"), Value(false));
  EXPECT_EQ(value(R"("V@odata.type":"Edm.Binary","V":"AAEC/w==")"), Value(Binary{std::string("\0\1\2\xFF", 4)}));
  EXPECT_EQ(value(R"("V@odata.type":"Edm.Guid","V":"0F1E2D3C-0000-4000-8000-00000000ABCD")"),
            Value(*Guid::parse("0f1e2d3c-0000-4000-8000-00000000abcd")));
  EXPECT_EQ(value(R"("V@odata.type":"Edm.DateTime","V":"2026-03-03T11:20:30+01:00")"),
            Value(*DateTime::parse("2026-03-03T10:20:30Z")));
  EXPECT_EQ(value(R"("V@odata.type":"Edm.String","V":"4")"), Value("4"));
}

TEST(ServeEntityReader, D31_D40_WhatDoesNotFitItsTypeIsRefused) {
  for (const std::string text :
       {R"("Edm.Int32","V":"2147483648")", R"("Edm.Int32","V":4.5)", R"("Edm.Int32","V":"")", R"("Edm.Int32","V":true)",
        R"("Edm.Int64","V":"9223372036854775808")", R"("Edm.Int64","V":"4L")", R"("Edm.Double","V":"x")",
        R"("Edm.Double","V":"inf")", R"("Edm.Double","V":"1e999")", R"("Edm.Boolean","V":"yes")",
        R"("Edm.Boolean","V":1)", R"("Edm.Binary","V":"AAEC/w=")", R"("Edm.Binary","V":4)", R"("Edm.Guid","V":"x")",
        R"("Edm.String","V":4)", R"("Edm.DateTime","V":"yesterday")", R"("Edm.DateTime","V":4)"}) {
    EXPECT_EQ(refusal("\"V@odata.type\":" + text), kInvalidInput) << text;
  }
  EXPECT_EQ(refusal(R"("V":1e999)"), kInvalidInput);
}

TEST(ServeEntityReader, D34_X02_DatesOutOfRangeAreToldApart) {
  EXPECT_EQ(refusal(R"("V@odata.type":"Edm.DateTime","V":"0001-01-01T00:00:00Z")"), kOutOfRangeInput);
  EXPECT_EQ(refusal(R"("V@odata.type":"Edm.DateTime","V":"1600-12-31T23:59:59.999Z")"), kOutOfRangeInput);
}

TEST(ServeEntityReader, X16_AnnotatedDatesMayLeaveOutSecondsOrTheirTime) {
  EXPECT_EQ(value(R"("V@odata.type":"Edm.DateTime","V":"2026-03-03")"),
            Value(*DateTime::parse("2026-03-03T00:00:00Z")));
  EXPECT_EQ(value(R"("V@odata.type":"Edm.DateTime","V":"2026-03-03T10:20Z")"),
            Value(*DateTime::parse("2026-03-03T10:20:00Z")));
  EXPECT_EQ(refusal(R"("V@odata.type":"Edm.DateTime","V":"2026-03-03T10")"), kInvalidInput);
}

TEST(ServeEntityReader, D32_AnnotationsStandBeforeOrBehind) {
  EXPECT_EQ(value(R"("V":"4","V@odata.type":"Edm.Int64")"), Value(std::int64_t{4}));
  const Result<Entity> entity = read_entity(
      R"({"PartitionKey@odata.type":"Edm.String","PartitionKey":"p","RowKey":"r",
          "Timestamp@odata.type":"Edm.DateTime","Timestamp":"2026-03-03T10:20:30Z"})");
  ASSERT_TRUE(entity.ok());
  EXPECT_TRUE(entity->properties().empty());
  EXPECT_EQ(refusal(R"("V":"4","V@odata.type":"Edm.Decimal")"), kInvalidInput);
  EXPECT_EQ(refusal(R"("V":"4","V@odata.type":4)"), kInvalidInput);
}

TEST(ServeEntityReader, D33_ObjectsAndArraysAreNoValues) {
  for (const std::string text : {R"("V":{})", R"("V":[])", R"("V":{"a":1})", R"("V":[[[[[[1]]]]]])"}) {
    EXPECT_EQ(refusal(text), kInvalidInput) << text;
  }
}

TEST(ServeEntityReader, D45_NullIsAbsentWhateverItsType) {
  EXPECT_EQ(refusal(R"("V":null)").code, Code::kNotFound);
  EXPECT_EQ(refusal(R"("V":null,"V@odata.type":"Edm.Int64")").code, Code::kNotFound);
}

TEST(ServeEntityReader, D50_O04_TimestampAndMetadataAreNotLookedAt) {
  const Result<Entity> entity = read_entity(
      R"({"odata.metadata":"m","odata.etag":"W/\"x\"","PartitionKey":"p","RowKey":"r","Timestamp":null,"ETag":"mine"})");
  ASSERT_TRUE(entity.ok());
  ASSERT_EQ(entity->properties().size(), 1U);
  EXPECT_EQ(*entity->find("ETag"), Value("mine"));
}

TEST(ServeEntityReader, D14_X03_InsertsBringTheirKeysAsTexts) {
  const Said kNeedValue = {Code::kInvalidArgument, "PropertiesNeedValue"};
  EXPECT_EQ(said(read_entity(R"({"RowKey":"r"})")), kNeedValue);
  EXPECT_EQ(said(read_entity(R"({"PartitionKey":"p"})")), kNeedValue);
  EXPECT_EQ(said(read_entity(R"({"PartitionKey":"p","RowKey":null})")), kNeedValue);
  EXPECT_EQ(said(read_entity(R"({"PartitionKey":1,"RowKey":"r"})")), kInvalidInput);
  const Result<Entity> entity = read_entity(R"({"PartitionKey":"","RowKey":"r"})");
  ASSERT_TRUE(entity.ok());
  EXPECT_EQ(entity->row_key(), "r");
}

TEST(ServeEntityReader, O05_TheKeysInTheUrlWin) {
  const Result<Entity> entity = read_entity(R"({"PartitionKey":"other","RowKey":7,"V":1})", "p", "r");
  ASSERT_TRUE(entity.ok());
  EXPECT_EQ(entity->partition_key(), "p");
  EXPECT_EQ(entity->row_key(), "r");
  EXPECT_EQ(entity->properties().size(), 1U);
  EXPECT_TRUE(read_entity("{}", "p", "r").ok());
}

TEST(ServeEntityReader, D23_NothingIsGivenTwice) {
  EXPECT_EQ(refusal(R"("V":1,"V":1)"), kDuplicateProperties);
  EXPECT_EQ(said(read_entity(R"({"PartitionKey":"p","RowKey":"r","RowKey":"r"})")), kDuplicateKeyProperty);
  EXPECT_TRUE(value_of(R"("V":1,"v":1)").ok());
}

TEST(ServeEntityReader, X12_WhatIsNoJsonObjectIsRefused) {
  for (const std::string body : {"", " ", "null", "[]", "\"x\"", "1", "{", "{}x", "{'V':1}", "{\"V\":01}", "{\"V\":1,}",
                                 "{\"V\":NaN}", "{\"V\":\"\xFF\"}", "{\"V\":\"\\ud800\"}", "{\"V\":\"\n\"}", "{} {}"}) {
    EXPECT_EQ(said(read_entity(body, "p", "r")), kInvalidInput) << body;
  }
  EXPECT_EQ(said(read_entity(std::string("{}\0{}", 5), "p", "r")), kInvalidInput);
  EXPECT_EQ(said(read_entity(std::string(100'000, '['), "p", "r")), kInvalidInput);
  EXPECT_TRUE(read_entity("\xEF\xBB\xBF{}", "p", "r").ok());
}

// The reader scans texts in blocks, so the character is tried at each place of a block.
TEST(ServeEntityReader, X12_NoTextHoldsAControlCharacterAsItIs) {
  for (std::size_t place = 0; place < 40; ++place) {
    for (char c = 0; c < 0x20; ++c) {
      std::string text(40, 'x');
      text[place] = c;
      EXPECT_EQ(refusal("\"V\":\"" + text + "\""), kInvalidInput) << static_cast<int>(c) << " at " << place;
    }
  }
}

TEST(ServeEntityReader, EscapesAreReadAtEachPlaceOfAText) {
  for (std::size_t place = 0; place < 40; ++place) {
    std::string written(40, 'x');
    std::string meant = written;
    written.insert(place, R"(\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00)");
    meant.insert(place, "\"\\/\b\f\n\r\tA\xC3\xA9\xF0\x9F\x98\x80");
    EXPECT_EQ(value("\"V\":\"" + written + "\""), Value(meant)) << place;
  }
}

TEST(ServeEntityReader, D39_HalvesOfCharactersAreRefused) {
  for (const std::string text : {R"("V":"\ud800")", R"("V":"\udc00")", R"("V":"\udc00\ud800")", R"("\udfff":1)"}) {
    EXPECT_EQ(refusal(text), kInvalidInput) << text;
  }
  EXPECT_EQ(value(R"("V":"\ud83d\ude00\u0000\ud7ff")"), Value(std::string("\xF0\x9F\x98\x80\0\xED\x9F\xBF", 8)));
}

TEST(ServeEntityReader, B02_ATableNeedsAName) {
  EXPECT_EQ(*read_table_name(R"({"TableName":"Orders","Extra":1,"odata.type":"x"})"), "Orders");
  const Said kNeedValue = {Code::kInvalidArgument, "PropertiesNeedValue"};
  EXPECT_EQ(said(read_table_name("{}")), kNeedValue);
  EXPECT_EQ(said(read_table_name(R"({"TableName":null})")), kNeedValue);
  EXPECT_EQ(said(read_table_name(R"({"TableName":5})")), kInvalidInput);
}

}  // namespace
}  // namespace varve::serve::entity_reader_test
