// SPDX-License-Identifier: Apache-2.0
// Owns: the declaration that maps a C++ struct to an entity, and the checks that the compiler makes on it.
// Must never: use a store, or keep the content of a declaration anywhere except in constants.
//
//   struct Order { std::string region, number, customer; std::optional<double> total; ETag etag; };
//
//   template <>
//   inline constexpr auto varve::mapping<Order> = varve::mapped::members(
//       varve::mapped::partition_key(&Order::region), varve::mapped::row_key(&Order::number),
//       varve::mapped::property("Customer", &Order::customer), varve::mapped::property("Total", &Order::total),
//       varve::mapped::etag(&Order::etag));
//
// The declaration must be outside all namespaces, or in varve, and before its first use. Members without an element are
// not stored. mapped_entity.h converts between structs and entities. typed_table.h has the operations on a table.
//
// Member types and their stored types. A read widens a number if the member holds it exactly. Any other mismatch is an
// error.
//   Binary, bool, DateTime, Guid, std::string   the same type, and read only from this type
//   signed integers up to 32 bits               Int32
//   signed integers of 64 bits                  Int64, read from Int32 too
//   unsigned integers                           Int64, read from Int32 too; a value above 2^63-1 cannot be written
//   double, float                               Double, read from Int32 and Int64 too
//   an enum with enum_names<E>                  String: its name
//   any other enum                              as its underlying integer type
//   std::optional of any of these               as that type; a member without a value is not written, and an absent
//                                               property is read as no value
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "types.h"

namespace varve {

namespace mapped {

/// The kinds of elements in a mapping. The functions below make them.
enum class Element : std::uint8_t {
  kPartitionKey,
  kRowKey,
  kETag,
  kTimestamp,
  kProperty,
  kFlattened,
  kInherited,
  kDiscriminator,
  kIgnored,
  kExtra,
  kIndex,
  kExpiry,
};

/// An element that maps a data member of `Owner`, which has the type `T`.
template <Element kind, typename Owner, typename T>
struct Member {
  /// Kind of the element.
  static constexpr Element kKind = kind;
  /// Type of the data member.
  using value_type = T;
  /// Pointer to the data member.
  T Owner::*member;
  /// The property's name. For kFlattened, the prefix of its properties' names.
  std::string_view name{};
  /// True if encrypted() made the element.
  bool is_encrypted = false;
};

/// The element that inherits() makes.
template <typename Base>
struct Inherited {
  /// Kind of the element.
  static constexpr Element kKind = Element::kInherited;
  /// The base class whose mapping is included.
  using value_type = Base;
};

/// The element that discriminator() makes.
struct Discriminator {
  /// Kind of the element.
  static constexpr Element kKind = Element::kDiscriminator;
  /// Name of the String property.
  std::string_view name;
  /// Text that the property has in each entity of this type.
  std::string_view value;
};

/// The element that ignored() makes.
struct Ignored {
  /// Kind of the element.
  static constexpr Element kKind = Element::kIgnored;
  /// Name of the property to ignore.
  std::string_view name;
};

/// The mapping that members() makes.
template <typename... Elements>
struct Members {
  /// The elements in the order of their declaration.
  std::tuple<Elements...> elements;
};

/// Combines the elements of one mapping.
template <typename... Elements>
constexpr Members<Elements...> members(Elements... elements) {
  return {std::tuple<Elements...>(elements...)};
}

/// Declares the member that holds the PartitionKey, of type std::string. keys.h builds keys from numbers and times.
template <typename Owner, typename T>
constexpr auto partition_key(T Owner::*member) {
  return Member<Element::kPartitionKey, Owner, T>{member, "PartitionKey"};
}
/// Declares the member that holds the RowKey, of type std::string.
template <typename Owner, typename T>
constexpr auto row_key(T Owner::*member) {
  return Member<Element::kRowKey, Owner, T>{member, "RowKey"};
}
/// Declares the member that holds the ETag of the entity as read, of type ETag. Writes that need a condition use this
/// ETag.
template <typename Owner, typename T>
constexpr auto etag(T Owner::*member) {
  return Member<Element::kETag, Owner, T>{member};
}
/// Declares the member that receives the Timestamp, of type DateTime. It is not written (D-50).
template <typename Owner, typename T>
constexpr auto timestamp(T Owner::*member) {
  return Member<Element::kTimestamp, Owner, T>{member, "Timestamp"};
}
/// Declares a property. If the entity lacks it, the member keeps the value that T() gave it.
template <typename Owner, typename T>
constexpr auto property(std::string_view name, T Owner::*member) {
  return Member<Element::kProperty, Owner, T>{member, name};
}
/// Declares a property that must be encrypted before it is stored. is_encrypted_property() reports it. Nothing here
/// encrypts.
template <typename Owner, typename T>
constexpr auto encrypted(std::string_view name, T Owner::*member) {
  return Member<Element::kProperty, Owner, T>{member, name, true};
}
/// Declares a nested struct that has its own mapping, without keys. The entity stores the properties of the nested
/// struct, each name after `prefix`. For example, `Street` with the prefix `Home` is stored as `HomeStreet`.
template <typename Owner, typename T>
constexpr auto flattened(std::string_view prefix, T Owner::*member) {
  return Member<Element::kFlattened, Owner, T>{member, prefix};
}
/// Declares everything that the mapping of a base class declares, except its discriminator.
template <typename Base>
constexpr auto inherits() {
  return Inherited<Base>{};
}
/// Declares a String property that names the type of an entity. It is written with the entity. An entity that lacks the
/// property, or has another value, is not read as a T.
constexpr Discriminator discriminator(std::string_view name, std::string_view value) {
  return {name, value};
}
/// Declares a property that the table has and the struct has not. extra() does not keep it either.
constexpr Ignored ignored(std::string_view name) {
  return {name};
}
/// Declares the member that keeps all properties without an element and writes them back, of type
/// std::vector<Property>. Without such a member, a read ignores unknown properties, and a replace removes them.
template <typename Owner, typename T>
constexpr auto extra(T Owner::*member) {
  return Member<Element::kExtra, Owner, T>{member};
}

}  // namespace mapped

/// The value of `mapping` and `enum_names` for a type without a specialisation.
struct NotMapped {};

/// The mapping of a struct. Specialise it for each mapped struct.
template <typename T>
inline constexpr auto mapping = NotMapped{};

/// A struct with a specialisation of `mapping`.
template <typename T>
concept Mapped = !std::same_as<std::remove_const_t<decltype(mapping<T>)>, NotMapped>;

/// The names of an enum's values. Specialise it as an array of std::pair<E, std::string_view>.
template <typename E>
inline constexpr auto enum_names = NotMapped{};

/// An enum with a specialisation of `enum_names`; it is stored as a String.
template <typename E>
concept NamedEnum = std::is_enum_v<E> && !std::same_as<std::remove_const_t<decltype(enum_names<E>)>, NotMapped>;

namespace mapped {

/// The type of a member's value, and whether the member may lack it. The primary template is for members that always
/// have a value.
template <typename T>
struct OptionalValue {
  /// Type of the value.
  using value_type = T;
  /// False: the property is always written.
  static constexpr bool kIsOptional = false;
};
/// The specialisation for members of type std::optional.
template <typename T>
struct OptionalValue<std::optional<T>> {
  /// Type of the value inside the std::optional.
  using value_type = T;
  /// True: a member without a value is not written.
  static constexpr bool kIsOptional = true;
};
/// The type of a member's value, whether the member is optional or not.
template <typename T>
using ValueOf = typename OptionalValue<T>::value_type;

/// An integer type that is stored as Int32 or Int64.
template <typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool> && !Character<T> && sizeof(T) <= 8;

/// A type that a mapped member may have, alone or in a std::optional.
template <typename T>
concept Supported = PropertyValue<T> || Integer<T> || std::same_as<T, float> || std::is_enum_v<T>;

/// Returns the property type in which a member of type `T` is stored.
template <typename T>
constexpr PropertyType stored_type() {
  if constexpr (PropertyValue<T>) {
    return property_type_of<T>();
  } else if constexpr (NamedEnum<T>) {
    return PropertyType::kString;
  } else if constexpr (std::is_enum_v<T>) {
    return stored_type<std::underlying_type_t<T>>();
  } else if constexpr (std::same_as<T, float>) {
    return PropertyType::kDouble;
  } else {
    return std::signed_integral<T> && sizeof(T) <= 4 ? PropertyType::kInt32 : PropertyType::kInt64;
  }
}

/// Maximum depth of structs that are flattened into each other.
inline constexpr std::size_t kPrefixesMax = 8;

/// A property's name after the prefixes of the structs that contain it.
struct QualifiedName {
  /// Prefixes from the outermost struct to the innermost; unused ones are empty.
  std::array<std::string_view, kPrefixesMax> prefixes{};
  /// Name in the innermost struct.
  std::string_view name;

  /// Returns the length of the joined text, in bytes.
  constexpr std::size_t size() const {
    std::size_t all = name.size();
    for (const std::string_view prefix : prefixes) all += prefix.size();
    return all;
  }
  /// Returns the byte at `place` of the joined text; `place` must be below size().
  constexpr char at(std::size_t place) const {
    for (const std::string_view prefix : prefixes) {
      if (place < prefix.size()) return prefix[place];
      place -= prefix.size();
    }
    return name[place];
  }
  /// Compares the joined texts, wherever their prefixes end.
  constexpr bool operator==(const QualifiedName& other) const {
    if (size() != other.size()) return false;
    for (std::size_t i = 0; i < size(); ++i) {
      if (at(i) != other.at(i)) return false;
    }
    return true;
  }
  /// Compares the joined text with `text`.
  constexpr bool operator==(std::string_view text) const { return *this == QualifiedName{{}, text}; }
};

/// Calls `visit(element, prefixes, depth)` for every element of T's mapping: its own elements, inherited ones (without
/// their discriminators), and those of flattened structs.
template <typename T, typename Visitor>
constexpr void for_each_element(Visitor& visit, std::array<std::string_view, kPrefixesMax> prefixes = {},
                                std::size_t depth = 0, bool inherited = false) {
  const auto visit_one = [&]<typename E>(const E& element) {
    if constexpr (E::kKind == Element::kInherited) {
      static_assert(Mapped<typename E::value_type>, "the base class in inherits() has no varve::mapping");
      for_each_element<typename E::value_type>(visit, prefixes, depth, true);
    } else if constexpr (E::kKind == Element::kFlattened) {
      visit(element, prefixes, depth);
      auto deeper = prefixes;
      deeper[depth] = element.name;
      if constexpr (Mapped<typename E::value_type>) for_each_element<typename E::value_type>(visit, deeper, depth + 1);
    } else {
      if (E::kKind != Element::kDiscriminator || !inherited) visit(element, prefixes, depth);
    }
  };
  std::apply([&](const auto&... elements) { (visit_one(elements), ...); }, mapping<T>.elements);
}

/// Returns whether an element of this kind names one property.
constexpr bool names_property(Element kind) {
  return kind == Element::kProperty || kind == Element::kDiscriminator || kind == Element::kIgnored;
}

/// Returns the number of elements of this kind in the mapping of T.
template <typename T>
constexpr std::size_t count_of(Element kind) {
  std::size_t count = 0;
  const auto visit = [&]<typename E>(const E& /*element*/, const auto& /*prefixes*/, std::size_t /*depth*/) {
    count += E::kKind == kind ? 1 : 0;
  };
  for_each_element<T>(visit);
  return count;
}

/// Number of properties that the mapping of T names.
template <typename T>
constexpr std::size_t kNameCount =
    count_of<T>(Element::kProperty) + count_of<T>(Element::kDiscriminator) + count_of<T>(Element::kIgnored);

/// Returns the names of all properties that the mapping of T names.
template <typename T>
constexpr std::array<QualifiedName, kNameCount<T>> names_of() {
  std::array<QualifiedName, kNameCount<T>> names{};
  std::size_t count = 0;
  const auto visit = [&]<typename E>(const E& element, const auto& prefixes, std::size_t /*depth*/) {
    if constexpr (names_property(E::kKind)) names[count++] = {prefixes, element.name};
  };
  for_each_element<T>(visit);
  return names;
}

/// Returns whether two elements name one property.
template <typename T>
constexpr bool names_twice() {
  const auto names = names_of<T>();
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (names[i] == names[k]) return true;
    }
  }
  return false;
}

/// Returns whether an element names PartitionKey, RowKey, Timestamp or the empty name.
template <typename T>
constexpr bool names_system_property() {
  for (const QualifiedName& name : names_of<T>()) {
    if (name == "PartitionKey" || name == "RowKey" || name == "Timestamp" || name.size() == 0) return true;
  }
  return false;
}

/// Returns whether an element maps a member of a type that it does not support.
template <typename T>
constexpr bool has_unsupported_member() {
  bool found = false;
  const auto visit = [&]<typename E>(const E& /*element*/, const auto& /*prefixes*/, std::size_t /*depth*/) {
    if constexpr (E::kKind == Element::kProperty) found = found || !Supported<ValueOf<typename E::value_type>>;
    if constexpr (E::kKind == Element::kPartitionKey || E::kKind == Element::kRowKey) {
      found = found || !std::same_as<typename E::value_type, std::string>;
    }
    if constexpr (E::kKind == Element::kFlattened) found = found || !Mapped<typename E::value_type>;
    if constexpr (E::kKind == Element::kETag) found = found || !std::same_as<typename E::value_type, ETag>;
    if constexpr (E::kKind == Element::kTimestamp) found = found || !std::same_as<typename E::value_type, DateTime>;
    if constexpr (E::kKind == Element::kExtra) {
      found = found || !std::same_as<typename E::value_type, std::vector<Property>>;
    }
  };
  for_each_element<T>(visit);
  return found;
}

/// Returns whether a flattened struct declares an element that only a whole entity may have, such as a key.
template <typename T>
constexpr bool nests_more_than_properties() {
  bool found = false;
  const auto visit = [&]<typename E>(const E& /*element*/, const auto& /*prefixes*/, std::size_t depth) {
    found = found || (depth > 0 && E::kKind != Element::kProperty && E::kKind != Element::kFlattened &&
                      E::kKind != Element::kIgnored);
  };
  for_each_element<T>(visit);
  return found;
}

/// Returns whether encrypted() declares a member that is not text.
template <typename T>
constexpr bool encrypts_other_than_text() {
  bool found = false;
  const auto visit = [&]<typename E>(const E& element, const auto& /*prefixes*/, std::size_t /*depth*/) {
    if constexpr (E::kKind == Element::kProperty) {
      found = found || (element.is_encrypted && !std::same_as<ValueOf<typename E::value_type>, std::string>);
    }
  };
  for_each_element<T>(visit);
  return found;
}

}  // namespace mapped

/// A fault in the mapping of a struct. Each fault is also a compile error where the mapping is used.
enum class MappingFault : std::uint8_t {
  kNone,
  kNotMapped,
  kPartitionKey,
  kRowKey,
  kUnsupportedMember,
  kNameTwice,
  kSystemName,
  kNestedElement,
  kEncryptedNotText,
  kStampTwice,
};

/// Returns the first fault in the mapping of T, or kNone.
template <typename T>
constexpr MappingFault mapping_fault() {
  if constexpr (!Mapped<T>) {
    return MappingFault::kNotMapped;
  } else {
    using mapped::Element;
    if (mapped::has_unsupported_member<T>()) return MappingFault::kUnsupportedMember;
    if (mapped::nests_more_than_properties<T>()) return MappingFault::kNestedElement;
    if (mapped::count_of<T>(Element::kPartitionKey) != 1) return MappingFault::kPartitionKey;
    if (mapped::count_of<T>(Element::kRowKey) != 1) return MappingFault::kRowKey;
    if (mapped::names_twice<T>()) return MappingFault::kNameTwice;
    if (mapped::names_system_property<T>()) return MappingFault::kSystemName;
    if (mapped::encrypts_other_than_text<T>()) return MappingFault::kEncryptedNotText;
    if (mapped::count_of<T>(Element::kETag) > 1 || mapped::count_of<T>(Element::kTimestamp) > 1 ||
        mapped::count_of<T>(Element::kDiscriminator) > 1 || mapped::count_of<T>(Element::kExtra) > 1) {
      return MappingFault::kStampTwice;
    }
    return MappingFault::kNone;
  }
}

namespace mapped {

/// Compiles only if the mapping of T has no fault.
template <typename T>
constexpr void check_mapping() {
  constexpr MappingFault kFault = mapping_fault<T>();
  static_assert(kFault != MappingFault::kNotMapped, "this struct has no varve::mapping");
  static_assert(kFault != MappingFault::kPartitionKey, "varve::mapping must declare exactly one partition_key");
  static_assert(kFault != MappingFault::kRowKey, "varve::mapping must declare exactly one row_key");
  static_assert(kFault != MappingFault::kUnsupportedMember,
                "varve::mapping names a member of an unsupported type; mapping.h lists the supported types");
  static_assert(kFault != MappingFault::kNameTwice, "varve::mapping names the same property twice");
  static_assert(kFault != MappingFault::kSystemName,
                "varve::mapping must not name a property PartitionKey, RowKey or Timestamp, or give an empty name");
  static_assert(kFault != MappingFault::kNestedElement, "a flattened struct may declare only properties");
  static_assert(kFault != MappingFault::kEncryptedNotText, "only text members can be encrypted");
  static_assert(kFault != MappingFault::kStampTwice,
                "varve::mapping must declare at most one each of etag, timestamp, discriminator and extra");
  static_assert(std::default_initializable<T>, "a mapped struct must have a default constructor");
}

}  // namespace mapped

/// Returns whether the mapping of T declares this property. Ignored properties count.
template <typename T>
bool is_mapped_property(std::string_view name) {
  static constexpr auto kNames = mapped::names_of<T>();
  return std::any_of(kNames.begin(), kNames.end(), [&](const mapped::QualifiedName& known) { return known == name; });
}

/// Returns whether the mapping of T marks this property as encrypted.
template <typename T>
bool is_encrypted_property(std::string_view name) {
  bool found = false;
  const auto visit = [&]<typename E>(const E& element, const auto& prefixes, std::size_t /*depth*/) {
    if constexpr (E::kKind == mapped::Element::kProperty) {
      found = found || (element.is_encrypted && mapped::QualifiedName{prefixes, element.name} == name);
    }
  };
  mapped::for_each_element<T>(visit);
  return found;
}

}  // namespace varve
