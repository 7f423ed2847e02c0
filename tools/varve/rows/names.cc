#include "tools/varve/rows/names.h"

#include <algorithm>

#include "tools/varve/base/edit_distance.h"
#include "varve/names.h"

namespace varve::tool {

namespace {

constexpr std::size_t kNamesShownMax = 20;
/// Longer names are not compared, because the work grows with the square of their length.
constexpr std::size_t kComparedBytesMax = 64;

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_separator(char c) noexcept {
  return c == '_' || c == '-' || c == ' ' || c == '.';
}

/// Returns the name without separators, in lower case. "Row Key", "row_key" and "RowKey" are alike.
std::string core_of(std::string_view name) {
  std::string core;
  for (const char c : name) {
    if (!is_separator(c)) core += lower(c);
  }
  return core;
}

}  // namespace

std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names) {
  const std::string core = core_of(wanted.substr(0, kComparedBytesMax));
  std::size_t least = core.size() / 3 + 1;
  std::string nearest;
  for (const std::string& name : names) {
    if (name.empty() || name.size() > kComparedBytesMax) continue;
    const std::size_t found = edit_distance(core, core_of(name));
    if (found >= least) continue;
    least = found;
    nearest = name;
  }
  return nearest;
}

std::string names_hint(std::string_view wanted, std::string_view what, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  std::string hint;
  if (const std::string nearest = nearest_name(wanted, names); !nearest.empty())
    hint = "; did you mean \"" + nearest + "\"?";
  hint += (hint.empty() ? "; the " : " The ") + std::string(what) + " are: ";
  const std::size_t shown = std::min(names.size(), kNamesShownMax);
  for (std::size_t i = 0; i < shown; ++i) hint += (i == 0 ? "" : ", ") + names[i].substr(0, kComparedBytesMax);
  if (shown < names.size()) hint += " and " + std::to_string(names.size() - shown) + " more";
  return hint;
}

std::string fixed_property_name(std::string_view name) {
  if (check_property_name(name).ok()) return std::string(name);
  std::string fixed;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at + 1;
    while (end < name.size() && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) ++end;
    const std::string character(name.substr(at, end - at));
    fixed += check_property_name("x" + character).ok() ? character : std::string("_");
    at = end;
  }
  if (!check_property_name(fixed).ok()) fixed.insert(0, 1, '_');
  return fixed;
}

}  // namespace varve::tool
