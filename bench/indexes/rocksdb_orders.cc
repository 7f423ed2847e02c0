// Owns: orders in RocksDB, with an index that its user keeps: a key for each order, and a key for each number.
// Must never: do work that Varve does not have to do. Nothing checks that the number is new, or that the order is.
#ifdef VARVE_BENCH_ROCKSDB
#include <utility>

#include <rocksdb/cache.h>
#include <rocksdb/compaction_filter.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include "bench/blobs/measure.h"
#include "bench/indexes/orders.h"
#include "bench/varve_bench/encoded_rows.h"
#include "bench/varve_bench/entities.h"
#include "format/keys/entity.h"

namespace varve::bench {

namespace {

constexpr std::uint32_t kOrders = 0;
constexpr std::uint32_t kByNumber = 1;

Status from_orders(const rocksdb::Status& status) {
  return status.ok() ? Status() : Status::io_error("RocksDB: " + status.ToString());
}

/// The settings are those of the race of whole stores.
rocksdb::Options options_of_orders() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = std::size_t{64} << 20;
  options.max_write_buffer_number = 4;
  options.max_background_jobs = 2;
  options.level_compaction_dynamic_level_bytes = true;
  options.compression = rocksdb::kZSTD;
  options.bytes_per_sync = 1 << 20;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.block_cache = rocksdb::NewLRUCache(std::size_t{512} << 20);
  table.format_version = 5;
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

std::string value_of_order(std::uint64_t n) {
  const Entity order = order_of(n);
  format::EntityBuilder builder;
  builder.add_string("Number", *order.get<std::string>("Number"));
  builder.add_string("Country", *order.get<std::string>("Country"));
  builder.add_int64("Total", *order.get<std::int64_t>("Total"));
  builder.add_string("Text", *order.get<std::string>("Text"));
  return builder.finish();
}

/// Drops the orders before a key, which is set while no merge runs. To compare keys costs less than to read an end.
class EndedOrders final : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "ended orders"; }
  bool Filter(int /*level*/, const rocksdb::Slice& key, const rocksdb::Slice& /*value*/, std::string* /*new_value*/,
              bool* /*is_changed*/) const override {
    return key.compare(bound_) < 0;
  }
  void drop_before(std::string key) { bound_ = std::move(key); }

 private:
  std::string bound_;
};

class RocksDbOrders final : public OrderContender {
 public:
  RocksDbOrders(std::unique_ptr<EndedOrders> filter, std::shared_ptr<rocksdb::Statistics> statistics,
                std::unique_ptr<rocksdb::DB> database)
      : filter_(std::move(filter)), statistics_(std::move(statistics)), database_(std::move(database)) {}

  Status insert(std::uint64_t n, bool with_entry) override { return put(n, 1, with_entry, true); }

  Status fill(std::uint64_t count) override {
    for (std::uint64_t n = 0; n < count; n += kOrdersOfBatch) {
      if (Status put_them = put(n, std::min(kOrdersOfBatch, count - n), true, false); !put_them.ok()) return put_them;
    }
    return compact();
  }

  /// A compaction filter drops ended orders, as RocksDB's TTL does.
  Result<Expired> expire(std::uint64_t count) override {
    if (statistics_ == nullptr) return Status(Code::kUnsupported);
    for (std::uint64_t n = 0; n < count; n += kOrdersOfBatch) {
      if (Status put_them = put(n, std::min(kOrdersOfBatch, count - n), false, false); !put_them.ok()) return put_them;
    }
    if (Status settled = compact(); !settled.ok()) return settled;
    const std::uint64_t before = written_bytes();
    const Keys first = keys_of(count / 2);
    filter_->drop_before(key_of(kOrders, first.partition, first.row));
    Expired cost;
    Status compacted;
    cost.seconds = seconds_of([&] { compacted = compact(); });
    cost.written_bytes = static_cast<double>(written_bytes() - before);
    return compacted.ok() ? Result<Expired>(cost) : compacted;
  }

  Status find(std::uint64_t n) override {
    rocksdb::PinnableSlice value;
    const rocksdb::ReadOptions options;
    rocksdb::ColumnFamilyHandle* const family = database_->DefaultColumnFamily();
    rocksdb::Status got = database_->Get(options, family, key_of(kByNumber, number_of(n), ""), &value);
    if (!got.ok()) return from_orders(got);
    const std::string key = value.ToString();
    value.Reset();
    if (got = database_->Get(options, family, key, &value); !got.ok()) return from_orders(got);
    return decode_row(keys_of(n), {value.data(), value.size()});
  }

 private:
  static constexpr std::uint64_t kOrdersOfBatch = 100;

  Status compact() {
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    return from_orders(database_->CompactRange(options, nullptr, nullptr));
  }

  std::uint64_t written_bytes() const { return statistics_->getTickerCount(rocksdb::COMPACT_WRITE_BYTES); }

  Status put(std::uint64_t first, std::uint64_t count, bool with_entries, bool durable) {
    rocksdb::WriteBatch batch;
    for (std::uint64_t n = first; n < first + count; ++n) {
      const Keys keys = keys_of(n);
      const std::string key = key_of(kOrders, keys.partition, keys.row);
      rocksdb::Status added = batch.Put(key, value_of_order(n));
      if (added.ok() && with_entries) added = batch.Put(key_of(kByNumber, number_of(n), ""), key);
      if (!added.ok()) return from_orders(added);
    }
    rocksdb::WriteOptions options;
    options.sync = durable;
    return from_orders(database_->Write(options, &batch));
  }

  const std::unique_ptr<EndedOrders> filter_;  // outlives the database
  const std::shared_ptr<rocksdb::Statistics> statistics_;
  std::unique_ptr<rocksdb::DB> database_;
};

}  // namespace

Result<std::unique_ptr<OrderContender>> open_rocksdb_orders(const std::string& directory, bool with_ends) {
  auto filter = std::make_unique<EndedOrders>();
  rocksdb::Options options = options_of_orders();
  if (with_ends) {
    options.compaction_filter = filter.get();
    options.statistics = rocksdb::CreateDBStatistics();
    options.statistics->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  }
  rocksdb::DB* database = nullptr;
  if (Status opened = from_orders(rocksdb::DB::Open(options, directory, &database)); !opened.ok()) return opened;
  return std::unique_ptr<OrderContender>(
      std::make_unique<RocksDbOrders>(std::move(filter), options.statistics, std::unique_ptr<rocksdb::DB>(database)));
}

}  // namespace varve::bench
#endif
