// Goal: in a segment that was in use, recovery finds exactly the records that form one sequence from the first,
// whatever bytes the crash left after them. If later bytes prove that data was durable, its loss never counts as an
// unfinished end.
#include <gtest/gtest.h>

#include "engine/recovery/recovery.h"
#include "format/bytes/bytes.h"
#include "tests/support/store_image.h"

namespace varve::engine::recovery_log_test {
namespace {

using test::LogWriter;
using test::StoreImage;
using test::WrittenRange;
using Rows = std::vector<std::string>;

/// Three commits, one write each. No write is known to be durable.
struct ThreeWrites {
  ThreeWrites() : log(image.log()) {
    for (int index = 0; index < 3; ++index) {
      log.put(static_cast<CommitVersion>(100 + index), "row" + std::to_string(index), "v");
      log.end_write();
    }
    image.write_log(log);
  }
  StoreImage image;
  LogWriter log;
  const Rows all{"row0=v@100", "row1=v@101", "row2=v@102"};
};

void expect_rows(const Result<Recovered>& recovered, const Rows& rows) {
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(test::rows_of(*recovered), rows);
}

void expect_corruption(const Result<Recovered>& recovered, std::string_view where) {
  ASSERT_EQ(recovered.code(), Code::kCorruption) << recovered.status().to_string();
  EXPECT_NE(recovered.status().message().find(where), std::string::npos) << recovered.status().to_string();
}

std::string at_offset(const LogWriter& log, std::uint64_t offset) {
  return StoreImage::log_name(log) + ", offset " + std::to_string(offset) + ":";
}

TEST(RecoveryLog, AnUnusedStoreIsEmpty) {
  const StoreImage image;
  const Result<Recovered> recovered = image.recover();
  expect_rows(recovered, {});
  EXPECT_FALSE(recovered->clean);
  EXPECT_FALSE(recovered->in_doubt.has_value());
  EXPECT_EQ(recovered->unused_segments, std::vector<std::uint64_t>{image.segment_number});
  EXPECT_EQ(recovered->last_version, 0u);
  EXPECT_EQ(recovered->figures.torn_bytes, 0u);
}

TEST(RecoveryLog, ReadsWhatWasWritten) {
  const ThreeWrites written;
  const Result<Recovered> recovered = written.image.recover();
  expect_rows(recovered, written.all);
  EXPECT_EQ(recovered->last_version, 102u);
  EXPECT_EQ(recovered->version_ceiling, 102u);
  EXPECT_EQ(recovered->figures.log_records, 3u);
  EXPECT_EQ(recovered->figures.commits, 3u);
  EXPECT_EQ(recovered->figures.commits_from_buffer, 0u);
  EXPECT_EQ(recovered->figures.torn_bytes, 0u);
  ASSERT_TRUE(recovered->in_doubt.has_value());
  EXPECT_EQ(recovered->in_doubt->records, (std::vector<std::uint64_t>{4096, 8192, 12288}));
  EXPECT_EQ(recovered->in_doubt->last_version, 102u);
}

TEST(RecoveryLog, SeveralRecordsInOneWriteAndRecordsOfManySectorsAreRead) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(5, "a", "1");
  log.group(6, {test::put_of("b", "2"), test::put_of("c", "3")});
  log.watermark();
  log.end_write();
  log.put(20, "d", std::string(30'000, 'x'));
  log.put(21, "e", "5");
  log.end_write();
  image.write_log(log);
  const Result<Recovered> recovered = image.recover();
  expect_rows(recovered, {"a=1@5", "b=2@6", "c=3@7", "d=" + std::string(30'000, 'x') + "@20", "e=5@21"});
  EXPECT_EQ(recovered->figures.commits, 5u);
  EXPECT_EQ(recovered->figures.log_records, 5u);
}

TEST(RecoveryLog, TheCeilingIsTheHighestFoundAnywhere) {
  StoreImage image;
  LogWriter log = image.log();
  log.ceiling(900).put(5, "a", "1");
  log.end_write();
  log.ceiling(4'000).watermark();
  log.end_write();
  log.ceiling(70).put(6, "b", "1");
  log.end_write();
  image.write_log(log);
  const Result<Recovered> recovered = image.recover();
  ASSERT_TRUE(recovered.ok());
  EXPECT_EQ(recovered->version_ceiling, 4'000u);
  EXPECT_EQ(recovered->last_version, 6u);
}

TEST(RecoveryLog, RetiredIdsAndTheLastTagAreFound) {
  StoreImage image;
  LogWriter log = image.log();
  format::BatchBuilder first;
  first.set_tag("one");
  first.put(test::key_of_row("a"), "1");
  log.group(10, {first.finish()});
  format::BatchBuilder drop;
  drop.retire_table(format::make_table_id(5, 9));
  drop.retire_account(6);
  drop.set_tag("two");
  log.group(11, {drop.finish()});
  log.put(12, "b", "1");
  log.end_write();
  image.write_log(log);
  const Result<Recovered> recovered = image.recover();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(recovered->retired.dropped_at(format::make_table_id(5, 9)), 11u);
  EXPECT_EQ(recovered->retired.dropped_at(format::make_table_id(6, 1)), 11u);
  EXPECT_EQ(recovered->retired.dropped_at(format::make_table_id(5, 8)), std::nullopt);
  ASSERT_TRUE(recovered->last_tag.has_value());
  EXPECT_EQ(recovered->last_tag->bytes, "two");
  EXPECT_EQ(recovered->last_tag->version, 11u);
}

TEST(RecoveryLog, WhatTheManifestKnowsOfDeadIdsAndTheTagIsKept) {
  StoreImage image;
  format::ManifestEdit edit;
  edit.added_dead_ids.push_back({std::string("\0\0\0\7", 4), 3, {}});
  edit.commit_tag = format::CommitTag{2, "from the manifest", {}};
  edit.version_ceiling = 77;
  image.append_edit(edit);
  const Result<Recovered> recovered = image.recover();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(recovered->retired.dropped_at(format::make_table_id(7, 4)), 3u);
  EXPECT_EQ(recovered->last_tag->bytes, "from the manifest");
  EXPECT_EQ(recovered->version_ceiling, 77u);
}

// -- Torn tails -------------------------------------------------------------------------------------------------------

TEST(RecoveryLog, ATailTornAtAnyByteIsTheEnd) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(1, "a", "1");
  log.end_write();
  log.all_durable().put(2, "b", "2");
  const std::uint64_t second = log.put(3, "c", std::string(5'000, 'c'));
  const std::uint64_t third_end = log.position();
  const WrittenRange last = log.end_write();
  const std::string whole = log.file();
  for (std::uint64_t kept = last.begin; kept < last.end; kept += kept < second + 200 ? 1 : 97) {
    SCOPED_TRACE(kept);
    for (const char rest : {'\0', '\xa5'}) {
      std::string torn = whole;
      std::fill(torn.begin() + static_cast<std::ptrdiff_t>(kept), torn.begin() + static_cast<std::ptrdiff_t>(last.end),
                rest);
      image.write(StoreImage::log_name(log), torn);
      const Result<Recovered> recovered = image.recover();
      ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
      Rows rows{"a=1@1"};
      if (recovered->last_version >= 2) rows.push_back("b=2@2");
      if (recovered->last_version >= 3) rows.push_back("c=" + std::string(5'000, 'c') + "@3");
      EXPECT_EQ(test::rows_of(*recovered), rows);
      if (rest == '\0') continue;  // Missing zeros at a record's own end make no difference.
      const CommitVersion expected = kept >= third_end ? 3 : kept >= second ? 2 : 1;
      EXPECT_EQ(recovered->last_version, expected);
    }
  }
}

TEST(RecoveryLog, AnySetOfLostWritesLeavesTheRecordsBeforeTheFirst) {
  const ThreeWrites written;
  const std::string whole = written.log.file();
  for (unsigned lost = 0; lost < 8; ++lost) {
    for (const char rest : {'\0', '\x5a'}) {
      SCOPED_TRACE(lost);
      StoreImage image = written.image;
      std::string file = whole;
      std::size_t first_lost = 3;
      for (std::size_t index = 3; index-- > 0;) {
        if ((lost >> index & 1) == 0) continue;
        const WrittenRange range = written.log.writes()[index];
        std::fill(file.begin() + static_cast<std::ptrdiff_t>(range.begin),
                  file.begin() + static_cast<std::ptrdiff_t>(range.end), rest);
        first_lost = index;
      }
      image.write(StoreImage::log_name(written.log), file);
      expect_rows(image.recover(), Rows(written.all.begin(), written.all.begin() + static_cast<int>(first_lost)));
    }
  }
}

TEST(RecoveryLog, TornBytesAreCountedFromTheEndOfTheLogToTheLastByteWritten) {
  const ThreeWrites written;
  StoreImage image = written.image;
  std::string file = written.log.file();
  file[8192] = static_cast<char>(~file[8192]);  // Damages the second of three writes; the third is complete.
  image.write(StoreImage::log_name(written.log), file);
  const Result<Recovered> recovered = image.recover();
  expect_rows(recovered, {"row0=v@100"});
  EXPECT_GT(recovered->figures.torn_bytes, 4096u);
  EXPECT_LE(recovered->figures.torn_bytes, 8192u);
}

// -- Damage -----------------------------------------------------------------------------------------------------------

TEST(RecoveryLog, AHoleBelowALaterDurableMarkIsDamage) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(1, "a", "1");
  log.end_write();
  log.put(2, "b", "2");
  const WrittenRange second = log.end_write();
  log.all_durable().put(3, "c", "3");
  log.end_write();
  const std::string whole = log.file();
  for (std::uint64_t at = second.begin; at < second.begin + 150; ++at) {
    SCOPED_TRACE(at);
    std::string file = whole;
    file[static_cast<std::size_t>(at)] = static_cast<char>(file[static_cast<std::size_t>(at)] ^ 0x10);
    image.write(StoreImage::log_name(log), file);
    const Result<Recovered> recovered = image.recover();
    ASSERT_EQ(recovered.code(), Code::kCorruption);
  }
  std::string file = whole;
  std::fill(file.begin() + 8192, file.begin() + 12288, '\0');
  image.write(StoreImage::log_name(log), file);
  expect_corruption(image.recover(), at_offset(log, 8192));
}

TEST(RecoveryLog, AMarkThatEndsAtTheHoleProvesNothing) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(1, "a", "1");
  log.end_write();
  log.all_durable().put(2, "b", "2");
  log.end_write();
  log.put(3, "c", "3");  // In flight together with the write before it.
  log.end_write();
  std::string file = log.file();
  std::fill(file.begin() + 8192, file.begin() + 12288, '\0');
  image.write(StoreImage::log_name(log), file);
  expect_rows(image.recover(), {"a=1@1"});
}

TEST(RecoveryLog, TheMarkOfASecondRecordInAWriteCountsToo) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(1, "a", "1");
  log.end_write();
  log.put(2, "b", "2");
  log.durable_upto(8192).put(3, "c", "3");
  log.end_write();
  std::string file = log.file();
  file[4100] = static_cast<char>(~file[4100]);
  image.write(StoreImage::log_name(log), file);
  expect_corruption(image.recover(), at_offset(log, 4096));
}

TEST(RecoveryLog, AWatermarkMakesDamageOfWhatItCovers) {
  const ThreeWrites written;
  StoreImage image = written.image;
  LogWriter log = written.log;
  log.all_durable().watermark();
  log.end_write();
  for (const std::uint64_t at : {4096u, 8200u, 12300u}) {
    SCOPED_TRACE(at);
    std::string file = log.file();
    file[at] = static_cast<char>(~file[at]);
    image.write(StoreImage::log_name(log), file);
    expect_corruption(image.recover(), at_offset(log, at / 4096 * 4096));
  }
}

// The second record of a sector is lost as zeros, and the next write is complete: only the chain of records shows the
// loss.
TEST(RecoveryLog, ARecordLostWithinASectorIsNeverPassedOver) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(1, "a", "1");
  const std::uint64_t lost = log.put(2, "b", "2");
  log.end_write();
  log.put(3, "c", "3");
  log.end_write();
  std::string file = log.file();
  std::fill(file.begin() + static_cast<std::ptrdiff_t>(lost), file.begin() + 8192, '\0');
  image.write(StoreImage::log_name(log), file);
  expect_rows(image.recover(), {"a=1@1"});

  // As above, but a later record states that the sector was durable.
  log.durable_upto(8192).put(4, "d", "4");
  log.end_write();
  file = log.file();
  std::fill(file.begin() + static_cast<std::ptrdiff_t>(lost), file.begin() + 8192, '\0');
  image.write(StoreImage::log_name(log), file);
  expect_corruption(image.recover(), at_offset(log, lost));
}

// A record ends within a sector, complete and durable, and the next write is torn: the mark at the end of the sector is
// no contradiction.
TEST(RecoveryLog, TheEndOfADurableSectorIsNotTheEndOfItsLastRecord) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(1, "a", "1");
  log.end_write();
  log.all_durable().put(2, "b", "2");
  log.end_write();
  log.put(3, "c", "3");
  log.end_write();
  std::string file = log.file();
  std::fill(file.begin() + 8192, file.begin() + 12288, '\x11');
  image.write(StoreImage::log_name(log), file);
  expect_rows(image.recover(), {"a=1@1"});
}

TEST(RecoveryLog, FillingThatIsNotZeroIsDamageBelowAMark) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(1, "a", "1");
  log.end_write();
  log.all_durable().put(2, "b", "2");
  log.end_write();
  std::string file = log.file();
  file[8191] = 1;
  image.write(StoreImage::log_name(log), file);
  EXPECT_EQ(image.recover().code(), Code::kCorruption);
}

TEST(RecoveryLog, BytesBehindTheHeaderAreDamage) {
  const ThreeWrites written;
  for (const std::size_t at : {0u, 20u, 63u, 64u, 4095u}) {
    SCOPED_TRACE(at);
    StoreImage image = written.image;
    std::string file = written.log.file();
    file[at] = static_cast<char>(file[at] ^ 1);
    image.write(StoreImage::log_name(written.log), file);
    expect_corruption(image.recover(), StoreImage::log_name(written.log));
  }
}

TEST(RecoveryLog, ASegmentCutShortIsDamage) {
  const ThreeWrites written;
  for (const std::size_t size : {0u, 63u, 4096u, 8192u, 12289u, 16384u, (1u << 20) - 4096u, (1u << 20) - 1u}) {
    SCOPED_TRACE(size);
    StoreImage image = written.image;
    image.write(StoreImage::log_name(written.log), written.log.file().substr(0, size));
    expect_corruption(image.recover(), StoreImage::log_name(written.log));
  }
}

TEST(RecoveryLog, AMissingSegmentIsDamage) {
  ThreeWrites written;
  written.image.remove(StoreImage::log_name(written.log));
  expect_corruption(written.image.recover(), StoreImage::log_name(written.log));
}

TEST(RecoveryLog, ASegmentLargerThanAnyCanBeIsNotRead) {
  ThreeWrites written;
  const Status grown =
      written.image.disk.truncate(test::path_of(StoreImage::log_name(written.log)), kSegmentBytesReadMax + 4096);
  ASSERT_TRUE(grown.ok());
  expect_corruption(written.image.recover(), StoreImage::log_name(written.log));
}

TEST(RecoveryLog, AnotherStoresSegmentIsDamage) {
  ThreeWrites written;
  StoreImage other(2);
  LogWriter log = other.log();
  log.put(1, "x", "y");
  log.end_write();
  written.image.write(StoreImage::log_name(written.log), log.file());
  expect_corruption(written.image.recover(), at_offset(log, 0));
}

// -- Verified records that make no sense ------------------------------------------------------------------------------

Result<Recovered> recover_with(const format::RecordHeader& header, std::string_view payload) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(10, "a", "1");
  log.end_write();
  log.record(header, payload);
  log.end_write();
  image.write_log(log);
  return image.recover();
}

TEST(RecoveryLog, AVersionThatDoesNotRiseIsDamage) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(10, "a", "1");
  log.put(10, "b", "1");
  log.end_write();
  image.write_log(log);
  EXPECT_EQ(image.recover().code(), Code::kCorruption);
}

TEST(RecoveryLog, ARecordOfAnotherSegmentIsDamage) {
  format::RecordHeader header;
  header.type = format::RecordType::kWatermark;
  header.file_number = 900;
  expect_corruption(recover_with(header, {}), "offset 8192");
}

TEST(RecoveryLog, ARecordThatCallsItselfDurableIsDamage) {
  format::RecordHeader header;
  header.type = format::RecordType::kWatermark;
  header.durable_upto = 8200;
  expect_corruption(recover_with(header, {}), "offset 8192");
}

TEST(RecoveryLog, AManifestEditInALogIsDamage) {
  format::RecordHeader header;
  header.type = format::RecordType::kManifestEdit;
  expect_corruption(recover_with(header, {}), "offset 8192");
}

TEST(RecoveryLog, AWatermarkWithVersionsIsDamage) {
  format::RecordHeader header;
  header.type = format::RecordType::kWatermark;
  header.last_version = 20;
  expect_corruption(recover_with(header, {}), "offset 8192");
}

TEST(RecoveryLog, AGroupThatDoesNotHoldTogetherIsDamage) {
  format::RecordHeader header;
  header.type = format::RecordType::kGroup;
  header.first_version = 20;
  header.last_version = 21;
  expect_corruption(recover_with(header, "no members"), "offset 8192");
}

TEST(RecoveryLog, ABatchThatDoesNotHoldTogetherIsDamage) {
  StoreImage image;
  LogWriter log = image.log();
  log.group(3, {"this is no batch"});
  log.end_write();
  image.write_log(log);
  const Result<Recovered> recovered = image.recover();
  EXPECT_FALSE(recovered.ok());
  EXPECT_NE(recovered.code(), Code::kOk);
  EXPECT_NE(recovered.status().message().find("offset 4096"), std::string::npos) << recovered.status().to_string();
}

TEST(RecoveryLog, ABatchWithAKeyTwiceIsDamage) {
  StoreImage image;
  LogWriter log = image.log();
  const std::string once = test::put_of("a", "1");
  // Flags, count, and the one operation twice.
  std::string twice = once.substr(0, 1) + std::string(1, '\x02') + once.substr(2) + once.substr(2);
  log.group(3, {twice});
  log.end_write();
  image.write_log(log);
  expect_corruption(image.recover(), "offset 4096");
}

TEST(RecoveryLog, ARecordOfAnUnknownTypeIsUnsupportedWhereverItStands) {
  for (const bool behind_a_hole : {false, true}) {
    SCOPED_TRACE(behind_a_hole);
    StoreImage image;
    LogWriter log = image.log();
    log.put(1, "a", "1");
    log.end_write();
    log.put(2, "b", "1");
    log.end_write();
    format::RecordHeader header;
    header.type = static_cast<format::RecordType>(77);
    log.record(header, "from another day");
    log.end_write();
    std::string file = log.file();
    if (behind_a_hole) std::fill(file.begin() + 8192, file.begin() + 12288, '\0');
    image.write(StoreImage::log_name(log), file);
    const Result<Recovered> recovered = image.recover();
    EXPECT_EQ(recovered.code(), Code::kUnsupported) << recovered.status().to_string();
    EXPECT_NE(recovered.status().message().find("offset 12288"), std::string::npos);
  }
}

// -- Loaded tables ----------------------------------------------------------------------------------------------------

constexpr format::TableId kLoading = format::make_table_id(5, 10);

void begin_load(StoreImage& image) {
  format::ManifestEdit edit;
  edit.added_loading_ids = {kLoading};
  image.append_edit(edit);
}

std::string adoption() {
  format::BatchBuilder batch;
  batch.adopt(kLoading);
  return batch.finish();
}

TEST(RecoveryLog, AnAdoptionKeepsALoadThatTheManifestKnows) {
  StoreImage image;
  begin_load(image);
  LogWriter log = image.log();
  log.group(1, {adoption()});
  log.end_write();
  image.write_log(log);
  const Result<Recovered> recovered = image.recover();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(recovered->adopted, std::vector<format::TableId>{kLoading});
  EXPECT_EQ(recovered->files.loading_ids, std::vector<format::TableId>{kLoading});
  EXPECT_EQ(recovered->retired.size(), 0u);
}

TEST(RecoveryLog, ALoadWithoutAnAdoptionIsForgotten) {
  StoreImage image;
  begin_load(image);
  const Result<Recovered> recovered = image.recover();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_TRUE(recovered->adopted.empty());
  EXPECT_TRUE(recovered->files.loading_ids.empty());
}

TEST(RecoveryLog, AnAdoptionOfWhatIsNotLoadedIsDamage) {
  StoreImage image;
  LogWriter log = image.log();
  const std::uint64_t offset = log.group(1, {adoption()});
  log.end_write();
  image.write_log(log);
  expect_corruption(image.recover(), at_offset(log, offset));
}

TEST(RecoveryLog, ASecondAdoptionIsDamage) {
  StoreImage image;
  begin_load(image);
  LogWriter log = image.log();
  log.group(1, {adoption()});
  const std::uint64_t offset = log.group(2, {adoption()});
  log.end_write();
  image.write_log(log);
  expect_corruption(image.recover(), at_offset(log, offset));
}

TEST(RecoveryLog, ANewerSegmentFormatIsUnsupported) {
  ThreeWrites written;
  std::string file = written.log.file();
  const std::string header = format::encode_file_header(
      {format::FileType::kLogSegment, format::kFormatVersion + 1, written.log.seed(), written.log.number()});
  file.replace(0, header.size(), header);
  written.image.write(StoreImage::log_name(written.log), file);
  EXPECT_EQ(written.image.recover().code(), Code::kUnsupported);
}

}  // namespace
}  // namespace varve::engine::recovery_log_test
