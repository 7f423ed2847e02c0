// Owns: the loop, the socket and the connections of a standby (standby_server.h).
// Must never: keep its address after its end.
#include "tools/serve/standby_server.h"

#include <chrono>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include "tools/serve/endpoints.h"
#include "tools/serve/listener_limits.h"
#include "tools/serve/transport/connection.h"
#include "tools/serve/transport/connection_host.h"
#include "tools/serve/transport/descriptor_plan.h"
#include "tools/serve/transport/listener.h"
#include "tools/serve/transport/loops.h"
#include "tools/serve/watch/monitor.h"
#include "tools/varve/base/descriptor_limit.h"

namespace varve::serve {

namespace asio = boost::asio;

namespace {

using ErrorCode = boost::system::error_code;
using Tcp = asio::ip::tcp;
using TcpListener = Listener<Tcp>;

/// The time that answers get at the end.
constexpr std::chrono::milliseconds kAnswersTime{500};

}  // namespace

struct StandbyServer::State {
  State(const ListenOptions& options, std::uint64_t connections)
      : host(monitor, watch_limits(options.limits, connections)), loops(1) {}

  Monitor monitor;
  ConnectionHost host;
  Loops loops;
  TcpListener listener{loops.first(), [this]() -> asio::io_context& { return loops.next(); },
                       [this](TcpListener::Accepted socket) {
                         ErrorCode error;
                         const Tcp::endpoint remote = socket.remote_endpoint(error);
                         if (error) return;  // the client is gone already
                         serve_plain(std::move(socket), {remote.address().to_string(), remote.port()}, host);
                       }};
};

StandbyServer::StandbyServer(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Result<std::unique_ptr<StandbyServer>> StandbyServer::start(const FurtherAddress& address,
                                                            const ListenOptions& options) {
  const Result<Tcp::endpoint> endpoint = endpoint_of(address.address, address.port);
  if (!endpoint.ok()) return endpoint.status();
  const Result<DescriptorPlan> plan = plan_descriptors(tool::descriptor_limit(), 1);
  if (!plan.ok()) return plan.status();
  try {
    auto state = std::make_unique<State>(options, (*plan).watch);
    if (Status listening = cannot_listen(*endpoint, state->listener.listen(*endpoint, true)); !listening.ok()) {
      return listening;
    }
    State& raw = *state;
    asio::post(raw.loops.first(), [&raw] { raw.listener.accept(); });
    std::unique_ptr<StandbyServer> server(new StandbyServer(std::move(state)));  // It ends the loops from now on.
    if (Status started = raw.loops.start([&raw] { raw.listener.resume(); }); !started.ok()) return started;
    return server;
  } catch (const boost::system::system_error& error) {  // thrown by a loop or a listener, which need descriptors
    return Status(Code::kTooManyFiles, error.what());
  }
}

StandbyServer::~StandbyServer() {
  asio::post(state_->loops.first(), [this] {
    state_->listener.close(0);
    state_->host.end_all_soon();
  });
  if (!state_->host.wait_for_all(kAnswersTime)) state_->host.end_all_now();
  state_->loops.finish();
}

std::uint16_t StandbyServer::port() const noexcept {
  return state_->listener.local().port();
}

}  // namespace varve::serve
