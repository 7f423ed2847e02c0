// Owns: a checkpoint that the server of a store made for this program.
// Must never: be used after the connection to the server has ended: the server then removes the checkpoint.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tools/varve/reach/wire.h"

namespace varve::tool {

class HeldCheckpoint {
 public:
  /// Asks the server for a checkpoint of its store, which is in the directory `store`. Errors: those of
  /// Store::checkpoint() and Wire::send().
  static Result<std::shared_ptr<HeldCheckpoint>> make(const std::string& store, std::shared_ptr<Wire> wire);
  /// Ends the connection, so the server removes the checkpoint.
  ~HeldCheckpoint();
  HeldCheckpoint(const HeldCheckpoint&) = delete;
  HeldCheckpoint& operator=(const HeldCheckpoint&) = delete;

  /// Returns the directory of the checkpoint, which is a store of its own.
  const std::string& path() const noexcept { return path_; }

 private:
  HeldCheckpoint(std::shared_ptr<Wire> wire, std::string path);
  void keep_alive();

  const std::shared_ptr<Wire> wire_;
  const std::string path_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ended_ = false;
  std::thread thread_;  // the only user of the wire
};

}  // namespace varve::tool
