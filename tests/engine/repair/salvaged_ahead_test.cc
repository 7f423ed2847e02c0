// Goal: a repair that reads table files side by side returns the same entries, and learns of losses and findings at the
// same entries, as one that reads them in turn.
// Method: a row of two files, damaged at many places, is read with a thread, without one, and in chunks of any size.
#include "engine/repair/salvaged_ahead.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/log/file_header.h"
#include "format/table/table_builder.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/seeded_scheduler.h"
#include "tests/support/engine_bench.h"
#include "tests/support/store_image.h"
#include "tests/support/thread_refusal.h"

namespace varve::engine::salvaged_ahead_test {
namespace {

constexpr std::uint64_t kSeed = 0x1122334455667788;
constexpr int kRowCount = 300;  // of a file
constexpr std::size_t kOneEntry = 1;
constexpr std::size_t kSomeEntries = 1'000;

/// What the merge sees, one line for each entry, and at the end.
using Seen = std::vector<std::string>;

std::string text_of(const Salvage& salvage) {
  std::string text = std::to_string(salvage.losses.all().size()) + " losses";
  for (const Loss& loss : salvage.losses.all()) {
    text += "; " + loss.file + " " + std::to_string(loss.offset) + "+" + std::to_string(loss.bytes) + " " + loss.what +
            " " + loss.smallest_key.value_or("-") + " " + loss.largest_key.value_or("-");
  }
  for (const std::string& finding : salvage.figures.findings) text += "; " + finding;
  return text;
}

std::string counts_of(const Salvage& salvage) {
  const RepairReport& report = salvage.figures.report;
  return std::to_string(report.table_files.whole) + " whole, " + std::to_string(report.table_files.damaged) +
         " damaged, " + std::to_string(report.table_files.missing) + " missing, " + std::to_string(report.read_bytes) +
         " bytes";
}

Seen see(EntryStream& stream, const Salvage& salvage) {
  Seen seen;
  for (; stream.valid(); stream.next()) {
    const Entry entry = stream.entry();
    seen.push_back(std::string(entry.sort_key) + "@" + std::to_string(entry.version) + "=" + std::string(entry.value) +
                   " " + text_of(salvage));
  }
  seen.push_back(stream.status().to_string() + " " + text_of(salvage) + " " + counts_of(salvage));
  return seen;
}

class SalvagedAheadTest : public testing::Test {
 protected:
  void SetUp() override {
    add_file(9, 1'000);
    add_file(10, 2'000);
  }

  void add_file(std::uint64_t number, int first_row) {
    format::TableOptions options;
    options.compression_level = 0;
    const auto builder = *format::TableBuilder::make(number, kSeed, options);
    for (int row = first_row; row < first_row + kRowCount; ++row) {
      const std::string key = test::key_of("p", std::to_string(row));
      const std::string value = std::to_string(row) + std::string(100, 'v');
      ASSERT_TRUE(builder->add({key, 30, Kind::kPut, value}).ok());
    }
    const Result<format::TableFileEntry> finished = builder->finish();
    ASSERT_TRUE(finished.ok()) << finished.status().to_string();
    TableSource source;
    source.name = format::file_name(format::FileType::kTable, number);
    source.entry = *finished;
    source.is_named = source.has_bounds = true;
    sources_.push_back(std::move(source));
    files_.emplace_back(builder->pending());
  }
  io::MemoryDisk disk() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      image_.disk.write_file(test::path_of(sources_[i].name), format::as_bytes(files_[i]));
    }
    return image_.disk;
  }
  std::vector<const TableSource*> row() const { return {&sources_[0], &sources_[1]}; }

  Seen see_in_turn(io::Directory& directory) {
    Salvage salvage{directory, {}, {}};
    SalvagedRow files(row(), salvage);
    return see(files, salvage);
  }
  Seen see_ahead(io::Scheduler& scheduler, io::Directory& directory, std::size_t chunk_bytes) {
    Salvage salvage{directory, {}, {}};
    SalvagedAhead files(scheduler, row(), salvage, chunk_bytes);
    files.settle();
    return see(files, salvage);
  }
  /// Expects the same in turn and ahead.
  void expect_same() {
    test::StoreMachine machine(disk());
    const Seen in_turn = see_in_turn(*machine.directory);
    for (const std::size_t chunk_bytes : {kOneEntry, kSomeEntries, SalvagedAhead::kChunkBytes}) {
      SCOPED_TRACE(chunk_bytes);
      ASSERT_EQ(see_ahead(machine.scheduler, *machine.directory, chunk_bytes), in_turn);
    }
  }

  test::StoreImage image_;
  std::vector<TableSource> sources_;
  std::vector<std::string> files_;
};

TEST_F(SalvagedAheadTest, ReturnsAllOfSoundFiles) {
  test::StoreMachine machine(disk());
  const Seen ahead = see_ahead(machine.scheduler, *machine.directory, SalvagedAhead::kChunkBytes);
  EXPECT_EQ(ahead.size(), std::size_t{2} * kRowCount + 1);
  EXPECT_EQ(ahead.back().find("Ok 0 losses 2 whole, 0 damaged, 0 missing"), 0u) << ahead.back();
  expect_same();
}

TEST_F(SalvagedAheadTest, SeesTheSameWhereverAFileIsDamaged) {
  const std::vector<std::string> sound = files_;
  constexpr std::size_t kStep = 5'003;
  for (std::size_t file = 0; file < sound.size(); ++file) {
    for (std::size_t at = sound[file].size() - 5; at > kStep; at -= kStep) {
      SCOPED_TRACE(std::to_string(file) + " at " + std::to_string(at));
      files_ = sound;
      files_[file][at] = static_cast<char>(files_[file][at] ^ 4);
      expect_same();
    }
  }
}

TEST_F(SalvagedAheadTest, SeesThatAFileIsMissing) {
  (void)disk();
  image_.remove(sources_[0].name);
  test::StoreMachine machine(image_.disk);
  const Seen in_turn = see_in_turn(*machine.directory);
  EXPECT_EQ(in_turn.size(), std::size_t{kRowCount} + 1);
  EXPECT_EQ(see_ahead(machine.scheduler, *machine.directory, kSomeEntries), in_turn);
}

TEST_F(SalvagedAheadTest, ReturnsTheEntriesBeforeEveryError) {
  test::StoreMachine machine(disk());
  std::uint64_t step = 0;
  for (;; ++step) {
    SCOPED_TRACE(step);
    const auto with_error = [&](const auto& look) {
      machine.files.faults().clear();
      machine.files.faults().fail_nth(step, Code::kIoError);
      return look();
    };
    const Seen in_turn = with_error([&] { return see_in_turn(*machine.directory); });
    const Seen ahead =
        with_error([&] { return see_ahead(machine.scheduler, *machine.directory, SalvagedAhead::kChunkBytes); });
    ASSERT_EQ(ahead, in_turn);
    if (in_turn.back().starts_with("Ok")) break;
  }
  EXPECT_GE(step, 6u);
}

TEST_F(SalvagedAheadTest, SeesTheSameWithoutAThreadAndInAnyOrderOfThreads) {
  files_[0][files_[0].size() / 2] = static_cast<char>(files_[0][files_[0].size() / 2] ^ 4);
  test::StoreMachine machine(disk());
  const Seen in_turn = see_in_turn(*machine.directory);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    io::ManualClock clock;
    io::SeededScheduler simulation(seed, clock);
    test::ThreadRefusal threads(simulation);
    io::MemoryFileSystem files(simulation.scheduler(), image_.disk);
    const auto directory = *files.open_directory(test::kImagePath);
    const bool refuses = seed % 3 == 0;
    if (refuses) threads.refuse(0);
    EXPECT_EQ(see_ahead(threads.scheduler(), *directory, kSomeEntries), in_turn);
    EXPECT_EQ(threads.happened(), refuses);
  }
}

TEST_F(SalvagedAheadTest, EndsItsThreadWhenItIsGivenUp) {
  const io::MemoryDisk image = disk();
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    io::ManualClock clock;
    io::SeededScheduler simulation(seed, clock);
    io::MemoryFileSystem files(simulation.scheduler(), image);
    const auto directory = *files.open_directory(test::kImagePath);
    Salvage salvage{*directory, {}, {}};
    SalvagedAhead ahead(simulation.scheduler(), row(), salvage, kSomeEntries);
    ahead.settle();
    for (std::uint64_t read = 0; read < 10 * seed; ++read) ahead.next();
    EXPECT_TRUE(ahead.valid());
  }
}

}  // namespace
}  // namespace varve::engine::salvaged_ahead_test
