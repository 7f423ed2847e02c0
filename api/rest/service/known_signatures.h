// Owns: a cache of recently verified signatures, keyed by their queries and places, because clients reuse a signature
// often.
// Must never: outlive the keys that verified the signatures, or store a decision that depends on time, place or a
// policy.
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

/// Can be used by any thread.
class KnownSignatures {
 public:
  /// The accounts must outlive this object, and must not change.
  explicit KnownSignatures(const Accounts& accounts) noexcept : accounts_(accounts) {}

  /// Calls security::VerifiedSignature::verify() with the keys of the account, unless the cache contains the result.
  Result<security::VerifiedSignature> verify(std::string_view account, std::string_view query,
                                             const security::SignedPlace& place = {});

 private:
  struct Known {
    std::size_t hash;
    std::string account;
    std::string query;
    security::SignedPlace place;
    security::VerifiedSignature signature;
  };
  using KnownPtr = std::shared_ptr<const Known>;
  /// The number of cache slots. Two signatures with the same slot evict each other.
  static constexpr std::size_t kPlaces = 256;
  /// The most bytes of a cached query. A longer query contains more than a signature, and is unlikely to be repeated.
  static constexpr std::size_t kQueryBytesMax = 512;

  KnownPtr at(std::size_t hash) const;

  const Accounts& accounts_;
  mutable std::mutex mutex_;
  std::array<KnownPtr, kPlaces> places_;
};

}  // namespace varve::serve
