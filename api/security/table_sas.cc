// Owns: the fields of table signatures, their text to sign, and their meaning (table_sas.h).
// Must never: interpret the fields of a signature before it is verified.
#include "varve/security/table_sas.h"

#include <initializer_list>
#include <utility>

#include "api/model/guarded.h"
#include "api/security/error.h"
#include "api/security/query_fields.h"
#include "api/security/service_terms.h"
#include "api/security/token_conditions.h"
#include "varve/names.h"

namespace varve::security {
namespace {

std::optional<KeyBound> bound_of(const std::string& partition_key, const std::string& row_key) {
  if (partition_key.empty()) return std::nullopt;
  return KeyBound{partition_key, row_key.empty() ? std::nullopt : std::optional<std::string>(row_key)};
}

Status check_bounds(const TableSas& sas) {
  if (sas.spk.empty() && !sas.srk.empty()) return authentication_failed("srk needs spk");
  if (sas.epk.empty() && !sas.erk.empty()) return authentication_failed("erk needs epk");
  return Status();
}

/// Returns the meaning of the fields.
Result<TableSasTerms> terms_of(const TableSas& sas) {
  TableSasTerms terms;
  if (Status read = read_shared_terms(sas, Permissions::parse, terms); !read.ok()) return read;
  if (Status bounded = check_bounds(sas); !bounded.ok()) return bounded;
  terms.table = sas.tn;
  terms.interval = KeyInterval{bound_of(sas.spk, sas.srk), bound_of(sas.epk, sas.erk)};
  if (!check_key_interval(terms.interval).ok()) return authentication_failed("spk, srk, epk or erk is not valid UTF-8");
  return terms;
}

TableSas fields_of(const TableSasTerms& terms) {
  TableSas sas;
  write_shared_fields(terms, sas);
  sas.tn = terms.table;
  if (terms.interval.from) {
    sas.spk = terms.interval.from->partition_key;
    sas.srk = terms.interval.from->row_key.value_or("");
  }
  if (terms.interval.to) {
    sas.epk = terms.interval.to->partition_key;
    sas.erk = terms.interval.to->row_key.value_or("");
  }
  return sas;
}

/// Writes a lower bound at the start of a partition as the format does: without a RowKey.
TableSasTerms simplified(TableSasTerms terms) {
  std::optional<KeyBound>& from = terms.interval.from;
  if (from && from->row_key && from->row_key->empty()) from->row_key.reset();
  return terms;
}

/// Returns true if a verifier will read back the same terms.
bool says(const TableSas& sas, const TableSasTerms& terms) {
  const Result<TableSas> read = parse_table_sas(to_query(sas));
  if (!read.ok() || *read != sas) return false;
  const Result<TableSasTerms> meant = terms_of(*read);
  return meant.ok() && *meant == terms;
}

}  // namespace

Result<TableSas> parse_table_sas(std::string_view query) {
  return guarded([&]() -> Result<TableSas> {
    const Result<QueryFields> fields = QueryFields::parse(
        query,
        {"sv", "tn", "sp", "st", "se", "spk", "srk", "epk", "erk", "si", "sip", "spr", "sig", "ss", "srt", "ses"});
    if (!fields.ok()) return fields.status();
    const QueryFields& in = *fields;
    for (const std::string_view foreign : {"ss", "srt", "ses"}) {
      if (in.has(foreign)) return authentication_failed("a table SAS must not have ss, srt or ses");
    }
    TableSas sas{in["sv"],  in["tn"],  in["sp"], in["st"],  in["se"],  in["spk"], in["srk"],
                 in["epk"], in["erk"], in["si"], in["sip"], in["spr"], in["sig"]};
    if (Status versioned = check_version(sas.sv, kOldestServiceVersion); !versioned.ok()) return versioned;
    if (sas.tn.empty() || sas.sig.empty()) return authentication_failed("a table SAS needs tn and sig");
    return sas;
  });
}

std::string to_query(const TableSas& sas) {
  std::string query;
  append_field(query, "sv", sas.sv);
  append_field(query, "tn", sas.tn);
  append_field(query, "sp", sas.sp);
  append_field(query, "st", sas.st);
  append_field(query, "se", sas.se);
  append_field(query, "spk", sas.spk);
  append_field(query, "srk", sas.srk);
  append_field(query, "epk", sas.epk);
  append_field(query, "erk", sas.erk);
  append_field(query, "si", sas.si);
  append_field(query, "sip", sas.sip);
  append_field(query, "spr", sas.spr);
  append_field(query, "sig", sas.sig);
  return query;
}

std::string string_to_sign(const TableSas& sas, std::string_view account) {
  std::string canonical = resource_prefix(sas.sv, "table");
  canonical.append(account).append(1, '/').append(lower_case(sas.tn));
  std::string text;
  const auto add = [&text](std::initializer_list<std::string_view> fields) {
    for (const std::string_view field : fields) text.append(field).append(1, '\n');
  };
  add({sas.sp, sas.st, sas.se, canonical, sas.si});
  if (sas.sv >= kConditionsVersion) add({sas.sip, sas.spr});
  add({sas.sv, sas.spk, sas.srk, sas.epk, sas.erk});
  text.pop_back();  // Line feeds separate the fields, and do not end them.
  return text;
}

Result<TableSas> sign_table_sas(const TableSasTerms& terms, const AccountCredentials& account, KeyChoice choice) {
  return guarded([&]() -> Result<TableSas> {
    if (Status named = check_stored_table_name(terms.table); !named.ok()) return named;
    const TableSasTerms meant = simplified(terms);
    TableSas sas = fields_of(meant);
    if (Status signing = sign_fields(meant, account, choice, string_to_sign(sas, account.name), sas); !signing.ok()) {
      return signing;
    }
    if (!says(sas, meant)) return service_error::invalid_input("a table SAS cannot express these terms");
    return sas;
  });
}

Result<TableSasTerms> verify_table_sas(const TableSas& sas, const AccountCredentials& account) {
  return guarded([&]() -> Result<TableSasTerms> {
    if (!account.keys.verify(string_to_sign(sas, account.name), sas.sig)) {
      return authentication_failed("the signature does not match this token");
    }
    return terms_of(sas);
  });
}

Result<Permissions> permitted_at(const TableSasTerms& terms, std::span<const AccessPolicy> policies, DateTime now) {
  return permitted_under({terms.policy, terms.start, terms.expiry, terms.permissions}, policies, now);
}

}  // namespace varve::security
