// Owns: the parameters of a request of the program over the local socket.
// Must never: take a malformed parameter for a missing one.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "varve/durability.h"
#include "varve/service_properties.h"
#include "varve/status.h"

namespace varve::serve {

/// Returns "tables", "queues" or "blobs".
std::string_view name_of_service(StorageService service) noexcept;

/// The parameters of a query. The functions return the standard value of a malformed one, and failure() is its error.
class DoorQuery {
 public:
  explicit DoorQuery(std::string query) : query_(std::move(query)) {}

  /// Returns an empty text if the parameter is missing.
  std::string text(std::string_view name);
  /// Returns `standard` if the parameter is missing. A number is at most 2^50.
  std::uint64_t number(std::string_view name, std::uint64_t standard);
  /// As number(), at most 2^32 - 1.
  std::uint32_t small_number(std::string_view name, std::uint32_t standard);
  std::chrono::milliseconds time(std::string_view name, std::chrono::milliseconds standard);
  /// Returns whether the parameter is `1`. A missing one and `0` are false, and any other is malformed.
  bool flag(std::string_view name);
  /// Returns the parameter `durability`: sync or buffered.
  std::optional<Durability> durability();
  /// Returns the service that the parameter names, as name_of_service() does. A missing one is malformed.
  StorageService service(std::string_view name);

  const Status& failure() const noexcept { return failure_; }
  void fail(Status failure) { failure_ = std::move(failure); }

 private:
  const std::string query_;
  Status failure_;
};

}  // namespace varve::serve
