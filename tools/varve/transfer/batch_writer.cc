#include "tools/varve/transfer/batch_writer.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "varve/limits.h"

namespace varve::tool {

namespace {

/// A transaction stays far below the service's 4 MiB, also as text in base64.
constexpr std::size_t kBatchBytesMax = std::size_t{1} << 20;
constexpr std::size_t kEntitiesMax = 4000;
constexpr std::size_t kBytesMax = std::size_t{32} << 20;

}  // namespace

void BatchWriter::close(const std::string& partition_key) {
  const auto found = open_.find(partition_key);
  ready_.push_back(std::move(found->second.transaction));
  open_.erase(found);
}

Status BatchWriter::add(const Entity& entity) {
  const std::size_t bytes = accounted_size_bytes(entity);
  Batch& batch = open_[entity.partition_key()];
  batch.transaction.insert_or_replace(entity);
  batch.bytes += bytes;
  if (batch.transaction.size() == limits::kTransactionOperationsMax || batch.bytes >= kBatchBytesMax)
    close(entity.partition_key());
  bytes_ += bytes;
  return ++entities_ >= kEntitiesMax || bytes_ >= kBytesMax ? flush() : Status();
}

Status BatchWriter::flush() {
  while (!open_.empty()) close(std::string(open_.begin()->first));
  const std::vector<EntityGroupTransaction> work = std::exchange(ready_, {});
  entities_ = bytes_ = 0;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  Status failed;
  const auto write_some = [&](TableAccess& table) {
    for (std::size_t at = next++; at < work.size(); at = next++) {
      const Result<std::vector<ETag>> written = table.execute(work[at], WriteOptions());
      if (written.ok()) continue;
      const std::lock_guard<std::mutex> lock(mutex);
      if (failed.ok()) failed = written.status();
      next = work.size();
    }
  };
  std::vector<std::thread> threads;
  const std::size_t count = std::min(tables_.size(), work.size());
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(write_some, std::ref(*tables_[i]));
  if (count > 0) write_some(*tables_[0]);
  for (std::thread& thread : threads) thread.join();
  return failed;
}

}  // namespace varve::tool
