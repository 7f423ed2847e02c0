// Owns: entities as plain data (types.h).
// Must never: refuse anything. Limits are checked when data enters a store.
#include "varve/types.h"

#include <algorithm>
#include <variant>

#include "api/model/quoted.h"
#include "api/model/spare_pieces.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

std::size_t code_units(std::string_view text) noexcept {
  return format::is_valid_utf8(text) ? format::utf16_length(text) : text.size();
}

struct AccountedValueSize {
  std::size_t operator()(const Binary& value) const noexcept { return 4 + value.bytes.size(); }
  std::size_t operator()(const std::string& value) const noexcept { return 4 + 2 * code_units(value); }
  std::size_t operator()(bool /*value*/) const noexcept { return 1; }
  std::size_t operator()(std::int32_t /*value*/) const noexcept { return 4; }
  std::size_t operator()(const Guid& /*value*/) const noexcept { return 16; }
  std::size_t operator()(const DateTime& /*value*/) const noexcept { return 8; }
  std::size_t operator()(double /*value*/) const noexcept { return 8; }
  std::size_t operator()(std::int64_t /*value*/) const noexcept { return 8; }
  std::size_t operator()(const LargeValue& /*value*/) const noexcept { return 40; }
};

}  // namespace

std::string_view property_type_name(PropertyType type) noexcept {
  switch (type) {
    case PropertyType::kBinary: return "Edm.Binary";
    case PropertyType::kBoolean: return "Edm.Boolean";
    case PropertyType::kDateTime: return "Edm.DateTime";
    case PropertyType::kDouble: return "Edm.Double";
    case PropertyType::kGuid: return "Edm.Guid";
    case PropertyType::kInt32: return "Edm.Int32";
    case PropertyType::kInt64: return "Edm.Int64";
    case PropertyType::kString: return "Edm.String";
    case PropertyType::kLargeValue: return "LargeValue";
  }
  return "?";
}

void Entity::give_back_keys() noexcept {
  spare_texts::give_back(partition_key_);
  spare_texts::give_back(row_key_);
}

Entity& Entity::set(std::string_view name, Value value) & {
  for (Property& property : properties_.all()) {
    if (property.name == name) {
      property.value = std::move(value);
      return *this;
    }
  }
  return add(std::string(name), std::move(value));
}

Entity& Entity::add(std::string name, Value value) & {
  properties_.add([&] { return Property{std::move(name), std::move(value)}; });
  return *this;
}

bool Entity::remove(std::string_view name) noexcept {
  const std::span<const Property> all = properties();
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const Property& property) { return property.name == name; });
  if (found == all.end()) return false;
  properties_.remove(static_cast<std::size_t>(found - all.begin()));
  return true;
}

std::vector<Property> Entity::properties() && {
  const std::span<Property> all = properties_.all();
  return {std::make_move_iterator(all.begin()), std::make_move_iterator(all.end())};
}

const Value* Entity::find(std::string_view name) const& noexcept {
  for (const Property& property : properties()) {
    if (property.name == name) return &property.value;
  }
  return nullptr;
}

Status Entity::absent(std::string_view name) {
  return Status::not_found("the entity has no property " + quoted(name));
}

Status Entity::wrong_type(std::string_view name, PropertyType stored, PropertyType asked) {
  return Status::invalid_argument("property " + quoted(name) + " is " + std::string(property_type_name(stored)) +
                                  ", not " + std::string(property_type_name(asked)));
}

std::size_t accounted_size_bytes(const Entity& entity) noexcept {
  std::size_t bytes = 4 + 2 * code_units(entity.partition_key()) + 2 * code_units(entity.row_key());
  for (const Property& property : entity.properties()) {
    if (property.name == "Timestamp") continue;  // D-50; the constant 4 includes the Timestamp
    bytes += 8 + 2 * code_units(property.name) + std::visit(AccountedValueSize{}, property.value.variant());
  }
  return bytes;
}

}  // namespace varve
