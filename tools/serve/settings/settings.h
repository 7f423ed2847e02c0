// Owns: the values of the options of one server, and the place that each value comes from.
// Must never: interpret a value.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tools/serve/settings/option_table.h"
#include "varve/status.h"

namespace varve::serve {

struct SettingValue {
  std::string text;
  /// The place of the value in the configuration file, such as `serve.toml:4`. Empty: the command line.
  std::string place{};

  friend bool operator==(const SettingValue&, const SettingValue&) = default;
};

class Settings {
 public:
  void add(OptionId id, SettingValue value) { values_[index(id)].push_back(std::move(value)); }
  bool has(OptionId id) const noexcept { return !values_[index(id)].empty(); }
  const std::vector<SettingValue>& all(OptionId id) const noexcept { return values_[index(id)]; }
  /// Returns the last value, or the default.
  std::string text(OptionId id) const;
  /// Returns the place of the last value. Empty if it has none.
  std::string place(OptionId id) const;

  /// Takes the options of `lower` that have no value here.
  void complete_by(const Settings& lower);
  /// Returns whether the option has equal values in both, wherever they come from.
  bool equals(const Settings& other, OptionId id) const;

 private:
  static std::size_t index(OptionId id) noexcept { return static_cast<std::size_t>(id); }
  std::array<std::vector<SettingValue>, kOptions> values_;
};

/// Returns the error with its place before its message. An error without place stays as it is.
Status at_place(const std::string& place, const Status& error);

}  // namespace varve::serve
