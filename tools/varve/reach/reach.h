// Owns: choosing the way to a store: open it in this process, go through the server that has it open, or through the
// server at an address.
// Must never: go around the lock of a store.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tools/varve/reach/opened_store.h"
#include "tools/varve/reach/table_access.h"
#include "varve/rados.h"

namespace varve::tool {

/// Returns the connection that a store with this address on Ceph needs, or null for a directory. Errors: those of
/// RadosConnection::open().
Result<std::shared_ptr<RadosConnection>> cluster_of(const std::string& store);
/// Returns the refusal of a verb that reads or writes the files of a store on this machine, if the store is on Ceph.
Status check_is_directory(const std::string& store, const std::string& remedy);
/// Returns the refusal of a verb that copies the files of a store to a new one, if only one of the two is on Ceph, or if they
/// are in two pools.
Status check_same_kind(const std::string& store, const std::string& target);

/// Opens the store in a directory or on Ceph. If another process has it open, the error names that process and the remedy.
Result<OpenedStore> open_here(const std::string& store, const StoreOptions& options);

/// Opens the present state of the store in a directory. If a server has the store open, this state is a checkpoint that
/// the server makes, and that exists as long as the opened store. Errors: those of open_here() and
/// HeldCheckpoint::make().
Result<OpenedStore> open_state(const std::string& store, const StoreOptions& options);

/// Returns the error of a locked store with the process that has it open, as far as the system shows it.
Status locked_by_holder(const Status& locked, const std::string& store);

/// Sets the file that has the key, signature or connection string for an address. It counts instead of the environment.
void set_key_file(const std::string& file);
/// Sets the PEM file of the authorities that may have signed the certificate of a server.
void set_certificates(const std::string& file);

/// Returns whether the word is an address of a server, and not a directory.
bool is_address(const std::string& store) noexcept;
/// Returns whether two addresses have the same scheme and host. Their ports may differ.
bool have_same_host(std::string_view one, std::string_view other) noexcept;

/// Returns the access through the server that has the store open, or null.
std::unique_ptr<StoreAccess> access_through_server_of(const std::string& store);
/// Returns the access to an account at an address of this service. With another service than that of tables, only the
/// properties of the service can be reached. Errors: those of the address and of its key.
Result<std::unique_ptr<StoreAccess>> access_to_address(const std::string& address, const std::string& account,
                                                       StorageService service = StorageService::kTables);
/// Returns a checkpoint by the server that has the store open: its path and an object that keeps it. Both are empty if
/// there is no such server.
struct ServedCheckpoint {
  std::string path{};
  std::shared_ptr<void> kept{};
};
Result<ServedCheckpoint> checkpoint_by_server_of(const std::string& store);

}  // namespace varve::tool
