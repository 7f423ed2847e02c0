// Owns: orders in RocksDB, with an index that its user keeps: a key for each order, and a key for each number.
// Must never: do work that Varve does not have to do. Nothing checks that the number is new, or that the order is.
#ifdef VARVE_BENCH_ROCKSDB
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

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

class RocksDbOrders final : public OrderContender {
 public:
  explicit RocksDbOrders(std::unique_ptr<rocksdb::DB> database) : database_(std::move(database)) {}

  Status insert(std::uint64_t n, bool with_entry) override { return put(n, 1, with_entry, true); }

  Status fill(std::uint64_t count) override {
    constexpr std::uint64_t kOrdersOfBatch = 100;
    for (std::uint64_t n = 0; n < count; n += kOrdersOfBatch) {
      if (Status put_them = put(n, std::min(kOrdersOfBatch, count - n), true, false); !put_them.ok()) return put_them;
    }
    return from_orders(database_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
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

  std::unique_ptr<rocksdb::DB> database_;
};

}  // namespace

Result<std::unique_ptr<OrderContender>> open_rocksdb_orders(const std::string& directory) {
  rocksdb::DB* database = nullptr;
  if (Status opened = from_orders(rocksdb::DB::Open(options_of_orders(), directory, &database)); !opened.ok()) {
    return opened;
  }
  return std::unique_ptr<OrderContender>(std::make_unique<RocksDbOrders>(std::unique_ptr<rocksdb::DB>(database)));
}

}  // namespace varve::bench
#endif
