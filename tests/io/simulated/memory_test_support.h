// Owns: the shared parts of the tests of the in-memory file system: a store's directory, and short functions for files.
// Must never: sync data unless the test asked for it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "io/aligned_buffer.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "tests/io/io_test_support.h"

namespace varve::io {

inline std::string text_of(const Bytes& bytes) {
  return bytes.empty() ? std::string() : std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// Returns the file's bytes as text, or "<absent>" if there is no such file.
inline std::string text_in(const MemoryDisk& disk, std::string_view path) {
  const Result<Bytes> bytes = disk.read_file(path);
  return bytes.ok() ? text_of(*bytes) : "<absent>";
}

/// A file system with the durable, open directory /store.
class MemoryMachine {
 public:
  MemoryMachine() : MemoryMachine(MemoryDisk()) {}
  explicit MemoryMachine(MemoryDisk disk) : files_(std::move(disk)) { open(); }
  explicit MemoryMachine(Scheduler& scheduler, MemoryDisk disk = MemoryDisk()) : files_(scheduler, std::move(disk)) {
    open();
  }

  MemoryFileSystem& files() { return files_; }
  Directory& store() { return *store_; }

  std::unique_ptr<Directory> open_again() {
    Result<std::unique_ptr<Directory>> opened = files_.open_directory("/store");
    EXPECT_TRUE(is_ok(opened));
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  std::unique_ptr<WritableFile> create(std::string_view name) {
    Result<std::unique_ptr<WritableFile>> made = store().create(name);
    EXPECT_TRUE(is_ok(made));
    return made.ok() ? *std::move(made) : nullptr;
  }

  std::unique_ptr<LogSegment> create_segment(std::string_view name, std::uint64_t bytes) {
    Result<std::unique_ptr<LogSegment>> made = store().create_log_segment(name, bytes);
    EXPECT_TRUE(is_ok(made));
    return made.ok() ? *std::move(made) : nullptr;
  }

  /// Writes a file with this content, and syncs it with its name.
  void write_durably(std::string_view name, std::string_view text) {
    const std::unique_ptr<WritableFile> file = create(name);
    EXPECT_TRUE(is_ok(file->append(bytes_of(text))));
    EXPECT_TRUE(is_ok(file->sync(kTestPoint)));
    EXPECT_TRUE(is_ok(store().sync(kTestPoint)));
  }

 private:
  void open() {
    EXPECT_TRUE(is_ok(files_.create_directory("/store", kTestPoint)));
    store_ = open_again();
  }

  MemoryFileSystem files_;
  std::unique_ptr<Directory> store_;
};

/// Returns the different results of `look` on the disk after a power cut, over many seeds.
template <typename Look>
auto outcomes(const MemoryDisk& disk, CrashPolicy policy, Look look, std::uint64_t seed_count = 200) {
  std::set<decltype(look(disk))> seen;
  for (std::uint64_t seed = 0; seed < seed_count; ++seed) {
    SeededRandom random(seed);
    seen.insert(look(crash_image(disk, policy, random)));
  }
  return seen;
}

/// Returns a `look` at one file for outcomes().
inline auto file_text(std::string path) {
  return [path = std::move(path)](const MemoryDisk& disk) { return text_in(disk, path); };
}

/// Calls `act` each time a step of this kind is at this moment.
inline Observer at(OperationKind kind, Moment moment, std::function<void()> act) {
  return [kind, moment, act = std::move(act)](const Operation& operation, Moment now) {
    if (operation.kind == kind && now == moment) act();
  };
}

}  // namespace varve::io
