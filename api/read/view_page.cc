// Owns: copying viewed entities into the memory of one page (varve/view_page.h).
// Must never: copy a name or a PartitionKey that the entity before it has in the same place.
#include "varve/view_page.h"

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "api/model/page_memory.h"

namespace varve {
namespace {

/// Most pages are small or full.
constexpr std::size_t kFirstRoom = 16;

void copy_value(const ValueView& value, PageMemory& memory, ValueView& copied) {
  if (const auto* const text = std::get_if<std::string_view>(&value)) {
    copied = memory.copy(*text);
  } else if (const auto* const binary = std::get_if<BinaryView>(&value)) {
    copied = BinaryView{memory.copy(binary->bytes)};
  } else {
    copied = value;
  }
}

}  // namespace

struct EntityViews::State {
  PageMemory memory;
  std::vector<EntityView> entities;
};

EntityViews::EntityViews() noexcept = default;
EntityViews::EntityViews(EntityViews&& other) noexcept = default;
EntityViews& EntityViews::operator=(EntityViews&& other) noexcept = default;
EntityViews::~EntityViews() = default;

std::span<const EntityView> EntityViews::all() const& noexcept {
  if (state_ == nullptr) return {};
  return state_->entities;
}

std::size_t EntityViews::size() const noexcept {
  return state_ == nullptr ? 0 : state_->entities.size();
}

std::size_t EntityViews::memory_bytes() const noexcept {
  return state_ == nullptr ? 0 : state_->memory.bytes() + state_->entities.capacity() * sizeof(EntityView);
}

void EntityViews::add(const EntityView& entity) {
  static_assert(std::is_trivially_destructible_v<PropertyView> && std::is_trivially_copyable_v<EntityView>);
  if (state_ == nullptr) state_ = std::make_unique<State>();
  std::vector<EntityView>& entities = state_->entities;
  PageMemory& memory = state_->memory;
  if (entities.size() == entities.capacity()) entities.reserve(entities.empty() ? kFirstRoom : 4 * entities.size());

  const EntityView last = entities.empty() ? EntityView{} : entities.back();
  EntityView made;
  const bool same_partition = !entities.empty() && last.partition_key == entity.partition_key;
  made.partition_key = same_partition ? last.partition_key : memory.copy(entity.partition_key);
  made.row_key = memory.copy(entity.row_key);
  made.etag = entity.etag;
  const std::size_t count = entity.properties.size();
  auto* const properties =
      reinterpret_cast<PropertyView*>(memory.take(count * sizeof(PropertyView), alignof(PropertyView)));
  for (std::size_t i = 0; i < count; ++i) {
    const PropertyView& property = entity.properties[i];
    PropertyView* const copied = ::new (static_cast<void*>(properties + i)) PropertyView;
    const bool same_name = i < last.properties.size() && last.properties[i].name == property.name;
    copied->name = same_name ? last.properties[i].name : memory.copy(property.name);
    copy_value(property.value, memory, copied->value);
  }
  made.properties = {properties, count};
  entities.push_back(made);
}

Result<ViewPage> scan_views(const Table& table, const Scan& scan) {
  ViewPage views;
  Result<Page> page = table.scan_in_place(scan, [&views](const EntityView& entity) { views.entities.add(entity); });
  if (!page.ok()) return page.status();
  views.continuation = std::move(page->continuation);
  views.cost = page->cost;
  return views;
}

}  // namespace varve
