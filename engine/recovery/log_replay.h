// Owns: applying the log's records, in their order, to a store during recovery.
// Must never: apply a record out of order, or a part of a commit.
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
  kLoadingTables,  // a commit adopts a table that the manifest calls loading, once; anything else is damage
  kAnyTable,       // the manifest may be lost, so only the log decides
};

class LogReplay {
 public:
  /// Fills `recovered`, which must outlive this object and have its memtable. `manifest` is the present manifest with
  /// its valid length.
  LogReplay(io::Scheduler& scheduler, Recovered& recovered, ManifestMark manifest,
            AdoptionRule adoptions = AdoptionRule::kLoadingTables) noexcept
      : recovered_(recovered), manifest_(manifest), adoptions_(adoptions), inserts_(scheduler, *recovered.memtable) {}

  /// Applies the next record of the log, which must be verified. `from_buffer` means that the record was found only in
  /// the log buffer. The record's bytes must stay valid until settle(). Errors: kCorruption (the record contradicts
  /// earlier records or itself), kUnsupported, kOutOfMemory.
  Status take(const format::Record& record, bool from_buffer);
  /// Waits until all applied records are in the memtable.
  void settle() noexcept { inserts_.wait(); }

  /// Checks what a verified record proves about the manifest, even if the record is not part of the log.
  /// Errors: kCorruption, naming the manifest's file.
  Status check_marks(const format::RecordHeader& header) const;

 private:
  Status take_group(const format::Record& record, bool from_buffer);
  Status take_commit(const format::GroupMember& member, bool from_buffer);
  Status take_other_operations(format::BatchReader batch, CommitVersion version);
  Status take_adoption(format::TableId table);

  Recovered& recovered_;
  const ManifestMark manifest_;
  const AdoptionRule adoptions_;
  InsertBehind inserts_;  // only of entries that can no longer be refused
};

}  // namespace varve::engine
