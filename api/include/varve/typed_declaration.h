// SPDX-License-Identifier: Apache-2.0
// Owns: the indexes and the expiry that the mapping of a struct declares, and a table that gets what it lacks of them.
// Must never: drop or replace an index or a rule of expiry.
//
//   template <>
//   inline constexpr auto varve::mapping<Order> = varve::mapped::members(
//       varve::mapped::partition_key(&Order::region), varve::mapped::row_key(&Order::number),
//       varve::mapped::property("Customer", &Order::customer), varve::mapped::property("Total", &Order::total),
//       varve::mapped::index("ByCustomer", varve::mapped::ascending("Customer"), varve::mapped::descending("Total")),
//       varve::mapped::ends_after(std::chrono::hours(24 * 365)));
//
//   Result<TypedTable<Order>> orders = open_typed_table<Order>(*store, "myaccount", "Orders");
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mapping.h"
#include "property_type.h"
#include "result.h"
#include "store.h"
#include "table.h"
#include "table_expiry.h"
#include "table_index.h"
#include "typed_table.h"
#include "version.h"

namespace varve {

namespace mapped {

/// The place of a property in an index. ascending(), descending() and carried() make it.
struct IndexPart {
  /// Whether the property orders the entries, or is only repeated in them.
  enum class Role : std::uint8_t { kAscending, kDescending, kCarried };
  /// The stored name of the property, "PartitionKey", "RowKey", or "Timestamp" in an index that is not unique.
  std::string_view property;
  /// What the index does with the property.
  Role role;
};

/// The element that index() makes.
template <std::size_t count>
struct IndexElement {
  /// Kind of the element.
  static constexpr Element kKind = Element::kIndex;
  /// Name of the index.
  std::string_view name;
  /// The components in their order, and the carried properties.
  std::array<IndexPart, count> parts;
  /// Whether two entities may not have the same value of all components.
  bool is_unique = false;
};

/// The element that ends_at() and ends_after() make.
struct ExpiryElement {
  /// Kind of the element.
  static constexpr Element kKind = Element::kExpiry;
  /// Name of the DateTime property, or empty.
  std::string_view property;
  /// The age, or zero.
  std::chrono::milliseconds age;
};

/// Names a component of an index. The name is that of a property as it is stored, with the prefixes of flattened structs,
/// "PartitionKey" or "RowKey". In an index that is not unique, it may be "Timestamp" too.
/// @{
constexpr IndexPart ascending(std::string_view property) {
  return {property, IndexPart::Role::kAscending};
}
constexpr IndexPart descending(std::string_view property) {
  return {property, IndexPart::Role::kDescending};
}
/// @}
/// Names a property that the entries of an index repeat.
constexpr IndexPart carried(std::string_view property) {
  return {property, IndexPart::Role::kCarried};
}
/// Declares a secondary index (table_index.h) with one to four components. A component is a property of the mapping, a key or
/// the Timestamp. A carried part is a property of the mapping. encrypted() must not have declared the property: the entries
/// would hold ciphertext, which orders nothing.
template <std::same_as<IndexPart>... Parts>
constexpr IndexElement<sizeof...(Parts)> index(std::string_view name, Parts... parts) {
  static_assert(sizeof...(Parts) > 0, "an index needs a component");
  return {name, {parts...}};
}
/// Declares the same, but two entities may not have the same value of all components.
template <std::same_as<IndexPart>... Parts>
constexpr IndexElement<sizeof...(Parts)> unique_index(std::string_view name, Parts... parts) {
  static_assert(sizeof...(Parts) > 0, "an index needs a component");
  return {name, {parts...}, true};
}
/// Declares that an entity ends at the value of this property, which is a DateTime member (table_expiry.h).
constexpr ExpiryElement ends_at(std::string_view property) {
  return {property, std::chrono::milliseconds(0)};
}
/// Declares that an entity ends this long after its Timestamp.
constexpr ExpiryElement ends_after(std::chrono::milliseconds age) {
  return {{}, age};
}

/// Returns whether the mapping has this property, unencrypted. With `wanted`, it must also have this type.
template <typename T>
constexpr bool stores_plainly(std::string_view name, std::optional<PropertyType> wanted = std::nullopt) {
  bool found = false;
  const auto visit = [&]<typename E>(const E& element, const auto& prefixes, std::size_t /*depth*/) {
    if constexpr (E::kKind == Element::kProperty) {
      const bool is_this = !element.is_encrypted && QualifiedName{prefixes, element.name} == name;
      found = found || (is_this && (!wanted || *wanted == stored_type<ValueOf<typename E::value_type>>()));
    } else if constexpr (E::kKind == Element::kDiscriminator) {
      found = found || (element.name == name && (!wanted || *wanted == PropertyType::kString));
    }
  };
  for_each_element<T>(visit);
  return found;
}

/// Returns whether each index has one to four components, and each part is a property of the mapping, a key or the Timestamp.
template <typename T>
constexpr bool indexes_fit() {
  bool fit = true;
  const auto visit = [&]<typename E>(const E& element, const auto& /*prefixes*/, std::size_t /*depth*/) {
    if constexpr (E::kKind == Element::kIndex) {
      std::size_t components = 0;
      for (const IndexPart& part : element.parts) {
        const bool is_component = part.role != IndexPart::Role::kCarried;
        const bool is_timestamp = part.property == "Timestamp" && !element.is_unique;
        const bool is_key = part.property == "PartitionKey" || part.property == "RowKey" || is_timestamp;
        if (is_component) ++components;
        fit = fit && (stores_plainly<T>(part.property) || (is_component && is_key));
      }
      fit = fit && components >= 1 && components <= 4;
    }
  };
  for_each_element<T>(visit);
  return fit;
}

/// Returns whether there is at most one rule of expiry, with an age above zero or a DateTime property of the mapping.
template <typename T>
constexpr bool expiry_fits() {
  bool fits = count_of<T>(Element::kExpiry) <= 1;
  const auto visit = [&]<typename E>(const E& element, const auto& /*prefixes*/, std::size_t /*depth*/) {
    if constexpr (E::kKind == Element::kExpiry) {
      fits = fits && (element.property.empty() ? element.age.count() > 0
                                               : stores_plainly<T>(element.property, PropertyType::kDateTime));
    }
  };
  for_each_element<T>(visit);
  return fits;
}

}  // namespace mapped

/// What a table should have.
struct TableDeclaration {
  /// The indexes, each with its own name.
  std::vector<IndexDefinition> indexes{};
  /// When the entities end. Not set: the declaration says nothing about it.
  std::optional<TableExpiry> expiry{};
};

/// Returns what the mapping of T declares. A mapping whose declarations do not fit its properties does not compile.
template <Mapped T>
TableDeclaration declaration_of() {
  mapped::check_mapping<T>();
  static_assert(
      mapped::indexes_fit<T>(),
      "an index of varve::mapping needs one to four components; each part is a key, the Timestamp (unless the index is "
      "unique) or a property of the mapping that is not encrypted");
  static_assert(
      mapped::expiry_fits<T>(),
      "varve::mapping may declare one rule of expiry: an age above zero, or a DateTime property of the mapping "
      "that is not encrypted");
  TableDeclaration made;
  const auto visit = [&]<typename E>(const E& element, const auto& /*prefixes*/, std::size_t /*depth*/) {
    if constexpr (E::kKind == mapped::Element::kIndex) {
      IndexDefinition& definition = made.indexes.emplace_back();
      definition.name = element.name;
      definition.is_unique = element.is_unique;
      for (const mapped::IndexPart& part : element.parts) {
        if (part.role == mapped::IndexPart::Role::kCarried) {
          definition.carried.emplace_back(part.property);
        } else {
          definition.components.push_back(
              {std::string(part.property), part.role == mapped::IndexPart::Role::kDescending});
        }
      }
    } else if constexpr (E::kKind == mapped::Element::kExpiry) {
      made.expiry = TableExpiry{std::string(element.property), element.age};
    }
  };
  mapped::for_each_element<T>(visit);
  return made;
}

/// Opens the table. Creates it, its rule of expiry and its indexes if they do not exist, and goes on with builds that did
/// not end. A rule that is set on a table with entities concerns only later writes. Indexes that the declaration does not
/// name stay as they are, and so does a rule if it declares none.
///
/// The call is not atomic: after an error, what it made stays, and another call goes on.
///
/// Errors: those of Store::create_table(), open_table(), set_table_expiry() and create_index(). kExists
/// (ResourceAlreadyExists): an index has another definition, or the table has another rule of expiry. Then nothing was
/// changed, and the message names each difference. Drop the index or change the rule, if that is meant. kCancelled:
/// `progress`, which is called as by Store::create_index(), returned false.
VARVE_EXPORT Result<Table> open_declared_table(Store& store, std::string_view account, std::string_view table,
                                               const TableDeclaration& declaration,
                                               const std::function<bool(const IndexBuildProgress&)>& progress = {});

/// Does open_declared_table() with what the mapping of T declares.
template <Mapped T>
Result<TypedTable<T>> open_typed_table(Store& store, std::string_view account, std::string_view table,
                                       const std::function<bool(const IndexBuildProgress&)>& progress = {}) {
  Result<Table> opened = open_declared_table(store, account, table, declaration_of<T>(), progress);
  if (!opened.ok()) return opened.status();
  return TypedTable<T>(*std::move(opened));
}

}  // namespace varve
