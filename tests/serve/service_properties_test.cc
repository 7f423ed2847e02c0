// Goal: service properties are read and set in the form of the specification's document, and in no other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"

namespace varve::serve::service_properties_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kProperties = "?restype=service&comp=properties";
const std::string kDeclaration = "<?xml version=\"1.0\" encoding=\"utf-8\"?>";
const std::string kNoRetention = "<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>";
const std::string kNoLogging =
    "<Logging><Version>1.0</Version><Read>false</Read><Write>false</Write><Delete>false</Delete>" + kNoRetention +
    "</Logging>";

std::string no_metrics(const std::string& name) {
  return "<" + name + "><Version>1.0</Version><Enabled>false</Enabled>" + kNoRetention + "</" + name + ">";
}

std::string document(const std::string& inside) {
  return kDeclaration + "<StorageServiceProperties>" + inside + "</StorageServiceProperties>";
}

class ServiceProperties : public ::testing::Test {
 protected:
  std::string set(const std::string& inside, Headers headers = {}) {
    return outcome(service_.send("PUT", kProperties, document(inside), std::move(headers)));
  }
  std::string stored(Headers headers = {}) {
    const HttpResponse got = service_.send("GET", kProperties, "", std::move(headers));
    EXPECT_EQ(outcome(got), "200");
    return got.body;
  }

  ServiceBench service_;
};

TEST_F(ServiceProperties, P02_P03_AreAllOffAtFirst) {
  EXPECT_EQ(stored(), document(kNoLogging + no_metrics("HourMetrics") + no_metrics("MinuteMetrics") + "<Cors/>"));
}

TEST_F(ServiceProperties, P01_P02_TheDocumentOfTheSpecificationIsSetAndRead) {
  const std::string hour =
      "<HourMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>false</IncludeAPIs>"
      "<RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></HourMetrics>";
  const std::string cors =
      "<Cors><CorsRule><AllowedOrigins>https://shop.example,https://admin.example</AllowedOrigins>"
      "<AllowedMethods>GET,POST</AllowedMethods><MaxAgeInSeconds>300</MaxAgeInSeconds>"
      "<ExposedHeaders>x-ms-*</ExposedHeaders><AllowedHeaders>x-ms-*,content-type</AllowedHeaders></CorsRule></Cors>";
  const std::string whole = kNoLogging + hour + no_metrics("MinuteMetrics") + cors;
  const HttpResponse set = service_.send("PUT", kProperties, document("\n  " + whole + "\n"));
  EXPECT_EQ(outcome(set), "202");
  EXPECT_EQ(set.body, "");
  EXPECT_EQ(stored(), document(whole));
  const HttpResponse got = service_.send("GET", kProperties);
  EXPECT_EQ(header(got, "Content-Type"), "application/xml");
}

TEST_F(ServiceProperties, P02_TheOrderOfElementsAndSpacesInListsAreFree) {
  EXPECT_EQ(
      set("<Cors><CorsRule><AllowedHeaders/><ExposedHeaders></ExposedHeaders><MaxAgeInSeconds>0</MaxAgeInSeconds>"
          "<AllowedMethods>GET, PUT</AllowedMethods><AllowedOrigins>*</AllowedOrigins></CorsRule></Cors>"
          "<Logging>" +
          kNoRetention + "<Delete>true</Delete><Write>false</Write><Read>true</Read><Version>1.0</Version></Logging>"),
      "202");
  EXPECT_THAT(stored(), HasSubstr("<Logging><Version>1.0</Version><Read>true</Read><Write>false</Write>"
                                  "<Delete>true</Delete>"));
  EXPECT_THAT(stored(), HasSubstr("<CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods>"
                                  "<MaxAgeInSeconds>0</MaxAgeInSeconds><ExposedHeaders/><AllowedHeaders/></CorsRule>"));
}

TEST_F(ServiceProperties, P03_WhatIsLeftOutKeepsItsValue) {
  const std::string minute =
      "<MinuteMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs>" + kNoRetention +
      "</MinuteMetrics>";
  EXPECT_EQ(set(minute), "202");
  EXPECT_EQ(set(kNoLogging), "202");
  EXPECT_THAT(stored(), HasSubstr(minute));
  EXPECT_EQ(set("<Cors><CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods>"
                "<MaxAgeInSeconds>1</MaxAgeInSeconds><ExposedHeaders/><AllowedHeaders/></CorsRule></Cors>"),
            "202");
  EXPECT_EQ(set(no_metrics("MinuteMetrics")), "202");
  EXPECT_THAT(stored(), HasSubstr("<CorsRule>"));
  EXPECT_EQ(set("<Cors/>"), "202");
  EXPECT_THAT(stored(), HasSubstr("<Cors/>"));
}

TEST_F(ServiceProperties, P03_WhatIsThereNeedsAllItsParts) {
  const std::string before = stored();
  for (const std::string part : {"Version", "Read", "Write", "Delete", "RetentionPolicy"}) {
    std::string lacking = kNoLogging;
    const std::size_t begin = lacking.find("<" + part + ">");
    const std::size_t end = lacking.find("</" + part + ">") + part.size() + 3;
    lacking.erase(begin, end - begin);
    EXPECT_EQ(set(lacking), "400 InvalidXmlDocument") << part;
  }
  const std::string on = "<HourMetrics><Version>1.0</Version><Enabled>true</Enabled>";
  EXPECT_EQ(set(on + kNoRetention + "</HourMetrics>"), "400 InvalidXmlDocument");
  EXPECT_EQ(set(on + "<IncludeAPIs>true</IncludeAPIs></HourMetrics>"), "400 InvalidXmlDocument");
  EXPECT_EQ(set(on + "<IncludeAPIs>true</IncludeAPIs><RetentionPolicy><Enabled>true</Enabled></RetentionPolicy>"
                     "</HourMetrics>"),
            "400 InvalidXmlDocument");
  EXPECT_EQ(set("<HourMetrics><Version>1.0</Version><Enabled>false</Enabled><IncludeAPIs>false</IncludeAPIs>" +
                kNoRetention + "</HourMetrics>"),
            "400 InvalidXmlDocument");
  EXPECT_EQ(set("<HourMetrics><Version>1.0</Version><Enabled>false</Enabled><RetentionPolicy><Enabled>false</Enabled>"
                "<Days>7</Days></RetentionPolicy></HourMetrics>"),
            "400 InvalidXmlDocument");
  EXPECT_EQ(stored(), before);
}

TEST_F(ServiceProperties, P03_ValuesAreOnesThatCanBe) {
  const auto logging = [&](const std::string& version, const std::string& read, const std::string& days) {
    return set("<Logging><Version>" + version + "</Version><Read>" + read +
               "</Read><Write>false</Write><Delete>false</Delete><RetentionPolicy><Enabled>true</Enabled><Days>" +
               days + "</Days></RetentionPolicy></Logging>");
  };
  EXPECT_EQ(logging("1.0", "true", "1"), "202");
  EXPECT_EQ(logging("1.0", "true", "365"), "202");
  for (const std::string days : {"0", "-1", "", "7.5", "99999999999x", " 7"}) {
    EXPECT_EQ(logging("1.0", "true", days), "400 InvalidXmlNodeValue") << days;
  }
  for (const std::string days : {"366", "4294967295", "4294967296", "99999999999"}) {
    EXPECT_EQ(logging("1.0", "true", days), "400 InvalidXmlDocument") << days;
  }
  EXPECT_EQ(logging("2.0", "true", "7"), "400 InvalidXmlNodeValue");
  EXPECT_EQ(logging("1.0", "yes", "7"), "400 InvalidXmlNodeValue");
  EXPECT_THAT(stored(), HasSubstr("<Days>365</Days>"));
}

TEST_F(ServiceProperties, X14_BooleansAreReadInEitherCaseAndWrittenInLowerCase) {
  const auto logging = [&](const std::string& read) {
    return set("<Logging><Version>1.0</Version><Read>" + read + "</Read><Write>false</Write><Delete>FALSE</Delete>" +
               kNoRetention + "</Logging>");
  };
  for (const std::string yes : {"True", "TRUE", "tRuE", " true", "true\r\n", "\t True ", "<![CDATA[True]]>"}) {
    ASSERT_EQ(logging("false"), "202");
    EXPECT_EQ(logging(yes), "202") << yes;
    EXPECT_THAT(stored(), HasSubstr("<Read>true</Read><Write>false</Write><Delete>false</Delete>")) << yes;
  }
  for (const std::string no : {"", " ", "yes", "1", "0", "tru", "true true", "tr ue", "&#160;true"}) {
    EXPECT_EQ(logging(no), "400 InvalidXmlNodeValue") << no;
  }
}

TEST_F(ServiceProperties, P03_E02_OtherDocumentsAreRefusedInXml) {
  EXPECT_EQ(set(""), "400 InvalidXmlDocument");
  EXPECT_EQ(set("<Other/>"), "400 InvalidXmlDocument");
  EXPECT_EQ(set(kNoLogging + "<Other/>"), "400 UnsupportedXmlNode");
  EXPECT_EQ(set(kNoLogging + kNoLogging), "400 InvalidXmlDocument");
  EXPECT_EQ(set("<Logging/>"), "400 InvalidXmlDocument");
  EXPECT_EQ(set("<Logging><Version>1.0</Version><Version>1.0</Version></Logging>"), "400 InvalidXmlDocument");
  EXPECT_EQ(set("<Cors><Rule/></Cors>"), "400 InvalidXmlDocument");
  EXPECT_EQ(outcome(service_.send("PUT", kProperties, "")), "400 InvalidXmlDocument");
  EXPECT_EQ(outcome(service_.send("PUT", kProperties, "no xml")), "400 InvalidXmlDocument");
  const HttpResponse refused = service_.send("PUT", kProperties, "<SignedIdentifiers/>");
  EXPECT_EQ(outcome(refused), "400 InvalidXmlDocument");
  EXPECT_EQ(header(refused, "Content-Type"), "application/xml");
  EXPECT_THAT(refused.body, HasSubstr("<m:code>InvalidXmlDocument</m:code>"));
  EXPECT_EQ(outcome(service_.send("DELETE", kProperties)), "405 MethodNotAllowed");
}

TEST_F(ServiceProperties, P10_RulesOfOtherOriginsHaveAllFivePartsAndTheirLimits) {
  const auto rule = [](const std::string& origins, const std::string& methods, const std::string& age,
                       const std::string& headers) {
    return "<CorsRule><AllowedOrigins>" + origins + "</AllowedOrigins><AllowedMethods>" + methods +
           "</AllowedMethods><MaxAgeInSeconds>" + age + "</MaxAgeInSeconds><ExposedHeaders>" + headers +
           "</ExposedHeaders><AllowedHeaders>" + headers + "</AllowedHeaders></CorsRule>";
  };
  const auto cors = [&](const std::string& rules) { return set("<Cors>" + rules + "</Cors>"); };
  const std::string plain = rule("*", "GET", "0", "");
  EXPECT_EQ(cors(plain + plain + plain + plain + plain), "202");
  EXPECT_EQ(cors(plain + plain + plain + plain + plain + plain), "400 InvalidXmlDocument");
  for (const std::string part :
       {"AllowedOrigins", "AllowedMethods", "MaxAgeInSeconds", "ExposedHeaders", "AllowedHeaders"}) {
    std::string lacking = plain;
    const std::size_t begin = lacking.find("<" + part + ">");
    lacking.erase(begin, lacking.find("</" + part + ">") + part.size() + 3 - begin);
    EXPECT_EQ(cors(lacking), "400 InvalidXmlDocument") << part;
  }
  EXPECT_EQ(cors(rule("", "GET", "0", "")), "400 InvalidXmlNodeValue");
  EXPECT_EQ(cors(rule("*", "", "0", "")), "400 InvalidXmlNodeValue");
  EXPECT_EQ(cors(rule("*", "TRACE", "0", "")), "400 InvalidXmlNodeValue");
  EXPECT_EQ(cors(rule("*", "GET,", "0", "")), "400 InvalidXmlNodeValue");
  EXPECT_EQ(cors(rule("*", "GET", "-1", "")), "400 InvalidXmlNodeValue");
  EXPECT_EQ(cors(rule("*", "GET", "", "")), "400 InvalidXmlNodeValue");
  EXPECT_EQ(cors(rule("*", "GET", "0", "a*,b*,c*")), "400 InvalidXmlNodeValue");
  EXPECT_EQ(cors(rule(std::string(257, 'o'), "GET", "0", "")), "400 InvalidXmlNodeValue");
  EXPECT_EQ(cors(rule("*", "GET,PATCH,MERGE,OPTIONS", "1", "a*,b*")), "202");
}

TEST_F(ServiceProperties, P01_S32_AreForTheAccountsOwn) {
  const auto account_token = [](std::string_view types, std::string_view permissions) {
    return to_query(*sign_account_sas(SecurityBench::account_terms(types, permissions), credentials()));
  };
  const auto by = [&](const std::string& token, std::string_view verb) {
    return outcome(service_.send_by(token, verb, kProperties, document("<Cors/>")));
  };
  EXPECT_EQ(by(account_token("s", "r"), "GET"), "200");
  EXPECT_EQ(by(account_token("s", "r"), "PUT"), "403 AuthorizationPermissionMismatch");
  EXPECT_EQ(by(account_token("s", "w"), "PUT"), "202");
  EXPECT_EQ(by(account_token("s", "w"), "GET"), "403 AuthorizationPermissionMismatch");
  EXPECT_EQ(by(account_token("co", "rw"), "GET"), "403 AuthorizationResourceTypeMismatch");
  const std::string table_token = to_query(*sign_table_sas(SecurityBench::table_terms("raud"), credentials()));
  EXPECT_EQ(by(table_token, "GET"), "403 AuthorizationFailure");
  EXPECT_EQ(by(table_token, "PUT"), "403 AuthorizationFailure");
  EXPECT_EQ(outcome(service_.send(ServiceBench::request("GET", ServiceBench::path_of(kProperties)))),
            "401 NoAuthenticationInformation");
}

TEST_F(ServiceProperties, H11_OldVersionsKnowNeitherMinuteMetricsNorRules) {
  const Headers old = {{"x-ms-version", "2012-02-12"}};
  EXPECT_EQ(stored(old), document(kNoLogging + no_metrics("HourMetrics")));
  EXPECT_EQ(set(kNoLogging, old), "202");
  EXPECT_EQ(set(kNoLogging + "<Cors/>", old), "400 UnsupportedXmlNode");
  EXPECT_EQ(set(no_metrics("MinuteMetrics"), old), "400 InvalidXmlDocument");
}

}  // namespace
}  // namespace varve::serve::service_properties_test
