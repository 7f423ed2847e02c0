// Goal: a file whose object hangs lets no other file of its store wait.
// Method: an owner over a model of RADOS in which the objects of one file hang. Threads and time follow a seed.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tests/io/io_test_support.h"
#include "tests/support/rados_machine.h"

namespace varve::io::rados_hung_object_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr SyncPoint kPoint{"test"};

class RadosHungObject : public testing::TestWithParam<std::uint64_t> {
 protected:
  RadosHungObject() : machine_(GetParam()), program_(machine_.start()) {
    EXPECT_TRUE(is_ok(program_.files->create_directory(test::kRadosPath, kPoint)));
    owned_ = *program_.files->open_directory(test::kRadosPath);
    auto taken = owned_->lock("LOCK", LockMode::kExclusive, milliseconds(500));
    EXPECT_TRUE(is_ok(taken));
    if (taken.ok()) lock_ = *std::move(taken);
  }

  /// Runs `call`, which asks for an object of the id "1.1", while these hang, and expects that other files do not wait.
  void expect_that_others_go_on(const std::function<Status()>& call) {
    ObjectLook root;
    ASSERT_EQ(program_.door->look(root_object(test::kStoreName), root), 0);
    machine_.cluster.stand_still(root.attributes["id"] + "/1.1.");
    Status hung(Code::kUnknown);
    Thread caller = *machine_.scheduler().start("caller", [&] { hung = call(); });
    // Otherwise a failure of this test would hang it.
    Thread rescue = *machine_.scheduler().start("rescue", [&] {
      program_.files->process().rest(seconds(60));
      machine_.cluster.go_on();
    });
    program_.files->process().rest(seconds(1));
    const auto began = machine_.clock.monotonic();
    EXPECT_TRUE(is_ok(write_whole(*owned_, "other", bytes_of("y"))));
    EXPECT_TRUE(is_ok(owned_->create_log_segment("2.wal", 2 * kSectorBytes)));
    EXPECT_TRUE(is_ok(owned_->remove("other")));
    EXPECT_LT(machine_.clock.monotonic() - began, seconds(10));
    EXPECT_EQ(hung.code(), Code::kUnknown) << "it waits";
    caller = Thread();
    rescue = Thread();
    EXPECT_TRUE(is_ok(hung));
    EXPECT_EQ(machine_.strays(), std::vector<std::string>());
  }

  test::RadosMachine machine_;
  test::RadosProgram& program_;
  std::unique_ptr<Directory> owned_;
  std::unique_ptr<DirectoryLock> lock_;
};

TEST_P(RadosHungObject, ThatIsRemovedLetsNoOtherFileWait) {
  ASSERT_NE(lock_, nullptr);
  ASSERT_TRUE(is_ok(write_whole(*owned_, "a", bytes_of("x"))));
  expect_that_others_go_on([&] { return owned_->remove("a"); });
  EXPECT_EQ(names_in(*owned_), std::vector<std::string>{"2.wal"});
}

TEST_P(RadosHungObject, ThatIsMadeForAReplacedFileLetsNoOtherFileWait) {
  ASSERT_NE(lock_, nullptr);
  expect_that_others_go_on([&] { return owned_->replace("CURRENT", {}, bytes_of("x"), kPoint); });
  EXPECT_EQ(*read_whole(*owned_, "CURRENT"), bytes_of("x"));
}

TEST_P(RadosHungObject, OfANewSegmentLetsNoOtherFileWait) {
  ASSERT_NE(lock_, nullptr);
  expect_that_others_go_on([&] { return owned_->create_log_segment("1.wal", 2 * kSectorBytes).status(); });
  EXPECT_EQ(names_in(*owned_), (std::vector<std::string>{"1.wal", "2.wal"}));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RadosHungObject, testing::Range(std::uint64_t{1}, std::uint64_t{4}));

}  // namespace
}  // namespace varve::io::rados_hung_object_test
