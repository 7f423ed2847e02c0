// SPDX-License-Identifier: Apache-2.0
// Owns: queries put together in code, whose results are entities or mapped structs.
// Must never: ask a store for anything that the text of a filter could not ask for.
//
//   Query<Order> query;
//   query.where(field<&Order::region>() == "eu" && field<&Order::total>() > 100.0).take(10);
//   for (Result<Order>& order : query.run(table)) ...
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "condition.h"
#include "mapped_entity.h"
#include "mapping.h"
#include "query.h"
#include "result.h"
#include "snapshot.h"
#include "table.h"
#include "types.h"
#include "walk.h"

#pragma GCC visibility push(default)

namespace varve {

namespace mapped {

template <typename Pointer>
struct MemberPointer;
template <typename Owner, typename T>
struct MemberPointer<T Owner::*> {
  using OwnerType = Owner;
  using value_type = T;
};
template <auto member>
using OwnerOf = typename MemberPointer<decltype(member)>::OwnerType;
template <auto member>
using MemberOf = typename MemberPointer<decltype(member)>::value_type;

/// What the mapping of its struct calls a member, or how its properties' names begin; empty if it does not name it.
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

/// As narrow a literal as holds the number: by Q-24 it also meets properties that were stored narrower, as reading
/// does.
Value narrowest(Value value);

}  // namespace mapped

/// A mapped member in a condition: the property's name and type come from the mapping, and what is no mapped member, or
/// a value of another type, does not compile. Members of flattened structs are named by a path.
template <auto... path>
class MemberField {
  static constexpr std::size_t kSize = sizeof...(path);
  static_assert(((!mapped::name_of<path>().empty()) && ...),
                "the varve::mapping of the struct does not name this member");
  using LastMember = std::tuple_element_t<kSize - 1, std::tuple<mapped::MemberOf<path>...>>;

 public:
  using value_type = mapped::ValueOf<LastMember>;

  std::string name() const {
    std::string full;
    (full.append(mapped::name_of<path>()), ...);
    return full;
  }

  Condition operator==(const value_type& value) const { return compared(value, std::equal_to<>()); }
  Condition operator!=(const value_type& value) const { return compared(value, std::not_equal_to<>()); }
  Condition operator>(const value_type& value) const { return compared(value, std::greater<>()); }
  Condition operator>=(const value_type& value) const { return compared(value, std::greater_equal<>()); }
  Condition operator<(const value_type& value) const { return compared(value, std::less<>()); }
  Condition operator<=(const value_type& value) const { return compared(value, std::less_equal<>()); }

  Condition starts_with(std::string_view prefix) const requires std::same_as<value_type, std::string> {
    return Field(name()).starts_with(prefix);
  }
  Condition is_absent() const { return Field(name()).is_absent(); }

 private:
  template <typename Compare>
  Condition compared(const value_type& value, Compare compare) const {
    const Field field(name());
    Result<Value> literal = mapped::to_value(field.name(), value);
    if (!literal.ok()) return Field::refused(literal.status());
    return compare(field, mapped::narrowest(*std::move(literal)));
  }
};

template <auto... path>
MemberField<path...> field() {
  return {};
}

/// One query, whose results are of type `T`: entities, mapped structs, or a std::variant of mapped structs with
/// discriminators. A struct with a discriminator asks for the entities that have it. A value: it may be kept, copied
/// and run any number of times, on any table. Source: C-05.
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

  /// Only what meets the condition, and those of before.
  Query& where(Condition condition) {
    where_ = std::move(where_) && std::move(condition);
    return *this;
  }
  /// Only this range of keys.
  Query& in(ScanRange range) {
    scan_.range = std::move(range);
    return *this;
  }
  /// Only these properties. Those that a mapped struct lacks then keep their defaults.
  Query& select(std::vector<std::string> names) {
    scan_.read.select = std::move(names);
    return *this;
  }
  /// Only these members, and the discriminator if there is one.
  template <auto... members>
  Query& select() requires Mapped<T> {
    scan_.read.select = {field<members>().name()...};
    constexpr auto kDiscriminator = mapped::discriminator_of<T>();
    if (!kDiscriminator.first.empty()) scan_.read.select.emplace_back(kDiscriminator.first);
    return *this;
  }
  /// At most so many in all, over all pages.
  Query& take(std::uint64_t count) {
    take_ = count;
    return *this;
  }
  /// As Scan::page_size_max.
  Query& page_size(std::uint32_t entities) {
    scan_.page_size_max = entities;
    return *this;
  }
  /// As Scan::time_max.
  Query& page_time(std::chrono::milliseconds time) {
    scan_.time_max = time;
    return *this;
  }
  /// All pages at one state of the store.
  Query& at(Snapshot snapshot) {
    scan_.read.snapshot = std::move(snapshot);
    return *this;
  }
  /// Goes on where an earlier walk of the same query stood: PageWalk::continuation().
  Query& continue_from(std::string token) {
    scan_.continuation = std::move(token);
    return *this;
  }

  /// What a table is asked. Errors: those of the conditions.
  Result<Scan> scan() const {
    if (!where_.status().ok()) return where_.status();
    Scan scan = scan_;
    scan.filter = where_.text();
    return scan;
  }

  /// take(), or PageWalk::kNoLimit: what scan() does not hold.
  std::uint64_t taken() const noexcept { return take_; }

  /// Reads nothing yet.
  PageWalk pages(const Table& table) const {
    Result<Scan> asked = scan();
    return asked.ok() ? PageWalk(table, *std::move(asked), take_) : PageWalk(asked.status());
  }
  /// Reads nothing yet.
  Walk<T> run(const Table& table) const {
    return run_as<T>(table, [](Entity&& entity) { return from_entity<T>(entity); });
  }
  /// The results are what `resolver` makes of each entity: Entity&& to Result<U>. It sees keys, properties, Timestamp
  /// and ETag, and picks by what it likes. Source: C-04.
  template <typename U>
  Walk<U> run_as(const Table& table, typename Walk<U>::Resolver resolver) const {
    return Walk<U>(pages(table), std::move(resolver));
  }

 private:
  Condition where_;
  Scan scan_;
  std::uint64_t take_ = PageWalk::kNoLimit;
};

}  // namespace varve

#pragma GCC visibility pop
