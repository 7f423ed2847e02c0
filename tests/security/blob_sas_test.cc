// Goal: blob signatures are those of the specification, shown by its own vectors, and permit what they say.
// Method: each vector is signed and verified. Then each signed part is changed, and the signature must be refused.
#include "varve/security/blob_sas.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/security/security_bench.h"

namespace varve::security::blob_sas_test {
namespace {

using namespace test;

constexpr std::string_view kStart = "2026-03-03T00:00:00Z";
constexpr std::string_view kExpiry = "2026-03-04T00:00:00Z";
constexpr std::string_view kContainer = "photos";
constexpr std::string_view kBlob = "eu/a b.txt";
constexpr Said kNotPermitted = {Code::kForbidden, "AuthorizationPermissionMismatch"};
constexpr Said kNever = {Code::kForbidden, "AuthorizationFailure"};

BlobSas fields(std::string_view version, std::string_view kind, std::string_view permissions,
               std::string_view start = "", std::string_view expiry = kExpiry) {
  BlobSas sas;
  sas.sv = version;
  sas.sr = kind;
  sas.sp = permissions;
  sas.st = start;
  sas.se = expiry;
  return sas;
}

BlobSas with_signature(BlobSas sas, std::string_view container = kContainer, std::string_view blob = kBlob) {
  sas.sig = *credentials().keys.sign(string_to_sign(sas, kAccount, container, blob), KeyChoice::kPrimary);
  return sas;
}

struct Vector {
  std::string name;
  BlobSas sas;
  std::string blob;
  std::string text;
  std::string signature;
};

std::vector<Vector> vectors() {
  const std::string container = "/devstoreaccount1/photos";
  const std::string start(kStart);
  const std::string expiry(kExpiry);
  const std::string n5(5, '\n');
  BlobSas overriding = fields("2021-12-02", "b", "rw");
  overriding.spr = "https,http";
  overriding.rscc = "no-cache";
  overriding.rsct = "text/plain";
  BlobSas by_policy = fields("2021-12-02", "c", "", "", "");
  by_policy.si = "readers";
  return {
      {"BV-1", fields("2012-02-12", "c", "r", kStart), "",
       "r\n" + start + "\n" + expiry + "\n" + container + "\n\n2012-02-12",
       "n0EfptS8RBBS6Jm0fa3WAnlWi3jAvqVg4KsSlA8k1Ik="},
      {"BV-2", fields("2013-08-15", "b", "r"), "a.txt",
       "r\n\n" + expiry + "\n" + container + "/a.txt\n\n2013-08-15" + n5,
       "cNydMJ4SiWLcuV9ZS8dU/Xc+bHL/el/YWHYQj2HpKaM="},
      {"BV-3", fields("2015-04-05", "b", "r"), std::string(kBlob),
       "r\n\n" + expiry + "\n/blob" + container + "/eu/a b.txt\n\n\n\n2015-04-05" + n5,
       "MvUYk9rqJa8Lxjqb9ZZEG9w8rqtv39YaYeNa5sjrfLM="},
      {"BV-4", fields("2018-11-09", "b", "r"), std::string(kBlob),
       "r\n\n" + expiry + "\n/blob" + container + "/eu/a b.txt\n\n\n\n2018-11-09\nb\n" + n5,
       "vHDYZWHLuSmlH54drc1uYgYoZMxG4j2g/CUIctulNP4="},
      {"BV-5", overriding, std::string(kBlob),
       "rw\n\n" + expiry + "\n/blob" + container +
           "/eu/a b.txt\n\n\nhttps,http\n2021-12-02\nb\n\n\nno-cache\n\n\n\ntext/plain",
       "f33BauX4XrmJYMfhmDbjBQKFgkqNIkz4CUJd8iMB+8U="},
      {"BV-6", fields("2021-12-02", "c", "racwdl", kStart), "",
       "racwdl\n" + start + "\n" + expiry + "\n/blob" + container + "\n\n\n\n2021-12-02\nc\n\n" + n5,
       "VshKuTE2YnMCNrKDPDVecYjzCqaKm0XVsO4JbCeK2KQ="},
      {"BV-7", by_policy, "", "\n\n\n/blob" + container + "\nreaders\n\n\n2021-12-02\nc\n\n" + n5,
       "4h1jK+8sEDJj4lBdP2LOuLW0nO7bkxqOxto1Rgi2Jf4="},
  };
}

TEST(BlobSas, BS10_SignsTheTextOfTheSpecification) {
  for (const Vector& vector : vectors()) {
    EXPECT_EQ(string_to_sign(vector.sas, kAccount, kContainer, vector.blob), vector.text) << vector.name;
    EXPECT_EQ(*credentials().keys.sign(vector.text, KeyChoice::kPrimary), vector.signature) << vector.name;
    BlobSas signed_sas = vector.sas;
    signed_sas.sig = vector.signature;
    EXPECT_TRUE(verify_blob_sas(signed_sas, credentials(), kContainer, vector.blob).ok()) << vector.name;
    const Result<BlobSas> read = parse_blob_sas(to_query(signed_sas));
    EXPECT_TRUE(read.ok() && *read == signed_sas) << vector.name;
  }
}

TEST(BlobSas, BS10_BS11_EveryChangedPartIsRefused) {
  for (const Vector& vector : vectors()) {
    BlobSas sas = vector.sas;
    sas.sig = vector.signature;
    EXPECT_EQ(said(verify_blob_sas(sas, credentials(), "other", vector.blob).status()), kAuthenticationFailed);
    EXPECT_EQ(verify_blob_sas(sas, credentials(), kContainer, vector.blob + "x").ok(), vector.sas.sr == "c");
    for (std::string BlobSas::*field :
         {&BlobSas::sp, &BlobSas::st, &BlobSas::se, &BlobSas::si, &BlobSas::sip, &BlobSas::rscc, &BlobSas::rscd,
          &BlobSas::rsce, &BlobSas::rscl, &BlobSas::rsct, &BlobSas::sig}) {
      BlobSas changed = sas;
      (changed.*field).append("x");
      EXPECT_EQ(said(verify_blob_sas(changed, credentials(), kContainer, vector.blob).status()), kAuthenticationFailed)
          << vector.name;
    }
  }
}

TEST(BlobSas, BS11_ASignatureOfOneKindIsNoneOfTheOther) {
  for (const std::string version : {"2012-02-12", "2015-04-05", "2021-12-02"}) {
    BlobSas sas = with_signature(fields(version, "c", "r"));
    sas.sr = "b";
    EXPECT_EQ(said(verify_blob_sas(sas, credentials(), kContainer, kBlob).status()), kAuthenticationFailed);
    sas = with_signature(fields(version, "b", "r"));
    sas.sr = "c";
    EXPECT_EQ(said(verify_blob_sas(sas, credentials(), kContainer, kBlob).status()), kAuthenticationFailed);
    sas = with_signature(fields(version, "b", "r"), kContainer, "");
    EXPECT_EQ(said(verify_blob_sas(sas, credentials(), kContainer, "").status()), kAuthenticationFailed);
    sas = with_signature(fields(version, "c", "r"), "", "");
    EXPECT_EQ(said(verify_blob_sas(sas, credentials(), "", "").status()), kAuthenticationFailed);
  }
}

TEST(BlobSas, BS11_ANameOfTwoLinesIsNotSigned) {
  const BlobSas sas = with_signature(fields("2021-12-02", "b", "r"), kContainer, "a\nb");
  EXPECT_EQ(said(verify_blob_sas(sas, credentials(), kContainer, "a\nb").status()), kAuthenticationFailed);
  BlobSasTerms terms;
  terms.container = kContainer;
  terms.blob = "a\nb";
  terms.permissions = Permissions{Permission::kQuery};
  terms.expiry = at(kExpiry);
  EXPECT_EQ(sign_blob_sas(terms, credentials()).code(), Code::kInvalidArgument);
}

TEST(BlobSas, BS12_BV8_AnAccountSignatureForBlobsIsTheVector) {
  AccountSas sas;
  sas.sv = "2021-12-02";
  sas.ss = "b";
  sas.srt = "sco";
  sas.sp = "rwdlac";
  sas.se = kExpiry;
  sas.sig = "hvwMJZyY4qOXwvm2iBrD5QEeCwZ/yu9nwepecv7MgN0=";  // BV-8
  EXPECT_TRUE(verify_account_sas(sas, credentials(), StorageService::kBlobs).ok());
  EXPECT_EQ(said(verify_account_sas(sas, credentials()).status()), kServiceMismatch);
}

TEST(BlobSas, BS10_OldVersionsSignNoConditionsAndNoHeaders) {
  BlobSas sas = fields("2015-02-21", "b", "r");
  sas.spr = "https";
  EXPECT_EQ(said(verify_blob_sas(with_signature(sas), credentials(), kContainer, kBlob).status()),
            kAuthenticationFailed);
  sas = fields("2012-02-12", "b", "r");
  sas.rsct = "text/html";
  EXPECT_EQ(said(verify_blob_sas(with_signature(sas), credentials(), kContainer, kBlob).status()),
            kAuthenticationFailed);
}

TEST(BlobSas, BS12_LettersMayHaveAnyOrderAndSomePermitNothing) {
  for (const std::string letters : {"racwdxltmeiopyf", "lr", "xmeiopyf", "t"}) {
    const BlobSas sas = with_signature(fields("2021-12-02", "c", letters));
    EXPECT_TRUE(verify_blob_sas(sas, credentials(), kContainer, kBlob).ok()) << letters;
  }
  for (const std::string letters : {"rr", "R", "u", "xx", "rq"}) {
    const BlobSas sas = with_signature(fields("2021-12-02", "c", letters));
    EXPECT_EQ(said(verify_blob_sas(sas, credentials(), kContainer, kBlob).status()), kAuthenticationFailed) << letters;
  }
}

TEST(BlobSas, BS10_BZ01_QueriesOfOtherFormsAreRefused) {
  const std::string good = "sv=2021-12-02&sr=b&sp=r&se=2026-03-04&sig=c2ln";
  EXPECT_TRUE(parse_blob_sas(good).ok());
  EXPECT_TRUE(parse_blob_sas(good + "&comp=list&comp=acl").ok());
  for (const std::string& bad :
       {good + "&sp=a", good + "&ss=b", good + "&srt=o", good + "&tn=a", good + "&skoid=a", good + "&si=%zz",
        std::string("sv=2021-12-02&sr=b&sp=r"), std::string("sv=2021-12-02&sp=r&sig=c2ln"),
        std::string("sv=2021-12-02&sr=bv&sp=r&sig=c2ln"), std::string("sv=2021-12-02&sr=d&sp=r&sig=c2ln"),
        std::string("sr=b&sp=r&sig=c2ln"), std::string("sv=2011-08-18&sr=b&sig=c2ln")}) {
    EXPECT_EQ(said(parse_blob_sas(bad).status()), kAuthenticationFailed) << bad;
  }
  for (const std::string& left_out : {good + "&ses=scope", std::string("sv=2021-12-02&sr=bs&sp=r&sig=c2ln")}) {
    EXPECT_EQ(said(parse_blob_sas(left_out).status()), (Said{Code::kUnsupported, "NotImplemented"})) << left_out;
  }
}

TEST(BlobSas, BS11_TheTermsThatCannotBeSaidAreNotSigned) {
  BlobSasTerms terms;
  terms.container = kContainer;
  EXPECT_EQ(sign_blob_sas(terms, credentials()).code(), Code::kInvalidArgument);  // neither a policy nor terms
  terms.permissions = Permissions::all_for_blobs();
  terms.expiry = at(kExpiry);
  terms.overrides.content_type = "text/plain";
  EXPECT_TRUE(sign_blob_sas(terms, credentials()).ok());
  terms.version = "2012-02-12";
  EXPECT_EQ(sign_blob_sas(terms, credentials()).code(), Code::kInvalidArgument);  // has no overrides
  terms.overrides = {};
  EXPECT_TRUE(sign_blob_sas(terms, credentials()).ok());
  terms.permissions = Permissions{Permission::kUpdate};
  EXPECT_EQ(sign_blob_sas(terms, credentials()).code(), Code::kInvalidArgument);
  terms.permissions = Permissions{Permission::kList};
  terms.container.clear();
  EXPECT_EQ(sign_blob_sas(terms, credentials()).code(), Code::kInvalidArgument);
}

/// A session by a blob signature.
class BlobSessions : public ::testing::Test {
 protected:
  static BlobSasTerms terms(std::string_view letters, std::string_view blob = "") {
    BlobSasTerms made;
    made.container = kContainer;
    made.blob = blob;
    made.permissions = *Permissions::parse_for_blob(letters);
    made.expiry = at(kExpiry);
    return made;
  }
  Result<Session> open(const BlobSasTerms& terms, const std::string& blob = std::string(kBlob)) {
    const std::string query = to_query(*sign_blob_sas(terms, bench_.account));
    return Session::open(bench_.store(), bench_.account, query, bench_.arrival, bench_.clock(),
                         {StorageService::kBlobs, "", std::string(kContainer), blob});
  }
  static std::string resource(std::string_view blob = kBlob) {
    return std::string(kContainer) + "/" + std::string(blob);
  }

  SecurityBench bench_;
};

TEST_F(BlobSessions, BS12_BS13_EachLetterPermitsItsOperations) {
  using enum AccountOperation;
  const std::vector<std::pair<AccountOperation, std::string>> operations = {
      {kReadBlob, "r"},           {kReadContainer, "r"}, {kListBlobs, "l"},     {kCreateBlob, "cw"},
      {kReplaceBlob, "w"},        {kPutBlock, "cw"},     {kAppendBlock, "aw"},  {kChangeBlob, "w"},
      {kRemoveBlob, "d"},         {kReadBlobTags, "t"},  {kWriteBlobTags, "t"}, {kReadAccountInformation, "racwdlt"},
      {kSendBlobBatch, "racwdlt"}};
  for (const char letter : std::string("racwdlt")) {
    const Result<Session> session = open(terms(std::string(1, letter)));
    ASSERT_TRUE(session.ok()) << session.status().to_string();
    for (const auto& [operation, letters] : operations) {
      const Status checked = session->check(operation, resource());
      if (letters.find(letter) != std::string::npos) {
        EXPECT_TRUE(checked.ok()) << letter << static_cast<int>(operation);
      } else {
        EXPECT_EQ(said(checked), kNotPermitted) << letter << static_cast<int>(operation);
      }
    }
  }
}

TEST_F(BlobSessions, BS11_AContainersSignatureIsForItsBlobsAndABlobsForItAlone) {
  const Result<Session> of_container = open(terms("r"));
  ASSERT_TRUE(of_container.ok());
  using enum AccountOperation;
  EXPECT_TRUE(of_container->check(kReadBlob, resource("other")).ok());
  EXPECT_TRUE(of_container->check(kReadContainer, kContainer).ok());
  EXPECT_EQ(said(of_container->check(kReadBlob, "other/eu/a b.txt")), kNever);
  const Result<Session> of_blob = open(terms("rl", kBlob));
  ASSERT_TRUE(of_blob.ok());
  EXPECT_TRUE(of_blob->check(kReadBlob, resource()).ok());
  for (const std::string& other : {resource("other"), resource("eu"), std::string(kContainer), std::string("other")}) {
    EXPECT_EQ(said(of_blob->check(kReadBlob, other)), kNever) << other;
  }
  EXPECT_EQ(said(of_blob->check(kListBlobs, kContainer)), kNever);
}

TEST_F(BlobSessions, BS12_NoBlobSignaturePermitsMore) {
  const Result<Session> session = open(terms("racwdxltmeiopyf"));
  ASSERT_TRUE(session.ok());
  using enum AccountOperation;
  for (const AccountOperation operation :
       {kListContainers, kCreateContainer, kDropContainer, kWriteContainerMetadata, kLeaseContainer,
        kBreakContainerLease, kReadAccessPolicies, kWriteAccessPolicies, kReadServiceProperties,
        kWriteServiceProperties, kReadServiceStatistics, kListTables, kCreateQueue, kPutMessage}) {
    EXPECT_EQ(said(session->check(operation, kContainer)), kNever) << static_cast<int>(operation);
  }
  EXPECT_EQ(said(session->table("Orders").status()), kNever);
}

TEST_F(BlobSessions, BS11_BS13_TimeAndUnknownPoliciesEndASignature) {
  const Result<Session> session = open(terms("r"));
  ASSERT_TRUE(session.ok());
  BlobSasTerms by_policy;
  by_policy.container = kContainer;
  by_policy.policy = "nobody";
  EXPECT_EQ(said(open(by_policy).status()), kAuthenticationFailed);
  *bench_.time = at(kExpiry);
  EXPECT_EQ(said(session->check(AccountOperation::kReadBlob, resource())), kAuthenticationFailed);
  EXPECT_EQ(said(open(terms("r")).status()), kAuthenticationFailed);
}

TEST_F(BlobSessions, BG07_ASignatureReplacesHeaders) {
  BlobSasTerms made = terms("r", kBlob);
  made.overrides = {"no-cache", "attachment", "gzip", "de", "text/plain"};
  const Result<Session> session = open(made);
  ASSERT_TRUE(session.ok());
  ASSERT_NE(session->header_overrides(), nullptr);
  EXPECT_EQ(*session->header_overrides(), made.overrides);
  const Result<Session> of_key = Session::of_operator(bench_.store(), kAccount, bench_.clock());
  ASSERT_TRUE(of_key.ok());
  EXPECT_EQ(of_key->header_overrides(), nullptr);
}

TEST_F(BlobSessions, BS12_BS13_AnAccountSignatureNeedsTypeServiceAndLetter) {
  using enum AccountOperation;
  struct Need {
    AccountOperation operation;
    char type;
    std::string letters;
  };
  const std::vector<Need> needs = {{kListContainers, 's', "l"},
                                   {kCreateContainer, 'c', "cw"},
                                   {kDropContainer, 'c', "d"},
                                   {kReadContainer, 'c', "r"},
                                   {kWriteContainerMetadata, 'c', "w"},
                                   {kLeaseContainer, 'c', "w"},
                                   {kBreakContainerLease, 'c', "wd"},
                                   {kListBlobs, 'c', "l"},
                                   {kReadBlob, 'o', "r"},
                                   {kCreateBlob, 'o', "cw"},
                                   {kReplaceBlob, 'o', "w"},
                                   {kPutBlock, 'o', "cw"},
                                   {kAppendBlock, 'o', "aw"},
                                   {kChangeBlob, 'o', "w"},
                                   {kRemoveBlob, 'o', "d"},
                                   {kReadBlobTags, 'o', "t"},
                                   {kWriteBlobTags, 'o', "t"}};
  for (const Need& need : needs) {
    for (const std::string type : {"s", "c", "o"}) {
      for (const std::string letter : {"r", "w", "d", "l", "a", "c", "t", "u", "p"}) {
        AccountSasTerms made = SecurityBench::account_terms(type, letter);
        made.services = "b";
        const Status checked = check_operation(made, need.operation);
        if (type[0] != need.type) {
          EXPECT_EQ(said(checked), kResourceTypeMismatch);
        } else if (need.letters.find(letter) == std::string::npos) {
          EXPECT_EQ(said(checked), kNotPermitted) << letter << static_cast<int>(need.operation);
        } else {
          EXPECT_TRUE(checked.ok()) << letter << static_cast<int>(need.operation);
        }
        made.services = "tq";
        EXPECT_EQ(said(check_operation(made, need.operation)), kServiceMismatch);
      }
    }
  }
  for (const AccountOperation operation : {kReadAccountInformation, kSendBlobBatch}) {
    for (const std::string type : {"s", "c", "o"}) {
      AccountSasTerms made = SecurityBench::account_terms(type, "r");
      made.services = "b";
      EXPECT_TRUE(check_operation(made, operation).ok()) << "each type and letter is enough";
      made.services = "tq";
      EXPECT_EQ(said(check_operation(made, operation)), kServiceMismatch);
    }
  }
}

}  // namespace
}  // namespace varve::security::blob_sas_test
