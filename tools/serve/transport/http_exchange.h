// Owns: converting requests and answers between Beast's types and ours, and the rules for the framing of a request.
// Must never: read or write a socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/beast/http/basic_parser.hpp>

#include "api/rest/protocol/body_stream.h"
#include "api/rest/protocol/message.h"
#include "tools/serve/transport/connection_host.h"
#include "varve/status.h"

namespace varve::serve {

/// Parses one request while it arrives. The parser stores values directly in the request, without a Beast message in
/// between. Before eager(true), read() consumes only the headers.
class RequestReader final : public boost::beast::http::basic_parser<true> {
 public:
  /// The limits must outlive the reader.
  explicit RequestReader(const ConnectionLimits& limits, bool allows_pieces = false);

  /// Takes arrived bytes. Returns the number of bytes that were taken. Gives the error `need_more` if the request goes
  /// on. Takes of a chunked body nothing but whole steps: Beast asserts that the last chunk, of which it has seen a part,
  /// has grown to five bytes, and a client may send it byte by byte.
  std::size_t read(std::string_view bytes, boost::beast::error_code& error);

  /// Checks the framing after the headers were read. Errors: kInvalidArgument (InvalidUri, InvalidHeaderValue: over the
  /// limits; InvalidInput: the body is framed in two ways or in an unknown way; MissingContentLengthHeader).
  Status check_framing() const;
  bool wants_continue() const;
  std::uint64_t body_bytes_expected() const;
  bool tells_body_bytes() const { return static_cast<bool>(content_length()); }
  /// Returns whether `bytes` bytes after the headers include the whole body.
  bool is_body_within(std::uint64_t bytes) const { return tells_body_bytes() && *content_length() <= bytes; }

  /// Limits a body that is kept in memory. Called after the headers were read, if the limits allow pieces. Errors: kTooLarge
  /// (RequestBodyTooLarge).
  Status limit_kept_body();
  /// Lets the body be read in pieces. Called after the headers were read, before eager(true) reads a byte of the body.
  void begin_pieces() noexcept { is_in_pieces_ = true; }
  /// The bytes of the body that were read and not removed, after begin_pieces() and take().
  std::string& piece() noexcept { return request_.body; }
  /// Returns whether the piece ends because the handler drops here what it keeps (kBodyKeptBytes). Then read() gives the
  /// error `need_buffer`, and takes no byte of the body until the piece was removed.
  bool is_piece_cut() const noexcept { return !request_.body.empty() && bytes_of_pieces_ % kBodyKeptBytes == 0; }

  /// Completes the request's head. Called once, after the headers were read. Returns false if the target is neither a
  /// path nor an absolute URL.
  bool complete_head(security::Arrival arrival);
  /// Valid after complete_head().
  const HttpRequest& request() const noexcept { return request_; }
  /// Returns the request as far as it was read. Called once.
  HttpRequest take() { return std::move(request_); }

 private:
  using ErrorCode = boost::beast::error_code;
  using Text = boost::beast::string_view;
  using Verb = boost::beast::http::verb;
  using Field = boost::beast::http::field;
  using Length = boost::optional<std::uint64_t>;

  void on_request_impl(Verb verb, Text verb_text, Text target, int version, ErrorCode& error) override;
  void on_response_impl(int /*status*/, Text /*reason*/, int /*version*/, ErrorCode& /*error*/) override {}
  void on_field_impl(Field field, Text name, Text value, ErrorCode& error) override;
  void on_header_impl(ErrorCode& error) override {
    error = {};
    has_all_headers_ = true;
  }
  void on_body_init_impl(const Length& length, ErrorCode& error) override;
  std::size_t on_body_impl(Text body, ErrorCode& error) override;
  void on_chunk_header_impl(std::uint64_t /*size*/, Text /*extensions*/, ErrorCode& error) override { error = {}; }
  std::size_t on_chunk_body_impl(std::uint64_t /*left*/, Text body, ErrorCode& error) override {
    return on_body_impl(body, error);
  }
  void on_finish_impl(ErrorCode& error) override { error = {}; }

  Status check_sizes() const;

  const ConnectionLimits& limits_;
  HttpRequest request_;
  std::string target_;
  std::size_t header_bytes_ = 0;
  std::uint64_t bytes_of_pieces_ = 0;
  bool has_all_headers_ = false;
  bool is_in_pieces_ = false;
};

Status bad_target();

/// Returns the answer to a request that could not be read. Returns nothing if the client is gone or was too slow.
std::optional<Status> answer_to(const boost::system::error_code& error);

/// An answer as it is sent: the status line and the headers, and then the body.
struct AnswerBytes {
  std::string head;
  std::string body;
};
/// Makes one text of a whole answer whose body has at most this many bytes. Sending two texts costs more than a copy.
inline constexpr std::size_t kJoinedBodyMax = std::size_t{16} << 10;
AnswerBytes to_bytes(HttpResponse response, bool keeps_alive);

}  // namespace varve::serve
