// Goal: in a damaged directory a repair trusts CURRENT and the manifests as far as they verify and agree with the
// files. It refuses a newer build's store, and reports its decision about everything else.
// Method: a small store's files with one rebuilt part, and the errors of every read.
#include "engine/repair/survey.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "engine/manifest/manifest_file.h"
#include "engine/manifest/root_file.h"
#include "format/bytes/bytes.h"
#include "format/bytes/tagged_fields.h"
#include "format/log/file_header.h"
#include "format/table/table_builder.h"
#include "tests/support/store_image.h"

namespace varve::engine::survey_test {
namespace {

using test::StoreImage;
using test::StoreMachine;

class SurveyTest : public testing::Test {
 protected:
  void change_root(const std::function<void(format::Root&)>& change) {
    format::Root root = *format::decode_root(image_.read(format::kRootName));
    change(root);
    image_.write(format::kRootName, format::encode_root(root, 77));
  }
  void flip(const std::string& name, std::uint64_t offset) {
    ASSERT_TRUE(image_.disk.flip_bit(test::path_of(name), offset, std::byte{4}).ok());
  }
  /// Appends a record after the last one. Only its last byte makes it invalid.
  void append_torn_edit() {
    format::ManifestEdit edit;
    edit.file_number_ceiling = 5'000;
    image_.append_edit(edit);
    flip(image_.manifest_name(), image_.read(image_.manifest_name()).size() - 1);
  }
  void append_newer_edit() {
    std::string bytes = image_.read(image_.manifest_name());
    format::RecordHeader header;
    header.type = format::RecordType::kManifestEdit;
    header.file_number = image_.manifest_number;
    header.durable_upto = bytes.size();
    std::string edit = format::encode_manifest_edit({});
    format::append_field(edit, 1'001, "");  // odd: a reader that does not know it must stop
    format::append_record(bytes, header, edit, {image_.manifest_seed, bytes.size()});
    image_.write(image_.manifest_name(), bytes);
  }
  static std::string table_name(std::uint64_t number) { return format::file_name(format::FileType::kTable, number); }
  /// Adds a table file of one row, which the manifest names.
  void add_table(std::uint64_t number) {
    const auto builder = *format::TableBuilder::make(number, number, format::TableOptions());
    ASSERT_TRUE(builder->add({test::key_of_row("r"), 7, Kind::kPut, "v"}).ok());
    format::ManifestEdit edit;
    edit.added_tables.push_back(*builder->finish());
    image_.append_edit(edit);
    image_.write(table_name(number), builder->pending());
  }
  void remove_in_manifest(std::uint64_t table) {
    format::ManifestEdit edit;
    edit.removed_tables.push_back(table);
    image_.append_edit(edit);
  }
  std::string segment_name() const { return format::file_name(format::FileType::kLogSegment, image_.segment_number); }

  Result<SurveyedStore> survey(ManifestTrust trust = ManifestTrust::kAsFound) {
    machine_ = std::make_unique<StoreMachine>(image_.disk);
    salvage_ = std::make_unique<Salvage>(Salvage{*machine_->directory, {}, {}});
    if (fault_) machine_->files.faults().add(*fault_);
    return survey_store(trust, *salvage_);
  }
  void expect_refused(Code code, std::string_view file, std::string_view what) {
    const Result<SurveyedStore> store = survey();
    ASSERT_EQ(store.code(), code) << store.status().to_string();
    EXPECT_NE(store.status().message().find(file), std::string_view::npos) << store.status().to_string();
    EXPECT_NE(store.status().message().find(what), std::string_view::npos) << store.status().to_string();
  }
  bool has_finding(std::string_view file, std::string_view what) const {
    for (const std::string& finding : salvage_->figures.findings) {
      if (finding.find(file) != std::string::npos && finding.find(what) != std::string::npos) return true;
    }
    return false;
  }
  std::string findings() const {
    std::string all;
    for (const std::string& finding : salvage_->figures.findings) all += finding + "\n";
    return all;
  }
  /// Expects that the store's files are used nevertheless, and the doubt is reported.
  void expect_doubt(const Result<SurveyedStore>& store, std::string_view file, std::string_view what) const {
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    EXPECT_FALSE(store->is_certain);
    ASSERT_EQ(store->segments.size(), 1u);
    EXPECT_EQ(store->segments.front().segment.number, image_.segment_number);
    EXPECT_EQ(store->buffers.size(), 1u);
    ASSERT_EQ(salvage_->losses.all().size(), 1u);
    EXPECT_TRUE(has_finding(file, what)) << findings();
  }
  void expect_certain(const Result<SurveyedStore>& store) const {
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    EXPECT_TRUE(store->is_certain) << findings();
    EXPECT_TRUE(salvage_->losses.empty());
    EXPECT_EQ(store->segments.size(), 1u);
  }

  StoreImage image_;
  std::optional<io::FaultRule> fault_;
  std::unique_ptr<StoreMachine> machine_;
  std::unique_ptr<Salvage> salvage_;
};

TEST_F(SurveyTest, OfASoundStoreIsCertain) {
  expect_certain(survey());
  EXPECT_EQ(findings(), "");
  EXPECT_EQ(salvage_->figures.report.current.whole, 1u);
  EXPECT_EQ(salvage_->figures.report.manifests.whole, 1u);
}

// -- What a newer build may have meant ------------------------------------------------------------------------------

TEST_F(SurveyTest, RefusesFeaturesOfANewerBuildInCurrent) {
  change_root([](format::Root& root) { root.features.read_compatible = 8; });
  expect_refused(Code::kUnsupported, format::kRootName, "read-compatible");
}

TEST_F(SurveyTest, RefusesFeaturesOfANewerBuildInTheManifest) {
  format::ManifestEdit edit;
  edit.features = format::Features{0, 0, 16};
  image_.append_edit(edit);
  expect_refused(Code::kUnsupported, image_.manifest_name(), "incompatible");
}

TEST_F(SurveyTest, RefusesAnotherManifestOfANewerBuildWhereCurrentIsLost) {
  image_.remove(format::kRootName);
  image_.change_header(image_.manifest_name(), format::FileType::kManifest,
                       [](format::FileHeader& header) { header.format_version += 1; });
  expect_refused(Code::kUnsupported, image_.manifest_name(), "version");
}

TEST_F(SurveyTest, RefusesANewerEditWhereCurrentIsLost) {
  image_.remove(format::kRootName);
  append_newer_edit();
  expect_refused(Code::kUnsupported, image_.manifest_name(), "1001");
}

TEST_F(SurveyTest, RefusesANewerEditBehindDamageOfTheManifestsHeader) {
  append_newer_edit();
  flip(image_.manifest_name(), 20);
  expect_refused(Code::kUnsupported, image_.manifest_name(), "1001");
}

// -- CURRENT --------------------------------------------------------------------------------------------------------

TEST_F(SurveyTest, FindsNoStoreWhereOneWasBeingMade) {
  change_root([](format::Root& root) {
    root.state = format::RootState::kCreating;
    root.manifest_number = root.manifest_seed = 0;
  });
  expect_refused(Code::kNotFound, test::kImagePath, "was being created here");
}

TEST_F(SurveyTest, DoesNotBelieveThatAStoreIsBeingMadeWhereFilesOfOneStand) {
  change_root([](format::Root& root) {
    root.state = format::RootState::kCreating;
    root.manifest_number = root.manifest_seed = 0;
  });
  image_.announce(kNumberMaxOfMaking + 5);
  const Result<SurveyedStore> store = survey();
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  EXPECT_TRUE(has_finding(format::kRootName, "is being created")) << findings();
  EXPECT_EQ(salvage_->figures.report.current.damaged, 1u);
  EXPECT_EQ(salvage_->figures.report.current.whole, 0u);
  EXPECT_EQ(store->segments.size(), 2u);
}

TEST_F(SurveyTest, FindsNoStoreInADirectoryWithoutFilesOfOne) {
  for (const std::string& name : image_.names()) image_.remove(name);
  image_.write("notes.txt", "somebody else's");
  expect_refused(Code::kNotFound, test::kImagePath, "there is no store here");
}

TEST_F(SurveyTest, NotesThatCurrentIsDamaged) {
  flip(std::string(format::kRootName), 70);
  expect_certain(survey());
  EXPECT_TRUE(has_finding(format::kRootName, "")) << findings();
  EXPECT_EQ(salvage_->figures.report.current.damaged, 1u);
}

TEST_F(SurveyTest, WithoutCurrentBelievesAManifestThatExplainsAllFiles) {
  add_table(5);
  image_.remove(format::kRootName);
  const Result<SurveyedStore> store = survey();
  expect_certain(store);
  EXPECT_EQ(store->tables.size(), 1u);
  EXPECT_EQ(salvage_->figures.report.current.missing, 1u);
}

TEST_F(SurveyTest, WithoutCurrentBelievesAManifestWithoutALogBuffer) {
  format::ManifestEdit edit;
  edit.log_buffer = format::LogBufferEntry();
  image_.append_edit(edit);
  image_.remove(image_.buffer_name());
  image_.remove(format::kRootName);
  const Result<SurveyedStore> store = survey();
  expect_certain(store);
  EXPECT_TRUE(store->buffers.empty());
}

TEST_F(SurveyTest, WithoutCurrentTakesAFileWithADamagedHeaderForTheNamedOne) {
  flip(segment_name(), 20);
  image_.remove(format::kRootName);
  expect_certain(survey());
}

TEST_F(SurveyTest, WithoutCurrentTakesWhatIsNoRegularFileForTheNamedOne) {
  image_.remove(format::kRootName);
  fault_.emplace();
  fault_->kind = io::OperationKind::kOpen;
  fault_->name_suffix = segment_name();
  fault_->code = Code::kCorruption;
  fault_->reason = "not a regular file but a directory";
  expect_certain(survey());
  EXPECT_EQ(machine_->files.faults().hit_count(), 1u);
}

TEST_F(SurveyTest, WithoutCurrentDoubtsAManifestOneOfWhoseTablesIsMissing) {
  add_table(5);
  image_.remove(table_name(5));
  image_.remove(format::kRootName);
  const Result<SurveyedStore> store = survey();
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  EXPECT_FALSE(store->is_certain);
  EXPECT_TRUE(store->tables.empty());
}

TEST_F(SurveyTest, WithoutCurrentDoubtsAManifestOneOfWhoseTablesIsAnothers) {
  add_table(5);
  image_.change_header(table_name(5), format::FileType::kTable, [](format::FileHeader& header) { ++header.seed; });
  image_.remove(format::kRootName);
  const Result<SurveyedStore> store = survey();
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  EXPECT_FALSE(store->is_certain);
  EXPECT_EQ(store->tables.size(), 1u);
}

TEST_F(SurveyTest, WithoutCurrentDoubtsAManifestThatIsNotTheNewestHere) {
  image_.remove(format::kRootName);
  image_.write(format::file_name(format::FileType::kManifest, image_.manifest_number + 1), "not one");
  expect_doubt(survey(), format::file_name(format::FileType::kManifest, image_.manifest_number + 1),
               "no edit of it can be read");
}

TEST_F(SurveyTest, DoubtsAManifestThatStandsInForTheOneThatCurrentNames) {
  change_root([](format::Root& root) { root.manifest_number += 5; });
  expect_doubt(survey(), format::file_name(format::FileType::kManifest, image_.manifest_number + 5), "missing");
  EXPECT_EQ(salvage_->figures.report.manifests.missing, 1u);
  EXPECT_EQ(salvage_->figures.report.manifests.whole, 1u);
  EXPECT_EQ(salvage_->figures.report.current.whole, 1u);
}

TEST_F(SurveyTest, PassesOverAManifestWithAnotherFilesHeader) {
  image_.remove(format::kRootName);
  image_.change_header(image_.manifest_name(), format::FileType::kManifest,
                       [](format::FileHeader& header) { ++header.number; });
  expect_doubt(survey(), image_.manifest_name(), "no edit of it can be read");
}

TEST_F(SurveyTest, InDoubtTakesTheFilesHereButThoseThatLeftTheStore) {
  add_table(5);
  add_table(6);
  add_table(7);
  remove_in_manifest(6);
  image_.remove(table_name(7));
  image_.announce(8);
  format::ManifestEdit edit;
  edit.closed_segments.push_back({8, 4096, 3, {}});
  edit.removed_segments.push_back(8);
  image_.append_edit(edit);
  image_.announce(9);
  image_.remove(format::file_name(format::FileType::kLogSegment, 9));
  image_.write(format::file_name(format::FileType::kLogBuffer, 11), "a log buffer that nothing names");
  append_torn_edit();
  image_.remove(format::kRootName);
  const Result<SurveyedStore> store = survey();
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  EXPECT_FALSE(store->is_certain);
  ASSERT_EQ(store->tables.size(), 1u);
  EXPECT_EQ(store->tables.front().name, table_name(5));
  ASSERT_EQ(store->segments.size(), 1u);
  EXPECT_EQ(store->segments.front().name, segment_name());
  EXPECT_EQ(store->buffers.size(), 2u);
}

TEST_F(SurveyTest, KnowsItsOwnByATableFileWhereCurrentIsAnotherStores) {
  for (const std::uint64_t number : {4U, 5U, 6U}) add_table(number);
  image_.remove(table_name(4));
  image_.change_header(table_name(5), format::FileType::kTable, [](format::FileHeader& header) { ++header.seed; });
  change_root([](format::Root& root) { root.store_id[0] ^= 1; });
  const Result<SurveyedStore> store = survey();
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  EXPECT_TRUE(has_finding(format::kRootName, "belongs to another store than the files here")) << findings();
  EXPECT_FALSE(store->is_certain);  // about tables that differ from their entries
}

TEST_F(SurveyTest, WithoutCurrentDoubtsAManifestThatCannotKnowAFile) {
  image_.remove(format::kRootName);
  format::ManifestEdit edit;
  edit.file_number_ceiling = 5'000;
  image_.append_edit(edit);
  image_.write(format::file_name(format::FileType::kTable, 6'000), "stray");
  const Result<SurveyedStore> store = survey();
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  EXPECT_FALSE(store->is_certain);
  EXPECT_EQ(store->tables.size(), 1u);
}

TEST_F(SurveyTest, WithoutCurrentDoubtsAManifestOneOfWhoseFilesIsMissing) {
  image_.remove(format::kRootName);
  image_.remove(image_.buffer_name());
  const Result<SurveyedStore> store = survey();
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  EXPECT_FALSE(store->is_certain);
  EXPECT_TRUE(store->buffers.empty());
}

TEST_F(SurveyTest, WithoutCurrentDoubtsAManifestWhoseLogIsAnothers) {
  image_.remove(format::kRootName);
  image_.change_header(segment_name(), format::FileType::kLogSegment,
                       [](format::FileHeader& header) { ++header.seed; });
  const Result<SurveyedStore> store = survey();
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  EXPECT_FALSE(store->is_certain);
}

TEST_F(SurveyTest, WithoutCurrentDoubtsAManifestThatEndsBeforeItsEnd) {
  image_.remove(format::kRootName);
  append_torn_edit();
  expect_doubt(survey(), image_.manifest_name(), "is cut short");
  EXPECT_EQ(salvage_->figures.report.manifests.damaged, 1u);
  EXPECT_EQ(salvage_->figures.report.manifests.whole, 0u);
}

TEST_F(SurveyTest, BelievesTheFilesWhereCurrentIsAnotherStores) {
  change_root([](format::Root& root) { root.store_id[0] ^= 1; });
  const Result<SurveyedStore> store = survey();
  expect_certain(store);
  EXPECT_TRUE(has_finding(format::kRootName, "belongs to another store than the files here")) << findings();
  EXPECT_TRUE(has_finding(image_.manifest_name(), "belongs to another store than CURRENT")) << findings();
  EXPECT_EQ(salvage_->figures.report.current.damaged, 1u);
}

TEST_F(SurveyTest, BelievesCurrentWhereNoFileBesideTheManifestIsTheManifests) {
  change_root([](format::Root& root) { root.store_id[0] ^= 1; });
  image_.change_header(segment_name(), format::FileType::kLogSegment,
                       [](format::FileHeader& header) { ++header.seed; });
  expect_doubt(survey(), image_.manifest_name(), "belongs to another store");
  EXPECT_EQ(salvage_->figures.report.current.whole, 1u);
  EXPECT_EQ(salvage_->figures.report.manifests.damaged, 1u);
}

TEST_F(SurveyTest, PassesOverAManifestWithoutAnEdit) {
  std::string bytes = image_.read(image_.manifest_name());
  image_.write(image_.manifest_name(), bytes.substr(0, format::kFileHeaderBytes));
  expect_doubt(survey(), image_.manifest_name(), "");
  EXPECT_EQ(salvage_->figures.report.manifests.damaged, 1u);
}

TEST_F(SurveyTest, PassesOverAManifestAboveTheSizeOfAny) {
  ASSERT_TRUE(image_.disk.truncate(test::path_of(image_.manifest_name()), kManifestBytesReadMax + 1).ok());
  expect_doubt(survey(), image_.manifest_name(), "it can have at most");
  EXPECT_EQ(salvage_->figures.report.manifests.damaged, 1u);
}

TEST_F(SurveyTest, TakesAManifestUpToItsDamage) {
  append_torn_edit();
  format::ManifestEdit edit;
  edit.file_number_ceiling = 6'000;
  image_.append_edit(edit);  // A later record: the one before it was durable, and is damaged.
  expect_doubt(survey(), image_.manifest_name(), "damaged");
  EXPECT_EQ(salvage_->figures.report.manifests.damaged, 1u);
}

TEST_F(SurveyTest, WithoutItsTrustDoesNotBelieveCurrent) {
  expect_certain(survey(ManifestTrust::kWithoutRoot));
  EXPECT_TRUE(has_finding(format::kRootName, "is older than the log")) << findings();
  EXPECT_EQ(salvage_->figures.report.current.damaged, 1u);
  EXPECT_EQ(salvage_->figures.report.current.whole, 0u);
}

TEST_F(SurveyTest, WithoutAnyTrustDoubtsWhatItFinds) {
  expect_doubt(survey(ManifestTrust::kNone), format::kRootName, "is older than the log");
}

// -- Errors of the device -------------------------------------------------------------------------------------------

/// Fails every step of a survey in turn: each error is reported, and causes no reported loss.
class SurveyErrorTest : public SurveyTest {
 protected:
  void expect_every_error_told(std::uint64_t steps_min) {
    std::uint64_t step = 0;
    for (;; ++step) {
      SCOPED_TRACE(step);
      StoreMachine machine(image_.disk);
      Salvage salvage{*machine.directory, {}, {}};
      machine.files.faults().fail_nth(step, Code::kIoError);
      const Result<SurveyedStore> store = survey_store(ManifestTrust::kAsFound, salvage);
      if (machine.files.faults().hit_count() == 0) {
        ASSERT_TRUE(store.ok()) << store.status().to_string();
        break;
      }
      ASSERT_EQ(store.code(), Code::kIoError) << "the error was not told";
      for (const Loss& loss : salvage.losses.all()) {
        ASSERT_EQ(loss.what, "the list of the store's files is not certain");
      }
    }
    EXPECT_GE(step, steps_min);
  }
};

TEST_F(SurveyErrorTest, IsToldOfASoundStore) {
  expect_every_error_told(5);
}

TEST_F(SurveyErrorTest, IsToldWhereCurrentIsLost) {
  add_table(5);
  image_.remove(format::kRootName);
  expect_every_error_told(11);
}

TEST_F(SurveyErrorTest, IsToldWhereCurrentIsAnotherStores) {
  add_table(5);
  image_.change_header(table_name(5), format::FileType::kTable, [](format::FileHeader& header) { ++header.seed; });
  change_root([](format::Root& root) { root.store_id[0] ^= 1; });
  expect_every_error_told(11);
}

TEST_F(SurveyErrorTest, IsToldWhereTheManifestIsDamaged) {
  flip(image_.manifest_name(), format::kFileHeaderBytes + 4);
  image_.write(format::file_name(format::FileType::kTable, 6'000), "a table file that nothing names");
  expect_every_error_told(10);
}

}  // namespace
}  // namespace varve::engine::survey_test
