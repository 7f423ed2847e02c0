// The data that power cuts may and may not remove, policy by policy, and the data that stays after the death of the
// process.
#include "io/simulated/crash_image.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/simulated/seeded_scheduler.h"
#include "tests/io/simulated/memory_test_support.h"

namespace varve::io::crash_image_test {
namespace {

using Texts = std::set<std::string>;

/// Returns a disk with a file whose first page is durable 'o's, overwritten completely by 'n's that are not durable.
MemoryDisk disk_with_pages_pending(std::size_t page_count) {
  MemoryMachine machine;
  machine.write_durably("a", std::string(page_count * kPageBytes, 'o'));
  MemoryDisk disk = machine.files().snapshot();
  MemoryDisk::State& state = disk.state();
  PendingWrite write;
  write.sequence = state.next_sequence++;
  const Bytes fresh = bytes_of(std::string(page_count * kPageBytes, 'n'));
  write.bytes = std::make_shared<const Bytes>(fresh);
  FileState& file = state.files.begin()->second;
  file.cached.write(0, fresh);
  file.pending.push_back(std::move(write));
  return disk;
}

/// Returns, for each unit of the text, its byte if all of its bytes are equal, or '?' if they differ.
std::string units_of(const std::string& text, std::size_t unit_bytes) {
  std::string units;
  for (std::size_t offset = 0; offset < text.size(); offset += unit_bytes) {
    const std::string unit = text.substr(offset, unit_bytes);
    units.push_back(unit.find_first_not_of(unit.front()) == std::string::npos ? unit.front() : '?');
  }
  return units;
}

// -- Durable data -----------------------------------------------------------------------------------------------------

TEST(CrashImage, WhatWasSyncedWithItsNameSurvivesEveryPolicy) {
  MemoryMachine machine;
  machine.write_durably("kept", "durable");
  const std::unique_ptr<LogSegment> segment = machine.create_segment("1.wal", 4 * kSectorBytes);
  const AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
  ASSERT_TRUE(is_ok(segment->write(kSectorBytes, record.bytes(), kTestPoint)));
  ASSERT_TRUE(is_ok(machine.store().sync(kTestPoint)));
  ASSERT_TRUE(is_ok(machine.store().replace("CURRENT", {}, bytes_of("root"), kTestPoint)));
  // Adds data that is not durable, so that a power cut has an effect.
  const std::unique_ptr<WritableFile> pending = machine.create("pending");
  ASSERT_TRUE(is_ok(pending->append(bytes_by_seed(2, 3 * kPageBytes))));

  const MemoryDisk disk = machine.files().snapshot();
  Bytes segment_bytes(4 * kSectorBytes);
  std::copy(record.bytes().begin(), record.bytes().end(), segment_bytes.begin() + kSectorBytes);
  for (const CrashPolicy policy : kCrashPolicies) {
    SCOPED_TRACE(crash_policy_name(policy));
    EXPECT_EQ(outcomes(disk, policy, file_text("/store/kept")), Texts{"durable"});
    EXPECT_EQ(outcomes(disk, policy, file_text("/store/CURRENT")), Texts{"root"});
    EXPECT_EQ(outcomes(disk, policy, file_text("/store/1.wal")), Texts{text_of(segment_bytes)});
  }
}

TEST(CrashImage, ImagesAreAtRest) {
  const MemoryDisk disk = disk_with_pages_pending(2);
  EXPECT_EQ(disk.pending_count(), 1U);
  for (const CrashPolicy policy : kCrashPolicies) {
    SCOPED_TRACE(crash_policy_name(policy));
    SeededRandom random(1);
    const MemoryDisk image = crash_image(disk, policy, random);
    EXPECT_EQ(image.pending_count(), 0U);
    for (const CrashPolicy again : kCrashPolicies) EXPECT_TRUE(crash_image(image, again, random).same_content(image));
  }
}

TEST(CrashImage, NothingUnsyncedAndEverythingAreTheTwoEnds) {
  MemoryMachine machine;
  machine.write_durably("old", "old");
  const std::unique_ptr<WritableFile> grown = machine.create("grown");
  ASSERT_TRUE(is_ok(grown->append(bytes_of("one"))));
  ASSERT_TRUE(is_ok(grown->sync(kTestPoint)));
  ASSERT_TRUE(is_ok(machine.store().sync(kTestPoint)));
  ASSERT_TRUE(is_ok(grown->append(bytes_of("two"))));
  ASSERT_TRUE(is_ok(machine.store().remove("old")));
  const std::unique_ptr<WritableFile> fresh = machine.create("fresh");
  ASSERT_TRUE(is_ok(fresh->append(bytes_of("new"))));

  SeededRandom random(1);
  const MemoryDisk nothing = machine.files().power_cut(CrashPolicy::kNothingUnsynced, random);
  EXPECT_EQ(nothing.file_names("/store"), (std::vector<std::string>{"grown", "old"}));
  EXPECT_EQ(text_in(nothing, "/store/grown"), "one");
  EXPECT_EQ(text_in(nothing, "/store/old"), "old");
  const MemoryDisk everything = machine.files().power_cut(CrashPolicy::kEverything, random);
  EXPECT_EQ(everything.file_names("/store"), (std::vector<std::string>{"fresh", "grown"}));
  EXPECT_EQ(text_in(everything, "/store/grown"), "onetwo");
  EXPECT_EQ(text_in(everything, "/store/fresh"), "new");
}

TEST(CrashImage, SyncingAFileDoesNotSyncItsName) {
  MemoryMachine machine;
  const std::unique_ptr<WritableFile> file = machine.create("a");
  ASSERT_TRUE(is_ok(file->append(bytes_of("bytes"))));
  ASSERT_TRUE(is_ok(file->sync(kTestPoint)));
  EXPECT_EQ(outcomes(machine.files().snapshot(), CrashPolicy::kNothingUnsynced, file_text("/store/a")),
            Texts{"<absent>"});
  // A durable name without durable data is an empty file.
  const std::unique_ptr<WritableFile> other = machine.create("b");
  ASSERT_TRUE(is_ok(other->append(bytes_of("bytes"))));
  ASSERT_TRUE(is_ok(machine.store().sync(kTestPoint)));
  const MemoryDisk disk = machine.files().snapshot();
  EXPECT_EQ(outcomes(disk, CrashPolicy::kNothingUnsynced, file_text("/store/a")), Texts{"bytes"});
  EXPECT_EQ(outcomes(disk, CrashPolicy::kNothingUnsynced, file_text("/store/b")), Texts{""});
}

// -- Pending data -----------------------------------------------------------------------------------------------------

TEST(CrashImage, AnOrderedPrefixHasNoHoles) {
  MemoryMachine machine;
  std::vector<std::unique_ptr<WritableFile>> files;
  for (const char* const name : {"a", "b", "c"}) {
    files.push_back(machine.create(name));
    for (const std::unique_ptr<WritableFile>& file : files) ASSERT_TRUE(is_ok(file->append(bytes_of("x"))));
  }
  const auto look = [](const MemoryDisk& disk) {
    return text_in(disk, "/store/a") + " " + text_in(disk, "/store/b") + " " + text_in(disk, "/store/c");
  };
  const Texts allowed = {"<absent> <absent> <absent>",
                         " <absent> <absent>",
                         "x <absent> <absent>",
                         "x  <absent>",
                         "xx  <absent>",
                         "xx x <absent>",
                         "xx x ",
                         "xxx x ",
                         "xxx xx ",
                         "xxx xx x"};
  EXPECT_EQ(outcomes(machine.files().snapshot(), CrashPolicy::kOrderedPrefix, look), allowed);
}

TEST(CrashImage, RandomPagesAreOldOrNewEachByItself) {
  const auto look = [](const MemoryDisk& disk) { return units_of(text_in(disk, "/store/a"), kPageBytes); };
  EXPECT_EQ(outcomes(disk_with_pages_pending(2), CrashPolicy::kRandomPages, look), (Texts{"oo", "on", "no", "nn"}));
}

TEST(CrashImage, RandomSectorsAreOldOrNewEachByItself) {
  const auto look = [](const MemoryDisk& disk) { return units_of(text_in(disk, "/store/a"), kDeviceSectorBytes); };
  const Texts seen = outcomes(disk_with_pages_pending(1), CrashPolicy::kRandomSectors, look, 2500);
  EXPECT_EQ(seen.size(), 256U);  // All 2^8 subsets; a page with mixed bytes would be one more.
  EXPECT_FALSE(seen.contains("????????"));
}

TEST(CrashImage, TornSectorsMixOldNewAndGarbageWithinWhatWasWritten) {
  MemoryMachine machine;
  const std::unique_ptr<WritableFile> file = machine.create("a");
  ASSERT_TRUE(is_ok(file->append(bytes_of(std::string(100, 'd')))));
  ASSERT_TRUE(is_ok(file->sync(kTestPoint)));
  ASSERT_TRUE(is_ok(machine.store().sync(kTestPoint)));
  ASSERT_TRUE(is_ok(file->append(bytes_of(std::string(300, 'n')))));
  bool seen_garbage = false;
  bool seen_mixture = false;
  for (const std::string& text :
       outcomes(machine.files().snapshot(), CrashPolicy::kTornSectors, file_text("/store/a"))) {
    ASSERT_GE(text.size(), 100U);
    EXPECT_EQ(text.substr(0, 100), std::string(100, 'd')) << "durable bytes of a torn sector were lost";
    const std::string rest = text.substr(100);
    const std::string known("n\0", 2);
    if (rest.find_first_not_of(known) != std::string::npos) {
      seen_garbage = true;
    } else if (rest.find('n') != std::string::npos && rest.find('\0') != std::string::npos) {
      seen_mixture = true;
    }
  }
  EXPECT_TRUE(seen_garbage);
  EXPECT_TRUE(seen_mixture);
}

TEST(CrashImage, SizeAndDataComeApart) {
  MemoryMachine machine;
  const std::unique_ptr<WritableFile> file = machine.create("a");
  ASSERT_TRUE(is_ok(file->append(bytes_of("old"))));
  ASSERT_TRUE(is_ok(file->sync(kTestPoint)));
  ASSERT_TRUE(is_ok(machine.store().sync(kTestPoint)));
  ASSERT_TRUE(is_ok(file->append(bytes_of("new"))));
  const MemoryDisk disk = machine.files().snapshot();
  const Texts without_data = outcomes(disk, CrashPolicy::kSizeWithoutData, file_text("/store/a"));
  EXPECT_TRUE(without_data.contains(std::string("old\0\0\0", 6)));
  EXPECT_GT(without_data.size(), 10U) << "garbage is one of many";
  for (const std::string& text : without_data) {
    EXPECT_EQ(text.size(), 6U);
    EXPECT_EQ(text.substr(0, 3), "old");
    EXPECT_NE(text, "oldnew");
  }
  EXPECT_EQ(outcomes(disk, CrashPolicy::kDataWithoutSize, file_text("/store/a")), Texts{"old"});
}

TEST(CrashImage, ChangesOfNamesAreDroppedAndReversed) {
  MemoryMachine machine;
  machine.write_durably("gone", "g");
  for (const char* const name : {"1", "2"}) ASSERT_TRUE(is_ok(machine.create(name)->append(bytes_of("x"))));
  ASSERT_TRUE(is_ok(machine.store().remove("gone")));
  const auto look = [](const MemoryDisk& disk) {
    std::string names;
    for (const std::string& name : disk.file_names("/store")) names += name + " ";
    return names;
  };
  const MemoryDisk disk = machine.files().snapshot();
  EXPECT_EQ(outcomes(disk, CrashPolicy::kDirectoryDropped, look),
            (Texts{"gone ", "1 gone ", "2 gone ", "1 2 gone ", "", "1 ", "2 ", "1 2 "}));
  EXPECT_EQ(outcomes(disk, CrashPolicy::kDirectoryReversed, look), (Texts{"2 ", ""}));
}

TEST(CrashImage, ALinkIsThereOrNotUntilItsOwnDirectoryIsSynced) {
  MemoryMachine machine;
  machine.write_durably("a", "linked");
  ASSERT_TRUE(is_ok(machine.files().create_directory("/other", kTestPoint)));
  Result<std::unique_ptr<Directory>> other = machine.files().open_directory("/other");
  ASSERT_TRUE(is_ok(other));
  ASSERT_TRUE(is_ok(machine.store().link("a", **other)));
  ASSERT_TRUE(is_ok(machine.store().sync(kTestPoint)));
  const auto seen = [&](CrashPolicy policy) {
    return outcomes(machine.files().snapshot(), policy, file_text("/other/a"));
  };
  EXPECT_EQ(seen(CrashPolicy::kNothingUnsynced), Texts{"<absent>"}) << "another directory was synced";
  EXPECT_EQ(seen(CrashPolicy::kRandomPages), (Texts{"<absent>", "linked"}));

  ASSERT_TRUE(is_ok((*other)->sync(kTestPoint)));
  ASSERT_TRUE(is_ok(machine.store().remove("a")));
  ASSERT_TRUE(is_ok(machine.store().sync(kTestPoint)));
  for (const CrashPolicy policy : {CrashPolicy::kNothingUnsynced, CrashPolicy::kRandomPages}) {
    EXPECT_EQ(seen(policy), Texts{"linked"}) << "the file outlives its first name";
  }
}

TEST(CrashImage, AnUnsyncedDirectoryGoesWithItsFiles) {
  MemoryMachine machine;
  FaultRule leave_out;
  leave_out.kind = OperationKind::kCreateDirectory;
  leave_out.effect = FaultEffect::kSyncLeftOut;
  machine.files().faults().add(leave_out);
  ASSERT_TRUE(is_ok(machine.files().create_directory("/store/new", kTestPoint)));
  ASSERT_TRUE(is_ok(machine.files().create_directory("/store/new/inner", kTestPoint)));
  SeededRandom random(1);
  const MemoryDisk nothing = machine.files().power_cut(CrashPolicy::kNothingUnsynced, random);
  EXPECT_TRUE(fails_with(MemoryFileSystem(nothing).open_directory("/store/new"), ENOENT));
  EXPECT_TRUE(fails_with(MemoryFileSystem(nothing).open_directory("/store/new/inner"), ENOENT));
  const MemoryDisk everything = machine.files().power_cut(CrashPolicy::kEverything, random);
  EXPECT_TRUE(is_ok(MemoryFileSystem(everything).open_directory("/store/new/inner")));
}

// -- In flight --------------------------------------------------------------------------------------------------------

TEST(CrashImage, ALogWriteInFlightIsAbsentPresentOrTorn) {
  MemoryMachine machine;
  const std::unique_ptr<LogSegment> segment = machine.create_segment("1.wal", 2 * kSectorBytes);
  ASSERT_TRUE(is_ok(machine.store().sync(kTestPoint)));
  AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
  std::fill(record.bytes().begin(), record.bytes().end(), std::byte{'r'});
  ASSERT_TRUE(is_ok(segment->write(0, record.bytes(), kTestPoint)));

  Texts torn;
  Texts pages;
  machine.files().set_observer(at(OperationKind::kLogWrite, Moment::kDuring, [&] {
    const auto look = [](const MemoryDisk& disk) {
      return units_of(text_in(disk, "/store/1.wal"), kDeviceSectorBytes).substr(8);
    };
    torn = outcomes(machine.files().snapshot(), CrashPolicy::kRandomSectors, look);
    pages = outcomes(machine.files().snapshot(), CrashPolicy::kRandomPages, look);
  }));
  ASSERT_TRUE(is_ok(segment->write(kSectorBytes, record.bytes(), kTestPoint)));
  EXPECT_EQ(pages, (Texts{std::string(8, '\0'), "rrrrrrrr"}));
  EXPECT_GT(torn.size(), 50U);
}

TEST(CrashImage, LogWritesInFlightTogetherAreLostEachByItself) {
  Texts seen;
  bool were_together = false;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    ManualClock clock;
    SeededScheduler seeded(seed, clock);
    MemoryMachine machine(seeded.scheduler());
    const std::unique_ptr<LogSegment> segment = machine.create_segment("1.wal", 2 * kSectorBytes);
    ASSERT_TRUE(is_ok(machine.store().sync(kTestPoint)));
    AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
    std::fill(record.bytes().begin(), record.bytes().end(), std::byte{'r'});
    machine.files().set_observer(at(OperationKind::kLogWrite, Moment::kDuring, [&] {
      const MemoryDisk disk = machine.files().snapshot();
      if (disk.pending_count() < 2) return;
      were_together = true;
      for (const MemoryDisk& image : subset_images(disk)) {
        seen.insert(units_of(text_in(image, "/store/1.wal"), kPageBytes));
      }
    }));
    const auto write = [&](std::uint64_t offset) {
      EXPECT_TRUE(is_ok(segment->write(offset, record.bytes(), kTestPoint)));
    };
    Result<Thread> other = seeded.scheduler().start("writer", [&] { write(0); });
    ASSERT_TRUE(is_ok(other));
    write(kSectorBytes);
    other->join();
  }
  EXPECT_TRUE(were_together);
  const std::string zero(1, '\0');
  EXPECT_TRUE(seen.contains(zero + zero));
  EXPECT_TRUE(seen.contains("r" + zero));
  EXPECT_TRUE(seen.contains(zero + "r"));
  EXPECT_TRUE(seen.contains("rr"));
}

TEST(CrashImage, AReplacedFileIsOldOrNewAtEveryMoment) {
  MemoryMachine machine;
  ASSERT_TRUE(is_ok(machine.store().replace("CURRENT", {}, bytes_of("old"), kTestPoint)));
  Texts seen;
  int moment_count = 0;
  machine.files().set_observer([&](const Operation&, Moment) {
    ++moment_count;
    const MemoryDisk disk = machine.files().snapshot();
    for (const CrashPolicy policy : kCrashPolicies) seen.merge(outcomes(disk, policy, file_text("/store/CURRENT"), 20));
    for (const MemoryDisk& image : subset_images(disk)) seen.insert(text_in(image, "/store/CURRENT"));
    SeededRandom random(static_cast<std::uint64_t>(moment_count));
    seen.insert(text_in(machine.files().process_death(random), "/store/CURRENT"));
  });
  ASSERT_TRUE(is_ok(machine.store().replace("CURRENT", bytes_of("old"), bytes_of("new"), kTestPoint)));
  EXPECT_EQ(moment_count, 4 * 3);
  EXPECT_EQ(seen, (Texts{"old", "new"}));
  machine.files().set_observer(nullptr);
  EXPECT_EQ(outcomes(machine.files().snapshot(), CrashPolicy::kNothingUnsynced, file_text("/store/CURRENT")),
            Texts{"new"});
}

// -- Shared memory ----------------------------------------------------------------------------------------------------

TEST(CrashImage, SharedMemoryLosesAndKeepsPagesOfAnyAge) {
  MemoryMachine machine;
  Result<std::unique_ptr<SharedMemory>> memory = machine.store().create_shared_memory("buffer", 2 * kPageBytes);
  ASSERT_TRUE(is_ok(memory));
  ASSERT_TRUE(is_ok(machine.store().sync(kTestPoint)));
  const std::span<std::byte> bytes = (*memory)->bytes();
  std::fill(bytes.begin(), bytes.end(), std::byte{'1'});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(is_ok(machine.create(std::to_string(i))->append(bytes_of("x"))));
  std::fill(bytes.begin(), bytes.end(), std::byte{'2'});

  const MemoryDisk disk = machine.files().snapshot();
  const auto look = [](const MemoryDisk& image) { return units_of(text_in(image, "/store/buffer"), kPageBytes); };
  const std::string zero(1, '\0');
  EXPECT_EQ(outcomes(disk, CrashPolicy::kRandomPages, look),
            (Texts{zero + zero, zero + "1", zero + "2", "1" + zero, "11", "12", "2" + zero, "21", "22"}));
  EXPECT_EQ(outcomes(disk, CrashPolicy::kNothingUnsynced, look), Texts{zero + zero});
  EXPECT_EQ(outcomes(disk, CrashPolicy::kEverything, look), Texts{"22"});
  SeededRandom random(1);
  EXPECT_EQ(look(machine.files().process_death(random)), "22");
}

// -- Collections ------------------------------------------------------------------------------------------------------

TEST(CrashImages, AllSubsetsOfFewPendingChanges) {
  MemoryMachine machine;
  machine.write_durably("a", "");
  const std::unique_ptr<WritableFile> file = machine.create("b");
  ASSERT_TRUE(is_ok(file->append(bytes_of("1"))));
  ASSERT_TRUE(is_ok(file->append(bytes_of("2"))));
  Texts seen;
  const std::vector<MemoryDisk> images = subset_images(machine.files().snapshot());
  for (const MemoryDisk& image : images) seen.insert(text_in(image, "/store/b"));
  EXPECT_EQ(images.size(), 8U);
  EXPECT_EQ(seen, (Texts{"<absent>", "", "1", std::string("\0002", 2), "12"}));
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(is_ok(file->append(bytes_of("x"))));
  EXPECT_TRUE(subset_images(machine.files().snapshot()).empty()) << "eleven are too many";
}

TEST(CrashImages, AreDifferentAndHoldBothEnds) {
  MemoryMachine machine;
  const std::unique_ptr<WritableFile> file = machine.create("a");
  ASSERT_TRUE(is_ok(file->append(bytes_by_seed(1, 3 * kPageBytes))));
  SeededRandom random(1);
  const std::vector<MemoryDisk> images = machine.files().power_cuts(random, 40);
  EXPECT_EQ(images.size(), 40U);
  for (std::size_t i = 0; i < images.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(images[i].same_content(images[j])) << i << " and " << j;
  }
  for (const CrashPolicy end : {CrashPolicy::kNothingUnsynced, CrashPolicy::kEverything}) {
    const MemoryDisk wanted = machine.files().power_cut(end, random);
    EXPECT_TRUE(
        std::any_of(images.begin(), images.end(), [&](const MemoryDisk& image) { return image.same_content(wanted); }));
  }
}

TEST(CrashImages, OneWhereNothingIsPending) {
  MemoryMachine machine;
  machine.write_durably("a", "x");
  SeededRandom random(1);
  EXPECT_EQ(machine.files().power_cuts(random, 40).size(), 1U);
}

// -- Death of the process ---------------------------------------------------------------------------------------------

TEST(ProcessDeath, KeepsTheCacheButDoesNotSyncIt) {
  MemoryMachine machine;
  machine.write_durably("removed", "r");
  const std::unique_ptr<WritableFile> file = machine.create("a");
  ASSERT_TRUE(is_ok(file->append(bytes_of("cached"))));
  ASSERT_TRUE(is_ok(machine.store().remove("removed")));
  SeededRandom random(1);
  const MemoryDisk dead = machine.files().process_death(random);
  EXPECT_EQ(text_in(dead, "/store/a"), "cached");
  EXPECT_FALSE(dead.contains("/store/removed"));

  // The next process reads the data, but a power cut can still remove it.
  MemoryMachine next(dead);
  const Result<Bytes> read = read_whole(next.store(), "a");
  ASSERT_TRUE(is_ok(read));
  EXPECT_EQ(text_of(*read), "cached");
  const MemoryDisk cut = next.files().power_cut(CrashPolicy::kNothingUnsynced, random);
  EXPECT_EQ(text_in(cut, "/store/a"), "<absent>");
  EXPECT_EQ(text_in(cut, "/store/removed"), "r");
  // This ends when it syncs.
  ASSERT_TRUE(is_ok(next.store().sync(kTestPoint)));
  EXPECT_EQ(text_in(next.files().power_cut(CrashPolicy::kNothingUnsynced, random), "/store/a"), "");
}

TEST(ProcessDeath, LeavesAnyPartOfAWriteInFlight) {
  MemoryMachine machine;
  const std::unique_ptr<LogSegment> segment = machine.create_segment("1.wal", kSectorBytes);
  AlignedBuffer record = sectors_by_seed(1, kSectorBytes);
  std::fill(record.bytes().begin(), record.bytes().end(), std::byte{'r'});
  Texts seen;
  machine.files().set_observer(at(OperationKind::kLogWrite, Moment::kDuring, [&] {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      SeededRandom random(seed);
      const MemoryDisk dead = machine.files().process_death(random);
      seen.insert(units_of(text_in(dead, "/store/1.wal"), kDeviceSectorBytes));
      // The partial changes are only in the cache.
      MemoryFileSystem next(dead);
      for (const std::string& name : next.power_cut(CrashPolicy::kNothingUnsynced, random).file_names("/store")) {
        ADD_FAILURE() << name << " was never synced";
      }
    }
  }));
  ASSERT_TRUE(is_ok(segment->write(0, record.bytes(), kTestPoint)));
  EXPECT_TRUE(seen.contains(std::string(8, '\0')));
  EXPECT_TRUE(seen.contains("rrrrrrrr"));
  EXPECT_TRUE(seen.contains("rrr" + std::string(5, '\0')));
  EXPECT_GT(seen.size(), 20U);
  EXPECT_FALSE(seen.contains("????????"));
}

TEST(ProcessDeath, LeavesANameInFlightMadeOrNot) {
  MemoryMachine machine;
  Texts seen;
  machine.files().set_observer(at(OperationKind::kCreate, Moment::kDuring, [&] {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      SeededRandom random(seed);
      seen.insert(text_in(machine.files().process_death(random), "/store/a"));
    }
  }));
  (void)machine.create("a");
  EXPECT_EQ(seen, (Texts{"", "<absent>"}));
}

}  // namespace
}  // namespace varve::io::crash_image_test
