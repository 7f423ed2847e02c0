#include "tools/serve/settings/account_keys.h"

#include <cstdlib>
#include <utility>

#include "tools/serve/settings/option_values.h"
#include "tools/serve/transport/secret_file.h"

namespace varve::serve {
namespace {

std::string without_end_spaces(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  return text.substr(0, end == std::string::npos ? 0 : end + 1);
}

/// Returns `KEY` or `KEY:KEY2`.
Result<std::string> read_keys(const AccountDefinition& definition) {
  if (definition.source == KeySource::kFile) {
    const Result<std::string> text = read_secret_file("the account's key file", definition.where);
    if (!text.ok()) return text.status();
    return without_end_spaces(*text);
  }
  if (definition.source == KeySource::kInline) return definition.where;
  const char* const text = std::getenv(definition.where.c_str());
  if (text != nullptr) return without_end_spaces(text);
  return Status::invalid_argument("the environment has no variable \"" + definition.where +
                                  "\" for the key of account " + definition.name);
}

Status add_account(const SettingValue& value, ReadAccounts& read) {
  const Result<AccountDefinition> definition = parse_account(value.text);
  if (!definition.ok()) return definition.status();
  const Result<std::string> keys = read_keys(*definition);
  if (!keys.ok()) return keys.status();
  const std::string& name = (*definition).name;
  if ((*definition).source == KeySource::kInline && value.place.empty()) {
    read.warnings.push_back("the key of account " + name +
                            " is in the command line, where every user of this machine can read it; use --account " +
                            name + ":@FILE to read it from a file");
  }
  const Status added = read.accounts.add(name + ":" + *keys);
  if (added.ok() || (*definition).source != KeySource::kInline) {
    return at_place("account " + name + ", " + (*definition).where, added);
  }
  return Status(added.code(), "account " + name + ": " + std::string(added.message()) +
                                  "; use NAME:@FILE for a key that is in a file");
}

}  // namespace

Result<ReadAccounts> read_accounts(const Settings& settings) {
  Result<Accounts> none = Accounts::create();
  if (!none.ok()) return none.status();
  ReadAccounts read{*std::move(none)};
  for (const SettingValue& value : settings.all(OptionId::kAccount)) {
    if (const Status added = add_account(value, read); !added.ok()) return at_place(value.place, added);
  }
  return read;
}

}  // namespace varve::serve
