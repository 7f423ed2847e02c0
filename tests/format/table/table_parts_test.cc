// Owns: the tests of the parts around the data of a table file: footer, properties, entries of indexes.
// Must never: sample damage: every bit and every length is tried.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/bytes/content_hasher.h"
#include "format/bytes/tagged_fields.h"
#include "format/bytes/varint.h"
#include "format/table/index_cursor.h"
#include "tests/format/random_values.h"
#include "tests/format/table/table_sample.h"

namespace varve::format::table_parts_test {
namespace {

constexpr FilePlace kFooterPlace{99, 8192 - kTableFooterBytes};

TableFooter footer() {
  return {{6000, 100}, {5900, 100}, {5800, 100}};
}

TEST(TableFooter, ReadsBack) {
  const Result<TableFooter> read = decode_table_footer(encode_table_footer(footer(), kFooterPlace), kFooterPlace);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, footer());
}

TEST(TableFooter, EveryFlippedBitAndEveryLengthIsFound) {
  std::string bytes = encode_table_footer(footer(), kFooterPlace);
  ASSERT_EQ(bytes.size(), kTableFooterBytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const char mask = static_cast<char>(1 << (bit % 8));
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
    ASSERT_EQ(decode_table_footer(bytes, kFooterPlace).code(), Code::kCorruption) << bit;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
  }
  for (std::size_t kept = 0; kept < bytes.size(); ++kept) {
    EXPECT_EQ(decode_table_footer(bytes.substr(0, kept), kFooterPlace).code(), Code::kCorruption);
  }
}

TEST(TableFooter, PartsThatDoNotFollowOneAnotherAreDamage) {
  const auto code_with = [](auto change) {
    TableFooter changed = footer();
    change(changed);
    return decode_table_footer(encode_table_footer(changed, kFooterPlace), kFooterPlace).code();
  };
  EXPECT_EQ(code_with([](TableFooter& f) { f.top_index.bytes = 8000; }), Code::kCorruption);
  EXPECT_EQ(code_with([](TableFooter& f) { f.top_index.bytes = 15; }), Code::kCorruption);
  EXPECT_EQ(code_with([](TableFooter& f) { f.top_index.bytes = 0xffffffff; }), Code::kCorruption);
  EXPECT_EQ(code_with([](TableFooter& f) { f.top_index.bytes = 2128; }), Code::kOk) << "up to the footer";
  EXPECT_EQ(code_with([](TableFooter& f) { f.top_index.bytes = 2129; }), Code::kCorruption);
  EXPECT_EQ(code_with([](TableFooter& f) { f.top_index.offset = ~std::uint64_t{0}; }), Code::kCorruption);
  EXPECT_EQ(code_with([](TableFooter& f) { f.top_index.offset = 3000; }), Code::kCorruption);
  EXPECT_EQ(code_with([](TableFooter& f) { f.properties.bytes = 99; }), Code::kCorruption);
  EXPECT_EQ(code_with([](TableFooter& f) { f.properties.offset = ~std::uint64_t{50}; }), Code::kCorruption);
  EXPECT_EQ(code_with([](TableFooter& f) { f.directory.offset = 5801; }), Code::kCorruption);
  EXPECT_EQ(code_with([](TableFooter& f) { f.directory = {50, 5850}; }), Code::kCorruption) << "in the header";
  EXPECT_EQ(code_with([](TableFooter& f) { f.directory = {64, 5836}; }), Code::kOk);
}

TEST(TableFooter, ZerosAreZero) {
  std::string bytes = encode_table_footer(footer(), kFooterPlace);
  for (std::size_t at = 36; at < 56; ++at) {
    std::string changed = bytes;
    changed[at] = 1;
    store_u64(changed.data() + 56, checksum_at(kFooterPlace, changed.substr(0, 56)));
    EXPECT_EQ(decode_table_footer(changed, kFooterPlace).code(), Code::kCorruption) << at;
  }
}

TableProperties properties() {
  TableProperties some;
  some.entry_count = 1000;
  some.tombstone_count = 0;
  some.smallest_version = 638'000'000'000'000'000;
  some.largest_version = 638'000'000'000'000'999;
  some.smallest_key = sample_key(1, 1, 1);
  some.largest_key = sample_key(2, 1, 1);
  some.run_count = 3;
  some.block_count = 600;
  some.data_bytes = 1 << 20;
  some.raw_bytes = 3 << 20;
  some.key_bytes = 5000;
  some.value_bytes = 90'000;
  some.dictionaries = {{5, {4096, 100}, ""}, {3, {4196, 200}, ""}};
  some.table_count = 2;
  return some;
}

TEST(TableProperties, ReadBack) {
  const Result<TableProperties> read = decode_table_properties(encode_table_properties(properties()));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, properties());
}

TEST(TableProperties, UnknownEvenFieldsAreKeptAndOddOnesRefused) {
  TableProperties with = properties();
  append_number_field(with.unknown_fields, 4, 77);
  append_field(with.unknown_fields, 100, "kept");
  append_number_field(with.dictionaries[0].unknown_fields, 2, 1);
  const std::string bytes = encode_table_properties(with);
  const Result<TableProperties> read = decode_table_properties(bytes);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, with);
  EXPECT_EQ(encode_table_properties(*read), bytes);
  std::string odd = encode_table_properties(properties());
  append_number_field(odd, 31, 1);
  EXPECT_EQ(decode_table_properties(odd).code(), Code::kUnsupported);
}

TEST(TableProperties, EveryTruncationIsDamage) {
  const std::string bytes = encode_table_properties(properties());
  for (std::size_t kept = 0; kept < bytes.size(); ++kept) {
    EXPECT_EQ(decode_table_properties(bytes.substr(0, kept)).code(), Code::kCorruption) << kept;
  }
}

RunEntry run() {
  RunEntry some;
  some.smallest_key = sample_key(1, 1, 1);
  some.largest_key = sample_key(1, 9, 9);
  some.offset = 64;
  some.data_bytes = 1 << 20;
  some.filter_bytes = 5000;
  some.index_bytes = 6000;
  some.block_count = 256;
  some.entry_count = 9000;
  some.tombstone_count = 12;
  some.repeated_count = 30;
  some.raw_bytes = 3 << 20;
  some.key_bytes = 300'000;
  some.value_bytes = 2'000'000;
  some.smallest_version = 500;
  some.largest_version = 900;
  some.dictionary_hash = 0x123456789abcdef0;
  some.statistics = std::string("\1\1n\x20", 4);
  return some;
}

std::string run_value(const RunEntry& entry) {
  std::string value;
  append_run_entry(value, entry, 400);
  return value;
}

TEST(RunEntry, ReadsBack) {
  for (const int without : {0, 1, 2, 3}) {
    RunEntry some = run();
    if ((without & 1) != 0) some.dictionary_hash.reset();
    if ((without & 2) != 0) some.statistics.clear();
    append_number_field(some.unknown_fields, 6, 7);
    const std::string value = run_value(some);
    const Result<RunEntry> read = decode_run_entry(some.largest_key, value, 400);
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(*read, some);
    EXPECT_EQ(run_value(*read), value);
  }
  EXPECT_EQ(run().filter(), (BlockHandle{64 + (1 << 20), 5000}));
  EXPECT_EQ(run().index(), (BlockHandle{64 + (1 << 20) + 5000, 6000}));
  EXPECT_EQ(run().end(), 64u + (1 << 20) + 11'000);
}

TEST(RunEntry, WhatCannotBeIsDamage) {
  const auto code_with = [](auto change) {
    RunEntry changed = run();
    change(changed);
    return decode_run_entry(changed.largest_key, run_value(changed), 400).code();
  };
  EXPECT_EQ(code_with([](RunEntry&) {}), Code::kOk);
  EXPECT_EQ(code_with([](RunEntry& r) { r.block_count = 0; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& r) { r.block_count = 257; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& r) { r.data_bytes = 256 * 16 - 1; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& r) { r.data_bytes = ~std::uint64_t{0}; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& r) { r.offset = ~std::uint64_t{0}; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& r) { r.filter_bytes = 15; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& r) { r.index_bytes = 15; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& r) { r.entry_count = 255; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& r) { r.tombstone_count = 9001; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& r) { r.repeated_count = r.entry_count; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& r) { r.smallest_key = "unframed"; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& r) { r.largest_key = "unframed"; }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& r) { r.smallest_key = sample_key(2, 1, 1); }), Code::kCorruption);
  EXPECT_EQ(code_with([](RunEntry& r) { append_number_field(r.unknown_fields, 3, 1); }), Code::kUnsupported);
  std::string short_hash = run_value([] {
    RunEntry without = run();
    without.dictionary_hash.reset();
    return without;
  }());
  append_field(short_hash, 1, "seven..");
  EXPECT_EQ(decode_run_entry(run().largest_key, short_hash, 400).code(), Code::kCorruption);
  EXPECT_EQ(decode_run_entry(run().largest_key, run_value(run()), kCommitVersionMax - 100).code(), Code::kCorruption)
      << "versions above the greatest";
}

TEST(RunEntry, EveryTruncationIsDamageOrAnEntryWithoutItsFields) {
  const std::string value = run_value(run());
  RunEntry without = run();
  without.statistics.clear();
  const std::size_t third_field_at = run_value(without).size();
  without.repeated_count = 0;
  const std::size_t second_field_at = run_value(without).size();
  without.dictionary_hash.reset();
  const std::size_t first_field_at = run_value(without).size();
  for (std::size_t kept = 0; kept < value.size(); ++kept) {
    const Result<RunEntry> read = decode_run_entry(run().largest_key, value.substr(0, kept), 400);
    const bool is_whole = kept == first_field_at || kept == second_field_at || kept == third_field_at;
    EXPECT_EQ(read.code(), is_whole ? Code::kOk : Code::kCorruption) << kept;
  }
}

TEST(BlockEntry, ReadsBackAndRefusesWhatCannotBe) {
  const BlockEntry entry{5000, 4096, 30, 450, 480, {}, false, false, {}};
  std::string value;
  append_block_entry(value, entry, 400);
  const Result<BlockEntry> read = decode_block_entry(value, 400);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->offset, 5000u);
  EXPECT_EQ(read->bytes, 4096u);
  EXPECT_EQ(read->entry_count, 30u);
  EXPECT_EQ(read->smallest_version, 450u);
  EXPECT_EQ(read->largest_version, 480u);
  for (std::size_t kept = 0; kept < value.size(); ++kept) {
    EXPECT_EQ(decode_block_entry(value.substr(0, kept), 400).code(), Code::kCorruption);
  }
  std::string with_even = value;
  append_number_field(with_even, 6, 5);
  EXPECT_EQ((*decode_block_entry(with_even, 400)).unknown_fields, with_even.substr(value.size()));
  BlockEntry deletes = entry;
  deletes.only_deletes = true;
  std::string of_deletes;
  append_block_entry(of_deletes, deletes, 400);
  EXPECT_FALSE(read->only_deletes);
  EXPECT_TRUE((*decode_block_entry(of_deletes, 400)).only_deletes);
  EXPECT_TRUE((*decode_block_entry(of_deletes, 400)).unknown_fields.empty());
  std::string with_odd = value;
  append_number_field(with_odd, 1, 5);
  EXPECT_EQ(decode_block_entry(with_odd, 400).code(), Code::kUnsupported);
  EXPECT_EQ(decode_block_entry(value, kCommitVersionMax).code(), Code::kCorruption);
  EXPECT_EQ(decode_block_entry(value, kCommitVersionMax + 1).code(), Code::kCorruption);
}

TEST(BlockEntry, KeepsItsStatisticsAndTheFieldsBehindThem) {
  const BlockEntry entry{5000, 4096, 30, 450, 480, {}, false, false, {}};
  const std::string unknown = [] {
    std::string fields;
    append_number_field(fields, 6, 5);
    append_field(fields, 100, "kept");
    return fields;
  }();
  for (const bool only_deletes : {false, true}) {
    for (const std::string_view statistics : {std::string_view(), std::string_view("\x20\0\x02\0\1", 5)}) {
      BlockEntry told = entry;
      told.only_deletes = only_deletes;
      std::string bare;
      append_block_entry(bare, told, 400);
      told.has_statistics = true;
      told.statistics = statistics;
      std::string known;
      append_block_entry(known, told, 400);
      told.unknown_fields = unknown;
      std::string value;
      append_block_entry(value, told, 400);
      ASSERT_EQ(value, known + unknown);

      const Result<BlockEntry> read = decode_block_entry(value, 400);
      ASSERT_TRUE(read.ok()) << read.status().to_string();
      EXPECT_TRUE(read->has_statistics);
      EXPECT_EQ(read->statistics, statistics);
      EXPECT_EQ(read->only_deletes, only_deletes);
      EXPECT_EQ(read->unknown_fields, unknown);
      EXPECT_FALSE((*decode_block_entry(bare, 400)).has_statistics) << "none told is not the same as none known";
      for (std::size_t kept = bare.size() + 1; kept < known.size(); ++kept) {
        EXPECT_EQ(decode_block_entry(value.substr(0, kept), 400).code(), Code::kCorruption) << kept;
      }
    }
  }
}

TEST(BlockEntry, StatisticsBehindAnUnknownFieldBelowThemAreKeptUnread) {
  BlockEntry entry{5000, 4096, 30, 450, 480, {}, false, false, {}};
  std::string fields;
  append_number_field(fields, 2, 7);  // not 1, so it has no meaning for deletes
  append_field(fields, 4, "\x20");
  entry.unknown_fields = fields;
  std::string value;
  append_block_entry(value, entry, 400);
  const Result<BlockEntry> read = decode_block_entry(value, 400);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_FALSE(read->has_statistics);
  EXPECT_FALSE(read->only_deletes);
  EXPECT_EQ(read->unknown_fields, fields);
}

TEST(IndexCursor, NamesNoBlockOutsideItsRun) {
  RunEntry some = run();
  for (const std::uint64_t offset : {some.data_bytes - 4096, some.data_bytes - 4095, some.data_bytes + 1}) {
    std::string value;
    append_block_entry(value, {offset, 4096, 3, 500, 501, {}, false, false, {}}, 500);
    SortedBlockBuilder builder(4, Buckets::kNone);
    builder.add({some.largest_key, value, {}});
    const std::string content(builder.finish(500));
    IndexCursor cursor;
    ASSERT_TRUE(cursor.open(content, some).ok());
    cursor.seek(some.smallest_key, kCommitVersionMax);
    EXPECT_EQ(cursor.valid(), offset == some.data_bytes - 4096);
    EXPECT_EQ(cursor.status().ok(), cursor.valid());
    some.smallest_version = 501;
    EXPECT_EQ(cursor.open(content, some).code(), Code::kCorruption);
    some.smallest_version = 500;
  }
}

TEST(TableDirectory, ReadsBackAndRefusesWhatCannotBe) {
  const std::vector<DirectoryEntry> tables = {{1, 64, 10, 2, 5000, ""}, {make_table_id(7, 9), 9000, 1, 1, 0, ""}};
  const std::string content = encode_directory(tables);
  const Result<std::vector<DirectoryEntry>> read = decode_directory(content);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, tables);
  EXPECT_EQ(decode_directory(encode_directory({{1, 64, 0, 0, 0, ""}})).code(), Code::kCorruption);
  EXPECT_EQ(decode_directory(encode_directory({{1, 64, 1, 2, 0, ""}})).code(), Code::kCorruption);
  for (std::size_t kept = 0; kept < content.size(); ++kept) {
    EXPECT_EQ(decode_directory(content.substr(0, kept)).code(), Code::kCorruption) << kept;
  }
  SortedBlockBuilder twice(16, Buckets::kNone);
  twice.add({encode_table(1), std::string_view("\x40\1\0\0", 4), {}});
  twice.add({encode_table(1), std::string_view("\x40\1\0\0", 4), {}});
  EXPECT_EQ(decode_directory(twice.finish(0)).code(), Code::kCorruption);
}

TEST(TableIndex, FindsTheRunOfAKey) {
  std::vector<OwnedEntry> entries;
  RandomValues random(2);
  for (std::uint64_t row = 0; row < 1200; ++row) {
    entries.push_back({sample_key(1, 1, 2 * row), 9, Kind::kPut, random.bytes(3000)});
  }
  const TableFile file = build_table(entries);
  const TableReading reading(file);
  const std::vector<RunEntry>& runs = reading.index().runs();
  ASSERT_GE(runs.size(), 3u);
  EXPECT_EQ(reading.index().run_of(sample_key(1, 0, 0)), nullptr);
  EXPECT_EQ(reading.index().run_of(sample_key(2, 0, 0)), nullptr);
  EXPECT_EQ(reading.index().first_run_not_below(sample_key(2, 0, 0)), runs.size());
  for (std::size_t number = 0; number < runs.size(); ++number) {
    EXPECT_EQ(reading.index().run_of(runs[number].smallest_key), &runs[number]);
    EXPECT_EQ(reading.index().run_of(runs[number].largest_key), &runs[number]);
    EXPECT_EQ(reading.index().run_of(runs[number].largest_key + "x"), nullptr) << "between two runs";
  }
  const auto linear = [&runs](std::string_view key) {
    std::size_t number = 0;
    while (number < runs.size() && runs[number].largest_key < key) ++number;
    return number;
  };
  for (const RunEntry& run : runs) {
    for (std::size_t kept = 0; kept <= run.largest_key.size(); ++kept) {
      for (const std::string_view behind : {std::string_view(), std::string_view("\0", 1), std::string_view("\xFF")}) {
        const std::string key = run.largest_key.substr(0, kept).append(behind);
        EXPECT_EQ(reading.index().first_run_not_below(key), linear(key));
      }
    }
  }
}

TEST(ContentHasher, GivesTheHashOfAllPiecesTogether) {
  RandomValues random(3);
  for (int i = 0; i < 50; ++i) {
    const std::string bytes = random.bytes(random.below(5000));
    ContentHasher hasher;
    std::size_t at = 0;
    while (at < bytes.size()) {
      const std::size_t piece = std::min<std::size_t>(1 + random.below(700), bytes.size() - at);
      hasher.update(std::string_view(bytes).substr(at, piece));
      at += piece;
      EXPECT_EQ(hasher.digest(), content_hash(std::string_view(bytes).substr(0, at)));
    }
  }
}

TEST(TakeVarint, AgreesWithTheBoundedCursor) {
  RandomValues random(4);
  for (int i = 0; i < 100'000; ++i) {
    std::string bytes;
    append_varint(bytes, random.number());
    if (random.one_in(2)) bytes += random.bytes(random.below(12));
    if (random.one_in(4)) bytes[random.below(bytes.size())] = static_cast<char>(random.one_in(2) ? 0 : random.number());
    if (random.one_in(4)) bytes.resize(random.below(bytes.size() + 1));
    std::uint64_t expected = 0;
    ByteReader reader(bytes);
    const bool read = reader.read_varint(&expected);
    std::uint64_t value = 0;
    const char* const behind = take_varint(bytes.data(), bytes.data() + bytes.size(), &value);
    ASSERT_EQ(behind != nullptr, read);
    if (!read) continue;
    ASSERT_EQ(value, expected);
    ASSERT_EQ(behind, bytes.data() + reader.offset());
  }
}

}  // namespace
}  // namespace varve::format::table_parts_test
