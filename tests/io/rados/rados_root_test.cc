// Goal: a root that is not as its owner left it, or an object that the cluster lost, ends in an error that names the cause.
// Nothing of another store is changed.
// Method: a raw client of a model of RADOS changes or removes objects beside the owner. Threads and time follow a seed.
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/io/io_test_support.h"
#include "tests/support/rados_machine.h"

namespace varve::io::rados_root_test {
namespace {

using std::chrono::milliseconds;
using test::RadosMachine;
using test::RadosProgram;

constexpr SyncPoint kPoint{"test"};

class RadosRootTest : public testing::Test {
 protected:
  std::unique_ptr<Directory> open(RadosProgram& program) {
    EXPECT_TRUE(is_ok(program.files->create_directory(test::kRadosPath, kPoint)));
    Result<std::unique_ptr<Directory>> directory = program.files->open_directory(test::kRadosPath);
    EXPECT_TRUE(is_ok(directory));
    return directory.ok() ? *std::move(directory) : nullptr;
  }
  static Result<std::unique_ptr<DirectoryLock>> lock(Directory& directory) {
    return directory.lock("LOCK", LockMode::kExclusive, milliseconds(500));
  }
  void rest(milliseconds time) {
    Mutex mutex(machine_.scheduler());
    Condition never(machine_.scheduler());
    const MutexGuard guard(mutex);
    (void)never.wait_for(mutex, time);
  }

  /// Removes an object as no owner does.
  void lose(const std::string& object) {
    ObjectChange removal;
    removal.object = object;
    removal.epoch = 1000;
    removal.removes = true;
    ASSERT_EQ(raw_->change(removal), 0) << object;
  }
  void lose_root() { lose(root_object(test::kStoreName)); }
  /// Returns the objects of files whose name ends so.
  std::string object_of_file(const std::string& end) {
    for (const std::string& object : machine_.cluster.names()) {
      if (object.ends_with(end)) return object;
    }
    return "none";
  }
  /// Changes the root as its last owner does.
  void change_root(ObjectChange change) {
    ObjectLook look;
    change.object = root_object(test::kStoreName);
    ASSERT_EQ(raw_->look(change.object, look), 0);
    change.epoch = *parse_number(look.attributes["epoch"]);
    ASSERT_EQ(raw_->change(change), 0);
  }
  std::string root_text() {
    ObjectLook look;
    TextMap entries;
    EXPECT_EQ(raw_->look(root_object(test::kStoreName), look), 0);
    EXPECT_EQ(raw_->entries(root_object(test::kStoreName), entries), 0);
    std::string text;
    for (const auto& [name, value] : look.attributes) text.append(name).append("=").append(value).append(" ");
    for (const auto& [key, value] : entries) text.append(key).append(":").append(value).append(" ");
    return text;
  }

  RadosMachine machine_{1};
  const std::unique_ptr<ObjectDoor> raw_ = machine_.cluster.make_door();
};

/// A door at which something else happens between a look and its answer.
class SlowDoor final : public ObjectDoor {
 public:
  explicit SlowDoor(std::unique_ptr<ObjectDoor> door) noexcept : door_(std::move(door)) {}
  void after_next_look(std::function<void()> then) { then_ = std::move(then); }

  std::string client() const override { return door_->client(); }
  ObjectAnswer change(const ObjectChange& change) override { return door_->change(change); }
  std::unique_ptr<SentChange> send(const ObjectChange& change) override { return door_->send(change); }
  ObjectAnswer look(std::string_view object, ObjectLook& found) override {
    const ObjectAnswer answer = door_->look(object, found);
    if (const std::function<void()> then = std::exchange(then_, nullptr)) then();
    return answer;
  }
  ObjectAnswer entries(std::string_view object, TextMap& found) override { return door_->entries(object, found); }
  ObjectAnswer read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes, std::size_t& count,
                    milliseconds patience) override {
    return door_->read(object, offset, bytes, count, patience);
  }
  ObjectAnswer blocklist(std::string_view client) override { return door_->blocklist(client); }
  ObjectAnswer look_at_pool(std::string_view object, PoolLook& found) override {
    return door_->look_at_pool(object, found);
  }

 private:
  const std::unique_ptr<ObjectDoor> door_;
  std::function<void()> then_;
};

TEST_F(RadosRootTest, AnAnswerThatComesAfterTheOwnerLetGoIsNoFence) {
  auto made = std::make_unique<SlowDoor>(machine_.cluster.make_door());
  SlowDoor& door = *made;
  RadosProgram& program = machine_.start({}, std::move(made));
  const std::unique_ptr<Directory> owned = open(program);
  auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  door.after_next_look([&] { owner->reset(); });
  EXPECT_TRUE(fails_with(owned->confirm_owner(), Code::kLocked));
  EXPECT_EQ(program.files->process().figures().fences, 0U);

  owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  door.after_next_look([&] {
    owner->reset();
    owner = lock(*owned);
  });
  EXPECT_TRUE(fails_with(owned->confirm_owner(), Code::kLocked));
  ASSERT_TRUE(is_ok(owner));
  EXPECT_TRUE(is_ok((*owner)->check())) << "the next ownership goes on";
}

using RadosRootLoss = RadosRootTest;

TEST_F(RadosRootLoss, AnObjectThatTheClusterLostFromALivingOwnerIsCorruptionThatNamesIt) {
  RadosProgram& program = machine_.start();
  const std::unique_ptr<Directory> owned = open(program);
  const auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  auto segment = owned->create_log_segment("1.wal", 2 * kSectorBytes);
  ASSERT_TRUE(is_ok(segment));
  auto manifest = owned->create("manifest");
  ASSERT_TRUE(is_ok(manifest));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(is_ok((*manifest)->append(bytes_of("edit"))));
    ASSERT_TRUE(is_ok((*manifest)->sync(kPoint)));
  }
  const std::string of_segment = object_of_file("/1.1.0");
  const std::string of_manifest = object_of_file("/1.2.0");
  lose(of_segment);
  lose(of_manifest);

  const AlignedBuffer sector = sectors_by_seed(1, kSectorBytes);
  EXPECT_TRUE(fails_with((*segment)->write(0, sector.bytes(), kPoint), Code::kCorruption, of_segment));
  ASSERT_TRUE(is_ok((*manifest)->append(bytes_of("edit"))));
  EXPECT_TRUE(fails_with((*manifest)->sync(kPoint), Code::kCorruption, of_manifest));
  EXPECT_EQ(object_of_file("/1.1.0"), "none") << "it is not made again";
  EXPECT_TRUE(is_ok((*owner)->check())) << "no other owner has come";
  EXPECT_EQ(program.files->process().figures().fences, 0U);
  EXPECT_TRUE(is_ok(write_whole(*owned, "other", bytes_of("x"))));
}

TEST_F(RadosRootLoss, AReadOfAnObjectThatTheClusterLostIsCorruptionThatNamesIt) {
  const std::unique_ptr<Directory> owned = open(machine_.start());
  const auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  ASSERT_TRUE(is_ok(write_whole(*owned, "a", bytes_of("content"))));
  const auto file = owned->open("a", ReadMode::kDirect);
  ASSERT_TRUE(is_ok(file));
  const std::string object = object_of_file("/1.1.0");
  lose(object);
  Bytes bytes(7);
  EXPECT_TRUE(fails_with((*file)->read_exactly(0, bytes), Code::kCorruption, object));
  EXPECT_TRUE(fails_with(read_whole(*owned, "a"), Code::kCorruption, object));
  EXPECT_TRUE(is_ok((*owner)->check())) << "no other owner has come";
  ASSERT_TRUE(is_ok(owned->remove("a")));
  EXPECT_TRUE(fails_with((*file)->read_exactly(0, bytes), ENOENT)) << "its owner has removed it";
}

TEST_F(RadosRootLoss, ALaterEpochInTheRootIsAFence) {
  RadosOptions options;
  options.takeover_wait = false;
  const std::unique_ptr<Directory> owned = open(machine_.start(options));
  const auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  auto segment = owned->create_log_segment("1.wal", 2 * kSectorBytes);
  ASSERT_TRUE(is_ok(segment));
  machine_.cluster.hold_blocklists();
  const std::unique_ptr<Directory> other = open(machine_.start(options));
  const auto successor = lock(*other);
  ASSERT_TRUE(is_ok(successor));
  lose(object_of_file("/1.1.0"));
  const AlignedBuffer sector = sectors_by_seed(1, kSectorBytes);
  EXPECT_TRUE(fails_with((*segment)->write(0, sector.bytes(), kPoint), Code::kFenced));
}

TEST_F(RadosRootLoss, ARootThatIsGoneIsNamedAndIsNotMadeAgain) {
  const std::unique_ptr<Directory> owned = open(machine_.start());
  const auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  lose_root();
  EXPECT_TRUE(fails_with(owned->confirm_owner(), Code::kCorruption, "store/root"));
  EXPECT_TRUE(fails_with(owned->create("a"), Code::kCorruption, "store/root"));
  EXPECT_TRUE(fails_with(owned->create("b"), Code::kCorruption, "store/root")) << "for good";
  EXPECT_EQ(object_of_file("/root"), "none");
}

// What a log that goes on acknowledged could never be found again. The handle asks the root every few seconds.
TEST_F(RadosRootLoss, ARootThatIsGoneEndsTheChangesOfObjectsWithinSecondsAndNoReads) {
  const std::unique_ptr<Directory> owned = open(machine_.start());
  const auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  auto segment = owned->create_log_segment("1.wal", 2 * kSectorBytes);
  ASSERT_TRUE(is_ok(segment));
  const std::shared_ptr<const Lease> lease = (*owner)->lease();
  const AlignedBuffer sector = sectors_by_seed(1, kSectorBytes);
  const auto read_for = [&](milliseconds time) {
    for (const auto end = machine_.clock.monotonic() + time; machine_.clock.monotonic() < end;) {
      rest(milliseconds(250));
      EXPECT_TRUE(is_ok(lease->check()));
    }
  };
  read_for(milliseconds(10'000));
  EXPECT_TRUE(is_ok((*segment)->write(0, sector.bytes(), kPoint)));
  lose_root();
  read_for(milliseconds(6'000));
  EXPECT_TRUE(fails_with((*segment)->write(kSectorBytes, sector.bytes(), kPoint), Code::kCorruption, "store/root"));
  const auto file = owned->open("1.wal", ReadMode::kDirect);
  ASSERT_TRUE(is_ok(file));
  Bytes bytes(kSectorBytes);
  EXPECT_TRUE(is_ok((*file)->read_exactly(0, bytes)));
}

// S5. The new store has the same epochs. Its id is another one.
TEST_F(RadosRootTest, S5AHandleOfAStoreThatWasRemovedChangesNothingOfItsSuccessorByName) {
  const std::unique_ptr<Directory> owned = open(machine_.start());
  const auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  ASSERT_TRUE(is_ok(write_whole(*owned, "kept", bytes_of("of the first"))));
  auto segment = owned->create_log_segment("1.wal", 2 * kSectorBytes);
  ASSERT_TRUE(is_ok(segment));
  lose_root();
  const std::unique_ptr<Directory> again = open(machine_.start());
  const auto owner_again = lock(*again);
  ASSERT_TRUE(is_ok(owner_again));
  ASSERT_EQ((*owner)->epoch(), (*owner_again)->epoch());
  ASSERT_TRUE(is_ok(write_whole(*again, "kept", bytes_of("of the second"))));
  const std::string root = root_text();

  EXPECT_TRUE(fails_with(owned->create("a"), Code::kFenced));
  EXPECT_TRUE(fails_with(owned->remove("kept"), Code::kFenced));
  EXPECT_TRUE(fails_with(owned->replace("CURRENT", {}, bytes_of("x"), kPoint), Code::kFenced));
  EXPECT_TRUE(fails_with((*segment)->cut(kSectorBytes, kPoint), Code::kFenced));
  EXPECT_TRUE(fails_with(owned->confirm_owner(), Code::kFenced));
  EXPECT_EQ(root_text(), root);
  EXPECT_EQ(*read_whole(*again, "kept"), bytes_of("of the second"));
  EXPECT_TRUE(is_ok(again->confirm_owner()));
}

// Between the two ownerships, another owner may have read what the file has, and removed it.
TEST_F(RadosRootTest, S1AFileOfAnEarlierOwnershipByTheSameHandleTakesNothing) {
  const std::unique_ptr<Directory> owned = open(machine_.start());
  auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  auto written = owned->create_log_segment("1.wal", 2 * kSectorBytes);
  auto cut = owned->create_log_segment("2.wal", 2 * kSectorBytes);
  auto fresh = owned->create("fresh");
  auto manifest = owned->create("manifest");
  ASSERT_TRUE(is_ok(written) && is_ok(cut) && is_ok(fresh) && is_ok(manifest));
  ASSERT_TRUE(is_ok((*manifest)->append(bytes_of("edit"))));
  ASSERT_TRUE(is_ok((*manifest)->sync(kPoint)));
  owner->reset();
  const auto again = lock(*owned);
  ASSERT_TRUE(is_ok(again));
  const std::string root = root_text();

  const AlignedBuffer sector = sectors_by_seed(1, kSectorBytes);
  EXPECT_TRUE(fails_with((*written)->write(0, sector.bytes(), kPoint), Code::kFenced));
  EXPECT_TRUE(fails_with((*cut)->cut(kSectorBytes, kPoint), Code::kFenced));
  for (WritableFile* const file : {fresh->get(), manifest->get()}) {
    EXPECT_TRUE(is_ok(file->append(bytes_of("late"))));
    EXPECT_TRUE(fails_with(file->sync(kPoint), Code::kFenced));
  }
  EXPECT_EQ(root_text(), root);
  EXPECT_EQ(*read_whole(*owned, "manifest"), bytes_of("edit"));
  EXPECT_TRUE(is_ok((*again)->check())) << "the present ownership goes on";
}

// The root compares the epoch by itself. The epochs of changes are a second guard, as they are of all other objects.
TEST_F(RadosRootTest, S2AFormerOwnerDoesNotChangeTheRootEvenIfThePoolIgnoresEpochs) {
  machine_.cluster.hold_blocklists();
  machine_.cluster.ignore_epochs();
  RadosOptions options;
  options.takeover_wait = false;
  options.renewal_time = std::chrono::hours(1);
  const std::unique_ptr<Directory> owned = open(machine_.start(options));
  auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  const std::unique_ptr<Directory> other = open(machine_.start(options));
  const auto successor = lock(*other);
  ASSERT_TRUE(is_ok(successor));
  const std::string root = root_text();
  EXPECT_TRUE(fails_with(owned->create("a"), Code::kFenced));
  owner->reset();
  EXPECT_EQ(root_text(), root) << "its end does not let the successor go";
}

TEST_F(RadosRootTest, AReadOfAnOwnerThatWasBlocklistedIsFenced) {
  RadosOptions options;
  options.takeover_wait = false;
  options.renewal_time = std::chrono::hours(1);
  RadosProgram& program = machine_.start(options);
  const std::unique_ptr<Directory> owned = open(program);
  const auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  ASSERT_TRUE(is_ok(write_whole(*owned, "a", bytes_of("content"))));
  const auto file = owned->open("a", ReadMode::kDirect);
  ASSERT_TRUE(is_ok(file));
  const std::unique_ptr<Directory> other = open(machine_.start(options));
  const auto successor = lock(*other);
  ASSERT_TRUE(is_ok(successor));
  Bytes bytes(7);
  EXPECT_TRUE(fails_with((*file)->read_exactly(0, bytes), Code::kFenced));
  EXPECT_TRUE(fails_with((*owner)->check(), Code::kFenced));
  EXPECT_EQ(program.files->process().figures().fences, 1U);
  EXPECT_TRUE(fails_with(program.files->open_directory(test::kRadosPath), Code::kFenced, "open another connection"));
}

// Nothing ends its lease: the new root does not name it.
TEST_F(RadosRootTest, S5AnOwnerThatIsReadLearnsThatItsStoreWasMadeAgain) {
  RadosProgram& program = machine_.start();
  const std::unique_ptr<Directory> owned = open(program);
  const auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  const std::shared_ptr<const Lease> lease = (*owner)->lease();
  const auto reads_for = [&](milliseconds time) {
    Status answered;
    const auto end = machine_.clock.monotonic() + time;
    while (answered.ok() && machine_.clock.monotonic() < end) {
      rest(milliseconds(250));
      answered = lease->check();
    }
    return answered;
  };
  EXPECT_TRUE(is_ok(reads_for(milliseconds(10'000))));
  lose_root();
  EXPECT_TRUE(is_ok(reads_for(milliseconds(10'000)))) << "it can still be read out";
  const std::unique_ptr<Directory> again = open(machine_.start());
  const auto owner_again = lock(*again);
  ASSERT_TRUE(is_ok(owner_again));
  EXPECT_TRUE(fails_with(reads_for(milliseconds(6'000)), Code::kFenced));
  EXPECT_EQ(program.files->process().figures().fences, 1U);
  EXPECT_TRUE(is_ok((*owner_again)->check()));
}

TEST_F(RadosRootTest, S5TheEndOfAHandleLeavesTheStoreThatWasMadeAgainItsOwner) {
  const std::unique_ptr<Directory> owned = open(machine_.start());
  auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  lose_root();
  const std::unique_ptr<Directory> again = open(machine_.start());
  const auto owner_again = lock(*again);
  ASSERT_TRUE(is_ok(owner_again));
  const std::string root = root_text();
  owner->reset();
  EXPECT_EQ(root_text(), root);
  EXPECT_TRUE(fails_with(lock(*owned), Code::kFenced, "made again"));
  EXPECT_EQ(root_text(), root);
}

TEST_F(RadosRootTest, S5AStandbyOfAStoreThatWasMadeAgainDoesNotTakeTheNewOne) {
  const std::unique_ptr<Directory> owned = open(machine_.start());
  const auto owner = lock(*owned);
  ASSERT_TRUE(is_ok(owner));
  RadosOptions options;
  options.owner_wait = std::chrono::hours(1);
  RadosProgram& second = machine_.start(options);
  Status waited;
  Thread standby = *machine_.scheduler().start("standby", [&] {
    const std::unique_ptr<Directory> directory = open(second);
    waited = lock(*directory).status();
  });
  rest(milliseconds(3000));
  lose_root();
  const std::unique_ptr<Directory> again = open(machine_.start());
  const std::string root = root_text();
  standby = Thread();
  EXPECT_TRUE(fails_with(waited, Code::kFenced, "the store was removed and made again"));
  EXPECT_EQ(root_text(), root);
}

TEST_F(RadosRootTest, ARootOfALaterFormatIsUnsupportedAndNamesBothFormats) {
  RadosProgram& program = machine_.start();
  const std::unique_ptr<Directory> opened = open(program);
  ObjectChange newer;
  newer.attributes["format"] = "2";
  change_root(std::move(newer));
  const std::string root = root_text();
  EXPECT_TRUE(fails_with(program.files->open_directory(test::kRadosPath), Code::kUnsupported, "format 2"));
  EXPECT_TRUE(is_ok(program.files->create_directory(test::kRadosPath, kPoint)));
  EXPECT_TRUE(fails_with(lock(*opened), Code::kUnsupported, "format 2")) << "it was opened before";
  EXPECT_EQ(root_text(), root);
}

TEST_F(RadosRootTest, AnObjectThatIsNoRootIsLeftAlone) {
  ObjectChange making;
  making.object = root_object(test::kStoreName);
  making.presence = ObjectChange::Presence::kMustBeAbsent;
  making.attributes["of"] = "another program";
  ASSERT_EQ(raw_->change(making), 0);
  RadosProgram& program = machine_.start();
  EXPECT_TRUE(is_ok(program.files->create_directory(test::kRadosPath, kPoint)));
  EXPECT_TRUE(fails_with(program.files->open_directory(test::kRadosPath), Code::kUnsupported,
                         "store/root is no root of a store"));
  EXPECT_EQ(root_text(), "of=another program ");
}

// A takeover that meets what it does not know ends the ownership that it began, and the next one does not wait.
TEST_F(RadosRootTest, AKeyOrAStateOfALaterBuildIsUnsupportedAtATakeover) {
  const std::pair<const char*, const char*> cases[] = {{"q/new", "1"}, {"n/a.sst", "z 1.2 3"}};
  for (const auto& [key, text] : cases) {
    SCOPED_TRACE(key);
    const std::unique_ptr<Directory> directory = open(machine_.start());
    ObjectChange adding;
    adding.entries[key] = text;
    change_root(std::move(adding));
    EXPECT_TRUE(fails_with(lock(*directory), Code::kUnsupported, key[0] == 'q' ? "q/new" : "the state z"));
    EXPECT_NE(root_text().find(std::string(key) + ":" + text), std::string::npos) << "it is kept";
    if (key[0] == 'n') {
      EXPECT_TRUE(fails_with(directory->list(), Code::kUnsupported, "the state z"));
    }
    ObjectChange removing;
    removing.entries_removed.push_back(key);
    change_root(std::move(removing));
    const auto began = machine_.clock.monotonic();
    const std::unique_ptr<Directory> next = open(machine_.start());
    EXPECT_TRUE(is_ok(lock(*next)));
    EXPECT_LT(machine_.clock.monotonic() - began, milliseconds(500));
  }
}

}  // namespace
}  // namespace varve::io::rados_root_test
