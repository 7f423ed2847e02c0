// Owns: a queue of Varve, and the work that its rows compare it with.
// Must never: write with another durability than the name of a function says.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bench/messages/contender.h"
#include "varve/store.h"
#include "varve/store_transaction.h"

namespace varve::bench {

class VarveMessages final : public MessageContender {
 public:
  /// Creates a store in the directory `store` below `directory`.
  static Result<std::unique_ptr<VarveMessages>> open(const std::string& directory);
  Status reopen();

  Status put(int thread, std::string_view text) override;
  Status put_with_record(int thread, std::uint64_t record, std::string_view text) override;
  Result<std::optional<Taken>> take(int thread) override;
  Status remove(int thread, const Taken& taken) override;

  /// Inserts an entity with the text, durably.
  Status insert(std::uint64_t record, std::string_view text);
  /// The same in a transaction of the store, which may also put a message.
  Status insert_in_transaction(std::uint64_t record, std::string_view text, bool with_message);
  /// Puts many messages, without a wait for the device.
  Status fill(std::uint64_t count, std::size_t bytes, std::chrono::milliseconds delay = std::chrono::milliseconds(0));
  /// Takes and deletes all visible messages, without a wait for the device.
  Status drain();

  Store& store() noexcept { return *store_; }
  Queue& queue() noexcept { return *queue_; }

 private:
  explicit VarveMessages(std::string directory) : directory_(std::move(directory)) {}
  Status open_store();
  Status open_names();

  const std::string directory_;
  std::unique_ptr<Store> store_;
  std::optional<Table> table_;
  std::optional<Queue> queue_;
};

}  // namespace varve::bench
