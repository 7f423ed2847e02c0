// Goal: media types are parsed by their grammar to the last character, in every header that has one.
#include "api/rest/protocol/media_type.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/rest/protocol/payload_level.h"
#include "tests/serve/service_bench.h"

namespace varve::serve::media_type_test {
namespace {

using namespace test;

TEST(ServeMediaType, TypesAndParametersAreTaken) {
  const std::optional<MediaType> media =
      parse_media_type(" Multipart/Mixed ; Boundary = \"a;b \\\" c\" ;; CharSet=UTF-8; ");
  ASSERT_TRUE(media);
  EXPECT_EQ(media->type, "multipart/mixed");
  ASSERT_EQ(media->parameters.size(), 2U);
  EXPECT_EQ(*media->find("boundary"), "a;b \" c");
  EXPECT_EQ(*media->find("charset"), "UTF-8");
  EXPECT_EQ(media->find("Boundary"), nullptr);
}

TEST(ServeMediaType, H50_ABoundaryIsThatOfItsOwnParameter) {
  const auto boundary = [](const std::string& text) { return boundary_of(text).value_or("none"); };
  for (const std::string text :
       {"multipart/mixed;boundary=b1", "MULTIPART/MIXED; BOUNDARY=b1", "multipart/mixed ; x=y ; boundary=\"b1\"",
        "multipart/mixed; x=\"; boundary=b2\"; boundary=b1", "multipart/mixed; xboundary=b2; boundary=b1",
        "multipart/mixed; boundary=b1;"}) {
    EXPECT_EQ(boundary(text), "b1") << text;
  }
  for (const std::string text : {"",
                                 "multipart/mixed",
                                 "multipart/mixedup; boundary=b1",
                                 "xmultipart/mixed; boundary=b1",
                                 "multipart/mixed boundary=b1",
                                 "multipart /mixed; boundary=b1",
                                 "multipart/mixed; x=\"boundary=b1\"",
                                 "multipart/mixed; xboundary=b1",
                                 "multipart/mixed; x=boundary=b1",
                                 "multipart/mixed; boundary=",
                                 "multipart/mixed; boundary=\"\"",
                                 "multipart/mixed; boundary=b1; boundary=b1",
                                 "multipart/mixed; boundary=b1; boundary=b2",
                                 "multipart/mixed; boundary=\"b1",
                                 "multipart/mixed; boundary=\"b1\"x",
                                 "multipart/mixed; boundary=b1 x",
                                 "multipart/mixed; boundary=\"b1 \"",
                                 "multipart/mixed; boundary=b\"1",
                                 "multipart/mixed; boundary=b<1",
                                 "multipart/mixed, multipart/mixed; boundary=b1",
                                 "multipart/form-data; boundary=b1"}) {
    EXPECT_EQ(boundary(text), "none") << text;
  }
  for (std::size_t size = 1; size < 80; ++size) {
    const std::string name(size, 'b');
    EXPECT_EQ(boundary("multipart/mixed; boundary=" + name), size <= 70 ? name : "none") << size;
    EXPECT_EQ(boundary("multipart/mixed; boundary=\"" + name + "\""), size <= 70 ? name : "none") << size;
  }
  EXPECT_EQ(boundary("multipart/mixed; boundary=batch_(a)+_,-./:=?'"), "batch_(a)+_,-./:=?'");
}

/// Adds noise at every place: the type is refused, or the noise is in a parameter without a meaning here, or the
/// meaning is unchanged.
TEST(ServeMediaType, H50_NoiseChangesNoBoundary) {
  const std::string clean = "multipart/mixed; boundary=batch_b1; charset=utf-8";
  for (const std::string noise :
       {";", " ", "\t", "\"", "=", ",", "/", "x", "; boundary=b2", "boundary=b2;", "\\", "\x01", "()"}) {
    for (std::size_t at = 0; at <= clean.size(); ++at) {
      std::string noisy = clean;
      noisy.insert(at, noise);
      const std::optional<std::string> boundary = boundary_of(noisy);
      if (!boundary) continue;
      const bool is_in_value = at >= clean.find("boundary") && at <= clean.find("; charset");
      EXPECT_TRUE(*boundary == "batch_b1" || is_in_value) << noisy << " gives " << *boundary;
      EXPECT_NE(*boundary, "b2") << noisy << " has two";
    }
  }
}

TEST(ServeMediaType, H40_BodiesOfOtherTypesOrCharactersAreNoJson) {
  const auto said_of = [](const std::string& type) { return said(check_json_type(&type)); };
  for (const std::string type :
       {"", " ", "application/json", "Application/JSON; odata=verbose", "application/json;charset=UTF-8",
        "application/json; charset=\"utf-8\"; odata=nometadata"}) {
    EXPECT_EQ(said_of(type), kFine) << type;
  }
  for (const std::string type :
       {"application/jsonp", "application/json+x", "application/json,text/html", "application/json x", "json",
        "text/json", "application/json; charset=utf-16", "application/json; charset=iso-8859-1", "application/json; =x",
        "application/json; charset=utf-8; charset=utf-16", "application/json; a=\"", "x; application/json"}) {
    EXPECT_NE(said_of(type), kFine) << type;
  }
}

TEST(ServeMediaType, H40_ListsAreReadElementByElement) {
  const auto level = [](const std::string& accept) { return choose_level(std::nullopt, &accept); };
  EXPECT_EQ(*level("text/html; x=\"a,application/json;odata=fullmetadata\", application/json;odata=nometadata"),
            PayloadLevel::kNone);
  EXPECT_EQ(*level("application/json;odata=nometadata;q=0, application/json;odata=fullmetadata"), PayloadLevel::kFull);
  EXPECT_EQ(*level("application/json;odata=nometadata;q=0.000,*/*"), PayloadLevel::kMinimal);
  for (const std::string accept :
       {"application/jsonx", "application/json;odata=nometadata;odata=fullmetadata", "application/json;odata",
        "application/json;q=0", "application/json odata=nometadata", "*"}) {
    EXPECT_FALSE(level(accept).ok()) << accept;
  }
}

}  // namespace
}  // namespace varve::serve::media_type_test
