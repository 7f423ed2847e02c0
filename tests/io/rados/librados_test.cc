// What the door to a real cluster does before there is one: the words of CEPH_ARGS, a missing client library, and the check
// of a pool, on the model.
#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "io/rados/librados_calls.h"
#include "io/rados/librados_connection.h"
#include "io/rados/librados_door.h"
#include "io/rados/librados_user.h"
#include "io/simulated/object_cluster.h"
#include "tests/io/child_process.h"
#include "tests/io/io_test_support.h"

namespace varve::io::librados_test {
namespace {

TEST(RadosUser, IsAdminUnlessAWordNamesAnother) {
  EXPECT_EQ(parse_rados_user("").name, "client.admin");
  EXPECT_EQ(parse_rados_user("  -m 10.0.0.1 --keyring /etc/shop.keyring ").name, "client.admin");
  EXPECT_EQ(parse_rados_user("").cluster, "ceph");
  EXPECT_EQ(parse_rados_user("").configuration, "");
}

TEST(RadosUser, IsThatOfTheWordsOfCephsCommands) {
  for (const char* const words :
       {"--id shop", "--id=shop", "-i shop", "--user shop", "--name client.shop", "--name=client.shop",
        "-n client.shop", "--id other\t--id shop", "-m host --id shop"}) {
    SCOPED_TRACE(words);
    EXPECT_EQ(parse_rados_user(words).name, "client.shop");
  }
  EXPECT_EQ(parse_rados_user("-c /etc/a.conf --cluster b").configuration, "/etc/a.conf");
  EXPECT_EQ(parse_rados_user("-c /etc/a.conf --cluster b").cluster, "b");
  EXPECT_EQ(parse_rados_user("--conf=/etc/a.conf").configuration, "/etc/a.conf");
}

TEST(RadosUser, AWordWithoutAValueCountsForNothing) {
  EXPECT_EQ(parse_rados_user("--id").name, "client.admin");
  EXPECT_EQ(parse_rados_user("--id=").name, "client.admin");
  EXPECT_EQ(parse_rados_user("--ids shop").name, "client.admin");
}

TEST(Librados, AMissingLibrarySaysWhatToInstall) {
  const auto loaded = load_librados("librados-that-is-absent.so.2");
  EXPECT_TRUE(fails_with(loaded, Code::kUnsupported, "librados-that-is-absent.so.2"));
  EXPECT_TRUE(fails_with(loaded, Code::kUnsupported, "install it: the package is librados2"));
  EXPECT_NE(loaded.status().hint().find("apt install librados2"), std::string::npos);
}

TEST(Librados, ALibraryWithoutTheFunctionsIsNamed) {
  EXPECT_TRUE(fails_with(load_librados("libc.so.6"), Code::kUnsupported, "libc.so.6, has no function rados_create2"));
}

/// The monitors of a library that is made up. They answer when `has_majority` has a value.
struct Monitors {
  std::shared_future<void> has_majority;
  std::mutex mutex;
  std::set<std::string> blocklisted;
};
Monitors* monitors = nullptr;

TEST(Librados, ABlocklistingDoesNotWaitForTheMonitorsAndTheEndOfTheDoorWaitsForEach) {
  Monitors silent;
  std::promise<void> majority;
  silent.has_majority = majority.get_future().share();
  monitors = &silent;
  LibradosCalls calls{};
  calls.blocklist_add = [](RadosCluster, char* client, std::uint32_t) {
    monitors->has_majority.wait();
    const std::lock_guard<std::mutex> guard(monitors->mutex);
    monitors->blocklisted.insert(client);
    return 0;
  };
  std::unique_ptr<ObjectDoor> door = make_librados_door(std::make_unique<LibradosConnection>(calls, "tables"));
  for (const char* const client : {"first", "second", "third"}) EXPECT_EQ(door->blocklist(client), EINPROGRESS);
  {
    const std::lock_guard<std::mutex> guard(silent.mutex);
    EXPECT_EQ(silent.blocklisted.size(), 0U);
  }
  majority.set_value();
  while (door->blocklist("first") == EINPROGRESS) std::this_thread::yield();
  EXPECT_EQ(door->blocklist("first"), 0);
  door.reset();
  EXPECT_EQ(silent.blocklisted, (std::set<std::string>{"first", "second", "third"}));
}

// No function of this library may be called: it has none.
TEST(Librados, AForkedChildCallsNothingOfTheLibrary) {
  std::unique_ptr<ObjectDoor> door =
      make_librados_door(std::make_unique<LibradosConnection>(LibradosCalls{}, "tables"));
  const std::string answers = in_child([&] {
    std::string wrong;
    const auto expect_refusal = [&wrong](const char* verb, ObjectAnswer answer) {
      if (answer != ENOTCONN) wrong += std::string(verb) + ": " + std::to_string(answer) + "; ";
    };
    ObjectChange change;
    change.object = "shop/root";
    ObjectLook look;
    TextMap entries;
    std::byte byte{};
    std::size_t count = 0;
    PoolLook pool;
    expect_refusal("change", door->change(change));
    expect_refusal("send", door->send(change)->await());
    expect_refusal("look", door->look(change.object, look));
    expect_refusal("entries", door->entries(change.object, entries));
    expect_refusal("read", door->read(change.object, 0, {&byte, 1}, count, std::chrono::milliseconds(0)));
    expect_refusal("read in time", door->read(change.object, 0, {&byte, 1}, count, std::chrono::milliseconds(1)));
    expect_refusal("blocklist", door->blocklist("client"));
    expect_refusal("look at the pool", door->look_at_pool(change.object, pool));
    door.reset();
    return wrong;
  });
  EXPECT_EQ(answers, "");
}

Status check_pool(void (*change)(ObjectCluster&)) {
  Scheduler scheduler;
  ObjectCluster cluster(scheduler, 1);
  change(cluster);
  const std::unique_ptr<ObjectDoor> door = cluster.make_door();
  Status checked = check_fence(*door, "tables", Status(Code::kForbidden, "a right is missing"));
  if (checked.ok()) {
    EXPECT_EQ(cluster.names(), std::vector<std::string>());
  }
  return checked;
}

TEST(PoolCheck, APoolThatKeepsTheRulesPassesEvenIfItIsFull) {
  EXPECT_TRUE(is_ok(check_pool([](ObjectCluster&) {})));
  EXPECT_TRUE(is_ok(check_pool([](ObjectCluster& cluster) { cluster.set_full(true); })));
}

TEST(PoolCheck, APoolThatLacksAHalfOfTheFenceIsRefused) {
  for (void (*const change)(ObjectCluster&) : {+[](ObjectCluster& cluster) { cluster.ignore_epochs(); },
                                               +[](ObjectCluster& cluster) { cluster.ignore_presence(); }}) {
    const Status refused = check_pool(change);
    EXPECT_TRUE(fails_with(refused, Code::kUnsupported, "the pool tables cannot hold a store"));
    EXPECT_NE(refused.hint().find("ceph osd pool create"), std::string::npos) << "it is not the store's format";
  }
}

TEST(PoolCheck, APoolWhoseObjectsMayNotHaveTheSizeOfALogSegmentIsRefused) {
  constexpr std::uint64_t kNeeded = std::uint64_t{64} << 20;
  Scheduler scheduler;
  ObjectCluster cluster(scheduler, 1);
  const std::unique_ptr<ObjectDoor> door = cluster.make_door();
  EXPECT_TRUE(is_ok(check_object_size(*door, "tables")));
  cluster.limit_objects(kNeeded);
  EXPECT_TRUE(is_ok(check_object_size(*door, "tables")));
  cluster.limit_objects(kNeeded - 1);
  EXPECT_TRUE(fails_with(check_object_size(*door, "tables"), Code::kUnsupported, "64 MiB"));
  cluster.set_full(true);
  cluster.limit_objects(kNeeded);
  EXPECT_TRUE(fails_with(check_object_size(*door, "tables"), Code::kNoSpace));
  EXPECT_EQ(cluster.names(), std::vector<std::string>());
}

}  // namespace
}  // namespace varve::io::librados_test
