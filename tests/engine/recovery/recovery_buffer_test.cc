// Goal: data that a killed process left in the log buffer continues the log, in any order of slots and file. If it does
// not continue the log, or mixes ages after a power cut, it changes no acknowledged data.
#include <gtest/gtest.h>

#include "engine/recovery/recovery.h"
#include "format/log/file_header.h"
#include "format/log/log_buffer.h"
#include "tests/support/store_image.h"

namespace varve::engine::recovery_buffer_test {
namespace {

using test::LogWriter;
using test::StoreImage;
using test::WrittenRange;
using Rows = std::vector<std::string>;

/// One commit per write, at versions 1, 2, ... Row names are letters.
struct Writes {
  explicit Writes(int count) : log(image.log()) {
    for (int index = 0; index < count; ++index) {
      const std::string row(1, static_cast<char>('a' + index));
      log.put(static_cast<CommitVersion>(1 + index), row, "v");
      log.end_write();
      rows.push_back(row + "=v@" + std::to_string(1 + index));
    }
  }
  /// Writes only these writes to the file.
  void write_file_with(const std::vector<std::size_t>& present) {
    std::string file = log.file();
    for (std::size_t index = 0; index < log.writes().size(); ++index) {
      if (std::find(present.begin(), present.end(), index) != present.end()) continue;
      const WrittenRange range = log.writes()[index];
      std::fill(file.begin() + static_cast<std::ptrdiff_t>(range.begin),
                file.begin() + static_cast<std::ptrdiff_t>(range.end), '\0');
    }
    image.write(StoreImage::log_name(log), file);
  }
  Rows first(std::size_t count) const { return Rows(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count)); }

  StoreImage image;
  LogWriter log;
  Rows rows;
};

void expect_rows(const Result<Recovered>& recovered, const Rows& rows, std::uint64_t from_buffer) {
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(test::rows_of(*recovered), rows);
  EXPECT_EQ(recovered->figures.commits_from_buffer, from_buffer);
}

TEST(RecoveryBuffer, ASlotAloneIsTheWholeLog) {
  Writes writes(1);
  writes.image.write_slot(2, writes.log, writes.log.writes()[0]);
  expect_rows(writes.image.recover(), writes.rows, 1);
}

TEST(RecoveryBuffer, ASlotContinuesTheFile) {
  Writes writes(3);
  writes.write_file_with({0, 1});
  writes.image.write_slot(0, writes.log, writes.log.writes()[2]);
  const Result<Recovered> recovered = writes.image.recover();
  expect_rows(recovered, writes.rows, 1);
  // The image to be copied has the slot's record in its place.
  const std::string expected = writes.log.file().substr(12288, 64);
  EXPECT_EQ(recovered->in_doubt->image.view().substr(12288, 64), expected);
}

TEST(RecoveryBuffer, CommitsThatTheTablesHoldDoNotCount) {
  for (CommitVersion flushed = 0; flushed <= 3; ++flushed) {
    SCOPED_TRACE(flushed);
    Writes writes(3);
    writes.write_file_with({0});
    writes.image.write_slot(0, writes.log, writes.log.writes()[1]);
    writes.image.write_slot(1, writes.log, writes.log.writes()[2]);
    format::ManifestEdit edit;
    edit.flushed_version = flushed;
    writes.image.append_edit(edit);
    const Result<Recovered> recovered = writes.image.recover();
    ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
    EXPECT_EQ(recovered->figures.commits, 3 - flushed);
    EXPECT_EQ(recovered->figures.commits_from_buffer, std::min<std::uint64_t>(2, 3 - flushed));
  }
}

TEST(RecoveryBuffer, SlotsAndFileAlternateInAnyOrder) {
  for (unsigned in_file = 0; in_file < 16; ++in_file) {
    SCOPED_TRACE(in_file);
    Writes writes(4);
    std::vector<std::size_t> present;
    for (std::size_t index = 0; index < 4; ++index) {
      if ((in_file >> index & 1) != 0) present.push_back(index);
    }
    writes.write_file_with(present);
    for (std::size_t index = 0; index < 4; ++index) {
      // Later writes are in lower slots, because slots have no order of their own.
      if ((in_file >> index & 1) == 0) writes.image.write_slot(3 - index, writes.log, writes.log.writes()[index]);
    }
    expect_rows(writes.image.recover(), writes.rows, 4 - present.size());
  }
}

TEST(RecoveryBuffer, ManyRecordsOfOneSlotAndThenTheFile) {
  StoreImage image;
  LogWriter log = image.log();
  Rows rows;
  for (CommitVersion version = 1; version <= 200; ++version) {
    const std::string row = std::to_string(1000 + version);
    log.put(version, row, std::string(100, 'x'));
    rows.push_back(row + "=" + std::string(100, 'x') + "@" + std::to_string(version));
  }
  const WrittenRange slot = log.end_write();
  log.put(900, "2000", "behind");
  const WrittenRange behind = log.end_write();
  rows.push_back("2000=behind@900");

  std::string file = log.file();
  std::fill(file.begin() + static_cast<std::ptrdiff_t>(slot.begin),
            file.begin() + static_cast<std::ptrdiff_t>(slot.end), '\0');
  image.write(StoreImage::log_name(log), file);
  image.write_slot(1, log, slot);
  expect_rows(image.recover(), rows, 200);

  // The write was in flight when the process ended: any part of it may be in the file, including garbage.
  for (std::uint64_t torn = slot.begin; torn < slot.end; torn += 1531) {
    SCOPED_TRACE(torn);
    std::string partial = log.file();
    std::fill(partial.begin() + static_cast<std::ptrdiff_t>(torn),
              partial.begin() + static_cast<std::ptrdiff_t>(slot.end), torn % 2 == 0 ? '\0' : '\x77');
    image.write(StoreImage::log_name(log), partial);
    const Result<Recovered> recovered = image.recover();
    ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
    EXPECT_EQ(test::rows_of(*recovered), rows);
  }
  ASSERT_EQ(behind.begin, slot.end);
}

// The last record of the slot reached the file. The rest of its sector has bytes of the torn write.
TEST(RecoveryBuffer, GarbageInTheFillingOfATornWriteDoesNotEndTheLog) {
  Writes writes(3);
  std::string file = writes.log.file();
  file[8191] = 'g';  // In the filling of the first write.
  std::fill(file.begin() + 8192, file.end(), '\0');
  writes.image.write(StoreImage::log_name(writes.log), file);
  expect_rows(writes.image.recover(), writes.first(1), 0);

  writes.image.write_slot(0, writes.log, writes.log.writes()[0]);
  writes.image.write_slot(1, writes.log, writes.log.writes()[1]);
  writes.image.write_slot(2, writes.log, writes.log.writes()[2]);
  expect_rows(writes.image.recover(), writes.rows, 2);
}

// After a power cut a slot's page can be older than the write after it.
TEST(RecoveryBuffer, AnOldPageOfASlotNeverHidesARecord) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(1, "a", "1");
  const std::uint64_t second = log.put(2, "b", "2");
  const WrittenRange slot = log.end_write();
  log.put(3, "c", "3");
  log.end_write();
  std::string file = log.file();
  std::fill(file.begin() + 4096, file.begin() + 8192, '\0');  // The slot's write never reached the device,
  image.write(StoreImage::log_name(log), file);
  image.write_slot(0, log, slot);
  // and its page has only the bytes from before the second record.
  std::string buffer = image.read(image.buffer_name());
  const std::size_t page = 2 * format::kLogBufferSectorBytes;
  std::fill(buffer.begin() + static_cast<std::ptrdiff_t>(page + second - slot.begin),
            buffer.begin() + static_cast<std::ptrdiff_t>(page + 4096), '\0');
  image.write(image.buffer_name(), buffer);
  expect_rows(image.recover(), {"a=1@1"}, 1);
}

TEST(RecoveryBuffer, SlotsOfOtherSegmentsAndPlacesAreIgnored) {
  Writes writes(3);
  writes.write_file_with({0});
  LogWriter stranger(writes.log.number() + 1, writes.log.seed());
  stranger.put(50, "x", "y");
  writes.image.write_slot(0, stranger, stranger.end_write());
  LogWriter other_seed(writes.log.number(), writes.log.seed() + 1);
  other_seed.put(50, "x", "y");
  writes.image.write_slot(1, other_seed, other_seed.end_write());
  // Continues the log, but not at the end of the log.
  writes.image.write_slot(2, writes.log, writes.log.writes()[2]);
  expect_rows(writes.image.recover(), writes.first(1), 0);
}

TEST(RecoveryBuffer, AnUnverifiedSlotHeaderMeansAnUnusedSlot) {
  Writes writes(2);
  writes.write_file_with({0});
  writes.image.write_slot(0, writes.log, writes.log.writes()[1]);
  std::string buffer = writes.image.read(writes.image.buffer_name());
  for (std::size_t at = 0; at < format::kSlotHeaderBytes; ++at) {
    SCOPED_TRACE(at);
    std::string damaged = buffer;
    damaged[format::kLogBufferSectorBytes + at] ^= 1;
    writes.image.write(writes.image.buffer_name(), damaged);
    expect_rows(writes.image.recover(), writes.first(1), 0);
  }
}

TEST(RecoveryBuffer, ASlotBesideTheEndOfTheSegmentIsHarmless) {
  StoreImage image;
  LogWriter log(image.segment_number, image.segment_seed, kSegmentBytesMin + 65536);
  log.put(1, "a", std::string(kSegmentBytesMin - 3 * 4096, 'x'));
  log.end_write();
  log.put(2, "b", std::string(9000, 'y'));  // Extends past the present end of the file.
  const WrittenRange last = log.end_write();
  ASSERT_GT(last.end, kSegmentBytesMin);
  image.write(StoreImage::log_name(log), log.file().substr(0, kSegmentBytesMin));
  image.write_slot(0, log, last);
  const Result<Recovered> recovered = image.recover();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(recovered->last_version, 1u);
}

// The records of a slot state the durable offset, like all other records.
TEST(RecoveryBuffer, AMarkInASlotMakesDamageOfAHole) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(1, "a", "1");
  log.end_write();
  log.put(2, "b", "2");
  log.end_write();
  log.durable_upto(12288).put(3, "c", "3");
  const WrittenRange buffered = log.end_write();
  std::string file = log.file();
  std::fill(file.begin() + 8192, file.end(), '\0');
  image.write(StoreImage::log_name(log), file);
  ASSERT_TRUE(image.recover().ok());  // Without the slot nothing is known about it.
  image.write_slot(0, log, buffered);
  const Result<Recovered> recovered = image.recover();
  ASSERT_EQ(recovered.code(), Code::kCorruption);
  EXPECT_NE(recovered.status().message().find("offset 8192"), std::string::npos) << recovered.status().to_string();
}

TEST(RecoveryBuffer, AnUnknownRecordInASlotIsUnsupported) {
  StoreImage image;
  LogWriter log = image.log();
  format::RecordHeader header;
  header.type = static_cast<format::RecordType>(99);
  log.record(header, "?");
  image.write_slot(0, log, log.end_write());
  EXPECT_EQ(image.recover().code(), Code::kUnsupported);
}

TEST(RecoveryBuffer, AMissingOrShortOrLongBufferIsDamage) {
  const StoreImage whole;
  const std::string bytes = whole.read(whole.buffer_name());
  ASSERT_EQ(bytes.size(), log_buffer_bytes(kLogBufferSlots, kLogBufferSlotBytes));
  const auto code_with = [&](const std::string& content) {
    StoreImage image = whole;
    image.write(image.buffer_name(), content);
    return image.recover().code();
  };
  EXPECT_EQ(code_with(bytes), Code::kOk);
  EXPECT_EQ(code_with(bytes.substr(0, bytes.size() - 1)), Code::kCorruption);
  EXPECT_EQ(code_with(""), Code::kCorruption);
  EXPECT_EQ(code_with(bytes + std::string(4096, '\0')), Code::kCorruption);
  StoreImage image = whole;
  image.remove(image.buffer_name());
  EXPECT_EQ(image.recover().code(), Code::kCorruption);
}

TEST(RecoveryBuffer, AHeaderOfTheBufferThatDoesNotVerifyIsNotMissed) {
  Writes writes(1);
  writes.image.write_slot(0, writes.log, writes.log.writes()[0]);
  std::string buffer = writes.image.read(writes.image.buffer_name());
  std::fill(buffer.begin(), buffer.begin() + 64, '\0');  // It is not synced, so a power cut may remove it.
  writes.image.write(writes.image.buffer_name(), buffer);
  expect_rows(writes.image.recover(), writes.rows, 1);
}

TEST(RecoveryBuffer, RecordsInTheBufferBelongToTheSegmentInUseEvenBehindASealedOne) {
  StoreImage image;
  LogWriter first = image.log();
  first.put(1, "a", "1");
  first.end_write();
  first.seal();
  image.write_cut_log(first);
  LogWriter second = image.announce(7);
  second.put(2, "b", "2");
  image.write_slot(3, second, second.end_write());
  const Result<Recovered> recovered = image.recover();
  expect_rows(recovered, {"a=1@1", "b=2@2"}, 1);
  ASSERT_EQ(recovered->found_closed.size(), 1u);
  EXPECT_EQ(recovered->found_closed[0].number, first.number());
  EXPECT_EQ(recovered->in_doubt->number, 7u);
}

/// Gives the buffer of `image` another header, which verifies.
void write_header(StoreImage& image, const format::FileHeader& header) {
  std::string buffer = image.read(image.buffer_name());
  buffer.replace(0, format::kFileHeaderBytes, format::encode_file_header(header));
  image.write(image.buffer_name(), buffer);
}

// Its content was acknowledged, but this build cannot read it.
TEST(RecoveryBuffer, ANewerBufferIsUnsupported) {
  StoreImage image;
  write_header(image,
               {format::FileType::kLogBuffer, format::kFormatVersion + 1, image.buffer_seed, image.buffer_number});
  const Status refused = image.recover().status();
  EXPECT_EQ(refused.code(), Code::kUnsupported) << refused.to_string();
  EXPECT_NE(refused.message().find(image.buffer_name()), std::string_view::npos) << refused.to_string();
}

TEST(RecoveryBuffer, AnotherBufferInItsPlaceIsDamage) {
  StoreImage image;
  write_header(image,
               {format::FileType::kLogBuffer, format::kFormatVersion, image.buffer_seed + 1, image.buffer_number});
  EXPECT_EQ(image.recover().code(), Code::kCorruption);
  write_header(image,
               {format::FileType::kLogBuffer, format::kFormatVersion, image.buffer_seed, image.buffer_number + 1});
  EXPECT_EQ(image.recover().code(), Code::kCorruption);
}

}  // namespace
}  // namespace varve::engine::recovery_buffer_test
