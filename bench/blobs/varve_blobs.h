// Owns: a store with a container and a table, and the operations that the rows of the race repeat.
// Must never: write with another durability than the name of a function says, or include code below api/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "varve/store.h"
#include "varve/store_transaction.h"

namespace varve::bench {

class VarveBlobs {
 public:
  static constexpr std::string_view kAccount = "bench";
  /// The budgets of the store in bytes. The defaults are those of a store.
  struct Memory {
    std::uint64_t write_buffer = std::uint64_t{256} << 20;
    std::uint64_t cache = std::uint64_t{256} << 20;
  };

  /// Creates a store in the directory `store` below `directory`.
  static Result<std::unique_ptr<VarveBlobs>> open(const std::string& directory, Memory memory);
  static Result<std::unique_ptr<VarveBlobs>> open(const std::string& directory) { return open(directory, Memory()); }
  /// Closes the store, empties the page cache of its files, and opens it with other budgets.
  Status reopen_cold(Memory memory);
  Status close();

  /// Writes a blob of content.h in pieces of 1 MiB. It is on stable storage when this returns.
  Status write_stream(const std::string& name, std::uint64_t bytes);
  /// Reads such a blob to its end, in pieces of 1 MiB.
  Status read_stream(const std::string& name, std::uint64_t bytes);
  /// Writes a blob, durably.
  Status put(const std::string& name, std::string_view content);
  /// Inserts an entity with one Binary property, durably.
  Status insert(std::uint64_t number, std::string_view bytes);
  /// Writes `count` blobs of 16 bytes into the container, without a wait for the device. `name_of` names the nth one.
  template <typename NameOf>
  Status fill(const Container& container, std::uint64_t count, const NameOf& name_of);

  Store& store() noexcept { return *store_; }
  Container& blobs() noexcept { return *blobs_; }
  Table& records() noexcept { return *records_; }

 private:
  static constexpr std::uint64_t kBlobsOfTransaction = 100;
  static constexpr std::string_view kSmallContent = "sixteen bytes...";

  explicit VarveBlobs(std::string directory) : directory_(std::move(directory)) {}
  Status open_store(Memory memory);
  Status open_names();

  const std::string directory_;
  std::unique_ptr<Store> store_;
  std::optional<Container> blobs_;
  std::optional<Table> records_;
};

/// Returns an entity with one Binary property.
Entity record_of(std::uint64_t number, std::string_view bytes);

template <typename NameOf>
Status VarveBlobs::fill(const Container& container, std::uint64_t count, const NameOf& name_of) {
  for (std::uint64_t n = 0; n < count;) {
    Result<StoreTransaction> transaction = store_->begin_transaction();
    if (!transaction.ok()) return transaction.status();
    for (std::uint64_t i = 0; i < kBlobsOfTransaction && n < count; ++i, ++n) {
      transaction->put(container, name_of(n), std::string(kSmallContent));
    }
    Status put = transaction->commit({.durability = Durability::kBuffered}).status();
    if (!put.ok()) return put;
  }
  return Status();
}

}  // namespace varve::bench
