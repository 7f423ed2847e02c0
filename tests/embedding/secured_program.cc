// Owns: a program that signs for some entities and opens a session by it, built and run by the test of the installed
// package.
// Must never: need more than the public headers.
#include <iostream>

#include <varve/security/session.h>
#include <varve/security/table_sas.h>
#include <varve/store.h>

namespace security = varve::security;

int main() {
  auto store = varve::Store::open("./shop", {.create_if_absent = true});
  auto keys = security::AccountKeys::create("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
  if (!store.ok() || !keys.ok()) return 1;
  const security::AccountCredentials account{"myaccount", *keys};
  (void)(*store)->create_account(account.name);
  (void)(*store)->create_table(account.name, "Orders");

  security::TableSasTerms terms;
  terms.table = "Orders";
  terms.permissions = varve::Permissions{varve::Permission::kQuery};
  terms.expiry = *varve::DateTime::parse("2026-03-04T00:00:00Z");
  terms.interval = {varve::KeyBound{"eu", "0001"}, varve::KeyBound{"eu", "0999"}};
  auto token = security::sign_table_sas(terms, account);
  if (!token.ok()) return 1;

  const auto clock = [] { return *varve::DateTime::parse("2026-03-03T10:20:30Z"); };
  auto session = security::Session::open(**store, account, security::to_query(*token), {"203.0.113.7"}, clock);
  if (!session.ok()) return 1;
  auto orders = session->table("Orders");
  if (!orders.ok() || !orders->scan({}).ok()) return 1;
  auto refused = orders->insert(varve::Entity("eu", "0002"));
  std::cout << refused.status().to_string() << "\n";  // Forbidden (AuthorizationPermissionMismatch): ...
  return refused.ok() ? 1 : 0;
}
