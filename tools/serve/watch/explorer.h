// Owns: what the status page shows of tables: their names, their size, their entities and how these were found.
// Must never: write, or look into an account that the server does not serve. It asks for no signature: who may come
// here is decided before (page_guard.h).
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "varve/async.h"
#include "varve/home_thread.h"
#include "varve/result.h"

namespace varve::serve {

/// Views: who calls keeps what they view until the answer is there.
struct ExplorerCall {
  std::string_view query;
  HomeThread* home = nullptr;
  std::stop_token stop{};
};

/// Answers are JSON. Without `account` it is the first one.
class Explorer {
 public:
  Explorer(Store& store, std::vector<std::string> accounts) : store_(&store), accounts_(std::move(accounts)) {}

  /// Of `account`, from the token `continuation` on: `{"accounts":[],"account":"","tables":[],"continuation":""}`.
  /// Errors: kNotFound (ResourceNotFound); those of Store::list_tables().
  Task<Result<std::string>> list_tables(ExplorerCall call) const;
  /// Of `account` and `table`, as far as a quarter of a second comes:
  /// `{"entities":1,"bytes":1,"complete":true}`. Errors: those of Store::open_table() and Table::scan().
  Task<Result<std::string>> measure_table(ExplorerCall call) const;
  /// Of `account` and `table`, by `filter`, from the token `continuation` on, at most `top`, `backward=1` from the end:
  /// `{"value":[],"continuation":"","plan":{},"cost":{},"milliseconds":1.0}`. Errors: as measure_table().
  Task<Result<std::string>> read_entities(ExplorerCall call) const;

 private:
  struct Named;
  Result<Named> named_table(std::string_view query) const;
  Task<Result<Table>> open_table(ExplorerCall call) const;

  Store* store_;
  std::vector<std::string> accounts_;
};

}  // namespace varve::serve
