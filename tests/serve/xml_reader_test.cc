// Goal: an XML body is understood completely or refused: noise in it never changes the result.
// Method: valid documents get noise of many kinds at every position. An accepted document must have the meaning of the
// document without noise.
#include "api/rest/encoding/xml_reader.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/rest/encoding/policy_xml.h"
#include "api/rest/encoding/service_properties_xml.h"
#include "tests/api/store_bench.h"

namespace varve::serve::xml_reader_test {
namespace {

using namespace test;

const std::string kPolicies =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers><SignedIdentifier><Id>readers</Id><AccessPolicy>"
    "<Start>2026-03-03T00:00:00Z</Start><Expiry>2026-04-03</Expiry><Permission>raud</Permission></AccessPolicy>"
    "</SignedIdentifier><SignedIdentifier><Id>none</Id></SignedIdentifier></SignedIdentifiers>";
const std::string kProperties =
    "<StorageServiceProperties><Logging><Version>1.0</Version><Read>true</Read><Write>false</Write>"
    "<Delete>false</Delete><RetentionPolicy><Enabled>true</Enabled><Days>36</Days></RetentionPolicy></Logging><Cors>"
    "<CorsRule><AllowedOrigins>https://a,https://b</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods>"
    "<MaxAgeInSeconds>300</MaxAgeInSeconds><ExposedHeaders>x-*</ExposedHeaders><AllowedHeaders/></CorsRule></Cors>"
    "</StorageServiceProperties>";

/// Noise without a meaning, at every place where a document may contain it.
const std::vector<std::string> kMeaningless = {"<!-- -->", "<!--<a>&amp;-->", "<?pi x?>", "<?pi?>", "<![CDATA[]]>"};
/// Noise that is always refused.
const std::vector<std::string> kRefused = {"<Other/>",
                                           "<Id>x</Id>",
                                           "<Days>7</Days>",
                                           "<!DOCTYPE x>",
                                           "<!DOCTYPE x [<!ENTITY e 'y'>]>",
                                           "&e;",
                                           "&",
                                           "&#0;",
                                           "&#xD800;",
                                           "&#1114112;",
                                           "&#x110000000;",
                                           "<",
                                           "]]>",
                                           "<!-- -- -->",
                                           "<!--",
                                           "<![CDATA[",
                                           "<?xml version='1.0'?>",
                                           "</Id>",
                                           std::string(1, '\0'),
                                           "\x01",
                                           "\xC0\x80",
                                           "\xFF",
                                           "<a b='1' b='2'/>",
                                           "<a b=1/>",
                                           "<SignedIdentifiers/>",
                                           "<x:Id xmlns:x='y'>x</x:Id>",
                                           "<StorageServiceProperties/>"};

std::string policies_of(const std::string& document) {
  const Result<std::vector<AccessPolicy>> policies = read_policies(document, Permissions::parse);
  return policies.ok() ? write_policies(*policies) : "refused";
}
std::string properties_of(const std::string& document) {
  const Result<ServicePropertiesChange> change = read_service_properties(document, true);
  if (!change.ok()) return "refused";
  ServiceProperties all;
  if (change->logging) all.logging = *change->logging;
  if (change->cors_rules) all.cors_rules = *change->cors_rules;
  return write_service_properties(all, true);
}

using Read = std::function<std::string(const std::string&)>;
void for_each_place(
    const std::string& document, const std::vector<std::string>& noises, const Read& read,
    const std::function<void(std::size_t at, const std::string& noise, const std::string& got)>& judge) {
  for (const std::string& noise : noises) {
    for (std::size_t at = 0; at <= document.size(); ++at) {
      judge(at, noise, read(document.substr(0, at) + noise + document.substr(at)));
    }
  }
}

/// Returns whether a place is between two pieces of markup, or in a text.
bool is_in_content(const std::string& document, std::size_t at) {
  const std::size_t open = document.rfind('<', at == 0 ? 0 : at - 1);
  const std::size_t close = document.rfind('>', at == 0 ? 0 : at - 1);
  return at > 0 && close != std::string::npos && close >= open;
}

void expect_equal_meaning(const std::string& document, const Read& read) {
  const std::string meaning = read(document);
  ASSERT_NE(meaning, "refused");
  for_each_place(document, kMeaningless, read, [&](std::size_t at, const std::string& noise, const std::string& got) {
    const bool is_beside_root =
        at == 0 || at == document.size() || (document[at - 1] == '>' && document[at - 2] == '?');
    const bool may_be_refused = !is_in_content(document, at) || (is_beside_root && noise.starts_with("<!["));
    EXPECT_TRUE(got == meaning || (may_be_refused && got == "refused")) << noise << " at " << at << ": " << got;
  });
  for_each_place(document, kRefused, read, [&](std::size_t at, const std::string& noise, const std::string& got) {
    const bool is_declaration = at == 0 && noise.starts_with("<?xml") && !document.starts_with("<?xml");
    EXPECT_EQ(got, is_declaration ? meaning : "refused") << noise << " at " << at;
  });
}

TEST(ServeXmlReader, S40_NoiseChangesNoPolicy) {
  expect_equal_meaning(kPolicies, policies_of);
}

TEST(ServeXmlReader, P02_NoiseChangesNoServiceProperties) {
  expect_equal_meaning(kProperties, properties_of);
}

TEST(ServeXmlReader, P02_S40_TextsAreRefusedWhereElementsStand) {
  for (const std::string& noise : {std::string("x"), std::string("<![CDATA[x]]>"), std::string("&#120;")}) {
    for (const auto& [document, read] :
         {std::pair<std::string, Read>{kPolicies, policies_of}, {kProperties, properties_of}}) {
      for (std::size_t at = 1; at <= document.size(); ++at) {
        const bool is_between_markup = document[at - 1] == '>' && (at == document.size() || document[at] == '<');
        const std::string end = document.substr(0, at);
        const bool is_in_empty_value = end.ends_with("<AllowedHeaders/>");
        if (!is_between_markup || is_in_empty_value) continue;
        EXPECT_EQ(read(document.substr(0, at) + noise + document.substr(at)), "refused") << noise << " at " << at;
      }
    }
  }
}

TEST(ServeXmlReader, S40_ACutDocumentIsRefused) {
  for (const auto& [document, read] :
       {std::pair<std::string, Read>{kPolicies, policies_of}, {kProperties, properties_of}}) {
    for (std::size_t kept = 1; kept < document.size(); ++kept) {
      EXPECT_EQ(read(document.substr(0, kept)), "refused") << kept;
      const bool is_declaration = document.substr(0, kept).ends_with("?>");  // a document needs none
      EXPECT_EQ(read(document.substr(kept)) == "refused", !is_declaration) << kept;
    }
    EXPECT_EQ(read(document + document), "refused");
  }
}

TEST(ServeXmlReader, TheTextOfAnElementIsAllOfItsPieces) {
  const std::string piece = "<r><v>a<!-- x -->b<?p?>&lt;<![CDATA[<&]]>&#x41;&#66;\r\nc\rd</v></r>";
  const Result<XmlDocument> document = XmlDocument::read(piece, "r");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(**document->root().text_of("v"), "ab<<&AB\nc\nd");
  const Result<XmlDocument> marked = XmlDocument::read("\xEF\xBB\xBF<r/>", "r");
  ASSERT_TRUE(marked.ok());
  EXPECT_FALSE(*marked->root().text_of("v"));
}

TEST(ServeXmlReader, AttributesHaveNoMeaningAndAreRefusedButForNamesOfNamespaces) {
  for (const std::string root : {"<r xmlns:xsi='http://x' xmlns:xsd=\"y\"/>", "<r xmlns=''/>", "<r />", "<r\n></r >"}) {
    EXPECT_TRUE(XmlDocument::read(root, "r").ok()) << root;
  }
  for (const std::string root :
       {"<r a='1'/>", "<r xmlns='urn:x'/>", "<r xmlns:='x'/>", "<r xmlns:x='1' xmlns:x='2'/>", "<r xmlns:x='<'/>",
        "<r xmlns:x='&y;'/>", "<r xmlns:x/>", "<r xmlns:x=1/>", "<r/ >", "< r/>"}) {
    EXPECT_EQ(said(XmlDocument::read(root, "r")), kInvalidXmlDocument) << root;
  }
}

TEST(ServeXmlReader, DeclarationsAreOfVersionOneAndUtf8) {
  for (const std::string head :
       {"<?xml version=\"1.0\"?>", "<?xml version='1.0' encoding='UTF-8'?>",
        "<?xml version='1.0' encoding='utf-8' standalone='yes' ?>\n", "<?xml version='1.0' standalone='no'?>"}) {
    EXPECT_TRUE(XmlDocument::read(head + "<r/>", "r").ok()) << head;
  }
  for (const std::string head :
       {"<?xml?>", "<?xml version='1.1'?>", "<?xml encoding='utf-8'?>", " <?xml version='1.0'?>",
        "<?xml version='1.0' encoding='iso-8859-1'?>", "<?xml version='1.0' encoding='utf-16'?>",
        "<?xml encoding='utf-8' version='1.0'?>", "<?xml version='1.0' version='1.0'?>", "<?xml version='1.0' x='y'?>",
        "<?xml version='1.0' standalone='maybe'?>"}) {
    EXPECT_EQ(said(XmlDocument::read(head + "<r/>", "r")), kInvalidXmlDocument) << head;
  }
}

/// Text after the first excess element is never read, so it need not be XML.
TEST(ServeXmlReader, P10_S41_ListsStopAtTheFirstElementAboveTheirLimit) {
  std::string wide = "<r>";
  for (std::size_t i = 0; i + 1 < kXmlElementsMax; ++i) wide += "<a/>";
  EXPECT_TRUE(XmlDocument::read(wide + "</r>", "r").ok());
  EXPECT_EQ(said(XmlDocument::read(wide + "<a/></r>", "r")), kInvalidXmlDocument);
  std::string deep;
  for (std::size_t i = 0; i < 100'000; ++i) deep += "<r>";
  EXPECT_EQ(said(XmlDocument::read(deep, "r")), kInvalidXmlDocument);

  const auto policies = [](int count, const std::string& last) {
    std::string text = "<SignedIdentifiers>";
    for (int i = 0; i < count; ++i) text += "<SignedIdentifier><Id>" + std::to_string(i) + "</Id></SignedIdentifier>";
    return said(read_policies(text + last + "</SignedIdentifiers>", Permissions::parse));
  };
  EXPECT_EQ(policies(5, ""), kFine);
  EXPECT_EQ(policies(4, "<SignedIdentifier><Id>x</Id><AccessPolicy><Start>y</Start></AccessPolicy></SignedIdentifier>"),
            kInvalidXmlNodeValue);
  EXPECT_EQ(policies(5, "<SignedIdentifier><Id>x</Id><AccessPolicy><Start>y</Start></AccessPolicy></SignedIdentifier>"),
            kInvalidXmlDocument)
      << "the sixth is not read";
}

TEST(ServeXmlReader, S41_AnEmptyPermissionIsLeftOutUnlessVarveWroteIt) {
  AccessPolicy nothing{"nothing"};
  nothing.permissions = Permissions();
  AccessPolicy left_out{"left-out"};
  left_out.expiry = DateTime{630'822'816'000'000'000};
  const std::vector<AccessPolicy> written = {nothing, left_out};
  const std::string text = write_policies(written);
  for (const EmptyPermission empty : {EmptyPermission::kLeftOut, EmptyPermission::kPermitsNothing}) {
    const Result<std::vector<AccessPolicy>> read = read_policies(text, Permissions::parse, empty);
    ASSERT_TRUE(read.ok() && read->size() == 2U) << text;
    EXPECT_EQ((*read)[0].permissions.has_value(), empty == EmptyPermission::kPermitsNothing);
    EXPECT_FALSE((*read)[1].permissions.has_value());
  }
}

TEST(ServeXmlReader, P10_ListsOfRulesAreBoundedBeforeTheyAreRead) {
  const auto origins = [](const std::string& list) {
    return said(read_service_properties(
        "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>" + list +
            "</AllowedOrigins><AllowedMethods>GET</AllowedMethods><MaxAgeInSeconds>1</MaxAgeInSeconds><ExposedHeaders/>"
            "<AllowedHeaders/></CorsRule></Cors></StorageServiceProperties>",
        true));
  };
  std::string list = "o";
  while (list.size() < 2'047) list += ",o";
  EXPECT_EQ(origins(list), kFine) << "the numbers of words are the store's to judge";
  EXPECT_EQ(origins(list + ",o"), kInvalidXmlDocument);
  EXPECT_EQ(origins(std::string(3'000'000, ' ') + "o"), kFine);
  EXPECT_EQ(origins(std::string(3'000'000, ',')), kInvalidXmlDocument);
}

TEST(ServePolicyXml, X19_APolicyWithoutTermsHasNoAccessPolicyElement) {
  EXPECT_EQ(policies_of("<SignedIdentifiers><SignedIdentifier><Id>a</Id><AccessPolicy/></SignedIdentifier>"
                        "<SignedIdentifier><Id>b</Id></SignedIdentifier><SignedIdentifier><Id>c</Id><AccessPolicy>"
                        "<Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"),
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers><SignedIdentifier><Id>a</Id>"
            "</SignedIdentifier><SignedIdentifier><Id>b</Id></SignedIdentifier><SignedIdentifier><Id>c</Id>"
            "<AccessPolicy><Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>");
}

}  // namespace
}  // namespace varve::serve::xml_reader_test
