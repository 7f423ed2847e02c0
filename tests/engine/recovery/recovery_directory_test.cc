// Goal: an error while a store's directory is listed names the directory or the file, and never makes the directory
// count as empty. Cases are failing lists, a store that another process creates or removes between two lists, and a
// manifest above its own ceiling.
// Method: the disk changes, or a step fails, during a read.
#include <functional>
#include <utility>

#include <gtest/gtest.h>

#include "engine/recovery/recovery.h"
#include "format/bytes/bytes.h"
#include "tests/support/store_image.h"

namespace varve::engine::recovery_directory_test {
namespace {

using test::LogWriter;
using test::StoreImage;
using test::StoreMachine;

void fail_once(StoreMachine& machine, io::OperationKind kind, std::string_view suffix = "",
               std::uint64_t skip_count = 0) {
  io::FaultRule rule;
  rule.kind = kind;
  rule.name_suffix = suffix;
  rule.skip_count = skip_count;
  machine.files.faults().add(rule);
}

/// Changes the disk once, before the first list of a directory. The rule causes no failure.
void change_before_list(StoreMachine& machine, const std::function<void(io::MemoryDisk&)>& change) {
  io::FaultRule rule;
  rule.kind = io::OperationKind::kList;
  rule.predicate = [&machine, change, done = false](const io::Operation&) mutable {
    if (!std::exchange(done, true)) machine.files.change_disk(change);
    return false;
  };
  machine.files.faults().add(rule);
}

TEST(RecoveryDirectory, AListThatFailsIsToldAndTheNextLookFindsTheStore) {
  const StoreImage image;
  {
    StoreImage without_root = image;
    without_root.remove("CURRENT");
    StoreMachine machine(without_root.disk);
    fail_once(machine, io::OperationKind::kList);
    const Result<StoreFound> found = find_store(*machine.directory);
    EXPECT_EQ(found.code(), Code::kIoError) << "nothing may be made there";
    EXPECT_NE(found.status().message().find(test::kImagePath), std::string::npos) << found.status().to_string();
    EXPECT_EQ(find_store(*machine.directory).code(), Code::kCorruption);
  }
  StoreImage creating = image;
  Result<format::Root> root = format::decode_root(image.read("CURRENT"));
  ASSERT_TRUE(root.ok());
  root->state = format::RootState::kCreating;
  root->manifest_number = 0;
  creating.write("CURRENT", format::encode_root(*root, 99));
  StoreMachine machine(creating.disk);
  fail_once(machine, io::OperationKind::kList);
  EXPECT_EQ(find_store(*machine.directory).code(), Code::kIoError);
  EXPECT_EQ(*find_store(*machine.directory), StoreFound::kUnfinished);
}

TEST(RecoveryDirectory, AReadOfCurrentThatFailsIsToldAtBothLooks) {
  const StoreImage image;
  for (const std::uint64_t look : {0U, 1U}) {
    SCOPED_TRACE(look);
    StoreMachine machine(image.disk);
    fail_once(machine, io::OperationKind::kOpen, "CURRENT", look);
    const Result<Recovered> read = machine.read();
    EXPECT_EQ(read.code(), Code::kIoError);
    EXPECT_NE(read.status().message().find("CURRENT"), std::string::npos) << read.status().to_string();
    EXPECT_TRUE(machine.read().ok());
  }
  StoreImage without_root = image;
  without_root.remove("CURRENT");
  StoreMachine machine(without_root.disk);
  fail_once(machine, io::OperationKind::kOpen, "CURRENT", 1);
  EXPECT_EQ(find_store(*machine.directory).code(), Code::kIoError) << "the second look may have found it";
}

TEST(RecoveryDirectory, AStoreThatIsMadeBetweenTwoLooksIsFound) {
  const StoreImage image;
  const std::string root = image.read("CURRENT");
  StoreImage without_root = image;
  without_root.remove("CURRENT");
  StoreMachine machine(without_root.disk);
  change_before_list(machine,
                     [&](io::MemoryDisk& disk) { disk.write_file(test::path_of("CURRENT"), format::as_bytes(root)); });
  const Result<StoreFound> found = find_store(*machine.directory);
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(*found, StoreFound::kStore);
}

TEST(RecoveryDirectory, AManifestAboveTheCeilingThatItRecordsIsDamage) {
  StoreImage image;
  format::ManifestEdit edit;
  edit.file_number_ceiling = image.manifest_number;
  image.append_edit(edit);
  const Result<Recovered> recovered = image.recover();
  EXPECT_EQ(recovered.code(), Code::kCorruption);
  EXPECT_NE(recovered.status().message().find(image.manifest_name()), std::string::npos)
      << recovered.status().to_string();
  EXPECT_NE(recovered.status().message().find("not below the ceiling"), std::string::npos)
      << recovered.status().to_string();
}

TEST(RecoveryDirectory, AFooterThatNamesAFirstVersionIsDamage) {
  StoreImage image;
  LogWriter log = image.log();
  log.put(1, "a", "1");
  log.end_write();
  const std::uint64_t offset = log.position();
  log.seal();
  std::string bytes = log.cut_file();
  format::Record record;
  Status why;
  ASSERT_EQ(format::read_record(bytes, offset, image.segment_seed, &record, &why), format::RecordOutcome::kRecord)
      << why.to_string();
  format::RecordHeader header = record.header;
  header.first_version = 1;
  std::string framed;
  format::append_record(framed, header, record.payload, {image.segment_seed, offset});
  bytes.replace(offset, framed.size(), framed);
  image.write(StoreImage::log_name(log), bytes);
  const Result<Recovered> recovered = image.recover();
  EXPECT_EQ(recovered.code(), Code::kCorruption);
  EXPECT_NE(recovered.status().message().find(StoreImage::log_name(log)), std::string::npos)
      << recovered.status().to_string();
}

}  // namespace
}  // namespace varve::engine::recovery_directory_test
