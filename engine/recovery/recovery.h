// Owns: the first half of opening a store: reading and verifying its files into memory.
// Must never: write anything. `verify` and read-only opens run it too.
//
// R1  the recovered state is a prefix of the commit order: whole commits only, and each commit acknowledged as durable.
// R2  later bytes distinguish damage from a torn tail. After a clean close or below a durable mark, doubt means damage.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/file_image.h"
#include "engine/manifest/file_set.h"
#include "engine/manifest/root_file.h"
#include "engine/memory/memtable.h"
#include "engine/memory/retired_ids.h"
#include "io/env.h"
#include "varve/result.h"
#include "varve/statistics.h"

namespace varve::engine {

/// The last segment with a commit, if the manifest does not record it as closed: its valid part, with the records from
/// the log buffer. It may be sealed, but even if it was cut, its size may not be durable.
struct SegmentInDoubt {
  std::uint64_t number = 0;
  std::uint64_t seed = 0;
  /// The segment's bytes, at least from its start to the end of its last valid record, with the log buffer's records in
  /// place.
  FileImage image;
  /// Offsets of the valid records in bytes, rising, including a footer.
  std::vector<std::uint64_t> records;
  CommitVersion last_version = 0;
};

struct Recovered {
  RootFile root;
  /// The manifest's file set, without loads that no commit adopted.
  FileSet files;
  bool clean = false;
  std::unique_ptr<Memtable> memtable;
  RetiredIds retired;
  /// Loaded tables that commits of the log adopted. The set still calls them loading.
  std::vector<format::TableId> adopted;
  /// The greatest version and the greatest ceiling found. After a clean close, the ceiling is the last version.
  CommitVersion last_version = 0;
  CommitVersion version_ceiling = 0;
  std::optional<format::CommitTag> last_tag;
  /// Segments that the manifest does not yet record as closed. Each was found sealed and cut, and a later segment has a
  /// record.
  std::vector<format::ClosedSegment> found_closed;
  std::optional<SegmentInDoubt> in_doubt;
  /// Announced segments without a commit.
  std::vector<std::uint64_t> unused_segments;
  RecoveryStatistics figures;
};

enum class StoreFound : std::uint8_t {
  kNothing,     // an empty directory, or one in which a first open ended before it made anything durable
  kUnfinished,  // CURRENT says that the creation is unfinished: no commit was ever acknowledged
  kStore,
};

/// Reads only CURRENT and the names. Errors: kInvalidArgument (other files and no CURRENT); kCorruption (a store's
/// files without CURRENT, a CURRENT that does not verify, or a CURRENT that says "being created" next to files of a
/// finished store); kUnsupported.
Result<StoreFound> find_store(io::Directory& directory);

/// Reads the whole log into a memtable without a size limit. `for_writing` determines which unknown features are
/// refused. Errors: kCorruption, kUnsupported (both name file and offset), kNotFound (no store, or an unfinished
/// creation), kIoError, kOutOfMemory.
Result<Recovered> read_store(const io::Env& env, io::Directory& directory, bool for_writing);

}  // namespace varve::engine
