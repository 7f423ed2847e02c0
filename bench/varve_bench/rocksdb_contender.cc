#ifdef VARVE_BENCH_ROCKSDB

#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>

#include "bench/varve_bench/contender.h"

namespace varve::bench {

namespace {

Status from_rocksdb(const rocksdb::Status& status) {
  return status.ok() ? Status() : Status::io_error(status.ToString());
}

class RocksDbContender final : public Contender {
 public:
  explicit RocksDbContender(rocksdb::TransactionDB* database) : database_(database) { durable_.sync = true; }
  std::string name() const override { return "RocksDB"; }

  // Through the base database, without the transaction layer's locks.
  Status put(const std::string& partition, const std::string& row, const std::string& payload) override {
    return from_rocksdb(database_->GetRootDB()->Put(durable_, partition + "\x01" + row, payload));
  }

  Status checked_put(const std::string& partition, const std::string& row, const std::string& payload) override {
    const std::unique_ptr<rocksdb::Transaction> transaction(database_->BeginTransaction(durable_));
    std::string found;
    rocksdb::Status status = transaction->GetForUpdate({}, partition, &found);  // the partition's lock
    if (!status.ok() && !status.IsNotFound()) return from_rocksdb(status);
    status = transaction->Get({}, partition + "\x01" + row, &found);
    if (!status.IsNotFound()) return Status::exists("the key is there");
    status = transaction->Put(partition + "\x01" + row, payload);
    return from_rocksdb(status.ok() ? transaction->Commit() : status);
  }

 private:
  std::unique_ptr<rocksdb::TransactionDB> database_;
  rocksdb::WriteOptions durable_;
};

}  // namespace

Result<std::unique_ptr<Contender>> open_rocksdb(const std::string& directory) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 64 << 20;
  options.compression = rocksdb::kZSTD;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::TransactionDB* database = nullptr;
  const rocksdb::Status opened =
      rocksdb::TransactionDB::Open(options, rocksdb::TransactionDBOptions(), directory, &database);
  if (!opened.ok()) return from_rocksdb(opened);
  return std::unique_ptr<Contender>(std::make_unique<RocksDbContender>(database));
}

}  // namespace varve::bench

#endif
