// Owns: a recount of the owners of all contents of a store, by reading every row of its blobs, and every entity.
// Must never: use the code that keeps the counts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/blob/blob_rows.h"
#include "api/blob/content_rows.h"
#include "api/catalog/catalog_rows.h"
#include "api/catalog/row_numbers.h"
#include "api/catalog/work_rows.h"
#include "engine/engine.h"
#include "engine/read/cursor.h"
#include "format/keys/entity.h"
#include "format/keys/sort_key.h"
#include "io/scheduler.h"
#include "tests/api/queue/queue_bench.h"
#include "varve/blob.h"

namespace varve::test {

/// What the rows of the first account's containers say, and its entities that may have large values. Nothing else may be
/// in the account.
class BlobRecount {
 public:
  explicit BlobRecount(const engine::ReadView& view) {
    engine::Cursor rows = view.cursor({}, {});
    for (rows.seek_to_first(); rows.valid(); rows.next()) take(rows);
    EXPECT_TRUE(rows.status().ok()) << rows.status().to_string();
    for (const auto& [id, content] : contents_) judge(id, content);
    for (const auto& [id, owners] : owners_) {
      if (!contents_.contains(id)) fault("content " + std::to_string(id) + " is named, and not there");
    }
    for (const auto& [generation, count] : blocks_) {
      const auto list = lists_.find(generation);
      if (list == lists_.end()) fault("blocks of no list were left");
      if (list != lists_.end() && list->second != count) fault("a list has another number of blocks than it says");
    }
    for (const auto& [generation, count] : lists_) {
      if (!blocks_.contains(generation)) fault("a list without blocks");
    }
  }

  const std::vector<std::string>& faults() const { return faults_; }
  /// Rows of work, but those that wait for their time.
  std::size_t work() const { return work_; }
  std::size_t expiries() const { return expiries_; }
  std::size_t contents() const { return contents_.size(); }
  std::size_t blobs() const { return blobs_; }
  std::size_t entities() const { return entities_; }
  std::size_t staged_lists() const { return lists_.size(); }

 private:
  struct Content {
    std::optional<ContentHead> head;
    std::map<std::uint64_t, std::uint64_t> parts;  // offset, and bytes or entries
    std::uint64_t list_bytes = 0;
  };

  void fault(std::string text) { faults_.push_back(std::move(text)); }

  template <typename T>
  const T* checked(const Result<T>& result) {
    if (!result.ok()) fault(result.status().to_string());
    return result.ok() ? &*result : nullptr;
  }

  void take(const engine::Cursor& row) {
    const format::TableId id = format::table_id_of(row.key());
    if (id == kWorkTable) return take_work(row);
    if (format::account_of(id) != 1) return;
    if (id == contents_of(id)) return take_content(row);
    if (has_large_values(id)) return take_entity(row);
    take_blob(row);
  }

  void take_entity(const engine::Cursor& row) {
    ++entities_;
    const Result<format::EncodedEntity> decoded = format::EncodedEntity::open(row.value());
    const format::EncodedEntity* const entity = checked(decoded);
    for (std::size_t i = 0; entity != nullptr && i < entity->property_count(); ++i) {
      const format::PropertyView property = entity->property(i);
      if (property.type != format::PropertyType::kLargeValue) continue;
      own(property.as_large_value().content, property.as_large_value().length);
      values_.insert(property.as_large_value().content);
    }
  }

  void take_work(const engine::Cursor& row) {
    const Result<Work> decoded = decode_work_key(row.key());
    const Work* const work = checked(decoded);
    if (work == nullptr) return;
    ++(work->kind == WorkKind::kExpiry ? expiries_ : work_);
  }

  void take_content(const engine::Cursor& row) {
    const Result<ContentPlace> decoded = decode_content_key(row.key());
    const ContentPlace* const place = checked(decoded);
    if (place == nullptr) return;
    Content& content = contents_[place->content];
    if (!place->offset) {
      const Result<ContentHead> head = decode_content_head(row.value());
      if (checked(head) != nullptr) content.head = *head;
      return;
    }
    const Result<std::string_view> bytes = decode_part(place->content, *place->offset, row.value());
    if (checked(bytes) == nullptr) return;
    content.parts[*place->offset] = bytes->size();
    if (!content.head || content.head->kind != ContentKind::kList) return;
    const Result<std::vector<ListEntry>> entries = decode_list_entries(*bytes);
    if (checked(entries) == nullptr) return;
    content.parts[*place->offset] = entries->size();
    for (const ListEntry& entry : *entries) {
      if (entry.offset != content.list_bytes) fault("a list with a gap");
      content.list_bytes += entry.length;
      own(entry.content, entry.length);
    }
  }

  void take_blob(const engine::Cursor& row) {
    switch (blob_row_kind(row.key())) {
      case 'B': {
        const Result<BlobRow> blob = decode_blob_row(row.version(), row.value());
        if (checked(blob) == nullptr) return;
        ++blobs_;
        std::uint64_t length = blob->inlined.size();
        for (const ContentPiece& piece : blob->pieces) {
          own(piece.content, piece.length);
          length += piece.length;
        }
        if (length != blob->length) fault("a blob has another length than its contents");
        return;
      }
      case 'H': {
        const Result<StagedList> list = decode_staged_list(row.value());
        if (checked(list) != nullptr) lists_[list->generation] = list->count;
        return;
      }
      case 'U': {
        const Result<StagedBlock> block = decode_staged_block(row.value());
        const std::optional<KeyParts> parts = key_parts_of(row.key());
        const auto generation = parts ? parse_kind_and_number('U', parts->first) : std::nullopt;
        if (!generation) return fault("the key of a block has no generation");
        if (checked(block) == nullptr) return;
        own(block->piece.content, block->piece.length);
        ++blocks_[*generation];
        return;
      }
      default: fault("a row of no kind in table " + std::to_string(format::table_id_of(row.key())));
    }
  }

  void own(ContentId content, std::uint64_t length) {
    ++owners_[content];
    lengths_[content] = std::max(lengths_[content], length);
  }

  void judge(ContentId id, const Content& content) {
    const std::string name = "content " + std::to_string(id);
    if (!content.head) return fault(name + " has no head");
    const auto owners = owners_.find(id);
    const std::uint32_t named = owners == owners_.end() ? 0 : owners->second;
    if (content.head->owners != named) {
      fault(name + " has " + std::to_string(content.head->owners) + " owners by its head, and " +
            std::to_string(named) + " by a recount");
    }
    if (named == 0) fault(name + " is not named");
    if ((content.head->kind == ContentKind::kValue) != values_.contains(id)) fault(name + " has the wrong owners");
    std::uint64_t end = 0;
    for (const auto& [offset, size] : content.parts) {
      if (offset != end) fault(name + " has a gap before " + std::to_string(offset));
      end = offset + size;
    }
    const bool grows = content.head->kind == ContentKind::kGrowing;
    const std::uint64_t length = grows ? lengths_[id] : content.head->length;
    if (end != length) fault(name + " has another length than it should have");
    const bool is_list = content.head->kind == ContentKind::kList;
    if ((is_list ? content.list_bytes : end) != lengths_[id]) fault(name + " has another length than its owners say");
  }

  std::map<ContentId, Content> contents_;
  std::map<ContentId, std::uint32_t> owners_;
  std::map<ContentId, std::uint64_t> lengths_;
  std::map<std::uint64_t, std::uint32_t> lists_;
  std::map<std::uint64_t, std::uint32_t> blocks_;
  std::size_t work_ = 0;
  std::size_t expiries_ = 0;
  std::size_t blobs_ = 0;
  std::size_t entities_ = 0;
  std::set<ContentId> values_;
  std::vector<std::string> faults_;
};

/// A store, on a disk that another machine left, whose keeper can be waited for: time is simulated.
class SettledStore {
 public:
  SettledStore(std::uint64_t seed, io::MemoryDisk disk, std::chrono::nanoseconds later = {},
               std::string_view path = kStorePath)
      : machine_(seed, OneThreadAtATime{}, std::move(disk)), env_(machine_.env()), path_(path) {
    machine_.clock.advance(later);
    StoreOptions options;
    options.env = &env_;
    Result<std::unique_ptr<Store>> opened = Store::open(path_, options);
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    if (!opened.ok()) std::abort();
    store_ = *std::move(opened);
  }

  Store& store() { return *store_; }
  /// Lets the keeper do all that can be done.
  void settle() {
    Result<Container> used = store_->create_container(kAccount, "settled");
    EXPECT_TRUE(used.ok()) << used.status().to_string();
    EXPECT_TRUE(used->list().ok());
    EXPECT_EQ(said(store_->drop_container(kAccount, "settled")), kDone);
    wait_for_keeper();
  }
  /// Waits for a keeper that has begun by itself. No container is used.
  void wait_for_keeper() {
    if (Status made = store_->create_account("waiter"); !made.ok()) {
      EXPECT_EQ(made.code(), Code::kExists);
    }
    Result<Queue> queue = store_->create_queue("waiter", "waiting");
    EXPECT_TRUE(queue.ok()) << queue.status().to_string();
    for (int i = 0; i < 3; ++i) (void)queue->get({.wait = std::chrono::seconds(61)});
    EXPECT_EQ(said(store_->drop_queue("waiter", "waiting")), kDone);
  }
  void pass(std::chrono::nanoseconds time) { machine_.clock.advance(time); }
  /// Closes the store, and reads all its rows.
  BlobRecount recount() {
    store_.reset();
    auto engine = engine::Engine::open(env_, path_, Machine::writable());
    EXPECT_TRUE(engine.ok()) << engine.status().to_string();
    if (!engine.ok()) std::abort();
    return BlobRecount((*engine)->view());
  }

 private:
  Machine machine_;
  io::Env env_;
  const std::string path_;
  std::unique_ptr<Store> store_;
};

/// Runs `body` on a thread that no simulation knows, while the caller's simulation waits, so that it may make its own.
inline void run_outside(std::function<void()> body) {
  io::Scheduler threads;
  const Result<io::Thread> thread = threads.start("outside", std::move(body));
  ASSERT_TRUE(thread.ok());
}

inline void expect_settled(const BlobRecount& recount) {
  for (const std::string& fault : recount.faults()) ADD_FAILURE() << fault;
  EXPECT_EQ(recount.work(), 0U) << "work was left";
}

}  // namespace varve::test
