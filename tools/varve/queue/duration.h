// Owns: times that a person writes with a unit: 500ms, 30s, 5m, 2h, 7d, never.
// Must never: take a number without a unit. Its meaning would be a guess.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace varve::tool {

/// Parses a whole number with one of the units ms, s, m, h and d. Returns nothing for another text, and for more than
/// 10,000 days.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept;

/// Adds an option with such a time. If `may_be_never`, "never" means kNever.
CLI::Option* add_duration(CLI::App& verb, const std::string& name, std::chrono::milliseconds& time,
                          const std::string& about, bool may_be_never = false);

}  // namespace varve::tool
