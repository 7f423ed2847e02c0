// Owns: the second half of opening a store for writing: the end that recovery decided on is made final, once.
// Must never: change or remove a byte that the old CURRENT still needs before the new one is durable. A crash anywhere
// in here leaves a store that recovers to the same content.
#pragma once

#include <memory>

#include "engine/log/log_files.h"
#include "engine/manifest/manifest.h"
#include "engine/recovery/recovery.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// What the log starts with.
struct Established {
  std::unique_ptr<Manifest> manifest;
  /// Announced, prepared (filled), empty.
  SegmentFile segment;
  BufferFile buffer;
};

/// The numbers that the making of a store uses are 1 to this.
inline constexpr std::uint64_t kNumberMaxOfMaking = 3;

/// The identity of a store that is made.
format::StoreId draw_store_id(io::RandomSource& random);

/// Makes a store in a directory that find_store() called kNothing or kUnfinished: CURRENT first says "being made", so
/// that a crash in between is told from a store that lost its CURRENT. Leftovers of an unfinished making are removed.
/// `env` and `directory` outlive what is returned. Errors: kExists (there is a store), kNoSpace (the ballast included),
/// others of io; the store is unfinished then.
Result<Established> make_store(const io::Env& env, io::Directory& directory, const format::StoredOptions& options);

/// Copies the valid part of a segment in doubt into a fresh, sealed one (its commits one behind another, without the
/// filling between writes); makes the first segment and the log buffer; begins a manifest that records all of it with
/// the version ceiling; switches CURRENT; then removes stray files of ours (numbered files that the set does not name,
/// temporaries). Other files are left alone. Without room the ballast is given up and the rest tried once more; a full
/// device alone is no reason to fail. `recovered` keeps its memtable and figures; its files become those of the new
/// manifest, and it is in doubt about nothing any more.
/// Errors: any of io; the store is then as it was, or established.
Result<Established> establish(const io::Env& env, io::Directory& directory, Recovered& recovered);

}  // namespace varve::engine
