// Owns: the text of addresses, of the objects' names and of the entries in a root.
// Must never: accept a text that it would not write itself. FORMAT.md describes them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::io {

/// Bytes of one object of a file that is written front to back.
inline constexpr std::uint64_t kStripeBytes = std::uint64_t{4} << 20;
/// How many objects of such a file may be on their way at once, before its first sync. So no object of it lies further
/// than that past the first that is missing.
inline constexpr std::uint64_t kStripesInFlight = 4;
/// How many bytes all files of a process may have on their way so, and how many its large reads. At 100 MiB in flight, the
/// library would let a write of the log wait.
inline constexpr std::uint64_t kStripeBytesOfProcess = 12 * kStripeBytes;
inline constexpr std::uint64_t kReadBytesOfProcess = 4 * kStripeBytes;
/// A read up to this size is not counted.
inline constexpr std::uint64_t kSmallReadBytes = std::uint64_t{128} << 10;
/// Limit of a segment, which is one object. RADOS refuses objects above this size.
inline constexpr std::uint64_t kObjectBytesMax = std::uint64_t{128} << 20;

/// A store's place in a cluster.
struct RadosAddress {
  std::string pool;
  std::string name;
};
/// Parses "rados:POOL/NAME". A name has 1 to 64 letters, digits, '-', '_' or '.'. So has a pool. Errors:
/// kInvalidArgument.
Result<RadosAddress> parse_rados_address(std::string_view text);
bool is_rados_address(std::string_view text) noexcept;

std::string root_object(std::string_view name);
std::string lease_object(std::string_view process);
/// Returns the name of one object of a file. `store` and `id` are those of the root.
std::string stripe_object(std::string_view store, std::string_view id, std::uint64_t stripe);

enum class FilePhase : char {
  kGrowing = 'g',     // is written front to back; its size is that of its objects
  kFinished = 'f',    // has its recorded size
  kSegment = 's',     // one object, of the recorded size; reads as zeros where nothing was written
  kCutSegment = 'c',  // the same, and is written no more
};

/// A file of a directory, as the root names it.
struct FileEntry {
  FilePhase phase = FilePhase::kGrowing;
  std::uint64_t epoch = 0;   // of the owner that made it
  std::uint64_t number = 0;  // distinct in the epoch (S5)
  std::uint64_t size_bytes = 0;

  std::string id() const;
  /// Returns the number of objects that a file of the recorded size has. A growing file may have more.
  std::uint64_t object_count() const noexcept {
    return is_segment() ? 1 : (size_bytes + kStripeBytes - 1) / kStripeBytes;
  }
  bool is_segment() const noexcept { return phase == FilePhase::kSegment || phase == FilePhase::kCutSegment; }
  /// Returns whether its owner may still write it.
  bool is_open() const noexcept { return phase == FilePhase::kGrowing || phase == FilePhase::kSegment; }
};
std::string entry_text(const FileEntry& entry);
/// Errors: kCorruption, kUnsupported (the state is one of a later build).
Result<FileEntry> parse_entry(std::string_view text);
/// Parses a decimal number of at most 19 digits. Errors: kCorruption.
Result<std::uint64_t> parse_number(std::string_view text);

/// Returns the epoch of an id, which FileEntry::id() made.
std::uint64_t epoch_of(std::string_view id) noexcept;

/// Owners that did not let go, and whose changes may still arrive: the client of each epoch.
using FormerOwners = std::map<std::uint64_t, std::string>;
std::string former_owners_text(const FormerOwners& owners);
/// Errors: kCorruption.
Result<FormerOwners> parse_former_owners(std::string_view text);

/// The keys of a root's map: one for each file, and one for each set of objects that no file names (yet, or any more).
inline constexpr std::string_view kFilePrefix = "n/";
inline constexpr std::string_view kNamelessPrefix = "p/";
std::string file_key(std::string_view name);
std::string nameless_key(std::string_view id);

}  // namespace varve::io
