#include "api/rest/blobs/anonymous.h"

#include <utility>

#include "api/rest/protocol/word_list.h"
#include "varve/async.h"

namespace varve::serve {
namespace {

/// Returns whether a parameter is a list with the word.
bool names(const QueryParameters& parameters, std::string_view name, std::string_view word) {
  const std::string* const text = parameters.find(name);
  return text != nullptr && has_word(*text, word);
}

}  // namespace

std::optional<PublicAccess> needed_access(Operation operation, const QueryParameters& parameters) {
  switch (operation) {
    case Operation::kGetBlob:
    case Operation::kGetBlobState:
    case Operation::kGetBlobMetadata: return PublicAccess::kBlobs;
    case Operation::kGetBlockList: {
      const std::string* const type = parameters.find("blocklisttype");
      const bool is_committed = type == nullptr || equal_ignoring_case(*type, "committed");
      return is_committed ? std::optional(PublicAccess::kBlobs) : std::nullopt;
    }
    case Operation::kListBlobs:
      if (names(parameters, "include", "tags") || names(parameters, "include", "uncommittedblobs")) return std::nullopt;
      return PublicAccess::kContainer;
    case Operation::kGetContainer:
    case Operation::kGetContainerMetadata: return PublicAccess::kContainer;
    default: return std::nullopt;
  }
}

Task<Result<AnonymousRules>> read_anonymous_rules(Store& store, std::string account, std::string container,
                                                  HomeThread* home, std::stop_token stop) {
  AnonymousRules rules;
  Task<Status> reading = AsyncStore(store).run(
      [&](Store& present) -> Status {
        const Result<Container> opened = present.open_container(account, container);
        if (opened.code() == Code::kNotFound) return Status();
        if (!opened.ok()) return opened.status();
        const Result<ContainerState> state = opened->container_state();
        if (state.code() == Code::kNotFound) return Status();
        if (!state.ok()) return state.status();
        Result<ServiceProperties> properties = present.service_properties(account, StorageService::kBlobs);
        if (!properties.ok()) return properties.status();
        rules.access = state->public_access;
        rules.default_version = std::move(properties->default_version);
        return Status();
      },
      stop);
  const Status read = co_await at_home(home, std::move(reading));
  if (!read.ok()) co_return read;
  co_return rules;
}

bool names_version(const HttpRequest& request) {
  if (find_header(request.head.headers, "x-ms-version") != nullptr) return true;
  const Result<QueryParameters> parameters = QueryParameters::parse(request.head.query);
  return parameters.ok() && (parameters->find("api-version") != nullptr || parameters->find("sv") != nullptr);
}

}  // namespace varve::serve
