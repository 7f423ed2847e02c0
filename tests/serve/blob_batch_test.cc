// Goal: a batch of deletions or of tiers answers each part by itself, and a malformed batch changes nothing.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/simulated/memory_file_system.h"
#include "tests/serve/blob_service_bench.h"
#include "tests/support/allocation_counter.h"

namespace varve::serve::blob_batch_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kBoundary = "batch_1";

class BlobBatches : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const std::string name : {"a", "b", "c"}) EXPECT_EQ(outcome(service_.put(name, "x")), "201");
  }
  /// Returns a part with a signature of its own.
  std::string part(std::string_view verb, const std::string& resource, const std::string& id, Headers headers = {}) {
    HttpRequest made = ServiceBench::request(verb, ServiceBench::path_of(resource), {}, std::move(headers));
    made.head.headers.emplace_back("Content-Length", "0");
    made.head.headers.emplace_back("Authorization", *security::shared_key_authorization(
                                                        security::SharedKeyScheme::kSharedKey, made.head, credentials(),
                                                        security::KeyChoice::kPrimary, StorageService::kBlobs));
    std::string text = "--" + std::string(kBoundary) + "\r\nContent-Type: application/http\r\nContent-ID: " + id;
    text += "\r\nContent-Transfer-Encoding: binary\r\n\r\n" + std::string(verb) + " " + made.head.path;
    if (!made.head.query.empty()) text += "?" + made.head.query;
    text += " HTTP/1.1\r\n";
    for (const auto& [name, value] : made.head.headers) {
      if (name != "Host") text.append(name).append(": ").append(value).append("\r\n");
    }
    return text + "\r\n";
  }
  static std::string end() { return "--" + std::string(kBoundary) + "--\r\n"; }
  HttpRequest signed_batch(std::string body, const std::string& resource = "?comp=batch") {
    Headers headers = {{"Content-Type", "multipart/mixed; boundary=" + std::string(kBoundary)},
                       {"Content-Length", std::to_string(body.size())}};
    return service_.signed_request("POST", resource, std::move(body), std::move(headers));
  }
  HttpResponse send(const std::string& resource, std::string body) {
    return service_.send(signed_batch(std::move(body), resource));
  }
  /// Returns the statuses of the parts of an answer.
  static std::vector<std::string> statuses(const HttpResponse& response) {
    std::vector<std::string> found;
    for (std::size_t at = response.body.find("HTTP/1.1 "); at != std::string::npos;
         at = response.body.find("HTTP/1.1 ", at + 1)) {
      found.push_back(response.body.substr(at + 9, 3));
    }
    return found;
  }

  BlobServiceBench service_;
};

TEST_F(BlobBatches, BD03_EachPartIsJudgedByItself) {
  const HttpResponse answered =
      send("?comp=batch", part("DELETE", "photos/a", "0") + part("DELETE", "photos/absent", "1") +
                              part("DELETE", "photos/b", "2", {{"If-Match", "\"0x1\""}}) +
                              part("DELETE", "photos/c", "3") + end());
  EXPECT_EQ(outcome(answered), "202");
  EXPECT_THAT(header_of(answered, "Content-Type"), HasSubstr("multipart/mixed; boundary=batchresponse_"));
  EXPECT_THAT(statuses(answered), ElementsAre("202", "404", "412", "202"));
  EXPECT_THAT(answered.body, HasSubstr("Content-ID: 1\r\n\r\nHTTP/1.1 404 "));
  EXPECT_THAT(answered.body, HasSubstr("x-ms-error-code: BlobNotFound"));
  EXPECT_EQ(service_.told("GET", "photos/a"), "404 BlobNotFound");
  EXPECT_EQ(service_.told("GET", "photos/b"), "200");
  EXPECT_EQ(service_.told("GET", "photos/c"), "404 BlobNotFound");
}

TEST_F(BlobBatches, BD03_TiersAreSetAndAPartNeedsItsOwnSignature) {
  std::string unsigned_part = part("PUT", "photos/b?comp=tier", "1", {{"x-ms-access-tier", "Cool"}});
  const std::size_t begin = unsigned_part.find("Authorization: ");
  unsigned_part.erase(begin, unsigned_part.find("\r\n", begin) + 2 - begin);
  const HttpResponse answered =
      send("photos?restype=container&comp=batch",
           part("PUT", "photos/a?comp=tier", "0", {{"x-ms-access-tier", "Cool"}}) + unsigned_part + end());
  EXPECT_EQ(outcome(answered), "202");
  EXPECT_THAT(statuses(answered), ElementsAre("200", "401"));
  EXPECT_EQ(header_of(service_.send("HEAD", "photos/a"), "x-ms-access-tier"), "Cool");
  EXPECT_EQ(header_of(service_.send("HEAD", "photos/b"), "x-ms-access-tier"), "Hot");
}

TEST_F(BlobBatches, BD03_ABatchOfTheServiceMayHaveTheRestypeOfAContainer) {
  const HttpResponse answered =
      send("?comp=batch&restype=container", part("DELETE", "photos/a", "0") + part("DELETE", "photos/b", "1") + end());
  EXPECT_EQ(outcome(answered), "202");
  EXPECT_THAT(statuses(answered), ElementsAre("202", "202"));
  EXPECT_NE(outcome(service_.send("GET", "?comp=list&restype=container")), "200") << "of nothing else";
}

TEST_F(BlobBatches, BD03_AMalformedBatchChangesNothing) {
  const std::string good = part("DELETE", "photos/a", "0");
  const std::string refused = "400 InvalidInput";
  EXPECT_EQ(outcome(send("?comp=batch", end())), refused) << "empty";
  EXPECT_EQ(outcome(send("?comp=batch",
                         good + part("PUT", "photos/b?comp=tier", "1", {{"x-ms-access-tier", "Cool"}}) + end())),
            refused)
      << "mixed";
  EXPECT_EQ(outcome(send("?comp=batch", good + part("GET", "photos/b", "1") + end())), refused);
  EXPECT_EQ(outcome(send("?comp=batch", good + part("DELETE", "photos?restype=container", "1") + end())), refused);
  EXPECT_EQ(
      outcome(send("?comp=batch", good + part("DELETE", "photos/b", "1", {{"x-ms-version", "2021-12-02"}}) + end())),
      refused);
  EXPECT_EQ(outcome(send("other?restype=container&comp=batch", good + end())), refused) << "another container";
  EXPECT_EQ(outcome(send("?comp=batch", "DELETE /photos/a")), refused);
  std::string many;
  for (int i = 0; i < 257; ++i) many += good;
  EXPECT_EQ(outcome(send("?comp=batch", many + end())), refused) << "257 requests";
  EXPECT_EQ(service_.told("GET", "photos/a"), "200");
}

TEST_F(BlobBatches, MemoryThatEndsAfterAPartDeniesNoDeletion) {
  const std::string body = part("DELETE", "photos/a", "0") + part("DELETE", "photos/b", "1") + end();
  exempt_allocations(io::inside_memory_file_system);
  for (std::uint64_t nth = 1; nth < 5'000; ++nth) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    HttpResponse answered;
    bool happened = false;
    {
      // A part continues on the threads of the store, and so does the batch.
      const OtherThreadsAllocationFailure failure(nth, false);
      const Result<HttpResponse> result = wait(service_.dispatcher.handle(signed_batch(body)));
      if (result.ok()) answered = *result;
      happened = failure.happened();
    }
    const bool is_denied = outcome(answered) == "503 ServerBusy";
    for (const std::string name : {"a", "b"}) {
      const bool is_there = service_.told("HEAD", "photos/" + name) == "200";
      EXPECT_TRUE(is_there || !is_denied) << name;
      if (is_there) continue;
      if (const std::string put = outcome(service_.put(name, "x")); put != "201") {
        // A thread of the engine lacked memory for what must not be lost. The store has stopped, and says so.
        exempt_allocations(nullptr);
        EXPECT_EQ(service_.bench.store->create_account("another").code(), Code::kPoisoned) << put;
        return;
      }
    }
    if (HasFailure() || !happened) {
      exempt_allocations(nullptr);
      EXPECT_THAT(statuses(answered), ElementsAre("202", "202"));
      return;
    }
  }
  FAIL() << "the batch needs more than 5,000 allocations";
}

TEST_F(BlobBatches, BD03_BS12_ASignatureOfTheBatchDoesNotAnswerForItsParts) {
  security::AccountSasTerms terms;
  terms.services = "b";
  terms.resource_types = "c";
  terms.permissions = "d";
  terms.expiry = at("2026-03-04T00:00:00Z");
  const std::string token = security::to_query(*security::sign_account_sas(terms, credentials()));
  const HttpResponse answered = service_.send_by(
      token, "POST", "photos?restype=container&comp=batch", part("DELETE", "photos/a", "0") + end(),
      {{"Content-Type", "multipart/mixed; boundary=" + std::string(kBoundary)}, {"x-ms-version", "2021-12-02"}});
  EXPECT_EQ(outcome(answered), "202");
  EXPECT_THAT(statuses(answered), ElementsAre("202"));
  EXPECT_EQ(outcome(service_.send_anonymous("POST", "?comp=batch")), "401 NoAuthenticationInformation");
}

}  // namespace
}  // namespace varve::serve::blob_batch_test
