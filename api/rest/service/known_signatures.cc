#include "api/rest/service/known_signatures.h"

#include <functional>
#include <new>
#include <utility>

namespace varve::serve {
namespace {

std::size_t hash_of(std::string_view account, std::string_view query) noexcept {
  const std::hash<std::string_view> hash;
  return hash(query) * 31 + hash(account);
}

}  // namespace

KnownSignatures::KnownPtr KnownSignatures::at(std::size_t hash) const {
  const std::lock_guard lock(mutex_);
  return places_[hash % kPlaces];
}

/// Verifies a signature. Texts are compared only if their whole hashes are equal. The time of the comparison thus
/// reveals nothing about a signature to a caller that does not have it.
Result<security::VerifiedSignature> KnownSignatures::verify(std::string_view account, std::string_view query,
                                                            const security::SignedPlace& place) {
  const std::size_t hash = hash_of(account, query);
  if (const KnownPtr known = at(hash);
      known && known->hash == hash && known->query == query && known->account == account && known->place == place) {
    return known->signature;
  }
  Result<security::VerifiedSignature> verified =
      security::VerifiedSignature::verify(accounts_.find(account), query, place);
  if (!verified.ok() || query.size() > kQueryBytesMax) return verified;
  KnownPtr known;
  try {
    known = std::make_shared<const Known>(Known{hash, std::string(account), std::string(query), place, *verified});
  } catch (const std::bad_alloc&) {
    return verified;  // The result is not cached.
  }
  const std::lock_guard lock(mutex_);
  places_[hash % kPlaces].swap(known);  // The old entry is freed after the lock is released.
  return verified;
}

}  // namespace varve::serve
