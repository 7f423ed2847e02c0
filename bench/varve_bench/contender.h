// Owns: what every contender in the race must do, so that each row is the same work for all of them.
// Must never: let one contender promise less than another does in the same row.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bench/varve_bench/entities.h"
#include "varve/result.h"

namespace varve::bench {

/// What an acknowledged write has survived: a power cut, or the death of the process.
enum class Promise : std::uint8_t { kDurable, kBuffered };

/// kAbsent: under the partition's lock each key is looked for, and must not be there.
enum class Check : std::uint8_t { kNone, kAbsent };

/// How sorted entities come in bulk.
enum class LoadWay : std::uint8_t {
  kBatches,  // buffered batches of a hundred, through the log
  kNoLog,    // batches of a hundred that no log sees; lost with the process until they are flushed
  kFiles,    // finished table files, made visible and durable by one commit
};

struct Settings {
  /// For blocks of table files. What a contender keeps outside of its cache is its own affair and shows in its memory.
  std::uint64_t cache_bytes = std::uint64_t{512} << 20;
  /// For entities on their way to table files, all together.
  std::uint64_t write_buffer_bytes = std::uint64_t{256} << 20;
  /// Reads pass the page cache by.
  bool direct_reads = false;
  /// Check::kAbsent will be used; RocksDB pays for transactions only then.
  bool checks = false;
  /// Stores without versions of their own keep one before each value, for replace_if_as_read() and erase().
  bool versions = false;
  /// Reads go to random places of more data than memory holds; LMDB reads nothing ahead then.
  bool scattered_reads = false;
  /// Entities above 16 KiB are common; RocksDB keeps them in blob files then.
  bool large_values = false;
  /// Tables that are there from the beginning, a hundred an account where they are many.
  std::uint32_t tables = 4;
};

/// What a scan makes of each entity: an object with memory of its own, or a look at it where the contender keeps it.
enum class Scanned : std::uint8_t { kMade, kInPlace };

struct KeyedRow {
  std::string partition;
  Row row;
};

/// Tables are numbered; those below Settings::tables are there from the beginning. Any number of threads at once. A
/// verb that a contender has no counterpart for answers kUnsupported, and its row stays empty.
class Contender {
 public:
  static constexpr std::uint32_t kTables = 4;

  virtual ~Contender() = default;
  /// How it reaches its files.
  virtual std::string back_end() const = 0;
  /// What the contents of all tables occupy on disk, logs left out.
  virtual std::uint64_t table_bytes() const = 0;

  /// All rows of one partition, in one commit.
  virtual Status put(std::uint32_t table, std::string_view partition, std::span<const Row> rows, Check check,
                     Promise promise) = 0;
  virtual Status remove(std::uint32_t table, std::string_view partition, std::span<const Row> rows,
                        Promise promise) = 0;
  /// All rows of one partition, in one commit, each only if it is as the last call for the partition left it; the first
  /// call makes them. Settings::checks is set.
  virtual Status replace_unchanged(std::uint32_t table, std::string_view partition, std::span<const Row> rows,
                                   Promise promise) = 0;
  /// Entities 0 to `count` of entities.h, in the order of their keys.
  virtual Status load(std::uint32_t table, std::uint64_t count, LoadWay way) = 0;

  /// Whether it is there; an entity that is there is decoded.
  virtual Result<bool> get(std::uint32_t table, std::string_view partition, std::string_view row) = 0;
  /// get() of many keys asked for by one thread, `in_flight` of them at a time; how many are there.
  virtual Result<std::uint64_t> get_side_by_side(std::uint32_t table, std::span<const Keys> keys,
                                                 std::size_t in_flight) = 0;
  /// How many entities the partition has, at most `count_max`; each is decoded.
  virtual Result<std::uint64_t> scan_partition(std::uint32_t table, std::string_view partition, std::uint32_t count_max,
                                               Scanned scanned) = 0;
  virtual Result<std::uint64_t> scan_table(std::uint32_t table, Scanned scanned) = 0;

  /// get() of many keys in one call.
  virtual Result<std::uint64_t> get_batch(std::uint32_t table, std::span<const Keys> keys);
  /// How many entities there are from the partition on, at most `count_max`; each is decoded.
  virtual Result<std::uint64_t> scan_from(std::uint32_t table, std::string_view partition, std::uint32_t count_max) = 0;
  /// How many entities are of a group, in one partition or in the whole table; only they are made.
  virtual Result<std::uint64_t> query_group(std::uint32_t table, std::optional<std::string_view> partition,
                                            std::int32_t group) = 0;

  /// Durable puts that one thread has under way side by side, each a commit; it is told when they are durable.
  virtual Status put_side_by_side(std::uint32_t table, std::span<const KeyedRow> rows, std::size_t in_flight);
  /// Gives one property of an entity that is there another text, and keeps its others. Who must reads it to do so.
  virtual Status update_property(std::uint32_t table, const Keys& keys, std::string_view name, std::string_view text,
                                 Promise promise) = 0;
  /// Reads an entity, then replaces it if nobody has changed it meanwhile; `conflict`: claims another version than the
  /// one read, and must be refused. Whether it was replaced. Settings::checks and Settings::versions are set.
  virtual Result<bool> replace_if_as_read(std::uint32_t table, std::string_view partition, const Row& row,
                                          bool conflict, Promise promise) = 0;
  /// Deletes an entity and says whether it was there. Settings::checks is set.
  virtual Result<bool> erase(std::uint32_t table, const Keys& keys, Promise promise) = 0;

  virtual Status create_table(std::uint32_t table) = 0;
  /// Durable when it returns. load() may be asked for the table again.
  virtual Status drop_table(std::uint32_t table) = 0;
  /// Whatever the contender offers to get a dropped table's space back at once.
  virtual Status reclaim(std::uint32_t table) = 0;

  /// Waits until no background work is left that the contender would do by itself.
  virtual Status wait_until_idle() = 0;
  /// Brings everything to table files and merges these to the end.
  virtual Status compact() = 0;
  /// Whether there is anything to merge.
  virtual bool compacts() const noexcept { return true; }
};

// Ways that any contender may go.
/// LoadWay::kBatches by put().
Status load_in_batches(Contender& contender, std::uint32_t table, std::uint64_t count);
/// get_side_by_side() by get().
Result<std::uint64_t> get_one_by_one(Contender& contender, std::uint32_t table, std::span<const Keys> keys);

/// A directory that is there already is opened as it is. Errors: kUnsupported, if it has no counterpart for a setting.
Result<std::unique_ptr<Contender>> open_varve(const std::string& directory, const Settings& settings);
#ifdef VARVE_BENCH_ROCKSDB
Result<std::unique_ptr<Contender>> open_rocksdb(const std::string& directory, const Settings& settings);
#endif
#ifdef VARVE_BENCH_LEVELDB
Result<std::unique_ptr<Contender>> open_leveldb(const std::string& directory, const Settings& settings);
#endif
#ifdef VARVE_BENCH_LMDB
Result<std::unique_ptr<Contender>> open_lmdb(const std::string& directory, const Settings& settings);
#endif

}  // namespace varve::bench
