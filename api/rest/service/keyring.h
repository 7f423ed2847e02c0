// Owns: the accounts with which the service answers now, and the signatures that their keys have verified.
// Must never: let a signature that an old key verified be valid for a new keyring.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "api/rest/service/accounts.h"
#include "api/rest/service/known_signatures.h"

namespace varve::serve {

/// The accounts, which never change, and their cache. Can be used by any thread.
class Keyring {
 public:
  explicit Keyring(Accounts known) noexcept : accounts(std::move(known)) {}
  Keyring(const Keyring&) = delete;
  Keyring& operator=(const Keyring&) = delete;

  const Accounts accounts;
  KnownSignatures signatures{accounts};
};

/// The present keyring. Can be used by any thread.
class KeyringPlace {
 public:
  explicit KeyringPlace(std::shared_ptr<Keyring> keyring) noexcept : keyring_(std::move(keyring)) {}

  /// A request takes the keyring once, at its start, and keeps it to its end.
  std::shared_ptr<Keyring> present() const noexcept {
    const std::lock_guard lock(mutex_);
    return keyring_;
  }
  /// Requests that begin later get the new keyring. Allocates nothing.
  void replace(std::shared_ptr<Keyring> keyring) noexcept {
    const std::lock_guard lock(mutex_);
    keyring_.swap(keyring);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Keyring> keyring_;
};

}  // namespace varve::serve
