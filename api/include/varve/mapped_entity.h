// SPDX-License-Identifier: Apache-2.0
// Owns: the conversion of a mapped struct to an entity, and of an entity to a mapped struct or to one of several.
// Must never: lose a digit, or accept one type for another, without an error.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "mapping.h"
#include "query.h"
#include "result.h"
#include "status.h"
#include "types.h"
#include "version.h"

namespace varve {

namespace mapped {

/// Returns the error "property 'Lines' is Edm.String, wanted Edm.Int32".
VARVE_EXPORT Status wrong_type(std::string_view name, PropertyType wanted, PropertyType found);
/// Returns the error "property 'Lines' is '70000', which the member or the type does not hold".
VARVE_EXPORT Status does_not_fit(std::string_view name, std::string_view value);
/// Returns the error "property 'Kind' is 'Manager', wanted 'Employee'". A missing property "is absent".
VARVE_EXPORT Status wrong_discriminator(const Entity& entity, std::string_view name, std::string_view wanted);

/// Returns the value of a member as the property `name` stores it. Errors: kInvalidArgument (an enum value without a
/// name, or an integer that an Int64 cannot hold).
template <typename T>
Result<Value> to_value(std::string_view name, const T& member) {
  if constexpr (PropertyValue<T>) {
    return Value(member);
  } else if constexpr (NamedEnum<T>) {
    for (const auto& [value, text] : enum_names<T>) {
      if (value == member) return Value(text);
    }
    return does_not_fit(name, std::to_string(static_cast<std::int64_t>(member)));
  } else if constexpr (std::is_enum_v<T>) {
    return to_value(name, static_cast<std::underlying_type_t<T>>(member));
  } else if constexpr (std::same_as<T, float>) {
    return Value(static_cast<double>(member));
  } else if constexpr (stored_type<T>() == PropertyType::kInt32) {
    return Value(static_cast<std::int32_t>(member));
  } else {
    if (std::in_range<std::int64_t>(member)) return Value(static_cast<std::int64_t>(member));
    return does_not_fit(name, std::to_string(member));
  }
}

/// Returns the number in an Int32. Unless `wanted` is kInt32, an Int64 is accepted too.
inline std::optional<std::int64_t> integer_in(const Value& value, PropertyType wanted) {
  if (const auto* const narrow = value.get_if<std::int32_t>()) return *narrow;
  const auto* const wide = value.get_if<std::int64_t>();
  return wide != nullptr && wanted != PropertyType::kInt32 ? std::optional<std::int64_t>(*wide) : std::nullopt;
}

/// Returns the number in a Double, an Int32 or an Int64, if a Double holds it exactly.
VARVE_EXPORT Result<double> double_in(std::string_view name, const Value& value);

/// Sets the member to the integer in `value`. Errors: wrong_type(), does_not_fit().
template <typename T>
Status read_integer(std::string_view name, const Value& value, T& member) {
  const std::optional<std::int64_t> number = integer_in(value, stored_type<T>());
  if (!number) return wrong_type(name, stored_type<T>(), value.type());
  if (!std::in_range<T>(*number)) return does_not_fit(name, std::to_string(*number));
  member = static_cast<T>(*number);
  return Status();
}

/// Sets the member to the number in `value`, which it must hold exactly. Errors: wrong_type(), does_not_fit().
template <typename T>
Status read_real(std::string_view name, const Value& value, T& member) {
  const Result<double> number = double_in(name, value);
  if (!number.ok()) return number.status();
  member = static_cast<T>(*number);
  if (static_cast<double>(member) == *number || std::isnan(*number)) return Status();
  return does_not_fit(name, std::to_string(*number));
}

/// Sets the member to the enum value whose name is in `value`. Errors: wrong_type(), does_not_fit().
template <typename T>
Status read_named(std::string_view name, const Value& value, T& member) {
  const auto* const found = value.get_if<std::string>();
  if (found == nullptr) return wrong_type(name, PropertyType::kString, value.type());
  for (const auto& [candidate, text] : enum_names<T>) {
    if (text != *found) continue;
    member = candidate;
    return Status();
  }
  return does_not_fit(name, *found);
}

/// Sets the member to `value`, by the function above for its type. Errors: wrong_type(), does_not_fit().
template <typename T>
Status read_value(std::string_view name, const Value& value, T& member) {
  if constexpr (std::same_as<T, double> || std::same_as<T, float>) {
    return read_real(name, value, member);
  } else if constexpr (Integer<T>) {
    return read_integer(name, value, member);
  } else if constexpr (NamedEnum<T>) {
    return read_named(name, value, member);
  } else if constexpr (std::is_enum_v<T>) {
    std::underlying_type_t<T> number{};
    Status read = read_integer(name, value, number);
    if (read.ok()) member = static_cast<T>(number);
    return read;
  } else {
    const T* const typed = value.get_if<T>();
    if (typed == nullptr) return wrong_type(name, property_type_of<T>(), value.type());
    member = *typed;
    return Status();
  }
}

/// Finds the properties of an entity by name. Lookups in the order of the properties are fast.
class PropertyCursor {
 public:
  /// The properties must outlive the cursor.
  explicit PropertyCursor(std::span<const Property> properties) noexcept : properties_(properties) {}
  /// Returns the value of the property with this name, or null if there is none. The search begins after the property
  /// that the last successful call found.
  const Value* find(std::string_view name) noexcept {
    for (std::size_t i = 0; i < properties_.size(); ++i) {
      const std::size_t place = next_ + i < properties_.size() ? next_ + i : next_ + i - properties_.size();
      if (properties_[place].name != name) continue;
      next_ = place + 1;
      return &properties_[place].value;
    }
    return nullptr;
  }

 private:
  std::span<const Property> properties_;
  std::size_t next_ = 0;
};

/// Writes the members of a mapped struct into an entity, including those of base classes and flattened structs.
class EntityWriter {
 public:
  /// The entity, which has its keys already, must outlive the writer.
  explicit EntityWriter(Entity& entity) noexcept : entity_(&entity) {}

  /// Adds the properties of the object to the entity, and sets its ETag. If `inherited` is true, `T` is a base class
  /// and its discriminator is left out. Errors: those of to_value().
  template <typename T>
  Status write(const T& object, bool inherited = false) {
    Status status;
    const auto write_next = [&](const auto& element) {
      status = write_element(object, element, inherited);
      return status.ok();
    };
    std::apply([&](const auto&... elements) { (void)(write_next(elements) && ...); }, mapping<T>.elements);
    return status;
  }

 private:
  template <typename T, typename E>
  Status write_element(const T& object, const E& element, bool inherited) {
    if constexpr (E::kKind == Element::kInherited) {
      return write(static_cast<const typename E::value_type&>(object), true);
    } else if constexpr (E::kKind == Element::kFlattened) {
      const std::size_t before = prefix_.size();
      prefix_.append(element.name);
      Status status = write(object.*element.member);
      prefix_.resize(before);
      return status;
    } else if constexpr (E::kKind == Element::kProperty) {
      return write_property(element.name, object.*element.member);
    } else {
      if constexpr (E::kKind == Element::kDiscriminator) {
        if (!inherited) entity_->add(std::string(element.name), Value(element.value));
      } else if constexpr (E::kKind == Element::kExtra) {
        for (const Property& property : object.*element.member) entity_->add(property.name, property.value);
      } else if constexpr (E::kKind == Element::kETag) {
        entity_->set_etag(object.*element.member);
      }
      return Status();
    }
  }

  template <typename M>
  Status write_property(std::string_view name, const M& member) {
    if constexpr (OptionalValue<M>::kIsOptional) {
      return member ? write_property(name, *member) : Status();
    } else {
      std::string full = prefix_ + std::string(name);
      Result<Value> value = to_value(full, member);
      if (!value.ok()) return value.status();
      entity_->add(std::move(full), *std::move(value));
      return Status();
    }
  }

  Entity* entity_;
  std::string prefix_;
};

/// Reads an entity into the members of a `Root`, including those of base classes and flattened structs.
template <typename Root>
class EntityReader {
 public:
  /// The entity must outlive the reader.
  explicit EntityReader(const Entity& entity) : entity_(&entity), properties_(entity.properties()) {}

  /// Sets the members of the object. A member whose property is absent keeps its value; an optional one is reset. If
  /// `inherited` is true, `T` is a base class and its discriminator is not checked. Errors: wrong_type(),
  /// does_not_fit(), wrong_discriminator().
  template <typename T>
  Status read(T& object, bool inherited = false) {
    Status status;
    const auto read_next = [&](const auto& element) {
      status = read_element(object, element, inherited);
      return status.ok();
    };
    std::apply([&](const auto&... elements) { (void)(read_next(elements) && ...); }, mapping<T>.elements);
    return status;
  }

 private:
  template <typename T, typename E>
  Status read_element(T& object, const E& element, bool inherited) {
    if constexpr (E::kKind == Element::kInherited) {
      return read(static_cast<typename E::value_type&>(object), true);
    } else if constexpr (E::kKind == Element::kFlattened) {
      const std::size_t before = prefix_.size();
      prefix_.append(element.name);
      Status status = read(object.*element.member);
      prefix_.resize(before);
      return status;
    } else if constexpr (E::kKind == Element::kProperty) {
      return read_property(element.name, object.*element.member);
    } else if constexpr (E::kKind == Element::kDiscriminator) {
      if (inherited) return Status();
      const Value* const found = properties_.find(element.name);
      if (found != nullptr && *found == Value(element.value)) return Status();
      return wrong_discriminator(*entity_, element.name, element.value);
    } else {
      read_frame(object, element);
      return Status();
    }
  }

  template <typename T, typename E>
  void read_frame(T& object, const E& element) {
    if constexpr (E::kKind == Element::kPartitionKey) object.*element.member = entity_->partition_key();
    if constexpr (E::kKind == Element::kRowKey) object.*element.member = entity_->row_key();
    if constexpr (E::kKind == Element::kETag) object.*element.member = entity_->etag();
    if constexpr (E::kKind == Element::kTimestamp) object.*element.member = entity_->timestamp();
    if constexpr (E::kKind == Element::kExtra) {
      (object.*element.member).clear();
      for (const Property& property : entity_->properties()) {
        if (!is_mapped_property<Root>(property.name)) (object.*element.member).push_back(property);
      }
    }
  }

  template <typename M>
  Status read_property(std::string_view name, M& member) {
    if (prefix_.empty()) return read_found(name, properties_.find(name), member);
    const std::string full = prefix_ + std::string(name);
    return read_found(full, properties_.find(full), member);
  }

  template <typename M>
  static Status read_found(std::string_view name, const Value* found, M& member) {
    if constexpr (OptionalValue<M>::kIsOptional) {
      member.reset();
      return found == nullptr ? Status() : read_value(name, *found, member.emplace());
    } else {
      return found == nullptr ? Status() : read_value(name, *found, member);
    }
  }

  const Entity* entity_;
  PropertyCursor properties_;
  std::string prefix_;
};

/// Calls `use` with the element of this kind, if there is one. check_mapping() makes sure that there is at most one.
template <Element kind, typename T, typename Use>
void with_element(Use use) {
  const auto visit = [&]<typename E>(const E& element, const auto& /*prefixes*/, std::size_t /*depth*/) {
    if constexpr (E::kKind == kind) use(element);
  };
  for_each_element<T>(visit);
}

/// Whether `T` is a std::variant.
template <typename T>
struct IsVariant : std::false_type {};
template <typename... Ts>
struct IsVariant<std::variant<Ts...>> : std::true_type {};

/// Returns the property name and the value of the discriminator, or two empty texts if the mapping declares none.
template <typename T>
constexpr std::pair<std::string_view, std::string_view> discriminator_of() {
  std::pair<std::string_view, std::string_view> found;
  const auto visit = [&]<typename E>(const E& element, const auto& /*prefixes*/, std::size_t /*depth*/) {
    if constexpr (E::kKind == Element::kDiscriminator) found = {element.name, element.value};
  };
  for_each_element<T>(visit);
  return found;
}

/// Returns whether each of the structs has a discriminator that no other one has.
template <typename... Ts>
constexpr bool are_told_apart() {
  constexpr std::array<std::pair<std::string_view, std::string_view>, sizeof...(Ts)> kAll = {discriminator_of<Ts>()...};
  for (std::size_t i = 0; i < kAll.size(); ++i) {
    if (kAll[i].first.empty()) return false;
    for (std::size_t k = 0; k < i; ++k) {
      if (kAll[i] == kAll[k]) return false;
    }
  }
  return true;
}

/// Returns the error "the entity is none of the types wanted: property 'Kind' is 'Robot'".
VARVE_EXPORT Status none_of_the_types(const Entity& entity, std::string_view discriminator);

}  // namespace mapped

/// Returns the keys of a mapped struct.
template <Mapped T>
EntityKey key_of(const T& object) {
  mapped::check_mapping<T>();
  EntityKey key;
  mapped::with_element<mapped::Element::kPartitionKey, T>([&](const auto& e) { key.partition_key = object.*e.member; });
  mapped::with_element<mapped::Element::kRowKey, T>([&](const auto& e) { key.row_key = object.*e.member; });
  return key;
}

/// Converts a mapped struct to an entity. If the mapping declares an etag() member, the entity gets its ETag.
/// Errors: kInvalidArgument (a value that its property cannot hold, or an enum value without a name; the message names
/// the property).
template <Mapped T>
Result<Entity> to_entity(const T& object) {
  EntityKey key = key_of(object);
  Entity entity(std::move(key.partition_key), std::move(key.row_key));
  if (Status written = mapped::EntityWriter(entity).write(object); !written.ok()) return written;
  return entity;
}

/// Converts an entity to a `T`: to a mapped struct, to a std::variant of mapped structs, or to an Entity as it is. For
/// a variant, the discriminator in the entity selects the struct.
/// Errors: kInvalidArgument (a property of another type, a value that the member cannot hold, or another discriminator;
/// the message names the property and both types or values).
template <typename T>
Result<T> from_entity(const Entity& entity);

namespace mapped {

/// Converts an entity to a mapped struct. Errors: as from_entity().
template <typename T>
Result<T> read_mapped(const Entity& entity) {
  check_mapping<T>();
  T object{};
  if (Status read = EntityReader<T>(entity).read(object); !read.ok()) return read;
  return object;
}

/// Converts an entity to the struct of `Ts` that its discriminator selects. Errors: as from_entity(), and
/// none_of_the_types().
template <typename Variant, typename... Ts>
Result<Variant> read_variant(const Entity& entity, const std::variant<Ts...>* /*types*/) {
  static_assert(are_told_apart<Ts...>(), "each struct of the variant needs its own discriminator");
  std::optional<Result<Variant>> found;
  const auto try_one = [&]<typename T>(std::type_identity<T>) {
    constexpr auto kDiscriminator = discriminator_of<T>();
    const Value* const value = entity.find(kDiscriminator.first);
    if (value == nullptr || *value != Value(kDiscriminator.second)) return false;
    Result<T> object = read_mapped<T>(entity);
    found = object.ok() ? Result<Variant>(Variant(*std::move(object))) : Result<Variant>(object.status());
    return true;
  };
  (void)(try_one(std::type_identity<Ts>()) || ...);
  constexpr std::array<std::string_view, sizeof...(Ts)> kNames = {discriminator_of<Ts>().first...};
  return found ? *std::move(found) : Result<Variant>(none_of_the_types(entity, kNames.front()));
}

}  // namespace mapped

template <typename T>
Result<T> from_entity(const Entity& entity) {
  if constexpr (std::same_as<T, Entity>) {
    return entity;
  } else if constexpr (mapped::IsVariant<T>::value) {
    return mapped::read_variant<T>(entity, static_cast<const T*>(nullptr));
  } else {
    return mapped::read_mapped<T>(entity);
  }
}

}  // namespace varve
