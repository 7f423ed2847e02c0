// Owns: the tests of record framing: a written record reads back, and other bytes do not read as a record.
// Must never: sample damage: every bit and every length is tried.
#include "format/log/log_record.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/bytes/tagged_fields.h"
#include "tests/format/random_values.h"
#include "tests/support/allocation_counter.h"

namespace varve::format::log_record_test {
namespace {

constexpr std::uint64_t kSeed = 0x5eedf00d5eedf00d;
constexpr std::uint64_t kOffset = 4096;

std::string group_payload(const std::vector<GroupMember>& members) {
  std::string payload;
  for (const GroupMember& member : members) {
    const std::size_t start = payload.size();
    payload.resize(start + group_member_bytes(members.front().version, member.version, member.batch.size()));
    const char* end = store_group_member(payload.data() + start, members.front().version, member.version, member.batch);
    EXPECT_EQ(end, payload.data() + payload.size());
  }
  return payload;
}

struct Sample {
  RecordHeader header;
  std::string payload;
};

RecordHeader header_of(RecordType type) {
  RecordHeader header;
  header.type = type;
  header.file_number = 3;
  header.last_version = 638'000'000'000'000'007;
  header.ceiling = header.last_version + 1'000'000;
  header.durable_upto = 4096;
  header.manifest_number = 2;
  header.manifest_durable_bytes = 312;
  if (type != RecordType::kManifestEdit) header.previous_offset = 4096;
  header.previous_offset = 4800;
  if (type == RecordType::kGroup) header.first_version = 638'000'000'000'000'000;
  return header;
}

/// Returns one record of each type.
std::vector<Sample> samples() {
  const RecordHeader group = header_of(RecordType::kGroup);
  return {{group, group_payload({{group.first_version, "first batch"}, {group.last_version, "second"}})},
          {header_of(RecordType::kWatermark), ""},
          {header_of(RecordType::kFooter), ""},
          {header_of(RecordType::kManifestEdit), "an edit of any bytes"}};
}

/// Returns a file whose record is at kOffset, with nothing before or after it.
std::string file_with(const Sample& sample) {
  std::string file(kOffset, '\0');
  append_record(file, sample.header, sample.payload, {kSeed, kOffset});
  return file;
}

struct Reading {
  RecordOutcome outcome;
  Record record;
  Status why;
};

Reading read_at(std::string_view file, std::uint64_t offset, std::uint64_t seed) {
  Reading reading{};
  reading.outcome = read_record(file, offset, seed, &reading.record, &reading.why);
  return reading;
}

/// Expects that nothing was read because of damage.
void expect_invalid(const Reading& reading) {
  EXPECT_EQ(reading.outcome, RecordOutcome::kInvalid);
  EXPECT_EQ(reading.why.code(), Code::kCorruption);
  EXPECT_FALSE(reading.why.message().empty());
}

/// Frames a record whose tagged fields are given as bytes, so that it may be one that no writer creates.
std::string file_with_fields(RecordType type, std::string_view fields, std::string_view payload = "") {
  std::string record(16, '\0');
  store_u16(record.data() + 8, static_cast<std::uint16_t>(16 + fields.size()));
  record[10] = static_cast<char>(type);
  store_u32(record.data() + 12, static_cast<std::uint32_t>(payload.size()));
  record.append(fields).append(payload);
  record.resize(record.size() + 8);
  seal_record(record.data(), {kSeed, kOffset});
  record.resize((record.size() + 7) / 8 * 8);
  const std::size_t header = 16 + fields.size();
  store_u64(record.data(), checksum_at({kSeed, kOffset}, std::string_view(record).substr(8, header - 8)));
  return std::string(kOffset, '\0') + record;
}

/// Returns the file after `change` of the header, with a correct header checksum.
template <typename Change>
std::string with_header_changed(std::string file, Change change) {
  char* const record = file.data() + kOffset;
  change(record);
  const std::size_t header = load_u16(record + 8);
  store_u64(record, checksum_at({kSeed, kOffset}, {record + 8, header - 8}));
  return file;
}

RecordHeader random_header(RandomValues& random) {
  RecordHeader header;
  header.type = random.one_in(4) ? RecordType::kManifestEdit : RecordType::kGroup;
  header.file_number = random.number();
  header.first_version = random.number() >> 2;
  header.last_version = random.number() >> 2;
  header.ceiling = random.number() >> 2;
  header.durable_upto = random.number();
  if (random.one_in(2)) header.manifest_number = random.number();
  if (random.one_in(2)) header.manifest_durable_bytes = random.number();
  if (random.one_in(2)) header.previous_offset = random.number();
  if (random.one_in(2)) header.previous_offset = random.number();
  Tag tag = 0;
  while (random.one_in(2)) {
    tag += 2 * static_cast<Tag>(1 + random.below(8));
    append_field(header.unknown_fields, tag, random.bytes(random.below(20)));
  }
  return header;
}

TEST(LogRecord, RoundTripsAnyHeaderPayloadAndPlace) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const Sample sample{random_header(random), random.bytes(random.below(300))};
    const std::uint64_t offset = random.below(64) * 8;
    const std::uint64_t file_seed = random.number();
    std::string file = random.bytes(offset);
    append_record(file, sample.header, sample.payload, {file_seed, offset});
    const std::uint64_t end = file.size();
    file += random.bytes(random.below(30));

    const Reading reading = read_at(file, offset, file_seed);
    ASSERT_EQ(reading.outcome, RecordOutcome::kRecord) << reading.why.to_string();
    EXPECT_EQ(reading.record.header, sample.header);
    EXPECT_EQ(reading.record.payload, sample.payload);
    EXPECT_EQ(reading.record.size_bytes, end - offset);
    EXPECT_EQ(record_bytes(sample.header, sample.payload.size()), end - offset);
    EXPECT_EQ(end % kRecordAlignment, 0u);
  }
}

TEST(LogRecord, FramingInPlaceStoresTheSameBytesAndNoMore) {
  for (const Sample& sample : samples()) {
    const std::string file = file_with(sample);
    const std::size_t size = record_bytes(sample.header, sample.payload.size());
    std::string memory(size + 16, '\x7f');
    char* const payload = begin_record(memory.data(), sample.header, sample.payload.size(), {kSeed, kOffset});
    sample.payload.copy(payload, sample.payload.size());
    char* const end = seal_record(memory.data(), {kSeed, kOffset});
    EXPECT_EQ(end, memory.data() + size);
    EXPECT_EQ(memory.substr(0, size), file.substr(kOffset));
    EXPECT_EQ(memory.substr(size), std::string(16, '\x7f'));
  }
}

TEST(LogRecord, FramingInPlaceCannotThrow) {
  const RecordHeader header;
  static_assert(noexcept(record_bytes(header, 0)));
  static_assert(noexcept(begin_record(nullptr, header, 0, FilePlace{})));
  static_assert(noexcept(seal_record(nullptr, FilePlace{})));
  static_assert(noexcept(group_member_bytes(0, 0, 0)));
  static_assert(noexcept(store_group_member(nullptr, 0, 0, "")));
}

TEST(LogRecord, FramingInPlaceAllocatesNothing) {
  Sample sample = samples()[0];
  append_field(sample.header.unknown_fields, 4, "kept");
  append_field(sample.header.unknown_fields, 60, "kept");
  std::string memory(record_bytes(sample.header, sample.payload.size()), '\0');
  std::uint64_t before = test::allocation_count();
  const std::string counted(100, 'x');
  ASSERT_GT(test::allocation_count(), before);  // The counter works.

  before = test::allocation_count();
  char* at = begin_record(memory.data(), sample.header, sample.payload.size(), {kSeed, kOffset});
  at = store_group_member(at, 5, 5, std::string_view(sample.payload).substr(2));
  seal_record(memory.data(), {kSeed, kOffset});
  EXPECT_EQ(test::allocation_count(), before);
}

TEST(LogRecord, GroupHeaderStaysWithinItsStatedSize) {
  RecordHeader header = header_of(RecordType::kGroup);
  header.file_number = header.durable_upto = header.manifest_number = ~std::uint64_t{0};
  header.manifest_durable_bytes = header.previous_offset = ~std::uint64_t{0};
  header.first_version = header.last_version = header.ceiling = header.previous_offset = ~std::uint64_t{0};
  EXPECT_EQ(record_bytes(header, 0), (kGroupHeaderBytesMax + 8 + 7) / 8 * 8);
}

TEST(LogRecord, ZeroFieldsTakeNoSpaceButTheFileNumber) {
  EXPECT_EQ(record_bytes(RecordHeader{}, 0), (16u + 3u + 8u + 7u) / 8 * 8);
  const Reading reading = read_at(file_with({RecordHeader{}, ""}), kOffset, kSeed);
  ASSERT_EQ(reading.outcome, RecordOutcome::kRecord);
  EXPECT_EQ(reading.record.header, RecordHeader{});
}

TEST(LogRecord, EightZeroBytesOrTheEndAreNoRecord) {
  const std::string file = file_with(samples()[0]);
  EXPECT_EQ(read_at(file, 0, kSeed).outcome, RecordOutcome::kZeros);
  EXPECT_EQ(read_at(file, file.size(), kSeed).outcome, RecordOutcome::kZeros);
  EXPECT_EQ(read_at(file, file.size() + 8, kSeed).outcome, RecordOutcome::kZeros);
  EXPECT_EQ(read_at(file, ~std::uint64_t{7}, kSeed).outcome, RecordOutcome::kZeros);
  EXPECT_EQ(read_at("", 0, kSeed).outcome, RecordOutcome::kZeros);
  for (std::size_t zeros = 0; zeros < 16; ++zeros) {
    EXPECT_EQ(read_at(std::string(zeros, '\0'), 0, kSeed).outcome, RecordOutcome::kZeros);
  }
  EXPECT_EQ(read_at(std::string(8, '\0') + "behind the eight", 0, kSeed).outcome, RecordOutcome::kZeros);
  expect_invalid(read_at(std::string(7, '\0') + "x", 0, kSeed));
  expect_invalid(read_at("xyz", 0, kSeed));
}

TEST(LogRecord, ReadsAtThePlaceItsBytesShallStand) {
  const std::string file = file_with(samples()[0]);
  const std::string_view slot = std::string_view(file).substr(kOffset);
  Record record;
  Status why;
  ASSERT_EQ(read_record_at(slot, {kSeed, kOffset}, &record, &why), RecordOutcome::kRecord) << why.to_string();
  EXPECT_EQ(record.header, samples()[0].header);
  EXPECT_EQ(record.size_bytes, slot.size());
  EXPECT_EQ(read_record_at(slot, {kSeed, kOffset + 8}, &record, &why), RecordOutcome::kInvalid);
  EXPECT_EQ(read_record_at(slot, {kSeed, 0}, &record, &why), RecordOutcome::kInvalid);
  EXPECT_EQ(read_record_at("", {kSeed, kOffset}, &record, &why), RecordOutcome::kZeros);
}

TEST(LogRecord, AnyFlippedBitIsInvalid) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(static_cast<int>(sample.header.type));
    const std::string whole = file_with(sample);
    for (std::size_t bit = kOffset * 8; bit < whole.size() * 8; ++bit) {
      SCOPED_TRACE(bit);
      std::string flipped = whole;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      expect_invalid(read_at(flipped, kOffset, kSeed));
    }
  }
}

TEST(LogRecord, AnyReplacedByteIsInvalid) {
  for (const Sample& sample : samples()) {
    const std::string whole = file_with(sample);
    for (std::size_t at = kOffset; at < whole.size(); ++at) {
      for (const char mask : {'\xff', '\x0f', '\xf0', '\x55'}) {
        SCOPED_TRACE(at);
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ mask);
        expect_invalid(read_at(changed, kOffset, kSeed));
      }
    }
  }
}

TEST(LogRecord, CutAtAnyByteIsNeverARecord) {
  for (const Sample& sample : samples()) {
    const std::string whole = file_with(sample);
    for (std::size_t kept = kOffset; kept < whole.size(); ++kept) {
      SCOPED_TRACE(kept);
      const std::string cut = whole.substr(0, kept);
      const bool zeros = cut.find_first_not_of('\0') == std::string::npos;
      EXPECT_EQ(read_at(cut, kOffset, kSeed).outcome, zeros ? RecordOutcome::kZeros : RecordOutcome::kInvalid);
      // As above, but the file kept its size and lost its content.
      const std::string blank = cut + std::string(whole.size() - kept, '\0');
      if (blank != whole && !zeros) expect_invalid(read_at(blank, kOffset, kSeed));
    }
  }
}

TEST(LogRecord, RecordOfAnotherFileOrPlaceIsInvalid) {
  for (const Sample& sample : samples()) {
    const std::string whole = file_with(sample);
    expect_invalid(read_at(whole, kOffset, kSeed + 1));
    expect_invalid(read_at(whole, kOffset, kSeed ^ (std::uint64_t{1} << 63)));
    for (const std::uint64_t shift : {8u, 512u, 4096u}) {
      SCOPED_TRACE(shift);
      expect_invalid(read_at(std::string(shift, '\0') + whole, kOffset + shift, kSeed));
      expect_invalid(read_at(std::string_view(whole).substr(shift), kOffset - shift, kSeed));
    }
  }
}

TEST(LogRecord, PlaceThatIsNotAMultipleOfEightIsInvalid) {
  const std::string whole = file_with(samples()[0]);
  for (std::uint64_t offset = kOffset + 1; offset < whole.size(); ++offset) {
    const Reading reading = read_at(whole, offset, kSeed);
    EXPECT_TRUE(reading.outcome == RecordOutcome::kInvalid || reading.outcome == RecordOutcome::kZeros);
  }
}

TEST(LogRecord, RecordInsideAPayloadIsNotOneOfTheFile) {
  std::string inner;
  append_record(inner, samples()[0].header, samples()[0].payload, {kSeed, 0});
  const std::string whole = file_with({header_of(RecordType::kManifestEdit), inner});
  for (std::uint64_t offset = kOffset + 8; offset < whole.size(); offset += 8) {
    EXPECT_NE(read_at(whole, offset, kSeed).outcome, RecordOutcome::kRecord);
  }
}

TEST(LogRecord, FillingThatIsNotZeroIsInvalid) {
  for (std::size_t payload = 0; payload < 8; ++payload) {
    const Sample sample{header_of(RecordType::kManifestEdit), std::string(payload, 'p')};
    const std::string whole = file_with(sample);
    const std::size_t unfilled = kOffset + load_u16(whole.data() + kOffset + 8) + payload + 8;
    for (std::size_t at = unfilled; at < whole.size(); ++at) {
      std::string changed = whole;
      changed[at] = 1;
      expect_invalid(read_at(changed, kOffset, kSeed));
    }
  }
}

TEST(LogRecord, PayloadSizeIsBoundedByLimitAndFile) {
  const std::string whole = file_with({header_of(RecordType::kManifestEdit), "payload"});
  for (const std::uint32_t size : {std::uint32_t{8}, std::uint32_t{4096}, std::uint32_t{64u << 20},
                                   std::uint32_t{(64u << 20) + 1}, ~std::uint32_t{0}}) {
    SCOPED_TRACE(size);
    expect_invalid(
        read_at(with_header_changed(whole, [size](char* record) { store_u32(record + 12, size); }), kOffset, kSeed));
  }
}

TEST(LogRecord, PayloadAtTheLimitReadsAndOneByteMoreDoesNot) {
  const Sample sample{header_of(RecordType::kManifestEdit), std::string(kRecordPayloadBytesMax, 'x')};
  const std::string whole = file_with(sample);
  EXPECT_EQ(read_at(whole, kOffset, kSeed).outcome, RecordOutcome::kRecord);
  const std::string over = with_header_changed(whole + std::string(64, '\0'), [](char* record) {
    store_u32(record + 12, static_cast<std::uint32_t>(kRecordPayloadBytesMax + 1));
  });
  const Reading reading = read_at(over, kOffset, kSeed);
  expect_invalid(reading);
  EXPECT_NE(reading.why.message().find("over the limit"), std::string_view::npos);
}

TEST(LogRecord, HeaderSizeIsBounded) {
  const std::string whole = file_with(samples()[0]);
  for (const std::uint16_t size : {std::uint16_t{0}, std::uint16_t{15}, std::uint16_t{513}, std::uint16_t{65535}}) {
    SCOPED_TRACE(size);
    std::string changed = whole + std::string(70000, '\0');
    store_u16(changed.data() + kOffset + 8, size);
    if (size > 8) {
      const std::string_view covered = std::string_view(changed).substr(kOffset + 8, size - 8);
      store_u64(changed.data() + kOffset, checksum_at({kSeed, kOffset}, covered));
    }
    expect_invalid(read_at(changed, kOffset, kSeed));
  }
}

TEST(LogRecord, HeaderOfTheGreatestSizeReads) {
  RecordHeader header;
  const std::size_t fixed = 16 + 3;
  append_field(header.unknown_fields, 100, std::string(kRecordHeaderBytesMax - fixed - 3, 'u'));
  ASSERT_EQ(fixed + header.unknown_fields.size(), kRecordHeaderBytesMax);
  const Reading reading = read_at(file_with({header, "payload"}), kOffset, kSeed);
  ASSERT_EQ(reading.outcome, RecordOutcome::kRecord) << reading.why.to_string();
  EXPECT_EQ(reading.record.header, header);
}

TEST(LogRecord, UnknownTypeIsUnsupportedNamingIt) {
  for (const int type : {0, 5, 9, 255}) {
    const std::string file =
        with_header_changed(file_with(samples()[0]), [type](char* record) { record[10] = static_cast<char>(type); });
    const Reading reading = read_at(file, kOffset, kSeed);
    EXPECT_EQ(reading.outcome, RecordOutcome::kUnsupported);
    EXPECT_EQ(reading.why.code(), Code::kUnsupported);
    EXPECT_NE(reading.why.message().find("type " + std::to_string(type)), std::string_view::npos);
  }
}

TEST(LogRecord, UnknownFlagsAreUnsupported) {
  const std::string file = with_header_changed(file_with(samples()[0]), [](char* record) { record[11] = 4; });
  EXPECT_EQ(read_at(file, kOffset, kSeed).outcome, RecordOutcome::kUnsupported);
}

TEST(LogRecord, UnknownOddFieldIsUnsupportedNamingIt) {
  for (const Tag tag : {Tag{17}, Tag{101}, Tag{4294967295}}) {
    std::string fields;
    append_number_field(fields, 1, 3);
    append_field(fields, tag, "new");
    const Reading reading = read_at(file_with_fields(RecordType::kGroup, fields), kOffset, kSeed);
    EXPECT_EQ(reading.outcome, RecordOutcome::kUnsupported);
    EXPECT_EQ(reading.why.code(), Code::kUnsupported);
    EXPECT_NE(reading.why.message().find(std::to_string(tag)), std::string_view::npos) << reading.why.to_string();
  }
}

TEST(LogRecord, DamagedRecordOfANewerKindIsInvalidNotUnsupported) {
  std::string file = with_header_changed(file_with(samples()[0]), [](char* record) { record[10] = 9; });
  file[file.size() - 9] = static_cast<char>(file[file.size() - 9] ^ 1);
  expect_invalid(read_at(file, kOffset, kSeed));
}

TEST(LogRecord, UnknownEvenFieldsAreKeptWhereTheyStood) {
  std::string fields;
  append_number_field(fields, 1, 3);
  append_field(fields, 2, "two");
  append_number_field(fields, 3, 7);
  append_field(fields, 4, "four");
  append_field(fields, 4, "again");
  append_number_field(fields, 9, 4096);
  append_field(fields, 10, "");
  append_field(fields, 70000, "far");
  const std::string file = file_with_fields(RecordType::kGroup, fields, "payload");
  const Reading reading = read_at(file, kOffset, kSeed);
  ASSERT_EQ(reading.outcome, RecordOutcome::kRecord) << reading.why.to_string();
  EXPECT_EQ(reading.record.header.first_version, 7u);
  EXPECT_EQ(reading.record.header.durable_upto, 4096u);
  EXPECT_EQ(file_with({reading.record.header, "payload"}), file);
}

TEST(LogRecord, FieldsThatNoWriterMakesAreInvalid) {
  const auto invalid = [](const std::string& fields) {
    expect_invalid(read_at(file_with_fields(RecordType::kGroup, fields), kOffset, kSeed));
  };
  const auto number = [](Tag tag, std::uint64_t value) {
    std::string field;
    append_number_field(field, tag, value);
    return field;
  };
  const std::string first = number(1, 3);
  invalid("");                                                      // no file number
  invalid(number(3, 7));                                            // the same
  invalid(first + first);                                           // twice
  invalid(first + number(3, 7) + number(3, 7));                     // twice
  invalid(first + number(5, 7) + number(3, 7));                     // descending
  invalid(number(3, 7) + first);                                    // descending
  invalid(first + number(7, 0));                                    // a zero that should be left out
  invalid(first + number(3, kCommitVersionMax + 1));                // no version
  invalid(first + number(5, kCommitVersionMax + 1));                // no version
  invalid(first + number(7, kCommitVersionMax + 1));                // no version
  invalid(first + std::string("\x09\x02\x81\x00", 4));              // a varint that is not the shortest
  invalid(first + std::string("\x09\x00", 2));                      // no number
  invalid(first + std::string("\x09\x02\x01\x01", 4));              // more than a number
  invalid(first + std::string("\x09\x7f\x01", 3));                  // longer than the header
  invalid(first + std::string("\x00\x01\x01", 3));                  // tag zero
  invalid(first + std::string("\x80\x80\x80\x80\x10\x01\x01", 7));  // a tag of 2^32
  invalid(first + "\x09");                                          // cut
}

TEST(LogRecord, WatermarkAndFooterHaveNoPayload) {
  std::string fields;
  append_number_field(fields, 1, 3);
  for (const RecordType type : {RecordType::kWatermark, RecordType::kFooter}) {
    EXPECT_EQ(read_at(file_with_fields(type, fields), kOffset, kSeed).outcome, RecordOutcome::kRecord);
    expect_invalid(read_at(file_with_fields(type, fields, "payload"), kOffset, kSeed));
  }
}

TEST(LogRecord, MovedRecordEqualsOneFramedAtItsNewPlace) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const FilePlace from{random.number(), random.below(64) * 8};
    const FilePlace to{random.number(), random.below(1 << 20) * 8};
    const std::string payload = random.bytes(random.below(200));
    const RecordHeader old_header = random_header(random);
    RecordHeader new_header = random_header(random);
    new_header.type = old_header.type;
    std::string file = random.bytes(from.offset);
    append_record(file, old_header, payload, from);

    std::string fresh = "kept";
    std::string moved = "kept";
    append_record(fresh, new_header, payload, to);
    append_moved_record(moved, file, from.offset, from.seed, new_header, to);
    EXPECT_EQ(moved, fresh);
  }
}

TEST(LogRecord, MovingCannotMakeADamagedPayloadValid) {
  const std::string whole = file_with(samples()[0]);
  const std::size_t payload_at = kOffset + load_u16(whole.data() + kOffset + 8);
  for (std::size_t at = payload_at; at < payload_at + samples()[0].payload.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    std::string moved(kOffset, '\0');
    append_moved_record(moved, damaged, kOffset, kSeed, samples()[0].header, {kSeed + 1, kOffset});
    expect_invalid(read_at(moved, kOffset, kSeed + 1));
  }
}

}  // namespace
}  // namespace varve::format::log_record_test
