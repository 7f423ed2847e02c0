#include "tools/varve/reach/rest_access.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/model/metrics_tables.h"
#include "api/model/service_error.h"
#include "api/rest/encoding/policy_xml.h"
#include "api/rest/encoding/service_properties_xml.h"
#include "api/rest/protocol/target.h"
#include "api/rest/service/accounts.h"
#include "api/security/http_date.h"
#include "api/security/query_fields.h"
#include "tools/serve/local/door_query.h"
#include "tools/varve/reach/rest_answer.h"
#include "tools/varve/reach/rest_table.h"
#include "varve/names.h"

namespace varve::tool {
namespace {

using serve::HttpRequest;
using serve::HttpResponse;
using Json = nlohmann::ordered_json;

constexpr std::string_view kAccounts = "/_varve/accounts";
constexpr std::string_view kProperties = "/_varve/properties";
/// Between two questions for the state of a build.
constexpr std::chrono::milliseconds kPollMin{50};
constexpr std::chrono::milliseconds kPollMax{1000};

Result<AccountPage> accounts_of_answer(const std::string& body) {
  const Json json = Json::parse(body, nullptr, false);
  AccountPage page;
  try {
    for (const Json& account : json.at("accounts")) {
      const Result<DateTime> created = DateTime::parse(account.at("created").get<std::string>());
      if (!created.ok()) return created.status();
      page.accounts.push_back({account.at("name").get<std::string>(), *created});
    }
    if (json.contains("continuation")) page.continuation = json.at("continuation").get<std::string>();
  } catch (const Json::exception&) {
    return Status::io_error("the answer of the server is no list of accounts");
  }
  return page;
}

class RestStore final : public StoreAccess {
 public:
  RestStore(std::shared_ptr<Wire> wire, RestPlace place) : wire_(std::move(wire)), place_(std::move(place)) {}

  Result<std::unique_ptr<TableAccess>> open_table(const std::string& account, const std::string& table) override {
    if (Status named = check_names(account, table); !named.ok()) return named;
    const std::string root = root_of(account);
    const Status exists = send(service_request("GET", root + "/" + serve::table_reference(table)));
    // A signature for one table may not ask for it. The verbs of the table then find out.
    if (exists.service_error() == "ResourceNotFound") {  // The service names neither, so the program does.
      return service_error::table_not_found("account '" + account + "' has no table '" + table + "'");
    }
    if (!exists.ok() && exists.code() != Code::kForbidden) return exists;
    return table_through(wire_, root, table,
                         is_operator() ? std::optional<TableDoor>(door_of(account, table)) : std::nullopt);
  }

  Status create_table(const std::string& account, const std::string& table, const TableOptions& options) override {
    if (Status named = check_names(account, table); !named.ok()) return named;
    if (options.has_large_values || options.expiry) {
      if (is_operator()) return door_of(account, table).create(options);
      return options.expiry ? no_expiry_at_address() : only_here("creating a table with large values");
    }
    HttpRequest request = service_request("POST", root_of(account) + "/Tables", Json{{"TableName", table}}.dump());
    request.head.headers.emplace_back("Content-Type", "application/json");
    request.head.headers.emplace_back("Prefer", "return-no-content");
    return send(std::move(request));
  }

  Status drop_table(const std::string& account, const std::string& table) override {
    if (Status named = check_names(account, table); !named.ok()) return named;
    return send(service_request("DELETE", root_of(account) + "/" + serve::table_reference(table)));
  }

  /// The server goes on with a build after its answer.
  Status create_index(const std::string& account, const std::string& table, const IndexDefinition& definition,
                      const std::function<bool(const IndexBuildProgress&)>& progress) override {
    if (Status named = check_names(account, table); !named.ok()) return named;
    HttpRequest request = service_request("POST", indexes_target(account, table), index_body(definition));
    request.head.headers.emplace_back("Content-Type", "application/json");
    const Result<HttpResponse> response = wire_->send(std::move(request));
    if (!response.ok()) return response.status();
    if (Status status = status_of(*response); !status.ok()) return explained(status);
    if ((*response).status == 201) return Status();
    for (std::chrono::milliseconds pause = kPollMin;; pause = std::min(2 * pause, kPollMax)) {
      const Result<std::vector<ServedIndex>> indexes = served_indexes(account, table);
      if (!indexes.ok()) return indexes.status();
      const auto built = std::find_if((*indexes).begin(), (*indexes).end(), [&definition](const ServedIndex& index) {
        return index.info.definition.name == definition.name;
      });
      if (built == (*indexes).end()) return Status::not_found("the index was dropped while it was being built");
      if (built->info.state == IndexState::kReady) return Status();
      if (built->info.state == IndexState::kFailed) return Status(Code::kConflict, built->info.failure);
      if (!built->build) {
        return Status(Code::kUnknown, "the server has stopped the build; repeat the line to go on" +
                                          (built->info.failure.empty() ? "" : ": " + built->info.failure));
      }
      if (progress && !progress(*built->build)) {
        return Status(Code::kCancelled, "the server goes on with the build; `varve index list` shows its state");
      }
      std::this_thread::sleep_for(pause);
    }
  }
  Status drop_index(const std::string& account, const std::string& table, const std::string& index) override {
    if (Status named = check_names(account, table); !named.ok()) return named;
    std::string query;
    security::append_field(query, "index", index);
    return explained(send(service_request("DELETE", indexes_target(account, table) + "&" + query)));
  }
  Result<std::vector<IndexInfo>> indexes(const std::string& account, const std::string& table) override {
    if (Status named = check_names(account, table); !named.ok()) return named;
    Result<std::vector<ServedIndex>> served = served_indexes(account, table);
    if (!served.ok()) return served.status();
    std::vector<IndexInfo> infos;
    for (ServedIndex& index : *served) infos.push_back(std::move(index.info));
    return infos;
  }

  Status set_table_expiry(const std::string& account, const std::string& table,
                          const std::optional<TableExpiry>& expiry) override {
    if (Status named = check_names(account, table); !named.ok()) return named;
    return is_operator() ? door_of(account, table).set_expiry(expiry) : no_expiry_at_address();
  }
  Result<std::optional<TableExpiry>> table_expiry(const std::string& account, const std::string& table) override {
    if (Status named = check_names(account, table); !named.ok()) return named;
    if (!is_operator()) return no_expiry_at_address();
    return door_of(account, table).expiry();
  }

  Result<std::vector<AccessPolicy>> access_policies(const std::string& account, const std::string& table) override {
    if (Status named = check_names(account, table); !named.ok()) return named;
    const Result<HttpResponse> response = wire_->send(service_request("GET", policies_target(account, table)));
    if (!response.ok()) return response.status();
    if (Status status = status_of(*response); !status.ok()) return status;
    const auto empty = is_operator() ? serve::EmptyPermission::kPermitsNothing : serve::EmptyPermission::kLeftOut;
    return serve::read_policies((*response).body, &Permissions::parse, empty);
  }
  Status set_access_policies(const std::string& account, const std::string& table,
                             const std::vector<AccessPolicy>& policies) override {
    if (Status named = check_names(account, table); !named.ok()) return named;
    HttpRequest request = service_request("PUT", policies_target(account, table), serve::write_policies(policies));
    request.head.headers.emplace_back("Content-Type", "application/xml");
    return send(std::move(request));
  }

  Result<ServiceProperties> service_properties(const std::string& account, StorageService service) override {
    if (Status named = check_account(account); !named.ok()) return named;
    const Result<HttpResponse> response = wire_->send(service_request("GET", properties_target(account, service)));
    if (!response.ok()) return response.status();
    if (Status status = status_of(*response); !status.ok()) return status;
    return properties_of_answer(*response, service);
  }
  Status set_service_properties(const std::string& account, StorageService service,
                                const ServicePropertiesChange& change) override {
    if (Status named = check_account(account); !named.ok()) return named;
    HttpRequest request =
        service_request("PUT", properties_target(account, service), serve::write_properties_change(change));
    request.head.headers.emplace_back("Content-Type", "application/xml");
    return send(std::move(request));
  }

  Result<TablePage> list_tables(const std::string& account, const ListOptions& options) override {
    if (Status named = check_account(account); !named.ok()) return named;
    std::string query;
    if (!options.prefix.empty()) {
      // The service compares names without case, in lower case.
      const std::string from = options.prefix;
      security::append_field(query, "$filter", "TableName ge '" + from + "' and TableName lt '" + from + "{'");
    }
    security::append_field(query, "NextTableName", options.continuation);
    const Result<HttpResponse> response =
        wire_->send(service_request("GET", root_of(account) + "/Tables" + (query.empty() ? "" : "?" + query)));
    if (!response.ok()) return response.status();
    if (Status status = status_of(*response); !status.ok()) return status;
    return tables_of_answer(*response);
  }

  Status create_account(const std::string& account) override {
    if (!is_operator()) return check_account(account);  // the account exists, since it has a key
    return change_account("PUT", account);
  }
  Status drop_account(const std::string& account) override {
    if (!is_operator()) return only_here("dropping an account");
    return change_account("DELETE", account);
  }
  Result<AccountPage> list_accounts(const ListOptions& options) override {
    if (!is_operator()) return only_here("a list of accounts");
    std::string query;
    security::append_field(query, "prefix", options.prefix);
    security::append_field(query, "continuation", options.continuation);
    const Result<HttpResponse> response =
        wire_->send(request_to("GET", std::string(kAccounts) + (query.empty() ? "" : "?" + query)));
    if (!response.ok()) return response.status();
    if (Status status = status_of(*response); !status.ok()) return status;
    return accounts_of_answer((*response).body);
  }

  /// Reads the server's clock, which each answer shows in whole seconds.
  Result<DateTime> now() override {
    const std::string root = root_of(place_.account.value_or(std::string(serve::kDevelopmentAccount)));
    const Result<HttpResponse> response = wire_->send(service_request("GET", root + "/Tables?$top=1"));
    if (!response.ok()) return response.status();
    const std::string* const date = serve::find_header((*response).headers, "date");
    const std::optional<DateTime> time = date == nullptr ? std::nullopt : security::parse_http_date(*date);
    if (!time) return Status::io_error("the answer of the server has no date");
    return *time;
  }
  Store* local() noexcept override { return nullptr; }
  Status close() override { return Status(); }

 private:
  bool is_operator() const noexcept { return !place_.account.has_value(); }
  std::string root_of(const std::string& account) const {
    return is_operator() ? place_.path + "/" + account : place_.path;
  }
  static Status only_here(const std::string& what) {
    return Status::invalid_argument(what +
                                    " concerns the whole store; give the directory of the store instead of an address");
  }

  Status check_account(const std::string& account) const {
    if (Status named = check_account_name(account); !named.ok()) return named;
    if (is_operator() || account == *place_.account) return Status();
    return Status::invalid_argument("the address and its key are of account " + *place_.account + ", not of " +
                                    account);
  }
  Status check_names(const std::string& account, const std::string& table) const {
    const Status named = check_account(account);
    return named.ok() && !metrics_table(table) ? check_table_name(table) : named;
  }

  std::string indexes_target(const std::string& account, const std::string& table) const {
    return root_of(account) + "/" + table + "?comp=indexes";
  }
  std::string policies_target(const std::string& account, const std::string& table) const {
    return root_of(account) + "/" + table + "?comp=acl";
  }
  std::string properties_target(const std::string& account, StorageService service) const {
    if (!is_operator()) return root_of(account) + "/?restype=service&comp=properties";
    std::string query;
    security::append_field(query, "account", account);
    security::append_field(query, "service", serve::name_of_service(service));
    return std::string(kProperties) + "?" + query;
  }
  static std::string index_body(const IndexDefinition& definition) {
    std::string components;
    for (const IndexComponent& component : definition.components) {
      if (!components.empty()) components += ",";
      components += component.property + (component.is_descending ? " desc" : "");
    }
    std::string carried;
    for (const std::string& name : definition.carried) carried += (carried.empty() ? "" : ",") + name;
    return Json{
        {"Name", definition.name}, {"Components", components}, {"Carried", carried}, {"Unique", definition.is_unique}}
        .dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  /// Adds a hint if the server does not answer about indexes.
  static Status explained(const Status& status) {
    if (status.service_error() != "InvalidQueryParameterValue") return status;
    return status.with_hint("the table service has no indexes; `varve serve --extensions allow` has them");
  }
  Result<std::vector<ServedIndex>> served_indexes(const std::string& account, const std::string& table) const {
    const Result<HttpResponse> response = wire_->send(service_request("GET", indexes_target(account, table)));
    if (!response.ok()) return response.status();
    if (Status status = status_of(*response); !status.ok()) return explained(status);
    return indexes_of_answer(*response);
  }

  /// Only for an operator.
  TableDoor door_of(const std::string& account, const std::string& table) const { return {wire_, account, table}; }
  static Status no_expiry_at_address() {
    return Status::invalid_argument(
        "the table service has no expiry; give the directory of the store instead of an address");
  }
  Status send(HttpRequest request) const {
    const Result<HttpResponse> response = wire_->send(std::move(request));
    return response.ok() ? status_of(*response) : response.status();
  }
  Status change_account(std::string_view verb, const std::string& account) const {
    if (Status named = check_account(account); !named.ok()) return named;
    return send(request_to(verb, std::string(kAccounts) + "/" + account));
  }

  const std::shared_ptr<Wire> wire_;
  const RestPlace place_;
};

}  // namespace

std::unique_ptr<StoreAccess> access_through(std::shared_ptr<Wire> wire, RestPlace place) {
  return std::make_unique<RestStore>(std::move(wire), std::move(place));
}

}  // namespace varve::tool
