// Owns: reading the keys of the accounts from the places that the settings name.
// Must never: put a key into a message.
#pragma once

#include <string>
#include <vector>

#include "api/rest/service/accounts.h"
#include "tools/serve/settings/settings.h"
#include "varve/result.h"

namespace varve::serve {

struct ReadAccounts {
  Accounts accounts;
  /// A warning for each key that other users of this machine can see.
  std::vector<std::string> warnings{};
};

/// Reads all accounts. Errors: kInvalidArgument: a definition, a file, a variable or a key is not valid. The message
/// begins with the place of the definition in the configuration file. kIoError: no random bytes.
Result<ReadAccounts> read_accounts(const Settings& settings);

}  // namespace varve::serve
