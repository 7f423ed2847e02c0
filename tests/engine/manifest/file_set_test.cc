// Goal: an edit changes a set completely or not at all, and no edit makes a set that violates F1 to F4.
#include "engine/manifest/file_set.h"

#include <gtest/gtest.h>

#include "format/bytes/tagged_fields.h"
#include "format/keys/sort_key.h"

namespace varve::engine::file_set_test {
namespace {

format::TableFileEntry table(std::uint64_t number) {
  format::TableFileEntry entry;
  entry.number = number;
  entry.smallest_key = entry.largest_key = *format::encode_sort_key(1, "p", "r");
  return entry;
}

format::ValueFileEntry value_file(std::uint64_t number) {
  format::ValueFileEntry entry;
  entry.number = number;
  return entry;
}

/// Returns two closed segments, one in use, a table, a value file, ids, a tag.
FileSet sample() {
  format::ManifestEdit edit;
  edit.store_id = format::StoreId{1, 2, 3};
  edit.features = format::Features{4, 0, 0};
  edit.file_number_ceiling = 100;
  edit.version_ceiling = 5'000;
  edit.oldest_readable_version = 10;
  edit.flushed_version = 45;
  edit.stored_options = format::StoredOptions{2, 77, {}, {}};
  edit.commit_tag = format::CommitTag{9, "tag", {}};
  edit.log_buffer = format::LogBufferEntry{20, 21, {}};
  edit.announced_segments = {{1, 11, {}}, {2, 12, {}}, {3, 13, {}}};
  edit.closed_segments = {{1, 8192, 40, {}}, {2, 12288, 50, {}}};
  edit.added_tables = {table(4)};
  edit.added_value_files = {value_file(5)};
  edit.added_dead_ids = {{std::string("\0\0\0\7", 4), 30, {}}};
  edit.added_loading_ids = {600};
  format::append_field(edit.unknown_fields, 40, "later");
  FileSet set;
  const Status applied = set.apply(edit);
  EXPECT_TRUE(applied.ok()) << applied.to_string();
  return set;
}

void expect_refused(const FileSet& before, const format::ManifestEdit& edit, std::string_view why) {
  FileSet set = before;
  const Status applied = set.apply(edit);
  EXPECT_EQ(applied.code(), Code::kCorruption);
  EXPECT_NE(applied.message().find(why), std::string::npos) << applied.to_string();
  EXPECT_EQ(set, before);
}

TEST(FileSet, ARecycledSegmentIsOneUntilItIsClosed) {
  FileSet set = sample();
  format::ManifestEdit announced;
  announced.announced_segments = {{6, 16, {}, true}};
  ASSERT_TRUE(set.apply(announced).ok());
  EXPECT_TRUE(set.segments.at(6).is_recycled);
  EXPECT_FALSE(set.segments.at(3).is_recycled);
  FileSet again;
  ASSERT_TRUE(again.apply(set.as_edit()).ok());
  EXPECT_EQ(again, set);

  format::ManifestEdit closed;
  closed.closed_segments = {{6, 8192, 60, {}}};
  ASSERT_TRUE(set.apply(closed).ok());
  EXPECT_FALSE(set.segments.at(6).is_recycled);
  FileSet after;
  ASSERT_TRUE(after.apply(set.as_edit()).ok());
  EXPECT_EQ(after, set);
}

TEST(FileSet, AnEditIsApplied) {
  const FileSet set = sample();
  EXPECT_EQ(set.segments.size(), 3u);
  EXPECT_TRUE(set.segments.at(1).closed);
  EXPECT_EQ(set.segments.at(2).last_version, 50u);
  EXPECT_EQ(set.segments.at(2).size_bytes, 12288u);
  EXPECT_FALSE(set.segments.at(3).closed);
  EXPECT_EQ(set.segments.at(3).seed, 13u);
  EXPECT_EQ(set.stored_options.retention_ticks, 77u);
  EXPECT_EQ(set.log_buffer->seed, 21u);
}

TEST(FileSet, ATableFileMovesToAnotherLevelAsItIs) {
  FileSet set = sample();
  format::ManifestEdit edit;
  edit.moved_tables = {{4, 3, {}}};
  ASSERT_TRUE(set.apply(edit).ok());
  EXPECT_EQ(set.tables.at(4).level, 3u);
  format::TableFileEntry expected = sample().tables.at(4);
  expected.level = 3;
  EXPECT_EQ(set.tables.at(4), expected);
}

TEST(FileSet, AMoveOfATableThatIsNotThereIsRefused) {
  format::ManifestEdit edit;
  edit.moved_tables = {{7, 3, {}}};
  expect_refused(sample(), edit, "table file 7 is moved, but does not exist");
  edit.moved_tables = {{4, 3, {}}};
  edit.removed_tables = {4};
  expect_refused(sample(), edit, "table file 4 is moved, but does not exist");
}

TEST(FileSet, TheFlushedVersionNeverFalls) {
  format::ManifestEdit edit;
  edit.flushed_version = 44;
  expect_refused(sample(), edit, "flushed version 44 is below its previous value");
  FileSet set = sample();
  edit.flushed_version = 46;
  ASSERT_TRUE(set.apply(edit).ok());
  EXPECT_EQ(set.flushed_version, 46u);
}

TEST(FileSet, AsOneEditItMakesItselfAgain) {
  FileSet original = sample();
  format::append_field(original.segments.at(1).announced_unknown_fields, 2, "a");
  format::append_field(original.segments.at(1).closed_unknown_fields, 2, "c");
  FileSet again;
  // Through its bytes, as in a manifest.
  const Result<format::ManifestEdit> edit =
      format::decode_manifest_edit(format::encode_manifest_edit(original.as_edit()));
  ASSERT_TRUE(edit.ok()) << edit.status().to_string();
  const Status applied = again.apply(*edit);
  ASSERT_TRUE(applied.ok()) << applied.to_string();
  EXPECT_EQ(again, original);
}

TEST(FileSet, RemovalsTakeAwayWhatWasThere) {
  FileSet set = sample();
  format::ManifestEdit edit;
  edit.removed_segments = {1, 3};
  edit.removed_tables = {4};
  edit.removed_value_files = {5};
  edit.removed_dead_ids = {std::string("\0\0\0\7", 4)};
  edit.removed_loading_ids = {600};
  edit.log_buffer = format::LogBufferEntry{};
  const Status applied = set.apply(edit);
  ASSERT_TRUE(applied.ok()) << applied.to_string();
  EXPECT_EQ(set.segments.size(), 1u);
  EXPECT_TRUE(set.tables.empty());
  EXPECT_TRUE(set.value_files.empty());
  EXPECT_TRUE(set.dead_ids.empty());
  EXPECT_TRUE(set.loading_ids.empty());
  EXPECT_FALSE(set.log_buffer.has_value());
}

TEST(FileSet, UnknownFieldsOfAllEditsAreKeptByTag) {
  FileSet set = sample();
  format::ManifestEdit edit;
  format::append_field(edit.unknown_fields, 38, "lower tag, later edit");
  format::append_field(edit.unknown_fields, 40, "same tag, later edit");
  ASSERT_TRUE(set.apply(edit).ok());
  std::string expected;
  format::append_field(expected, 38, "lower tag, later edit");
  format::append_field(expected, 40, "later");
  format::append_field(expected, 40, "same tag, later edit");
  EXPECT_EQ(set.unknown_fields, expected);
}

TEST(FileSet, ANumberNamesOneFile) {
  const FileSet set = sample();
  for (const std::uint64_t taken : {1u, 3u, 4u, 5u, 20u}) {
    SCOPED_TRACE(taken);
    format::ManifestEdit segment;
    segment.announced_segments = {{taken, 1, {}}};
    expect_refused(set, segment, taken <= 3 ? "announced twice" : "names two files");
    format::ManifestEdit added_table;
    added_table.added_tables = {table(taken)};
    expect_refused(set, added_table, taken == 4 ? "already exists" : "names two files");
    format::ManifestEdit added_values;
    added_values.added_value_files = {value_file(taken)};
    expect_refused(set, added_values, taken == 5 ? "already exists" : "names two files");
    format::ManifestEdit buffer;
    buffer.log_buffer = format::LogBufferEntry{taken, 1, {}};
    if (taken != 20) expect_refused(set, buffer, "names two files");
  }
}

TEST(FileSet, ATablePointsIntoValueFilesOfTheSet) {
  FileSet set = sample();
  format::ManifestEdit edit;
  edit.added_tables = {table(50)};
  edit.added_tables.front().value_files = {{5, 100}, {51, 100}};
  expect_refused(set, edit, "points into value file 51, which does not exist");
  edit.added_value_files = {value_file(51)};
  ASSERT_TRUE(set.apply(edit).ok());
  edit = {};
  edit.removed_value_files = {51};
  expect_refused(set, edit, "points into value file 51, which does not exist");
  edit.removed_tables = {50};
  EXPECT_TRUE(set.apply(edit).ok());
}

TEST(FileSet, ASegmentBecomesAValueFileInOneEdit) {
  FileSet set = sample();
  format::ManifestEdit edit;
  edit.removed_segments = {1};
  edit.added_value_files = {value_file(1)};
  const Status applied = set.apply(edit);
  ASSERT_TRUE(applied.ok()) << applied.to_string();
  EXPECT_FALSE(set.segments.contains(1));
  EXPECT_TRUE(set.value_files.contains(1));
}

TEST(FileSet, ANumberIsBelowTheCeilingAndNotZero) {
  const FileSet set = sample();
  for (const std::uint64_t number : {0u, 100u, 101u}) {
    SCOPED_TRACE(number);
    format::ManifestEdit edit;
    edit.announced_segments = {{number, 1, {}}};
    expect_refused(set, edit, number == 0 ? "names no file" : "is not below the ceiling");
  }
  format::ManifestEdit last;
  last.announced_segments = {{99, 1, {}}};
  FileSet grown = set;
  EXPECT_TRUE(grown.apply(last).ok());
  format::ManifestEdit raised;
  raised.file_number_ceiling = 101;
  raised.announced_segments = {{100, 1, {}}};
  EXPECT_TRUE(grown.apply(raised).ok());
}

TEST(FileSet, TheCeilingMayFallToTheNextNumberAndNoFurther) {
  const FileSet set = sample();
  format::ManifestEdit exact;
  exact.file_number_ceiling = 21;
  FileSet lowered = set;
  EXPECT_TRUE(lowered.apply(exact).ok());
  exact.file_number_ceiling = 20;
  expect_refused(set, exact, "is not below the ceiling");
}

TEST(FileSet, ASegmentIsAnnouncedThenClosedOnce) {
  const FileSet set = sample();
  format::ManifestEdit unknown;
  unknown.closed_segments = {{9, 8192, 60, {}}};
  expect_refused(set, unknown, "was not announced");
  format::ManifestEdit twice;
  twice.closed_segments = {{2, 8192, 60, {}}};
  expect_refused(set, twice, "closed twice");
  format::ManifestEdit both;
  both.announced_segments = {{9, 1, {}}};
  both.closed_segments = {{9, 8192, 60, {}}};
  FileSet at_once = set;
  EXPECT_TRUE(at_once.apply(both).ok());
}

TEST(FileSet, LastVersionsOfClosedSegmentsRise) {
  const FileSet set = sample();
  for (const CommitVersion last : {45u, 50u}) {
    format::ManifestEdit edit;
    edit.closed_segments = {{3, 8192, last, {}}};
    expect_refused(set, edit, "does not end above");
  }
  for (const CommitVersion last : {0u, 51u}) {
    format::ManifestEdit edit;
    edit.closed_segments = {{3, 8192, last, {}}};
    FileSet closed = set;
    EXPECT_TRUE(closed.apply(edit).ok());
  }
}

TEST(FileSet, WhatIsRemovedWasThere) {
  const FileSet set = sample();
  format::ManifestEdit edit;
  edit.removed_segments = {9};
  expect_refused(set, edit, "but does not exist");
  edit = {};
  edit.removed_tables = {9};
  expect_refused(set, edit, "but does not exist");
  edit = {};
  edit.removed_value_files = {9};
  expect_refused(set, edit, "but does not exist");
  edit = {};
  edit.removed_dead_ids = {"8 bytes!"};
  expect_refused(set, edit, "but does not exist");
  edit = {};
  edit.removed_loading_ids = {1};
  expect_refused(set, edit, "but does not exist");
}

TEST(FileSet, IdsAreAddedOnce) {
  const FileSet set = sample();
  format::ManifestEdit edit;
  edit.added_dead_ids = {{std::string("\0\0\0\7", 4), 31, {}}};
  expect_refused(set, edit, "added twice");
  edit = {};
  edit.added_loading_ids = {600};
  expect_refused(set, edit, "added twice");
}

TEST(FileSet, CeilingsAndTagsNeverGoBack) {
  const FileSet set = sample();
  format::ManifestEdit edit;
  edit.version_ceiling = 4'999;
  expect_refused(set, edit, "is below its previous value");
  edit = {};
  edit.oldest_readable_version = 9;
  expect_refused(set, edit, "is below its previous value");
  edit = {};
  edit.commit_tag = format::CommitTag{8, "older", {}};
  expect_refused(set, edit, "is older");
  edit = {};
  edit.store_id = format::StoreId{9};
  expect_refused(set, edit, "store id");
}

TEST(FileSet, AnEditThatFailsAtItsEndChangesNothing) {
  const FileSet set = sample();
  format::ManifestEdit edit;
  edit.version_ceiling = 9'000;
  edit.announced_segments = {{50, 1, {}}};
  edit.added_loading_ids = {601};
  edit.removed_loading_ids = {999};
  expect_refused(set, edit, "but does not exist");
}

TEST(FileSet, NamesItsFilesByTypeAndNumber) {
  const FileSet set = sample();
  EXPECT_TRUE(set.names(format::FileType::kLogSegment, 1));
  EXPECT_TRUE(set.names(format::FileType::kLogBuffer, 20));
  EXPECT_TRUE(set.names(format::FileType::kTable, 4));
  EXPECT_TRUE(set.names(format::FileType::kLogSegment, 5));  // A value file is one.
  EXPECT_FALSE(set.names(format::FileType::kValueFile, 5));
  EXPECT_FALSE(set.names(format::FileType::kTable, 1));
  EXPECT_FALSE(set.names(format::FileType::kLogSegment, 20));
  EXPECT_FALSE(set.names(format::FileType::kLogBuffer, 1));
  EXPECT_FALSE(set.names(format::FileType::kManifest, 1));
}

}  // namespace
}  // namespace varve::engine::file_set_test
