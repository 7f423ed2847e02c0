#include "tools/serve/settings/settings.h"

#include <algorithm>

namespace varve::serve {

std::string Settings::text(OptionId id) const {
  const std::vector<SettingValue>& values = all(id);
  return values.empty() ? std::string(rule_of(id).standard) : values.back().text;
}

std::string Settings::place(OptionId id) const {
  const std::vector<SettingValue>& values = all(id);
  return values.empty() ? std::string() : values.back().place;
}

void Settings::complete_by(const Settings& lower) {
  for (std::size_t i = 0; i < kOptions; ++i) {
    if (values_[i].empty()) values_[i] = lower.values_[i];
  }
}

bool Settings::equals(const Settings& other, OptionId id) const {
  if (rule_of(id).kind != ValueKind::kTexts) return text(id) == other.text(id);
  const std::vector<SettingValue>& mine = all(id);
  const std::vector<SettingValue>& others = other.all(id);
  return std::equal(mine.begin(), mine.end(), others.begin(), others.end(),
                    [](const SettingValue& left, const SettingValue& right) { return left.text == right.text; });
}

Status at_place(const std::string& place, const Status& error) {
  if (error.ok() || place.empty()) return error;
  return Status(error.code(), place + ": " + std::string(error.message()));
}

}  // namespace varve::serve
