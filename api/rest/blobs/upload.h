// Owns: the way of a content from a request into the store: pieces, checksums, limits.
// Must never: hold more than a piece of a content in memory, or publish a content whose checksum is wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "api/rest/blobs/blob_call.h"
#include "api/rest/blobs/blob_headers.h"
#include "format/bytes/crc64.h"
#include "varve/blob.h"
#include "varve/result.h"

namespace varve::serve {

/// The checksums of a content that arrives in pieces. One thread at a time may use it.
class ContentSums {
 public:
  /// Computes the CRC-64, and the MD5 too if `with_md5` is set.
  explicit ContentSums(bool with_md5);
  ~ContentSums();
  ContentSums(const ContentSums&) = delete;
  ContentSums& operator=(const ContentSums&) = delete;

  void update(std::string_view bytes) noexcept;
  /// Computes the MD5. Called once, after the last byte. Errors: kUnsupported (InternalError: OpenSSL has no MD5).
  Status finish();
  std::uint64_t crc64() const noexcept { return crc64_.value(); }
  /// Returns nothing before finish(), or without MD5.
  const std::optional<Md5>& md5() const noexcept { return md5_; }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct Digest;
  std::unique_ptr<Digest> digest_;
  format::Crc64 crc64_;
  std::optional<Md5> md5_;
  std::uint64_t bytes_ = 0;
};

/// Checks the sums against those that the client sent. Errors: kInvalidArgument (Md5Mismatch, Crc64Mismatch). Source:
/// BB-04.
Status check_sums(const ContentSums& sums, const BodyChecksums& sent);

/// The longest content of one request under a protocol version. Source: section 0.1.
std::uint64_t put_bytes_max(std::string_view version) noexcept;
std::uint64_t block_bytes_max(std::string_view version) noexcept;
std::uint64_t append_bytes_max(std::string_view version) noexcept;

/// Returns the refusal of a content that is too long. Source: BH-07.
Status content_too_long(std::uint64_t bytes_max);
/// Checks the stated length of the request's body. Errors: kTooLarge (RequestBodyTooLarge). Source: BH-07.
Status check_stated_length(const BlobCall& call, std::uint64_t bytes_max);

/// Returns whether the whole body is small, and can be read before the request is judged. If so, `body` holds it or,
/// if it arrives in pieces, its piece will.
bool is_small_upload(const BlobCall& call) noexcept;
/// Returns the body of a small upload. The text is valid until the answer. Errors: those of BodySource::next().
Task<Result<std::string_view>> small_body(const BlobCall& call);

/// Returns the whole body, which has at most `bytes_max` bytes. `kept` holds it if it arrives in pieces. Takes `times` its
/// memory, for what the caller makes of it. Errors: those of
/// BodySource::next(), kTooLarge (RequestBodyTooLarge).
Task<Result<std::string_view>> whole_body(const BlobCall& call, std::uint64_t bytes_max, std::uint64_t times,
                                          std::string& kept);

/// Reads the body into the writer. Errors: those of BodySource::next() and BlobWriter::append(); kTooLarge
/// (RequestBodyTooLarge: more than `bytes_max` bytes); those of check_sums().
Task<Status> upload(const BlobCall& call, BlobWriter& writer, ContentSums& sums, const BodyChecksums& sent,
                    std::uint64_t bytes_max);

}  // namespace varve::serve
