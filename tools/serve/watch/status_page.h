// Owns: everything below /_varve/: the files of the status page, and what they ask for.
// Must never: answer anybody whom page_guard.h does not let in, or change anything: the page only looks.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest/protocol/message.h"
#include "tools/serve/watch/explorer.h"
#include "tools/serve/watch/observation.h"
#include "varve/home_thread.h"
#include "varve/task.h"

namespace varve::serve {

struct PageRules {
  /// Tables can be looked into. Whoever may see the page may read all of them then.
  bool has_explorer = false;
  /// The figures are shown to other machines too; tables never are.
  bool is_public = false;
};

/// Any thread.
class StatusPage {
 public:
  /// What is observed outlives the page. `accounts` are those that can be looked into.
  StatusPage(Store& store, const Observed& observed, std::vector<std::string> accounts, PageRules rules)
      : observed_(observed), explorer_(store, std::move(accounts)), rules_(rules) {}

  /// No account and no table can be called so.
  static bool owns(std::string_view path) noexcept;
  /// What each open page asks for once a second.
  static bool is_polled(std::string_view path) noexcept { return path == "/_varve/api/status"; }
  Task<Result<HttpResponse>> serve(HttpRequest request, HomeThread* home);
  void stop() noexcept { stop_.request_stop(); }

 private:
  Status admit(const HttpRequest& request, std::string_view name) const;
  Task<Result<std::string>> explore(const HttpRequest& request, std::string_view name, HomeThread* home);

  const Observed& observed_;
  const Explorer explorer_;
  const PageRules rules_;
  std::stop_source stop_;
};

}  // namespace varve::serve
