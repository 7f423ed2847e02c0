// Owns: pages of the blobs of a container (BL-01 to BL-06).
// Must never: read the members of a folded group.
#pragma once

#include "api/blob/blob_rows.h"
#include "engine/engine.h"
#include "varve/blob.h"
#include "varve/result.h"

namespace varve {

/// Errors: as Container::list().
Result<BlobPage> list_blob_page(const engine::ReadView& view, format::TableId container, const BlobListing& listing,
                                Ticks now);

}  // namespace varve
