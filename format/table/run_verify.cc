// Owns: the deep check of runs (run_verify.h).
// Must never: trust the index about the data.
#include "format/table/run_verify.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "format/block/sorted_block_check.h"
#include "format/block/statistics_check.h"
#include "format/bytes/checksum.h"
#include "format/keys/ends.h"
#include "format/keys/index_key.h"
#include "format/keys/sort_key.h"
#include "format/keys/value_pointer.h"
#include "format/table/index_cursor.h"

namespace varve::format {
namespace {

Status at_block(const Status& status, std::uint64_t offset) {
  return status.in_file("block at " + std::to_string(offset));
}

struct IndexedBlock {
  std::string separator;
  BlockHandle handle;
  BlockEntry entry;
  std::string statistics;
};

class RunVerifier {
 public:
  RunVerifier(VerifyContext& context, const RunEntry& run, const Dictionary* dictionary)
      : context_(context), run_(run), dictionary_(dictionary) {}

  Status verify() {
    context_.visitor.on_run(run_);
    if (Status index = load_index(); !index.ok()) return at_block(index, run_.index().offset);
    if (Status read = statistics_.open(run_.statistics); !read.ok()) return at_block(read, run_.index().offset);
    if (Status filter = load_filter(); !filter.ok()) return at_block(filter, run_.filter().offset);
    for (const IndexedBlock& block : blocks_) {
      if (Status verified = verify_block(block); !verified.ok()) return at_block(verified, block.handle.offset);
      last_block_ = &block;
    }
    if (Status sums = compare_sums(); !sums.ok()) return at_block(sums, run_.index().offset);
    if (Status filter = pass_over(run_.filter(), BlockType::kFilterPartition); !filter.ok()) return filter;
    return pass_over(run_.index(), BlockType::kIndexPartition);
  }

 private:
  Result<std::string> read_partition(const BlockHandle& handle, BlockType type) {
    const Result<std::string_view> bytes = context_.read(handle.offset, handle.bytes);
    if (!bytes.ok()) return bytes.status();
    return decode_block(*bytes, {context_.file.seed, handle.offset}, type, context_.decompressor, nullptr);
  }

  /// Adds to the file's hash a partition that was read out of order before.
  Status pass_over(const BlockHandle& handle, BlockType type) {
    const Result<std::string_view> bytes = context_.read_on(handle.bytes);
    if (!bytes.ok()) return bytes.status();
    const Result<BlockFrame> frame = open_block(*bytes, {context_.file.seed, handle.offset}, type);
    if (!frame.ok()) return frame.status();
    context_.visitor.on_block(handle, *frame);
    return Status();
  }

  Status load_index() {
    const Result<std::string> content = read_partition(run_.index(), BlockType::kIndexPartition);
    if (!content.ok()) return content.status();
    const Result<SortedBlock> block = SortedBlock::parse(*content);
    if (!block.ok()) return block.status();
    if (Status checked = check_sorted_block(*block); !checked.ok()) return checked;
    IndexCursor index;
    if (Status opened = index.open(*content, run_); !opened.ok()) return opened;
    std::uint64_t end = run_.offset;
    for (index.seek_to_first(); index.valid(); index.next()) {
      if (index.block().offset != end) return Status::corruption("a data block does not follow the previous block");
      end = index.block().end();
      blocks_.push_back({std::string(index.separator()), index.block(), index.entry(), {}});
      blocks_.back().statistics = index.entry().statistics;
      blocks_.back().entry.unknown_fields = blocks_.back().entry.statistics = {};  // they point into memory freed here
    }
    if (!index.status().ok()) return index.status();
    if (end != run_.offset + run_.data_bytes || blocks_.size() != run_.block_count) {
      return Status::corruption("the index partition names other data blocks than the top index");
    }
    return Status();
  }

  Status load_filter() {
    Result<std::string> content = read_partition(run_.filter(), BlockType::kFilterPartition);
    if (!content.ok()) return content.status();
    filter_content_ = *std::move(content);
    const Result<FilterView> filter = FilterView::parse(filter_content_);
    if (!filter.ok()) return filter.status();
    filter_ = *filter;
    return Status();
  }

  Status verify_block(const IndexedBlock& block) {
    const Result<std::string_view> bytes = context_.read_on(block.handle.bytes);
    if (!bytes.ok()) return bytes.status();
    const Result<BlockFrame> frame = open_block(*bytes, {context_.file.seed, block.handle.offset}, BlockType::kData);
    if (!frame.ok()) return frame.status();
    if (frame->compression == BlockCompression::kZstdDictionary) used_dictionary_ = true;
    context_.visitor.on_block(block.handle, *frame);
    content_.resize(frame->raw_bytes);
    if (Status read = read_block(*frame, context_.decompressor, dictionary_, content_); !read.ok()) return read;
    sum_.raw_bytes += frame->raw_bytes;
    const Result<SortedBlock> sorted = SortedBlock::parse(content_);
    if (!sorted.ok()) return sorted.status();
    if (Status checked = check_sorted_block(*sorted); !checked.ok()) return checked;
    return verify_entries(block);
  }

  Status verify_entries(const IndexedBlock& block) {
    DataBlockCursor cursor;
    if (Status opened = cursor.open(content_); !opened.ok()) return opened;
    cursor.seek_to_first();
    if (!cursor.valid()) return cursor.status();
    const TableId first_table = cursor.key().size() >= kTableIdBytes ? table_id_of(cursor.key()) : 0;
    if (Status checked = check_first_key(cursor.key()); !checked.ok()) return checked;
    if (Status told = begin_statistics(block); !told.ok()) return told;
    BlockEntry seen;
    bool only_deletes = true;
    seen.smallest_version = seen.largest_version = cursor.version();
    for (; cursor.valid(); cursor.next()) {
      const DataEntry entry = cursor.entry();
      if (Status added = add_entry(entry, block.handle.offset); !added.ok()) return added;
      ++seen.entry_count;
      only_deletes = only_deletes && entry.kind == Kind::kDelete;
      seen.smallest_version = std::min(seen.smallest_version, entry.version);
      seen.largest_version = std::max(seen.largest_version, entry.version);
    }
    if (!cursor.status().ok()) return cursor.status();
    context_.tally.end_block(first_table, block.handle.bytes);
    if (cursor.base_version() != seen.smallest_version) {
      return Status::corruption("the base version is not the smallest of the block");
    }
    if (seen.entry_count != block.entry.entry_count || seen.smallest_version != block.entry.smallest_version ||
        seen.largest_version != block.entry.largest_version) {
      return Status::corruption("the index partition disagrees with its entries");
    }
    if (block.entry.only_deletes && !only_deletes) {
      return Status::corruption("the index partition says that it contains only deletes, but it contains others");
    }
    if (block.separator < context_.tally.last_key()) {
      return Status::corruption("the separator is below the last key");
    }
    return Status();
  }

  /// Checks the block's first key against the separator of the previous block.
  Status check_first_key(std::string_view key) const {
    if (last_block_ == nullptr) {
      return key == run_.smallest_key ? Status() : Status::corruption("its first key is not the run's smallest key");
    }
    const bool continues = context_.tally.last_key() == key;
    if (continues && (last_block_->entry.only_deletes || last_block_->entry.has_statistics)) {
      return Status::corruption("continues a key of the previous block, which the index partition excludes");
    }
    const std::string& separator = last_block_->separator;
    if (continues ? separator == key : separator < key) return Status();
    return Status::corruption("the previous separator is not below the first key");
  }

  Status add_entry(const DataEntry& entry, std::uint64_t block_offset) {
    const bool new_key = entry.key != context_.tally.last_key() || sum_.entry_count == 0;
    if (Status added = context_.tally.add(entry, block_offset); !added.ok()) return added;
    if (new_key && !(filter_->may_contain(content_hash(entry.key)) &&
                     filter_->may_contain(partition_hash(partition_of(entry.key))))) {
      return Status::corruption("the filter partition lacks a key");
    }
    if (sum_.entry_count == 0) sum_.smallest_version = sum_.largest_version = entry.version;
    sum_.smallest_version = std::min(sum_.smallest_version, entry.version);
    sum_.largest_version = std::max(sum_.largest_version, entry.version);
    ++sum_.entry_count;
    if (!new_key) ++sum_.repeated_count;
    if (entry.kind == Kind::kDelete) ++sum_.tombstone_count;
    sum_.key_bytes += entry.key.size();
    sum_.value_bytes += entry.value.size();
    context_.visitor.on_entry(entry);
    return entry.kind == Kind::kDelete ? Status() : add_put(entry);
  }

  Status add_put(const DataEntry& entry) {
    std::string_view value = entry.value;
    if (has_end(entry.kind)) {
      sum_.ends.add(end_in(value));
      value = behind_end(value);
    }
    return is_external(entry.kind) ? add_external(value) : statistics_.check(value);
  }

  Status add_external(std::string_view bytes) {
    const Result<ValuePointer> pointer = decode_value_pointer(bytes);
    if (!pointer.ok()) return pointer.status();
    add_value_file_use(sum_.value_files, {pointer->file, pointer->bytes});
    return Status();
  }

  Status begin_statistics(const IndexedBlock& block) {
    if (block.entry.has_statistics) return statistics_.begin_block(block.statistics);
    statistics_.begin_untold_block();
    return Status();
  }

  Status compare_sums() {
    RunEntry expected = run_;
    expected.entry_count = sum_.entry_count;
    expected.tombstone_count = sum_.tombstone_count;
    if (run_.repeated_count != 0) expected.repeated_count = sum_.repeated_count;  // zero: possibly not counted
    expected.raw_bytes = sum_.raw_bytes;
    expected.key_bytes = sum_.key_bytes;
    expected.value_bytes = sum_.value_bytes;
    expected.value_files = sum_.value_files;
    expected.ends = sum_.ends;
    expected.smallest_version = sum_.smallest_version;
    expected.largest_version = sum_.largest_version;
    expected.largest_key = context_.tally.last_key();
    if (expected != run_) return Status::corruption("the top index disagrees with the run's entries");
    if (blocks_.back().separator != run_.largest_key) {
      return Status::corruption("the last separator is not the run's largest key");
    }
    if (run_.dictionary_hash.has_value() && !used_dictionary_) {
      return Status::corruption("the run names a dictionary that none of its blocks needs");
    }
    return Status();
  }

  VerifyContext& context_;
  const RunEntry& run_;
  const Dictionary* dictionary_;
  std::vector<IndexedBlock> blocks_;
  StatisticsCheck statistics_;
  std::string filter_content_;
  std::optional<FilterView> filter_;
  std::string content_;
  const IndexedBlock* last_block_ = nullptr;
  RunEntry sum_;
  bool used_dictionary_ = false;
};

Status check_entry_key(std::string_view key) {
  if (is_framed(key) && is_index(table_id_of(key))) return decode_index_key(key).status();
  return decode_sort_key(key).status();
}

}  // namespace

Status EntryTally::add(const DataEntry& entry, std::uint64_t block_offset) {
  if (entry.key != last_key_) {
    if (Status checked = check_entry_key(entry.key); !checked.ok()) return checked;
    if (entry.key < last_key_) return Status::corruption("a key is below the previous key");
    last_key_ = entry.key;
  } else if (entry.version >= last_version_) {
    return Status::corruption("the versions of a key do not descend");
  }
  last_version_ = entry.version;
  const TableId table = table_id_of(entry.key);
  if (tables_.empty() || tables_.back().table != table) tables_.push_back({table, block_offset, 0, 0, 0, ""});
  ++tables_.back().entry_count;
  if (entry.kind == Kind::kDelete) ++tables_.back().tombstone_count;
  return Status();
}

void EntryTally::end_block(TableId table, std::uint64_t bytes) {
  const auto found = std::find_if(tables_.rbegin(), tables_.rend(),
                                  [table](const DirectoryEntry& entry) { return entry.table == table; });
  if (found != tables_.rend()) found->bytes += bytes;
}

Result<std::string_view> VerifyContext::read_on(std::uint64_t bytes) {
  Result<std::string_view> given = read(hashed_bytes, bytes);
  if (given.ok()) {
    hasher.update(*given);
    hashed_bytes += bytes;
  }
  return given;
}

Status verify_run(VerifyContext& context, const RunEntry& run, const Dictionary* dictionary) {
  return RunVerifier(context, run, dictionary).verify();
}

}  // namespace varve::format
