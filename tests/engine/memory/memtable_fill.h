// Owns: keys and entries of made-up tables for the tests of the memtable and of its readers.
// Must never: use more of the memtable than its public interface.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "engine/memory/memtable.h"
#include "format/keys/batch.h"
#include "format/keys/sort_key.h"

namespace varve::engine {

inline std::string key_of(std::string_view partition, std::string_view row) {
  return *format::encode_sort_key(format::make_table_id(1, 1), partition, row);
}

/// Returns keys in ascending order of their numbers.
inline std::string key_of(std::uint64_t number) {
  std::string digits = std::to_string(number);
  digits.insert(0, 8 - std::min<std::size_t>(8, digits.size()), '0');
  return key_of("partition", digits);
}

struct Write {
  std::string key;
  Kind kind = Kind::kPut;
  std::string value;
};

inline Write put(std::string key, std::string value) {
  return {std::move(key), Kind::kPut, std::move(value)};
}
inline Write remove(std::string key) {
  return {std::move(key), Kind::kDelete, {}};
}

inline std::string batch_of(const std::vector<Write>& writes) {
  format::BatchBuilder builder;
  for (const Write& write : writes) {
    if (write.kind == Kind::kPut) {
      builder.put(write.key, write.value);
    } else {
      builder.remove(write.key);
    }
  }
  return builder.finish();
}

/// Computes the demand of one batch, reserves and inserts it. None of these steps may fail.
inline void insert(Memtable& memtable, std::string_view batch, CommitVersion version) {
  const Result<MemtableDemand> demand = Memtable::demand_of(batch);
  ASSERT_TRUE(demand.ok()) << demand.status().to_string();
  const Result<Memtable::Reservation> reservation = memtable.reserve(*demand);
  ASSERT_TRUE(reservation.ok()) << reservation.status().to_string();
  memtable.insert(*reservation, batch, version);
}

inline void insert(Memtable& memtable, const std::vector<Write>& writes, CommitVersion version) {
  insert(memtable, batch_of(writes), version);
}

}  // namespace varve::engine
