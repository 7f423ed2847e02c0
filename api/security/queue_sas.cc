// Owns: the fields of queue signatures, their text to sign, and their meaning (queue_sas.h).
// Must never: interpret the fields of a signature before it is verified.
#include "varve/security/queue_sas.h"

#include <utility>

#include "api/model/guarded.h"
#include "api/model/service_error.h"
#include "api/security/error.h"
#include "api/security/query_fields.h"
#include "api/security/service_terms.h"
#include "api/security/token_conditions.h"
#include "varve/queue.h"

namespace varve::security {
namespace {

/// Returns the meaning of the fields.
Result<QueueSasTerms> terms_of(const QueueSas& sas, std::string_view queue) {
  QueueSasTerms terms;
  if (Status read = read_shared_terms(sas, Permissions::parse_for_queue, terms); !read.ok()) return read;
  terms.queue = queue;
  return terms;
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
    if (Status versioned = check_version(sas.sv, kOldestServiceVersion); !versioned.ok()) return versioned;
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
  text.append(resource_prefix(sas.sv, "queue")).append(account).append(1, '/').append(queue);
  text.append(1, '\n').append(sas.si).append(1, '\n');
  if (sas.sv >= kConditionsVersion) text.append(sas.sip).append(1, '\n').append(sas.spr).append(1, '\n');
  return text.append(sas.sv);
}

Result<QueueSas> sign_queue_sas(const QueueSasTerms& terms, const AccountCredentials& account, KeyChoice choice) {
  return guarded([&]() -> Result<QueueSas> {
    if (Status named = check_queue_name(terms.queue); !named.ok()) return named;
    QueueSas sas;
    write_shared_fields(terms, sas);
    const std::string text = string_to_sign(sas, account.name, terms.queue);
    if (Status signing = sign_fields(terms, account, choice, text, sas); !signing.ok()) return signing;
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
