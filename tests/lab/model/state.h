// Owns: the model: the content of a store at one commit version, and the rules of the service for a write.
// Must never: share code with the store except the value types of its interface. It is slow and simple on purpose.
//
// States share their common parts, so that one can be kept for each version.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/lab/model/values.h"
#include "varve/access_policy.h"
#include "varve/query.h"
#include "varve/transaction.h"
#include "varve/types.h"

namespace varve::lab {

/// A deliberate error of the model, to show that a run finds it.
enum class Planted : std::uint8_t {
  kNone,
  kMergeReplaces,      // a merge forgets the other properties
  kBufferedIsDurable,  // buffered writes are expected to survive a power cut
  kDropKeepsEntities,  // a new table contains the entities of the dropped one
};

using Units = std::pair<std::u16string, std::u16string>;

struct ModelRow {
  Units units;  // PartitionKey and RowKey, as they sort
  Entity entity;
};
using RowPointer = std::shared_ptr<const ModelRow>;

struct IndexRow {
  IndexDefinition definition;
  std::optional<IndexState> state{};  // nothing: an end of its build is in doubt
};

struct TableState {
  std::string spelling;
  std::vector<RowPointer> rows;  // by units
  std::vector<AccessPolicy> policies;
  std::map<std::string, IndexRow> indexes;  // by name
  std::optional<TableExpiry> expiry;

  const Entity* find(const std::string& partition, const std::string& row) const;
};
using TablePointer = std::shared_ptr<const TableState>;

struct State {
  /// The tables of each account, by their names in lower case.
  std::map<std::string, std::map<std::string, TablePointer>> accounts;
  std::optional<std::string> tag;

  /// Returns null if there is no such table.
  TablePointer table(const TableName& name) const;
  std::size_t entities() const;
};
using StatePointer = std::shared_ptr<const State>;

/// The change of a commit to the state, which needs the commit's ETag.
using Change = std::function<void(State&, ETag)>;

/// The service's error string, or the code if there is no string. If the string is empty and the code kOk, the write
/// succeeds.
struct Expected {
  Code code = Code::kOk;
  std::string_view service_error{};
  std::optional<std::uint32_t> operation{};
  bool fine() const { return code == Code::kOk; }
};

/// Returns the error of a write that does not depend on the table's content.
Expected judge_alone(const WriteOperation& operation, KeyProblem problem);
/// Returns the error of a write in this table.
Expected judge_in(const TableState& table, const WriteOperation& operation, Planted planted);
/// Returns whether an entity that is written now has ended at once, so that it is absent.
bool has_ended(const TableState& table, const Entity& entity);
/// Applies a valid write.
void apply(TableState& table, const WriteOperation& operation, ETag etag, Planted planted);

/// Returns the rows in the range that match the predicate, in order.
std::vector<RowPointer> rows_in(const TableState& table, const ScanRange& range,
                                const std::function<bool(const Entity&)>& takes);

/// Compares keys, ETag and properties in any order. Doubles are compared by their bits.
bool same_entity(const Entity& a, const Entity& b);
/// Returns the entity as text for findings.
std::string entity_text(const Entity& entity);

}  // namespace varve::lab
