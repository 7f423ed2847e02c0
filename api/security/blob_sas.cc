// Owns: the fields of blob signatures, their text to sign, and their meaning (blob_sas.h).
// Must never: interpret the fields of a signature before it is verified.
#include "varve/security/blob_sas.h"

#include <initializer_list>
#include <utility>

#include "api/model/guarded.h"
#include "api/model/service_error.h"
#include "api/security/error.h"
#include "api/security/query_fields.h"
#include "api/security/service_terms.h"
#include "api/security/token_conditions.h"

namespace varve::security {
namespace {

constexpr std::string_view kOverridesVersion = "2013-08-15";       // rscc to rsct are signed
constexpr std::string_view kSignedResourceVersion = "2018-11-09";  // sr and the time of a snapshot are signed
constexpr std::string_view kScopeVersion = "2020-12-06";           // the encryption scope is signed
constexpr std::string_view kContainer = "c";
constexpr std::string_view kBlob = "b";

bool has_overrides(const BlobSas& sas) noexcept {
  return !(sas.rscc.empty() && sas.rscd.empty() && sas.rsce.empty() && sas.rscl.empty() && sas.rsct.empty());
}

/// Returns the meaning of the fields.
Result<BlobSasTerms> terms_of(const BlobSas& sas, std::string_view container, std::string_view blob) {
  BlobSasTerms terms;
  if (Status read = read_shared_terms(sas, Permissions::parse_for_blob, terms); !read.ok()) return read;
  if (sas.sv < kOverridesVersion && has_overrides(sas)) {
    return authentication_failed("the version of the token (sv) does not allow rscc, rscd, rsce, rscl and rsct");
  }
  terms.container = container;
  if (sas.sr == kBlob) terms.blob = blob;
  terms.overrides = {sas.rscc, sas.rscd, sas.rsce, sas.rscl, sas.rsct};
  return terms;
}

BlobSas fields_of(const BlobSasTerms& terms) {
  BlobSas sas;
  write_shared_fields(terms, sas);
  sas.sr = terms.blob.empty() ? kContainer : kBlob;
  sas.rscc = terms.overrides.cache_control;
  sas.rscd = terms.overrides.content_disposition;
  sas.rsce = terms.overrides.content_encoding;
  sas.rscl = terms.overrides.content_language;
  sas.rsct = terms.overrides.content_type;
  return sas;
}

/// Returns true if a verifier will read back the same terms.
bool says(const BlobSas& sas, const BlobSasTerms& terms) {
  const Result<BlobSas> read = parse_blob_sas(to_query(sas));
  if (!read.ok() || *read != sas) return false;
  const Result<BlobSasTerms> meant = terms_of(*read, terms.container, terms.blob);
  return meant.ok() && *meant == terms;
}

/// Returns whether the names are there, and form one line of the signed text. A name with a line feed could otherwise be
/// read as other fields.
bool can_be_signed(const BlobSas& sas, std::string_view container, std::string_view blob) noexcept {
  if (container.empty() || container.find('\n') != std::string_view::npos) return false;
  return sas.sr != kBlob || !(blob.empty() || blob.find('\n') != std::string_view::npos);
}

/// Checks the kind of resource that the signature is for. Source: BS-10.
Status check_resource_kind(const std::string& sr) {
  if (sr == kContainer || sr == kBlob) return Status();
  if (sr == "bs") return service_error::not_implemented("snapshots are not supported (sr=bs)");
  return authentication_failed("the resource of the token (sr) must be a container (c) or a blob (b)");
}

}  // namespace

Result<BlobSas> parse_blob_sas(std::string_view query) {
  return guarded([&]() -> Result<BlobSas> {
    const Result<QueryFields> fields =
        QueryFields::parse(query, {"sv", "sr", "sp", "st", "se", "si", "sip", "spr", "rscc", "rscd", "rsce", "rscl",
                                   "rsct", "sig", "ses", "ss", "srt", "tn", "skoid"});
    if (!fields.ok()) return fields.status();
    const QueryFields& in = *fields;
    for (const std::string_view foreign : {"ss", "srt", "tn", "skoid"}) {
      if (in.has(foreign)) return authentication_failed("a blob SAS must not have ss, srt, tn or skoid");
    }
    BlobSas sas{in["sv"],  in["sr"],   in["sp"],   in["st"],   in["se"],   in["si"],   in["sip"],
                in["spr"], in["rscc"], in["rscd"], in["rsce"], in["rscl"], in["rsct"], in["sig"]};
    if (Status versioned = check_version(sas.sv, kOldestServiceVersion); !versioned.ok()) return versioned;
    if (sas.sig.empty()) return authentication_failed("a blob SAS needs sig");
    if (Status kind = check_resource_kind(sas.sr); !kind.ok()) return kind;
    if (!in["ses"].empty()) return service_error::not_implemented("encryption scopes are not supported (ses)");
    return sas;
  });
}

std::string to_query(const BlobSas& sas) {
  std::string query;
  append_field(query, "sv", sas.sv);
  append_field(query, "sr", sas.sr);
  append_field(query, "sp", sas.sp);
  append_field(query, "st", sas.st);
  append_field(query, "se", sas.se);
  append_field(query, "si", sas.si);
  append_field(query, "sip", sas.sip);
  append_field(query, "spr", sas.spr);
  append_field(query, "rscc", sas.rscc);
  append_field(query, "rscd", sas.rscd);
  append_field(query, "rsce", sas.rsce);
  append_field(query, "rscl", sas.rscl);
  append_field(query, "rsct", sas.rsct);
  append_field(query, "sig", sas.sig);
  return query;
}

std::string string_to_sign(const BlobSas& sas, std::string_view account, std::string_view container,
                           std::string_view blob) {
  std::string resource = resource_prefix(sas.sv, "blob");
  resource.append(account).append(1, '/').append(container);
  if (sas.sr == kBlob) resource.append(1, '/').append(blob);
  std::string text;
  const auto add = [&text](std::initializer_list<std::string_view> fields) {
    for (const std::string_view field : fields) text.append(field).append(1, '\n');
  };
  add({sas.sp, sas.st, sas.se, resource, sas.si});
  if (sas.sv >= kConditionsVersion) add({sas.sip, sas.spr});
  add({sas.sv});
  if (sas.sv >= kSignedResourceVersion) add({sas.sr, ""});
  if (sas.sv >= kScopeVersion) add({""});
  if (sas.sv >= kOverridesVersion) add({sas.rscc, sas.rscd, sas.rsce, sas.rscl, sas.rsct});
  text.pop_back();  // Line feeds separate the fields, and do not end them.
  return text;
}

Result<BlobSas> sign_blob_sas(const BlobSasTerms& terms, const AccountCredentials& account, KeyChoice choice) {
  return guarded([&]() -> Result<BlobSas> {
    BlobSas sas = fields_of(terms);
    const std::string text = string_to_sign(sas, account.name, terms.container, terms.blob);
    if (Status signing = sign_fields(terms, account, choice, text, sas); !signing.ok()) return signing;
    if (!can_be_signed(sas, terms.container, terms.blob) || !says(sas, terms)) {
      return service_error::invalid_input("a blob SAS cannot express these terms");
    }
    return sas;
  });
}

Result<BlobSasTerms> verify_blob_sas(const BlobSas& sas, const AccountCredentials& account, std::string_view container,
                                     std::string_view blob) {
  return guarded([&]() -> Result<BlobSasTerms> {
    if (!account.keys.verify(string_to_sign(sas, account.name, container, blob), sas.sig) ||
        !can_be_signed(sas, container, blob)) {
      return authentication_failed("the signature does not match this token");
    }
    return terms_of(sas, container, blob);
  });
}

Result<Permissions> permitted_at(const BlobSasTerms& terms, std::span<const AccessPolicy> policies, DateTime now) {
  return permitted_under({terms.policy, terms.start, terms.expiry, terms.permissions}, policies, now);
}

}  // namespace varve::security
