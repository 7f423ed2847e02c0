// Owns: the verbs on one container and its blobs, and the list of an account's containers, wherever the store is: in this
// process, at the server that has it open, or at an address.
// Must never: hide where a store is. A failure of the way to a server is an error of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/varve/reach/opened_store.h"
#include "varve/blob.h"
#include "varve/store.h"

namespace varve::tool {

/// A content that is being written, as BlobWriter. If it is destroyed before publish(), nothing of it stays. At an
/// address, staged blocks may stay, which the service removes after a week.
class BlobSink {
 public:
  BlobSink() = default;
  BlobSink(const BlobSink&) = delete;
  BlobSink& operator=(const BlobSink&) = delete;
  virtual ~BlobSink() = default;
  virtual Status append(std::string_view bytes) = 0;
  virtual Result<BlobState> publish() = 0;
};

/// One state of a blob that is read. A server keeps no state between two reads. If the blob changes meanwhile, the next
/// read is kPreconditionFailed (ConditionNotMet).
class BlobSource {
 public:
  BlobSource() = default;
  BlobSource(const BlobSource&) = delete;
  BlobSource& operator=(const BlobSource&) = delete;
  virtual ~BlobSource() = default;
  virtual const BlobState& state() const noexcept = 0;
  /// As BlobReader::read().
  virtual Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) = 0;
};

/// One container, which need not exist yet. The functions have the meaning and the errors of the verbs of varve/blob.h
/// and varve/store.h. Of conditions, only the ETags and the lease are used.
class BlobAccess {
 public:
  virtual ~BlobAccess() = default;
  /// Also creates the account if it does not exist.
  virtual Status create(const ContainerOptions& options) = 0;
  virtual Status drop(const BlobConditions& conditions) = 0;
  virtual Result<ContainerState> container() = 0;
  virtual Result<std::vector<AccessPolicy>> policies() = 0;
  /// Replaces all access policies and the public access of the container.
  virtual Status set_access(const std::vector<AccessPolicy>& policies, PublicAccess public_access,
                            const BlobConditions& conditions) = 0;
  /// Lists containers of the account, whatever the name of this container is.
  virtual Result<ContainerPage> containers(const ListOptions& options) = 0;
  virtual Result<BlobPage> list(const BlobListing& listing) = 0;
  virtual Result<BlobState> state(const std::string& blob) = 0;
  virtual Result<std::unique_ptr<BlobSource>> read(const std::string& blob) = 0;
  /// One sink at a time.
  /// @{
  virtual Result<std::unique_ptr<BlobSink>> write(const std::string& blob, const BlobWriteOptions& options) = 0;
  virtual Result<std::unique_ptr<BlobSink>> stage_block(const std::string& blob, const std::string& id,
                                                        const BlobWriteOptions& options) = 0;
  /// @}
  virtual Result<BlockLists> blocks(const std::string& blob) = 0;
  virtual Result<BlobState> commit_blocks(const std::string& blob, const std::vector<BlockChoice>& blocks,
                                          const BlobWriteOptions& options) = 0;
  virtual Status remove(const std::string& blob, const BlobChangeOptions& options) = 0;
  /// Copies a blob of the container `from` of the same account, with its tags. The conditions are on `blob`.
  virtual Result<BlobState> copy(const std::string& blob, const std::string& from, const std::string& from_blob,
                                 const BlobChangeOptions& options) = 0;
  /// Changes the lease of a blob, or that of the container if the name is empty.
  virtual Result<LeaseAnswer> lease(const std::string& blob, const LeaseRequest& request,
                                    const BlobChangeOptions& options) = 0;
  /// Returns the store if this process has it open. Otherwise null.
  virtual Store* local() noexcept = 0;
  virtual Status close() = 0;
};

/// Returns the access to a container of a store that this process has open.
std::unique_ptr<BlobAccess> container_in(OpenedStore store, std::string account, std::string container);
/// Returns the access through the server that has the store in this directory open, or null.
std::unique_ptr<BlobAccess> container_through_server_of(const std::string& store, std::string account,
                                                        std::string container);
/// Returns the access to a container of the blob service at an address. Errors: those of the address and of its key.
Result<std::unique_ptr<BlobAccess>> container_at_address(const std::string& address, const std::string& account,
                                                         std::string container);

}  // namespace varve::tool
