// Owns: what a connection hands its requests to.
// Must never: know a connection, or what a request means.
#pragma once

#include "api/rest/protocol/message.h"
#include "varve/home_thread.h"
#include "varve/result.h"
#include "varve/status.h"
#include "varve/task.h"

namespace varve::serve {

/// Any thread; requests run side by side.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  /// Whether a request whose body has not been read may send it: who asks, judged by the headers. The request outlives
  /// the task. On an error the request goes to handle() without its body, and with the error as its refusal.
  virtual Task<Status> admit(const HttpRequest& request, HomeThread* home) = 0;
  /// The answer, whatever happens. `home` is where it is made, if given. Errors: kOutOfMemory alone: there was none to
  /// make an answer with, and the request may have been carried out.
  virtual Task<Result<HttpResponse>> handle(HttpRequest request, HomeThread* home) = 0;
  /// An answer to what could not be read as a request.
  virtual HttpResponse refuse(const Status& status, const std::string& client_ip) = 0;
  /// Ends requests that wait.
  virtual void stop() noexcept = 0;
};

}  // namespace varve::serve
