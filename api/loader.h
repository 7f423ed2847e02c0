// SPDX-License-Identifier: Apache-2.0
// Owns: the door for filling a table beside the log.
// Must never: show a reader a part of what is loaded.
//
//   Result<Loader> loader = store->load_table("myaccount", "Orders");
//   if (!loader.ok()) return loader.status();
//   for (const Entity& entity : entities) {
//     if (Status added = loader->add(entity); !added.ok()) return added;
//   }
//   Result<ETag> etag = loader->finish();
#pragma once

#include <cstdint>
#include <memory>

#include "result.h"
#include "status.h"
#include "types.h"

#pragma GCC visibility push(default)

namespace varve {

struct LoadProgress {
  std::uint64_t entities = 0;
  /// Of keys and properties, encoded, before compression.
  std::uint64_t bytes = 0;
  /// Of the entities, those that came out of order and had to be sorted.
  std::uint64_t sorted_entities = 0;
  /// Bytes of files, those of sorting included.
  std::uint64_t written_bytes = 0;
};

/// Fills a new table, or one that is there and empty, with entities in any number and any order. They are written to
/// table files directly, not to the log and not to memory, so that each is written once: several times as fast as
/// inserts. Those that come in the order of keys cost least; others are sorted, in 64 MiB of memory and in files of the
/// store's directory, which then holds everything twice for a while. Three threads of the load's own write the files.
///
/// All or nothing: nobody sees an entity before finish() has succeeded, and everybody does from then on; after finish()
/// everything is on stable storage. Without it, by whatever end, the store is as if the load had not been begun. All
/// entities have one Timestamp and one ETag, those of the moment when the load began.
///
/// Beside it the store is used as ever, other loads included; only the table itself must be left alone until finish(),
/// which refuses otherwise. A write to the replaced empty table that comes in the moment of finish() is answered
/// TableNotFound; made again, it goes to the loaded one.
///
/// Threads   one at a time; different loaders are independent.
/// Lifetime  it may outlive the Store object; its verbs answer kClosed then, and nothing of it is left.
/// Errors    that any verb may give besides its own, all of which end the load as abort() does: kNoSpace, kClosed,
///           kIoError, kCorruption, kTooManyFiles, kOutOfMemory. The same error is answered from then on.
class Loader {
 public:
  Loader(Loader&& other) noexcept;
  Loader& operator=(Loader&& other) noexcept;
  /// abort().
  ~Loader();

  /// Adds an entity. Its etag() is ignored.
  /// Errors   that refuse this entity alone, and the load goes on: those of Table::insert for what an entity breaks
  ///          (kTooLarge, kInvalidArgument)
  ///          kExists (EntityAlreadyExists)    the key was added before; the message names it. It may be found only by
  ///          finish(). It ends the load.
  Status add(const Entity& entity);

  /// Makes what was added the content of the table, and the table, if it was not there. The ETag is that of every
  /// entity. Whatever comes of it, the load has ended.
  /// Errors   kExists (TableAlreadyExists)        a table of the name was made, written or loaded meanwhile
  ///          kNotFound (TableNotFound)           the empty table was dropped meanwhile
  ///          kNotFound (ResourceNotFound)        so was the account
  ///          kExists (EntityAlreadyExists)       a key was added twice; the message names it
  ///          kUnknown, kPoisoned                 as the verbs of Table have them; after kUnknown the table is there
  ///                                              whole or not at all
  ///          kBusy                               compaction leaves no place for the files now; nothing changed
  Result<ETag> finish();

  /// Ends the load and removes what it wrote.
  void abort() noexcept;

  LoadProgress progress() const noexcept;

 private:
  friend class Store;
  struct State;
  explicit Loader(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace varve

#pragma GCC visibility pop
