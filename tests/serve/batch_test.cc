// Goal: batches in the form of real clients are applied completely or not at all, and are answered part by part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/rest/protocol/batch_reader.h"
#include "api/rest/protocol/batch_writer.h"
#include "tests/serve/service_bench.h"

namespace varve::serve::batch_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kType = "multipart/mixed; boundary=batch_b1";
constexpr std::string_view kUrl = "http://127.0.0.1:10002/devstoreaccount1/";

/// A part of a change set: the verb and resource of the request line, its headers, its body.
struct Inner {
  std::string verb;
  std::string resource;
  std::string body{};
  std::string headers{};
};

std::string change_set(const std::vector<Inner>& parts) {
  std::string text = "--batch_b1\r\nContent-Type: multipart/mixed; boundary=changeset_c1\r\n\r\n";
  for (const Inner& part : parts) {
    text += "--changeset_c1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n";
    text += part.verb + " " + std::string(kUrl) + part.resource + " HTTP/1.1\r\n";
    text += "Accept: application/json;odata=minimalmetadata\r\nContent-Type: application/json\r\n" + part.headers;
    text += "\r\n" + part.body + "\r\n";
  }
  return text + "--changeset_c1--\r\n--batch_b1--\r\n";
}

Inner insert(const std::string& row, const std::string& partition = "p", const std::string& headers = "") {
  return {"POST", "Orders", R"({"PartitionKey":")" + partition + R"(","RowKey":")" + row + "\"}", headers};
}
std::string row_url(const std::string& row) {
  return "Orders(PartitionKey='p',RowKey='" + row + "')";
}

class ServiceBatch : public ::testing::Test {
 protected:
  HttpResponse send(const std::string& body, std::string_view type = kType) {
    return service_.send("POST", "$batch", body, {{"Content-Type", std::string(type)}});
  }
  HttpResponse send(const std::vector<Inner>& parts) { return send(change_set(parts)); }
  std::size_t stored() { return (*service_.orders.scan({})).entities.size(); }
  /// Checks the single answer of a failed change set.
  void expect_failure(const HttpResponse& response, const std::string& status, const std::string& message_begins) {
    EXPECT_EQ(response.status, 202);
    EXPECT_THAT(response.body, HasSubstr("\r\n\r\nHTTP/1.1 " + status));
    EXPECT_THAT(response.body, HasSubstr(R"("value":")" + message_begins));
    EXPECT_EQ(response.body.find("HTTP/1.1"), response.body.rfind("HTTP/1.1"));
  }

  ServiceBench service_;
};

TEST_F(ServiceBatch, T01_H53_H54_AllOperationsHappenAndEachIsAnswered) {
  ASSERT_TRUE(service_.orders.insert(with_value("p", "0", "x")).ok());
  ASSERT_TRUE(service_.orders.insert(with_value("p", "1", "x")).ok());
  const HttpResponse response = send({{insert("2", "p", "Prefer: return-no-content\r\nContent-ID: 7\r\n")},
                                      {"DELETE", row_url("0"), "", "If-Match: *\r\n"},
                                      {"PATCH", row_url("1"), R"({"W":1})", "If-Match: *\r\n"},
                                      insert("3")});
  const std::string id = header(response, "x-ms-request-id");
  const std::string etag = read(service_.orders, "p", "2")->etag().to_string();
  const std::string location = std::string(kUrl) + row_url("2");
  EXPECT_EQ(response.status, 202);
  EXPECT_EQ(header(response, "Content-Type"), "multipart/mixed; boundary=batchresponse_" + id);
  EXPECT_TRUE(response.body.starts_with(
      "--batchresponse_" + id + "\r\nContent-Type: multipart/mixed; boundary=changesetresponse_" + id +
      "\r\n\r\n--changesetresponse_" + id +
      "\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 204 No Content\r\n"
      "Content-ID: 7\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\nDataServiceId: " +
      location + "\r\nPreference-Applied: return-no-content\r\nLocation: " + location + "\r\nETag: " + etag +
      "\r\nDataServiceVersion: 3.0;\r\n\r\n\r\n--changesetresponse_" + id +
      "\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 204 No Content\r\n"
      "X-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\nDataServiceVersion: 1.0;\r\n\r\n\r\n"))
      << response.body;
  EXPECT_THAT(response.body, HasSubstr("HTTP/1.1 201 Created\r\n"));
  EXPECT_TRUE(response.body.ends_with("\r\n--changesetresponse_" + id + "--\r\n--batchresponse_" + id + "--\r\n"));
  EXPECT_EQ(stored(), 3U);
}

TEST_F(ServiceBatch, T05_T11_TheFirstThatFailsIsNamedAndNothingHappens) {
  ASSERT_TRUE(service_.orders.insert(with_value("p", "2", "x")).ok());
  const HttpResponse exists = send({insert("1"), insert("2", "p", "Prefer: return-no-content\r\n")});
  expect_failure(exists, "409 Conflict", "1:");
  EXPECT_THAT(exists.body, HasSubstr("Preference-Applied: return-no-content\r\n"));
  EXPECT_THAT(exists.body, HasSubstr(R"("code":"EntityAlreadyExists")"));
  expect_failure(send({insert("1"), {"DELETE", row_url("9"), "", "If-Match: *\r\n"}}), "404 Not Found", "1:");
  expect_failure(
      send({insert("1"), {"PUT", row_url("2"), "{}", "If-Match: W/\"datetime'2020-01-01T00%3A00%3A00Z'\"\r\n"}}),
      "412 Precondition Failed", "1:");
  expect_failure(send({insert("1"), {"PUT", row_url("3"), R"({"a-b":1})"}}), "400 Bad Request", "1:");
  expect_failure(send({insert("1"), {"PUT", row_url("3"), "{"}}), "400 Bad Request", "1:");
  EXPECT_EQ(stored(), 1U);
}

TEST_F(ServiceBatch, T02_T06_T07_T08_T10_X06_FaultsOfTheWholeAreToldInside) {
  const HttpResponse partitions = send({insert("1"), insert("2", "q")});
  expect_failure(partitions, "400 Bad Request", "1:");
  EXPECT_THAT(partitions.body, HasSubstr("CommandsInBatchActOnDifferentPartitions"));
  const HttpResponse twice = send({insert("1"), insert("2"), insert("1")});
  expect_failure(twice, "400 Bad Request", "2:");
  EXPECT_THAT(twice.body, HasSubstr("InvalidDuplicateRow"));
  std::vector<Inner> many;
  for (int i = 0; i < 101; ++i) many.push_back(insert(std::to_string(i)));
  expect_failure(send(many), "400 Bad Request", "99:");
  expect_failure(send({insert("1"), {"GET", row_url("1")}}), "400 Bad Request", "1:");
  Inner other = insert("1");
  other.resource = "Other";
  expect_failure(send({insert("1"), other}), "400 Bad Request", "1:");
  expect_failure(send({other, other}), "404 Not Found", "0:");
  EXPECT_EQ(stored(), 0U);
}

TEST_F(ServiceBatch, T02_H53_OneReadMayStandAlone) {
  ASSERT_TRUE(service_.orders.insert(with_value("p", "1", "x")).ok());
  const auto read_alone = [&](const std::string& resource) {
    return send("--batch_b1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nGET " +
                std::string(kUrl) + resource + " HTTP/1.1\r\nAccept: application/json;odata=nometadata\r\n\r\n\r\n" +
                "--batch_b1--\r\n");
  };
  const HttpResponse one = read_alone(row_url("1"));
  EXPECT_EQ(one.status, 202);
  EXPECT_THAT(one.body, HasSubstr("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(one.body, HasSubstr(R"("V":"x"})"));
  EXPECT_THAT(one.body, Not(HasSubstr("changesetresponse")));
  EXPECT_THAT(read_alone("Orders()?$filter=RowKey eq '1'&$select=V").body, HasSubstr(R"({"value":[{"V":"x"}]})"));
  EXPECT_THAT(read_alone(row_url("2")).body, HasSubstr("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_EQ(outcome(read_alone("Tables")), "202");
  EXPECT_THAT(read_alone("Tables").body, HasSubstr("HTTP/1.1 400 Bad Request\r\n"));
}

TEST_F(ServiceBatch, H50_H55_X06_WhatIsNoBatchIsRefusedOutside) {
  const std::string whole = change_set({insert("1")});
  EXPECT_EQ(outcome(send(whole, "application/json")), "400 InvalidInput");
  EXPECT_EQ(outcome(send(whole, "multipart/mixed")), "400 InvalidInput");
  EXPECT_EQ(outcome(send(whole, "multipart/mixed; boundary=other")), "400 InvalidInput");
  EXPECT_EQ(outcome(send("", kType)), "400 InvalidInput");
  EXPECT_EQ(outcome(send(whole.substr(0, whole.rfind("--batch_b1")) + whole)), "400 InvalidInput");  // two change sets
  EXPECT_EQ(stored(), 0U);
}

TEST_F(ServiceBatch, H51_PartsAreOfTheAccountThatSigned) {
  Inner part = insert("1");
  std::string body = change_set({part});
  const std::string url = std::string(kUrl) + "Orders";
  body.replace(body.find(url), url.size(), "http://127.0.0.1:10002/somebodyelse/Orders");
  expect_failure(send(body), "400 Bad Request", "0:");
  body = change_set({part});
  body.replace(body.find(url), url.size(), "/devstoreaccount1/Orders");
  EXPECT_THAT(send(body).body, HasSubstr("201 Created"));
}

TEST_F(ServiceBatch, T14_EachOperationIsAuthorised) {
  ASSERT_TRUE(service_.orders.insert(with_value("p", "1", "x")).ok());
  const std::string adds = to_query(*sign_table_sas(SecurityBench::table_terms("a"), credentials()));
  const auto by_token = [&](const std::vector<Inner>& parts) {
    return service_.send_by(adds, "POST", "$batch", change_set(parts), {{"Content-Type", std::string(kType)}});
  };
  EXPECT_THAT(by_token({insert("2")}).body, HasSubstr("201 Created"));
  expect_failure(by_token({insert("3"), {"DELETE", row_url("1"), "", "If-Match: *\r\n"}}), "403 Forbidden", "1:");
  Inner other = insert("1");
  other.resource = "Other";
  expect_failure(by_token({other}), "403 Forbidden", "0:");
  EXPECT_EQ(stored(), 2U);
}

TEST_F(ServiceBatch, H52_H61_SloppyBatchesAreRead) {
  const std::string strict = change_set({insert("1"), {"PUT", row_url("2"), R"({"V":"--changeset_c2"})"}});
  std::string line_feeds = strict;
  std::erase(line_feeds, '\r');
  std::string lower_case_names = strict;
  for (std::size_t at = 0; (at = lower_case_names.find("Content-T", at)) != std::string::npos;) {
    lower_case_names.replace(at, 9, "content-t");
  }
  std::string unclosed = strict.substr(0, strict.rfind("--changeset_c1--")) + "--changeset_c1\r\n--batch_b1\r\n";
  std::string closely = strict;
  for (std::size_t at = 0; (at = closely.find("}\r\n--", at)) != std::string::npos;) closely.replace(at, 5, "}--");
  const std::vector<std::string> sloppy = {
      strict,
      line_feeds,
      lower_case_names,
      unclosed,
      closely,
      strict.substr(0, strict.rfind("--changeset_c1--")),
      "preamble\r\n" + strict + "epilogue",
      "\r\n\r\n" + strict,
  };
  for (const std::string& body : sloppy) {
    SCOPED_TRACE(body);
    const Result<Batch> batch = read_batch("multipart/mixed; boundary=\"batch_b1\"", body, 100);
    ASSERT_TRUE(batch.ok()) << batch.status().to_string();
    EXPECT_TRUE(batch->is_change_set);
    ASSERT_EQ(batch->parts.size(), 2U);
    EXPECT_EQ(batch->parts[0].verb, "POST");
    EXPECT_EQ(batch->parts[0].url, std::string(kUrl) + "Orders");
    EXPECT_EQ(batch->parts[0].body, R"({"PartitionKey":"p","RowKey":"1"})");
    EXPECT_EQ(batch->parts[1].verb, "PUT");
    EXPECT_EQ(batch->parts[1].body, R"({"V":"--changeset_c2"})");
  }
}

TEST(ServeBatchReader, H52_EveryCutIsABatchOrAnError) {
  const std::string whole = change_set({insert("1"), insert("2")});
  for (std::size_t kept = 0; kept < whole.size(); ++kept) {
    const Result<Batch> batch = read_batch(kType, whole.substr(0, kept), 100);
    if (batch.ok()) {
      EXPECT_LE(batch->parts.size(), 2U) << kept;
    } else {
      EXPECT_EQ(said(batch), kInvalidInput) << kept;
    }
  }
}

}  // namespace
}  // namespace varve::serve::batch_test
