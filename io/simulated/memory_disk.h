// Owns: the whole state of an in-memory disk as a value: its cached, its durable and its pending changes.
// Must never: contain locks, handles or threads, which belong to the file system. A copy is a snapshot.
//
// Invariants
//   M1  cached = durable with all pending changes that are not in flight, except if a fault made them differ.
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

/// A file's number. Zero means no file.
using FileId = std::uint64_t;

/// A change of one file that a power cut may lose.
struct PendingWrite {
  std::uint64_t sequence = 0;
  std::uint64_t offset = 0;
  std::shared_ptr<const std::vector<std::byte>> bytes;  // null if only the size changes
  std::optional<std::uint64_t> resize_to;               // the new size; a write of bytes extends as needed
  bool in_flight = false;                               // the call has not returned; the cache does not show the change
  bool is_lost = false;                                 // the device never gets the bytes, but reports success
  std::optional<std::uint64_t> misdirected_to;          // for a lost write: the place where the device put the bytes

  /// Returns the end of the covered bytes, [offset, end_offset()).
  std::uint64_t end_offset() const noexcept { return offset + (bytes == nullptr ? 0 : bytes->size()); }
};

/// A change of one name in a directory that a power cut may lose.
struct PendingName {
  std::uint64_t sequence = 0;
  std::string name;
  FileId file = 0;  // the file that the name has afterwards; zero: none
  bool in_flight = false;
};

class SharedPages;  // memory that a process has mapped (memory_state.h); only in a running file system

struct FileState {
  MemoryContent cached;
  MemoryContent durable;
  std::vector<PendingWrite> pending;    // by sequence
  std::uint64_t reserved_bytes = 0;     // allocated, even past the end
  std::vector<MemoryContent> samples;   // shared memory: its content at some earlier moments
  std::shared_ptr<SharedPages> mapped;  // shared memory: its present bytes, in place of `cached`
  bool is_shared_memory = false;
  std::uint64_t handle_count = 0;  // open handles in a running file system; they keep a file without a name
};

struct DirectoryState {
  std::map<std::string, FileId, std::less<>> cached;
  std::map<std::string, FileId, std::less<>> durable;
  std::vector<PendingName> pending;  // by sequence
  bool is_durable = false;           // the directory's own name
  bool in_flight = false;            // the call that creates it has not returned
};

/// A value; copies share all bytes. Not thread-safe, but copies are independent.
///
/// Files are named by their whole path, for example "/store/CURRENT", which is split at its last '/'. The functions
/// below read and change the content that a process would read. They leave the files that they change without pending
/// changes.
class MemoryDisk {
 public:
  /// Makes an empty disk with the directories "/" and ".".
  MemoryDisk();

  /// Returns the names in byte order. Returns none if the directory does not exist.
  std::vector<std::string> file_names(std::string_view directory) const;
  bool contains(std::string_view path) const;
  /// Errors: kNotFound.
  Result<std::vector<std::byte>> read_file(std::string_view path) const;
  /// Errors: kNotFound.
  Result<std::uint64_t> file_size_bytes(std::string_view path) const;

  /// Creates or replaces the file durably, and its directory if needed.
  void write_file(std::string_view path, std::span<const std::byte> bytes);
  void make_directory(std::string_view path);
  /// Errors: kNotFound.
  Status remove_file(std::string_view path);
  /// Shortens the file, or extends it with zeros. Errors: kNotFound.
  Status truncate(std::string_view path, std::uint64_t size_bytes);
  /// Applies an exclusive or with `mask` to one byte. Errors: kNotFound; kInvalidArgument (the file ends before
  /// `offset`).
  Status flip_bit(std::string_view path, std::uint64_t offset, std::byte mask);
  /// Makes `to` contain the same files as `from`, and no others. Errors: kNotFound.
  Status copy_directory(std::string_view from, std::string_view to);

  /// Makes all cached content durable. Changes in flight are dropped.
  void settle();
  /// Returns the number of changes of files and names that a power cut may lose, including those in flight.
  std::size_t pending_count() const noexcept;
  /// Returns whether a process would read the same content from both. Durable content is not compared.
  bool same_content(const MemoryDisk& other) const;

  /// For the files of this directory that share the state.
  struct State {
    std::map<FileId, FileState> files;
    std::map<std::string, DirectoryState, std::less<>> directories;  // by normal path
    FileId next_file = 1;
    std::uint64_t next_sequence = 1;
    std::uint64_t last_epoch = 0;  // the last epoch of an exclusive lock
  };
  State& state() noexcept { return state_; }
  const State& state() const noexcept { return state_; }

 private:
  FileState* find(std::string_view path);
  const FileState* find(std::string_view path) const;

  State state_;
};

/// Normalizes a path. "/a//b/" and "a/./b" become "/a/b" and "a/b". The root is "/", and "" becomes ".".
std::string normal_path(std::string_view path);

struct SplitPath {
  std::string directory;
  std::string name;
};
/// Splits at the last '/' of the normal path: "/store/CURRENT" gives ("/store", "CURRENT"), "x" gives (".", "x").
SplitPath split_path(std::string_view path);

/// Applies a pending change to `content` as the device does: lost bytes are not written.
void apply(const PendingWrite& write, MemoryContent& content);

/// Creates a file that has no name yet.
FileId make_file(MemoryDisk::State& state);

/// Frees the files that have no handle, and no name now or after any power cut.
void forget_nameless_files(MemoryDisk::State& state);

}  // namespace varve::io
