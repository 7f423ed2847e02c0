// Owns: the commits of a damaged log that can still be read.
// Must never: take half of a commit, or one behind a record that was lost in the same segment.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/memory/memtable.h"
#include "engine/memory/retired_ids.h"
#include "engine/repair/survey.h"
#include "io/env.h"

namespace varve::engine {

struct SalvagedLog {
  /// One a segment: the same commit may stand in two where it is not known which of them is the store's.
  std::vector<std::unique_ptr<Memtable>> memtables;
  RetiredIds retired;
  std::vector<format::TableId> adopted;
  /// The highest ceiling and version found.
  CommitVersion ceiling = 0;
  std::optional<format::CommitTag> last_tag;
  /// The newest manifest that any record knows, and how much of it was durable.
  ManifestMark mark;
};

/// Reads each segment from its first record to the first that does not verify or follow. What stands behind that one is
/// lost, since nothing tells where the next record begins; commits of later segments are taken, by their versions.
/// Errors: those that end a repair.
Result<SalvagedLog> salvage_log(const io::Env& env, const SurveyedStore& store, Salvage& salvage);

}  // namespace varve::engine
