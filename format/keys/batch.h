// Owns: the encoding of one commit's changes. It does not contain the commit's version, so that a batch can be built
// before any lock is taken.
// Must never: interpret a value.
//
//   flags (1 byte: bit 0, a tag follows; others zero, unknown ones are refused)
//   tag (varint length, bytes; 1 to 1,024) when bit 0 is set
//   operations (varint count)
//   each: kind (1 byte), then
//     put 1:     varint length, sort key; varint length, value
//     delete 2:  varint length, sort key
//     retire 64: varint length, id prefix (4 bytes: an account, 8: a table; big-endian)
//     put 5:     varint length, sort key; varint length, end (u64), value (ends.h)
//     adopt 65:  table id (8 bytes, big-endian)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"

namespace varve::format {

inline constexpr std::size_t kTagBytesMax = 1024;

struct Operation {
  Kind kind = Kind::kPut;
  /// The sort key. For a retire, the id prefix. For an adopt, the eight bytes of the table id.
  std::string_view key;
  /// Only a put has a value. An end precedes it, if the kind has an end.
  std::string_view value;
};

/// What may precede the value of a put that expires: only an end, or also an age, in a batch without a version.
enum class EndForms : std::uint8_t { kEnds, kEndsAndAges };

/// One put or remove in its encoded form, preceded by room for the usual head. It becomes a batch of its own without a
/// copy, or part of a larger batch.
class LoneOperation {
 public:
  LoneOperation() = default;
  /// Makes a remove, or a put that still needs its value. If the value has more than `value_bytes` bytes, the memory is
  /// allocated again. Errors: see append_sort_key().
  static Result<LoneOperation> make(Kind kind, TableId table, std::string_view partition_key, std::string_view row_key,
                                    std::size_t value_bytes);

  // The views are valid until the bytes that they show are changed.
  std::string_view sort_key() const noexcept { return std::string_view(bytes_).substr(key_at_, key_bytes_); }
  /// Returns an empty view before a value is set.
  std::string_view value() const noexcept { return std::string_view(bytes_).substr(value_at_); }
  std::string_view bytes() const noexcept { return std::string_view(bytes_).substr(kHeadRoomBytes); }

  /// Changes the table. `encoded_id` is the result of encode_table().
  void set_table(std::string_view encoded_id) noexcept { encoded_id.copy(bytes_.data() + key_at_, kTableIdBytes); }
  void set_value(std::string_view value);
  /// Gives a put that has its value an end, or an age (ends.h), in the place of the one that it had. Zero takes it away.
  void set_end(std::uint64_t end);
  bool has_end() const noexcept { return end_bytes_ > 0; }
  /// Returns the end or the age, or zero if there is none.
  std::uint64_t end() const noexcept { return has_end() ? load_u64(bytes_.data() + value_at_ - end_bytes_) : 0; }
  /// Lets the caller build a value in place. Returns all bytes that precede a value of `value_bytes` bytes. The caller
  /// appends the value and returns the bytes with give_with_value(). The put has no end afterwards.
  std::string take_for_value(std::size_t value_bytes);
  void give_with_value(std::string bytes) noexcept { bytes_ = std::move(bytes); }

  /// Returns true for a remove, and for a put that has its value.
  bool is_whole() const noexcept;
  /// Returns a batch that contains only this operation, which must be whole (asserted). The object is empty afterwards.
  std::string into_batch();

 private:
  static constexpr std::size_t kHeadRoomBytes = 2;

  std::string bytes_;
  std::size_t key_at_ = 0;
  std::size_t key_bytes_ = 0;
  std::size_t value_at_ = 0;
  std::size_t end_bytes_ = 0;  // before the value
};

/// Builds a batch. Keys must be framed sort keys (asserted). A batch contains each key at most once; otherwise its
/// (sort key, version) would not be unique. The caller ensures that, because it knows its keys. A check here or in the
/// reader would need memory in addition to the batch.
class BatchBuilder {
 public:
  /// Reserves memory for `operations` puts and removes, with `key_and_value_bytes` bytes of keys and values together.
  void reserve(std::size_t operations, std::size_t key_and_value_bytes);
  void put(std::string_view sort_key, std::string_view value);
  /// `stored` is an end, and a value after it.
  void put_expiring(std::string_view sort_key, std::string_view stored);
  /// Puts an index entry whose key has a Timestamp without its version (index_key.h). `timestamp_at` is its place in the key.
  void put_stamped(Kind kind, std::string_view index_key, std::size_t timestamp_at, std::string_view stored);
  void remove(std::string_view sort_key);
  /// Appends an operation, which must be whole (asserted).
  void add(const LoneOperation& operation);
  void retire_table(TableId id);
  void retire_account(std::uint32_t account);
  void adopt(TableId id);
  /// Sets the tag: at most kTagBytesMax bytes (asserted). An empty tag means no tag.
  void set_tag(std::string_view tag);

  /// Notes bytes of values that the operations replace or remove. The batch does not contain the sum.
  void let_go_of(std::uint64_t bytes) noexcept { let_go_bytes_ += bytes; }
  std::uint64_t let_go_bytes() const noexcept { return let_go_bytes_; }
  /// Returns the bytes of all operations so far.
  std::size_t operation_bytes() const noexcept { return bytes_.size(); }

  std::uint32_t operation_count() const noexcept { return count_; }
  /// Returns the batch. The builder is empty afterwards. `timestamps`, if given, receives the places in the batch of the
  /// Timestamps without a version.
  std::string finish(std::vector<std::uint32_t>* timestamps = nullptr);

 private:
  void append_operation(Kind kind, std::string_view key, std::size_t value_bytes);

  std::string tag_;
  /// The operations, preceded by room for the usual head, so that finish() returns the usual batch without a copy.
  std::string bytes_;
  std::uint32_t count_ = 0;
  std::uint64_t let_go_bytes_ = 0;
  std::vector<std::uint32_t> timestamps_;  // places in `bytes_`
};

/// Iterates over a batch in place. Uses no memory other than the batch's own bytes.
class BatchReader {
 public:
  /// Checks the head: the bounds of the tag, and that the counted operations can fit the bytes that follow.
  /// Errors: kCorruption, kUnsupported (an unknown flag).
  static Result<BatchReader> open(std::string_view bytes, EndForms ends = EndForms::kEnds);

  std::string_view tag() const noexcept { return tag_; }
  bool has_tag() const noexcept { return has_tag_; }
  std::uint64_t operation_count() const noexcept { return count_; }

  /// Reads the next operation. Returns false at the end. Errors: kCorruption (bounds, a key that is not framed, an end
  /// that is none, extra bytes after the last operation), kUnsupported (a reserved or an unknown kind). After an error, `operation` is
  /// unchanged, and every later call returns the same error.
  Result<bool> next(Operation* operation);

 private:
  std::string_view tag_;
  std::string_view rest_;
  std::uint64_t count_ = 0;
  std::uint64_t read_ = 0;
  bool has_tag_ = false;
  EndForms ends_ = EndForms::kEnds;
};

/// Iterates over a batch that a BatchReader has read to its end before. Checks nothing again.
class AcceptedBatch {
 public:
  explicit AcceptedBatch(std::string_view bytes) noexcept;
  /// Reads the next operation. Returns false at the end.
  bool next(Operation& operation) noexcept;

 private:
  const char* at_;
  const char* const end_;
};

}  // namespace varve::format
