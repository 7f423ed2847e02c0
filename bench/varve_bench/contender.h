// Owns: the interface of every contender in the race, so that each row is the same work for all of them.
// Must never: let one contender give a weaker guarantee than another in the same row.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bench/varve_bench/entities.h"
#include "varve/result.h"

namespace varve::bench {

/// The event that an acknowledged write survives: a power cut, or the death of the process.
enum class Promise : std::uint8_t { kDurable, kBuffered };

/// kAbsent: each key is looked up under the partition's lock, and must be absent.
enum class Check : std::uint8_t { kNone, kAbsent };

/// The ways to load sorted entities in bulk.
enum class LoadWay : std::uint8_t {
  kBatches,  // buffered batches of a hundred through the log
  kNoLog,    // batches of a hundred without a log; lost with the process until they are flushed
  kFiles,    // complete table files that one commit makes visible and durable
};

struct Settings {
  /// The cache for blocks of table files, in bytes. Memory outside of the cache is a contender's own choice, and is
  /// reported.
  std::uint64_t cache_bytes = std::uint64_t{512} << 20;
  /// The memory for entities that are not in table files yet, in bytes and in total.
  std::uint64_t write_buffer_bytes = std::uint64_t{256} << 20;
  /// Reads bypass the page cache.
  bool direct_reads = false;
  /// Check::kAbsent will be used. RocksDB uses transactions only then.
  bool checks = false;
  /// Stores without versions store one before each value, for replace_if_as_read() and erase().
  bool versions = false;
  /// Reads go to random places of more data than memory holds. LMDB then disables its read-ahead.
  bool scattered_reads = false;
  /// Entities above 16 KiB are common. RocksDB then stores them in blob files.
  bool large_values = false;
  /// The number of tables that exist from the beginning. If there are many, each account has a hundred.
  std::uint32_t tables = 4;
};

/// What an opponent does with the bytes of an entity that it read: it decodes them to the same object as Varve, or copies
/// them. Varve gives entities in both forms of a row.
enum class Answer : std::uint8_t { kDecoded, kCopied };

/// The form of each scanned entity: an object with memory of its own, or a view of the contender's memory.
enum class Scanned : std::uint8_t { kMade, kInPlace };

struct KeyedRow {
  std::string partition;
  Row row;
};

/// Tables are numbered. Tables below Settings::tables exist from the beginning. Any number of threads may use a
/// contender. If a contender has no counterpart for an operation, it returns kUnsupported, and the row stays empty.
class Contender {
 public:
  static constexpr std::uint32_t kTables = 4;

  virtual ~Contender() = default;
  /// Sets the form of all later reads. No read may run meanwhile.
  void answer_as(Answer answer) noexcept { answer_ = answer; }
  /// Returns how the contender accesses its files.
  virtual std::string back_end() const = 0;
  /// Returns the disk space of all tables in bytes, without logs.
  virtual std::uint64_t table_bytes() const = 0;

  /// Writes all rows, which belong to one partition, in one commit.
  virtual Status put(std::uint32_t table, std::string_view partition, std::span<const Row> rows, Check check,
                     Promise promise) = 0;
  virtual Status remove(std::uint32_t table, std::string_view partition, std::span<const Row> rows,
                        Promise promise) = 0;
  /// Writes all rows, which belong to one partition, in one commit. Each row is written only if it is unchanged since
  /// the last call for this partition. The first call creates them. Settings::checks is set.
  virtual Status replace_unchanged(std::uint32_t table, std::string_view partition, std::span<const Row> rows,
                                   Promise promise) = 0;
  /// Loads entities 0 to `count` of entities.h, in the order of their keys.
  virtual Status load(std::uint32_t table, std::uint64_t count, LoadWay way) = 0;

  /// Returns whether the entity exists. An existing entity is decoded or copied, as answer_as() says. So are the entities
  /// of all reads below.
  virtual Result<bool> get(std::uint32_t table, std::string_view partition, std::string_view row) = 0;
  /// Runs get() for many keys from one thread, with `in_flight` of them at a time. Returns the number of entities
  /// found.
  virtual Result<std::uint64_t> get_side_by_side(std::uint32_t table, std::span<const Keys> keys,
                                                 std::size_t in_flight) = 0;
  /// Returns the number of entities in the partition, at most `count_max`.
  virtual Result<std::uint64_t> scan_partition(std::uint32_t table, std::string_view partition, std::uint32_t count_max,
                                               Scanned scanned) = 0;
  virtual Result<std::uint64_t> scan_table(std::uint32_t table, Scanned scanned) = 0;
  /// Does scan_table() by pages of at most `page_entities`, which are made.
  virtual Result<std::uint64_t> scan_pages(std::uint32_t table, std::uint32_t page_entities);

  /// Runs get() for many keys in one call.
  virtual Result<std::uint64_t> get_batch(std::uint32_t table, std::span<const Keys> keys);
  /// Returns the number of entities from the partition on, at most `count_max`.
  virtual Result<std::uint64_t> scan_from(std::uint32_t table, std::string_view partition, std::uint32_t count_max) = 0;
  /// Returns the number of entities of a group, in one partition or in the whole table. Only these entities are
  /// decoded or copied.
  virtual Result<std::uint64_t> query_group(std::uint32_t table, std::optional<std::string_view> partition,
                                            std::int32_t group) = 0;

  /// Runs many concurrent durable puts from one thread. Each is a commit, and the thread is notified when it is
  /// durable.
  virtual Status put_side_by_side(std::uint32_t table, std::span<const KeyedRow> rows, std::size_t in_flight);
  /// Replaces one property's text in an existing entity, and keeps its other properties. A store without such an
  /// operation reads the entity first.
  virtual Status update_property(std::uint32_t table, const Keys& keys, std::string_view name, std::string_view text,
                                 Promise promise) = 0;
  /// Reads an entity, then replaces it if it did not change meanwhile. With `conflict`, the call passes another version
  /// than the one read, which must be refused. Returns whether it was replaced. Settings::checks and Settings::versions
  /// are set.
  virtual Result<bool> replace_if_as_read(std::uint32_t table, std::string_view partition, const Row& row,
                                          bool conflict, Promise promise) = 0;
  /// Deletes an entity, and returns whether it existed. Settings::checks is set.
  virtual Result<bool> erase(std::uint32_t table, const Keys& keys, Promise promise) = 0;

  /// Reads two entities, and writes both with a new payload in one commit if neither has changed since. Returns false,
  /// and writes nothing, if one has changed. Settings::checks is set.
  virtual Result<bool> transfer(std::uint32_t table, const Keys& from, const Keys& to, std::string_view payload,
                                Promise promise);

  virtual Status create_table(std::uint32_t table) = 0;
  /// Drops a table durably. load() may be called for the table again.
  virtual Status drop_table(std::uint32_t table) = 0;
  /// Uses the contender's means to free the space of a dropped table at once.
  virtual Status reclaim(std::uint32_t table) = 0;

  /// Waits until the contender's background work is done, and for some time more, in which it is watched.
  virtual Status wait_until_idle() = 0;
  /// Returns how long the last wait_until_idle() went on after it had last seen work.
  double watched_seconds() const noexcept { return watched_seconds_; }
  /// Writes everything to table files and merges them completely.
  virtual Status compact() = 0;
  /// Returns whether the contender has anything to merge.
  virtual bool compacts() const noexcept { return true; }

  /// Returns the reads of the device that answered reads since the open, without those of merges. None if the contender
  /// does not count them.
  virtual std::optional<std::uint64_t> reads_for_readers() const { return std::nullopt; }
  /// Returns the bytes of the log that an open would replay now. None if the contender does not report it.
  virtual std::optional<std::uint64_t> bytes_to_replay() const { return std::nullopt; }

 protected:
  Answer answer() const noexcept { return answer_; }
  /// Asks every few milliseconds whether the contender works, until it did not for `quiet`.
  Status watch(std::chrono::milliseconds quiet, const std::function<Result<bool>()>& works);

 private:
  Answer answer_ = Answer::kDecoded;
  double watched_seconds_ = 0;
};

// Default implementations for any contender.
/// Implements LoadWay::kBatches with put().
Status load_in_batches(Contender& contender, std::uint32_t table, std::uint64_t count);
/// Implements get_side_by_side() with get().
Result<std::uint64_t> get_one_by_one(Contender& contender, std::uint32_t table, std::span<const Keys> keys);

/// Opens a contender. An existing directory is opened with its content. Errors: kUnsupported if there is no counterpart
/// for a setting.
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
