// Goal: a store is marked as closed only if the disk has its data: if a segment or a manifest differs from the written
// bytes, the error names it, and CURRENT stays "open".
// Method: the files are changed between the last write and the close. CURRENT is also combined with contradicting
// manifests.
#include "engine/manifest/clean_end.h"

#include <functional>

#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "format/bytes/bytes.h"
#include "tests/support/store_image.h"

namespace varve::engine::clean_end_test {
namespace {

using test::LogWriter;
using test::StoreMachine;

/// A store whose single segment is sealed and closed in the manifest. Only its last root is missing.
struct SealedStore {
  SealedStore() {
    Result<Established> made = make_store(machine.env, *machine.directory, {});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    established = *std::move(made);
    LogWriter log(established.segment.number, established.segment.seed);
    log.put(10, "a", "1");
    log.seal();
    segment_name = format::file_name(format::FileType::kLogSegment, established.segment.number);
    segment_bytes = log.position();
    machine.files.change_disk(
        [&](io::MemoryDisk& disk) { disk.write_file(test::path_of(segment_name), format::as_bytes(log.cut_file())); });
    format::ManifestEdit closed;
    closed.closed_segments = {{log.number(), log.position(), log.last_version(), {}}};
    EXPECT_TRUE(established.manifest->append(closed).ok());
    manifest_name = format::file_name(format::FileType::kManifest, established.manifest->mark().number);
  }

  std::string bytes_of(const std::string& name) const {
    return std::string(format::as_text(*machine.files.snapshot().read_file(test::path_of(name))));
  }
  void change(const std::string& name, const std::function<void(std::string&)>& change_bytes) {
    std::string bytes = bytes_of(name);
    change_bytes(bytes);
    machine.files.change_disk(
        [&](io::MemoryDisk& disk) { disk.write_file(test::path_of(name), format::as_bytes(bytes)); });
  }
  /// Expects that the close fails with this message, and the store stays open on the disk.
  void expect_refused(std::string_view message, Code code = Code::kCorruption) {
    const Status finished = established.manifest->finish(1'000);
    EXPECT_EQ(finished.code(), code) << finished.to_string();
    EXPECT_NE(finished.message().find(message), std::string::npos) << finished.to_string();
    const Result<format::Root> root = format::decode_root(bytes_of("CURRENT"));
    ASSERT_TRUE(root.ok());
    EXPECT_EQ(root->state, format::RootState::kOpen);
  }

  StoreMachine machine;
  Established established;
  std::string segment_name;
  std::string manifest_name;
  std::uint64_t segment_bytes = 0;
};

TEST(CleanEnd, IsWrittenWhereEveryFileIsWhatWasWritten) {
  SealedStore store;
  const Status finished = store.established.manifest->finish(1'000);
  ASSERT_TRUE(finished.ok()) << finished.to_string();
  const Result<format::Root> root = format::decode_root(store.bytes_of("CURRENT"));
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root->state, format::RootState::kClean);
  ASSERT_EQ(root->segments.size(), 1U);
  EXPECT_EQ(root->segments.front().size_bytes, store.segment_bytes);
}

TEST(CleanEnd, ASegmentOfAnotherSizeIsToldWithBothSizes) {
  SealedStore store;
  store.change(store.segment_name, [](std::string& bytes) { bytes.append(4096, '\0'); });
  store.expect_refused(store.segment_name + ": size is " + std::to_string(store.segment_bytes + 4096) + ", but was " +
                       std::to_string(store.segment_bytes));
}

TEST(CleanEnd, ADamagedFooterIsToldWithItsOffset) {
  const std::uint64_t footer = SealedStore().segment_bytes - io::kSectorBytes;
  for (const bool whole : {false, true}) {
    SealedStore store;
    store.change(store.segment_name, [&](std::string& bytes) {
      if (whole) {
        bytes.replace(footer, io::kSectorBytes, io::kSectorBytes, '\0');
      } else {
        bytes[footer + 20] = static_cast<char>(bytes[footer + 20] ^ 1);
      }
    });
    store.expect_refused(store.segment_name);
    store.expect_refused(whole ? "zeros where the footer was expected" : std::to_string(footer));
  }
}

TEST(CleanEnd, AnotherRecordWhereTheFooterBelongsIsTold) {
  SealedStore store;
  const std::uint64_t footer = store.segment_bytes - io::kSectorBytes;
  store.change(store.segment_name, [&](std::string& bytes) {
    format::Record record;
    Status why;
    const std::uint64_t seed = store.established.segment.seed;
    ASSERT_EQ(format::read_record(bytes, footer, seed, &record, &why), format::RecordOutcome::kRecord);
    format::RecordHeader header = record.header;
    header.type = format::RecordType::kWatermark;
    std::string framed;
    format::append_record(framed, header, record.payload, {seed, footer});
    bytes.replace(footer, framed.size(), framed);
  });
  store.expect_refused(store.segment_name);
  store.expect_refused("the last record is not a footer");
}

TEST(CleanEnd, AManifestThatIsNotWhatWasWrittenIsTold) {
  {
    SealedStore store;
    const std::uint64_t bytes = store.bytes_of(store.manifest_name).size();
    store.machine.files.change_disk(
        [&](io::MemoryDisk& disk) { ASSERT_TRUE(disk.truncate(test::path_of(store.manifest_name), bytes - 1).ok()); });
    // The last edits of the close would be appended after the missing part.
    const Status finished = store.established.manifest->finish(1'000);
    EXPECT_NE(finished.code(), Code::kOk);
    EXPECT_EQ((*format::decode_root(store.bytes_of("CURRENT"))).state, format::RootState::kOpen);
  }
  SealedStore store;
  store.machine.files.change_disk([&](io::MemoryDisk& disk) {
    ASSERT_TRUE(disk.flip_bit(test::path_of(store.manifest_name), 80, std::byte{4}).ok());
  });
  store.expect_refused(store.manifest_name);
}

TEST(CleanEnd, AManifestThatAnotherFileReplacedIsToldAsTakenAway) {
  SealedStore store;
  store.change(store.manifest_name, [](std::string& /*bytes*/) {});
  store.expect_refused(store.manifest_name, Code::kFenced);
}

TEST(CleanEnd, WhatCurrentSaysMustBeWhatTheManifestSays) {
  format::Root clean;
  clean.segments = {{7, 8192, 1}};
  FileSet files;
  files.segments[7] = LiveSegment{};
  files.segments[7].number = 7;
  files.segments[7].closed = true;
  files.segments[7].size_bytes = 8192;
  EXPECT_TRUE(check_clean_segments(clean, files).ok());

  FileSet other = files;
  other.log_buffer.emplace();
  EXPECT_EQ(check_clean_segments(clean, other).message(),
            "CURRENT: says that the store was closed, but the manifest names a log buffer");

  other = files;
  other.segments[8] = other.segments[7];
  Status differs = check_clean_segments(clean, other);
  EXPECT_EQ(differs.code(), Code::kCorruption);
  EXPECT_NE(differs.message().find("CURRENT: number of log segments in the manifest is 2, but was 1"),
            std::string::npos)
      << differs.to_string();

  other.segments.erase(7);
  differs = check_clean_segments(clean, other);
  EXPECT_EQ(differs.code(), Code::kCorruption);
  EXPECT_NE(differs.message().find("000007.wal: is closed in CURRENT, but not in the manifest"), std::string::npos)
      << differs.to_string();

  other = files;
  other.segments[7].closed = false;
  EXPECT_EQ(check_clean_segments(clean, other).code(), Code::kCorruption);

  other = files;
  other.segments[7].size_bytes = 4096;
  differs = check_clean_segments(clean, other);
  EXPECT_EQ(differs.code(), Code::kCorruption);
  EXPECT_NE(differs.message().find("000007.wal: size in the manifest is 4096, but was 8192"), std::string::npos)
      << differs.to_string();
}

}  // namespace
}  // namespace varve::engine::clean_end_test
