// Owns: LevelDB in the race, with the settings that suit this work best.
// Must never: be used for operations without a counterpart in LevelDB: transactions that check before they write, loads
// without a log, direct reads.
#ifdef VARVE_BENCH_LEVELDB

#include <chrono>
#include <utility>

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include "bench/varve_bench/contender.h"
#include "bench/varve_bench/encoded_rows.h"
#include "bench/varve_bench/entities.h"
#include "bench/varve_bench/machine.h"

namespace varve::bench {

namespace {

constexpr std::size_t kMemtableBytes = std::size_t{64} << 20;
constexpr std::size_t kTableFileBytes = std::size_t{32} << 20;
constexpr int kFilterBits = 10;

Status from_leveldb(const leveldb::Status& status) {
  return status.ok() ? Status() : Status::io_error("LevelDB: " + status.ToString());
}

std::string_view view(const leveldb::Slice& slice) {
  return {slice.data(), slice.size()};
}

leveldb::WriteOptions write_options(Promise promise) {
  leveldb::WriteOptions options;
  options.sync = promise == Promise::kDurable;
  return options;
}

class LevelDbContender final : public Contender {
 public:
  LevelDbContender(std::string directory, const Settings& settings)
      : directory_(std::move(directory)),
        cache_(leveldb::NewLRUCache(settings.cache_bytes)),
        filter_(leveldb::NewBloomFilterPolicy(kFilterBits)) {}

  Status open(const Settings& settings) {
    leveldb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = std::min<std::size_t>(kMemtableBytes, settings.write_buffer_bytes / 4);
    options.max_file_size = kTableFileBytes;
    options.block_cache = cache_.get();
    options.filter_policy = filter_.get();
    leveldb::DB* database = nullptr;
    if (const leveldb::Status opened = leveldb::DB::Open(options, directory_, &database); !opened.ok()) {
      return from_leveldb(opened);
    }
    database_.reset(database);
    return Status();
  }

  std::string back_end() const override { return "pread and mmap, page cache"; }
  std::uint64_t table_bytes() const override { return occupied_bytes(directory_, ".ldb"); }

  Status put(std::uint32_t table, std::string_view partition, std::span<const Row> rows, Check check,
             Promise promise) override {
    if (check != Check::kNone) return Status::unsupported("there are no transactions that look before they write");
    leveldb::WriteBatch batch;
    for (const Row& row : rows) batch.Put(key_of(table, partition, row.key), value_of(row));
    return from_leveldb(database_->Write(write_options(promise), &batch));
  }

  Status remove(std::uint32_t table, std::string_view partition, std::span<const Row> rows, Promise promise) override {
    leveldb::WriteBatch batch;
    for (const Row& row : rows) batch.Delete(key_of(table, partition, row.key));
    return from_leveldb(database_->Write(write_options(promise), &batch));
  }

  Status replace_unchanged(std::uint32_t /*table*/, std::string_view /*partition*/, std::span<const Row> /*rows*/,
                           Promise /*promise*/) override {
    return Status::unsupported("there are no transactions that look before they write");
  }

  Status load(std::uint32_t table, std::uint64_t count, LoadWay way) override {
    if (way != LoadWay::kBatches) return Status::unsupported("every write goes through the log");
    return load_in_batches(*this, table, count);
  }

  Result<bool> get(std::uint32_t table, std::string_view partition, std::string_view row) override {
    std::string value;
    const leveldb::Status found = database_->Get(leveldb::ReadOptions(), key_of(table, partition, row), &value);
    if (found.IsNotFound()) return false;
    if (!found.ok()) return from_leveldb(found);
    if (answer() == Answer::kCopied) return true;  // LevelDB has copied it
    if (Status given = answer_row(answer(), partition, row, value); !given.ok()) return given;
    return true;
  }

  /// Reads one key after the other, because LevelDB has no other way.
  Result<std::uint64_t> get_side_by_side(std::uint32_t table, std::span<const Keys> keys,
                                         std::size_t /*in_flight*/) override {
    return get_one_by_one(*this, table, keys);
  }

  Result<std::uint64_t> scan_partition(std::uint32_t table, std::string_view partition, std::uint32_t count_max,
                                       Scanned scanned) override {
    const std::string begin = *format::encode_partition(id_of(table), partition);
    return count(begin, format::end_of_prefix(begin), count_max, EntryReader(answer(), scanned));
  }
  Result<std::uint64_t> scan_table(std::uint32_t table, Scanned scanned) override {
    const std::string begin = format::encode_table(id_of(table));
    return count(begin, format::end_of_prefix(begin), UINT64_MAX, EntryReader(answer(), scanned));
  }
  Result<std::uint64_t> scan_from(std::uint32_t table, std::string_view partition, std::uint32_t count_max) override {
    return count(*format::encode_partition(id_of(table), partition),
                 format::end_of_prefix(format::encode_table(id_of(table))), count_max,
                 EntryReader(answer(), Scanned::kMade));
  }
  Result<std::uint64_t> query_group(std::uint32_t table, std::optional<std::string_view> partition,
                                    std::int32_t group) override {
    const std::string begin =
        partition ? *format::encode_partition(id_of(table), *partition) : format::encode_table(id_of(table));
    return count(begin, format::end_of_prefix(begin), UINT64_MAX, EntryReader(answer(), Scanned::kMade, group));
  }

  /// Reads, changes and writes the entity, like YCSB's bindings.
  Status update_property(std::uint32_t table, const Keys& keys, std::string_view name, std::string_view text,
                         Promise promise) override {
    const std::string key = key_of(table, keys.partition, keys.row);
    std::string value;
    if (const leveldb::Status found = database_->Get(leveldb::ReadOptions(), key, &value); !found.ok()) {
      return from_leveldb(found);
    }
    const Result<std::string> changed = with_property(keys, value, name, text);
    if (!changed.ok()) return changed.status();
    return from_leveldb(database_->Put(write_options(promise), key, *changed));
  }

  Result<bool> replace_if_as_read(std::uint32_t /*table*/, std::string_view /*partition*/, const Row& /*row*/,
                                  bool /*conflict*/, Promise /*promise*/) override {
    return Status::unsupported("there are no transactions that look before they write");
  }
  Result<bool> erase(std::uint32_t /*table*/, const Keys& /*keys*/, Promise /*promise*/) override {
    return Status::unsupported("there are no transactions that look before they write");
  }

  Status create_table(std::uint32_t /*table*/) override {
    return Status::unsupported("a table is a prefix of keys here, and costs nothing");
  }

  /// Deletes each key, because LevelDB cannot delete a range. The last batch is durable.
  Status drop_table(std::uint32_t table) override {
    constexpr std::uint64_t kBatchKeys = 1000;
    leveldb::WriteBatch batch;
    std::uint64_t keys = 0;
    const std::string begin = format::encode_table(id_of(table));
    const Result<std::uint64_t> walked =
        walk(begin, format::end_of_prefix(begin), UINT64_MAX, [&](const leveldb::Iterator& entry) -> Result<bool> {
          batch.Delete(entry.key());
          if (++keys % kBatchKeys != 0) return true;
          const leveldb::Status written = database_->Write(write_options(Promise::kBuffered), &batch);
          batch.Clear();
          if (!written.ok()) return from_leveldb(written);
          return true;
        });
    if (!walked.ok()) return walked.status();
    return from_leveldb(database_->Write(write_options(Promise::kDurable), &batch));
  }

  Status reclaim(std::uint32_t table) override {
    const std::string begin = format::encode_table(id_of(table));
    const std::string end = format::end_of_prefix(begin);
    const leveldb::Slice from(begin);
    const leveldb::Slice to(end);
    database_->CompactRange(&from, &to);
    return Status();
  }

  /// Waits until LevelDB has written nothing for 200 ms, because it does not report whether it works.
  Status wait_until_idle() override {
    std::uint64_t written = usage(directory_).written_bytes;
    return watch(std::chrono::milliseconds(200), [this, &written]() -> Result<bool> {
      const std::uint64_t now = usage(directory_).written_bytes;
      return std::exchange(written, now) != now;
    });
  }

  Status compact() override {
    database_->CompactRange(nullptr, nullptr);
    return Status();
  }

 private:
  Result<std::uint64_t> count(const std::string& begin, const std::string& end, std::uint64_t count_max,
                              EntryReader reader) {
    return walk(begin, end, count_max, [&reader](const leveldb::Iterator& entry) {
      return reader.take(view(entry.key()), view(entry.value()));
    });
  }

  /// Counts the entries for which `visit` returns true.
  template <typename Visit>
  Result<std::uint64_t> walk(const std::string& begin, const std::string& end, std::uint64_t count_max,
                             const Visit& visit) {
    const std::unique_ptr<leveldb::Iterator> entry(database_->NewIterator(leveldb::ReadOptions()));
    std::uint64_t count = 0;
    for (entry->Seek(begin); entry->Valid() && view(entry->key()) < end && count < count_max; entry->Next()) {
      const Result<bool> taken = visit(*entry);
      if (!taken.ok()) return taken.status();
      if (*taken) ++count;
    }
    if (!entry->status().ok()) return from_leveldb(entry->status());
    return count;
  }

  std::string directory_;
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  std::unique_ptr<leveldb::DB> database_;
};

}  // namespace

Result<std::unique_ptr<Contender>> open_leveldb(const std::string& directory, const Settings& settings) {
  if (settings.direct_reads) return Status::unsupported("it reads through the page cache alone");
  auto contender = std::make_unique<LevelDbContender>(directory, settings);
  if (Status opened = contender->open(settings); !opened.ok()) return opened;
  return std::unique_ptr<Contender>(std::move(contender));
}

}  // namespace varve::bench

#endif
