// Owns: the environment of a test of the blob service: a store in memory, a dispatcher, an account, and short functions
// for requests.
// Must never: check results. The tests check them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rest/blobs/blob_dispatcher.h"
#include "tests/serve/service_bench.h"

namespace varve::serve::test {

/// A body that is handed out in pieces, as a connection does.
class TextPieces final : public BodySource {
 public:
  TextPieces(std::string text, std::size_t piece_bytes) : text_(std::move(text)), piece_bytes_(piece_bytes) {}
  Task<Result<std::string_view>> next() override {
    const std::string_view piece = std::string_view(text_).substr(at_, piece_bytes_);
    at_ += piece.size();
    co_return piece;
  }
  void keeps_all(std::uint64_t bytes_max, std::uint64_t times) override { kept_max = bytes_max * times; }
  std::uint64_t bytes() const noexcept override { return at_; }
  /// What the handler said that it keeps.
  std::uint64_t kept_max = 0;

 private:
  const std::string text_;
  const std::size_t piece_bytes_;
  std::size_t at_ = 0;
};

/// A service at http://127.0.0.1:10000/, in path style, with one container, photos.
class BlobServiceBench {
 public:
  explicit BlobServiceBench(const BlobServiceOptions& options = {}, Accounts known = accounts(),
                            const StoreLimits& limits = {})
      : photos(made(bench, limits)),
        dispatcher(
            *bench.store, std::make_shared<Keyring>(std::move(known)), [] { return kPresent; },
            [this](std::string_view, const Status& status) { failures.push_back(status); }, options) {}

  HttpRequest signed_request(std::string_view verb, std::string_view resource, std::string body = {},
                             Headers headers = {}) {
    if (verb == "PUT") headers.emplace_back("Content-Length", std::to_string(body.size()));
    return with_signature(verb, resource, std::move(body), std::move(headers));
  }
  /// A put whose body states no length.
  HttpRequest signed_chunked_request(std::string_view resource, Headers headers) {
    headers.emplace_back("Transfer-Encoding", "chunked");
    return with_signature("PUT", resource, {}, std::move(headers));
  }
  static HttpRequest with_signature(std::string_view verb, std::string_view resource, std::string body,
                                    Headers headers) {
    HttpRequest made =
        ServiceBench::request(verb, ServiceBench::path_of(resource), std::move(body), std::move(headers));
    if (find_header(made.head.headers, "x-ms-version") == nullptr) {
      made.head.headers.emplace_back("x-ms-version", "2021-12-02");
    }
    made.head.headers.emplace_back("Authorization", *security::shared_key_authorization(
                                                        security::SharedKeyScheme::kSharedKey, made.head, credentials(),
                                                        security::KeyChoice::kPrimary, StorageService::kBlobs));
    return made;
  }
  /// Sends a request, and reads the rest of its answer.
  HttpResponse send(HttpRequest made) {
    HttpResponse response = *wait(dispatcher.handle(std::move(made)));
    while (response.source && response.body.size() < *response.stated_bytes) {
      const Result<std::string> piece = wait(response.source->next());
      if (!piece.ok()) break;
      response.body += *piece;
      ++pieces;
    }
    return response;
  }
  HttpResponse send(std::string_view verb, std::string_view resource, std::string body = {}, Headers headers = {}) {
    return send(signed_request(verb, resource, std::move(body), std::move(headers)));
  }
  /// Sends a request whose body is handed out in pieces of this size.
  HttpResponse send_pieces(std::string_view verb, std::string_view resource, const std::string& body,
                           std::size_t piece_bytes, Headers headers = {}) {
    HttpRequest made = signed_request(verb, resource, body, std::move(headers));
    TextPieces source(std::exchange(made.body, {}), piece_bytes);
    made.source = &source;
    HttpResponse response = send(std::move(made));
    bytes_read = source.bytes();
    bytes_kept_max = source.kept_max;
    return response;
  }
  HttpResponse put(std::string_view blob, std::string body, Headers headers = {}) {
    headers.emplace_back("x-ms-blob-type", "BlockBlob");
    return send("PUT", "photos/" + std::string(blob), std::move(body), std::move(headers));
  }
  /// Sends a request with a SAS in the query instead of a key.
  HttpResponse send_by(const std::string& token, std::string_view verb, std::string_view resource,
                       std::string body = {}, Headers headers = {}) {
    const std::string mark = resource.find('?') == std::string_view::npos ? "?" : "&";
    return send(ServiceBench::request(verb, ServiceBench::path_of(resource) + mark + token, std::move(body),
                                      std::move(headers)));
  }
  /// Sends a request without a key and without a signature.
  HttpResponse send_anonymous(std::string_view verb, std::string_view resource, Headers headers = {}) {
    return send(ServiceBench::request(verb, ServiceBench::path_of(resource), {}, std::move(headers)));
  }
  /// Puts a body in pieces, with a SAS in the query.
  HttpResponse send_pieces_by(const std::string& token, std::string_view resource, const std::string& body,
                              Headers headers) {
    TextPieces source(body, 100'000);
    headers.emplace_back("Content-Length", std::to_string(body.size()));
    HttpRequest made =
        ServiceBench::request("PUT", ServiceBench::path_of(resource) + "?" + token, {}, std::move(headers));
    made.source = &source;
    return send(std::move(made));
  }
  /// Returns the answer's status and error string, such as "404 BlobNotFound".
  std::string told(std::string_view verb, std::string_view resource, std::string body = {}, Headers headers = {}) {
    return outcome(send(verb, resource, std::move(body), std::move(headers)));
  }

  static Container made(StoreBench& bench, const StoreLimits& limits) {
    StoreOptions options = bench.options();
    options.limits = limits;
    bench.open(options);
    EXPECT_TRUE(bench.store->create_account(kAccount).ok());
    return *bench.store->create_container(kAccount, "photos");
  }

  StoreBench bench;
  Container photos;
  std::vector<Status> failures;
  int pieces = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_kept_max = 0;
  BlobDispatcher dispatcher;
};

/// Returns the value of a header, or "(none)".
inline std::string header_of(const HttpResponse& response, std::string_view name) {
  const std::string* const value = find_header(response.headers, name);
  return value == nullptr ? "(none)" : *value;
}

}  // namespace varve::serve::test
