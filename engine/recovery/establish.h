// Owns: the second half of opening a store for writing: it makes the end that recovery found final, once.
// Must never: change or remove a byte that the old CURRENT still needs before the new CURRENT is durable. After a crash
// at any point here, the store recovers to the same content.
#pragma once

#include <memory>

#include "engine/log/log_files.h"
#include "engine/manifest/manifest.h"
#include "engine/recovery/recovery.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// The files with which the log starts.
struct Established {
  std::unique_ptr<Manifest> manifest;
  /// Announced, prepared (filled), and empty.
  SegmentFile segment;
  BufferFile buffer;
};

/// The greatest file number that creating a store uses. The numbers start at 1.
inline constexpr std::uint64_t kNumberMaxOfMaking = 3;

/// Returns a random identity for a new store.
format::StoreId draw_store_id(io::RandomSource& random);

/// Creates a store in a directory for which find_store() returned kNothing or kUnfinished. CURRENT first says "being
/// created", so that an open can distinguish a crash in between from a store that lost its CURRENT. Leftovers of an
/// unfinished creation are removed. `env` and `directory` must outlive the result. Errors: kExists (a store exists),
/// kNoSpace (also for the ballast), others of io; the store is then unfinished.
Result<Established> make_store(const io::Env& env, io::Directory& directory, const format::StoredOptions& options);

/// Makes the recovered state the store's, in this order:
/// - copies the valid part of a segment in doubt into a new, sealed segment: commits only, without the filling between
///   writes,
/// - creates the first segment and the log buffer,
/// - begins a manifest that records all of it, with the version ceiling,
/// - switches CURRENT,
/// - removes the store's stray files: temporaries, and numbered files that are not in the set. Other files remain.
/// If the device is full, the ballast gives room for the rest; a full device alone does not make it
/// fail. `recovered` keeps its memtable and figures. Its files become those of the new manifest, and no segment remains
/// in doubt. Errors: any of io; the store is then unchanged, or established.
Result<Established> establish(const io::Env& env, io::Directory& directory, Recovered& recovered);

}  // namespace varve::engine
