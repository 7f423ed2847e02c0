// Owns: the agreement of two readers about our writer's bytes: format/ and the reader written from FORMAT.md.
// Must never: create a segment without format/.
#include "tests/format/log/independent_log_reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/keys/entity.h"
#include "tests/format/log/segment_sample.h"
#include "tests/format/random_values.h"
#include "tests/support/effort.h"

namespace varve::format::independent_log_reader_test {
namespace {

constexpr std::uint64_t kSeed = 0x7061676573656564;

std::string put_batch(std::string_view row, std::string_view value) {
  BatchBuilder builder;
  builder.put(*encode_sort_key(make_table_id(1, 7), "partition", row), value);
  return builder.finish();
}

/// Returns nothing for bytes that a reader of FORMAT.md refuses.
std::optional<independent::Segment> try_read(const std::string& file) {
  try {
    return independent::read_segment(file);
  } catch (const independent::Damage&) {
    return std::nullopt;
  } catch (const independent::Unsupported&) {
    return std::nullopt;
  }
}

/// Returns the file with the size that it has while it is in use.
std::string allocated(std::string file) {
  file.resize(std::max<std::size_t>(file.size(), 1 << 20), '\0');
  return file;
}

/// Returns two writes of two groups each, a watermark, and a footer.
SegmentSample sealed_segment() {
  SegmentSample segment(42, kSeed);
  for (std::uint64_t write = 0; write < 2; ++write) {
    segment.set_durable_upto(segment.file().size());
    segment.add_group({{10 * write + 1, put_batch("a", "one")}, {10 * write + 2, put_batch("b", "two")}});
    segment.add_group({{10 * write + 3, put_batch("c", std::string(600, 'v'))}});
    segment.end_write();
  }
  segment.set_durable_upto(segment.file().size());
  segment.add_watermark();
  segment.end_write();
  segment.add_footer();
  return segment;
}

std::string random_text(RandomValues& random) {
  static const std::vector<std::string> kPieces = {"a",
                                                   "Z",
                                                   std::string(1, '\0'),
                                                   "\x01",
                                                   "\x02",
                                                   "\xc3\xa9",
                                                   "\xe2\x82\xac",
                                                   "\xee\x80\x80",
                                                   "\xef\xbf\xbd",
                                                   "\xf0\x9f\x8c\xb2"};
  std::string text;
  for (std::uint64_t left = random.below(6); left > 0; --left) text += kPieces[random.below(kPieces.size())];
  return text;
}

std::string random_entity(RandomValues& random) {
  EntityBuilder builder;
  if (random.one_in(2)) builder.add_string("Name", random_text(random));
  if (random.one_in(2)) builder.add_int64("Size", static_cast<std::int64_t>(random.number()));
  if (random.one_in(2)) builder.add_binary("Data", random.bytes(random.below(40)));
  if (random.one_in(2)) builder.add_boolean("Flag", random.one_in(2));
  return builder.finish();
}

/// Adds one operation to the batch, and adds its expected reading to the commit.
void add_operation(RandomValues& random, BatchBuilder& builder, independent::Commit& commit) {
  independent::Operation told;
  told.table = random.number();
  switch (random.below(5)) {
    case 0: {
      told.kind = 64;
      const auto account = static_cast<std::uint32_t>(told.table);
      told.prefix = encode_table(make_table_id(account, 0)).substr(0, 4);
      told.table = 0;
      builder.retire_account(account);
      break;
    }
    case 1:
      told.kind = 64;
      told.prefix = encode_table(told.table);
      builder.retire_table(told.table);
      told.table = 0;
      break;
    case 2:
      told.kind = 65;
      builder.adopt(told.table);
      break;
    default:
      told.partition_key = random_text(random);
      told.row_key = random_text(random);
      const std::string key = *encode_sort_key(told.table, told.partition_key, told.row_key);
      told.kind = random.one_in(3) ? 2 : 1;
      if (told.kind == 1) told.value = random_entity(random);
      if (told.kind == 1) builder.put(key, told.value);
      if (told.kind == 2) builder.remove(key);
  }
  commit.operations.push_back(told);
}

void expect_same(const independent::Commit& read, const independent::Commit& written) {
  EXPECT_EQ(read.version, written.version);
  EXPECT_EQ(read.tag, written.tag);
  ASSERT_EQ(read.operations.size(), written.operations.size());
  for (std::size_t i = 0; i < read.operations.size(); ++i) {
    EXPECT_EQ(read.operations[i].kind, written.operations[i].kind);
    EXPECT_EQ(read.operations[i].table, written.operations[i].table);
    EXPECT_EQ(read.operations[i].partition_key, written.operations[i].partition_key);
    EXPECT_EQ(read.operations[i].row_key, written.operations[i].row_key);
    EXPECT_EQ(read.operations[i].value, written.operations[i].value);
    EXPECT_EQ(read.operations[i].prefix, written.operations[i].prefix);
    if (read.operations[i].kind != 1) continue;
    const EncodedEntity entity = *EncodedEntity::open(written.operations[i].value);
    const std::vector<independent::Property> properties = independent::read_entity(read.operations[i].value);
    ASSERT_EQ(properties.size(), entity.property_count());
    for (std::size_t j = 0; j < properties.size(); ++j) {
      EXPECT_EQ(properties[j].name, entity.property(j).name);
      EXPECT_EQ(properties[j].type, static_cast<unsigned>(entity.property(j).type));
      EXPECT_EQ(properties[j].value, entity.property(j).value);
    }
  }
}

void expect_same_record(const std::string& file, const independent::Record& told) {
  Record record;
  Status why;
  ASSERT_EQ(read_record(file, told.offset, kSeed, &record, &why), RecordOutcome::kRecord) << why.to_string();
  EXPECT_EQ(record.size_bytes, told.size);
  EXPECT_EQ(static_cast<unsigned>(record.header.type), told.type);
  EXPECT_EQ(record.header.file_number, told.field(1));
  EXPECT_EQ(record.header.first_version, told.field(3));
  EXPECT_EQ(record.header.last_version, told.field(5));
  EXPECT_EQ(record.header.ceiling, told.field(7));
  EXPECT_EQ(record.header.durable_upto, told.field(9));
  EXPECT_EQ(record.header.manifest_number, told.field(11));
  EXPECT_EQ(record.header.manifest_durable_bytes, told.field(13));
  EXPECT_EQ(record.header.previous_offset, told.field(15));
}

TEST(IndependentLogReader, ReadsRandomSegmentsAsTheyWereWritten) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    SegmentSample segment(random.number(), kSeed);
    std::vector<independent::Commit> written;
    CommitVersion version = 1 + (random.number() >> 4);
    for (std::uint64_t writes = 1 + random.below(6); writes > 0; --writes) {
      segment.set_durable_upto(4096 * (1 + random.below(segment.file().size() / 4096)));
      for (std::uint64_t records = 1 + random.below(4); records > 0; --records) {
        std::vector<SampleCommit> commits;
        for (std::uint64_t left = 1 + random.below(4); left > 0; --left) {
          independent::Commit commit;
          BatchBuilder builder;
          commit.version = version += 1 + random.below(1000);
          if (random.one_in(2)) commit.tag = random.bytes(1 + random.below(30));
          builder.set_tag(commit.tag);
          for (std::uint64_t operations = random.below(5); operations > 0; --operations) {
            add_operation(random, builder, commit);
          }
          commits.push_back({commit.version, builder.finish()});
          written.push_back(commit);
        }
        segment.add_group(commits);
      }
      if (random.one_in(3)) segment.add_watermark();
      segment.end_write();
    }
    const bool sealed = random.one_in(2);
    if (sealed) segment.add_footer();

    const bool cut = sealed && random.one_in(2);
    const independent::Segment read = independent::read_segment(cut ? segment.file() : allocated(segment.file()));
    EXPECT_EQ(read.number, segment.number());
    EXPECT_EQ(read.seed, kSeed);
    EXPECT_EQ(read.sealed, sealed);
    EXPECT_FALSE(read.damaged);
    EXPECT_EQ(sealed ? read.end : read.hole, segment.file().size());
    std::size_t next = 0;
    for (const independent::Record& record : read.records) {
      expect_same_record(segment.file(), record);
      for (const independent::Commit& commit : record.commits) {
        ASSERT_LT(next, written.size());
        expect_same(commit, written[next++]);
      }
    }
    EXPECT_EQ(next, written.size());
  }
}

TEST(IndependentLogReader, AnyFlippedBitOfASealedSegmentShows) {
  const std::string whole = sealed_segment().file();
  ASSERT_TRUE(independent::read_segment(whole).sealed);
  // Flips every bit of the written bytes, and one bit of each byte of the filling.
  for (std::size_t bit = 0; bit < whole.size() * 8; bit += test::kStride) {
    if (whole[bit / 8] == 0 && bit % 8 > 0) continue;
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const std::optional<independent::Segment> read = try_read(flipped);
    ASSERT_FALSE(read.has_value() && read->sealed) << "bit " << bit;
  }
}

TEST(IndependentLogReader, CutAtAnySectorShows) {
  const std::string whole = sealed_segment().file();
  for (std::size_t kept = 0; kept < whole.size(); kept += 512) {
    const std::optional<independent::Segment> read = try_read(whole.substr(0, kept));
    EXPECT_FALSE(read.has_value() && read->sealed) << kept;
  }
}

// The end of a segment that is not sealed.

struct Tail {
  std::string file;
  std::vector<std::uint64_t> writes;  // the beginning of each of four writes; the first contains two records
  std::uint64_t second_record = 0;
  std::uint64_t end_of_first_record = 0;
};

/// Returns four writes of a sector each. `mark` is the durable offset that the last one states.
Tail four_writes(std::uint64_t mark) {
  SegmentSample segment(42, kSeed);
  Tail tail;
  for (CommitVersion version = 1; version <= 4; ++version) {
    tail.writes.push_back(segment.file().size());
    segment.set_durable_upto(version == 4 ? mark : 4096);
    segment.add_group({{10 * version, put_batch("row", "value")}});
    if (version == 1) {
      tail.end_of_first_record = segment.file().size();
      tail.second_record = segment.add_group({{10 * version + 1, put_batch("row", "again")}});
    }
    segment.end_write();
  }
  tail.file = segment.file();
  return tail;
}

/// Returns the file after a crash in which these bytes were never written.
std::string without(const Tail& tail, std::uint64_t from, std::uint64_t to) {
  std::string file = tail.file;
  file.replace(from, to - from, to - from, '\0');
  return allocated(file);
}

TEST(IndependentLogReader, LostWriteUnderAMarkIsDamageAndAboveItATornTail) {
  for (const std::uint64_t mark : {4096u, 8192u, 12288u}) {
    SCOPED_TRACE(mark);
    const Tail tail = four_writes(mark);
    const independent::Segment read = independent::read_segment(without(tail, tail.writes[1], tail.writes[2]));
    EXPECT_EQ(read.records.size(), 2u);
    EXPECT_EQ(read.hole, 8192u);
    EXPECT_EQ(read.damaged, mark > 8192);
  }
}

TEST(IndependentLogReader, RecordBehindALostOneInTheSameSectorIsNotTaken) {
  for (const std::uint64_t mark : {4096u, 8192u}) {
    SCOPED_TRACE(mark);
    const Tail tail = four_writes(mark);
    const independent::Segment read = independent::read_segment(without(tail, tail.second_record, tail.writes[1]));
    EXPECT_EQ(read.records.size(), 1u);
    EXPECT_EQ(read.end, tail.end_of_first_record);
    EXPECT_EQ(read.hole, tail.end_of_first_record);
    EXPECT_EQ(read.damaged, mark > 4096);
  }
}

TEST(IndependentLogReader, UnfinishedLastWriteIsATornTail) {
  const Tail tail = four_writes(12288);
  for (std::uint64_t torn_at = tail.writes[3]; torn_at < tail.writes[3] + 64; torn_at += 8) {
    const independent::Segment read = independent::read_segment(without(tail, torn_at, tail.file.size()));
    EXPECT_EQ(read.records.size(), 4u);
    EXPECT_EQ(read.hole, tail.writes[3]);
    EXPECT_FALSE(read.damaged);
  }
}

TEST(IndependentLogReader, SegmentInUseThatLostItsAllocatedSpaceIsDamage) {
  EXPECT_TRUE(independent::read_segment(four_writes(4096).file).damaged);
}

TEST(IndependentLogReader, RecordOfAnotherSegmentAtTheSameOffsetIsNotTaken) {
  const Tail tail = four_writes(4096);
  SegmentSample other(42, kSeed + 1);
  other.add_group({{50, put_batch("row", "of another file")}});
  other.end_write();
  std::string mixed = allocated(tail.file);
  mixed.replace(4096, 4096, other.file(), 4096, 4096);
  const independent::Segment read = independent::read_segment(mixed);
  EXPECT_TRUE(read.records.empty());
  EXPECT_EQ(read.end, 4096u);
}

}  // namespace
}  // namespace varve::format::independent_log_reader_test
