// Owns: the end of an entity in a store on disk, which no verb of the program shows.
// Must never: be used while a program has the store open.
#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "api/doors/copied_ends.h"
#include "varve/store.h"

namespace varve::test {

/// Returns zero if the entity has no end.
inline std::uint64_t end_in(const std::string& store, const std::string& table, const std::string& partition_key,
                            const std::string& row_key) {
  StoreOptions options;
  options.read_only = true;
  const Result<std::unique_ptr<Store>> opened = Store::open(store, options);
  if (!opened.ok()) {
    ADD_FAILURE() << opened.status().to_string();
    return 0;
  }
  const Result<Snapshot> snapshot = (*opened)->snapshot();
  const Result<CopiedEnds> ends = CopiedEnds::of(*snapshot, "devstoreaccount1", table);
  if (!ends.ok()) {
    ADD_FAILURE() << ends.status().to_string();
    return 0;
  }
  return *ends->end_of(Entity(partition_key, row_key));
}

}  // namespace varve::test
