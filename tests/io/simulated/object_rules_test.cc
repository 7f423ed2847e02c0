// The in-memory file system under the rules of a store of objects, which promises less than a local disk.
#include <cerrno>
#include <memory>

#include <gtest/gtest.h>

#include "tests/io/simulated/memory_test_support.h"

namespace varve::io::object_rules_test {
namespace {

struct Objects {
  Objects() { machine.files().keep_object_rules(); }
  MemoryMachine machine;
};

TEST(ObjectRules, BytesAreSeenOnlyAfterTheirSync) {
  Objects objects;
  Directory& store = objects.machine.store();
  const std::unique_ptr<WritableFile> file = objects.machine.create("a");
  ASSERT_TRUE(is_ok(file->append(bytes_of("first"))));
  Result<Bytes> seen = read_whole(store, "a");
  ASSERT_TRUE(is_ok(seen));
  EXPECT_TRUE(seen->empty());
  ASSERT_TRUE(is_ok(file->sync(kTestPoint)));
  ASSERT_TRUE(is_ok(file->append(bytes_of(", second"))));
  seen = read_whole(store, "a");
  ASSERT_TRUE(is_ok(seen));
  EXPECT_EQ(text_of(*seen), "first");
}

TEST(ObjectRules, AHandleOfARemovedFileFails) {
  Objects objects;
  Directory& store = objects.machine.store();
  ASSERT_TRUE(is_ok(write_whole(store, "a", bytes_of("x"))));
  const Result<std::unique_ptr<ReadableFile>> file = store.open("a", ReadMode::kDirect);
  ASSERT_TRUE(is_ok(file));
  Bytes byte(1);
  EXPECT_TRUE(is_ok((*file)->read_exactly(0, byte)));
  ASSERT_TRUE(is_ok(store.remove("a")));
  EXPECT_TRUE(fails_with((*file)->read_exactly(0, byte), ENOENT));
}

TEST(ObjectRules, ThereIsNoSharedMemoryNoLinkAndNoSecondLifeOfASegment) {
  Objects objects;
  Directory& store = objects.machine.store();
  ASSERT_TRUE(is_ok(write_whole(store, "a", bytes_of("x"))));
  EXPECT_TRUE(fails_with(store.create_shared_memory("b", kSectorBytes), Code::kUnsupported));
  EXPECT_TRUE(fails_with(store.link("a", store), Code::kUnsupported));
  const std::unique_ptr<LogSegment> segment = objects.machine.create_segment("1.wal", kSectorBytes);
  ASSERT_TRUE(is_ok(segment->cut(kSectorBytes, kTestPoint)));
  EXPECT_TRUE(fails_with(store.recycle_log_segment("1.wal", "2.wal", kSectorBytes), Code::kUnsupported));
  EXPECT_EQ(names_in(store), (std::vector<std::string>{"1.wal", "a"}));
}

}  // namespace
}  // namespace varve::io::object_rules_test
