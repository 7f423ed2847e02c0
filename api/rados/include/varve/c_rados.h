// SPDX-License-Identifier: Apache-2.0
// Owns: opening a store on a Ceph cluster, for programs in C and for bindings of other languages.
// Must never: be needed for a store on a local disk, or need Ceph where a program is built.
//
// Link varve::ceph; it needs the static library. Ceph's client library, librados.so.2, is loaded by the first call.
//
//   varve_store *store = NULL;
//   varve_store_options options = {.size = sizeof options, .create_if_absent = true};
//   varve_status *failed = varve_rados_store_open(varve_text_of("rados:tables/shop"), NULL, &options, &store);
//
// Every other function of varve/c.h works on this store as on one in a directory. docs/ceph.md says what differs.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "varve/c.h"

// NOLINTBEGIN(modernize-use-using,readability-identifier-naming): names and types are those of C.
#ifdef __cplusplus
extern "C" {
#endif

// -- Stores on Ceph ---------------------------------------------------------------------------------------------------

/// Choices of the connection of a store to its cluster, as varve/rados.h has them. The rules of growth of varve/c.h hold.
typedef struct varve_rados_options {
  size_t size;
  /// True: each read also asks the cluster whether this process still owns the store, so that it rests on no clock.
  bool verified_reads;
  /// A read that waits longer for the cluster returns VARVE_BUSY. Zero waits without end.
  uint64_t read_patience_ms;
  /// A local directory for files that keep bytes which were read more than once, and new ones. After a clean end, the next
  /// process begins with them. Absent: there are no such files.
  varve_text local_cache_directory;
  /// The size of these files: from 4 MiB.
  uint64_t local_cache_bytes;
  /// The open waits this long for the end of an owner that lives, before it returns VARVE_LOCKED: a standby. Zero: half a
  /// second.
  uint64_t owner_wait_ms;
} varve_rados_options;

/// Returns whether the path of a store is an address on Ceph: whether it begins with "rados:".
bool varve_rados_is_address(varve_text path);

/// Opens the store at "rados:POOL/NAME" as varve_store_open() opens one in a directory. The store has a connection of its
/// own, which ends after the last handle made from the store. Waits up to 15 seconds for the cluster, and about two for
/// the lease of an owner that died. Errors: those of varve_store_open(), and
///   VARVE_INVALID_ARGUMENT   the address is malformed, or there is no configuration of Ceph
///   VARVE_UNSUPPORTED        librados.so.2 is missing, or the pool is unfit
///   VARVE_NOT_FOUND          no such pool, or no store
///   VARVE_FORBIDDEN          the user of the cluster lacks a right
///   VARVE_LOCKED             another process owns the store, or this is a forked child
///   VARVE_IO_ERROR           the cluster does not answer
varve_status* varve_rados_store_open(varve_text address, const varve_rados_options* rados,
                                     const varve_store_options* options, varve_store** store);

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-use-using,readability-identifier-naming)
