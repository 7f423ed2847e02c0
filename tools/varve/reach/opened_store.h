// Owns: an open store together with what must last as long: the checkpoint of a server, or the connection to a cluster.
// Must never: let the checkpoint go before the store is closed.
#pragma once

#include <memory>
#include <utility>

#include "varve/store.h"

namespace varve::tool {

class OpenedStore {
 public:
  /// `held` lasts as long as the store. It may be null.
  explicit OpenedStore(std::unique_ptr<Store> store, std::shared_ptr<void> held = nullptr) noexcept
      : held_(std::move(held)), store_(std::move(store)) {}

  Store* operator->() const noexcept { return store_.get(); }
  Store& operator*() const noexcept { return *store_; }

 private:
  std::shared_ptr<void> held_;  // destroyed after the store
  std::unique_ptr<Store> store_;
};

}  // namespace varve::tool
