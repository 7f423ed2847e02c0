// Owns: the deep check of a whole table file (table_verify.h).
// Must never: leave a byte of the file unread.
#include "format/table/table_verify.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "format/block/sorted_block_check.h"
#include "format/table/run_verify.h"

namespace varve::format {
namespace {

constexpr std::uint64_t kTailReadBytes = 1u << 20;

class TableVerifier {
 public:
  TableVerifier(const TableFileName& file, const ReadBytes& read, TableVisitor& visitor)
      : context_{file, read, visitor, {}, {}, {}, 0} {}

  Result<TableFileEntry> verify() {
    Result<TableIndex> index = open_table(context_.file, context_.read, context_.decompressor);
    if (!index.ok()) return index.status();
    index_ = &*index;
    context_.visitor.on_index(*index);
    if (Status top = check_top_index(); !top.ok()) return top;
    if (Status loaded = load_dictionaries(); !loaded.ok()) return loaded;
    if (Result<std::string_view> header = context_.read_on(index->runs().front().offset); !header.ok()) {
      return header.status();
    }
    for (const RunEntry& run : index->runs()) {
      const Dictionary* const dictionary =
          run.dictionary_hash.has_value() ? dictionaries_.at(*run.dictionary_hash).get() : nullptr;
      if (Status verified = verify_run(context_, run, dictionary); !verified.ok()) return verified;
    }
    if (Status directory = check_directory(); !directory.ok()) return directory;
    if (Status tail = read_tail(); !tail.ok()) return tail;
    return file_entry();
  }

 private:
  Result<std::string> read_content(const BlockHandle& handle, BlockType type) {
    const Result<std::string_view> bytes = context_.read(handle.offset, handle.bytes);
    if (!bytes.ok()) return bytes.status();
    show_block(handle, *bytes, type);
    return decode_block(*bytes, {context_.file.seed, handle.offset}, type, context_.decompressor, nullptr);
  }

  void show_block(const BlockHandle& handle, std::string_view bytes, BlockType type) {
    const Result<BlockFrame> frame = open_block(bytes, {context_.file.seed, handle.offset}, type);
    if (frame.ok()) context_.visitor.on_block(handle, *frame);
  }

  /// Checks the top index and the properties as blocks. Their meaning was checked when the file was opened.
  Status check_top_index() {
    const Result<std::string> properties = read_content(index_->footer().properties, BlockType::kProperties);
    if (!properties.ok()) return properties.status();
    const Result<std::string> content = read_content(index_->footer().top_index, BlockType::kTopIndex);
    if (!content.ok()) return content.status();
    const Result<SortedBlock> block = SortedBlock::parse(*content);
    if (!block.ok()) return block.status();
    const Status checked = check_sorted_block(*block);
    return checked.ok() ? checked : checked.in_file("top index");
  }

  Status load_dictionaries() {
    for (const DictionaryEntry& entry : index_->properties().dictionaries) {
      const Result<std::string_view> bytes = context_.read(entry.block.offset, entry.block.bytes);
      if (!bytes.ok()) return bytes.status();
      show_block(entry.block, *bytes, BlockType::kDictionary);
      const Result<std::string> content =
          decode_dictionary_block(*bytes, context_.file.seed, entry, context_.decompressor);
      if (!content.ok()) return content.status();
      Result<std::shared_ptr<const Dictionary>> dictionary = Dictionary::load(*content);
      if (!dictionary.ok()) return dictionary.status();
      dictionaries_.emplace(entry.content_hash, *std::move(dictionary));
    }
    return Status();
  }

  Status check_directory() {
    const Result<std::string> content = read_content(index_->footer().directory, BlockType::kTableDirectory);
    if (!content.ok()) return content.status();
    const Result<SortedBlock> block = SortedBlock::parse(*content);
    if (!block.ok()) return block.status();
    if (Status checked = check_sorted_block(*block); !checked.ok()) return checked.in_file("table directory");
    Result<std::vector<DirectoryEntry>> tables = decode_directory(*content);
    if (!tables.ok()) return tables.status();
    context_.visitor.on_directory(*tables);
    for (DirectoryEntry& table : *tables) table.unknown_fields.clear();
    if (*tables != context_.tally.tables() || index_->properties().table_count != tables->size()) {
      return Status::corruption("table directory: disagrees with the entries");
    }
    return Status();
  }

  /// Hashes the bytes after the runs, which were already read part by part, and checks the filling.
  Status read_tail() {
    const std::uint64_t filling = index_->footer().top_index.end();
    if (Status blocks = hash_up_to(filling); !blocks.ok()) return blocks;
    const Result<std::string_view> zeros = context_.read_on(context_.file.size_bytes - kTableFooterBytes - filling);
    if (!zeros.ok()) return zeros.status();
    if (zeros->find_first_not_of('\0') != std::string_view::npos) {
      return Status::corruption("table file: the filling at " + std::to_string(filling) + " is not zero");
    }
    return hash_up_to(context_.file.size_bytes);
  }

  Status hash_up_to(std::uint64_t end) {
    while (context_.hashed_bytes < end) {
      const std::uint64_t bytes = std::min(kTailReadBytes, end - context_.hashed_bytes);
      if (Result<std::string_view> read = context_.read_on(bytes); !read.ok()) return read.status();
    }
    return Status();
  }

  TableFileEntry file_entry() const {
    const TableProperties& properties = index_->properties();
    TableFileEntry entry;
    entry.number = context_.file.number;
    entry.seed = context_.file.seed;
    entry.size_bytes = context_.file.size_bytes;
    entry.content_hash = context_.hasher.digest();
    entry.smallest_key = properties.smallest_key;
    entry.largest_key = properties.largest_key;
    entry.entry_count = properties.entry_count;
    entry.tombstone_count = properties.tombstone_count;
    entry.smallest_version = properties.smallest_version;
    entry.largest_version = properties.largest_version;
    entry.first_table = context_.tally.tables().front().table;
    entry.last_table = context_.tally.tables().back().table;
    entry.value_files = value_files_of(index_->runs());
    entry.ends = properties.ends;
    return entry;
  }

  VerifyContext context_;
  const TableIndex* index_ = nullptr;
  std::map<std::uint64_t, std::shared_ptr<const Dictionary>> dictionaries_;
};

}  // namespace

Result<TableFileEntry> verify_table(const TableFileName& file, const ReadBytes& read, TableVisitor* visitor) {
  TableVisitor nobody;
  return TableVerifier(file, read, visitor != nullptr ? *visitor : nobody).verify();
}

}  // namespace varve::format
