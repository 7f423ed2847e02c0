#include "tests/lab/full_disk/full_disk_objects.h"

#include <chrono>
#include <utility>
#include <vector>

#include "varve/blob.h"
#include "varve/queue.h"

namespace varve::lab {
namespace {

constexpr std::string_view kKept = "kept";
constexpr std::string_view kDropped = "dropped";
constexpr std::uint64_t kBlobs = 8;
constexpr std::size_t kTextBytesMax = 1'000;

PutOptions endless() {
  PutOptions options;
  options.ttl = kNever;
  return options;
}

std::string violation(std::string_view what, const Status& status) {
  return std::string(what) + ": " + status.to_string();
}

/// Returns the content of a blob. Errors: those of reading.
Result<std::string> content_of(const Container& container, std::string_view blob) {
  const Result<BlobReader> reader = container.read(blob);
  if (!reader.ok()) return reader.status();
  std::string bytes(static_cast<std::size_t>(reader->state().length), '\0');
  const Result<std::size_t> got = reader->read(0, bytes);
  if (!got.ok()) return got.status();
  bytes.resize(*got);
  return bytes;
}

}  // namespace

Status FullDiskObjects::make(Store& store) {
  if (Status made = store.create_queue(account_, kKept).status(); !made.ok()) return made;
  return store.create_container(account_, kKept).status();
}

Status FullDiskObjects::make_spare(Store& store) {
  const Status queue = patience_([&] { return store.create_queue(account_, kDropped).status(); });
  if (!queue.ok()) return queue;
  return patience_([&] { return store.create_container(account_, kDropped).status(); });
}

Status FullDiskObjects::write_one(Store& store, const std::string& value) {
  const bool is_kept = below_(2) == 0;
  const std::string_view name = is_kept ? kKept : kDropped;
  if (below_(2) == 0) {
    Result<Queue> queue = store.open_queue(account_, name);
    if (!queue.ok()) return queue.status();
    const Status put = queue->put(value.substr(0, kTextBytesMax), endless()).status();
    if (put.ok() && is_kept) ++messages_;
    return put;
  }
  Result<Container> container = store.open_container(account_, name);
  if (!container.ok()) return container.status();
  const std::string blob = "blob" + std::to_string(below_(kBlobs));
  const Status put = container->put(blob, value).status();
  if (put.ok() && is_kept) blobs_[blob] = value;
  return put;
}

std::string FullDiskObjects::look_while_full(Store& store) {
  std::string wrong = compare_blobs(store);
  return wrong.empty() ? take_while_full(store) : wrong;
}

std::string FullDiskObjects::take_while_full(Store& store) {
  Result<Queue> queue = store.open_queue(account_, kKept);
  if (!queue.ok()) return violation("a queue does not open while the disk is full", queue.status());
  const Result<std::vector<ReceivedMessage>> got = queue->get();
  if (got.code() == Code::kNoSpace) return {};
  if (!got.ok()) return violation("a get fails otherwise while the disk is full", got.status());
  if (got->empty()) return {};
  const Status removed = queue->remove(got->front());
  if (removed.ok()) --messages_;
  if (removed.ok() || removed.code() == Code::kNoSpace) return {};
  return violation("a delete of a message fails otherwise while the disk is full", removed);
}

std::string FullDiskObjects::drop_spare(Store& store) {
  if (Status dropped = store.drop_queue(account_, kDropped); !dropped.ok()) {
    return violation("a drop of a queue fails while the disk is full", dropped);
  }
  if (Status dropped = store.drop_container(account_, kDropped); !dropped.ok()) {
    return violation("a drop of a container fails while the disk is full", dropped);
  }
  return {};
}

std::string FullDiskObjects::consume(Store& store) {
  Result<Queue> queue = store.open_queue(account_, kKept);
  if (!queue.ok()) return violation("a queue does not open", queue.status());
  GetOptions options;
  options.count = 32;
  std::vector<ReceivedMessage> messages;
  const Status got = patience_([&] {
    Result<std::vector<ReceivedMessage>> taken = queue->get(options);
    if (taken.ok()) messages = *std::move(taken);
    return taken.status();
  });
  if (!got.ok()) return violation("gets do not resume soon after there is room", got);
  for (const ReceivedMessage& message : messages) {
    const Status removed = patience_([&] { return queue->remove(message); });
    if (!removed.ok()) return violation("deletes of messages do not resume", removed);
    --messages_;
  }
  if (blobs_.empty()) return {};
  Result<Container> container = store.open_container(account_, kKept);
  if (!container.ok()) return violation("a container does not open", container.status());
  const std::string blob = blobs_.begin()->first;
  const Status removed = patience_([&] { return container->remove(blob); });
  if (!removed.ok()) return violation("deletes of blobs do not resume", removed);
  blobs_.erase(blob);
  return {};
}

std::string FullDiskObjects::compare_blobs(const Store& store) const {
  const Result<Container> container = store.open_container(account_, kKept);
  if (!container.ok()) return violation("a container does not open", container.status());
  for (const auto& [blob, content] : blobs_) {
    const Result<std::string> found = content_of(*container, blob);
    if (!found.ok()) return violation("a read of a blob fails", found.status());
    if (*found != content) return "the content of a blob is wrong: " + blob;
  }
  return {};
}

std::string FullDiskObjects::compare(const Store& store) const {
  if (std::string wrong = compare_blobs(store); !wrong.empty()) return wrong;
  const Result<Container> container = store.open_container(account_, kKept);
  if (!container.ok()) return violation("a container does not open", container.status());
  const Result<BlobPage> page = container->list();
  if (!page.ok()) return violation("blobs are not listed", page.status());
  if (page->entries.size() != blobs_.size()) return "the blobs are not those of the model";
  const Result<Queue> queue = store.open_queue(account_, kKept);
  if (!queue.ok()) return violation("a queue does not open", queue.status());
  const Result<QueueFigures> figures = queue->figures();
  if (!figures.ok()) return violation("a queue does not count", figures.status());
  return figures->messages == messages_ ? "" : "the messages are not those of the model";
}

}  // namespace varve::lab
