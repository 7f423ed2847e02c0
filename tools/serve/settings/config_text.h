// Owns: the configuration file as text: reading TOML into settings, and writing settings as TOML.
// Must never: open a file, or write a key.
#pragma once

#include <string>
#include <string_view>

#include "tools/serve/settings/settings.h"
#include "varve/result.h"

namespace varve::serve {

/// Reads a configuration. `name` is the name of the file for messages and places. Errors: kInvalidArgument: not TOML,
/// an unknown option, a wrong type or an invalid value. The message begins with `NAME:LINE:`.
Result<Settings> parse_config(std::string_view text, const std::string& name);

/// Returns the settings as TOML, each with its description. Keys are masked. An option without value and default is a
/// comment. Errors: kInvalidArgument: a value cannot be written as TOML, because it is not UTF-8.
Result<std::string> config_text(const Settings& settings);

}  // namespace varve::serve
