// Goal: without a key, a caller reads what the owner of a container opened, if the server allows it, and learns nothing
// about the rest.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/blob_service_bench.h"

namespace varve::serve::blob_public_access_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kRefused = "401 NoAuthenticationInformation";

class PublicAccessOfBlobs : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const std::string access : {"blob", "container"}) {
      EXPECT_EQ(service_.told("PUT", access + "?restype=container", {}, {{"x-ms-blob-public-access", access}}), "201");
      EXPECT_EQ(service_.told("PUT", access + "/a", "hello",
                              {{"x-ms-blob-type", "BlockBlob"}, {"x-ms-tags", "t=1"}, {"x-ms-meta-m", "1"}}),
                "201");
    }
    EXPECT_EQ(outcome(service_.put("a", "secret")), "201");
  }
  std::string anonymous(std::string_view verb, std::string_view resource) {
    return outcome(service_.send_anonymous(verb, resource));
  }

  BlobServiceBench service_{BlobServiceOptions{true}};
};

TEST_F(PublicAccessOfBlobs, BB15_BB10_EverybodyReadsOpenBlobs) {
  for (const std::string container : {"blob", "container"}) {
    const HttpResponse got = service_.send_anonymous("GET", container + "/a");
    EXPECT_EQ(outcome(got), "200");
    EXPECT_EQ(got.body, "hello");
    EXPECT_EQ(header_of(got, "x-ms-meta-m"), "1");
    EXPECT_EQ(header_of(got, "x-ms-tag-count"), "(none)");
    EXPECT_EQ(anonymous("HEAD", container + "/a"), "200");
    EXPECT_EQ(anonymous("GET", container + "/a?comp=metadata"), "200");
    EXPECT_EQ(anonymous("GET", container + "/a?comp=blocklist"), "200");
    EXPECT_EQ(anonymous("GET", container + "/absent"), "404 BlobNotFound") << "the container is open";
  }
  EXPECT_EQ(anonymous("GET", "container?restype=container&comp=list"), "200");
  EXPECT_EQ(anonymous("GET", "container?restype=container"), "200");
  EXPECT_EQ(anonymous("HEAD", "container?restype=container&comp=metadata"), "200");
}

TEST_F(PublicAccessOfBlobs, BS02_BB15_NothingElseIsOpenOrShown) {
  for (const std::string place : {"photos/a", "photos/absent", "absent/a", "$logs/a", "blob?restype=container",
                                  "blob?restype=container&comp=list", "photos?restype=container&comp=list",
                                  "container?restype=container&comp=acl", "container/a?comp=tags", "?comp=list",
                                  "container/a?comp=blocklist&blocklisttype=all", "container/a?comp=nothing",
                                  "container?restype=container&comp=list&include=tags",
                                  "container?restype=container&comp=list&include=metadata,uncommittedblobs"}) {
    EXPECT_EQ(anonymous("GET", place), kRefused) << place;
  }
  EXPECT_EQ(anonymous("DELETE", "container/a"), kRefused);
  EXPECT_EQ(anonymous("PUT", "container/b"), kRefused);
  EXPECT_EQ(service_.told("GET", "container/a"), "200");
}

TEST_F(PublicAccessOfBlobs, BB15_BB14_AnOwnerClosesAContainerAgain) {
  EXPECT_EQ(service_.told("PUT", "container?restype=container&comp=acl", "<SignedIdentifiers/>",
                          {{"x-ms-blob-public-access", "blob"}}),
            "200");
  EXPECT_EQ(anonymous("GET", "container?restype=container&comp=list"), kRefused);
  EXPECT_EQ(anonymous("GET", "container/a"), "200");
  EXPECT_EQ(service_.told("PUT", "container?restype=container&comp=acl", "<SignedIdentifiers/>"), "200");
  EXPECT_EQ(anonymous("GET", "container/a"), kRefused);
}

TEST_F(PublicAccessOfBlobs, BH01_BQ01_ARequestWithoutAVersionHasTheOneOfTheProperties) {
  EXPECT_EQ(header_of(service_.send_anonymous("GET", "blob/a"), "x-ms-version"), "2020-12-06");
  EXPECT_EQ(service_.told("PUT", "?restype=service&comp=properties",
                          "<StorageServiceProperties><DefaultServiceVersion>2016-05-31</DefaultServiceVersion>"
                          "</StorageServiceProperties>"),
            "202");
  EXPECT_EQ(header_of(service_.send_anonymous("GET", "blob/a"), "x-ms-version"), "2016-05-31");
  EXPECT_EQ(header_of(service_.send_anonymous("GET", "blob/a", {{"x-ms-version", "2019-02-02"}}), "x-ms-version"),
            "2019-02-02");
}

TEST_F(PublicAccessOfBlobs, BY05_EverybodyMayCopyAnOpenBlob) {
  security::BlobSasTerms terms;
  terms.container = "photos";
  terms.permissions = *Permissions::parse_for_blob("cw");
  terms.expiry = at("2026-03-04T00:00:00Z");
  const std::string writing = security::to_query(*security::sign_blob_sas(terms, credentials()));
  const std::string root = "http://127.0.0.1:10002/" + std::string(kAccount) + "/";
  const auto copied = [&](const std::string& source, Headers headers = {}) {
    headers.emplace_back("x-ms-copy-source", root + source);
    return outcome(service_.send_by(writing, "PUT", "photos/copy", "", std::move(headers)));
  };
  EXPECT_EQ(copied("photos/a"), "403 CannotVerifyCopySource");
  EXPECT_EQ(copied("absent/a"), "403 CannotVerifyCopySource");
  EXPECT_EQ(copied("$logs/a"), "403 CannotVerifyCopySource");
  EXPECT_EQ(copied("blob/a", {{"x-ms-copy-source-tag-option", "COPY"}}), "403 CannotVerifyCopySource");
  EXPECT_EQ(copied("blob/a"), "202");
  EXPECT_EQ(service_.send("GET", "photos/copy").body, "hello");
  EXPECT_EQ(copied("container/a"), "202");
}

TEST(PublicAccessOfServer, BY05_AnOpenBlobOfAnotherAccountNeedsNoSignature) {
  for (const bool allows : {true, false}) {
    Accounts known = accounts();
    ASSERT_TRUE(known.add("otheraccount:" + std::string(kOtherKeyText)).ok());
    BlobServiceBench service(BlobServiceOptions{allows}, std::move(known));
    ASSERT_TRUE(service.bench.store->create_account("otheraccount").ok());
    ContainerOptions options;
    for (const std::string container : {"closed", "open"}) {
      Container theirs = *service.bench.store->create_container("otheraccount", container, options);
      ASSERT_TRUE(theirs.put("b", "theirs").ok());
      options.public_access = PublicAccess::kBlobs;
    }
    const auto copied = [&](const std::string& container) {
      const std::string source = "http://127.0.0.1:10002/otheraccount/" + container + "/b";
      return service.told("PUT", "photos/copy", "", {{"x-ms-copy-source", source}});
    };
    EXPECT_EQ(copied("closed"), "403 CannotVerifyCopySource");
    EXPECT_EQ(copied("open"), allows ? "202" : "403 CannotVerifyCopySource");
  }
}

TEST(PublicAccessOfServer, BB10_BB15_IsOffUnlessItIsAllowed) {
  BlobServiceBench service;
  EXPECT_EQ(service.told("PUT", "open?restype=container", {}, {{"x-ms-blob-public-access", "blob"}}),
            "409 PublicAccessNotPermitted");
  EXPECT_EQ(service.told("PUT", "photos?restype=container&comp=acl", "<SignedIdentifiers/>",
                         {{"x-ms-blob-public-access", "container"}}),
            "409 PublicAccessNotPermitted");
  // A container that was opened under another configuration is closed.
  EXPECT_TRUE(service.photos.set_access({}, PublicAccess::kContainer).ok());
  EXPECT_EQ(outcome(service.put("a", "x")), "201");
  EXPECT_EQ(outcome(service.send_anonymous("GET", "photos/a")), kRefused);
}

TEST(BlobServiceProperties, BQ01_HaveTheElementsOfTheService) {
  BlobServiceBench service;
  const auto set = [&](const std::string& content) {
    return service.told("PUT", "?restype=service&comp=properties",
                        "<StorageServiceProperties>" + content + "</StorageServiceProperties>");
  };
  EXPECT_EQ(set("<DefaultServiceVersion>2016-05-31</DefaultServiceVersion>"
                "<DeleteRetentionPolicy><Enabled>false</Enabled></DeleteRetentionPolicy>"
                "<StaticWebsite><Enabled>false</Enabled></StaticWebsite>"),
            "202");
  const HttpResponse got = service.send("GET", "?restype=service&comp=properties");
  EXPECT_THAT(got.body, HasSubstr("<DefaultServiceVersion>2016-05-31</DefaultServiceVersion>"));
  EXPECT_THAT(got.body, HasSubstr("<DeleteRetentionPolicy><Enabled>false</Enabled></DeleteRetentionPolicy>"));
  EXPECT_THAT(got.body, HasSubstr("<StaticWebsite><Enabled>false</Enabled></StaticWebsite>"));
  EXPECT_EQ(set("<DeleteRetentionPolicy><Enabled>false</Enabled></DeleteRetentionPolicy>"), "202") << "changes nothing";
  EXPECT_EQ(set("<DeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days></DeleteRetentionPolicy>"),
            "501 NotImplemented");
  EXPECT_EQ(set("<StaticWebsite><Enabled>true</Enabled><IndexDocument>a</IndexDocument></StaticWebsite>"),
            "501 NotImplemented");
  EXPECT_EQ(set("<DefaultServiceVersion>soon</DefaultServiceVersion>"), "400 InvalidXmlNodeValue");
  EXPECT_EQ(set("<DefaultServiceVersion>2008-01-01</DefaultServiceVersion>"), "400 InvalidXmlNodeValue");
  EXPECT_EQ(set("<Logging/><Other/>"), "400 InvalidXmlDocument");
  EXPECT_EQ(set("<DefaultServiceVersion>2019-02-02</DefaultServiceVersion><Other/>"), "400 UnsupportedXmlNode");
  EXPECT_THAT(service.send("GET", "?restype=service&comp=properties").body, HasSubstr("2016-05-31"));
  EXPECT_EQ(set("<DefaultServiceVersion></DefaultServiceVersion>"), "202");
  EXPECT_THAT(service.send("GET", "?restype=service&comp=properties").body, Not(HasSubstr("DefaultServiceVersion")));
}

TEST(AccountInformation, BQ02_IsTheSameAtEachAddress) {
  BlobServiceBench service;
  for (const std::string place : {"", "photos", "photos/a"}) {
    for (const std::string verb : {"GET", "HEAD"}) {
      const HttpResponse got = service.send(verb, place + "?restype=account&comp=properties");
      EXPECT_EQ(outcome(got), "200") << place;
      EXPECT_EQ(header_of(got, "x-ms-sku-name"), "Standard_LRS");
      EXPECT_EQ(header_of(got, "x-ms-account-kind"), "StorageV2");
      EXPECT_EQ(header_of(got, "x-ms-is-hns-enabled"), "false");
    }
  }
  EXPECT_EQ(service.told("GET", "?restype=account"), "400 InvalidQueryParameterValue");
  EXPECT_EQ(service.told("PUT", "?restype=account&comp=properties"), "405 UnsupportedHttpVerb");
  EXPECT_EQ(outcome(service.send_anonymous("GET", "?restype=account&comp=properties")), kRefused);
}

}  // namespace
}  // namespace varve::serve::blob_public_access_test
