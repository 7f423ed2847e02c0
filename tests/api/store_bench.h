// Owns: the environment of an api test: a store on a machine of its own, and short functions for operations on it.
// Must never: check more than the success of its own preparations. The tests check results.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/engine_bench.h"
#include "varve/store.h"

namespace varve::test {

inline constexpr std::string_view kAccount = "devstoreaccount1";

/// A machine and, once opened, a store on it. Both are destroyed in the right order.
class StoreBench {
 public:
  explicit StoreBench(std::uint64_t seed = 1) : machine(seed), env(machine.env()) {}
  StoreBench(std::uint64_t seed, OneThreadAtATime one) : machine(seed, one), env(machine.env()) {}
  StoreBench(std::uint64_t seed, io::MemoryDisk disk) : machine(seed, std::move(disk)), env(machine.env()) {}

  StoreOptions options() const {
    StoreOptions chosen;
    chosen.create_if_absent = true;
    chosen.env = &env;
    return chosen;
  }

  /// Opens the store after closing the previous one. Fails the test if it cannot.
  Store& open() { return open(options()); }
  Store& open(const StoreOptions& chosen) {
    store.reset();
    Result<std::unique_ptr<Store>> opened = Store::open(kStorePath, chosen);
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    if (!opened.ok()) std::abort();
    store = *std::move(opened);
    return *store;
  }

  /// Opens a store if necessary, and creates the account kAccount and a table.
  Table table(std::string_view name = "Orders") {
    if (!store) open();
    if (Status made = store->create_account(kAccount); !made.ok()) {
      EXPECT_EQ(made.code(), Code::kExists) << made.to_string();
    }
    Result<Table> created = store->create_table(kAccount, name);
    EXPECT_TRUE(created.ok()) << created.status().to_string();
    if (!created.ok()) std::abort();
    return *std::move(created);
  }

  Machine machine;
  io::Env env;
  std::unique_ptr<Store> store;
};

/// The content of a status, so that one comparison checks all of it.
struct Said {
  Code code;
  std::string_view service_error;
  bool operator==(const Said&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Said& said) {
  return out << code_name(said.code) << " (" << said.service_error << ")";
}

inline Said said(const Status& status) {
  return {status.code(), status.service_error()};
}
template <typename T>
Said said(const Result<T>& result) {
  return said(result.status());
}

inline constexpr Said kFine = {Code::kOk, ""};
inline constexpr Said kEntityAlreadyExists = {Code::kExists, "EntityAlreadyExists"};
inline constexpr Said kTableAlreadyExists = {Code::kExists, "TableAlreadyExists"};
inline constexpr Said kResourceAlreadyExists = {Code::kExists, "ResourceAlreadyExists"};
inline constexpr Said kResourceNotFound = {Code::kNotFound, "ResourceNotFound"};
inline constexpr Said kTableNotFound = {Code::kNotFound, "TableNotFound"};
inline constexpr Said kUpdateConditionNotSatisfied = {Code::kPreconditionFailed, "UpdateConditionNotSatisfied"};
inline constexpr Said kInvalidInput = {Code::kInvalidArgument, "InvalidInput"};
inline constexpr Said kOutOfRangeInput = {Code::kInvalidArgument, "OutOfRangeInput"};
inline constexpr Said kInvalidResourceName = {Code::kInvalidArgument, "InvalidResourceName"};
inline constexpr Said kPropertyNameInvalid = {Code::kInvalidArgument, "PropertyNameInvalid"};
inline constexpr Said kDuplicateProperties = {Code::kInvalidArgument, "DuplicatePropertiesSpecified"};
inline constexpr Said kDuplicateKeyProperty = {Code::kInvalidArgument, "DuplicateKeyPropertySpecified"};
inline constexpr Said kDifferentPartitions = {Code::kInvalidArgument, "CommandsInBatchActOnDifferentPartitions"};
inline constexpr Said kInvalidDuplicateRow = {Code::kInvalidArgument, "InvalidDuplicateRow"};
inline constexpr Said kInvalidXmlDocument = {Code::kInvalidArgument, "InvalidXmlDocument"};
inline constexpr Said kInvalidXmlNodeValue = {Code::kInvalidArgument, "InvalidXmlNodeValue"};
inline constexpr Said kAuthorizationFailure = {Code::kForbidden, "AuthorizationFailure"};
inline constexpr Said kPermissionMismatch = {Code::kForbidden, "AuthorizationPermissionMismatch"};
inline constexpr Said kPropertyNameTooLong = {Code::kTooLarge, "PropertyNameTooLong"};
inline constexpr Said kPropertyValueTooLarge = {Code::kTooLarge, "PropertyValueTooLarge"};
inline constexpr Said kTooManyProperties = {Code::kTooLarge, "TooManyProperties"};
inline constexpr Said kEntityTooLarge = {Code::kTooLarge, "EntityTooLarge"};
inline constexpr Said kRequestBodyTooLarge = {Code::kTooLarge, "RequestBodyTooLarge"};

/// Returns the entity, or nothing. Fails the test if the read fails.
inline std::optional<Entity> read(const Table& table, std::string_view partition_key, std::string_view row_key,
                                  const ReadOptions& options = {}) {
  Result<std::optional<Entity>> found = table.get(partition_key, row_key, options);
  EXPECT_TRUE(found.ok()) << found.status().to_string();
  return found.ok() ? *std::move(found) : std::nullopt;
}

/// Returns an entity with one property, V.
inline Entity with_value(std::string_view partition_key, std::string_view row_key, std::string_view value) {
  Entity entity{std::string(partition_key), std::string(row_key)};
  entity.set("V", value);
  return entity;
}

/// Returns the value of V, "-" if there is no entity, "?" if it has no V.
inline std::string value_in(const Table& table, std::string_view partition_key, std::string_view row_key,
                            const ReadOptions& options = {}) {
  const std::optional<Entity> entity = read(table, partition_key, row_key, options);
  if (!entity) return "-";
  const Value* const value = entity->find("V");
  return value != nullptr && value->get_if<std::string>() != nullptr ? *value->get_if<std::string>() : "?";
}

/// Returns "PartitionKey/RowKey" of every entity of a page.
inline std::vector<std::string> keys_of(const Page& page) {
  std::vector<std::string> keys;
  for (const Entity& entity : page.entities) keys.push_back(entity.partition_key() + "/" + entity.row_key());
  return keys;
}

}  // namespace varve::test
