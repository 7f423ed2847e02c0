// Owns: entries of one load that came in any order, in memory, and their order.
// Must never: hold more than it was asked to, but for a single entry that is larger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/entry_cursor.h"

namespace varve::engine {

/// One thread at a time.
class SortBuffer {
 public:
  explicit SortBuffer(std::size_t bytes_max) noexcept : bytes_max_(bytes_max) {}

  bool empty() const noexcept { return items_.empty(); }
  /// Whether it must be emptied before this entry.
  bool is_full_for(std::string_view key, std::string_view value) const noexcept {
    return !empty() &&
           bytes_.size() + items_.size() * sizeof(Item) + key.size() + value.size() + sizeof(Item) > bytes_max_;
  }
  /// The key is a framed sort key.
  void add(std::string_view key, std::string_view value);
  /// By key; equal keys in any order.
  void sort();
  void clear() noexcept;
  /// Gives the memory back too.
  void release() noexcept;

  /// The entries in the order that sort() left, as puts of `version`. The buffer must not change while it is walked.
  class Stream final : public EntryStream {
   public:
    Stream(const SortBuffer& buffer, CommitVersion version) noexcept : buffer_(buffer), version_(version) {}
    bool valid() const noexcept override { return place_ < buffer_.items_.size(); }
    Entry entry() const noexcept override;
    void next() override { ++place_; }
    Status status() const override { return Status(); }

   private:
    const SortBuffer& buffer_;
    const CommitVersion version_;
    std::size_t place_ = 0;
  };

 private:
  struct Item {
    std::uint64_t head = 0;  // of the key behind the table id, big-endian: most comparisons end here
    std::uint64_t offset = 0;
    std::uint32_t key_bytes = 0;
    std::uint32_t value_bytes = 0;
  };
  std::string_view key_of(const Item& item) const noexcept {
    return std::string_view(bytes_).substr(item.offset, item.key_bytes);
  }

  const std::size_t bytes_max_;
  std::string bytes_;
  std::vector<Item> items_;
};

}  // namespace varve::engine
