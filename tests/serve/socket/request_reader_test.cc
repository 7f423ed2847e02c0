// Owns: the proof that a request is read alike in whatever pieces its bytes arrive.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <boost/beast/http/error.hpp>
#include <gtest/gtest.h>

#include "tools/serve/transport/http_exchange.h"

namespace varve::serve::request_reader_test {
namespace {

struct Form {
  std::string_view sent;
  std::string_view body;
  /// Whether all of it is one request.
  bool is_whole = true;
};

constexpr Form kForms[] = {
    {"0\r\n\r\n", ""},
    {"000\r\n\r\n", ""},
    {"0;last\r\n\r\n", ""},
    {"0\r\nA: b\r\n\r\n", ""},
    {"3\r\nabc\r\n0\r\n\r\n", "abc"},
    {"3\r\nabc\r\n0\r\nA: b\r\nC: d\r\n\r\n", "abc"},
    {"1\r\na\r\n1\r\nb\r\n0\r\n\r\n", "ab"},
    {"1;x=y\r\na\r\n4\r\nbcde\r\n0;z\r\n\r\n", "abcde"},
    {"0\r\n", "", false},
    {"3\r\nabc\r\n0\r\n", "abc", false},
    {"3\r\nabcd\r\n", "abc", false},
    {"x\r\n\r\n\r\n", "", false},
    {"\r\n\r\n\r\n", "", false},
    {"0\r\r\n\r\n\r\n", "", false},
    {"0\n\n\n\n\n", "", false},
};

/// Reads a chunked body that arrives `step` bytes at a time. Returns whether all of it was read.
bool read_by_steps(std::string_view chunks, std::size_t step, std::string& body) {
  const ConnectionLimits limits;
  RequestReader reader(limits);
  const std::string request =
      "PUT /here HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(chunks);
  std::string buffer;
  for (std::size_t sent = 0; sent < request.size(); sent += step) {
    buffer.append(request, sent, step);
    for (std::size_t taken = 1; taken > 0 && !reader.is_done();) {
      boost::beast::error_code error;
      taken = reader.read(buffer, error);
      buffer.erase(0, taken);
      if (error && error != boost::beast::http::error::need_more) return false;
      if (reader.is_header_done() && !reader.is_done()) reader.eager(true);
    }
  }
  body = reader.take().body;
  return reader.is_done() && buffer.empty();
}

TEST(RequestReader, ReadsAChunkedBodyAlikeInPiecesOfAnyLength) {
  for (const Form& form : kForms) {
    for (std::size_t step = 1; step <= 120; step += 1 + step / 16) {
      std::string body;
      EXPECT_EQ(read_by_steps(form.sent, step, body), form.is_whole) << form.sent << " by " << step;
      if (form.is_whole) {
        EXPECT_EQ(body, form.body) << form.sent << " by " << step;
      }
    }
  }
}

}  // namespace
}  // namespace varve::serve::request_reader_test
