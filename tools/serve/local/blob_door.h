// Owns: the requests of operators on containers and blobs: one route, whose parameters name the verb and the blob.
// Must never: hold more of a content in memory than one request or one answer has, or publish an incomplete content.
#pragma once

#include <cstddef>
#include <stop_token>

#include "api/rest/protocol/message.h"
#include "varve/async.h"
#include "varve/home_thread.h"

namespace varve::serve {

/// The most bytes of a content that one request adds, or that one answer has.
inline constexpr std::size_t kBlobPieceBytes = std::size_t{1} << 20;

/// Carries out `POST /_varve/blobs?verb=VERB&account=ACCOUNT&container=CONTAINER&blob=BLOB&...`. Bodies and answers are
/// fields (blob_fields.h), unless it is said otherwise. VERB is one of:
///
///   create      public (a PublicAccess); the body is the metadata. The account is created if it does not exist
///   drop        lease
///   container   returns the state of the container
///   policies    the answer is the XML of the container's access policies
///   access      public (a PublicAccess), lease; the body is the XML of all access policies
///   containers  prefix, continuation, names (of a page); `container` has no meaning
///   list        prefix, delimiter, continuation, names (of a page), uncommitted ("1")
///   state
///   read        offset, bytes, etag; the answer is the content's bytes. A blob with another ETag is ConditionNotMet
///   begin       begins a content; the body is the options. With block ("1"), id is that of a block to stage
///   append      the body is the next bytes of the content that this connection began
///   publish     ends that content: it is the blob's, or the block is staged
///   blocks
///   commit      the body is the blocks and the options
///   remove      if_match, lease
///   lease       if_match; the body is the request. Without a blob, it is for the lease of the container, and `lease`
///               counts
///   copy        from_container, from_blob; the body is the options, of which conditions and durability count
///
/// A content that was begun belongs to the connection. If the connection ends, the content is removed. Errors: those of
/// the verbs of varve/blob.h and varve/store.h; kInvalidArgument (InvalidQueryParameterValue: a parameter is malformed,
/// or there is no such verb; InvalidInput: the fields are malformed, or the connection began no content).
Task<Result<HttpResponse>> answer_blob_request(Store& store, const HttpRequest& request, HomeThread* home,
                                               std::stop_token stop);

}  // namespace varve::serve
