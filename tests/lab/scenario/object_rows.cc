#include "tests/lab/scenario/object_rows.h"

#include <utility>

#include "varve/blob.h"
#include "varve/large_value.h"
#include "varve/queue.h"

namespace varve::lab {
namespace {

constexpr std::uint32_t kPeeked = 32;

/// Reads a whole content with a reader of blobs or of large values.
template <typename Reader>
Result<std::string> read_whole(const Reader& reader, std::uint64_t length) {
  std::string bytes(static_cast<std::size_t>(length), '\0');
  const Result<std::size_t> got = reader.read(0, bytes);
  if (!got.ok()) return got.status();
  bytes.resize(*got);
  return bytes;
}

Status read_queue(const Store& store, const std::string& account, const std::string& name, Content& content) {
  const Result<Queue> queue = store.open_queue(account, name);
  if (!queue.ok()) return queue.status();
  const Result<QueueFigures> figures = queue->figures();
  if (!figures.ok()) return figures.status();
  content[queue_name(account, name)].properties[std::string(kMessagesProperty)] = std::to_string(figures->messages);
  const Result<std::vector<Message>> messages = queue->peek(kPeeked);
  if (!messages.ok()) return messages.status();
  for (const Message& message : *messages) {
    content[message_name(account, name, message.text)].properties[std::string(kDeliveriesProperty)] =
        std::to_string(message.deliveries);
  }
  return {};
}

Status read_blob(const Container& container, const BlobState& state, Row& row) {
  if (!state.is_uncommitted) {
    const Result<BlobReader> reader = container.read(state.name);
    if (!reader.ok()) return reader.status();
    Result<std::string> bytes = read_whole(*reader, state.length);
    if (!bytes.ok()) return bytes.status();
    row.properties[std::string(kContentProperty)] = *std::move(bytes);
  }
  if (state.kind != BlobKind::kBlock) return {};
  const Result<BlockLists> blocks = container.blocks(state.name, {}, BlockKinds::kStaged);
  if (!blocks.ok()) return blocks.status();
  for (const BlockInfo& block : blocks->staged)
    row.properties[staged_property(block.id)] = std::to_string(block.length);
  return {};
}

Status read_container(const Store& store, const std::string& account, const std::string& name, Content& content) {
  content[container_name(account, name)] = {};
  const Result<Container> container = store.open_container(account, name);
  if (!container.ok()) return container.status();
  BlobListing listing;
  listing.with_uncommitted = true;
  while (true) {
    const Result<BlobPage> page = container->list(listing);
    if (!page.ok()) return page.status();
    for (const BlobListed& listed : page->entries) {
      Row& row = content[blob_name(account, name, listed.blob.name)];
      if (Status read = read_blob(*container, listed.blob, row); !read.ok()) return read;
    }
    if (!page->continuation) return {};
    listing.continuation = *page->continuation;
  }
}

}  // namespace

// No table has such names.
std::string queue_name(std::string_view account, std::string_view queue) {
  return table_name(account, "!queue " + std::string(queue));
}

std::string message_name(std::string_view account, std::string_view queue, std::string_view text) {
  return entity_name(account, "!queue " + std::string(queue), "message", text);
}

std::string container_name(std::string_view account, std::string_view container) {
  return table_name(account, "!container " + std::string(container));
}

std::string blob_name(std::string_view account, std::string_view container, std::string_view blob) {
  return entity_name(account, "!container " + std::string(container), "blob", blob);
}

std::string staged_property(std::string_view block) {
  return "staged " + std::string(block);
}

std::string large_value_text(std::string_view content) {
  return "c:" + std::string(content);
}

Status read_objects(const Store& store, const std::string& account, Content& content) {
  ListOptions options;
  while (true) {
    const Result<QueuePage> page = store.list_queues(account, options);
    if (!page.ok()) return page.status();
    for (const QueueInfo& info : page->queues) {
      if (Status read = read_queue(store, account, info.name, content); !read.ok()) return read;
    }
    if (!page->continuation) break;
    options.continuation = *page->continuation;
  }
  options = {};
  while (true) {
    const Result<ContainerPage> page = store.list_containers(account, options);
    if (!page.ok()) return page.status();
    for (const ContainerState& state : page->containers) {
      if (Status read = read_container(store, account, state.name, content); !read.ok()) return read;
    }
    if (!page->continuation) return {};
    options.continuation = *page->continuation;
  }
}

Status read_large_values(const Table& table, const Entity& entity, Row& row) {
  for (const Property& property : entity.properties()) {
    if (property.value.get_if<LargeValue>() == nullptr) continue;
    const Result<LargeValueReader> reader =
        table.open_large_value(entity.partition_key(), entity.row_key(), property.name);
    if (!reader.ok()) return reader.status();
    const Result<std::string> bytes = read_whole(*reader, reader->length());
    if (!bytes.ok()) return bytes.status();
    row.properties[property.name] = large_value_text(*bytes);
  }
  return {};
}

}  // namespace varve::lab
