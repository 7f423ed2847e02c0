// Owns: opening a table file, and its end (table_file.h).
// Must never: read data blocks.
#include "engine/tables/table_file.h"

#include <cassert>
#include <new>
#include <span>
#include <utility>

#include "format/log/file_header.h"
#include "format/table/table_footer.h"

namespace varve::engine {

namespace {

/// Reads pieces of one file into a buffer that is reused.
class PieceReader {
 public:
  explicit PieceReader(const HeldFile& file, bool past_cache = false) noexcept : file_(file), past_cache_(past_cache) {}
  Result<std::string_view> operator()(std::uint64_t offset, std::uint64_t bytes) {
    buffer_.resize(bytes);
    const std::span<std::byte> into = std::as_writable_bytes(std::span(buffer_));
    const Status read = past_cache_ ? file_.read_past_cache(offset, into) : file_.read_exactly(offset, into);
    if (!read.ok()) return read;
    return std::string_view(buffer_);
  }

 private:
  const HeldFile& file_;
  const bool past_cache_;
  std::string buffer_;
};

Status load_dictionaries(OpenTable& table, PieceReader& read, format::Decompressor& decompressor) {
  for (const format::DictionaryEntry& entry : table.index.properties().dictionaries) {
    const Result<std::string_view> block = read(entry.block.offset, entry.block.bytes);
    if (!block.ok()) return block.status();
    const Result<std::string> bytes = format::decode_dictionary_block(*block, table.seed, entry, decompressor);
    if (!bytes.ok()) return bytes.status();
    Result<std::shared_ptr<const format::Dictionary>> dictionary = format::Dictionary::load(*bytes);
    if (!dictionary.ok()) return dictionary.status();
    table.dictionaries.push_back(*std::move(dictionary));
  }
  return Status();
}

/// Checks that the manifest and the file agree.
Status check_entry(const format::TableFileEntry& entry, const format::TableProperties& properties) {
  const bool same = entry.entry_count == properties.entry_count &&
                    entry.tombstone_count == properties.tombstone_count &&
                    entry.smallest_key == properties.smallest_key && entry.largest_key == properties.largest_key &&
                    entry.smallest_version == properties.smallest_version &&
                    entry.largest_version == properties.largest_version && entry.ends == properties.ends;
  return same ? Status() : Status::corruption("its properties differ from those in the manifest");
}

}  // namespace

const format::Dictionary* OpenTable::dictionary_of(const format::RunEntry& run) const noexcept {
  if (!run.dictionary_hash) return nullptr;
  for (const auto& dictionary : dictionaries) {
    if (dictionary->content_hash() == *run.dictionary_hash) return dictionary.get();
  }
  return nullptr;
}

Result<std::vector<format::DirectoryEntry>> read_directory(const TableFile& file) {
  const Result<const OpenTable*> table = file.open();
  if (!table.ok()) return table.status();
  const format::BlockHandle handle = (*table)->index.footer().directory;
  PieceReader read(*(*table)->file);
  const Result<std::string_view> bytes = read(handle.offset, handle.bytes);
  if (!bytes.ok()) return bytes.status();
  format::Decompressor decompressor;
  const Result<std::string> content = format::decode_block(*bytes, {(*table)->seed, handle.offset},
                                                           format::BlockType::kTableDirectory, decompressor, nullptr);
  if (!content.ok()) return content.status().in_file((*table)->name, handle.offset);
  Result<std::vector<format::DirectoryEntry>> directory = format::decode_directory(*content);
  if (!directory.ok()) return directory.status().in_file((*table)->name, handle.offset);
  return directory;
}

std::uint64_t OpenTable::memory_bytes() const noexcept {
  std::uint64_t bytes = sizeof(OpenTable) + sizeof(HeldFile) + index.memory_bytes();
  for (const auto& dictionary : dictionaries) bytes += dictionary->memory_bytes();
  return bytes;
}

namespace {

/// Returns the memory of a table file that is not open: its entry in the set, in the arrangement and here.
std::uint64_t memory_of(const format::TableFileEntry& entry) noexcept {
  constexpr std::uint64_t kCopies = 3;
  const std::uint64_t keys = entry.smallest_key.size() + entry.largest_key.size();
  return sizeof(TableFile) + kCopies * (sizeof(entry) + keys);
}

}  // namespace

TableFile::TableFile(TableFiles& files, format::TableFileEntry entry)
    : files_(files), entry_(std::move(entry)), memory_bytes_(memory_of(entry_)), opening_(files.scheduler()) {
  files_.cache().add_beside(memory_bytes_);
}

TableFile::~TableFile() {
  const OpenTable* const open = open_.load(std::memory_order_acquire);
  files_.cache().remove_beside(memory_bytes_ + (open == nullptr ? 0 : open->memory_bytes()));
  files_.ended(entry_, has_left_.load(std::memory_order_relaxed), open == nullptr ? 0 : open->cache_id);
}

Result<const OpenTable*> TableFile::open() const {
  if (const OpenTable* const open = open_.load(std::memory_order_acquire); open != nullptr) return open;
  std::uint64_t new_bytes = 0;
  {
    const io::MutexGuard guard(opening_);
    if (owned_ == nullptr) {
      Result<std::unique_ptr<const OpenTable>> opened = files_.open(entry_);
      if (!opened.ok()) return opened.status().at_place({FileKind::kTable, entry_.number});
      owned_ = *std::move(opened);
      new_bytes = owned_->memory_bytes();
      open_.store(owned_.get(), std::memory_order_release);
    }
  }
  if (new_bytes > 0) files_.cache().add_beside(new_bytes);
  return open_already();
}

bool TableFile::caches(std::uint64_t offset) const noexcept {
  return files_.cache().contains(open_already()->cache_id, offset);
}

PinnedBlock TableFile::pin_cached(std::uint64_t offset) const noexcept {
  return files_.cache().pin(open_already()->cache_id, offset);
}

TableFiles::TableFiles(const io::Env& env, io::Directory& directory, std::shared_ptr<BlockCache> cache,
                       std::shared_ptr<OpenFiles> open_files, std::function<void()> on_garbage)
    : env_(env),
      directory_(directory),
      cache_(std::move(cache)),
      open_files_(std::move(open_files)),
      on_garbage_(std::move(on_garbage)),
      mutex_(env.scheduler) {}

TableFiles::~TableFiles() {
  const io::MutexGuard guard(mutex_);
  for (const Garbage& garbage : garbage_) erase_blocks(garbage.cache_id);  // Other stores may use the cache, too.
}

std::shared_ptr<TableFile> TableFiles::add(const format::TableFileEntry& entry) {
  return std::make_shared<TableFile>(*this, entry);
}

std::shared_ptr<ValueFile> TableFiles::add(const format::ValueFileEntry& entry) {
  return std::make_shared<ValueFile>(*this, entry);
}

std::uint64_t TableFiles::name_blocks_of(std::uint64_t number) {
  const io::MutexGuard guard(mutex_);
  const auto [place, added] = fresh_.try_emplace(number, cache_->next_file_id());
  assert(added);  // Numbers are handed out once.
  return place->second;
}

std::uint64_t TableFiles::take_name_of(std::uint64_t number) noexcept {
  const io::MutexGuard guard(mutex_);
  const auto found = fresh_.find(number);
  if (found == fresh_.end()) return 0;
  const std::uint64_t cache_id = found->second;
  fresh_.erase(found);
  return cache_id;
}

void TableFiles::forget_blocks_of(std::uint64_t number) noexcept {
  erase_blocks(take_name_of(number));
}

void TableFiles::begin_blocks_of(std::uint64_t number) noexcept {
  std::uint64_t cache_id = 0;
  {
    const io::MutexGuard guard(mutex_);
    const auto found = fresh_.find(number);
    if (found != fresh_.end()) cache_id = found->second;
  }
  if (cache_id != 0) cache_->begin_file(cache_id);
}

void TableFiles::erase_blocks(std::uint64_t cache_id) noexcept {
  if (cache_id != 0) cache_->erase_file(cache_id);
}

void TableFiles::discard(const std::vector<format::TableFileEntry>& files) noexcept {
  for (const format::TableFileEntry& file : files) {
    forget_blocks_of(file.number);
    try {
      (void)directory_.remove(format::file_name(format::FileType::kTable, file.number));
    } catch (const std::bad_alloc&) {
      // The file stays as a stray, which the next open removes.
    }
  }
}

/// As of a block, damage of what an open reads may be that of a cache of the file system. So it is read once more.
Result<std::unique_ptr<const OpenTable>> TableFiles::open(const format::TableFileEntry& entry) {
  Result<std::unique_ptr<const OpenTable>> table = open_from(ReadFrom::kAnywhere, entry);
  if (table.status().code() != Code::kCorruption) return table;
  Result<std::unique_ptr<const OpenTable>> again = open_from(ReadFrom::kPastCache, entry);
  return again.ok() ? std::move(again) : std::move(table);
}

Result<std::unique_ptr<const OpenTable>> TableFiles::open_from(ReadFrom from, const format::TableFileEntry& entry) {
  const std::string name = format::file_name(format::FileType::kTable, entry.number);
  Result<std::unique_ptr<HeldFile>> file =
      HeldFile::open(*open_files_, env_.scheduler, directory_, name, entry.size_bytes);
  if (!file.ok()) return file.status();
  PieceReader read(**file, from == ReadFrom::kPastCache);
  const auto read_and_mark = [&](std::uint64_t offset, std::uint64_t bytes) {
    const Result<std::string_view> got = read(offset, bytes);
    const bool is_footer = bytes == format::kTableFooterBytes && offset + bytes == entry.size_bytes;
    if (got.ok() && is_footer) (*file)->set_mark(offset, *got);  // The footer's checksum is unique to this file.
    return got;
  };
  format::Decompressor decompressor;
  Result<format::TableIndex> index =
      format::open_table({entry.number, entry.seed, entry.size_bytes}, read_and_mark, decompressor);
  if (!index.ok()) return index.status().in_file(name);
  if (Status same = check_entry(entry, index->properties()); !same.ok()) return same.in_file(name);
  if (format::value_files_of(index->runs()) != entry.value_files) {
    return Status::corruption("names other value files than the manifest does").in_file(name);
  }

  auto table = std::make_unique<OpenTable>(*std::move(file), *std::move(index));
  table->name = {FileKind::kTable, entry.number, name};
  table->seed = entry.seed;
  if (Status loaded = load_dictionaries(*table, read, decompressor); !loaded.ok()) return loaded.in_file(name);
  const std::uint64_t named = take_name_of(entry.number);
  table->cache_id = named != 0 ? named : cache_->next_file_id();
  table->links = std::make_unique<const RunLinks>(*cache_, table->cache_id, table->index.runs());
  return std::unique_ptr<const OpenTable>(std::move(table));
}

Result<std::unique_ptr<const OpenValueFile>> TableFiles::open(const format::ValueFileEntry& entry) {
  auto values = std::make_unique<OpenValueFile>();
  values->name = {FileKind::kLogSegment, entry.number, format::file_name(format::FileType::kLogSegment, entry.number)};
  Result<std::unique_ptr<HeldFile>> file =
      HeldFile::open(*open_files_, env_.scheduler, directory_, values->name.name, entry.size_bytes);
  if (!file.ok()) return file.status();
  PieceReader read(**file);
  const Result<std::string_view> bytes = read(0, format::kFileHeaderBytes);
  if (!bytes.ok()) return bytes.status();
  const Result<format::FileHeader> header = format::decode_file_header(*bytes, format::FileType::kLogSegment);
  if (!header.ok()) return header.status().in_file(values->name, 0);
  if (header->number != entry.number || header->seed != entry.seed) {
    return Status::corruption("its header names another file than the manifest does").in_file(values->name, 0);
  }
  (*file)->set_mark(0, *bytes);
  values->file = *std::move(file);
  values->cache_id = cache_->next_file_id();
  return std::unique_ptr<const OpenValueFile>(std::move(values));
}

void TableFiles::ended(const format::TableFileEntry& entry, bool has_left, std::uint64_t cache_id) noexcept {
  ended({format::FileType::kTable, entry.number}, has_left, cache_id != 0 ? cache_id : take_name_of(entry.number));
}

void TableFiles::ended(const format::ValueFileEntry& entry, bool has_left, std::uint64_t cache_id) noexcept {
  ended({format::FileType::kLogSegment, entry.number}, has_left, cache_id);
}

void TableFiles::ended(format::FileId file, bool has_left, std::uint64_t cache_id) noexcept {
  if (!has_left) return erase_blocks(cache_id);
  try {
    const io::MutexGuard guard(mutex_);
    garbage_.push_back({file, cache_id});
  } catch (const std::bad_alloc&) {
    return erase_blocks(cache_id);  // The file is a stray, which the next open removes.
  }
  on_garbage_();
}

Status TableFiles::remove_garbage(NameRemoval& removal) {
  std::vector<Garbage> all;
  {
    const io::MutexGuard guard(mutex_);
    all.swap(garbage_);
  }
  Status first;
  for (const auto& [file, cache_id] : all) {
    erase_blocks(cache_id);
    std::string name = format::file_name(file.type, file.number);
    if (file.type == format::FileType::kLogSegment) {
      removal.remove(std::move(name));
      continue;
    }
    const Status removed = directory_.remove(name);
    if (!removed.ok() && first.ok()) first = removed;
  }
  return first;
}

}  // namespace varve::engine
