// Owns: the append to an append blob (BA-01 to BA-06).
// Must never: let two appends take one place, or write into a content that another blob shares.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/blob/blob_rows.h"
#include "api/core/container_state.h"
#include "api/write/blob_writer_state.h"
#include "varve/blob.h"
#include "varve/result.h"

namespace varve {

/// The arguments were checked. Errors: as Container::append().
Result<AppendedBlock> append_to_blob(const Container::State& container, std::string_view blob, std::string_view bytes,
                                     const AppendOptions& options, Durability durability);

/// Judges an append of `bytes` bytes to the blob of this row, which may be missing. `appends_max` is the store's limit.
/// Errors: as Container::append().
Status admit_append_to(std::optional<BlobRow>& row, std::string_view blob, std::uint64_t bytes,
                       const AppendOptions& options, Ticks now, std::uint32_t appends_max);
/// Adds the content of a writer of Container::write_append(). If parts of it were written, it stays a content of its own, to
/// which later appends add. Errors: as
/// BlobWriter::publish().
Result<BlobState> append_written_content(BlobWriter::State& writer);

}  // namespace varve
