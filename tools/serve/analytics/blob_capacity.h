// Owns: the daily row about the capacity of an account's blobs: the walk that counts them, and its two rows.
// Must never: hold up the writer of logs. A call counts a limited number of blobs.
#pragma once

#include <cstdint>
#include <string>

#include "tools/serve/analytics/metrics_row.h"
#include "varve/service_properties.h"
#include "varve/store.h"
#include "varve/types.h"

namespace varve::serve {

/// What one of the rows says. Source: AM-04.
struct BlobCapacity {
  std::uint64_t bytes = 0;
  std::uint64_t containers = 0;
  std::uint64_t blobs = 0;
  bool operator==(const BlobCapacity&) const = default;
};

/// Counts the blobs of one account, once a day. One thread at a time may use it.
class CapacityCount {
 public:
  explicit CapacityCount(std::string account);

  /// Goes on with the count of the day of `now`, if the account wants it: hourly metrics of the blob service. The last
  /// step writes the rows. After an error the count begins again at the next call. Returns whether rows were written, and
  /// have to be synced.
  bool update(Store& store, const MetricsProperties& wanted, DateTime now);
  /// Returns whether a count has begun and not ended.
  bool is_counting() const noexcept { return is_counting_; }

 private:
  Status begin(Store& store, DateTime day);
  Status count_some(Store& store);
  Status count_page(Store& store);
  Status next_container(Store& store);
  Status write_rows(Store& store);
  bool delete_old(Store& store, const MetricsProperties& wanted, DateTime now);

  const std::string account_;
  /// The day that is counted, or that was counted last.
  DateTime day_{};
  bool is_counting_ = false;
  /// The container whose blobs are counted. Empty: the next one has to be found.
  std::string container_{};
  std::string containers_token_{};
  bool is_last_ = false;
  std::string blobs_token_{};
  bool has_all_ = false;
  BlobCapacity data_{};
  BlobCapacity analytics_{};
  /// The time from which old rows are deleted next.
  DateTime deletion_{};
};

}  // namespace varve::serve
