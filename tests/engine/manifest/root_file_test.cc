// Goal: CURRENT has one of two contents at every moment. An owner that did not see the present one never replaces it.
#include "engine/manifest/root_file.h"

#include <gtest/gtest.h>

#include "tests/support/store_image.h"

namespace varve::engine::root_file_test {
namespace {

using test::StoreMachine;

format::Root root_naming(std::uint64_t manifest) {
  format::Root root;
  root.store_id = {1, 2, 3};
  root.manifest_number = manifest;
  root.manifest_seed = 5;
  return root;
}

RootFile load(StoreMachine& machine) {
  Result<std::optional<RootFile>> loaded = RootFile::load(*machine.directory);
  EXPECT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_TRUE(loaded->has_value());
  return **std::move(loaded);
}

TEST(RootFile, NoneIsThereAtFirst) {
  StoreMachine machine;
  const Result<std::optional<RootFile>> loaded = RootFile::load(*machine.directory);
  ASSERT_TRUE(loaded.ok());
  EXPECT_FALSE(loaded->has_value());
}

TEST(RootFile, IsReadAsItWasWritten) {
  StoreMachine machine;
  RootFile written;
  ASSERT_TRUE(written.replace(*machine.directory, machine.random, root_naming(7)).ok());
  EXPECT_EQ(written.root().generation, 1u);
  EXPECT_EQ(load(machine).root(), written.root());
  ASSERT_TRUE(written.replace(*machine.directory, machine.random, root_naming(8)).ok());
  EXPECT_EQ(written.root().generation, 2u);
  EXPECT_EQ(load(machine).root(), written.root());
}

TEST(RootFile, AnOwnerWhoDidNotSeeTheLastReplacementIsFenced) {
  StoreMachine machine;
  RootFile first;
  ASSERT_TRUE(first.replace(*machine.directory, machine.random, root_naming(7)).ok());
  RootFile second = load(machine);
  ASSERT_TRUE(second.replace(*machine.directory, machine.random, root_naming(8)).ok());

  EXPECT_EQ(first.replace(*machine.directory, machine.random, root_naming(9)).code(), Code::kFenced);
  EXPECT_EQ(first.root().manifest_number, 7u);
  RootFile newcomer;
  EXPECT_EQ(newcomer.replace(*machine.directory, machine.random, root_naming(9)).code(), Code::kFenced);
  EXPECT_EQ(load(machine).root().manifest_number, 8u);
}

TEST(RootFile, ARefusedReplacementChangesNothingThatIsKnown) {
  StoreMachine machine;
  RootFile root;
  ASSERT_TRUE(root.replace(*machine.directory, machine.random, root_naming(7)).ok());
  machine.files.faults().fail_nth(0, Code::kIoError);
  EXPECT_EQ(root.replace(*machine.directory, machine.random, root_naming(8)).code(), Code::kIoError);
  EXPECT_EQ(root.root().manifest_number, 7u);
  EXPECT_EQ(root.root().generation, 1u);
}

TEST(RootFile, IsOldOrNewAfterAPowerCutAtEveryStep) {
  StoreMachine machine;
  RootFile root;
  ASSERT_TRUE(root.replace(*machine.directory, machine.random, root_naming(7)).ok());
  std::vector<io::MemoryDisk> disks;
  machine.files.set_observer([&](const io::Operation&, io::Moment) {
    for (io::MemoryDisk& disk : machine.files.power_cuts(machine.random, 20)) disks.push_back(std::move(disk));
  });
  ASSERT_TRUE(root.replace(*machine.directory, machine.random, root_naming(8)).ok());
  machine.files.set_observer({});
  EXPECT_GT(disks.size(), 10u);
  bool old_seen = false;
  bool new_seen = false;
  for (io::MemoryDisk& disk : disks) {
    StoreMachine after(std::move(disk));
    const std::uint64_t named = load(after).root().manifest_number;
    EXPECT_TRUE(named == 7 || named == 8) << named;
    old_seen = old_seen || named == 7;
    new_seen = new_seen || named == 8;
  }
  EXPECT_TRUE(old_seen);
  EXPECT_TRUE(new_seen);
  StoreMachine last(machine.files.power_cut(io::CrashPolicy::kNothingUnsynced, machine.random));
  EXPECT_EQ(load(last).root().manifest_number, 8u);
}

TEST(RootFile, OneLargerThanAnyCanBeIsNotRead) {
  io::MemoryDisk disk;
  const std::vector<std::byte> large(format::kRootBytesMax + 1);
  disk.write_file(test::path_of("CURRENT"), large);
  StoreMachine machine(std::move(disk));
  EXPECT_EQ(RootFile::load(*machine.directory).code(), Code::kCorruption);
}

TEST(RootFile, AnUnreadableOneIsNotCalledAbsent) {
  StoreMachine machine;
  RootFile root;
  ASSERT_TRUE(root.replace(*machine.directory, machine.random, root_naming(7)).ok());
  io::FaultRule rule;
  rule.kind = io::OperationKind::kRead;
  rule.name_suffix = "CURRENT";
  machine.files.faults().add(rule);
  EXPECT_EQ(RootFile::load(*machine.directory).code(), Code::kIoError);
}

}  // namespace
}  // namespace varve::engine::root_file_test
