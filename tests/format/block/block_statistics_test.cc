// Owns: the proof that ranges are read as they were written, that damaged ranges never cause reads outside, and that
// ranges cover the right values.
// Must never: take the order of texts from the tested code.
#include "format/block/block_statistics.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "tests/format/hex_text.h"
#include "tests/format/hostile_text.h"
#include "tests/format/keys/property_sample.h"
#include "tests/format/random_values.h"
#include "tests/support/effort.h"

namespace varve::format::block_statistics_test {
namespace {

using RangeKind = PropertyRange::Kind;

PropertyRange absent() {
  PropertyRange range;
  range.kind = RangeKind::kAbsent;
  return range;
}

PropertyRange range_between(const PropertySample& smallest, const PropertySample& largest, bool is_cut = false) {
  return {RangeKind::kRange, smallest.type, smallest.value, largest.value, is_cut};
}

/// The values that ranges view.
const std::vector<std::pair<PropertySample, PropertySample>>& ends_of_each_type() {
  static const std::vector<std::pair<PropertySample, PropertySample>> ends = {
      {sample_boolean(false), sample_boolean(true)},
      {sample_date_time(0), sample_date_time(3'155'378'975'999'999'999)},
      {sample_double(-0.0), sample_double(std::numeric_limits<double>::infinity())},
      {sample_int32(-7), sample_int32(300)},
      {sample_int64(std::numeric_limits<std::int64_t>::min()), sample_int64(9)},
      {sample_string(""), sample_string("sixteen bytes ..")},
  };
  return ends;
}

std::vector<PropertyRange> ranges_of_each_kind() {
  std::vector<PropertyRange> ranges = {PropertyRange(), absent()};
  for (const auto& [smallest, largest] : ends_of_each_type()) ranges.push_back(range_between(smallest, largest));
  const auto& [smallest, largest] = ends_of_each_type().back();
  ranges.push_back(range_between(smallest, largest, true));
  return ranges;
}

std::string bytes_of_ranges() {
  std::string bytes;
  for (const PropertyRange& range : ranges_of_each_kind()) append_range(bytes, range);
  return bytes;
}

void append_named(std::string& bytes, const NamedRange& named) {
  bytes.push_back(named.is_in_blocks ? '\1' : '\0');
  append_sized(bytes, named.name);
  append_range(bytes, named.range);
}

std::string bytes_of_named_ranges() {
  std::string bytes;
  const std::vector<PropertyRange> ranges = ranges_of_each_kind();
  const std::string names[] = {"", "n", "a name that is longer"};
  for (std::size_t i = 0; i < ranges.size(); ++i) append_named(bytes, {names[i % 3], i % 2 == 1, ranges[i]});
  return bytes;
}

void expect_same_range(const PropertyRange& read, const PropertyRange& written) {
  EXPECT_EQ(read.kind, written.kind);
  if (written.kind != RangeKind::kRange) return;
  EXPECT_EQ(read.type, written.type);
  EXPECT_EQ(read.smallest, written.smallest);
  EXPECT_EQ(read.largest, written.largest);
  EXPECT_EQ(read.largest_is_cut, written.largest_is_cut);
}

void write_again(std::string& bytes, const PropertyRange& range) {
  append_range(bytes, range);
}
void write_again(std::string& bytes, const NamedRange& named) {
  append_named(bytes, named);
}
const PropertyRange& range_in(const PropertyRange& range) {
  return range;
}
const PropertyRange& range_in(const NamedRange& named) {
  return named.range;
}

/// Reads a copy whose memory ends with its bytes, so that the address sanitizer detects reads outside. An accepted
/// range must be written back to equal bytes.
template <typename Statistics>
Status judge_ranges(std::string_view bytes, std::size_t* count = nullptr) {
  const std::unique_ptr<char[]> tight(new char[bytes.size()]);
  bytes.copy(tight.get(), bytes.size());
  std::string again;
  for (Statistics statistics(std::string_view(tight.get(), bytes.size())); !statistics.at_end();) {
    const auto read = statistics.next();
    if (!read.ok()) {
      EXPECT_EQ(again, bytes.substr(0, again.size()));
      return read.status();
    }
    if (count != nullptr) ++*count;
    write_again(again, *read);
    for (const PropertySample& sample : samples_of_each_type()) (void)covers(range_in(*read), sample.view("n"));
  }
  EXPECT_EQ(to_hex(again), to_hex(bytes));
  return Status();
}

TEST(BlockStatistics, EveryKindOfRangeReadsBack) {
  const std::string bytes = bytes_of_ranges();
  BlockStatistics statistics(bytes);
  for (const PropertyRange& written : ranges_of_each_kind()) {
    ASSERT_FALSE(statistics.at_end());
    const Result<PropertyRange> read = statistics.next();
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    expect_same_range(*read, written);
  }
  EXPECT_TRUE(statistics.at_end());
  EXPECT_EQ(statistics.next().code(), Code::kCorruption);
}

TEST(BlockStatistics, AreWrittenAsPinned) {
  EXPECT_EQ(to_hex(bytes_of_ranges()), to_hex(from_hex(R"(
00
20
02 00 01
03 00 00 00 00 00 00 00 00 ff 3f 37 f4 75 28 ca 2b
04 00 00 00 00 00 00 00 80 00 00 00 00 00 00 f0 7f
06 f9 ff ff ff 2c 01 00 00
07 00 00 00 00 00 00 00 80 09 00 00 00 00 00 00 00
08 00 10 73 69 78 74 65 65 6e 20 62 79 74 65 73 20 2e 2e
18 00 10 73 69 78 74 65 65 6e 20 62 79 74 65 73 20 2e 2e)")));
}

TEST(RunStatistics, EveryKindOfRangeReadsBackWithItsName) {
  const std::string bytes = bytes_of_named_ranges();
  RunStatistics statistics(bytes);
  const std::vector<PropertyRange> ranges = ranges_of_each_kind();
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Result<NamedRange> read = statistics.next();
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(read->is_in_blocks, i % 2 == 1);
    EXPECT_EQ(read->name.size(), i % 3 == 0 ? 0u : i % 3 == 1 ? 1u : 21u);
    expect_same_range(read->range, ranges[i]);
  }
  EXPECT_TRUE(statistics.at_end());
  EXPECT_EQ(statistics.next().code(), Code::kCorruption);
}

template <typename Statistics>
void expect_truncations_told(const std::string& bytes, std::size_t ranges) {
  std::size_t whole = 0;
  for (std::size_t kept = 0; kept < bytes.size(); ++kept) {
    const Status status = judge_ranges<Statistics>(bytes.substr(0, kept));
    ASSERT_TRUE(status.ok() || status.code() == Code::kCorruption) << kept;
    whole += status.ok() ? 1U : 0U;
  }
  EXPECT_EQ(whole, ranges) << "where one range ends and the next begins";
}

TEST(BlockStatistics, EveryTruncationIsDamageOrFewerRanges) {
  expect_truncations_told<BlockStatistics>(bytes_of_ranges(), ranges_of_each_kind().size());
  expect_truncations_told<RunStatistics>(bytes_of_named_ranges(), ranges_of_each_kind().size());
}

template <typename Statistics>
void expect_changes_told(const std::string& bytes) {
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (std::size_t place = 0; place < bytes.size(); place += test::kStride) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = bytes;
      changed[place] = static_cast<char>(byte);
      const Status status = judge_ranges<Statistics>(changed);
      ASSERT_TRUE(status.ok() || status.code() == Code::kCorruption) << place << " as " << byte;
      ++(status.ok() ? accepted : refused);
    }
  }
  EXPECT_GT(accepted, test::effort(bytes.size()));
  EXPECT_GT(refused, test::effort(bytes.size()));
}

TEST(BlockStatistics, EveryChangedByteIsDamageOrReadsInside) {
  expect_changes_told<BlockStatistics>(bytes_of_ranges());
  expect_changes_told<RunStatistics>(bytes_of_named_ranges());
}

TEST(BlockStatistics, RandomDamageIsToldOrReadsInside) {
  constexpr std::uint64_t kSeed = 4711;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  std::size_t ranges = 0;
  std::size_t refused = 0;
  for (int step = 0; step < 20'000; ++step) {
    const bool of_run = random.one_in(2);
    std::string bytes = of_run ? bytes_of_named_ranges() : bytes_of_ranges();
    for (std::uint64_t i = 1 + random.below(3); i > 0; --i) bytes = mutated(bytes, random);
    const Status status =
        of_run ? judge_ranges<RunStatistics>(bytes, &ranges) : judge_ranges<BlockStatistics>(bytes, &ranges);
    ASSERT_TRUE(status.ok() || status.code() == Code::kCorruption) << to_hex(bytes);
    refused += status.ok() ? 0U : 1U;
    if (HasFailure()) FAIL() << to_hex(bytes);
  }
  EXPECT_GT(ranges, 40'000u);
  EXPECT_GT(refused, 1000u);
}

TEST(BlockStatistics, OnlyTypesThatAreToldOfAreRead) {
  for (int head = 0; head < 256; ++head) {
    SCOPED_TRACE(head);
    std::string bytes(1, static_cast<char>(head));
    const bool is_string = head == 8 || head == 24;
    bytes.append(is_string ? std::string("\0\0", 2) : std::string(16, '\0'));
    BlockStatistics statistics(bytes);
    const bool is_told = head == 0 || head == 32 || head == 2 || head == 3 || head == 4 || head == 6 || head == 7;
    EXPECT_EQ(statistics.next().code(), is_told || is_string ? Code::kOk : Code::kCorruption);
  }
}

TEST(BlockStatistics, TextsLongerThanWhatIsToldOfThemAreDamage) {
  for (const std::size_t bytes : {std::size_t{16}, std::size_t{17}, std::size_t{200}}) {
    std::string field(1, '\x08');
    append_sized(field, "");
    append_sized(field, std::string(bytes, 'x'));
    EXPECT_EQ(BlockStatistics(field).next().code(), bytes == 16 ? Code::kOk : Code::kCorruption);
  }
}

TEST(RunStatistics, AnotherMarkOfBlocksIsDamage) {
  for (int mark = 0; mark < 256; ++mark) {
    const std::string bytes = std::string(1, static_cast<char>(mark)) + std::string("\1n\0", 3);
    EXPECT_EQ(RunStatistics(bytes).next().code(), mark <= 1 ? Code::kOk : Code::kCorruption) << mark;
  }
}

// -- Coverage of ranges -----------------------------------------------------------------------------------------------

bool is_covered(const PropertySample& smallest, const PropertySample& largest, const PropertySample& value) {
  return covers(range_between(smallest, largest), value.view("n"));
}

TEST(Covers, EverythingWhereNothingIsKnownAndNothingWhereThereIsNone) {
  for (const PropertySample& sample : samples_of_each_type()) {
    EXPECT_TRUE(covers(PropertyRange(), sample.view("n")));
    EXPECT_FALSE(covers(absent(), sample.view("n")));
  }
  EXPECT_TRUE(covers(PropertyRange(), sample_double(std::nan("")).view("n")));
}

TEST(Covers, NoValueOfAnotherType) {
  for (const auto& [smallest, largest] : ends_of_each_type()) {
    for (const PropertySample& sample : samples_of_each_type()) {
      if (sample.type == smallest.type) continue;
      EXPECT_FALSE(is_covered(smallest, largest, sample));
    }
    EXPECT_TRUE(is_covered(smallest, largest, smallest));
    EXPECT_TRUE(is_covered(smallest, largest, largest));
  }
}

template <typename Number, typename Make>
void expect_edges(const Make& make) {
  constexpr Number kMin = std::numeric_limits<Number>::min();
  constexpr Number kMax = std::numeric_limits<Number>::max();
  const PropertySample low = make(5);
  const PropertySample high = make(700);
  for (const Number inside : {Number{5}, Number{6}, Number{256}, Number{700}})
    EXPECT_TRUE(is_covered(low, high, make(inside))) << inside;
  for (const Number outside : {kMin, Number{4}, Number{701}, kMax}) {
    EXPECT_FALSE(is_covered(low, high, make(outside))) << outside;
  }
  for (const Number any : {kMin, Number{0}, kMax}) EXPECT_TRUE(is_covered(make(kMin), make(kMax), make(any)));
}

TEST(Covers, WholeNumbersAndTicksUpToTheirEdges) {
  expect_edges<std::int32_t>(sample_int32);
  expect_edges<std::int64_t>(sample_int64);
  expect_edges<std::uint64_t>(sample_date_time);
  EXPECT_TRUE(is_covered(sample_int32(-3), sample_int32(2), sample_int32(-1)));
  EXPECT_FALSE(is_covered(sample_int32(-3), sample_int32(-2), sample_int32(2)));
  EXPECT_FALSE(is_covered(sample_int64(-3), sample_int64(-2), sample_int64(2)));
}

TEST(Covers, BooleansUpToTheirEdges) {
  EXPECT_TRUE(is_covered(sample_boolean(false), sample_boolean(true), sample_boolean(true)));
  EXPECT_FALSE(is_covered(sample_boolean(false), sample_boolean(false), sample_boolean(true)));
  EXPECT_FALSE(is_covered(sample_boolean(true), sample_boolean(true), sample_boolean(false)));
}

TEST(Covers, DoublesWhoseZerosAreOne) {
  const auto is_between = [](double smallest, double largest, double value) {
    return is_covered(sample_double(smallest), sample_double(largest), sample_double(value));
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  EXPECT_TRUE(is_between(0.0, 0.0, -0.0));
  EXPECT_TRUE(is_between(-0.0, -0.0, 0.0));
  EXPECT_TRUE(is_between(-0.0, 5, 0.0));
  EXPECT_FALSE(is_between(0.0, 5, -kTiny));
  EXPECT_FALSE(is_between(-5, -0.0, kTiny));
  EXPECT_TRUE(is_between(-5.5, -1.5, -1.5));
  EXPECT_FALSE(is_between(-5.5, -1.5, -1.25));
  EXPECT_TRUE(is_between(-kInfinity, kInfinity, -kInfinity));
  EXPECT_FALSE(is_between(-kInfinity, 1e300, kInfinity));
  EXPECT_FALSE(is_between(-kInfinity, kInfinity, std::nan("")));
}

TEST(Covers, TextsInTheOrderOfCodeUnits) {
  const PropertySample surrogates = sample_string(utf8(U"\U00010000"));
  const PropertySample last = sample_string(utf8(U"\uFFFF"));
  const PropertySample lifted = sample_string(utf8(U"\uE000"));
  EXPECT_TRUE(is_covered(surrogates, last, lifted));
  EXPECT_TRUE(is_covered(surrogates, last, sample_string(utf8(U"\U0010FFFFz"))));
  EXPECT_FALSE(is_covered(surrogates, last, sample_string(utf8(U"\uD7FF"))));
  EXPECT_FALSE(is_covered(lifted, last, surrogates));
  EXPECT_FALSE(is_covered(sample_string("a"), surrogates, lifted));
}

TEST(Covers, TextsThatBeginWithOneThatWasCut) {
  const PropertySample smallest = sample_string("aaaa");
  const PropertySample largest = sample_string("bbbbbbbbbbbbbbbb");
  const auto is_within = [&](const std::string& text, bool is_cut) {
    return covers(range_between(smallest, largest, is_cut), sample_string(text).view("n"));
  };
  for (const bool is_cut : {false, true}) {
    EXPECT_TRUE(is_within("bbbbbbbbbbbbbbbb", is_cut));
    EXPECT_TRUE(is_within("bbbbbbbbbbbbbbbazzzz", is_cut));
    EXPECT_FALSE(is_within("bbbbbbbbbbbbbbbc", is_cut));
    EXPECT_FALSE(is_within("aaa", is_cut));
    EXPECT_EQ(is_within("bbbbbbbbbbbbbbbbzzzz", is_cut), is_cut);
    EXPECT_EQ(is_within(std::string("bbbbbbbbbbbbbbbb\0", 17), is_cut), is_cut);
  }
}

TEST(Covers, TextsAsTheirCodeUnitsCompare) {
  constexpr std::uint64_t kSeed = 4712;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  const auto short_text = [&random](const std::string& near) {
    std::string text = neighbour_of(near, random);
    while (text.size() > kRangeTextBytesMax) text = hostile_text(random);
    return text;
  };
  std::size_t covered = 0;
  constexpr std::size_t kSteps = 20'000;
  for (std::size_t step = 0; step < kSteps; ++step) {
    const std::string smallest = short_text("");
    const std::string largest = short_text(smallest);
    const std::string text = neighbour_of(random.one_in(2) ? smallest : largest, random);
    const bool expected = slow_utf16(smallest) <= slow_utf16(text) && slow_utf16(text) <= slow_utf16(largest);
    ASSERT_EQ(is_covered(sample_string(smallest), sample_string(largest), sample_string(text)), expected)
        << to_hex(smallest) << "\n"
        << to_hex(largest) << "\n"
        << to_hex(text);
    covered += expected ? 1U : 0U;
  }
  EXPECT_GT(covered, kSteps / 10);
  EXPECT_LT(covered, kSteps * 9 / 10);
}

}  // namespace
}  // namespace varve::format::block_statistics_test
