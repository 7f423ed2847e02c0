#include "api/rest/blobs/source_content.h"

#include <algorithm>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/protocol/body_stream.h"
#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

constexpr std::uint64_t kSourcePieceBytes = std::uint64_t{1} << 20;

Status nobody_waits() {
  return Status::io_error("the client has closed the connection").with_service_error("RequestTimedOut");
}

Status too_many_sources() {
  return Status(Code::kBusy, "the server reads as many long sources as it may; repeat the request later");
}

Result<std::optional<ByteRange>> read_source_range(const Headers& headers) {
  constexpr std::string_view kName = "x-ms-source-range";
  const std::string* const text = find_header(headers, kName);
  if (text == nullptr) return std::optional<ByteRange>();
  const std::optional<ByteRange> range = parse_range(trimmed(*text));
  if (!range) return invalid_header(kName, "expected bytes=FIRST-LAST");
  return range;
}

}  // namespace

bool SourceSeat::take(const BlobCall& call, std::uint64_t bytes, std::unique_ptr<SourceSeat>& seat) {
  if (call.long_sources == nullptr || bytes <= kSourcePieceBytes) return true;
  const bool is_free = call.long_sources->fetch_add(1, std::memory_order_relaxed) < call.options.long_sources_max;
  if (!is_free) {
    call.long_sources->fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  try {
    seat = std::make_unique<SourceSeat>(*call.long_sources);
  } catch (const std::bad_alloc&) {
    call.long_sources->fetch_sub(1, std::memory_order_relaxed);
    throw;
  }
  return true;
}

Status source_failure(const Status& status) {
  if (status.code() != Code::kPreconditionFailed) return status;
  return Status(Code::kPreconditionFailed, "a condition on the source is not met")
      .with_service_error("SourceConditionNotMet");
}

Task<Result<SourceContent>> open_source(const BlobCall& call, const CopySource& source, bool has_range) {
  const Result<BlobConditions> conditions = read_source_conditions(call.headers());
  if (!conditions.ok()) co_return conditions.status();
  const Result<std::optional<ByteRange>> range =
      has_range ? read_source_range(call.headers()) : Result<std::optional<ByteRange>>(std::optional<ByteRange>());
  if (!range.ok()) co_return range.status();
  SourceContent opened;
  Task<Status> opening = run_in_store(call, [&](Store& store) -> Status {
    const Result<Container> from = store.open_container(source.account, source.target.container);
    if (!from.ok()) return from.status();
    BlobReadOptions options;
    options.conditions = *conditions;
    Result<BlobReader> reader = from->read(source.target.blob, options);
    if (!reader.ok()) return source_failure(reader.status());
    opened.reader = std::make_shared<const BlobReader>(*std::move(reader));
    return Status();
  });
  const Status done = co_await opening;
  if (!done.ok()) co_return done;
  const std::uint64_t length = opened.reader->state().length;
  opened.part = {0, length};
  if (*range) {
    const Result<ContentPart> part = part_of(**range, length);
    if (!part.ok()) co_return part.status();
    opened.part = *part;
  }
  if (!SourceSeat::take(call, opened.part.bytes, opened.seat)) co_return too_many_sources();
  // A piece, and what a writer keeps of it. Nothing was written yet, so a refusal is true.
  const std::uint64_t bytes =
      std::min(opened.part.bytes, kSourcePieceBytes) + std::min(opened.part.bytes, kBodyKeptBytes);
  if (call.request.room != nullptr && !call.request.room->grow_to(bytes)) co_return no_room_for_answer();
  co_return std::move(opened);
}

Task<Status> take_source(const BlobCall& call, const SourceContent& content, ContentSums& sums, BodyChecksums stated,
                         BlobWriter* writer) {
  std::string piece;
  for (ContentPart left = content.part; left.bytes > 0;) {
    if (call.request.room != nullptr && !call.request.room->is_awaited()) co_return nobody_waits();
    const std::uint64_t bytes = std::min(left.bytes, kSourcePieceBytes);
    Task<Status> moving = run_in_store(call, [&](Store& /*store*/) -> Status {
      piece.resize(static_cast<std::size_t>(bytes));
      const Result<std::size_t> count = content.reader->read(left.offset, std::span<char>(piece));
      if (!count.ok()) return count.status();
      if (*count != piece.size()) return Status::corruption("a blob's content is shorter than its length");
      sums.update(piece);
      return writer == nullptr ? Status() : writer->append(piece);
    });
    const Status moved = co_await moving;
    if (!moved.ok()) co_return moved;
    left.offset += bytes;
    left.bytes -= bytes;
  }
  if (Status finished = sums.finish(); !finished.ok()) co_return finished;
  co_return check_sums(sums, stated);
}

}  // namespace varve::serve
