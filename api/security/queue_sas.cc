// Owns: the fields of queue signatures, their text to sign, and their meaning (queue_sas.h).
// Must never: interpret the fields of a signature before it is verified.
#include "varve/security/queue_sas.h"

#include <utility>

#include "api/model/guarded.h"
#include "api/model/service_error.h"
#include "api/security/error.h"
#include "api/security/query_fields.h"
#include "api/security/token_conditions.h"
#include "varve/queue.h"

namespace varve::security {
namespace {

constexpr std::string_view kOldestQueueVersion = "2012-02-12";
constexpr std::string_view kQueueServiceVersion = "2015-02-21";     // names the service in the signed resource
constexpr std::string_view kQueueConditionsVersion = "2015-04-05";  // addresses and protocols

/// Returns the meaning of the fields.
Result<QueueSasTerms> terms_of(const QueueSas& sas, std::string_view queue) {
  if (Status versioned = check_version(sas.sv, kOldestQueueVersion); !versioned.ok()) return versioned;
  if (sas.sv < kQueueConditionsVersion && !(sas.sip.empty() && sas.spr.empty())) {
    return authentication_failed("the version of the token (sv) does not allow sip and spr");
  }
  const Result<std::optional<DateTime>> start = parse_time(sas.st);
  if (!start.ok()) return start.status();
  const Result<std::optional<DateTime>> expiry = parse_time(sas.se);
  if (!expiry.ok()) return expiry.status();
  const Result<Permissions> permissions = Permissions::parse_for_queue(sas.sp);
  if (!permissions.ok()) return authentication_failed(permissions.status().message());
  const Result<bool> https_only = parse_protocols(sas.spr);
  if (!https_only.ok()) return https_only.status();
  if (Status placed = check_addresses(sas.sip); !placed.ok()) return placed;

  QueueSasTerms terms;
  terms.version = sas.sv;
  terms.queue = queue;
  if (!permissions->empty()) terms.permissions = *permissions;
  terms.start = *start;
  terms.expiry = *expiry;
  terms.policy = sas.si;
  terms.addresses = sas.sip;
  terms.https_only = *https_only;
  return terms;
}

QueueSas fields_of(const QueueSasTerms& terms) {
  QueueSas sas;
  sas.sv = terms.version;
  if (terms.permissions) sas.sp = terms.permissions->to_string();
  if (terms.start) sas.st = terms.start->to_string();
  if (terms.expiry) sas.se = terms.expiry->to_string();
  sas.si = terms.policy;
  sas.sip = terms.addresses;
  if (terms.https_only) sas.spr = "https";
  return sas;
}

/// Returns true if a verifier will read back the same terms.
bool says(const QueueSas& sas, const QueueSasTerms& terms) {
  const Result<QueueSas> read = parse_queue_sas(to_query(sas));
  if (!read.ok() || *read != sas) return false;
  const Result<QueueSasTerms> meant = terms_of(*read, terms.queue);
  return meant.ok() && *meant == terms;
}

}  // namespace

Result<QueueSas> parse_queue_sas(std::string_view query) {
  return guarded([&]() -> Result<QueueSas> {
    const Result<QueryFields> fields =
        QueryFields::parse(query, {"sv", "sp", "st", "se", "si", "sip", "spr", "sig", "ss", "srt", "tn"});
    if (!fields.ok()) return fields.status();
    const QueryFields& in = *fields;
    for (const std::string_view foreign : {"ss", "srt", "tn"}) {
      if (in.has(foreign)) return authentication_failed("a queue SAS must not have ss, srt or tn");
    }
    QueueSas sas{in["sv"], in["sp"], in["st"], in["se"], in["si"], in["sip"], in["spr"], in["sig"]};
    if (Status versioned = check_version(sas.sv, kOldestQueueVersion); !versioned.ok()) return versioned;
    if (sas.sig.empty()) return authentication_failed("a queue SAS needs sig");
    return sas;
  });
}

std::string to_query(const QueueSas& sas) {
  std::string query;
  append_field(query, "sv", sas.sv);
  append_field(query, "sp", sas.sp);
  append_field(query, "st", sas.st);
  append_field(query, "se", sas.se);
  append_field(query, "si", sas.si);
  append_field(query, "sip", sas.sip);
  append_field(query, "spr", sas.spr);
  append_field(query, "sig", sas.sig);
  return query;
}

std::string string_to_sign(const QueueSas& sas, std::string_view account, std::string_view queue) {
  std::string text;
  for (const std::string_view field : {std::string_view(sas.sp), std::string_view(sas.st), std::string_view(sas.se)}) {
    text.append(field).append(1, '\n');
  }
  text.append(sas.sv >= kQueueServiceVersion ? "/queue/" : "/").append(account).append(1, '/').append(queue);
  text.append(1, '\n').append(sas.si).append(1, '\n');
  if (sas.sv >= kQueueConditionsVersion) text.append(sas.sip).append(1, '\n').append(sas.spr).append(1, '\n');
  return text.append(sas.sv);
}

Result<QueueSas> sign_queue_sas(const QueueSasTerms& terms, const AccountCredentials& account, KeyChoice choice) {
  return guarded([&]() -> Result<QueueSas> {
    if (Status named = check_queue_name(terms.queue); !named.ok()) return named;
    if (terms.policy.empty() && !(terms.permissions && terms.expiry)) {
      return service_error::invalid_input("a queue SAS without a policy needs permissions and an expiry");
    }
    QueueSas sas = fields_of(terms);
    Result<std::string> signature = account.keys.sign(string_to_sign(sas, account.name, terms.queue), choice);
    if (!signature.ok()) return signature.status();
    sas.sig = *std::move(signature);
    if (!says(sas, terms)) return service_error::invalid_input("a queue SAS cannot express these terms");
    return sas;
  });
}

Result<QueueSasTerms> verify_queue_sas(const QueueSas& sas, const AccountCredentials& account, std::string_view queue) {
  return guarded([&]() -> Result<QueueSasTerms> {
    if (!account.keys.verify(string_to_sign(sas, account.name, queue), sas.sig)) {
      return authentication_failed("the signature does not match this token");
    }
    return terms_of(sas, queue);
  });
}

Result<Permissions> permitted_at(const QueueSasTerms& terms, std::span<const AccessPolicy> policies, DateTime now) {
  return permitted_under({terms.policy, terms.start, terms.expiry, terms.permissions}, policies, now);
}

}  // namespace varve::security
