// Goal: table signatures are created, parsed and checked by the specification, shown by its own vectors.
#include "varve/security/table_sas.h"

#include <gtest/gtest.h>

#include "api/model/percent.h"
#include "tests/security/security_bench.h"

namespace varve::security::table_sas_test {
namespace {

using namespace test;

struct Vector {
  std::string name;
  std::string query;  // without sig
  std::string string_to_sign;
  std::string signature;
};

std::vector<Vector> vectors() {
  const std::string st = "2026-03-03T00:00:00Z";
  const std::string se = "2026-03-04T00:00:00Z";
  return {
      {"TS-1", "sv=2019-02-02&tn=Orders&sp=raud&st=" + st + "&se=" + se + "&spr=https,http",
       "raud\n" + st + "\n" + se + "\n/table/devstoreaccount1/orders\n\n\nhttps,http\n2019-02-02\n\n\n\n",
       "oz5rVzUTxRG/vUJ0SZiZCwWh9o8P9m180S90OTlTpV4="},
      {"TS-2", "sv=2019-02-02&tn=Orders&sp=r&se=" + se + "&spk=eu%20west&srk=0001&epk=eu%20west&erk=0999",
       "r\n\n" + se + "\n/table/devstoreaccount1/orders\n\n\n\n2019-02-02\neu west\n0001\neu west\n0999",
       "lxSEAK0HZPwrJ0u3Kp7ULI3yCY7Qufcj9iRYKhXDsAk="},
      {"TS-3", "sv=2019-02-02&tn=ORDERS&si=readers",
       "\n\n\n/table/devstoreaccount1/orders\nreaders\n\n\n2019-02-02\n\n\n\n",
       "jmhW/S4fw77fqt8YmxH8NCGdjlQ20GtEiNDsHOjM4AU="},
      {"TS-4", "sv=2014-02-14&tn=orders&sp=r&se=" + se + "&spk=eu%20west&srk=0001&epk=eu%20west&erk=0999",
       "r\n\n" + se + "\n/devstoreaccount1/orders\n\n2014-02-14\neu west\n0001\neu west\n0999",
       "EO/7IW4n/mqkqKNgw5f3lN0IPqekX4F7i33SxaIt/No="},
      {"TS-5", "sv=2015-02-21&tn=Orders&sp=r&se=" + se,
       "r\n\n" + se + "\n/table/devstoreaccount1/orders\n\n2015-02-21\n\n\n\n",
       "hwa7ew7uWOtKM5gZVj2HR4WX1DjUg2YcHyHQTd6bOhM="},
      {"TS-6", "sv=2020-12-06&tn=Orders&sp=ra&st=" + st + "&se=" + se + "&sip=203.0.113.5-203.0.113.9&spr=https",
       "ra\n" + st + "\n" + se +
           "\n/table/devstoreaccount1/orders\n\n203.0.113.5-203.0.113.9\nhttps\n2020-12-06\n\n\n\n",
       "z3q+FQV9xpCcEaspjt789+Iwh4yOx6TZDXey7EfoDmI="},
  };
}

/// Returns the token with its correct signature.
std::string signed_token(const std::string& query) {
  TableSas sas = *parse_table_sas(query + "&sig=x");
  sas.sig = *credentials().keys.sign(string_to_sign(sas, kAccount));
  return to_query(sas);
}
Result<TableSasTerms> verified(const std::string& query) {
  const Result<TableSas> sas = parse_table_sas(query);
  if (!sas.ok()) return sas.status();
  return verify_table_sas(*sas, credentials());
}

TEST(TableSas, S22_S23_VectorsSignTheStringsOfTheSpecification) {
  for (const Vector& vector : vectors()) {
    const Result<TableSas> sas = parse_table_sas(vector.query + "&sig=" + percent_encode(vector.signature));
    ASSERT_TRUE(sas.ok()) << vector.name;
    EXPECT_EQ(string_to_sign(*sas, kAccount), vector.string_to_sign) << vector.name;
    EXPECT_EQ(*credentials().keys.sign(vector.string_to_sign), vector.signature) << vector.name;
    EXPECT_TRUE(verify_table_sas(*sas, credentials()).ok()) << vector.name;
  }
}

TEST(TableSas, S22_TheOldestVersionIsSignedWithoutAddressAndProtocol) {
  const std::string query = "sv=2012-02-12&tn=Orders&sp=r&se=2026-03-04";
  EXPECT_EQ(string_to_sign(*parse_table_sas(query + "&sig=x"), kAccount),
            "r\n\n2026-03-04\n/devstoreaccount1/orders\n\n2012-02-12\n\n\n\n");
  EXPECT_TRUE(verified(signed_token(query)).ok());
  EXPECT_EQ(said(verified(signed_token(query + "&spr=https"))), kAuthenticationFailed);
  EXPECT_EQ(said(verified(signed_token(query + "&sip=1.2.3.4"))), kAuthenticationFailed);
}

TEST(TableSas, S20_TheUrlOfTheSpecificationIsWritten) {
  TableSas sas = *parse_table_sas(vectors()[1].query + "&sig=x");
  sas.sig = vectors()[1].signature;
  EXPECT_EQ(to_query(sas),
            "sv=2019-02-02&tn=Orders&sp=r&se=2026-03-04T00%3A00%3A00Z&spk=eu%20west&srk=0001&epk=eu%20west&erk=0999"
            "&sig=lxSEAK0HZPwrJ0u3Kp7ULI3yCY7Qufcj9iRYKhXDsAk%3D");
}

TEST(TableSas, S10_FieldsAreDecodedOnceAndMissingIsEmpty) {
  const std::string token = signed_token("sv=2020-12-06&tn=Orders&sp=r&se=2026-03-04&spk=a%2525b");
  const Result<TableSasTerms> terms = verified(token);
  ASSERT_TRUE(terms.ok());
  EXPECT_EQ(terms->interval.from->partition_key, "a%25b");
  EXPECT_TRUE(verified("?" + token).ok());
  EXPECT_EQ(*verified(token + "&st=&epk=&erk=&si=&sip=&spr="), *terms);
  EXPECT_EQ(said(verified(token + "&spk=a")), kAuthenticationFailed);
  EXPECT_EQ(said(verified(token + "&sp=r")), kAuthenticationFailed);
  EXPECT_EQ(said(verified(token + "&epk=%2")), kAuthenticationFailed);
  EXPECT_EQ(said(verified(token + "&epk=%g0")), kAuthenticationFailed);
}

TEST(TableSas, S11_TimesAreSignedAsWrittenAndReadInTheirForms) {
  for (const auto& [written, meant] :
       std::vector<std::pair<std::string, std::string>>{{"2026-03-04", "2026-03-04T00:00:00Z"},
                                                        {"2026-03-04T01:02Z", "2026-03-04T01:02:00Z"},
                                                        {"2026-03-04T01:02:03Z", "2026-03-04T01:02:03Z"},
                                                        {"2026-03-04T02:02:03%2B01:00", "2026-03-04T01:02:03Z"},
                                                        {"2026-03-04T01:02:03.5Z", "2026-03-04T01:02:03.5Z"}}) {
    const Result<TableSasTerms> terms = verified(signed_token("sv=2020-12-06&tn=Orders&sp=r&se=" + written));
    ASSERT_TRUE(terms.ok()) << written;
    EXPECT_EQ(*terms->expiry, at(meant)) << written;
  }
  for (const std::string text : {"tomorrow", "2026-3-4", "2026-02-30", "1600-01-01", "2026-03-04T", "0"}) {
    EXPECT_EQ(said(verified(signed_token("sv=2020-12-06&tn=Orders&sp=r&se=" + text))), kAuthenticationFailed) << text;
    EXPECT_EQ(said(verified(signed_token("sv=2020-12-06&tn=Orders&sp=r&se=2026-03-04&st=" + text))),
              kAuthenticationFailed);
  }
}

TEST(TableSas, S11_ItIsValidFromItsStartUpToItsExpiry) {
  const TableSasTerms terms = SecurityBench::table_terms("r");
  EXPECT_TRUE(permitted_at(terms, {}, *terms.start).ok());
  EXPECT_TRUE(permitted_at(terms, {}, DateTime{terms.expiry->ticks - 1}).ok());
  EXPECT_EQ(said(permitted_at(terms, {}, DateTime{terms.start->ticks - 1})), kAuthenticationFailed);
  EXPECT_EQ(said(permitted_at(terms, {}, *terms.expiry)), kAuthenticationFailed);
  TableSasTerms at_once = terms;
  at_once.start.reset();
  EXPECT_TRUE(permitted_at(at_once, {}, DateTime{terms.start->ticks - 1}).ok());
}

TEST(TableSas, S13_VersionIsMandatoryAndStrangersArePassedOver) {
  const std::string token = signed_token("sv=2020-12-06&tn=Orders&sp=r&se=2026-03-04");
  EXPECT_TRUE(verified(token + "&api-version=2099-01-01&$filter=%zz&x=1&x=2").ok());
  for (const std::string version : {"", "2012-02-11", "2009-09-19", "20201206", "2020-12-6", "2020-12-0x", "latest"}) {
    EXPECT_EQ(said(parse_table_sas("sv=" + version + "&tn=Orders&sp=r&se=2026-03-04&sig=x")), kAuthenticationFailed);
  }
  EXPECT_EQ(said(parse_table_sas("tn=Orders&sp=r&se=2026-03-04&sig=x")), kAuthenticationFailed);
}

TEST(TableSas, S14_WhatIsMissingOrMalformedFails) {
  for (const std::string query : {"sv=2020-12-06&sp=r&se=2026-03-04&sig=x", "sv=2020-12-06&tn=Orders&sp=r&sig=",
                                  "sv=2020-12-06&tn=Orders&sp=r", "", "&&&", "sv", "%73v"}) {
    EXPECT_EQ(said(parse_table_sas(query)), kAuthenticationFailed) << query;
  }
  const std::string good = "sv=2020-12-06&tn=Orders&sp=r&se=2026-03-04";
  for (const std::string more :
       {"&sip=1.2.3", "&sip=1.2.3.256", "&sip=01.2.3.4", "&sip=5.0.0.0-4.0.0.0", "&sip=-", "&sip=1.2.3.4-",
        "&sip=1.2.3.4.5", "&sip=::1", "&spr=http", "&spr=http,https", "&spr=HTTPS", "&spk=%ff"}) {
    EXPECT_EQ(said(verified(signed_token(good + more))), kAuthenticationFailed) << more;
  }
  EXPECT_EQ(said(verified(signed_token("sv=2020-12-06&tn=Orders&sp=dr&se=2026-03-04"))), kAuthenticationFailed);
  EXPECT_EQ(said(parse_table_sas(good + "&spk=a%0Ab&sig=x")), kAuthenticationFailed);
}

TEST(TableSas, S25_BoundsNeedTheirPartitionKeyAndAreTuples) {
  const std::string good = "sv=2020-12-06&tn=Orders&sp=r&se=2026-03-04";
  EXPECT_EQ(said(verified(signed_token(good + "&srk=1"))), kAuthenticationFailed);
  EXPECT_EQ(said(verified(signed_token(good + "&erk=1"))), kAuthenticationFailed);
  EXPECT_EQ(said(verified(signed_token(good + "&spk=a&erk=1"))), kAuthenticationFailed);
  const KeyInterval interval = (*verified(signed_token(good + "&spk=a&srk=5&epk=c"))).interval;
  EXPECT_EQ(interval, (KeyInterval{KeyBound{"a", "5"}, KeyBound{"c", std::nullopt}}));
}

TEST(TableSas, S20_S27_PermissionsAndExpiryAreSaidOnceInTokenOrPolicy) {
  const std::vector<AccessPolicy> policies = {
      {"full", at("2026-03-03T00:00:00Z"), at("2026-03-04T00:00:00Z"), *Permissions::parse("ra")},
      {"empty", {}, {}, {}},
      {"expiry", {}, at("2026-03-04T00:00:00Z"), {}}};
  TableSasTerms terms;
  terms.table = "Orders";
  EXPECT_EQ(said(permitted_at(terms, policies, kPresent)), kAuthenticationFailed);
  terms.policy = "full";
  EXPECT_EQ((*permitted_at(terms, policies, kPresent)).to_string(), "ra");
  EXPECT_EQ(said(permitted_at(terms, policies, at("2026-03-02T00:00:00Z"))), kAuthenticationFailed);
  EXPECT_EQ(said(permitted_at(terms, policies, at("2026-03-04T00:00:00Z"))), kAuthenticationFailed);
  for (const int twice : {0, 1, 2}) {
    TableSasTerms both = terms;
    if (twice == 0) both.permissions = Permissions::all();
    if (twice == 1) both.start = at("2026-03-01T00:00:00Z");
    if (twice == 2) both.expiry = at("2026-03-05T00:00:00Z");
    EXPECT_EQ(said(permitted_at(both, policies, kPresent)), kAuthenticationFailed) << twice;
  }
  terms.policy = "Full";
  EXPECT_EQ(said(permitted_at(terms, policies, kPresent)), kAuthenticationFailed);
  terms.policy = "empty";
  EXPECT_EQ(said(permitted_at(terms, policies, kPresent)), kAuthenticationFailed);
  terms.permissions = *Permissions::parse("d");
  EXPECT_EQ(said(permitted_at(terms, policies, kPresent)), kAuthenticationFailed);
  terms.policy = "expiry";
  EXPECT_EQ((*permitted_at(terms, policies, kPresent)).to_string(), "d");
}

TEST(TableSas, C10_SignaturesForTablePartitionsKeysAndPolicyReadBackAsMeant) {
  TableSasTerms whole = SecurityBench::table_terms("rd");
  whole.addresses = "10.0.0.1";
  whole.https_only = true;
  TableSasTerms partitions = SecurityBench::table_terms("r");
  partitions.interval = {KeyBound{"a", {}}, KeyBound{"b/&=+ %", {}}};
  TableSasTerms keys = SecurityBench::table_terms("r");
  keys.interval = {KeyBound{"a", "\xC3\xA9"}, KeyBound{"a", "\xF0\x9F\x98\x80"}};
  keys.start = at("2026-03-03T00:00:00.1234567Z");
  keys.version = "2014-02-14";
  TableSasTerms policy;
  policy.table = "Orders";
  policy.policy = "readers & writers";
  for (const TableSasTerms& terms : {whole, partitions, keys, policy}) {
    for (const KeyChoice choice : {KeyChoice::kPrimary, KeyChoice::kSecondary}) {
      const Result<TableSas> sas = sign_table_sas(terms, credentials(), choice);
      ASSERT_TRUE(sas.ok()) << sas.status().to_string();
      const Result<TableSasTerms> read = verified(to_query(*sas));
      ASSERT_TRUE(read.ok());
      EXPECT_EQ(*read, terms);
    }
  }
}

TEST(TableSas, C10_WhatTheFormatCannotSayIsNotSigned) {
  const auto refused = [](void (*change)(TableSasTerms&)) {
    TableSasTerms terms = SecurityBench::table_terms("r");
    change(terms);
    return said(sign_table_sas(terms, credentials()));
  };
  EXPECT_EQ(refused([](TableSasTerms& t) { t.interval.to = KeyBound{"", {}}; }), kInvalidInput);
  EXPECT_EQ(refused([](TableSasTerms& t) { t.interval.to = KeyBound{"p", ""}; }), kInvalidInput);
  EXPECT_EQ(refused([](TableSasTerms& t) { t.interval.from = KeyBound{"", "r"}; }), kInvalidInput);
  EXPECT_EQ(refused([](TableSasTerms& t) { t.interval.from = KeyBound{"a\nb", {}}; }), kInvalidInput);
  EXPECT_EQ(refused([](TableSasTerms& t) { t.interval.from = KeyBound{"\xFF", {}}; }), kInvalidInput);
  EXPECT_EQ(refused([](TableSasTerms& t) { t.permissions.reset(); }), kInvalidInput);
  EXPECT_EQ(refused([](TableSasTerms& t) { t.permissions = Permissions(); }), kInvalidInput);
  EXPECT_EQ(refused([](TableSasTerms& t) { t.expiry.reset(); }), kInvalidInput);
  EXPECT_EQ(refused([](TableSasTerms& t) { t.expiry = DateTime{1}; }), kInvalidInput);
  EXPECT_EQ(refused([](TableSasTerms& t) { t.version = "2011-08-18"; }), kInvalidInput);
  EXPECT_EQ(refused([](TableSasTerms& t) { t.addresses = "everywhere"; }), kInvalidInput);
  EXPECT_EQ(refused([](TableSasTerms& t) {
              t.version = "2014-02-14";
              t.https_only = true;
            }),
            kInvalidInput);
  EXPECT_EQ(refused([](TableSasTerms& t) { t.table = "no such name"; }), kInvalidResourceName);
  // A lower bound at the empty RowKey is the beginning of its partition, which the format can express.
  TableSasTerms terms = SecurityBench::table_terms("r");
  terms.interval.from = KeyBound{"p", ""};
  EXPECT_EQ((*verified(to_query(*sign_table_sas(terms, credentials())))).interval.from, (KeyBound{"p", std::nullopt}));
}

}  // namespace
}  // namespace varve::security::table_sas_test
