// Owns: what stands behind a session: what was shown, and what that allows in a store.
// Must never: remember an answer that time or a policy can change.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "varve/security/session.h"
#include "varve/security/table_sas.h"

namespace varve::security {

struct AccountKeyShown {};

struct Session::State {
  Store* store = nullptr;
  std::string account;
  std::variant<AccountKeyShown, AccountSasTerms, TableSasTerms> shown;
  Clock clock;
  /// What is wrong with where the request came from. Told once, when the session is opened.
  Status arrived;

  /// Whether check_still_valid() reads the store, and may wait for that.
  bool names_policy() const noexcept;
  /// Time and policy of what was shown. Errors: kForbidden (AuthenticationFailed), those of Store::access_policies().
  Status check_still_valid() const;
  /// As Session::check(), which has asked check_still_valid().
  Status check_operation(AccountOperation operation) const;
  /// Whether a table of this name may be opened.
  Status check_table(std::string_view name) const;
  /// `whole` for the session's caller, who may open it.
  Result<Table> fenced(Table whole) const;
};

}  // namespace varve::security
