// Owns: the fuzzer of whole stores: changed files of a small store, with and without valid checksums.
// Must never: accept a wrong answer of a cleanly closed store whose checksums were not corrected. Must never accept a
// change of a store that could not be opened.
//
// Input: one byte of mode, then changes of six bytes: a file, the kind of change, two bytes of offset, two of detail.
// - mode bit 0: the store was closed cleanly; otherwise its process was killed
// - mode bit 1: checksums are corrected
// - mode bit 2: the store is opened for writing after it was read
// - mode bit 3: the store is verified as a whole
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/log/root.h"
#include "format/table/table_verify.h"
#include "fuzz/record_mutator.h"
#include "fuzz/sealing.h"
#include "io/env.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/memory_file_system.h"
#include "tests/support/disk_machine.h"
#include "varve/store.h"

namespace varve {
namespace {

constexpr std::string_view kPath = "/store";
constexpr std::string_view kAccount = "account1";
constexpr fuzz::RecordForm kForm{1, 6};
constexpr std::size_t kChangesMax = 64;
constexpr std::size_t kSegmentHeadBytes = 4096;
/// The number of zeros after the written bytes that can be changed too.
constexpr std::size_t kZerosReached = 64;

void require(bool holds) {
  if (!holds) std::abort();
}

/// A machine with little memory.
struct Machine : test::DiskMachine {
  explicit Machine(io::MemoryDisk disk) : DiskMachine(std::move(disk)) {
    files.keep_no_samples();
    ResourceOptions small;
    small.write_buffer_bytes = 1 << 20;
    small.block_cache_bytes = 1 << 20;
    resources = *Resources::create(small);
  }
  StoreOptions options(bool read_only) const {
    StoreOptions chosen = DiskMachine::options(!read_only);
    chosen.create_if_absent = !read_only;
    chosen.resources = resources;
    return chosen;
  }
  std::shared_ptr<Resources> resources;
};

// -- The store that is changed ------------------------------------------------------------------------------------

/// The written bytes of a file. Zeros follow them up to the file's size. So a segment needs memory only for its written
/// bytes.
struct File {
  std::string written;
  std::uint64_t size_bytes = 0;

  friend bool operator==(const File&, const File&) = default;
};

using Files = std::map<std::string, File>;

void fill(Store& store, int session) {
  require(session > 0 || store.create_account(kAccount).ok());
  const Result<Table> table = store.create_table(kAccount, "Table" + std::to_string(session));
  require(table.ok());
  Entity entity("p", "r");
  entity.set("B", Binary{"bytes"}).set("F", true).set("T", DateTime{limits::kDateTimeTicksMin}).set("D", 0.5);
  entity.set("G", Guid{}).set("I", 7).set("L", std::int64_t{8}).set("S", "text");
  WriteOptions buffered;
  buffered.durability = Durability::kBuffered;
  buffered.tag = "position";
  Table writable = *table;
  require(writable.insert(entity).ok());
  require(writable.insert_or_merge(Entity("p", "s").set("X", 1), buffered).ok());
  require(writable.insert_or_merge(Entity("q", "s").set("X", std::string(300, 'x')), buffered).ok());
  require(writable.remove("p", "s", ETag::any()).ok());
}

/// Makes a store in three sessions: tables in files of two levels, a drop, closed segments, and a log in use.
io::MemoryDisk make_disk(bool clean) {
  Machine machine{io::MemoryDisk()};
  for (int session = 0; session < 3; ++session) {
    auto store = Store::open(kPath, machine.options(false));
    require(store.ok());
    fill(**store, session);
    if (session == 1) require((*store)->drop_table(kAccount, "Table0").ok());
    if (session < 2) require((*store)->compact().ok());
    if (session == 2 && !clean) return machine.files.process_death(machine.random);
    require((*store)->close().ok());
  }
  return machine.files.snapshot();
}

std::string path_of(const std::string& name) {
  return std::string(kPath) + "/" + name;
}

/// Returns all content as text, or nothing if a read reports damage.
std::optional<std::vector<std::string>> content_of(Store& store);

struct Original {
  explicit Original(bool clean) : disk(make_disk(clean)) {
    for (const std::string& name : disk.file_names(kPath)) {
      const std::vector<std::byte> bytes = *disk.read_file(path_of(name));
      File& file = files[name];
      file.size_bytes = bytes.size();
      if (!bytes.empty()) file.written.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      const std::size_t last = file.written.find_last_not_of('\0');
      const std::size_t end = last == std::string::npos ? 0 : last + 1;
      file.written.resize(std::min(end + kZerosReached, bytes.size()));
    }
    Machine machine(disk);
    const auto store = Store::open(kPath, machine.options(true));
    require(store.ok());
    content = *content_of(**store);
    require(content.size() > 4);
  }

  io::MemoryDisk disk;
  Files files;
  std::vector<std::string> content;
};

const Original& original(bool clean) {
  static const Original of_clean(true);
  static const Original of_killed(false);
  return clean ? of_clean : of_killed;
}

// -- Changes --------------------------------------------------------------------------------------------------------

enum class Change : std::uint8_t { kFlip, kFill, kCut, kRemove, kExchange, kForeign, kMove, kAdd };
constexpr std::uint8_t kChanges = 8;

std::size_t two_bytes(const std::uint8_t* at) {
  return static_cast<std::size_t>(at[0]) + (static_cast<std::size_t>(at[1]) << 8);
}

void cut(File& file, std::size_t size_bytes) {
  file.written.resize(std::min(file.written.size(), size_bytes));
  file.size_bytes = size_bytes;
}

void append(File& file, std::size_t count, char byte) {
  file.written.resize(file.size_bytes);
  file.written.append(count, byte);
  file.size_bytes = file.written.size();
}

void change(const Original& from, Files& files, const std::uint8_t* bytes) {
  auto at = files.begin();
  std::advance(at, bytes[0] % std::max<std::size_t>(files.size(), 1));
  if (at == files.end()) return;
  File& file = at->second;
  std::string& written = file.written;
  const std::size_t where = written.empty() ? 0 : two_bytes(bytes + 2) % written.size();
  const std::size_t how = two_bytes(bytes + 4);
  const auto other = std::next(files.begin(), static_cast<std::ptrdiff_t>(how % files.size()));
  switch (static_cast<Change>(bytes[1] % kChanges)) {
    case Change::kFlip:
      if (where < written.size()) written[where] = static_cast<char>(written[where] ^ static_cast<char>(bytes[4]));
      break;
    case Change::kFill:
      for (std::size_t i = where; i < std::min(written.size(), where + bytes[5] % 64); ++i) {
        written[i] = static_cast<char>(bytes[4]);
      }
      break;
    case Change::kCut: cut(file, where); break;
    case Change::kRemove: files.erase(at); break;
    case Change::kExchange: std::swap(file, other->second); break;
    case Change::kForeign: {
      const Files& foreign = original(&from == &original(false)).files;
      if (const auto found = foreign.find(at->first); found != foreign.end()) file = found->second;
      break;
    }
    case Change::kMove:
      for (std::size_t i = 0; i < 64 && where + i < written.size() && how + i < written.size(); ++i) {
        written[where + i] = written[how + i];
      }
      break;
    case Change::kAdd: append(file, bytes[5], static_cast<char>(bytes[4])); break;
  }
}

// -- Checksums ------------------------------------------------------------------------------------------------------

std::uint64_t seed_of(const std::string& file) {
  return file.size() < format::kFileHeaderBytes ? 0 : format::load_u64(file.data() + 16);
}

void seal_records(std::string& file, std::uint64_t seed, std::size_t offset) {
  while (offset + 8 <= file.size()) {
    if (format::load_u64(file.data() + offset) != 0) {
      offset = fuzz::seal_record_at(file, offset, seed);
    } else if (offset % io::kSectorBytes != 0) {
      offset = (offset / io::kSectorBytes + 1) * io::kSectorBytes;
    } else {
      return;
    }
  }
}

/// The blocks of a table file stay where they were.
class Blocks : public format::TableVisitor {
 public:
  void on_block(const format::BlockHandle& handle, const format::BlockFrame& /*frame*/) override {
    all.push_back(handle);
  }
  void on_entry(const format::DataEntry& /*entry*/) override {}
  std::vector<format::BlockHandle> all;
};

void seal_table(std::string& file, const std::string& before) {
  const std::uint64_t seed = seed_of(before);
  Blocks blocks;
  const auto read = [&before](std::uint64_t offset, std::uint64_t count) -> Result<std::string_view> {
    if (offset > before.size() || count > before.size() - offset) return Status::corruption("beyond the end");
    return std::string_view(before).substr(offset, count);
  };
  (void)format::verify_table({format::load_u64(before.data() + 24), seed, before.size()}, read, &blocks).ok();
  for (const format::BlockHandle& block : blocks.all) fuzz::seal_range(file, seed, block.offset, block.bytes);
  if (file.size() < format::kTableFooterBytes) return;
  fuzz::seal_range(file, seed, file.size() - format::kTableFooterBytes, format::kTableFooterBytes);
}

std::string whole(const File& file) {
  std::string bytes = file.written;
  bytes.resize(file.size_bytes);
  return bytes;
}

void seal_root(Files& files, const std::string& before) {
  std::string& file = files.at(std::string(format::kRootName)).written;
  const std::uint64_t seed = seed_of(before);
  fuzz::seal_file_header(file, seed);
  if (file.size() < format::kFileHeaderBytes + 8) return;
  const std::size_t fields = file.size() - format::kFileHeaderBytes - 8;
  format::store_u64(file.data() + format::kFileHeaderBytes + fields,
                    format::checksum_at({seed, format::kFileHeaderBytes},
                                        std::string_view(file).substr(format::kFileHeaderBytes, fields)));
  Result<format::Root> root = format::decode_root(file);
  if (!root.ok() || root->state != format::RootState::kClean) return;
  const auto manifest = files.find(format::file_name(format::FileType::kManifest, root->manifest_number));
  if (manifest != files.end()) {
    root->manifest_bytes = manifest->second.size_bytes;
    root->manifest_hash = format::content_hash(whole(manifest->second));
  }
  for (format::FinalSegment& segment : root->segments) {
    const auto found = files.find(format::file_name(format::FileType::kLogSegment, segment.number));
    if (found == files.end() || found->second.size_bytes < kSegmentHeadBytes) continue;
    segment.size_bytes = found->second.size_bytes;
    const std::string bytes = whole(found->second);
    segment.footer_hash = format::content_hash(std::string_view(bytes).substr(bytes.size() - kSegmentHeadBytes));
  }
  file = format::encode_root(*root, seed);
  files.at(std::string(format::kRootName)).size_bytes = file.size();
}

void seal(const Original& from, Files& files) {
  for (auto& [name, changed] : files) {
    const File& original = from.files.at(name);
    const std::string& before = original.written;
    if (changed == original || before.size() < format::kFileHeaderBytes) continue;
    if (name.ends_with(".buf")) continue;
    std::string& file = changed.written;
    fuzz::seal_file_header(file, seed_of(before));
    if (name.ends_with(".wal")) seal_records(file, seed_of(before), kSegmentHeadBytes);
    if (name.starts_with("MANIFEST")) seal_records(file, seed_of(before), format::kFileHeaderBytes);
    if (name.ends_with(".sst")) seal_table(file, before);
  }
  const auto root = files.find(std::string(format::kRootName));
  if (root != files.end()) seal_root(files, from.files.at(root->first).written);
}

io::MemoryDisk disk_of(const Original& from, const Files& files) {
  io::MemoryDisk disk = from.disk;
  for (const auto& [name, before] : from.files) {
    const auto found = files.find(name);
    if (found == files.end()) {
      require(disk.remove_file(path_of(name)).ok());
    } else if (found->second != before) {
      disk.write_file(path_of(name), std::as_bytes(std::span(found->second.written)));
      require(disk.truncate(path_of(name), found->second.size_bytes).ok());
    }
  }
  disk.settle();
  return disk;
}

// -- Reads and their checks ------------------------------------------------------------------------------------------

bool typed(const Status& status) {
  switch (status.code()) {
    case Code::kOk:
    case Code::kCorruption:
    case Code::kUnsupported:
    case Code::kNotFound:
    case Code::kInvalidArgument: return true;
    default: return false;
  }
}

bool add_table(const Table& table, std::vector<std::string>& found) {
  Scan scan;
  scan.page_entities_max = 3;
  for (;;) {
    const Result<Page> page = table.scan(scan);
    require(typed(page.status()));
    if (!page.ok()) return false;
    for (const Entity& entity : page->entities) {
      found.push_back(entity.partition_key() + "/" + entity.row_key() + " " + entity.etag().to_string() + " " +
                      std::to_string(entity.properties().size()) + " " + std::to_string(accounted_size_bytes(entity)));
    }
    if (!page->continuation) return true;
    scan.continuation = *page->continuation;
  }
}

std::optional<std::vector<std::string>> content_of(Store& store) {
  std::vector<std::string> found;
  const Result<AccountPage> accounts = store.list_accounts();
  require(typed(accounts.status()));
  if (!accounts.ok()) return std::nullopt;
  for (const AccountInfo& account : accounts->accounts) {
    const Result<TablePage> tables = store.list_tables(account.name);
    require(typed(tables.status()));
    if (!tables.ok()) return std::nullopt;
    for (const TableInfo& info : tables->tables) {
      found.push_back(account.name + "/" + info.name);
      const Result<Table> table = store.open_table(account.name, info.name);
      require(typed(table.status()));
      if (!table.ok() || !add_table(*table, found)) return std::nullopt;
      require(typed(table->access_policies().status()));
    }
  }
  const Result<std::optional<std::string>> tag = store.last_tag();
  require(typed(tag.status()));
  found.push_back("tag " + (tag.ok() ? tag->value_or("-") : std::string("?")));
  return found;
}

/// Reading changes nothing, whatever it finds.
void read_all(const io::MemoryDisk& disk, bool is_verified, const std::vector<std::string>* expected) {
  Machine machine(disk);
  {
    const auto store = Store::open(kPath, machine.options(true));
    require(typed(store.status()));
    if (store.ok()) {
      const auto content = content_of(**store);
      require(expected == nullptr || !content || *content == *expected);
    }
  }
  if (is_verified) require(typed(Store::verify(kPath, machine.options(true)).status()));
  require(machine.files.operation_count() == 0);
}

/// Opening for writing changes nothing where it is refused.
void open_for_writing(const io::MemoryDisk& disk, const std::vector<std::string>* expected) {
  Machine machine(disk);
  {
    StoreOptions options = machine.options(false);
    options.create_if_absent = false;
    const auto store = Store::open(kPath, options);
    require(typed(store.status()));
    if (!store.ok()) {
      // The lock file may be made; it holds nothing.
      io::MemoryDisk after = machine.files.snapshot();
      for (const std::string& name : after.file_names(kPath)) {
        if (!disk.contains(path_of(name))) require(*after.file_size_bytes(path_of(name)) == 0);
        if (!disk.contains(path_of(name))) require(after.remove_file(path_of(name)).ok());
      }
      require(after.same_content(disk));
      return;
    }
    const auto content = content_of(**store);
    require(expected == nullptr || !content || *content == *expected);
    (void)(*store)->create_account("another").ok();
    (void)(*store)->compact().ok();
    (void)(*store)->close().ok();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kForm.leading_bytes) return 0;
  const bool is_clean = (data[0] & 1) != 0;
  const bool is_sealed = (data[0] & 2) != 0;
  const Original& from = original(is_clean);
  Files files = from.files;
  std::size_t changes = 0;
  for (std::size_t at = kForm.leading_bytes; at + kForm.record_bytes <= size && changes < kChangesMax;
       at += kForm.record_bytes, ++changes) {
    change(from, files, data + at);
  }
  if (is_sealed) seal(from, files);
  const io::MemoryDisk disk = disk_of(from, files);
  const std::vector<std::string>* const expected = is_clean && !is_sealed ? &from.content : nullptr;
  read_all(disk, (data[0] & 8) != 0, expected);
  if ((data[0] & 4) != 0) open_for_writing(disk, expected);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return fuzz::mutate_records(kForm, data, size, size_max, seed);
}

}  // namespace varve
