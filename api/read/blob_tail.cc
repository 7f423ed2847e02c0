// Owns: the look at the end of an append blob (blob_tail.h).
// Must never: return bytes of another blob than the one that the reader names by `created`, if it does.
#include "api/read/blob_tail.h"

#include <algorithm>
#include <utility>

#include "api/blob/blob_rows.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/read/blob_read.h"
#include "varve/limits.h"

namespace varve {
namespace {

Status no_blob_to_follow(std::string_view blob) {
  return service_error::blob_not_found("blob " + quoted(blob) + " does not exist, so it cannot be followed");
}

Status not_an_append_blob(std::string_view blob) {
  return service_error::invalid_blob_type("blob " + quoted(blob) + " is no append blob; only those grow");
}

Status was_created_again(std::string_view blob) {
  return service_error::condition_not_met("blob " + quoted(blob) +
                                          " is not the one that was followed: it was created again");
}

Status is_shorter(std::uint64_t length, std::uint64_t offset) {
  return Status::invalid_argument("the blob has " + std::to_string(length) + " bytes; a tail cannot begin at " +
                                  std::to_string(offset))
      .with_service_error("InvalidRange");
}

Status admit_tail(const FoundBlob& found, std::string_view blob, const BlobState& state,
                  const BlobTailOptions& options) {
  if (found.row.kind != BlobKind::kAppend) return not_an_append_blob(blob);
  if (options.created && *options.created != state.created) return was_created_again(blob);
  return options.offset <= state.length ? Status() : is_shorter(state.length, options.offset);
}

}  // namespace

Status check_tail(std::string_view blob, const BlobTailOptions& options) {
  if (Status named = check_blob_name(blob); !named.ok()) return named;
  if (options.bytes_max != 0 && options.bytes_max <= limits::kAppendBytesMax) return Status();
  return service_error::out_of_range_parameter("a tail of " + std::to_string(options.bytes_max) +
                                               " bytes was asked for; 1 to 4194304 are allowed");
}

Result<TailLook> look_at_tail(const Container::State& container, std::string_view blob,
                              const BlobTailOptions& options) {
  if (Status open = container.core->check_open(); !open.ok()) return open;
  const Result<ResolvedTable> at = container.resolve();
  if (!at.ok()) return at.status();
  const Result<std::optional<FoundBlob>> found = find_blob(at->view, at->id, blob);
  if (!found.ok()) return found.status();
  if (!*found) return no_blob_to_follow(blob);
  const BlobState state = state_of(blob, (*found)->row, (*found)->version, container.core->backend().time());
  if (Status admitted = admit_tail(**found, blob, state, options); !admitted.ok()) return admitted;
  TailLook look{{{}, state.length, state.etag, state.created}, blob_row_key(at->id, blob)};
  const std::uint64_t left = state.length - options.offset;
  look.tail.bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left, options.bytes_max)));
  if (look.tail.bytes.empty()) return look;
  const Status read =
      read_pieces(at->view, contents_of(at->id), (*found)->row, options.offset, std::span<char>(look.tail.bytes));
  if (!read.ok()) return read;
  return look;
}

Status tail_was_closed() {
  return Status(Code::kClosed, "the store was closed; open it again");
}

}  // namespace varve
