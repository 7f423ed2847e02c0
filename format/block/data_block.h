// Owns: entries of the store in a sorted block: sort key, commit version, kind and value.
// Must never: know what a value holds, or put a delete's value anywhere.
//
// The key of an entry is the sort key; several entries of one key stand newest first. The value of an entry:
//   varint (version - base version) . u8 kind . value
// The base version is the smallest in the block. A delete has no value; that of a kPutExternal is a pointer
// (value_pointer.h), which its reader judges.
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
  /// Of a put; of a kPutExternal the pointer.
  std::string_view value;
};

enum class FindOutcome : std::uint8_t {
  kFound,
  /// The block has no such entry, nor has any other.
  kAbsent,
  /// The block ends within the key's versions, all of them too new: the next block may have an older one.
  kContinues,
  /// status() tells of what.
  kDamaged,
};

/// A place in a data block. As SortedBlockCursor, which it is made of; an entry of a kind unknown to this build ends
/// the walk as kUnsupported.
class DataBlockCursor {
 public:
  /// Opens the content of a data block, which must outlive the use. Errors: kCorruption.
  Status open(std::string_view content);

  bool valid() const noexcept { return valid_; }
  std::string_view key() const noexcept { return entries_.key(); }
  CommitVersion version() const noexcept { return version_; }
  Kind kind() const noexcept { return kind_; }
  std::string_view value() const noexcept { return value_; }
  DataEntry entry() const noexcept { return {key(), version_, kind_, value_}; }
  CommitVersion base_version() const noexcept { return entries_.block().base_version(); }

  void seek_to_first();
  void seek_to_last();
  /// The first entry at or behind (key, newest): of this key the newest version not above `newest`, else the first
  /// entry of a greater key. `key` is not this cursor's own key(), here and in find().
  void seek(std::string_view key, CommitVersion newest);
  /// The newest version of this key not above `newest`. `key_hash` is content_hash(key).
  FindOutcome find(std::string_view key, std::uint64_t key_hash, CommitVersion newest);
  /// The cursor must be valid (asserted).
  void next();
  void previous();

  /// Ok, kCorruption or kUnsupported, if a move met damage or what this build does not know.
  Status status() const;

 private:
  void load();

  SortedBlockCursor entries_;
  CommitVersion version_ = 0;
  std::string_view value_;
  Kind kind_ = Kind::kPut;
  bool valid_ = false;
  Code failed_ = Code::kOk;
};

/// Collects entries, and writes them when the smallest version is known.
class DataBlockBuilder {
 public:
  DataBlockBuilder() noexcept;

  bool empty() const noexcept { return entries_.empty(); }
  /// In the order of internal keys, of a kind that a table holds (asserted). `key_hash` is content_hash(entry.key).
  void add(const DataEntry& entry, std::uint64_t key_hash);

  std::size_t entry_count() const noexcept { return entries_.size(); }
  CommitVersion smallest_version() const noexcept { return smallest_version_; }
  CommitVersion largest_version() const noexcept { return largest_version_; }
  /// About what finish() will give.
  std::size_t estimated_bytes() const noexcept { return estimated_bytes_; }
  /// About what an entry would add to it; `shared` bytes of its key stand in the key before.
  static std::size_t estimated_entry_bytes(std::size_t key_bytes, std::size_t shared, std::size_t value_bytes) noexcept;

  /// The content, valid until the next call of another function. There is at least one entry (asserted).
  std::string_view finish();
  /// Empty again.
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
