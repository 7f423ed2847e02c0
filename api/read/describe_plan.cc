// Owns: reading bounds back from sort keys (describe_plan.h).
// Must never: refuse a bound that is not a key. Such a bound is shown unchanged.
#include "api/read/describe_plan.h"

#include <algorithm>
#include <utility>

#include "api/model/quoted.h"
#include "format/keys/sort_key.h"
#include "varve/condition.h"

namespace varve {
namespace {

constexpr char kTextEnd = '\0';
/// The end of a text in the first bound after that text.
constexpr char kBehindTextEnd = '\1';

/// Decodes an encoded text that lacks its end.
std::string decoded(std::string_view text) {
  std::string key = format::encode_table(0);
  key.append(text).append(2, kTextEnd);
  Result<format::SortKey> decoded = format::decode_sort_key(key);
  return decoded.ok() ? std::move(decoded->partition_key) : std::string(text);
}

/// `bytes` is the bound without the prefix that the whole range shares. It must not be empty.
TextBound lower_bound(std::string_view bytes) {
  const char last = bytes.back();
  if (last == kTextEnd || last == kBehindTextEnd) bytes.remove_suffix(1);
  return {decoded(bytes), last != kBehindTextEnd};
}
TextBound upper_bound(std::string_view bytes) {
  const char last = bytes.back();
  if (last == kTextEnd || last == kBehindTextEnd) bytes.remove_suffix(1);
  return {decoded(bytes), last == kBehindTextEnd};
}

/// Returns table id and PartitionKey if the range is inside one partition, else nothing.
std::string_view shared_partition(const KeyRange& range) {
  const std::string_view lower = range.lower;
  const std::size_t end = lower.find(kTextEnd, format::kTableIdBytes);
  if (end == std::string_view::npos) return {};
  const std::string_view partition = lower.substr(0, end + 1);
  return range.upper <= format::end_of_prefix(partition) ? partition : std::string_view();
}

/// Sets the bounds after `prefix`, which all keys of the range begin with.
void take_bounds(const KeyRange& range, std::string_view prefix, PlannedRange& planned) {
  const std::string_view lower = std::string_view(range.lower).substr(prefix.size());
  // The empty text is the smallest text, so it is not a bound.
  if (!lower.empty() && lower != std::string_view(&kTextEnd, 1)) planned.lower = lower_bound(lower);
  if (range.upper != format::end_of_prefix(prefix)) {
    planned.upper = upper_bound(std::string_view(range.upper).substr(prefix.size()));
  }
}

/// For example, `ge 'ab' and lt 'ac'`.
bool is_prefix_range(const PlannedRange& planned) {
  if (!planned.lower || !planned.upper || !planned.lower->inclusive || planned.upper->inclusive) return false;
  const std::string& prefix = planned.lower->text;
  const std::string& end = planned.upper->text;
  return !prefix.empty() && (end == format::end_of_prefix(prefix) || end == prefix_successor(prefix));
}

PlannedRange describe(const KeyRange& range) {
  PlannedRange planned;
  if (range.is_point) {
    Result<format::SortKey> key = format::decode_sort_key(range.lower);
    planned.path = AccessPath::kPoint;
    if (!key.ok()) return planned;  // Cannot happen: the filter is valid UTF-8.
    planned.partition_key = std::move(key->partition_key);
    planned.lower = planned.upper = TextBound{std::move(key->row_key), true};
    return planned;
  }
  if (const std::string_view partition = shared_partition(range); !partition.empty()) {
    planned.partition_key =
        decoded(partition.substr(format::kTableIdBytes, partition.size() - format::kTableIdBytes - 1));
    take_bounds(range, partition, planned);
    if (!planned.lower && !planned.upper) {
      planned.path = AccessPath::kPartition;
    } else {
      planned.path = is_prefix_range(planned) ? AccessPath::kRowPrefix : AccessPath::kRowRange;
    }
    return planned;
  }
  take_bounds(range, std::string_view(range.lower).substr(0, format::kTableIdBytes), planned);
  planned.path = planned.lower || planned.upper ? AccessPath::kPartitionRange : AccessPath::kTable;
  return planned;
}

AccessPath path_of(const std::vector<PlannedRange>& ranges) {
  if (ranges.empty()) return AccessPath::kNothing;
  if (ranges.size() == 1) return ranges.front().path;
  const bool points = std::all_of(ranges.begin(), ranges.end(),
                                  [](const PlannedRange& range) { return range.path == AccessPath::kPoint; });
  return points ? AccessPath::kPoints : AccessPath::kSeveral;
}

std::string bounds_text(const PlannedRange& range) {
  std::string text;
  if (range.lower) text += (range.lower->inclusive ? " from " : " after ") + quoted(range.lower->text);
  if (range.upper) text += (range.upper->inclusive ? " to " : " to before ") + quoted(range.upper->text);
  return text;
}

}  // namespace

ScanPlan describe_plan(const KeyPlan& plan, bool backward) {
  ScanPlan described;
  for (const KeyRange& range : plan.ranges) described.ranges.push_back(describe(range));
  if (backward) std::reverse(described.ranges.begin(), described.ranges.end());
  described.path = path_of(described.ranges);
  described.residual = plan.residual.text();
  return described;
}

std::string_view access_path_name(AccessPath path) noexcept {
  switch (path) {
    case AccessPath::kNothing: return "nothing";
    case AccessPath::kPoint: return "point";
    case AccessPath::kPoints: return "points";
    case AccessPath::kRowRange: return "row range";
    case AccessPath::kRowPrefix: return "row prefix";
    case AccessPath::kPartition: return "partition";
    case AccessPath::kPartitionRange: return "partition range";
    case AccessPath::kTable: return "table";
    case AccessPath::kSeveral: return "several ranges";
  }
  return "";
}

std::string PlannedRange::to_string() const {
  const std::string in_partition = partition_key ? " of partition " + quoted(*partition_key) : "";
  switch (path) {
    case AccessPath::kPoint: return "row " + quoted(lower ? lower->text : "") + in_partition;
    case AccessPath::kRowRange: return "rows" + bounds_text(*this) + in_partition;
    case AccessPath::kRowPrefix: return "rows that begin with " + quoted(lower ? lower->text : "") + in_partition;
    case AccessPath::kPartition: return "all" + in_partition;
    case AccessPath::kPartitionRange: return "partitions" + bounds_text(*this);
    default: return "the whole table";
  }
}

}  // namespace varve
