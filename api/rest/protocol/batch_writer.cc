#include "api/rest/protocol/batch_writer.h"

namespace varve::serve {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

/// The usual bytes of an inner answer without its body, unless clients send long names.
constexpr std::size_t kUsualHeadBytes = 512;

/// Appends one inner answer after its delimiter.
void append_answer(std::string& text, const BatchAnswer& answer) {
  const HttpResponse& response = answer.response;
  text.append("Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n");
  text.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  text.append(reason_phrase(response.status)).append(kLineEnd);
  if (!answer.content_id.empty()) text.append("Content-ID: ").append(answer.content_id).append(kLineEnd);
  text.append("X-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\n");
  for (const auto& [name, value] : response.headers) text.append(name).append(": ").append(value).append(kLineEnd);
  const bool has_preference = find_header(response.headers, "preference-applied") != nullptr;
  text.append("DataServiceVersion: ").append(has_preference || !response.body.empty() ? "3.0;" : "1.0;");
  text.append(kLineEnd).append(kLineEnd).append(response.body).append(kLineEnd);
}

std::size_t usual_bytes(const std::vector<BatchAnswer>& answers) noexcept {
  std::size_t bytes = 0;
  for (const BatchAnswer& answer : answers) bytes += kUsualHeadBytes + answer.response.body.size();
  return bytes;
}

}  // namespace

HttpResponse write_batch(const std::vector<BatchAnswer>& answers, bool is_change_set, std::string_view unique) {
  const std::string outer = "batchresponse_" + std::string(unique);
  const std::string inner = is_change_set ? "changesetresponse_" + std::string(unique) : outer;
  HttpResponse response;
  response.status = 202;
  response.with("Content-Type", "multipart/mixed; boundary=" + outer);
  response.body.reserve(usual_bytes(answers));
  if (is_change_set) {
    response.body.append("--").append(outer).append("\r\nContent-Type: multipart/mixed; boundary=").append(inner);
    response.body.append(kLineEnd).append(kLineEnd);
  }
  for (const BatchAnswer& answer : answers) {
    response.body.append("--").append(inner).append(kLineEnd);
    append_answer(response.body, answer);
  }
  response.body.append("--").append(inner).append("--\r\n");
  if (is_change_set) response.body.append("--").append(outer).append("--\r\n");
  return response;
}

}  // namespace varve::serve
