// Owns: what the handles of stores, tables and their parts name.
// Must never: own an entity; page.h does.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c/handles.h"
#include "varve/c.h"
#include "varve/loader.h"
#include "varve/store.h"

namespace varve::c {

/// varve_resources.
struct ResourcesObject : Object {
  static constexpr Kind kKind = Kind::kResources;
  static constexpr bool kOneThread = false;
  explicit ResourcesObject(std::shared_ptr<Resources> made) noexcept : Object(kKind), resources(std::move(made)) {}
  const std::shared_ptr<Resources> resources;
};

/// varve_store.
struct StoreObject : Object {
  static constexpr Kind kKind = Kind::kStore;
  static constexpr bool kOneThread = false;
  StoreObject(std::unique_ptr<Store> opened, std::shared_ptr<Gate> gate) noexcept
      : Object(kKind, std::move(gate)), store(std::move(opened)) {}
  const std::unique_ptr<Store> store;
};

/// What a store runs on. Null: this machine.
struct StoreGround {
  const io::Env* env = nullptr;
  /// Owns `env`, and ends after the last handle made from the store.
  std::shared_ptr<const void> owner{};
};

/// Opens a store and gives its handle; `store` is not null. Errors: those of varve_store_open().
Status open_store(std::string_view path, const varve_store_options* options, StoreGround ground, varve_store** store);

/// varve_table.
struct TableObject : Object {
  static constexpr Kind kKind = Kind::kTable;
  static constexpr bool kOneThread = false;
  TableObject(Table opened, const StoreLimits& store_limits, std::shared_ptr<Gate> gate) noexcept
      : Object(kKind, std::move(gate)), table(std::move(opened)), limits(store_limits) {}
  Table table;
  const StoreLimits limits;
};

/// varve_snapshot. Its calls do not use the store.
struct SnapshotObject : Object {
  static constexpr Kind kKind = Kind::kSnapshot;
  static constexpr bool kOneThread = false;
  SnapshotObject(Snapshot taken, std::shared_ptr<Gate> store) noexcept
      : Object(kKind), of_store(std::move(store)), snapshot(std::move(taken)) {}
  const std::shared_ptr<Gate> of_store;  // ends after the snapshot
  const Snapshot snapshot;
};

/// varve_transaction.
struct TransactionObject : Object {
  static constexpr Kind kKind = Kind::kTransaction;
  static constexpr bool kOneThread = true;
  TransactionObject(StoreTransaction begun, std::shared_ptr<Gate> gate) noexcept
      : Object(kKind, std::move(gate)), transaction(std::move(begun)) {}
  StoreTransaction transaction;
};

/// varve_cursor.
struct CursorObject : Object {
  static constexpr Kind kKind = Kind::kCursor;
  static constexpr bool kOneThread = true;
  CursorObject(Table scanned, Scan request, std::shared_ptr<Gate> gate) noexcept
      : Object(kKind, std::move(gate)), table(std::move(scanned)), scan(std::move(request)) {}
  const Table table;
  Scan scan;
  bool at_end = false;
};

/// varve_loader.
struct LoaderObject : Object {
  static constexpr Kind kKind = Kind::kLoader;
  static constexpr bool kOneThread = true;
  LoaderObject(Loader begun, std::shared_ptr<Gate> gate) noexcept
      : Object(kKind, std::move(gate)), loader(std::move(begun)) {}
  Loader loader;
};

}  // namespace varve::c
