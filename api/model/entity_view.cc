// Owns: views of entities in place (entity_view.h).
// Must never: copy the viewed values.
#include "varve/entity_view.h"

#include <algorithm>
#include <string>
#include <variant>

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

}  // namespace

ValueView view_of(const Value& value) noexcept {
  return std::visit(Viewer{}, value.variant());
}

const ValueView* EntityView::find(std::string_view name) const noexcept {
  const auto found = std::find_if(properties.begin(), properties.end(),
                                  [name](const PropertyView& property) { return property.name == name; });
  return found == properties.end() ? nullptr : &found->value;
}

}  // namespace varve
