// Owns: the choice of the properties to encrypt, and the check that they can be encrypted.
#include <algorithm>
#include <utility>

#include "api/encryption/utf8.h"
#include "varve/encryption/entity_encryption.h"

namespace varve {
namespace {

bool is_system_property(std::string_view name) noexcept {
  return name == "PartitionKey" || name == "RowKey" || name == "Timestamp";
}

Status check_chosen(const Entity& entity, const std::string& name) {
  const auto is_named = [&](const Property& property) { return property.name == name; };
  const std::span<const Property> properties = entity.properties();
  if (is_system_property(name)) {
    return Status::invalid_argument("the system property " + name + " cannot be encrypted");
  }
  const auto found = std::find_if(properties.begin(), properties.end(), is_named);
  if (found == properties.end()) {
    return Status::invalid_argument("the property '" + name + "' is chosen for encryption, but is absent");
  }
  if (std::count_if(properties.begin(), properties.end(), is_named) > 1) {
    return Status::invalid_argument("the property '" + name + "' is chosen for encryption, but is given twice");
  }
  const auto* const text = found->value.get_if<std::string>();
  if (text == nullptr) {
    return Status::invalid_argument("the property '" + name + "' is chosen for encryption, but is of type " +
                                    std::string(property_type_name(found->value.type())) +
                                    "; only Edm.String can be encrypted");
  }
  if (!is_utf8(name) || !is_utf8(*text)) {
    return Status::invalid_argument("the name or the value of the property '" + name + "' is not valid UTF-8");
  }
  return {};
}

}  // namespace

PropertyChoice PropertyChoice::names(std::vector<std::string> names) {
  PropertyChoice choice;
  choice.names_ = std::move(names);
  return choice;
}

PropertyChoice PropertyChoice::resolver(Callback callback) {
  PropertyChoice choice;
  choice.callback_ = std::move(callback);
  return choice;
}

Result<std::vector<std::string>> PropertyChoice::of(const Entity& entity) const {
  std::vector<std::string> chosen = names_;
  if (callback_) {
    for (const Property& property : entity.properties()) {
      if (callback_(entity.partition_key(), entity.row_key(), property.name)) chosen.push_back(property.name);
    }
  }
  for (const std::string& name : chosen) {
    if (Status status = check_chosen(entity, name); !status.ok()) return status;
  }
  std::vector<std::string> sorted = chosen;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    return Status::invalid_argument("the property '" + *twice + "' is chosen for encryption twice");
  }
  return chosen;
}

}  // namespace varve
