// Owns: opening the readable parts of a table file (salvaged_index.h).
// Must never: end a repair because of damage, or continue after an error of the device.
#include "engine/repair/salvaged_index.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <utility>

#include "engine/repair/block_scan.h"
#include "format/log/file_header.h"
#include "format/table/table_footer.h"
#include "io/os_error.h"

namespace varve::engine {
namespace {

/// The places of an index's blocks, found by searching the whole file.
struct TailBlocks {
  std::optional<format::BlockHandle> directory;
  std::optional<format::BlockHandle> properties;
  std::optional<format::BlockHandle> top_index;
};

class Opener {
 public:
  Opener(const TableSource& source, Salvage& salvage) noexcept : source_(source), salvage_(salvage) {}

  Result<std::optional<SalvagedIndex>> open() {
    Result<std::unique_ptr<io::ReadableFile>> file = salvage_.directory.open(source_.name, io::ReadMode::kDirect);
    if (io::is_missing(file.status()) || is_damage(file.status())) return lose(file.status());
    if (!file.ok()) return file.status();
    found_.file = *std::move(file);
    if (Result<bool> usable = read_header(); !usable.ok()) return usable.status();
    if (!has_seed_) return std::optional<SalvagedIndex>();
    if (Status indexed = read_index(); !indexed.ok()) return indexed;
    if (Status loaded = load_dictionaries(); !loaded.ok()) return loaded;
    return std::optional<SalvagedIndex>(std::move(found_));
  }

 private:
  std::uint64_t size() const noexcept { return found_.file->size_bytes(); }

  void note(const Status& why) {
    found_.is_whole = false;
    salvage_.note(why.in_file(source_.name));
  }

  /// Records that nothing of the file can be read.
  std::optional<SalvagedIndex> lose(const Status& why) {
    const bool is_missing = io::is_missing(why);
    is_missing ? ++salvage_.figures.report.table_files.missing : ++salvage_.figures.report.table_files.damaged;
    const std::string what = is_missing ? "the table file is missing" : std::string(why.message());
    salvage_.note(source_.name, what);
    Loss loss{source_.name, 0, 0, what};
    if (source_.has_bounds) {
      loss.smallest_key = source_.entry.smallest_key;
      loss.largest_key = source_.entry.largest_key;
      loss.smallest_version = source_.entry.smallest_version;
      loss.largest_version = source_.entry.largest_version;
    }
    salvage_.losses.add(std::move(loss));
    return std::nullopt;
  }

  Result<bool> read_header() {
    std::string bytes(std::min<std::uint64_t>(size(), format::kFileHeaderBytes), '\0');
    if (Status read = found_.file->read_exactly(0, std::as_writable_bytes(std::span(bytes))); !read.ok()) return read;
    const Result<format::FileHeader> header = format::decode_file_header(bytes, format::FileType::kTable);
    if (!header.ok() && !is_damage(header.status())) return header.status().in_file(source_.name);
    if (source_.is_named) {
      found_.seed = source_.entry.seed;
      has_seed_ = true;
      if (!header.ok()) {
        note(header.status());
      } else if (header->seed != found_.seed || header->number != source_.entry.number) {
        note(Status::corruption("another file has taken its place"));
      }
      if (size() != source_.entry.size_bytes) {
        note(Status::corruption("has " + std::to_string(size()) + " bytes, but the manifest records " +
                                std::to_string(source_.entry.size_bytes)));
      }
      return true;
    }
    if (!header.ok() || header->number != source_.entry.number) {
      lose(header.ok() ? Status::corruption("its header has the number of another file") : header.status());
      return false;
    }
    found_.seed = header->seed;
    has_seed_ = true;
    return true;
  }

  /// Reads a block at a place from a verified footer or from the search. Both are inside the file.
  Result<std::string> read_block(const format::BlockHandle& handle, format::BlockType type) {
    assert(handle.end() <= size());
    std::string bytes(handle.bytes, '\0');
    if (Status read = found_.file->read_exactly(handle.offset, std::as_writable_bytes(std::span(bytes))); !read.ok()) {
      return read;
    }
    return format::decode_block(bytes, {found_.seed, handle.offset}, type, decompressor_, nullptr);
  }

  Result<format::TableFooter> read_footer() {
    const std::uint64_t end = source_.is_named ? source_.entry.size_bytes : size();
    if (end > size() || end < format::kTableFooterBytes) return Status::corruption("its end is missing");
    const std::uint64_t offset = end - format::kTableFooterBytes;
    std::string bytes(format::kTableFooterBytes, '\0');
    if (Status read = found_.file->read_exactly(offset, std::as_writable_bytes(std::span(bytes))); !read.ok()) {
      return read;
    }
    return format::decode_table_footer(bytes, {found_.seed, offset});
  }

  Result<format::TableIndex> make_index(const format::TableFooter& footer) {
    const Result<std::string> properties = read_block(footer.properties, format::BlockType::kProperties);
    if (!properties.ok()) return properties.status();
    const Result<std::string> top_index = read_block(footer.top_index, format::BlockType::kTopIndex);
    if (!top_index.ok()) return top_index.status();
    const Result<std::string> directory = read_block(footer.directory, format::BlockType::kTableDirectory);
    if (is_damage(directory.status())) {
      note(directory.status());  // Rows can be read without it.
    } else if (!directory.ok()) {
      return directory.status();
    }
    return format::TableIndex::make(footer, *top_index, *properties);
  }

  Status read_index() {
    const Result<format::TableFooter> footer = read_footer();
    Status why = footer.status();
    if (footer.ok()) {
      Result<format::TableIndex> index = make_index(*footer);
      if (index.ok()) return keep(*std::move(index));
      why = index.status();
    }
    if (!is_damage(why)) return why.in_file(source_.name);
    note(why);
    return search_index();
  }

  /// Searches the index blocks, because the footer may be the only lost part of the index.
  Status search_index() {
    const Result<TailBlocks> tail = search_tail();
    if (!tail.ok()) return tail.status();
    if (!tail->directory || !tail->properties || !tail->top_index) return Status();
    Result<format::TableIndex> index = make_index({*tail->top_index, *tail->properties, *tail->directory});
    if (index.ok()) return keep(*std::move(index));
    return is_damage(index.status()) ? Status() : index.status().in_file(source_.name);
  }

  Result<TailBlocks> search_tail() {
    TailBlocks tail;
    BlockScan scan(*found_.file, found_.seed, format::kFileHeaderBytes, size());
    for (;;) {
      const Result<std::optional<FoundBlock>> block = scan.next();
      if (!block.ok()) return block.status();
      if (!*block) break;
      if ((*block)->type == format::BlockType::kTableDirectory) tail.directory = (*block)->handle;
      if ((*block)->type == format::BlockType::kProperties) tail.properties = (*block)->handle;
      if ((*block)->type == format::BlockType::kTopIndex) tail.top_index = (*block)->handle;
    }
    salvage_.figures.report.read_bytes += scan.read_bytes();
    return tail;
  }

  /// Keeps the index unless it contradicts the manifest. A contradicting index belongs to another file, even if it
  /// verifies.
  Status keep(format::TableIndex index) {
    const format::TableProperties& properties = index.properties();
    const format::TableFileEntry& entry = source_.entry;
    const bool agrees =
        !source_.is_named ||
        (entry.entry_count == properties.entry_count && entry.smallest_key == properties.smallest_key &&
         entry.largest_key == properties.largest_key && entry.smallest_version == properties.smallest_version &&
         entry.largest_version == properties.largest_version);
    if (agrees) {
      found_.index = std::move(index);
    } else {
      note(Status::corruption("its properties differ from those in the manifest"));
    }
    return Status();
  }

  Status load_dictionaries() {
    if (!found_.index) return Status();
    for (const format::DictionaryEntry& entry : found_.index->properties().dictionaries) {
      Result<std::shared_ptr<const format::Dictionary>> dictionary = load_dictionary(entry);
      if (dictionary.ok()) {
        found_.dictionaries.emplace(entry.content_hash, *std::move(dictionary));
      } else if (is_damage(dictionary.status())) {
        note(dictionary.status());
      } else {
        return dictionary.status().in_file(source_.name);
      }
    }
    return Status();
  }

  Result<std::shared_ptr<const format::Dictionary>> load_dictionary(const format::DictionaryEntry& entry) {
    assert(entry.block.end() <= size());  // TableIndex::make() checked that it precedes the directory.
    std::string bytes(entry.block.bytes, '\0');
    if (Status read = found_.file->read_exactly(entry.block.offset, std::as_writable_bytes(std::span(bytes)));
        !read.ok()) {
      return read;
    }
    const Result<std::string> content = format::decode_dictionary_block(bytes, found_.seed, entry, decompressor_);
    if (!content.ok()) return content.status();
    return format::Dictionary::load(*content);
  }

  const TableSource& source_;
  Salvage& salvage_;
  SalvagedIndex found_;
  bool has_seed_ = false;
  format::Decompressor decompressor_;
};

}  // namespace

const format::Dictionary* SalvagedIndex::dictionary_of(const format::RunEntry& run) const noexcept {
  if (!run.dictionary_hash) return nullptr;
  const auto found = dictionaries.find(*run.dictionary_hash);
  return found == dictionaries.end() ? nullptr : found->second.get();
}

Result<std::optional<SalvagedIndex>> open_salvaged(const TableSource& source, Salvage& salvage) {
  return Opener(source, salvage).open();
}

Status describe_unnamed(TableSource& source, Salvage& salvage) {
  // The file's irregularities are noted when it is read; this read is only for its bounds.
  Salvage looking{salvage.directory, {}, {}};
  const Result<std::optional<SalvagedIndex>> opened = open_salvaged(source, looking);
  salvage.figures.report.read_bytes += looking.figures.report.read_bytes;
  if (!opened.ok()) return opened.status();
  if (!*opened || !(*opened)->index) return Status();
  const format::TableProperties& properties = (*opened)->index->properties();
  source.entry.seed = (*opened)->seed;
  source.entry.smallest_key = properties.smallest_key;
  source.entry.largest_key = properties.largest_key;
  source.entry.smallest_version = properties.smallest_version;
  source.entry.largest_version = properties.largest_version;
  source.has_bounds = true;
  return Status();
}

}  // namespace varve::engine
