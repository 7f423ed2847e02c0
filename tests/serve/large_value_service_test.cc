// Goal: clients of the table service see the address of an entity's content, and clients of the blob service read the
// content there, and do nothing else with it (BX-01).
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "api/model/large_value_maker.h"
#include "api/rest/encoding/entity_writer.h"
#include "tests/api/blob/large_value_bench.h"
#include "tests/serve/blob_service_bench.h"

namespace varve::serve::large_value_service_test {
namespace {

using namespace test;

std::string address_at(std::string_view root, std::uint16_t blob_port) {
  const WritingPlace place{PayloadLevel::kMinimal, root, "myaccount", "People", blob_port};
  return large_value_address(place, LargeValueMaker::make({7, 100}));
}

TEST(LargeValueService, BX01_TheAddressIsAtTheBlobService) {
  EXPECT_EQ(address_at("http://127.0.0.1:10002/myaccount", 10'000), "http://127.0.0.1:10000/myaccount/$values/7");
  EXPECT_EQ(address_at("https://myaccount.example.net", 443), "https://myaccount.example.net:443/$values/7");
  EXPECT_EQ(address_at("http://[::1]:10002/myaccount", 10'000), "http://[::1]:10000/myaccount/$values/7");
  EXPECT_EQ(address_at("http://[::1]/myaccount", 10'000), "http://[::1]:10000/myaccount/$values/7");
  EXPECT_EQ(address_at("http://127.0.0.1:10002/myaccount", 0), "$values/7") << "there is no blob service";
}

TEST(LargeValueService, BX01_AnEntityShowsAStringAndAStringReplacesTheContent) {
  ServiceBench service;
  Table people = value_table(*service.bench.store);
  LargeValue value;
  {
    const Unnamed photo = written(people, uneven_bytes(20'000));
    value = photo.value;
    EXPECT_EQ(said(people.insert(with_photo("a", value))), kFine);
  }
  const std::string name = "$values/" + std::to_string(value.id());
  const std::string resource = "People(PartitionKey='p',RowKey='a')";
  const std::string before = service.send("GET", resource).body;
  EXPECT_NE(before.find("\"Photo\":\"" + name + "\""), std::string::npos) << before;
  EXPECT_EQ(before.find("Photo@odata.type"), std::string::npos) << "a String needs no type";
  service.dispatcher.set_blob_port(10'000);
  const std::string address = "http://127.0.0.1:10000/" + std::string(kAccount) + "/" + name;
  const std::string body = service.send("GET", resource).body;
  EXPECT_NE(body.find("\"Photo\":\"" + address + "\""), std::string::npos) << body;
  const std::string page = service.send("GET", "People()").body;
  EXPECT_NE(page.find("\"Photo\":\"" + address + "\""), std::string::npos) << page;
  const Result<LargeValueReader> reader = service.bench.store->open_large_value(kAccount, value.id());
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_EQ(reader->length(), 20'000U);

  Headers headers;
  headers.emplace_back("Content-Type", "application/json");
  headers.emplace_back("If-Match", "*");
  const HttpResponse merged = service.send("MERGE", resource, R"({"Photo":")" + address + R"("})", std::move(headers));
  EXPECT_EQ(merged.status, 204) << merged.body;
  EXPECT_EQ(*read(people, "p", "a")->get<std::string>("Photo"), address);
  EXPECT_EQ(said(service.bench.store->open_large_value(kAccount, value.id())), kLargeValueGone);
}

class ValueReading : public testing::Test {
 protected:
  ValueReading() : people_(value_table(*service_.bench.store)) {
    const Unnamed photo = written(people_, content_);
    EXPECT_EQ(said(people_.insert(with_photo("a", photo.value))), kFine);
    name_ = "$values/" + std::to_string(photo.value.id());
  }

  const std::string content_ = uneven_bytes(3'000'000);
  BlobServiceBench service_;
  Table people_;
  std::string name_;
};

TEST_F(ValueReading, BX01_TheKeyReadsTheContentAndItsRanges) {
  const HttpResponse whole = service_.send("GET", name_);
  EXPECT_EQ(whole.status, 200);
  EXPECT_TRUE(whole.body == content_);
  EXPECT_NE(header_of(whole, "ETag"), "(none)");
  Headers range;
  range.emplace_back("x-ms-range", "bytes=1000000-1000099");
  const HttpResponse part = service_.send("GET", name_, {}, std::move(range));
  EXPECT_EQ(part.status, 206);
  EXPECT_TRUE(part.body == content_.substr(1'000'000, 100));
  EXPECT_EQ(header_of(part, "Content-Range"), "bytes 1000000-1000099/3000000");
  const HttpResponse head = service_.send("HEAD", name_);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.stated_bytes, 3'000'000U);
  EXPECT_EQ(header_of(head, "ETag"), header_of(whole, "ETag"));
  Headers unchanged;
  unchanged.emplace_back("If-None-Match", header_of(whole, "ETag"));
  EXPECT_EQ(service_.send("GET", name_, {}, std::move(unchanged)).status, 304);
}

TEST_F(ValueReading, BX01_NobodyWritesIt) {
  Headers block;
  block.emplace_back("x-ms-blob-type", "BlockBlob");
  EXPECT_EQ(service_.told("PUT", name_, "text", std::move(block)), "405 UnsupportedHttpVerb");
  EXPECT_EQ(service_.told("DELETE", name_), "405 UnsupportedHttpVerb");
  EXPECT_EQ(service_.told("GET", name_ + "?comp=metadata"), "405 UnsupportedHttpVerb");
  EXPECT_EQ(service_.told("PUT", name_ + "?comp=lease", "", {{"x-ms-lease-action", "acquire"}}),
            "405 UnsupportedHttpVerb");
  EXPECT_TRUE(service_.told("PUT", "$values?restype=container").starts_with("400"));
  EXPECT_TRUE(service_.send("GET", name_).body == content_);
}

TEST_F(ValueReading, BX01_ItIsNoSourceOfACopy) {
  const std::string host = host_of(service_.signed_request("GET", name_));
  const std::string source = "http://" + host + "/" + std::string(kAccount) + "/" + name_;
  const std::string told = service_.told("PUT", "photos/copy", "", {{"x-ms-copy-source", source}});
  EXPECT_TRUE(told.starts_with("40")) << told;
  EXPECT_EQ(service_.told("GET", "photos/copy"), "404 BlobNotFound");
}

TEST_F(ValueReading, BX01_OnlyContentsOfEntitiesAreThere) {
  EXPECT_EQ(service_.told("GET", "$values/1"), "404 BlobNotFound");
  EXPECT_EQ(service_.told("GET", "$values/text"), "404 BlobNotFound");
  EXPECT_EQ(service_.told("GET", "$values/0" + name_.substr(8)), "404 BlobNotFound");
  EXPECT_EQ(service_.told("HEAD", "$values/99999999999999999999999"), "404 BlobNotFound");
  const int anonymous = service_.send_anonymous("GET", name_).status;
  EXPECT_TRUE(anonymous >= 400 && anonymous < 500) << anonymous;
  EXPECT_EQ(said(people_.remove("p", "a", ETag::any())), kFine);
  EXPECT_EQ(service_.told("GET", name_), "404 BlobNotFound");
}

}  // namespace
}  // namespace varve::serve::large_value_service_test
