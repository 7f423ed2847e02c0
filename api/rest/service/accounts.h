// Owns: which accounts the server knows, and their keys.
// Must never: tell an unknown account from a wrong key.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/security/account_keys.h"

namespace varve::serve {

/// The account and key that every client library knows as its "development storage". Public.
inline constexpr std::string_view kDevelopmentAccount = "devstoreaccount1";
inline constexpr std::string_view kDevelopmentKey =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

class Accounts {
 public:
  /// Draws the key that stands in for those of unknown accounts. Errors: kIoError (no random bytes), kOutOfMemory.
  static Result<Accounts> create();

  /// `NAME:KEY` or `NAME:KEY:KEY2`, keys in base64. The same name again replaces.
  /// Errors: kInvalidArgument (InvalidResourceName; InvalidInput).
  Status add(std::string_view definition);

  bool empty() const noexcept { return accounts_.empty(); }
  bool knows(std::string_view name) const { return accounts_.find(name) != accounts_.end(); }
  /// Of an unknown account, credentials that nothing can have been signed with.
  security::AccountCredentials find(std::string_view name) const;
  const std::map<std::string, security::AccountKeys, std::less<>>& all() const noexcept { return accounts_; }

 private:
  explicit Accounts(security::AccountKeys nobodys) noexcept : nobodys_(std::move(nobodys)) {}
  std::map<std::string, security::AccountKeys, std::less<>> accounts_;
  security::AccountKeys nobodys_;
};

}  // namespace varve::serve
