// Owns: the messages of mismatches between entities and structs (mapped_entity.h).
// Must never: depend on a struct.
#include "varve/mapped_entity.h"

#include "api/model/quoted.h"
#include "api/model/service_error.h"

namespace varve::mapped {
namespace {

std::string said_of(const Entity& entity, std::string_view name) {
  const Value* const value = entity.find(name);
  const std::string property = "property " + quoted(name);
  if (value == nullptr) return property + " is absent";
  if (const auto* const text = value->get_if<std::string>()) return property + " is " + quoted(*text);
  return property + " is " + std::string(property_type_name(value->type()));
}

}  // namespace

Status wrong_type(std::string_view name, PropertyType wanted, PropertyType found) {
  return Status::invalid_argument("property " + quoted(name) + " is " + std::string(property_type_name(found)) +
                                  ", expected " + std::string(property_type_name(wanted)));
}

Status does_not_fit(std::string_view name, std::string_view value) {
  return Status::invalid_argument("property " + quoted(name) + " is " + quoted(value) +
                                  ", which does not fit the struct's member");
}

Status wrong_discriminator(const Entity& entity, std::string_view name, std::string_view wanted) {
  return Status::invalid_argument(said_of(entity, name) + ", expected " + quoted(wanted));
}

Status none_of_the_types(const Entity& entity, std::string_view discriminator) {
  return Status::invalid_argument("the entity is of no struct of the variant: " + said_of(entity, discriminator));
}

Result<double> double_in(std::string_view name, const Value& value) {
  if (const auto* const real = value.get_if<double>()) return *real;
  const std::optional<std::int64_t> integer = integer_in(value, PropertyType::kInt64);
  if (!integer) return wrong_type(name, PropertyType::kDouble, value.type());
  const auto real = static_cast<double>(*integer);
  // 2^63 is a Double but not an Int64, so it is excluded before the conversion back.
  constexpr double kAboveInt64 = 9'223'372'036'854'775'808.0;
  if (real < kAboveInt64 && static_cast<std::int64_t>(real) == *integer) return real;
  return does_not_fit(name, std::to_string(*integer));
}

}  // namespace varve::mapped
