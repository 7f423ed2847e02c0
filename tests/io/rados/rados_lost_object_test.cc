// Goal: a takeover knows an object that the cluster lost from one that was never made. A lost one is not made again, and its
// reader gets Corruption that names it.
// Method: owners over a model of RADOS. Objects vanish, or the first owner is cut off, before the second one comes.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/io/io_test_support.h"
#include "tests/support/rados_machine.h"

namespace varve::io::rados_lost_object_test {
namespace {

using std::chrono::milliseconds;
using test::RadosMachine;
using test::RadosProgram;

constexpr SyncPoint kPoint{"test"};
constexpr std::string_view kEdit = "edit";

/// A process that owns the store.
struct Owner {
  explicit Owner(RadosMachine& machine) {
    RadosOptions options;
    options.takeover_wait = false;
    options.renewal_time = std::chrono::hours(1);
    program = &machine.start(options);
    EXPECT_TRUE(is_ok(program->files->create_directory(test::kRadosPath, kPoint)));
    directory = *program->files->open_directory(test::kRadosPath);
    auto taken = directory->lock("LOCK", LockMode::kExclusive, milliseconds(500));
    EXPECT_TRUE(is_ok(taken));
    if (taken.ok()) lock = *std::move(taken);
  }

  RadosProgram* program = nullptr;
  std::unique_ptr<Directory> directory;
  std::unique_ptr<DirectoryLock> lock;
};

std::vector<std::string> objects_of(RadosMachine& machine, std::string_view id) {
  std::vector<std::string> found;
  for (const std::string& object : machine.cluster.names()) {
    if (object.find("/" + std::string(id) + ".") != std::string::npos) found.push_back(object);
  }
  return found;
}

/// Removes the object whose name ends so, as no owner does. Returns its name.
std::string lose(RadosMachine& machine, std::string_view end) {
  for (const std::string& object : machine.cluster.names()) {
    if (!object.ends_with(end)) continue;
    ObjectChange removal;
    removal.object = object;
    removal.epoch = 1000;
    removal.removes = true;
    EXPECT_EQ(machine.cluster.make_door()->change(removal), 0);
    return object;
  }
  ADD_FAILURE() << "no object ends with " << end;
  return "none";
}

TEST(RadosLostObject, OfALogSegmentIsCorruptionAfterATakeover) {
  RadosMachine machine(1);
  const Owner first(machine);
  auto segment = first.directory->create_log_segment("1.wal", 2 * kSectorBytes);
  ASSERT_TRUE(is_ok(segment));
  const AlignedBuffer sector = sectors_by_seed(1, kSectorBytes);
  ASSERT_TRUE(is_ok((*segment)->write(0, sector.bytes(), kPoint)));
  const std::string object = lose(machine, "/1.1.0");

  const Owner second(machine);
  ASSERT_NE(second.lock, nullptr) << "a repair must be able to open the store";
  EXPECT_EQ(names_in(*second.directory), std::vector<std::string>{"1.wal"});
  EXPECT_TRUE(fails_with(read_whole(*second.directory, "1.wal"), Code::kCorruption, object));
  EXPECT_EQ(objects_of(machine, "1.1"), std::vector<std::string>());
  EXPECT_TRUE(is_ok(second.directory->remove("1.wal")));
  EXPECT_EQ(machine.strays(), std::vector<std::string>());
}

/// Returns a manifest of three objects. The root knows its first size, and that it grew.
std::unique_ptr<WritableFile> write_manifest(Directory& directory) {
  Result<std::unique_ptr<WritableFile>> manifest = directory.create("manifest");
  EXPECT_TRUE(is_ok(manifest));
  EXPECT_TRUE(is_ok((*manifest)->append(bytes_of(kEdit))));
  EXPECT_TRUE(is_ok((*manifest)->sync(kPoint)));
  for (int stripe = 0; stripe < 2; ++stripe) {
    EXPECT_TRUE(is_ok((*manifest)->append(Bytes(kStripeBytes, std::byte{1}))));
    EXPECT_TRUE(is_ok((*manifest)->sync(kPoint)));
  }
  return *std::move(manifest);
}

TEST(RadosLostObject, OfAGrowingFileIsCorruptionAfterATakeoverWhicheverItIs) {
  for (const char* const end : {"/1.1.0", "/1.1.1", "/1.1.2"}) {
    SCOPED_TRACE(end);
    RadosMachine machine(1);
    const Owner first(machine);
    const std::unique_ptr<WritableFile> manifest = write_manifest(*first.directory);
    ASSERT_EQ(objects_of(machine, "1.1").size(), 3U);
    const std::string object = lose(machine, end);

    const Owner second(machine);
    ASSERT_NE(second.lock, nullptr);
    EXPECT_TRUE(fails_with(read_whole(*second.directory, "manifest"), Code::kCorruption, object));
    const Owner third(machine);
    ASSERT_NE(third.lock, nullptr);
    EXPECT_TRUE(fails_with(read_whole(*third.directory, "manifest"), Code::kCorruption, object)) << "also later";
    EXPECT_TRUE(is_ok(third.directory->remove("manifest")));
    EXPECT_EQ(objects_of(machine, "1.1"), std::vector<std::string>());
  }
}

// The second object of the file: it is never made, or made without an entry, or the entry is made too.
TEST(RadosLostObject, IsNotOneThatAnOwnerHadNoTimeToMake) {
  constexpr std::uint64_t kGrowsAndFillsTheFirst = 2;  // a change of the root, and one of the object
  for (std::uint64_t more = 0; more <= 2; ++more) {
    SCOPED_TRACE(more);
    RadosMachine machine(1);
    const Owner first(machine);
    auto manifest = first.directory->create("manifest");
    ASSERT_TRUE(is_ok(manifest));
    ASSERT_TRUE(is_ok((*manifest)->append(bytes_of(kEdit))));
    ASSERT_TRUE(is_ok((*manifest)->sync(kPoint)));
    machine.cluster.cut_off(first.program->door->client(), kGrowsAndFillsTheFirst + more, 0);
    ASSERT_TRUE(is_ok((*manifest)->append(Bytes(kStripeBytes, std::byte{1}))));
    EXPECT_EQ((*manifest)->sync(kPoint).ok(), more == 2);

    const Owner second(machine);
    ASSERT_NE(second.lock, nullptr);
    const Result<Bytes> found = read_whole(*second.directory, "manifest");
    ASSERT_TRUE(is_ok(found));
    EXPECT_EQ(found->size(), kStripeBytes + (more == 0 ? 0 : kEdit.size()));
    EXPECT_TRUE(is_ok(second.directory->remove("manifest")));
    EXPECT_EQ(objects_of(machine, "1.1"), std::vector<std::string>());
  }
}

TEST(RadosLostObject, IsNotThatOfASegmentWhoseMakingWasCutShort) {
  for (std::uint64_t changes = 0; changes <= 3; ++changes) {
    SCOPED_TRACE(changes);
    RadosMachine machine(1);
    const Owner first(machine);
    machine.cluster.cut_off(first.program->door->client(), changes, 0);
    const bool is_whole = changes == 3;
    EXPECT_EQ(first.directory->create_log_segment("1.wal", 2 * kSectorBytes).ok(), is_whole);
    const Owner second(machine);
    ASSERT_NE(second.lock, nullptr);
    using Names = std::vector<std::string>;
    EXPECT_EQ(names_in(*second.directory), is_whole ? Names{"1.wal"} : Names());
    EXPECT_EQ(objects_of(machine, "1.1").size(), is_whole ? 1U : 0U);
    EXPECT_EQ(machine.strays(), Names());
    if (is_whole) {
      EXPECT_EQ(*read_whole(*second.directory, "1.wal"), Bytes(2 * kSectorBytes));
    }
    EXPECT_EQ(second.directory->create_log_segment("1.wal", 2 * kSectorBytes).ok(), !is_whole);
  }
}

TEST(RadosLostObject, ASegmentThatAFullPoolRefusesLeavesNothing) {
  RadosMachine machine(1);
  const Owner owner(machine);
  machine.cluster.set_full(true);
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_TRUE(fails_with(owner.directory->create_log_segment("1.wal", 2 * kSectorBytes), Code::kNoSpace));
  }
  TextMap entries;
  ASSERT_EQ(machine.cluster.make_door()->entries(root_object(test::kStoreName), entries), 0);
  EXPECT_TRUE(entries.empty()) << entries.begin()->first;
  machine.cluster.set_full(false);
  EXPECT_TRUE(is_ok(owner.directory->create_log_segment("1.wal", 2 * kSectorBytes)));
  EXPECT_TRUE(fails_with(owner.directory->create_log_segment("1.wal", 2 * kSectorBytes), EEXIST));
}

}  // namespace
}  // namespace varve::io::rados_lost_object_test
