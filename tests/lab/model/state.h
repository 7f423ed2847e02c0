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
  kNoEnds,             // no entity ends
  kSharedValues,       // unique indexes refuse nothing
};

using Units = std::pair<std::u16string, std::u16string>;

Units units_of(const Entity& entity);

/// The end of an entity that does not end.
inline constexpr std::uint64_t kNoEnd = UINT64_MAX;

struct ModelRow {
  Units units;  // PartitionKey and RowKey, as they sort
  Entity entity;
  std::uint64_t end = kNoEnd;  // the entity is absent at this time and later
};
using RowPointer = std::shared_ptr<const ModelRow>;

struct IndexRow {
  IndexDefinition definition;
  std::optional<IndexState> state{};  // nothing: an end of its build is in doubt
  /// Entities with later versions have entries, whatever the state of a maintained index.
  std::uint64_t declared_by = UINT64_MAX;
};

struct TableState {
  std::string spelling;
  std::vector<RowPointer> rows;  // by units
  std::vector<AccessPolicy> policies;
  std::map<std::string, IndexRow> indexes;  // by name
  std::optional<TableExpiry> expiry;

  /// Returns an entity, also one that has ended.
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

/// Returns the table without the entities that have ended at this time. `table` may be null.
TablePointer living(const TablePointer& table, std::uint64_t time);
StatePointer living(const State& state, std::uint64_t time);
/// Returns the first end of an entity above this time. Returns kNoEnd if there is none.
std::uint64_t next_end(const State& state, std::uint64_t time);

/// The change of a commit to the state, which needs the commit's ETag.
using Change = std::function<void(State&, ETag)>;

/// A write gives an entity a value of a unique index which another entity has.
struct TakenByModel {
  std::string index;
  std::optional<std::uint32_t> operation{};
  std::vector<Units> holders{};
  /// False: no holder must have an entry, because the index is not ready.
  bool is_certain = true;
};

/// The service's error string, or the code if there is no string. If the string is empty and the code kOk, the write
/// succeeds.
struct Expected {
  Code code = Code::kOk;
  std::string_view service_error{};
  std::optional<std::uint32_t> operation{};
  /// Refusals by unique indexes. If one of them is certain, the write does not succeed.
  std::vector<TakenByModel> taken{};
  /// Whether a unique index whose state is in doubt may refuse a value as too long.
  bool may_be_too_long = false;
  bool fine() const { return code == Code::kOk; }
};

/// Returns the error of a write that does not depend on the table's content.
Expected judge_alone(const WriteOperation& operation, KeyProblem problem);
/// Returns the error of a write in this table, of which no entity has ended.
Expected judge_in(const TableState& table, const WriteOperation& operation, Planted planted);
/// Returns the end of an entity that is written with this Timestamp.
std::uint64_t end_of(const TableState& table, const Entity& entity, std::uint64_t version, Planted planted);
/// Returns the entity after a valid write. `stored` is the entity before, or null.
Entity result_of(const Entity* stored, const WriteOperation& operation, Planted planted);
/// Applies a valid write. Entities that have ended at its version are absent.
void apply(TableState& table, const WriteOperation& operation, ETag etag, Planted planted);

/// Returns the rows in the range that match the predicate, in order.
std::vector<RowPointer> rows_in(const TableState& table, const ScanRange& range,
                                const std::function<bool(const Entity&)>& takes);

/// Compares keys, ETag and properties in any order. Doubles are compared by their bits.
bool same_entity(const Entity& a, const Entity& b);
/// Returns the entity as text for findings.
std::string entity_text(const Entity& entity);

}  // namespace varve::lab
