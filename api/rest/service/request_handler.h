// Owns: the interface to which a connection passes its requests.
// Must never: know a connection, or the meaning of a request.
#pragma once

#include "api/rest/protocol/message.h"
#include "varve/home_thread.h"
#include "varve/result.h"
#include "varve/status.h"
#include "varve/task.h"

namespace varve::serve {

/// Can be used by any thread. Requests run concurrently.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  /// Authenticates a request by its headers, before its body is read. The request must outlive the task. After an error
  /// the connection passes the request to handle() without its body, with the error as its refusal.
  virtual Task<Status> admit(const HttpRequest& request, HomeThread* home) = 0;
  /// Returns whether handle() reads the body of this request piece by piece, by HttpRequest::source. Asked only if the
  /// connection's limits allow it, and if the body did not arrive with the head. Such a request is not admitted first:
  /// handle() authenticates it before it reads.
  virtual bool reads_pieces(const HttpRequest& /*request*/) const { return false; }
  /// Returns the answer for every outcome of the request. `home` is the thread that builds the answer, if given.
  /// Errors: only kOutOfMemory: there was no memory for an answer, and the request may have been carried out.
  virtual Task<Result<HttpResponse>> handle(HttpRequest request, HomeThread* home) = 0;
  /// Returns the answer to bytes that could not be parsed as a request.
  virtual HttpResponse refuse(const Status& status, const std::string& client_ip) = 0;
  /// Ends waiting requests.
  virtual void stop() noexcept = 0;
};

}  // namespace varve::serve
