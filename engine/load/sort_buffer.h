// Owns: sorting entries of one load in memory.
// Must never: use more memory than its limit, except for a single entry that is larger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/entry_cursor.h"
#include "engine/load/value_size.h"

namespace varve::engine {

/// A buffer of entries. One thread at a time may use it.
class SortBuffer {
 public:
  explicit SortBuffer(std::size_t bytes_max) noexcept : bytes_max_(bytes_max) {}

  bool empty() const noexcept { return items_.empty(); }
  /// Returns whether the buffer must be emptied before this entry is added.
  bool is_full_for(std::string_view key, std::string_view value) const noexcept {
    return !empty() &&
           bytes_.size() + items_.size() * sizeof(Item) + key.size() + value.size() + sizeof(Item) > bytes_max_;
  }
  /// Adds a put. The key is a framed sort key. The value of a kPutExpiring begins with its end.
  void add(std::string_view key, std::string_view value, Kind kind = Kind::kPut);
  /// Sorts by key. Equal keys are in any order.
  void sort();
  void clear() noexcept;
  /// Removes all entries and releases the memory.
  void release() noexcept;

  /// The entries in the order of sort(), as puts of `version`. The buffer must not change during the iteration.
  class Stream final : public EntryStream {
   public:
    Stream(const SortBuffer& buffer, CommitVersion version) noexcept : buffer_(buffer), version_(version) {}
    bool valid() const noexcept override { return place_ < buffer_.items_.size(); }
    Entry entry() const noexcept override;
    void next() override {
      ++place_;
      prefetch_ahead();
    }
    Status status() const override { return Status(); }

   private:
    /// The next entries lie anywhere in the buffer, so each would be awaited from memory.
    void prefetch_ahead() const noexcept;

    const SortBuffer& buffer_;
    const CommitVersion version_;
    std::size_t place_ = 0;
  };

 private:
  void note_shared(std::string_view key) noexcept;

  struct Item {
    std::uint64_t head = 0;  // of the key after the bytes that all keys share, big-endian: decides most comparisons
    std::uint64_t offset = 0;
    std::uint32_t key_bytes = 0;
    ValueSize value;
  };
  std::string_view key_of(const Item& item) const noexcept {
    return std::string_view(bytes_).substr(item.offset, item.key_bytes);
  }

  std::size_t bytes_max_;
  /// How many first bytes all keys share. Keys of an index begin with the same types, and often with the same high bytes.
  std::size_t shared_bytes_ = 0;
  std::string bytes_;
  std::vector<Item> items_;
};

}  // namespace varve::engine
