// Owns: the routes that write content: blobs, blocks, lists of blocks, appends.
// Must never: read a body before the caller, the container and the lease are judged, except a small one.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/model/service_error.h"
#include "api/rest/blobs/blob_answers.h"
#include "api/rest/blobs/blob_call.h"
#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/blobs/blob_headers.h"
#include "api/rest/blobs/blob_xml.h"
#include "api/rest/blobs/put_options.h"
#include "api/rest/blobs/upload.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/service/call.h"
#include "varve/limits.h"

namespace varve::serve {
namespace {

/// The memory of a list of blocks: its text, the document, the choices and the encoded list.
constexpr std::uint64_t kListTimes = 4;
/// The memory of one block of a list that is shown: its entry as it is read, its id, and its text.
constexpr std::uint64_t kShownBlockBytes = 320;
/// Larger texts are read and written on a thread of the store, because a connection's thread serves many others.
constexpr std::size_t kTextAtHomeMax = std::size_t{64} << 10;
/// The memory of an append: its bytes and their encoded parts.
constexpr std::uint64_t kAppendTimes = 2;

/// Returns the answer of a write with a content.
Result<HttpResponse> written_answer(const BlobCall& call, const BlobState& written, const ContentSums& sums,
                                    const BodyChecksums& sent) {
  return carried_out_answer([&] {
    HttpResponse response = written_response(201, written.etag, written.modified);
    add_sums(response, sums, sent, call.version);
    return response;
  });
}

/// Runs work on texts of this size, on a thread of the store if they are large.
template <typename Work>
Task<Status> work_on_text(const BlobCall& call, std::uint64_t bytes, Work work) {
  if (bytes <= kTextAtHomeMax) co_return work();
  Task<Status> working = run_in_store(call, [&work](Store& /*store*/) -> Status { return work(); });
  const Status worked = co_await working;
  co_return worked;
}

/// Compares the sums of a list of blocks, and reads it.
Status read_summed_list(std::string_view body, ContentSums& sums, const BodyChecksums& sent,
                        std::vector<BlockChoice>& blocks) {
  sums.update(body);
  if (Status finished = sums.finish(); !finished.ok()) return finished;
  if (Status equal = check_sums(sums, sent); !equal.ok()) return equal;
  Result<std::vector<BlockChoice>> read = read_block_list(body);
  if (!read.ok()) return read.status();
  blocks = *std::move(read);
  return Status();
}

std::uint64_t number_of_shown(const BlockCounts& counts, ShownBlocks shown) noexcept {
  const std::uint64_t committed = shown == ShownBlocks::kStaged ? 0 : counts.committed;
  return committed + (shown == ShownBlocks::kCommitted ? 0 : counts.staged);
}

BlockKinds kinds_of(ShownBlocks shown) noexcept {
  switch (shown) {
    case ShownBlocks::kCommitted: return BlockKinds::kCommitted;
    case ShownBlocks::kStaged: return BlockKinds::kStaged;
    case ShownBlocks::kAll: break;
  }
  return BlockKinds::kBoth;
}

/// Reads the blocks that are shown, after it has taken memory for so many. Errors: those of Container::blocks(); kBusy.
Task<Result<BlockLists>> read_shown_blocks(const BlobCall& call, ShownBlocks shown, const BlobReadOptions& options) {
  Task<Result<BlockCounts>> counting = ask_container<BlockCounts>(
      call, [&](Container& container) { return container.block_counts(call.target.blob, options); });
  const Result<BlockCounts> counts = co_await counting;
  if (!counts.ok()) co_return counts.status();
  AnswerRoom* const room = call.request.room;
  const std::uint64_t counted = kShownBlockBytes * number_of_shown(*counts, shown);
  if (room != nullptr && !room->grow_to(counted)) co_return no_room_for_answer();
  Task<Result<BlockLists>> reading = ask_container<BlockLists>(
      call, [&](Container& container) { return container.blocks(call.target.blob, options, kinds_of(shown)); });
  Result<BlockLists> blocks = co_await reading;
  co_return blocks;
}

Result<BlobKind> read_kind(const BlobCall& call) {
  constexpr std::string_view kName = "x-ms-blob-type";
  const std::string* const text = find_header(call.headers(), kName);
  if (text == nullptr) return refused("MissingRequiredHeader", "the request needs the header x-ms-blob-type");
  if (equal_ignoring_case(trimmed(*text), "BlockBlob")) return BlobKind::kBlock;
  if (equal_ignoring_case(trimmed(*text), "AppendBlob")) return BlobKind::kAppend;
  return invalid_header(kName, "expected BlockBlob or AppendBlob");
}

/// Takes over the computed MD5, unless the client gave one, which must be equal. Source: BB-04.
Status settle_md5(const ContentSums& sums, BlobProperties& properties) {
  if (!properties.content_md5) {
    properties.content_md5 = sums.md5();
    return Status();
  }
  if (properties.content_md5 == sums.md5()) return Status();
  return md5_differs("x-ms-blob-content-md5");
}

/// Puts a content that is in memory, in one step of the store.
Task<Result<BlobState>> put_small(const BlobCall& call, BlobWriteOptions& options, ContentSums& sums,
                                  const BodyChecksums& sent) {
  Task<Result<std::string_view>> reading = small_body(call);
  const Result<std::string_view> body = co_await reading;
  if (!body.ok()) co_return body.status();
  const std::string_view content = *body;
  Task<Result<BlobState>> putting =
      ask_container<BlobState>(call, [&, content](Container& container) -> Result<BlobState> {
        sums.update(content);
        if (Status finished = sums.finish(); !finished.ok()) return finished;
        if (Status equal = check_sums(sums, sent); !equal.ok()) return equal;
        if (Status settled = settle_md5(sums, options.properties); !settled.ok()) return settled;
        return container.put(call.target.blob, content, options);
      });
  Result<BlobState> put = co_await putting;
  co_return put;
}

/// Puts a content that is read piece by piece.
Task<Result<BlobState>> put_large(const BlobCall& call, const BlobWriteOptions& options, ContentSums& sums,
                                  const BodyChecksums& sent) {
  Task<Result<BlobWriter>> beginning =
      ask_container<BlobWriter>(call, [&](Container& container) { return container.write(call.target.blob, options); });
  Result<BlobWriter> writer = co_await beginning;
  if (!writer.ok()) co_return writer.status();
  Task<Status> uploading = upload(call, *writer, sums, sent, put_bytes_max(call.version));
  const Status uploaded = co_await uploading;
  if (!uploaded.ok()) co_return uploaded;
  if (Status settled = settle_md5(sums, writer->properties()); !settled.ok()) co_return settled;
  Task<Result<BlobState>> publishing =
      ask_container<BlobState>(call, [&](Container& /*container*/) { return writer->publish(); });
  Result<BlobState> published = co_await publishing;
  co_return published;
}

Answer create_append_blob(const BlobCall& call, const BlobWriteOptions& options) {
  const Result<BodyChecksums> sent = read_body_checksums(call.headers());
  if (!sent.ok()) co_return sent.status();
  // A body in chunks may be empty, too. One that states a length is not read.
  const bool is_chunked = call.request.source != nullptr && find_header(call.headers(), "content-length") == nullptr;
  bool is_empty = call.request.source == nullptr && call.request.body.empty();
  if (is_chunked) {
    Task<Result<std::string_view>> reading = call.request.source->next();
    const Result<std::string_view> first = co_await reading;
    if (!first.ok()) co_return first.status();
    is_empty = first->empty();
  }
  if (!is_empty) {
    co_return invalid_header("Content-Length", "an append blob is created without content");
  }
  ContentSums sums(sent->md5.has_value());
  if (Status finished = sums.finish(); !finished.ok()) co_return finished;
  if (Status equal = check_sums(sums, *sent); !equal.ok()) co_return equal;
  if (options.tier != BlobTier::kDefault) {
    co_return refused("AccessTierNotSupportedForBlobType", "an append blob has no tier");
  }
  Task<Result<BlobState>> making = ask_container<BlobState>(
      call, [&](Container& container) { return container.create_append_blob(call.target.blob, options); });
  const Result<BlobState> made = co_await making;
  if (!made.ok()) co_return made.status();
  co_return carried_out_answer([&] { return written_response(201, made->etag, made->modified); });
}

}  // namespace

Answer put_blob(const BlobCall& call) {
  const Result<BlobKind> kind = read_kind(call);
  if (!kind.ok()) co_return kind.status();
  Result<BlobWriteOptions> options = read_put_options(call, PropertyHeaders::kOwnOrCommon);
  if (!options.ok()) co_return options.status();
  if (*kind == BlobKind::kAppend) {
    Answer creating = create_append_blob(call, *options);
    Result<HttpResponse> created = co_await creating;
    co_return created;
  }
  const Result<BodyChecksums> sent = read_body_checksums(call.headers());
  if (!sent.ok()) co_return sent.status();
  if (Status sized = check_stated_length(call, put_bytes_max(call.version)); !sized.ok()) co_return sized;
  ContentSums sums(true);
  Task<Result<BlobState>> putting =
      is_small_upload(call) ? put_small(call, *options, sums, *sent) : put_large(call, *options, sums, *sent);
  const Result<BlobState> put = co_await putting;
  if (!put.ok()) co_return put.status();
  co_return written_answer(call, *put, sums, *sent);
}

Answer put_block(const BlobCall& call) {
  const Result<std::string> id = read_block_id(call);
  if (!id.ok()) co_return id.status();
  const Result<BodyChecksums> sent = read_body_checksums(call.headers());
  if (!sent.ok()) co_return sent.status();
  const Result<BlobConditions> conditions = read_blob_conditions(call.headers(), BlobAccess::kWrite);
  if (!conditions.ok()) co_return conditions.status();
  if (Status sized = check_stated_length(call, block_bytes_max(call.version)); !sized.ok()) co_return sized;
  BlobWriteOptions options;
  options.conditions = lease_alone(*conditions);
  options.compresses = call.options.compresses;
  Task<Result<BlobWriter>> beginning = ask_container<BlobWriter>(
      call, [&](Container& container) { return container.stage_block(call.target.blob, *id, options); });
  Result<BlobWriter> writer = co_await beginning;
  if (!writer.ok()) co_return writer.status();
  ContentSums sums(sent->md5 || call.version < kCrcVersion);
  Task<Status> uploading = upload(call, *writer, sums, *sent, block_bytes_max(call.version));
  const Status uploaded = co_await uploading;
  if (!uploaded.ok()) co_return uploaded;
  if (sums.bytes() == 0) co_return invalid_header("Content-Length", "a block has at least one byte");
  Task<Result<BlobState>> staging =
      ask_container<BlobState>(call, [&](Container& /*container*/) { return writer->publish(); });
  const Result<BlobState> staged = co_await staging;
  if (!staged.ok()) co_return staged.status();
  co_return carried_out_answer([&] {
    HttpResponse response = empty_response(201);
    response.with("x-ms-request-server-encrypted", "true");
    add_sums(response, sums, *sent, call.version);
    return response;
  });
}

Answer put_block_list(const BlobCall& call) {
  const Result<BlobWriteOptions> options = read_put_options(call, PropertyHeaders::kOwn);
  if (!options.ok()) co_return options.status();
  const Result<BodyChecksums> sent = read_body_checksums(call.headers());
  if (!sent.ok()) co_return sent.status();
  if (call.request.source != nullptr) {
    // Judged again with the change. A hopeless list should end before it is read (BH-06).
    Task<Result<BlobWriter>> judging = ask_container<BlobWriter>(
        call, [&](Container& container) { return container.write(call.target.blob, *options); });
    const Result<BlobWriter> judged = co_await judging;
    if (!judged.ok()) co_return judged.status();
  }
  std::string kept;
  Task<Result<std::string_view>> reading = whole_body(call, kBlockListBytesMax, kListTimes, kept);
  const Result<std::string_view> body = co_await reading;
  if (!body.ok()) co_return body.status();
  ContentSums sums(sent->md5.has_value());
  std::vector<BlockChoice> blocks;
  Task<Status> parsing = work_on_text(call, body->size(), [&] { return read_summed_list(*body, sums, *sent, blocks); });
  const Status parsed = co_await parsing;
  if (!parsed.ok()) co_return parsed;
  Task<Result<BlobState>> committing = ask_container<BlobState>(
      call, [&](Container& container) { return container.commit_blocks(call.target.blob, blocks, *options); });
  const Result<BlobState> committed = co_await committing;
  if (!committed.ok()) co_return committed.status();
  co_return written_answer(call, *committed, sums, *sent);
}

Answer get_block_list(const BlobCall& call) {
  ShownBlocks shown = ShownBlocks::kCommitted;
  if (const std::string* const type = call.parameters.find("blocklisttype")) {
    if (equal_ignoring_case(*type, "uncommitted")) {
      shown = ShownBlocks::kStaged;
    } else if (equal_ignoring_case(*type, "all")) {
      shown = ShownBlocks::kAll;
    } else if (!equal_ignoring_case(*type, "committed")) {
      co_return refuse_parameter(call, "InvalidQueryParameterValue", "blocklisttype", *type,
                                 "expected committed, uncommitted or all");
    }
  }
  const Result<BlobConditions> conditions = read_blob_conditions(call.headers(), BlobAccess::kRead);
  if (!conditions.ok()) co_return conditions.status();
  BlobReadOptions options;
  options.conditions = lease_alone(*conditions);
  Task<Result<BlockLists>> reading = read_shown_blocks(call, shown, options);
  const Result<BlockLists> blocks = co_await reading;
  if (!blocks.ok()) co_return blocks.status();
  const std::uint64_t shown_bytes = kShownBlockBytes * (blocks->committed.size() + blocks->staged.size());
  const std::uint64_t text_bytes = block_lists_bytes(*blocks, shown);
  const std::uint64_t room = std::max(shown_bytes, text_bytes);
  if (call.request.room != nullptr && !call.request.room->grow_to(room)) co_return no_room_for_answer();
  std::string body;
  Task<Status> writing = work_on_text(call, text_bytes, [&] {
    body = write_block_lists(*blocks, shown);
    return Status();
  });
  const Status written = co_await writing;
  if (!written.ok()) co_return written;
  if (call.request.room != nullptr && !call.request.room->grow_to(body.size())) co_return no_room_for_answer();
  HttpResponse response = xml_response(std::move(body));
  response.with("x-ms-blob-content-length", std::to_string(blocks->blob ? blocks->blob->length : 0));
  if (blocks->blob) add_version(response, blocks->blob->etag, blocks->blob->modified);
  co_return response;
}

namespace {

/// Appends a content that is in memory, in one step of the store.
Task<Result<AppendedBlock>> append_small(const BlobCall& call, std::string_view content, const AppendOptions& options,
                                         ContentSums& sums, const BodyChecksums& sent) {
  Task<Result<AppendedBlock>> appending =
      ask_container<AppendedBlock>(call, [&](Container& container) -> Result<AppendedBlock> {
        sums.update(content);
        if (Status finished = sums.finish(); !finished.ok()) return finished;
        if (Status equal = check_sums(sums, sent); !equal.ok()) return equal;
        return container.append(call.target.blob, content, options);
      });
  Result<AppendedBlock> appended = co_await appending;
  co_return appended;
}

/// Appends a content that is read piece by piece.
Task<Result<AppendedBlock>> append_large(const BlobCall& call, const AppendOptions& options, ContentSums& sums,
                                         const BodyChecksums& sent) {
  Task<Result<BlobWriter>> beginning = ask_container<BlobWriter>(
      call, [&](Container& container) { return container.write_append(call.target.blob, options); });
  Result<BlobWriter> writer = co_await beginning;
  if (!writer.ok()) co_return writer.status();
  Task<Status> uploading = upload(call, *writer, sums, sent, append_bytes_max(call.version));
  const Status uploaded = co_await uploading;
  if (!uploaded.ok()) co_return uploaded;
  Task<Result<BlobState>> publishing =
      ask_container<BlobState>(call, [&](Container& /*container*/) { return writer->publish(); });
  const Result<BlobState> state = co_await publishing;
  if (!state.ok()) co_return state.status();
  co_return AppendedBlock{state->length - sums.bytes(), state->etag, state->append_count};
}

/// Returns whether the body may be longer than Container::append() takes.
bool is_large_append(const BlobCall& call) {
  if (call.request.source == nullptr) return call.request.body.size() > limits::kAppendBytesMax;
  const Result<std::optional<std::uint64_t>> length = number_header(call.headers(), "content-length");
  return !length.ok() || !*length || **length > limits::kAppendBytesMax;
}

}  // namespace

Answer append_block(const BlobCall& call) {
  const Result<AppendOptions> options = read_append_options(call);
  if (!options.ok()) co_return options.status();
  const Result<BodyChecksums> sent = read_body_checksums(call.headers());
  if (!sent.ok()) co_return sent.status();
  if (Status sized = check_stated_length(call, append_bytes_max(call.version)); !sized.ok()) co_return sized;
  ContentSums sums(sent->md5 || call.version < kCrcVersion);
  const bool is_large = is_large_append(call);
  std::string kept;
  Result<std::string_view> body = std::string_view();
  if (!is_large) {
    if (!is_small_upload(call)) {
      // Judged again with the change. A hopeless append should end before its body is read (BH-06).
      Task<Result<BlobWriter>> judging = ask_container<BlobWriter>(
          call, [&](Container& container) { return container.write_append(call.target.blob, *options); });
      const Result<BlobWriter> judged = co_await judging;
      if (!judged.ok()) co_return judged.status();
    }
    Task<Result<std::string_view>> reading = whole_body(
        call, std::min<std::uint64_t>(append_bytes_max(call.version), limits::kAppendBytesMax), kAppendTimes, kept);
    body = co_await reading;
    if (!body.ok()) co_return body.status();
  }
  Task<Result<AppendedBlock>> appending =
      is_large ? append_large(call, *options, sums, *sent) : append_small(call, *body, *options, sums, *sent);
  const Result<AppendedBlock> appended = co_await appending;
  if (!appended.ok()) co_return appended.status();
  co_return carried_out_answer([&] {
    HttpResponse response = append_response(appended->etag, appended->offset, appended->append_count);
    add_sums(response, sums, *sent, call.version);
    return response;
  });
}

}  // namespace varve::serve
