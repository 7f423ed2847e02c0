// Owns: building runs (run_builder.h).
// Must never: write an index entry before the next block's first key is known or the run ends.
#include "format/table/run_builder.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "format/bytes/checksum.h"
#include "format/bytes/common_prefix.h"
#include "format/keys/ends.h"
#include "format/keys/sort_key.h"
#include "format/keys/value_pointer.h"
#include "format/log/file_header.h"

namespace varve::format {
namespace {

/// Small, because index partitions are searched more often than they are scanned.
constexpr std::uint32_t kIndexRestartInterval = 4;
constexpr std::uint64_t kRatioOne = 1024;
/// Assumed ratio for the first block. Ordinary entities compress better.
constexpr std::uint64_t kFirstGuess = kRatioOne / 2;
/// Sizes in bytes of an index entry without its separator, and of the frames and trailers of the two partitions.
constexpr std::uint64_t kIndexEntryBytes = 16;
constexpr std::uint64_t kPartitionsBytes = 128;
constexpr double kBinaryFuseBitsPerKey = 11;

/// A data block is filled by at most a sixteenth of a sector. Its target is a little below the sector's end, because
/// its compressed size is not known in advance.
constexpr Filling kBlockFilling{kSectorBytes / 16, 0};
constexpr std::uint64_t kMarginBytes = kSectorBytes / 64;
/// A run is filled by at most a hundredth of its size, so short runs are not filled.
constexpr std::uint64_t kRunPerFilling = 100;
constexpr std::uint64_t kRunEndInSector = kFileHeaderBytes;

/// Returns the target size in bytes, frame included, of a block that begins at `offset`. It ends near the end of a
/// sector, at least half a sector after `offset`.
constexpr std::uint64_t block_bytes_target(std::uint64_t offset) noexcept {
  const std::uint64_t rest = kSectorBytes - offset % kSectorBytes;
  return (rest < kSectorBytes / 2 ? rest + kSectorBytes : rest) - kMarginBytes;
}

}  // namespace

std::string separator_between(std::string_view last, std::string_view next) {
  const std::size_t common = common_prefix(last, next);
  if (common < last.size() && common < next.size()) {
    const auto low = static_cast<unsigned char>(last[common]);
    const auto high = static_cast<unsigned char>(next[common]);
    if (low + 1 < high) {
      std::string between(last.substr(0, common));
      between.push_back(static_cast<char>(low + 1));
      return between;
    }
  }
  if (common + 1 < next.size() && common + 1 < last.size()) return std::string(next.substr(0, common + 1));
  return std::string(last);
}

RunBuilder::RunBuilder(FilterChoice filter, Compressor* compressor, TableOutput* output) noexcept
    : filter_(filter),
      compressor_(compressor),
      output_(output),
      index_(kIndexRestartInterval, Buckets::kNone),
      stored_per_1024_(compressor == nullptr ? kRatioOne : kFirstGuess) {}

bool RunBuilder::would_overfill(const DataEntry& entry) const noexcept {
  if (block_.empty()) return false;
  const std::uint64_t raw =
      block_.estimated_bytes() + DataBlockBuilder::estimated_entry_bytes(
                                     entry.key.size(), common_prefix(last_key_, entry.key), entry.value.size());
  return raw > kDataBlockRawBytesTarget || raw * stored_per_1024_ / kRatioOne > block_bytes_target(output_->offset());
}

/// The separator of the previous block is now known.
void RunBuilder::start_block(std::string_view key) {
  if (blocks_.empty()) return;
  blocks_.back().entry.only_deletes = last_block_only_deletes_ && last_key_ != key;
  if (last_key_ == key) statistics_.last_block_goes_on();
  std::string& separator = blocks_.back().separator;
  separator = separator_between(last_key_, key);
  separator_bytes_ += separator.size();
}

void RunBuilder::add(const DataEntry& entry) {
  assert(!is_full());
  if (block_.empty()) start_block(entry.key);
  const bool same_key = !empty() && last_key_ == entry.key;
  if (!same_key) {
    last_key_hash_ = content_hash(entry.key);
    const std::string_view partition = partition_of(entry.key);
    if (empty() || !last_key_.starts_with(partition)) hashes_.push_back(partition_hash(partition));
    hashes_.push_back(last_key_hash_);
    if (empty()) run_.smallest_key = entry.key;
    last_key_.assign(entry.key);
  } else {
    ++run_.repeated_count;
  }
  ++run_.entry_count;
  run_.key_bytes += entry.key.size();
  run_.value_bytes += entry.value.size();
  if (entry.kind == Kind::kDelete) {
    ++run_.tombstone_count;
    ++block_deletes_;
  } else if (entry.kind == Kind::kPut) {
    statistics_.add(entry.value);
  } else {
    count_special(entry);
  }
  block_.add(entry, last_key_hash_);
}

/// Counts a put that is not a plain one.
void RunBuilder::count_special(const DataEntry& entry) {
  std::string_view value = entry.value;
  if (has_end(entry.kind)) {
    run_.ends.add(end_in(value));
    value = behind_end(value);
  }
  if (is_external(entry.kind)) return count_external(value);
  statistics_.add(value);
}

void RunBuilder::count_external(std::string_view pointer) {
  const Result<ValuePointer> place = decode_value_pointer(pointer);
  assert(place.ok());
  add_value_file_use(run_.value_files, {place->file, place->bytes});
  statistics_.add_unread();
}

BlockHandle RunBuilder::cut_block() {
  assert(!block_.empty());
  if (blocks_.empty()) run_.offset = output_->offset();
  const std::string_view content = block_.finish();
  if (learner_ != nullptr) learner_->take(content);
  BlockMade made;
  const BlockHandle handle =
      output_->append_block(BlockType::kData, content, compressor_, DictionaryUse::kIfThereIsOne, kBlockFilling, &made);
  if (made.compression == BlockCompression::kZstdDictionary) used_dictionary_ = true;
  learn_ratio(block_.estimated_bytes(), handle.bytes - made.filling_bytes);
  run_.raw_bytes += content.size();
  run_.data_bytes += handle.bytes;

  BlockEntry entry;
  entry.offset = handle.offset - run_.offset;
  entry.bytes = handle.bytes;
  entry.entry_count = block_.entry_count();
  entry.smallest_version = block_.smallest_version();
  entry.largest_version = block_.largest_version();
  blocks_.push_back({"", entry});
  statistics_.end_block();
  last_block_only_deletes_ = block_deletes_ == entry.entry_count;
  block_deletes_ = 0;
  block_.clear();
  return handle;
}

/// Updates a moving average over about four blocks, because neighbouring blocks resemble each other.
void RunBuilder::learn_ratio(std::uint64_t estimated_bytes, std::uint64_t stored_bytes) noexcept {
  const std::uint64_t seen = std::clamp<std::uint64_t>(stored_bytes * kRatioOne / estimated_bytes, 1, 2 * kRatioOne);
  stored_per_1024_ = (3 * stored_per_1024_ + seen) / 4;
}

std::string_view RunBuilder::index_content(const StatisticsBuilder::Fields& statistics) {
  run_.smallest_version = blocks_.front().entry.smallest_version;
  run_.largest_version = blocks_.front().entry.largest_version;
  for (const PendingBlock& block : blocks_) {
    run_.smallest_version = std::min(run_.smallest_version, block.entry.smallest_version);
    run_.largest_version = std::max(run_.largest_version, block.entry.largest_version);
  }
  index_.clear();
  std::string value;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    PendingBlock& block = blocks_[i];
    block.entry.has_statistics = statistics.blocks[i].is_told;
    block.entry.statistics = statistics.blocks[i].field;
    value.clear();
    append_block_entry(value, block.entry, run_.smallest_version);
    index_.add({block.separator, value, {}});
  }
  return index_.finish(run_.smallest_version);
}

RunEntry RunBuilder::finish(std::uint64_t dictionary_hash) {
  assert(block_.empty());
  assert(!blocks_.empty());
  run_.block_count = blocks_.size();
  run_.largest_key = last_key_;
  blocks_.back().separator = last_key_;
  blocks_.back().entry.only_deletes = last_block_only_deletes_;
  if (used_dictionary_) run_.dictionary_hash = dictionary_hash;
  // A run has far fewer keys than the limit of a filter, so building it cannot fail.
  const std::string filter = *build_filter(filter_.kind, hashes_, filter_.bits_per_key);
  run_.filter_bytes = output_->append_block(BlockType::kFilterPartition, filter, nullptr, DictionaryUse::kNever).bytes;
  StatisticsBuilder::Fields statistics = statistics_.finish();
  const Filling filling{(output_->offset() - run_.offset) / kRunPerFilling, kRunEndInSector};
  run_.index_bytes = output_
                         ->append_block(BlockType::kIndexPartition, index_content(statistics), compressor_,
                                        DictionaryUse::kNever, filling)
                         .bytes;
  run_.statistics = std::move(statistics.run);
  blocks_.clear();
  hashes_.clear();
  separator_bytes_ = 0;
  used_dictionary_ = false;
  return std::exchange(run_, RunEntry());
}

std::uint64_t RunBuilder::estimated_unwritten_bytes() const noexcept {
  if (empty()) return 0;
  const double bits = filter_.kind == FilterKind::kBlockedBloom ? filter_.bits_per_key : kBinaryFuseBitsPerKey;
  const auto filter = static_cast<std::uint64_t>(static_cast<double>(hashes_.size()) * bits / 8);
  const std::uint64_t block = block_.empty() ? 0 : block_.estimated_bytes() * stored_per_1024_ / kRatioOne;
  return block + filter + separator_bytes_ + (blocks_.size() + 1) * kIndexEntryBytes + kPartitionsBytes;
}

}  // namespace varve::format
