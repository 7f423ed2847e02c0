// Owns: the tests of ends: their forms, and their sums in indexes.
#include "format/keys/ends.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/format/hex_text.h"
#include "tests/format/random_values.h"

namespace varve::format::ends_test {
namespace {

TEST(Ends, AnEndAndAnAgeAreDifferent) {
  EXPECT_FALSE(is_end(0));
  EXPECT_TRUE(is_end(1));
  EXPECT_TRUE(is_end(kCommitVersionMax));
  EXPECT_FALSE(is_end(kCommitVersionMax + 1));
  EXPECT_FALSE(is_end(kAgeMark + 1));
  EXPECT_FALSE(is_age(kAgeMark));
  EXPECT_TRUE(is_age(kAgeMark + 1));
  EXPECT_FALSE(is_age(1));
  EXPECT_EQ(end_of_age(kAgeMark + 5, 100), 105u);
  EXPECT_EQ(end_of_age(kAgeMark + kCommitVersionMax, kCommitVersionMax), kCommitVersionMax);
}

TEST(Ends, AnEndPrecedesTheValue) {
  std::string stored;
  append_u64(stored, 0x0102);
  stored += "value";
  EXPECT_EQ(end_in(stored), 0x0102u);
  EXPECT_EQ(behind_end(stored), "value");
}

TEST(Ends, SumsAreThoseOfAllEnds) {
  Ends ends;
  ends.add(Ends());
  EXPECT_EQ(ends, Ends());
  ends.add(7);
  EXPECT_EQ(ends, (Ends{1, 7, 7}));
  ends.add({3, 2, 9});
  ends.add(5);
  ends.add(Ends());
  EXPECT_EQ(ends, (Ends{5, 2, 9}));
}

TEST(Ends, AreReadAsTheyWereWritten) {
  RandomValues random(1);
  for (int i = 0; i < 1000; ++i) {
    Ends ends;
    for (std::uint64_t count = 1 + random.below(5); count > 0; --count) ends.add(1 + random.below(kCommitVersionMax));
    std::string bytes;
    append_ends(bytes, ends);
    const Result<Ends> read = decode_ends(bytes);
    ASSERT_TRUE(read.ok());
    ASSERT_EQ(*read, ends);
  }
}

TEST(Ends, ImpossibleSumsAreCorruption) {
  for (const char* const hex : {
           "",                                        // nothing
           "01",                                      // no ends
           "01 05",                                   // no distance
           "00 05 00",                                // no entry
           "01 00 00",                                // an end of zero
           "01 05 00 00",                             // a byte too many
           "01 80 80 80 80 80 80 80 80 40 00",        // 2^62
           "02 01 ff ff ff ff ff ff ff ff 3f",        // beyond the last end
           "02 01 ff ff ff ff ff ff ff ff ff ff 01",  // no varint
       }) {
    SCOPED_TRACE(hex);
    EXPECT_EQ(decode_ends(from_hex(hex)).code(), Code::kCorruption);
  }
}

}  // namespace
}  // namespace varve::format::ends_test
