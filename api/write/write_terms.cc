// Owns: the checks of a condition and of a patch, and the sums of increments (write_terms.h).
// Must never: store a sum that is not the exact one of integers, or that is no finite Double.
#include "api/write/write_terms.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "api/model/entity_codec.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/write/entity_write.h"
#include "format/keys/entity.h"
#include "varve/names.h"
#include "varve/property_type.h"

namespace varve {
namespace {

std::string entity_named(const Entity& entity) {
  return "the entity " + quoted(entity.partition_key()) + ", " + quoted(entity.row_key());
}

Status check_patched_name(std::string_view name) {
  if (name == kPartitionKeyName || name == kRowKeyName) {
    return service_error::duplicate_key_property("a patch cannot change the " + std::string(name) +
                                                 " of an entity; write another entity");
  }
  if (name == kTimestampName) {
    return service_error::invalid_input("a patch cannot change the Timestamp; the store sets it at each write");
  }
  return check_property_name(name);
}

Status check_increment(const Property& increment) {
  if (Status checked = check_patched_name(increment.name); !checked.ok()) return checked;
  const Value& by = increment.value;
  if (const double* const number = by.get_if<double>(); number != nullptr && !std::isfinite(*number)) {
    return service_error::invalid_input("the increment of property " + quoted(increment.name) +
                                        " is not a finite number");
  }
  if (by.type() == PropertyType::kInt32 || by.type() == PropertyType::kInt64 || by.type() == PropertyType::kDouble) {
    return Status();
  }
  return service_error::invalid_input("the increment of property " + quoted(increment.name) + " is " +
                                      std::string(property_type_name(by.type())) +
                                      "; an Int32, an Int64 or a Double is needed");
}

/// Checks that the patch names each property once. Its lists are short by now.
Status check_each_name_once(const WriteView& patch, const WriteOperation& changes) {
  std::vector<std::string_view> names;
  names.reserve(changes.removed.size() + changes.increments.size() + patch.entity()->properties().size());
  for (const Property& property : patch.entity()->properties()) names.push_back(property.name);
  for (const Property& increment : changes.increments) names.push_back(increment.name);
  names.insert(names.end(), changes.removed.begin(), changes.removed.end());
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return Status();
  return service_error::duplicate_properties("the patch names the property " + quoted(*twice) + " twice");
}

Status check_patch(const WriteView& patch, const StoreLimits& limits) {
  for (const Property& property : patch.entity()->properties()) {
    if (property.name == kTimestampName) return check_patched_name(property.name);
  }
  if (patch.operation() == nullptr) return Status();  // It only sets properties.
  const WriteOperation& changes = *patch.operation();
  const std::size_t most =
      std::max(changes.removed.size(), changes.increments.size() + patch.entity()->properties().size());
  if (most > limits.custom_properties_max) {
    return service_error::too_many_properties("the patch names " + std::to_string(most) + " properties; at most " +
                                              std::to_string(limits.custom_properties_max) + " are allowed");
  }
  for (const std::string& name : changes.removed) {
    if (Status checked = check_patched_name(name); !checked.ok()) return checked;
  }
  for (const Property& increment : changes.increments) {
    if (Status checked = check_increment(increment); !checked.ok()) return checked;
  }
  return check_each_name_once(patch, changes);
}

Status mismatch(const Entity& entity, const Property& increment, PropertyType stored) {
  const bool is_integer = stored == PropertyType::kInt32 || stored == PropertyType::kInt64;
  const std::string_view needed =
      is_integer ? "; the increment must be an integer" : "; only numbers can be incremented";
  return Status::invalid_argument("property " + quoted(increment.name) + " of " + entity_named(entity) + " is " +
                                  std::string(property_type_name(stored)) + std::string(needed))
      .with_service_error("PropertyTypeMismatch");
}

Status out_of_range(const Entity& entity, const Property& increment, PropertyType stored) {
  return Status::too_large("the increment of property " + quoted(increment.name) + " of " + entity_named(entity) +
                           " gives a number that " + std::string(property_type_name(stored)) + " cannot hold")
      .with_service_error("IncrementOutOfRange");
}

Status not_finite(const Entity& entity, const Property& increment) {
  return Status::too_large("property " + quoted(increment.name) + " of " + entity_named(entity) +
                           " is NaN or infinite, and so is each sum; set it before you increment it")
      .with_service_error("IncrementOutOfRange");
}

/// Returns the sum, if Integer can hold it. Both operands fit in 64 bits, but their sum may not.
template <typename Integer>
std::optional<Integer> sum_of(Integer stored, std::int64_t by) noexcept {
  constexpr std::int64_t kMin = std::numeric_limits<Integer>::min();
  constexpr std::int64_t kMax = std::numeric_limits<Integer>::max();
  std::int64_t sum = 0;
  const bool fits = !__builtin_add_overflow(std::int64_t{stored}, by, &sum) && sum >= kMin && sum <= kMax;
  if (!fits) return std::nullopt;
  return static_cast<Integer>(sum);
}

std::optional<std::int64_t> integer_of(const Value& by) noexcept {
  if (const auto* const small = by.get_if<std::int32_t>()) return *small;
  if (const auto* const large = by.get_if<std::int64_t>()) return *large;
  return std::nullopt;
}

double double_of(const Value& by) noexcept {
  if (const auto* const number = by.get_if<double>()) return *number;
  return static_cast<double>(integer_of(by).value_or(0));
}

/// Adds a property that the entity lacked: zero and the increment.
void add_first(const Property& increment, format::EntityBuilder& sums) {
  const Value& by = increment.value;
  if (const auto* const small = by.get_if<std::int32_t>()) return sums.add_int32(increment.name, *small);
  if (const auto* const large = by.get_if<std::int64_t>()) return sums.add_int64(increment.name, *large);
  sums.add_double(increment.name, double_of(by));
}

/// Adds the sum of the stored property and the increment.
Status add_sum(const Entity& entity, const Property& increment, const format::PropertyView& stored,
               format::EntityBuilder& sums) {
  if (stored.type == PropertyType::kDouble) {
    const double sum = stored.as_double() + double_of(increment.value);
    if (!std::isfinite(stored.as_double())) return not_finite(entity, increment);
    if (!std::isfinite(sum)) return out_of_range(entity, increment, stored.type);
    sums.add_double(increment.name, sum);
    return Status();
  }
  const std::optional<std::int64_t> by = integer_of(increment.value);
  if (stored.type == PropertyType::kInt32 && by) {
    const std::optional<std::int32_t> sum = sum_of(stored.as_int32(), *by);
    if (!sum) return out_of_range(entity, increment, stored.type);
    sums.add_int32(increment.name, *sum);
    return Status();
  }
  if (stored.type == PropertyType::kInt64 && by) {
    const std::optional<std::int64_t> sum = sum_of(stored.as_int64(), *by);
    if (!sum) return out_of_range(entity, increment, stored.type);
    sums.add_int64(increment.name, *sum);
    return Status();
  }
  return mismatch(entity, increment, stored.type);
}

/// Returns the properties that the patch sets, followed by those that it increments.
Result<std::string> with_sums(std::string_view stored, std::string_view set, const WriteTerms& terms) {
  const Result<format::EncodedEntity> before = format::EncodedEntity::open(stored);
  if (!before.ok()) return before.status();
  const Result<format::EncodedEntity> given = format::EncodedEntity::open(set);
  if (!given.ok()) return given.status();
  format::EntityBuilder all;
  for (std::size_t i = 0; i < given->property_count(); ++i) all.add(given->property(i));
  for (const Property& increment : terms.increments) {
    const std::optional<format::PropertyView> property = before->find(increment.name);
    if (!property) {
      add_first(increment, all);
      continue;
    }
    if (Status added = add_sum(terms.entity, increment, *property, all); !added.ok()) return added;
  }
  return all.finish();
}

}  // namespace

Result<std::shared_ptr<WriteTerms>> prepare_terms(const WriteView& operation, const StoreLimits& limits) {
  const WriteOperation* const given = operation.operation();
  const bool is_patch = patches(operation.kind());
  if (is_patch) {
    if (Status checked = check_patch(operation, limits); !checked.ok()) return checked;
  } else if (given == nullptr) {
    return std::shared_ptr<WriteTerms>();
  } else if (!given->removed.empty() || !given->increments.empty()) {
    return service_error::invalid_input("only a patch removes or increments properties");
  }
  const bool has_condition = given != nullptr && !given->condition.empty();
  if (has_condition && !needs_etag(operation.kind())) {
    return service_error::invalid_input("a write that inserts an absent entity cannot have a condition");
  }
  if (!is_patch && !has_condition) return std::shared_ptr<WriteTerms>();
  auto terms = std::make_shared<WriteTerms>();
  terms->entity = Entity(std::string(operation.partition_key()), std::string(operation.row_key()));
  if (given == nullptr) return terms;
  if (has_condition) {
    Result<Filter> condition = parse_filter(given->condition, limits);
    if (!condition.ok()) return condition.status();
    terms->condition = *std::move(condition);
  }
  terms->removed = given->removed;
  terms->increments = given->increments;
  return terms;
}

Status check_terms(const WriteTerms& terms, format::CommitVersion version, std::string_view stored) {
  if (terms.condition.matches_everything()) return Status();
  const Result<format::EncodedEntity> properties = format::EncodedEntity::open(stored);
  if (!properties.ok()) return properties.status();
  if (terms.condition.matches({terms.entity.partition_key(), terms.entity.row_key(), version, *properties})) {
    return Status();
  }
  return service_error::condition_not_met(entity_named(terms.entity) + " does not meet the condition " +
                                          quoted(terms.condition.text()));
}

Result<std::string> patch_properties(std::optional<std::string_view> stored, std::string_view set,
                                     std::size_t key_bytes, const StoreLimits& limits, WriteTerms& terms) {
  const std::string nothing = stored ? std::string() : format::EntityBuilder().finish();
  const std::string_view before = stored.value_or(nothing);
  const Result<std::string> given = with_sums(before, set, terms);
  if (!given.ok()) return given.status();
  Result<std::string> patched = merge_properties(before, *given, key_bytes, limits, terms.removed);
  if (!patched.ok()) return patched;
  Entity entity(terms.entity.partition_key(), terms.entity.row_key());
  constexpr format::CommitVersion kNotCommitted = 0;
  if (Status decoded = decode_properties(entity, kNotCommitted, *patched, {}); !decoded.ok()) return decoded;
  terms.entity = std::move(entity);
  return patched;
}

}  // namespace varve
