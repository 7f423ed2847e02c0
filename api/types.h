// SPDX-License-Identifier: Apache-2.0
// Owns: the values of the table model: typed properties, entities, ETags.
// Must never: know of a store. What is here is plain data; limits are checked where data enters a store.
//
// Texts are UTF-8 everywhere. Nothing here is locked: one object, one thread at a time; different objects are
// independent.
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "result.h"
#include "status.h"

#pragma GCC visibility push(default)

namespace varve {

/// The eight types of the table service ("EDM types"). The numbers are stable: they are stored.
enum class PropertyType : std::uint8_t {
  kBinary = 1,
  kBoolean = 2,
  kDateTime = 3,
  kDouble = 4,
  kGuid = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
};

/// "Edm.Binary", "Edm.Boolean" and so on.
std::string_view property_type_name(PropertyType type) noexcept;

/// Bytes without a meaning to the store.
struct Binary {
  std::string bytes;
  bool operator==(const Binary&) const = default;
};

/// A point of time in UTC, to 100 ns, in the proleptic Gregorian calendar without leap seconds.
struct DateTime {
  /// Ticks of 100 ns since 0001-01-01T00:00:00Z. What a property may hold is limited by limits::kDateTimeTicksMin and
  /// kDateTimeTicksMax; a Timestamp lies within them too.
  std::uint64_t ticks = 0;

  /// `YYYY-MM-DDThh:mm:ss`, then optionally a fraction (digits beyond the seventh are cut off), then optionally `Z` or
  /// `+hh:mm` or `-hh:mm`; without a zone it is UTC. The seconds with their fraction, or the whole time with its zone,
  /// may be left out: they are zero.
  /// Errors   kInvalidArgument (InvalidInput)       the text is none of that, or names no day or time
  ///          kInvalidArgument (OutOfRangeInput)    before 1601 or after 9999
  /// Source   D-34, X-02, X-16.
  static Result<DateTime> parse(std::string_view text);
  /// `YYYY-MM-DDThh:mm:ss[.f]Z`, a fraction only where it is not zero, without zeros at its end. Source: D-35.
  std::string to_string() const;

  auto operator<=>(const DateTime&) const = default;
};

/// 128 bits. Compared in the order of its text.
struct Guid {
  /// In the order of the text: the first byte is the first two digits.
  std::array<std::uint8_t, 16> bytes{};

  /// `8-4-4-4-12` hexadecimal digits in either case, also between braces, also 32 digits without hyphens.
  /// Errors: kInvalidArgument (InvalidInput). Source: D-37.
  static Result<Guid> parse(std::string_view text);
  /// Lower case, with hyphens, without braces.
  std::string to_string() const;

  auto operator<=>(const Guid&) const = default;
};

/// The C++ types of property values, one for each PropertyType.
template <typename T>
concept PropertyValue = std::same_as<T, Binary> || std::same_as<T, bool> || std::same_as<T, DateTime> ||
    std::same_as<T, double> || std::same_as<T, Guid> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::string>;

/// One property value. There is no null: a property without a value is not there (D-45).
class Value {
 public:
  /// In the order of PropertyType.
  using Variant = std::variant<Binary, bool, DateTime, double, Guid, std::int32_t, std::int64_t, std::string>;

  /// Text without characters.
  Value() : variant_(std::string()) {}

  // Implicit on purpose: entity.set("Age", 7). What is not exactly one of the types is refused, so that no pointer
  // becomes a Boolean and no number changes its type unseen.
  Value(Binary value) noexcept : variant_(std::move(value)) {}
  Value(bool value) noexcept : variant_(value) {}
  Value(DateTime value) noexcept : variant_(value) {}
  Value(double value) noexcept : variant_(value) {}
  Value(Guid value) noexcept : variant_(value) {}
  Value(std::int32_t value) noexcept : variant_(value) {}
  Value(std::int64_t value) noexcept : variant_(value) {}
  Value(std::string value) noexcept : variant_(std::move(value)) {}
  Value(std::string_view value) : variant_(std::in_place_type<std::string>, value) {}
  Value(const char* value) : variant_(std::string(value)) {}
  template <typename T>
  Value(T) = delete;

  PropertyType type() const noexcept { return static_cast<PropertyType>(variant_.index() + 1); }
  /// The value, or null if it is of another type.
  template <PropertyValue T>
  const T* get_if() const noexcept {
    return std::get_if<T>(&variant_);
  }
  /// For std::visit.
  const Variant& variant() const noexcept { return variant_; }

  /// Same type and same value. A Double that is not a number equals nothing.
  bool operator==(const Value&) const = default;

 private:
  Variant variant_;
};

/// Which PropertyType a C++ type stands for.
template <PropertyValue T>
constexpr PropertyType property_type_of() noexcept {
  if constexpr (std::same_as<T, Binary>) return PropertyType::kBinary;
  if constexpr (std::same_as<T, bool>) return PropertyType::kBoolean;
  if constexpr (std::same_as<T, DateTime>) return PropertyType::kDateTime;
  if constexpr (std::same_as<T, double>) return PropertyType::kDouble;
  if constexpr (std::same_as<T, Guid>) return PropertyType::kGuid;
  if constexpr (std::same_as<T, std::int32_t>) return PropertyType::kInt32;
  if constexpr (std::same_as<T, std::int64_t>) return PropertyType::kInt64;
  return PropertyType::kString;
}

struct Property {
  std::string name;
  Value value;
  bool operator==(const Property&) const = default;
};

class PropertyRoom;

/// The properties of one entity, one behind the other. Their memory is their own or, of an entity that came with a page
/// of others, a part of what these share; a list that outgrows its part moves to memory of its own.
class PropertyList {
 public:
  PropertyList() noexcept = default;
  PropertyList(const PropertyList& other);
  PropertyList(PropertyList&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)),
        shared_(std::exchange(other.shared_, nullptr)) {}
  PropertyList& operator=(PropertyList other) noexcept {
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~PropertyList() {
    if (first_ != nullptr) free_all();
  }

  std::span<const Property> all() const noexcept { return {first_, size_}; }
  std::span<Property> all() noexcept { return {first_, size_}; }

  /// Makes room for so many in all.
  void reserve(std::size_t count);
  /// Adds what `make()` returns, in its place at once.
  template <typename Make>
  void add(const Make& make) {
    if (size_ == capacity_) grow();
    ::new (static_cast<void*>(first_ + size_)) Property(make());
    ++size_;
  }
  /// `place` is below the size.
  void remove(std::size_t place) noexcept;

  bool operator==(const PropertyList& other) const noexcept;

 private:
  friend class PropertyRoom;
  struct Shared;

  void grow();
  void free_all() noexcept;
  void free_memory() noexcept;

  Property* first_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
  Shared* shared_ = nullptr;  // where the memory is a part of; null: its own
};

/// Which state of an entity a write insists on. An entity's ETag changes with every successful write to it, also with
/// one that changes no value, and is never given twice, also when the entity is deleted and inserted again (D-53,
/// D-55).
class ETag {
 public:
  /// None: an entity that was not read from a store has it.
  constexpr ETag() noexcept = default;
  /// `*`: any state, but the entity must exist.
  static constexpr ETag any() noexcept { return ETag(kAny); }
  static constexpr ETag of_timestamp(DateTime timestamp) noexcept { return ETag(timestamp.ticks); }

  /// `*`, or `W/"..."`, whose W may be of either case and whose text is opaque: if no store can have written it, the
  /// ETag is foreign. In the form that to_string() writes, `:` may stand for `%3A`, and the fraction may end in zeros.
  /// Errors: kInvalidArgument (InvalidInput: no W, no quotes, or a quote or control character between them).
  /// Source: D-52, O-02, X-27.
  static Result<ETag> parse(std::string_view text);
  /// `W/"datetime'2026-03-03T10%3A20%3A30.4767Z'"`; `*` for any(); empty for none. Source: D-52.
  std::string to_string() const;

  constexpr bool is_none() const noexcept { return ticks_ == 0; }
  constexpr bool is_any() const noexcept { return ticks_ == kAny; }
  /// Of no state that a store can have: a condition with it is well-formed and never met. Two foreign texts give two
  /// ETags, as far as a hash of 63 bits tells them apart.
  constexpr bool is_foreign() const noexcept { return ticks_ >= kFirstForeign && ticks_ != kAny; }
  /// When the state was written, which is also its commit version. Meaningful for neither none nor any() nor a foreign
  /// ETag.
  constexpr DateTime timestamp() const noexcept { return DateTime{ticks_}; }

  constexpr bool operator==(const ETag&) const = default;

 private:
  static constexpr std::uint64_t kAny = UINT64_MAX;
  /// Ticks end with the year 9999, which is far below.
  static constexpr std::uint64_t kFirstForeign = std::uint64_t{1} << 63;
  constexpr explicit ETag(std::uint64_t ticks) noexcept : ticks_(ticks) {}
  std::uint64_t ticks_ = 0;
};

/// A key, a set of typed properties in the order in which they were added, and, when it came from a store, when it was
/// written. Different entities of a table may have different properties; the same name may have different types.
///
///   Entity entity("eu", "0001");
///   entity.set("Customer", "Ann").set("Lines", 3).set("Total", 12.5);
///   Result<std::int32_t> lines = entity.get<std::int32_t>("Lines");
///   if (!lines.ok() && lines.code() == Code::kNotFound) ...  // no such property
class Entity {
 public:
  Entity() = default;
  Entity(std::string partition_key, std::string row_key) noexcept
      : partition_key_(std::move(partition_key)), row_key_(std::move(row_key)) {}

  const std::string& partition_key() const noexcept { return partition_key_; }
  const std::string& row_key() const noexcept { return row_key_; }

  /// In the order in which they were added; what a store returns keeps the order in which it was written.
  std::span<const Property> properties() const noexcept { return properties_.all(); }

  /// Sets the property with this name, case-sensitive, or adds it at the end. Names and values are checked when the
  /// entity is written. `Timestamp` as a name is ignored then (D-50); `PartitionKey` and `RowKey` are refused.
  Entity& set(std::string_view name, Value value);
  /// Adds a property without looking whether the name is there; an entity with the same name twice is refused when it
  /// is written (D-23). For those who bring many properties and know their names to differ.
  Entity& add(std::string name, Value value);
  /// Makes room for so many properties in all, for those who know how many they bring.
  void reserve(std::size_t property_count) { properties_.reserve(property_count); }
  /// True if there was one.
  bool remove(std::string_view name) noexcept;

  /// The first property with this name, or null.
  const Value* find(std::string_view name) const noexcept;
  /// The property's value. Errors: kNotFound (no such property), kInvalidArgument (it is of another type; the message
  /// says which).
  template <PropertyValue T>
  Result<T> get(std::string_view name) const {
    const Value* value = find(name);
    if (value == nullptr) return absent(name);
    if (const T* typed = value->get_if<T>()) return T(*typed);
    return wrong_type(name, value->type(), property_type_of<T>());
  }

  /// When it was written, if it came from a store; zero otherwise. Ignored by writes (D-50).
  DateTime timestamp() const noexcept { return etag_.timestamp(); }
  /// None unless it came from a store. A write insists on it only where it is passed as the condition.
  ETag etag() const noexcept { return etag_; }
  void set_etag(ETag etag) noexcept { etag_ = etag; }

  /// Keys, properties in their order, and ETag.
  bool operator==(const Entity&) const = default;

 private:
  friend struct EntityMaker;
  static Status absent(std::string_view name);
  static Status wrong_type(std::string_view name, PropertyType stored, PropertyType asked);

  std::string partition_key_;
  std::string row_key_;
  PropertyList properties_;
  ETag etag_;
};

/// The size that counts against limits::kEntityBytesMax, in bytes: 4 + 2 for each code unit of both keys + for each
/// property 8 + 2 for each code unit of its name + its value (String 4 + 2 for each code unit, Binary 4 + its bytes,
/// Boolean 1, Int32 4, Guid 16, others 8). A property called Timestamp counts nothing, as it is not stored. In a text
/// that is not UTF-8 each byte counts as one code unit.
/// Source: D-60.
std::size_t accounted_size_bytes(const Entity& entity) noexcept;

}  // namespace varve

#pragma GCC visibility pop
