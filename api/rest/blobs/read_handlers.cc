// Owns: the routes that read content, and the pieces of their answers.
// Must never: answer with bytes of two states of a blob.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/model/service_error.h"
#include "api/rest/blobs/blob_answers.h"
#include "api/rest/blobs/blob_call.h"
#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/blobs/blob_headers.h"
#include "api/rest/blobs/blob_range.h"
#include "api/rest/blobs/readable_content.h"
#include "api/rest/blobs/upload.h"
#include "api/rest/protocol/body_stream.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/service/call.h"

namespace varve::serve {
namespace {

/// Reads exactly `bytes` bytes. The state that a reader reads never changes, so fewer are damage.
Result<std::string> read_exactly(const ReadableContent& reader, std::uint64_t offset, std::uint64_t bytes) {
  std::string piece(static_cast<std::size_t>(bytes), '\0');
  const Result<std::size_t> count = reader.read(offset, std::span<char>(piece));
  if (!count.ok()) return count.status();
  if (*count != piece.size()) return Status::corruption("a blob's content is shorter than its length");
  return piece;
}

/// The rest of a content, which is read while the answer is sent.
class ContentPieces final : public AnswerSource {
 public:
  ContentPieces(const BlobCall& call, std::shared_ptr<const ReadableContent> reader, ContentPart part)
      : store_(call.store), home_(call.home), stop_(call.stop), reader_(std::move(reader)), part_(part) {}

  Task<Result<std::string>> next() override {
    const std::uint64_t bytes = std::min<std::uint64_t>(part_.bytes, kAnswerPieceBytes);
    Result<std::string> piece = std::string();
    Task<Status> reading = AsyncStore(store_).run(
        [&](Store& /*store*/) {
          piece = read_exactly(*reader_, part_.offset, bytes);
          return piece.status();
        },
        stop_);
    const Status read = co_await at_home(home_, std::move(reading));
    if (!read.ok()) co_return read;
    part_.offset += bytes;
    part_.bytes -= bytes;
    co_return piece;
  }

 private:
  Store& store_;
  HomeThread* const home_;
  const std::stop_token stop_;
  const std::shared_ptr<const ReadableContent> reader_;
  ContentPart part_;
};

/// What a read asks for.
struct AskedContent {
  BlobConditions conditions;
  std::optional<ByteRange> range;
  RangeChecksum checksum = RangeChecksum::kNone;
  /// The range counts only for this state.
  std::optional<ETag> range_if{};
};

/// Returns the ETag of the header If-Range. A date is too inexact to hold parts together, so it is no ETag of a blob.
std::optional<ETag> read_if_range(const Headers& headers) {
  const std::string* const text = find_header(headers, "if-range");
  if (text == nullptr) return std::nullopt;
  const Result<ETag> etag = parse_blob_etag(trimmed(*text));
  return etag.ok() && !etag->is_any() ? *etag : ETag();
}

Result<AskedContent> read_asked(const BlobCall& call) {
  AskedContent asked;
  const Result<BlobConditions> conditions = read_blob_conditions(call.headers(), BlobAccess::kRead);
  if (!conditions.ok()) return conditions.status();
  const Result<std::optional<ByteRange>> range = read_range(call.headers());
  if (!range.ok()) return range.status();
  const Result<RangeChecksum> checksum = read_range_checksum(call.headers(), range->has_value());
  if (!checksum.ok()) return checksum.status();
  asked.conditions = *conditions;
  asked.range = *range;
  asked.checksum = *checksum;
  asked.range_if = read_if_range(call.headers());
  return asked;
}

/// A blob that was opened, and the first piece of the part that the answer has.
struct OpenedContent {
  std::shared_ptr<const ReadableContent> reader;
  ContentPart part;
  std::string first;
  /// Whether the answer has a part that the client asked for, and the checksum of that part.
  bool is_part = false;
  RangeChecksum checksum = RangeChecksum::kNone;
};

/// Opens the blob and reads the first piece. If the conditions are not met, reads nothing.
Status open_content(const BlobCall& call, const AskedContent& asked, Store& store, OpenedContent& opened) {
  BlobReadOptions options;
  options.conditions = lease_alone(asked.conditions);
  Result<std::shared_ptr<const ReadableContent>> reader = ReadableContent::open(call, store, options);
  if (!reader.ok()) return reader.status();
  opened.reader = *std::move(reader);
  const BlobState& state = opened.reader->state();
  if (judge_read(asked.conditions, state.etag, state.modified) != ReadVerdict::kMet) return Status();
  opened.part = {0, state.length};
  opened.is_part = asked.range && (!asked.range_if || *asked.range_if == state.etag);
  if (opened.is_part) opened.checksum = asked.checksum;
  if (opened.is_part) {
    const Result<ContentPart> part = part_of(*asked.range, state.length);
    if (!part.ok()) {
      call.error_headers.emplace_back("Content-Range", "bytes */" + std::to_string(state.length));
      return part.status();
    }
    opened.part = *part;
  }
  const bool is_summed = opened.checksum != RangeChecksum::kNone;
  if (is_summed && opened.part.bytes > kChecksumPartMax) {
    return service_error::out_of_range_input("a range with a checksum has at most 4 MiB");
  }
  const std::uint64_t bytes =
      is_summed ? opened.part.bytes : std::min<std::uint64_t>(opened.part.bytes, kAnswerPieceBytes);
  if (call.request.room != nullptr && !call.request.room->grow_to(bytes)) return no_room_for_answer();
  Result<std::string> first = read_exactly(*opened.reader, opened.part.offset, bytes);
  if (!first.ok()) return first.status();
  opened.first = *std::move(first);
  return Status();
}

/// Adds the checksum of the part. Source: BG-04.
Status add_part_checksum(HttpResponse& response, RangeChecksum checksum, const std::string& part) {
  if (checksum == RangeChecksum::kNone) return Status();
  ContentSums sums(checksum == RangeChecksum::kMd5);
  sums.update(part);
  if (Status finished = sums.finish(); !finished.ok()) return finished;
  if (sums.md5()) response.with("Content-MD5", md5_text(*sums.md5()));
  if (checksum == RangeChecksum::kCrc64) response.with("x-ms-content-crc64", crc64_text(sums.crc64()));
  return Status();
}

}  // namespace

Answer get_blob(const BlobCall& call) {
  const Result<AskedContent> asked = read_asked(call);
  if (!asked.ok()) co_return asked.status();
  OpenedContent opened;
  Task<Status> opening = run_in_store(call, [&](Store& store) { return open_content(call, *asked, store, opened); });
  const Status done = co_await opening;
  if (!done.ok()) co_return done;
  const BlobState& state = opened.reader->state();
  if (auto refused = judged_answer(asked->conditions, state.etag, state.modified)) co_return *std::move(refused);

  HttpResponse response = empty_response(opened.is_part ? 206 : 200);
  response.with("Accept-Ranges", "bytes");
  add_blob_state(response, state, call);
  if (opened.is_part) response.with("Content-Range", content_range(opened.part, state.length));
  if (state.properties.content_md5) {
    response.with(opened.is_part ? "x-ms-blob-content-md5" : "Content-MD5", md5_text(*state.properties.content_md5));
  }
  if (Status summed = add_part_checksum(response, opened.checksum, opened.first); !summed.ok()) co_return summed;
  const std::uint64_t first = opened.first.size();
  response.body = std::move(opened.first);
  response.stated_bytes = opened.part.bytes;
  if (opened.part.bytes > first) {
    const ContentPart rest{opened.part.offset + first, opened.part.bytes - first};
    response.source = std::make_shared<ContentPieces>(call, std::move(opened.reader), rest);
  }
  co_return response;
}

}  // namespace varve::serve
