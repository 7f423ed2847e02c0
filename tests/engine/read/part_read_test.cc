// Goal: a part of a value is the part of the whole value, wherever the value is and whatever happens to it meanwhile.
// From a value file, only the sectors of the part are read, and nothing is cached. A failure names file and offset.
// Method: random parts of large and small values, which are in a memtable, a table or a value file. The reads of the
// disk in memory are recorded, failed and cut short. Seeded threads read while values are overwritten and compacted.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/log/file_header.h"
#include "io/aligned_buffer.h"
#include "io/env.h"
#include "tests/io/temporary_directory.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::part_read_test {
namespace {

using test::Change;
using test::Machine;

std::string random_value(std::uint64_t seed, std::size_t size) {
  io::SeededRandom random(seed);
  std::string value(size, ' ');
  for (char& c : value) c = static_cast<char>(random.next());
  return value;
}

/// Returns the part of the row's value, or the error's text.
std::string part_of(const ReadView& view, const FoundPlace& place, std::uint64_t offset, std::size_t size,
                    ReadCost* cost = nullptr) {
  constexpr std::size_t kMargin = 16;  // must stay as it is
  std::string out(size + 2 * kMargin, '#');
  const Status read = view.read_part(place, offset, std::span(out).subspan(kMargin, size), cost);
  EXPECT_EQ(out.substr(0, kMargin), std::string(kMargin, '#'));
  EXPECT_EQ(out.substr(kMargin + size), std::string(kMargin, '#'));
  return read.ok() ? out.substr(kMargin, size) : read.to_string();
}

/// Returns both parts of the row's value, one after the other, or the error's text.
std::string pair_of(const ReadView& view, const FoundPlace& place, std::pair<std::uint64_t, std::size_t> first,
                    std::pair<std::uint64_t, std::size_t> second, ReadCost* cost = nullptr) {
  std::string out(first.second + second.second, '#');
  const std::span<char> all(out);
  const Status read = view.read_pair(
      place, {{{first.first, all.first(first.second)}, {second.first, all.subspan(first.second)}}}, cost);
  return read.ok() ? out : read.to_string();
}

void expect_random_pairs(const ReadView& view, const FoundPlace& place, const std::string& value,
                         io::SeededRandom& random, int count) {
  for (int i = 0; i < count; ++i) {
    const std::size_t offset = random.next() % (value.size() + 1);
    const std::size_t size = random.next() % (std::min<std::size_t>(value.size() - offset, 5000) + 1);
    const std::size_t after = offset + size + random.next() % (value.size() - offset - size + 1);
    const std::size_t rest = random.next() % (value.size() - after + 1);
    ASSERT_TRUE(pair_of(view, place, {offset, size}, {after, rest}) ==
                value.substr(offset, size) + value.substr(after, rest))
        << offset << ", " << size << " bytes, " << after << ", " << rest << " bytes";
  }
}

void expect_random_parts(const ReadView& view, const FoundPlace& place, const std::string& value,
                         io::SeededRandom& random, int count) {
  ASSERT_EQ(place.bytes, value.size());
  for (int i = 0; i < count; ++i) {
    const std::size_t offset = random.next() % (value.size() + 1);
    const std::size_t most = i % 3 == 0 ? value.size() - offset : std::min<std::size_t>(value.size() - offset, 5000);
    const std::size_t size = random.next() % (most + 1);
    ASSERT_TRUE(part_of(view, place, offset, size) == value.substr(offset, size)) << offset << ", " << size << " bytes";
  }
  EXPECT_TRUE(part_of(view, place, 0, value.size()) == value);
}

class PartReads : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = std::size_t{1} << 20;

  void put(std::string_view row, const std::string& value) {
    const auto committed = Change().put("p", row, value).commit(*engine_);
    ASSERT_TRUE(committed.ok()) << committed.status().to_string();
  }
  void flush() { ASSERT_EQ(engine_->flush().to_string(), "Ok"); }
  void compact() { ASSERT_EQ(engine_->compact().to_string(), "Ok"); }
  void reopen() {
    engine_.reset();
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }
  FoundPlace locate(const ReadView& view, std::string_view row, ReadCost* cost = nullptr) {
    auto place = view.locate(test::key_of("p", row), cost);
    EXPECT_TRUE(place.ok()) << place.status().to_string();
    EXPECT_TRUE(place.ok() && place->has_value()) << row;
    return place.ok() && *place ? *std::move(*place) : FoundPlace();
  }
  /// Returns whether the row has a value, for reads of the place alone.
  bool has(const ReadView& view, std::string_view row) {
    const auto place = view.locate(test::key_of("p", row));
    EXPECT_TRUE(place.ok()) << place.status().to_string();
    return place.ok() && place->has_value();
  }
  /// Writes one value of 1 MiB to a value file, and opens the store again, so that nothing is cached.
  void put_in_file() {
    value_ = random_value(77, kBytes);
    put("r", value_);
    flush();
    reopen();
  }
  std::string path_of(const FoundPlace& place) { return std::string(test::kStorePath) + "/" + name_of(place); }
  static std::string name_of(const FoundPlace& place) {
    return format::named_file(format::FileType::kLogSegment, place.pointer().file).name;
  }

  Machine machine_;
  std::unique_ptr<Engine> engine_ = *machine_.open();
  std::string value_;
};

// -- Wherever the value is --------------------------------------------------------------------------------------------

enum class PartOf : std::uint8_t { kMemtable, kFlushed, kCompacted, kReopened, kTable, kReopenedTable };

void PrintTo(PartOf where, std::ostream* out) {
  *out << "place " << static_cast<int>(where);
}

class PartsByPlace : public PartReads, public testing::WithParamInterface<PartOf> {
 protected:
  bool is_of_table() const { return GetParam() == PartOf::kTable || GetParam() == PartOf::kReopenedTable; }
  /// A segment that is mostly small values does not stay as a value file, so its large values are in tables.
  void put_many_small() {
    for (int i = 0; i < 400; ++i) {
      put("small " + std::to_string(i), random_value(static_cast<std::uint64_t>(i), 2000));
    }
  }
  void settle() {
    if (GetParam() == PartOf::kMemtable) return;
    flush();
    if (GetParam() == PartOf::kCompacted) compact();
    if (GetParam() == PartOf::kReopened || GetParam() == PartOf::kReopenedTable) reopen();
  }
};

TEST_P(PartsByPlace, AreThePartsOfTheWholeValue) {
  constexpr std::uint64_t kSeed = 4;
  SCOPED_TRACE(kSeed);
  io::SeededRandom random(kSeed);
  if (is_of_table()) put_many_small();
  std::vector<std::string> values = {"", "x", random_value(1, 5000), random_value(2, kExternalValueBytesMin)};
  values.push_back(random_value(3, 40'000));
  if (!is_of_table()) {
    for (std::uint64_t i = 0; i < 4; ++i) values.push_back(random_value(i, 40'000 + random.next() % kBytes));
  }
  for (std::size_t i = 0; i < values.size(); ++i) put(std::to_string(i), values[i]);
  settle();
  const ReadView view = engine_->view();
  for (std::size_t i = 0; i < values.size(); ++i) {
    SCOPED_TRACE("value " + std::to_string(i));
    const FoundPlace place = locate(view, std::to_string(i));
    const bool is_large = values[i].size() >= kExternalValueBytesMin;
    EXPECT_EQ(place.is_in_file(), is_large && !is_of_table() && GetParam() != PartOf::kMemtable);
    ASSERT_NO_FATAL_FAILURE(expect_random_parts(view, place, values[i], random, test::effort(60)));
    ASSERT_NO_FATAL_FAILURE(expect_random_pairs(view, place, values[i], random, test::effort(60)));
    const auto whole = view.get(test::key_of("p", std::to_string(i)));
    ASSERT_TRUE(whole.ok() && whole->has_value());
    EXPECT_EQ((*whole)->version, place.version);
    ASSERT_NO_FATAL_FAILURE(expect_random_parts(view, place, values[i], random, 10)) << "with the value cached";
  }
}

TEST_P(PartsByPlace, EndWithTheValue) {
  if (is_of_table()) put_many_small();
  const std::string value = random_value(5, 50'000);
  put("r", value);
  settle();
  const ReadView view = engine_->view();
  const FoundPlace place = locate(view, "r");
  std::string out(100, '#');
  for (const auto& [offset, size] : std::vector<std::pair<std::uint64_t, std::size_t>>{
           {49'950, 51}, {50'000, 1}, {50'001, 0}, {60'000, 0}, {UINT64_MAX, 100}, {UINT64_MAX - 50, 100}}) {
    const Status read = view.read_part(place, offset, std::span(out).first(size));
    EXPECT_EQ(read.code(), Code::kInvalidArgument) << offset << ", " << size;
    EXPECT_EQ(out, std::string(100, '#'));
  }
  EXPECT_EQ(part_of(view, place, 50'000, 0), "");
  EXPECT_TRUE(part_of(view, place, 49'950, 50) == value.substr(49'950));
}

TEST_P(PartsByPlace, OfOlderViewsStayWhenTheRowIsOverwrittenOrDeleted) {
  if (is_of_table()) put_many_small();
  const std::string first = random_value(6, 60'000);
  const std::string second = random_value(7, 50'000);
  put("r", first);
  put("gone", first);
  settle();
  HeldVersion held = engine_->snapshot();
  const ReadView before = engine_->view();
  const FoundPlace old_place = locate(before, "r");
  put("r", second);
  ASSERT_TRUE(Change().remove("p", "gone").commit(*engine_).ok());
  for (const bool compacted : {false, true}) {
    SCOPED_TRACE(compacted);
    if (compacted) {
      flush();
      compact();
    }
    const ReadView after = engine_->view();
    EXPECT_TRUE(part_of(after, locate(after, "r"), 777, 40'000) == second.substr(777, 40'000));
    EXPECT_FALSE(has(after, "gone"));
    EXPECT_FALSE(has(after, "absent"));
    EXPECT_TRUE(part_of(before, old_place, 777, 40'000) == first.substr(777, 40'000));
    const ReadView snapshot = engine_->view_at(held);
    for (const char* row : {"r", "gone"}) {
      EXPECT_TRUE(part_of(snapshot, locate(snapshot, row), 777, 40'000) == first.substr(777, 40'000));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, PartsByPlace,
                         testing::Values(PartOf::kMemtable, PartOf::kFlushed, PartOf::kCompacted, PartOf::kReopened,
                                         PartOf::kTable, PartOf::kReopenedTable));

// -- What it costs ----------------------------------------------------------------------------------------------------

struct RecordedRead {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class PartCosts : public PartReads {
 protected:
  void SetUp() override {
    put_in_file();
    io::FaultRule rule;
    rule.kind = io::OperationKind::kRead;
    rule.name_suffix = ".wal";
    rule.predicate = [this](const io::Operation& operation) {
      reads_.push_back({operation.offset, operation.size_bytes});
      return false;
    };
    machine_.files->faults().add(rule);
  }
  std::vector<RecordedRead> reads_;  // of value files
};

TEST_F(PartCosts, NothingOfTheValueIsReadToFindItsPlace) {
  const ReadView view = engine_->view();
  ReadCost cost;
  const FoundPlace place = locate(view, "r", &cost);
  EXPECT_TRUE(place.is_in_file());
  EXPECT_EQ(place.bytes, kBytes);
  EXPECT_GT(cost.blocks_read, 0U);
  EXPECT_TRUE(reads_.empty());
  EXPECT_LT(engine_->statistics().block_read_bytes, kBytes / 4);
}

TEST_F(PartCosts, OnlyTheSectorsOfThePartAreRead) {
  constexpr std::uint64_t kSeed = 9;
  SCOPED_TRACE(kSeed);
  io::SeededRandom random(kSeed);
  const ReadView view = engine_->view();
  const FoundPlace place = locate(view, "r");
  EXPECT_TRUE(part_of(view, place, 0, 1) == value_.substr(0, 1));  // opens the file, and so reads its header
  const std::uint64_t file_bytes = *machine_.files->snapshot().file_size_bytes(path_of(place));
  const std::uint64_t blocks = engine_->statistics().cache.blocks;
  for (int i = 0; i < test::effort(200); ++i) {
    const std::size_t offset = i == 0 ? kBytes - 64 : random.next() % kBytes;
    const std::size_t size = 1 + random.next() % std::min<std::size_t>(kBytes - offset, 100'000);
    const std::uint64_t first = place.pointer().offset + offset;
    reads_.clear();
    const std::uint64_t bytes_before = engine_->statistics().block_read_bytes;
    const std::uint64_t reads_before = engine_->statistics().block_reads;
    ReadCost cost;
    ASSERT_TRUE(part_of(view, place, offset, size, &cost) == value_.substr(offset, size));
    ASSERT_EQ(reads_.size(), 1U);
    EXPECT_EQ(reads_.front().offset, io::round_down_to_sector(first));
    EXPECT_EQ(reads_.front().offset + reads_.front().bytes, std::min(io::round_up_to_sector(first + size), file_bytes));
    EXPECT_EQ(engine_->statistics().block_read_bytes - bytes_before, reads_.front().bytes);
    EXPECT_EQ(engine_->statistics().block_reads - reads_before, 1U);
    EXPECT_EQ(cost.blocks_read, 1U);
    EXPECT_EQ(cost.blocks_from_cache, 0U);
  }
  EXPECT_EQ(engine_->statistics().cache.blocks, blocks);
}

TEST_F(PartCosts, TwoPartsAreTwoReadsUnlessTheirSectorsTouch) {
  const ReadView view = engine_->view();
  const FoundPlace place = locate(view, "r");
  EXPECT_TRUE(part_of(view, place, 0, 1) == value_.substr(0, 1));  // opens the file, and so reads its header
  const std::uint64_t at = place.pointer().offset;
  constexpr std::size_t kHead = 200;
  constexpr std::size_t kPart = std::size_t{64} << 10;
  for (const std::uint64_t offset : {std::uint64_t{kHead}, std::uint64_t{300'000}}) {
    SCOPED_TRACE(offset);
    const bool is_one = offset == kHead;
    reads_.clear();
    const std::uint64_t bytes_before = engine_->statistics().block_read_bytes;
    ReadCost cost;
    ASSERT_TRUE(pair_of(view, place, {0, kHead}, {offset, kPart}, &cost) ==
                value_.substr(0, kHead) + value_.substr(offset, kPart));
    ASSERT_EQ(reads_.size(), is_one ? 1U : 2U);
    std::sort(reads_.begin(), reads_.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    EXPECT_EQ(reads_.front().offset, io::round_down_to_sector(at));
    EXPECT_EQ(reads_.back().offset, io::round_down_to_sector(is_one ? at : at + offset));
    EXPECT_EQ(reads_.back().offset + reads_.back().bytes, io::round_up_to_sector(at + offset + kPart));
    std::uint64_t bytes = 0;
    for (const RecordedRead& read : reads_) bytes += read.bytes;
    EXPECT_EQ(engine_->statistics().block_read_bytes - bytes_before, bytes);
    EXPECT_EQ(cost.blocks_read, 2U);
  }
}

TEST_F(PartCosts, ACachedValueIsNotReadAgain) {
  const ReadView view = engine_->view();
  const FoundPlace place = locate(view, "r");
  ASSERT_TRUE(view.get(test::key_of("p", "r")).ok());
  reads_.clear();
  ReadCost cost;
  cost.may_wait = false;
  EXPECT_TRUE(part_of(view, place, 70'000, 65'536, &cost) == value_.substr(70'000, 65'536));
  EXPECT_TRUE(reads_.empty());
  EXPECT_EQ(cost.blocks_from_cache, 1U);
  EXPECT_EQ(cost.blocks_read, 0U);
}

TEST_F(PartCosts, AReaderThatMayNotWaitDoesNotTouchTheDisk) {
  const ReadView view = engine_->view();
  const std::string key = test::key_of("p", "r");
  ReadCost hasty;
  hasty.may_wait = false;
  EXPECT_EQ(view.locate(key, &hasty).code(), Code::kBusy);
  EXPECT_TRUE(hasty.wants_disk);
  const FoundPlace place = locate(view, "r");
  for (const bool is_open : {false, true}) {
    SCOPED_TRACE(is_open);
    if (is_open) {
      EXPECT_TRUE(part_of(view, place, 0, 1) == value_.substr(0, 1));
    }
    reads_.clear();
    hasty.wants_disk = false;
    std::array<char, 10> out{};
    EXPECT_EQ(view.read_part(place, 5, out, &hasty).code(), Code::kBusy);
    EXPECT_TRUE(hasty.wants_disk);
    EXPECT_TRUE(reads_.empty());
  }
  EXPECT_TRUE(view.locate(key, &hasty).ok()) << "the blocks that lead to the value are cached now";
}

// -- Failures ---------------------------------------------------------------------------------------------------------

class PartFailures : public PartReads {
 protected:
  void SetUp() override { put_in_file(); }
  void expect_named(const Status& failed, const FoundPlace& place, std::uint64_t offset) {
    EXPECT_EQ(failed.place().kind, FileKind::kLogSegment) << failed.to_string();
    EXPECT_EQ(failed.place().number, place.pointer().file);
    EXPECT_EQ(failed.place().offset, std::optional(place.pointer().offset + offset));
    EXPECT_NE(failed.to_string().find(name_of(place)), std::string::npos) << failed.to_string();
    EXPECT_NE(failed.to_string().find(std::to_string(place.pointer().offset + offset)), std::string::npos);
  }
  void cut_file(const FoundPlace& place, std::uint64_t bytes) {
    machine_.files->change_disk([&](io::MemoryDisk& disk) { ASSERT_TRUE(disk.truncate(path_of(place), bytes).ok()); });
  }
  std::array<char, 100> out_{};
};

TEST_F(PartFailures, AFailedReadNamesFileAndOffsetAndTheNextOneWorks) {
  const ReadView view = engine_->view();
  const FoundPlace place = locate(view, "r");
  EXPECT_TRUE(part_of(view, place, 0, 1) == value_.substr(0, 1));  // opens the file
  for (const int error : {EIO, ENOENT, EACCES}) {
    io::FaultRule rule;
    rule.kind = io::OperationKind::kRead;
    rule.name_suffix = ".wal";
    rule.os_error = error;
    machine_.files->faults().add(rule);
    const Status failed = view.read_part(place, 300'000, out_);
    EXPECT_EQ(failed.code(), Code::kIoError) << failed.to_string();
    EXPECT_EQ(failed.os_error(), error);
    expect_named(failed, place, 300'000);
    EXPECT_TRUE(part_of(view, place, 300'000, 100) == value_.substr(300'000, 100));
    machine_.files->faults().clear();
  }
}

TEST_F(PartFailures, AFailedReadOfTwoNamesItsOwnPlace) {
  const ReadView view = engine_->view();
  const FoundPlace place = locate(view, "r");
  EXPECT_TRUE(part_of(view, place, 0, 1) == value_.substr(0, 1));  // opens the file
  std::string bytes(200, '#');
  const WantedPair parts{{{100, std::span(bytes).first(100)}, {300'000, std::span(bytes).subspan(100)}}};
  for (const std::uint64_t failing : {parts[0].offset, parts[1].offset}) {
    const std::uint64_t sector = io::round_down_to_sector(place.pointer().offset + failing);
    io::FaultRule rule;
    rule.kind = io::OperationKind::kRead;
    rule.name_suffix = ".wal";
    rule.predicate = [sector](const io::Operation& operation) { return operation.offset == sector; };
    machine_.files->faults().add(rule);
    const Status failed = view.read_pair(place, parts);
    EXPECT_EQ(failed.code(), Code::kIoError) << failed.to_string();
    expect_named(failed, place, failing);
    machine_.files->faults().clear();
    EXPECT_TRUE(pair_of(view, place, {100, 100}, {300'000, 100}) ==
                value_.substr(100, 100) + value_.substr(300'000, 100));
  }
  const std::uint64_t reads = engine_->statistics().block_reads;
  const Status behind = view.read_pair(place, {{parts[0], {kBytes - 50, parts[1].out}}});
  EXPECT_EQ(behind.code(), Code::kInvalidArgument) << behind.to_string();
  EXPECT_EQ(engine_->statistics().block_reads, reads);
}

TEST_F(PartFailures, AFileThatCannotBeOpenedIsNamed) {
  const ReadView view = engine_->view();
  const FoundPlace place = locate(view, "r");
  for (const io::OperationKind kind : {io::OperationKind::kOpen, io::OperationKind::kRead}) {
    io::FaultRule rule;
    rule.kind = kind;
    rule.name_suffix = ".wal";
    machine_.files->faults().add(rule);
    const Status failed = view.read_part(place, 300'000, out_);
    EXPECT_EQ(failed.code(), Code::kIoError) << failed.to_string();
    EXPECT_EQ(failed.place().number, place.pointer().file);
    EXPECT_NE(failed.to_string().find(name_of(place)), std::string::npos) << failed.to_string();
    machine_.files->faults().clear();
  }
  EXPECT_TRUE(part_of(view, place, 300'000, 100) == value_.substr(300'000, 100));
}

TEST_F(PartFailures, AShortFileIsDamageWhereItIsShort) {
  const ReadView view = engine_->view();
  const FoundPlace place = locate(view, "r");
  EXPECT_TRUE(part_of(view, place, 0, 1) == value_.substr(0, 1));  // opens the file
  cut_file(place, place.pointer().offset + 500'000);
  const Status failed = view.read_part(place, 499'950, out_);
  EXPECT_EQ(failed.code(), Code::kCorruption) << failed.to_string();
  expect_named(failed, place, 499'950);
  EXPECT_TRUE(part_of(view, place, 400'000, 50'000) == value_.substr(400'000, 50'000));
}

TEST_F(PartFailures, AFileThatIsShortBeforeItsFirstReadIsDamage) {
  const ReadView view = engine_->view();
  const FoundPlace place = locate(view, "r");
  cut_file(place, place.pointer().offset + 500'000);
  const Status failed = view.read_part(place, 0, out_);
  EXPECT_EQ(failed.code(), Code::kCorruption) << failed.to_string();
  EXPECT_NE(failed.to_string().find(name_of(place)), std::string::npos) << failed.to_string();
}

TEST_F(PartFailures, ChangedBytesAreLeftToTheHashesOfTheCaller) {
  const ReadView view = engine_->view();
  const FoundPlace place = locate(view, "r");
  machine_.files->change_disk([&](io::MemoryDisk& disk) {
    ASSERT_TRUE(disk.flip_bit(path_of(place), place.pointer().offset + 100'000, std::byte{4}).ok());
  });
  std::string changed = value_.substr(99'990, 20);
  changed[10] ^= 4;
  EXPECT_EQ(part_of(view, place, 99'990, 20), changed);
  EXPECT_TRUE(part_of(view, place, 200'000, 65'536) == value_.substr(200'000, 65'536));
  EXPECT_EQ(view.get(test::key_of("p", "r")).code(), Code::kCorruption) << "the whole value has a hash";
}

// -- The end of a value file ------------------------------------------------------------------------------------------

TEST_F(PartReads, AViewKeepsTheValueFileOfItsPlaces) {
  put_in_file();
  std::string path;
  {
    const ReadView view = engine_->view();
    const FoundPlace place = locate(view, "r");
    path = path_of(place);
    put("r", "small now");
    compact();
    EXPECT_EQ(engine_->statistics().value_files, 0U);
    EXPECT_TRUE(machine_.files->snapshot().contains(path));
    EXPECT_TRUE(part_of(view, place, 300'000, 100'000) == value_.substr(300'000, 100'000));
    const FoundPlace again = locate(view, "r");
    EXPECT_TRUE(part_of(view, again, kBytes - 10, 10) == value_.substr(kBytes - 10));
  }
  engine_.reset();
  EXPECT_FALSE(machine_.files->snapshot().contains(path));
}

class PartThreads : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::size_t kBytes = 100'000;
  static constexpr std::size_t kDigits = 6;
  static constexpr std::uint64_t kRounds = 12;
  static constexpr std::uint64_t kReads = 30;

  /// The value begins with its generation, which determines the rest.
  static std::string value_of(std::uint64_t generation) {
    std::string value = random_value(generation, kBytes);
    value.replace(0, kDigits, std::to_string(100'000 + generation));
    return value;
  }
  void put(std::uint64_t generation) {
    for (const char* row : {"r", "s"}) {
      ASSERT_TRUE(Change().put("p", row, value_of(generation)).commit(*engine_).ok());
    }
  }
  /// Reads a few parts of one view's value.
  void read(std::uint64_t seed) {
    io::SeededRandom random(seed);
    const ReadView view = engine_->view();
    const auto place = view.locate(test::key_of("p", "r"));
    ASSERT_TRUE(place.ok() && place->has_value()) << place.status().to_string();
    if ((*place)->is_in_file()) ++in_file_;
    const std::string digits = part_of(view, **place, 0, kDigits);
    ASSERT_EQ(digits.size(), kDigits) << digits;
    const std::string value = value_of(std::stoull(digits) - 100'000);
    for (int i = 0; i < 4; ++i) {
      const std::size_t offset = random.next() % kBytes;
      const std::size_t size = random.next() % (kBytes - offset);
      ASSERT_TRUE(part_of(view, **place, offset, size) == value.substr(offset, size)) << "generation " << digits;
    }
  }

  Machine machine_{GetParam(), test::OneThreadAtATime{}};
  std::unique_ptr<Engine> engine_;
  std::atomic<int> in_file_{0};
};

TEST_P(PartThreads, ReadWholePartsWhileValueFilesEnd) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  EngineOptions options = Machine::writable();
  options.open_files = test::few_open_files(machine_.scheduler());
  engine_ = *machine_.open(options);
  ASSERT_NO_FATAL_FAILURE(put(0));
  ASSERT_EQ(engine_->flush().to_string(), "Ok");
  std::vector<io::Thread> readers;
  for (std::uint64_t reader = 0; reader < 3; ++reader) {
    readers.push_back(*machine_.scheduler().start("reader", [&, reader] {
      for (std::uint64_t i = 0; i < test::effort(kReads) && !HasFatalFailure(); ++i)
        read(GetParam() + reader * 1000 + i);
    }));
  }
  for (std::uint64_t round = 1; round <= test::effort(kRounds); ++round) {
    put(round);
    EXPECT_EQ(engine_->compact().to_string(), "Ok");
  }
  for (io::Thread& reader : readers) reader.join();
  EXPECT_GT(in_file_, 0);
  EXPECT_LE(engine_->statistics().value_files, 1U);
  engine_.reset();
}

INSTANTIATE_TEST_SUITE_P(Seeds, PartThreads, testing::Range<std::uint64_t>(1, 1 + test::effort(6)));

// -- This machine's disk ----------------------------------------------------------------------------------------------

TEST(PartsOnThisMachine, AreReadDirectlyAndWithoutMemoryFail) {
  constexpr std::uint64_t kSeed = 12;
  SCOPED_TRACE(kSeed);
  io::SeededRandom random(kSeed);
  const io::TemporaryDirectory directory;
  const std::string key = test::key_of("p", "r");
  const std::string value = random_value(kSeed, 700'000);
  const auto engine = *Engine::open(io::system_env(), directory.path_of("store"), Machine::writable());
  ASSERT_TRUE(Change().put("p", "r", value).commit(*engine).ok());
  ASSERT_TRUE(engine->flush().ok());
  const ReadView view = engine->view();
  const auto place = view.locate(key);
  ASSERT_TRUE(place.ok() && place->has_value());
  EXPECT_TRUE((*place)->is_in_file());
  ASSERT_NO_FATAL_FAILURE(expect_random_parts(view, **place, value, random, test::effort(100)));

  std::string out(50'000, ' ');
  const std::vector<std::function<Status()>> calls = {
      [&] { return view.locate(key).status(); },
      [&] { return view.read_part(**place, 123'456, out); },
  };
  for (const auto& call : calls) {
    int failures = 0;
    for (std::uint64_t nth = 1;; ++nth) {
      SCOPED_TRACE(nth);
      Status status;
      bool happened = false;
      {
        const test::AllocationFailure failure(nth);
        status = call();
        happened = failure.happened();
      }
      if (!happened) break;
      ++failures;
      EXPECT_TRUE(status.ok() || status.code() == Code::kOutOfMemory) << status.to_string();
      ASSERT_TRUE(call().ok());
    }
    EXPECT_LT(failures, 20);
  }
  EXPECT_TRUE(out == value.substr(123'456, out.size()));
}

}  // namespace
}  // namespace varve::engine::part_read_test
