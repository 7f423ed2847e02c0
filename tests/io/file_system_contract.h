// Owns: the fixture of the contract suite: an empty directory `store` in each file system.
// Must never: treat implementations differently. The layers above rely on what the suite shows.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "io/posix/posix_file_system.h"
#include "io/simulated/memory_file_system.h"
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

/// A parameter of the suite.
struct Implementation {
  const char* name;
  std::unique_ptr<World> (*make)();
};

template <typename W>
std::unique_ptr<World> make_world() {
  return std::make_unique<W>();
}

class FileSystemContract : public testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override {
    world_ = GetParam().make();
    path_ = child_path("store");
    ASSERT_TRUE(is_ok(files().create_directory(path_, kPoint)));
    directory_ = open_again();
    ASSERT_NE(directory_, nullptr);
  }

  FileSystem& files() { return world_->files(); }
  Directory& directory() { return *directory_; }
  const std::string& path() const { return path_; }
  std::string child_path(const std::string& name) const {
    const std::string root = world_->root();
    return root.ends_with('/') ? root + name : root + "/" + name;
  }

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

}  // namespace varve::io
