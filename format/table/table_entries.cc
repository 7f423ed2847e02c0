// Owns: the entries of a table file's indexes (table_entries.h).
// Must never: add up numbers from a file before checking their bounds.
#include "format/table/table_entries.h"

#include <array>
#include <cassert>
#include <limits>

#include "format/block/sorted_block.h"
#include "format/block/sorted_block_builder.h"
#include "format/bytes/bytes.h"
#include "format/bytes/damage.h"
#include "format/bytes/ordered_fields.h"
#include "format/bytes/varint.h"

namespace varve::format {
namespace {

constexpr Tag kDictionaryTag = 1;
constexpr Tag kRepeatedTag = 2;
constexpr Tag kStatisticsTag = 4;
constexpr Tag kValueFilesTag = 5;
constexpr Tag kEndsTag = 7;
/// The field with tag 2, of one byte: 1.
constexpr std::string_view kOnlyDeletesField("\x02\x01\x01", 3);
/// Large, because top indexes and directories are read completely: fewer whole keys take less space.
constexpr std::uint32_t kDirectoryRestartInterval = 16;
/// Limit of a file's size in bytes, so that sums of offsets and sizes do not overflow.
constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 56;

bool make_versions(CommitVersion base, std::uint64_t above_base, std::uint64_t span, CommitVersion* smallest,
                   CommitVersion* largest) noexcept {
  if (base > kCommitVersionMax || above_base > kCommitVersionMax - base) return false;
  *smallest = base + above_base;
  if (span > kCommitVersionMax - *smallest) return false;
  *largest = *smallest + span;
  return true;
}

bool read_versions(ByteReader& reader, CommitVersion base, CommitVersion* smallest, CommitVersion* largest) noexcept {
  std::uint64_t above_base = 0;
  std::uint64_t span = 0;
  if (!reader.read_varint(&above_base) || !reader.read_varint(&span)) return false;
  return make_versions(base, above_base, span, smallest, largest);
}

/// Reads the numbers at the start of a block's entry. Inline, because every search reads one. Returns the address after
/// them, or null.
const char* take_block_numbers(std::string_view value, CommitVersion base, BlockEntry* entry) noexcept {
  const char* const end = value.data() + value.size();
  const char* at = value.data();
  for (std::uint64_t* const number : {&entry->offset, &entry->bytes, &entry->entry_count}) {
    at = take_varint(at, end, number);
    if (at == nullptr || *number > kFileBytesMax) return nullptr;
  }
  std::uint64_t above_base = 0;
  std::uint64_t span = 0;
  at = take_varint(at, end, &above_base);
  if (at == nullptr) return nullptr;
  at = take_varint(at, end, &span);
  if (at == nullptr) return nullptr;
  return make_versions(base, above_base, span, &entry->smallest_version, &entry->largest_version) ? at : nullptr;
}

template <std::size_t Count>
bool read_numbers(ByteReader& reader, const std::array<std::uint64_t*, Count>& numbers) noexcept {
  for (std::uint64_t* const number : numbers) {
    if (!reader.read_varint(number) || *number > kFileBytesMax) return false;
  }
  return true;
}

void append_versions(std::string& out, CommitVersion base, CommitVersion smallest, CommitVersion largest) {
  assert(base <= smallest);
  assert(smallest <= largest);
  append_varint(out, smallest - base);
  append_varint(out, largest - smallest);
}

/// Checks the fields at an entry's end, all of which are unknown. The view points into the value, and all fields are
/// kept.
Status keep_fields(std::string_view thing, std::string_view fields) {
  if (fields.empty()) return Status();
  std::string unknown;
  return OrderedFieldReader(thing, fields).finish(&unknown);
}

/// Reads the field of the statistics, which comes first. Reads it directly, without OrderedFieldReader, because scans read
/// very many entries. Returns false if it is cut short.
bool take_statistics(std::string_view* fields, BlockEntry* entry) noexcept {
  const char* const end = fields->data() + fields->size();
  std::uint64_t bytes = 0;
  const char* const at = take_varint(fields->data() + 1, end, &bytes);
  if (at == nullptr || bytes > static_cast<std::uint64_t>(end - at)) return false;
  entry->statistics = {at, static_cast<std::size_t>(bytes)};
  fields->remove_prefix(static_cast<std::size_t>(at + bytes - fields->data()));
  return true;
}

Status read_run_fields(std::string_view fields, RunEntry* run) {
  OrderedFieldReader reader("top index entry", fields);
  std::string_view hash;
  if (reader.take(kDictionaryTag, &hash)) {
    if (hash.size() != sizeof(std::uint64_t)) {
      reader.refuse(Code::kCorruption, "the name of the dictionary does not have 8 bytes");
    } else {
      run->dictionary_hash = load_u64(hash.data());
    }
  }
  reader.number_unless_zero(kRepeatedTag, &run->repeated_count);
  if (std::string_view statistics; reader.take(kStatisticsTag, &statistics)) run->statistics = statistics;
  if (std::string_view bytes; reader.take(kValueFilesTag, &bytes)) {
    Result<ValueFileUses> uses = decode_value_file_uses(bytes);
    if (!uses.ok()) return uses.status();
    run->value_files = *std::move(uses);
  }
  if (std::string_view bytes; reader.take(kEndsTag, &bytes)) {
    const Result<Ends> ends = decode_ends(bytes);
    if (!ends.ok()) return ends.status();
    run->ends = *ends;
  }
  return reader.finish(&run->unknown_fields);
}

Status check_run(const RunEntry& run) {
  const bool has_blocks = run.block_count >= 1 && run.block_count <= kRunBlocksMax;
  if (!has_blocks || run.data_bytes / run.block_count < kBlockFrameBytes) {
    return damaged("top index entry", "a run of " + std::to_string(run.block_count) + " blocks in " +
                                          std::to_string(run.data_bytes) + " bytes is impossible");
  }
  if (run.filter_bytes < kBlockFrameBytes || run.index_bytes < kBlockFrameBytes) {
    return damaged("top index entry", "a partition is shorter than a frame");
  }
  if (run.entry_count < run.block_count || run.tombstone_count > run.entry_count ||
      run.repeated_count >= run.entry_count || run.ends.count > run.entry_count - run.tombstone_count) {
    return damaged("top index entry", "its counts contradict each other");
  }
  if (!is_framed(run.smallest_key) || !is_framed(run.largest_key) || run.largest_key < run.smallest_key) {
    return damaged("top index entry", "its keys are not sort keys in ascending order");
  }
  return Status();
}

Result<DirectoryEntry> decode_directory_entry(std::string_view key, std::string_view value) {
  DirectoryEntry entry;
  ByteReader reader(value);
  if (key.size() != kTableIdBytes ||
      !read_numbers(reader, std::array{&entry.offset, &entry.entry_count, &entry.tombstone_count, &entry.bytes})) {
    return damaged("table directory", "an entry is damaged");
  }
  entry.table = load_u64_big_endian(key.data());
  if (Status kept = keep_fields("table directory entry", reader.rest()); !kept.ok()) return kept;
  entry.unknown_fields = reader.rest();
  if (entry.entry_count == 0 || entry.tombstone_count > entry.entry_count) {
    return damaged("table directory", "the counts of a table contradict each other");
  }
  return entry;
}

}  // namespace

void append_block_entry(std::string& out, const BlockEntry& entry, CommitVersion base_version) {
  append_varint(out, entry.offset);
  append_varint(out, entry.bytes);
  append_varint(out, entry.entry_count);
  append_versions(out, base_version, entry.smallest_version, entry.largest_version);
  if (entry.only_deletes) out.append(kOnlyDeletesField);
  if (entry.has_statistics) append_field(out, kStatisticsTag, entry.statistics);
  out.append(entry.unknown_fields);
}

Result<BlockEntry> decode_block_entry(std::string_view value, CommitVersion base_version) {
  BlockEntry entry;
  if (Status decoded = decode_block_entry(value, base_version, entry); !decoded.ok()) return decoded;
  return entry;
}

Status decode_block_entry(std::string_view value, CommitVersion base_version, BlockEntry& entry) {
  const char* const behind = take_block_numbers(value, base_version, &entry);
  if (behind == nullptr) return damaged("index partition", "an entry is damaged");
  if (entry.bytes < kBlockFrameBytes || entry.entry_count == 0) {
    return damaged("index partition", "a block has no entries");
  }
  std::string_view fields(behind, static_cast<std::size_t>(value.data() + value.size() - behind));
  entry.only_deletes = fields.starts_with(kOnlyDeletesField);
  if (entry.only_deletes) fields.remove_prefix(kOnlyDeletesField.size());
  entry.has_statistics = !fields.empty() && fields.front() == static_cast<char>(kStatisticsTag);
  entry.statistics = {};
  if (entry.has_statistics && !take_statistics(&fields, &entry)) {
    return damaged("index partition", "the statistics of a block are cut short");
  }
  entry.unknown_fields = fields;
  if (fields.empty()) [[likely]]
    return Status();
  return keep_fields("index partition entry", fields);
}

void append_run_entry(std::string& out, const RunEntry& run, CommitVersion base_version) {
  for (const std::uint64_t number :
       {run.offset, run.data_bytes, run.filter_bytes, run.index_bytes, run.block_count, run.entry_count,
        run.tombstone_count, run.raw_bytes, run.key_bytes, run.value_bytes}) {
    append_varint(out, number);
  }
  append_versions(out, base_version, run.smallest_version, run.largest_version);
  append_sized(out, run.smallest_key);
  OrderedFieldWriter fields(out, run.unknown_fields);
  if (run.dictionary_hash.has_value()) {
    std::string hash;
    append_u64(hash, *run.dictionary_hash);
    fields.bytes(kDictionaryTag, hash);
  }
  if (run.repeated_count > 0) fields.number(kRepeatedTag, run.repeated_count);
  if (!run.statistics.empty()) fields.bytes(kStatisticsTag, run.statistics);
  if (!run.value_files.empty()) fields.bytes(kValueFilesTag, encode_value_file_uses(run.value_files));
  if (run.ends.count > 0) {
    std::string ends;
    append_ends(ends, run.ends);
    fields.bytes(kEndsTag, ends);
  }
  fields.finish();
}

Result<RunEntry> decode_run_entry(std::string_view key, std::string_view value, CommitVersion base_version) {
  RunEntry run;
  ByteReader reader(value);
  std::string_view smallest;
  if (!read_numbers(reader, std::array{&run.offset, &run.data_bytes, &run.filter_bytes, &run.index_bytes,
                                       &run.block_count, &run.entry_count, &run.tombstone_count, &run.raw_bytes,
                                       &run.key_bytes, &run.value_bytes}) ||
      !read_versions(reader, base_version, &run.smallest_version, &run.largest_version) ||
      !reader.read_sized(&smallest)) {
    return damaged("top index", "an entry is damaged");
  }
  run.smallest_key = smallest;
  run.largest_key = key;
  if (Status fields = read_run_fields(reader.rest(), &run); !fields.ok()) return fields;
  if (Status checked = check_run(run); !checked.ok()) return checked;
  return run;
}

ValueFileUses value_files_of(const std::vector<RunEntry>& runs) {
  ValueFileUses uses;
  for (const RunEntry& run : runs) {
    for (const ValueFileUse& use : run.value_files) add_value_file_use(uses, use);
  }
  return uses;
}

Ends ends_of(const std::vector<RunEntry>& runs) noexcept {
  Ends ends;
  for (const RunEntry& run : runs) ends.add(run.ends);
  return ends;
}

std::string encode_directory(const std::vector<DirectoryEntry>& tables) {
  assert(!tables.empty());
  SortedBlockBuilder block(kDirectoryRestartInterval, Buckets::kNone);
  std::string value;
  const DirectoryEntry* last = nullptr;
  for (const DirectoryEntry& entry : tables) {
    assert(last == nullptr || last->table < entry.table);
    last = &entry;
    value.clear();
    for (const std::uint64_t number : {entry.offset, entry.entry_count, entry.tombstone_count, entry.bytes}) {
      append_varint(value, number);
    }
    value.append(entry.unknown_fields);
    block.add({encode_table(entry.table), value, {}});
  }
  return std::string(block.finish(0));
}

Result<std::vector<DirectoryEntry>> decode_directory(std::string_view content) {
  const Result<SortedBlock> block = SortedBlock::parse(content);
  if (!block.ok()) return block.status();
  if (block->base_version() != 0) return damaged("table directory", "its base version is not zero");
  std::vector<DirectoryEntry> tables;
  SortedBlockCursor cursor;
  cursor.open(*block);
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
    Result<DirectoryEntry> entry = decode_directory_entry(cursor.key(), cursor.value());
    if (!entry.ok()) return entry.status();
    if (!tables.empty() && entry->table <= tables.back().table) {
      return damaged("table directory", "its table ids do not ascend");
    }
    tables.push_back(*std::move(entry));
  }
  if (!cursor.status().ok()) return cursor.status();
  return tables;
}

}  // namespace varve::format
