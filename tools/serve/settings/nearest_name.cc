#include "tools/serve/settings/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tools/serve/settings/option_table.h"

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

/// Returns the number of inserted, deleted and replaced characters, and of swapped neighbours, between two texts.
std::size_t distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(right.size() + 1);
  for (std::size_t i = 0; i < last.size(); ++i) last[i] = i;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::vector<std::size_t> row(right.size() + 1, i);
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool is_swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (is_swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::move(last);
    last = std::move(row);
  }
  return last.back();
}

}  // namespace

std::string nearest_option(std::string_view name) {
  if (name.size() > kNameMax) return "";
  const std::string asked = folded(name);
  std::string nearest;
  constexpr std::size_t kShort = 5;
  std::size_t least = (asked.size() < kShort ? 1 : std::max<std::size_t>(asked.size() / 3, 2)) + 1;
  for (const OptionRule& rule : option_rules()) {
    const std::size_t far = distance(asked, rule.name);
    if (far >= least) continue;
    least = far;
    nearest = rule.name;
  }
  return nearest;
}

}  // namespace varve::serve
