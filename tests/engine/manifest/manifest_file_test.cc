// Goal: a manifest is read as the edits that were appended. Only its end may be torn, and only if nothing contradicts
// that.
#include "engine/manifest/manifest_file.h"

#include <gtest/gtest.h>

#include "engine/base/whole_file.h"
#include "format/log/file_header.h"
#include "tests/support/store_image.h"

namespace varve::engine::manifest_file_test {
namespace {

using test::StoreMachine;

constexpr std::uint64_t kNumber = 4;

FileSet first_set() {
  FileSet files;
  files.store_id = {9, 9};
  files.file_number_ceiling = 500;
  return files;
}

format::ManifestEdit announce(std::uint64_t number) {
  format::ManifestEdit edit;
  edit.announced_segments = {{number, number * 7, {}}};
  return edit;
}

/// A manifest with two edits after its first record, and the end of each record.
struct Sample {
  Sample() {
    StoreMachine machine;
    Result<ManifestFile> file = ManifestFile::create(machine.env, *machine.directory, kNumber, first_set());
    EXPECT_TRUE(file.ok()) << file.status().to_string();
    ends.push_back(file->durable_bytes());
    for (const std::uint64_t number : {10u, 11u}) {
      EXPECT_TRUE(file->append(announce(number)).ok());
      ends.push_back(file->durable_bytes());
    }
    seed = file->seed();
    bytes = *read_whole_file(*machine.directory, "MANIFEST-000004", kManifestBytesReadMax, io::ReadMode::kCached);
  }
  std::string bytes;
  std::vector<std::uint64_t> ends;
  std::uint64_t seed = 0;
};

TEST(ManifestFile, ReadsAsItWasWritten) {
  const Sample sample;
  ASSERT_EQ(sample.bytes.size(), sample.ends.back());
  for (const bool may_end_torn : {false, true}) {
    const Result<ManifestContent> content = parse_manifest(sample.bytes, kNumber, sample.seed, may_end_torn);
    ASSERT_TRUE(content.ok()) << content.status().to_string();
    FileSet expected = first_set();
    ASSERT_TRUE(expected.apply(announce(10)).ok());
    ASSERT_TRUE(expected.apply(announce(11)).ok());
    EXPECT_EQ(content->files, expected);
    EXPECT_EQ(content->valid_bytes, sample.bytes.size());
    EXPECT_EQ(content->torn_bytes, 0u);
  }
}

TEST(ManifestFile, IsDurableWhenItsCallsReturn) {
  StoreMachine machine;
  Result<ManifestFile> file = ManifestFile::create(machine.env, *machine.directory, kNumber, first_set());
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(machine.directory->sync(io::SyncPoint{"names"}).ok());
  ASSERT_TRUE(file->append(announce(10)).ok());
  StoreMachine after(machine.files.power_cut(io::CrashPolicy::kNothingUnsynced, machine.random));
  const Result<std::string> bytes =
      read_whole_file(*after.directory, "MANIFEST-000004", kManifestBytesReadMax, io::ReadMode::kCached);
  ASSERT_TRUE(bytes.ok()) << bytes.status().to_string();
  const Result<ManifestContent> content = parse_manifest(*bytes, kNumber, file->seed(), false);
  ASSERT_TRUE(content.ok()) << content.status().to_string();
  EXPECT_TRUE(content->files.segments.contains(10));
}

TEST(ManifestFile, ItsLastAppendMayBeTornAtAnyByte) {
  const Sample sample;
  for (std::uint64_t kept = sample.ends[1]; kept < sample.ends[2]; ++kept) {
    for (const int rest : {-1, 0, 0x6b}) {  // Cut there, or with the size but without the data.
      SCOPED_TRACE(kept);
      std::string torn = sample.bytes.substr(0, kept);
      if (rest >= 0) torn.resize(sample.bytes.size() + 40, static_cast<char>(rest));
      const Result<ManifestContent> content = parse_manifest(torn, kNumber, sample.seed, true);
      ASSERT_TRUE(content.ok()) << content.status().to_string();
      // Missing zeros at the record's end make no difference.
      const bool whole = content->valid_bytes == sample.ends[2];
      EXPECT_TRUE(whole || content->valid_bytes == sample.ends[1]);
      EXPECT_EQ(content->files.segments.size(), whole ? 2u : 1u);
      if (torn != sample.bytes && kept != sample.ends[1]) {
        EXPECT_EQ(parse_manifest(torn, kNumber, sample.seed, false).code(), Code::kCorruption);
      }
    }
  }
}

TEST(ManifestFile, AnEarlierRecordIsNeverTorn) {
  const Sample sample;
  for (std::uint64_t at = 0; at < sample.ends[1]; ++at) {
    SCOPED_TRACE(at);
    std::string wrong = sample.bytes;
    wrong[at] = static_cast<char>(wrong[at] ^ 4);
    const Result<ManifestContent> content = parse_manifest(wrong, kNumber, sample.seed, true);
    ASSERT_EQ(content.code(), Code::kCorruption);
    EXPECT_NE(content.status().message().find("MANIFEST-000004, offset"), std::string::npos);
  }
}

TEST(ManifestFile, TheFirstRecordIsNeverTorn) {
  const Sample sample;
  for (std::uint64_t kept = 0; kept < sample.ends[0]; ++kept) {
    SCOPED_TRACE(kept);
    EXPECT_EQ(parse_manifest(sample.bytes.substr(0, kept), kNumber, sample.seed, true).code(), Code::kCorruption);
  }
}

TEST(ManifestFile, AnotherNumberOrSeedIsDamage) {
  const Sample sample;
  EXPECT_EQ(parse_manifest(sample.bytes, kNumber + 1, sample.seed, true).code(), Code::kCorruption);
  const Result<ManifestContent> foreign = parse_manifest(sample.bytes, kNumber, sample.seed + 1, true);
  EXPECT_EQ(foreign.code(), Code::kCorruption);
  EXPECT_NE(foreign.status().message().find("the seed in its header differs"), std::string::npos)
      << foreign.status().to_string();
}

TEST(ManifestFile, ANewerFormatIsUnsupported) {
  const Sample sample;
  std::string newer = sample.bytes;
  const std::string header =
      format::encode_file_header({format::FileType::kManifest, format::kFormatVersion + 1, sample.seed, kNumber});
  newer.replace(0, header.size(), header);
  EXPECT_EQ(parse_manifest(newer, kNumber, sample.seed, true).code(), Code::kUnsupported);
}

/// Returns the sample with one more record, whose header is wrong in some way.
Result<ManifestContent> parse_with(format::RecordHeader header, std::string_view payload) {
  const Sample sample;
  std::string bytes = sample.bytes;
  if (header.file_number == 0) header.file_number = kNumber;
  if (header.durable_upto == 0) header.durable_upto = bytes.size();
  format::append_record(bytes, header, payload, {sample.seed, bytes.size()});
  return parse_manifest(bytes, kNumber, sample.seed, true);
}

TEST(ManifestFile, VerifiedRecordsThatMakeNoSenseAreDamage) {
  format::RecordHeader right;
  right.type = format::RecordType::kManifestEdit;
  const std::string edit = format::encode_manifest_edit(announce(12));
  ASSERT_TRUE(parse_with(right, edit).ok());

  format::RecordHeader type = right;
  type.type = format::RecordType::kGroup;
  EXPECT_EQ(parse_with(type, edit).code(), Code::kCorruption);
  format::RecordHeader number = right;
  number.file_number = 77;
  EXPECT_EQ(parse_with(number, edit).code(), Code::kCorruption);
  format::RecordHeader durable = right;
  durable.durable_upto = 64;
  EXPECT_EQ(parse_with(durable, edit).code(), Code::kCorruption);
  EXPECT_EQ(parse_with(right, "no edit").code(), Code::kCorruption);
  EXPECT_EQ(parse_with(right, format::encode_manifest_edit(announce(11))).code(), Code::kCorruption);
  EXPECT_EQ(parse_with(right, format::encode_manifest_edit(announce(500))).code(), Code::kCorruption);
  format::RecordHeader unknown = right;
  unknown.type = static_cast<format::RecordType>(200);
  EXPECT_EQ(parse_with(unknown, edit).code(), Code::kUnsupported);
}

TEST(ManifestFile, NothingIsAppendedBehindAFailure) {
  for (const io::OperationKind kind : {io::OperationKind::kAppend, io::OperationKind::kSync}) {
    StoreMachine machine;
    Result<ManifestFile> file = ManifestFile::create(machine.env, *machine.directory, kNumber, first_set());
    ASSERT_TRUE(file.ok());
    const std::uint64_t before = file->durable_bytes();
    io::FaultRule rule;
    rule.kind = kind;
    machine.files.faults().add(rule);
    EXPECT_EQ(file->append(announce(10)).code(), Code::kIoError);
    EXPECT_EQ(file->durable_bytes(), before);
    EXPECT_DEATH((void)file->append(announce(11)), "in_doubt_");
  }
}

TEST(ManifestFile, AFailedBeginningLeavesNoFile) {
  for (const io::OperationKind kind :
       {io::OperationKind::kCreate, io::OperationKind::kAppend, io::OperationKind::kSync}) {
    StoreMachine machine;
    io::FaultRule rule;
    rule.kind = kind;
    machine.files.faults().add(rule);
    EXPECT_EQ(ManifestFile::create(machine.env, *machine.directory, kNumber, first_set()).code(), Code::kIoError);
    EXPECT_TRUE((*machine.directory->list()).empty());
  }
}

}  // namespace
}  // namespace varve::engine::manifest_file_test
