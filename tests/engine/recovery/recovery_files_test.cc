// Goal: a store whose files contradict each other is never opened with a part of its data: segments, manifest and
// CURRENT confirm one another.
#include <gtest/gtest.h>

#include "engine/recovery/recovery.h"
#include "format/bytes/checksum.h"
#include "format/bytes/tagged_fields.h"
#include "format/log/file_header.h"
#include "tests/support/effort.h"
#include "tests/support/store_image.h"

namespace varve::engine::recovery_files_test {
namespace {

using test::LogWriter;
using test::StoreImage;
using test::StoreMachine;
using Rows = std::vector<std::string>;

void expect_corruption(const Result<Recovered>& recovered, std::string_view where) {
  ASSERT_EQ(recovered.code(), Code::kCorruption) << recovered.status().to_string();
  EXPECT_NE(recovered.status().message().find(where), std::string::npos) << recovered.status().to_string();
}

/// Segment 1 is sealed and cut, with one commit. Segment 7 is announced and unused.
struct Rolled {
  Rolled() : first(image.log()), second(image.announce(7)) {
    first.put(1, "a", "1");
    first.end_write();
    first.seal();
    image.write_cut_log(first);
  }
  StoreImage image;
  LogWriter first;
  LogWriter second;
};

// -- Consecutive segments ---------------------------------------------------------------------------------------------

TEST(RecoveryFiles, ASealedSegmentThatNothingFollowsIsInDoubt) {
  const Rolled rolled;
  const Result<Recovered> recovered = rolled.image.recover();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(test::rows_of(*recovered), Rows{"a=1@1"});
  ASSERT_TRUE(recovered->in_doubt.has_value());
  EXPECT_EQ(recovered->in_doubt->number, rolled.first.number());
  EXPECT_TRUE(recovered->found_closed.empty());
  EXPECT_EQ(recovered->unused_segments, std::vector<std::uint64_t>{7});
}

TEST(RecoveryFiles, ASealedSegmentThatIsNotCutIsInDoubt) {
  Rolled rolled;
  rolled.image.write_log(rolled.first);
  const Result<Recovered> recovered = rolled.image.recover();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(test::rows_of(*recovered), Rows{"a=1@1"});
  ASSERT_TRUE(recovered->in_doubt.has_value());
  EXPECT_EQ(recovered->in_doubt->last_version, 1u);
}

TEST(RecoveryFiles, ARecordInTheNextSegmentProvesTheCut) {
  Rolled rolled;
  rolled.second.put(2, "b", "2");
  rolled.second.end_write();
  rolled.image.write_log(rolled.second);
  const Result<Recovered> recovered = rolled.image.recover();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(test::rows_of(*recovered), (Rows{"a=1@1", "b=2@2"}));
  ASSERT_EQ(recovered->found_closed.size(), 1u);
  EXPECT_EQ(recovered->found_closed[0].number, rolled.first.number());
  EXPECT_EQ(recovered->found_closed[0].size_bytes, rolled.first.position());
  EXPECT_EQ(recovered->found_closed[0].last_version, 1u);
  EXPECT_EQ(recovered->in_doubt->number, 7u);

  rolled.image.write_log(rolled.first);  // It cannot have its allocated size in that case.
  expect_corruption(rolled.image.recover(), "000007.wal");
}

TEST(RecoveryFiles, AnythingInALaterSegmentWhileAnEarlierOneIsNotSealedIsDamage) {
  StoreImage image;
  LogWriter first = image.log();
  first.put(1, "a", "1");
  first.end_write();
  image.write_log(first);
  const LogWriter second = image.announce(7);
  ASSERT_TRUE(image.recover().ok());
  for (const std::size_t at : {std::size_t{4096}, std::size_t{9000}, std::size_t{kSegmentBytesMin - 1}}) {
    SCOPED_TRACE(at);
    std::string file = second.file();
    file[at] = 1;
    image.write("000007.wal", file);
    expect_corruption(image.recover(), "000007.wal, offset " + std::to_string(at));
  }
}

TEST(RecoveryFiles, ASegmentClosedInTheManifestMustBeExactlyThatLongAndSealed) {
  Rolled rolled;
  rolled.image.close_in_manifest(rolled.first);
  ASSERT_TRUE(rolled.image.recover().ok());
  EXPECT_FALSE((*rolled.image.recover()).in_doubt.has_value());

  const std::string name = StoreImage::log_name(rolled.first);
  const std::string whole = rolled.first.cut_file();
  for (const std::string& wrong :
       {whole.substr(0, whole.size() - 1), whole.substr(0, whole.size() - 4096), whole + std::string(4096, '\0'),
        whole.substr(0, whole.size() - 4096) + std::string(4096, '\0'), std::string()}) {
    SCOPED_TRACE(wrong.size());
    rolled.image.write(name, wrong);
    expect_corruption(rolled.image.recover(), name);
  }
  for (std::size_t at = 0; at < whole.size(); at += at < 4300 ? test::kStride : 53) {
    SCOPED_TRACE(at);
    std::string wrong = whole;
    wrong[at] = static_cast<char>(wrong[at] ^ 0x40);
    rolled.image.write(name, wrong);
    ASSERT_EQ(rolled.image.recover().code(), Code::kCorruption);
  }
}

TEST(RecoveryFiles, TheManifestsLastVersionOfAClosedSegmentIsChecked) {
  Rolled rolled;
  format::ManifestEdit edit;
  edit.closed_segments.push_back({rolled.first.number(), rolled.first.position(), 5, {}});
  rolled.image.append_edit(edit);
  expect_corruption(rolled.image.recover(), "last version");
}

TEST(RecoveryFiles, AFooterInTheMiddleIsDamage) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(1, "a", "1");
  log.end_write();
  log.seal();
  log.put(2, "b", "1");
  log.end_write();
  image.write_log(log);
  expect_corruption(image.recover(), "footer");
}

TEST(RecoveryFiles, AFooterThatDoesNotStandAloneIsDamage) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(1, "a", "1");
  format::RecordHeader footer;
  footer.type = format::RecordType::kFooter;
  footer.last_version = 1;
  log.record(footer, {});
  log.end_write();
  image.write_cut_log(log);
  expect_corruption(image.recover(), "footer");
}

TEST(RecoveryFiles, AFooterWithAnotherLastVersionIsDamage) {
  for (const CommitVersion wrong : {2u, 1u}) {
    StoreImage image;
    LogWriter log = image.log();
    if (wrong == 2) log.put(1, "a", "1");
    if (wrong == 1) log.watermark();
    log.end_write();
    format::RecordHeader footer;
    footer.type = format::RecordType::kFooter;
    footer.durable_upto = log.position();
    footer.last_version = wrong;
    log.record(footer, {});
    log.end_write();
    image.write_cut_log(log);
    expect_corruption(image.recover(), "footer");
  }
}

TEST(RecoveryFiles, ASegmentWithWatermarksAloneHoldsNothing) {
  StoreImage image;
  LogWriter log = image.log();
  log.ceiling(50).watermark();
  log.end_write();
  image.write_log(log);
  const Result<Recovered> recovered = image.recover();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_FALSE(recovered->in_doubt.has_value());
  EXPECT_EQ(recovered->unused_segments, std::vector<std::uint64_t>{log.number()});
  EXPECT_EQ(recovered->version_ceiling, 50u);
}

TEST(RecoveryFiles, VersionsMustRiseAcrossSegments) {
  Rolled rolled;
  rolled.second.put(1, "b", "2");
  rolled.second.end_write();
  rolled.image.write_log(rolled.second);
  expect_corruption(rolled.image.recover(), "000007.wal, offset 4096");
}

TEST(RecoveryFiles, FilesOfOtherNamesChangeNothing) {
  Rolled rolled;
  rolled.image.write("000099.wal", rolled.first.file());
  rolled.image.write("MANIFEST-000099", "anything");
  rolled.image.write("000098.sst", "anything");
  rolled.image.write("CURRENT.tmp", "anything");
  rolled.image.write("notes.txt", "anything");
  ASSERT_TRUE(rolled.image.recover().ok());
  EXPECT_EQ(test::rows_of(*rolled.image.recover()), Rows{"a=1@1"});
}

// -- The manifest -----------------------------------------------------------------------------------------------------

TEST(RecoveryFiles, AManifestThatTheLogKnowsToBeLongerIsDamaged) {
  StoreImage image;
  const std::uint64_t before = image.read(image.manifest_name()).size();
  image.announce(7);
  LogWriter log = image.log();
  log.manifest_mark(image.manifest_mark()).put(1, "a", "1");
  log.end_write();
  image.write_log(log);
  ASSERT_TRUE(image.recover().ok());

  const std::string whole = image.read(image.manifest_name());
  for (std::size_t kept = before; kept < whole.size(); ++kept) {
    SCOPED_TRACE(kept);
    image.write(image.manifest_name(), whole.substr(0, kept));
    expect_corruption(image.recover(), image.manifest_name() + ", offset " + std::to_string(before));
  }
  for (std::size_t at = before; at < whole.size(); ++at) {
    SCOPED_TRACE(at);
    std::string wrong = whole;
    wrong[at] = static_cast<char>(wrong[at] ^ 2);
    image.write(image.manifest_name(), wrong);
    expect_corruption(image.recover(), image.manifest_name() + ", offset " + std::to_string(before));
  }
}

TEST(RecoveryFiles, AMarkBehindTheEndOfTheLogProvesAsMuch) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(1, "a", "1");
  log.end_write();
  log.put(2, "b", "1");
  log.end_write();
  log.manifest_mark({image.manifest_number, image.manifest_mark().durable_bytes + 8}).put(3, "c", "1");
  log.end_write();
  std::string file = log.file();
  std::fill(file.begin() + 8192, file.begin() + 12288, '\0');
  image.write(StoreImage::log_name(log), file);
  expect_corruption(image.recover(), image.manifest_name());
}

TEST(RecoveryFiles, AMarkOfAnEarlierManifestProvesNothingAndOneOfALaterProvesThatCurrentIsOld) {
  StoreImage image;
  LogWriter earlier = image.log();
  earlier.manifest_mark({image.manifest_number - 1, 1u << 30}).put(1, "a", "1");
  earlier.end_write();
  image.write_log(earlier);
  EXPECT_TRUE(image.recover().ok());
  LogWriter later = image.log();
  later.manifest_mark({image.manifest_number + 1, 1}).put(1, "a", "1");
  later.end_write();
  image.write_log(later);
  expect_corruption(image.recover(), "CURRENT");
}

TEST(RecoveryFiles, AnUnfinishedEditIsTheEndOfTheManifest) {
  StoreImage image;
  const std::uint64_t before = image.read(image.manifest_name()).size();
  image.announce(7);
  const std::string whole = image.read(image.manifest_name());
  for (std::size_t kept = before; kept < whole.size(); ++kept) {
    for (const char rest : {'\0', '\x3c'}) {
      SCOPED_TRACE(kept);
      std::string torn = whole;
      std::fill(torn.begin() + static_cast<std::ptrdiff_t>(kept), torn.end(), rest);
      image.write(image.manifest_name(), torn);
      const Result<Recovered> recovered = image.recover();
      ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
      const std::size_t expected = torn == whole ? 2 : 1;
      ASSERT_EQ(recovered->files.segments.size(), expected);
    }
  }
}

TEST(RecoveryFiles, AMissingManifestIsDamage) {
  StoreImage image;
  image.remove(image.manifest_name());
  expect_corruption(image.recover(), image.manifest_name());
}

TEST(RecoveryFiles, ATableFileMustBeThereAndOfItsSize) {
  StoreImage image;
  format::ManifestEdit edit;
  format::TableFileEntry table;
  table.number = 9;
  table.size_bytes = 8192;
  table.smallest_key = table.largest_key = test::key_of_row("a");
  edit.added_tables.push_back(table);
  image.append_edit(edit);
  expect_corruption(image.recover(), "000009.sst");
  image.write("000009.sst", std::string(4096, 't'));
  expect_corruption(image.recover(), "000009.sst");
  image.write("000009.sst", std::string(8192, 't'));
  EXPECT_TRUE(image.recover().ok());
}

TEST(RecoveryFiles, ValueFilesAreThereWithTheirSize) {
  StoreImage image;
  format::ManifestEdit edit;
  edit.added_value_files.push_back({9, 1, 8192, {}});
  image.append_edit(edit);
  expect_corruption(image.recover(), "000009.wal");
  image.write("000009.wal", std::string(4096, 'v'));
  expect_corruption(image.recover(), "000009.wal");
  image.write("000009.wal", std::string(8192, 'v'));
  EXPECT_TRUE(image.recover().ok());
}

TEST(RecoveryFiles, CommitsThatTablesHoldAreLeftOutOfTheReplay) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(1, "a", "1");
  log.put(2, "b", "2");
  log.put(3, "c", "3");
  log.end_write();
  image.write_log(log);
  format::ManifestEdit edit;
  edit.flushed_version = 2;
  image.append_edit(edit);
  const Result<Recovered> recovered = image.recover();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(test::rows_of(*recovered), (Rows{"c=3@3"}));
  EXPECT_EQ(recovered->last_version, 3u);

  edit.flushed_version = 9;  // of commits whose segments were removed
  image.append_edit(edit);
  const Result<Recovered> later = image.recover();
  ASSERT_TRUE(later.ok()) << later.status().to_string();
  EXPECT_TRUE(test::rows_of(*later).empty());
  EXPECT_EQ(later->last_version, 9u);
}

TEST(RecoveryFiles, AnUnknownOddFieldOfAnEditIsUnsupportedAndAnEvenOneIsKept) {
  StoreImage image;
  format::ManifestEdit even;
  format::append_field(even.unknown_fields, 200, "kept");
  image.append_edit(even);
  const Result<Recovered> recovered = image.recover();
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
  EXPECT_EQ(recovered->files.unknown_fields, even.unknown_fields);
  EXPECT_EQ(recovered->files.as_edit().unknown_fields, even.unknown_fields);

  // An odd tag written by hand, because the encoder would refuse it.
  std::string manifest = image.read(image.manifest_name());
  std::string payload;
  format::append_field(payload, 201, "must be known");
  format::RecordHeader header;
  header.type = format::RecordType::kManifestEdit;
  header.file_number = image.manifest_number;
  header.durable_upto = manifest.size();
  format::append_record(manifest, header, payload, {image.manifest_seed, manifest.size()});
  image.write(image.manifest_name(), manifest);
  EXPECT_EQ(image.recover().code(), Code::kUnsupported);
}

// -- CURRENT ----------------------------------------------------------------------------------------------------------

/// Returns an image whose CURRENT is changed and written again with its own seed.
template <typename Change>
StoreImage with_root(const Change& change) {
  StoreImage image;
  Result<format::Root> root = format::decode_root(image.read("CURRENT"));
  EXPECT_TRUE(root.ok());
  change(*root);
  image.write("CURRENT", format::encode_root(*root, 99));
  return image;
}

TEST(RecoveryFiles, EveryFlippedByteOfCurrentIsFound) {
  StoreImage image;
  const std::string whole = image.read("CURRENT");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    SCOPED_TRACE(at);
    std::string wrong = whole;
    wrong[at] = static_cast<char>(wrong[at] ^ 0x21);
    image.write("CURRENT", wrong);
    expect_corruption(image.recover(), "CURRENT");
    image.write("CURRENT", whole.substr(0, at));
    expect_corruption(image.recover(), "CURRENT");
  }
}

TEST(RecoveryFiles, UnknownFeaturesAreRefusedByTheirSet) {
  const auto with_features = [](format::Features features) {
    StoreImage image = with_root([&](format::Root& root) { root.features = features; });
    format::ManifestEdit edit;
    edit.features = features;
    image.append_edit(edit);
    return image;
  };
  const StoreImage compatible = with_features({1u << 9, 0, 0});
  EXPECT_EQ(compatible.recover(true).code(), Code::kOk);
  EXPECT_EQ((*compatible.recover(true)).files.features.compatible, 1u << 9);
  const StoreImage read_compatible = with_features({0, 1u << 9, 0});
  EXPECT_EQ(read_compatible.recover(true).code(), Code::kUnsupported);
  EXPECT_EQ(read_compatible.recover(false).code(), Code::kOk);
  const StoreImage incompatible = with_features({0, 0, 1u << 9});
  EXPECT_EQ(incompatible.recover(true).code(), Code::kUnsupported);
  EXPECT_EQ(incompatible.recover(false).code(), Code::kUnsupported);
  EXPECT_NE(incompatible.recover(false).status().message().find("bit 9"), std::string::npos);
}

TEST(RecoveryFiles, ManifestAndCurrentMustAgree) {
  expect_corruption(with_root([](format::Root& root) { root.store_id[3] ^= 1; }).recover(), "MANIFEST-");
  expect_corruption(with_root([](format::Root& root) { root.manifest_seed ^= 1; }).recover(), "MANIFEST-");
  expect_corruption(with_root([](format::Root& root) { root.features.compatible = 4; }).recover(), "MANIFEST-");
  expect_corruption(with_root([](format::Root& root) { root.manifest_number = 44; }).recover(), "MANIFEST-000044");
}

TEST(RecoveryFiles, ACleanMarkOnAStoreThatIsNotCleanIsDamage) {
  /// Marks the image as "clean", with the figures after `change`.
  const auto mark_clean = [](StoreImage& image, const auto& change) {
    Result<format::Root> root = format::decode_root(image.read("CURRENT"));
    ASSERT_TRUE(root.ok());
    const std::string manifest = image.read(image.manifest_name());
    root->state = format::RootState::kClean;
    root->manifest_bytes = manifest.size();
    root->manifest_hash = format::content_hash(manifest);
    root->last_version = 1;
    change(*root);
    image.write("CURRENT", format::encode_root(*root, 99));
  };
  const auto as_it_is = [](format::Root&) {};
  StoreImage with_buffer;
  mark_clean(with_buffer, as_it_is);
  expect_corruption(with_buffer.recover(), "log buffer");

  StoreImage with_segment;
  format::ManifestEdit no_buffer;
  no_buffer.log_buffer = format::LogBufferEntry{};
  with_segment.append_edit(no_buffer);
  mark_clean(with_segment, as_it_is);
  expect_corruption(with_segment.recover(), "number of log segments");

  StoreImage empty;
  no_buffer.removed_segments = {empty.segment_number};
  no_buffer.version_ceiling = 50;
  empty.append_edit(no_buffer);
  mark_clean(empty, [](format::Root& root) { root.last_version = 50; });
  EXPECT_TRUE(empty.recover().ok()) << empty.recover().status().to_string();
  mark_clean(empty, [](format::Root& root) { root.last_version = 49; });
  expect_corruption(empty.recover(), "CURRENT: names last version 49");
  mark_clean(empty, [](format::Root& root) { root.manifest_bytes = 7; });
  expect_corruption(empty.recover(), empty.manifest_name());
  mark_clean(empty, [](format::Root& root) { root.manifest_hash ^= 1; });
  expect_corruption(empty.recover(), empty.manifest_name());
}

// -- Finding a store --------------------------------------------------------------------------------------------------

Result<StoreFound> find_among(const std::vector<std::string>& names) {
  io::MemoryDisk disk;
  disk.make_directory(test::kImagePath);
  for (const std::string& name : names) disk.write_file(test::path_of(name), {});
  StoreMachine machine(std::move(disk));
  return find_store(*machine.directory);
}

void expect_found(const Result<StoreFound>& found, StoreFound expected) {
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(*found, expected);
}

TEST(FindStore, AnEmptyDirectoryHoldsNothing) {
  expect_found(find_among({}), StoreFound::kNothing);
  expect_found(find_among({"LOCK"}), StoreFound::kNothing);
  expect_found(find_among({"LOCK", "CURRENT.tmp"}), StoreFound::kNothing);
}

TEST(FindStore, OtherThingsAreNoStore) {
  for (const char* name : {"notes.txt", "000001.wal.old", "manifest-000001", "current", "1.wal", ".hidden"}) {
    SCOPED_TRACE(name);
    const Result<StoreFound> found = find_among({"LOCK", name});
    EXPECT_EQ(found.code(), Code::kInvalidArgument);
    EXPECT_NE(found.status().message().find(name), std::string::npos) << found.status().to_string();
  }
}

TEST(FindStore, AStoresFilesWithoutCurrentAreDamage) {
  for (const char* name : {"000001.wal", "MANIFEST-000003", "000002.buf", "000004.sst", "000005.val", "BALLAST"}) {
    SCOPED_TRACE(name);
    const Result<StoreFound> found = find_among({"notes.txt", name});
    EXPECT_EQ(found.code(), Code::kCorruption);
    EXPECT_NE(found.status().message().find("CURRENT is missing"), std::string::npos) << found.status().to_string();
    EXPECT_NE(found.status().message().find(name), std::string::npos) << found.status().to_string();
  }
}

TEST(FindStore, ACurrentThatDoesNotVerifyIsDamage) {
  EXPECT_EQ(find_among({"CURRENT"}).code(), Code::kCorruption);
}

TEST(FindStore, ANewerCurrentIsUnsupported) {
  io::MemoryDisk disk;
  const std::string newer =
      format::encode_file_header({format::FileType::kRoot, format::kFormatVersion + 1, 5, 0}) + "what it says";
  disk.write_file(test::path_of("CURRENT"), std::as_bytes(std::span<const char>(newer.data(), newer.size())));
  StoreMachine machine(std::move(disk));
  EXPECT_EQ(find_store(*machine.directory).code(), Code::kUnsupported);
}

TEST(FindStore, AStoreIsFoundAndAnUnfinishedOneToldFromIt) {
  const StoreImage image;
  StoreMachine machine(image.disk);
  expect_found(find_store(*machine.directory), StoreFound::kStore);

  const auto creating = [](format::Root& root) {
    root.state = format::RootState::kCreating;
    root.manifest_number = 0;
  };
  StoreMachine unfinished(with_root(creating).disk);
  expect_found(find_store(*unfinished.directory), StoreFound::kUnfinished);
  EXPECT_EQ(unfinished.read().code(), Code::kNotFound);

  // The creation of a store does not reach these files, so CURRENT must be wrong.
  StoreImage later = with_root(creating);
  later.write("000004.wal", "");
  StoreMachine contradiction(later.disk);
  EXPECT_EQ(find_store(*contradiction.directory).code(), Code::kCorruption);
}

TEST(FindStore, ReadingWhereNothingIsSaysSo) {
  StoreMachine machine;
  EXPECT_EQ(machine.read().code(), Code::kNotFound);
}

TEST(FindStore, ADirectoryOnlyLookedAtIsNotChanged) {
  Rolled rolled;
  StoreMachine machine(rolled.image.disk);
  ASSERT_TRUE(machine.read(false).ok());
  ASSERT_TRUE(machine.read(true).ok());
  EXPECT_TRUE(machine.files.snapshot().same_content(rolled.image.disk));
}

}  // namespace
}  // namespace varve::engine::recovery_files_test
