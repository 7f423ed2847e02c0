// Owns: formatting the JSON that clients receive: entities, pages of entities, and tables, at each level of metadata.
// Must never: choose the returned properties. The caller passes the projection and the level.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest/encoding/json_text.h"
#include "api/rest/protocol/payload_level.h"
#include "varve/entity_view.h"
#include "varve/types.h"

namespace varve::serve {

/// The address parts that an answer mentions. Holds views: the caller keeps the viewed data alive.
struct WritingPlace {
  PayloadLevel level = PayloadLevel::kMinimal;
  /// The same text as Address::root.
  std::string_view root;
  std::string_view account;
  /// The table's name as the request spells it (H-23).
  std::string_view table{};
  /// The port of the blob service on the host of `root`; zero if there is no blob service.
  std::uint16_t blob_port = 0;
};

/// Returns one entity as JSON. `select` is a projection, as in ReadOptions. If the entity lacks a selected property,
/// the property is written as null. Properties that are not selected are left out, including keys and Timestamp.
/// Source: H-41 to H-45, Q-51 to Q-53, D-35, D-36.
std::string write_entity(const WritingPlace& place, const Entity& entity, const std::vector<std::string>& select = {});
/// Writes a page of a query while the scan reads its entities.
class PageWriter {
 public:
  /// The data that `place` views must outlive the writer.
  explicit PageWriter(const WritingPlace& place, std::vector<std::string> select = {});
  void add(const EntityView& entity);
  /// Returns the number of bytes written so far.
  std::size_t size() const noexcept;
  /// Returns the finished text. The caller calls it once.
  std::string take();

 private:
  const WritingPlace place_;
  const std::vector<std::string> select_;
  JsonText json_;
};
std::string write_entities(const WritingPlace& place, std::span<const Entity> entities);

/// Return one table by its name, and a page of tables.
std::string write_table(const WritingPlace& place, std::string_view name);
std::string write_tables(const WritingPlace& place, std::span<const std::string> names);

/// Returns the address of the content of a large value: `$values/` and its number, at the account's root in the blob
/// service, or without a root if there is no blob service. Source: BX-01.
std::string large_value_address(const WritingPlace& place, const LargeValue& value);

/// Returns the shortest text that parses to the same value, and that no reader takes for an integer. Source: D-36.
std::string double_text(double value);

}  // namespace varve::serve
