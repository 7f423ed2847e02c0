// Goal: the ends that a run, a file and the manifest have are those of their entries, and a verification finds any others.
// Method: files with and without ends, built, copied and verified. The sum of a run is changed in a sound file.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/keys/ends.h"
#include "format/keys/value_pointer.h"
#include "format/log/manifest_edit.h"
#include "format/table/table_builder.h"
#include "format/table/table_properties.h"
#include "format/table/table_verify.h"
#include "tests/format/table/table_sample.h"

namespace varve::format::table_ends_test {
namespace {

std::string with_end(CommitVersion end, std::string_view content) {
  std::string stored;
  append_u64(stored, end);
  return stored.append(content);
}

std::string pointer_to(std::uint64_t file) {
  std::string pointer;
  append_value_pointer(pointer, {file, 4096, 20'000, 17});
  return pointer;
}

std::vector<OwnedEntry> entries_with_ends() {
  return {{sample_key(1, 1, 1), 9, Kind::kPutExpiring, with_end(500, sample_value(1))},
          {sample_key(1, 1, 1), 8, Kind::kPut, sample_value(2)},
          {sample_key(1, 1, 2), 7, Kind::kDelete, ""},
          {sample_key(1, 2, 1), 9, Kind::kPutExpiringExternal, with_end(300, pointer_to(42))},
          {sample_key(1, 2, 2), 9, Kind::kPutExternal, pointer_to(42)},
          {sample_key(1, 3, 1), 9, Kind::kPutExpiring, with_end(900, "")}};
}

TEST(TableEnds, AreSummedUpInTheRunTheFileAndTheManifest) {
  const TableFile file = build_table(entries_with_ends());
  const Ends expected{3, 300, 900};
  EXPECT_EQ(file.entry.ends, expected);
  EXPECT_EQ(file.entry.value_files, (ValueFileUses{{42, 40'000}}));
  TableReading reading(file);
  EXPECT_EQ(reading.index().properties().ends, expected);
  ASSERT_EQ(reading.index().runs().size(), 1u);
  EXPECT_EQ(reading.index().runs()[0].ends, expected);
  EXPECT_EQ(*reading.scan("", kCommitVersionMax), entries_with_ends());
  const Result<TableFileEntry> verified = verify_table(file.name(), file.reader(), nullptr);
  ASSERT_TRUE(verified.ok()) << verified.status().to_string();
  EXPECT_EQ(verified->ends, expected);
}

TEST(TableEnds, AFileWithoutEndsHasNoByteForThem) {
  std::vector<OwnedEntry> entries{{sample_key(1, 1, 1), 9, Kind::kPut, sample_value(1)}};
  const TableFile file = build_table(entries);
  EXPECT_EQ(file.entry.ends, Ends());
  ManifestEdit edit;
  edit.added_tables = {file.entry};
  const std::string without = encode_manifest_edit(edit);
  edit.added_tables[0].ends = {1, 2, 3};
  EXPECT_GT(encode_manifest_edit(edit).size(), without.size());
}

TEST(TableEnds, AManifestEntryIsReadAsItWasWritten) {
  ManifestEdit edit;
  edit.added_tables = {build_table(entries_with_ends()).entry};
  const Result<ManifestEdit> read = decode_manifest_edit(encode_manifest_edit(edit));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, edit);
  edit.added_tables[0].ends.count = edit.added_tables[0].entry_count;  // One entry is a delete.
  EXPECT_EQ(decode_manifest_edit(encode_manifest_edit(edit)).code(), Code::kCorruption);
}

TEST(TableEnds, ARunEntryIsReadAsItWasWritten) {
  const TableFile file = build_table(entries_with_ends());
  const TableReading reading(file);
  RunEntry run = reading.index().runs()[0];
  std::string bytes;
  append_run_entry(bytes, run, run.smallest_version);
  const Result<RunEntry> read = decode_run_entry(run.largest_key, bytes, run.smallest_version);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, run);
  run.ends.count = run.entry_count;
  bytes.clear();
  append_run_entry(bytes, run, run.smallest_version);
  EXPECT_EQ(decode_run_entry(run.largest_key, bytes, run.smallest_version).code(), Code::kCorruption);
}

TEST(TableEnds, PropertiesAreReadAsTheyWereWritten) {
  const TableFile file = build_table(entries_with_ends());
  TableProperties properties = TableReading(file).index().properties();
  const Result<TableProperties> read = decode_table_properties(encode_table_properties(properties));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, properties);
  properties.ends = Ends();
  EXPECT_EQ((*decode_table_properties(encode_table_properties(properties))).ends, Ends());
}

}  // namespace
}  // namespace varve::format::table_ends_test
