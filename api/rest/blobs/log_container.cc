#include "api/rest/blobs/log_container.h"

#include <utility>

#include "api/model/service_error.h"
#include "api/rest/protocol/word_list.h"

namespace varve::serve {

Status check_log_operation(Operation operation) {
  switch (operation) {
    case Operation::kGetContainer:
    case Operation::kGetContainerMetadata:
    case Operation::kGetContainerPolicies:
    case Operation::kListBlobs:
    case Operation::kGetBlob:
    case Operation::kGetBlobState:
    case Operation::kGetBlockList:
    case Operation::kGetBlobMetadata:
    case Operation::kGetBlobTags:
    case Operation::kDeleteBlob:
    case Operation::kGetAccountInformation:
    case Operation::kBlobBatch: return Status();
    default: break;
  }
  return service_error::authorization_failure(
      "the container $logs belongs to the service; clients can only read its blobs, and delete them");
}

bool includes_system(const QueryParameters& parameters) {
  const std::string* const include = parameters.find("include");
  return include != nullptr && has_word(*include, "system");
}

Task<Status> provide_log_container(Store& store, std::string account, HomeThread* home, std::stop_token stop) {
  Task<Status> making = AsyncStore(store).run(
      [&account](Store& present) -> Status {
        const Status found = present.open_container(account, kLogContainer).status();
        if (found.code() != Code::kNotFound) return found;
        const Status made = present.create_container(account, kLogContainer).status();
        return made.code() == Code::kExists ? Status() : made;
      },
      stop);
  const Status made = co_await at_home(home, std::move(making));
  co_return made;
}

}  // namespace varve::serve
