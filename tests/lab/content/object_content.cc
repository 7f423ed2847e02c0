#include "tests/lab/content/object_content.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "format/bytes/checksum.h"

namespace varve::lab {

namespace {

/// One line of JSON: an object whose values are texts and numbers.
class Line {
 public:
  Line& add(std::string_view name, std::string_view value) {
    begin(name);
    append_quoted(text_, value);
    return *this;
  }
  Line& add_number(std::string_view name, std::uint64_t value) {
    begin(name);
    text_ += std::to_string(value);
    return *this;
  }
  std::string end() && { return std::move(text_) + "}"; }

 private:
  void begin(std::string_view name) {
    text_ += text_.empty() ? "{" : ",";
    append_quoted(text_, name);
    text_ += ":";
  }
  std::string text_;
};

std::string text_of(const std::vector<MetadataPair>& metadata) {
  std::string text;
  for (const MetadataPair& pair : metadata) text += pair.name + "=" + pair.value + ";";
  return text;
}

std::string text_of(const std::vector<AccessPolicy>& policies) {
  std::string text;
  for (const AccessPolicy& policy : policies) {
    text += policy.id + "=";
    if (policy.start) text += std::to_string(policy.start->ticks);
    text += "-";
    if (policy.expiry) text += std::to_string(policy.expiry->ticks);
    if (policy.permissions) text += policy.permissions->to_string();
    text += ";";
  }
  return text;
}

std::string text_of(const BlobProperties& properties) {
  std::string text = properties.content_type + ";" + properties.content_encoding + ";" + properties.content_language +
                     ";" + properties.content_disposition + ";" + properties.cache_control + ";";
  if (properties.content_md5) {
    for (const std::uint8_t byte : *properties.content_md5) text += std::to_string(byte) + ".";
  }
  return text;
}

std::string text_of(const LeaseInfo& lease) {
  return std::to_string(static_cast<int>(lease.state)) + (lease.is_infinite ? " without an end" : "");
}

std::string line_of(const std::string& account, const BlobState& blob, std::uint64_t hash) {
  std::string tags;
  for (const BlobTag& tag : blob.tags) tags += tag.name + "=" + tag.value + ";";
  Line line;
  line.add("blob", account + "/" + blob.name).add_number("kind", static_cast<std::uint64_t>(blob.kind));
  line.add_number("etag", static_cast<std::uint64_t>(blob.etag.timestamp().ticks));
  line.add_number("created", static_cast<std::uint64_t>(blob.created.ticks)).add_number("length", blob.length);
  line.add_number("crc64", blob.crc64.value_or(0)).add_number("hash", hash);
  line.add("properties", text_of(blob.properties)).add("metadata", text_of(blob.metadata)).add("tags", tags);
  line.add_number("tier", static_cast<std::uint64_t>(blob.tier)).add("lease", text_of(blob.lease));
  line.add_number("appends", blob.append_count).add("copy_source", blob.copy_source);
  return std::move(line).end();
}

/// Returns the XXH3-64 of all that the reader reads.
template <typename Reader>
Result<std::uint64_t> hash_of(const Reader& reader, std::uint64_t length) {
  std::string bytes(static_cast<std::size_t>(length), '\0');
  const Result<std::size_t> read = reader.read(0, bytes);
  if (!read.ok()) return read.status();
  return format::content_hash(std::string_view(bytes).substr(0, *read));
}

/// Adds the lines of one store.
class ObjectLines {
 public:
  explicit ObjectLines(const Store& store) : store_(store) {}

  Status add_queues(const std::string& account) {
    ListOptions options;
    for (;;) {
      Result<QueuePage> page = store_.list_queues(account, options);
      if (!page.ok()) return page.status();
      for (const QueueInfo& queue : page->queues) {
        if (Status added = add_queue(account, queue); !added.ok()) return added;
      }
      if (!page->continuation) return Status();
      options.continuation = *page->continuation;
    }
  }
  Status add_containers(const std::string& account) {
    ListOptions options;
    for (;;) {
      Result<ContainerPage> page = store_.list_containers(account, options);
      if (!page.ok()) return page.status();
      for (const ContainerState& container : page->containers) {
        if (Status added = add_container(account, container); !added.ok()) return added;
      }
      if (!page->continuation) return Status();
      options.continuation = *page->continuation;
    }
  }
  Status add_large_value(const std::string& account, LargeValue value) {
    const Result<LargeValueReader> reader = store_.open_large_value(account, value.id());
    if (!reader.ok()) return reader.status();
    const Result<std::uint64_t> hash = hash_of(*reader, reader->length());
    if (!hash.ok()) return hash.status();
    Line line;
    line.add_number("large_value", value.id()).add_number("length", reader->length());
    lines_.push_back(std::move(line.add_number("hash", *hash)).end());
    return Status();
  }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  Status add_queue(const std::string& account, const QueueInfo& info) {
    const Result<Queue> queue = store_.open_queue(account, info.name);
    if (!queue.ok()) return queue.status();
    const Result<QueueFigures> figures = queue->figures();
    if (!figures.ok()) return figures.status();
    const Result<std::vector<AccessPolicy>> policies = queue->access_policies();
    if (!policies.ok()) return policies.status();
    Line line;
    line.add("queue", account + "/" + info.name)
        .add_number("created", static_cast<std::uint64_t>(info.created.ticks))
        .add("metadata", text_of(info.metadata))
        .add("policies", text_of(*policies))
        .add_number("messages", figures->messages)
        .add_number("text_bytes", figures->text_bytes);
    lines_.push_back(std::move(line).end());
    const Result<std::vector<Message>> messages = queue->peek(limits::kMessagesMax);
    if (!messages.ok()) return messages.status();
    for (const Message& message : *messages) {
      Line shown;
      shown.add("message", message.id.to_string())
          .add_number("inserted", static_cast<std::uint64_t>(message.inserted.ticks))
          .add_number("expires", static_cast<std::uint64_t>(message.expires.ticks))
          .add_number("deliveries", message.deliveries)
          .add("text", message.text)
          .add("origin", message.origin);
      lines_.push_back(std::move(shown).end());
    }
    return Status();
  }
  Status add_container(const std::string& account, const ContainerState& state) {
    const Result<Container> container = store_.open_container(account, state.name);
    if (!container.ok()) return container.status();
    const Result<std::vector<AccessPolicy>> policies = container->access_policies();
    if (!policies.ok()) return policies.status();
    Line line;
    line.add("container", account + "/" + state.name)
        .add_number("etag", static_cast<std::uint64_t>(state.etag.timestamp().ticks))
        .add("metadata", text_of(state.metadata))
        .add_number("public", static_cast<std::uint64_t>(state.public_access))
        .add("policies", text_of(*policies))
        .add("lease", text_of(state.lease));
    lines_.push_back(std::move(line).end());
    BlobListing listing;
    for (;;) {
      const Result<BlobPage> page = container->list(listing);
      if (!page.ok()) return page.status();
      for (const BlobListed& listed : page->entries) {
        if (Status added = add_blob(account + "/" + state.name, *container, listed.blob); !added.ok()) return added;
      }
      if (!page->continuation) return Status();
      listing.continuation = *page->continuation;
    }
  }
  Status add_blob(const std::string& place, const Container& container, const BlobState& blob) {
    const Result<BlobReader> reader = container.read(blob.name);
    if (!reader.ok()) return reader.status();
    const Result<std::uint64_t> hash = hash_of(*reader, blob.length);
    if (!hash.ok()) return hash.status();
    lines_.push_back(line_of(place, blob, *hash));
    return Status();
  }

  const Store& store_;
  std::vector<std::string> lines_;
};

}  // namespace

Result<std::vector<std::string>> object_lines(const Store& store, const StoreContent& content) {
  ObjectLines lines(store);
  for (const AccountInfo& account : content.accounts) {
    if (Status added = lines.add_queues(account.name); !added.ok()) return added;
    if (Status added = lines.add_containers(account.name); !added.ok()) return added;
  }
  for (const TableContent& table : content.tables) {
    for (const Entity& entity : table.entities) {
      for (const Property& property : entity.properties()) {
        const auto* const value = std::get_if<LargeValue>(&property.value.variant());
        if (value == nullptr) continue;
        if (Status added = lines.add_large_value(table.account, *value); !added.ok()) return added;
      }
    }
  }
  return lines.take();
}

}  // namespace varve::lab
