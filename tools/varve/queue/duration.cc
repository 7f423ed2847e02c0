#include "tools/varve/queue/duration.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include "varve/queue.h"

namespace varve::tool {

namespace {

constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kUnits = {
    {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
constexpr std::int64_t kLongestDays = 36'525;  // TableExpiry::kAgeMax
constexpr std::int64_t kLongest = kLongestDays * 86'400'000;

std::string wrong_duration(const std::string& text, bool may_be_never) {
  std::string wanted = "must be a whole number with a unit (ms, s, m, h, d), such as 30s, and at most " +
                       std::to_string(kLongestDays) + "d";
  if (may_be_never) wanted += ", or never";
  return wanted + "; it is " + (text.empty() ? "empty" : "\"" + text + "\"");
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const auto& [name, milliseconds] : kUnits) {
    if (unit == name && number <= kLongest / milliseconds) return std::chrono::milliseconds(number * milliseconds);
  }
  return std::nullopt;
}

CLI::Option* add_duration(CLI::App& verb, const std::string& name, std::chrono::milliseconds& time,
                          const std::string& about, bool may_be_never) {
  return verb
      .add_option_function<std::string>(
          name,
          [&time](const std::string& text) { time = text == "never" ? kNever : parse_duration(text).value_or(time); },
          about)
      ->type_name("TIME")
      ->check(CLI::Validator(
          [may_be_never](const std::string& text) {
            const bool is_time = (may_be_never && text == "never") || parse_duration(text);
            return is_time ? std::string() : wrong_duration(text, may_be_never);
          },
          ""));
}

}  // namespace varve::tool
