// Owns: the door to the objects of one pool of a real cluster, through Ceph's client library.
// Must never: send a change without its epoch and its requirement of presence (S1), or call the library in a fork.
#pragma once

#include <memory>
#include <string_view>

#include "io/rados/object_door.h"
#include "varve/result.h"

namespace varve::io {

/// Connects to the cluster that Ceph's own tools would use, with their user and keyring: CEPH_CONF, CEPH_ARGS, and else
/// /etc/ceph/ceph.conf. Checks that the pool keeps the rules of object_door.h. In a fork of this process, the door answers
/// ENOTCONN. Errors: kUnsupported (no client library, or a pool that breaks the rules), kNotFound (no such pool),
/// kForbidden (the user lacks a right), kInvalidArgument (no configuration), kIoError (no answer).
Result<std::unique_ptr<ObjectDoor>> connect_to_pool(std::string_view pool);

/// Shows both halves of the fence (S1) on an object of this client, in a full pool as well. Errors: kUnsupported (the pool
/// breaks a rule), `lacks` (the user lacks a right), kIoError.
Status check_fence(ObjectDoor& door, std::string_view pool, const Status& lacks);

/// Shows that objects of the pool may have the size of a log segment. The limit is a setting of the OSDs that no client can
/// ask for, so a client makes such an object and removes it, once for a pool. A limit that is lowered later shows as
/// kNoSpace of a commit. Errors: kUnsupported (they may not), kNoSpace, kIoError.
Status check_object_size(ObjectDoor& door, std::string_view pool);

}  // namespace varve::io
