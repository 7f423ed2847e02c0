// Owns: creating and reading sample table files (table_sample.h).
// Must never: give an answer that is not in the bytes of the file.
#include "tests/format/table/table_sample.h"

#include <cstdlib>
#include <iostream>

#include "format/block/filter.h"
#include "format/bytes/checksum.h"
#include "format/table/index_cursor.h"

namespace varve::format {
namespace {

template <typename T>
T must(Result<T> result) {
  if (!result.ok()) {
    std::cerr << result.status().to_string() << "\n";
    std::abort();
  }
  return *std::move(result);
}

void must(const Status& status) {
  if (status.ok()) return;
  std::cerr << status.to_string() << "\n";
  std::abort();
}

}  // namespace

ReadBytes TableFile::reader_of(const std::string& bytes) {
  return [&bytes](std::uint64_t offset, std::uint64_t count) -> Result<std::string_view> {
    if (offset > bytes.size() || count > bytes.size() - offset) return Status::io_error("read past the end");
    return std::string_view(bytes).substr(offset, count);
  };
}

TableFile finish_table(TableBuilder& builder) {
  TableFile file;
  file.entry = must(builder.finish());
  file.bytes = builder.pending();
  return file;
}

TableFile build_table(const std::vector<OwnedEntry>& entries, const TableOptions& options, std::uint64_t number,
                      std::uint64_t seed) {
  const std::unique_ptr<TableBuilder> builder = must(TableBuilder::make(number, seed, options));
  for (const OwnedEntry& entry : entries) must(builder->add(entry.view()));
  return finish_table(*builder);
}

TableReading::TableReading(const TableFile& file)
    : file_(file), index_(must(open_table(file.name(), file.reader(), decompressor_))) {
  for (const DictionaryEntry& entry : index_.properties().dictionaries) {
    const std::string_view bytes = std::string_view(file.bytes).substr(entry.block.offset, entry.block.bytes);
    const std::string content = must(decode_dictionary_block(bytes, file.entry.seed, entry, decompressor_));
    dictionaries_.emplace_back(entry.content_hash, must(Dictionary::load(content)));
  }
}

Result<std::string> TableReading::read(const BlockHandle& handle, BlockType type, const RunEntry& run) {
  const Result<std::string_view> bytes = file_.reader()(handle.offset, handle.bytes);
  if (!bytes.ok()) return bytes.status();
  const Dictionary* dictionary = nullptr;
  for (const auto& [hash, held] : dictionaries_) {
    if (run.dictionary_hash == hash) dictionary = held.get();
  }
  return decode_block(*bytes, {file_.entry.seed, handle.offset}, type, decompressor_, dictionary);
}

Result<std::optional<OwnedEntry>> TableReading::find(std::string_view key, CommitVersion newest) {
  const std::uint64_t hash = content_hash(key);
  DataBlockCursor data;
  for (std::size_t number = index_.first_run_not_below(key); number < index_.runs().size(); ++number) {
    const RunEntry& run = index_.runs()[number];
    if (run.smallest_key > key) break;
    const Result<std::string> filter = read(run.filter(), BlockType::kFilterPartition, run);
    if (!filter.ok()) return filter.status();
    const Result<FilterView> view = FilterView::parse(*filter);
    if (!view.ok()) return view.status();
    if (!view->may_contain(hash)) break;
    const Result<std::string> partition = read(run.index(), BlockType::kIndexPartition, run);
    if (!partition.ok()) return partition.status();
    IndexCursor index;
    if (Status opened = index.open(*partition, run); !opened.ok()) return opened;
    for (index.seek(key, newest); index.valid(); index.next()) {
      const Result<std::string> content = read(index.block(), BlockType::kData, run);
      if (!content.ok()) return content.status();
      if (Status opened = data.open(*content); !opened.ok()) return opened;
      const FindOutcome outcome = data.find(key, hash, newest);
      if (outcome == FindOutcome::kDamaged) return data.status();
      if (outcome == FindOutcome::kFound) return std::optional(owned(data.entry()));
      if (outcome == FindOutcome::kAbsent) return std::optional<OwnedEntry>();
    }
    if (!index.status().ok()) return index.status();
  }
  return std::optional<OwnedEntry>();
}

Result<std::vector<OwnedEntry>> TableReading::scan(std::string_view key, CommitVersion newest) {
  std::vector<OwnedEntry> entries;
  bool first_block = true;
  for (std::size_t number = index_.first_run_not_below(key); number < index_.runs().size(); ++number) {
    const RunEntry& run = index_.runs()[number];
    const Result<std::string> partition = read(run.index(), BlockType::kIndexPartition, run);
    if (!partition.ok()) return partition.status();
    IndexCursor index;
    if (Status opened = index.open(*partition, run); !opened.ok()) return opened;
    for (first_block ? index.seek(key, newest) : index.seek_to_first(); index.valid(); index.next()) {
      const Result<std::string> content = read(index.block(), BlockType::kData, run);
      if (!content.ok()) return content.status();
      DataBlockCursor data;
      if (Status opened = data.open(*content); !opened.ok()) return opened;
      for (first_block ? data.seek(key, newest) : data.seek_to_first(); data.valid(); data.next()) {
        entries.push_back(owned(data.entry()));
      }
      if (!data.status().ok()) return data.status();
      // Versions of the key that are too new may fill the block to its end.
      first_block = entries.empty();
    }
    if (!index.status().ok()) return index.status();
  }
  return entries;
}

Result<std::vector<OwnedEntry>> TableReading::scan_back() {
  std::vector<OwnedEntry> entries;
  for (auto run = index_.runs().rbegin(); run != index_.runs().rend(); ++run) {
    const Result<std::string> partition = read(run->index(), BlockType::kIndexPartition, *run);
    if (!partition.ok()) return partition.status();
    IndexCursor index;
    if (Status opened = index.open(*partition, *run); !opened.ok()) return opened;
    for (index.seek_to_last(); index.valid(); index.previous()) {
      const Result<std::string> content = read(index.block(), BlockType::kData, *run);
      if (!content.ok()) return content.status();
      DataBlockCursor data;
      if (Status opened = data.open(*content); !opened.ok()) return opened;
      for (data.seek_to_last(); data.valid(); data.previous()) entries.push_back(owned(data.entry()));
      if (!data.status().ok()) return data.status();
    }
    if (!index.status().ok()) return index.status();
  }
  return entries;
}

}  // namespace varve::format
