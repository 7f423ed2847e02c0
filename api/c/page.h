// Owns: entities that a call of the C interface returned, in few pieces of memory.
// Must never: move an entity's memory while the page exists.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/c/handles.h"
#include "api/model/page_memory.h"
#include "varve/c.h"
#include "varve/entity_view.h"
#include "varve/query.h"
#include "varve/types.h"

namespace varve::c {

/// varve_page. Its methods may throw std::bad_alloc.
class PageObject : public Object {
 public:
  static constexpr Kind kKind = Kind::kPage;
  static constexpr bool kOneThread = false;

  PageObject() noexcept : Object(kKind) {}

  void add(const EntityView& entity);
  void add(const Entity& entity);
  /// Adds an entity that does not exist.
  void add_absent(const EntityKey& key);
  void reserve(std::size_t entities) { entities_.reserve(entities); }
  void end(const std::optional<std::string>& continuation, const PageCost& cost);

  varve_page_view view() const noexcept;

 private:
  varve_text copy(std::string_view text);
  varve_text copy_name(std::string_view name, std::size_t place);
  template <typename Properties, typename ViewOf>
  void add_properties(const Properties& properties, const ViewOf& view_of_value, varve_entity* entity);

  PageMemory memory_;
  std::vector<varve_entity> entities_;
  std::vector<varve_text> last_names_;  // those of the entity before, by place: most entities have the same
  varve_text last_partition_{};
  varve_text continuation_{};
  varve_cost cost_{};
};

/// Returns the entities that were found, one for each key.
std::unique_ptr<PageObject> page_of(const std::vector<EntityKey>& keys,
                                    const std::vector<std::optional<Entity>>& found);

}  // namespace varve::c
