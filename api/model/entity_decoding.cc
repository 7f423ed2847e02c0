// Owns: the decoding of entities (entity_codec.h), and views of entities in place (entity_view.h).
// Must never: trust bytes from a store, decode properties that the caller did not request, or copy viewed values.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/model/entity_codec.h"
#include "api/model/large_value_maker.h"
#include "api/model/quoted.h"
#include "api/model/spare_pieces.h"
#include "format/keys/property_reader.h"
#include "varve/entity_view.h"

namespace varve {
namespace {

struct Viewer {
  ValueView operator()(const Binary& value) const noexcept { return BinaryView{value.bytes}; }
  ValueView operator()(const std::string& value) const noexcept { return std::string_view(value); }
  template <typename Fixed>
  ValueView operator()(const Fixed& value) const noexcept {
    return value;
  }
};

/// Returns a copy of the value.
Value value_of(const format::PropertyView& property) {
  switch (property.type) {
    case format::PropertyType::kBinary: return Binary{spare_texts::copy(property.value)};
    case format::PropertyType::kBoolean: return property.as_boolean();
    case format::PropertyType::kDateTime: return DateTime{property.as_date_time_ticks()};
    case format::PropertyType::kDouble: return property.as_double();
    case format::PropertyType::kGuid: return Guid{property.as_guid()};
    case format::PropertyType::kInt32: return property.as_int32();
    case format::PropertyType::kInt64: return property.as_int64();
    case format::PropertyType::kString: return spare_texts::copy(property.value);
    case format::PropertyType::kLargeValue: return LargeValueMaker::make(property.as_large_value());
  }
  return Value();  // open() accepts no other type.
}

/// Makes the view of the value in place, because a copy of it right after it was written in parts would be slow.
inline void make_view(const format::PropertyView& property, ValueView& value) noexcept {
  if (property.type == format::PropertyType::kString) {  // most properties
    value.emplace<std::string_view>(property.value);
    return;
  }
  switch (property.type) {
    case format::PropertyType::kBinary: value.emplace<BinaryView>().bytes = property.value; return;
    case format::PropertyType::kBoolean: value.emplace<bool>(property.as_boolean()); return;
    case format::PropertyType::kDateTime: value.emplace<DateTime>().ticks = property.as_date_time_ticks(); return;
    case format::PropertyType::kDouble: value.emplace<double>(property.as_double()); return;
    case format::PropertyType::kGuid: value.emplace<Guid>().bytes = property.as_guid(); return;
    case format::PropertyType::kInt32: value.emplace<std::int32_t>(property.as_int32()); return;
    case format::PropertyType::kInt64: value.emplace<std::int64_t>(property.as_int64()); return;
    case format::PropertyType::kString: return;
    case format::PropertyType::kLargeValue:
      value.emplace<LargeValue>(LargeValueMaker::make(property.as_large_value()));
      return;
  }
}

/// Calls `use` for each selected property, in the order of the names; for all of them if none is selected. Returns false if
/// a property is damaged.
template <typename Use>
bool read_selected(format::PropertyReader& reader, std::span<const std::string> select, const Use& use) {
  format::PropertyView property;
  const std::size_t count = reader.property_count();
  if (select.empty()) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!reader.next(property)) return false;
      use(property);
    }
    return true;
  }
  const Selection selection(select);
  std::array<format::PropertyView, 6> few;  // Most selections name no more, and a greater array costs time.
  std::vector<format::PropertyView> many(select.size() > few.size() ? select.size() : 0);
  const std::span<format::PropertyView> found = many.empty() ? std::span(few).first(select.size()) : std::span(many);
  for (std::size_t i = 0; i < count; ++i) {
    if (!reader.next(property)) return false;
    const std::size_t place = selection.place_of(property.name);
    if (place < found.size()) found[place] = property;
  }
  for (const format::PropertyView& each : found) {
    if (each.name.data() != nullptr) use(each);  // Otherwise the entity lacks it.
  }
  return true;
}

std::size_t selected_max(const format::PropertyReader& reader, std::span<const std::string> select) noexcept {
  return select.empty() ? reader.property_count() : std::min(select.size(), reader.property_count());
}

}  // namespace

Status unreadable(std::string_view bytes, std::string_view partition_key, std::string_view row_key) {
  const Result<format::EncodedEntity> opened = format::EncodedEntity::open(bytes);
  assert(!opened.ok());  // The reader refuses only what open() refuses.
  return opened.status().in_file("the entity " + quoted(partition_key) + ", " + quoted(row_key));
}

namespace {

/// Returns whether the text now has these bytes. It refuses memory that is too small, or more than twice as large.
bool refill(std::string& text, std::string_view bytes) {
  constexpr std::size_t kSpareMax = 32;
  if (bytes.size() > text.capacity() || text.capacity() > 2 * bytes.size() + kSpareMax) return false;
  if (text.size() != bytes.size()) text.resize(bytes.size());
  std::memcpy(text.data(), bytes.data(), bytes.size());
  return true;
}

/// Makes a property of an entity that ended the stored one, in its old memory.
void remake(const format::PropertyView& property, Property& made) {
  if (made.name != property.name) made.name = spare_texts::copy(property.name);
  if (made.value.type() == property.type) {
    std::string* const text = PropertyRoom::text_in(made);
    if (text != nullptr && refill(*text, property.value)) return;
  }
  made.value = value_of(property);
}

[[gnu::always_inline]] inline void add(const format::PropertyView& property, PropertyList& properties) {
  properties.add([&property] { return Property{spare_texts::copy(property.name), value_of(property)}; });
}

/// Reads the selected properties into a list that has those of an entity that ended. Returns false if one is damaged.
[[gnu::noinline]] bool overwrite(format::PropertyReader reader, std::span<const std::string> select,
                                 PropertyList& properties) {
  const std::span<Property> old = properties.all();
  std::size_t count = 0;
  const bool is_well = read_selected(reader, select, [&](const format::PropertyView& property) {
    if (count < old.size()) {
      remake(property, old[count]);
    } else {
      add(property, properties);
    }
    ++count;
  });
  if (count < old.size()) PropertyRoom::cut(properties, count);
  return is_well;
}

}  // namespace

/// Makes properties directly in the list of an entity. Entity::add() would make them elsewhere and move them.
struct EntityMaker {
  /// `take_room` returns the list for at most that many properties.
  template <typename TakeRoom>
  static Status decode(Entity& entity, format::CommitVersion version, std::string_view bytes,
                       std::span<const std::string> select, const TakeRoom& take_room) {
    format::PropertyReader reader;
    if (!reader.open(bytes)) return unreadable(bytes, entity.partition_key(), entity.row_key());
    PropertyList& properties = entity.properties_;
    take_room(properties, selected_max(reader, select));
    const auto read_new = [&properties](const format::PropertyView& property) { add(property, properties); };
    const bool is_well =
        properties.all().empty() ? read_selected(reader, select, read_new) : overwrite(reader, select, properties);
    if (!is_well) return unreadable(bytes, entity.partition_key(), entity.row_key());
    entity.set_etag(ETag::of_timestamp(DateTime{version}));
    return Status();
  }
};

std::size_t selected_bytes(std::string_view bytes, std::span<const std::string> select) {
  format::PropertyReader reader;
  if (select.empty() || !reader.open(bytes)) return bytes.size();
  std::size_t properties = 0;
  std::size_t name_and_value_bytes = 0;
  const bool is_well = read_selected(reader, select, [&](const format::PropertyView& property) {
    ++properties;
    name_and_value_bytes += property.name.size() + property.value.size();
  });
  return is_well ? format::EntityBuilder::entity_bytes(properties, name_and_value_bytes) : bytes.size();
}

Status decode_properties(format::CommitVersion version, std::string_view bytes, std::span<const std::string> select,
                         PropertyRoom& room, Entity& entity) {
  return EntityMaker::decode(entity, version, bytes, select,
                             [&room](PropertyList& list, std::size_t count) { list = room.take(count); });
}

Status decode_properties(Entity& entity, format::CommitVersion version, std::string_view bytes,
                         std::span<const std::string> select) {
  return EntityMaker::decode(entity, version, bytes, select,
                             [](PropertyList& list, std::size_t count) { PropertyRoom::give_alone(list, count); });
}

void view_value(const format::PropertyView& property, ValueView& value) noexcept {
  make_view(property, value);
}

namespace {

/// Does view_entity() for the selected properties. `properties` has room for them. Apart, because it needs much of the stack.
[[gnu::noinline]] bool view_selected(format::PropertyReader reader, std::span<const std::string> select,
                                     std::vector<PropertyView>& properties, EntityView& entity) {
  PropertyView* viewed = properties.data();
  const bool is_well = read_selected(reader, select, [&viewed](const format::PropertyView& property) {
    viewed->name = property.name;
    make_view(property, viewed->value);
    ++viewed;
  });
  entity.properties = {properties.data(), viewed};
  return is_well;
}

}  // namespace

bool view_entity(format::CommitVersion version, std::string_view bytes, std::span<const std::string> select,
                 std::vector<PropertyView>& properties, EntityView& entity) {
  format::PropertyReader reader;
  if (!reader.open(bytes)) return false;
  const std::size_t count = reader.property_count();
  if (properties.size() < count) properties.resize(count);
  entity.etag = ETag::of_timestamp(DateTime{version});
  if (!select.empty()) return view_selected(reader, select, properties, entity);
  PropertyView* viewed = properties.data();
  // In registers: a property that was written in parts is slow to read as a whole.
  format::PropertyView property;
  for (PropertyView* const end = viewed + count; viewed != end; ++viewed) {
    if (!reader.next(property)) return false;
    viewed->name = property.name;
    make_view(property, viewed->value);
  }
  entity.properties = {properties.data(), count};
  return true;
}

ValueView view_of(const Value& value) noexcept {
  return std::visit(Viewer{}, value.variant());
}

const ValueView* EntityView::find(std::string_view name) const noexcept {
  const auto found = std::find_if(properties.begin(), properties.end(),
                                  [name](const PropertyView& property) { return property.name == name; });
  return found == properties.end() ? nullptr : &found->value;
}

}  // namespace varve
