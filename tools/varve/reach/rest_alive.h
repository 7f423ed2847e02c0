// Owns: a connection to a server that stays open while the program waits for its input.
// Must never: send two requests at a time.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "api/rest/protocol/message.h"
#include "tools/varve/reach/wire.h"
#include "varve/result.h"

namespace varve::tool {

/// While the object lives, requests keep the connection of its wire alive, also if the program sends none. Everybody
/// who uses the wire meanwhile sends through the object.
class AliveWire {
 public:
  explicit AliveWire(std::shared_ptr<Wire> wire);
  ~AliveWire();
  AliveWire(const AliveWire&) = delete;
  AliveWire& operator=(const AliveWire&) = delete;

  /// As Wire::send().
  Result<serve::HttpResponse> send(serve::HttpRequest request);

 private:
  void keep_alive();

  const std::shared_ptr<Wire> wire_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ended_ = false;
  bool is_used_ = false;
  std::thread thread_;
};

}  // namespace varve::tool
