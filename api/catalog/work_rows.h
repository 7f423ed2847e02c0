// Owns: the rows (0,9) of work that is left to do for blobs: their keys and their content.
// Must never: be needed for a right answer. They lead to rows that users cannot see.
//
//   row                    first part      second part    properties
//   filling content        F, content      account        none
//   content without owner  L, content      account        Done (Int64: entries of a list that were let go)
//   discarded blocks       S, generation   container      none
//   dropped container      C, container    fence          none
//   dropped table          T, table        fence          none
//   expiry of blocks       X, time         generation     Container (Int64), Name (String)
//
// The account is its number, and the container or table its id. Only the drop of a table with large values leaves a row. A
// filling content is being written: the commit that gives it an owner removes the row. An expiry leads to a list of staged
// blocks. From its time on, the last block of the list may be old enough to be discarded. The first expiry of a list has
// the generation as its time, and is removed by the commit that ends the list. The others are removed by the last commit
// of their work.
//
// Each row has a lock of its own. The commits that do work take it. A commit that makes a row L, S, C or T, or removes the
// first expiry of a list, may do so without it. It holds the lock of the content's head, of the list, or of the row of the
// container or table, under which the work arises once. The commits that do this work lock the same row, or run after it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/keys/sort_key.h"
#include "varve/result.h"

namespace varve {

inline constexpr format::TableId kWorkTable = format::make_table_id(0, 9);

enum class WorkKind : char {
  kFilling = 'F',
  kLeaving = 'L',
  kStaged = 'S',
  kContainer = 'C',
  kTable = 'T',
  kExpiry = 'X',
};

/// What a work row is about.
struct Work {
  WorkKind kind = WorkKind::kFilling;
  /// The content, the generation, the container, the table, or the time.
  std::uint64_t subject = 0;
  /// The account's number, the id of the container or fence, or the generation.
  std::uint64_t owner = 0;
};

std::string work_key(const Work& work);
/// Errors: kCorruption, also if the key names a drop, and the owner is not the fence of a container or of a table with
/// large values.
Result<Work> decode_work_key(std::string_view key);

std::string encode_work(std::uint64_t done = 0);
/// Returns how much of the work was done. Errors: kCorruption, kUnsupported.
Result<std::uint64_t> decode_work(std::string_view value);

/// The list of staged blocks that an expiry leads to.
struct StagedPlace {
  format::TableId container = 0;
  std::string name;
};
std::string encode_expiry(const StagedPlace& place);
/// Errors: kCorruption, kUnsupported.
Result<StagedPlace> decode_expiry(std::string_view value);

}  // namespace varve
