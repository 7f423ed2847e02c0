#include "tests/lab/scenario/objects.h"

#include <chrono>
#include <memory>

#include "varve/blob.h"
#include "varve/large_value.h"
#include "varve/queue.h"
#include "varve/store_transaction.h"

namespace varve::lab {
namespace {

/// No script lasts so long, and no message expires by then.
constexpr std::chrono::hours kHold{24};

std::string name_of_queue() {
  return queue_name(kAccount, kQueue);
}
std::string name_of_message(std::string_view text) {
  return message_name(kAccount, kQueue, text);
}
std::string name_of_blob(std::string_view blob) {
  return blob_name(kAccount, kContainer, blob);
}

void count_messages(Content& content, int change) {
  std::string& count = content[name_of_queue()].properties[std::string(kMessagesProperty)];
  count = std::to_string((count.empty() ? 0 : std::stoi(count)) + change);
}

void show_message(Content& content, const std::string& text, std::uint32_t deliveries) {
  content[name_of_message(text)].properties[std::string(kDeliveriesProperty)] = std::to_string(deliveries);
}

void hide_first_message(Content& content) {
  const std::string prefix = name_of_message("");
  const auto first = content.lower_bound(prefix);
  if (first != content.end() && first->first.starts_with(prefix)) content.erase(first);
}

void hide_all_messages(Content& content) {
  const std::string prefix = name_of_message("");
  auto message = content.lower_bound(prefix);
  while (message != content.end() && message->first.starts_with(prefix)) message = content.erase(message);
}

/// A blob that is replaced has no staged blocks any more.
void set_blob(Content& content, const std::string& blob, const std::string& bytes) {
  Row& row = content[name_of_blob(blob)];
  row.properties.clear();
  row.properties[std::string(kContentProperty)] = bytes;
}

void copy_blob_row(Content& content, const std::string& blob, const std::string& source) {
  const auto found = content.find(name_of_blob(source));
  if (found == content.end()) return;
  const auto bytes = found->second.properties.find(std::string(kContentProperty));
  if (bytes != found->second.properties.end()) set_blob(content, blob, std::string(bytes->second));
}

std::string joined(const Objects::Blocks& blocks) {
  std::string bytes;
  for (const auto& [id, block] : blocks) bytes += block;
  return bytes;
}

WriteOptions write_options(Durability durability) {
  WriteOptions options;
  options.durability = durability;
  return options;
}

/// Publishes what the bytes become, given in two pieces.
Status publish(Result<BlobWriter> writer, std::string_view bytes) {
  if (!writer.ok()) return writer.status();
  if (Status added = writer->append(bytes.substr(0, bytes.size() / 2)); !added.ok()) return added;
  if (Status added = writer->append(bytes.substr(bytes.size() / 2)); !added.ok()) return added;
  return writer->publish().status();
}

}  // namespace

template <typename Act>
void Objects::on_queue(const std::string& what, Durability durability, Act act, Effect effect) {
  const auto whole = [&]() -> Result<std::uint64_t> {
    Result<Queue> queue = stage_.store().open_queue(kAccount, kQueue);
    if (!queue.ok()) return queue.status();
    if (Status done = act(*queue); !done.ok()) return done;
    return stage_.version_seen();
  };
  stage_.commit(what, durability, whole, std::move(effect));
}

template <typename Act>
void Objects::on_container(const std::string& what, Durability durability, Act act, Effect effect) {
  const auto whole = [&]() -> Result<std::uint64_t> {
    Result<Container> container = stage_.store().open_container(kAccount, kContainer);
    if (!container.ok()) return container.status();
    if (Status done = act(*container); !done.ok()) return done;
    return stage_.version_seen();
  };
  stage_.commit(what, durability, whole, std::move(effect));
}

// -- Messages -------------------------------------------------------------------------------------------------------

void Objects::queue() {
  stage_.commit(
      "create queue", Durability::kSync,
      [&]() -> Result<std::uint64_t> {
        const Result<Queue> made = stage_.store().create_queue(kAccount, kQueue);
        if (!made.ok()) return made.status();
        return stage_.version_seen();
      },
      [](Content& content, std::uint64_t) {
        erase_below(content, name_of_queue());
        count_messages(content, 0);
      });
}

void Objects::drop_queue() {
  held_.reset();
  stage_.commit(
      "drop queue", Durability::kSync,
      [&]() -> Result<std::uint64_t> {
        if (Status dropped = stage_.store().drop_queue(kAccount, kQueue); !dropped.ok()) return dropped;
        return stage_.version_seen();
      },
      [](Content& content, std::uint64_t) { erase_below(content, name_of_queue()); });
}

void Objects::clear() {
  held_.reset();
  on_queue(
      "clear queue", Durability::kSync, [](Queue& queue) { return queue.clear(); },
      [](Content& content, std::uint64_t) {
        hide_all_messages(content);
        content[name_of_queue()].properties[std::string(kMessagesProperty)] = "0";
      });
}

void Objects::put(const std::string& text, Durability durability) {
  PutOptions options;
  options.durability = durability;
  on_queue(
      "put message " + text.substr(0, 4), durability, [&](Queue& queue) { return queue.put(text, options).status(); },
      [text](Content& content, std::uint64_t) {
        show_message(content, text, 0);
        count_messages(content, 1);
      });
}

void Objects::take(Durability durability) {
  struct Taken {
    bool is_known = false;
    std::string text;  // empty: there was no message
  };
  const auto taken = std::make_shared<Taken>();
  held_.reset();
  GetOptions options;
  options.hold = kHold;
  options.durability = durability;
  on_queue(
      "get message", durability,
      [&](Queue& queue) -> Status {
        Result<std::vector<ReceivedMessage>> got = queue.get(options);
        if (!got.ok()) return got.status();
        const LabsOwn own;
        taken->is_known = true;
        if (got->empty()) return {};
        taken->text = got->front().text;
        held_ = std::move(got->front());
        return {};
      },
      [taken](Content& content, std::uint64_t) {
        if (!taken->is_known) return hide_first_message(content);
        if (!taken->text.empty()) content.erase(name_of_message(taken->text));
      });
}

void Objects::release(const std::string& text, Durability durability) {
  if (!held_) return;
  const ReceivedMessage held = *std::exchange(held_, std::nullopt);
  on_queue(
      "release message as " + text, durability,
      [&](Queue& queue) {
        return queue.update(held.id, held.receipt, std::chrono::milliseconds(0), text, write_options(durability))
            .status();
      },
      [text, deliveries = held.deliveries](Content& content, std::uint64_t) {
        show_message(content, text, deliveries);
      });
}

void Objects::remove(Durability durability) {
  if (!held_) return;
  const ReceivedMessage held = *std::exchange(held_, std::nullopt);
  on_queue(
      "delete message", durability, [&](Queue& queue) { return queue.remove(held, write_options(durability)); },
      [](Content& content, std::uint64_t) { count_messages(content, -1); });
}

// -- Blobs ----------------------------------------------------------------------------------------------------------

void Objects::container() {
  stage_.commit(
      "create container", Durability::kSync,
      [&]() -> Result<std::uint64_t> {
        const Result<Container> made = stage_.store().create_container(kAccount, kContainer);
        if (!made.ok()) return made.status();
        return stage_.version_seen();
      },
      [](Content& content, std::uint64_t) { content[container_name(kAccount, kContainer)] = {}; });
}

void Objects::drop_container() {
  stage_.commit(
      "drop container", Durability::kSync,
      [&]() -> Result<std::uint64_t> {
        if (Status dropped = stage_.store().drop_container(kAccount, kContainer); !dropped.ok()) return dropped;
        return stage_.version_seen();
      },
      [](Content& content, std::uint64_t) { erase_below(content, container_name(kAccount, kContainer)); });
}

void Objects::put_blob(const std::string& blob, const std::string& bytes, Durability durability) {
  BlobWriteOptions options;
  options.durability = durability;
  on_container(
      "put blob " + blob, durability,
      [&](Container& container) { return container.put(blob, bytes, options).status(); },
      [blob, bytes](Content& content, std::uint64_t) { set_blob(content, blob, bytes); });
}

void Objects::write_blob(const std::string& blob, const std::string& bytes, Durability durability) {
  BlobWriteOptions options;
  options.durability = durability;
  on_container(
      "write blob " + blob, durability,
      [&](Container& container) { return publish(container.write(blob, options), bytes); },
      [blob, bytes](Content& content, std::uint64_t) { set_blob(content, blob, bytes); });
}

void Objects::stage_blocks(const std::string& blob, const Blocks& blocks, Durability durability) {
  BlobWriteOptions options;
  options.durability = durability;
  for (const auto& [id, bytes] : blocks) {
    on_container(
        "stage block " + id + " of " + blob, durability,
        [&, &block = id, &content = bytes](Container& container) {
          return publish(container.stage_block(blob, block, options), content);
        },
        [blob, block = id, length = bytes.size()](Content& content, std::uint64_t) {
          content[name_of_blob(blob)].properties[staged_property(block)] = std::to_string(length);
        });
  }
}

void Objects::commit_blocks(const std::string& blob, const Blocks& blocks, Durability durability) {
  BlobWriteOptions options;
  options.durability = durability;
  std::vector<BlockChoice> list;
  for (const auto& [id, bytes] : blocks) list.push_back({id, BlockChoice::From::kStaged});
  on_container(
      "commit blocks of " + blob, durability,
      [&](Container& container) { return container.commit_blocks(blob, list, options).status(); },
      [blob, bytes = joined(blocks)](Content& content, std::uint64_t) { set_blob(content, blob, bytes); });
}

void Objects::append_blob(const std::string& blob) {
  on_container(
      "create append blob " + blob, Durability::kSync,
      [&](Container& container) {
        BlobWriteOptions options;
        options.durability = Durability::kSync;
        return container.create_append_blob(blob, options).status();
      },
      [blob](Content& content, std::uint64_t) { set_blob(content, blob, ""); });
}

void Objects::append(const std::string& blob, const std::string& bytes, Durability durability) {
  AppendOptions options;
  options.durability = durability;
  on_container(
      "append to " + blob, durability,
      [&](Container& container) { return container.append(blob, bytes, options).status(); },
      [blob, bytes](Content& content, std::uint64_t) {
        content[name_of_blob(blob)].properties[std::string(kContentProperty)] += bytes;
      });
}

void Objects::copy(const std::string& blob, const std::string& source, Durability durability) {
  BlobCopyOptions options;
  options.durability = durability;
  on_container(
      "copy " + source + " to " + blob, durability,
      [&](Container& container) { return container.copy(blob, container, source, options).status(); },
      [blob, source](Content& content, std::uint64_t) { copy_blob_row(content, blob, source); });
}

void Objects::remove_blob(const std::string& blob, Durability durability) {
  BlobChangeOptions options;
  options.durability = durability;
  on_container(
      "remove blob " + blob, durability, [&](Container& container) { return container.remove(blob, options); },
      [blob](Content& content, std::uint64_t) { content.erase(name_of_blob(blob)); });
}

// -- Large values ---------------------------------------------------------------------------------------------------

void Objects::value_table(std::string_view table) {
  stage_.commit(
      "create table of large values", Durability::kSync,
      [&]() -> Result<std::uint64_t> {
        const Result<Table> made = stage_.store().create_table(kAccount, table, {.has_large_values = true});
        if (!made.ok()) return made.status();
        return stage_.version_seen();
      },
      [name = table_name(kAccount, table)](Content& content, std::uint64_t) { content[name] = {}; });
}

void Objects::write_value(const std::string& table, const std::string& row, const std::string& bytes,
                          Durability durability) {
  const auto act = [&]() -> Result<std::uint64_t> {
    Result<Table> opened = stage_.store().open_table(kAccount, table);
    if (!opened.ok()) return opened.status();
    Result<LargeValueWriter> writer = opened->write_large_value();
    if (!writer.ok()) return writer.status();
    if (Status added = writer->append(bytes); !added.ok()) return added;
    const Result<LargeValue> value = writer->finish();
    if (!value.ok()) return value.status();
    std::optional<Entity> entity;
    {
      const LabsOwn own;
      entity.emplace("p", row).set("L", *value);
    }
    const Result<ETag> etag = opened->insert_or_replace(*entity, write_options(durability));
    if (!etag.ok()) return etag.status();
    return etag->timestamp().ticks;
  };
  stage_.commit("write large value " + row, durability, act,
                [table, row, bytes](Content& content, std::uint64_t version) {
                  content[entity_name(kAccount, table, "p", row)] = {{{"L", large_value_text(bytes)}}, version};
                });
}

// -- Transactions ---------------------------------------------------------------------------------------------------

Status Objects::add_all(const Joint& joint, StoreTransaction& transaction) {
  const Result<Table> table = stage_.store().open_table(kAccount, joint.table);
  if (!table.ok()) return table.status();
  const Result<Queue> queue = stage_.store().open_queue(kAccount, kQueue);
  if (!queue.ok()) return queue.status();
  const Result<Container> container = stage_.store().open_container(kAccount, kContainer);
  if (!container.ok()) return container.status();
  const LabsOwn collecting;  // containers in the lab's code may throw
  transaction.insert_or_replace(*table, Entity("p", joint.row).set("V", joint.row));
  if (!joint.text.empty()) transaction.put(*queue, joint.text);
  if (joint.removes_taken && held_) transaction.remove(*queue, *held_);
  if (joint.blob.empty()) return {};
  if (joint.source.empty()) {
    transaction.put(*container, joint.blob, joint.bytes);
  } else {
    transaction.copy(*container, joint.blob, *container, joint.source);
  }
  return {};
}

void Objects::transact(const Joint& joint, Durability durability) {
  const bool removes = joint.removes_taken && held_;
  const auto act = [&]() -> Result<std::uint64_t> {
    Result<StoreTransaction> transaction = stage_.store().begin_transaction();
    if (!transaction.ok()) return transaction.status();
    if (Status added = add_all(joint, *transaction); !added.ok()) return added;
    const Result<std::vector<ETag>> etags = transaction->commit(write_options(durability));
    if (!etags.ok()) return etags.status();
    return etags->front().timestamp().ticks;
  };
  stage_.commit("transaction with " + joint.row, durability, act,
                [joint, removes](Content& content, std::uint64_t version) {
                  apply(content, joint.table, {Stage::Kind::kInsertOrReplace, "p", joint.row, joint.row}, version);
                  if (!joint.text.empty()) show_message(content, joint.text, 0);
                  count_messages(content, (joint.text.empty() ? 0 : 1) - (removes ? 1 : 0));
                  if (joint.blob.empty()) return;
                  joint.source.empty() ? set_blob(content, joint.blob, joint.bytes)
                                       : copy_blob_row(content, joint.blob, joint.source);
                });
  if (removes) held_.reset();
}

}  // namespace varve::lab
