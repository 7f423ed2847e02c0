#include "api/rest/blobs/upload.h"

#include <array>
#include <utility>

#include <openssl/evp.h>

#include "api/model/service_error.h"
#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

/// Adds a piece to the writer and the sums on a thread that may wait.
Task<Status> add_piece(const BlobCall& call, BlobWriter& writer, ContentSums& sums, std::string_view piece) {
  Task<Status> adding = run_in_store(call, [&writer, &sums, piece](Store& /*store*/) {
    sums.update(piece);
    return writer.append(piece);
  });
  const Status added = co_await adding;
  co_return added;
}

}  // namespace

struct ContentSums::Digest {
  struct Free {
    void operator()(EVP_MD_CTX* digest) const noexcept { ::EVP_MD_CTX_free(digest); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context{::EVP_MD_CTX_new()};
  bool is_good = context && ::EVP_DigestInit_ex(context.get(), EVP_md5(), nullptr) == 1;
};

ContentSums::ContentSums(bool with_md5) : digest_(with_md5 ? std::make_unique<Digest>() : nullptr) {}
ContentSums::~ContentSums() = default;

void ContentSums::update(std::string_view bytes) noexcept {
  crc64_.update(bytes);
  bytes_ += bytes.size();
  if (!digest_ || !digest_->is_good) return;
  digest_->is_good = ::EVP_DigestUpdate(digest_->context.get(), bytes.data(), bytes.size()) == 1;
}

Status ContentSums::finish() {
  if (!digest_) return Status();
  Md5 md5{};
  unsigned int count = 0;
  const bool is_good = digest_->is_good && ::EVP_DigestFinal_ex(digest_->context.get(), md5.data(), &count) == 1;
  if (!is_good || count != md5.size()) {
    return Status::unsupported("this OpenSSL does not provide MD5").with_service_error("InternalError");
  }
  md5_ = md5;
  return Status();
}

Status check_sums(const ContentSums& sums, const BodyChecksums& sent) {
  if (sent.md5 && sums.md5() != sent.md5) return md5_differs();
  if (sent.crc64 && sums.crc64() != *sent.crc64) return crc64_differs();
  return Status();
}

Status content_too_long(std::uint64_t bytes_max) {
  return service_error::request_body_too_large("the body is too large; at most " + std::to_string(bytes_max) +
                                               " bytes are allowed");
}

std::uint64_t put_bytes_max(std::string_view version) noexcept {
  if (version >= "2019-12-12") return 5'000 * kMebibyte;
  return version >= "2016-05-31" ? 256 * kMebibyte : 64 * kMebibyte;
}

std::uint64_t block_bytes_max(std::string_view version) noexcept {
  if (version >= "2019-12-12") return 4'000 * kMebibyte;
  return version >= "2016-05-31" ? 100 * kMebibyte : 4 * kMebibyte;
}

std::uint64_t append_bytes_max(std::string_view version) noexcept {
  return version >= "2022-11-02" ? 100 * kMebibyte : 4 * kMebibyte;
}

Status check_stated_length(const BlobCall& call, std::uint64_t bytes_max) {
  const Result<std::optional<std::uint64_t>> length = number_header(call.headers(), "content-length");
  const bool is_within = length.ok() && length->value_or(call.request.body.size()) <= bytes_max;
  return is_within ? Status() : content_too_long(bytes_max);
}

bool is_small_upload(const BlobCall& call) noexcept {
  if (call.request.source == nullptr) return true;
  if (find_header(call.headers(), "expect") != nullptr) return false;  // the client waits for a judgement
  const Result<std::optional<std::uint64_t>> length = number_header(call.headers(), "content-length");
  return length.ok() && *length && **length < kBodyPieceBytes;
}

Task<Result<std::string_view>> small_body(const BlobCall& call) {
  if (call.request.source == nullptr) co_return std::string_view(call.request.body);
  Task<Result<std::string_view>> reading = call.request.source->next();
  const Result<std::string_view> body = co_await reading;
  co_return body;
}

Task<Result<std::string_view>> whole_body(const BlobCall& call, std::uint64_t bytes_max, std::uint64_t times,
                                          std::string& kept) {
  if (call.request.source == nullptr) co_return std::string_view(call.request.body);
  call.request.source->keeps_all(bytes_max, times);
  for (;;) {
    Task<Result<std::string_view>> reading = call.request.source->next();
    const Result<std::string_view> piece = co_await reading;
    if (!piece.ok()) co_return piece.status();
    if (piece->empty()) co_return std::string_view(kept);
    if (piece->size() > bytes_max - kept.size()) co_return content_too_long(bytes_max);
    kept.append(*piece);
  }
}

Task<Status> upload(const BlobCall& call, BlobWriter& writer, ContentSums& sums, const BodyChecksums& sent,
                    std::uint64_t bytes_max) {
  std::string_view piece = call.request.body;
  do {
    if (call.request.source != nullptr) {
      Task<Result<std::string_view>> reading = call.request.source->next();
      const Result<std::string_view> next = co_await reading;
      if (!next.ok()) co_return next.status();
      piece = *next;
    }
    if (piece.size() > bytes_max - sums.bytes()) co_return content_too_long(bytes_max);
    if (piece.empty()) break;
    Task<Status> adding = add_piece(call, writer, sums, piece);
    const Status added = co_await adding;
    if (!added.ok()) co_return added;
  } while (call.request.source != nullptr);
  if (const Status finished = sums.finish(); !finished.ok()) co_return finished;
  co_return check_sums(sums, sent);
}

}  // namespace varve::serve
