// Goal: the level of metadata is the requested one.
#include "api/rest/protocol/payload_level.h"

#include <gtest/gtest.h>

namespace varve::serve::payload_level_test {
namespace {

PayloadLevel by_accept(const std::string& accept) {
  const Result<PayloadLevel> level = choose_level(std::nullopt, &accept);
  EXPECT_TRUE(level.ok()) << accept;
  return level.ok() ? *level : PayloadLevel::kMinimal;
}
std::string_view refusal(const std::string& accept) {
  return choose_level(std::nullopt, &accept).status().service_error();
}

TEST(ServePayloadLevel, H40_AcceptChoosesTheLevel) {
  EXPECT_EQ(by_accept("application/json;odata=nometadata"), PayloadLevel::kNone);
  EXPECT_EQ(by_accept("application/json; odata=minimalmetadata"), PayloadLevel::kMinimal);
  EXPECT_EQ(by_accept("application/json; charset=utf-8; odata = fullmetadata"), PayloadLevel::kFull);
  EXPECT_EQ(by_accept("Application/JSON;OData=FullMetadata;streaming=true"), PayloadLevel::kFull);
  EXPECT_EQ(by_accept("application/json"), PayloadLevel::kMinimal);
  EXPECT_EQ(by_accept("*/*"), PayloadLevel::kMinimal);
  EXPECT_EQ(by_accept(""), PayloadLevel::kMinimal);
  EXPECT_EQ(*choose_level(std::nullopt, nullptr), PayloadLevel::kMinimal);
}

TEST(ServePayloadLevel, H40_TheUsualTextsAreKnownLikeAnyOther) {
  for (const std::string text : {"application/json", "application/json;odata=nometadata",
                                 "application/json;odata=minimalmetadata", "application/json;odata=fullmetadata"}) {
    for (const std::string& read : {text + ";", " " + text, text + ",*/*", text + ";charset=utf-8"}) {
      EXPECT_EQ(by_accept(text), by_accept(read)) << read;
    }
  }
}

TEST(ServePayloadLevel, H40_AListTakesTheFirstThatIsKnown) {
  EXPECT_EQ(by_accept("application/atom+xml,application/json;odata=nometadata,application/json"), PayloadLevel::kNone);
  EXPECT_EQ(by_accept("text/html, */*;q=0.8"), PayloadLevel::kMinimal);
  EXPECT_EQ(refusal("application/atom+xml,application/xml"), "AtomFormatNotSupported");
}

TEST(ServePayloadLevel, H40_OtherFormatsAreRefusedByName) {
  EXPECT_EQ(refusal("application/atom+xml"), "AtomFormatNotSupported");
  EXPECT_EQ(refusal("application/json;odata=verbose"), "JsonVerboseFormatNotSupported");
  EXPECT_EQ(refusal("application/json;odata=some"), "MediaTypeNotSupported");
  EXPECT_EQ(refusal("text/html"), "MediaTypeNotSupported");
}

TEST(ServePayloadLevel, H40_FormatOverridesAccept) {
  const std::string accept = "application/json;odata=nometadata";
  EXPECT_EQ(*choose_level(std::optional<std::string>("application/json;odata=fullmetadata"), &accept),
            PayloadLevel::kFull);
  EXPECT_EQ(*choose_level(std::optional<std::string>("json"), &accept), PayloadLevel::kMinimal);
  EXPECT_EQ(choose_level(std::optional<std::string>("atom"), &accept).status().service_error(),
            "AtomFormatNotSupported");
}

TEST(ServePayloadLevel, H21_ContentTypesNameTheLevel) {
  EXPECT_EQ(content_type(PayloadLevel::kNone), "application/json;odata=nometadata;streaming=true;charset=utf-8");
  EXPECT_EQ(content_type(PayloadLevel::kMinimal),
            "application/json;odata=minimalmetadata;streaming=true;charset=utf-8");
  EXPECT_EQ(content_type(PayloadLevel::kFull), "application/json;odata=fullmetadata;streaming=true;charset=utf-8");
}

TEST(ServePayloadLevel, H40_BodiesAreJsonOfAnyLevel) {
  const std::string json = "application/json;odata=verbose";
  const std::string atom = "application/atom+xml";
  const std::string form = "application/x-www-form-urlencoded";
  EXPECT_TRUE(check_json_type(nullptr).ok());
  EXPECT_TRUE(check_json_type(&json).ok());
  EXPECT_EQ(check_json_type(&atom).service_error(), "AtomFormatNotSupported");
  EXPECT_EQ(check_json_type(&form).service_error(), "MediaTypeNotSupported");
}

}  // namespace
}  // namespace varve::serve::payload_level_test
