// Owns: the JSON that clients get: entities, pages of them, and tables, at each level of metadata.
// Must never: decide what is returned; a projection and a level are given.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest/encoding/json_text.h"
#include "api/rest/protocol/payload_level.h"
#include "varve/entity_view.h"
#include "varve/types.h"

namespace varve::serve {

/// What an answer says of the place of what it holds. Views: what they view outlives it.
struct WritingPlace {
  PayloadLevel level = PayloadLevel::kMinimal;
  /// As Address::root.
  std::string_view root;
  std::string_view account;
  /// As the request spells it (H-23).
  std::string_view table{};
};

/// One entity. `select` as ReadOptions has it: a name that the entity lacks is null, and what is not named is left out,
/// keys and Timestamp too. Source: H-41 to H-45, Q-51 to Q-53, D-35, D-36.
std::string write_entity(const WritingPlace& place, const Entity& entity, const std::vector<std::string>& select = {});
/// A page of a query, written while its entities are read.
class PageWriter {
 public:
  /// What the place views outlives it.
  explicit PageWriter(const WritingPlace& place, std::vector<std::string> select = {});
  void add(const EntityView& entity);
  /// Bytes of the text so far.
  std::size_t size() const noexcept;
  /// Once.
  std::string take();

 private:
  const WritingPlace place_;
  const std::vector<std::string> select_;
  JsonText json_;
};
std::string write_entities(const WritingPlace& place, std::span<const Entity> entities);

/// One table by its name, and a page of them.
std::string write_table(const WritingPlace& place, std::string_view name);
std::string write_tables(const WritingPlace& place, std::span<const std::string> names);

/// The shortest text that reads back the same, and that is never taken for an integer. Source: D-36.
std::string double_text(double value);

}  // namespace varve::serve
