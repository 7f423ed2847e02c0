// Owns: sorting in memory (sort_buffer.h).
#include "engine/load/sort_buffer.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "engine/cache/block_size.h"
#include "format/bytes/bytes.h"
#include "format/bytes/common_prefix.h"
#include "format/bytes/prefetch.h"
#include "format/keys/sort_key.h"

namespace varve::engine {

namespace {

/// How many entries before an entry its first bytes are prefetched.
constexpr std::size_t kEntriesAhead = 8;

/// Returns the first bytes of what follows the shared bytes in a key. Zeros replace the bytes that a short key does not have,
/// so that a shorter key sorts first. Equal heads are compared further.
std::uint64_t head_of(std::string_view key, std::size_t shared_bytes) noexcept {
  std::array<char, sizeof(std::uint64_t)> bytes{};
  const std::string_view rest = key.substr(shared_bytes, bytes.size());
  std::memcpy(bytes.data(), rest.data(), rest.size());
  return format::load_u64_big_endian(bytes.data());
}

}  // namespace

void SortBuffer::add(std::string_view key, std::string_view value, Kind kind) {
  assert(format::is_framed(key));
  if (bytes_.capacity() < bytes_max_) bytes_.reserve(bytes_max_);  // Pages that are not touched cost nothing.
  note_shared(key);
  Item item;
  item.offset = bytes_.size();
  item.key_bytes = static_cast<std::uint32_t>(key.size());
  item.value = ValueSize(value.size(), kind);
  items_.push_back(item);
  bytes_.append(key).append(value);
}

void SortBuffer::note_shared(std::string_view key) noexcept {
  const std::string_view shared = items_.empty() ? key : key_of(items_.front()).substr(0, shared_bytes_);
  shared_bytes_ = format::common_prefix(shared, key);
}

void SortBuffer::sort() {
  for (Item& item : items_) item.head = head_of(key_of(item), shared_bytes_);
  std::sort(items_.begin(), items_.end(), [this](const Item& left, const Item& right) {
    return left.head != right.head ? left.head < right.head : key_of(left) < key_of(right);
  });
}

void SortBuffer::clear() noexcept {
  bytes_.clear();
  items_.clear();
}

void SortBuffer::release() noexcept {
  std::string().swap(bytes_);
  std::vector<Item>().swap(items_);
}

void SortBuffer::Stream::prefetch_ahead() const noexcept {
  if (kEntriesAhead >= buffer_.items_.size() - place_) return;
  const char* const entry = buffer_.bytes_.data() + buffer_.items_[place_ + kEntriesAhead].offset;
  format::prefetch(entry);
  format::prefetch(entry + kCacheLineBytes);
}

Entry SortBuffer::Stream::entry() const noexcept {
  const Item& item = buffer_.items_[place_];
  return {buffer_.key_of(item), version_, item.value.kind(),
          std::string_view(buffer_.bytes_).substr(item.offset + item.key_bytes, item.value.bytes())};
}

}  // namespace varve::engine
