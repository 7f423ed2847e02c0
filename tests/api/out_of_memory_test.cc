// Goal: if any single allocation of any operation fails, the error is reported and nothing changes.
// Method: each operation is repeated with its 1st, 2nd, 3rd... allocation failing, until it needs no more. It uses this
// machine's own files, because the in-memory file system would allocate too.
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/allocation_sweep.h"
#include "tests/api/store_bench.h"
#include "tests/io/temporary_directory.h"
#include "tests/support/allocation_counter.h"
#include "varve/blob.h"
#include "varve/queue.h"

namespace varve::out_of_memory_test {
namespace {

using namespace test;

class OutOfMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    StoreOptions options;
    options.create_if_absent = true;
    Result<std::unique_ptr<Store>> opened = Store::open(directory_.path() + "/store", options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    store_ = *std::move(opened);
    ASSERT_TRUE(store_->create_account(kAccount).ok());
    Result<Table> table = store_->create_table(kAccount, "Orders");
    ASSERT_TRUE(table.ok()) << table.status().to_string();
    table_.emplace(*std::move(table));
    ASSERT_TRUE(table_->insert(with_value("p", "r", "first")).ok());
    ASSERT_TRUE(table_->insert(with_value("p", "s", "first")).ok());
  }
  void expect_unchanged() {
    EXPECT_EQ(keys_of(*table_->scan(Scan{})), (std::vector<std::string>{"p/r", "p/s"}));
    EXPECT_EQ(value_in(*table_, "p", "r"), "first");
  }

  io::TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
  std::optional<Table> table_;
};

TEST_F(OutOfMemory, InAReadIsTold) {
  sweep([&] { return table_->get("p", "r").status(); }, [&](std::uint64_t) { expect_unchanged(); });
  sweep([&] { return table_->scan(Scan{}).status(); }, [&](std::uint64_t) { expect_unchanged(); });
  Scan ordered;
  ordered.order_by = "V desc, RowKey";
  ordered.page_entities_max = 1;
  sweep([&] { return table_->scan(ordered).status(); }, [&](std::uint64_t) { expect_unchanged(); });
  sweep([&] { return store_->list_tables(kAccount).status(); }, [&](std::uint64_t) { expect_unchanged(); });
  sweep([&] { return store_->list_accounts().status(); }, [&](std::uint64_t) { expect_unchanged(); });
  sweep([&] { return store_->snapshot().status(); }, [&](std::uint64_t) { expect_unchanged(); });
  sweep([&] { return store_->statistics().status(); }, [&](std::uint64_t) { expect_unchanged(); });
  sweep([&] { return store_->open_table(kAccount, "orders").status(); }, [&](std::uint64_t) { expect_unchanged(); });
}

TEST_F(OutOfMemory, InAWriteChangesNothing) {
  Entity entity = with_value("p", "r", "a value that is longer than a short string");
  for (int i = 0; i < 40; ++i) entity.set("Another" + std::to_string(i), i);
  sweep([&] { return table_->replace(entity, ETag::any()).status(); }, [&](std::uint64_t) { expect_unchanged(); });
  EXPECT_EQ(read(*table_, "p", "r")->properties().size(), 41u);
}

TEST_F(OutOfMemory, InAMergeChangesNothing) {
  Entity entity("p", "r");
  for (int i = 0; i < 40; ++i) entity.set("Another" + std::to_string(i), i);
  sweep([&] { return table_->merge(entity, ETag::any()).status(); },
        [&](std::uint64_t) {
          expect_unchanged();
          EXPECT_EQ(read(*table_, "p", "r")->properties().size(), 1u);
        });
}

TEST_F(OutOfMemory, InAPatchChangesNothing) {
  Patch patch("p", "r");
  for (int i = 0; i < 40; ++i) patch.increment("APropertyWithALongName" + std::to_string(i), i);
  patch.set("AnotherPropertyWithALongName", 5).remove("V").only_if("V eq 'first' or RowKey eq 'a long row key'");
  sweep([&] { return table_->patch(patch, ETag::any()).status(); },
        [&](std::uint64_t) {
          expect_unchanged();
          EXPECT_EQ(read(*table_, "p", "r")->properties().size(), 1u);
        });
  EXPECT_EQ(read(*table_, "p", "r")->properties().size(), 41u);
}

TEST_F(OutOfMemory, InATransactionChangesNothing) {
  EntityGroupTransaction transaction;
  transaction.insert(with_value("p", "new", "x")).merge(with_value("p", "r", "second"), ETag::any());
  transaction.remove("p", "s", ETag::any());
  sweep([&] { return table_->execute(transaction).status(); }, [&](std::uint64_t) { expect_unchanged(); });
  EXPECT_EQ(keys_of(*table_->scan(Scan{})), (std::vector<std::string>{"p/new", "p/r"}));
}

TEST_F(OutOfMemory, InAChangeByFilterLeavesWholeEntities) {
  const Where first{.filter = "V eq 'first' and not Gone"};
  const PropertyChanges changes{.set = {{"V", Value("first")}}, .remove = {"Gone"}};
  const auto nothing_to_undo = [] {};
  sweep([&] { return table_->update_where(first, changes).status(); }, [&](std::uint64_t) { expect_unchanged(); },
        nothing_to_undo);
  const WhereOptions dry{.dry_run = true};
  sweep([&] { return table_->delete_where(first, dry).status(); }, [&](std::uint64_t) { expect_unchanged(); },
        nothing_to_undo);
}

TEST_F(OutOfMemory, InATransactionOverPartitionsChangesNothing) {
  for (std::uint64_t nth = 1;; ++nth) {
    ASSERT_LT(nth, 1000u);
    SCOPED_TRACE("allocation " + std::to_string(nth));
    Result<StoreTransaction> transaction = store_->begin_transaction();
    ASSERT_TRUE(transaction.ok());
    ASSERT_TRUE(transaction->get(*table_, "p", "r").ok());
    transaction->insert(*table_, with_value("q", "new", "x")).remove(*table_, "p", "s", ETag::any());
    Status status;
    bool failed = false;
    {
      const AllocationFailure failure(nth);
      status = transaction->commit().status();
      failed = failure.happened();
    }
    if (!failed) {
      EXPECT_TRUE(status.ok()) << status.to_string();
      break;
    }
    ASSERT_EQ(status.code(), Code::kOutOfMemory) << status.to_string();
    expect_unchanged();
    if (HasFailure()) return;
  }
  EXPECT_EQ(keys_of(*table_->scan(Scan{})), (std::vector<std::string>{"p/r", "q/new"}));
}

TEST_F(OutOfMemory, InATransactionThatChecksARangeChangesNothing) {
  for (std::uint64_t nth = 1;; ++nth) {
    ASSERT_LT(nth, 1000u);
    SCOPED_TRACE("allocation " + std::to_string(nth));
    Result<StoreTransaction> transaction = store_->begin_transaction();
    ASSERT_TRUE(transaction.ok());
    transaction->insert(*table_, with_value("p", "t", "x"));
    Scan scan;
    scan.range = ScanRange::partition("p");
    Status status;
    bool failed = false;
    {
      const AllocationFailure failure(nth);
      status = transaction->scan_checked(*table_, std::move(scan)).status();
      if (status.ok()) status = transaction->commit().status();
      failed = failure.happened();
    }
    if (!failed) {
      EXPECT_TRUE(status.ok()) << status.to_string();
      break;
    }
    ASSERT_EQ(status.code(), Code::kOutOfMemory) << status.to_string();
    expect_unchanged();
    if (HasFailure()) return;
  }
  EXPECT_EQ(keys_of(*table_->scan(Scan{})), (std::vector<std::string>{"p/r", "p/s", "p/t"}));
}

TEST_F(OutOfMemory, InAVerbOfAQueueChangesNothing) {
  sweep([&] { return store_->create_queue(kAccount, "orders").status(); },
        [&](std::uint64_t) { EXPECT_TRUE((*store_->list_queues(kAccount)).queues.empty()); });
  Queue queue = *store_->open_queue(kAccount, "orders");
  const auto expect_messages = [&](std::uint64_t count, std::uint32_t deliveries) {
    EXPECT_EQ((*queue.figures()).messages, count);
    const std::vector<Message> messages = *queue.peek(32);
    ASSERT_EQ(messages.size(), count);
    for (const Message& message : messages) EXPECT_EQ(message.deliveries, deliveries);
  };
  const std::string text(17'000, 'x');
  PutOptions keyed;
  keyed.deduplication_key = "a key that is longer than a short string";
  sweep([&] { return queue.put(text, keyed).status(); }, [&](std::uint64_t) { expect_messages(0, 0); });
  sweep([&] { return queue.peek().status(); }, [&](std::uint64_t) { expect_messages(1, 0); });
  std::vector<ReceivedMessage> got;
  sweep(
      [&] {
        Result<std::vector<ReceivedMessage>> taken = queue.get();
        if (taken.ok()) got = *std::move(taken);
        return taken.status();
      },
      [&](std::uint64_t) { expect_messages(1, 0); });
  ASSERT_EQ(got.size(), 1u);
  UpdatedMessage updated;
  sweep(
      [&] {
        const Result<UpdatedMessage> changed =
            queue.update(got[0].id, got[0].receipt, std::chrono::milliseconds(0), "a text that is longer than short");
        if (changed.ok()) updated = *changed;
        return changed.status();
      },
      [&](std::uint64_t) { EXPECT_EQ((*queue.figures()).text_bytes, text.size()); });
  sweep([&] { return queue.remove(got[0].id, updated.receipt); }, [&](std::uint64_t) { expect_messages(1, 1); });
  expect_messages(0, 0);
  sweep([&] { return queue.clear(); }, [&](std::uint64_t) { expect_messages(0, 0); });
  sweep([&] { return store_->drop_queue(kAccount, "orders"); },
        [&](std::uint64_t) { EXPECT_EQ((*store_->list_queues(kAccount)).queues.size(), 1u); });
  expect_unchanged();
}

TEST_F(OutOfMemory, InATransactionWithMessagesChangesNothing) {
  Queue queue = *store_->create_queue(kAccount, "orders");
  ASSERT_TRUE(queue.put("before").ok());
  const ReceivedMessage before = (*queue.get()).front();
  for (std::uint64_t nth = 1;; ++nth) {
    ASSERT_LT(nth, 1000u);
    SCOPED_TRACE("allocation " + std::to_string(nth));
    Result<StoreTransaction> transaction = store_->begin_transaction();
    ASSERT_TRUE(transaction.ok());
    transaction->insert(*table_, with_value("q", "new", "x"))
        .put(queue, std::string(17'000, 'x'))
        .remove(queue, before);
    Status status;
    bool failed = false;
    {
      const AllocationFailure failure(nth);
      status = transaction->commit().status();
      failed = failure.happened();
    }
    if (!failed) {
      EXPECT_TRUE(status.ok()) << status.to_string();
      break;
    }
    ASSERT_EQ(status.code(), Code::kOutOfMemory) << status.to_string();
    expect_unchanged();
    EXPECT_EQ((*queue.figures()).text_bytes, 6u);
    if (HasFailure()) return;
  }
  EXPECT_EQ((*queue.figures()).text_bytes, 17'000u);
  EXPECT_EQ(keys_of(*table_->scan(Scan{})), (std::vector<std::string>{"p/r", "p/s", "q/new"}));
}

TEST_F(OutOfMemory, InATransactionWithBlobsChangesNothing) {
  Container photos = *store_->create_container(kAccount, "photos");
  ASSERT_TRUE(photos.put("before", "before").ok());
  for (std::uint64_t nth = 1;; ++nth) {
    ASSERT_LT(nth, 3000u);
    SCOPED_TRACE("allocation " + std::to_string(nth));
    Result<BlobWriter> writer = photos.write("written");
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->append(std::string(20'000, 'w')).ok());
    Result<StoreTransaction> transaction = store_->begin_transaction();
    ASSERT_TRUE(transaction.ok());
    transaction->insert(*table_, with_value("q", "new", "x"))
        .publish(*std::move(writer))
        .put(photos, "put", std::string(17'000, 'x'))
        .copy(photos, "copy", photos, "before")
        .remove(photos, "before");
    Status status;
    bool failed = false;
    {
      const AllocationFailure failure(nth);
      status = transaction->commit().status();
      failed = failure.happened();
    }
    if (!failed) {
      EXPECT_TRUE(status.ok()) << status.to_string();
      EXPECT_EQ(transaction->written_blobs().size(), 3u);
      break;
    }
    ASSERT_EQ(status.code(), Code::kOutOfMemory) << status.to_string();
    expect_unchanged();
    EXPECT_EQ((*photos.list()).entries.size(), 1u);
    if (HasFailure()) return;
  }
  EXPECT_EQ((*photos.list()).entries.size(), 3u);
  EXPECT_EQ(keys_of(*table_->scan(Scan{})), (std::vector<std::string>{"p/r", "p/s", "q/new"}));
}

TEST_F(OutOfMemory, InAVerbOfAContainerChangesNothing) {
  const std::string text = "a text that is longer than a short string";
  sweep([&] { return store_->create_container(kAccount, "photos").status(); },
        [&](std::uint64_t) { EXPECT_EQ(store_->open_container(kAccount, "photos").code(), Code::kNotFound); });
  Container photos = *store_->open_container(kAccount, "photos");
  const ContainerState made = *photos.container_state();
  const std::vector<MetadataPair> pair = {{"name", text}};
  sweep([&] { return photos.set_container_metadata(pair).status(); },
        [&](std::uint64_t) { EXPECT_EQ((*photos.container_state()).etag, made.etag); });
  const auto expect_none = [&](std::uint64_t) { EXPECT_EQ(photos.state("a").code(), Code::kNotFound); };
  BlobWriteOptions options;
  options.metadata = {{"name", text}};
  const std::string content(100'000, 'x');
  sweep([&] { return photos.put("a", content, options).status(); }, expect_none);
  BlobState before = *photos.state("a");
  const auto expect_before = [&](std::uint64_t) {
    const Result<BlobState> now = photos.state("a");
    ASSERT_TRUE(now.ok());
    EXPECT_EQ(now->etag, before.etag);
    EXPECT_EQ(now->lease.state, before.lease.state);
    EXPECT_EQ(now->tags.size(), before.tags.size());
  };
  const std::vector<BlobTag> tags = {{"kind", text}};
  sweep([&] { return photos.set_tags("a", tags).status(); }, expect_before);
  before = *photos.state("a");
  sweep([&] { return photos.set_metadata("a", pair).status(); }, expect_before);
  before = *photos.state("a");
  LeaseRequest acquire;
  acquire.action = LeaseRequest::Action::kAcquire;
  sweep([&] { return photos.lease("a", acquire).status(); }, expect_before);
  sweep([&] { return photos.copy("b", photos, "a").status(); },
        [&](std::uint64_t) { EXPECT_EQ(photos.state("b").code(), Code::kNotFound); });
  sweep([&] { return photos.create_append_blob("log", options).status(); },
        [&](std::uint64_t) { EXPECT_EQ(photos.state("log").code(), Code::kNotFound); });
  sweep([&] { return photos.append("log", text).status(); },
        [&](std::uint64_t) { EXPECT_EQ((*photos.state("log")).length, 0U); });
  sweep([&] { return photos.remove("b"); }, [&](std::uint64_t) { EXPECT_TRUE(photos.state("b").ok()); });
  expect_unchanged();
}

TEST_F(OutOfMemory, InBlocksOfABlobChangesNothing) {
  Container photos = *store_->create_container(kAccount, "photos");
  const std::string id = "an id that is longer than a short string";
  const std::string content(2'000'000, 'x');
  const auto staged = [&] {
    const Result<BlockLists> lists = photos.blocks("a");
    return lists.ok() ? lists->staged.size() : 0;
  };
  const auto stage = [&] {
    Result<BlobWriter> writer = photos.stage_block("a", id);
    if (!writer.ok()) return writer.status();
    if (Status added = writer->append(content); !added.ok()) return added;
    return writer->publish().status();
  };
  sweep(
      stage, [&](std::uint64_t) { EXPECT_EQ(staged(), 0U); },
      [&] {
        EXPECT_EQ(staged(), 1U);
        EXPECT_TRUE(photos.commit_blocks("a", {}).ok());
        EXPECT_TRUE(photos.remove("a").ok());
      });
  const std::vector<BlockChoice> chosen = {{id}};
  // After some commits with deletes, the store looks for others around them. That search may do without memory.
  sweep([&] { return photos.commit_blocks("a", chosen).status(); },
        [&](std::uint64_t) { EXPECT_EQ(photos.state("a").code(), Code::kNotFound); },
        [&] {
          EXPECT_EQ((*photos.state("a")).length, 2'000'000U);
          EXPECT_TRUE(photos.remove("a").ok());
          EXPECT_TRUE(stage().ok());
        });
  EXPECT_EQ((*photos.state("a")).length, 2'000'000U);
}

TEST_F(OutOfMemory, InAnAppendToAWriterRefusesItsPublication) {
  Container photos = *store_->create_container(kAccount, "photos");
  const std::string bytes(3'500'000, 'x');
  for (std::uint64_t nth = 1;; ++nth) {
    ASSERT_LT(nth, 1000u);
    SCOPED_TRACE("allocation " + std::to_string(nth));
    Result<BlobWriter> writer = photos.write("a");
    ASSERT_TRUE(writer.ok());
    Status appended;
    bool failed = false;
    {
      const AllocationFailure failure(nth);
      appended = writer->append(bytes);
      failed = failure.happened();
    }
    if (!failed) break;
    if (appended.ok()) continue;
    EXPECT_EQ(writer->append("more").code(), Code::kOutOfMemory);
    EXPECT_EQ(writer->publish().status().code(), Code::kOutOfMemory);
    ASSERT_EQ(photos.state("a").code(), Code::kNotFound);
  }
}

TEST_F(OutOfMemory, InTheMakingAndDroppingOfTablesAndAccountsChangesNothing) {
  sweep([&] { return store_->create_account("second"); },
        [&](std::uint64_t) { EXPECT_EQ((*store_->list_accounts()).accounts.size(), 1u); });
  sweep([&] { return store_->create_table("second", "Another").status(); },
        [&](std::uint64_t) { EXPECT_EQ((*store_->list_tables("second")).tables.size(), 0u); });
  Table another = *store_->open_table("second", "another");
  ASSERT_TRUE(another.insert(with_value("p", "r", "x")).ok());
  sweep([&] { return store_->drop_table("second", "Another"); },
        [&](std::uint64_t) { EXPECT_EQ(value_in(another, "p", "r"), "x"); });
  ASSERT_TRUE(store_->create_table("second", "Another").ok());
  ASSERT_TRUE(another.insert(with_value("p", "r", "y")).ok());
  sweep([&] { return store_->drop_account("second"); },
        [&](std::uint64_t) { EXPECT_EQ(value_in(another, "p", "r"), "y"); });
  EXPECT_EQ(said(another.get("p", "r")), kTableNotFound);
  expect_unchanged();
}

TEST(OutOfMemoryOfAStore, InItsRepairIsToldAndLeavesNoStore) {
  const io::TemporaryDirectory directory;
  const std::string path = directory.path() + "/store";
  const std::string target = directory.path() + "/target";
  {
    StoreOptions options;
    options.create_if_absent = true;
    const Result<std::unique_ptr<Store>> store = Store::open(path, options);
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    ASSERT_TRUE((*store)->create_account(kAccount).ok());
    Result<Table> table = (*store)->create_table(kAccount, "Orders");
    ASSERT_TRUE(table.ok());
    ASSERT_TRUE(table->insert(with_value("p", "r", "first")).ok());
    ASSERT_TRUE((*store)->compact().ok());
    ASSERT_TRUE(table->insert(with_value("p", "s", "first")).ok());
    ASSERT_TRUE((*store)->close().ok());
  }
  // If only the text of a message lacked memory, the repair continues, and must be complete.
  std::uint64_t refused = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    const std::string place = target + std::to_string(nth);
    Result<RepairReport> report = Status(Code::kClosed);
    bool failed = false;
    {
      const AllocationFailure failure(nth);
      report = Store::repair(path, place);
      failed = failure.happened();
    }
    const Result<std::unique_ptr<Store>> repaired = Store::open(place, {});
    if (report.ok()) {
      EXPECT_TRUE(report->was_sound());
      ASSERT_TRUE(repaired.ok()) << repaired.status().to_string();
      EXPECT_EQ(value_in(*(*repaired)->open_table(kAccount, "Orders"), "p", "s"), "first");
    } else {
      ++refused;
      ASSERT_EQ(report.code(), Code::kOutOfMemory) << report.status().to_string();
      ASSERT_FALSE(repaired.ok());
    }
    if (!failed) break;
  }
  EXPECT_GT(refused, 100u);
  EXPECT_TRUE((*Store::verify(path)).sound());
}

}  // namespace
}  // namespace varve::out_of_memory_test
