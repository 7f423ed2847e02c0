// Owns: what every contender in the race must do, so that each row is the same work for all of them.
// Must never: let one contender promise less than another: a put is on stable storage when it returns.
#pragma once

#include <memory>
#include <string>

#include "api/result.h"

namespace varve::bench {

/// Any number of threads at once.
class Contender {
 public:
  virtual ~Contender() = default;
  virtual std::string name() const = 0;
  /// One entity of its own key, durable: partition and row name it, `payload` is its one property.
  virtual Status put(const std::string& partition, const std::string& row, const std::string& payload) = 0;
  /// The same as a checked commit under the partition's lock: reads what is there, then writes.
  virtual Status checked_put(const std::string& partition, const std::string& row, const std::string& payload) = 0;
};

Result<std::unique_ptr<Contender>> open_varve(const std::string& directory);
#ifdef VARVE_BENCH_ROCKSDB
Result<std::unique_ptr<Contender>> open_rocksdb(const std::string& directory);
#endif
/// The device itself: one direct, synchronous write of 4 KiB into prepared space for each put.
Result<std::unique_ptr<Contender>> open_device(const std::string& directory);

}  // namespace varve::bench
