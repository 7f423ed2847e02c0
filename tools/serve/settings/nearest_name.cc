#include "tools/serve/settings/nearest_name.h"

#include <algorithm>
#include <cstddef>

#include "tools/serve/settings/option_table.h"
#include "tools/varve/base/edit_distance.h"

namespace varve::serve {
namespace {

/// A name that is longer than this means no option.
constexpr std::size_t kNameMax = 32;

std::string folded(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_' || c == ' ') c = '-';
  }
  return text;
}

}  // namespace

std::string nearest_option(std::string_view name) {
  if (name.size() > kNameMax) return "";
  const std::string asked = folded(name);
  std::string nearest;
  constexpr std::size_t kShort = 5;
  std::size_t least = (asked.size() < kShort ? 1 : std::max<std::size_t>(asked.size() / 3, 2)) + 1;
  for (const OptionRule& rule : option_rules()) {
    const std::size_t far = tool::edit_distance(asked, rule.name);
    if (far >= least) continue;
    least = far;
    nearest = rule.name;
  }
  return nearest;
}

}  // namespace varve::serve
