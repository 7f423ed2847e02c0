// Goal: the log's files begin with durable headers of their own, and never with older bytes under their name.
#include "engine/log/log_files.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "engine/base/whole_file.h"
#include "tests/support/store_image.h"

namespace varve::engine::log_files_test {
namespace {

using test::StoreMachine;

std::string read(io::Directory& directory, std::string_view name) {
  Result<std::string> bytes = read_whole_file(directory, name, kSegmentBytesReadMax, io::ReadMode::kCached);
  EXPECT_TRUE(bytes.ok()) << bytes.status().to_string();
  return *std::move(bytes);
}

TEST(LogFiles, ASegmentHasADurableHeaderAndZeros) {
  StoreMachine machine;
  const Result<SegmentFile> segment = create_segment(machine.env, *machine.directory, 12, kSegmentBytesMin);
  ASSERT_TRUE(segment.ok()) << segment.status().to_string();
  EXPECT_EQ(segment->number, 12u);
  EXPECT_EQ(segment->file->filled_bytes(), 0u);
  ASSERT_TRUE(machine.directory->sync(sync_points::kSegmentNames).ok());

  StoreMachine after(machine.files.power_cut(io::CrashPolicy::kNothingUnsynced, machine.random));
  const std::string bytes = read(*after.directory, "000012.wal");
  ASSERT_EQ(bytes.size(), kSegmentBytesMin);
  const Result<format::FileHeader> header = format::decode_file_header(bytes, format::FileType::kLogSegment);
  ASSERT_TRUE(header.ok()) << header.status().to_string();
  EXPECT_EQ(header->seed, segment->seed);
  EXPECT_EQ(header->number, 12u);
  EXPECT_EQ(bytes.find_first_not_of('\0', format::kFileHeaderBytes), std::string::npos);
}

TEST(LogFiles, FillingASegmentLeavesItsHeaderAlone) {
  StoreMachine machine;
  Result<SegmentFile> segment = create_segment(machine.env, *machine.directory, 12, kSegmentBytesMin);
  ASSERT_TRUE(segment.ok());
  ASSERT_TRUE(segment->file->fill().ok());
  segment->file->stop_filling();
  EXPECT_GT(segment->file->filled_bytes(), 0u);
  EXPECT_TRUE(format::decode_file_header(read(*machine.directory, "000012.wal"), format::FileType::kLogSegment).ok());
}

TEST(LogFiles, SeedsDiffer) {
  StoreMachine machine;
  const Result<SegmentFile> first = create_segment(machine.env, *machine.directory, 1, kSegmentBytesMin);
  const Result<SegmentFile> second = create_segment(machine.env, *machine.directory, 2, kSegmentBytesMin);
  const Result<BufferFile> buffer = create_log_buffer(machine.env, *machine.directory, 3, 1, 4096);
  ASSERT_TRUE(first.ok() && second.ok() && buffer.ok());
  EXPECT_NE(first->seed, second->seed);
  EXPECT_NE(second->seed, buffer->seed);
}

TEST(LogFiles, ALeftoverOfTheSameNameIsRemoved) {
  io::MemoryDisk disk;
  const std::vector<std::byte> old(3 * 4096, std::byte{0x77});
  disk.write_file(test::path_of("000012.wal"), old);
  disk.write_file(test::path_of("000013.buf"), old);
  StoreMachine machine(std::move(disk));
  ASSERT_TRUE(create_segment(machine.env, *machine.directory, 12, kSegmentBytesMin).ok());
  ASSERT_TRUE(create_log_buffer(machine.env, *machine.directory, 13, 1, 4096).ok());
  EXPECT_EQ(read(*machine.directory, "000012.wal").find('\x77'), std::string::npos);
  EXPECT_EQ(read(*machine.directory, "000013.buf").find('\x77'), std::string::npos);
}

TEST(LogFiles, TheBufferHasItsHeaderAndRoomForItsSlots) {
  StoreMachine machine;
  const Result<BufferFile> buffer =
      create_log_buffer(machine.env, *machine.directory, 13, kLogBufferSlots, kLogBufferSlotBytes);
  ASSERT_TRUE(buffer.ok()) << buffer.status().to_string();
  EXPECT_EQ(buffer->memory->bytes().size(), log_buffer_bytes(kLogBufferSlots, kLogBufferSlotBytes));
  const std::string bytes = read(*machine.directory, "000013.buf");
  const Result<format::FileHeader> header = format::decode_file_header(bytes, format::FileType::kLogBuffer);
  ASSERT_TRUE(header.ok()) << header.status().to_string();
  EXPECT_EQ(header->seed, buffer->seed);
  EXPECT_EQ(header->number, 13u);
}

TEST(LogFiles, WithoutRoomNoFileIsLeft) {
  for (std::uint64_t nth = 0; nth < 3; ++nth) {
    SCOPED_TRACE(nth);
    StoreMachine machine;
    machine.files.faults().fail_nth(nth, Code::kNoSpace);
    const Result<SegmentFile> segment = create_segment(machine.env, *machine.directory, 12, kSegmentBytesMin);
    if (segment.ok()) break;
    EXPECT_EQ(segment.code(), Code::kNoSpace);
    EXPECT_TRUE((*machine.directory->list()).empty());
  }
  StoreMachine machine;
  machine.files.faults().fail_nth(0, Code::kNoSpace);
  EXPECT_EQ(create_log_buffer(machine.env, *machine.directory, 13, 4, 4096).code(), Code::kNoSpace);
}

TEST(WholeFile, TheBoundIsCheckedFirst) {
  io::MemoryDisk disk;
  const std::vector<std::byte> bytes(100, std::byte{1});
  disk.write_file(test::path_of("file"), bytes);
  StoreMachine machine(std::move(disk));
  EXPECT_EQ((*read_whole_file(*machine.directory, "file", 100, io::ReadMode::kDirect)).size(), 100u);
  EXPECT_EQ(read_whole_file(*machine.directory, "file", 99, io::ReadMode::kCached).code(), Code::kCorruption);
  EXPECT_EQ(read_whole_file(*machine.directory, "other", 99, io::ReadMode::kCached).status().os_error(), ENOENT);
}

}  // namespace
}  // namespace varve::engine::log_files_test
