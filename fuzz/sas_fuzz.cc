// Owns: the fuzzer of signatures in query strings: texts from clients that state the permissions of their bearer.
// Must never: read two meanings in one string to sign, or lose a field between query and fields.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/model/percent.h"
#include "fuzz/mutation.h"
#include "varve/security/account_sas.h"
#include "varve/security/blob_sas.h"
#include "varve/security/queue_sas.h"
#include "varve/security/table_sas.h"

namespace varve::security {
namespace {

void check_refusal(const Status& status) {
  if (status.code() != Code::kForbidden || status.service_error() != "AuthenticationFailed") std::abort();
}

const AccountCredentials& account() {
  static const AccountCredentials the_account{"devstoreaccount1", *AccountKeys::create("AAECAwQFBgcICQoLDA0ODw==")};
  return the_account;
}

/// Checks the number of lines. If a field could end another field, a signature would have two meanings.
void check_lines(const std::string& text, std::ptrdiff_t expected) {
  if (std::count(text.begin(), text.end(), '\n') != expected) std::abort();
}

void try_table_sas(std::string_view query) {
  Result<TableSas> sas = parse_table_sas(query);
  if (!sas.ok()) return check_refusal(sas.status());
  const Result<TableSas> again = parse_table_sas(to_query(*sas));
  if (!again.ok() || *again != *sas) std::abort();
  const std::string text = string_to_sign(*sas, "devstoreaccount1");
  check_lines(text, sas->sv >= "2015-04-05" ? 11 : 9);

  sas->sig = *account().keys.sign(text);
  const Result<TableSasTerms> terms = verify_table_sas(*sas, account());
  if (!terms.ok()) return check_refusal(terms.status());
  if (!check_key_interval(terms->interval).ok()) std::abort();
  const Result<Permissions> permitted = permitted_at(*terms, {}, DateTime{638'000'000'000'000'000});
  if (!permitted.ok()) check_refusal(permitted.status());
  const Result<TableSas> signed_again = sign_table_sas(*terms, account());
  if (!signed_again.ok()) return;  // These names and requirements are checked elsewhere.
  if (*verify_table_sas(*signed_again, account()) != *terms) std::abort();
}

void try_queue_sas(std::string_view query) {
  Result<QueueSas> sas = parse_queue_sas(query);
  if (!sas.ok()) return check_refusal(sas.status());
  const Result<QueueSas> again = parse_queue_sas(to_query(*sas));
  if (!again.ok() || *again != *sas) std::abort();
  const std::string text = string_to_sign(*sas, "devstoreaccount1", "orders");
  check_lines(text, sas->sv >= "2015-04-05" ? 7 : 5);

  sas->sig = *account().keys.sign(text);
  if (verify_queue_sas(*sas, account(), "others").ok()) std::abort();
  const Result<QueueSasTerms> terms = verify_queue_sas(*sas, account(), "orders");
  if (!terms.ok()) return check_refusal(terms.status());
  const Result<Permissions> permitted = permitted_at(*terms, {}, DateTime{638'000'000'000'000'000});
  if (!permitted.ok()) check_refusal(permitted.status());
  const Result<QueueSas> signed_again = sign_queue_sas(*terms, account());
  if (!signed_again.ok()) return;  // A required term is missing, or another text says the same.
  if (*verify_queue_sas(*signed_again, account(), "orders") != *terms) std::abort();
}

void try_blob_sas(std::string_view query) {
  Result<BlobSas> sas = parse_blob_sas(query);
  if (!sas.ok()) {
    if (sas.status().service_error() != "NotImplemented") check_refusal(sas.status());
    return;
  }
  const Result<BlobSas> again = parse_blob_sas(to_query(*sas));
  if (!again.ok() || *again != *sas) std::abort();
  const std::string text = string_to_sign(*sas, "devstoreaccount1", "photos", "a.txt");
  std::ptrdiff_t lines = 5;
  if (sas->sv >= "2013-08-15") lines += 5;
  if (sas->sv >= "2015-04-05") lines += 2;
  if (sas->sv >= "2018-11-09") lines += 2;
  if (sas->sv >= "2020-12-06") lines += 1;
  check_lines(text, lines);

  sas->sig = *account().keys.sign(text);
  if (verify_blob_sas(*sas, account(), "others", "a.txt").ok()) std::abort();
  const Result<BlobSasTerms> terms = verify_blob_sas(*sas, account(), "photos", "a.txt");
  if (!terms.ok()) return check_refusal(terms.status());
  const Result<Permissions> permitted = permitted_at(*terms, {}, DateTime{638'000'000'000'000'000});
  if (!permitted.ok()) check_refusal(permitted.status());
  const Result<BlobSas> signed_again = sign_blob_sas(*terms, account());
  if (!signed_again.ok()) return;  // A required term is missing, or another text says the same.
  if (*verify_blob_sas(*signed_again, account(), "photos", "a.txt") != *terms) std::abort();
}

void try_account_sas(std::string_view query) {
  Result<AccountSas> sas = parse_account_sas(query);
  if (!sas.ok()) return check_refusal(sas.status());
  const Result<AccountSas> again = parse_account_sas(to_query(*sas));
  if (!again.ok() || *again != *sas) std::abort();
  const std::string text = string_to_sign(*sas, "devstoreaccount1");
  check_lines(text, sas->sv >= "2020-12-06" ? 10 : 9);

  sas->sig = *account().keys.sign(text);
  const Result<AccountSasTerms> terms = verify_account_sas(*sas, account());
  if (terms.ok()) {
    (void)entity_permissions(*terms);
    if (check_operation(*terms, AccountOperation::kWriteAccessPolicies).ok()) std::abort();
  } else if (terms.status().service_error() != "AuthorizationServiceMismatch") {
    check_refusal(terms.status());
  }
}

}  // namespace
}  // namespace varve::security

/// Words of such texts.
constexpr std::string_view kWords[] = {
    "sv=",        "tn=",        "sp=",        "st=",        "se=",    "spr=",        "sip=",
    "si=",        "spk=",       "srk=",       "epk=",       "erk=",   "sig=",        "ss=",
    "raup",       "p",          "srt=",       "ses=",       "&",      "?",           "2019-02-02",
    "2020-12-06", "2014-02-14", "2015-04-05", "raud",       "r",      "rwdlacu",     "sco",
    "t",          "bt",         "https",      "https,http", "Orders", "203.0.113.5", "-203.0.113.9",
    "2026-03-03", "T00:00:00Z", "%3A",        "%0A",        "%2B",    "0001",        "eu%20west",
    "sr=",        "rsct=",      "rscc=",      "racwdl",     "bs",     "2012-02-12",  "2018-11-09"};

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  varve::security::try_table_sas(text);
  varve::security::try_queue_sas(text);
  varve::security::try_blob_sas(text);
  varve::security::try_account_sas(text);
  const std::optional<std::string> back = varve::percent_decode(varve::percent_encode(text));
  if (!back || *back != text) std::abort();
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return varve::fuzz::mutate_words(kWords, data, size, size_max, seed);
}
