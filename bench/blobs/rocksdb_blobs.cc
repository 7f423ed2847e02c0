// Owns: contents as values of RocksDB in the race of blobs, in its blob files.
// Must never: sync less than the row promises.
#ifdef VARVE_BENCH_ROCKSDB
#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include "bench/blobs/contender.h"

namespace varve::bench {

namespace {

Status from_rocksdb(const rocksdb::Status& status) {
  return status.ok() ? Status() : Status::io_error("RocksDB: " + status.ToString());
}

/// The settings for large values are those of the race of whole stores. Contents that do not compress are not compressed.
rocksdb::Options options_of_blobs() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = std::size_t{64} << 20;
  options.max_write_buffer_number = 4;
  options.max_background_jobs = 2;
  options.bytes_per_sync = 1 << 20;
  options.compression = rocksdb::kNoCompression;
  options.enable_blob_files = true;
  options.min_blob_size = 16 << 10;
  options.enable_blob_garbage_collection = true;
  return options;
}

class RocksDbBlobs final : public BlobContender {
 public:
  explicit RocksDbBlobs(std::unique_ptr<rocksdb::DB> database) : database_(std::move(database)) {}

  Status put(int /*thread*/, const std::string& name, std::string_view content) override {
    rocksdb::WriteOptions options;
    options.sync = true;
    return from_rocksdb(database_->Put(options, name, rocksdb::Slice(content.data(), content.size())));
  }

 private:
  std::unique_ptr<rocksdb::DB> database_;
};

}  // namespace

Result<std::unique_ptr<BlobContender>> open_rocksdb_blobs(const std::string& directory) {
  rocksdb::DB* database = nullptr;
  if (Status opened = from_rocksdb(rocksdb::DB::Open(options_of_blobs(), directory, &database)); !opened.ok()) {
    return opened;
  }
  return std::unique_ptr<BlobContender>(std::make_unique<RocksDbBlobs>(std::unique_ptr<rocksdb::DB>(database)));
}

}  // namespace varve::bench
#endif
