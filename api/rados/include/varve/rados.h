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

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "varve/options.h"
#include "varve/result.h"

namespace varve {

/// Returns whether the path of a store is an address on Ceph: whether it begins with "rados:".
bool is_rados_address(std::string_view path) noexcept;

/// The operations of one kind that a connection sent to the cluster.
struct RadosOperations {
  std::uint64_t answered = 0;
  /// The time that the answered ones took, together.
  std::chrono::nanoseconds time{0};
  /// The answered ones that took longer than a second.
  std::uint64_t slow = 0;
  /// The operations that wait now.
  std::uint64_t waiting = 0;
  /// How long the oldest of them has waited, and the name of its object; empty if none waits.
  std::chrono::nanoseconds longest_wait{0};
  std::string longest_object;
};

/// The answered operations of one kind on one class of objects, among those of RadosFigures::reads and changes. Their time is
/// that of the cluster and of the network, without Varve's own. Of an object of a new file that is sent ahead, it is the time
/// for which the file waited at its end.
struct RadosLatency {
  /// "log": segments of the log. "file": table files, manifests and CURRENT. "root": the store's directory. "lease": the
  /// lease of this process and those of other owners.
  std::string objects;
  /// "read" or "change".
  std::string kind;
  std::uint64_t answered = 0;
  /// The time that these took, together.
  std::chrono::nanoseconds time{0};
  /// Those of them that took longer than a second.
  std::uint64_t slow = 0;
};

/// What the monitors of the cluster say of the pool.
struct RadosPool {
  /// True if the pool refuses new objects. Commits are then refused with kNoSpace as soon as the log needs a new one.
  bool is_full = false;
  bool is_nearly_full = false;
  /// The copies that serve the object which waits longest, or the lease, and the number below which operations wait.
  std::uint64_t copies = 0;
  std::uint64_t copies_min = 0;
};

/// The local cache of a connection. Counters start at zero with the cache.
struct RadosLocalCache {
  std::uint64_t size_bytes = 0;
  /// Reads of files that were answered from the cache, and others that it might have answered.
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  /// Bytes that were written into the cache: those that were read again, and those of new files.
  std::uint64_t taken_bytes = 0;
  /// Entries that the local disk had damaged, or had not written. They were read from the cluster instead. A damaged index
  /// counts as one.
  std::uint64_t damaged = 0;
  /// Segments of 1 MiB that the local disk did not take.
  std::uint64_t failed_segments = 0;
  /// Entries that the former connection left, which this one began with.
  std::uint64_t found_entries = 0;
  /// True if the next connection can begin with the entries of this one.
  bool is_kept = false;
  /// The part of `taken_bytes` that is of new files.
  std::uint64_t fresh_bytes = 0;
};

/// The figures of a connection and of all stores opened with it. Counters start at zero with the connection. Two figures
/// may be from slightly different moments.
struct RadosFigures {
  /// This process, as the roots of its stores name it, and its address, as the cluster's blocklist names it.
  std::string process;
  std::string client;
  /// The names of the stores that the connection owns, with their epochs.
  std::map<std::string, std::uint64_t> owned;
  /// Stores that were taken.
  std::uint64_t ownerships = 0;
  /// The ones of these that were taken from an owner that had not let go: it had died or hung.
  std::uint64_t takeovers = 0;
  /// How often a handle of a store noticed that another owner had taken the store over.
  std::uint64_t fences = 0;
  /// True if another process has ended the lease of this one, after which no store opens with this connection.
  bool is_fenced = false;
  /// The time since the last renewal of the lease was sent. Absent before the first store is opened.
  std::optional<std::chrono::nanoseconds> lease_age;
  /// While `lease_age` is below this, reads and buffered writes are answered.
  std::chrono::nanoseconds lease_time{0};
  /// How often the lease was older than that, until a renewal succeeded.
  std::uint64_t lease_lapses = 0;
  RadosOperations reads;
  RadosOperations changes;
  /// Reads that were given up; see RadosConnection::set_read_patience().
  std::uint64_t reads_given_up = 0;
  /// Changes that the pool refused because it was full.
  std::uint64_t changes_refused_full = 0;
  /// Absent if the monitors have not answered yet, or did not answer the last time.
  std::optional<RadosPool> pool;
  /// Absent without a local cache.
  std::optional<RadosLocalCache> local_cache;
  /// Each class of objects with each kind, in the same order each time.
  std::vector<RadosLatency> latencies;
};

/// Choices of a connection, for all stores that are opened with it.
struct RadosConnectionOptions {
  /// True: each read also asks the root of the store, after the read came, whether this process still owns it. All reads of
  /// that moment share one question, which takes as long as one small read of the cluster. Without it, freshness of reads
  /// rests on the lease, and so on the rate of this machine's clock: a virtual machine that is paused without its clock
  /// noticing may answer reads from before a takeover. Writes rest on no clock either way. A snapshot is confirmed when it
  /// is taken and again by each read of it.
  bool verified_reads = false;
  /// Store::open() waits this long for the end of an owner that lives, before it returns kLocked: a standby. It then takes
  /// the store over about two seconds after the owner died. Zero, the default: half a second. At most a year.
  std::chrono::milliseconds owner_wait{0};
  /// False: an open takes the store from another owner at once, as if that one had died. The former process loses all stores
  /// of its connection. Its writes are kFenced. It may answer reads from memory for two more seconds, unless they are
  /// verified. So does this process, if a later owner does the same to it. For a program whose caller knows that the owner
  /// is dead, or never reads through it.
  bool takeover_wait = true;
};

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
  static Result<std::unique_ptr<RadosConnection>> open(std::string_view address, const RadosConnectionOptions& options);
  /// Every store that was opened with env(), and every handle made from it, must be gone.
  ~RadosConnection();
  RadosConnection(const RadosConnection&) = delete;
  RadosConnection& operator=(const RadosConnection&) = delete;

  /// The least size of a local cache, in bytes.
  static constexpr std::uint64_t kLocalCacheBytesMin = std::uint64_t{4} << 20;
  /// Bytes of a local cache for each byte of memory that its index takes.
  static constexpr std::uint64_t kLocalCacheBytesForOneOfMemory = 256;
  /// Bytes of a local cache for each byte that new files have there. A cache of less than 32 MiB has no place for them.
  static constexpr std::uint64_t kLocalCacheBytesForOneOfNewFiles = 8;
  /// Keeps bytes that were read from the cluster more than once in a file in this local directory. A second file has the
  /// blocks of new table files that enter the block cache as they are written. They have `size_bytes` together, in steps of
  /// 1 MiB. Threads write them, and never sync them. Damaged bytes, a full disk and a slow one make the cache smaller, and
  /// are no errors. A verification reads the cluster alone.
  /// The files are `varve-cache` and `varve-cache-new`. The destructor of the connection writes an index of each, such as
  /// `varve-cache.index`. The next connection with a cache of this size begins with the entries of this one; after any other
  /// end, it begins empty. While another connection has these files, or if another user may write them, the cache has files
  /// without names, which go with the process.
  /// Call it once, before a store is opened. Errors: kInvalidArgument (the size, or a second call), kOutOfMemory, kNotFound,
  /// kForbidden, kIoError (the directory, or no thread).
  Status set_local_cache(std::string_view directory, std::uint64_t size_bytes);

  /// Returns what StoreOptions::env, VerifyOptions::env and RepairOptions::env take. It lives as long as the connection.
  const io::Env* env() const noexcept;

  /// Returns the figures without waiting for the cluster. The first call starts a thread that asks the monitors about the
  /// pool every five seconds. Errors: kOutOfMemory, kLocked (a fork of the process).
  Result<RadosFigures> figures() const;
  /// From now on, a read of a file that waits longer than this is given up: the verb returns kBusy, and may be repeated. So
  /// one part of a cluster that hangs does not hold up all threads of a program. Zero, the default, waits without end.
  /// Writes always wait: one that was given up might still happen. Set it after the stores are open, since an open does
  /// not go on after a read that was given up.
  void set_read_patience(std::chrono::milliseconds patience) const noexcept;

 private:
  struct Parts;
  explicit RadosConnection(std::unique_ptr<Parts> parts) noexcept;
  std::unique_ptr<Parts> parts_;
};

}  // namespace varve
