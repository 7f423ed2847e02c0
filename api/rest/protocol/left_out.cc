#include "api/rest/protocol/left_out.h"

#include <string>

#include "api/model/service_error.h"
#include "api/rest/protocol/word_list.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

struct LeftOut {
  /// The value of `comp`, or the beginning of a header's name, in lower case.
  std::string_view mark;
  std::string_view feature;
};

constexpr LeftOut kParts[] = {{"page", "page blobs are"},
                              {"pagelist", "page blobs are"},
                              {"incrementalcopy", "incremental copies of page blobs are"},
                              {"undelete", "soft delete is"},
                              {"immutabilitypolicies", "immutability policies are"},
                              {"legalhold", "legal holds are"},
                              {"query", "queries of the content of blobs are"},
                              {"blobs", "searches of blobs by tags are"},
                              {"userdelegationkey", "user delegation keys are"},
                              {"rename", "renaming containers is"},
                              {"snapshot", "snapshots of blobs are"},
                              {"seal", "sealing append blobs is"}};

constexpr LeftOut kHeaders[] = {{"x-ms-immutability-policy-", "immutability policies are"},
                                {"x-ms-legal-hold", "legal holds are"},
                                {"x-ms-encryption-key", "keys of customers are"},
                                {"x-ms-encryption-algorithm", "keys of customers are"},
                                {"x-ms-encryption-scope", "encryption scopes are"},
                                {"x-ms-default-encryption-scope", "encryption scopes are"},
                                {"x-ms-deny-encryption-scope-override", "encryption scopes are"},
                                {"x-ms-source-encryption-", "keys of customers are"},
                                {"x-ms-if-tags", "conditions on tags are"},
                                {"x-ms-source-if-tags", "conditions on tags are"},
                                {"x-ms-structured-body", "structured bodies are"},
                                {"x-ms-blob-sequence-number", "page blobs are"},
                                {"x-ms-sequence-number-action", "page blobs are"},
                                {"x-ms-blob-content-length", "page blobs are"}};

Status left_out(std::string_view feature) {
  return service_error::not_implemented(std::string(feature) + " not supported");
}

Status check_parameters(const QueryParameters& parameters) {
  if (const std::string* const comp = parameters.find("comp")) {
    const std::string lower = lower_case(*comp);
    for (const LeftOut& part : kParts) {
      if (lower == part.mark) return left_out(part.feature);
    }
  }
  if (parameters.find("versionid") != nullptr) return left_out("versions of blobs are");
  if (parameters.find("resource") != nullptr) return left_out("a hierarchical namespace is");
  const std::string* const include = parameters.find("include");
  if (include != nullptr && has_word(*include, "versions")) return left_out("versions of blobs are");
  return Status();
}

}  // namespace

Status check_left_out(const Headers& headers, const QueryParameters& parameters) {
  if (Status checked = check_parameters(parameters); !checked.ok()) return checked;
  for (const auto& [name, value] : headers) {
    const std::string lower = lower_case(name);
    for (const LeftOut& header : kHeaders) {
      if (lower.starts_with(header.mark)) return left_out(header.feature);
    }
    if (lower == "x-ms-blob-type" && equal_ignoring_case(trimmed(value), "PageBlob")) return left_out("page blobs are");
    if (lower == "x-ms-seal-blob" && !equal_ignoring_case(trimmed(value), "false")) {
      return left_out("sealing append blobs is");
    }
  }
  return Status();
}

}  // namespace varve::serve
