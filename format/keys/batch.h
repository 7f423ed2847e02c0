// Owns: one commit's changes as bytes; the order of versions is not in it, so that it can be built before any lock.
// Must never: know what a value holds.
//
//   flags (1 byte: bit 0, a tag follows; others zero, unknown ones are refused)
//   tag (varint length, bytes; 1 to 1,024) when bit 0 is set
//   operations (varint count)
//   each: kind (1 byte), then
//     put 1:     varint length, sort key; varint length, value
//     delete 2:  varint length, sort key
//     retire 64: varint length, id prefix (4 bytes: an account, 8: a table; big-endian)
//     adopt 65:  table id (8 bytes, big-endian)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"

namespace varve::format {

inline constexpr std::size_t kTagBytesMax = 1024;

struct Operation {
  Kind kind = Kind::kPut;
  /// The sort key; for retire the id prefix; for adopt the eight bytes of the table id.
  std::string_view key;
  /// Of a put alone.
  std::string_view value;
};

/// One put or remove as it stands in a batch, behind room for the usual head: it becomes a batch of its own without a
/// copy, or a part of a larger one.
class LoneOperation {
 public:
  LoneOperation() = default;
  /// A remove, or a put that awaits its value. The value has at most `value_bytes` then, or its memory moves. Errors:
  /// as append_sort_key().
  static Result<LoneOperation> make(Kind kind, TableId table, std::string_view partition_key, std::string_view row_key,
                                    std::size_t value_bytes);

  // Valid until what they say is changed.
  std::string_view sort_key() const noexcept { return std::string_view(bytes_).substr(key_at_, key_bytes_); }
  /// Empty before there is one.
  std::string_view value() const noexcept { return std::string_view(bytes_).substr(value_at_); }
  std::string_view bytes() const noexcept { return std::string_view(bytes_).substr(kHeadRoomBytes); }

  /// Another table; `encoded_id` is as encode_table() has it.
  void set_table(std::string_view encoded_id) { bytes_.replace(key_at_, kTableIdBytes, encoded_id); }
  void set_value(std::string_view value);
  /// For a value that is made where it lies: all that stands before one of so many bytes, to be given back with the
  /// value behind it.
  std::string take_for_value(std::size_t value_bytes);
  void give_with_value(std::string bytes) noexcept { bytes_ = std::move(bytes); }

  /// A remove, or a put that has got its value.
  bool is_whole() const noexcept;
  /// The batch of it alone, which is whole (asserted). Nothing is left.
  std::string into_batch();

 private:
  static constexpr std::size_t kHeadRoomBytes = 2;

  std::string bytes_;
  std::size_t key_at_ = 0;
  std::size_t key_bytes_ = 0;
  std::size_t value_at_ = 0;
};

/// Keys must be framed sort keys (asserted). Each stands at most once in a batch: its (sort key, version) would not be
/// unique otherwise. The caller sees to that, who knows its keys; looking for repetition here or in the reader would
/// need memory beside the batch.
class BatchBuilder {
 public:
  /// Room for as many puts and removes, of keys and values with as many bytes together.
  void reserve(std::size_t operations, std::size_t key_and_value_bytes);
  void put(std::string_view sort_key, std::string_view value);
  void remove(std::string_view sort_key);
  /// One that is whole (asserted).
  void add(const LoneOperation& operation);
  void retire_table(TableId id);
  void retire_account(std::uint32_t account);
  void adopt(TableId id);
  /// At most kTagBytesMax bytes (asserted). An empty tag is no tag.
  void set_tag(std::string_view tag);

  std::uint32_t operation_count() const noexcept { return count_; }
  /// The batch. The builder is empty again.
  std::string finish();

 private:
  void append_operation(Kind kind, std::string_view key, std::size_t value_bytes);

  std::string tag_;
  /// The operations, behind room for the usual head, so that the usual batch is handed over without a copy.
  std::string bytes_;
  std::uint32_t count_ = 0;
};

/// Walks a batch in place. Memory is bounded by the batch's own bytes.
class BatchReader {
 public:
  /// Checks the head: the tag's bounds, and that as many operations as it counts could lie behind it.
  /// Errors: kCorruption, kUnsupported (an unknown flag).
  static Result<BatchReader> open(std::string_view bytes);

  std::string_view tag() const noexcept { return tag_; }
  bool has_tag() const noexcept { return has_tag_; }
  std::uint64_t operation_count() const noexcept { return count_; }

  /// False at the end. Errors: kCorruption (bounds, a key that is not framed, bytes left over), kUnsupported (a kind
  /// that is known by number alone, or not at all); `operation` is untouched then, and every later call answers alike.
  Result<bool> next(Operation* operation);

 private:
  std::string_view tag_;
  std::string_view rest_;
  std::uint64_t count_ = 0;
  std::uint64_t read_ = 0;
  bool has_tag_ = false;
};

}  // namespace varve::format
