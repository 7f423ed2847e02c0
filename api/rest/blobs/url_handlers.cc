// Owns: the routes that make a block or an append of the content of another blob.
// Must never: write content of another server.
#include <optional>
#include <string>
#include <utility>

#include "api/rest/blobs/blob_answers.h"
#include "api/rest/blobs/blob_call.h"
#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/blobs/blob_headers.h"
#include "api/rest/blobs/put_options.h"
#include "api/rest/blobs/source_content.h"
#include "api/rest/blobs/upload.h"
#include "api/rest/service/call.h"

namespace varve::serve {
namespace {

/// A source that the caller may read, and the checksums that it must have.
struct TakenSource {
  SourceContent content;
  BodyChecksums stated;
};

/// Opens the source of the request. `bytes_max` is the most bytes that its part may have.
Task<Result<TakenSource>> open_taken_source(const BlobCall& call, std::uint64_t bytes_max) {
  const Result<CopySource> source = read_copy_source(call);
  if (!source.ok()) co_return source.status();
  const Result<BodyChecksums> stated = read_source_checksums(call.headers());
  if (!stated.ok()) co_return stated.status();
  Task<Status> checking = check_copy_source(call, *source);
  const Status readable = co_await checking;
  if (!readable.ok()) co_return readable;
  Task<Result<SourceContent>> opening = open_source(call, *source, true);
  Result<SourceContent> content = co_await opening;
  if (!content.ok()) co_return content.status();
  if (content->part.bytes > bytes_max) co_return content_too_long(bytes_max);
  co_return TakenSource{*std::move(content), *stated};
}

}  // namespace

Answer put_block_from_url(const BlobCall& call) {
  const Result<std::string> id = read_block_id(call);
  if (!id.ok()) co_return id.status();
  const Result<BlobConditions> conditions = read_blob_conditions(call.headers(), BlobAccess::kWrite);
  if (!conditions.ok()) co_return conditions.status();
  Task<Result<TakenSource>> opening = open_taken_source(call, block_bytes_max(call.version));
  const Result<TakenSource> source = co_await opening;
  if (!source.ok()) co_return source.status();
  BlobWriteOptions options;
  options.conditions = lease_alone(*conditions);
  options.compresses = call.options.compresses;
  Task<Result<BlobWriter>> beginning = ask_container<BlobWriter>(
      call, [&](Container& container) { return container.stage_block(call.target.blob, *id, options); });
  Result<BlobWriter> writer = co_await beginning;
  if (!writer.ok()) co_return writer.status();
  ContentSums sums(source->stated.md5 || call.version < kCrcVersion);
  Task<Status> taking = take_source(call, source->content, sums, source->stated, &*writer);
  const Status taken = co_await taking;
  if (!taken.ok()) co_return taken;
  Task<Result<BlobState>> staging =
      ask_container<BlobState>(call, [&](Container& /*container*/) { return writer->publish(); });
  const Result<BlobState> staged = co_await staging;
  if (!staged.ok()) co_return staged.status();
  co_return carried_out_answer([&] {
    HttpResponse response = empty_response(201);
    response.with("x-ms-request-server-encrypted", "true");
    add_sums(response, sums, source->stated, call.version);
    return response;
  });
}

Answer append_block_from_url(const BlobCall& call) {
  const Result<AppendOptions> options = read_append_options(call);
  if (!options.ok()) co_return options.status();
  Task<Result<TakenSource>> opening = open_taken_source(call, append_bytes_max(call.version));
  const Result<TakenSource> source = co_await opening;
  if (!source.ok()) co_return source.status();
  Task<Result<BlobWriter>> beginning = ask_container<BlobWriter>(
      call, [&](Container& container) { return container.write_append(call.target.blob, *options); });
  Result<BlobWriter> writer = co_await beginning;
  if (!writer.ok()) co_return writer.status();
  ContentSums sums(source->stated.md5 || call.version < kCrcVersion);
  Task<Status> taking = take_source(call, source->content, sums, source->stated, &*writer);
  const Status taken = co_await taking;
  if (!taken.ok()) co_return taken;
  Task<Result<BlobState>> publishing =
      ask_container<BlobState>(call, [&](Container& /*container*/) { return writer->publish(); });
  const Result<BlobState> appended = co_await publishing;
  if (!appended.ok()) co_return appended.status();
  co_return carried_out_answer([&] {
    HttpResponse response =
        append_response(appended->etag, appended->length - source->content.part.bytes, appended->append_count);
    add_sums(response, sums, source->stated, call.version);
    return response;
  });
}

}  // namespace varve::serve
