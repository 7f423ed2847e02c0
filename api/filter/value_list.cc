// Owns: the order of the literals of a list (value_list.h).
// Must never: order texts in another way than comparisons do.
#include "api/filter/value_list.h"

#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "format/keys/sort_key.h"

namespace varve {
namespace {

struct LessOfOneType {
  bool operator()(const Binary& a, const Binary& b) const noexcept { return a.bytes < b.bytes; }
  bool operator()(const std::string& a, const std::string& b) const noexcept { return format::compare_text(a, b) < 0; }
  bool operator()(const DateTime& a, const DateTime& b) const noexcept { return a.ticks < b.ticks; }
  bool operator()(const Guid& a, const Guid& b) const noexcept { return a.bytes < b.bytes; }
  bool operator()(const LargeValue& a, const LargeValue& b) const noexcept { return a.id() < b.id(); }
  template <typename Number>
  requires std::is_arithmetic_v<Number>
  bool operator()(Number a, Number b) const noexcept { return a < b; }
};

bool is_less(const Value& a, const Value& b) noexcept {
  if (a.type() != b.type()) return a.type() < b.type();
  return std::visit([&b](const auto& of_a) { return LessOfOneType()(of_a, *b.get_if<std::decay_t<decltype(of_a)>>()); },
                    a.variant());
}

}  // namespace

ValueList ValueList::of(std::vector<Value> literals) {
  ValueList list;
  list.written_ = literals.size();
  std::erase_if(literals, [](const Value& literal) {
    const double* const number = literal.get_if<double>();
    return number != nullptr && std::isnan(*number);
  });
  std::sort(literals.begin(), literals.end(), is_less);
  for (Value& literal : literals) {
    if (list.groups_.empty() || list.groups_.back().front().type() != literal.type()) {
      list.groups_.emplace_back();
    } else if (!is_less(list.groups_.back().back(), literal)) {
      continue;  // equal to the last one
    }
    list.groups_.back().push_back(std::move(literal));
  }
  return list;
}

const std::vector<Value>& ValueList::of_type(PropertyType type) const noexcept {
  static const std::vector<Value> none;
  const auto found = std::find_if(groups_.begin(), groups_.end(),
                                  [type](const std::vector<Value>& group) { return group.front().type() == type; });
  return found == groups_.end() ? none : *found;
}

}  // namespace varve
