// Owns: what needs the libraries of the server, in builds without the server: there is no way to a store through a
// server, and there are no backups.
// Must never: be compiled in a build with the server.
#include "tools/varve/backup/backup_verbs.h"
#include "tools/varve/reach/blob_access.h"
#include "tools/varve/reach/queue_access.h"
#include "tools/varve/reach/reach.h"
#include "tools/varve/reach/value_access.h"
#include "tools/varve/terminal/outcome.h"

namespace varve::tool {

std::unique_ptr<StoreAccess> access_through_server_of(const std::string& /*store*/) {
  return nullptr;
}

Result<std::unique_ptr<StoreAccess>> access_to_address(const std::string& /*address*/, const std::string& /*account*/,
                                                       StorageService /*service*/) {
  return Status::invalid_argument(
      "this program was built without the server's libraries; give the directory of a store");
}

Result<ServedCheckpoint> checkpoint_by_server_of(const std::string& /*store*/) {
  return ServedCheckpoint();
}

std::unique_ptr<QueueAccess> queue_through_server_of(const std::string& /*store*/, std::string /*account*/,
                                                     std::string /*queue*/) {
  return nullptr;
}

Result<std::unique_ptr<QueueAccess>> queue_at_address(const std::string& address, const std::string& account,
                                                      std::string /*queue*/) {
  return access_to_address(address, account).status();
}

std::unique_ptr<BlobAccess> container_through_server_of(const std::string& /*store*/, std::string /*account*/,
                                                        std::string /*container*/) {
  return nullptr;
}

Result<std::unique_ptr<BlobAccess>> container_at_address(const std::string& address, const std::string& account,
                                                         std::string /*container*/) {
  return access_to_address(address, account).status();
}

std::unique_ptr<ValueAccess> values_through_server_of(const std::string& /*store*/, std::string /*account*/,
                                                      std::string /*table*/) {
  return nullptr;
}

void set_key_file(const std::string& /*file*/) {}
void set_certificates(const std::string& /*file*/) {}

bool has_backups(const std::string& /*directory*/) {
  return false;
}

int verify_backups(const std::string& /*directory*/, bool /*as_json*/) {
  return fail(kUsage, "this program was built without the server's libraries, which backups need");
}

}  // namespace varve::tool
