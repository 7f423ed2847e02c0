#include "tools/serve/settings/load_settings.h"

#include <utility>

#include "tools/serve/settings/config_text.h"
#include "tools/serve/settings/option_values.h"
#include "tools/serve/transport/secret_file.h"

namespace varve::serve {
namespace {

constexpr std::string_view kFileName = "the configuration file";

/// Refuses a file with a key that every user can read.
Status check_keys_are_hidden(const Settings& settings, const std::string& path) {
  for (const SettingValue& value : settings.all(OptionId::kAccount)) {
    const Result<AccountDefinition> parsed = parse_account(value.text);
    if (!parsed.ok() || (*parsed).source != KeySource::kInline) continue;
    return at_place(value.place, refuse_exposed("with a key in it, " + std::string(kFileName), path));
  }
  return Status();
}

/// Checks the values on the command line. parse_config() checks those of the file.
Status check_words(const Settings& words) {
  for (const OptionRule& rule : option_rules()) {
    for (const SettingValue& value : words.all(rule.id)) {
      if (Status checked = check_value(rule, value.text); !checked.ok()) {
        return at_place("--" + std::string(rule.name), checked);
      }
    }
  }
  return Status();
}

Status check_pair(const Settings& settings, OptionId one, OptionId other) {
  if (!settings.has(one) || settings.has(other)) return Status();
  return at_place(settings.place(one), Status::invalid_argument("--" + std::string(rule_of(one).name) + " requires --" +
                                                                std::string(rule_of(other).name)));
}

/// Reads the file of the sources, which must have one.
Result<Settings> read_config(const SettingSources& sources) {
  const Result<FileText> file = read_file_text(kFileName, sources.config);
  if (!file.ok()) return file.status();
  Result<Settings> read = parse_config((*file).text, sources.config);
  if (!read.ok() || !(*file).is_exposed) return read;
  if (Status hidden = check_keys_are_hidden(*read, sources.config); !hidden.ok()) return hidden;
  return read;
}

}  // namespace

Settings known_settings(const SettingSources& sources) {
  Settings settings = sources.command_line;
  if (sources.config.empty()) return settings;
  if (const Result<Settings> read = read_config(sources); read.ok()) settings.complete_by(*read);
  return settings;
}

Result<Settings> load_settings(const SettingSources& sources) {
  if (Status checked = check_words(sources.command_line); !checked.ok()) return checked;
  Settings settings = sources.command_line;
  if (sources.config.empty()) return settings;
  const Result<Settings> read = read_config(sources);
  if (!read.ok()) return read.status();
  settings.complete_by(*read);
  return settings;
}

Status check_complete(const Settings& settings) {
  if (!settings.has(OptionId::kData)) {
    return Status::invalid_argument(
        "--data is required, on the command line or as data = \"DIRECTORY\" in the file of "
        "--config");
  }
  if (Status paired = check_pair(settings, OptionId::kTlsCert, OptionId::kTlsKey); !paired.ok()) return paired;
  return check_pair(settings, OptionId::kTlsKey, OptionId::kTlsCert);
}

}  // namespace varve::serve
