#include "tools/serve/local/operator_door.h"

#include <filesystem>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "api/rest/encoding/json_text.h"
#include "api/rest/encoding/service_properties_xml.h"
#include "api/rest/protocol/operator_error.h"
#include "api/rest/protocol/query_value.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/service/call.h"
#include "tools/serve/local/blob_door.h"
#include "tools/serve/local/client_hold.h"
#include "tools/serve/local/door_query.h"
#include "tools/serve/local/queue_door.h"
#include "tools/serve/local/store_identity.h"
#include "tools/serve/local/table_door.h"
#include "tools/serve/local/value_door.h"
#include "varve/version.h"

namespace varve::serve {
namespace {

constexpr std::string_view kOperatorRoot = "/_varve/";
constexpr std::string_view kAccounts = "accounts/";
constexpr std::string_view kAnswerType = "application/json; charset=utf-8";

HttpResponse json_answer(std::uint16_t status, std::string body) {
  HttpResponse response;
  response.status = status;
  response.with("Content-Type", kAnswerType).with("Cache-Control", "no-store");
  response.body = std::move(body);
  return response;
}

HttpResponse failure_answer(const Status& status) {
  const WireError error = wire_error(status);
  JsonText json;
  json.begin_object().member("code").text(error.code).member("message").text(error.message).end_object();
  HttpResponse response = json_answer(error.status, json.take());
  response.with("x-ms-error-code", error.code);
  add_operator_error(response, status);
  return response;
}

/// A checkpoint that a client uses. The end of the client's connection destroys this object.
class ClientCheckpoint final : public ClientHold {
 public:
  ClientCheckpoint(Store& store, std::string path) : store_(store), path_(std::move(path)) {}
  /// Removes the files on a thread of the store, because the thread of the connection must not touch the disk.
  ~ClientCheckpoint() override {
    try {
      start(AsyncStore(store_).run([path = path_](Store&) {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
        return Status();
      }),
            [](const Status&) {});
    } catch (const std::bad_alloc&) {  // The end of the server removes it.
    }
  }

 private:
  Store& store_;
  const std::string path_;
};

}  // namespace

Status OperatorDoor::check_store(const HttpRequest& request) const {
  const std::string* const meant = find_header(request.head.headers, kStoreHeader);
  if (meant != nullptr && *meant == identity_) return Status();
  return Status::not_found("this server has another store open than the one that the client means")
      .with_service_error("ResourceNotFound");
}

Task<Status> OperatorDoor::admit(const HttpRequest& request, HomeThread* /*home*/) {
  co_return check_store(request);
}

HttpResponse OperatorDoor::refuse(const Status& status, const std::string& client_ip) {
  return others_.refuse(status, client_ip);
}

Task<Result<HttpResponse>> OperatorDoor::handle(HttpRequest request, HomeThread* home) {
  if (Status same = check_store(request); !same.ok()) co_return failure_answer(same);
  if (!request.head.path.starts_with(kOperatorRoot)) {
    request.is_operator = true;
    Task<Result<HttpResponse>> handling = others_.handle(std::move(request), home);
    Result<HttpResponse> handled = co_await handling;
    co_return handled;
  }
  if (request.refusal) co_return failure_answer(*request.refusal);
  Task<Result<HttpResponse>> routing = route(request, home);
  Result<HttpResponse> answered = co_await routing;
  if (answered.ok()) co_return answered;
  co_return failure_answer(answered.status());
}

Task<Result<HttpResponse>> OperatorDoor::route(const HttpRequest& request, HomeThread* home) {
  const std::string_view name = std::string_view(request.head.path).substr(kOperatorRoot.size());
  const std::string_view verb = request.head.verb;
  if (name == "store" && verb == "GET") co_return describe();
  if (name == "checkpoint" && verb == "POST") {
    Task<Result<HttpResponse>> making = make_checkpoint(request, home);
    Result<HttpResponse> made = co_await making;
    co_return made;
  }
  if (name == "accounts" && verb == "GET") {
    Task<Result<HttpResponse>> listing = list_accounts(request, home);
    Result<HttpResponse> listed = co_await listing;
    co_return listed;
  }
  if (name.starts_with(kAccounts) && (verb == "PUT" || verb == "DELETE")) {
    Task<Result<HttpResponse>> changing = change_account(request, std::string(name.substr(kAccounts.size())), home);
    Result<HttpResponse> changed = co_await changing;
    co_return changed;
  }
  if (name == "properties" && (verb == "GET" || verb == "PUT")) {
    Task<Result<HttpResponse>> answering =
        verb == "GET" ? show_properties(request, home) : change_properties(request, home);
    Result<HttpResponse> answered = co_await answering;
    co_return answered;
  }
  if (name == "queues" && verb == "POST") {
    Task<Result<HttpResponse>> answering = answer_queue_request(store_, request, home, stop_.get_token());
    Result<HttpResponse> answered = co_await answering;
    co_return answered;
  }
  if (name == "tables" && verb == "POST") {
    Task<Result<HttpResponse>> answering = answer_table_request(store_, request, home, stop_.get_token());
    Result<HttpResponse> answered = co_await answering;
    co_return answered;
  }
  if (name == "values" && verb == "POST") {
    Task<Result<HttpResponse>> answering = answer_value_request(store_, request, home, stop_.get_token());
    Result<HttpResponse> answered = co_await answering;
    co_return answered;
  }
  if (name == "blobs" && verb == "POST") {
    Task<Result<HttpResponse>> answering = answer_blob_request(store_, request, home, stop_.get_token());
    Result<HttpResponse> answered = co_await answering;
    co_return answered;
  }
  co_return Status::unsupported("the server has no route for " + request.head.verb + " " + request.head.path)
      .with_service_error("NotImplemented");
}

HttpResponse OperatorDoor::describe() const {
  JsonText json;
  json.begin_object().member("store").text(identity_);
  json.member("process").number(std::to_string(::getpid())).member("program").text("varve serve");
  json.member("version").text(VARVE_VERSION).end_object();
  return json_answer(200, json.take());
}

Task<Result<HttpResponse>> OperatorDoor::make_checkpoint(const HttpRequest& request, HomeThread* home) {
  if (request.kept == nullptr) co_return Status::unsupported("a checkpoint needs a connection that keeps it");
  const std::string name = std::to_string(checkpoints_.fetch_add(1, std::memory_order_relaxed) + 1);
  const std::string path = directory_ + "/" + name;
  keep_for_client(request, std::make_shared<ClientCheckpoint>(store_, path));
  Task<Result<CheckpointStatistics>> making = AsyncStore(store_).checkpoint(path, stop_.get_token());
  const Result<CheckpointStatistics> made = co_await at_home(home, std::move(making));
  if (!made.ok()) {
    request.kept->reset();
    co_return made.status();
  }
  JsonText json;
  json.begin_object().member("name").text(name).member("version").text((*made).version.to_string()).end_object();
  co_return json_answer(201, json.take());
}

Task<Result<HttpResponse>> OperatorDoor::list_accounts(const HttpRequest& request, HomeThread* home) {
  ListOptions options;
  Result<std::string> prefix = query_text(request.head.query, "prefix");
  if (!prefix.ok()) co_return prefix.status();
  Result<std::string> continuation = query_text(request.head.query, "continuation");
  if (!continuation.ok()) co_return continuation.status();
  options.prefix = *std::move(prefix);
  options.continuation = *std::move(continuation);
  Task<Result<AccountPage>> listing = AsyncStore(store_).list_accounts(std::move(options), stop_.get_token());
  const Result<AccountPage> page = co_await at_home(home, std::move(listing));
  if (!page.ok()) co_return page.status();
  JsonText json;
  json.begin_object().member("accounts").begin_array();
  for (const AccountInfo& account : (*page).accounts) {
    json.begin_object().member("name").text(account.name);
    json.member("created").text(account.created.to_string()).end_object();
  }
  json.end_array();
  if ((*page).continuation) json.member("continuation").text(*(*page).continuation);
  json.end_object();
  co_return json_answer(200, json.take());
}

Task<Result<HttpResponse>> OperatorDoor::change_account(const HttpRequest& request, std::string name,
                                                        HomeThread* home) {
  const AsyncStore store(store_);
  const bool is_new = request.head.verb == "PUT";
  Task<Status> changing =
      is_new ? store.create_account(name, stop_.get_token()) : store.drop_account(name, stop_.get_token());
  const Status changed = co_await at_home(home, std::move(changing));
  changed_(name);  // a drop takes the properties of the account's services
  if (!changed.ok()) co_return changed;
  co_return json_answer(is_new ? 201 : 204, is_new ? "{}" : "");
}

Task<Result<HttpResponse>> OperatorDoor::show_properties(const HttpRequest& request, HomeThread* home) {
  DoorQuery asked(request.head.query);
  std::string account = asked.text("account");
  const StorageService service = asked.service("service");
  if (!asked.failure().ok()) co_return asked.failure();
  Task<Result<ServiceProperties>> reading =
      AsyncStore(store_).service_properties(std::move(account), service, stop_.get_token());
  const Result<ServiceProperties> properties = co_await at_home(home, std::move(reading));
  if (!properties.ok()) co_return properties.status();
  HttpResponse response;
  response.with("Content-Type", "application/xml").with("Cache-Control", "no-store");
  response.body = write_service_properties(*properties, true, service);
  co_return response;
}

Task<Result<HttpResponse>> OperatorDoor::change_properties(const HttpRequest& request, HomeThread* home) {
  DoorQuery asked(request.head.query);
  const std::string account = asked.text("account");
  const StorageService service = asked.service("service");
  if (!asked.failure().ok()) co_return asked.failure();
  Result<ServicePropertiesChange> change = read_service_properties(request.body, true, service);
  if (!change.ok()) co_return change.status();
  Task<Status> setting =
      AsyncStore(store_).set_service_properties(account, *std::move(change), service, stop_.get_token());
  const Status set = co_await at_home(home, std::move(setting));
  changed_(account);
  if (!set.ok()) co_return set;
  co_return carried_out_answer([] { return json_answer(200, "{}"); });
}

}  // namespace varve::serve
