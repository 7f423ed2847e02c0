// Owns: the queues and containers of a store whose disk is full repeatedly, and the model of their content.
// Must never: count a failed change as done.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "varve/store.h"

namespace varve::lab {

/// A queue and a container that stay, and others that are dropped while the disk is full. Functions that return a text
/// return the violation of the law, or nothing.
class FullDiskObjects {
 public:
  /// Repeats a change while there is no room, up to the allowed time.
  using Patience = std::function<Status(const std::function<Status()>& change)>;

  FullDiskObjects(std::string account, std::function<std::uint64_t(std::uint64_t bound)> below, Patience patience)
      : account_(std::move(account)), below_(std::move(below)), patience_(std::move(patience)) {}

  Status make(Store& store);
  /// Makes what the next drop_spare() drops.
  Status make_spare(Store& store);
  /// Puts a message or a blob. Errors: those of the verb.
  Status write_one(Store& store, const std::string& value);

  std::string look_while_full(Store& store);
  std::string drop_spare(Store& store);
  /// Deletes some messages and a blob.
  std::string consume(Store& store);
  std::string compare(const Store& store) const;

 private:
  std::string take_while_full(Store& store);
  std::string compare_blobs(const Store& store) const;

  const std::string account_;
  const std::function<std::uint64_t(std::uint64_t bound)> below_;
  const Patience patience_;
  std::map<std::string, std::string> blobs_;
  std::uint64_t messages_ = 0;
};

}  // namespace varve::lab
