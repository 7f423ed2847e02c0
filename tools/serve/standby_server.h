// Owns: the listener of a process that waits for its store.
// Must never: serve anything of a store.
#pragma once

#include <cstdint>
#include <memory>

#include "tools/serve/server.h"
#include "varve/result.h"

namespace varve::serve {

/// Answers /health and /metrics at the address of the metrics, while the process waits for its store.
class StandbyServer {
 public:
  /// Errors: kInvalidArgument (no IP address), kIoError (the server cannot listen there), kTooManyFiles, kOutOfMemory.
  static Result<std::unique_ptr<StandbyServer>> start(const FurtherAddress& address, const ListenOptions& options);
  /// Ends, and gives the address back.
  ~StandbyServer();
  StandbyServer(const StandbyServer&) = delete;
  StandbyServer& operator=(const StandbyServer&) = delete;

  std::uint16_t port() const noexcept;

 private:
  struct State;
  explicit StandbyServer(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace varve::serve
