// Owns: what the log's records do to a store that is being recovered, in their order.
// Must never: take a record out of order, or half of a commit.
#pragma once

#include <cstdint>

#include "engine/manifest/manifest.h"
#include "engine/memory/insert_behind.h"
#include "engine/recovery/recovery.h"
#include "format/keys/batch.h"
#include "format/log/log_record.h"
#include "varve/result.h"

namespace varve::engine {

enum class AdoptionRule : std::uint8_t {
  kLoadingTables,  // a commit adopts what the manifest calls loading, once; anything else is damage
  kAnyTable,       // the manifest may be lost, and the log alone tells
};

class LogReplay {
 public:
  /// Fills `recovered`, which outlives this and has its memtable. `manifest` is the one in use and its valid length.
  LogReplay(io::Scheduler& scheduler, Recovered& recovered, ManifestMark manifest,
            AdoptionRule adoptions = AdoptionRule::kLoadingTables) noexcept
      : recovered_(recovered), manifest_(manifest), adoptions_(adoptions), inserts_(scheduler, *recovered.memtable) {}

  /// The next record of the log, a verified one. Errors: kCorruption (it contradicts what came before, or itself),
  /// kUnsupported, kOutOfMemory. `from_buffer` says that it was found in the log buffer alone. Its bytes stay until
  /// settle().
  Status take(const format::Record& record, bool from_buffer);
  /// Everything taken is in the memtable when it returns.
  void settle() noexcept { inserts_.wait(); }

  /// What any verified record proves of the manifest, whether or not it is part of the log.
  /// Errors: kCorruption, naming the manifest's file.
  Status check_marks(const format::RecordHeader& header) const;

 private:
  Status take_group(const format::Record& record, bool from_buffer);
  Status take_commit(const format::GroupMember& member);
  Status take_other_operations(format::BatchReader batch, CommitVersion version);
  Status take_adoption(format::TableId table);

  Recovered& recovered_;
  const ManifestMark manifest_;
  const AdoptionRule adoptions_;
  InsertBehind inserts_;  // of what nothing can refuse any more
};

}  // namespace varve::engine
