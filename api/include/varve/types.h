// SPDX-License-Identifier: Apache-2.0
// Owns: the values of the table model: typed properties, entities, ETags.
// Must never: know a store. Everything here is plain data; limits are checked when data enters a store.
//
// All texts are UTF-8. Nothing here is locked: use one object from one thread at a time. Different objects are
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
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "date_time.h"
#include "property_type.h"
#include "result.h"
#include "status.h"
#include "version.h"

namespace varve {

/// Bytes that the store does not interpret.
struct Binary {
  /// The bytes, which need not be text.
  std::string bytes;
  /// Compares all bytes.
  bool operator==(const Binary&) const = default;
};

/// 128 bits. Guids compare in the order of their texts.
struct VARVE_EXPORT Guid {
  /// In the order of the text: the first byte is the first two digits.
  std::array<std::uint8_t, 16> bytes{};

  /// Parses `8-4-4-4-12` hexadecimal digits in either case, also in braces, or 32 digits without hyphens.
  /// Errors: kInvalidArgument (InvalidInput). Source: D-37.
  static Result<Guid> parse(std::string_view text);
  /// Returns a new random Guid (version 4): 122 bits from the system's source of unpredictable numbers.
  static Guid random() noexcept;
  /// Returns the text in lower case, with hyphens and without braces.
  std::string to_string() const;

  /// Compares byte by byte, which is the order of the texts.
  auto operator<=>(const Guid&) const = default;
};

/// Names a content of the store, which an entity owns and which may have any length. It is written and read as a stream:
/// see large_value.h. A LargeValue comes from a LargeValueWriter, or from an entity that was read. It can be given to
/// further entities of the same account, which then share the content. It is equal to another one if both name one
/// content.
class LargeValue {
 public:
  /// Names no content. A write refuses it.
  constexpr LargeValue() noexcept = default;

  /// Returns the number of the content, which no other content of the account ever had.
  constexpr std::uint64_t id() const noexcept { return id_; }
  /// Returns the bytes of the content.
  constexpr std::uint64_t length() const noexcept { return length_; }
  /// Returns true if both name one content.
  constexpr bool operator==(const LargeValue&) const noexcept = default;

 private:
  friend struct LargeValueMaker;
  constexpr LargeValue(std::uint64_t id, std::uint64_t length) noexcept : id_(id), length_(length) {}
  std::uint64_t id_ = 0;
  std::uint64_t length_ = 0;
};

/// The C++ types of property values, one for each PropertyType.
template <typename T>
concept PropertyValue = std::same_as<T, Binary> || std::same_as<T, bool> || std::same_as<T, DateTime> ||
    std::same_as<T, double> || std::same_as<T, Guid> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::string> || std::same_as<T, LargeValue>;

/// A character type, which is no number and no text.
template <typename T>
concept Character = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
    std::same_as<T, char16_t> || std::same_as<T, char32_t>;

/// An integer type that an Int32 or Int64 can hold whole, except std::int32_t and std::int64_t themselves. An unsigned
/// type of 64 bits is none of them: convert such a number to std::int64_t after checking it.
template <typename T>
concept OtherInteger = std::integral<T> && !std::same_as<T, bool> && !Character<T> && !PropertyValue<T> &&
                       (std::signed_integral<T> ? sizeof(T) <= 8 : sizeof(T) <= 4);

/// One property value. There is no null: a property without a value does not exist (D-45).
class Value {
 public:
  /// In the order of PropertyType.
  using Variant =
      std::variant<Binary, bool, DateTime, double, Guid, std::int32_t, std::int64_t, std::string, LargeValue>;

  /// Makes an empty String.
  Value() : variant_(std::string()) {}

  /// @{
  /// Holds the argument as the property type of its C++ type. A text becomes a String. The constructors are implicit,
  /// so that entity.set("Age", 7) works.
  ///
  /// Other number types become the type that a mapped member of that type has (mapping.h): a signed integer of at most
  /// 32 bits becomes an Int32, any other integer an Int64, and a float a Double. The compiler refuses all other types.
  /// So no pointer becomes a Boolean, no character a number, and no number loses a digit.
  Value(Binary value) noexcept : variant_(std::move(value)) {}
  Value(bool value) noexcept : variant_(value) {}
  Value(DateTime value) noexcept : variant_(value) {}
  Value(double value) noexcept : variant_(value) {}
  Value(Guid value) noexcept : variant_(value) {}
  Value(std::int32_t value) noexcept : variant_(value) {}
  Value(std::int64_t value) noexcept : variant_(value) {}
  Value(std::string value) noexcept : variant_(std::move(value)) {}
  Value(LargeValue value) noexcept : variant_(value) {}
  Value(std::string_view value) : variant_(std::in_place_type<std::string>, value) {}
  Value(const char* value) : variant_(std::string(value)) {}
  Value(float value) noexcept : variant_(static_cast<double>(value)) {}
  template <OtherInteger T>
  Value(T value) noexcept : variant_(static_cast<StoredInteger<T>>(value)) {}
  template <typename T>
  // The compiler shows the next line with its error.
  Value(T) = delete;  // use Binary, bool, DateTime, double, Guid, std::int32_t, std::int64_t, std::string or LargeValue
  /// @}

  /// Returns the type of the stored value.
  PropertyType type() const noexcept { return static_cast<PropertyType>(variant_.index() + 1); }
  /// Returns the value, or null if it has another type.
  template <PropertyValue T>
  const T* get_if() const& noexcept {
    return std::get_if<T>(&variant_);
  }
  /// Refused by the compiler: the pointer would point into a temporary.
  template <PropertyValue T>
  const T* get_if() && noexcept {
    static_assert(result_detail::kNever<T>, "a temporary Value ends before this pointer: hold the Value in a variable");
    return nullptr;
  }
  /// Returns the variant for std::visit.
  /// @{
  const Variant& variant() const& noexcept { return variant_; }
  Variant variant() && noexcept { return std::move(variant_); }
  /// @}

  /// True if type and value are equal. A Double that is NaN equals nothing.
  bool operator==(const Value&) const = default;

 private:
  friend class PropertyList;
  template <typename T>
  using StoredInteger = std::conditional_t<std::signed_integral<T> && sizeof(T) <= 4, std::int32_t, std::int64_t>;

  Variant variant_;
};

/// Returns the PropertyType of a C++ type.
template <PropertyValue T>
constexpr PropertyType property_type_of() noexcept {
  if constexpr (std::same_as<T, Binary>) return PropertyType::kBinary;
  if constexpr (std::same_as<T, bool>) return PropertyType::kBoolean;
  if constexpr (std::same_as<T, DateTime>) return PropertyType::kDateTime;
  if constexpr (std::same_as<T, double>) return PropertyType::kDouble;
  if constexpr (std::same_as<T, Guid>) return PropertyType::kGuid;
  if constexpr (std::same_as<T, std::int32_t>) return PropertyType::kInt32;
  if constexpr (std::same_as<T, std::int64_t>) return PropertyType::kInt64;
  if constexpr (std::same_as<T, LargeValue>) return PropertyType::kLargeValue;
  return PropertyType::kString;
}

/// A named value of an entity.
struct Property {
  /// Name of at most limits::kPropertyNameCodeUnitsMax code units, case-sensitive.
  std::string name;
  /// Value with its type; it is never null.
  Value value;
  /// Returns true if name, type and value are equal.
  bool operator==(const Property&) const = default;
};

class PropertyRoom;

/// The properties of one entity, in contiguous memory. The list owns its memory, unless its entity came with a page of
/// others: then it uses a part of a block that these share. A list that outgrows its part moves to memory of its own.
class VARVE_EXPORT PropertyList {
 public:
  PropertyList() noexcept = default;
  /// Copies the properties to memory of the new list's own.
  PropertyList(const PropertyList& other);
  /// Takes the properties and their memory; `other` is empty afterwards.
  PropertyList(PropertyList&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)),
        shared_(std::exchange(other.shared_, nullptr)) {}
  /// Replaces the properties by those of `other`.
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

  /// @{
  /// Returns the properties in the order in which they were added. The span is valid until the list grows, shrinks or
  /// moves.
  std::span<const Property> all() const noexcept { return {first_, size_}; }
  std::span<Property> all() noexcept { return {first_, size_}; }
  /// @}

  /// Makes room for `count` properties in all.
  void reserve(std::size_t count);
  /// Appends the result of `make()`, constructed in place.
  template <typename Make>
  void add(const Make& make) {
    if (size_ == capacity_) grow();
    ::new (static_cast<void*>(first_ + size_)) Property(make());
    ++size_;
  }
  /// Removes the property at `place`, which must be below the size.
  void remove(std::size_t place) noexcept;

  /// Returns true if both lists hold equal properties in the same order.
  bool operator==(const PropertyList& other) const noexcept;

 private:
  friend class PropertyRoom;
  struct Shared;

  void grow();
  void give_back_texts() noexcept;
  void free_all() noexcept;
  void free_memory() noexcept;

  Property* first_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
  Shared* shared_ = nullptr;  // the block that the memory is a part of; null if the list owns its memory
};

/// Identifies one state of an entity, as the condition of a write. The ETag changes with every successful write of the
/// entity, also with one that changes no value. No ETag is ever used twice, also not after the entity is deleted and
/// inserted again (D-53, D-55).
class VARVE_EXPORT ETag {
 public:
  /// Makes no ETag: the ETag of an entity that was not read from a store.
  constexpr ETag() noexcept = default;
  /// Returns `*`, which matches any state of an existing entity.
  static constexpr ETag any() noexcept { return ETag(kAny); }
  /// Returns the ETag of an entity that was written at this time. A time of zero gives no ETag.
  static constexpr ETag of_timestamp(DateTime timestamp) noexcept { return ETag(timestamp.ticks); }

  /// Parses `*` or `W/"..."`. The W may have either case, and the text in quotes is opaque. If no store can have
  /// written the text, the ETag is foreign. If it has the form of to_string(), `:` may be written for `%3A`, and the
  /// fraction may end in zeros.
  /// Errors: kInvalidArgument (InvalidInput: no W, no quotes, or a quote or control character between the quotes).
  /// Source: D-52, O-02, X-27.
  static Result<ETag> parse(std::string_view text);
  /// Returns for example `W/"datetime'2026-03-03T10%3A20%3A30.4767Z'"`; `*` for any(); empty for no ETag. A foreign
  /// ETag is `W/"foreign-` with its number in hexadecimal, which parse() reads back. Source: D-52.
  std::string to_string() const;

  /// Returns true for no ETag.
  constexpr bool is_none() const noexcept { return ticks_ == 0; }
  /// Returns true for any().
  constexpr bool is_any() const noexcept { return ticks_ == kAny; }
  /// Returns true if no state in a store can have this ETag. A foreign ETag is valid as a condition, but never matches.
  /// Two foreign texts give two ETags, unless a hash of 63 bits collides.
  constexpr bool is_foreign() const noexcept { return ticks_ >= kFirstForeign && ticks_ != kAny; }
  /// Returns the time when the state was written, which is also its commit version. Has no meaning for no ETag, any()
  /// and a foreign ETag.
  constexpr DateTime timestamp() const noexcept { return DateTime{ticks_}; }

  /// Returns true if both identify one state. any() equals only itself here.
  constexpr bool operator==(const ETag&) const = default;

 private:
  static constexpr std::uint64_t kAny = UINT64_MAX;
  /// Above all ticks, which end with the year 9999.
  static constexpr std::uint64_t kFirstForeign = std::uint64_t{1} << 63;
  constexpr explicit ETag(std::uint64_t ticks) noexcept : ticks_(ticks) {}
  std::uint64_t ticks_ = 0;
};

/// A key and a list of typed properties in the order in which they were added. An entity that came from a store also
/// has an ETag and a Timestamp. Two entities of one table may have different properties, and properties of one name may
/// differ in type.
///
///   Entity entity("eu", "0001");
///   entity.set("Customer", "Ann").set("Lines", 3).set("Total", 12.5);
///   Result<std::int32_t> lines = entity.get<std::int32_t>("Lines");
///   if (!lines.ok() && lines.code() == Code::kNotFound) ...  // no such property
class VARVE_EXPORT Entity {
 public:
  Entity() = default;
  /// Makes an entity without properties. The keys are checked when the entity is written.
  Entity(std::string partition_key, std::string row_key) noexcept
      : partition_key_(std::move(partition_key)), row_key_(std::move(row_key)) {}
  /// @{
  /// Copies or moves keys, properties and ETag.
  Entity(const Entity& other) = default;
  Entity(Entity&& other) noexcept = default;
  Entity& operator=(const Entity& other) = default;
  Entity& operator=(Entity&& other) noexcept = default;
  /// @}
  /// The thread keeps some memory of its entities for those that it reads next.
  ~Entity() {
    if (partition_key_.capacity() >= kLongKeyBytes || row_key_.capacity() >= kLongKeyBytes) give_back_keys();
  }

  /// Returns the PartitionKey, which may be empty.
  /// @{
  const std::string& partition_key() const& noexcept { return partition_key_; }
  std::string partition_key() && noexcept { return std::move(partition_key_); }
  /// @}
  /// Returns the RowKey, which may be empty.
  /// @{
  const std::string& row_key() const& noexcept { return row_key_; }
  std::string row_key() && noexcept { return std::move(row_key_); }
  /// @}

  /// Returns the properties in the order in which they were added. A store keeps the order in which they were written.
  /// A temporary entity moves them to a list of their own.
  /// @{
  std::span<const Property> properties() const& noexcept { return properties_.all(); }
  std::vector<Property> properties() &&;
  /// @}

  /// Sets the property with this name, or appends it. Names are case-sensitive. Names and values are checked when the
  /// entity is written. A write ignores a property `Timestamp` (D-50), and refuses `PartitionKey` and `RowKey`.
  /// @{
  Entity& set(std::string_view name, Value value) &;
  Entity set(std::string_view name, Value value) && {
    set(name, std::move(value));
    return std::move(*this);
  }
  /// @}
  /// Appends a property without checking whether the name exists. If a name occurs twice, the write is refused (D-23).
  /// This is faster for a caller that adds many properties with different names.
  /// @{
  Entity& add(std::string name, Value value) &;
  Entity add(std::string name, Value value) && {
    add(std::move(name), std::move(value));
    return std::move(*this);
  }
  /// @}
  /// Makes room for this many properties in all.
  void reserve(std::size_t property_count) { properties_.reserve(property_count); }
  /// Returns true if the property existed.
  bool remove(std::string_view name) noexcept;

  /// Returns the first property with this name, or null.
  const Value* find(std::string_view name) const& noexcept;
  /// Refused by the compiler: the pointer would point into a temporary.
  template <typename T = Value>
  const T* find(std::string_view /*name*/) && noexcept {
    static_assert(result_detail::kNever<T>,
                  "a temporary Entity ends before this pointer: hold the Entity in a variable");
    return nullptr;
  }
  /// Returns the value of the property. Errors: kNotFound (no such property), kInvalidArgument (it has another type,
  /// which the message names).
  template <PropertyValue T>
  Result<T> get(std::string_view name) const {
    const Value* value = find(name);
    if (value == nullptr) return absent(name);
    if (const T* typed = value->get_if<T>()) return T(*typed);
    return wrong_type(name, value->type(), property_type_of<T>());
  }

  /// Returns the time when the entity was written, or zero if it did not come from a store. Writes ignore it (D-50).
  DateTime timestamp() const noexcept { return etag_.timestamp(); }
  /// Returns the ETag, or none if the entity did not come from a store. A write checks it only if it is passed as the
  /// condition.
  ETag etag() const noexcept { return etag_; }
  /// Sets the ETag, and with it the Timestamp.
  void set_etag(ETag etag) noexcept { etag_ = etag; }

  /// True if keys, properties with their order, and ETags are equal.
  bool operator==(const Entity&) const = default;

 private:
  friend struct EntityMaker;
  /// Shorter keys have no memory of their own.
  static constexpr std::size_t kLongKeyBytes = 16;
  void give_back_keys() noexcept;
  static Status absent(std::string_view name);
  static Status wrong_type(std::string_view name, PropertyType stored, PropertyType asked);

  std::string partition_key_;
  std::string row_key_;
  PropertyList properties_;
  ETag etag_;
};

/// Returns the size that counts against limits::kEntityBytesMax, in bytes. It is the sum of:
/// - 4, and 2 for each code unit of both keys;
/// - for each property 8, and 2 for each code unit of its name;
/// - for each value: String 4 and 2 for each code unit, Binary 4 and its bytes, Boolean 1, Int32 4, Guid 16,
///   LargeValue 40 (whatever its length), other types 8.
///
/// A property called Timestamp counts nothing, because it is not stored. In a text that is not UTF-8, each byte counts
/// as one code unit. Source: D-60, BX-01.
VARVE_EXPORT std::size_t accounted_size_bytes(const Entity& entity) noexcept;

}  // namespace varve
