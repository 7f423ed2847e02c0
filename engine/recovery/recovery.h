// Owns: the first half of opening a store: what is there, read and verified, in memory.
// Must never: write anything. `verify` and read-only opens run it too.
//
// R1  what is recovered is a prefix of the commit order, whole commits only, with every commit acknowledged as durable.
// R2  damage is told from a torn tail by what later bytes prove; when in doubt between the two after a clean close, or
//     below a mark, it is damage.
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
#include "engine/settings/statistics.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// The last segment with a commit, if the manifest does not know it as closed: its valid part, with what the log buffer
/// adds to it. It may have been sealed; but if it was cut, nothing says that its size is durable.
struct SegmentInDoubt {
  std::uint64_t number = 0;
  std::uint64_t seed = 0;
  /// The segment's bytes from its start to behind its last valid record at least, the log buffer's records in place.
  FileImage image;
  /// Offsets of the valid records, rising; a footer is among them.
  std::vector<std::uint64_t> records;
  CommitVersion last_version = 0;
};

struct Recovered {
  RootFile root;
  /// As the manifest has it, but without loads that no commit adopted.
  FileSet files;
  bool clean = false;
  std::unique_ptr<Memtable> memtable;
  RetiredIds retired;
  /// Loaded tables that commits of the log adopted; the set calls them loading still.
  std::vector<format::TableId> adopted;
  /// Highest version found, and highest ceiling found; after a clean close the ceiling is the last version.
  CommitVersion last_version = 0;
  CommitVersion version_ceiling = 0;
  std::optional<format::CommitTag> last_tag;
  /// Segments that the manifest does not know as closed yet, found sealed and cut, with a record in a later one.
  std::vector<format::ClosedSegment> found_closed;
  std::optional<SegmentInDoubt> in_doubt;
  /// Segments that were announced and hold no commit.
  std::vector<std::uint64_t> unused_segments;
  RecoveryFigures figures;
};

enum class StoreFound : std::uint8_t {
  kNothing,     // an empty directory, or one where only a first open was cut short before it made anything durable
  kUnfinished,  // CURRENT says that the making of the store was not finished: nothing in it was ever acknowledged
  kStore,
};

/// Looks, and reads nothing but CURRENT and names. Errors: kInvalidArgument (the directory holds other things and no
/// CURRENT); kCorruption (a store's files without CURRENT, a CURRENT that does not verify, or one that says "being
/// made" beside files that only a finished store has); kUnsupported.
Result<StoreFound> find_store(io::Directory& directory);

/// Reads the whole log into a memtable without a bound. Errors: kCorruption, kUnsupported (both name file and offset),
/// kNotFound (no store, or one whose making was not finished), kIoError, kOutOfMemory. `for_writing` decides which
/// unknown features are refused.
Result<Recovered> read_store(const io::Env& env, io::Directory& directory, bool for_writing);

}  // namespace varve::engine
