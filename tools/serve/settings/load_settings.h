// Owns: making the settings of a server from its command line and its configuration file.
// Must never: change anything outside, so that a reload can be refused after it.
#pragma once

#include <string>

#include "tools/serve/settings/settings.h"
#include "varve/result.h"

namespace varve::serve {

struct SettingSources {
  /// The options on the command line. They win over the file.
  Settings command_line;
  /// The path of the configuration file. Empty: none.
  std::string config{};
};

/// Reads the configuration file and completes the command line by it. Errors: kInvalidArgument: a value on the
/// command line is not valid, the file cannot be read, those of parse_config(), or the file has a key and every user can
/// read it.
Result<Settings> load_settings(const SettingSources& sources);

/// Returns the settings of the command line, completed by the file if that can be read, without a check of the values.
Settings known_settings(const SettingSources& sources);

/// Refuses settings that lack a required option, or one of two options that need each other. Errors: kInvalidArgument.
Status check_complete(const Settings& settings);

}  // namespace varve::serve
