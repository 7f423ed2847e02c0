// Goal: over HTTP, a signature permits on queues what it states, and nothing else.
#include <gtest/gtest.h>

#include "tests/serve/queue_service_bench.h"
#include "varve/security/queue_sas.h"

namespace varve::serve::queue_access_test {
namespace {

using namespace test;
using security::AccountSasTerms;
using security::QueueSasTerms;

/// One request of each operation. It finds what it needs, since the queue has a message with the receipt.
struct Operation {
  std::string name;
  std::string verb;
  std::string resource;
  std::string body;
};

class QueueAccess : public ::testing::Test {
 protected:
  std::vector<Operation> operations() {
    const HttpResponse put = service_.send("POST", "orders/messages", message_body("x"));
    const std::string path = message_path(put);
    return {{"list", "GET", "?comp=list", ""},
            {"get properties", "GET", "?restype=service&comp=properties", ""},
            {"set properties", "PUT", "?restype=service&comp=properties",
             "<StorageServiceProperties><Cors /></StorageServiceProperties>"},
            {"create", "PUT", "orders", ""},
            {"get metadata", "GET", "orders?comp=metadata", ""},
            {"set metadata", "PUT", "orders?comp=metadata", ""},
            {"get policies", "GET", "orders?comp=acl", ""},
            {"set policies", "PUT", "orders?comp=acl", ""},
            {"peek", "GET", "orders/messages?peekonly=true", ""},
            {"update", "PUT", path + "&visibilitytimeout=0", message_body("y")},
            {"put", "POST", "orders/messages", message_body("z")},
            {"get", "GET", "orders/messages", ""},
            {"delete", "DELETE", message_path(service_.send("POST", "orders/messages", message_body("w"))), ""},
            {"clear", "DELETE", "orders/messages", ""},
            {"drop", "DELETE", "orders", ""}};
  }
  /// Returns the names of the operations that the token permits.
  std::string permitted(const std::string& token) {
    std::string names;
    for (const Operation& one : operations()) {
      const HttpResponse answer = service_.send_by(token, one.verb, one.resource, one.body);
      if (answer.status < 300) {
        names.append(names.empty() ? "" : ", ").append(one.name);
      } else {
        EXPECT_EQ(answer.status, 403) << one.name << ": " << outcome(answer);
      }
      if (one.name == "drop" && answer.status < 300) (void)service_.bench.queue();
    }
    return names;
  }
  static std::string token(Permissions permissions, std::string_view queue = "orders") {
    QueueSasTerms terms;
    terms.queue = queue;
    terms.permissions = permissions;
    terms.expiry = at("2026-03-04T00:00:00Z");
    return to_query(*sign_queue_sas(terms, credentials()));
  }
  static std::string account_token(std::string_view types, std::string_view permissions) {
    AccountSasTerms terms = SecurityBench::account_terms(types, permissions);
    terms.services = "q";
    return to_query(*sign_account_sas(terms, credentials()));
  }

  QueueServiceBench service_;
};

TEST_F(QueueAccess, QS12_QS14_AQueueSasDoesWhatItsLettersSay) {
  EXPECT_EQ(permitted(token({Permission::kQuery})), "get metadata, peek");
  EXPECT_EQ(permitted(token({Permission::kAdd})), "put");
  EXPECT_EQ(permitted(token({Permission::kUpdate})), "update");
  EXPECT_EQ(permitted(token({Permission::kProcess})), "get, delete");
  EXPECT_EQ(permitted(token(Permissions::all_for_queues())), "get metadata, peek, update, put, get, delete");
}

TEST_F(QueueAccess, QS10_QS15_AnAccountSasDoesWhatItsTypesAndLettersSay) {
  EXPECT_EQ(permitted(account_token("s", "rwdlacup")), "list, get properties, set properties");
  EXPECT_EQ(permitted(account_token("s", "l")), "list");
  EXPECT_EQ(permitted(account_token("c", "r")), "get metadata");
  EXPECT_EQ(permitted(account_token("c", "w")), "create, set metadata");
  EXPECT_EQ(permitted(account_token("c", "c")), "create");
  EXPECT_EQ(permitted(account_token("c", "d")), "drop");
  EXPECT_EQ(permitted(account_token("o", "r")), "peek");
  EXPECT_EQ(permitted(account_token("o", "a")), "put");
  EXPECT_EQ(permitted(account_token("o", "u")), "update");
  EXPECT_EQ(permitted(account_token("o", "p")), "get, delete");
  EXPECT_EQ(permitted(account_token("o", "d")), "clear");
}

TEST_F(QueueAccess, QS13_AQueueSasIsForItsQueue) {
  (void)service_.bench.queue("other");
  const std::string foreign = token(Permissions::all_for_queues(), "other");
  EXPECT_EQ(outcome(service_.send_by(foreign, "GET", "orders/messages")), "403 AuthenticationFailed");
  EXPECT_EQ(outcome(service_.send_by(foreign, "GET", "other/messages")), "200");
  EXPECT_EQ(outcome(service_.send_by(foreign, "GET", "absent/messages")), "403 AuthenticationFailed");
  // The cache of verified signatures has the query now, and must not forget the queue.
  EXPECT_EQ(outcome(service_.send_by(foreign, "GET", "orders/messages")), "403 AuthenticationFailed");
}

TEST_F(QueueAccess, QS10_ATokenForTablesIsRefused) {
  AccountSasTerms terms = SecurityBench::account_terms("sco", "rwdlacup");
  const std::string tables = to_query(*sign_account_sas(terms, credentials()));
  EXPECT_EQ(outcome(service_.send_by(tables, "GET", "orders/messages")), "403 AuthorizationServiceMismatch");
}

TEST_F(QueueAccess, QS07_QE04_QueuesAreNeverPublic) {
  for (const Operation& one : operations()) {
    const HttpResponse answer =
        service_.send(ServiceBench::request(one.verb, ServiceBench::path_of(one.resource), one.body));
    EXPECT_EQ(outcome(answer), "401 NoAuthenticationInformation") << one.name;
    EXPECT_NE(header(answer, "WWW-Authenticate"), "");
  }
}

TEST_F(QueueAccess, QS06_AForeignSignatureIsRefused) {
  HttpRequest request = service_.signed_request("GET", "orders/messages");
  request.head.query = "numofmessages=2";
  EXPECT_EQ(outcome(service_.send(request)), "403 AuthenticationFailed");
  // The form of tables signs less, and is none for queues.
  HttpRequest as_table = ServiceBench::request("GET", ServiceBench::path_of("orders/messages"));
  as_table.head.headers.emplace_back(
      "Authorization",
      *security::shared_key_authorization(security::SharedKeyScheme::kSharedKey, as_table.head, credentials()));
  EXPECT_EQ(outcome(service_.send(as_table)), "403 AuthenticationFailed");
}

}  // namespace
}  // namespace varve::serve::queue_access_test
