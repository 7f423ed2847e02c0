// SPDX-License-Identifier: Apache-2.0
// Owns: the connection to a Ceph cluster, for programs that keep a store in one of its pools.
// Must never: need Ceph where a program is built, or be needed for a store on a local disk.
//
// Link varve::ceph; it needs the static library. Ceph's client library, librados.so.2, is loaded when open() is called.
//
//   auto ceph = varve::RadosConnection::open("rados:tables/shop");
//   if (!ceph.ok()) ...;
//   varve::StoreOptions options;
//   options.env = (*ceph)->env();
//   auto store = varve::Store::open("rados:tables/shop", options);
//
// A store on Ceph has one owner. A second Store::open() returns kLocked while the owner's lease is fresh, and changes
// nothing. After the owner died, an open waits until the lease has lapsed, about two seconds, and takes over. The former
// owner can change nothing from then on: its writes return kFenced. Reading alone needs the ownership too.
#pragma once

#include <memory>
#include <string_view>

#include "varve/options.h"
#include "varve/result.h"

namespace varve {

/// Returns whether the path of a store is an address on Ceph: whether it begins with "rados:".
bool is_rados_address(std::string_view path) noexcept;

/// A connection to one pool, with the machine's clocks and threads. Stores of the pool can share it, and then have one
/// lease. Any thread may use it. A fork of the process cannot: opening a store there returns kLocked.
class RadosConnection {
 public:
  /// Connects to the pool of "rados:POOL/NAME", and checks that the pool is fit for stores. POOL and NAME have 1 to 64
  /// letters, digits, '-', '_' or '.'. The cluster, the user and the keyring are found as Ceph's own tools find them: by
  /// the environment variables CEPH_CONF and CEPH_ARGS, and else by /etc/ceph/ceph.conf. Waits up to 15 seconds for the
  /// cluster.
  /// Errors: kInvalidArgument (the address is malformed, or there is no configuration), kUnsupported (librados.so.2 is
  /// missing, or the pool is unfit), kNotFound (the cluster has no such pool), kForbidden (the user lacks a right),
  /// kIoError (the cluster does not answer), kOutOfMemory. The message or its hint says what to do.
  static Result<std::unique_ptr<RadosConnection>> open(std::string_view address);
  /// Every store that was opened with env(), and every handle made from it, must be gone.
  ~RadosConnection();
  RadosConnection(const RadosConnection&) = delete;
  RadosConnection& operator=(const RadosConnection&) = delete;

  /// Returns what StoreOptions::env, VerifyOptions::env and RepairOptions::env take. It lives as long as the connection.
  const io::Env* env() const noexcept;

 private:
  struct Parts;
  explicit RadosConnection(std::unique_ptr<Parts> parts) noexcept;
  std::unique_ptr<Parts> parts_;
};

}  // namespace varve
