// Owns: the store's entries in a sorted block: sort key, commit version, kind and value.
// Must never: interpret a value, or store a value for a delete.
//
// The key of an entry is the sort key. Entries with equal keys are ordered newest first. The value of an entry:
//   varint (version - base version) . u8 kind . value
// The base version is the smallest version in the block. A delete has no value. The value of a kPutExternal is a
// pointer (value_pointer.h), which its reader checks. An end precedes the value of a put that expires (ends.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/sorted_block.h"
#include "format/block/sorted_block_builder.h"
#include "format/keys/internal_key.h"
#include "varve/result.h"

namespace varve::format {

/// One version of one key.
struct DataEntry {
  std::string_view key;
  CommitVersion version = 0;
  Kind kind = Kind::kPut;
  /// The value of a put, or the pointer of a kPutExternal. An end precedes either, if the kind has an end.
  std::string_view value;
};

enum class FindOutcome : std::uint8_t {
  kFound,
  /// Neither this block nor any other block has such an entry.
  kAbsent,
  /// The block ends within the key's versions, all of which are too new. The next block may contain an older version.
  kContinues,
  /// The block is damaged. status() returns the reason.
  kDamaged,
};

/// A position in a data block. It behaves like SortedBlockCursor, which it contains. An entry of a kind unknown to this
/// build ends the iteration with kUnsupported.
class DataBlockCursor {
 public:
  /// Opens the content of a data block, which must outlive the cursor's use of it. Errors: kCorruption.
  Status open(std::string_view content);

  bool valid() const noexcept { return valid_; }
  std::string_view key() const noexcept { return entries_.key(); }
  CommitVersion version() const noexcept { return content_.version; }
  Kind kind() const noexcept { return content_.kind; }
  std::string_view value() const noexcept { return content_.value; }
  DataEntry entry() const noexcept { return {key(), content_.version, content_.kind, content_.value}; }
  CommitVersion base_version() const noexcept { return entries_.block().base_version(); }

  void seek_to_first();
  void seek_to_last();
  /// Moves to the first entry at or after (key, newest): the key's newest version not above `newest`, or else the first
  /// entry of a greater key. Here and in find(), `key` must not be this cursor's own key().
  void seek(std::string_view key, CommitVersion newest);
  /// Finds the key's newest version not above `newest`. `key_hash` is content_hash(key).
  FindOutcome find(std::string_view key, std::uint64_t key_hash, CommitVersion newest);
  /// The cursor must be valid (asserted).
  void next();
  void previous();
  /// Moves to the next entry, if this block has it, it is not damaged and has another key. Otherwise does not move, and
  /// returns false. `shared` receives the number of bytes that the two keys have in common at the start.
  bool step_to_other_key(std::size_t* shared);

  /// Returns Ok, kCorruption or kUnsupported. The errors mean that a move met damage or a kind unknown to this build.
  Status status() const;

 private:
  /// What precedes the value of an entry, and the value.
  struct Content {
    CommitVersion version = 0;
    Kind kind = Kind::kPut;
    std::string_view value;
  };

  void load();
  Code decode(std::string_view bytes, Content& content) const noexcept;
  static Code check_special(Kind kind, std::string_view value) noexcept;

  SortedBlockCursor entries_;
  Content content_;
  bool valid_ = false;
  Code failed_ = Code::kOk;
};

/// Collects entries, and encodes them once the smallest version is known.
class DataBlockBuilder {
 public:
  DataBlockBuilder() noexcept;

  bool empty() const noexcept { return entries_.empty(); }
  /// Appends an entry, in the order of internal keys and of a kind that a table may contain (asserted). `key_hash` is
  /// content_hash(entry.key).
  void add(const DataEntry& entry, std::uint64_t key_hash);

  std::size_t entry_count() const noexcept { return entries_.size(); }
  CommitVersion smallest_version() const noexcept { return smallest_version_; }
  CommitVersion largest_version() const noexcept { return largest_version_; }
  /// Returns the approximate size in bytes of the content that finish() would return.
  std::size_t estimated_bytes() const noexcept { return estimated_bytes_; }
  /// Returns the approximate size in bytes that an entry would add. `shared` bytes of its key are also in the previous
  /// key.
  static std::size_t estimated_entry_bytes(std::size_t key_bytes, std::size_t shared, std::size_t value_bytes) noexcept;

  /// Returns the content, valid until another function is called. The block must not be empty (asserted).
  std::string_view finish();
  /// Removes all entries.
  void clear() noexcept;

 private:
  struct Pending {
    std::size_t start;  // of the key in bytes_; the value follows it
    std::size_t key_bytes;
    std::size_t value_bytes;
    std::uint64_t key_hash;
    CommitVersion version;
    Kind kind;
  };

  std::string bytes_;
  std::vector<Pending> entries_;
  CommitVersion smallest_version_ = 0;
  CommitVersion largest_version_ = 0;
  std::size_t estimated_bytes_ = 0;
  SortedBlockBuilder block_;
};

}  // namespace varve::format
