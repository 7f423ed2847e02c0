// Goal: the last write of a segment contains its footer, and a power cut may tear this write like any other. Bytes left
// after the footer are damage only if the footer is known to be durable.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/store_image.h"

namespace varve::engine::recovery_footer_test {
namespace {

using test::LogWriter;
using test::StoreImage;
using Rows = std::vector<std::string>;

/// Writes segment 1 with a commit and a footer, and returns the footer's offset. The segment is not cut yet.
std::uint64_t seal_with_a_commit(LogWriter& log) {
  log.put(1, "a", "1");
  log.end_write();
  log.all_durable();
  log.seal();
  return log.last_record();
}

std::string with_byte(std::string bytes, std::uint64_t offset) {
  bytes[offset] = '\xa5';
  return bytes;
}

TEST(RecoveryFooter, GarbageThatItsTornWriteLeftBehindItIsNoDamage) {
  StoreImage image;
  LogWriter log = image.log();
  const std::uint64_t footer = seal_with_a_commit(log);
  for (const std::uint64_t offset : {footer + 200, footer + 2048, footer + io::kSectorBytes - 1}) {
    SCOPED_TRACE(offset);
    image.write(StoreImage::log_name(log), with_byte(log.file(), offset));
    const auto recovered = image.recover();
    ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
    EXPECT_EQ(test::rows_of(*recovered), Rows{"a=1@1"});
    EXPECT_GT(recovered->figures.torn_bytes, 0u);
    test::StoreMachine machine(image.disk);
    ASSERT_TRUE(machine.open().ok());  // the established store is complete
    test::StoreMachine again(machine.files.snapshot());
    const auto second = again.read();
    ASSERT_TRUE(second.ok()) << second.status().to_string();
    EXPECT_EQ(test::rows_of(*second), Rows{"a=1@1"});
  }
}

TEST(RecoveryFooter, AnythingBehindItsWriteIsDamage) {
  StoreImage image;
  LogWriter log = image.log();
  const std::uint64_t footer = seal_with_a_commit(log);
  image.write(StoreImage::log_name(log), with_byte(log.file(), footer + io::kSectorBytes));
  const auto recovered = image.recover();
  EXPECT_EQ(recovered.code(), Code::kCorruption);
  EXPECT_NE(recovered.status().to_string().find("after the footer"), std::string::npos);
}

TEST(RecoveryFooter, GarbageInItsSectorIsDamageOnceTheFileWasCut) {
  StoreImage image;
  LogWriter log = image.log();
  const std::uint64_t footer = seal_with_a_commit(log);
  image.write(StoreImage::log_name(log), with_byte(log.cut_file(), footer + 2048));
  const auto recovered = image.recover();
  EXPECT_EQ(recovered.code(), Code::kCorruption);
  EXPECT_NE(recovered.status().to_string().find("after the footer"), std::string::npos);
}

}  // namespace
}  // namespace varve::engine::recovery_footer_test
