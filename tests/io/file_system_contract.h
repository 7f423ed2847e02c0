// Owns: the fixtures of the contract suite: an empty directory `store` in each file system.
// Must never: treat implementations differently. The layers above rely on what the suite shows. What only a directory of one
// machine promises has a fixture of its own.
#pragma once

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "io/env.h"
#include "io/posix/posix_file_system.h"
#include "io/rados/librados_door.h"
#include "io/rados/rados_file_system.h"
#include "io/simulated/memory_file_system.h"
#include "io/simulated/object_cluster.h"
#include "io/uring/uring_file_system.h"
#include "tests/io/io_test_support.h"
#include "tests/io/temporary_directory.h"

namespace varve::io {

inline constexpr SyncPoint kPoint{"contract test"};
inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// A file system with an empty directory in it.
struct World {
  virtual ~World() = default;
  virtual FileSystem& files() = 0;
  virtual std::string root() const = 0;
  virtual std::string path_of(const std::string& child) const {
    const std::string parent = root();
    return parent.ends_with('/') ? parent + child : parent + "/" + child;
  }
  /// Makes the caller the owner of the directory, where a change needs one.
  virtual Status own(Directory& /*directory*/) { return Status(); }
};

struct PosixWorld final : World {
  FileSystem& files() override { return file_system; }
  std::string root() const override { return temporary.path(); }
  TemporaryDirectory temporary;
  PosixFileSystem file_system;
};

/// If io_uring is refused, this tests the fallback.
struct UringWorld final : World {
  FileSystem& files() override { return file_system; }
  std::string root() const override { return temporary.path(); }
  TemporaryDirectory temporary;
  UringFileSystem file_system;
};

struct MemoryWorld final : World {
  FileSystem& files() override { return file_system; }
  std::string root() const override { return "/"; }
  MemoryFileSystem file_system;
};

/// A store of objects, which its owner alone changes. A lease of it is asked for nothing here.
struct ObjectWorld : World {
  FileSystem& files() override { return *file_system; }
  Status own(Directory& directory) override {
    auto taken = directory.lock("LOCK", LockMode::kExclusive, std::chrono::milliseconds(0));
    if (taken.ok()) lock = *std::move(taken);
    return taken.status();
  }
  void begin(std::string_view pool) {
    RadosOptions options;
    options.takeover_wait = false;
    const Env& system = system_env();
    file_system =
        std::make_unique<RadosFileSystem>(pool, *door, system.clock, system.random, system.scheduler, options);
  }
  std::unique_ptr<ObjectDoor> door;
  std::unique_ptr<RadosFileSystem> file_system;
  std::unique_ptr<DirectoryLock> lock;
};

struct ModelWorld final : ObjectWorld {
  ModelWorld() {
    cluster.repeat(20);
    door = cluster.make_door();
    begin("pool");
  }
  ~ModelWorld() override {
    lock.reset();
    file_system.reset();
    door.reset();
  }
  std::string root() const override { return "rados:pool"; }
  Scheduler scheduler;
  ObjectCluster cluster{scheduler, 3};
};

/// A cluster that VARVE_CEPH_POOL names a pool of.
struct ClusterWorld final : ObjectWorld {
  explicit ClusterWorld(std::string pool_name) : pool(std::move(pool_name)) {}
  std::string root() const override { return "rados:" + pool; }
  std::string path_of(const std::string& child) const override { return root() + "/" + prefix + child; }
  const std::string pool;
  const std::string prefix = "contract-" + std::to_string(system_env().random.next()) + "-";
};

/// Returns null if no variable names a pool.
inline std::unique_ptr<World> make_cluster_world() {
  const char* const pool = std::getenv("VARVE_CEPH_POOL");
  if (pool == nullptr) return nullptr;
  auto world = std::make_unique<ClusterWorld>(pool);
  Result<std::unique_ptr<ObjectDoor>> door = connect_to_pool(pool);
  EXPECT_TRUE(is_ok(door));
  if (!door.ok()) return nullptr;
  world->door = *std::move(door);
  world->begin(pool);
  return world;
}

/// A parameter of the suite.
struct Implementation {
  const char* name;
  std::unique_ptr<World> (*make)();
  const char* file_system = name;
};

template <typename W>
std::unique_ptr<World> make_world() {
  return std::make_unique<W>();
}

/// What every file system promises to the owner of a directory.
class FileSystemContract : public testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override {
    world_ = GetParam().make();
    if (world_ == nullptr) GTEST_SKIP() << "VARVE_CEPH_POOL names no pool of a cluster";
    path_ = child_path("store");
    ASSERT_TRUE(is_ok(files().create_directory(path_, kPoint)));
    directory_ = open_again();
    ASSERT_NE(directory_, nullptr);
    ASSERT_TRUE(is_ok(world_->own(*directory_)));
  }

  FileSystem& files() { return world_->files(); }
  Directory& directory() { return *directory_; }
  const std::string& path() const { return path_; }
  std::string child_path(const std::string& name) const { return world_->path_of(name); }

  std::unique_ptr<Directory> open_again() {
    Result<std::unique_ptr<Directory>> opened = files().open_directory(path_);
    EXPECT_TRUE(is_ok(opened));
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  std::unique_ptr<LogSegment> make_segment(std::string_view name, std::uint64_t bytes) {
    Result<std::unique_ptr<LogSegment>> made = directory().create_log_segment(name, bytes);
    EXPECT_TRUE(is_ok(made));
    return made.ok() ? *std::move(made) : nullptr;
  }

  void expect_content(std::string_view name, const Bytes& expected) {
    for (const ReadMode mode : {ReadMode::kCached, ReadMode::kDirect}) {
      const Result<Bytes> content = read_whole(directory(), name, mode);
      ASSERT_TRUE(is_ok(content));
      EXPECT_EQ(content->size(), expected.size());
      EXPECT_TRUE(*content == expected) << "the bytes of " << name << " differ";
    }
  }

 private:
  std::unique_ptr<World> world_;
  std::string path_;
  std::unique_ptr<Directory> directory_;
};

/// What a directory of one machine promises besides: directories in it, links, several handles that change it, memory that
/// outlives a process, bytes that were appended and not synced, and files that stay for their handles.
class LocalFileSystemContract : public FileSystemContract {};

inline auto every_file_system() {
  return testing::Values(
      Implementation{"posix", &make_world<PosixWorld>}, Implementation{"io_uring", &make_world<UringWorld>},
      Implementation{"memory", &make_world<MemoryWorld>}, Implementation{"rados", &make_world<ModelWorld>},
      Implementation{"librados", &make_cluster_world, "rados"});
}

inline auto every_local_file_system() {
  return testing::Values(Implementation{"posix", &make_world<PosixWorld>},
                         Implementation{"io_uring", &make_world<UringWorld>},
                         Implementation{"memory", &make_world<MemoryWorld>});
}

}  // namespace varve::io
