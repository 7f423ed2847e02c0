// Goal: the output is valid JSON, and a text in it reads back unchanged.
#include "api/rest/encoding/json_text.h"

#include <string>

#include <gtest/gtest.h>

#include "api/rest/encoding/json_members.h"

namespace varve::serve::json_text_test {
namespace {

std::string written(std::string_view text) {
  JsonText json;
  return json.text(text).take();
}

TEST(ServeJsonText, ValuesAreSeparatedWhereverTheyStand) {
  JsonText json;
  json.begin_object().member("a").begin_array().integer(-1).number("2.5").begin_object().end_object().end_array();
  json.member("b").begin_array().end_array().member("c").begin_object().member("d").null().end_object();
  json.member("e").boolean(true).member("f").boolean(false).member("").text("").end_object();
  EXPECT_EQ(json.take(), R"({"a":[-1,2.5,{}],"b":[],"c":{"d":null},"e":true,"f":false,"":""})");
}

TEST(ServeJsonText, WhatHasToBeEscapedIs) {
  EXPECT_EQ(written("a\"b\\c/"), R"("a\"b\\c/")");
  EXPECT_EQ(written("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(written(std::string_view("\0\x01\x1F\x7F", 4)), "\"\\u0000\\u0001\\u001F\x7F\"");
  EXPECT_EQ(written("\xC3\xA9\xF0\x9F\x98\x80"), "\"\xC3\xA9\xF0\x9F\x98\x80\"");
}

/// Checks that each ASCII character, once at `place` of the text, reads back unchanged.
void expect_each_comes_back(const std::string& around, std::size_t place) {
  for (int c = 0; c < 0x80; ++c) {
    std::string text = around;
    text.insert(place, 1, static_cast<char>(c));
    JsonText json;
    json.begin_object().member(text).text(text).end_object();
    const Result<JsonObject> read = JsonObject::read(json.take(), {100, 100, [](const JsonMember&) { return true; }});
    ASSERT_TRUE(read.ok()) << c << " at " << place;
    ASSERT_EQ(read->members().size(), 1U);
    EXPECT_EQ(read->members().front().name, text) << c << " at " << place;
    EXPECT_EQ(read->members().front().text, text) << c << " at " << place;
  }
}

// Writers scan texts in words or blocks, where a character may be seen at one place and missed at another.
TEST(ServeJsonText, EachCharacterComesBackFromEachPlaceInTextsOfAnyLength) {
  for (const std::size_t size : {0U, 1U, 5U, 6U, 7U, 8U, 9U, 14U, 15U, 16U, 21U}) {
    SCOPED_TRACE("beside " + std::to_string(size) + " characters");
    for (std::size_t place = 0; place <= size; ++place) {
      expect_each_comes_back(std::string(size, 'a'), place);
      expect_each_comes_back(std::string(size, 'a') + "\xC3\xA9\xF0\x9F\x98\x80", place);
    }
  }
}

}  // namespace
}  // namespace varve::serve::json_text_test
