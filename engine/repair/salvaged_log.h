// Owns: the commits of a damaged log that can still be read.
// Must never: accept a part of a commit, or a commit after a lost record in the same segment.
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
  /// One for each segment. If it is unknown which of two segments is the store's, a commit may be in both.
  std::vector<std::unique_ptr<Memtable>> memtables;
  RetiredIds retired;
  std::vector<format::TableId> adopted;
  /// The greatest ceiling and version found.
  CommitVersion ceiling = 0;
  std::optional<format::CommitTag> last_tag;
  /// The newest manifest that any record names, and its durable length.
  ManifestMark mark;
};

/// Reads each segment from its first record to the first record that does not verify or follow. The rest of that
/// segment is lost, because the start of the next record is unknown. Commits of later segments are accepted, by their
/// versions.
/// Errors: those that end a repair.
Result<SalvagedLog> salvage_log(const io::Env& env, const SurveyedStore& store, Salvage& salvage);

}  // namespace varve::engine
