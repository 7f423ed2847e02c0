// Goal: request options are parsed like in the service, and the same options are refused.
#include "varve/query_options.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/model/continuation_token.h"
#include "tests/api/store_bench.h"

namespace varve::query_options_test {
namespace {

using namespace test;
using Names = std::vector<std::string>;

Scan parsed(std::string_view query) {
  const Result<Scan> scan = parse_query_options(query);
  EXPECT_TRUE(scan.ok()) << query << ": " << scan.status().to_string();
  return scan.ok() ? *scan : Scan();
}

TEST(QueryOptions, Q01_UnknownNamesAreIgnoredAndKnownOnesAreInOneCase) {
  const Scan scan = parsed("$filter=A&$top=5&$select=A,B&timeout=30&$format=json&sv=2019&nonsense&$Top=1&$FILTER=x");
  EXPECT_EQ(scan.filter, "A");
  EXPECT_EQ(scan.page_entities_max, 5U);
  EXPECT_EQ(scan.read.select, (Names{"A", "B"}));
  EXPECT_EQ(parsed("").page_entities_max, 1000U);
  EXPECT_EQ(parsed("&&=&=x").filter, "");
}

TEST(QueryOptions, Q01_OptionsOfODataThatTheServiceLacksAreNotImplemented) {
  for (const char* query : {"$orderby=A", "$skip=1", "$count=true", "$inlinecount=none", "$expand=A", "$skiptoken=x",
                            "$top=1&$orderby=A%20desc", "%24orderby=A"}) {
    EXPECT_EQ(said(parse_query_options(query)), (Said{Code::kUnsupported, "NotImplemented"})) << query;
  }
}

TEST(QueryOptions, Q01_AnOptionGivenTwiceIsRefused) {
  EXPECT_EQ(said(parse_query_options("$top=1&$top=1")), kInvalidInput);
}

TEST(QueryOptions, Q10_ValuesArePercentDecodedOnceAndPlusIsASpace) {
  EXPECT_EQ(parsed("$filter=Name%20eq+'a%2Bb%2525'").filter, "Name eq 'a+b%25'");
  EXPECT_EQ(parsed("$filter=Name%20eq%20'%C3%A9%26%3d'").filter, "Name eq '\xC3\xA9&='");
  EXPECT_EQ(parsed("$filter=A eq 'x=y'").filter, "A eq 'x=y'") << "the first = ends the name";
  for (const char* query : {"$filter=%", "$filter=%4", "$filter=%zz", "$filter=a%2", "%zz=1"}) {
    EXPECT_EQ(said(parse_query_options(query)), kInvalidInput) << query;
  }
}

TEST(QueryOptions, Q44_TopIsAWholeNumberUpToAThousand) {
  EXPECT_EQ(parsed("$top=0").page_entities_max, 0U);
  EXPECT_EQ(parsed("$top=1000").page_entities_max, 1000U);
  for (const char* top : {"-1", "1001", "", "1.0", "x", "5x", " 5", "+", "99999999999999999999"}) {
    EXPECT_EQ(said(parse_query_options("$top=" + std::string(top))), kInvalidInput) << top;
  }
}

TEST(QueryOptions, Q42_BothHeadersOfAContinuationComeBackAndTheRowKeyMayBeAway) {
  EXPECT_EQ(parsed("NextPartitionKey=1!8!U2FsZXM-&NextRowKey=1!8!MDA0Mg--").continuation, "1!8!U2FsZXM- 1!8!MDA0Mg--");
  EXPECT_EQ(parsed("NextPartitionKey=1!8!U2FsZXM-").continuation, "1!8!U2FsZXM- 1!0!");
  EXPECT_EQ(parsed("NextPartitionKey=1!8!U2FsZXM-&NextRowKey=").continuation, "1!8!U2FsZXM- 1!0!");
  EXPECT_EQ(parsed("$top=1").continuation, "");
}

TEST(QueryOptions, X26_WhatIsNoTokenIsThePlainKeyToGoOnAt) {
  for (const std::string& key :
       {std::string("Sales"), std::string("1!8!U2FsZXM"), std::string("2!8!U2FsZXM-"), std::string("a b c"),
        std::string("1!0! 17"), std::string("\xC3\xA9"), std::string("!")}) {
    SCOPED_TRACE(key);
    std::string written;
    for (const char c : key) {
      constexpr std::string_view kHex = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      written.append(1, '%').append(1, kHex[byte >> 4]).append(1, kHex[byte & 15U]);
    }
    EXPECT_EQ(parsed("NextPartitionKey=" + written + "&NextRowKey=" + written).continuation,
              encode_scan_token(key, key));
    EXPECT_EQ(parsed("NextPartitionKey=1!8!U2FsZXM-&NextRowKey=" + written).continuation,
              encode_scan_token("Sales", key));
    EXPECT_EQ(parsed("NextRowKey=" + written).continuation, encode_scan_token("", key));
  }
}

TEST(QueryOptions, Q50_SpacesAroundSelectedNamesAreIgnoredAndBlankIsAll) {
  EXPECT_EQ(*parse_select("A, B ,  c_D"), (Names{"A", "B", "c_D"}));
  EXPECT_EQ(*parse_select(""), Names{});
  EXPECT_EQ(*parse_select("   "), Names{});
  EXPECT_EQ(*parse_select("*"), Names{});
  EXPECT_EQ(*parse_select("A,A"), (Names{"A", "A"}));
  for (const char* text : {",", "A,", ",A", "A,,B", "A, ,B"})
    EXPECT_EQ(said(parse_select(text)), kInvalidInput) << text;
  std::string names = "N0";
  for (int i = 1; i < 255; ++i) names += ",N" + std::to_string(i);
  EXPECT_EQ((*parse_select(names)).size(), 255U);
  EXPECT_EQ(said(parse_select(names + ",more")), kInvalidInput);
}

TEST(QueryOptions, Q53_TheContextEndsInTheProjection) {
  EXPECT_EQ(context_suffix({"A", "B"}), "&$select=A,B");
  EXPECT_EQ(context_suffix({}), "");
}

}  // namespace
}  // namespace varve::query_options_test
