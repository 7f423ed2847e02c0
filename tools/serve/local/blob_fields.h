// Owns: containers, blobs and their options as fields, which `varve blob` and the server exchange over the local socket.
// Must never: need that a value is UTF-8, or has no zero byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "varve/blob.h"
#include "varve/limits.h"
#include "varve/result.h"
#include "varve/store.h"
#include "varve/store_limits.h"

namespace varve::serve {

/// A list of names and values. A name may occur several times.
using Fields = std::vector<std::pair<std::string, std::string>>;

/// Writes each name and each value as its length, a colon and its bytes: `4:name5:photo`.
std::string fields_text(const Fields& fields);
/// A server bounds the number of fields: an empty field of four bytes needs 64 bytes of memory.
/// Errors: kInvalidArgument (InvalidInput: the text has another form, or more fields).
Result<Fields> parse_fields(std::string_view text, std::size_t fields_max = SIZE_MAX);

/// The options of a blob with its metadata, and the blocks of a commit.
inline constexpr std::size_t kBlobFieldsMax = limits::kBlocksMax + limits::kMetadataBytesMax + 1'000;
/// Returns the number for an entity or a change: set, counted and removed properties, and what else a write has.
std::size_t entity_fields_max(const StoreLimits& limits) noexcept;

/// Add the fields of a value to a list.
/// @{
void add_fields(Fields& fields, const BlobState& blob);
void add_fields(Fields& fields, const ContainerState& container);
void add_fields(Fields& fields, const BlobWriteOptions& options);
void add_fields(Fields& fields, const BlobPage& page);
void add_fields(Fields& fields, const ContainerPage& page);
void add_fields(Fields& fields, const BlockLists& blocks);
void add_fields(Fields& fields, const std::vector<BlockChoice>& blocks);
void add_fields(Fields& fields, const LeaseRequest& request);
void add_fields(Fields& fields, const LeaseAnswer& answer);
/// @}

/// Return the value that a list has. They ignore fields of other names. Errors: kInvalidArgument (InvalidInput: a field
/// has a value that it cannot have).
/// @{
Result<BlobState> blob_of(const Fields& fields);
Result<ContainerState> container_of(const Fields& fields);
Result<BlobWriteOptions> write_options_of(const Fields& fields);
Result<BlobPage> blob_page_of(const Fields& fields);
Result<ContainerPage> container_page_of(const Fields& fields);
Result<BlockLists> block_lists_of(const Fields& fields);
std::vector<BlockChoice> block_choices_of(const Fields& fields);
Result<LeaseRequest> lease_request_of(const Fields& fields);
Result<LeaseAnswer> lease_answer_of(const Fields& fields);
/// @}

}  // namespace varve::serve
