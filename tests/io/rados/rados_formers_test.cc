// Goal: what any of several former owners sent makes no object that no entry names, also if a later owner removes their
// files.
// Method: owners of a model of RADOS follow each other. Each one is cut off while the object of a new file is on its way.
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/rados/rados_names.h"
#include "tests/io/io_test_support.h"
#include "tests/support/rados_machine.h"

namespace varve::io::rados_formers_test {
namespace {

using test::RadosMachine;
using test::RadosProgram;

/// A door of a user who may not blocklist.
class DoorWithoutBlocklists final : public ObjectDoor {
 public:
  explicit DoorWithoutBlocklists(std::unique_ptr<ObjectDoor> door) : door_(std::move(door)) {}
  std::string client() const override { return door_->client(); }
  ObjectAnswer change(const ObjectChange& change) override { return door_->change(change); }
  std::unique_ptr<SentChange> send(const ObjectChange& change) override { return door_->send(change); }
  ObjectAnswer look(std::string_view object, ObjectLook& found) override { return door_->look(object, found); }
  ObjectAnswer entries(std::string_view object, TextMap& found) override { return door_->entries(object, found); }
  ObjectAnswer read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes, std::size_t& count,
                    std::chrono::milliseconds patience) override {
    return door_->read(object, offset, bytes, count, patience);
  }
  ObjectAnswer blocklist(std::string_view /*client*/) override { return EACCES; }
  ObjectAnswer look_at_pool(std::string_view object, PoolLook& found) override {
    return door_->look_at_pool(object, found);
  }

 private:
  const std::unique_ptr<ObjectDoor> door_;
};

class RadosFormers : public testing::TestWithParam<std::uint64_t> {
 protected:
  RadosFormers() : machine_(GetParam()) { machine_.cluster.delay_blocklists(); }

  /// A new process takes the store from the owner, whatever that does.
  void take_over(std::unique_ptr<ObjectDoor> door = nullptr) {
    RadosOptions options;
    options.takeover_wait = false;
    options.renewal_time = std::chrono::hours(1);
    RadosProgram& program = machine_.start(options, std::move(door));
    clients_.push_back(program.door->client());
    ASSERT_TRUE(is_ok(program.files->create_directory(test::kRadosPath, {"test"})));
    Result<std::unique_ptr<Directory>> directory = program.files->open_directory(test::kRadosPath);
    ASSERT_TRUE(is_ok(directory));
    directories_.push_back(*std::move(directory));
    Result<std::unique_ptr<DirectoryLock>> lock =
        directories_.back()->lock("LOCK", LockMode::kExclusive, std::chrono::milliseconds(500));
    ASSERT_TRUE(is_ok(lock));
    locks_.push_back(*std::move(lock));
  }

  Directory& owned() { return *directories_.back(); }

  /// Cuts the owner off when the entry of a new file is there, and the object of the file is on its way.
  void leave_late(std::string_view name) {
    machine_.cluster.cut_off(clients_.back(), 1, 1);
    EXPECT_FALSE(write_whole(owned(), name, bytes_of("x")).ok());
  }

  /// Returns the ids of files that have an object.
  std::vector<std::string> ids() {
    std::vector<std::string> found;
    for (const std::string& object : machine_.cluster.names()) {
      if (object.ends_with("/root") || object.ends_with("/lease")) continue;
      const std::size_t begin = object.find('/') + 1;
      found.push_back(object.substr(begin, object.rfind('.') - begin));
    }
    return found;
  }

  std::string formers() {
    ObjectLook root;
    EXPECT_EQ(machine_.cluster.make_door()->look(root_object(test::kStoreName), root), 0);
    return root.attributes["formers"];
  }

  RadosMachine machine_;
  std::vector<std::string> clients_;
  std::vector<std::unique_ptr<Directory>> directories_;
  std::vector<std::unique_ptr<DirectoryLock>> locks_;
};

using Names = std::vector<std::string>;

TEST_P(RadosFormers, AThirdOwnerAndAFourthKeepTheObjectsOfAllWhoseChangesMayArrive) {
  take_over();
  leave_late("a");
  take_over();
  leave_late("b");
  take_over();
  EXPECT_EQ(names_in(owned()), (Names{"a", "b"}));
  ASSERT_TRUE(is_ok(owned().remove("a")));
  ASSERT_TRUE(is_ok(owned().remove("b")));
  take_over();
  EXPECT_EQ(ids(), (Names{"1.1", "2.1"})) << "each is sealed";
  EXPECT_EQ(machine_.cluster.deliver(clients_[0], 1), 0U);
  EXPECT_EQ(machine_.cluster.deliver(clients_[1], 1), 0U);
  EXPECT_EQ(ids(), (Names{"1.1", "2.1"}));
  EXPECT_EQ(machine_.strays(), Names());
  EXPECT_EQ(names_in(owned()), Names());

  // When the blocklists have their effect, the next removal finds that.
  machine_.cluster.delay_blocklists(0);
  ASSERT_TRUE(is_ok(write_whole(owned(), "c", bytes_of("y"))));
  ASSERT_TRUE(is_ok(owned().remove("c")));
  EXPECT_EQ(ids(), Names());
  EXPECT_EQ(formers(), "1 " + clients_[0] + "\n2 " + clients_[1] + "\n3 " + clients_[2] + "\n");
  take_over();
  EXPECT_EQ(formers(), "4 " + clients_[3] + "\n") << "of the others, the root names nothing";
}

TEST_P(RadosFormers, OneWhoseChangesMayArriveIsNotForgottenWhenItsSuccessorLetsGo) {
  take_over();
  leave_late("a");
  take_over();
  ASSERT_TRUE(is_ok(owned().remove("a")));
  locks_.back().reset();
  take_over();
  EXPECT_EQ(ids(), Names{"1.1"});
  EXPECT_EQ(machine_.cluster.deliver(clients_[0], 1), 0U);
  EXPECT_EQ(machine_.strays(), Names());
  locks_.back().reset();
  machine_.cluster.delay_blocklists(0);
  take_over();
  EXPECT_EQ(ids(), Names());
}

TEST_P(RadosFormers, AFileThatTwoOwnersKeptIsAlsoSafe) {
  take_over();
  leave_late("a");
  take_over();
  take_over();
  ASSERT_TRUE(is_ok(owned().remove("a")));
  EXPECT_EQ(machine_.cluster.deliver(clients_[0], 1), 0U);
  EXPECT_EQ(ids(), Names{"1.1"});
  EXPECT_EQ(machine_.strays(), Names());
}

// Otherwise the objects would stay for good.
TEST_P(RadosFormers, WithoutTheRightToBlocklistTheOwnerAfterTheNextRemovesTheObjects) {
  take_over();
  leave_late("a");
  take_over(std::make_unique<DoorWithoutBlocklists>(machine_.cluster.make_door()));
  ASSERT_TRUE(is_ok(owned().remove("a")));
  EXPECT_EQ(ids(), Names{"1.1"});
  take_over(std::make_unique<DoorWithoutBlocklists>(machine_.cluster.make_door()));
  EXPECT_EQ(ids(), Names());
}

TEST_P(RadosFormers, ARootWithOnesThatCannotBeReadIsDamaged) {
  take_over();
  locks_.back().reset();
  const std::unique_ptr<ObjectDoor> door = machine_.cluster.make_door();
  for (const char* const text : {"1", "1 client", "x client\n", "1 client\n\n"}) {
    SCOPED_TRACE(text);
    ObjectChange change;
    change.object = root_object(test::kStoreName);
    change.epoch = 1;
    change.attributes["formers"] = text;
    ASSERT_EQ(door->change(change), 0);
    EXPECT_TRUE(
        fails_with(owned().lock("LOCK", LockMode::kExclusive, std::chrono::milliseconds(0)), Code::kCorruption));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RadosFormers, testing::Range(std::uint64_t{1}, std::uint64_t{4}));

}  // namespace
}  // namespace varve::io::rados_formers_test
