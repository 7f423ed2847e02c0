// SPDX-License-Identifier: Apache-2.0
// Owns: what a table is created with.
// Must never: hold an option that can change afterwards.
#pragma once

namespace varve {

/// Options of Store::create_table(). They stay as they are as long as the table exists.
struct TableOptions {
  /// Whether properties of the table's entities may be large values (large_value.h). Such a table counts who owns each
  /// content: each replace, merge and delete of an entity reads the entity first. A drop is still one small commit, and
  /// then removes the entities in the background, one after another. In other tables a LargeValue is refused.
  ///
  /// An entity whose stored bytes are damaged can be neither deleted nor replaced, because its contents are unknown. After
  /// a drop of its table, the work in the background never ends. Store::repair() makes a store without such entities.
  bool has_large_values = false;
};

}  // namespace varve
