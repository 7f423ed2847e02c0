// Owns: reading a blob's row, its content, and its list of blocks, in one view.
// Must never: give out a byte that was not compared with its hash.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/blob/blob_rows.h"
#include "api/blob/reader_pins.h"
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

/// Returns the number of entries of a list of blocks. Errors: kCorruption, those of reading.
Result<std::uint32_t> count_list_entries(const engine::ReadView& view, format::TableId contents, ContentId list);
/// Returns all entries of a list of blocks. Errors: kCorruption, those of reading.
Result<std::vector<ListEntry>> read_list(const engine::ReadView& view, format::TableId contents, ContentId list);

/// The entries of a list, read part by part when they are needed. It keeps the last few parts, because a download may take
/// hours and many may run at once. Any thread.
class ListIndex {
 public:
  using Part = std::shared_ptr<const std::vector<ListEntry>>;

  ListIndex(io::Scheduler& scheduler, format::TableId contents, ContentId list)
      : contents_(contents), list_(list), mutex_(scheduler) {}

  /// A part of the list, which is not empty, and the index of an entry in it.
  struct Place {
    Part part;
    std::size_t index = 0;
  };
  /// Returns the place of the entry that contains `offset` of the blob. Errors: kCorruption, those of reading.
  Result<Place> find(const engine::ReadView& view, std::uint64_t offset);

 private:
  static constexpr std::size_t kPartsKept = 2;
  static constexpr std::uint64_t kUnknown = UINT64_MAX;
  struct Kept {
    std::size_t index = 0;
    Part part;
  };

  /// Returns the number of parts.
  Result<std::size_t> count(const engine::ReadView& view);
  /// Returns where a part begins in the blob.
  Result<std::uint64_t> begin_of(const engine::ReadView& view, std::size_t index);
  Result<Part> part(const engine::ReadView& view, std::size_t index);

  const format::TableId contents_;
  const ContentId list_;
  io::Mutex mutex_;                                             // nothing is read under it
  std::vector<std::uint64_t> begins_ VARVE_GUARDED_BY(mutex_);  // of all parts, or empty if their number is not known
  std::array<Kept, kPartsKept> kept_ VARVE_GUARDED_BY(mutex_);
  std::size_t oldest_ VARVE_GUARDED_BY(mutex_) = 0;
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
  std::shared_ptr<StoreCore> core;  // destroyed last
  std::unique_ptr<ReaderPin> pin;   // none if the row has the content
  format::TableId contents = 0;
  BlobRow row;
  BlobState state;
  std::unique_ptr<ListIndex> list;

  /// Fills the buffer, all of which lies in the content. Errors: kClosed (the pin's), kCorruption, those of reading.
  Status read(std::uint64_t offset, std::span<char> buffer) const;

 private:
  Status read_list_range(const engine::ReadView& view, std::uint64_t offset, std::span<char> buffer) const;
};

}  // namespace varve
