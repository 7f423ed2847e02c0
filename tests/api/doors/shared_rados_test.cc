// Goal: of two connections of one process, one owns a store; a forked child of an owner gets Locked, and asks the cluster for
// nothing.
// Method: a model of RADOS with real threads. A door counts the calls. The child compares the count with its parent's.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/env.h"
#include "io/rados/rados_file_system.h"
#include "io/simulated/object_cluster.h"
#include "tests/api/store_bench.h"
#include "tests/io/child_process.h"
#include "tests/support/rados_machine.h"
#include "varve/async.h"
#include "varve/store.h"

namespace varve::shared_rados_test {
namespace {

using test::kAccount;
using test::kRadosPath;
using test::with_value;

constexpr unsigned kHangSeconds = 60;

class CountingDoor final : public io::ObjectDoor {
 public:
  explicit CountingDoor(std::unique_ptr<io::ObjectDoor> door) noexcept : door_(std::move(door)) {}
  std::uint64_t calls() const noexcept { return calls_.load(); }

  std::string client() const override { return counted().client(); }
  io::ObjectAnswer change(const io::ObjectChange& change) override { return counted().change(change); }
  std::unique_ptr<io::SentChange> send(const io::ObjectChange& change) override { return counted().send(change); }
  io::ObjectAnswer look(std::string_view object, io::ObjectLook& found) override {
    return counted().look(object, found);
  }
  io::ObjectAnswer entries(std::string_view object, io::TextMap& found) override {
    return counted().entries(object, found);
  }
  io::ObjectAnswer read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes, std::size_t& count,
                        std::chrono::milliseconds patience) override {
    return counted().read(object, offset, bytes, count, patience);
  }
  io::ObjectAnswer blocklist(std::string_view client) override { return counted().blocklist(client); }
  io::ObjectAnswer look_at_pool(std::string_view object, io::PoolLook& found) override {
    return counted().look_at_pool(object, found);
  }

 private:
  io::ObjectDoor& counted() const {
    ++calls_;
    return *door_;
  }

  const std::unique_ptr<io::ObjectDoor> door_;
  mutable std::atomic<std::uint64_t> calls_{0};
};

/// A connection of this process, as RadosConnection has one.
struct Connection {
  explicit Connection(io::ObjectCluster& cluster, io::RadosOptions options = {})
      : door(std::make_shared<CountingDoor>(cluster.make_door())),
        files("pool", *door, machine.clock, machine.random, machine.scheduler, options),
        env{files, machine.clock, machine.random, machine.scheduler} {}

  Result<std::unique_ptr<Store>> open(std::string_view path = kRadosPath) const {
    StoreOptions options;
    options.create_if_absent = true;
    options.env = &env;
    return Store::open(path, options);
  }

  const io::Env& machine = io::system_env();
  const std::shared_ptr<CountingDoor> door;
  io::RadosFileSystem files;
  const io::Env env;
};

TEST(SharedRados, OfTwoConnectionsOfAProcessOneOwnsAStore) {
  io::ObjectCluster cluster(io::system_env().scheduler, 1);
  const Connection first(cluster);
  const Connection second(cluster);
  Result<std::unique_ptr<Store>> store = first.open();
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  ASSERT_TRUE((*store)->create_account(kAccount).ok());
  EXPECT_EQ(first.open().code(), Code::kLocked);
  EXPECT_EQ(second.open().code(), Code::kLocked);
  EXPECT_TRUE(second.open("rados:pool/other").ok()) << "another store of the pool has an owner of its own";

  ASSERT_TRUE((*store)->close().ok());
  Result<std::unique_ptr<Store>> successor = second.open();
  ASSERT_TRUE(successor.ok()) << successor.status().to_string();
  EXPECT_EQ((*successor)->create_account(kAccount).code(), Code::kExists);
  EXPECT_EQ(first.open().code(), Code::kLocked);
}

TEST(SharedRados, AStoreIsOpenedByAnEnvironmentAlone) {
  const Result<std::unique_ptr<Store>> store = Store::open("rados:tables/shop", [] {
    StoreOptions options;
    options.create_if_absent = true;
    return options;
  }());
  EXPECT_EQ(store.code(), Code::kUnsupported);
  EXPECT_NE(store.status().message().find("varve/rados.h"), std::string_view::npos);
  EXPECT_EQ(Store::verify("rados:tables/shop").code(), Code::kUnsupported);
}

/// What a child does with what it inherited. Returns what it should not have got.
std::string use_in_child(std::unique_ptr<Connection>& connection, std::unique_ptr<Store>& store,
                         std::optional<Table>& table) {
  ::alarm(kHangSeconds);
  const std::shared_ptr<CountingDoor> door = connection->door;
  const std::uint64_t before = door->calls();
  std::string wrong;
  const auto expect_locked = [&wrong](const char* verb, Code code) {
    if (code != Code::kLocked) wrong += std::string(verb) + ": " + std::string(code_name(code)) + "; ";
  };
  expect_locked("get", table->get("p", "r").code());
  expect_locked("insert", table->insert(with_value("p", "child", "v")).code());
  expect_locked("scan", table->scan(Scan{}).code());
  expect_locked("async get", wait(AsyncTable(*table).get("p", "r")).code());
  expect_locked("snapshot", store->snapshot().code());
  expect_locked("compact", store->compact().code());
  expect_locked("open", connection->open().code());
  expect_locked("open another", connection->open("rados:pool/childs").code());
  expect_locked("make", connection->files.create_directory("rados:pool/childs", {"test"}).code());
  if (!store->close().ok()) wrong += "close; ";
  table.reset();
  store.reset();
  connection.reset();
  if (door->calls() != before) wrong += std::to_string(door->calls() - before) + " calls of the cluster; ";
  return wrong;
}

TEST(SharedRados, AForkedChildGetsLockedAndAsksTheClusterForNothing) {
  for (const bool verified : {false, true}) {
    io::ObjectCluster cluster(io::system_env().scheduler, 1);
    io::RadosOptions options;
    options.verified_reads = verified;
    auto connection = std::make_unique<Connection>(cluster, options);
    Result<std::unique_ptr<Store>> opened = connection->open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    std::unique_ptr<Store> store = *std::move(opened);
    ASSERT_TRUE(store->create_account(kAccount).ok());
    std::optional<Table> table(*store->create_table(kAccount, "Orders"));
    ASSERT_TRUE(table->insert(with_value("p", "r", "v")).ok());
    ASSERT_TRUE(wait(AsyncTable(*table).get("p", "r")).ok());
    EXPECT_EQ(io::in_child([&] { return use_in_child(connection, store, table); }), "");

    // The parent goes on.
    EXPECT_TRUE(table->insert(with_value("p", "s", "v")).ok());
    EXPECT_TRUE(table->get("p", "r").ok());
    table.reset();
    EXPECT_TRUE(store->close().ok());
  }
}

}  // namespace
}  // namespace varve::shared_rados_test
