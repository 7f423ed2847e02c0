// Owns: the one table of the options of `varve serve`. The command line, the configuration file, the printed
// configuration, the help and docs/server.md are made from it.
// Must never: be repeated elsewhere: an option has its name, its default and its description here only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "varve/status.h"

namespace varve::serve {

enum class OptionId : std::uint8_t {
  kData,
  kLocalCache,
  kVerifiedReads,
  kListen,
  kListenQueues,
  kListenBlobs,
  kPublicBlobs,
  kCompressBlobs,
  kDeadLetter,
  kExtensions,
  kAccount,
  kTlsCert,
  kTlsKey,
  kMemory,
  kMetrics,
  kStatusPage,
  kRequestLog,
  kLogFormat,
  kDrainSeconds,
};
inline constexpr std::size_t kOptions = 19;

/// The type of an option's value in the configuration file. The command line has texts only.
enum class ValueKind : std::uint8_t { kText, kNumber, kTexts };

struct OptionRule {
  OptionId id;
  /// The name in the configuration file. On the command line it begins with `--`.
  std::string_view name;
  /// The form of the value for the help, such as `ADDRESS:PORT`.
  std::string_view form;
  ValueKind kind;
  /// The value if the option is not given. Empty: none.
  std::string_view standard;
  /// All valid values. Empty: `check` decides.
  std::span<const std::string_view> choices;
  /// Returns kInvalidArgument if the text is not a valid value. It looks at no file.
  Status (*check)(const std::string& text);
  /// Whether a running server takes a new value over when it reloads.
  bool is_live;
  std::string_view help;
};

/// Returns all options in the order of OptionId.
std::span<const OptionRule> option_rules() noexcept;
const OptionRule& rule_of(OptionId id) noexcept;
/// Returns null if there is no such option.
const OptionRule* find_option(std::string_view name) noexcept;

/// Checks a value by `choices` and `check`, and refuses control characters. Errors: kInvalidArgument.
Status check_value(const OptionRule& rule, const std::string& text);

}  // namespace varve::serve
