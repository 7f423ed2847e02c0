// Owns: the fuzzer of rows of blobs, staged blocks, containers, contents and work that is left to do.
// Must never: accept a row that differs after encoding and decoding, or a length that no content has.
//
// Input: one byte that chooses the kind of row, then the row.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "api/blob/blob_rows.h"
#include "api/blob/content_rows.h"
#include "api/catalog/container_rows.h"
#include "api/catalog/work_rows.h"
#include "fuzz/entity_mutation.h"
#include "fuzz/mutation.h"
#include "varve/limits.h"

namespace varve {
namespace {

constexpr format::CommitVersion kVersion = 640'000'000'000'000'000;

void check(bool holds) {
  if (!holds) std::abort();
}
void check_refused(const Status& status) {
  check(status.code() == Code::kCorruption || status.code() == Code::kUnsupported);
}

void read_blob(std::string_view bytes) {
  const Result<BlobRow> row = decode_blob_row(kVersion, bytes);
  if (!row.ok()) return check_refused(row.status());
  std::uint64_t length = row->inlined.size();
  for (const ContentPiece& piece : row->pieces) length += piece.length;
  check(length == row->length && (row->pieces.empty() || row->inlined.empty()));
  check(check_blob_tags(row->tags).ok());
  check(row->created <= kVersion && row->changed <= kVersion);
  const std::string encoded = encode_blob_row(*row);
  const Result<BlobRow> again = decode_blob_row(kVersion, encoded);
  check(again.ok() && encode_blob_row(*again) == encoded);
  const BlobState state = state_of("name", *row, kVersion, kVersion);
  check(state.length == length && state.etag == ETag::of_timestamp(state.modified));
}

void read_staged_list(std::string_view bytes) {
  const Result<StagedList> list = decode_staged_list(bytes);
  if (!list.ok()) return check_refused(list.status());
  const Result<StagedList> again = decode_staged_list(encode_staged_list(*list));
  check(again.ok() && again->generation == list->generation && again->count == list->count);
  check(again->id_bytes == list->id_bytes && again->last == list->last);
}

void read_staged_block(std::string_view bytes) {
  const Result<StagedBlock> block = decode_staged_block(bytes);
  if (!block.ok()) return check_refused(block.status());
  const Result<StagedBlock> again = decode_staged_block(encode_staged_block(*block));
  check(again.ok() && *again == *block);
}

void read_container(std::string_view bytes) {
  const Result<ContainerRow> row = decode_container_row("account", "photos", kVersion, bytes);
  if (!row.ok()) return check_refused(row.status());
  check(row->created <= kVersion && row->changed <= kVersion && fence_of(row->id) > row->id);
  const Result<std::string> encoded = with_container(bytes, *row);
  check(encoded.ok());
  const Result<ContainerRow> again = decode_container_row("account", "photos", kVersion, *encoded);
  check(again.ok() && again->id == row->id && again->metadata == row->metadata);
  check(again->public_access == row->public_access && again->changed == row->changed);
}

void read_head(std::string_view bytes) {
  const Result<ContentHead> head = decode_content_head(bytes);
  if (!head.ok()) return check_refused(head.status());
  check(head->kind != ContentKind::kList || head->length <= limits::kBlocksMax);
  const Result<ContentHead> again = decode_content_head(encode_content_head(*head));
  check(again.ok() && again->kind == head->kind && again->owners == head->owners);
  check(again->length == head->length && again->crc64 == head->crc64);
}

void read_work(std::string_view bytes) {
  const Result<std::uint64_t> done = decode_work(bytes);
  if (!done.ok()) return check_refused(done.status());
  const Result<std::uint64_t> again = decode_work(encode_work(*done));
  check(again.ok() && *again == *done);
}

void read_expiry(std::string_view bytes) {
  const Result<StagedPlace> place = decode_expiry(bytes);
  if (!place.ok()) return check_refused(place.status());
  const Result<StagedPlace> again = decode_expiry(encode_expiry(*place));
  check(again.ok() && again->container == place->container && again->name == place->name);
}

constexpr void (*kReaders[])(std::string_view) = {read_blob, read_staged_list, read_staged_block, read_container,
                                                  read_head, read_work,        read_expiry};

std::optional<std::string> mutated(fuzz::Chance& chance, std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  const std::optional<std::string> row = fuzz::mutated_entity(chance, bytes.substr(1));
  if (!row) return std::nullopt;
  return std::string(bytes.substr(0, 1)).append(*row);
}

}  // namespace
}  // namespace varve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  varve::kReaders[data[0] % std::size(varve::kReaders)](bytes);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return varve::fuzz::mutate_structure(data, size, size_max, seed, varve::mutated);
}
