// Goal: conditions, leases and ranges of requests to blobs are read as the specification says, and bad ones are refused.
// Method: headers of each form, beside the value or the error that each must give.
#include "api/rest/blobs/blob_conditions.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/rest/blobs/blob_range.h"

namespace varve::serve::blob_conditions_test {
namespace {

using namespace std::chrono_literals;

constexpr DateTime kTime{638'000'000'005'000'000};  // half a second after a whole one
constexpr std::uint64_t kSecond = 10'000'000;

template <typename Value>
std::string error_of(const Result<Value>& result) {
  return result.ok() ? std::string() : std::string(result.status().service_error());
}

BlobConditions read(const Headers& headers, BlobAccess access = BlobAccess::kRead) {
  const Result<BlobConditions> conditions = read_blob_conditions(headers, access);
  EXPECT_TRUE(conditions.ok()) << conditions.status().to_string();
  return conditions.ok() ? *conditions : BlobConditions();
}

TEST(BlobEtag, BH02_BH03_IsOpaqueAndReadWithOrWithoutQuotes) {
  const ETag etag = ETag::of_timestamp(DateTime{0x8DE78A1B2C3D4E5});
  EXPECT_EQ(quoted_etag(etag), "\"0x8DE78A1B2C3D4E5\"");
  EXPECT_EQ(plain_etag(etag), "0x8DE78A1B2C3D4E5");
  for (const std::string text : {"\"0x8DE78A1B2C3D4E5\"", "0x8DE78A1B2C3D4E5"}) EXPECT_EQ(*parse_blob_etag(text), etag);
  EXPECT_TRUE((*parse_blob_etag("*")).is_any());
  for (const std::string other :
       {"W/\"0x8DE78A1B2C3D4E5\"", "\"0x8de78a1b2c3d4e5\"", "0x08DE78A1B2C3D4E5", "\"\"", "", "\"0x\"", "\"abc\"",
        "0xFFFFFFFFFFFFFFFF", "0x8000000000000001", "\"datetime'2026-03-03T10%3A20%3A30.4767Z'\"", "W/\"", "\""}) {
    const Result<ETag> parsed = parse_blob_etag(other);
    EXPECT_TRUE(!parsed.ok() || parsed->is_foreign()) << other;
  }
  EXPECT_FALSE(parse_blob_etag("a\"b").ok());
  EXPECT_FALSE(parse_blob_etag("a\nb").ok());
}

TEST(BlobConditionHeaders, BC01_AreReadFromTheirHeaders) {
  const BlobConditions all = read({{"If-Match", " \"0x1A\" "},
                                   {"if-none-match", "0x1B"},
                                   {"If-Modified-Since", "Tue, 03 Mar 2026 10:20:30 GMT"},
                                   {"If-Unmodified-Since", "Tue, 03 Mar 2026 10:20:31 GMT"},
                                   {"x-ms-lease-id", "{0F1E2D3C-0000-4000-8000-00000000ABCD}"}});
  EXPECT_EQ(all.if_match, ETag::of_timestamp(DateTime{0x1A}));
  EXPECT_EQ(all.if_none_match, ETag::of_timestamp(DateTime{0x1B}));
  ASSERT_TRUE(all.if_modified_since && all.if_unmodified_since && all.lease);
  EXPECT_EQ(all.if_modified_since->to_string(), "2026-03-03T10:20:30Z");
  EXPECT_EQ(all.if_unmodified_since->ticks - all.if_modified_since->ticks, kSecond);
  EXPECT_EQ(all.lease->to_string(), "0f1e2d3c-0000-4000-8000-00000000abcd");
  const BlobConditions none = read({{"Content-Type", "text/plain"}});
  EXPECT_FALSE(none.if_match || none.if_none_match || none.if_modified_since || none.if_unmodified_since || none.lease);
}

TEST(BlobConditionHeaders, BC01_MalformedAndUnusableOnesAreRefused) {
  const std::vector<std::pair<Headers, std::string>> refused_for_all = {
      {{{"If-Match", "a\"b"}}, "InvalidHeaderValue"},
      {{{"If-Modified-Since", "yesterday"}}, "InvalidHeaderValue"},
      {{{"If-Unmodified-Since", "2026-03-03T10:20:30Z"}}, "InvalidHeaderValue"},
      {{{"x-ms-lease-id", "abc"}}, "InvalidHeaderValue"},
      {{{"If-Match", "\"0x1\", \"0x2\""}}, "MultipleConditionHeadersNotSupported"},
      {{{"If-None-Match", "\"0x1\""}, {"If-None-Match", "\"0x2\""}}, "MultipleConditionHeadersNotSupported"}};
  for (const auto& [headers, literal] : refused_for_all) {
    for (const BlobAccess access : {BlobAccess::kRead, BlobAccess::kWrite}) {
      EXPECT_EQ(error_of(read_blob_conditions(headers, access)), literal) << headers[0].first;
    }
  }
  EXPECT_EQ(error_of(read_blob_conditions({{"If-None-Match", "*"}}, BlobAccess::kRead)), "UnsatisfiableCondition");
  EXPECT_TRUE(read({{"If-None-Match", "*"}}, BlobAccess::kWrite).if_none_match->is_any());
}

TEST(BlobConditionHeaders, BC01_BC02_AWriteHasOneOfTwoPairs) {
  const std::string date = "Tue, 03 Mar 2026 10:20:30 GMT";
  const std::vector<std::pair<std::string, std::string>> match = {{"If-Match", "0x1"}, {"If-Unmodified-Since", date}};
  const std::vector<std::pair<std::string, std::string>> none = {{"If-None-Match", "0x1"}, {"If-Modified-Since", date}};
  for (const auto& one : match) {
    for (const auto& other : none) {
      EXPECT_EQ(error_of(read_blob_conditions({one, other}, BlobAccess::kWrite)),
                "MultipleConditionHeadersNotSupported");
      EXPECT_TRUE(read_blob_conditions({one, other}, BlobAccess::kRead).ok());
    }
  }
  const BlobConditions of_match = read({match[0], match[1]}, BlobAccess::kWrite);
  EXPECT_TRUE(of_match.if_match && !of_match.if_unmodified_since) << "the ETag counts, the date does not";
  const BlobConditions of_none = read({none[0], none[1]}, BlobAccess::kWrite);
  EXPECT_TRUE(of_none.if_none_match && !of_none.if_modified_since);
  EXPECT_TRUE(read({none[1]}, BlobAccess::kWrite).if_modified_since);
}

TEST(BlobConditionHeaders, BC06_TheSourceOfACopyHasConditionsOfItsOwn) {
  const Headers headers = {{"x-ms-source-if-match", "0x1"}, {"If-Match", "0x2"}};
  const Result<BlobConditions> source = read_source_conditions(headers);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(source->if_match, ETag::of_timestamp(DateTime{1}));
  EXPECT_EQ(error_of(read_source_conditions({{"x-ms-source-if-modified-since", "never"}})), "InvalidHeaderValue");
}

TEST(BlobConditionHeaders, BC02_BC03_AReadIsJudgedByAllConditionsTogether) {
  const ETag etag = ETag::of_timestamp(kTime);
  const ETag other = ETag::of_timestamp(DateTime{kTime.ticks + 1});
  const DateTime same_second{kTime.ticks - kTime.ticks % kSecond};
  const DateTime earlier{same_second.ticks - kSecond};
  const DateTime later{same_second.ticks + kSecond};
  const auto judged = [&](const BlobConditions& conditions) { return judge_read(conditions, etag, kTime); };
  using enum ReadVerdict;
  EXPECT_EQ(judged({}), kMet);
  EXPECT_EQ(judged({.if_match = etag}), kMet);
  EXPECT_EQ(judged({.if_match = ETag::any()}), kMet);
  EXPECT_EQ(judged({.if_match = other}), kFailed);
  EXPECT_EQ(judged({.if_unmodified_since = same_second}), kMet) << "whole seconds are compared";
  EXPECT_EQ(judged({.if_unmodified_since = later}), kMet);
  EXPECT_EQ(judged({.if_unmodified_since = earlier}), kFailed);
  EXPECT_EQ(judged({.if_none_match = etag}), kNotModified);
  EXPECT_EQ(judged({.if_none_match = other}), kMet);
  EXPECT_EQ(judged({.if_modified_since = earlier}), kMet);
  EXPECT_EQ(judged({.if_modified_since = same_second}), kNotModified);
  EXPECT_EQ(judged({.if_modified_since = later}), kNotModified) << "a date in the future does not hold";
  EXPECT_EQ(judged({.if_none_match = etag, .if_modified_since = earlier}), kMet) << "one of the two is enough";
  EXPECT_EQ(judged({.if_none_match = etag, .if_modified_since = later}), kNotModified);
  EXPECT_EQ(judged({.if_match = etag, .if_none_match = etag}), kNotModified);
  EXPECT_EQ(judged({.if_match = other, .if_none_match = other}), kFailed);
}

TEST(LeaseHeaders, BE01_EachActionHasItsHeaders) {
  const std::string id = "0f1e2d3c-0000-4000-8000-00000000abcd";
  const Guid guid = *Guid::parse(id);
  const auto asked = [](const Headers& headers) {
    const Result<LeaseRequest> request = read_lease_request(headers);
    EXPECT_TRUE(request.ok()) << request.status().to_string();
    return request.ok() ? *request : LeaseRequest();
  };
  using enum LeaseRequest::Action;
  const LeaseRequest acquired =
      asked({{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "15"}, {"x-ms-proposed-lease-id", id}});
  EXPECT_TRUE(acquired.action == kAcquire && acquired.duration == 15s && acquired.proposed == guid);
  const LeaseRequest endless = asked({{"x-ms-lease-action", "Acquire"}, {"x-ms-lease-duration", "-1"}});
  EXPECT_TRUE(endless.duration == kInfiniteLease && !endless.proposed);
  const LeaseRequest renewed = asked({{"x-ms-lease-action", "renew"}, {"x-ms-lease-id", id}});
  EXPECT_TRUE(renewed.action == kRenew && renewed.id == guid);
  const LeaseRequest changed =
      asked({{"x-ms-lease-action", "change"}, {"x-ms-lease-id", id}, {"x-ms-proposed-lease-id", id}});
  EXPECT_TRUE(changed.action == kChange && changed.proposed == guid);
  EXPECT_EQ(asked({{"x-ms-lease-action", "release"}, {"x-ms-lease-id", id}}).action, kRelease);
  EXPECT_FALSE(asked({{"x-ms-lease-action", "break"}}).break_period);
  EXPECT_EQ(asked({{"x-ms-lease-action", "break"}, {"x-ms-lease-break-period", "0"}}).break_period, 0s);
}

TEST(LeaseHeaders, BE01_BadAndMissingValuesAreRefused) {
  const std::string id = "0f1e2d3c-0000-4000-8000-00000000abcd";
  const std::vector<std::pair<Headers, std::string>> all = {
      {{}, "MissingRequiredHeader"},
      {{{"x-ms-lease-action", "keep"}}, "InvalidHeaderValue"},
      {{{"x-ms-lease-action", "acquire"}}, "MissingRequiredHeader"},
      {{{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "14"}}, "InvalidHeaderValue"},
      {{{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "61"}}, "InvalidHeaderValue"},
      {{{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "-2"}}, "InvalidHeaderValue"},
      {{{"x-ms-lease-action", "acquire"}, {"x-ms-lease-duration", "20"}, {"x-ms-proposed-lease-id", "x"}},
       "InvalidHeaderValue"},
      {{{"x-ms-lease-action", "renew"}}, "MissingRequiredHeader"},
      {{{"x-ms-lease-action", "release"}, {"x-ms-lease-id", "x"}}, "InvalidHeaderValue"},
      {{{"x-ms-lease-action", "change"}, {"x-ms-lease-id", id}}, "MissingRequiredHeader"},
      {{{"x-ms-lease-action", "break"}, {"x-ms-lease-break-period", "61"}}, "InvalidHeaderValue"},
      {{{"x-ms-lease-action", "break"}, {"x-ms-lease-break-period", "now"}}, "InvalidHeaderValue"}};
  for (const auto& [headers, literal] : all) EXPECT_EQ(error_of(read_lease_request(headers)), literal);
}

TEST(BlobRanges, BG03_TwoFormsAreRanges) {
  EXPECT_EQ(parse_range("bytes=0-3"), (ByteRange{0, 3}));
  EXPECT_EQ(parse_range(" bytes=5-5 "), (ByteRange{5, 5}));
  EXPECT_EQ(parse_range("bytes=7-"), (ByteRange{7, std::nullopt}));
  EXPECT_EQ(parse_range("bytes=0-18446744073709551615"), (ByteRange{0, UINT64_MAX}));
  for (const std::string text :
       {"", "bytes", "bytes=", "bytes=-3", "bytes=3-1", "bytes=0-1,3-4", "items=0-1", "bytes=a-b", "bytes=1",
        "bytes=0-1x", "bytes=+0-1", "bytes=-", "bytes=0-99999999999999999999x", "bytes=99999999999999999999-5"}) {
    EXPECT_FALSE(parse_range(text)) << text;
    EXPECT_TRUE(read_range({{"Range", text}}).ok() && !*read_range({{"Range", text}})) << text;
    EXPECT_EQ(error_of(read_range({{"x-ms-range", text}})), "InvalidHeaderValue") << text;
  }
  EXPECT_EQ(**read_range({{"Range", "bytes=0-1"}, {"x-ms-range", "bytes=2-3"}}), (ByteRange{2, 3}));
  EXPECT_FALSE(*read_range({}));
}

TEST(BlobRanges, BG03_ARangeIsCutAtTheEndAndRefusedAfterIt) {
  EXPECT_EQ(*part_of({0, 3}, 10), (ContentPart{0, 4}));
  EXPECT_EQ(*part_of({8, 99}, 10), (ContentPart{8, 2}));
  EXPECT_EQ(*part_of({9, std::nullopt}, 10), (ContentPart{9, 1}));
  EXPECT_EQ(*part_of({0, UINT64_MAX}, 10), (ContentPart{0, 10}));
  EXPECT_EQ(error_of(part_of({10, std::nullopt}, 10)), "InvalidRange");
  EXPECT_EQ(error_of(part_of({0, 0}, 0)), "InvalidRange");
  EXPECT_EQ(content_range({8, 2}, 10), "bytes 8-9/10");
}

TEST(BlobRanges, BG03_APlaceWithManyDigitsIsBehindEveryEnd) {
  for (const std::string name : {"Range", "x-ms-range"}) {
    const ByteRange cut = **read_range({{name, "bytes=2-99999999999999999999999"}});
    EXPECT_EQ(*part_of(cut, 10), (ContentPart{2, 8})) << name;
    for (const std::string digits : {"18446744073709551615", "18446744073709551616", "99999999999999999999999"}) {
      const ByteRange behind = **read_range({{name, "bytes=" + digits + "-"}});
      EXPECT_EQ(error_of(part_of(behind, 10)), "InvalidRange") << name << " " << digits;
    }
  }
}

TEST(BlobRanges, BG04_AChecksumNeedsARangeAndIsOne) {
  const Headers md5 = {{"x-ms-range-get-content-md5", "true"}};
  const Headers crc = {{"x-ms-range-get-content-crc64", "True"}};
  EXPECT_EQ(*read_range_checksum(md5, true), RangeChecksum::kMd5);
  EXPECT_EQ(*read_range_checksum(crc, true), RangeChecksum::kCrc64);
  EXPECT_EQ(*read_range_checksum({{"x-ms-range-get-content-md5", "false"}}, false), RangeChecksum::kNone);
  EXPECT_EQ(*read_range_checksum({}, false), RangeChecksum::kNone);
  EXPECT_EQ(error_of(read_range_checksum(md5, false)), "InvalidHeaderValue");
  EXPECT_EQ(error_of(read_range_checksum({md5[0], crc[0]}, true)), "InvalidHeaderValue");
  EXPECT_EQ(error_of(read_range_checksum({{"x-ms-range-get-content-md5", "1"}}, true)), "InvalidHeaderValue");
}

}  // namespace
}  // namespace varve::serve::blob_conditions_test
