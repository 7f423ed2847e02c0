// Owns: batches as texts, for the tests of batches.
// Must never: check results. The tests check them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/serve/service_bench.h"

namespace varve::serve::test {

inline constexpr std::string_view kBatchType = "multipart/mixed; boundary=batch_b1";

/// One request of a batch. Its body follows the empty line.
struct PartText {
  std::string verb;
  std::string url;
  std::string headers{};
  std::string body{};

  std::string text() const {
    return "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" + verb + " " + url +
           " HTTP/1.1\r\n" + headers + "\r\n" + body + "\r\n";
  }
};

inline std::string change_set_text(const std::vector<PartText>& parts) {
  std::string text = "--batch_b1\r\nContent-Type: multipart/mixed; boundary=changeset_c1\r\n\r\n";
  for (const PartText& part : parts) text += "--changeset_c1\r\n" + part.text();
  return text + "--changeset_c1--\r\n--batch_b1--\r\n";
}
inline std::string lone_text(const PartText& part) {
  return "--batch_b1\r\n" + part.text() + "--batch_b1--\r\n";
}

/// Returns an insert of the row, whose property V is JSON text.
inline PartText insert_part(const std::string& row, const std::string& value = "x", const std::string& headers = {}) {
  return {"POST", ServiceBench::path_of("Orders"), "Content-Type: application/json\r\n" + headers,
          R"({"PartitionKey":"p","RowKey":")" + row + R"(","V":")" + value + "\"}"};
}
inline std::string row_path(const std::string& row, const std::string& query = {}) {
  return ServiceBench::path_of("Orders(PartitionKey='p',RowKey='" + row + "')" + query);
}

}  // namespace varve::serve::test
