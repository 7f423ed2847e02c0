// Owns: RocksDB in the race, with the settings that suit this work best.
// Must never: do work that Varve does not have to do. The work of both (keys, encoding, decoding) is the same code.
//
// RocksDB is spared the work that its users would have to add: checks of the input, Timestamps, ETags, names of tables,
// paging of scans.
#ifdef VARVE_BENCH_ROCKSDB

#include <atomic>
#include <chrono>
#include <filesystem>
#include <vector>

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>

#include "bench/varve_bench/contender.h"
#include "bench/varve_bench/encoded_rows.h"
#include "bench/varve_bench/entities.h"
#include "bench/varve_bench/machine.h"
#include "format/keys/sort_key.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kBlobBytesMin = 16 << 10;
constexpr std::uint64_t kMemtableBytes = std::uint64_t{64} << 20;

Status from_rocksdb(const rocksdb::Status& status) {
  return status.ok() ? Status() : Status::io_error("RocksDB: " + status.ToString());
}

std::string_view view(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

rocksdb::WriteOptions write_options(Promise promise) {
  rocksdb::WriteOptions options;
  options.sync = promise == Promise::kDurable;
  return options;
}

rocksdb::Options options_of(const Settings& settings) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = std::min(kMemtableBytes, settings.write_buffer_bytes / 4);
  options.max_write_buffer_number = 4;
  options.max_background_jobs = 2;
  options.level_compaction_dynamic_level_bytes = true;
  options.compression = rocksdb::kZSTD;
  options.bytes_per_sync = 1 << 20;
  options.use_direct_reads = settings.direct_reads;
  options.enable_blob_files = settings.large_values;
  options.min_blob_size = kBlobBytesMin;
  options.enable_blob_garbage_collection = settings.large_values;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.block_cache = rocksdb::NewLRUCache(settings.cache_bytes);
  table.format_version = 5;
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

class RocksDbContender final : public Contender {
 public:
  RocksDbContender(std::unique_ptr<rocksdb::DB> database, rocksdb::TransactionDB* transactions, std::string directory,
                   bool versions)
      : database_(std::move(database)),
        transactions_(transactions),
        directory_(std::move(directory)),
        version_bytes_(versions ? sizeof(std::uint64_t) : 0) {}

  std::string back_end() const override {
    return database_->GetOptions().use_direct_reads ? "pread, direct" : "pread, page cache";
  }

  std::uint64_t table_bytes() const override {
    return occupied_bytes(directory_, ".sst") + occupied_bytes(directory_, ".blob");
  }

  Status put(std::uint32_t table, std::string_view partition, std::span<const Row> rows, Check check,
             Promise promise) override {
    if (check == Check::kAbsent) return put_checked(table, partition, rows, promise);
    if (rows.size() == 1) {
      return from_rocksdb(
          database_->Put(write_options(promise), key_of(table, partition, rows.front().key), stored(rows.front())));
    }
    return write_batch(table, partition, rows, write_options(promise));
  }

  Status remove(std::uint32_t table, std::string_view partition, std::span<const Row> rows, Promise promise) override {
    rocksdb::WriteBatch batch;
    for (const Row& row : rows) {
      if (const rocksdb::Status added = batch.Delete(key_of(table, partition, row.key)); !added.ok()) {
        return from_rocksdb(added);
      }
    }
    return from_rocksdb(database_->Write(write_options(promise), &batch));
  }

  /// RocksDB has no versions to compare, so its users store one before each value.
  Status replace_unchanged(std::uint32_t table, std::string_view partition, std::span<const Row> rows,
                           Promise promise) override {
    const std::uint64_t known = known_.of(partition);
    const std::unique_ptr<rocksdb::Transaction> transaction(transactions_->BeginTransaction(write_options(promise)));
    std::string found;
    const std::string partition_lock = *format::encode_partition(id_of(table), partition);
    rocksdb::Status status = transaction->GetForUpdate(rocksdb::ReadOptions(), partition_lock, &found);
    if (!status.ok() && !status.IsNotFound()) return from_rocksdb(status);
    for (const Row& row : rows) {
      const std::string key = key_of(table, partition, row.key);
      status = database_->Get(rocksdb::ReadOptions(), key, &found);
      if (!status.ok() && !status.IsNotFound()) return from_rocksdb(status);
      if (version_of(status.ok() ? found : std::string()) != known) return Status(Code::kPreconditionFailed);
      status = transaction->Put(key, with_version(known + 1, value_of(row)));
      if (!status.ok()) return from_rocksdb(status);
    }
    if (status = transaction->Commit(); !status.ok()) return from_rocksdb(status);
    known_.set(partition, known + 1);
    return Status();
  }

  Status load(std::uint32_t table, std::uint64_t count, LoadWay way) override {
    if (way == LoadWay::kFiles) return load_files(table, count);
    rocksdb::WriteOptions options = write_options(Promise::kBuffered);
    options.disableWAL = way == LoadWay::kNoLog;
    std::vector<Row> rows;
    for (std::uint64_t first = 0; first < count; first += kEntitiesOfPartition) {
      rows.clear();
      const std::uint64_t end = std::min(count, first + kEntitiesOfPartition);
      for (std::uint64_t n = first; n < end; ++n) rows.push_back({keys_of(n).row, payload_of(n)});
      if (Status put = write_batch(table, keys_of(first).partition, rows, options); !put.ok()) return put;
    }
    return way == LoadWay::kNoLog ? from_rocksdb(database_->Flush(rocksdb::FlushOptions())) : Status();
  }

  Result<bool> get(std::uint32_t table, std::string_view partition, std::string_view row) override {
    rocksdb::PinnableSlice value;
    const rocksdb::Status found =
        database_->Get(rocksdb::ReadOptions(), database_->DefaultColumnFamily(), key_of(table, partition, row), &value);
    if (found.IsNotFound()) return false;
    if (!found.ok()) return from_rocksdb(found);
    if (Status given = answer_row(answer(), partition, row, body(view(value))); !given.ok()) return given;
    return true;
  }

  /// Uses MultiGet, which reads the blocks of one batch concurrently.
  Result<std::uint64_t> get_side_by_side(std::uint32_t table, std::span<const Keys> keys,
                                         std::size_t in_flight) override {
    rocksdb::ReadOptions options;
    options.async_io = true;
    std::uint64_t present = 0;
    for (; !keys.empty(); keys = keys.subspan(std::min(in_flight, keys.size()))) {
      const Result<std::uint64_t> found = get_batch(table, keys.first(std::min(in_flight, keys.size())), options);
      if (!found.ok()) return found;
      present += *found;
    }
    return present;
  }

  Result<std::uint64_t> scan_partition(std::uint32_t table, std::string_view partition, std::uint32_t count_max,
                                       Scanned scanned) override {
    const std::string begin = *format::encode_partition(id_of(table), partition);
    return walk(begin, format::end_of_prefix(begin), count_max, EntryReader(answer(), scanned));
  }
  Result<std::uint64_t> scan_table(std::uint32_t table, Scanned scanned) override {
    const std::string begin = format::encode_table(id_of(table));
    return walk(begin, format::end_of_prefix(begin), UINT64_MAX, EntryReader(answer(), scanned));
  }

  Result<std::uint64_t> get_batch(std::uint32_t table, std::span<const Keys> keys) override {
    rocksdb::ReadOptions options;
    options.async_io = true;
    return get_batch(table, keys, options);
  }

  Result<std::uint64_t> scan_from(std::uint32_t table, std::string_view partition, std::uint32_t count_max) override {
    return walk(*format::encode_partition(id_of(table), partition),
                format::end_of_prefix(format::encode_table(id_of(table))), count_max,
                EntryReader(answer(), Scanned::kMade));
  }

  Result<std::uint64_t> query_group(std::uint32_t table, std::optional<std::string_view> partition,
                                    std::int32_t group) override {
    const std::string begin =
        partition ? *format::encode_partition(id_of(table), *partition) : format::encode_table(id_of(table));
    return walk(begin, format::end_of_prefix(begin), UINT64_MAX, EntryReader(answer(), Scanned::kMade, group));
  }

  /// Reads, changes and writes the entity, like YCSB's bindings.
  Status update_property(std::uint32_t table, const Keys& keys, std::string_view name, std::string_view text,
                         Promise promise) override {
    const std::string key = key_of(table, keys.partition, keys.row);
    std::string value;
    if (const rocksdb::Status found = database_->Get(rocksdb::ReadOptions(), key, &value); !found.ok()) {
      return from_rocksdb(found);
    }
    const Result<std::string> changed = with_property(keys, value, name, text);
    if (!changed.ok()) return changed.status();
    return from_rocksdb(database_->Put(write_options(promise), key, *changed));
  }

  Result<bool> replace_if_as_read(std::uint32_t table, std::string_view partition, const Row& row, bool conflict,
                                  Promise promise) override {
    const std::string key = key_of(table, partition, row.key);
    std::string value;
    rocksdb::Status status = database_->Get(rocksdb::ReadOptions(), key, &value);
    if (status.IsNotFound()) return false;
    if (!status.ok()) return from_rocksdb(status);
    if (Status decoded = decode_row({std::string(partition), row.key}, body(value)); !decoded.ok()) return decoded;
    const std::uint64_t known = version_of(value) + (conflict ? 1 : 0);
    const std::unique_ptr<rocksdb::Transaction> transaction(transactions_->BeginTransaction(write_options(promise)));
    status = transaction->GetForUpdate(rocksdb::ReadOptions(), key, &value);
    if (status.IsNotFound() || (status.ok() && version_of(value) != known)) return false;
    if (status.ok()) status = transaction->Put(key, stored(row));
    if (status.ok()) status = transaction->Commit();
    if (!status.ok()) return from_rocksdb(status);
    return true;
  }

  Result<bool> erase(std::uint32_t table, const Keys& keys, Promise promise) override {
    const std::string key = key_of(table, keys.partition, keys.row);
    const std::unique_ptr<rocksdb::Transaction> transaction(transactions_->BeginTransaction(write_options(promise)));
    std::string value;
    rocksdb::Status status = transaction->GetForUpdate(rocksdb::ReadOptions(), key, &value);
    if (status.IsNotFound()) return false;
    if (status.ok()) status = transaction->Delete(key);
    if (status.ok()) status = transaction->Commit();
    if (!status.ok()) return from_rocksdb(status);
    return true;
  }

  /// Locks both keys in one order, so that no two transactions wait for each other.
  Result<bool> transfer(std::uint32_t table, const Keys& from, const Keys& to, std::string_view payload,
                        Promise promise) override {
    const std::unique_ptr<rocksdb::Transaction> transaction(transactions_->BeginTransaction(write_options(promise)));
    const bool is_ordered = from.partition < to.partition;
    std::string value;
    for (const Keys* keys : {is_ordered ? &from : &to, is_ordered ? &to : &from}) {
      const std::string key = key_of(table, keys->partition, keys->row);
      rocksdb::Status status = transaction->GetForUpdate(rocksdb::ReadOptions(), key, &value);
      if (!status.ok()) return from_rocksdb(status);
      if (Status given = answer_row(answer(), keys->partition, keys->row, body(value)); !given.ok()) return given;
      status = transaction->Put(key, stored({keys->row, payload}));
      if (!status.ok()) return from_rocksdb(status);
    }
    if (const rocksdb::Status committed = transaction->Commit(); !committed.ok()) return from_rocksdb(committed);
    return true;
  }

  Status create_table(std::uint32_t /*table*/) override {
    return Status::unsupported("a table is a prefix of keys here, and costs nothing");
  }

  Status drop_table(std::uint32_t table) override {
    const std::string begin = format::encode_table(id_of(table));
    // A TransactionDB cannot delete ranges. A dropped table has no locks, so the base database is used.
    rocksdb::DB& database = transactions_ == nullptr ? *database_ : *transactions_->GetBaseDB();
    return from_rocksdb(database.DeleteRange(write_options(Promise::kDurable), database.DefaultColumnFamily(), begin,
                                             format::end_of_prefix(begin)));
  }

  Status reclaim(std::uint32_t table) override {
    const std::string begin = format::encode_table(id_of(table));
    const std::string end = format::end_of_prefix(begin);
    const rocksdb::Slice from(begin);
    const rocksdb::Slice to(end);
    const rocksdb::Status deleted =
        rocksdb::DeleteFilesInRange(database_.get(), database_->DefaultColumnFamily(), &from, &to, false);
    if (!deleted.ok()) return from_rocksdb(deleted);
    return from_rocksdb(database_->CompactRange(rocksdb::CompactRangeOptions(), &from, &to));
  }

  Status wait_until_idle() override {
    return watch(std::chrono::milliseconds(60), [this]() -> Result<bool> { return works(); });
  }
  Status compact() override {
    return from_rocksdb(database_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  }

 private:
  /// Returns the value as it is stored. If versions are used, a version precedes it.
  std::string stored(const Row& row) {
    return version_bytes_ == 0 ? value_of(row) : with_version(++last_version_, value_of(row));
  }
  std::string_view body(std::string_view value) const { return value.substr(version_bytes_); }

  Result<std::uint64_t> get_batch(std::uint32_t table, std::span<const Keys> keys,
                                  const rocksdb::ReadOptions& options) {
    std::vector<std::string> sort_keys;
    for (const Keys& key : keys) sort_keys.push_back(key_of(table, key.partition, key.row));
    const std::vector<rocksdb::Slice> slices(sort_keys.begin(), sort_keys.end());
    std::vector<rocksdb::PinnableSlice> values(keys.size());
    std::vector<rocksdb::Status> statuses(keys.size());
    database_->MultiGet(options, database_->DefaultColumnFamily(), keys.size(), slices.data(), values.data(),
                        statuses.data());
    std::uint64_t present = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (statuses[i].IsNotFound()) continue;
      if (!statuses[i].ok()) return from_rocksdb(statuses[i]);
      Status given = answer_row(answer(), keys[i].partition, keys[i].row, body(view(values[i])));
      if (!given.ok()) return given;
      ++present;
    }
    return present;
  }

  bool works() const {
    for (const char* name : {"rocksdb.num-running-compactions", "rocksdb.compaction-pending",
                             "rocksdb.num-running-flushes", "rocksdb.mem-table-flush-pending"}) {
      std::uint64_t value = 0;
      if (database_->GetIntProperty(name, &value) && value > 0) return true;
    }
    return false;
  }

  Status write_batch(std::uint32_t table, std::string_view partition, std::span<const Row> rows,
                     const rocksdb::WriteOptions& options) {
    rocksdb::WriteBatch batch;
    for (const Row& row : rows) {
      const rocksdb::Status added = batch.Put(key_of(table, partition, row.key), stored(row));
      if (!added.ok()) return from_rocksdb(added);
    }
    return from_rocksdb(database_->Write(options, &batch));
  }

  /// Locks the partition, as Varve does, and then looks up each key.
  Status put_checked(std::uint32_t table, std::string_view partition, std::span<const Row> rows, Promise promise) {
    const std::unique_ptr<rocksdb::Transaction> transaction(transactions_->BeginTransaction(write_options(promise)));
    std::string found;
    const std::string lock = *format::encode_partition(id_of(table), partition);
    rocksdb::Status status = transaction->GetForUpdate(rocksdb::ReadOptions(), lock, &found);
    if (!status.ok() && !status.IsNotFound()) return from_rocksdb(status);
    for (const Row& row : rows) {
      const std::string key = key_of(table, partition, row.key);
      status = database_->Get(rocksdb::ReadOptions(), key, &found);
      if (status.ok()) return Status::exists("the key is there");
      if (!status.IsNotFound()) return from_rocksdb(status);
      status = transaction->Put(key, stored(row));
      if (!status.ok()) return from_rocksdb(status);
    }
    return from_rocksdb(transaction->Commit());
  }

  Status load_files(std::uint32_t table, std::uint64_t count) {
    constexpr std::uint64_t kEntitiesOfFile = 250'000;  // about 64 MB of keys and values
    const rocksdb::Options options = database_->GetOptions();
    std::vector<std::string> files;
    for (std::uint64_t first = 0; first < count; first += kEntitiesOfFile) {
      files.push_back(directory_ + "/load-" + std::to_string(files.size()) + ".tmp");
      rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
      rocksdb::Status status = writer.Open(files.back());
      for (std::uint64_t n = first; status.ok() && n < std::min(count, first + kEntitiesOfFile); ++n) {
        const Keys keys = keys_of(n);
        status = writer.Put(key_of(table, keys.partition, keys.row), value_of({keys.row, payload_of(n)}));
      }
      if (status.ok()) status = writer.Finish();
      if (!status.ok()) return from_rocksdb(status);
    }
    rocksdb::IngestExternalFileOptions ingestion;
    ingestion.move_files = true;
    return from_rocksdb(database_->IngestExternalFile(files, ingestion));
  }

  Result<std::uint64_t> walk(const std::string& begin, const std::string& end, std::uint64_t count_max,
                             EntryReader reader) {
    const rocksdb::Slice bound(end);
    rocksdb::ReadOptions options;
    options.iterate_upper_bound = &bound;
    const std::unique_ptr<rocksdb::Iterator> entry(database_->NewIterator(options));
    std::uint64_t count = 0;
    for (entry->Seek(begin); entry->Valid() && count < count_max; entry->Next()) {
      const Result<bool> taken = reader.take(view(entry->key()), body(view(entry->value())));
      if (!taken.ok()) return taken.status();
      if (*taken) ++count;
    }
    if (!entry->status().ok()) return from_rocksdb(entry->status());
    return count;
  }

  std::unique_ptr<rocksdb::DB> database_;
  rocksdb::TransactionDB* transactions_;  // the same object, or null
  std::string directory_;
  KnownVersions known_;  // for replace_unchanged()
  std::size_t version_bytes_;
  std::atomic<std::uint64_t> last_version_{0};
};

}  // namespace

Result<std::unique_ptr<Contender>> open_rocksdb(const std::string& directory, const Settings& settings) {
  const rocksdb::Options options = options_of(settings);
  rocksdb::DB* database = nullptr;
  rocksdb::TransactionDB* transactions = nullptr;
  rocksdb::Status opened;
  if (settings.checks) {
    rocksdb::TransactionDBOptions patient;  // like Varve's writers: they wait for each other without a limit
    patient.transaction_lock_timeout = -1;
    patient.default_lock_timeout = -1;
    opened = rocksdb::TransactionDB::Open(options, patient, directory, &transactions);
    database = transactions;
  } else {
    opened = rocksdb::DB::Open(options, directory, &database);
  }
  if (!opened.ok()) return from_rocksdb(opened);
  return std::unique_ptr<Contender>(std::make_unique<RocksDbContender>(std::unique_ptr<rocksdb::DB>(database),
                                                                       transactions, directory, settings.versions));
}

}  // namespace varve::bench

#endif
