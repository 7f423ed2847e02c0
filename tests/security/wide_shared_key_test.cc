// Goal: requests to queues and blobs sign the text of the specification, shown by its own vectors.
// Method: each vector is signed and verified. Then each signed part is changed, and the signature must be refused.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/security/security_bench.h"
#include "varve/security/shared_key.h"

namespace varve::security::wide_shared_key_test {
namespace {

using namespace test;

constexpr auto kWide = StorageService::kQueues;

struct Vector {
  std::string name;
  SharedKeyScheme scheme;
  Request request;
  std::string string_to_sign;
  std::string signature;
};

Request request(std::string verb, std::string path, std::string query = "",
                std::vector<std::pair<std::string, std::string>> more = {}) {
  Request made{std::move(verb), std::move(path), std::move(query), std::move(more)};
  made.headers.emplace_back("x-ms-date", std::string(kDateText));
  made.headers.emplace_back("x-ms-version", "2021-12-02");
  return made;
}

std::vector<Vector> vectors() {
  const std::string headers = "x-ms-date:" + std::string(kDateText) + "\nx-ms-version:2021-12-02\n";
  const std::string n7(7, '\n');
  const std::string n12(12, '\n');
  const std::string account = "/devstoreaccount1";
  const std::string id = "/0f1e2d3c-0000-4000-8000-00000000abcd";
  constexpr auto kFull = SharedKeyScheme::kSharedKey;
  return {
      {"QK-1", kFull, request("PUT", "/orders"), "PUT" + n12 + headers + account + "/orders",
       "ZrUlLrE6oo0luJAKYEXXQDoqXFTADFh4Yocr57qHw48="},
      {"QK-2", kFull, request("PUT", account + "/orders", "", {{"Content-Length", "0"}}),
       "PUT" + n12 + headers + account + account + "/orders", "Bta5vKrApTduwKtgDeK/pWxJ4+SsMzhxuKgUOofK4wk="},
      {"QK-3", kFull,
       request("POST", account + "/orders/messages", "visibilitytimeout=5&messagettl=-1",
               {{"Content-Length", "60"}, {"Content-Type", "application/xml"}}),
       "POST\n\n\n60\n\napplication/xml" + n7 + headers + account + account +
           "/orders/messages\nmessagettl:-1\nvisibilitytimeout:5",
       "aXPJd2bliSkdF11YqWrMz/g+GdCicjD7z61t45wo46Q="},
      {"QK-4", kFull, request("DELETE", account + "/orders/messages" + id, "popreceipt=AgAAAAMAAAAAAAAA%2B%2F8%3D"),
       "DELETE" + n12 + headers + account + account + "/orders/messages" + id + "\npopreceipt:AgAAAAMAAAAAAAAA+/8=",
       "tnmMlsSKe7P6U1faFOskiChDb2zb2Noaw0Q2kwDp8gM="},
      {"QK-5", kFull,
       request("GET", account + "/", "comp=list&prefix=or&include=metadata", {{"X-MS-Client-Request-Id", " c1 "}}),
       "GET" + n12 + "x-ms-client-request-id:c1\n" + headers + account + account +
           "/\ncomp:list\ninclude:metadata\nprefix:or",
       "UTZSnPUeG/wIch5udd7GViG4XSkal4KPRKBzWs2CUTc="},
      {"QL-1", SharedKeyScheme::kSharedKeyLite, request("PUT", account + "/orders", "comp=metadata&timeout=5"),
       "PUT\n\n\n\n" + headers + account + account + "/orders?comp=metadata",
       "Prts03Nw3uHKn/32SQvCAB+I2SAoK5Lyem8mLysfW2c="},
      {"BK-1", kFull,
       request("PUT", account + "/photos/eu/a%20b.txt", "",
               {{"Content-Length", "5"}, {"Content-Type", "text/plain"}, {"x-ms-blob-type", "BlockBlob"}}),
       "PUT\n\n\n5\n\ntext/plain" + n7 + "x-ms-blob-type:BlockBlob\n" + headers + account + account +
           "/photos/eu/a%20b.txt",
       "VGsW9q/AwBEOVLP/CQ1SvhkkZIDRlbZ405gk4cD3fik="},
      {"BK-2", kFull, request("GET", account + "/photos/a.txt", "", {{"Range", "bytes=0-3"}}),
       "GET" + std::string(11, '\n') + "bytes=0-3\n" + headers + account + account + "/photos/a.txt",
       "AYA2fTgBWLZ/6pFFCjC3znEPqnQBi7afG3nmYVXIL1k="},
      {"BK-3", kFull,
       request("PUT", account + "/photos/a.txt", "comp=block&blockid=MDAwMQ%3D%3D", {{"Content-Length", "11"}}),
       "PUT\n\n\n11" + std::string(9, '\n') + headers + account + account +
           "/photos/a.txt\nblockid:MDAwMQ==\ncomp:block",
       "r3OMcmBay/7ne6tLOpT6P0MrD2WdzFyEf2xvMiEe46s="},
      {"BK-4", kFull,
       request("GET", account + "/photos",
               "restype=container&comp=list&delimiter=%2F&include=metadata%2Cuncommittedblobs"),
       "GET" + n12 + headers + account + account +
           "/photos\ncomp:list\ndelimiter:/\ninclude:metadata,uncommittedblobs\nrestype:container",
       "lKFHr0MZdGbvnSKVNAS6nMPk/dGnAyYbwCa5mUriYts="},
      {"BK-5", kFull,
       request("PUT", account + "/photos/a.txt", "comp=metadata", {{"If-Match", "\"0x8D\""}, {"x-ms-meta-a", "1"}}),
       "PUT" + std::string(8, '\n') + "\"0x8D\"" + std::string(4, '\n') + "x-ms-date:" + std::string(kDateText) +
           "\nx-ms-meta-a:1\nx-ms-version:2021-12-02\n" + account + account + "/photos/a.txt\ncomp:metadata",
       "Eh5DizXYayeNSxQx7uB4hm8cvUzmUPvV6GvGCphTHBg="},
  };
}

Request signed_as(const Vector& vector, const std::string& signature) {
  Request made = vector.request;
  const bool is_lite = vector.scheme == SharedKeyScheme::kSharedKeyLite;
  made.headers.emplace_back("Authorization",
                            std::string(is_lite ? "SharedKeyLite" : "SharedKey") + " devstoreaccount1:" + signature);
  return made;
}

TEST(WideSharedKey, QS01_QS05_BS01_SignsTheTextOfTheSpecification) {
  for (const Vector& vector : vectors()) {
    SCOPED_TRACE(vector.name);
    const Result<std::string> text =
        shared_key_string_to_sign(vector.scheme, vector.request, "devstoreaccount1", kWide);
    ASSERT_TRUE(text.ok()) << text.status().to_string();
    EXPECT_EQ(*text, vector.string_to_sign);
    const Result<std::string> header =
        shared_key_authorization(vector.scheme, vector.request, credentials(), KeyChoice::kPrimary, kWide);
    ASSERT_TRUE(header.ok()) << header.status().to_string();
    EXPECT_TRUE(header->ends_with(":" + vector.signature)) << *header;
    EXPECT_TRUE(verify_shared_key(signed_as(vector, vector.signature), credentials(), kPresent, kWide).ok());
    EXPECT_FALSE(verify_shared_key(signed_as(vector, vector.signature), credentials(), kPresent).ok())
        << "tables sign another text";
  }
}

TEST(WideSharedKey, QS02_ALengthOfZeroIsSignedBeforeVersion20150221) {
  Request old{"PUT", "/orders", "", {{"Content-Length", "0"}, {"x-ms-date", std::string(kDateText)}}};
  old.headers.emplace_back("x-ms-version", "2014-02-14");
  const Result<std::string> text = shared_key_string_to_sign(SharedKeyScheme::kSharedKey, old, "a", kWide);
  ASSERT_TRUE(text.ok());
  EXPECT_TRUE(text->starts_with("PUT\n\n\n0\n")) << *text;
  old.headers.back().second = "2015-02-21";
  EXPECT_TRUE((*shared_key_string_to_sign(SharedKeyScheme::kSharedKey, old, "a", kWide)).starts_with("PUT\n\n\n\n"));
}

TEST(WideSharedKey, QS02_QH02_ALengthOfZeroIsNotSignedWithoutAVersion) {
  const Request part{"PUT", "/orders", "", {{"Content-Length", "0"}, {"x-ms-date", std::string(kDateText)}}};
  const Result<std::string> text = shared_key_string_to_sign(SharedKeyScheme::kSharedKey, part, "a", kWide);
  ASSERT_TRUE(text.ok());
  EXPECT_TRUE(text->starts_with("PUT\n\n\n\n")) << *text;
}

TEST(WideSharedKey, QS03_QS04_HeadersAndParametersAreJoinedAndSorted) {
  const Request made = request("GET", "/orders", "B=2&a=x%20y&b=1&B=10&c",
                               {{"x-ms-meta-b", "  two   words "}, {"X-Ms-Meta-A", "1"}, {"x-ms-meta-b", "more"}});
  const Result<std::string> text = shared_key_string_to_sign(SharedKeyScheme::kSharedKey, made, "n", kWide);
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("x-ms-meta-a:1\nx-ms-meta-b:two words,more\n"), std::string::npos) << *text;
  EXPECT_TRUE(text->ends_with("/n/orders\na:x y\nb:1,10,2\nc:")) << *text;
}

TEST(WideSharedKey, QS06_AChangedPartIsRefused) {
  const Vector vector = vectors()[2];
  const auto refused = [&](const std::function<void(Request&)>& change) {
    Request made = signed_as(vector, vector.signature);
    change(made);
    EXPECT_EQ(verify_shared_key(made, credentials(), kPresent, kWide).service_error(), "AuthenticationFailed");
  };
  refused([](Request& made) { made.verb = "PUT"; });
  refused([](Request& made) { made.path += "x"; });
  refused([](Request& made) { made.query += "&timeout=1"; });
  refused([](Request& made) { made.query = "%zz"; });
  refused([](Request& made) { made.headers.emplace_back("x-ms-meta-a", "1"); });
  refused([](Request& made) { made.headers.emplace_back("Range", "bytes=0-1"); });
  refused([](Request& made) { made.headers.emplace_back("If-Match", "*"); });
  refused([](Request& made) { made.headers[0].second = "61"; });
}

}  // namespace
}  // namespace varve::security::wide_shared_key_test
