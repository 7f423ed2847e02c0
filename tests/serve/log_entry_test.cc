// Goal: an entry of an account's log is read back, field by field, by a reader that was written from its format alone.
#include "tools/serve/analytics/log_entry.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/rest/queues/queue_routes.h"
#include "tests/serve/log_reader.h"
#include "tests/serve/service_bench.h"

namespace varve::serve::log_entry_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

/// A request to the table service and its answer.
struct Exchange {
  Exchange(std::string_view verb, std::string_view target, Headers headers = {}) {
    facts.account = kAccount;
    facts.named = Operation::kQueryEntities;
    facts.request = ServiceBench::request(verb, target, "body", std::move(headers));
    facts.request.arrival = {"203.0.113.7", true};
    facts.request.client_port = 4321;
    response.with("x-ms-request-id", "5f0c");
    record.duration = std::chrono::microseconds(12'900);
    record.end_to_end = std::chrono::milliseconds(40);
    record.bytes_in = 4;
    record.bytes_out = 99;
  }
  LoggedExchange logged() const { return {at("2026-03-03T18:07:09.1234567Z"), service, facts, record, response}; }
  std::vector<std::string> fields() const {
    const std::string line = log_entry(logged());
    const std::optional<std::vector<std::string>> read = LogReader::read(line);
    EXPECT_TRUE(read) << line;
    EXPECT_EQ(read.value_or(std::vector<std::string>()).size(), kFieldCount) << line;
    return read && read->size() == kFieldCount ? *read : std::vector<std::string>(kFieldCount);
  }

  RequestFacts facts;
  RequestRecord record;
  HttpResponse response;
  StorageService service = StorageService::kTables;
};

std::string account_path(const std::string& rest) {
  return ServiceBench::path_of(rest);
}

TEST(LogEntry, AL05_HasTheThirtyFieldsInTheirOrder) {
  Exchange exchange("GET", account_path("Orders(PartitionKey='a%20b',RowKey='1')?$select=A&timeout=5"),
                    {{"Authorization", "SharedKey a:b"},
                     {"x-ms-version", "2019-02-02"},
                     {"Content-Length", "4"},
                     {"Content-MD5", "MD5="},
                     {"If-Match", "W/\"x;y\""},
                     {"User-Agent", "Agent; \"quoted\" <x> & more"},
                     {"Referer", "https://shop.example/"},
                     {"x-ms-client-request-id", "id-1"}});
  exchange.facts.named = Operation::kGetEntity;
  exchange.response.with("ETag", "W/\"datetime'2026'\"").with("Last-Modified", "Tue, 03 Mar 2026 10:20:30 GMT");
  exchange.response.with("Content-MD5", "ANSWER=");
  const std::vector<std::string> fields = exchange.fields();
  EXPECT_EQ(fields[kVersionField], "1.0");
  EXPECT_EQ(fields[kStartField], "2026-03-03T18:07:09.1234567Z");
  EXPECT_EQ(fields[kTypeField], "QueryEntity");
  EXPECT_EQ(fields[kStatusField], "Success");
  EXPECT_EQ(fields[kHttpField], "200");
  EXPECT_EQ(fields[kEndToEndField], "40");
  EXPECT_EQ(fields[kServerField], "12");
  EXPECT_EQ(fields[kAuthenticationField], "authenticated");
  EXPECT_EQ(fields[kRequesterField], kAccount);
  EXPECT_EQ(fields[kOwnerField], kAccount);
  EXPECT_EQ(fields[kServiceField], "table");
  EXPECT_EQ(fields[kUrlField],
            "https://127.0.0.1:10002" + account_path("Orders(PartitionKey='a%20b',RowKey='1')?$select=A&timeout=5"));
  EXPECT_EQ(fields[kKeyField], account_path("Orders(PartitionKey='a b',RowKey='1')"));
  EXPECT_EQ(fields[kRequestIdField], "5f0c");
  EXPECT_EQ(fields[kCountField], "0");
  EXPECT_EQ(fields[kAddressField], "203.0.113.7:4321");
  EXPECT_EQ(fields[kRequestVersionField], "2019-02-02");
  EXPECT_GT(std::stoi(fields[kRequestHeaderField]), 200);
  EXPECT_EQ(fields[kRequestPacketField], "4");
  EXPECT_GT(std::stoi(fields[kResponseHeaderField]), 50);
  EXPECT_EQ(fields[kResponsePacketField], "99");
  EXPECT_EQ(fields[kContentLengthField], "4");
  EXPECT_EQ(fields[kRequestMd5Field], "MD5=");
  EXPECT_EQ(fields[kServerMd5Field], "ANSWER=");
  EXPECT_EQ(fields[kEtagField], "W/\"datetime'2026'\"");
  EXPECT_EQ(fields[kModifiedField], "Tue, 03 Mar 2026 10:20:30 GMT");
  EXPECT_EQ(fields[kConditionsField], "If-Match=W/\"x;y\"");
  EXPECT_EQ(fields[kAgentField], "Agent; \"quoted\" <x> & more");
  EXPECT_EQ(fields[kReferrerField], "https://shop.example/");
  EXPECT_EQ(fields[kClientIdField], "id-1");
}

TEST(LogEntry, AL05_TheStartHasSevenDigitsOfTheFraction) {
  const Exchange exchange("GET", account_path("Orders()"));
  for (const std::string start :
       {"2026-03-03T18:07:09.0000000Z", "2026-03-03T18:07:09.0000120Z", "2026-03-03T18:07:09.9999999Z"}) {
    LoggedExchange logged = exchange.logged();
    logged.start = at(start);
    EXPECT_THAT(log_entry(logged), HasSubstr("1.0;" + start + ";"));
  }
}

TEST(LogEntry, AL05_AFieldWithoutAValueIsEmptyAndUrlAndKeyAreAlwaysInQuotes) {
  const Exchange exchange("GET", account_path("Orders()"));
  const std::string line = log_entry(exchange.logged());
  EXPECT_EQ(line.back(), '\n');
  EXPECT_THAT(line, HasSubstr(";\"https://127.0.0.1:10002" + account_path("Orders()") + "\";\"" +
                              account_path("Orders()") + "\";5f0c;0;"));
  const std::vector<std::string> fields = exchange.fields();
  for (const Field empty :
       {kRequesterField, kRequestVersionField, kContentLengthField, kRequestMd5Field, kServerMd5Field, kEtagField,
        kModifiedField, kConditionsField, kAgentField, kReferrerField, kClientIdField}) {
    EXPECT_EQ(fields[empty], "") << empty;
  }
}

TEST(LogEntry, AL05_NoEntryShowsASignature) {
  for (const std::string name : {"sig", "SIG", "%73ig", "si%67"}) {
    const Exchange exchange("GET", account_path("Orders()?sv=2019-02-02&" + name + "=SECRET%2B1%3D&sp=r"));
    const std::string line = log_entry(exchange.logged());
    EXPECT_THAT(line, Not(HasSubstr("SECRET")));
    EXPECT_EQ(exchange.fields()[kUrlField],
              "https://127.0.0.1:10002" + account_path("Orders()?sv=2019-02-02&" + name + "=XXXXX&sp=r"));
  }
}

TEST(LogEntry, AL05_NoAddressInAnEntryShowsASignature) {
  const std::string page = "https://shop.example/web/i.html";
  for (const std::string secret :
       {"sv=1&sig=SECRET", "%73ig=SECRET&sv=1", "SIG=SECRET", "to=https%3A%2F%2Fh%2F%3Fsig%3DSECRET"}) {
    const Exchange by_page("GET", account_path("Orders()"), {{"Referer", page + "?" + secret}});
    EXPECT_THAT(log_entry(by_page.logged()), Not(HasSubstr("SECRET"))) << secret;
    EXPECT_THAT(by_page.fields()[kReferrerField], HasSubstr(page + "?")) << secret;
    for (const std::string mark : {"%3F", "%3f"}) {
      const Exchange encoded("GET", account_path("Orders()" + mark + secret), {{"Referer", page + mark + secret}});
      EXPECT_THAT(log_entry(encoded.logged()), Not(HasSubstr("SECRET"))) << secret;
    }
  }
  const Exchange plain("GET", account_path("what%3Fa=b"), {{"Referer", page + "?a=b&c"}});
  EXPECT_THAT(plain.fields()[kUrlField], HasSubstr("what%3Fa=b"));
  EXPECT_THAT(plain.fields()[kKeyField], HasSubstr("what?a=b"));
  EXPECT_EQ(plain.fields()[kReferrerField], page + "?a=b&c");
}

TEST(LogEntry, AL05_EachByteInEachTextIsReadBack) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = "a" + std::string(1, static_cast<char>(byte)) + ";\"&quot;";
    Exchange exchange("GET", account_path("Orders()"), {{"User-Agent", text}, {"x-ms-client-request-id", text}});
    exchange.facts.request.head.path += text;
    const std::vector<std::string> fields = exchange.fields();
    EXPECT_EQ(fields[kAgentField], text);
    EXPECT_EQ(fields[kClientIdField], text);
    EXPECT_THAT(fields[kUrlField], HasSubstr(text));
  }
}

TEST(LogEntry, AL05_TheKeyNamesTheAccountInEveryStyleOfAddress) {
  const auto key = [](std::string_view target) { return Exchange("GET", target).fields()[kKeyField]; };
  const std::string account(kAccount);
  EXPECT_EQ(key("/" + account + "/Orders()"), "/" + account + "/Orders()");
  EXPECT_EQ(key("/" + account + "-secondary/Orders()"), "/" + account + "/Orders()");
  EXPECT_EQ(key("/Orders()"), "/" + account + "/Orders()");
  EXPECT_EQ(key("/" + account), "/" + account + "/");
  EXPECT_EQ(key("/" + account + "?restype=service"), "/" + account + "/");
}

TEST(LogEntry, AL05_AnAddressOfVersionSixIsInBracketsBeforeItsPort) {
  Exchange exchange("GET", account_path("Orders()"));
  exchange.facts.request.arrival.client_ip = "::1";
  EXPECT_EQ(exchange.fields()[kAddressField], "[::1]:4321");
}

TEST(LogEntry, AL06_TheStatusSaysWhoAskedAndHowItEnded) {
  const auto status = [](std::uint16_t http, std::string_view code, std::string_view query, bool has_key) {
    Exchange exchange("GET", account_path("Orders()") + std::string(query));
    if (has_key) exchange.facts.request.head.headers.emplace_back("authorization", "SharedKey a:b");
    exchange.response.status = http;
    if (!code.empty()) exchange.response.with("x-ms-error-code", code);
    const std::vector<std::string> fields = exchange.fields();
    return fields[kAuthenticationField] + " " + fields[kStatusField];
  };
  EXPECT_EQ(status(200, "", "", true), "authenticated Success");
  EXPECT_EQ(status(204, "", "?sig=x", false), "SAS SASSuccess");
  EXPECT_EQ(status(204, "", "?sv=1&%73i%67=x", false), "SAS SASSuccess")
      << "the name is decoded, as the signature's check does";
  EXPECT_EQ(status(200, "", "?%2573ig=x", false), "anonymous AnonymousSuccess") << "decoded once";
  EXPECT_EQ(status(200, "", "", false), "anonymous AnonymousSuccess");
  EXPECT_EQ(status(404, "TableNotFound", "", true), "authenticated ClientOtherError");
  EXPECT_EQ(status(412, "UpdateConditionNotSatisfied", "?sig=x", false), "SAS SASClientOtherError");
  EXPECT_EQ(status(403, "AuthenticationFailed", "?sig=x", false), "SAS SASAuthorizationError");
  EXPECT_EQ(status(401, "NoAuthenticationInformation", "", false), "anonymous AnonymousAuthorizationError");
  EXPECT_EQ(status(503, "ServerBusy", "", true), "authenticated ThrottlingError");
  EXPECT_EQ(status(500, "OperationTimedOut", "", true), "authenticated ServerTimeoutError");
  EXPECT_EQ(status(500, "OperationTimedOut", "?timeout=1", true), "authenticated ClientTimeoutError");
  EXPECT_EQ(status(500, "InternalError", "", true), "authenticated ServerOtherError");
  EXPECT_EQ(status(408, "", "", true), "authenticated ClientTimeoutError");
  EXPECT_EQ(status(304, "ConditionNotMet", "", false), "anonymous AnonymousClientOtherError");
  EXPECT_EQ(status(501, "NotImplemented", "", true), "authenticated ClientOtherError");
}

TEST(LogEntry, AL06_EachEndHasAFormForEachKindOfCaller) {
  const struct {
    std::uint16_t http;
    const char* code;
    const char* query;
    const char* status;
  } ends[] = {{304, "", "", "ClientOtherError"},
              {404, "TableNotFound", "", "ClientOtherError"},
              {408, "", "", "ClientTimeoutError"},
              {500, "OperationTimedOut", "timeout=1&", "ClientTimeoutError"},
              {500, "OperationTimedOut", "", "ServerTimeoutError"},
              {500, "InternalError", "", "ServerOtherError"},
              {501, "NotImplemented", "", "ClientOtherError"},
              {503, "ServerBusy", "", "ThrottlingError"},
              {401, "NoAuthenticationInformation", "", "AuthorizationError"},
              {403, "AuthorizationFailure", "", "AuthorizationError"}};
  const struct {
    Headers headers;
    const char* signature;
    const char* prefix;
  } callers[] = {{{{"Authorization", "SharedKey a:b"}}, "", ""}, {{}, "sig=x", "SAS"}, {{}, "", "Anonymous"}};
  for (const auto& end : ends) {
    for (const auto& caller : callers) {
      const std::string query = std::string(end.query) + caller.signature;
      Exchange exchange("GET", account_path("Orders()") + (query.empty() ? "" : "?" + query), caller.headers);
      exchange.response.status = end.http;
      if (*end.code != '\0') exchange.response.with("x-ms-error-code", end.code);
      EXPECT_EQ(exchange.fields()[kStatusField], std::string(caller.prefix) + end.status) << end.http << end.code;
    }
  }
}

TEST(LogEntry, AL06_EveryOperationHasATypeOfItsService) {
  std::set<std::string_view> types;
  std::vector<Headers> headers = {{}, {{"If-Match", "*"}}};
  for (const char* const action : {"acquire", "Renew", "change", "release", " break", "steal"}) {
    headers.push_back({{"x-ms-lease-action", action}});
  }
  for (std::size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    const bool has_none = operation == Operation::kUnresolved || operation == Operation::kStatusPage;
    for (const StorageService service : {StorageService::kTables, StorageService::kQueues, StorageService::kBlobs}) {
      for (const Headers& given : headers) {
        const OperationType type = operation_type(operation, service, given);
        EXPECT_EQ(type == OperationType::kUnknown, has_none) << operation_name(operation);
        types.insert(operation_type_name(type));
      }
    }
  }
  EXPECT_EQ(types.size(), kOperationTypes);
  const auto name = [](Operation operation, const Headers& given = {}) {
    return operation_type_name(operation_type(operation, StorageService::kTables, given));
  };
  const Headers condition = {{"If-Match", "*"}};
  EXPECT_EQ(name(Operation::kReplaceEntity, condition), "UpdateEntity");
  EXPECT_EQ(name(Operation::kReplaceEntity), "InsertOrReplaceEntity");
  EXPECT_EQ(name(Operation::kMergeEntity, condition), "MergeEntity");
  EXPECT_EQ(name(Operation::kMergeEntity), "InsertOrMergeEntity");
  EXPECT_EQ(name(Operation::kBatch), "EntityGroupTransaction");
  EXPECT_EQ(name(Operation::kListTables), "QueryTables");
  EXPECT_EQ(name(Operation::kGetProperties), "GetTableServiceProperties");
  EXPECT_EQ(name(Operation::kSetQueuePolicies), "SetQueueAcl");
  EXPECT_EQ(name(Operation::kPreflight), "TablePreflightRequest");
  EXPECT_EQ(name(Operation::kPutMessage), "PutMessage");
  EXPECT_EQ(name(Operation::kClearMessages), "ClearMessages");
  EXPECT_EQ(name(Operation::kGetBlobState), "GetBlobProperties");
  EXPECT_EQ(name(Operation::kSetContainerPolicies), "SetContainerAcl");
  EXPECT_EQ(name(Operation::kLeaseBlob, {{"x-ms-lease-action", "BREAK"}}), "BreakBlobLease");
  EXPECT_EQ(name(Operation::kLeaseContainer, {{"x-ms-lease-action", "renew"}}), "RenewContainerLease");
  EXPECT_EQ(name(Operation::kLeaseContainer), "AcquireContainerLease");
}

TEST(LogEntry, AL03_TheNameOfALogHasItsServiceItsHourAndItsNumber) {
  EXPECT_EQ(log_name(StorageService::kTables, at("2026-03-03T18:59:59.9Z"), 1), "table/2026/03/03/1800/000001.log");
  EXPECT_EQ(log_name(StorageService::kQueues, at("2026-12-31T00:00:00Z"), 0), "queue/2026/12/31/0000/000000.log");
  EXPECT_EQ(log_name(StorageService::kBlobs, at("2026-12-31T00:00:00Z"), 1'234'567),
            "blob/2026/12/31/0000/1234567.log");
}

TEST(LogEntry, SettingsChooseAClassAndAnonymousFailuresAreLeftOut) {
  const LoggingProperties reads{true, false, false, std::nullopt};
  const LoggingProperties writes{false, true, false, std::nullopt};
  const LoggingProperties deletions{false, false, true, std::nullopt};
  Exchange exchange("GET", account_path("Orders()"), {{"Authorization", "SharedKey a:b"}});
  const auto logged = [&](Operation operation) {
    exchange.facts.named = operation;
    std::string classes;
    if (is_logged(reads, exchange.logged())) classes += "r";
    if (is_logged(writes, exchange.logged())) classes += "w";
    if (is_logged(deletions, exchange.logged())) classes += "d";
    return classes;
  };
  EXPECT_EQ(logged(Operation::kQueryEntities), "r");
  EXPECT_EQ(logged(Operation::kInsertEntity), "w");
  EXPECT_EQ(logged(Operation::kBatch), "w");
  EXPECT_EQ(logged(Operation::kDeleteTable), "d");
  EXPECT_EQ(logged(Operation::kDeleteMessage), "d");
  exchange.response.status = 404;
  EXPECT_EQ(logged(Operation::kQueryEntities), "r");
  Exchange anonymous("GET", account_path("Orders()"));
  EXPECT_TRUE(is_logged(reads, anonymous.logged()));
  anonymous.response.status = 304;
  EXPECT_TRUE(is_logged(reads, anonymous.logged()));
  anonymous.response.status = 401;
  EXPECT_FALSE(is_logged(reads, anonymous.logged()));
  Exchange stolen("GET", account_path("Orders()?%73ig=x"));
  stolen.response.status = 403;
  EXPECT_TRUE(is_logged(reads, stolen.logged())) << "a try with a signature leaves a trace";
}

}  // namespace
}  // namespace varve::serve::log_entry_test
