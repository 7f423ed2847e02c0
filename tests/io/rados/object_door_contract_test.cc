// The contract of the door (io/rados/object_door.h), of the model and of a real cluster. The cluster is that of CEPH_CONF;
// VARVE_CEPH_POOL names a pool of it, and without that variable only the model is tested. tools/check-cluster sets both.
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/env.h"
#include "io/rados/librados_door.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/object_cluster.h"
#include "tests/io/io_test_support.h"

namespace varve::io::object_door_contract_test {
namespace {

using Presence = ObjectChange::Presence;

constexpr std::chrono::milliseconds kNoPatience{0};  // waits without end

std::span<const std::byte> bytes_view(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// All that one look at an object shows, as text.
std::string shown(ObjectDoor& door, const std::string& object) {
  ObjectLook look;
  if (const ObjectAnswer answer = door.look(object, look); answer != 0) return "answer " + std::to_string(answer);
  TextMap entries;
  std::vector<std::byte> bytes(look.size_bytes);
  std::size_t count = 0;
  EXPECT_EQ(door.entries(object, entries), 0);
  EXPECT_EQ(door.read(object, 0, bytes, count, kNoPatience), 0);
  EXPECT_EQ(count, bytes.size());
  std::string text(reinterpret_cast<const char*>(bytes.data()), count);
  for (const auto& [name, value] : look.attributes) text += "|" + name + "=" + value;
  for (const auto& [key, value] : entries) text += "|" + key + ":" + value;
  return text;
}

const char* pool_of_environment() {
  return std::getenv("VARVE_CEPH_POOL");
}

std::string drawn_prefix() {
  return "test-" + std::to_string(system_env().random.next()) + "/";
}

std::unique_ptr<ObjectDoor> real_door() {
  Result<std::unique_ptr<ObjectDoor>> door = connect_to_pool(pool_of_environment());
  EXPECT_TRUE(is_ok(door));
  return door.ok() ? *std::move(door) : nullptr;
}

class ObjectDoorContract : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == std::string("librados")) {
      if (pool_of_environment() == nullptr) GTEST_SKIP() << "VARVE_CEPH_POOL names no pool of a cluster";
      door_ = real_door();
      other_ = real_door();
    } else {
      door_ = cluster_.make_door();
      other_ = cluster_.make_door();
    }
    ASSERT_NE(door_, nullptr);
    ASSERT_NE(other_, nullptr);
  }

  std::string name(const std::string& object) const { return prefix_ + object; }
  ObjectChange setting(const std::string& object, std::uint64_t epoch, const std::string& value) const {
    ObjectChange change;
    change.object = name(object);
    change.epoch = epoch;
    change.attributes["value"] = value;
    return change;
  }
  ObjectChange making(const std::string& object, std::uint64_t epoch) const {
    ObjectChange change = setting(object, epoch, "made");
    change.presence = Presence::kMustBeAbsent;
    return change;
  }
  ObjectChange removing(const std::string& object, std::uint64_t epoch) const {
    ObjectChange change;
    change.object = name(object);
    change.epoch = epoch;
    change.removes = true;
    return change;
  }
  std::string value_of(const std::string& object) {
    ObjectLook found;
    return other_->look(name(object), found) == 0 ? found.attributes["value"] : "-";
  }

  void expect_object(const std::string& object, const std::string& expected) {
    EXPECT_EQ(shown(*other_, name(object)), expected);
  }

  Scheduler scheduler_;
  ObjectCluster cluster_{scheduler_, 1};
  std::unique_ptr<ObjectDoor> door_;
  std::unique_ptr<ObjectDoor> other_;
  const std::string prefix_ = drawn_prefix();
};

TEST_P(ObjectDoorContract, AChangeRequiresItsObjectAndItsEpoch) {
  EXPECT_EQ(door_->change(setting("a", 5, "1")), ENOENT);
  EXPECT_EQ(door_->change(making("a", 5)), 0);
  EXPECT_EQ(door_->change(making("a", 5)), EEXIST);
  EXPECT_EQ(door_->change(setting("a", 5, "1")), 0);
  EXPECT_EQ(other_->change(setting("a", 6, "2")), 0);
  EXPECT_EQ(door_->change(setting("a", 5, "3")), kStaleEpoch);
  EXPECT_EQ(door_->change(making("a", 5)), kStaleEpoch);
  EXPECT_EQ(door_->change(removing("a", 5)), kStaleEpoch);
  EXPECT_EQ(value_of("a"), "2");
  EXPECT_EQ(other_->change(removing("a", 6)), 0);
  EXPECT_EQ(door_->change(setting("a", 5, "4")), ENOENT);
  EXPECT_EQ(door_->change(removing("a", 5)), ENOENT);
  EXPECT_EQ(value_of("a"), "-");
}

TEST_P(ObjectDoorContract, EpochsAreWhollyKept) {
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 40;
  ASSERT_EQ(door_->change(making("a", kLarge + 1)), 0);
  EXPECT_EQ(other_->change(setting("a", kLarge, "2")), kStaleEpoch);
  EXPECT_EQ(other_->change(setting("a", 1, "2")), kStaleEpoch);
  EXPECT_EQ(other_->change(setting("a", kLarge + 2, "2")), 0);
  EXPECT_EQ(door_->change(removing("a", kLarge + 2)), 0);
}

TEST_P(ObjectDoorContract, AHintOfCompressedBytesChangesNoAnswer) {
  ObjectChange change = making("a", 5);
  const std::string text = "bytes";
  change.bytes = bytes_view(text);
  change.compressed_bytes_max = 4096;
  EXPECT_EQ(door_->change(change), 0);
  EXPECT_EQ(door_->change(change), EEXIST);
  change.object = name("b");
  EXPECT_EQ(door_->send(change)->await(), 0);
  expect_object("a", "bytes|value=made");
  expect_object("b", "bytes|value=made");
}

TEST_P(ObjectDoorContract, ASentChangeIsMadeAsOneThatWaits) {
  std::string text = "first";
  ObjectChange change = making("a", 5);
  change.bytes = bytes_view(text);
  const std::unique_ptr<SentChange> made = door_->send(change);
  text = "other";  // The door has a copy.
  EXPECT_EQ(door_->change(setting("a", 5, "1")), 0) << "it was sent later";
  EXPECT_EQ(made->await(), 0);
  EXPECT_EQ(made->await(), 0);
  std::vector<std::byte> bytes(9);
  std::size_t count = 0;
  ASSERT_EQ(other_->read(name("a"), 0, bytes, count, std::chrono::milliseconds(0)), 0);
  bytes.resize(count);
  EXPECT_EQ(bytes, bytes_of("first"));
  EXPECT_EQ(door_->send(making("a", 5))->await(), EEXIST);
  EXPECT_EQ(other_->send(setting("a", 4, "2"))->await(), kStaleEpoch);
  EXPECT_EQ(value_of("a"), "1");
  {
    std::vector<std::unique_ptr<SentChange>> sent;
    for (const char* const object : {"b", "c", "d"}) sent.push_back(door_->send(making(object, 5)));
    EXPECT_EQ(sent.back()->await(), 0);
  }
  for (const char* const object : {"b", "c"}) EXPECT_EQ(other_->change(setting(object, 5, "1")), 0);
}

TEST_P(ObjectDoorContract, ARefusedChangeRaisesNoEpoch) {
  ASSERT_EQ(door_->change(making("a", 1)), 0);
  ObjectChange refused = setting("a", 9, "2");
  refused.expected_attributes["value"] = "other";
  EXPECT_EQ(other_->change(refused), ECANCELED);
  EXPECT_EQ(door_->change(setting("a", 1, "1")), 0);
  EXPECT_EQ(door_->change(removing("a", 1)), 0);
}

TEST_P(ObjectDoorContract, AChangeHappensAsAWholeOrNotAtAll) {
  ObjectChange first = making("a", 1);
  first.entries = {{"n/one", "1"}, {"n/two", "2"}};
  first.bytes = bytes_view("0123456789");
  ASSERT_EQ(door_->change(first), 0);
  ObjectChange change = setting("a", 1, "new");
  change.expected_attributes = {{"value", "made"}, {"absent", "x"}};
  change.entries = {{"n/three", ""}};
  change.entries_removed = {"n/one", "n/none"};
  change.offset = 8;
  change.bytes = bytes_view("abc");
  EXPECT_EQ(door_->change(change), ECANCELED);
  expect_object("a", "0123456789|value=made|n/one:1|n/two:2");
  change.expected_attributes["absent"] = "";
  EXPECT_EQ(door_->change(change), 0);
  expect_object("a", "01234567abc|value=new|n/three:|n/two:2");
  EXPECT_EQ(door_->change(removing("a", 1)), 0);
}

TEST_P(ObjectDoorContract, AReadEndsWithTheObjectAndAGapIsZeros) {
  ObjectChange first = making("a", 1);
  first.offset = 6;
  first.bytes = bytes_view("end");
  first.attributes["empty"] = "";
  ASSERT_EQ(door_->change(first), 0);
  expect_object("a", std::string(6, '\0') + "end|empty=|value=made");
  std::vector<std::byte> bytes(4);
  std::size_t count = 99;
  EXPECT_EQ(door_->read(name("a"), 7, bytes, count, kNoPatience), 0);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(door_->read(name("a"), 9, bytes, count, kNoPatience), 0);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(door_->read(name("b"), 0, bytes, count, kNoPatience), ENOENT);
  EXPECT_EQ(door_->change(removing("a", 1)), 0);
}

TEST_P(ObjectDoorContract, AReadWithPatienceIsAnsweredAsOneWithout) {
  ObjectChange first = making("a", 1);
  first.bytes = bytes_view("bytes");
  ASSERT_EQ(door_->change(first), 0);
  std::vector<std::byte> bytes(4);
  std::size_t count = 99;
  constexpr std::chrono::minutes kMinute{1};
  EXPECT_EQ(door_->read(name("a"), 1, bytes, count, kMinute), 0);
  EXPECT_EQ(count, 4U);
  EXPECT_EQ(bytes[0], bytes_view("y")[0]);
  EXPECT_EQ(door_->read(name("b"), 0, bytes, count, kMinute), ENOENT);
  EXPECT_EQ(door_->change(removing("a", 1)), 0);
}

TEST_P(ObjectDoorContract, AChangeWithPatienceIsAnsweredAsOneWithout) {
  ObjectChange patient = making("a", 1);
  patient.may_exceed = true;
  patient.patience = std::chrono::minutes(1);
  EXPECT_EQ(door_->change(patient), 0);
  EXPECT_EQ(door_->change(patient), EEXIST);
  EXPECT_EQ(make_in_reserve(*other_, making("a", 2)), EEXIST);
  EXPECT_EQ(make_in_reserve(*other_, making("b", 2)), 0);
  expect_object("a", "|value=made");
  for (const char* const object : {"a", "b"}) EXPECT_EQ(other_->change(removing(object, 2)), 0);
}

TEST_P(ObjectDoorContract, ThePoolHasRoomAndCopies) {
  PoolLook pool;
  pool.is_full = true;
  ASSERT_EQ(door_->look_at_pool(name("a"), pool), 0) << "an object need not exist";
  EXPECT_FALSE(pool.is_full);
  EXPECT_GE(pool.copies_min, 1U);
  EXPECT_GE(pool.copies, pool.copies_min);
}

TEST_P(ObjectDoorContract, AnAbsentObjectShowsNothing) {
  ObjectLook found;
  TextMap entries;
  EXPECT_EQ(door_->look(name("a"), found), ENOENT);
  EXPECT_EQ(door_->entries(name("a"), entries), ENOENT);
}

TEST_P(ObjectDoorContract, EveryEntryOfALargeMapIsRead) {
  constexpr int kCount = 2500;  // more than a cluster gives in one answer
  ASSERT_EQ(door_->change(making("a", 1)), 0);
  ObjectChange adding;
  adding.object = name("a");
  adding.epoch = 1;
  for (int i = 0; i < kCount; ++i) adding.entries["n/" + std::to_string(i)] = std::to_string(i);
  ASSERT_EQ(door_->change(adding), 0);
  TextMap entries;
  ASSERT_EQ(other_->entries(name("a"), entries), 0);
  EXPECT_EQ(entries, adding.entries);
  EXPECT_EQ(door_->change(removing("a", 1)), 0);
}

TEST_P(ObjectDoorContract, ABlockedClientIsRefused) {
  ASSERT_EQ(door_->change(making("a", 1)), 0);
  EXPECT_NE(door_->client(), other_->client());
  ASSERT_EQ(door_->client().find(' '), std::string::npos) << "the root names it between spaces";
  // The map with the new entry reaches the servers some time later.
  ObjectAnswer blocked = EINPROGRESS;
  for (int i = 0; i < 100'000 && blocked == EINPROGRESS; ++i) {
    blocked = other_->blocklist(door_->client());
    EXPECT_EQ(other_->change(setting("a", 1, "1")), 0);
  }
  ASSERT_EQ(blocked, 0);
  EXPECT_EQ(door_->change(setting("a", 1, "2")), ESHUTDOWN);
  EXPECT_EQ(other_->change(removing("a", 1)), 0);
}

INSTANTIATE_TEST_SUITE_P(Every, ObjectDoorContract, testing::Values("model", "librados"),
                         [](const testing::TestParamInfo<const char*>& implementation) {
                           return std::string(implementation.param);
                         });

// -- The model against the cluster ------------------------------------------------------------------------------------

/// A change of one of three objects, by a seed. What it requires holds about every second time.
ObjectChange random_change(RandomSource& random, const std::string& prefix) {
  const auto draw = [&](std::uint64_t bound) { return random_below(random, bound); };
  ObjectChange change;
  change.object = prefix + std::to_string(draw(3));
  change.epoch = draw(6);
  change.may_exceed = draw(4) == 0;
  if (change.may_exceed && draw(2) == 0) change.patience = std::chrono::minutes(1);
  change.presence = draw(4) == 0 ? Presence::kMustBeAbsent : Presence::kMustExist;
  if (draw(4) == 0)
    change.expected_attributes["a" + std::to_string(draw(2))] = draw(4) == 0 ? "" : std::to_string(draw(2));
  if (change.presence == Presence::kMustExist && draw(5) == 0) {
    change.removes = true;
    return change;
  }
  // A change without any effect is none of a store's.
  change.attributes["a" + std::to_string(draw(2))] = draw(8) == 0 ? "" : std::to_string(draw(2));
  if (draw(2) == 0) change.entries["k" + std::to_string(draw(4))] = std::to_string(draw(9));
  if (draw(3) == 0) change.entries_removed.push_back("k" + std::to_string(draw(4)));
  if (draw(3) == 0) {
    static constexpr std::string_view kText = "abcdefghijklmnopqrstuvwxyz";
    change.offset = draw(40);
    change.bytes = bytes_view(kText.substr(0, 1 + draw(kText.size())));
  }
  return change;
}

/// Two clients of a cluster and two of the model, which are asked for the same.
struct Doors {
  explicit Doors(ObjectCluster& cluster, const std::unique_ptr<ObjectDoor> (&clients)[2])
      : real{clients[0].get(), clients[1].get()} {
    for (auto& door : model) door = cluster.make_door();
  }
  void expect_same(const ObjectChange& change, std::uint64_t client) {
    ASSERT_EQ(real[client]->change(change), model[client]->change(change));
    ASSERT_EQ(shown(*real[1], change.object), shown(*model[1], change.object));
  }
  ObjectDoor* const real[2];
  std::unique_ptr<ObjectDoor> model[2];
};

/// Runs a history, with an event in its middle. Then removes its objects.
template <typename Event>
void run_history(std::uint64_t seed, ObjectCluster& cluster, Doors& doors, const Event& happens) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRandom random(seed);
  const std::string prefix = "history-" + std::to_string(seed) + "/";
  const auto run_steps = [&](int count) {
    for (int step = 0; step < count && !testing::Test::HasFatalFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      const std::uint64_t client = random_below(random, 2);
      doors.expect_same(random_change(random, prefix), client);
    }
  };
  run_steps(50);
  happens();
  run_steps(50);
  ObjectChange removal;
  removal.removes = true;
  removal.epoch = 9;
  for (const std::string& object : cluster.names()) {
    removal.object = object;
    EXPECT_EQ(doors.real[1]->change(removal), 0);
  }
}

/// Waits until the cluster makes this change, or refuses it as full. Its map reaches the OSDs some time after the command.
void await_full(ObjectDoor& door, bool is_full) {
  ObjectChange making;
  making.object = drawn_prefix() + "probe";
  making.presence = Presence::kMustBeAbsent;
  ObjectChange removal;
  removal.object = making.object;
  removal.removes = true;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (bool was_full = !is_full; was_full != is_full;) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    was_full = is_full_answer(door.change(making));
    (void)door.change(removal);
  }
}

TEST(ObjectDoorHistories, TheModelAnswersAsTheClusterDoes) {
  if (pool_of_environment() == nullptr) GTEST_SKIP() << "VARVE_CEPH_POOL names no pool of a cluster";
  const char* const chosen = std::getenv("VARVE_CEPH_HISTORIES");
  const int count = chosen == nullptr ? 20 : std::atoi(chosen);
  Scheduler scheduler;
  const std::unique_ptr<ObjectDoor> real[2] = {real_door(), real_door()};
  ASSERT_TRUE(real[0] != nullptr && real[1] != nullptr);
  const std::uint64_t first = system_env().random.next() >> 16;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
    ObjectCluster cluster(scheduler, seed);
    Doors doors(cluster, real);
    run_history(seed, cluster, doors, [] {});
    if (HasFatalFailure()) return;
  }
}

// VARVE_CEPH_FILL and VARVE_CEPH_FREE are commands that let the cluster take its OSDs for full, and no longer.
TEST(ObjectDoorHistories, TheModelAnswersAsTheClusterDoesWhenThePoolIsFull) {
  const char* const fill = std::getenv("VARVE_CEPH_FILL");
  const char* const free = std::getenv("VARVE_CEPH_FREE");
  if (pool_of_environment() == nullptr || fill == nullptr || free == nullptr) {
    GTEST_SKIP() << "there is no cluster that may be full";
  }
  Scheduler scheduler;
  const std::unique_ptr<ObjectDoor> real[2] = {real_door(), real_door()};
  ASSERT_TRUE(real[0] != nullptr && real[1] != nullptr);
  const std::uint64_t first = system_env().random.next() >> 16;
  ObjectCluster cluster(scheduler, first);
  Doors doors(cluster, real);
  // Half of the steps before, and some histories whose objects exist or do not when the pool is full.
  run_history(first, cluster, doors, [&] {
    ASSERT_EQ(std::system(fill), 0);
    for (const auto& door : real) await_full(*door, true);
    cluster.set_full(true);
  });
  for (std::uint64_t seed = first + 1; seed < first + 5 && !HasFatalFailure(); ++seed) {
    ObjectCluster full(scheduler, seed);
    full.set_full(true);
    Doors again(full, real);
    run_history(seed, full, again, [] {});
  }
  ASSERT_EQ(std::system(free), 0);
  for (const auto& door : real) await_full(*door, false);
}

TEST(ObjectDoorHistories, TheModelAnswersAsTheClusterDoesWhenAClientIsBlocked) {
  if (pool_of_environment() == nullptr) GTEST_SKIP() << "VARVE_CEPH_POOL names no pool of a cluster";
  Scheduler scheduler;
  const std::unique_ptr<ObjectDoor> real[2] = {real_door(), real_door()};
  ASSERT_TRUE(real[0] != nullptr && real[1] != nullptr);
  const std::uint64_t seed = system_env().random.next() >> 16;
  ObjectCluster cluster(scheduler, seed);
  Doors doors(cluster, real);
  run_history(seed, cluster, doors, [&] {
    ObjectAnswer blocked = EINPROGRESS;
    for (int i = 0; i < 100'000 && blocked == EINPROGRESS; ++i) {
      blocked = real[1]->blocklist(real[0]->client());
      ObjectLook absent;
      EXPECT_EQ(real[1]->look("history-none", absent), ENOENT);  // Meanwhile the map comes.
    }
    ASSERT_EQ(blocked, 0);
    ASSERT_EQ(doors.model[1]->blocklist(doors.model[0]->client()), 0);
    // With an operation of the other client, the map with the entry reaches the OSD of each object.
    for (int i = 0; i < 3; ++i) {
      ObjectChange nothing;
      nothing.object = "history-" + std::to_string(seed) + "/" + std::to_string(i);
      nothing.epoch = 9;  // later than that of any change
      nothing.expected_attributes["none"] = "x";
      doors.expect_same(nothing, 1);
    }
  });
}

// VARVE_CEPH_HANG and VARVE_CEPH_GO_ON are commands that stop the cluster's OSDs and let them go on.
TEST(LibradosRead, IsGivenUpWhileItsOsdHangsAndIsAnsweredLater) {
  const char* const hang = std::getenv("VARVE_CEPH_HANG");
  const char* const go_on = std::getenv("VARVE_CEPH_GO_ON");
  if (pool_of_environment() == nullptr || hang == nullptr || go_on == nullptr) {
    GTEST_SKIP() << "there is no cluster whose OSDs may hang";
  }
  const std::unique_ptr<ObjectDoor> door = real_door();
  ASSERT_NE(door, nullptr);
  ObjectChange making;
  making.object = drawn_prefix() + "hung";
  making.presence = Presence::kMustBeAbsent;
  making.bytes = bytes_view("bytes");
  ASSERT_EQ(door->change(making), 0);
  std::vector<std::byte> bytes(5);
  std::size_t count = 99;
  ASSERT_EQ(std::system(hang), 0);
  constexpr std::chrono::milliseconds kPatience{700};
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(door->read(making.object, 0, bytes, count, kPatience), ETIMEDOUT);
  EXPECT_EQ(count, 0U);
  const auto time = std::chrono::steady_clock::now() - began;
  EXPECT_GE(time, kPatience);
  EXPECT_LT(time, kPatience + std::chrono::seconds(2));
  ASSERT_EQ(std::system(go_on), 0);
  EXPECT_EQ(door->read(making.object, 0, bytes, count, std::chrono::minutes(1)), 0);
  EXPECT_EQ(count, 5U);
  EXPECT_EQ(bytes[4], bytes_view("s")[0]);
  ObjectChange removal;
  removal.object = making.object;
  removal.removes = true;
  EXPECT_EQ(door->change(removal), 0);
}

}  // namespace
}  // namespace varve::io::object_door_contract_test
