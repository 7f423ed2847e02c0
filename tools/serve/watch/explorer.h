// Owns: the tables, queues and containers on the status page: their names and sizes, the indexes and the rule of expiry of a
// table, entities with the plan and cost of a query, messages, and the names of blobs.
// Must never: write, or read an account that the server does not serve. It checks no signature: page_guard.h admits the
// caller before.
#pragma once

#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "varve/async.h"
#include "varve/home_thread.h"
#include "varve/result.h"

namespace varve::serve {

/// Holds views. The caller keeps the viewed data alive until the answer is complete.
struct ExplorerCall {
  std::string_view query;
  HomeThread* home = nullptr;
  std::stop_token stop{};
};

/// Can be used by any thread. Returns answers as JSON. If the query names no `account`, the first account is used.
class Explorer {
 public:
  Explorer(Store& store, std::vector<std::string> accounts) : store_(&store), accounts_(std::move(accounts)) {}
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  /// Replaces the accounts for calls that begin later. Any thread may call it. Allocates nothing.
  void replace_accounts(std::vector<std::string> accounts) noexcept;

  /// Lists the tables of `account`, starting at the token `continuation`:
  /// `{"accounts":[],"account":"","tables":[],"continuation":""}`.
  /// Errors: kNotFound (ResourceNotFound); those of Store::list_tables().
  Task<Result<std::string>> list_tables(ExplorerCall call) const;
  /// Measures `table` of `account` for at most a quarter of a second:
  /// `{"entities":1,"bytes":1,"complete":true}`. Errors: those of Store::open_table() and Table::scan().
  Task<Result<std::string>> measure_table(ExplorerCall call) const;
  /// Returns the indexes of `table` of `account`, and the rule by which its entities end. Without a rule, `expiry` is
  /// null: `{"indexes":[{"name":"","components":["A","B desc"],"carried":[],"unique":false,"state":"ready",
  /// "failure":""}],"expiry":{"property":"","age_ms":1}}`. Errors: those of Store::indexes().
  Task<Result<std::string>> describe_table(ExplorerCall call) const;
  /// Reads entities of `table` of `account` that match `filter`, starting at the token `continuation`. Returns at most
  /// `top` entities, in the order `order_by` if it is given. `backward=1` scans from the end:
  /// `{"value":[],"continuation":"","plan":{},"cost":{},"milliseconds":1.0}`. Errors: as measure_table().
  Task<Result<std::string>> read_entities(ExplorerCall call) const;
  /// Lists the queues of `account` with their figures, starting at the token `continuation`:
  /// `{"account":"","queues":[{"name":"","messages":1,"text_bytes":1}],"continuation":""}`.
  /// Errors: kNotFound (ResourceNotFound); those of Store::list_queues().
  Task<Result<std::string>> list_queues(ExplorerCall call) const;
  /// Peeks at most 32 visible messages of `queue` of `account`, and changes nothing. A text above 4 KiB is cut:
  /// `{"messages":[{"id":"","inserted":"","expires":null,"deliveries":0,"origin":"","text":"","is_cut":false}],
  /// "count":1,"text_bytes":1}`. Errors: those of Store::open_queue() and Queue::peek().
  Task<Result<std::string>> peek_messages(ExplorerCall call) const;
  /// Lists the containers of `account`, starting at the token `continuation`:
  /// `{"account":"","containers":[{"name":"","modified":"","public_access":"none"}],"continuation":""}`.
  /// Errors: kNotFound (ResourceNotFound); those of Store::list_containers().
  Task<Result<std::string>> list_containers(ExplorerCall call) const;
  /// Lists blobs of `container` of `account` whose names begin with `prefix`, starting at the token `continuation`. Names
  /// that have a slash after the prefix are folded, as in a directory:
  /// `{"directories":[],"blobs":[{"name":"","kind":"block","bytes":1,"modified":"","content_type":""}],"continuation":""}`.
  /// Errors: those of Store::open_container() and Container::list().
  Task<Result<std::string>> list_blobs(ExplorerCall call) const;

 private:
  struct Named;
  std::vector<std::string> accounts() const;
  /// Returns the account, and what the parameter `kind` ("table", "queue" or "container") names.
  Result<Named> named(std::string_view query, std::string_view kind) const;
  Task<Result<Table>> open_table(ExplorerCall call) const;

  Store* store_;
  mutable std::mutex mutex_;
  std::vector<std::string> accounts_;
};

}  // namespace varve::serve
