// SPDX-License-Identifier: Apache-2.0
// Owns: the secondary indexes of a table: their definition and their state.
// Must never: make the result of a query depend on which indexes exist.
//
//   store->create_index("myaccount", "Orders", {"ByCustomer", {{"Customer"}, {"Total", true}}});
//   ... a scan with the filter "Customer eq 'x' and Total ge 100.0" reads only the entities of that customer ...
//   store->drop_index("myaccount", "Orders", "ByCustomer");
//
// An index has an entry for each entity that has all its components. Entity and entries are written by one commit, so every
// reader, also a snapshot, sees the entries of the entities that it sees. Each write to a table with indexes reads the
// entity before it. Writes to other tables cost as much as without indexes.
//
// A scan with a filter takes an index by itself. The index must be ready, and the filter must have a condition on each
// component that is a property: an entity without it has no entry, and no condition is true for it. One on the first
// component must bound it: a comparison but `ne`, an `in` list, several `eq` joined by `or`, or startswith(). If the index
// leads to more entries than a scan reads of one, the scan reads its range of keys instead. Results come in the order of
// keys either way. Table::explain() shows the indexes that could serve a scan.
//
// A commit with the entries of all indexes has 31 MiB at most; beyond, it is refused with kTooLarge (RequestBodyTooLarge), and
// the message names the index. Only many indexes that carry large properties can lead there.
//
// A unique index gives each value of its components to one entity of the table. From its declaration on, a write that would
// give a value to a second entity is refused: kExists (IndexValueAlreadyExists). Status::taken_value() names the index and
// the entity that has the value. This holds for every way to write, and across partitions.
//
// - An entity that lacks a component has no value. One that has ended has none any more.
// - Values of different types are different, and NaN equals nothing.
// - A String or Binary of more than 256 bytes is refused: kTooLarge (PropertyValueTooLarge).
// - One StoreTransaction may move a value from one entity to another.
// - Writes wait for each other if their values are the same.
// - If two entities have one value already, the build fails and names both.
//
// An index belongs to its table, and is dropped with it. A load builds the indexes of its table, unless one is unique. A repair
// builds the indexes of the new store. Builds of Varve that know no indexes refuse the store from the first index on, also
// after the index is dropped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "version.h"

namespace varve {

struct IndexComponent {
  /// The name of a property, or "PartitionKey", "RowKey" or "Timestamp". A unique index cannot have "Timestamp".
  std::string property{};
  bool is_descending = false;
  bool operator==(const IndexComponent&) const = default;
};

struct IndexDefinition {
  /// 1 to 63 letters, digits, '-' and '_', with a letter first. Case matters.
  std::string name{};
  /// 1 to 4. For example, {"Timestamp", true} puts the newest entity first. Of a String or Binary only the first 256 bytes
  /// order the entries. A LargeValue counts as no value.
  std::vector<IndexComponent> components{};
  /// At most 252 names of properties that an entry repeats.
  std::vector<std::string> carried{};
  /// Whether two entities may not have the same value of all components.
  bool is_unique = false;
  bool operator==(const IndexDefinition&) const = default;
};

/// The numbers are stored.
enum class IndexState : std::uint8_t {
  /// Writers maintain it, and entities from before may have no entry. No scan takes it. Store::create_index() with the same
  /// definition goes on with the build.
  kBuilding = 1,
  /// It has the entries of all entities.
  kReady = 2,
  /// Its build failed, and the reason is kept. It has no entries, and refuses nothing. Drop it to declare it again.
  kFailed = 3,
};

struct IndexInfo {
  IndexDefinition definition{};
  IndexState state = IndexState::kBuilding;
  /// Why the build failed; empty otherwise.
  std::string failure{};
};

/// What a build has done so far.
struct IndexBuildProgress {
  /// Entities that were read.
  std::uint64_t entities = 0;
  /// Entries that were written.
  std::uint64_t entries = 0;
};

}  // namespace varve
