// Owns: one connection of this process to a cluster: finding it, the pool's handles, the end.
// Must never: change an object.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/posix/posix_process.h"
#include "io/rados/librados_calls.h"
#include "io/rados/object_door.h"
#include "varve/result.h"

namespace varve::io {

/// The namespace of the pool that has all objects of stores.
inline constexpr const char* kRadosNamespace = "varve";

/// A handle of the pool.
class PoolContext {
 public:
  PoolContext(const LibradosCalls& calls, RadosContext context) noexcept : calls_(calls), context_(context) {}
  ~PoolContext() {
    if (context_ != nullptr) calls_.ioctx_destroy(context_);
  }
  PoolContext(const PoolContext&) = delete;
  PoolContext& operator=(const PoolContext&) = delete;
  RadosContext get() const noexcept { return context_; }
  /// For a fork: the handle stays with the parent.
  void leave_to_parent() noexcept { context_ = nullptr; }

 private:
  const LibradosCalls& calls_;
  RadosContext context_;
};

/// Any thread may use it. It must outlive its contexts.
class LibradosConnection {
 public:
  /// Errors: those of connect_to_pool() but those of the pool's rules.
  static Result<std::unique_ptr<LibradosConnection>> open(std::string_view pool);
  /// Opens it by these functions of the library.
  static Result<std::unique_ptr<LibradosConnection>> open(const LibradosCalls& calls, std::string_view pool);
  /// Only open() calls it.
  LibradosConnection(const LibradosCalls& calls, std::string_view pool) : calls_(calls), pool_(pool) {}
  ~LibradosConnection();
  LibradosConnection(const LibradosConnection&) = delete;
  LibradosConnection& operator=(const LibradosConnection&) = delete;

  const LibradosCalls& calls() const noexcept { return calls_; }
  RadosCluster cluster() const noexcept { return cluster_; }
  const std::string& pool() const noexcept { return pool_; }
  const std::string& user() const noexcept { return user_; }
  /// Returns the address by which others can blocklist this connection.
  const std::string& client() const noexcept { return client_; }
  OwnerProcess owner() const noexcept { return owner_; }
  /// A handle for reading. A change through it would carry no epoch.
  RadosContext reader() const noexcept { return reader_->get(); }

  /// Makes a handle whose changes carry `epoch`. Errors: kIoError with the errno.
  Result<std::shared_ptr<PoolContext>> make_context(std::uint64_t epoch) const;
  /// Asks the monitors. Returns the text of the answer. Errors: kForbidden, kIoError.
  Result<std::string> ask_monitors(const std::string& command) const;
  /// Makes the pool one whose snapshots are made by clients. Snapshots of the whole pool are impossible from then on.
  /// Returns zero or a negative errno.
  int begin_own_snapshots() const noexcept;

 private:
  Status find_cluster();
  Status reach_cluster();
  Result<std::shared_ptr<PoolContext>> make_handle() const;

  const LibradosCalls calls_;
  const std::string pool_;
  const OwnerProcess owner_ = OwnerProcess::current();
  RadosCluster cluster_ = nullptr;
  std::string user_;
  std::string client_;
  std::shared_ptr<PoolContext> reader_;
};

/// Returns the error of a user who lacks a right, with the rights that suffice.
Status lacks_right(std::string_view user, std::string_view pool, std::string_view what);

/// Asks the monitors for the copies that the pool keeps, and for those that acknowledge a change. Errors: kUnsupported (one
/// acknowledges it alone, though there are others), those of ask_monitors().
Status check_copies(const LibradosConnection& connection);

std::unique_ptr<ObjectDoor> make_librados_door(std::unique_ptr<LibradosConnection> connection);

}  // namespace varve::io
