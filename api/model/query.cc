// Owns: the ranges that a scan may request (query.h).
// Must never: check a bound.
#include "varve/query.h"

namespace varve {

ScanRange ScanRange::partition(std::string_view partition_key) {
  ScanRange range(Kind::kPartition);
  range.partition_key_ = partition_key;
  return range;
}

ScanRange ScanRange::rows(std::string_view partition_key, std::string_view from, const std::optional<std::string>& to) {
  ScanRange range(Kind::kRows);
  range.partition_key_ = partition_key;
  range.from_ = from;
  range.to_ = to;
  return range;
}

ScanRange ScanRange::rows_with_prefix(std::string_view partition_key, std::string_view prefix) {
  ScanRange range(Kind::kRowPrefix);
  range.partition_key_ = partition_key;
  range.from_ = prefix;
  return range;
}

ScanRange ScanRange::partitions(std::string_view from, const std::optional<std::string>& to) {
  ScanRange range(Kind::kPartitions);
  range.from_ = from;
  range.to_ = to;
  return range;
}

}  // namespace varve
