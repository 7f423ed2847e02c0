// SPDX-License-Identifier: Apache-2.0
// Owns: queries built in code, with entities or mapped structs as results.
// Must never: ask a store for anything that the text of a filter cannot express.
//
//   Query<Order> query;
//   query.where(field<&Order::region>() == "eu" && field<&Order::total>() > 100.0).take(10);
//   for (Result<Order>& order : query.run(table)) ...
#pragma once

#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "condition.h"
#include "cursor.h"
#include "mapped_entity.h"
#include "mapping.h"
#include "query.h"
#include "result.h"
#include "snapshot.h"
#include "table.h"
#include "types.h"
#include "version.h"

namespace varve {

namespace mapped {

template <typename Pointer>
struct MemberPointer;
/// The two types in a pointer to a member.
template <typename Owner, typename T>
struct MemberPointer<T Owner::*> {
  /// The struct that has the member.
  using OwnerType = Owner;
  /// The declared type of the member.
  using value_type = T;
};
/// The struct that has this member.
template <auto member>
using OwnerOf = typename MemberPointer<decltype(member)>::OwnerType;
/// The declared type of this member.
template <auto member>
using MemberOf = typename MemberPointer<decltype(member)>::value_type;

/// Returns the property name of a member, from the mapping of its struct. For a flattened struct, it returns the prefix
/// of the property names. If the mapping does not name the member, it returns an empty text.
template <auto member>
constexpr std::string_view name_of() {
  std::string_view name;
  const auto visit = [&]<typename E>(const E& element, const auto& /*prefixes*/, std::size_t depth) {
    if constexpr (requires { element.member; }) {
      if constexpr (std::same_as<decltype(element.member), decltype(member)>) {
        if (depth == 0 && element.member == member) name = element.name;
      }
    }
  };
  for_each_element<OwnerOf<member>>(visit);
  return name;
}

/// A type of numbers: an integer of at most 64 bits, a float or a double.
template <typename T>
concept Number = Integer<T> || std::same_as<T, float> || std::same_as<T, double>;
/// A type of numbers other than `Held`, which is one too.
template <typename N, typename Held>
concept NumberFor = Number<N> && Number<Held> && !std::same_as<N, Held>;

/// Returns whether a `Held` holds the number exactly. A float also holds a double that is rounded to it.
template <typename Held, typename N>
requires NumberFor<N, Held>
bool holds_exactly(N number) {
  if constexpr (std::integral<Held> && std::integral<N>) {
    return std::in_range<Held>(number);
  } else if constexpr (std::integral<N>) {
    return static_cast<long double>(static_cast<Held>(number)) == static_cast<long double>(number);
  } else if constexpr (std::integral<Held>) {
    const auto least = static_cast<N>(std::numeric_limits<Held>::min());
    const N limit = std::ldexp(N{1}, std::numeric_limits<Held>::digits);
    return number >= least && number < limit && std::trunc(number) == number;
  } else {
    return sizeof(N) <= sizeof(Held) || !std::isfinite(number) || std::abs(number) <= std::numeric_limits<Held>::max();
  }
}

/// Returns the number as an Int32 if an Int32 holds it exactly, or else the value unchanged. By Q-24, such a literal
/// also matches properties that are stored in a narrower type. A read into the member accepts such properties too.
VARVE_EXPORT Value narrowest(Value value);

}  // namespace mapped

/// A mapped member in a condition. The mapping supplies the name and the type of the property. A member without a
/// mapping, or a value of another type, does not compile. A path names a member of a flattened struct.
template <auto... path>
class MemberField {
  static constexpr std::size_t kSize = sizeof...(path);
  static_assert(((!mapped::name_of<path>().empty()) && ...),
                "the varve::mapping of the struct does not name this member");
  using LastMember = std::tuple_element_t<kSize - 1, std::tuple<mapped::MemberOf<path>...>>;

 public:
  /// The type of the values that the member is compared with. For an optional member, it is the type inside.
  using value_type = mapped::ValueOf<LastMember>;

  /// Returns the property name. For a member of a flattened struct, it begins with the prefixes of the path.
  std::string name() const {
    std::string full;
    (full.append(mapped::name_of<path>()), ...);
    return full;
  }

  /// Returns the condition that the property has this relation to `value`. If the property cannot hold `value`, the
  /// status() of the condition is the error (mapped_entity.h).
  /// @{
  Condition operator==(const value_type& value) const { return compared(value, std::equal_to<>()); }
  Condition operator!=(const value_type& value) const { return compared(value, std::not_equal_to<>()); }
  Condition operator>(const value_type& value) const { return compared(value, std::greater<>()); }
  Condition operator>=(const value_type& value) const { return compared(value, std::greater_equal<>()); }
  Condition operator<(const value_type& value) const { return compared(value, std::less<>()); }
  Condition operator<=(const value_type& value) const { return compared(value, std::less_equal<>()); }
  /// @}
  /// Returns the condition as above, for a number of another type than the member. If the member's type does not hold
  /// the number exactly, the status() of the condition is the error. A double is rounded for a float member.
  /// @{
  template <mapped::NumberFor<value_type> N>
  Condition operator==(N number) const {
    return fitted(number, std::equal_to<>());
  }
  template <mapped::NumberFor<value_type> N>
  Condition operator!=(N number) const {
    return fitted(number, std::not_equal_to<>());
  }
  template <mapped::NumberFor<value_type> N>
  Condition operator>(N number) const {
    return fitted(number, std::greater<>());
  }
  template <mapped::NumberFor<value_type> N>
  Condition operator>=(N number) const {
    return fitted(number, std::greater_equal<>());
  }
  template <mapped::NumberFor<value_type> N>
  Condition operator<(N number) const {
    return fitted(number, std::less<>());
  }
  template <mapped::NumberFor<value_type> N>
  Condition operator<=(N number) const {
    return fitted(number, std::less_equal<>());
  }
  /// @}

  /// Returns the condition that the property has this relation to another member of the same type, as the operators of
  /// Field with two properties.
  /// @{
  template <auto... other>
  requires std::same_as<value_type, typename MemberField<other...>::value_type> Condition
  operator==(const MemberField<other...>& right) const {
    return Field(name()) == Field(right.name());
  }
  template <auto... other>
  requires std::same_as<value_type, typename MemberField<other...>::value_type> Condition
  operator!=(const MemberField<other...>& right) const {
    return Field(name()) != Field(right.name());
  }
  template <auto... other>
  requires std::same_as<value_type, typename MemberField<other...>::value_type> Condition
  operator>(const MemberField<other...>& right) const {
    return Field(name()) > Field(right.name());
  }
  template <auto... other>
  requires std::same_as<value_type, typename MemberField<other...>::value_type> Condition
  operator>=(const MemberField<other...>& right) const {
    return Field(name()) >= Field(right.name());
  }
  template <auto... other>
  requires std::same_as<value_type, typename MemberField<other...>::value_type> Condition
  operator<(const MemberField<other...>& right) const {
    return Field(name()) < Field(right.name());
  }
  template <auto... other>
  requires std::same_as<value_type, typename MemberField<other...>::value_type> Condition
  operator<=(const MemberField<other...>& right) const {
    return Field(name()) <= Field(right.name());
  }
  /// @}

  /// Does Field::starts_with(). Only for String properties.
  Condition starts_with(std::string_view prefix) const requires std::same_as<value_type, std::string> {
    return Field(name()).starts_with(prefix);
  }
  /// As Field::ends_with(), contains() and equals_ignoring_case(). Only for String properties.
  /// @{
  Condition ends_with(std::string_view suffix) const requires std::same_as<value_type, std::string> {
    return Field(name()).ends_with(suffix);
  }
  Condition contains(std::string_view part) const requires std::same_as<value_type, std::string> {
    return Field(name()).contains(part);
  }
  Condition equals_ignoring_case(std::string_view text) const requires std::same_as<value_type, std::string> {
    return Field(name()).equals_ignoring_case(text);
  }
  /// @}
  /// As Field::exists().
  Condition exists() const { return Field(name()).exists(); }
  /// Matches entities that lack the property.
  Condition is_absent() const { return Field(name()).is_absent(); }

 private:
  template <typename Compare>
  Condition compared(const value_type& value, Compare compare) const {
    const Field field(name());
    Result<Value> literal = mapped::to_value(field.name(), value);
    if (!literal.ok()) return Field::refused(literal.status());
    return compare(field, mapped::narrowest(*std::move(literal)));
  }
  template <typename N, typename Compare>
  Condition fitted(N number, Compare compare) const {
    if (!mapped::holds_exactly<value_type>(number)) {
      return Field::refused(mapped::does_not_fit(name(), std::to_string(number)));
    }
    return compared(static_cast<value_type>(number), compare);
  }
};

/// Returns the field of a mapped member, for example `field<&Order::total>()`. For a member of a flattened struct, give
/// the path to it, for example `field<&Order::address, &Address::city>()`.
template <auto... path>
MemberField<path...> field() {
  return {};
}

/// One query with results of type `T`: entities, mapped structs, or a std::variant of mapped structs with
/// discriminators. If a struct has a discriminator, the query asks only for entities with that discriminator. A query
/// is a value: it may be kept, copied, and run any number of times, on any table. Source: C-05.
template <typename T = Entity>
class Query {
 public:
  Query() {
    if constexpr (Mapped<T>) {
      mapped::check_mapping<T>();
      constexpr auto kDiscriminator = mapped::discriminator_of<T>();
      if (!kDiscriminator.first.empty()) where_ = field(kDiscriminator.first) == Value(kDiscriminator.second);
    }
  }

  /// Adds a condition. Results meet it and all earlier conditions.
  Query& where(Condition condition) {
    where_ = std::move(where_) && std::move(condition);
    return *this;
  }
  /// Limits the query to this range of keys.
  Query& in(ScanRange range) {
    scan_.range = std::move(range);
    return *this;
  }
  /// Limits the query to these properties. The members of a mapped struct for all other properties keep their defaults.
  Query& select(std::vector<std::string> names) {
    scan_.read.select = std::move(names);
    return *this;
  }
  /// Limits the query to these members, and the discriminator if there is one.
  template <auto... members>
  Query& select() requires Mapped<T> {
    scan_.read.select = {field<members>().name()...};
    constexpr auto kDiscriminator = mapped::discriminator_of<T>();
    if (!kDiscriminator.first.empty()) scan_.read.select.emplace_back(kDiscriminator.first);
    return *this;
  }
  /// Adds a component to the order of the results: a property, PartitionKey, RowKey or Timestamp. There may be four.
  /// Without an index that has the order, each page reads the whole range (Scan::order_by), so use take().
  Query& order_by(std::string_view name, SortDirection direction = SortDirection::kAscending) {
    if (!scan_.order_by.empty()) scan_.order_by.push_back(',');
    scan_.order_by.append(name).append(direction == SortDirection::kDescending ? " desc" : " asc");
    return *this;
  }
  /// Does the same with the property of a member.
  template <auto... path>
  Query& order_by(MemberField<path...> member, SortDirection direction = SortDirection::kAscending) {
    return order_by(std::string_view(member.name()), direction);
  }
  /// Limits the number of results in all pages together.
  Query& take(std::uint64_t count) {
    take_ = count;
    return *this;
  }
  /// Sets Scan::page_entities_max.
  Query& page_entities(std::uint32_t entities) {
    scan_.page_entities_max = entities;
    return *this;
  }
  /// Sets Scan::page_time_max.
  Query& page_time(std::chrono::milliseconds time) {
    scan_.page_time_max = time;
    return *this;
  }
  /// Reads all pages at the state of this snapshot.
  Query& at(Snapshot snapshot) {
    scan_.read.snapshot = std::move(snapshot);
    return *this;
  }
  /// Continues an earlier cursor of the same query. `token` is the PageCursor::continuation() of that cursor.
  Query& continue_from(std::string token) {
    scan_.continuation = std::move(token);
    return *this;
  }

  /// Returns the scan that a table runs for this query. Errors: those of the conditions.
  Result<Scan> scan() const {
    if (!where_.status().ok()) return where_.status();
    Scan scan = scan_;
    scan.filter = where_.text();
    return scan;
  }

  /// Returns the number given to take(), or PageCursor::kNoLimit. The result of scan() does not contain it.
  std::uint64_t taken() const noexcept { return take_; }

  /// Returns the pages of the query. The call itself reads nothing.
  PageCursor pages(const Table& table) const {
    Result<Scan> asked = scan();
    return asked.ok() ? PageCursor(table, *std::move(asked), take_) : PageCursor(asked.status());
  }
  /// Returns the results of the query. The call itself reads nothing.
  Cursor<T> run(const Table& table) const {
    return run_as<T>(table, [](Entity&& entity) { return from_entity<T>(entity); });
  }
  /// Returns the results that `resolver` makes from each entity; it converts an Entity&& to a `Result<U>`. It sees
  /// keys, properties, Timestamp and ETag, and may choose the result by any of them. The call itself reads nothing.
  /// Source: C-04.
  template <typename U>
  Cursor<U> run_as(const Table& table, typename Cursor<U>::Resolver resolver) const {
    return Cursor<U>(pages(table), std::move(resolver));
  }

 private:
  Condition where_;
  Scan scan_;
  std::uint64_t take_ = PageCursor::kNoLimit;
};

}  // namespace varve
