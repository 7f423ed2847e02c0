// Owns: the access to a queue of a store that this process has open (queue_access.h).
// Must never: add anything to the verbs of the queue.
#include <utility>

#include "tools/varve/reach/queue_access.h"

namespace varve::tool {
namespace {

/// Returns the figures of a queue, or nothing if it does not exist.
Result<std::optional<QueueFigures>> figures_of(const Store& store, const std::string& account,
                                               const std::string& name) {
  const Result<Queue> queue = store.open_queue(account, name);
  if (queue.code() == Code::kNotFound) return std::optional<QueueFigures>();
  if (!queue.ok()) return queue.status();
  const Result<QueueFigures> figures = queue->figures();
  if (figures.code() == Code::kNotFound) return std::optional<QueueFigures>();
  if (!figures.ok()) return figures.status();
  return std::optional<QueueFigures>(*figures);
}

Result<ListedQueues> list_queues(const Store& store, const std::string& account, const ListOptions& options,
                                 bool with_figures) {
  Result<QueuePage> page = store.list_queues(account, options);
  if (!page.ok()) return page.status();
  ListedQueues listed;
  for (QueueInfo& info : page->queues) {
    std::optional<QueueFigures> figures = QueueFigures();
    if (with_figures) {
      Result<std::optional<QueueFigures>> found = figures_of(store, account, info.name);
      if (!found.ok()) return found.status();
      figures = *found;
    }
    if (figures) listed.queues.push_back({std::move(info), *figures});
  }
  listed.continuation = std::move(page->continuation);
  return listed;
}

class LocalQueue final : public QueueAccess {
 public:
  LocalQueue(OpenedStore store, std::string account, std::string queue)
      : store_(std::move(store)), account_(std::move(account)), name_(std::move(queue)) {}

  Status create(const QueueOptions& options) override {
    if (Status made = store_->create_account(account_); !made.ok() && made.code() != Code::kExists) return made;
    return store_->create_queue(account_, name_, options).status();
  }
  Status drop() override { return store_->drop_queue(account_, name_); }
  Status clear() override {
    Result<Queue> queue = open();
    return queue.ok() ? queue->clear() : queue.status();
  }
  Status set_metadata(const std::vector<MetadataPair>& metadata) override {
    Result<Queue> queue = open();
    return queue.ok() ? queue->set_metadata(metadata) : queue.status();
  }
  Result<PutAnswer> put(std::string_view text, const PutOptions& options) override {
    Result<Queue> queue = open();
    if (!queue.ok()) return queue.status();
    const Result<SentMessage> sent = queue->put(text, options);
    if (!sent.ok()) return sent.status();
    return PutAnswer{sent->id, sent->receipt.to_string(), sent->inserted, sent->visible, sent->is_duplicate};
  }
  Result<std::vector<HeldMessage>> get(const GetOptions& options, const std::string& dead_letter) override {
    Result<Queue> queue = open();
    if (!queue.ok()) return queue.status();
    GetOptions chosen = options;
    std::optional<Queue> dead;
    if (!dead_letter.empty()) {
      Result<Queue> opened = store_->open_queue(account_, dead_letter);
      if (!opened.ok()) return opened.status();
      chosen.dead_letter = &dead.emplace(*std::move(opened));
    }
    const Result<std::vector<ReceivedMessage>> got = queue->get(chosen);
    if (!got.ok()) return got.status();
    std::vector<HeldMessage> messages;
    for (const ReceivedMessage& message : *got) {
      const Message& content = message;
      messages.push_back({content, message.receipt.to_string(), message.visible});
    }
    return messages;
  }
  Status remove(const Guid& id, const std::string& receipt, const WriteOptions& options) override {
    const Result<PopReceipt> parsed = PopReceipt::parse(receipt);
    if (!parsed.ok()) return parsed.status();
    Result<Queue> queue = open();
    return queue.ok() ? queue->remove(id, *parsed, options) : queue.status();
  }
  Result<UpdateAnswer> update(const Guid& id, const std::string& receipt, std::chrono::milliseconds hold,
                              std::optional<std::string_view> text, const WriteOptions& options) override {
    const Result<PopReceipt> parsed = PopReceipt::parse(receipt);
    if (!parsed.ok()) return parsed.status();
    Result<Queue> queue = open();
    if (!queue.ok()) return queue.status();
    const Result<UpdatedMessage> updated = queue->update(id, *parsed, hold, text, options);
    if (!updated.ok()) return updated.status();
    return UpdateAnswer{updated->receipt.to_string(), updated->visible};
  }
  Result<std::vector<Message>> peek(std::uint32_t count) override {
    const Result<Queue> queue = open();
    if (!queue.ok()) return queue.status();
    return queue->peek(count);
  }
  Result<std::vector<MetadataPair>> metadata() override {
    const Result<Queue> queue = open();
    if (!queue.ok()) return queue.status();
    return queue->metadata();
  }
  Result<std::vector<AccessPolicy>> policies() override {
    const Result<Queue> queue = open();
    if (!queue.ok()) return queue.status();
    return queue->access_policies();
  }
  Status set_policies(const std::vector<AccessPolicy>& policies) override {
    Result<Queue> queue = open();
    return queue.ok() ? queue->set_access_policies(policies) : queue.status();
  }
  Status sync() override { return store_->sync(); }
  Result<ListedQueues> list(const ListOptions& options, bool with_figures) override {
    return list_queues(*store_, account_, options, with_figures);
  }
  Store* local() noexcept override { return &*store_; }
  Status close() override { return store_->close(); }

 private:
  Result<Queue> open() const { return store_->open_queue(account_, name_); }

  OpenedStore store_;
  const std::string account_;
  const std::string name_;
};

}  // namespace

std::unique_ptr<QueueAccess> queue_in(OpenedStore store, std::string account, std::string queue) {
  return std::make_unique<LocalQueue>(std::move(store), std::move(account), std::move(queue));
}

}  // namespace varve::tool
