// Owns: short forms of the verbs on large values for tests.
// Must never: hide an error that a test did not ask for.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"
#include "varve/large_value.h"
#include "varve/store.h"

namespace varve::test {

inline constexpr Said kLargeValueGone{Code::kNotFound, "LargeValueNotFound"};

/// Returns a table whose entities may have large values.
inline Table value_table(Store& store, std::string_view name = "People") {
  Result<Table> made = store.create_table(kAccount, name, {.has_large_values = true});
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  if (!made.ok()) std::abort();
  return *std::move(made);
}

/// A content that no entity names yet, and its writer, which keeps it.
struct Unnamed {
  LargeValueWriter writer;
  LargeValue value;
};
inline Unnamed written(Table& table, std::string_view content) {
  Result<LargeValueWriter> writer = table.write_large_value();
  EXPECT_TRUE(writer.ok()) << writer.status().to_string();
  if (!writer.ok()) std::abort();
  EXPECT_EQ(said(writer->append(content)), kFine);
  Result<LargeValue> value = writer->finish();
  EXPECT_TRUE(value.ok()) << value.status().to_string();
  return {*std::move(writer), value.ok() ? *value : LargeValue()};
}

inline Entity with_photo(std::string_view row_key, const LargeValue& photo) {
  Entity entity{"p", std::string(row_key)};
  entity.set("Photo", photo);
  return entity;
}

/// Inserts so many entities that a drop of the table leaves work for several commits.
inline void insert_many(Table& table) {
  for (int i = 0; i < 300; ++i) {
    const Said done = said(table.insert(Entity("p", "plain " + std::to_string(i))));
    EXPECT_EQ(done.code, Code::kOk);
  }
}

inline std::string all_of(const LargeValueReader& reader) {
  std::string bytes(reader.length(), '?');
  const Result<std::size_t> got = reader.read(0, bytes);
  if (!got.ok()) return got.status().to_string();
  bytes.resize(*got);
  return bytes;
}
/// Returns the content of the property Photo; "-" if the entity or the property does not exist.
inline std::string photo_in(const Table& table, std::string_view row_key, const ReadOptions& options = {}) {
  const Result<LargeValueReader> reader = table.open_large_value("p", row_key, "Photo", options);
  if (reader.ok()) return all_of(*reader);
  EXPECT_EQ(reader.code(), Code::kNotFound) << reader.status().to_string();
  return "-";
}

}  // namespace varve::test
