// Owns: the steps from the text of a filter to its plan (asked_filter.h).
// Must never: parse a filter whose plan is kept for the table.
#include "api/filter/asked_filter.h"

#include <optional>
#include <string>
#include <utility>

#include "api/filter/key_plan.h"

namespace varve {
namespace {

FilterGrammar grammar_of(const Scan& scan) noexcept {
  return scan.filter_extensions ? FilterGrammar::kExtended : FilterGrammar::kService;
}

/// Returns the PartitionKey of a range of one partition.
std::optional<std::string> range_partition(const ScanRange& range) {
  const bool may_have_several = range.kind() == ScanRange::Kind::kTable || range.kind() == ScanRange::Kind::kPartitions;
  return may_have_several ? std::nullopt : std::optional<std::string>(range.partition_key());
}

/// Returns whether the plan has the range of the scan and the whole filter: one comparison that names no key. A long text is
/// planned, since the plan is kept.
bool is_its_own_plan(const Filter& filter) noexcept {
  return is_one_of_no_key(filter) && filter.text().size() < PlanCache::kTextBytesMin;
}

std::shared_ptr<const PlannedFilter> plan_filter(PlanCache& plans, const Scan& scan, Filter& filter,
                                                 format::TableId table) {
  auto planned = std::make_shared<PlannedFilter>();
  if (scan.filter.size() >= PlanCache::kTextBytesMin) planned->text = scan.filter;
  planned->table = table;
  planned->names_keys = filter.names_keys();
  if (planned->names_keys) planned->partition = range_partition(scan.range);
  planned->comparisons = filter.comparison_count();
  planned->is_extended = filter.is_extended();
  const ScanRange within = planned->partition ? ScanRange::partition(*planned->partition) : ScanRange::whole_table();
  planned->plan = plan_keys_taking(filter, table, keys_in(table, within));
  plans.keep(planned);
  return planned;
}

}  // namespace

Status ask_filter(const PlanCache& plans, const StoreLimits& limits, const Scan& scan, AskedFilter& asked) {
  asked.kept = plans.find(scan.filter);
  if (asked.kept != nullptr && asked.kept->is_extended && !scan.filter_extensions) asked.kept = nullptr;
  if (asked.kept != nullptr) return check_comparisons(asked.kept->comparisons, limits);
  Result<Filter> parsed = parse_filter(scan.filter, limits, grammar_of(scan));
  if (!parsed.ok()) return parsed.status();
  asked.parsed = *std::move(parsed);
  return Status();
}

Result<std::shared_ptr<const PlannedFilter>> plan_asked(PlanCache& plans, const StoreLimits& limits, const Scan& scan,
                                                        AskedFilter& asked, format::TableId table) {
  if (asked.kept == nullptr) {
    if (asked.parsed.matches_everything() || is_its_own_plan(asked.parsed)) {
      return std::shared_ptr<const PlannedFilter>();
    }
    return plan_filter(plans, scan, asked.parsed, table);
  }
  const std::optional<std::string> partition = asked.kept->names_keys ? range_partition(scan.range) : std::nullopt;
  if (asked.kept->table == table && asked.kept->partition == partition) return asked.kept;
  if (std::shared_ptr<const PlannedFilter> kept = plans.find(scan.filter, table, partition)) return kept;
  Result<Filter> parsed = parse_filter(scan.filter, limits, grammar_of(scan));
  if (!parsed.ok()) return parsed.status();
  return plan_filter(plans, scan, *parsed, table);
}

}  // namespace varve
