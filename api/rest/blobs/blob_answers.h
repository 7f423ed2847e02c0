// Owns: the parts that many answers about blobs and containers have.
// Must never: read a store.
#pragma once

#include <string_view>

#include "api/rest/blobs/blob_call.h"
#include "api/rest/protocol/message.h"
#include "varve/blob.h"

namespace varve::serve {

/// Adds ETag and Last-Modified. Source: BH-02.
void add_version(HttpResponse& response, const ETag& etag, DateTime modified);
/// Returns the answer of a write: version, and whether the server encrypts. Source: BH-04.
HttpResponse written_response(std::uint16_t status, const ETag& etag, DateTime modified);
/// Adds the headers that reads of a blob have beside its length and its range. Source: BG-02, BY-03.
void add_blob_state(HttpResponse& response, const BlobState& blob, const BlobCall& call);

/// Returns the refusal of a read whose conditions are not met, or nothing if they are met. A read that is not modified is
/// answered 304. Source: BC-01, BC-02.
std::optional<Result<HttpResponse>> judged_answer(const BlobConditions& conditions, const ETag& etag,
                                                  DateTime modified);

/// Returns the answer of a change of a lease, without a version. Source: BE-01.
HttpResponse lease_response(const LeaseRequest& request, const LeaseAnswer& answer);

/// Returns the conditions that only the store can judge for a read: the lease.
BlobConditions lease_alone(const BlobConditions& conditions);

/// Replaces a condition of the request if the caller may only create: the put must then meet no blob, whatever the caller
/// asks for. The store judges that with the change. Source: BS-13.
void guard_present_blob(const BlobCall& call, BlobConditions& conditions);

}  // namespace varve::serve
