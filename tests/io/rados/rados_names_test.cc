// Goal: an address is parsed whole or refused with a reason, and an entry of a root is read only as it is written.
#include "io/rados/rados_names.h"

#include <gtest/gtest.h>

#include "tests/io/io_test_support.h"

namespace varve::io::rados_names_test {
namespace {

TEST(RadosNames, AnAddressHasAPoolAndAName) {
  const Result<RadosAddress> address = parse_rados_address("rados:my-pool.1/Store_2");
  ASSERT_TRUE(is_ok(address));
  EXPECT_EQ(address->pool, "my-pool.1");
  EXPECT_EQ(address->name, "Store_2");
  EXPECT_TRUE(is_ok(parse_rados_address("rados:p/" + std::string(64, 'a'))));
}

TEST(RadosNames, AnAddressThatIsNoneIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("rados"), std::string("rados:"), std::string("rados:p"), std::string("rados:p/"),
        std::string("rados:/n"), std::string("rados:p/n/m"), std::string("rados:p/n m"), std::string("Rados:p/n"),
        std::string("rados://p/n"), std::string("/p/n"), "rados:p/" + std::string(65, 'a'),
        std::string("rados:p/\xc3\xa4")}) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(fails_with(parse_rados_address(text), Code::kInvalidArgument));
  }
}

TEST(RadosNames, AnEntryIsReadAsItIsWritten) {
  for (const FilePhase phase :
       {FilePhase::kGrowing, FilePhase::kFinished, FilePhase::kSegment, FilePhase::kCutSegment}) {
    const FileEntry entry{phase, 12, 345, 67'890};
    const Result<FileEntry> read = parse_entry(entry_text(entry));
    ASSERT_TRUE(is_ok(read));
    EXPECT_EQ(entry_text(*read), entry_text(entry));
    EXPECT_EQ(read->phase, phase);
    EXPECT_EQ(read->id(), "12.345");
    EXPECT_EQ(read->size_bytes, 67'890U);
  }
  EXPECT_EQ(entry_text({FilePhase::kSegment, 1, 2, 3}), "s 1.2 3");
}

TEST(RadosNames, AnEntryThatIsNoneIsDamage) {
  for (const char* const text : {"", "s", "s 1.2", "s 1.2 3 4", "s 1 3", "s 1.2.3 4", "s 1.2 -3", "s 01.2 3",
                                 "s 1.2 3 ", "ss 1.2 3", "s 1.2 99999999999999999999"}) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(fails_with(parse_entry(text), Code::kCorruption));
  }
  EXPECT_TRUE(fails_with(parse_entry("x 1.2 3"), Code::kUnsupported, "the state x"));
}

TEST(RadosNames, FormerOwnersAreReadAsTheyAreWritten) {
  EXPECT_EQ(former_owners_text({}), "");
  const FormerOwners owners = {{2, "127.0.0.1:0/7"}, {10, "[v2:[::1]:0/8,v1:[::1]:0/8] x"}};
  EXPECT_EQ(former_owners_text(owners), "2 127.0.0.1:0/7\n10 [v2:[::1]:0/8,v1:[::1]:0/8] x\n");
  const Result<FormerOwners> read = parse_former_owners(former_owners_text(owners));
  ASSERT_TRUE(is_ok(read));
  EXPECT_EQ(*read, owners);
  EXPECT_EQ(epoch_of("12.345"), 12U);
  EXPECT_EQ(epoch_of(""), 0U);
}

}  // namespace
}  // namespace varve::io::rados_names_test
