// Owns: the environment of a test of the queue service: a store in memory, a dispatcher, an account, and short functions
// for requests.
// Must never: check results. The tests check them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/rest/queues/queue_dispatcher.h"
#include "tests/api/queue/queue_bench.h"
#include "tests/serve/service_bench.h"

namespace varve::serve::test {

/// A service at http://127.0.0.1:10001/, in path style, with one queue, orders. The clock of the store is that of the
/// test; the one of signatures does not advance.
class QueueServiceBench {
 public:
  explicit QueueServiceBench(std::vector<DeadLetterRule> dead_letters = {})
      : orders(bench.queue()),
        dispatcher(
            *bench.store, std::make_shared<Keyring>(accounts()), [] { return kPresent; },
            [this](std::string_view, const Status& status) { failures.push_back(status); }, std::move(dead_letters)) {}

  HttpRequest signed_request(std::string_view verb, std::string_view resource, std::string body = {},
                             Headers headers = {}) {
    if (!body.empty()) headers.emplace_back("Content-Length", std::to_string(body.size()));
    HttpRequest made =
        ServiceBench::request(verb, ServiceBench::path_of(resource), std::move(body), std::move(headers));
    if (find_header(made.head.headers, "x-ms-version") == nullptr) {
      made.head.headers.emplace_back("x-ms-version", "2021-12-02");
    }
    made.head.headers.emplace_back("Authorization", *security::shared_key_authorization(
                                                        security::SharedKeyScheme::kSharedKey, made.head, credentials(),
                                                        security::KeyChoice::kPrimary, StorageService::kQueues));
    return made;
  }
  HttpResponse send(HttpRequest made) { return *wait(dispatcher.handle(std::move(made))); }
  HttpResponse send(std::string_view verb, std::string_view resource, std::string body = {}, Headers headers = {}) {
    return send(signed_request(verb, resource, std::move(body), std::move(headers)));
  }
  /// Sends a request with a SAS in the query instead of a key.
  HttpResponse send_by(const std::string& token, std::string_view verb, std::string_view resource,
                       std::string body = {}, Headers headers = {}) {
    const std::string mark = resource.find('?') == std::string_view::npos ? "?" : "&";
    return send(ServiceBench::request(verb, ServiceBench::path_of(resource) + mark + token, std::move(body),
                                      std::move(headers)));
  }
  /// Returns the answer's status and error string, such as "404 QueueNotFound".
  std::string told(std::string_view verb, std::string_view resource, std::string body = {}, Headers headers = {}) {
    return outcome(send(verb, resource, std::move(body), std::move(headers)));
  }

  QueueBench bench;
  Queue orders;
  std::vector<Status> failures;
  QueueDispatcher dispatcher;
};

inline std::string message_body(std::string_view text) {
  return "<QueueMessage><MessageText>" + std::string(text) + "</MessageText></QueueMessage>";
}

/// Returns the text between the first `<name>` and its end, or "(none)".
inline std::string element(std::string_view xml, std::string_view name) {
  const std::string open = "<" + std::string(name) + ">";
  const std::size_t begin = xml.find(open);
  if (begin == std::string_view::npos) return "(none)";
  const std::size_t end = xml.find("</" + std::string(name) + ">", begin);
  return std::string(xml.substr(begin + open.size(), end - begin - open.size()));
}

/// Returns the path of a message with its receipt, as an answer names it.
inline std::string message_path(const HttpResponse& answer) {
  return "orders/messages/" + element(answer.body, "MessageId") +
         "?popreceipt=" + encoded(element(answer.body, "PopReceipt"));
}

}  // namespace varve::serve::test
