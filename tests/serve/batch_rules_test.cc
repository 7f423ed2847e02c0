// Goal: parts of batches are checked as their senders wrote them: sizes, headers, delimiters, addresses and queries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/rest/protocol/batch_reader.h"
#include "tests/serve/batch_bench.h"

namespace varve::serve::batch_rules_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

class ServiceBatchRules : public ::testing::Test {
 protected:
  HttpResponse send(const std::string& body, Headers headers = {}) {
    headers.emplace_back("Content-Type", kBatchType);
    return service_.send("POST", "$batch", body, std::move(headers));
  }
  /// Returns the status of the only inner answer, with its code: "404 ResourceNotFound". A refusal of the whole begins
  /// with !.
  static std::string inner(const HttpResponse& response) {
    if (response.status != 202) return "!" + outcome(response);
    const std::size_t status = response.body.find("HTTP/1.1 ");
    if (status == std::string::npos) return "empty";
    std::string text = response.body.substr(status + 9, 3);
    const std::size_t code = response.body.find(R"({"code":")");
    if (code != std::string::npos) {
      const std::size_t begin = code + 9;
      text += " " + response.body.substr(begin, response.body.find('"', begin) - begin);
    }
    return text;
  }
  std::string lone(const std::string& url, const std::string& verb = "GET", const std::string& headers = {}) {
    return inner(send(lone_text({verb, url, headers})));
  }
  HttpResponse on_secondary(const std::string& body) {
    HttpRequest made = ServiceBench::request("POST", "/devstoreaccount1-secondary/$batch", body,
                                             {{"Content-Type", std::string(kBatchType)}});
    made.head.headers.emplace_back(
        "Authorization",
        *security::shared_key_authorization(security::SharedKeyScheme::kSharedKeyLite, made.head, credentials()));
    return service_.send(std::move(made));
  }
  std::size_t stored() { return (*service_.orders.scan({})).entities.size(); }

  ServiceBench service_;
};

TEST_F(ServiceBatchRules, T12_AnEmptyChangeSetIsAnsweredByAnEmptyOne) {
  const std::string opened = "--batch_b1\r\nContent-Type: multipart/mixed; boundary=changeset_c1\r\n\r\n";
  for (const std::string inside :
       {"--changeset_c1--\r\n", "--changeset_c1\r\n--changeset_c1--\r\n", "--changeset_c1\r\n",
        "--changeset_c1\r\n\r\n\r\n--changeset_c1--\r\n", "\r\n", ""}) {
    const HttpResponse response = send(opened + inside + "--batch_b1--\r\n");
    const std::string id = header(response, "x-ms-request-id");
    EXPECT_EQ(outcome(response), "202") << inside;
    EXPECT_EQ(response.body, "--batchresponse_" + id +
                                 "\r\nContent-Type: multipart/mixed; boundary=changesetresponse_" + id +
                                 "\r\n\r\n--changesetresponse_" + id + "--\r\n--batchresponse_" + id + "--\r\n");
  }
  EXPECT_EQ(outcome(send(opened + "text\r\n--batch_b1--\r\n")), "400 InvalidInput");
}

TEST_F(ServiceBatchRules, X13_TheOuterAcceptIsNotJudgedAndEachPartHasItsOwn) {
  for (const std::string accept :
       {"application/atom+xml,application/xml", "text/html", "application/json;odata=verbose", "x", ""}) {
    const std::string row = std::to_string(stored());
    const HttpResponse response =
        send(change_set_text({insert_part(row, "x", "Accept: application/json;odata=nometadata\r\n")}),
             {{"Accept", accept}});
    EXPECT_EQ(inner(response), "201") << accept;
    EXPECT_THAT(response.body, HasSubstr("odata=nometadata"));
  }
  EXPECT_EQ(inner(send(change_set_text({insert_part("a", "x", "Accept: text/html\r\n")}))),
            "415 MediaTypeNotSupported");
  EXPECT_EQ(inner(send(change_set_text({insert_part("a", "x", "Accept: text/html\r\nPrefer: return-no-content\r\n")}))),
            "204");
  EXPECT_EQ(inner(send(change_set_text({{"PUT", row_path("b"), "Accept: text/html\r\n", "{}"}}))), "204");
}

TEST_F(ServiceBatchRules, X13_AWriteThatAnswers204IsNotRefusedForItsAccept) {
  const Headers atom = {{"Accept", "application/atom+xml"}, {"If-Match", "*"}};
  const Headers quiet = {{"Accept", "application/atom+xml"}, {"Prefer", "return-no-content"}};
  const std::string row = "Orders(PartitionKey='p',RowKey='1')";
  const std::string entity = R"({"PartitionKey":"p","RowKey":"1"})";
  EXPECT_EQ(outcome(service_.send("POST", "Orders", entity, {{"Accept", "application/atom+xml"}})),
            "415 AtomFormatNotSupported");
  EXPECT_EQ(outcome(service_.send("POST", "Orders", entity, quiet)), "204");
  for (const std::string verb : {"PUT", "MERGE", "PATCH", "DELETE"}) {
    EXPECT_EQ(outcome(service_.send(verb, row, verb == "DELETE" ? "" : "{}", atom)), "204") << verb;
  }
  EXPECT_EQ(outcome(service_.send("POST", "Tables", R"({"TableName":"Fresh"})", quiet)), "204");
  EXPECT_EQ(outcome(service_.send("DELETE", "Tables('Fresh')", "", atom)), "204");
  EXPECT_EQ(outcome(service_.send("GET", "Orders", "", atom)), "415 AtomFormatNotSupported");
}

TEST_F(ServiceBatchRules, X20_T09_ABatchIsAsLargeAsItsBodyWhateverItsEntitiesAccountFor) {
  for (const std::size_t letters : {21'000u, 30'000u, 32'768u}) {
    std::vector<PartText> parts;
    for (int i = 0; i < 100; ++i) {
      parts.push_back({"PUT", row_path(std::to_string(i)), "", R"({"V":")" + std::string(letters, 'x') + "\"}"});
    }
    EXPECT_EQ(inner(send(change_set_text(parts))), "204") << letters;
  }
  EXPECT_EQ(stored(), 100U);
}

/// Uses the properties with the largest encoding: 252 Doubles of three characters in each of 100 entities, and texts of
/// up to 4 MiB.
TEST_F(ServiceBatchRules, X20_TheBodyOfTheWorstEncodingIsTaken) {
  std::string doubles = "{";
  for (int i = 0; i < 250; ++i) {
    const char first = static_cast<char>('A' + i / 26);
    doubles += std::string("\"") + first + static_cast<char>('a' + i % 26) + "\":1.0,";
  }
  std::vector<PartText> parts;
  for (int i = 0; i < 100; ++i) {
    const std::string text(19'500, 'x');
    parts.push_back(
        {"PUT", row_path(std::to_string(i)), "", doubles + R"("V":")" + text + R"(","W":")" + text + "\"}"});
  }
  const std::string body = change_set_text(parts);
  ASSERT_LT(body.size(), std::size_t{4} << 20);
  ASSERT_GT(body.size(), (std::size_t{4} << 20) - 200'000);
  EXPECT_EQ(inner(send(body)), "204");
}

TEST_F(ServiceBatchRules, X21_HeadersOfAWholeRequestDoNotCountInAPart) {
  ASSERT_TRUE(service_.orders.insert(with_value("p", "1", "x")).ok());
  const std::string any = "If-Match: *\r\n";
  for (const std::string header :
       {"X-HTTP-Method: MERGE\r\n", "X-HTTP-Method: DELETE\r\n", "X-HTTP-Method: NONE\r\n", "X-HTTP-Method:\r\n",
        "X-HTTP-Method: MERGE\r\nX-HTTP-Method: PUT\r\n", "x-ms-version: 1999-01-01\r\n", "x-ms-date: never\r\n",
        "Authorization: nonsense\r\n", "Host: a b c\r\n", "DataServiceVersion: 9.9\r\n", "MaxDataServiceVersion: x\r\n",
        "Content-MD5: x\r\n", "Content-Length: 7\r\n", "Expect: something\r\n", "Origin: https://x\r\n"}) {
    const std::string row = std::to_string(stored() + 100);
    EXPECT_EQ(inner(send(change_set_text({{"MERGE", row_path("1"), header + any, R"({"W":1})"}}))), "204") << header;
    EXPECT_EQ(inner(send(change_set_text({insert_part(row, "x", header)}))), "201") << header;
    EXPECT_EQ(inner(send(change_set_text({{"PUT", row_path("1"), header + any, R"({"V":"x"})"}}))), "204") << header;
    EXPECT_EQ(lone(row_path("1"), "GET", header), "200") << header;
    EXPECT_EQ(inner(send(change_set_text({{"DELETE", row_path(row), header + any}}))), "204") << header;
  }
  EXPECT_EQ(*read(service_.orders, "p", "1")->get<std::string>("V"), "x");
}

TEST_F(ServiceBatchRules, X22_ALoneReadIsAllowedOnTheSecondaryAndWritesAreNot) {
  ASSERT_TRUE(service_.orders.insert(with_value("p", "1", "x")).ok());
  EXPECT_EQ(inner(on_secondary(lone_text({"GET", row_path("1")}))), "200");
  EXPECT_EQ(inner(on_secondary(lone_text({"GET", "/devstoreaccount1-secondary/Orders()"}))), "200");
  EXPECT_EQ(inner(on_secondary(change_set_text({insert_part("2")}))), "!403 InsufficientAccountPermissions");
  EXPECT_EQ(inner(on_secondary(lone_text({"DELETE", row_path("1"), "If-Match: *\r\n"}))), "400 InvalidInput");
  PartText elsewhere = insert_part("2");
  elsewhere.url = "/devstoreaccount1-secondary/Orders";
  EXPECT_EQ(inner(send(change_set_text({elsewhere}))), "403 InsufficientAccountPermissions");
  EXPECT_EQ(stored(), 1U);
}

TEST_F(ServiceBatchRules, X22_ALoneReadNeedsThePermissionOfARead) {
  ASSERT_TRUE(service_.orders.insert(with_value("p", "1", "x")).ok());
  const auto by = [&](std::string_view letters) {
    const std::string token = to_query(*sign_table_sas(SecurityBench::table_terms(letters), credentials()));
    return inner(service_.send_by(token, "POST", "$batch", lone_text({"GET", row_path("1")}),
                                  {{"Content-Type", std::string(kBatchType)}}));
  };
  EXPECT_EQ(by("r"), "200");
  EXPECT_EQ(by("aud"), "403 AuthorizationPermissionMismatch");
}

/// A query has one meaning in a single request and in a part of a batch.
TEST_F(ServiceBatchRules, X22_ALoneReadIsAnsweredAsItIsOutsideOfABatch) {
  ASSERT_TRUE(service_.orders.insert(with_value("p", "1", "x")).ok());
  const std::vector<std::string> resources = {"Orders",
                                              "Orders()",
                                              "Orders(PartitionKey='p')",
                                              "Orders(PartitionKey='p',RowKey='1')",
                                              "Orders(PartitionKey='p',RowKey='2')",
                                              "Missing()",
                                              "Missing(PartitionKey='p',RowKey='1')",
                                              "Orders(PartitionKey='p'RowKey='1')",
                                              "Orders(PartitionKey='p',RowKey='%2F')",
                                              "Orders(Row='1')",
                                              "Orders(",
                                              "1Orders()",
                                              "%zz",
                                              "a-b()",
                                              "$Metrics()"};
  const std::vector<std::string> queries = {"",
                                            "?",
                                            "?$select=V",
                                            "?$filter=RowKey%20eq%20'1'",
                                            "?$filter=(",
                                            "?$top=x",
                                            "?$top=0",
                                            "?$orderby=V",
                                            "?timeout=5",
                                            "?timeout=x",
                                            "?timeout=0",
                                            "?timeout=1&timeout=2",
                                            "?comp=acl",
                                            "?comp=none",
                                            "?com%70=acl",
                                            "?comp=",
                                            "?restype=service",
                                            "?restype=service&comp=properties",
                                            "?$format=json",
                                            "?$format=atom",
                                            "?$format=application%2Fjson%3Bodata%3Dnone",
                                            "?$format=json&$format=json",
                                            "?api-version=2011-01-01&$select=V",
                                            "?api-version=x",
                                            "?api-version=2012-02-12&$format=json",
                                            "?NextPartitionKey=p",
                                            "?sig=x&se=never",
                                            "?unknown=1"};
  for (const std::string& resource : resources) {
    for (const std::string& query : queries) {
      const HttpResponse alone = service_.send("GET", resource + query);
      // Outside of a batch a table has access policies. A batch contains only entities.
      const bool reads_policies = query.ends_with("=acl") &&
                                  (outcome(alone) == "200" || outcome(alone) == "404 TableNotFound") &&
                                  !resource.starts_with("$");
      const std::string expected = reads_policies ? "400 InvalidInput" : outcome(alone);
      EXPECT_EQ(lone(ServiceBench::path_of(resource + query)), expected) << resource << query;
    }
  }
  for (const std::string query : {"?comp=%zz", "?comp=acl&comp=acl", "?%zz=1"}) {
    EXPECT_EQ(lone(ServiceBench::path_of("Orders" + query)), "400 InvalidQueryParameterValue") << query;
  }
  EXPECT_EQ(lone(ServiceBench::path_of("Tables")), "400 InvalidInput");
  EXPECT_EQ(lone(ServiceBench::path_of("")), "400 InvalidUri");
  EXPECT_EQ(lone("no path"), "400 InvalidInput");
}

TEST_F(ServiceBatchRules, X22_PartsOfAChangeSetHaveNoOtherPartOfAResource) {
  for (const std::string query :
       {"?comp=acl", "?comp=x", "?restype=service&comp=properties", "?timeout=x", "?$format=atom", "?%zz=1"}) {
    EXPECT_THAT(inner(send(change_set_text({{"PUT", row_path("1", query), "", "{}"}}))), HasSubstr("4")) << query;
    PartText inserted = insert_part("1");
    inserted.url += query;
    EXPECT_THAT(inner(send(change_set_text({inserted}))), ::testing::StartsWith("4")) << query;
  }
  EXPECT_EQ(stored(), 0U);
}

TEST_F(ServiceBatchRules, X17_APartMayLeaveOutTheAccountInPathStyle) {
  ASSERT_TRUE(service_.orders.insert(with_value("p", "1", "x")).ok());
  const std::string key = "(PartitionKey='p',RowKey='1')";
  for (const std::string url :
       {"/Orders", "/devstoreaccount1/Orders", "http://127.0.0.1:10002/Orders",
        "http://127.0.0.1:10002/devstoreaccount1/Orders", "http://localhost/Orders", "https://10.0.0.1/Orders",
        "http://devstoreaccount1.example.net/Orders", "http://devstoreaccount1.localhost/devstoreaccount1/Orders",
        "http://devstoreaccount1-secondary.example.net/Orders"}) {
    EXPECT_EQ(lone(url + key), "200") << url;
  }
  for (const std::string url : {"/somebodyelse/Orders", "http://127.0.0.1:10002/somebodyelse/Orders",
                                "http://somebodyelse.localhost/Orders", "http://somebodyelse.example.net/Orders"}) {
    EXPECT_THAT(lone(url + key), ::testing::StartsWith("400")) << url;
  }
}

TEST_F(ServiceBatchRules, X23_ADelimiterCountsAtTheBeginningOfALine) {
  const std::vector<std::string> texts = {"--changeset_c1",
                                          "--changeset_c1--",
                                          "--batch_b1",
                                          "--batch_b1--",
                                          "--changeset_c1 ",
                                          "--changeset_c1\\r\\n",
                                          "}--changeset_c1--",
                                          "{}--changeset_c1",
                                          "}--batch_b1--",
                                          "\\\"}--changeset_c1 x",
                                          "\\\\\\\"}--changeset_c1--",
                                          "\\\"}--batch_b1",
                                          "a\\n--changeset_c1--\\nb",
                                          "{\\\"a\\\":1}--changeset_c1 "};
  int row = 0;
  for (const std::string& text : texts) {
    const std::string name = std::to_string(row++);
    EXPECT_EQ(inner(send(change_set_text({insert_part(name, text), insert_part(name + "b")}))), "201") << text;
    const std::optional<Entity> entity = read(service_.orders, "p", name);
    ASSERT_TRUE(entity) << text;
    EXPECT_EQ((*entity->get<std::string>("V")).find("--") != std::string::npos, true) << text;
  }
  EXPECT_EQ(stored(), 2 * texts.size());
}

}  // namespace

/// The noise is in the header lines, or around them.
TEST(ServeBatchReader, H52_HeaderLinesOfPartsAreBounded) {
  const auto read_with = [](const std::string& headers, std::size_t parts) {
    std::vector<PartText> all(parts, PartText{"PUT", row_path("1"), headers, "{}"});
    return read_batch(kBatchType, change_set_text(all), 100);
  };
  const auto lines = [](std::size_t count, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += "H: " + std::string(bytes - 3, 'x') + "\r\n";
    return text;
  };
  EXPECT_TRUE(read_with(lines(kPartHeadersMax - 2, 16), 1).ok());
  EXPECT_EQ(said(read_with(lines(kPartHeadersMax, 16), 1)), kInvalidInput);
  EXPECT_TRUE(read_with(lines(1, kPartHeaderBytesMax - 200), 1).ok());
  EXPECT_EQ(said(read_with(lines(1, kPartHeaderBytesMax), 1)), kInvalidInput);
  EXPECT_TRUE(read_with(lines(20, 100), 100).ok()) << "what clients send";
  EXPECT_EQ(said(read_with(lines(1, kPartHeaderBytesMax - 200), 100)), kInvalidInput) << "too much in all";
  EXPECT_EQ(said(read_with(lines(60, 16), 100)), kInvalidInput) << "too many in all";
  EXPECT_EQ(said(read_with(lines(200'000, 16), 1)), kInvalidInput);
}

TEST(ServeBatchReader, T08_ReadingStopsBehindThePartThatIsOneTooMany) {
  const std::vector<PartText> many(101, PartText{"PUT", row_path("1"), "", "{}"});
  std::string text = change_set_text(many);
  text.insert(text.rfind("--changeset_c1--"), "--changeset_c1\r\nthis is no part\r\n");
  const Result<Batch> batch = read_batch(kBatchType, text, 100);
  ASSERT_TRUE(batch.ok()) << "what follows the excess is not read";
  EXPECT_EQ(batch->parts.size(), 101U);
  EXPECT_EQ(said(read_batch(kBatchType, text, 101)), kInvalidInput);
}

/// Adds noise at every position of a batch: the batch is refused, or its content is unchanged except for the noise
/// itself.
TEST(ServeBatchReader, H55_NoiseIsRefusedOrChangesNothingElse) {
  const std::string clean = change_set_text(
      {{"PUT", row_path("1"), "If-Match: *\r\n", R"({"V":"a"})"}, {"DELETE", row_path("2"), "If-Match: *\r\n"}});
  for (const std::string& noise : {std::string("--changeset_c1"), std::string("--batch_b1--"), std::string("x"),
                                   std::string("\r\n"), std::string(":"), std::string("--"), std::string("\x01")}) {
    for (std::size_t at = 0; at <= clean.size(); ++at) {
      std::string noisy = clean;
      noisy.insert(at, noise);
      const Result<Batch> batch = read_batch(kBatchType, noisy, 100);
      if (!batch.ok()) {
        EXPECT_EQ(said(batch), kInvalidInput);
        continue;
      }
      std::size_t clean_parts = 0;
      for (const BatchPart& part : batch->parts) {
        const bool is_first = part.verb == "PUT" && part.url == row_path("1") && part.body == R"({"V":"a"})";
        const bool is_second = part.verb == "DELETE" && part.url == row_path("2") && part.body.empty();
        clean_parts += is_first || is_second ? 1 : 0;
      }
      EXPECT_GE(clean_parts + 1, std::min<std::size_t>(batch->parts.size(), 2)) << noise << " at " << at;
    }
  }
}

TEST(ServeBatchReader, H52_PartsAreWhatTheyAreSaidToBe) {
  const auto read_as = [](const std::string& part_headers, const std::string& line = "PUT /a HTTP/1.1") {
    return said(read_batch(kBatchType,
                           "--batch_b1\r\n" + part_headers + "\r\n" + line + "\r\n\r\n{}\r\n--batch_b1--\r\n", 100));
  };
  EXPECT_EQ(read_as("Content-Type: application/http\r\n"), kFine);
  EXPECT_EQ(read_as("Content-Type: Application/HTTP; msgtype=request\r\nContent-Transfer-Encoding: 8BIT\r\n"), kFine);
  for (const std::string headers :
       {"", "Content-Type: application/httpx\r\n", "Content-Type: application/http x\r\n",
        "Content-Type: text/plain; application/http\r\n",
        "Content-Type: application/http\r\nContent-Type: text/plain\r\n",
        "Content-Type: multipart/mixedup; boundary=c\r\n",
        "Content-Type: application/http\r\nContent-Transfer-Encoding: base64\r\n",
        "Content-Type: application/http\r\nContent-Transfer-Encoding: quoted-printable\r\n"}) {
    EXPECT_EQ(read_as(headers), kInvalidInput) << headers;
  }
  for (const std::string line : {"PUT /a HTTP/1.1x", "PUT /a HTTP/", "PUT /a", "/a HTTP/1.1", "PUT /a http/1.1"}) {
    EXPECT_EQ(read_as("Content-Type: application/http\r\n", line), kInvalidInput) << line;
  }
}

}  // namespace varve::serve::batch_rules_test
