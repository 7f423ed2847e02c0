// Owns: the environment of a security test: the account of the specification's vectors, a time, and the texts of
// refusals.
// Must never: check results. The tests check them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tests/api/store_bench.h"
#include "varve/security/account_keys.h"
#include "varve/security/account_sas.h"
#include "varve/security/request.h"
#include "varve/security/session.h"
#include "varve/security/shared_key.h"
#include "varve/security/table_sas.h"

namespace varve::test {

/// The public key of the emulator.
inline constexpr std::string_view kKeyText =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
inline constexpr std::string_view kSecondKeyText = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
inline constexpr std::string_view kOtherKeyText = "/v79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=";
inline constexpr std::string_view kDateText = "Tue, 03 Mar 2026 10:20:30 GMT";

inline DateTime at(std::string_view text) {
  return *DateTime::parse(text);
}
inline const DateTime kPresent = at("2026-03-03T10:20:30Z");
inline constexpr std::uint64_t kSecondTicks = 10'000'000;

inline security::AccountCredentials credentials(std::string_view primary = kKeyText,
                                                std::string_view secondary = kSecondKeyText) {
  return {std::string(kAccount), *security::AccountKeys::create(primary, secondary)};
}

inline constexpr Said kAuthenticationFailed = {Code::kForbidden, "AuthenticationFailed"};
inline constexpr Said kProtocolMismatch = {Code::kForbidden, "AuthorizationProtocolMismatch"};
inline constexpr Said kResourceTypeMismatch = {Code::kForbidden, "AuthorizationResourceTypeMismatch"};
inline constexpr Said kServiceMismatch = {Code::kForbidden, "AuthorizationServiceMismatch"};
inline constexpr Said kSourceIpMismatch = {Code::kForbidden, "AuthorizationSourceIPMismatch"};
inline constexpr Said kNoAuthenticationInformation = {Code::kForbidden, "NoAuthenticationInformation"};
inline constexpr Said kInvalidAuthenticationInfo = {Code::kInvalidArgument, "InvalidAuthenticationInfo"};

/// A store with two tables, an account with two keys, and a clock that the test sets.
class SecurityBench {
 public:
  SecurityBench() {
    for (const std::string name : {"Orders", "Other"}) {
      Table table = bench.table(name);
      for (const std::string partition : {"eu", "eu west", "us"}) {
        for (const std::string row : {"0001", "0500", "0999", "1000"}) {
          EXPECT_TRUE(table.insert(with_value(partition, row, "x")).ok());
        }
      }
    }
  }

  Store& store() { return *bench.store; }
  Table whole(std::string_view name = "Orders") { return *store().open_table(kAccount, name); }
  security::Clock clock() {
    return [time = time] { return *time; };
  }
  Result<security::Session> open(std::string_view query) {
    return security::Session::open(store(), account, query, arrival, clock());
  }
  Result<security::Session> open(const security::Request& request) {
    return security::Session::open(store(), account, request, arrival, clock());
  }
  std::string token(const security::TableSasTerms& terms) {
    const Result<security::TableSas> sas = security::sign_table_sas(terms, account);
    EXPECT_TRUE(sas.ok()) << sas.status().to_string();
    return sas.ok() ? security::to_query(*sas) : std::string();
  }
  std::string token(const security::AccountSasTerms& terms) {
    const Result<security::AccountSas> sas = security::sign_account_sas(terms, account);
    EXPECT_TRUE(sas.ok()) << sas.status().to_string();
    return sas.ok() ? security::to_query(*sas) : std::string();
  }
  /// Returns terms for Orders with all permissions, for a day.
  static security::TableSasTerms table_terms(std::string_view permissions = "raud") {
    security::TableSasTerms terms;
    terms.table = "Orders";
    terms.permissions = *Permissions::parse(permissions);
    terms.start = at("2026-03-03T00:00:00Z");
    terms.expiry = at("2026-03-04T00:00:00Z");
    return terms;
  }
  static security::AccountSasTerms account_terms(std::string_view resource_types, std::string_view permissions) {
    security::AccountSasTerms terms;
    terms.resource_types = resource_types;
    terms.permissions = permissions;
    terms.start = at("2026-03-03T00:00:00Z");
    terms.expiry = at("2026-03-04T00:00:00Z");
    return terms;
  }

  StoreBench bench;
  security::AccountCredentials account = credentials();
  security::Arrival arrival{"203.0.113.7", true};
  std::shared_ptr<DateTime> time = std::make_shared<DateTime>(kPresent);
};

}  // namespace varve::test
