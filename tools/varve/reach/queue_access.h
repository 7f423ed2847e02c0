// Owns: the verbs on one queue, and the list of an account's queues, wherever its store is: in this process, at
// the server that has it open, or at an address.
// Must never: hide where a store is. A failure of the way to a server is an error of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/varve/reach/opened_store.h"
#include "varve/queue.h"
#include "varve/store.h"

namespace varve::tool {

/// One queue of a listing.
struct ListedQueue {
  QueueInfo info;
  /// Zero unless the listing asked for figures.
  QueueFigures figures;
  /// At an address there is neither the time of creation nor the bytes of the texts.
  bool is_at_address = false;
};
struct ListedQueues {
  std::vector<ListedQueue> queues;
  /// As QueuePage::continuation.
  std::optional<std::string> continuation;
};

/// @{
/// As SentMessage, ReceivedMessage and UpdatedMessage, with the receipt as the text that the service wrote.
struct PutAnswer {
  Guid id;
  std::string receipt;
  DateTime inserted;
  DateTime visible;
  bool is_duplicate = false;
};
struct HeldMessage : Message {
  std::string receipt;
  DateTime visible;
};
struct UpdateAnswer {
  std::string receipt;
  DateTime visible;
};
/// @}

/// One queue, which need not exist yet. The functions have the meaning and the errors of the verbs of varve/queue.h and
/// varve/store.h.
class QueueAccess {
 public:
  virtual ~QueueAccess() = default;
  /// Also creates the account if it does not exist.
  virtual Status create(const QueueOptions& options) = 0;
  virtual Status drop() = 0;
  virtual Status clear() = 0;
  virtual Status set_metadata(const std::vector<MetadataPair>& metadata) = 0;
  virtual Result<PutAnswer> put(std::string_view text, const PutOptions& options) = 0;
  /// `dead_letter` names a queue of the same account, or is empty. `options.dead_letter` is not used.
  virtual Result<std::vector<HeldMessage>> get(const GetOptions& options, const std::string& dead_letter) = 0;
  virtual Status remove(const Guid& id, const std::string& receipt, const WriteOptions& options) = 0;
  virtual Result<UpdateAnswer> update(const Guid& id, const std::string& receipt, std::chrono::milliseconds hold,
                                      std::optional<std::string_view> text, const WriteOptions& options) = 0;
  virtual Result<std::vector<Message>> peek(std::uint32_t count) = 0;
  virtual Result<std::vector<MetadataPair>> metadata() = 0;
  virtual Result<std::vector<AccessPolicy>> policies() = 0;
  /// Replaces all access policies.
  virtual Status set_policies(const std::vector<AccessPolicy>& policies) = 0;
  /// Makes every acknowledged write of the store durable.
  virtual Status sync() = 0;
  /// Lists queues of the account, whatever the name of this queue is. A queue that is dropped meanwhile is left out.
  virtual Result<ListedQueues> list(const ListOptions& options, bool with_figures) = 0;
  /// Returns the store if this process has it open. Otherwise null.
  virtual Store* local() noexcept = 0;
  virtual Status close() = 0;
};

/// Returns the access to a queue of a store that this process has open.
std::unique_ptr<QueueAccess> queue_in(OpenedStore store, std::string account, std::string queue);
/// Returns the access through the server that has the store in this directory open, or null.
std::unique_ptr<QueueAccess> queue_through_server_of(const std::string& store, std::string account, std::string queue);
/// Returns the access to a queue of the queue service at an address. Errors: those of the address and of its key.
Result<std::unique_ptr<QueueAccess>> queue_at_address(const std::string& address, const std::string& account,
                                                      std::string queue);

}  // namespace varve::tool
