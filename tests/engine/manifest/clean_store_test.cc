// Goal: every change of a byte of a closed store is detected. Every flipped byte, every length, and every missing,
// exchanged and doubled file of a small store is detected, or changes no data that is read.
#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "format/bytes/bytes.h"
#include "format/log/file_header.h"
#include "io/aligned_buffer.h"
#include "tests/support/effort.h"
#include "tests/support/store_image.h"

namespace varve::engine::clean_store_test {
namespace {

using test::LogWriter;
using test::StoreContent;
using test::StoreMachine;

void write_through(io::LogSegment& segment, const LogWriter& log) {
  for (const test::WrittenRange range : log.writes()) {
    Result<io::AlignedBuffer> memory = io::AlignedBuffer::allocate(range.end - range.begin);
    ASSERT_TRUE(memory.ok());
    const std::string bytes = log.bytes_of(range);
    std::memcpy(memory->bytes().data(), bytes.data(), bytes.size());
    ASSERT_TRUE(segment.write(range.begin, memory->bytes(), sync_points::kLogGroup).ok());
  }
  ASSERT_TRUE(segment.cut(log.position(), sync_points::kLogCut).ok());
}

void close_segment(Manifest& manifest, const LogWriter& log) {
  format::ManifestEdit edit;
  edit.closed_segments = {{log.number(), log.position(), log.last_version(), {}}};
  const Status closed = manifest.append(edit);
  ASSERT_TRUE(closed.ok()) << closed.to_string();
}

/// Returns two segments with commits of all sizes, a drop and a tag, closed like an engine's store.
io::MemoryDisk closed_store(std::uint64_t seed) {
  StoreMachine machine(io::MemoryDisk(), seed);
  Result<Established> made = make_store(machine.env, *machine.directory, {});
  EXPECT_TRUE(made.ok());
  LogWriter first(made->segment.number, made->segment.seed);
  first.manifest_mark(made->manifest->mark()).put(10, "a", "1");
  first.put(11, "b", std::string(200, 'b'));
  first.end_write();
  first.all_durable().watermark();
  first.seal();
  write_through(*made->segment.file, first);
  close_segment(*made->manifest, first);

  const Result<std::uint64_t> number = made->manifest->next_file_number();
  EXPECT_TRUE(number.ok());
  const Result<SegmentFile> next = create_segment(machine.env, *machine.directory, *number, kSegmentBytesMin);
  EXPECT_TRUE(next.ok());
  EXPECT_TRUE(machine.directory->sync(sync_points::kSegmentNames).ok());
  format::ManifestEdit announce;
  announce.announced_segments = {{next->number, next->seed, {}}};
  EXPECT_TRUE(made->manifest->append(announce).ok());
  LogWriter second(next->number, next->seed);
  format::BatchBuilder batch;
  batch.retire_account(77);
  batch.set_tag("tag");
  batch.put(test::key_of_row("c"), std::string(4'000, 'c'));
  second.manifest_mark(made->manifest->mark()).group(20, {batch.finish()});
  second.seal();
  write_through(*next->file, second);
  close_segment(*made->manifest, second);
  const Status finished = made->manifest->finish(1'000);
  EXPECT_TRUE(finished.ok()) << finished.to_string();
  return machine.files.power_cut(io::CrashPolicy::kNothingUnsynced, machine.random);
}

struct Closed {
  Closed() : disk(closed_store(1)), names(disk.file_names(test::kImagePath)) {
    const Result<Recovered> recovered = read(disk);
    EXPECT_TRUE(recovered.ok()) << recovered.status().to_string();
    content = test::content_of(*recovered);
  }
  static Result<Recovered> read(const io::MemoryDisk& disk) {
    StoreMachine machine(disk);
    return machine.read();
  }
  std::string bytes_of(const std::string& name) const {
    return std::string(format::as_text(*disk.read_file(test::path_of(name))));
  }
  io::MemoryDisk with(const std::string& name, std::string_view bytes) const {
    io::MemoryDisk changed = disk;
    changed.write_file(test::path_of(name), format::as_bytes(bytes));
    return changed;
  }
  io::MemoryDisk disk;
  std::vector<std::string> names;
  StoreContent content;
};

/// Expects an error whose message names a file.
void expect_found(const io::MemoryDisk& disk) {
  const Result<Recovered> recovered = Closed::read(disk);
  ASSERT_EQ(recovered.code(), Code::kCorruption) << recovered.status().to_string();
  const std::string_view message = recovered.status().message();
  const bool named = message.find("CURRENT") != std::string_view::npos ||
                     message.find("MANIFEST-") != std::string_view::npos ||
                     message.find(".wal") != std::string_view::npos;
  EXPECT_TRUE(named) << message;
}

TEST(CleanStore, ReadsBackWhole) {
  const Closed closed;
  EXPECT_EQ(closed.names, (std::vector<std::string>{"000001.wal", "000004.wal", "CURRENT", "MANIFEST-000003"}));
  const Result<Recovered> recovered = Closed::read(closed.disk);
  EXPECT_TRUE(recovered->clean);
  EXPECT_EQ(recovered->last_version, 20u);
  EXPECT_EQ(recovered->version_ceiling, 1'000u);
  EXPECT_EQ(closed.content.entries.size(), 3u);
  EXPECT_EQ(closed.content.retired.size(), 1u);
  EXPECT_EQ(closed.content.last_tag->bytes, "tag");
  EXPECT_FALSE(recovered->in_doubt.has_value());
  EXPECT_TRUE(recovered->unused_segments.empty());
  EXPECT_EQ(recovered->figures.torn_bytes, 0u);
}

TEST(CleanStore, OpensForWritingWithoutCopyingAnything) {
  const Closed closed;
  StoreMachine machine(closed.disk);
  const Status opened = machine.open();
  ASSERT_TRUE(opened.ok()) << opened.to_string();
  EXPECT_EQ(machine.recovered.files.segments.size(), 3u);
  // Numbers continue without a gap: 5 and 6 belong to the log.
  EXPECT_EQ(machine.established.manifest->mark().number, 7u);
  EXPECT_EQ(test::content_of(machine.recovered), closed.content);
  const Result<Recovered> open_again = machine.read();
  ASSERT_TRUE(open_again.ok());
  EXPECT_FALSE(open_again->clean);
  EXPECT_EQ(open_again->version_ceiling, 1'000u);
}

TEST(CleanStore, EveryFlippedByteOfEveryFileIsFound) {
  const Closed closed;
  std::size_t flips = 0;
  for (const std::string& name : closed.names) {
    const std::string whole = closed.bytes_of(name);
    for (std::size_t at = 0; at < whole.size(); at += test::kStride) {
      SCOPED_TRACE(name + ", offset " + std::to_string(at));
      std::string wrong = whole;
      wrong[at] = static_cast<char>(wrong[at] ^ (1 << at % 8));
      expect_found(closed.with(name, wrong));
      ++flips;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(flips, test::effort(std::size_t{7} * 4096));
}

TEST(CleanStoreLong, EveryByteOfEveryFileSetToOtherValuesIsFound) {
  const Closed closed;
  for (const std::string& name : closed.names) {
    const std::string whole = closed.bytes_of(name);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      SCOPED_TRACE(name + ", offset " + std::to_string(at));
      for (const unsigned mask : {0xffu, 0x80u, 0x5au}) {
        std::string wrong = whole;
        wrong[at] = static_cast<char>(static_cast<unsigned char>(wrong[at]) ^ mask);
        expect_found(closed.with(name, wrong));
      }
      if (HasFailure()) return;
    }
  }
}

TEST(CleanStore, EveryOtherLengthIsFound) {
  const Closed closed;
  for (const std::string& name : closed.names) {
    const std::string whole = closed.bytes_of(name);
    for (std::size_t length = 0; length < whole.size(); length += name == "CURRENT" ? 1u : 13u) {
      SCOPED_TRACE(name + ", length " + std::to_string(length));
      expect_found(closed.with(name, whole.substr(0, length)));
    }
    for (const std::size_t more : {std::size_t{1}, std::size_t{8}, std::size_t{512}, std::size_t{4096}}) {
      SCOPED_TRACE(name + ", longer by " + std::to_string(more));
      expect_found(closed.with(name, whole + std::string(more, '\0')));
      expect_found(closed.with(name, whole + whole.substr(0, std::min(more, whole.size()))));
    }
  }
}

TEST(CleanStore, EveryMissingFileIsFound) {
  const Closed closed;
  for (const std::string& name : closed.names) {
    SCOPED_TRACE(name);
    io::MemoryDisk disk = closed.disk;
    ASSERT_TRUE(disk.remove_file(test::path_of(name)).ok());
    expect_found(disk);
  }
}

TEST(CleanStore, EveryExchangedFileIsFound) {
  const Closed closed;
  const io::MemoryDisk other = closed_store(2);
  for (const std::string& name : closed.names) {
    for (const std::string& source : closed.names) {
      SCOPED_TRACE(source + " as " + name);
      if (source != name) expect_found(closed.with(name, closed.bytes_of(source)));
      const Result<std::vector<std::byte>> foreign = other.read_file(test::path_of(source));
      ASSERT_TRUE(foreign.ok());
      expect_found(closed.with(name, format::as_text(*foreign)));
    }
  }
}

TEST(CleanStore, EverySectorExchangedForAnotherIsFound) {
  const Closed closed;
  for (const std::string name : {"000001.wal", "000004.wal"}) {
    const std::string whole = closed.bytes_of(name);
    const std::size_t sectors = whole.size() / 4096;
    for (std::size_t to = 0; to < sectors; ++to) {
      std::string zeroed = whole;
      zeroed.replace(to * 4096, 4096, 4096, '\0');
      expect_found(closed.with(name, zeroed));
      for (std::size_t from = 0; from < sectors; ++from) {
        SCOPED_TRACE(name + ", sector " + std::to_string(from) + " at " + std::to_string(to));
        std::string wrong = whole;
        wrong.replace(to * 4096, 4096, whole, from * 4096, 4096);
        if (wrong != whole) expect_found(closed.with(name, wrong));
      }
    }
  }
}

/// Returns the file with the record at `offset` changed and framed by a writer, so that all of its checksums are
/// correct.
std::string framed_anew(const std::string& file, std::uint64_t offset, std::uint64_t seed,
                        const std::function<void(format::RecordHeader&, std::string&)>& change) {
  format::Record record;
  Status why;
  EXPECT_EQ(format::read_record(file, offset, seed, &record, &why), format::RecordOutcome::kRecord) << why.to_string();
  std::string payload(record.payload);
  change(record.header, payload);
  std::string framed;
  format::append_record(framed, record.header, payload, {seed, offset});
  EXPECT_EQ(framed.size(), record.size_bytes);
  std::string changed = file;
  changed.replace(static_cast<std::size_t>(offset), framed.size(), framed);
  EXPECT_NE(changed, file);
  return changed;
}

TEST(CleanStore, AFooterThatVerifiesAndIsNotTheOneOfTheCloseIsFound) {
  const Closed closed;
  StoreMachine machine(closed.disk);
  const Result<Recovered> recovered = machine.read();
  ASSERT_TRUE(recovered.ok());
  for (const auto& [number, segment] : recovered->files.segments) {
    const std::string name = format::file_name(format::FileType::kLogSegment, number);
    SCOPED_TRACE(name);
    const std::string changed = framed_anew(closed.bytes_of(name), segment.size_bytes - io::kSectorBytes, segment.seed,
                                            [](format::RecordHeader& header, std::string&) { ++header.ceiling; });
    expect_found(closed.with(name, changed));
  }
}

TEST(CleanStore, AManifestThatVerifiesAndIsNotTheOneOfTheCloseIsFound) {
  const Closed closed;
  const Result<format::Root> root = format::decode_root(closed.bytes_of("CURRENT"));
  ASSERT_TRUE(root.ok());
  const std::string name = format::file_name(format::FileType::kManifest, root->manifest_number);
  const std::string whole = closed.bytes_of(name);
  std::uint64_t last = format::kFileHeaderBytes;
  for (std::uint64_t at = last; at < whole.size();) {
    format::Record record;
    Status why;
    ASSERT_EQ(format::read_record(whole, at, root->manifest_seed, &record, &why), format::RecordOutcome::kRecord);
    last = at;
    at += record.size_bytes;
  }
  const std::string changed =
      framed_anew(whole, last, root->manifest_seed, [](format::RecordHeader&, std::string& payload) {
        Result<format::ManifestEdit> edit = format::decode_manifest_edit(payload);
        ASSERT_TRUE(edit.ok());
        ++*edit->file_number_ceiling;
        payload = format::encode_manifest_edit(*edit);
      });
  expect_found(closed.with(name, changed));
}

TEST(CleanStore, AnOlderCurrentOrManifestIsNeverFallenBackTo) {
  // The store is opened again and written to. Then the old CURRENT and its manifest are restored.
  const Closed closed;
  StoreMachine machine(closed.disk);
  ASSERT_TRUE(machine.open().ok());
  io::MemoryDisk later = machine.files.snapshot();
  later.settle();
  later.write_file(test::path_of("CURRENT"), format::as_bytes(closed.bytes_of("CURRENT")));
  expect_found(later);  // The manifest that it names is missing.
}

TEST(CleanStore, ADoubledFileChangesNothing) {
  const Closed closed;
  for (const std::string& name : closed.names) {
    const io::MemoryDisk disk = closed.with("000777.wal", closed.bytes_of(name));
    StoreMachine machine(disk);
    const Status opened = machine.open();
    ASSERT_TRUE(opened.ok()) << opened.to_string();
    EXPECT_EQ(test::content_of(machine.recovered), closed.content);
    EXPECT_FALSE(machine.files.snapshot().contains(test::path_of("000777.wal")));
  }
}

TEST(CleanStore, ReadingWritesNothing) {
  const Closed closed;
  StoreMachine machine(closed.disk);
  ASSERT_TRUE(machine.read(false).ok());
  EXPECT_EQ(machine.files.operation_count(), 1u);  // The create_directory of the bench.
  EXPECT_TRUE(machine.files.snapshot().same_content(closed.disk));
}

}  // namespace
}  // namespace varve::engine::clean_store_test
