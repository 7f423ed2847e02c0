// Owns: the fuzzer of whole table files: hostile files, and files of our own with changes under valid checksums.
// Must never: let a file that passes deep verification answer differently from the entries that the check showed.
//
// Input: one byte of mode, then
// - mode 0: the file
// - mode 1: changes to a file of our own, each two bytes of offset and one byte of change; then every checksum is
//   corrected
// - mode 2: the file; every checksum that the file's own parts lead to is corrected
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/filter.h"
#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/keys/ends.h"
#include "format/keys/sort_key.h"
#include "format/log/file_header.h"
#include "format/table/index_cursor.h"
#include "format/table/table_builder.h"
#include "format/table/table_verify.h"
#include "fuzz/mutation.h"
#include "fuzz/record_mutator.h"
#include "fuzz/sealing.h"

namespace varve::format {
namespace {

constexpr std::uint64_t kNumber = 60;
constexpr std::uint64_t kSeed = 0x5eed;
/// The bytes of a change in mode 1.
constexpr std::size_t kChangeBytes = 3;

void require(bool holds) {
  if (!holds) std::abort();
}

bool refused(const Status& status) {
  return status.code() == Code::kCorruption || status.code() == Code::kUnsupported;
}

struct Seen {
  std::string key;
  CommitVersion version;
  std::string value;
};

/// Collects the handles of blocks, and the entries.
class Collector : public TableVisitor {
 public:
  void on_block(const BlockHandle& handle, const BlockFrame& /*frame*/) override { blocks.push_back(handle); }
  void on_entry(const DataEntry& entry) override {
    entries.push_back({std::string(entry.key), entry.version, std::string(entry.value)});
  }

  std::vector<BlockHandle> blocks;
  std::vector<Seen> entries;
};

class File {
 public:
  explicit File(std::string bytes) : bytes_(std::move(bytes)) {}

  std::string& bytes() { return bytes_; }
  TableFileName name() const { return {kNumber, kSeed, bytes_.size()}; }
  ReadBytes reader() const {
    return [this](std::uint64_t offset, std::uint64_t count) -> Result<std::string_view> {
      if (offset > bytes_.size() || count > bytes_.size() - offset) return Status::corruption("beyond the end");
      return std::string_view(bytes_).substr(offset, count);
    };
  }

  void seal(std::uint64_t offset, std::uint64_t bytes) { fuzz::seal_range(bytes_, kSeed, offset, bytes); }
  void seal_ends() {
    if (bytes_.size() < kFileHeaderBytes + kTableFooterBytes) return;
    store_u64(bytes_.data() + 16, kSeed);
    store_u64(bytes_.data() + 24, kNumber);
    seal(0, kFileHeaderBytes);
    seal(bytes_.size() - kTableFooterBytes, kTableFooterBytes);
  }

 private:
  std::string bytes_;
};

/// Returns a small file with every part except dictionaries: three tables, two blocks, deletes, versions.
std::string own_file(std::vector<BlockHandle>* blocks) {
  TableOptions options;
  options.compression_level = 0;
  const auto builder = *TableBuilder::make(kNumber, kSeed, options);
  for (std::uint64_t i = 0; i < 48; ++i) {
    const std::string key =
        *encode_sort_key(1 + i / 16, "p" + std::to_string(i / 8 % 2), "r" + std::to_string(100 + i / 2));
    const bool removed = i % 7 == 3;
    std::string value = removed ? "" : std::string(i * 5, static_cast<char>('a' + i % 3));
    const bool expires = !removed && i % 5 == 2;
    std::string end;
    if (expires) append_u64(end, 2000 + i);
    value.insert(0, end);
    const Kind put = expires ? Kind::kPutExpiring : Kind::kPut;
    require(builder->add({key, 1000 - i, removed ? Kind::kDelete : put, value}).ok());
  }
  require(builder->finish().ok());
  const File file{std::string(builder->pending())};
  Collector collector;
  require(verify_table(file.name(), file.reader(), &collector).ok());
  *blocks = collector.blocks;
  return std::string(builder->pending());
}

/// Returns whether a point read finds the entry's value. Files with dictionaries are not tested here.
bool finds(const File& file, const TableIndex& index, const Seen& entry, Decompressor& decompressor) {
  const std::uint64_t hash = content_hash(entry.key);
  const auto content_of = [&](const BlockHandle& handle, BlockType type) {
    return decode_block(*file.reader()(handle.offset, handle.bytes), {kSeed, handle.offset}, type, decompressor,
                        nullptr);
  };
  for (std::size_t run = index.first_run_not_below(entry.key); run < index.runs().size(); ++run) {
    const std::string filter = *content_of(index.runs()[run].filter(), BlockType::kFilterPartition);
    require((*FilterView::parse(filter)).may_contain(hash));
    const std::string partition = *content_of(index.runs()[run].index(), BlockType::kIndexPartition);
    IndexCursor blocks;
    require(blocks.open(partition, index.runs()[run]).ok());
    for (blocks.seek(entry.key, entry.version); blocks.valid(); blocks.next()) {
      const std::string content = *content_of(blocks.block(), BlockType::kData);
      DataBlockCursor data;
      require(data.open(content).ok());
      const FindOutcome outcome = data.find(entry.key, hash, entry.version);
      if (outcome == FindOutcome::kContinues) continue;
      return outcome == FindOutcome::kFound && data.version() == entry.version && data.value() == entry.value;
    }
  }
  return false;
}

void read_file(const File& file) {
  static Decompressor decompressor;
  Collector collector;
  const Result<TableFileEntry> verified = verify_table(file.name(), file.reader(), &collector);
  const Result<TableIndex> index = open_table(file.name(), file.reader(), decompressor);
  require(index.ok() || refused(index.status()));
  if (!verified.ok()) {
    require(refused(verified.status()));
    return;
  }
  require(index.ok());
  require(verified->entry_count == collector.entries.size());
  if (!index->properties().dictionaries.empty()) return;
  const std::size_t stride = collector.entries.size() / 50 + 1;
  for (std::size_t i = 0; i < collector.entries.size(); i += stride) {
    require(finds(file, *index, collector.entries[i], decompressor));
  }
}

void change_own_file(std::string_view changes) {
  static std::vector<BlockHandle> blocks;
  static const std::string original = own_file(&blocks);
  File file(original);
  for (; changes.size() >= kChangeBytes; changes.remove_prefix(kChangeBytes)) {
    char& byte = file.bytes()[load_u16(changes.data()) % original.size()];
    byte = static_cast<char>(byte ^ changes[2]);
  }
  for (const BlockHandle& block : blocks) file.seal(block.offset, block.bytes);
  file.seal_ends();
  read_file(file);
}

/// Follows the file's own footer, top index and index partitions, and corrects the checksums of the parts that they
/// lead to.
void seal_by_its_own_parts(File& file) {
  file.seal_ends();
  if (file.bytes().size() < kFileHeaderBytes + kTableFooterBytes) return;
  const FilePlace place{kSeed, file.bytes().size() - kTableFooterBytes};
  const Result<TableFooter> footer = decode_table_footer(std::string_view(file.bytes()).substr(place.offset), place);
  if (!footer.ok()) return;
  for (const BlockHandle& block : {footer->directory, footer->properties, footer->top_index}) {
    file.seal(block.offset, block.bytes);
  }
  static Decompressor decompressor;
  const Result<TableIndex> index = open_table(file.name(), file.reader(), decompressor);
  if (!index.ok()) return;
  for (const RunEntry& run : index->runs()) {
    file.seal(run.filter().offset, run.filter().bytes);
    file.seal(run.index().offset, run.index().bytes);
    const Result<std::string_view> bytes = file.reader()(run.index().offset, run.index().bytes);
    if (!bytes.ok()) return;
    const Result<std::string> partition =
        decode_block(*bytes, {kSeed, run.index().offset}, BlockType::kIndexPartition, decompressor, nullptr);
    IndexCursor blocks;
    if (!partition.ok() || !blocks.open(*partition, run).ok()) continue;
    for (blocks.seek_to_first(); blocks.valid(); blocks.next()) file.seal(blocks.block().offset, blocks.block().bytes);
  }
}

// -- Mutations ------------------------------------------------------------------------------------------------------

void change(fuzz::Chance& chance, Seen& entry) {
  SortKey key{1, "p", "r"};
  if (const Result<SortKey> decoded = decode_sort_key(entry.key); decoded.ok()) key = *decoded;
  switch (chance.below(5)) {
    case 0: key.table = chance.below(4) + 1; break;
    case 1: fuzz::mutate_bytes(key.partition_key); break;
    case 2: fuzz::mutate_bytes(key.row_key); break;
    case 3: entry.version = fuzz::mutated_number(chance, entry.version) % kCommitVersionMax; break;
    default: fuzz::mutate_bytes(entry.value); break;
  }
  const Result<std::string> encoded = encode_sort_key(key.table, key.partition_key, key.row_key);
  if (encoded.ok()) entry.key = *encoded;
}

/// Returns a file of changed entries. An entry with a value is a put.
std::string of_entries(fuzz::Chance& chance, std::vector<Seen> entries) {
  fuzz::mutate_parts(chance, entries, [&](Seen& entry) { change(chance, entry); });
  std::erase_if(entries, [](const Seen& entry) { return entry.key.empty() || entry.version == 0; });
  const auto before = [](const Seen& left, const Seen& right) {
    return left.key != right.key ? left.key < right.key : left.version > right.version;
  };
  const auto same = [](const Seen& left, const Seen& right) {
    return left.key == right.key && left.version == right.version;
  };
  std::sort(entries.begin(), entries.end(), before);
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  if (entries.empty()) return std::string();
  TableOptions options;
  options.compression_level = chance.one_in(2) ? 0 : 1;
  const auto builder = *TableBuilder::make(kNumber, kSeed, options);
  for (const Seen& entry : entries) {
    const Kind kind = entry.value.empty() ? Kind::kDelete : Kind::kPut;
    require(builder->add({entry.key, entry.version, kind, entry.value}).ok());
  }
  require(builder->finish().ok());
  return std::string(builder->pending());
}

/// Returns a whole file in which one block, including its frame, has other bytes, or other entries.
std::optional<std::string> mutated(fuzz::Chance& chance, std::string_view input) {
  if (input.size() < 1 + kFileHeaderBytes + kTableFooterBytes) return std::nullopt;
  File file{std::string(input.substr(1))};
  seal_by_its_own_parts(file);
  Collector collector;
  const bool is_whole = verify_table(file.name(), file.reader(), &collector).ok();
  if (is_whole && chance.one_in(2)) return std::string(1, '\0') + of_entries(chance, std::move(collector.entries));
  if (collector.blocks.empty()) return std::nullopt;
  const BlockHandle& block = collector.blocks[chance.below(collector.blocks.size())];
  std::string bytes = file.bytes().substr(block.offset, block.bytes - 8);
  fuzz::mutate_bytes(bytes);
  bytes.resize(block.bytes - 8);
  file.bytes().replace(block.offset, bytes.size(), bytes);
  file.seal(block.offset, block.bytes);
  return "\2" + file.bytes();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 3 == 1) {
    change_own_file(rest);
    return 0;
  }
  File file{std::string(rest)};
  if (data[0] % 3 == 2) seal_by_its_own_parts(file);
  read_file(file);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  if (size > 0 && data[0] % 3 == 1) return fuzz::mutate_records({1, kChangeBytes}, data, size, size_max, seed);
  return fuzz::mutate_structure(data, size, size_max, seed, mutated);
}

}  // namespace varve::format
