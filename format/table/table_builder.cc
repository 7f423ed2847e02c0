// Owns: building table files (table_builder.h).
// Must never: return a figure that does not agree with the bytes.
#include "format/table/table_builder.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "format/bytes/checksum.h"
#include "format/log/file_header.h"
#include "format/table/table_footer.h"

namespace varve::format {
namespace {

constexpr std::uint32_t kTopIndexRestartInterval = 16;
/// Sizes in bytes of what the indexes at the end of the file contain for a run, without its keys, and for a table. In
/// practice they are upper bounds.
constexpr std::uint64_t kTopIndexEntryBytes = 64;
constexpr std::uint64_t kDirectoryEntryBytes = 32;
constexpr std::uint64_t kPropertiesBytes = 512;

/// Limit of dictionaries in one file. Runs of files with separate training bring one dictionary each.
constexpr std::size_t kDictionariesMax = 8;
/// Minimum number of blocks of a copied run. A run with fewer blocks is built again.
constexpr std::uint64_t kCopiedBlocksMin = kRunBlocksMax / 4;

/// Sums up the runs. The entries are already counted.
void sum_up(const std::vector<RunEntry>& runs, TableProperties* totals) {
  totals->run_count = runs.size();
  totals->smallest_key = runs.front().smallest_key;
  totals->largest_key = runs.back().largest_key;
  totals->smallest_version = runs.front().smallest_version;
  totals->largest_version = runs.front().largest_version;
  totals->ends = ends_of(runs);
  for (const RunEntry& run : runs) {
    totals->tombstone_count += run.tombstone_count;
    totals->smallest_version = std::min(totals->smallest_version, run.smallest_version);
    totals->largest_version = std::max(totals->largest_version, run.largest_version);
    totals->block_count += run.block_count;
    totals->data_bytes += run.data_bytes;
    totals->raw_bytes += run.raw_bytes;
    totals->key_bytes += run.key_bytes;
    totals->value_bytes += run.value_bytes;
  }
}

}  // namespace

Result<bool> is_made_alike(const RunSource& source, const TableOptions& options, Decompressor& decompressor) {
  const RunEntry& run = *source.run;
  if (run.block_count < kCopiedBlocksMin) return false;
  // A run without any gain either was not compressed, or did not compress. The second case is rare enough to try again.
  const bool compressed = run.data_bytes < run.raw_bytes;
  if (compressed != (options.compression_level > 0)) return false;
  const BlockHandle handle = run.filter();
  const Result<std::string> content =
      decode_block(source.bytes.substr(handle.offset - run.offset, handle.bytes), {source.file_seed, handle.offset},
                   BlockType::kFilterPartition, decompressor, nullptr);
  if (!content.ok()) return content.status();
  const Result<FilterView> filter = FilterView::parse(*content);
  if (!filter.ok()) return filter.status();
  return filter->kind() == options.filter.kind;
}

Result<std::unique_ptr<TableBuilder>> TableBuilder::make(std::uint64_t number, std::uint64_t seed,
                                                         const TableOptions& options) {
  Result<std::optional<Compressor>> compressor = make_compressor(options);
  if (!compressor.ok()) return compressor.status();
  return std::unique_ptr<TableBuilder>(new TableBuilder(number, seed, options, *std::move(compressor)));
}

TableBuilder::TableBuilder(std::uint64_t number, std::uint64_t seed, const TableOptions& options,
                           std::optional<Compressor> compressor)
    : number_(number),
      compression_level_(options.compression_level),
      compressor_(std::move(compressor)),
      dictionary_(options.dictionary),
      dictionary_hash_(content_hash(dictionary_)),
      output_(seed),
      run_(options.filter, compressor_.has_value() ? &*compressor_ : nullptr, &output_) {
  FileHeader header;
  header.type = FileType::kTable;
  header.seed = seed;
  header.number = number;
  output_.append(encode_file_header(header));
  if (!options.learns_dictionary || !dictionary_.empty() || !compressor_.has_value()) return;
  learner_.emplace(compression_level_);
  run_.show_blocks_to(&*learner_);
}

Status TableBuilder::add(const DataEntry& entry) {
  assert(!finished_);
  assert(is_framed(entry.key));
  assert(empty() || last_key_ < entry.key || (last_key_ == entry.key && last_version_ > entry.version));
  if (Status valid = check_entry(entry); !valid.ok()) return valid;
  if (!has_place_) (void)ends_run_before(entry);
  has_place_ = false;
  count(entry);
  run_.add(entry);
  return Status();
}

bool TableBuilder::ends_run_before(const DataEntry& entry) {
  has_place_ = true;
  if (!run_.would_overfill(entry)) return false;
  cut_block();
  if (!run_.is_full()) return false;
  finish_run();
  return true;
}

void TableBuilder::count(const DataEntry& entry) {
  tables_.add(entry, output_.offset(), run_.block_is_empty());
  ++totals_.entry_count;
  if (last_key_ != entry.key) last_key_.assign(entry.key);
  last_version_ = entry.version;
}

void TableBuilder::cut_block() {
  tables_.end_block(run_.cut_block().bytes);
}

void TableBuilder::finish_run() {
  if (run_.empty()) return;
  if (!run_.block_is_empty()) cut_block();
  take_run(run_.finish(dictionary_hash_));
  if (learner_.has_value() && learner_->is_ready()) learn_dictionary();
}

void TableBuilder::learn_dictionary() {
  std::optional<DictionaryLearner::Learned> learned = learner_->learn();
  run_.show_blocks_to(nullptr);
  learner_.reset();
  if (learned.has_value()) use_dictionary(std::move(learned->dictionary), std::move(learned->compressor));
}

/// Compresses later runs with a copied run's dictionary. Neighbouring runs resemble each other, and the file contains
/// the dictionary anyway.
void TableBuilder::take_over_dictionary(std::string_view dictionary) {
  Result<Compressor> compressor = Compressor::make(compression_level_, dictionary);
  if (!compressor.ok()) return;  // The copied bytes are not read here; their reader will report the error.
  run_.show_blocks_to(nullptr);
  learner_.reset();
  use_dictionary(std::string(dictionary), *std::move(compressor));
}

/// Called between two runs. The compressor keeps its address, because the run builder points to it.
void TableBuilder::use_dictionary(std::string dictionary, Compressor compressor) {
  assert(run_.empty());
  *compressor_ = std::move(compressor);
  dictionary_ = std::move(dictionary);
  dictionary_hash_ = content_hash(dictionary_);
}

void TableBuilder::take_run(RunEntry run) {
  index_bytes_ += run.smallest_key.size() + run.largest_key.size() + run.statistics.size() + kTopIndexEntryBytes;
  runs_.push_back(std::move(run));
}

bool TableBuilder::can_append(const RunEntry& run) const noexcept {
  if (table_id_of(run.smallest_key) != table_id_of(run.largest_key)) return false;
  if (!empty() && last_key_ >= run.smallest_key) return false;
  return !run.dictionary_hash || has_dictionary(*run.dictionary_hash) || copied_dictionaries_.size() < kDictionariesMax;
}

bool TableBuilder::has_dictionary(std::uint64_t hash) const noexcept {
  return hash == dictionary_hash_ || std::any_of(copied_dictionaries_.begin(), copied_dictionaries_.end(),
                                                 [hash](const auto& dictionary) { return dictionary.first == hash; });
}

Result<std::uint64_t> TableBuilder::append_run(const RunSource& source, Decompressor& decompressor) {
  assert(!finished_);
  assert(can_append(*source.run));
  finish_run();
  const Result<std::string> bytes = copy_run(source, output_.place(), decompressor);
  if (!bytes.ok()) return bytes.status();
  RunEntry run = *source.run;
  if (run.dictionary_hash.has_value()) {
    if (Result<std::shared_ptr<const Dictionary>> loaded = Dictionary::load(source.dictionary); !loaded.ok()) {
      return loaded.status();
    }
    if (learner_.has_value()) take_over_dictionary(source.dictionary);
    keep_dictionary(source);
  }
  const std::uint64_t begin = output_.offset();
  run.offset = begin;
  const DirectoryEntry table{table_id_of(run.smallest_key), begin,          run.entry_count,
                             run.tombstone_count,           run.data_bytes, ""};
  count_run(std::move(run), {table}, begin);
  // The version of the run's last entry is unknown. With version zero, only an entry with a greater key may follow.
  last_version_ = 0;
  output_.append(*bytes);
  return begin;
}

std::string_view TableBuilder::append_made(RunMaker& maker, const MadeRun& made) {
  assert(!finished_);
  assert(empty() || last_key_ <= made.entry.smallest_key);
  assert(!made.entry.dictionary_hash || *made.entry.dictionary_hash == dictionary_hash_);
  finish_run();
  RunEntry run = made.entry;
  run.offset = output_.offset();
  const std::string_view bytes = maker.stamp(made, output_.place());
  count_run(std::move(run), made.tables, made.entry.offset);
  last_version_ = made.last_version;
  output_.pass(bytes);
  return bytes;
}

/// Counts a run that was not built here. Its tables were counted with the run at the offset `tables_from`.
void TableBuilder::count_run(RunEntry run, const std::vector<DirectoryEntry>& tables, std::uint64_t tables_from) {
  tables_.append(tables, tables_from, run.offset);
  totals_.entry_count += run.entry_count;
  last_key_ = run.largest_key;
  take_run(std::move(run));
}

void TableBuilder::keep_dictionary(const RunSource& source) {
  const std::uint64_t hash = *source.run->dictionary_hash;
  if (!has_dictionary(hash)) copied_dictionaries_.emplace_back(hash, source.dictionary);
}

std::uint64_t TableBuilder::estimated_bytes() const noexcept {
  std::uint64_t bytes = output_.offset() + run_.estimated_unwritten_bytes() + index_bytes_;
  if (!run_.empty()) bytes += 2 * last_key_.size() + kTopIndexEntryBytes;
  bytes += tables_.tables().size() * kDirectoryEntryBytes + dictionary_.size() + kPropertiesBytes;
  for (const auto& [hash, dictionary] : copied_dictionaries_) bytes += dictionary.size();
  return table_file_bytes(bytes);
}

Result<TableFileEntry> TableBuilder::finish() {
  assert(!empty());
  finish_run();
  assert(!finished_);
  finished_ = true;
  if (Status appended = append_tail(); !appended.ok()) return appended;
  return file_entry();
}

BlockHandle TableBuilder::append_index_block(BlockType type, std::string_view content) {
  return output_.append_block(type, content, compressor_.has_value() ? &*compressor_ : nullptr, DictionaryUse::kNever);
}

/// Appends the dictionaries that a run names.
void TableBuilder::append_dictionaries() {
  const auto append = [this](std::uint64_t hash, std::string_view dictionary) {
    const BlockHandle block = output_.append_block(BlockType::kDictionary, dictionary, nullptr, DictionaryUse::kNever);
    totals_.dictionaries.push_back({hash, block, ""});
  };
  const bool own = std::any_of(runs_.begin(), runs_.end(),
                               [this](const RunEntry& run) { return run.dictionary_hash == dictionary_hash_; });
  if (own) append(dictionary_hash_, dictionary_);
  for (const auto& [hash, dictionary] : copied_dictionaries_) append(hash, dictionary);
}

std::string TableBuilder::top_index_content() const {
  SortedBlockBuilder block(kTopIndexRestartInterval, Buckets::kNone);
  std::string value;
  for (const RunEntry& run : runs_) {
    value.clear();
    append_run_entry(value, run, totals_.smallest_version);
    block.add({run.largest_key, value, {}});
  }
  return std::string(block.finish(totals_.smallest_version));
}

Status TableBuilder::append_tail() {
  if (index_bytes_ > kBlockRawBytesMax || tables_.tables().size() * kDirectoryEntryBytes > kBlockRawBytesMax) {
    return Status::too_large("a table file has too many runs or tables for its indexes");
  }
  sum_up(runs_, &totals_);
  totals_.table_count = tables_.tables().size();
  append_dictionaries();
  TableFooter footer;
  footer.directory = append_index_block(BlockType::kTableDirectory, encode_directory(tables_.tables()));
  footer.properties = append_index_block(BlockType::kProperties, encode_table_properties(totals_));
  footer.top_index = append_index_block(BlockType::kTopIndex, top_index_content());
  const std::uint64_t file_bytes = table_file_bytes(output_.offset());
  output_.append(std::string(file_bytes - kTableFooterBytes - output_.offset(), '\0'));
  output_.append(encode_table_footer(footer, output_.place()));
  return Status();
}

TableFileEntry TableBuilder::file_entry() const {
  TableFileEntry entry;
  entry.number = number_;
  entry.seed = output_.seed();
  entry.size_bytes = output_.offset();
  entry.content_hash = output_.content_hash();
  entry.smallest_key = totals_.smallest_key;
  entry.largest_key = totals_.largest_key;
  entry.entry_count = totals_.entry_count;
  entry.tombstone_count = totals_.tombstone_count;
  entry.smallest_version = totals_.smallest_version;
  entry.largest_version = totals_.largest_version;
  entry.first_table = tables_.tables().front().table;
  entry.last_table = tables_.tables().back().table;
  entry.value_files = value_files_of(runs_);
  entry.ends = totals_.ends;
  return entry;
}

}  // namespace varve::format
