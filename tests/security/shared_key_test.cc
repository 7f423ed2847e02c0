// Goal: SharedKey and SharedKeyLite sign and accept exactly the requests of the specification, shown by its own
// vectors.
#include "varve/security/shared_key.h"

#include <gtest/gtest.h>

#include "tests/security/security_bench.h"

namespace varve::security::shared_key_test {
namespace {

using namespace test;

Request request(std::string verb, std::string path, std::string query = "", std::string content_type = "") {
  Request made{std::move(verb), std::move(path), std::move(query), {{"x-ms-date", std::string(kDateText)}}};
  if (!content_type.empty()) made.headers.emplace_back("Content-Type", std::move(content_type));
  return made;
}

struct Vector {
  std::string name;
  SharedKeyScheme scheme;
  Request request;
  std::string string_to_sign;
  std::string signature;
};

std::vector<Vector> vectors() {
  const std::string date(kDateText);
  const std::string account = "/devstoreaccount1";
  const std::string entity = "/devstoreaccount1/Orders(PartitionKey='eu%20west',RowKey='0001')";
  constexpr auto kFull = SharedKeyScheme::kSharedKey;
  constexpr auto kLite = SharedKeyScheme::kSharedKeyLite;
  return {
      {"SK-1", kFull, request("POST", "/Tables", "", "application/json"),
       "POST\n\napplication/json\n" + date + "\n/devstoreaccount1/Tables",
       "0V6+g38BxA5bqFgB1QsOqENxxESTOJYMG/FG2zwhacI="},
      {"SK-2", kFull, request("POST", account + "/Tables", "", "application/json"),
       "POST\n\napplication/json\n" + date + "\n/devstoreaccount1/devstoreaccount1/Tables",
       "0gAwHFBYIDi3YBHx2Ac07Hrgc23aCBuG7rP8lScRssk="},
      {"SK-3", kFull, request("GET", entity, "$select=A&timeout=30"),
       "GET\n\n\n" + date + "\n/devstoreaccount1" + entity, "mYbn/PVNSYTJQzUk5FuSd2CgtsgZkvIzIfopuo7vewQ="},
      {"SK-4", kFull, request("PUT", account + "/Orders", "timeout=5&comp=acl", "application/xml"),
       "PUT\n\napplication/xml\n" + date + "\n/devstoreaccount1/devstoreaccount1/Orders?comp=acl",
       "nVDYA9fPdxfwCAmQ1x+bCnjtf53TUlbPjB9+oQ0ealY="},
      {"SK-5", kFull, request("GET", account + "/", "restype=service&comp=properties"),
       "GET\n\n\n" + date + "\n/devstoreaccount1/devstoreaccount1/?comp=properties",
       "9CKai1tUSScq8Ny0ExUPOc3bGdasor7fZ6+Vv5kGFAE="},
      {"SK-6", kFull, request("POST", account + "/$batch", "", "multipart/mixed; boundary=batch_b1"),
       "POST\n\nmultipart/mixed; boundary=batch_b1\n" + date + "\n/devstoreaccount1/devstoreaccount1/$batch",
       "xXd5YDk696uO2Eao0bkmBOt47DjS3Qr+XJrQDC8EbAs="},
      {"SKL-1", kLite, request("POST", "/Tables"), date + "\n/devstoreaccount1/Tables",
       "cGszuY2FFBIWknEtXHpESm6yMY0ZyhcVaXvrgqwDoRo="},
      {"SKL-2", kLite, request("GET", account + "/Orders()"), date + "\n/devstoreaccount1/devstoreaccount1/Orders()",
       "TsmT7/o9DXmK3uLe9Mw7h6G/mr38y1XHcibCU6P+Jf4="},
  };
}

Request with_authorization(Request request, std::string value) {
  request.headers.emplace_back("authorization", std::move(value));
  return request;
}
Request signed_by(const AccountCredentials& account, Request request, KeyChoice choice = KeyChoice::kPrimary,
                  SharedKeyScheme scheme = SharedKeyScheme::kSharedKey) {
  const Result<std::string> value = shared_key_authorization(scheme, request, account, choice);
  EXPECT_TRUE(value.ok());
  return with_authorization(std::move(request), *value);
}
Said judged(const Request& request, DateTime now = kPresent) {
  return said(verify_shared_key(request, credentials(), now));
}

TEST(SharedKey, S01_TheHeaderNamesSchemeAccountAndSignature) {
  for (const Vector& vector : vectors()) {
    const Result<std::string> header = shared_key_authorization(vector.scheme, vector.request, credentials());
    ASSERT_TRUE(header.ok());
    const std::string scheme = vector.scheme == SharedKeyScheme::kSharedKey ? "SharedKey" : "SharedKeyLite";
    EXPECT_EQ(*header, scheme + " devstoreaccount1:" + vector.signature) << vector.name;
    EXPECT_EQ(judged(with_authorization(vector.request, *header)), kFine) << vector.name;
  }
}

TEST(SharedKey, S02_S03_S04_VectorsSignTheStringsOfTheSpecification) {
  for (const Vector& vector : vectors()) {
    const Result<std::string> text = shared_key_string_to_sign(vector.scheme, vector.request, kAccount);
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(*text, vector.string_to_sign) << vector.name;
    EXPECT_EQ(*credentials().keys.sign(*text), vector.signature) << vector.name;
  }
}

TEST(SharedKey, S03_LiteSignsNeitherVerbNorContentType) {
  const Request first = request("GET", "/Orders");
  const Request second = request("DELETE", "/Orders", "", "text/plain");
  EXPECT_EQ(*shared_key_string_to_sign(SharedKeyScheme::kSharedKeyLite, first, kAccount),
            *shared_key_string_to_sign(SharedKeyScheme::kSharedKeyLite, second, kAccount));
}

TEST(SharedKey, S02_HeadersEnterInAnyCaseAndXMsDateWins) {
  Request made{"PUT",
               "/Orders",
               "",
               {{"DATE", "Mon, 02 Mar 2026 00:00:00 GMT"},
                {"X-MS-Date", std::string(kDateText)},
                {"content-md5", "bWQ1"},
                {"CONTENT-type", "a/b"}}};
  EXPECT_EQ(*shared_key_string_to_sign(SharedKeyScheme::kSharedKey, made, kAccount),
            "PUT\nbWQ1\na/b\n" + std::string(kDateText) + "\n/devstoreaccount1/Orders");
  EXPECT_EQ(judged(signed_by(credentials(), made)), kFine);
  made.headers = {{"date", std::string(kDateText)}};
  EXPECT_EQ(judged(signed_by(credentials(), made)), kFine);
}

TEST(SharedKey, S04_OnlyCompOfTheQueryEnters) {
  const Request signed_request = signed_by(credentials(), request("GET", "/Orders", "comp=acl"));
  Request other = signed_request;
  other.query = "timeout=3&comp=acl&$top=1";
  EXPECT_EQ(judged(other), kFine);
  for (const std::string query : {"", "comp=properties", "comp=acl&comp=acl", "comp=", "comp=%zz", "Comp=acl"}) {
    other.query = query;
    EXPECT_EQ(judged(other), kAuthenticationFailed) << query;
  }
}

TEST(SharedKey, S04_TheSecondaryIsSignedAsThePrimaryOrAsItStands) {
  const Request plain = signed_by(credentials(), request("GET", "/devstoreaccount1/Orders"));
  Request secondary = plain;
  secondary.path = "/devstoreaccount1-secondary/Orders";
  EXPECT_EQ(judged(secondary), kFine);
  EXPECT_EQ(judged(signed_by(credentials(), request("GET", "/devstoreaccount1-secondary/Orders"))), kFine);
  secondary.path = "/devstoreaccount2-secondary/Orders";
  EXPECT_EQ(judged(secondary), kAuthenticationFailed);
}

TEST(SharedKey, S05_TheRealVerbAndTheAddressedAccountCount) {
  Request tunnelled = request("POST", "/Orders");
  tunnelled.headers.emplace_back("X-HTTP-Method", "MERGE");
  tunnelled = signed_by(credentials(), tunnelled);
  EXPECT_EQ(judged(tunnelled), kFine);
  tunnelled.verb = "MERGE";
  EXPECT_EQ(judged(tunnelled), kAuthenticationFailed);
  AccountCredentials stranger = credentials();
  stranger.name = "otheraccount";
  EXPECT_EQ(judged(signed_by(stranger, request("GET", "/Orders"))), kAuthenticationFailed);
}

TEST(SharedKey, S06_PathsMayHaveBeenEncodedOtherwiseWhenSigned) {
  const std::string raw = "/Orders(PartitionKey='a',RowKey='b')";
  const std::string encoded = "/Orders%28PartitionKey=%27a%27%2cRowKey=%27b%27%29";
  const std::string quotes = "/Orders(PartitionKey=%27a%27,RowKey=%27b%27)";
  const auto sent_as = [](const std::string& signed_path, const std::string& sent) {
    Request made = signed_by(credentials(), request("GET", signed_path));
    made.path = sent;
    return judged(made);
  };
  EXPECT_EQ(sent_as(raw, encoded), kFine);
  EXPECT_EQ(sent_as(raw, quotes), kFine);
  EXPECT_EQ(sent_as(quotes, raw), kFine);
  EXPECT_EQ(sent_as("/$batch", "/%24batch"), kFine);
  EXPECT_EQ(sent_as(raw, "/Orders(PartitionKey='a',RowKey='c')"), kAuthenticationFailed);
  EXPECT_EQ(sent_as("/Orders/a", "/Orders%2Fa"), kAuthenticationFailed);
}

TEST(SharedKey, S07_TheDateIsWithinFifteenMinutesAndReadable) {
  const Request made = signed_by(credentials(), request("GET", "/Orders"));
  const std::uint64_t skew = 15 * 60 * kSecondTicks;
  EXPECT_EQ(judged(made, DateTime{kPresent.ticks + skew}), kFine);
  EXPECT_EQ(judged(made, DateTime{kPresent.ticks - skew}), kFine);
  EXPECT_EQ(judged(made, DateTime{kPresent.ticks + skew + 1}), kAuthenticationFailed);
  EXPECT_EQ(judged(made, DateTime{kPresent.ticks - skew - 1}), kAuthenticationFailed);
  Request undated = made;
  undated.headers.erase(undated.headers.begin());
  EXPECT_EQ(judged(undated), kAuthenticationFailed);
  for (const std::string date :
       {"2026-03-03T10:20:30Z", "Tue, 03 Mar 2026 10:20:30", "Tue, 03 Foo 2026 10:20:30 GMT",
        "Xxx, 03 Mar 2026 10:20:30 GMT", "Mon, 03 Mar 2026 10:20:30 GMT", "Tue, 32 Mar 2026 10:20:30 GMT",
        "Tue, 03 Mar 2026 1a:20:30 GMT", "Tue, 03 Mar 2026 10:20:30 UTC", "Tue; 03 Mar 2026 10:20:30 GMT"}) {
    Request dated = request("GET", "/Orders");
    dated.headers.front().second = date;
    EXPECT_EQ(judged(signed_by(credentials(), dated)), kAuthenticationFailed) << date;
  }
}

TEST(SharedKey, S07_MalformedHeadersAreInvalid) {
  const Request made = request("GET", "/Orders");
  EXPECT_EQ(judged(made), kInvalidAuthenticationInfo);
  for (const std::string value : {"", "SharedKey", "SharedKey ", "SharedKey devstoreaccount1", "SharedKey :abc",
                                  "SharedKey devstoreaccount1:", "Basic abc", "sharedkey devstoreaccount1:abc"}) {
    EXPECT_EQ(judged(with_authorization(made, value)), kInvalidAuthenticationInfo) << value;
  }
  const Request twice = with_authorization(signed_by(credentials(), made), "SharedKey devstoreaccount1:abc");
  EXPECT_EQ(judged(twice), kInvalidAuthenticationInfo);
}

TEST(SharedKey, S08_BearerTokensAreAnsweredAsUnknown) {
  const Request made = with_authorization(request("GET", "/Orders"), "Bearer eyJ0eXAiOiJKV1QifQ.e30.c2ln");
  EXPECT_EQ(judged(made), kNoAuthenticationInformation);
}

TEST(SharedKey, S14_EitherKeySignsAndNoOther) {
  const Request made = request("GET", "/Orders");
  EXPECT_EQ(judged(signed_by(credentials(), made, KeyChoice::kPrimary)), kFine);
  EXPECT_EQ(judged(signed_by(credentials(), made, KeyChoice::kSecondary)), kFine);
  EXPECT_EQ(judged(signed_by(credentials(kOtherKeyText), made)), kAuthenticationFailed);
  EXPECT_EQ(credentials(kKeyText, "").keys.sign("x", KeyChoice::kSecondary).code(), Code::kNotFound);
}

TEST(SharedKey, EveryChangedByteOfTheSignatureIsRefused) {
  const Request made = request("GET", "/Orders");
  const std::string header = *shared_key_authorization(SharedKeyScheme::kSharedKey, made, credentials());
  for (std::size_t i = header.find(':') + 1; i < header.size(); ++i) {
    for (const char other : {'A', 'z', '=', '+', ' '}) {
      std::string changed = header;
      if (changed[i] == other) continue;
      changed[i] = other;
      EXPECT_EQ(judged(with_authorization(made, changed)), kAuthenticationFailed) << changed;
    }
    EXPECT_NE(judged(with_authorization(made, header.substr(0, i))), kFine);
  }
  EXPECT_EQ(judged(with_authorization(made, header + "=")), kAuthenticationFailed);
}

TEST(AccountKeys, AreCanonicalBase64OfSomeBytes) {
  for (const std::string text : {"", "A", "AAA", "AAAA=", "AA=A", "AAAA AAA", " AAA", "AAB=", "****", "AAAA\n"}) {
    EXPECT_EQ(said(AccountKeys::create(text).status()), kInvalidInput) << text;
    EXPECT_EQ(said(AccountKeys::create("AAAA", text).status()), text.empty() ? kFine : kInvalidInput) << text;
  }
  EXPECT_TRUE(AccountKeys::create("AAA=").ok());
  EXPECT_FALSE(AccountKeys::create(std::string(1400, 'A')).ok());
}

}  // namespace
}  // namespace varve::security::shared_key_test
