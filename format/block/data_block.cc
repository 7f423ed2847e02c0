// Owns: data blocks (data_block.h).
// Must never: return an entry before checking its version and kind.
#include "format/block/data_block.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "format/bytes/bytes.h"
#include "format/bytes/common_prefix.h"
#include "format/bytes/varint.h"
#include "format/keys/ends.h"

namespace varve::format {
namespace {

/// Number of entries from one whole key to the next. In bench/block_bench, 8 makes point reads a quarter faster than
/// 16, and backward scans a third faster. It costs about two more bytes an entry before compression.
constexpr std::uint32_t kRestartInterval = 8;
/// Limit in bytes of an interval of large entries: each entry that a search skips is a cache line to fetch.
constexpr std::size_t kIntervalBytes = 512;

/// Size in bytes of three lengths, a version and a kind: one or two bytes each.
constexpr std::size_t kEntryHeadBytes = 8;
/// Size in bytes of a restart and four buckets, for an entry that is large enough to shorten its interval. Its share of
/// a whole key is added.
constexpr std::size_t kLargeEntryBytes = 8;

}  // namespace

Status DataBlockCursor::open(std::string_view content) {
  valid_ = false;
  failed_ = Code::kOk;
  const Result<SortedBlock> block = SortedBlock::parse(content);
  if (!block.ok()) return block.status();
  if (block->base_version() > kCommitVersionMax) {
    return Status::corruption("data block: its base version is above the greatest commit version");
  }
  entries_.open(*block);
  return Status();
}

/// Decodes the value of an entry of the inner cursor.
inline Code DataBlockCursor::decode(std::string_view bytes, Content& content) const noexcept {
  const char* const end = bytes.data() + bytes.size();
  std::uint64_t above_base = 0;
  const char* const at = take_varint(bytes.data(), end, &above_base);
  if (at == nullptr || at == end || above_base > kCommitVersionMax - base_version()) [[unlikely]]
    return Code::kCorruption;
  content.version = base_version() + above_base;
  content.kind = static_cast<Kind>(*at);
  content.value = {at + 1, static_cast<std::size_t>(end - at - 1)};
  return content.kind == Kind::kPut ? Code::kOk : check_special(content.kind, content.value);
}

void DataBlockCursor::load() {
  valid_ = false;
  if (!entries_.valid() || failed_ != Code::kOk) return;
  failed_ = decode(entries_.value(), content_);
  valid_ = failed_ == Code::kOk;
}

/// Checks an entry that is no plain put.
Code DataBlockCursor::check_special(Kind kind, std::string_view value) noexcept {
  switch (kind) {
    case Kind::kDelete: return value.empty() ? Code::kOk : Code::kCorruption;
    case Kind::kPutExternal: return Code::kOk;
    case Kind::kPutExpiring:
    case Kind::kPutExpiringExternal:
      return value.size() >= kEndBytes && is_end(end_in(value)) ? Code::kOk : Code::kCorruption;
    default: return Code::kUnsupported;
  }
}

void DataBlockCursor::seek_to_first() {
  entries_.seek_to_first();
  load();
}

void DataBlockCursor::seek_to_last() {
  entries_.seek_to_last();
  load();
}

void DataBlockCursor::next() {
  assert(valid_);
  entries_.next();
  load();
}

/// next() reports a damaged entry.
bool DataBlockCursor::step_to_other_key(std::size_t* shared) {
  assert(valid_);
  StoredEntry ahead;
  if (!entries_.look_ahead(&ahead)) return false;
  Content content;
  if (decode(ahead.value, content) != Code::kOk || !entries_.step_to_other_key(ahead, shared)) return false;
  content_ = content;
  return true;
}

void DataBlockCursor::previous() {
  assert(valid_);
  entries_.previous();
  load();
}

void DataBlockCursor::seek(std::string_view key, CommitVersion newest) {
  const bool found = entries_.seek(key);
  load();
  if (!found) return;
  while (valid_ && content_.version > newest && entries_.key() == key) next();
}

FindOutcome DataBlockCursor::find(std::string_view key, std::uint64_t key_hash, CommitVersion newest) {
  const bool found = entries_.find(key, key_hash);
  load();
  if (found) {
    while (valid_ && content_.version > newest) {
      next();
      if (valid_ && entries_.key() != key) {
        valid_ = false;
        return FindOutcome::kAbsent;
      }
    }
    if (valid_) return FindOutcome::kFound;
  }
  if (failed_ != Code::kOk || !entries_.status().ok()) return FindOutcome::kDamaged;
  return found ? FindOutcome::kContinues : FindOutcome::kAbsent;
}

Status DataBlockCursor::status() const {
  if (failed_ == Code::kOk) return entries_.status();
  const std::string place = "data block: the entry at byte " + std::to_string(entries_.offset());
  if (failed_ == Code::kCorruption) return Status::corruption(place + " is damaged");
  return Status::unsupported(place + " is of kind " + std::to_string(static_cast<unsigned>(content_.kind)) +
                             ", which this build does not know");
}

DataBlockBuilder::DataBlockBuilder() noexcept : block_(kRestartInterval, Buckets::kIfTheyPay, kIntervalBytes) {}

std::size_t DataBlockBuilder::estimated_entry_bytes(std::size_t key_bytes, std::size_t shared,
                                                    std::size_t value_bytes) noexcept {
  const std::size_t bytes = kEntryHeadBytes + key_bytes - shared + value_bytes;
  if (bytes * kRestartInterval < kIntervalBytes) return bytes;
  return bytes + shared * std::min(bytes, kIntervalBytes) / kIntervalBytes + kLargeEntryBytes;
}

void DataBlockBuilder::add(const DataEntry& entry, std::uint64_t key_hash) {
  assert(entry.kind == Kind::kPut || entry.kind == Kind::kDelete || is_external(entry.kind) || has_end(entry.kind));
  assert(entry.kind != Kind::kDelete || entry.value.empty());
  assert(!has_end(entry.kind) || (entry.value.size() >= kEndBytes && is_end(end_in(entry.value))));
  assert(entry.version <= kCommitVersionMax);
  std::string_view last_key;
  if (empty()) {
    smallest_version_ = largest_version_ = entry.version;
    estimated_bytes_ = kSortedBlockTrailerBytes;
  } else {
    const Pending& last = entries_.back();
    last_key = std::string_view(bytes_).substr(last.start, last.key_bytes);
    assert(last_key < entry.key || (last_key == entry.key && last.version > entry.version));
    smallest_version_ = std::min(smallest_version_, entry.version);
    largest_version_ = std::max(largest_version_, entry.version);
  }
  estimated_bytes_ += estimated_entry_bytes(entry.key.size(), common_prefix(last_key, entry.key), entry.value.size());
  entries_.push_back({bytes_.size(), entry.key.size(), entry.value.size(), key_hash, entry.version, entry.kind});
  bytes_.append(entry.key).append(entry.value);
}

std::string_view DataBlockBuilder::finish() {
  assert(!empty());
  block_.clear();
  for (const Pending& entry : entries_) {
    std::array<char, kVarint64BytesMax + 1> head;
    char* end = store_varint(head.data(), entry.version - smallest_version_);
    *end++ = static_cast<char>(entry.kind);
    const std::string_view key = std::string_view(bytes_).substr(entry.start, entry.key_bytes);
    const std::string_view value = std::string_view(bytes_).substr(entry.start + entry.key_bytes, entry.value_bytes);
    block_.add({key, {head.data(), static_cast<std::size_t>(end - head.data())}, value, entry.key_hash});
  }
  return block_.finish(smallest_version_);
}

void DataBlockBuilder::clear() noexcept {
  bytes_.clear();
  entries_.clear();
}

}  // namespace varve::format
