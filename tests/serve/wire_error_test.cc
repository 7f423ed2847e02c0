// Goal: every failure has the string and the HTTP status that clients of the service expect.
#include "api/rest/protocol/wire_error.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"

namespace varve::serve::wire_error_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

TEST(ServeErrors, E01_EveryErrorStringHasItsStatus) {
  const std::vector<std::pair<std::uint16_t, std::vector<ErrorName>>> statuses = {
      {400,
       {"CommandsInBatchActOnDifferentPartitions",
        "DuplicateKeyPropertySpecified",
        "DuplicatePropertiesSpecified",
        "EmptyMetadataKey",
        "EntityTooLarge",
        "HostInformationNotPresent",
        "InvalidAuthenticationInfo",
        "InvalidDuplicateRow",
        "InvalidHeaderValue",
        "InvalidInput",
        "InvalidMarker",
        "InvalidMd5",
        "InvalidMetadata",
        "InvalidQueryParameterValue",
        "InvalidResourceName",
        "InvalidUri",
        "InvalidXmlDocument",
        "InvalidXmlNodeValue",
        "Md5Mismatch",
        "MetadataTooLarge",
        "MissingRequiredHeader",
        "MissingRequiredQueryParameter",
        "OutOfRangeInput",
        "OutOfRangeQueryParameterValue",
        "PropertiesNeedValue",
        "PropertyNameInvalid",
        "PropertyNameTooLong",
        "PropertyValueTooLarge",
        "TooManyProperties",
        "UnsupportedXmlNode",
        "XMethodIncorrectCount",
        "XMethodIncorrectValue",
        "XMethodNotUsingPost"}},
      {401, {"NoAuthenticationInformation"}},
      {403,
       {"AuthenticationFailed", "AuthorizationFailure", "AuthorizationPermissionMismatch",
        "AuthorizationProtocolMismatch", "AuthorizationResourceTypeMismatch", "AuthorizationServiceMismatch",
        "AuthorizationSourceIPMismatch", "CorsPreflightFailure", "InsufficientAccountPermissions"}},
      {404, {"MessageNotFound", "QueueNotFound", "ResourceNotFound", "TableNotFound"}},
      {405, {"MethodNotAllowed", "UnsupportedHttpVerb"}},
      {409,
       {"EntityAlreadyExists", "IndexValueAlreadyExists", "QueueAlreadyExists", "QueueBeingDeleted",
        "ResourceAlreadyExists", "TableAlreadyExists", "TableBeingDeleted"}},
      {408, {"RequestTimedOut"}},
      {411, {"MissingContentLengthHeader"}},
      {412, {"UpdateConditionNotSatisfied"}},
      {413, {"RequestBodyTooLarge"}},
      {415,
       {"AtomFormatNotSupported", "JsonFormatNotSupported", "JsonVerboseFormatNotSupported", "MediaTypeNotSupported"}},
      {500, {"InternalError", "OperationTimedOut"}},
      {501, {"NotImplemented"}},
      {503, {"ServerBusy"}}};
  for (const auto& [status, codes] : statuses) {
    for (const ErrorName code : codes) {
      const WireError error = wire_error(refused(code, "why"));
      EXPECT_EQ(error.code, code.text());
      EXPECT_EQ(error.status, status) << code.text();
      EXPECT_NE(reason_phrase(status), "Error") << status;
    }
  }
}

TEST(ServeErrors, E04_QE03_WhatMayPassHasAStatusThatClientsRepeatAndNothingElseHas) {
  const std::set<std::uint16_t> repeated = {408, 429, 500, 502, 503, 504};
  for (const Code code : {Code::kBusy, Code::kConflict, Code::kNoSpace, Code::kOutOfMemory, Code::kTooManyFiles,
                          Code::kClosed, Code::kCancelled, Code::kIoError, Code::kUnknown}) {
    EXPECT_EQ(repeated.count(wire_error(Status(code, "why")).status), 1U) << code_name(code);
  }
  for (const ErrorName code :
       std::initializer_list<ErrorName>{"MessageNotFound", "QueueAlreadyExists", "ResourceNotFound",
                                        "EntityAlreadyExists", "UpdateConditionNotSatisfied", "InvalidInput",
                                        "RequestBodyTooLarge", "NotImplemented", "AuthorizationFailure"}) {
    EXPECT_EQ(repeated.count(wire_error(refused(code, "why")).status), 0U) << code.text();
  }
}

TEST(ServeErrors, E04_ACodeWithoutAStringOfTheServiceIsNoFaultOfTheRequest) {
  for (int number = 1; number <= static_cast<int>(Code::kCancelled); ++number) {
    const Code code = static_cast<Code>(number);
    ASSERT_NE(code_name(code), "?");
    EXPECT_GE(wire_error(Status(code, "why")).status, 500) << code_name(code);
    EXPECT_EQ(wire_error(Status(code, "/a/path")).message.find("/a/path"), std::string::npos) << code_name(code);
  }
}

TEST(ServeErrors, E04_AnEntityThatDidNotChangeIsSentAllTheSame) {
  ServiceBench service;
  ASSERT_TRUE(service.orders.insert(with_value("p", "1", "x")).ok());
  const std::string etag = read(service.orders, "p", "1")->etag().to_string();
  const HttpResponse got = service.send("GET", "Orders(PartitionKey='p',RowKey='1')", "", {{"If-None-Match", etag}});
  EXPECT_EQ(outcome(got), "200");
  EXPECT_THAT(got.body, HasSubstr(R"("V":"x"})"));
}

TEST(ServeErrors, E03_ErrorsOfHeadHaveTheirCodeAndNoBody) {
  ServiceBench service;
  const HttpResponse missing = service.send("HEAD", "Missing?comp=acl");
  EXPECT_EQ(outcome(missing), "404 TableNotFound");
  EXPECT_EQ(missing.body, "");
}

TEST(ServeErrors, E02_PropertiesStatisticsAndPoliciesFailInXmlAndTheRestInJson) {
  ServiceBench service;
  for (const std::string resource :
       {"?restype=service&comp=stats", "Missing?comp=acl", "Tables?restype=service&comp=properties"}) {
    const HttpResponse refused = service.send("GET", resource);
    EXPECT_GE(refused.status, 400) << resource;
    EXPECT_EQ(header(refused, "Content-Type"), "application/xml") << resource;
    EXPECT_TRUE(refused.body.starts_with("\xEF\xBB\xBF<?xml")) << resource;
  }
  for (const std::string resource : {"Missing", "Tables('Missing')", "$batch", "?comp=nothing"}) {
    const HttpResponse refused = service.send("GET", resource);
    EXPECT_GE(refused.status, 400) << resource;
    EXPECT_TRUE(refused.body.starts_with(R"({"odata.error":{"code":")")) << resource;
  }
}

}  // namespace
}  // namespace varve::serve::wire_error_test
