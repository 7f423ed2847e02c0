// Owns: all paths below /_varve/: the files of the status page, and the data that they request.
// Must never: answer a caller that page_guard.h refuses, or change anything: the page only reads.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rest/protocol/message.h"
#include "tools/serve/watch/explorer.h"
#include "tools/serve/watch/observation.h"
#include "varve/home_thread.h"
#include "varve/task.h"

namespace varve::serve {

struct PageRules {
  /// Whether the page shows the content of tables. Every user who may see the page can then read all tables.
  bool has_explorer = false;
  /// Whether other machines may see the figures. They never see tables.
  bool is_public = false;
};

/// Can be used by any thread.
class StatusPage {
 public:
  /// The observed objects must outlive the page. `accounts` are the accounts whose tables can be shown.
  StatusPage(Store& store, const Observed& observed, std::vector<std::string> accounts, PageRules rules)
      : observed_(observed), explorer_(store, std::move(accounts)), rules_(rules) {}

  /// Returns whether the path belongs to the status page. No account and no table can have such a name.
  static bool owns(std::string_view path) noexcept;
  /// Returns whether the path is the one that each open page requests once a second.
  static bool is_polled(std::string_view path) noexcept { return path == "/_varve/api/status"; }
  Task<Result<HttpResponse>> serve(HttpRequest request, HomeThread* home);
  /// Replaces the accounts whose tables can be shown. Allocates nothing.
  void replace_accounts(std::vector<std::string> accounts) noexcept { explorer_.replace_accounts(std::move(accounts)); }
  void stop() noexcept { stop_.request_stop(); }

 private:
  Status admit(const HttpRequest& request, std::string_view name) const;

  const Observed& observed_;
  Explorer explorer_;
  const PageRules rules_;
  std::stop_source stop_;
};

}  // namespace varve::serve
