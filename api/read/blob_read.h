// Owns: reading a blob's row, its content, and its list of blocks, in one view.
// Must never: give out a byte that was not compared with its hash.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/blob/blob_rows.h"
#include "api/core/container_state.h"
#include "engine/engine.h"
#include "io/scheduler.h"
#include "varve/blob.h"
#include "varve/result.h"

namespace varve {

/// A row that was found, and the version that wrote it.
struct FoundBlob {
  BlobRow row;
  format::CommitVersion version = 0;
};
/// Errors: kCorruption, those of reading.
Result<std::optional<FoundBlob>> find_blob(const engine::ReadView& view, format::TableId container,
                                           std::string_view name);

/// Finds the container at a version, for reads at snapshots. Errors: kNotFound (ContainerNotFound).
Result<format::TableId> container_at(const Container::State& container, const engine::ReadView& view);

/// Returns all entries of a list of blocks. Errors: kCorruption, those of reading.
Result<std::vector<ListEntry>> read_list(const engine::ReadView& view, format::TableId contents, ContentId list);

/// The entries of a list, read part by part when they are needed. Any thread.
class ListIndex {
 public:
  ListIndex(io::Scheduler& scheduler, format::TableId contents, ContentId list)
      : contents_(contents), list_(list), mutex_(scheduler) {}

  /// Returns the entries from the one that contains `offset` of the blob to the end of its part. Errors: kCorruption,
  /// those of reading.
  Result<std::vector<ListEntry>> find(const engine::ReadView& view, std::uint64_t offset);

 private:
  using Part = std::shared_ptr<const std::vector<ListEntry>>;
  Status open(const engine::ReadView& view) VARVE_REQUIRES(mutex_);
  Result<Part> part(const engine::ReadView& view, std::size_t index) VARVE_REQUIRES(mutex_);

  const format::TableId contents_;
  const ContentId list_;
  io::Mutex mutex_;
  bool is_open_ VARVE_GUARDED_BY(mutex_) = false;
  std::vector<Part> parts_ VARVE_GUARDED_BY(mutex_);
};

/// Fills `out` with bytes of a content from `offset` on. The content has them. Errors: kCorruption, those of reading.
Status read_plain(const engine::ReadView& view, format::TableId contents, ContentId content, std::uint64_t offset,
                  std::span<char> out);
Status read_growing(const engine::ReadView& view, format::TableId contents, ContentId content, std::uint64_t offset,
                    std::span<char> out);

/// Fills the buffer with the content of a row that is no list, from `offset` on. The row has contents, and they have the
/// bytes. Errors: kCorruption, those of reading.
Status read_pieces(const engine::ReadView& view, format::TableId contents, const BlobRow& row, std::uint64_t offset,
                   std::span<char> buffer);

struct VARVE_LOCAL BlobReader::State {
  std::shared_ptr<StoreCore> core;
  Snapshot snapshot;
  format::TableId contents = 0;
  BlobRow row;
  BlobState state;
  std::unique_ptr<ListIndex> list;

  /// Fills the buffer, all of which lies in the content.
  Status read(std::uint64_t offset, std::span<char> buffer) const;

 private:
  Status read_list_range(const engine::ReadView& view, std::uint64_t offset, std::span<char> buffer) const;
};

}  // namespace varve
