// Goal: a recycled segment contains old bytes wherever nothing was written. No record of the earlier life counts, and
// the records of the new life are found as in any other segment. In a segment that is not recycled, the same bytes are
// damage.
// Method: the old and the new life are framed independently of the engine. The file mixes both by device sectors.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/log/write_depth.h"
#include "io/simulated/crash_image.h"
#include "tests/support/store_image.h"

namespace varve::engine::recovery_recycled_test {
namespace {

using test::LogWriter;
using test::StoreImage;
using test::WrittenRange;
using Rows = std::vector<std::string>;

constexpr std::uint64_t kOldNumber = 77;
constexpr std::uint64_t kOldSeed = 0x0123456789abcdef;

/// Returns a whole segment of an earlier life. Its records begin at the same offsets as those of the new one.
std::string old_life() {
  LogWriter log(kOldNumber, kOldSeed);
  CommitVersion version = 1;
  while (log.position() < kSegmentBytesMin - 64 * io::kSectorBytes) {
    log.put(version, "old" + std::to_string(version), std::string(version % 5 * 3000, 'o'));
    ++version;
    log.end_write();
    log.all_durable();
  }
  log.seal();
  return log.file();
}

/// Returns the new file with old bytes in all places after `end`.
std::string over_old_bytes(const LogWriter& log, const std::string& old_bytes) {
  std::string file = log.cut_file();
  return file + old_bytes.substr(file.size());
}

std::string row_text(int index) {
  return "new" + std::to_string(index) + "=v@" + std::to_string(100 + index);
}

TEST(RecoveryRecycled, AnyMixtureOfOldAndNewSectorsEndsBehindWhatWasAcknowledged) {
  const std::string old_bytes = old_life();
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    io::SeededRandom random(seed);
    StoreImage image;
    image.remove(StoreImage::log_name(image.log()));
    format::ManifestEdit gone;
    gone.removed_segments = {image.segment_number};
    image.append_edit(gone);
    LogWriter log = image.announce(3, true);
    const std::size_t acknowledged = io::random_below(random, 5);
    const std::size_t in_flight = 1 + io::random_below(random, kLogWritesInFlightFirst);
    Rows rows;
    for (std::size_t i = 0; i < acknowledged + in_flight; ++i) {
      const int index = static_cast<int>(i);
      if (i > 0) log.durable_upto(log.writes()[std::min(i, std::max<std::size_t>(acknowledged, 1)) - 1].end);
      if (i == 0 || acknowledged == 0) log.durable_upto(kFirstRecordOffset);
      log.put(static_cast<CommitVersion>(100 + index), "new" + std::to_string(index), "v");
      if (io::one_in(random, 3)) log.watermark();
      log.end_write();
      rows.push_back(row_text(index));
    }
    // Every device sector of a write in flight is new, old or torn.
    const std::string new_bytes = log.cut_file();
    std::string file = over_old_bytes(log, old_bytes);
    const std::uint64_t begin = acknowledged == 0 ? kFirstRecordOffset : log.writes()[acknowledged - 1].end;
    for (std::uint64_t at = begin; at < new_bytes.size(); at += io::kDeviceSectorBytes) {
      const std::uint64_t choice = io::random_below(random, 4);
      std::uint64_t kept = 0;  // of the old bytes, at the sector's end
      if (choice == 0) kept = io::kDeviceSectorBytes;
      if (choice == 1) kept = io::random_below(random, io::kDeviceSectorBytes);
      const std::uint64_t from = at + io::kDeviceSectorBytes - kept;
      file.replace(from, kept, old_bytes, from, kept);
    }
    image.write(StoreImage::log_name(log), file);

    const auto recovered = image.recover();
    ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
    const Rows found = test::rows_of(*recovered);
    ASSERT_GE(found.size(), acknowledged);
    ASSERT_EQ(found, Rows(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(found.size())));
    test::StoreMachine machine(image.disk);
    ASSERT_TRUE(machine.open().ok());
    test::StoreMachine again(machine.files.snapshot());
    const auto second = again.read();
    ASSERT_TRUE(second.ok()) << second.status().to_string();
    ASSERT_EQ(test::rows_of(*second), found);
  }
}

TEST(RecoveryRecycled, AnUnusedOneMayFollowAnUnsealedSegment) {
  StoreImage image;
  LogWriter first = image.log();
  first.put(1, "a", "1");
  first.end_write();
  image.write_log(first);
  const LogWriter next = image.announce(3, true);
  image.write(StoreImage::log_name(next), over_old_bytes(next, old_life()));
  const auto recovered = image.recover();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(test::rows_of(*recovered), Rows{"a=1@1"});
  EXPECT_EQ(recovered->unused_segments, std::vector<std::uint64_t>{3});
}

TEST(RecoveryRecycled, InAnyOtherSegmentOldBytesAreDamage) {
  StoreImage image;
  LogWriter first = image.log();
  first.put(1, "a", "1");
  first.end_write();
  image.write_log(first);
  const LogWriter next = image.announce(3, false);
  image.write(StoreImage::log_name(next), over_old_bytes(next, old_life()));
  EXPECT_EQ(image.recover().code(), Code::kCorruption);
}

TEST(RecoveryRecycled, ARecordInItProvesThatTheSegmentBeforeItWasSealed) {
  StoreImage image;
  LogWriter first = image.log();
  first.put(1, "a", "1");
  first.end_write();
  image.write_log(first);
  LogWriter next = image.announce(3, true);
  next.put(2, "b", "2");
  next.end_write();
  image.write(StoreImage::log_name(next), over_old_bytes(next, old_life()));
  const auto recovered = image.recover();
  EXPECT_EQ(recovered.code(), Code::kCorruption);
  EXPECT_NE(recovered.status().to_string().find("never sealed"), std::string::npos) << recovered.status().to_string();
}

TEST(RecoveryRecycled, OldBytesBehindAFooterThatWasNotYetCutAreNoDamage) {
  for (const bool is_recycled : {true, false}) {
    SCOPED_TRACE(is_recycled);
    StoreImage image;
    LogWriter first = image.log();
    first.put(1, "a", "1");
    first.end_write();
    first.all_durable();
    first.seal();
    image.write_cut_log(first);
    LogWriter next = image.announce(3, is_recycled);
    next.put(2, "b", "2");
    next.end_write();
    next.all_durable();
    next.seal();
    image.write(StoreImage::log_name(next), over_old_bytes(next, old_life()));
    const auto recovered = image.recover();
    ASSERT_EQ(recovered.ok(), is_recycled) << recovered.status().to_string();
    if (is_recycled) {
      EXPECT_EQ(test::rows_of(*recovered), (Rows{"a=1@1", "b=2@2"}));
    }
  }
}

TEST(RecoveryRecycled, ALostRecordBelowADurableMarkIsDamage) {
  const std::string old_bytes = old_life();
  StoreImage image;
  LogWriter first = image.log();
  first.put(1, "a", "1");
  first.end_write();
  first.all_durable();
  first.seal();
  image.write_cut_log(first);
  LogWriter next = image.announce(3, true);
  next.put(2, "b", "2");
  const WrittenRange lost = next.end_write();
  next.all_durable();
  next.put(3, "c", "3");
  next.end_write();
  std::string file = over_old_bytes(next, old_bytes);
  const auto length = static_cast<std::size_t>(lost.end - lost.begin);
  file.replace(lost.begin, length, old_bytes, lost.begin, length);
  image.write(StoreImage::log_name(next), file);
  const auto recovered = image.recover();
  EXPECT_EQ(recovered.code(), Code::kCorruption);
  EXPECT_NE(recovered.status().to_string().find("were durable"), std::string::npos) << recovered.status().to_string();
}

TEST(RecoveryRecycled, AClosedOneHasTheRulesOfAllSegments) {
  StoreImage image;
  LogWriter first = image.log();
  first.put(1, "a", "1");
  first.end_write();
  first.all_durable();
  first.seal();
  image.write_cut_log(first);
  image.close_in_manifest(first);
  LogWriter next = image.announce(3, true);
  next.put(2, "b", "2");
  next.end_write();
  next.all_durable();
  next.seal();
  image.close_in_manifest(next);
  image.write_cut_log(next);
  ASSERT_TRUE(image.recover().ok());
  std::string torn = next.cut_file();
  torn.back() = 'x';
  image.write(StoreImage::log_name(next), torn);
  EXPECT_EQ(image.recover().code(), Code::kCorruption);
}

}  // namespace
}  // namespace varve::engine::recovery_recycled_test
