// Owns: how entities become a page of C structs (page.h), and the calls that show pages.
#include "api/c/page.h"

#include "api/c/call.h"
#include "api/c/sized.h"
#include "api/c/values.h"

namespace varve::c {
namespace {

bool equal(const varve_text& known, std::string_view text) noexcept {
  return known.data != nullptr && std::string_view(known.data, known.size) == text;
}

}  // namespace

varve_text PageObject::copy(std::string_view text) {
  const std::string_view copied = memory_.copy(text);
  return {copied.data(), copied.size()};
}

varve_text PageObject::copy_name(std::string_view name, std::size_t place) {
  if (place < last_names_.size() && equal(last_names_[place], name)) return last_names_[place];
  const varve_text copied = copy(name);
  if (last_names_.size() <= place) last_names_.resize(place + 1);
  last_names_[place] = copied;
  return copied;
}

template <typename Properties, typename ViewOf>
void PageObject::add_properties(const Properties& properties, const ViewOf& view_of_value, varve_entity* entity) {
  auto* const room = reinterpret_cast<varve_property*>(
      memory_.take(properties.size() * sizeof(varve_property), alignof(varve_property)));
  std::size_t place = 0;
  for (const auto& property : properties) {
    varve_value value = value_of(view_of_value(property.value));
    if (value.type == VARVE_STRING || value.type == VARVE_BINARY) {
      value.as.text = copy({value.as.text.data, value.as.text.size});
    }
    ::new (room + place) varve_property{copy_name(property.name, place), value};
    ++place;
  }
  entity->properties = room;
  entity->property_count = place;
}

void PageObject::add(const EntityView& entity) {
  varve_entity made{};
  if (!equal(last_partition_, entity.partition_key)) last_partition_ = copy(entity.partition_key);
  made.partition_key = last_partition_;
  made.row_key = copy(entity.row_key);
  made.etag = from_etag(entity.etag);
  add_properties(
      entity.properties, [](const ValueView& value) -> const ValueView& { return value; }, &made);
  entities_.push_back(made);
}

void PageObject::add(const Entity& entity) {
  varve_entity made{};
  made.partition_key = copy(entity.partition_key());
  made.row_key = copy(entity.row_key());
  made.etag = from_etag(entity.etag());
  add_properties(
      entity.properties(), [](const Value& value) { return view_of(value); }, &made);
  entities_.push_back(made);
}

void PageObject::add_absent(const EntityKey& key) {
  varve_entity made{};
  made.partition_key = copy(key.partition_key);
  made.row_key = copy(key.row_key);
  entities_.push_back(made);
}

void PageObject::end(const std::optional<std::string>& continuation, const PageCost& cost) {
  if (continuation) continuation_ = copy(*continuation);
  cost_ = {cost.key_ranges,     cost.entities_examined, cost.blocks_read,         cost.blocks_from_cache,
           cost.blocks_skipped, cost.index_parts,       cost.first_part_entities, cost.last_part_entities};
}

varve_page_view PageObject::view() const noexcept {
  return {sizeof(varve_page_view), entities_.data(), entities_.size(), continuation_, cost_};
}

std::unique_ptr<PageObject> page_of(const std::vector<EntityKey>& keys,
                                    const std::vector<std::optional<Entity>>& found) {
  auto page = std::make_unique<PageObject>();
  page->reserve(keys.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].has_value()) {
      page->add(*found[i]);
    } else {
      page->add_absent(keys[i]);
    }
  }
  return page;
}

}  // namespace varve::c

namespace vc = varve::c;

varve_status* varve_page_read(const varve_page* page, varve_page_view* view) {
  return vc::call_on<vc::PageObject>(page,
                                     [&](const vc::PageObject& held) { return vc::write_sized(held.view(), view); });
}

void varve_page_free(varve_page* page) {
  vc::free_handle(page, vc::Kind::kPage);
}

const varve_value* varve_entity_find(const varve_entity* entity, varve_text name) {
  if (entity == nullptr || entity->properties == nullptr || name.data == nullptr) return nullptr;
  for (std::size_t i = 0; i < entity->property_count; ++i) {
    const varve_property& property = entity->properties[i];
    if (vc::equal(property.name, {name.data, name.size})) return &property.value;
  }
  return nullptr;
}
