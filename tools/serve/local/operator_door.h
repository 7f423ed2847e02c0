// Owns: the requests of operators, who reach the server by the socket in the store's directory: the routes about the
// store as a whole, and passing every other request on as one that needs no signature.
// Must never: be reachable by a client whose user id was not checked, write outside the store's directory, or take a
// path from a client.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "api/rest/service/request_handler.h"
#include "varve/async.h"

namespace varve::serve {

/// Can be used by any thread.
///
///   GET    /_varve/store              the identity of the store, the process and the version of the server
///   POST   /_varve/checkpoint         makes a checkpoint; it exists as long as the connection, or until the next one
///   GET    /_varve/accounts           a page of the names of accounts (?prefix=&continuation=)
///   PUT    /_varve/accounts/NAME      creates an account
///   DELETE /_varve/accounts/NAME      drops an account with all its tables, queues and containers
///   GET    /_varve/properties         the XML of the properties of a service (?account=&service=tables|queues|blobs)
///   PUT    /_varve/properties         changes the properties that the XML of the body has
///   POST   /_varve/queues             carries out a verb on queues (queue_door.h)
///   POST   /_varve/blobs              carries out a verb on containers and blobs (blob_door.h)
///   POST   /_varve/values             carries out a verb on large values (value_door.h)
///   POST   /_varve/tables             carries out a verb on tables that the table service lacks (table_door.h)
class OperatorDoor final : public RequestHandler {
 public:
  /// Called with an account whose service properties may have changed. Any thread may call it.
  using PropertiesChanged = std::function<void(std::string_view account)>;

  /// Store and `others` must outlive the door. `identity` is that of the store (store_identity.h), and checkpoints lie in
  /// `directory`. `others` handles the requests of the table service.
  OperatorDoor(Store& store, std::string identity, std::string directory, RequestHandler& others,
               PropertiesChanged changed)
      : store_(store),
        identity_(std::move(identity)),
        directory_(std::move(directory)),
        others_(others),
        changed_(std::move(changed)) {}

  Task<Status> admit(const HttpRequest& request, HomeThread* home) override;
  Task<Result<HttpResponse>> handle(HttpRequest request, HomeThread* home) override;
  HttpResponse refuse(const Status& status, const std::string& client_ip) override;
  void stop() noexcept override { stop_.request_stop(); }

 private:
  Status check_store(const HttpRequest& request) const;
  Task<Result<HttpResponse>> route(const HttpRequest& request, HomeThread* home);
  Task<Result<HttpResponse>> make_checkpoint(const HttpRequest& request, HomeThread* home);
  Task<Result<HttpResponse>> list_accounts(const HttpRequest& request, HomeThread* home);
  Task<Result<HttpResponse>> change_account(const HttpRequest& request, std::string name, HomeThread* home);
  Task<Result<HttpResponse>> show_properties(const HttpRequest& request, HomeThread* home);
  Task<Result<HttpResponse>> change_properties(const HttpRequest& request, HomeThread* home);
  HttpResponse describe() const;

  Store& store_;
  const std::string identity_;
  const std::string directory_;
  RequestHandler& others_;
  const PropertiesChanged changed_;
  std::atomic<std::uint64_t> checkpoints_{0};
  std::stop_source stop_;
};

}  // namespace varve::serve
