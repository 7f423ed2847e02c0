// Owns: the signatures that were verified lately, by the queries they stood in: clients show the same one again and
// again.
// Must never: outlive the keys they were verified with, or remember anything that time, place or a policy decides.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "api/rest/service/accounts.h"
#include "varve/result.h"
#include "varve/security/session.h"

namespace varve::serve {

/// Any thread.
class KnownSignatures {
 public:
  /// The accounts outlive it, and do not change.
  explicit KnownSignatures(const Accounts& accounts) noexcept : accounts_(accounts) {}

  /// As security::VerifiedSignature::verify() with the keys of the account.
  Result<security::VerifiedSignature> verify(std::string_view account, std::string_view query);

 private:
  struct Known {
    std::size_t hash;
    std::string account;
    std::string query;
    security::VerifiedSignature signature;
  };
  using KnownPtr = std::shared_ptr<const Known>;
  /// Two signatures with the same place drive each other out.
  static constexpr std::size_t kPlaces = 256;
  /// What is longer is a query with more than a signature in it, which does not come again.
  static constexpr std::size_t kQueryBytesMax = 512;

  KnownPtr at(std::size_t hash) const;

  const Accounts& accounts_;
  mutable std::mutex mutex_;
  std::array<KnownPtr, kPlaces> places_;
};

}  // namespace varve::serve
