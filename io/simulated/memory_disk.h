// Owns: the whole state of an in-memory disk as a value: what is cached, what is durable, what is pending in between.
// Must never: hold locks, handles or threads; those are the file system's. A copy is a snapshot.
//
// Invariants
//   M1  cached = durable with all pending changes that are not in flight, save where a fault made them part.
//   M2  sequence numbers of pending changes are distinct and rise with time, over the whole disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/simulated/memory_content.h"
#include "varve/result.h"

namespace varve::io {

/// Zero names no file.
using FileId = std::uint64_t;

/// A change of one file that a power cut may take.
struct PendingWrite {
  std::uint64_t sequence = 0;
  std::uint64_t offset = 0;
  std::shared_ptr<const std::vector<std::byte>> bytes;  // null for a change of the size alone
  std::optional<std::uint64_t> resize_to;               // the size it sets; a write of bytes extends as needed
  bool in_flight = false;                               // the call has not returned, so the cache does not show it yet
  bool is_lost = false;                                 // the device never gets the bytes, though it says so
  std::optional<std::uint64_t> misdirected_to;          // of a lost one: where the device has put them

  /// Bytes covered: [offset, end_offset()).
  std::uint64_t end_offset() const noexcept { return offset + (bytes == nullptr ? 0 : bytes->size()); }
};

/// A change of one name in a directory that a power cut may take.
struct PendingName {
  std::uint64_t sequence = 0;
  std::string name;
  FileId file = 0;  // what the name stands for afterwards; zero: nothing
  bool in_flight = false;
};

class SharedPages;  // memory that a process has mapped (memory_state.h); only a running file system has any

struct FileState {
  MemoryContent cached;
  MemoryContent durable;
  std::vector<PendingWrite> pending;    // by sequence
  std::uint64_t reserved_bytes = 0;     // allocated, whether or not behind the end
  std::vector<MemoryContent> samples;   // shared memory: what it held at some earlier moments
  std::shared_ptr<SharedPages> mapped;  // shared memory: where the bytes are now, in place of `cached`
  bool is_shared_memory = false;
  std::uint64_t handle_count = 0;  // open in a running file system: kept though no name stands for it
};

struct DirectoryState {
  std::map<std::string, FileId, std::less<>> cached;
  std::map<std::string, FileId, std::less<>> durable;
  std::vector<PendingName> pending;  // by sequence
  bool is_durable = false;           // its own name
  bool in_flight = false;            // the call that makes it has not returned
};

/// A value; copies share all bytes. Not thread-safe, but copies are independent.
///
/// Files are named by their whole path, "/store/CURRENT", which is taken apart at its last '/'. The helpers see and
/// change what a process would read, and leave the files they touch with nothing pending.
class MemoryDisk {
 public:
  /// Empty but for the directories "/" and ".".
  MemoryDisk();

  /// In byte order. Empty for a directory that is not there.
  std::vector<std::string> file_names(std::string_view directory) const;
  bool contains(std::string_view path) const;
  /// Errors: kNotFound.
  Result<std::vector<std::byte>> read_file(std::string_view path) const;
  /// Errors: kNotFound.
  Result<std::uint64_t> file_size_bytes(std::string_view path) const;

  /// Makes or replaces the file, durably, and its directory if need be.
  void write_file(std::string_view path, std::span<const std::byte> bytes);
  void make_directory(std::string_view path);
  /// Errors: kNotFound.
  Status remove_file(std::string_view path);
  /// Makes the file shorter, or longer with zeros. Errors: kNotFound.
  Status truncate(std::string_view path, std::uint64_t size_bytes);
  /// Exclusive or of one byte with `mask`. Errors: kNotFound; kInvalidArgument (the file ends before `offset`).
  Status flip_bit(std::string_view path, std::uint64_t offset, std::byte mask);
  /// Makes `to` hold the same files as `from`, and no others. Errors: kNotFound.
  Status copy_directory(std::string_view from, std::string_view to);

  /// Makes all that is cached durable; what is in flight is dropped.
  void settle();
  /// Changes of files and names that a power cut may take, those in flight included.
  std::size_t pending_count() const noexcept;
  /// Whether a process would read the same from both. What is durable is not compared.
  bool same_content(const MemoryDisk& other) const;

  /// For the files of this room that share the state.
  struct State {
    std::map<FileId, FileState> files;
    std::map<std::string, DirectoryState, std::less<>> directories;  // by normal path
    FileId next_file = 1;
    std::uint64_t next_sequence = 1;
    std::uint64_t last_epoch = 0;  // of an exclusive lock
  };
  State& state() noexcept { return state_; }
  const State& state() const noexcept { return state_; }

 private:
  FileState* find(std::string_view path);
  const FileState* find(std::string_view path) const;

  State state_;
};

/// "/a//b/" and "a/./b" become "/a/b" and "a/b"; the root is "/", and "" is ".".
std::string normal_path(std::string_view path);

struct SplitPath {
  std::string directory;
  std::string name;
};
/// At the last '/' of the normal path: "/store/CURRENT" is ("/store", "CURRENT"), "x" is (".", "x").
SplitPath split_path(std::string_view path);

/// Applies a pending change to `content`, as the device does it: the bytes are left out where they are lost.
void apply(const PendingWrite& write, MemoryContent& content);

/// Makes a file that no name stands for yet.
FileId make_file(MemoryDisk::State& state);

/// Frees the files that no name stands for, now or after any power cut, and that no handle keeps.
void forget_nameless_files(MemoryDisk::State& state);

}  // namespace varve::io
