// Owns: comparing entities with ranges (statistics_check.h).
// Must never: skip a property that occurs twice in an entity.
#include "format/block/statistics_check.h"

#include <algorithm>

#include "format/bytes/damage.h"

namespace varve::format {

Status StatisticsCheck::open(std::string_view run_statistics) {
  for (RunStatistics told(run_statistics); !told.at_end();) {
    const Result<NamedRange> named = told.next();
    if (!named.ok()) return named.status();
    of_run_.push_back({named->name, named->range});
    if (named->is_in_blocks) names_in_blocks_.push_back(named->name);
  }
  return Status();
}

Status StatisticsCheck::begin_block(std::string_view statistics) {
  in_block_.clear();
  BlockStatistics told(statistics);
  for (const std::string_view name : names_in_blocks_) {
    const Result<PropertyRange> range = told.next();
    if (!range.ok()) return range.status();
    in_block_.push_back({name, *range});
  }
  if (!told.at_end()) return damaged("block statistics", "contain more ranges than the run names properties");
  return Status();
}

bool StatisticsCheck::agrees(const Told& told, const EncodedEntity& entity) noexcept {
  if (told.range.kind == PropertyRange::Kind::kUnknown) return true;
  for (std::size_t i = 0; i < entity.property_count(); ++i) {
    const PropertyView property = entity.property(i);
    if (property.name == told.name && !covers(told.range, property)) return false;
  }
  return true;
}

Status StatisticsCheck::check(std::string_view entity) const {
  const Result<EncodedEntity> view = EncodedEntity::open(entity);
  if (!view.ok()) return Status();
  const auto agree = [&view](const Told& told) { return agrees(told, *view); };
  if (std::all_of(of_run_.begin(), of_run_.end(), agree) && std::all_of(in_block_.begin(), in_block_.end(), agree)) {
    return Status();
  }
  return damaged("block statistics", "an entity has a value that they exclude");
}

}  // namespace varve::format
