// Owns: the fields of account signatures, their text to sign, and what they permit (account_sas.h).
// Must never: interpret the fields of a signature before it is verified.
#include "varve/security/account_sas.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/model/guarded.h"
#include "api/model/service_error.h"
#include "api/security/error.h"
#include "api/security/query_fields.h"
#include "api/security/token_conditions.h"

namespace varve::security {
namespace {

constexpr std::string_view kOldestAccountVersion = "2015-04-05";
constexpr std::string_view kEncryptionScopeVersion = "2020-12-06";

/// The letter and the name of a service, in the order of StorageService.
struct ServiceLetter {
  char letter;
  std::string_view refusal;
};
constexpr std::array<ServiceLetter, 3> kServices = {{
    {'t', "the services of the token (ss) must include tables (t)"},
    {'q', "the services of the token (ss) must include queues (q)"},
    {'b', "the services of the token (ss) must include blobs (b)"},
}};

bool has(std::string_view letters, char letter) noexcept {
  return letters.find(letter) != std::string_view::npos;
}

bool are_letters(std::string_view text, std::string_view allowed) noexcept {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

/// Returns the meaning of the fields.
Result<AccountSasTerms> terms_of(const AccountSas& sas) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
  if (Status versioned = check_version(sas.sv, kOldestAccountVersion); !versioned.ok()) return versioned;
  if (!are_letters(sas.ss, kLetters) || !are_letters(sas.sp, kLetters) || !are_letters(sas.srt, "sco")) {
    return authentication_failed("ss, srt or sp is missing or malformed");
  }
  const Result<std::optional<DateTime>> start = parse_time(sas.st);
  if (!start.ok()) return start.status();
  const Result<std::optional<DateTime>> expiry = parse_time(sas.se);
  if (!expiry.ok()) return expiry.status();
  if (!*expiry) return authentication_failed("se is missing");
  const Result<bool> https_only = parse_protocols(sas.spr);
  if (!https_only.ok()) return https_only.status();
  if (Status placed = check_addresses(sas.sip); !placed.ok()) return placed;
  return AccountSasTerms{sas.sv, sas.ss, sas.srt, sas.sp, *start, *expiry, sas.sip, *https_only};
}

Status check_service(const AccountSasTerms& terms, StorageService service) {
  const ServiceLetter& needed = kServices[static_cast<std::size_t>(service)];
  return has(terms.services, needed.letter) ? Status() : service_mismatch(needed.refusal);
}

AccountSas fields_of(const AccountSasTerms& terms) {
  AccountSas sas;
  sas.sv = terms.version;
  sas.ss = terms.services;
  sas.srt = terms.resource_types;
  sas.sp = terms.permissions;
  if (terms.start) sas.st = terms.start->to_string();
  if (terms.expiry) sas.se = terms.expiry->to_string();
  sas.sip = terms.addresses;
  if (terms.https_only) sas.spr = "https";
  return sas;
}

/// Returns true if a verifier will read back the same terms.
bool says(const AccountSas& sas, const AccountSasTerms& terms) {
  const Result<AccountSas> read = parse_account_sas(to_query(sas));
  if (!read.ok() || *read != sas) return false;
  const Result<AccountSasTerms> meant = terms_of(*read);
  return meant.ok() && *meant == terms && terms.services.find_first_of("tqb") != std::string::npos;
}

/// In place of a resource type: each is enough.
constexpr char kAnyType = '*';

struct Need {
  std::optional<StorageService> service;  // none: each service has the operation
  char resource_type;
  /// One of these letters is needed.
  std::string_view permissions;
};

/// Returns nothing for access policies: no account signature permits them.
std::optional<Need> need_of(AccountOperation operation) noexcept {
  using enum StorageService;
  switch (operation) {
    case AccountOperation::kListTables: return Need{kTables, 'c', "l"};
    case AccountOperation::kCreateTable: return Need{kTables, 'c', "cw"};
    case AccountOperation::kDropTable: return Need{kTables, 'c', "d"};
    case AccountOperation::kReadServiceProperties: return Need{std::nullopt, 's', "r"};
    case AccountOperation::kWriteServiceProperties: return Need{std::nullopt, 's', "w"};
    case AccountOperation::kReadServiceStatistics: return Need{std::nullopt, 's', "r"};
    case AccountOperation::kListQueues: return Need{kQueues, 's', "l"};
    case AccountOperation::kCreateQueue: return Need{kQueues, 'c', "cw"};
    case AccountOperation::kDropQueue: return Need{kQueues, 'c', "d"};
    case AccountOperation::kReadQueueMetadata: return Need{kQueues, 'c', "r"};
    case AccountOperation::kWriteQueueMetadata: return Need{kQueues, 'c', "w"};
    case AccountOperation::kPeekMessages: return Need{kQueues, 'o', "r"};
    case AccountOperation::kPutMessage: return Need{kQueues, 'o', "a"};
    case AccountOperation::kGetMessages:
    case AccountOperation::kRemoveMessage: return Need{kQueues, 'o', "p"};
    case AccountOperation::kUpdateMessage: return Need{kQueues, 'o', "u"};
    case AccountOperation::kClearMessages: return Need{kQueues, 'o', "d"};
    case AccountOperation::kListContainers: return Need{kBlobs, 's', "l"};
    case AccountOperation::kCreateContainer: return Need{kBlobs, 'c', "cw"};
    case AccountOperation::kDropContainer: return Need{kBlobs, 'c', "d"};
    case AccountOperation::kReadContainer: return Need{kBlobs, 'c', "r"};
    case AccountOperation::kWriteContainerMetadata:
    case AccountOperation::kLeaseContainer: return Need{kBlobs, 'c', "w"};
    case AccountOperation::kBreakContainerLease: return Need{kBlobs, 'c', "wd"};
    case AccountOperation::kListBlobs: return Need{kBlobs, 'c', "l"};
    case AccountOperation::kReadBlob: return Need{kBlobs, 'o', "r"};
    case AccountOperation::kCreateBlob:
    case AccountOperation::kPutBlock: return Need{kBlobs, 'o', "cw"};
    case AccountOperation::kAppendBlock: return Need{kBlobs, 'o', "aw"};
    case AccountOperation::kReplaceBlob:
    case AccountOperation::kChangeBlob: return Need{kBlobs, 'o', "w"};
    case AccountOperation::kRemoveBlob: return Need{kBlobs, 'o', "d"};
    case AccountOperation::kReadBlobTags:
    case AccountOperation::kWriteBlobTags: return Need{kBlobs, 'o', "t"};
    case AccountOperation::kReadAccountInformation:
    case AccountOperation::kSendBlobBatch: return Need{kBlobs, kAnyType, "rwdlacupt"};
    case AccountOperation::kReadAccessPolicies:
    case AccountOperation::kWriteAccessPolicies: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Result<AccountSas> parse_account_sas(std::string_view query) {
  return guarded([&]() -> Result<AccountSas> {
    const Result<QueryFields> fields = QueryFields::parse(
        query,
        {"sv", "ss", "srt", "sp", "st", "se", "sip", "spr", "ses", "sig", "tn", "si", "spk", "srk", "epk", "erk"});
    if (!fields.ok()) return fields.status();
    const QueryFields& in = *fields;
    for (const std::string_view foreign : {"tn", "si", "spk", "srk", "epk", "erk"}) {
      if (in.has(foreign)) return authentication_failed("an account SAS must not have tn, si, spk, srk, epk or erk");
    }
    AccountSas sas{in["sv"], in["ss"],  in["srt"], in["sp"],  in["st"],
                   in["se"], in["sip"], in["spr"], in["ses"], in["sig"]};
    if (Status versioned = check_version(sas.sv, kOldestAccountVersion); !versioned.ok()) return versioned;
    if (sas.se.empty() || sas.sig.empty()) return authentication_failed("an account SAS needs se and sig");
    return sas;
  });
}

std::string to_query(const AccountSas& sas) {
  std::string query;
  append_field(query, "sv", sas.sv);
  append_field(query, "ss", sas.ss);
  append_field(query, "srt", sas.srt);
  append_field(query, "sp", sas.sp);
  append_field(query, "st", sas.st);
  append_field(query, "se", sas.se);
  append_field(query, "sip", sas.sip);
  append_field(query, "spr", sas.spr);
  append_field(query, "ses", sas.ses);
  append_field(query, "sig", sas.sig);
  return query;
}

std::string string_to_sign(const AccountSas& sas, std::string_view account) {
  std::string text;
  for (const std::string_view field :
       {account, std::string_view(sas.sp), std::string_view(sas.ss), std::string_view(sas.srt),
        std::string_view(sas.st), std::string_view(sas.se), std::string_view(sas.sip), std::string_view(sas.spr),
        std::string_view(sas.sv)}) {
    text.append(field).append(1, '\n');
  }
  if (sas.sv >= kEncryptionScopeVersion) text.append(sas.ses).append(1, '\n');
  return text;
}

Result<AccountSas> sign_account_sas(const AccountSasTerms& terms, const AccountCredentials& account, KeyChoice choice) {
  return guarded([&]() -> Result<AccountSas> {
    AccountSas sas = fields_of(terms);
    Result<std::string> signature = account.keys.sign(string_to_sign(sas, account.name), choice);
    if (!signature.ok()) return signature.status();
    sas.sig = *std::move(signature);
    if (!says(sas, terms)) return service_error::invalid_input("an account SAS cannot express these terms");
    return sas;
  });
}

Result<AccountSasTerms> verify_account_sas(const AccountSas& sas, const AccountCredentials& account,
                                           StorageService service) {
  return guarded([&]() -> Result<AccountSasTerms> {
    if (!account.keys.verify(string_to_sign(sas, account.name), sas.sig)) {
      return authentication_failed("the signature does not match this token");
    }
    Result<AccountSasTerms> terms = terms_of(sas);
    if (!terms.ok()) return terms;
    if (Status meant = check_service(*terms, service); !meant.ok()) return meant;
    if (service == StorageService::kBlobs && !sas.ses.empty()) {
      return service_error::not_implemented("encryption scopes are not supported (ses)");  // BZ-01
    }
    return terms;
  });
}

Status check_operation(const AccountSasTerms& terms, AccountOperation operation) {
  const std::optional<Need> need = need_of(operation);
  if (!need)
    return service_error::authorization_failure(
        "access policies and indexes can only be read and changed with the account key");
  if (need->service) {
    if (Status meant = check_service(terms, *need->service); !meant.ok()) return meant;
  }
  if (need->resource_type != kAnyType && !has(terms.resource_types, need->resource_type)) {
    return resource_type_mismatch("the resource types of the token (srt) do not include this resource");
  }
  if (terms.permissions.find_first_of(need->permissions) != std::string::npos) return Status();
  return service_error::permission_mismatch("the permissions of the token (sp) do not include this operation");
}

Result<Permissions> entity_permissions(const AccountSasTerms& terms) {
  if (Status meant = check_service(terms, StorageService::kTables); !meant.ok()) return meant;
  if (!has(terms.resource_types, 'o'))
    return resource_type_mismatch("the resource types of the token (srt) must include entities (o)");
  std::string letters;
  for (const char letter : {'r', 'a', 'u', 'd'}) {
    if (has(terms.permissions, letter)) letters.push_back(letter);
  }
  return Permissions::parse(letters);
}

}  // namespace varve::security
