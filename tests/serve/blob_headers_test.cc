// Goal: headers of blobs and containers are read and written as the specification says, and features that are left out
// are recognized.
// Method: headers of each form, beside the value or the error that each must give.
#include "api/rest/blobs/blob_headers.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/rest/protocol/left_out.h"

namespace varve::serve::blob_headers_test {
namespace {

template <typename Value>
std::string refusal_of(const Result<Value>& result) {
  return result.ok() ? std::string() : std::string(result.status().service_error());
}

TEST(BlobPropertyHeaders, BB03_OwnHeadersComeBeforeThoseOfHttp) {
  const Headers headers = {{"Content-Type", "text/plain"},
                           {"x-ms-blob-content-type", "image/jpeg"},
                           {"Content-Encoding", "gzip"},
                           {"Content-Language", "de"},
                           {"x-ms-blob-cache-control", "no-cache"},
                           {"Cache-Control", "max-age=1"},
                           {"Content-Disposition", "inline"},
                           {"x-ms-blob-content-disposition", "attachment"},
                           {"x-ms-blob-content-md5", "AAECAwQFBgcICQoLDA0ODw=="}};
  const BlobProperties put = *read_blob_properties(headers, PropertyHeaders::kOwnOrCommon);
  EXPECT_EQ(put.content_type, "image/jpeg");
  EXPECT_EQ(put.content_encoding, "gzip");
  EXPECT_EQ(put.content_language, "de");
  EXPECT_EQ(put.cache_control, "no-cache");
  EXPECT_EQ(put.content_disposition, "attachment");
  ASSERT_TRUE(put.content_md5.has_value());
  EXPECT_EQ(md5_text(*put.content_md5), "AAECAwQFBgcICQoLDA0ODw==");
  const BlobProperties set = *read_blob_properties(headers, PropertyHeaders::kOwn);
  EXPECT_EQ(set.content_encoding, "");
  EXPECT_EQ(set.content_type, "image/jpeg");
  EXPECT_EQ(refusal_of(read_blob_properties({{"x-ms-blob-content-md5", "AAEC"}}, PropertyHeaders::kOwn)), "InvalidMd5");
  EXPECT_TRUE(names_blob_properties(headers));
  EXPECT_FALSE(names_blob_properties({{"Content-Type", "text/plain"}, {"x-ms-meta-a", "1"}}));
}

TEST(BlobPropertyHeaders, BG02_BG07_BP02_AnswersHaveThoseThatAreSet) {
  BlobProperties properties;
  properties.content_language = "de";
  HttpResponse plain;
  add_blob_properties(plain, properties, nullptr);
  EXPECT_EQ(plain.headers, (Headers{{"Content-Type", "application/octet-stream"}, {"Content-Language", "de"}}));
  HttpResponse replaced;
  const security::BlobHeaderOverrides overrides{"no-store", "attachment", "", "fr", "text/plain"};
  add_blob_properties(replaced, properties, &overrides);
  EXPECT_EQ(replaced.headers, (Headers{{"Content-Type", "text/plain"},
                                       {"Content-Language", "fr"},
                                       {"Content-Disposition", "attachment"},
                                       {"Cache-Control", "no-store"}}));
}

TEST(BodyChecksumHeaders, BB04_OneOfTwoIsGiven) {
  const BodyChecksums crc = *read_body_checksums({{"x-ms-content-crc64", "iJh5CoYUi64="}});
  EXPECT_EQ(crc.crc64, 0xAE8B14860A799888U);
  EXPECT_EQ(crc64_text(0xAE8B14860A799888U), "iJh5CoYUi64=");
  EXPECT_FALSE(crc.md5);
  const BodyChecksums md5 = *read_body_checksums({{"Content-MD5", "AAECAwQFBgcICQoLDA0ODw=="}});
  EXPECT_TRUE(md5.md5 && !md5.crc64);
  EXPECT_EQ(refusal_of(read_body_checksums({{"Content-MD5", "AAECAwQFBgcICQoLDA0ODw"}})), "InvalidMd5");
  EXPECT_EQ(refusal_of(read_body_checksums({{"Content-MD5", "iJh5CoYUi64="}})), "InvalidMd5");
  EXPECT_EQ(refusal_of(read_body_checksums({{"x-ms-content-crc64", "x"}})), "InvalidCrc64");
  EXPECT_EQ(refusal_of(read_body_checksums(
                {{"Content-MD5", "AAECAwQFBgcICQoLDA0ODw=="}, {"x-ms-content-crc64", "iJh5CoYUi64="}})),
            "BothCrc64AndMd5HeaderPresent");
}

TEST(BlobTagHeader, BT10_IsReadLikeAForm) {
  const std::vector<BlobTag> tags = *read_tags_header({{"x-ms-tags", "year=2026&place=New+York%3D1&empty="}});
  EXPECT_EQ(tags, (std::vector<BlobTag>{{"year", "2026"}, {"place", "New York=1"}, {"empty", ""}}));
  EXPECT_TRUE((*read_tags_header({})).empty());
  EXPECT_EQ(refusal_of(read_tags_header({{"x-ms-tags", "year"}})), "InvalidHeaderValue");
  EXPECT_EQ(refusal_of(read_tags_header({{"x-ms-tags", "a=%zz"}})), "InvalidTag");
}

TEST(BlobTierHeader, BT01_TiersHaveNames) {
  EXPECT_EQ(*read_tier({}), BlobTier::kDefault);
  for (const BlobTier tier : {BlobTier::kHot, BlobTier::kCool, BlobTier::kCold, BlobTier::kArchive}) {
    EXPECT_EQ(*read_tier({{"x-ms-access-tier", std::string(tier_name(tier))}}), tier);
  }
  EXPECT_EQ(tier_name(BlobTier::kDefault), "Hot");
  for (const std::string name : {"P10", "Premium", ""}) {
    EXPECT_EQ(refusal_of(read_tier({{"x-ms-access-tier", name}})), "InvalidHeaderValue") << name;
  }
}

TEST(PublicAccessHeader, BB10_HasTwoValues) {
  EXPECT_EQ(*read_public_access({}), PublicAccess::kNone);
  EXPECT_EQ(*read_public_access({{"x-ms-blob-public-access", "blob"}}), PublicAccess::kBlobs);
  EXPECT_EQ(*read_public_access({{"x-ms-blob-public-access", "container"}}), PublicAccess::kContainer);
  EXPECT_EQ(refusal_of(read_public_access({{"x-ms-blob-public-access", "true"}})), "InvalidHeaderValue");
}

TEST(LeaseNames, BE02_StatesHaveNamesAndAStatus) {
  EXPECT_EQ(lease_state_name(LeaseState::kAvailable), "available");
  for (const auto& [state, status] :
       std::vector<std::pair<LeaseState, std::string>>{{LeaseState::kAvailable, "unlocked"},
                                                       {LeaseState::kLeased, "locked"},
                                                       {LeaseState::kExpired, "unlocked"},
                                                       {LeaseState::kBreaking, "locked"},
                                                       {LeaseState::kBroken, "unlocked"}}) {
    EXPECT_EQ(lease_status_name(state), status) << lease_state_name(state);
  }
  HttpResponse leased;
  add_lease(leased, {LeaseState::kLeased, true});
  EXPECT_EQ(
      leased.headers,
      (Headers{{"x-ms-lease-status", "locked"}, {"x-ms-lease-state", "leased"}, {"x-ms-lease-duration", "infinite"}}));
  EXPECT_EQ(lease_duration_name({LeaseState::kLeased, false}), "fixed");
  EXPECT_EQ(lease_duration_name({LeaseState::kBroken, true}), "");
}

TEST(LeftOutFeatures, BZ01_AreNamedAndRefused) {
  const auto checked = [](const Headers& headers, const std::string& query) {
    return check_left_out(headers, *QueryParameters::parse(query));
  };
  for (const std::string query :
       {"comp=page", "comp=pagelist", "comp=incrementalcopy", "comp=undelete", "comp=immutabilityPolicies",
        "comp=legalhold", "comp=query", "comp=blobs&where=a", "comp=userdelegationkey", "comp=rename", "comp=snapshot",
        "comp=seal", "versionid=2026", "resource=directory", "include=metadata,Versions", "COMP=Page"}) {
    const Status status = checked({}, query);
    EXPECT_EQ(status.service_error(), "NotImplemented") << query;
    EXPECT_TRUE(status.message().ends_with("not supported")) << status.message();
  }
  for (const auto& header : Headers{{"x-ms-blob-type", "PageBlob"},
                                    {"x-ms-immutability-policy-until-date", "x"},
                                    {"x-ms-legal-hold", "true"},
                                    {"x-ms-encryption-key", "x"},
                                    {"x-ms-encryption-key-sha256", "x"},
                                    {"x-ms-encryption-scope", "x"},
                                    {"X-MS-If-Tags", "x"},
                                    {"x-ms-source-if-tags", "x"},
                                    {"x-ms-structured-body", "XSM/1.0"},
                                    {"x-ms-seal-blob", "true"},
                                    {"x-ms-sequence-number-action", "max"}}) {
    EXPECT_EQ(checked({header}, "").service_error(), "NotImplemented") << header.first;
  }
}

TEST(LeftOutFeatures, BZ02_WhatHasNoEffectPasses) {
  const Headers headers = {{"x-ms-blob-type", "BlockBlob"},     {"x-ms-rehydrate-priority", "High"},
                           {"x-ms-access-tier", "Hot"},         {"x-ms-seal-blob", "false"},
                           {"x-ms-client-request-id", "1"},     {"x-ms-return-client-request-id", "true"},
                           {"Accept-Encoding", "gzip, deflate"}};
  const Status status = check_left_out(headers, *QueryParameters::parse("comp=list&include=metadata,deleted"));
  EXPECT_TRUE(status.ok()) << status.to_string();
}

}  // namespace
}  // namespace varve::serve::blob_headers_test
