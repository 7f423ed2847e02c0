// Owns: opening a table file (table_index.h).
// Must never: trust a part of the file that another part contradicts.
#include "format/table/table_index.h"

#include <algorithm>
#include <array>
#include <utility>

#include "format/block/sorted_block.h"
#include "format/bytes/bytes.h"
#include "format/bytes/damage.h"
#include "format/log/file_header.h"

namespace varve::format {
namespace {

Result<std::vector<RunEntry>> decode_runs(std::string_view top_index, CommitVersion* base_version) {
  const Result<SortedBlock> block = SortedBlock::parse(top_index);
  if (!block.ok()) return block.status().in_file("top index");
  *base_version = block->base_version();
  std::vector<RunEntry> runs;
  SortedBlockCursor cursor;
  cursor.open(*block);
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
    Result<RunEntry> run = decode_run_entry(cursor.key(), cursor.value(), block->base_version());
    if (!run.ok()) return run.status();
    runs.push_back(*std::move(run));
  }
  if (!cursor.status().ok()) return cursor.status().in_file("top index");
  runs.shrink_to_fit();  // It stays as long as the file is open.
  return runs;
}

Status read_part(const ReadBytes& read, std::uint64_t offset, std::uint64_t bytes, std::string* part) {
  const Result<std::string_view> given = read(offset, bytes);
  if (!given.ok()) return given.status();
  part->assign(*given);
  return Status();
}

Result<std::string> read_tail_block(const TableFileName& file, const ReadBytes& read, const BlockHandle& handle,
                                    BlockType type, Decompressor& decompressor) {
  const Result<std::string_view> bytes = read(handle.offset, handle.bytes);
  if (!bytes.ok()) return bytes.status();
  return decode_block(*bytes, {file.seed, handle.offset}, type, decompressor, nullptr);
}

Status check_header(const TableFileName& file, const ReadBytes& read) {
  if (file.size_bytes == 0 || file.size_bytes % kSectorBytes != 0) {
    return damaged("table file",
                   "its size, " + std::to_string(file.size_bytes) + " bytes, is not a multiple of a sector");
  }
  std::string bytes;
  if (Status given = read_part(read, 0, kFileHeaderBytes, &bytes); !given.ok()) return given;
  const Result<FileHeader> header = decode_file_header(bytes, FileType::kTable);
  if (!header.ok()) return header.status();
  if (header->number != file.number || header->seed != file.seed) {
    return damaged("table file", "its header has another number or seed than expected");
  }
  return Status();
}

}  // namespace

Result<TableIndex> TableIndex::make(const TableFooter& footer, std::string_view top_index,
                                    std::string_view properties) {
  TableIndex index;
  index.footer_ = footer;
  Result<TableProperties> read = decode_table_properties(properties);
  if (!read.ok()) return read.status();
  index.properties_ = *std::move(read);
  CommitVersion base_version = 0;
  Result<std::vector<RunEntry>> runs = decode_runs(top_index, &base_version);
  if (!runs.ok()) return runs.status();
  index.runs_ = *std::move(runs);
  if (base_version != index.properties_.smallest_version) {
    return damaged("top index", "its base version is not the smallest of the file");
  }
  for (const Status& checked : {index.check_runs(), index.check_dictionaries(), index.check_properties()}) {
    if (!checked.ok()) return checked;
  }
  index.make_heads();
  return index;
}

std::uint64_t TableIndex::memory_bytes() const noexcept {
  const auto bytes_of = [](const std::string& text) -> std::uint64_t {
    constexpr std::size_t kInside = 15;  // a short text needs no memory of its own
    return text.capacity() > kInside ? text.capacity() + 1 : 0;
  };
  std::uint64_t bytes = sizeof(TableIndex) + heads_.capacity() * sizeof(heads_.front()) +
                        runs_.capacity() * sizeof(RunEntry) + bytes_of(properties_.smallest_key) +
                        bytes_of(properties_.largest_key);
  for (const RunEntry& run : runs_) {
    bytes += bytes_of(run.smallest_key) + bytes_of(run.largest_key) + bytes_of(run.statistics) +
             bytes_of(run.unknown_fields) + run.value_files.capacity() * sizeof(ValueFileUse);
  }
  return bytes;
}

Status TableIndex::check_runs() const {
  std::uint64_t offset = kFileHeaderBytes;
  const RunEntry* last = nullptr;
  for (const RunEntry& run : runs_) {
    if (run.offset != offset) return damaged("top index", "a run does not follow the previous run");
    if (last != nullptr && run.smallest_key < last->largest_key) {
      return damaged("top index", "the keys of two runs overlap");
    }
    offset = run.end();
    if (offset > footer_.directory.offset) return damaged("top index", "a run lies outside the file");
    last = &run;
  }
  return Status();
}

Status TableIndex::check_dictionaries() const {
  std::vector<std::uint64_t> named;
  for (const RunEntry& run : runs_) {
    if (run.dictionary_hash.has_value()) named.push_back(*run.dictionary_hash);
  }
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
  std::vector<std::uint64_t> held;
  std::uint64_t offset = runs_.back().end();
  for (const DictionaryEntry& dictionary : properties_.dictionaries) {
    const BlockHandle& block = dictionary.block;
    const bool follows = block.offset == offset && block.bytes >= kBlockFrameBytes;
    if (!follows || block.bytes > footer_.directory.offset - offset) {
      return damaged("table properties", "a dictionary does not follow the previous part");
    }
    offset = block.end();
    held.push_back(dictionary.content_hash);
  }
  if (offset != footer_.directory.offset) {
    return damaged("table footer", "the table directory does not follow the previous part");
  }
  std::sort(held.begin(), held.end());
  if (held != named) return damaged("table properties", "name other dictionaries than the runs do");
  return Status();
}

Status TableIndex::check_properties() const {
  TableProperties sum = properties_;
  sum.smallest_key = runs_.front().smallest_key;
  sum.largest_key = runs_.back().largest_key;
  sum.smallest_version = runs_.front().smallest_version;
  sum.largest_version = runs_.front().largest_version;
  sum.run_count = runs_.size();
  sum.entry_count = sum.tombstone_count = sum.block_count = 0;
  sum.data_bytes = sum.raw_bytes = sum.key_bytes = sum.value_bytes = 0;
  sum.ends = ends_of(runs_);
  for (const RunEntry& run : runs_) {
    sum.smallest_version = std::min(sum.smallest_version, run.smallest_version);
    sum.largest_version = std::max(sum.largest_version, run.largest_version);
    sum.entry_count += run.entry_count;
    sum.tombstone_count += run.tombstone_count;
    sum.block_count += run.block_count;
    sum.data_bytes += run.data_bytes;
    sum.raw_bytes += run.raw_bytes;
    sum.key_bytes += run.key_bytes;
    sum.value_bytes += run.value_bytes;
  }
  if (sum != properties_) return damaged("table properties", "disagree with the runs");
  return Status();
}

void TableIndex::make_heads() {
  const std::string_view first = runs_.front().largest_key;  // Keys rise: all share what first and last share.
  const std::string_view last = runs_.back().largest_key;
  const auto differ = std::mismatch(first.begin(), first.end(), last.begin(), last.end());
  common_bytes_ = static_cast<std::size_t>(differ.first - first.begin());
  heads_.reserve(runs_.size());
  for (const RunEntry& run : runs_) heads_.push_back(head_of(run.largest_key));
}

/// Returns a number that has the order of the keys where two numbers differ. `key` begins with the common bytes.
std::uint64_t TableIndex::head_of(std::string_view key) const noexcept {
  std::array<char, sizeof(std::uint64_t)> head{};
  const std::string_view rest = key.substr(common_bytes_, head.size());
  std::copy(rest.begin(), rest.end(), head.begin());
  return load_u64_big_endian(head.data());
}

std::size_t TableIndex::first_run_not_below(std::string_view key) const noexcept {
  const int order =
      key.substr(0, common_bytes_).compare(std::string_view(runs_.front().largest_key).substr(0, common_bytes_));
  if (order != 0) return order < 0 ? 0 : runs_.size();
  const auto [first, end] = std::equal_range(heads_.begin(), heads_.end(), head_of(key));
  const auto found =
      std::partition_point(runs_.begin() + (first - heads_.begin()), runs_.begin() + (end - heads_.begin()),
                           [key](const RunEntry& run) { return run.largest_key < key; });
  return static_cast<std::size_t>(found - runs_.begin());
}

const RunEntry* TableIndex::run_of(std::string_view key) const noexcept {
  const std::size_t number = first_run_not_below(key);
  if (number == runs_.size() || runs_[number].smallest_key > key) return nullptr;
  return &runs_[number];
}

Result<TableIndex> open_table(const TableFileName& file, const ReadBytes& read, Decompressor& decompressor) {
  if (Status header = check_header(file, read); !header.ok()) return header;
  const FilePlace footer_place{file.seed, file.size_bytes - kTableFooterBytes};
  const Result<std::string_view> footer_bytes = read(footer_place.offset, kTableFooterBytes);
  if (!footer_bytes.ok()) return footer_bytes.status();
  const Result<TableFooter> footer = decode_table_footer(*footer_bytes, footer_place);
  if (!footer.ok()) return footer.status();
  const Result<std::string> properties =
      read_tail_block(file, read, footer->properties, BlockType::kProperties, decompressor);
  if (!properties.ok()) return properties.status();
  const Result<std::string> top_index =
      read_tail_block(file, read, footer->top_index, BlockType::kTopIndex, decompressor);
  if (!top_index.ok()) return top_index.status();
  return TableIndex::make(*footer, *top_index, *properties);
}

Result<std::string> decode_dictionary_block(std::string_view bytes, std::uint64_t file_seed,
                                            const DictionaryEntry& entry, Decompressor& decompressor) {
  Result<std::string> content =
      decode_block(bytes, {file_seed, entry.block.offset}, BlockType::kDictionary, decompressor, nullptr);
  if (content.ok() && content_hash(*content) != entry.content_hash) {
    return damaged("dictionary", "its content does not match its hash");
  }
  return content;
}

}  // namespace varve::format
