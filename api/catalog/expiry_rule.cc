// Owns: the check of a rule, and the end of an entity (expiry_rule.h).
// Must never: refuse an entity because of its end.
#include "api/catalog/expiry_rule.h"

#include <algorithm>
#include <optional>

#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/ends.h"
#include "format/keys/entity.h"
#include "varve/names.h"

namespace varve {

Status check_table_expiry(const TableExpiry& expiry) {
  const bool has_age = expiry.age != std::chrono::milliseconds(0);
  if (expiry.property.empty() != has_age) {
    return service_error::invalid_input(
        "a table's expiry needs the name of a property, or an age above zero, and not both");
  }
  if (!has_age) {
    for (const std::string_view name : {"PartitionKey", "RowKey", "Timestamp"}) {
      if (expiry.property != name) continue;
      return service_error::invalid_input("a table's expiry cannot use " + quoted(name) +
                                          "; give the name of a DateTime property, or an age after the Timestamp");
    }
    return check_property_name(expiry.property);
  }
  if (expiry.age > std::chrono::milliseconds(0) && expiry.age <= TableExpiry::kAgeMax) return Status();
  return service_error::invalid_input("the age of a table's expiry is " + std::to_string(expiry.age.count()) +
                                      " ms; 1 ms to " + std::to_string(TableExpiry::kAgeMax.count()) +
                                      " ms are allowed");
}

std::uint64_t end_by_rule(const TableExpiry& rule, std::string_view entity) noexcept {
  if (rule.property.empty()) {
    return format::kAgeMark + static_cast<std::uint64_t>(rule.age.count() * kAgeTicksPerMillisecond);
  }
  const Result<format::EncodedEntity> view = format::EncodedEntity::open(entity);
  if (!view.ok()) return 0;
  const std::optional<format::PropertyView> property = view->find(rule.property);
  if (!property || property->type != format::PropertyType::kDateTime) return 0;
  return std::clamp<std::uint64_t>(property->as_date_time_ticks(), 1, format::kCommitVersionMax);
}

}  // namespace varve
