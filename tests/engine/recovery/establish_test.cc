// Goal: establishing makes the result of recovery final without losing a byte. After a crash at any step, and another
// crash in the following recovery, the content is unchanged. No number ever names two files, and no file of ours is
// left over.
#include "engine/recovery/establish.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "format/log/file_header.h"
#include "io/aligned_buffer.h"
#include "tests/support/store_image.h"

namespace varve::engine::establish_test {
namespace {

using test::LogWriter;
using test::StoreContent;
using test::StoreImage;
using test::StoreMachine;

/// A killed store with every case: a closed segment, one sealed but not recorded, one in use whose log continues in the
/// buffer and has a torn tail. It also has one announced and unused segment, drops, a tag, strays and a foreign file.
struct Crashed {
  Crashed() {
    format::ManifestEdit ceiling;
    ceiling.version_ceiling = 90;
    image.append_edit(ceiling);
    LogWriter closed = image.log();
    closed.put(100, "a", "1");
    closed.end_write();
    closed.put(101, "b", std::string(20'000, 'b'));
    closed.end_write();
    closed.seal();
    image.write_cut_log(closed);
    image.close_in_manifest(closed);

    LogWriter sealed = image.announce(10);
    sealed.put(200, "a", "2");
    sealed.seal();
    image.write_cut_log(sealed);

    LogWriter in_use = image.announce(11);
    write_log_in_use(in_use);
    image.announce(12);

    image.write("000099.wal", "a stray");
    image.write("MANIFEST-000077", "a stray");
    image.write("000050.sst", "a stray");
    image.write("CURRENT.tmp", "a stray");
    image.write("notes.txt", "a stranger's");
    content = test::content_of(*image.recover());
  }

  void write_log_in_use(LogWriter& log) {
    format::BatchBuilder batch;
    batch.set_tag("tag");
    batch.remove(test::key_of_row("a"));
    batch.retire_table(format::make_table_id(8, 1));
    log.manifest_mark(image.manifest_mark()).ceiling(5'000).group(300, {batch.finish(), test::put_of("c", "3")});
    log.end_write();
    log.all_durable().watermark();
    log.end_write();
    log.put(400, "d", "4");
    const test::WrittenRange buffered = log.end_write();
    log.put(401, "e", "5");
    log.end_write();
    log.put(402, "lost", "6");
    const test::WrittenRange torn = log.end_write();
    std::string file = log.file();
    const auto at = [&](std::uint64_t offset) { return file.begin() + static_cast<std::ptrdiff_t>(offset); };
    std::fill(at(buffered.begin), at(buffered.end), '\0');
    std::fill(at(torn.begin + 20), at(torn.end), '\x5c');
    image.write(StoreImage::log_name(log), file);
    image.write_slot(1, log, buffered);
  }

  StoreImage image;
  StoreContent content;
};

TEST(Establish, TheSampleHoldsWhatItClaims) {
  const Crashed crashed;
  const Result<Recovered> recovered = crashed.image.recover();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(recovered->last_version, 401u);
  EXPECT_EQ(recovered->version_ceiling, 5'000u);
  EXPECT_EQ(recovered->figures.commits, 7u);
  EXPECT_EQ(recovered->figures.commits_from_buffer, 1u);
  EXPECT_GT(recovered->figures.torn_bytes, 0u);
  EXPECT_EQ(recovered->found_closed.size(), 1u);
  EXPECT_EQ(recovered->in_doubt->number, 11u);
  EXPECT_EQ(recovered->unused_segments, std::vector<std::uint64_t>{12});
  EXPECT_EQ(crashed.content.entries.size(), 7u);
  EXPECT_EQ(crashed.content.retired.size(), 1u);
  EXPECT_EQ(crashed.content.last_tag->bytes, "tag");
}

TEST(Establish, MakesTheEndThatWasFoundFinal) {
  const Crashed crashed;
  StoreMachine machine(crashed.image.disk);
  const Status opened = machine.open();
  ASSERT_TRUE(opened.ok()) << opened.to_string();

  const FileSet& files = machine.recovered.files;
  EXPECT_EQ(files, machine.established.manifest->files());
  EXPECT_EQ(files.version_ceiling, 5'000u);
  // The closed one, the one found closed, the copy, and the first of the new log.
  ASSERT_EQ(files.segments.size(), 4u);
  EXPECT_TRUE(files.segments.at(1).closed);
  EXPECT_TRUE(files.segments.at(10).closed);
  EXPECT_EQ(files.segments.at(10).last_version, 200u);
  EXPECT_FALSE(files.segments.contains(11));
  EXPECT_FALSE(files.segments.contains(12));
  EXPECT_EQ(machine.established.segment.number, files.segments.rbegin()->first);
  EXPECT_FALSE(files.segments.rbegin()->second.closed);
  const LiveSegment& copy = std::next(files.segments.rbegin())->second;
  EXPECT_TRUE(copy.closed);
  EXPECT_EQ(copy.last_version, 401u);
  EXPECT_EQ(files.log_buffer->number, machine.established.buffer.number);
  EXPECT_FALSE(machine.recovered.in_doubt.has_value());
  EXPECT_EQ(test::content_of(machine.recovered), crashed.content);

  // After a second read everything is known, and nothing is torn.
  const Result<Recovered> again = machine.read();
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(test::content_of(*again), crashed.content);
  EXPECT_FALSE(again->in_doubt.has_value());
  EXPECT_EQ(again->figures.torn_bytes, 0u);
  EXPECT_EQ(again->figures.commits_from_buffer, 0u);
  EXPECT_EQ(again->version_ceiling, 5'000u);
}

TEST(Establish, RemovesStraysOfOursAndNothingElse) {
  const Crashed crashed;
  StoreMachine machine(crashed.image.disk);
  ASSERT_TRUE(machine.open().ok());
  std::vector<std::string> expected{"BALLAST", "CURRENT", "notes.txt"};
  for (const auto& [number, segment] : machine.recovered.files.segments) {
    expected.push_back(format::file_name(format::FileType::kLogSegment, number));
  }
  expected.push_back(format::file_name(format::FileType::kLogBuffer, machine.established.buffer.number));
  expected.push_back(format::file_name(format::FileType::kManifest, machine.established.manifest->mark().number));
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(machine.files.snapshot().file_names(test::kImagePath), expected);
  StoreMachine after(machine.files.power_cut(io::CrashPolicy::kNothingUnsynced, machine.random));
  EXPECT_EQ(after.files.snapshot().file_names(test::kImagePath), expected);
}

TEST(Establish, TheNewLogIsReadyForUse) {
  const Crashed crashed;
  StoreMachine machine(crashed.image.disk);
  ASSERT_TRUE(machine.open().ok());
  const SegmentFile& segment = machine.established.segment;
  EXPECT_EQ(segment.file->allocated_bytes(), kSegmentBytesMin);
  EXPECT_GT(segment.file->filled_bytes(), 0u);
  LogWriter log(segment.number, segment.seed);
  log.manifest_mark(machine.established.manifest->mark()).put(9'000, "new", "1");
  const test::WrittenRange range = log.end_write();
  Result<io::AlignedBuffer> memory = io::AlignedBuffer::allocate(range.end - range.begin);
  ASSERT_TRUE(memory.ok());
  const std::string bytes = log.bytes_of(range);
  std::memcpy(memory->bytes().data(), bytes.data(), bytes.size());
  ASSERT_TRUE(segment.file->write(range.begin, memory->bytes(), sync_points::kLogGroup).ok());

  StoreMachine after(machine.files.power_cut(io::CrashPolicy::kNothingUnsynced, machine.random));
  const Result<Recovered> recovered = after.read();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(recovered->last_version, 9'000u);
  EXPECT_EQ(recovered->figures.commits, 8u);
}

TEST(Establish, RecordsOfManyMegabytesAreCopied) {
  StoreImage image;
  LogWriter log(image.segment_number, image.segment_seed, 8u << 20);
  log.put(1, "small", "1");
  log.end_write();
  log.put(2, "large", std::string(3'000'000, 'L'));
  log.put(3, "behind", "2");
  log.end_write();
  for (CommitVersion version = 10; version < 400; ++version) {
    log.put(version, std::to_string(version), std::string(static_cast<std::size_t>(version * 11), 'v'));
    log.end_write();
  }
  image.write_log(log);
  const StoreContent content = test::content_of(*image.recover());
  ASSERT_EQ(content.entries.size(), 393u);
  StoreMachine machine(image.disk);
  const Status opened = machine.open();
  ASSERT_TRUE(opened.ok()) << opened.to_string();
  const Result<Recovered> again = machine.read();
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(test::content_of(*again), content);
  // The copy has no filling between writes.
  EXPECT_LT(machine.recovered.files.segments.begin()->second.size_bytes, log.position() - 300 * 1000);
}

TEST(Establish, MemoryThatChangedSinceItWasReadIsNotWritten) {
  const Crashed crashed;
  StoreMachine machine(crashed.image.disk);
  Result<Recovered> recovered = machine.read();
  ASSERT_TRUE(recovered.ok());
  FileImage& image = recovered->in_doubt->image;
  image.data()[recovered->in_doubt->records.back() + 60] ^= 1;
  EXPECT_EQ(establish(machine.env, *machine.directory, *recovered).code(), Code::kCorruption);
  EXPECT_EQ(test::content_of(*machine.read()), crashed.content);
}

// -- Crashes ----------------------------------------------------------------------------------------------------------

/// Opens `disk`, and takes images at every step.
std::vector<io::MemoryDisk> crash_while_opening(const io::MemoryDisk& disk, std::uint64_t seed, std::size_t images_max,
                                                const StoreContent& content) {
  StoreMachine machine(disk, seed);
  std::vector<io::MemoryDisk> images;
  machine.files.set_observer([&](const io::Operation&, io::Moment) {
    for (io::MemoryDisk& image : machine.files.power_cuts(machine.random, images_max)) {
      images.push_back(std::move(image));
    }
    images.push_back(machine.files.process_death(machine.random));
  });
  const Status opened = machine.open();
  machine.files.set_observer({});
  EXPECT_TRUE(opened.ok()) << opened.to_string();
  EXPECT_EQ(test::content_of(machine.recovered), content);
  return images;
}

void expect_content(const io::MemoryDisk& disk, const StoreContent& content) {
  StoreMachine machine(disk, 77);
  const Result<Recovered> recovered = machine.read();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(test::content_of(*recovered), content);
  EXPECT_EQ(recovered->version_ceiling, 5'000u);
}

TEST(Establish, CrashedAtEveryStepTheContentIsTheSame) {
  const Crashed crashed;
  const std::vector<io::MemoryDisk> images = crash_while_opening(crashed.image.disk, 3, 8, crashed.content);
  EXPECT_GT(images.size(), 100u);
  for (std::size_t index = 0; index < images.size(); ++index) {
    SCOPED_TRACE(index);
    expect_content(images[index], crashed.content);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(EstablishSoak, CrashedAgainInTheRecoveryFromThatTheContentIsTheSame) {
  const Crashed crashed;
  const std::vector<io::MemoryDisk> images = crash_while_opening(crashed.image.disk, 4, 2, crashed.content);
  std::size_t checked = 0;
  for (std::size_t index = 0; index < images.size(); index += 7) {
    SCOPED_TRACE(index);
    for (const io::MemoryDisk& second : crash_while_opening(images[index], 5 + index, 2, crashed.content)) {
      expect_content(second, crashed.content);
      ++checked;
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(checked, 5'000u);
}

/// Collects every file that a durable manifest ever named, by number. A number with two seeds was used twice.
void collect_names(const FileSet& files, std::map<std::uint64_t, std::uint64_t>& seeds) {
  const auto collect = [&](std::uint64_t number, std::uint64_t seed) {
    const auto [found, added] = seeds.emplace(number, seed);
    EXPECT_EQ(found->second, seed) << "number " << number << " was given twice";
  };
  for (const auto& [number, segment] : files.segments) collect(number, segment.seed);
  if (files.log_buffer.has_value()) collect(files.log_buffer->number, files.log_buffer->seed);
}

TEST(Establish, NoNumberIsEverGivenTwice) {
  const Crashed crashed;
  std::map<std::uint64_t, std::uint64_t> seeds;
  std::uint64_t manifest_before = 0;
  io::MemoryDisk disk = crashed.image.disk;
  for (std::uint64_t round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    StoreMachine machine(disk, 100 + round);
    // The even rounds crash in the middle, at another step each time.
    if (round % 2 == 0) {
      std::optional<io::MemoryDisk> crash;
      machine.files.set_observer([&](const io::Operation& operation, io::Moment moment) {
        if (moment == io::Moment::kDuring && operation.index >= 3 + round && !crash) {
          crash = machine.files.power_cut(io::CrashPolicy::kRandomPages, machine.random);
        }
      });
      ASSERT_TRUE(machine.open().ok());
      ASSERT_TRUE(crash.has_value());
      disk = *std::move(crash);
      StoreMachine after(disk);
      const Result<Recovered> recovered = after.read();
      ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
      collect_names(recovered->files, seeds);
      continue;
    }
    ASSERT_TRUE(machine.open().ok());
    EXPECT_GT(machine.established.manifest->mark().number, manifest_before);
    manifest_before = machine.established.manifest->mark().number;
    for (int index = 0; index < 3; ++index) {
      const Result<std::uint64_t> number = machine.established.manifest->next_file_number();
      ASSERT_TRUE(number.ok());
      EXPECT_FALSE(seeds.contains(*number));
      EXPECT_GT(*number, manifest_before);
    }
    collect_names(machine.recovered.files, seeds);
    disk = machine.files.power_cut(io::CrashPolicy::kNothingUnsynced, machine.random);
  }
}

// -- Errors -----------------------------------------------------------------------------------------------------------

TEST(Establish, EveryErrorIsToldOrMadeGoodAndCostsNothing) {
  const Crashed crashed;
  for (const Code code : {Code::kIoError, Code::kNoSpace}) {
    for (const bool from_then_on : {false, true}) {
      for (std::uint64_t nth = 0;; ++nth) {
        SCOPED_TRACE(nth);
        StoreMachine machine(crashed.image.disk);
        io::FaultRule rule;
        rule.mutating_only = true;
        rule.skip_count = nth;
        rule.fail_count = from_then_on ? io::FaultRule::kFromThenOn : 1;
        rule.code = code;
        machine.files.faults().add(rule);
        const Status opened = machine.open();
        const bool hit = machine.files.faults().hit_count() > 0;
        machine.files.faults().clear();
        if (!opened.ok()) {
          EXPECT_EQ(opened.code(), code) << opened.to_string();
        }
        expect_content(machine.files.power_cut(io::CrashPolicy::kNothingUnsynced, machine.random), crashed.content);
        expect_content(machine.files.process_death(machine.random), crashed.content);
        if (testing::Test::HasFailure()) return;
        if (!hit) {
          EXPECT_TRUE(opened.ok());
          EXPECT_GT(nth, 10u);
          break;
        }
        ASSERT_LT(nth, 200u);
      }
    }
  }
}

TEST(Establish, EveryReadErrorIsTold) {
  const Crashed crashed;
  for (std::uint64_t nth = 0;; ++nth) {
    SCOPED_TRACE(nth);
    StoreMachine machine(crashed.image.disk);
    io::FaultRule rule;
    rule.predicate = [](const io::Operation& operation) { return !io::is_mutating(operation.kind); };
    rule.skip_count = nth;
    machine.files.faults().add(rule);
    const Status opened = machine.open();
    const bool hit = machine.files.faults().hit_count() > 0;
    machine.files.faults().clear();
    expect_content(machine.files.power_cut(io::CrashPolicy::kEverything, machine.random), crashed.content);
    if (!hit) {
      EXPECT_TRUE(opened.ok());
      break;
    }
    EXPECT_EQ(opened.code(), Code::kIoError) << opened.to_string();
    ASSERT_LT(nth, 200u);
  }
}

TEST(Establish, AFullDeviceIsNoReasonToStayClosed) {
  const Crashed crashed;
  {
    // The disk is full, but the ballast of the crashed store provides room.
    StoreMachine machine(crashed.image.disk);
    ASSERT_TRUE(machine.directory->set_ballast(kBallastName, kBallastBytes).ok());
    machine.files.set_capacity_bytes(machine.files.used_bytes());
    const Status opened = machine.open();
    ASSERT_TRUE(opened.ok()) << opened.to_string();
    EXPECT_EQ(test::content_of(machine.recovered), crashed.content);
  }
  {
    // There is room for everything but the ballast.
    StoreMachine machine(crashed.image.disk);
    ASSERT_TRUE(machine.directory->set_ballast(kBallastName, 0).ok());
    machine.files.set_capacity_bytes(machine.files.used_bytes() + (4u << 20));
    const Status opened = machine.open();
    ASSERT_TRUE(opened.ok()) << opened.to_string();
  }
  {
    // There is no room: the open reports it, and nothing changed.
    StoreMachine machine(crashed.image.disk);
    ASSERT_TRUE(machine.directory->set_ballast(kBallastName, 0).ok());
    machine.files.set_capacity_bytes(machine.files.used_bytes());
    EXPECT_EQ(machine.open().code(), Code::kNoSpace);
    expect_content(machine.files.power_cut(io::CrashPolicy::kEverything, machine.random), crashed.content);
  }
}

// -- Making a store ---------------------------------------------------------------------------------------------------

TEST(MakeStore, AStoreIsEmptyAndKnowsItsOptions) {
  StoreMachine machine;
  format::StoredOptions options;
  options.default_durability = 2;
  options.retention_ticks = 55;
  Result<Established> made = make_store(machine.env, *machine.directory, options);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  EXPECT_EQ(made->manifest->files().stored_options, options);
  EXPECT_NE(made->manifest->files().store_id, format::StoreId{});
  EXPECT_EQ(machine.files.snapshot().file_names(test::kImagePath),
            (std::vector<std::string>{"000001.wal", "000002.buf", "BALLAST", "CURRENT", "MANIFEST-000003"}));
  const Result<Recovered> recovered = machine.read();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(recovered->memtable->entry_count(), 0u);
  EXPECT_EQ(recovered->files.stored_options, options);
  EXPECT_EQ(recovered->root.root().store_id, recovered->files.store_id);
}

TEST(MakeStore, TwoStoresHaveTwoIds) {
  EXPECT_NE((*StoreImage(1).recover()).files.store_id, (*StoreImage(2).recover()).files.store_id);
}

TEST(MakeStore, WhereThereIsAStoreItIsRefused) {
  const StoreImage image;
  StoreMachine machine(image.disk);
  EXPECT_EQ(make_store(machine.env, *machine.directory, {}).code(), Code::kExists);
  EXPECT_TRUE(machine.files.snapshot().same_content(image.disk));
}

TEST(MakeStore, CrashedAtEveryStepItIsToldFromALostStoreAndCanBeMadeAgain) {
  StoreMachine machine;
  std::vector<io::MemoryDisk> images;
  machine.files.set_observer([&](const io::Operation&, io::Moment) {
    for (io::MemoryDisk& image : machine.files.power_cuts(machine.random, 20)) images.push_back(std::move(image));
    images.push_back(machine.files.process_death(machine.random));
  });
  ASSERT_TRUE(make_store(machine.env, *machine.directory, {}).ok());
  machine.files.set_observer({});
  EXPECT_GT(images.size(), 50u);
  std::map<StoreFound, std::size_t> seen;
  for (std::size_t index = 0; index < images.size(); ++index) {
    SCOPED_TRACE(index);
    StoreMachine after(images[index], 9);
    const Result<StoreFound> found = find_store(*after.directory);
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    ++seen[*found];
    if (*found == StoreFound::kStore) {
      const Status opened = after.open();
      ASSERT_TRUE(opened.ok()) << opened.to_string();
      EXPECT_EQ(after.recovered.memtable->entry_count(), 0u);
    } else {
      const Result<Established> made = make_store(after.env, *after.directory, {});
      ASSERT_TRUE(made.ok()) << made.status().to_string();
      ASSERT_TRUE(after.read().ok());
      EXPECT_EQ(after.files.snapshot().file_names(test::kImagePath).size(), 5u);
    }
  }
  EXPECT_GT(seen[StoreFound::kNothing], 0u);
  EXPECT_GT(seen[StoreFound::kUnfinished], 0u);
  EXPECT_GT(seen[StoreFound::kStore], 0u);
}

TEST(MakeStore, WithoutRoomForTheBallastNothingElseIsMade) {
  StoreMachine machine;
  machine.files.set_capacity_bytes(8u << 20);
  EXPECT_EQ(make_store(machine.env, *machine.directory, {}).code(), Code::kNoSpace);
  for (const std::string& name : machine.files.snapshot().file_names(test::kImagePath)) {
    EXPECT_FALSE(format::parse_file_name(name).ok() && name != "CURRENT") << name;
  }
  EXPECT_EQ(*find_store(*machine.directory), StoreFound::kUnfinished);
  machine.files.set_capacity_bytes(io::MemoryFileSystem::kUnlimited);
  EXPECT_TRUE(make_store(machine.env, *machine.directory, {}).ok());
}

TEST(MakeStore, EveryErrorIsToldAndItCanBeMadeLater) {
  for (std::uint64_t nth = 0;; ++nth) {
    SCOPED_TRACE(nth);
    StoreMachine machine;
    io::FaultRule rule;
    rule.mutating_only = true;
    rule.skip_count = nth;
    machine.files.faults().add(rule);
    const Result<Established> made = make_store(machine.env, *machine.directory, {});
    const bool hit = machine.files.faults().hit_count() > 0;
    machine.files.faults().clear();
    if (!hit) {
      EXPECT_TRUE(made.ok());
      break;
    }
    StoreMachine after(machine.files.power_cut(io::CrashPolicy::kEverything, machine.random));
    const Result<StoreFound> found = find_store(*after.directory);
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    const bool works =
        *found == StoreFound::kStore ? after.open().ok() : make_store(after.env, *after.directory, {}).ok();
    EXPECT_TRUE(works);
    ASSERT_LT(nth, 100u);
  }
}

}  // namespace
}  // namespace varve::engine::establish_test
