// SPDX-License-Identifier: Apache-2.0
// Owns: what a table is created with.
// Must never: hold an option that the table's catalog row does not say.
#pragma once

#include <optional>

#include "table_expiry.h"

namespace varve {

/// Options of Store::create_table().
struct TableOptions {
  /// Whether properties of the table's entities may be large values (large_value.h). Such a table counts who owns each
  /// content: each replace, merge and delete of an entity reads the entity first. A drop is still one small commit, and
  /// then removes the entities in the background, one after another. In other tables a LargeValue is refused. It stays as
  /// it is as long as the table exists.
  ///
  /// An entity whose stored bytes are damaged can be neither deleted nor replaced, because its contents are unknown. After
  /// a drop of its table, the work in the background never ends. Store::repair() makes a store without such entities.
  bool has_large_values = false;
  /// When the entities of the table end. Not set: never. Store::set_table_expiry() changes it. A table with large values
  /// has none.
  std::optional<TableExpiry> expiry{};
};

}  // namespace varve
