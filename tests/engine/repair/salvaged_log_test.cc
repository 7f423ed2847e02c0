// Goal: every commit of a damaged log that verifies is saved, and possible losses are reported by their versions. Files
// that are not the named ones are reported. Files of a newer build are refused, and errors of the device end the
// repair.
// Method: segments and a log buffer made by hand, with one fault each.
#include "engine/repair/salvaged_log.h"

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "format/keys/batch.h"
#include "format/log/file_header.h"
#include "tests/support/store_image.h"

namespace varve::engine::salvaged_log_test {
namespace {

using test::LogWriter;
using test::StoreImage;
using test::StoreMachine;

class SalvagedLogTest : public testing::Test {
 protected:
  /// Returns commits 10 and 11, in two writes.
  LogWriter two_commits() {
    LogWriter log = image_.log();
    log.manifest_mark(image_.manifest_mark());
    log.put(10, "a", "v");
    log.end_write();
    log.put(11, "b", "v");
    log.end_write();
    return log;
  }
  void flip(const std::string& name, std::uint64_t offset) {
    ASSERT_TRUE(image_.disk.flip_bit(test::path_of(name), offset, std::byte{4}).ok());
  }
  void lose_manifest() { image_.remove(image_.manifest_name()); }
  std::string segment_name() const { return StoreImage::log_name(image_.log()); }

  Result<SalvagedLog> salvage() {
    machine_ = std::make_unique<StoreMachine>(image_.disk);
    return salvage_as_it_stands();
  }
  Result<SalvagedLog> salvage_as_it_stands() {
    salvage_ = std::make_unique<Salvage>(Salvage{*machine_->directory, {}, {}});
    const Result<SurveyedStore> store = survey_store(ManifestTrust::kAsFound, *salvage_);
    if (!store.ok()) return store.status();
    return salvage_log(machine_->env, *store, *salvage_);
  }
  static std::uint64_t commits_in(const SalvagedLog& log) {
    std::uint64_t entries = 0;
    for (const auto& memtable : log.memtables) entries += memtable->entry_count();
    return entries;
  }
  const Loss* loss_of(const std::string& file) const {
    for (const Loss& loss : salvage_->losses.all()) {
      if (loss.file == file) return &loss;
    }
    return nullptr;
  }
  void expect_commits(std::uint64_t count) {
    const Result<SalvagedLog> log = salvage();
    ASSERT_TRUE(log.ok()) << log.status().to_string();
    EXPECT_EQ(commits_in(*log), count);
  }
  void expect_loss(const std::string& file, std::string_view what) {
    const Loss* const loss = loss_of(file);
    ASSERT_NE(loss, nullptr);
    EXPECT_NE(loss->what.find(what), std::string::npos) << loss->what;
  }
  void expect_refused(const std::string& file) {
    const Result<SalvagedLog> log = salvage();
    EXPECT_EQ(log.code(), Code::kUnsupported) << log.status().to_string();
    EXPECT_NE(log.status().message().find(file), std::string_view::npos) << log.status().to_string();
  }
  void expect_every_error_told(std::uint64_t steps_min) {
    std::uint64_t step = 0;
    for (;; ++step) {
      SCOPED_TRACE(step);
      machine_ = std::make_unique<StoreMachine>(image_.disk);
      machine_->files.faults().fail_nth(step, Code::kIoError);
      const Result<SalvagedLog> log = salvage_as_it_stands();
      if (machine_->files.faults().hit_count() == 0) {
        ASSERT_TRUE(log.ok()) << log.status().to_string();
        break;
      }
      ASSERT_EQ(log.code(), Code::kIoError) << "the error was not told";
      ASSERT_EQ(loss_of(segment_name()), nullptr);
    }
    EXPECT_GE(step, steps_min);
  }

  StoreImage image_;
  std::unique_ptr<StoreMachine> machine_;
  std::unique_ptr<Salvage> salvage_;
};

TEST_F(SalvagedLogTest, OfASoundLogIsAllOfIt) {
  image_.write_log(two_commits());
  expect_commits(2);
  EXPECT_TRUE(salvage_->losses.empty());
  EXPECT_EQ(salvage_->figures.report.log_segments.whole, 1u);
  EXPECT_EQ(salvage_->figures.report.log_buffers.whole, 1u);
}

TEST_F(SalvagedLogTest, WithoutNamesIsReadByItsOwnHeaders) {
  image_.write_log(two_commits());
  lose_manifest();
  expect_commits(2);
  EXPECT_EQ(loss_of(segment_name()), nullptr);
}

TEST_F(SalvagedLogTest, WithoutANameAndAHeaderASegmentIsLost) {
  image_.write_log(two_commits());
  lose_manifest();
  flip(segment_name(), 20);
  expect_commits(0);
  expect_loss(segment_name(), "");
  EXPECT_EQ(salvage_->figures.report.log_segments.damaged, 1u);
}

TEST_F(SalvagedLogTest, WithoutANameAndWithAnotherFilesNumberASegmentIsLost) {
  image_.write_log(two_commits());
  lose_manifest();
  image_.change_header(segment_name(), format::FileType::kLogSegment,
                       [](format::FileHeader& header) { ++header.number; });
  expect_commits(0);
  expect_loss(segment_name(), "its header has the number of another file");
}

TEST_F(SalvagedLogTest, WithoutANameAndAHeaderABufferIsDamaged) {
  image_.write_log(two_commits());
  lose_manifest();
  flip(image_.buffer_name(), 20);
  expect_commits(2);
  expect_loss(image_.buffer_name(), "commits that were not in the log yet");
  EXPECT_EQ(salvage_->figures.report.log_buffers.damaged, 1u);
  EXPECT_EQ(loss_of(image_.buffer_name())->smallest_version, 12u);
}

TEST_F(SalvagedLogTest, TellsThatTheBufferIsMissingOrAnothers) {
  image_.write_log(two_commits());
  image_.change_header(image_.buffer_name(), format::FileType::kLogBuffer,
                       [](format::FileHeader& header) { ++header.seed; });
  expect_commits(2);
  expect_loss(image_.buffer_name(), "commits that were not in the log yet");
  EXPECT_EQ(salvage_->figures.report.log_buffers.damaged, 1u);
  image_.remove(image_.buffer_name());
  expect_commits(2);
  expect_loss(image_.buffer_name(), "commits that were not in the log yet");
  EXPECT_EQ(salvage_->figures.report.log_buffers.damaged, 0u);
  EXPECT_EQ(salvage_->figures.report.log_buffers.missing, 1u);
  EXPECT_EQ(salvage_->figures.findings, std::vector<std::string>{image_.buffer_name() + ": the log buffer is missing"});
}

TEST_F(SalvagedLogTest, ThatIsTooLargeForASegmentIsLost) {
  image_.write_log(two_commits());
  ASSERT_TRUE(image_.disk.truncate(test::path_of(segment_name()), kSegmentBytesReadMax + 4096).ok());
  expect_commits(0);
  expect_loss(segment_name(), "it can have at most");
}

TEST_F(SalvagedLogTest, OfANewerBuildEndsARepair) {
  image_.write_log(two_commits());
  const auto newer = [](format::FileHeader& header) { ++header.format_version; };
  image_.change_header(image_.buffer_name(), format::FileType::kLogBuffer, newer);
  expect_refused(image_.buffer_name());
  lose_manifest();
  expect_refused(image_.buffer_name());
  image_.remove(image_.buffer_name());
  image_.change_header(segment_name(), format::FileType::kLogSegment, newer);
  expect_refused(segment_name());
}

TEST_F(SalvagedLogTest, WhoseNamedSegmentIsOfANewerBuildEndsARepair) {
  image_.write_log(two_commits());
  image_.change_header(segment_name(), format::FileType::kLogSegment,
                       [](format::FileHeader& header) { ++header.format_version; });
  expect_refused(segment_name());
}

TEST_F(SalvagedLogTest, WithAnOperationOfANewerBuildEndsARepair) {
  LogWriter log = two_commits();
  std::string batch = test::put_of("c", "v");
  const std::size_t kind = batch.find(static_cast<char>(Kind::kPut), 2);  // after flags and count
  ASSERT_NE(kind, std::string::npos);
  batch[kind] = static_cast<char>(Kind::kMergeOperand);
  log.group(12, {batch});
  log.end_write();
  image_.write_log(log);
  const Result<SalvagedLog> salvaged = salvage();
  EXPECT_EQ(salvaged.code(), Code::kUnsupported) << salvaged.status().to_string();
}

TEST_F(SalvagedLogTest, OfAClosedSegmentWithoutItsFooterLosesNothingBelowItsLastVersion) {
  LogWriter log = two_commits();
  log.seal();
  image_.write_log(log);
  image_.close_in_manifest(log);
  flip(segment_name(), log.last_record() + 4);  // the footer
  expect_commits(2);
  EXPECT_EQ(loss_of(segment_name()), nullptr);
  EXPECT_EQ(salvage_->figures.report.log_segments.damaged, 1u);
}

TEST_F(SalvagedLogTest, TellsWhatAClosedSegmentHeldBehindItsDamage) {
  LogWriter log = two_commits();
  const std::uint64_t second = log.last_record();
  log.put(12, "c", "v");
  log.end_write();
  log.seal();
  image_.write_log(log);
  image_.close_in_manifest(log);
  flip(segment_name(), second + 4);
  expect_commits(1);
  expect_loss(segment_name(), "the log is damaged here");
  EXPECT_EQ(loss_of(segment_name())->smallest_version, 11u);
  EXPECT_EQ(loss_of(segment_name())->largest_version, 12u);
}

TEST_F(SalvagedLogTest, EndsALossWhereTheNextSegmentBegins) {
  LogWriter first = two_commits();
  const std::uint64_t second_record = first.last_record();
  image_.write_log(first);
  flip(segment_name(), second_record + 4);
  const LogWriter announced = image_.announce(8);
  LogWriter second(announced.number(), announced.seed());
  second.manifest_mark(image_.manifest_mark());
  second.put(20, "d", "v");
  second.end_write();
  image_.write_log(second);
  expect_commits(2);
  expect_loss(segment_name(), "");
  EXPECT_EQ(loss_of(segment_name())->smallest_version, 11u);
  EXPECT_EQ(loss_of(segment_name())->largest_version, 19u);
}

TEST_F(SalvagedLogTest, LosesNothingOfAMissingSegmentBetweenNeighbours) {
  image_.write_log(two_commits());
  const LogWriter missing = image_.announce(8);
  const LogWriter announced = image_.announce(9);
  LogWriter last(announced.number(), announced.seed());
  last.manifest_mark(image_.manifest_mark());
  last.put(12, "d", "v");  // The next commit: none is missing in between.
  last.end_write();
  image_.write_log(last);
  image_.remove(StoreImage::log_name(missing));
  expect_commits(3);
  EXPECT_EQ(loss_of(StoreImage::log_name(missing)), nullptr);
  EXPECT_EQ(salvage_->figures.report.log_segments.missing, 1u);
}

TEST_F(SalvagedLogTest, LosesNothingOfAMissingSegmentThatIsInTableFiles) {
  LogWriter log = two_commits();
  log.seal();
  image_.close_in_manifest(log);
  format::ManifestEdit edit;
  edit.flushed_version = 11;
  image_.append_edit(edit);
  image_.remove(segment_name());
  expect_commits(0);
  EXPECT_EQ(loss_of(segment_name()), nullptr);
  EXPECT_EQ(salvage_->figures.report.log_segments.missing, 1u);
}

TEST_F(SalvagedLogTest, TakesTheNewestTagAndMark) {
  LogWriter log = image_.log();
  engine::ManifestMark mark = image_.manifest_mark();
  const engine::ManifestMark newest = mark;
  const auto tagged = [](std::string_view row, std::string_view tag) {
    format::BatchBuilder batch;
    batch.put(test::key_of_row(row), "v");
    batch.set_tag(tag);
    return batch.finish();
  };
  log.manifest_mark(newest);
  log.group(10, {tagged("a", "first")});
  log.end_write();
  image_.write_log(log);
  LogWriter second(8, image_.segment_seed + 8);
  second.manifest_mark(newest);
  second.group(12, {tagged("b", "second")});
  second.end_write();
  image_.announce(8);
  image_.write_log(second);
  const Result<SalvagedLog> salvaged = salvage();
  ASSERT_TRUE(salvaged.ok()) << salvaged.status().to_string();
  ASSERT_TRUE(salvaged->last_tag.has_value());
  EXPECT_EQ(salvaged->last_tag->bytes, "second");
  EXPECT_EQ(salvaged->mark.number, newest.number);
  EXPECT_EQ(salvaged->mark.durable_bytes, newest.durable_bytes);
}

TEST_F(SalvagedLogTest, TellsEveryError) {
  image_.write_log(two_commits());
  expect_every_error_told(10);
}

TEST_F(SalvagedLogTest, TellsEveryErrorWithoutNames) {
  image_.write_log(two_commits());
  lose_manifest();
  expect_every_error_told(10);
}

}  // namespace
}  // namespace varve::engine::salvaged_log_test
