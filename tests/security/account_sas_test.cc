// Goal: account signatures are created, parsed and checked by the specification, shown by its own vectors.
#include "varve/security/account_sas.h"

#include <gtest/gtest.h>

#include "api/model/percent.h"
#include "tests/security/security_bench.h"

namespace varve::security::account_sas_test {
namespace {

using namespace test;

std::string signed_token(const std::string& query) {
  const Result<AccountSas> parsed = parse_account_sas(query + "&sig=x");
  if (!parsed.ok()) return query + "&sig=x";
  AccountSas sas = *parsed;
  sas.sig = *credentials().keys.sign(string_to_sign(sas, kAccount));
  return to_query(sas);
}
Result<AccountSasTerms> verified(const std::string& query) {
  const Result<AccountSas> sas = parse_account_sas(query);
  if (!sas.ok()) return sas.status();
  return verify_account_sas(*sas, credentials());
}

TEST(AccountSas, S31_VectorsSignTheStringsOfTheSpecification) {
  struct Vector {
    std::string query;
    std::string string_to_sign;
    std::string signature;
  };
  const std::string st = "2026-03-03T00:00:00Z";
  const std::string se = "2026-03-04T00:00:00Z";
  for (const Vector& vector : std::vector<Vector>{
           {"sv=2019-02-02&ss=t&srt=sco&sp=rwdlacu&st=" + st + "&se=" + se + "&spr=https,http",
            "devstoreaccount1\nrwdlacu\nt\nsco\n" + st + "\n" + se + "\n\nhttps,http\n2019-02-02\n",
            "TvNqVPf7rVJVZG0W5PjdgWJzAi6a1G5oQ4TJPPw0E1c="},
           {"sv=2020-12-06&ss=t&srt=sco&sp=rwdlacu&st=" + st + "&se=" + se + "&spr=https,http",
            "devstoreaccount1\nrwdlacu\nt\nsco\n" + st + "\n" + se + "\n\nhttps,http\n2020-12-06\n\n",
            "7CKIhftXOTqwl4h88emiS1qtwFI1yxwxUOMxRPH0c+o="},
           {"sv=2020-12-06&ss=t&srt=co&sp=rl&se=" + se, "devstoreaccount1\nrl\nt\nco\n\n" + se + "\n\n\n2020-12-06\n\n",
            "IAJ/t13yytco2NYGoVuHkbCNVr9CFBawS+lgLnSZWxQ="}}) {
    const Result<AccountSas> sas = parse_account_sas(vector.query + "&sig=" + percent_encode(vector.signature));
    ASSERT_TRUE(sas.ok());
    EXPECT_EQ(string_to_sign(*sas, kAccount), vector.string_to_sign);
    EXPECT_TRUE(verify_account_sas(*sas, credentials()).ok()) << vector.query;
  }
}

TEST(AccountSas, S30_FieldsAreRequiredAndForTables) {
  const std::string good = "sv=2020-12-06&ss=t&srt=sco&sp=r&se=2026-03-04";
  EXPECT_TRUE(verified(signed_token(good)).ok());
  EXPECT_TRUE(verified(signed_token("sv=2020-12-06&ss=bqtf&srt=o&sp=rwx&se=2026-03-04")).ok());
  EXPECT_EQ(said(verified(signed_token("sv=2020-12-06&ss=bqf&srt=o&sp=r&se=2026-03-04"))), kServiceMismatch);
  for (const std::string query :
       {"ss=t&srt=o&sp=r&se=2026-03-04", "sv=2015-02-21&ss=t&srt=o&sp=r&se=2026-03-04",
        "sv=2020-12-06&srt=o&sp=r&se=2026-03-04", "sv=2020-12-06&ss=t&sp=r&se=2026-03-04",
        "sv=2020-12-06&ss=t&srt=o&se=2026-03-04", "sv=2020-12-06&ss=t&srt=o&sp=r",
        "sv=2020-12-06&ss=t&srt=x&sp=r&se=2026-03-04", "sv=2020-12-06&ss=t&srt=o&sp=R&se=2026-03-04",
        "sv=2020-12-06&ss=t&srt=o&sp=r&se=never", "sv=2020-12-06&ss=t&srt=o&sp=r&se=2026-03-04&sip=x",
        "sv=2020-12-06&ss=t&srt=o&sp=r&se=2026-03-04&spr=http"}) {
    EXPECT_EQ(said(verified(signed_token(query))), kAuthenticationFailed) << query;
  }
}

TEST(AccountSas, S31_TheEncryptionScopeIsSignedFrom2020) {
  const std::string rest = "&ss=t&srt=o&sp=r&se=2026-03-04";
  const std::string newer = signed_token("sv=2020-12-06" + rest + "&ses=scope");
  EXPECT_TRUE(verified(newer).ok());
  AccountSas stripped = *parse_account_sas(newer);
  stripped.ses.clear();
  EXPECT_EQ(said(verify_account_sas(stripped, credentials())), kAuthenticationFailed);
}

TEST(AccountSas, BZ01_NoBlobIsWrittenAsIfItHadTheEncryptionScope) {
  const std::string text = signed_token("sv=2020-12-06&ss=tqb&srt=o&sp=rw&se=2026-03-04&ses=scope");
  const AccountSas sas = *parse_account_sas(text);
  EXPECT_TRUE(verify_account_sas(sas, credentials(), StorageService::kQueues).ok());
  EXPECT_EQ(said(verify_account_sas(sas, credentials(), StorageService::kBlobs).status()),
            (Said{Code::kUnsupported, "NotImplemented"}));
}

TEST(AccountSas, S32_OperationsNeedTheirTypeAndPermission) {
  using Operation = AccountOperation;
  struct Row {
    Operation operation;
    std::string type;
    std::vector<std::string> enough;
  };
  for (const Row& row : std::vector<Row>{{Operation::kListTables, "c", {"l"}},
                                         {Operation::kCreateTable, "c", {"c", "w"}},
                                         {Operation::kDropTable, "c", {"d"}},
                                         {Operation::kReadServiceProperties, "s", {"r"}},
                                         {Operation::kWriteServiceProperties, "s", {"w"}},
                                         {Operation::kReadServiceStatistics, "s", {"r"}}}) {
    for (const std::string letter : {"r", "w", "d", "l", "a", "c", "u", "x"}) {
      const bool enough = std::find(row.enough.begin(), row.enough.end(), letter) != row.enough.end();
      EXPECT_EQ(said(check_operation(SecurityBench::account_terms(row.type, letter), row.operation)),
                enough ? kFine : kPermissionMismatch);
    }
    const std::string others = row.type == "s" ? "co" : "so";
    EXPECT_EQ(said(check_operation(SecurityBench::account_terms(others, "rwdlacu"), row.operation)),
              kResourceTypeMismatch);
  }
  const AccountSasTerms everything = SecurityBench::account_terms("sco", "rwdlacu");
  EXPECT_EQ(said(check_operation(everything, Operation::kReadAccessPolicies)), kAuthorizationFailure);
  EXPECT_EQ(said(check_operation(everything, Operation::kWriteAccessPolicies)), kAuthorizationFailure);
  EXPECT_EQ((*entity_permissions(SecurityBench::account_terms("o", "duwra"))).to_string(), "raud");
  EXPECT_EQ((*entity_permissions(SecurityBench::account_terms("o", "wlc"))).to_string(), "");
  EXPECT_EQ(said(entity_permissions(SecurityBench::account_terms("sc", "r"))), kResourceTypeMismatch);
}

TEST(AccountSas, S33_HasNeitherPolicyNorRangeAndPassesOverOtherLetters) {
  const std::string token = signed_token("sv=2020-12-06&ss=t&srt=o&sp=rxyzft&se=2026-03-04");
  EXPECT_TRUE(verified(token).ok());
  EXPECT_EQ((*entity_permissions(*verified(token))).to_string(), "r");
  for (const std::string more : {"&si=readers", "&spk=a", "&srk=a", "&epk=a", "&erk=a", "&tn=Orders"}) {
    EXPECT_EQ(said(verified(token + more)), kAuthenticationFailed) << more;
  }
}

TEST(AccountSas, AreReadBackAsMeantOrNotSigned) {
  AccountSasTerms terms = SecurityBench::account_terms("so", "rwl");
  terms.addresses = "10.0.0.1-10.0.0.9";
  terms.https_only = true;
  for (const KeyChoice choice : {KeyChoice::kPrimary, KeyChoice::kSecondary}) {
    EXPECT_EQ(*verified(to_query(*sign_account_sas(terms, credentials(), choice))), terms);
  }
  const auto refused = [&terms](void (*change)(AccountSasTerms&)) {
    AccountSasTerms changed = terms;
    change(changed);
    return said(sign_account_sas(changed, credentials()));
  };
  EXPECT_EQ(refused([](AccountSasTerms& t) { t.services = "f"; }), kInvalidInput);
  EXPECT_EQ(refused([](AccountSasTerms& t) { t.expiry.reset(); }), kInvalidInput);
  EXPECT_EQ(refused([](AccountSasTerms& t) { t.permissions = ""; }), kInvalidInput);
  EXPECT_EQ(refused([](AccountSasTerms& t) { t.resource_types = "t"; }), kInvalidInput);
  EXPECT_EQ(refused([](AccountSasTerms& t) { t.version = "2014-02-14"; }), kInvalidInput);
}

}  // namespace
}  // namespace varve::security::account_sas_test
