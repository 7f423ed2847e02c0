// SPDX-License-Identifier: Apache-2.0
// Owns: the public interface for loading a table without the log.
// Must never: show a reader a part of a load.
//
//   Result<Loader> loader = store->load_table("myaccount", "Orders");
//   if (!loader.ok()) return loader.status();
//   for (const Entity& entity : entities) {
//     if (Status added = loader->add(entity); !added.ok()) return added;
//   }
//   Result<ETag> etag = loader->finish();
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "result.h"
#include "statistics.h"
#include "status.h"
#include "table_index.h"
#include "types.h"
#include "version.h"

namespace varve {

/// Lets one thread add entities to a load beside other threads. Loader::lane() makes it.
///
/// Threads   One thread at a time may use a lane. Different lanes of a load are independent until Loader::finish() or
///           abort(), which run when no lane is in use.
/// Lifetime  A lane may outlive its loader. Its add() then returns kClosed.
class VARVE_EXPORT LoaderLane {
 public:
  LoaderLane(LoaderLane&& other) noexcept;
  LoaderLane& operator=(LoaderLane&& other) noexcept;
  ~LoaderLane();

  /// Adds an entity, as Loader::add(). Errors: those of Loader::add(); an error that ended the load in another lane.
  Status add(const Entity& entity);

 private:
  friend class Loader;
  struct State;
  explicit LoaderLane(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

/// An index that Loader::finish() has not built.
struct UnbuiltIndex {
  /// Empty if finish() could not read which indexes the table has.
  std::string name{};
  /// Why the build ended: an error of Store::create_index().
  Status reason{};
};

/// Fills a new table, or an existing empty one, with any number of entities in any order.
///
/// The load writes the entities directly to table files, not to the log or to a memtable. So each entity is written
/// once, which is several times as fast as inserts. Entities in key order cost least. The load sorts others in 64 MiB
/// of memory and in files of the store's directory, which for a while holds everything twice. Three threads of the load
/// write the files.
///
/// The load is all or nothing. No reader sees an entity before finish() has succeeded, and every reader sees all
/// entities afterwards. After finish() everything is on stable storage. If the load ends in any other way, the store is
/// as if the load had never begun. All entities have the same Timestamp and ETag, which mark the moment when the load
/// began. If the empty table has an expiry, the entities end by the rule that it has at that moment.
///
/// If the empty table has indexes, finish() builds them at its end, when the entities are visible. If a build fails, or the
/// process ends before it, the load has succeeded all the same. unbuilt_indexes() then has the reason, and so has a line of
/// the log, unless the caller stopped the build. Store::indexes() shows the index as building, and Store::create_index()
/// builds it. A table with a unique index cannot be loaded.
///
/// The store serves all other operations during a load, including other loads. Leave only the loaded table alone until
/// finish(), or finish() fails. If a write to the replaced empty table arrives during finish(), it returns
/// TableNotFound. If the caller repeats the write, it goes to the loaded table.
///
/// Threads   One thread at a time may use a loader. Different loaders are independent. Several threads load one table
///           side by side if each uses a lane() of its own. The lanes of a load cost least if each takes another range
///           of keys, in order. Each lane that sorts uses 64 MiB of memory.
/// Lifetime  A loader may outlive the Store object. Its operations then return kClosed, and nothing of the load is
///           left.
/// Errors    Any operation may return kNoSpace, kClosed, kIoError, kCorruption, kTooManyFiles or kOutOfMemory besides
///           its own errors. Each of them ends the load as abort() does, and later operations return the same error.
class VARVE_EXPORT Loader {
 public:
  /// Takes the load of `other`, which may then only be destroyed or assigned to.
  Loader(Loader&& other) noexcept;
  /// Ends the load of this object as abort() does, and takes the load of `other`. That object may then only be
  /// destroyed or assigned to.
  Loader& operator=(Loader&& other) noexcept;
  /// Calls abort().
  ~Loader();

  /// Adds an entity. Its etag() is ignored.
  /// Errors   Errors that refuse only this entity, so that the load continues: those of Table::insert for a rule that
  ///          the entity breaks (kTooLarge, kInvalidArgument).
  ///          kExists (EntityAlreadyExists)    the key was added before; the message names the key. The load may detect
  ///                                           this only in finish(). The error ends the load.
  Status add(const Entity& entity);
  /// Returns a lane, which another thread may use at the same time as this loader and its other lanes.
  Result<LoaderLane> lane();

  /// Makes the added entities the content of the table. If the table does not exist, finish() creates it. Returns the
  /// ETag of every entity. After the call the load has ended, whether or not the call succeeded.
  /// Errors   kExists (TableAlreadyExists)        a table of this name was created, written or loaded meanwhile
  ///          kNotFound (TableNotFound)           the empty table was dropped meanwhile
  ///          kNotFound (ResourceNotFound)        the account was dropped meanwhile
  ///          kExists (EntityAlreadyExists)       a key was added twice; the message names the key
  ///          kUnknown, kPoisoned, kFenced        as Table returns them; after kUnknown the table has either all
  ///                                              entities or none
  ///          kBusy                               compaction has no room for the files now; nothing changed
  ///          kBusy (TableBeingDeleted)           a table of this name was created and dropped meanwhile, and
  ///                                              StoreOptions::recreation_delay runs
  Result<ETag> finish();
  /// Does finish(). `progress` is called between the parts of each build of an index, under no lock; if it returns false, the
  /// build stops. The load has succeeded all the same.
  Result<ETag> finish(const std::function<bool(const IndexBuildProgress&)>& progress);

  /// Returns the indexes of the table that finish() has not built, though it succeeded. Empty before. The memory is that of
  /// the loader.
  const std::vector<UnbuiltIndex>& unbuilt_indexes() const noexcept;

  /// Ends the load and removes its files.
  void abort() noexcept;

  /// Returns the figures of the load so far. They remain after its end.
  LoadProgress progress() const noexcept;

 private:
  friend class CopiedEnds;
  friend class Store;
  struct State;
  explicit Loader(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace varve
