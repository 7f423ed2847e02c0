// Goal: with any limit of open files, each file can be read as if it were alone. No file is closed during a read, and a
// reopened file has the same content. A refusal of the system has no effect on a reader while other files can be
// closed.
// Method: small files on a disk in memory, a model of the pinned files, many threads, and failing steps.
#include "engine/tables/open_files.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "io/os_error.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::open_files_test {
namespace {

constexpr std::size_t kFiles = 12;
constexpr std::size_t kFileBytes = 3000;

std::string name_of(std::size_t file) {
  return "file-" + std::to_string(100 + file) + ".sst";
}
std::string content_of(std::size_t file) {
  std::string content(kFileBytes, static_cast<char>('a' + file));
  content.replace(0, 6, std::to_string(100'000 + file));
  return content;
}

/// Some files, and their handles.
class OpenFilesTest : public testing::Test {
 protected:
  void make(std::size_t capacity) {
    end();
    machine_ = std::make_unique<test::Machine>();
    fill(capacity);
  }
  /// Threads run one at a time, in simulated time.
  void make_seeded(std::uint64_t seed, std::size_t capacity) {
    end();
    machine_ = std::make_unique<test::Machine>(seed, test::OneThreadAtATime());
    fill(capacity);
  }
  void end() {
    held_.clear();
    open_files_.reset();
    directory_.reset();
    machine_.reset();
  }
  void fill(std::size_t capacity) {
    machine_->files->change_disk([](io::MemoryDisk& disk) {
      for (std::size_t file = 0; file < kFiles; ++file) {
        disk.write_file(path_of(file), format::as_bytes(content_of(file)));
      }
    });
    directory_ = *machine_->files->open_directory(test::kStorePath);
    open_files_ = std::make_unique<OpenFiles>(machine_->scheduler(), capacity);
    for (std::size_t file = 0; file < kFiles; ++file) held_.push_back(open(file));
  }

  static std::string path_of(std::size_t file) { return std::string(test::kStorePath) + "/" + name_of(file); }
  std::unique_ptr<HeldFile> open(std::size_t file) {
    Result<std::unique_ptr<HeldFile>> held =
        HeldFile::open(*open_files_, machine_->scheduler(), *directory_, name_of(file), kFileBytes);
    EXPECT_TRUE(held.ok()) << held.status().to_string();
    if (!held.ok()) return nullptr;
    (*held)->set_mark(0, content_of(file).substr(0, 64));
    return *std::move(held);
  }
  /// Returns an empty text if the readable object has the file's content, else the difference.
  template <typename Readable>
  static std::string fault_of(const Readable& readable, std::size_t file) {
    std::string bytes(kFileBytes, '\0');
    const Status read = readable.read_exactly(0, std::as_writable_bytes(std::span(bytes)));
    if (!read.ok()) return read.to_string();
    return bytes == content_of(file) ? "" : "file " + std::to_string(file) + " reads as another";
  }
  Status read(std::size_t file) const {
    std::string bytes(kFileBytes, '\0');
    return held_[file]->read_exactly(0, std::as_writable_bytes(std::span(bytes)));
  }
  /// Opens other files, so that file 0 is closed.
  void close_first() {
    const std::uint64_t before = open_files_->openings();
    for (int round = 0; round < 3; ++round) {
      for (std::size_t file = 1; file < kFiles; ++file) ASSERT_TRUE(read(file).ok());
    }
    ASSERT_GT(open_files_->openings(), before);
  }
  void refuse_to_open(int error, std::uint64_t times, std::size_t file = 0) {
    io::FaultRule rule;
    rule.kind = io::OperationKind::kOpen;
    rule.name_suffix = name_of(file);
    rule.os_error = error;
    rule.fail_count = times;
    machine_->files->faults().add(rule);
  }
  /// Replaces a file by name, as another process could.
  void put_in_place(std::size_t file, const std::string& content) {
    ASSERT_TRUE(directory_->remove(name_of(file)).ok());
    const auto made = directory_->create(name_of(file));
    ASSERT_TRUE(made.ok());
    ASSERT_TRUE((*made)->append(format::as_bytes(content)).ok());
    ASSERT_TRUE((*made)->sync({"test"}).ok());
  }

  std::unique_ptr<test::Machine> machine_;
  std::unique_ptr<io::Directory> directory_;
  std::unique_ptr<OpenFiles> open_files_;
  std::vector<std::unique_ptr<HeldFile>> held_;
};

TEST_F(OpenFilesTest, ManyFilesAreReadThroughFewDescriptors) {
  make(3);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t file = 0; file < kFiles; ++file) {
      ASSERT_EQ(fault_of(*held_[file], file), "");
      ASSERT_LE(open_files_->open_count(), 3U);
    }
  }
  EXPECT_GE(open_files_->closings(), 2 * kFiles);
}

TEST_F(OpenFilesTest, WhatIsReadAgainAndAgainStaysOpen) {
  make(4);
  ASSERT_TRUE(read(0).ok());
  for (int round = 0; round < 20; ++round) {
    for (std::size_t file = 1; file < kFiles; ++file) {
      ASSERT_TRUE(read(file).ok());
      ASSERT_TRUE(read(0).ok());
    }
  }
  // Each other file is opened once per round. File 0 is used between any two of them, so it stays open.
  EXPECT_LE(open_files_->openings(), kFiles + 20 * (kFiles - 1) + 20);
}

TEST_F(OpenFilesTest, WithRoomForAllNoFileIsOpenedTwice) {
  make(kFiles);
  for (int round = 0; round < 5; ++round) {
    for (std::size_t file = 0; file < kFiles; ++file) ASSERT_EQ(fault_of(*held_[file], file), "");
  }
  EXPECT_EQ(open_files_->openings(), kFiles);
  EXPECT_EQ(open_files_->closings(), 0U);
}

// The model: which files are pinned, and how often for a long time.
TEST_F(OpenFilesTest, AgreeWithTheirModel) {
  constexpr std::size_t kCapacity = 4;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    make(kCapacity);
    io::SeededRandom random(seed);
    std::deque<std::pair<std::size_t, FilePin>> pins;
    std::deque<std::pair<std::size_t, FilePin>> long_pins;
    std::size_t most_pinned = 0;
    for (int step = 0; step < 400; ++step) {
      const auto file = static_cast<std::size_t>(io::random_below(random, kFiles));
      switch (io::random_below(random, 7)) {
        case 0: {
          Result<FilePin> pin = held_[file]->pin();
          ASSERT_TRUE(pin.ok()) << pin.status().to_string();
          pins.emplace_back(file, *std::move(pin));
          break;
        }
        case 1: {
          Result<FilePin> pin = held_[file]->pin_for_long();
          ASSERT_EQ(pin.ok(), long_pins.size() < kCapacity / 2);
          if (pin.ok()) {
            long_pins.emplace_back(file, *std::move(pin));
          } else {
            ASSERT_EQ(pin.status().code(), Code::kBusy);
          }
          break;
        }
        case 2:
        case 3:
          if (!pins.empty()) pins.pop_front();
          break;
        case 4:
          if (!long_pins.empty()) long_pins.pop_front();
          break;
        case 5: ASSERT_EQ(fault_of(*held_[file], file), ""); break;
        default: {
          bool is_pinned = false;
          for (const auto* some : {&pins, &long_pins}) {
            for (const auto& pinned : *some) is_pinned = is_pinned || pinned.first == file;
          }
          if (!is_pinned) held_[file] = open(file);  // It left the store, and another one was added.
        }
      }
      std::set<std::size_t> pinned;
      for (const auto* some : {&pins, &long_pins}) {
        for (const auto& [number, pin] : *some) {
          pinned.insert(number);
          ASSERT_EQ(fault_of(*pin, number), "") << "step " << step;
        }
      }
      most_pinned = std::max(most_pinned, pinned.size());
      ASSERT_LE(open_files_->open_count(), std::max(kCapacity, most_pinned + 1)) << "step " << step;
    }
  }
}

TEST_F(OpenFilesTest, ThreadsReadWhatTheyAskedForWhileOthersHaveFilesClosed) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kCapacity = 3;
  make(kCapacity);
  std::array<std::string, kThreads> faults;
  std::atomic<std::size_t> most_open{0};
  {
    std::vector<io::Thread> threads;
    for (std::size_t number = 0; number < kThreads; ++number) {
      threads.push_back(*machine_->scheduler().start("reader", [&, number] {
        io::SeededRandom random(number + 1);
        for (int step = 0; step < 2000 && faults[number].empty(); ++step) {
          const auto file = static_cast<std::size_t>(io::random_below(random, kFiles));
          if (io::random_below(random, 4) == 0) {
            const Result<FilePin> pin = held_[file]->pin_for_long();
            if (pin.ok()) {
              faults[number] = fault_of(*held_[(file + 1) % kFiles], (file + 1) % kFiles);  // while it is pinned
              if (faults[number].empty()) faults[number] = fault_of(**pin, file);
            } else if (pin.status().code() != Code::kBusy) {
              faults[number] = pin.status().to_string();
            }
          } else {
            faults[number] = fault_of(*held_[file], file);
          }
          const std::size_t open = open_files_->open_count();
          for (std::size_t seen = most_open; open > seen && !most_open.compare_exchange_weak(seen, open);) continue;
        }
      }));
    }
  }
  for (const std::string& fault : faults) EXPECT_EQ(fault, "");
  EXPECT_LE(most_open, kCapacity + 2 * kThreads);
  EXPECT_GT(open_files_->closings(), 100U);
}

TEST_F(OpenFilesTest, SeededThreadsReadWhatTheyAskedFor) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    make_seeded(seed, 1);
    std::array<std::string, 3> faults;
    {
      std::vector<io::Thread> threads;
      for (std::size_t number = 0; number < faults.size(); ++number) {
        threads.push_back(*machine_->scheduler().start("reader", [&, number] {
          for (std::size_t step = 0; step < 12 && faults[number].empty(); ++step) {
            const std::size_t file = (step * (number + 1)) % 4;
            faults[number] = fault_of(*held_[file], file);
          }
        }));
      }
    }
    for (const std::string& fault : faults) EXPECT_EQ(fault, "");
  }
}

TEST_F(OpenFilesTest, ARefusalOfTheSystemClosesOthersAndIsNotTold) {
  for (const int error : {EMFILE, ENFILE}) {
    make(8);
    close_first();
    refuse_to_open(error, 1);
    EXPECT_EQ(fault_of(*held_[0], 0), "") << error;
    EXPECT_LT(open_files_->capacity(), 8U) << "what the process has no room for is not asked for again and again";
    EXPECT_LE(open_files_->open_count(), open_files_->capacity());
  }
}

TEST_F(OpenFilesTest, ARefusalThatClosingDoesNotEndIsToldByItsType) {
  make_seeded(1, 8);
  close_first();
  refuse_to_open(EMFILE, io::FaultRule::kFromThenOn);
  EXPECT_EQ(read(0).code(), Code::kTooManyFiles);
  const Result<FilePin> pin = held_[0]->pin_for_long();
  EXPECT_EQ(pin.status().code(), Code::kTooManyFiles);
  machine_->files->faults().clear();
  EXPECT_EQ(fault_of(*held_[0], 0), "") << "and is over when the system has room again";
  EXPECT_EQ(fault_of(*held_[1], 1), "");
}

TEST_F(OpenFilesTest, AReaderWaitsForAPinWhereAllThatIsOpenIsPinned) {
  make_seeded(1, 1);
  Result<FilePin> pin = held_[1]->pin();
  ASSERT_TRUE(pin.ok());
  refuse_to_open(EMFILE, 3);
  std::string fault = "not read";
  io::Thread reader = *machine_->scheduler().start("reader", [&] { fault = fault_of(*held_[0], 0); });
  for (int i = 0; i < 5; ++i) machine_->scheduler().yield();
  EXPECT_EQ(fault_of(**pin, 1), "") << "which nobody has closed";
  pin->release();
  reader.join();
  EXPECT_EQ(fault, "");
}

TEST_F(OpenFilesTest, AnErrorOfTheDeviceIsToldOnceAndTheNextReadOpensAnew) {
  make(2);
  close_first();
  refuse_to_open(EIO, 1);
  const Status failed = read(0);
  EXPECT_EQ(failed.code(), Code::kIoError);
  EXPECT_EQ(failed.os_error(), EIO);
  EXPECT_EQ(fault_of(*held_[0], 0), "");
}

TEST_F(OpenFilesTest, AFileThatWasRemovedIsDamageAndNoAnswerOfTheModel) {
  make(2);
  close_first();
  ASSERT_TRUE(directory_->remove(name_of(0)).ok());
  EXPECT_EQ(read(0).code(), Code::kCorruption);
  EXPECT_EQ(held_[0]->pin_for_long().status().code(), Code::kCorruption);
}

TEST_F(OpenFilesTest, AFileThatWasReplacedIsNotTakenForTheFirst) {
  make(2);
  close_first();
  put_in_place(0, content_of(1));
  EXPECT_EQ(read(0).code(), Code::kCorruption) << "of the same size";
  put_in_place(0, content_of(0) + "more");
  EXPECT_EQ(read(0).code(), Code::kCorruption) << "of another size";
  put_in_place(0, "");
  EXPECT_EQ(read(0).code(), Code::kCorruption) << "empty";
  put_in_place(0, content_of(0));
  EXPECT_EQ(fault_of(*held_[0], 0), "") << "a copy is as good";
}

TEST_F(OpenFilesTest, AFileThatStaysOpenIsReadThoughItsNameIsGone) {
  make(kFiles);
  ASSERT_TRUE(directory_->remove(name_of(0)).ok());
  EXPECT_EQ(fault_of(*held_[0], 0), "");
}

TEST(OpenFilesCapacity, IsAQuarterOfTheLimitWithinBounds) {
  EXPECT_EQ(OpenFiles::capacity_for(0), OpenFiles::kCapacityMin);
  EXPECT_EQ(OpenFiles::capacity_for(64), 16U);
  EXPECT_EQ(OpenFiles::capacity_for(1024), 256U);
  EXPECT_EQ(OpenFiles::capacity_for(std::uint64_t{1} << 30), OpenFiles::kCapacityMax);
}

}  // namespace
}  // namespace varve::engine::open_files_test
