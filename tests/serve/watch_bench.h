// Owns: the environment of tests of the server's figures: a service with counting, logging and a status page.
// Must never: check results. The tests check them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/serve/service_bench.h"
#include "tools/serve/front.h"
#include "tools/serve/watch/monitor.h"

namespace varve::serve::test {

class WatchBench {
 public:
  explicit WatchBench(PageRules rules = {true, false}, RequestLogLevel level = RequestLogLevel::kAll,
                      const ResourceOptions& resources = {})
      : service(resources),
        observed{*service.bench.store, figures,
                 [] {
                   return ConnectionFigures{2, 5, 3};
                 }},
        page(*service.bench.store, observed, {std::string(kAccount)}, rules),
        front(service.dispatcher, figures, &page,
              {level, LogFormat::kText, [this](std::string_view line, LogFormat) { lines.emplace_back(line); }}),
        monitor(observed) {}

  HttpResponse send(HttpRequest request) { return *wait(front.handle(std::move(request), nullptr)); }
  HttpResponse send(std::string_view verb, std::string_view resource, std::string body = {}) {
    return send(service.signed_request(verb, resource, std::move(body)));
  }
  std::string insert(const std::string& row) {
    return outcome(send("POST", "Orders", R"({"PartitionKey":"p","RowKey":")" + row + "\"}"));
  }
  /// Returns a request for the page like that of a browser on this machine.
  static HttpRequest page_request(std::string_view name, Headers headers = {{"Host", "localhost:10002"}}) {
    HttpRequest request;
    request.head.verb = "GET";
    EXPECT_TRUE(set_target(request, "/_varve/" + std::string(name)));
    request.head.headers = std::move(headers);
    return request;
  }
  HttpResponse look(std::string_view name) { return send(page_request(name)); }
  HttpResponse watch(std::string_view target, std::string_view verb = "GET") {
    return *wait(monitor.handle(ServiceBench::request(verb, target), nullptr));
  }

  ServiceBench service;
  RequestFigures figures;
  Observed observed;
  StatusPage page;
  std::vector<std::string> lines;
  Front front;
  Monitor monitor;
};

}  // namespace varve::serve::test
