// Goal: pointers to values and their sums read back as written, and impossible ones are refused.
// Method: round trips, and each bound from both sides. The fuzzer value_pointer covers the rest.
#include "format/keys/value_pointer.h"

#include <string>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"

namespace varve::format::value_pointer_test {
namespace {

std::string bytes_of(const ValuePointer& pointer) {
  std::string bytes;
  append_value_pointer(bytes, pointer);
  return bytes;
}

TEST(ValuePointer, ReadsBackAsWritten) {
  const ValuePointer pointer{42, 8232, 65536, 0x1122334455667788};
  const std::string bytes = bytes_of(pointer);
  EXPECT_EQ(bytes, std::string("\x2a\xa8\x40\x80\x80\x04\x88\x77\x66\x55\x44\x33\x22\x11", 14));
  const Result<ValuePointer> again = decode_value_pointer(bytes);
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(*again, pointer);
}

TEST(ValuePointer, RefusesWhatCannotBe) {
  const std::string good = bytes_of({42, 8232, 65536, 1});
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(decode_value_pointer(std::string_view(good).substr(0, size)).code(), Code::kCorruption) << size;
  }
  EXPECT_EQ(decode_value_pointer(good + "x").code(), Code::kCorruption);
  EXPECT_EQ(decode_value_pointer(bytes_of({0, 1, 1, 1})).code(), Code::kCorruption);
  EXPECT_EQ(decode_value_pointer(bytes_of({1, 1, 0, 1})).code(), Code::kCorruption);
  EXPECT_EQ(decode_value_pointer(bytes_of({1, 1, (64u << 20) + 1, 1})).code(), Code::kCorruption);
  EXPECT_TRUE(decode_value_pointer(bytes_of({1, 1, 64u << 20, 1})).ok());
  EXPECT_EQ(decode_value_pointer(bytes_of({1, (std::uint64_t{1} << 56) + 1, 1, 1})).code(), Code::kCorruption);
}

TEST(ValueFileUses, AreSummedByFileInTheOrderOfNumbers) {
  ValueFileUses uses;
  for (const ValueFileUse& use : {ValueFileUse{9, 5}, ValueFileUse{3, 1}, ValueFileUse{9, 2}, ValueFileUse{5, 7}}) {
    add_value_file_use(uses, use);
  }
  EXPECT_EQ(uses, (ValueFileUses{{3, 1}, {5, 7}, {9, 7}}));
  const Result<ValueFileUses> again = decode_value_file_uses(encode_value_file_uses(uses));
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(*again, uses);
}

TEST(ValueFileUses, RefuseWhatCannotBe) {
  EXPECT_EQ(decode_value_file_uses("").code(), Code::kCorruption);
  EXPECT_EQ(decode_value_file_uses("\x01").code(), Code::kCorruption);
  EXPECT_EQ(decode_value_file_uses(std::string("\x00\x01", 2)).code(), Code::kCorruption);
  EXPECT_EQ(decode_value_file_uses(std::string("\x01\x00", 2)).code(), Code::kCorruption);
  EXPECT_EQ(decode_value_file_uses("\x02\x01\x02\x01").code(), Code::kCorruption);
  EXPECT_EQ(decode_value_file_uses("\x02\x01\x01\x01").code(), Code::kCorruption);
  EXPECT_TRUE(decode_value_file_uses("\x01\x01\x02\x01").ok());
}

}  // namespace
}  // namespace varve::format::value_pointer_test
