#include "api/rest/protocol/wire_error.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace varve::serve {
namespace {

using CodeStatus = std::pair<std::string_view, std::uint16_t>;

/// The errors of tables, queues and blobs, sorted by code. A code that is not listed means 400.
constexpr std::array kStatuses = std::to_array<CodeStatus>({
    {"AppendPositionConditionNotMet", 412},
    {"AtomFormatNotSupported", 415},
    {"AuthenticationFailed", 403},
    {"AuthorizationFailure", 403},
    {"AuthorizationPermissionMismatch", 403},
    {"AuthorizationProtocolMismatch", 403},
    {"AuthorizationResourceTypeMismatch", 403},
    {"AuthorizationServiceMismatch", 403},
    {"AuthorizationSourceIPMismatch", 403},
    {"BlobAlreadyExists", 409},
    {"BlobArchived", 409},
    {"BlobNotFound", 404},
    {"BlockCountExceedsLimit", 409},
    {"CannotVerifyCopySource", 403},
    {"ConditionNotMet", 412},
    {"ContainerAlreadyExists", 409},
    {"ContainerBeingDeleted", 409},
    {"ContainerNotFound", 404},
    {"CorsPreflightFailure", 403},
    {"EntityAlreadyExists", 409},
    {"IndexValueAlreadyExists", 409},
    {"InsufficientAccountPermissions", 403},
    {"InternalError", 500},
    {"InvalidBlobType", 409},
    {"InvalidRange", 416},
    {"JsonFormatNotSupported", 415},
    {"JsonVerboseFormatNotSupported", 415},
    {"LargeValueNotFound", 404},
    {"LeaseAlreadyPresent", 409},
    {"LeaseIdMismatchWithBlobOperation", 412},
    {"LeaseIdMismatchWithContainerOperation", 412},
    {"LeaseIdMismatchWithLeaseOperation", 409},
    {"LeaseIdMissing", 412},
    {"LeaseIsBreakingAndCannotBeAcquired", 409},
    {"LeaseIsBreakingAndCannotBeChanged", 409},
    {"LeaseIsBrokenAndCannotBeRenewed", 409},
    {"LeaseLost", 412},
    {"LeaseNotPresentWithBlobOperation", 412},
    {"LeaseNotPresentWithContainerOperation", 412},
    {"LeaseNotPresentWithLeaseOperation", 409},
    {"MaxBlobSizeConditionNotMet", 412},
    {"MediaTypeNotSupported", 415},
    {"MessageNotFound", 404},
    {"MethodNotAllowed", 405},
    {"MissingContentLengthHeader", 411},
    {"NoAuthenticationInformation", 401},
    {"NoPendingCopyOperation", 409},
    {"NotImplemented", 501},
    {"OperationTimedOut", 500},
    {"PublicAccessNotPermitted", 409},
    {"QueueAlreadyExists", 409},
    {"QueueBeingDeleted", 409},
    {"QueueNotFound", 404},
    {"RequestBodyTooLarge", 413},
    {"RequestTimedOut", 408},
    {"ResourceAlreadyExists", 409},
    {"ResourceNotFound", 404},
    {"ServerBusy", 503},
    {"SourceConditionNotMet", 412},
    {"TableAlreadyExists", 409},
    {"TableBeingDeleted", 409},
    {"TableNotFound", 404},
    {"UnsupportedHttpVerb", 405},
    {"UpdateConditionNotSatisfied", 412},
});
static_assert(std::is_sorted(kStatuses.begin(), kStatuses.end()));

std::uint16_t http_status_of(std::string_view code) noexcept {
  const auto* const found =
      std::lower_bound(kStatuses.begin(), kStatuses.end(), code,
                       [](const CodeStatus& known, std::string_view key) { return known.first < key; });
  return found != kStatuses.end() && found->first == code ? found->second : std::uint16_t{400};
}

/// Returns the error string for a status that carries none. The string depends on whether a repetition can help. Every
/// error about a request carries a string of its own. A status without a string thus comes from the engine or the
/// machine, and the request did not cause it. This holds even if the model answers with the same code elsewhere.
std::string_view code_of(Code code) noexcept {
  switch (code) {
    case Code::kBusy:
    case Code::kConflict:
    case Code::kNoSpace:
    case Code::kOutOfMemory:
    case Code::kTooManyFiles:
    case Code::kClosed: return "ServerBusy";
    case Code::kCancelled: return "OperationTimedOut";
    default: return "InternalError";
  }
}

std::string message_of(const Status& status, std::string_view code) {
  // All authentication failures share one text, so that a client cannot distinguish accounts, keys, tokens and
  // policies.
  if (code == "AuthenticationFailed") return "The request could not be authenticated.";
  if (code == "InternalError") return "The server could not carry out the request.";
  if (code == "OperationTimedOut") return "The operation was not carried out within its time.";
  if (code == "ServerBusy") return "The server is busy; repeat the request later.";
  if (status.message().empty()) return "The request was refused.";
  return std::string(status.message());
}

}  // namespace

WireError wire_error(const Status& status) {
  WireError error;
  error.code = status.service_error().empty() ? code_of(status.code()) : status.service_error();
  error.status = http_status_of(error.code);
  if (status.operation_index()) error.message = std::to_string(*status.operation_index()) + ":";
  error.message += message_of(status, error.code);
  return error;
}

}  // namespace varve::serve
