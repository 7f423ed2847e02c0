// Owns: the accounts that the server knows, and their keys.
// Must never: let the check of a signature differ between an unknown account and a wrong key.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/security/account_keys.h"

namespace varve::serve {

/// The public account and key that every client library knows as its "development storage".
inline constexpr std::string_view kDevelopmentAccount = "devstoreaccount1";
inline constexpr std::string_view kDevelopmentKey =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

class Accounts {
 public:
  /// Generates the random key that is checked instead of an unknown account's key. Errors: kIoError (no random bytes),
  /// kOutOfMemory.
  static Result<Accounts> create();

  /// Adds `NAME:KEY` or `NAME:KEY:KEY2`, keys in base64. A second definition of a name replaces the first.
  /// Errors: kInvalidArgument (InvalidResourceName; InvalidInput).
  Status add(std::string_view definition);

  bool empty() const noexcept { return accounts_.empty(); }
  bool knows(std::string_view name) const { return accounts_.find(name) != accounts_.end(); }
  /// Returns the credentials of an account. For an unknown account, no request can have been signed with them.
  security::AccountCredentials find(std::string_view name) const;
  const std::map<std::string, security::AccountKeys, std::less<>>& all() const noexcept { return accounts_; }

 private:
  explicit Accounts(security::AccountKeys nobodys) noexcept : nobodys_(std::move(nobodys)) {}
  std::map<std::string, security::AccountKeys, std::less<>> accounts_;
  security::AccountKeys nobodys_;
};

}  // namespace varve::serve
