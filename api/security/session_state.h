// Owns: the state of a session: the verified signature, and what it permits in a store.
// Must never: cache an answer that time or a policy can change.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "varve/security/blob_sas.h"
#include "varve/security/queue_sas.h"
#include "varve/security/session.h"
#include "varve/security/table_sas.h"

namespace varve::security {

struct AccountKeyShown {};

struct Session::State {
  Store* store = nullptr;
  std::string account;
  std::variant<AccountKeyShown, AccountSasTerms, TableSasTerms, QueueSasTerms, BlobSasTerms> shown;
  Clock clock;
  /// The error of the client's address or protocol, or Ok. Reported once, when the session is opened.
  Status arrived;

  /// Returns true if permitted_now() reads the store, and may wait for that.
  bool names_policy() const noexcept;
  /// Checks the time and the policy of the signature. Returns what a service SAS permits now, and nothing for
  /// other signatures. Errors: kForbidden (AuthenticationFailed), those of Store::access_policies().
  Result<Permissions> permitted_now() const;
  /// As Session::check(), with the result of permitted_now().
  Status check_operation(AccountOperation operation, std::string_view resource, Permissions permitted) const;
  /// Checks that the session may open a table of this name.
  Status check_table(std::string_view name) const;
  /// Returns `whole`, which the caller may open, restricted to what the session permits.
  Result<Table> fenced(Table whole) const;
};

}  // namespace varve::security
