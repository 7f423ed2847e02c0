// Owns: the parts of a flush: where one file ends and the next begins, and the threads that write them.
// Must never: leave a file of a flush of which another part failed, or cut a memtable that fits one file.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "engine/base/background_pool.h"
#include "engine/base/entry_cursor.h"
#include "engine/base/key_span.h"
#include "engine/compaction/rewrite.h"
#include "engine/levels/levels.h"
#include "engine/levels/tree_shape.h"
#include "engine/memory/memtable.h"
#include "varve/result.h"

namespace varve::engine {

/// Returns at most `count_max` spans, in order. Together they have all keys. Each cut lies at the first key of a file, so
/// that merges can be cut there too. The file is in the uppermost level beneath that overlaps the memtable. Parts are of
/// about equal size, and not smaller than own_file_bytes(). Large values do not count, since they may stay in the log. The
/// spans are views into `levels`. No thread may insert into the memtable meanwhile. Throws std::bad_alloc.
std::vector<KeySpan> flush_parts(const Memtable& memtable, const Levels& levels, const TreeShape& shape,
                                 std::size_t count_max);

/// The entries of a memtable in a span. The memtable and the span's keys outlive it.
class PartStream final : public EntryStream {
 public:
  PartStream(const Memtable& memtable, const KeySpan& keys) noexcept : cursor_(memtable), end_(keys.to) {
    cursor_.seek(keys.from, format::kCommitVersionMax);
  }

  bool valid() const noexcept override { return cursor_.valid() && (end_.empty() || cursor_.entry().sort_key < end_); }
  Entry entry() const noexcept override { return cursor_.entry(); }
  void next() override { cursor_.next(); }
  Status status() const override { return Status(); }
  LogPlace log_place() const noexcept override { return cursor_.log_place(); }
  bool entries_stay() const noexcept override { return true; }
  bool is_in_memory() const noexcept override { return true; }

 private:
  Memtable::Cursor cursor_;
  const std::string_view end_;
};

/// Writes one file at most. May throw std::bad_alloc.
using WritePart = std::function<Result<Rewritten>(const KeySpan& part)>;

/// Calls `write` for each part, on this thread and on free threads of the pool. Returns the files in the order of their
/// keys. After an error none of the files is left, and parts that have not begun are not written. Throws std::bad_alloc
/// before it calls `write` for one of several parts.
/// Errors: those of `write`, kOutOfMemory.
Result<Rewritten> write_parts(BackgroundPool& pool, const TableSink& sink, const std::vector<KeySpan>& parts,
                              const WritePart& write);

}  // namespace varve::engine
