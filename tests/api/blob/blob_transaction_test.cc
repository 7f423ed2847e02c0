// Goal: blobs, entities and messages of one transaction are committed together or not at all (BX-20).
// Method: transactions that succeed, and one for each reason to fail. After a failure nothing has changed.
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"
#include "varve/limits.h"
#include "varve/queue.h"
#include "varve/verify.h"

namespace varve::test::blob_transaction_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kLarge = uneven_bytes(1'300'000);

class BlobTransactions : public testing::Test {
 protected:
  BlobTransactions() { put_blob(photos_, "there", "before"); }

  StoreTransaction begin() { return *bench_.store->begin_transaction(); }
  /// A writer with a content of two parts.
  BlobWriter written(const std::string& blob, const BlobWriteOptions& options = {}) {
    Result<BlobWriter> writer = photos_.write(blob, options);
    EXPECT_EQ(said(writer), kFine);
    EXPECT_EQ(said(writer->append(kLarge)), kFine);
    return *std::move(writer);
  }
  /// Commits a transaction whose write `index` must be refused, beside the insert of an entity.
  void expect_refused(StoreTransaction& transaction, const Said& expected, std::uint32_t index) {
    transaction.insert(table_, with_value("p", "new", "1"));
    const Result<std::vector<ETag>> refused = transaction.commit();
    EXPECT_EQ(said(refused), expected) << refused.status().to_string();
    EXPECT_EQ(refused.status().operation_index(), index);
    EXPECT_THAT(transaction.written_blobs(), IsEmpty());
    expect_nothing_changed();
  }
  void expect_nothing_changed() {
    EXPECT_EQ(value_in(table_, "p", "new"), "-");
    EXPECT_EQ(names(), std::vector<std::string>{"there"});
    EXPECT_EQ(content_in(photos_, "there"), "before");
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    const Result<BlobPage> page = photos_.list({.with_uncommitted = true});
    EXPECT_TRUE(page.ok()) << page.status().to_string();
    for (const BlobListed& entry : page->entries) found.push_back(entry.blob.name);
    return found;
  }

  BlobBench bench_;
  Table table_ = bench_.table();
  Container photos_ = bench_.container();
};

TEST_F(BlobTransactions, BX20_AnEntityAndItsBlobsAreOneState) {
  Result<Queue> orders = bench_.store->create_queue(kAccount, "orders");
  ASSERT_EQ(said(orders), kFine);
  StoreTransaction transaction = begin();
  transaction.insert(table_, with_value("p", "new", "large"))
      .publish(written("large", {.properties = {.content_type = "image/jpeg"}}))
      .put(*orders, "p/new has a photo")
      .put(photos_, "small", "text", {.metadata = {{"of", "new"}}})
      .copy(photos_, "copy", photos_, "there")
      .remove(photos_, "there");
  EXPECT_EQ(transaction.size(), 6U);
  EXPECT_THAT(names(), ElementsAre("there")) << "nothing is visible before the commit";
  const Result<std::vector<ETag>> etags = transaction.commit();
  ASSERT_TRUE(etags.ok()) << etags.status().to_string();
  ASSERT_EQ(etags->size(), 1U);
  EXPECT_EQ(value_in(table_, "p", "new"), "large");
  EXPECT_THAT(names(), ElementsAre("copy", "large", "small"));
  EXPECT_EQ(content_in(photos_, "large"), kLarge);
  EXPECT_EQ(content_in(photos_, "small"), "text");
  EXPECT_EQ(content_in(photos_, "copy"), "before");
  ASSERT_EQ(transaction.written_blobs().size(), 3U);
  for (const BlobState& state : transaction.written_blobs()) {
    const BlobState found = state_in(photos_, state.name);
    EXPECT_EQ(state.etag, found.etag);
    EXPECT_EQ(state.etag, etags->front()) << "one commit, one version";
    EXPECT_EQ(state.created, found.created);
    EXPECT_EQ(state.length, found.length);
    EXPECT_EQ(state.properties, found.properties);
    EXPECT_EQ(state.metadata, found.metadata);
  }
  EXPECT_EQ(transaction.sent_messages().size(), 1U);
  EXPECT_EQ(said(transaction.commit()), kInvalidInput) << "it has ended";
}

TEST_F(BlobTransactions, BX20_BlobsAloneAreATransactionOverContainersAndAccounts) {
  ASSERT_EQ(said(bench_.store->create_account("second")), kFine);
  Container others = bench_.container("others");
  Result<Container> foreign = bench_.store->create_container("second", "photos");
  ASSERT_EQ(said(foreign), kFine);
  StoreTransaction transaction = begin();
  transaction.publish(written("a")).put(others, "a", "others").put(*foreign, "a", kLarge).put(*foreign, "b", "");
  EXPECT_EQ(said(transaction.commit({.durability = Durability::kBuffered})), kFine);
  const Container photos = bench_.reopened();
  EXPECT_EQ(content_in(photos, "a"), kLarge);
  EXPECT_EQ(content_in(*bench_.store->open_container(kAccount, "others"), "a"), "others");
  EXPECT_EQ(content_in(*bench_.store->open_container("second", "photos"), "a"), kLarge);
  EXPECT_EQ(content_in(*bench_.store->open_container("second", "photos"), "b"), "");
}

TEST_F(BlobTransactions, BX20_EachBlobIsJudgedByItsStateBefore) {
  put_blob(photos_, "there", kLarge);
  StoreTransaction rename = begin();
  rename.copy(photos_, "renamed", photos_, "there").remove(photos_, "there");
  EXPECT_EQ(said(rename.commit()), kFine);
  EXPECT_THAT(names(), ElementsAre("renamed"));
  StoreTransaction keep = begin();
  keep.publish(written("renamed")).copy(photos_, "before", photos_, "renamed").copy(photos_, "too", photos_, "renamed");
  EXPECT_EQ(said(keep.commit()), kFine);
  const std::string before = content_in(photos_, "before");
  EXPECT_TRUE(before == kLarge && before == content_in(photos_, "too"));
  StoreTransaction swap = begin();
  swap.copy(photos_, "too", photos_, "renamed").copy(photos_, "renamed", photos_, "too").remove(photos_, "before");
  EXPECT_EQ(said(swap.commit()), kFine);
  EXPECT_THAT(names(), ElementsAre("renamed", "too"));
  EXPECT_EQ(content_in(photos_, "too"), kLarge);
}

TEST_F(BlobTransactions, BX20_ARefusedEntityTakesTheBlobsWithIt) {
  ASSERT_EQ(said(table_.insert(with_value("p", "old", "1"))), kFine);
  StoreTransaction transaction = begin();
  transaction.publish(written("large"))
      .put(photos_, "small", kLarge)
      .remove(photos_, "there")
      .insert(table_, with_value("p", "old", "2"));
  expect_refused(transaction, kEntityAlreadyExists, 3);
  StoreTransaction reader = begin();
  ASSERT_EQ(said(reader.get(table_, "p", "old")), kFine);
  ASSERT_EQ(said(table_.insert_or_replace(with_value("p", "old", "3"))), kFine);
  reader.publish(written("large")).remove(photos_, "there");
  EXPECT_EQ(said(reader.commit()), (Said{Code::kConflict, ""})) << "an entity that was read has been written";
  expect_nothing_changed();
}

TEST_F(BlobTransactions, BX20_ARefusedBlobTakesTheEntityWithIt) {
  const BlobConditions absent{.if_none_match = ETag::any()};
  const BlobConditions other{.if_match = ETag::of_timestamp(DateTime{5})};
  const BlobConditions leased{.lease = guid_of('1')};
  StoreTransaction exists = begin();
  exists.put(photos_, "new", "1").put(photos_, "there", "after", {.conditions = absent});
  expect_refused(exists, kBlobExists, 1);
  StoreTransaction changed = begin();
  changed.remove(photos_, "there", {.conditions = other});
  expect_refused(changed, kConditionNotMet, 0);
  StoreTransaction no_lease = begin();
  no_lease.put(photos_, "there", "after", {.conditions = leased});
  expect_refused(no_lease, {Code::kPreconditionFailed, "LeaseNotPresentWithBlobOperation"}, 0);
  StoreTransaction none = begin();
  none.publish(written("new")).remove(photos_, "none");
  expect_refused(none, kBlobGone, 1);
  StoreTransaction no_source = begin();
  no_source.copy(photos_, "new", photos_, "none");
  expect_refused(no_source, kBlobGone, 0);
  StoreTransaction source = begin();
  source.copy(photos_, "new", photos_, "there", {.source_conditions = other});
  expect_refused(source, {Code::kPreconditionFailed, "SourceConditionNotMet"}, 0);
}

TEST_F(BlobTransactions, BX20_ConditionsOfAWriterAreJudgedByTheCommit) {
  BlobWriter writer = written("new", {.conditions = {.if_none_match = ETag::any()}});
  put_blob(photos_, "new", "faster");
  StoreTransaction transaction = begin();
  transaction.publish(std::move(writer)).insert(table_, with_value("p", "new", "1"));
  EXPECT_EQ(said(transaction.commit()), kBlobExists);
  EXPECT_EQ(content_in(photos_, "new"), "faster");
  EXPECT_EQ(value_in(table_, "p", "new"), "-");
}

TEST_F(BlobTransactions, WritersThatCannotPublishAreRefused) {
  BlobWriter once = written("new");
  StoreTransaction twice = begin();
  twice.publish(std::move(once));
  twice.publish(std::move(once));  // NOLINT(bugprone-use-after-move): that it is refused is the point
  expect_refused(twice, kInvalidInput, 1);
  BlobWriter ended = written("new");
  ASSERT_EQ(said(ended.publish()), kFine);
  ASSERT_EQ(said(photos_.remove("new")), kFine);
  StoreTransaction late = begin();
  late.publish(std::move(ended));
  expect_refused(late, kInvalidInput, 0);
  Result<BlobWriter> block = photos_.stage_block("new", "1");
  ASSERT_EQ(said(block), kFine);
  ASSERT_EQ(said(block->append("block")), kFine);
  StoreTransaction staged = begin();
  staged.publish(*std::move(block));
  expect_refused(staged, kInvalidInput, 0);
  ASSERT_EQ(said(photos_.create_append_blob("log")), kFine);
  Result<BlobWriter> appending = photos_.write_append("log");
  ASSERT_EQ(said(appending), kFine);
  ASSERT_EQ(said(appending->append("line")), kFine);
  StoreTransaction appended = begin();
  appended.publish(*std::move(appending));
  EXPECT_EQ(said(appended.commit()), kInvalidInput);
  EXPECT_EQ(state_in(photos_, "log").kind, BlobKind::kAppend);
  ASSERT_EQ(said(photos_.remove("log")), kFine);
  BlobWrite moved = BlobWrite::put(photos_, "new", "1");
  StoreTransaction gone = begin();
  gone.add(std::move(moved));
  gone.add(std::move(moved));  // NOLINT(bugprone-use-after-move): that it is refused is the point
  expect_refused(gone, kInvalidInput, 1);
}

TEST_F(BlobTransactions, AWriterThatLostBytesPublishesNothing) {
  ResourceOptions resources;
  resources.write_buffer_bytes = 300'000;
  StoreOptions options = bench_.options();
  options.resources = *Resources::create(resources);
  bench_.open(options);
  photos_ = *bench_.store->open_container(kAccount, "photos");
  table_ = *bench_.store->open_table(kAccount, "Orders");
  const auto failed = [&] {
    Result<BlobWriter> writer = photos_.write("new");
    EXPECT_EQ(said(writer), kFine);
    EXPECT_EQ(writer->append(kLarge).code(), Code::kNoSpace) << "a part does not fit the write buffer";
    return *std::move(writer);
  };
  EXPECT_EQ(failed().publish().status().code(), Code::kNoSpace);
  StoreTransaction transaction = begin();
  transaction.publish(failed());
  expect_refused(transaction, {Code::kNoSpace, ""}, 0);
}

TEST_F(BlobTransactions, BlobsOfOtherStoresAndAccountsAreRefused) {
  BlobBench elsewhere;
  Container foreign = elsewhere.container();
  put_blob(foreign, "there", "foreign");
  Result<BlobWriter> writer = foreign.write("new");
  ASSERT_EQ(said(writer), kFine);
  StoreTransaction published = begin();
  published.publish(*std::move(writer));
  expect_refused(published, kInvalidInput, 0);
  StoreTransaction put = begin();
  put.put(photos_, "new", "1").put(foreign, "new", "1");
  expect_refused(put, kInvalidInput, 1);
  StoreTransaction copied = begin();
  copied.copy(photos_, "new", foreign, "there");
  expect_refused(copied, kInvalidInput, 0);
  ASSERT_EQ(said(bench_.store->create_account("second")), kFine);
  Result<Container> second = bench_.store->create_container("second", "photos");
  ASSERT_EQ(said(second), kFine);
  put_blob(*second, "there", "second");
  StoreTransaction other_account = begin();
  other_account.copy(photos_, "new", *second, "there");
  expect_refused(other_account, kInvalidInput, 0);
  EXPECT_EQ(content_in(foreign, "there"), "foreign");
}

TEST_F(BlobTransactions, BadInputIsRefusedBeforeAnythingIsWritten) {
  StoreTransaction twice = begin();
  twice.put(photos_, "new", "1").remove(photos_, "there").copy(photos_, "new", photos_, "there");
  expect_refused(twice, kInvalidInput, 2);
  StoreTransaction unnamed = begin();
  unnamed.put(photos_, "", "1");
  expect_refused(unnamed, kOutOfRangeInput, 0);
  StoreTransaction long_name = begin();
  long_name.remove(photos_, std::string(1'025, 'n'));
  expect_refused(long_name, kOutOfRangeInput, 0);
  StoreTransaction metadata = begin();
  metadata.put(photos_, "new", "1", {.metadata = {{"", "empty"}}});
  expect_refused(metadata, {Code::kInvalidArgument, "EmptyMetadataKey"}, 0);
  StoreTransaction tags = begin();
  tags.copy(photos_, "new", photos_, "there", {.tags = {{"", "empty"}}});
  expect_refused(tags, {Code::kInvalidArgument, "EmptyTagName"}, 0);
  StoreTransaction large = begin();
  large.put(photos_, "new", std::string(limits::kStoreTransactionBytesMax - 1'000, 'x')).put(photos_, "two", kLarge);
  expect_refused(large, kRequestBodyTooLarge, 1);
  StoreTransaction tag = begin();
  tag.put(photos_, "new", "1");
  EXPECT_EQ(said(tag.commit({.tag = std::string(1'025, 't')})), kInvalidInput);
  expect_nothing_changed();
}

TEST_F(BlobTransactions, BX20_AContentMayBeLongerThanATransaction) {
  const std::string content = uneven_bytes(limits::kStoreTransactionBytesMax + 3'000'000);
  Result<BlobWriter> writer = photos_.write("film");
  ASSERT_EQ(said(writer), kFine);
  ASSERT_EQ(said(writer->append(content)), kFine);
  StoreTransaction transaction = begin();
  transaction.insert(table_, with_value("p", "new", "film")).publish(*std::move(writer));
  EXPECT_EQ(said(transaction.commit()), kFine);
  EXPECT_TRUE(content_in(photos_, "film") == content);
}

TEST_F(BlobTransactions, DroppedContainersAndStoresRefuse) {
  BlobWriter writer = written("new");
  StoreTransaction dropped = begin();
  dropped.insert(table_, with_value("p", "new", "1")).publish(std::move(writer));
  ASSERT_EQ(said(bench_.store->drop_container(kAccount, "photos")), kFine);
  const Result<std::vector<ETag>> refused = dropped.commit();
  EXPECT_EQ(said(refused), kContainerGone);
  EXPECT_EQ(refused.status().operation_index(), 1U);
  photos_ = bench_.container();
  put_blob(photos_, "there", "before");
  expect_nothing_changed();
  StoreTransaction late = begin();
  late.insert(table_, with_value("p", "new", "1")).put(photos_, "new", "1").publish(written("newer"));
  ASSERT_EQ(said(bench_.store->close()), kFine);
  EXPECT_EQ(late.commit().code(), Code::kClosed);
  photos_ = bench_.reopened();
  table_ = *bench_.store->open_table(kAccount, "Orders");
  expect_nothing_changed();
}

TEST_F(BlobTransactions, AContainerThatWasMadeAgainTakesTheBlob) {
  BlobWriter writer = written("new");
  ASSERT_EQ(said(bench_.store->drop_container(kAccount, "photos")), kFine);
  photos_ = bench_.container();
  StoreTransaction transaction = begin();
  transaction.publish(std::move(writer));
  EXPECT_EQ(said(transaction.commit()), kFine);
  EXPECT_EQ(content_in(photos_, "new"), kLarge);
}

TEST_F(BlobTransactions, AContentOfADroppedAccountIsNotPublished) {
  BlobWriter alone = written("new");
  BlobWriter together = written("too");
  ASSERT_EQ(said(bench_.store->drop_account(kAccount)), kFine);
  ASSERT_EQ(said(bench_.store->create_account(kAccount)), kFine);
  photos_ = bench_.container();
  StoreTransaction transaction = begin();
  transaction.publish(std::move(together));
  EXPECT_EQ(said(transaction.commit()), kContainerGone);
  EXPECT_EQ(said(alone.publish()), kContainerGone);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(BlobTransactions, BX20_ATransactionMayBeginAgain) {
  int calls = 0;
  const Result<std::vector<ETag>> done = bench_.store->transact([&](StoreTransaction& transaction) {
    const Result<std::optional<Entity>> read = transaction.get(table_, "p", "count");
    if (!read.ok()) return read.status();
    if (++calls == 1) {
      EXPECT_EQ(said(table_.insert(with_value("p", "count", "1"))), kFine);
    }
    transaction.insert_or_replace(table_, with_value("p", "count", "2")).publish(written("count"));
    return Status();
  });
  EXPECT_EQ(said(done), kFine);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(content_in(photos_, "count"), kLarge);
}

TEST_F(BlobTransactions, BX22_ReadsAreOfTheStateOfTheTransaction) {
  ASSERT_EQ(said(table_.insert(with_value("p", "e", "before"))), kFine);
  StoreTransaction transaction = begin();
  StoreTransaction change = begin();
  change.replace(table_, with_value("p", "e", "after"), ETag::any()).put(photos_, "there", kLarge);
  ASSERT_EQ(said(change.commit()), kFine);
  const Result<std::optional<Entity>> entity = transaction.get(table_, "p", "e");
  ASSERT_EQ(said(entity), kFine);
  EXPECT_EQ((*entity)->find("V")->get_if<std::string>()->compare("before"), 0);
  const Result<BlobReader> reader = transaction.read(photos_, "there");
  ASSERT_EQ(said(reader), kFine);
  EXPECT_EQ(all_of(*reader), "before");
  EXPECT_EQ(said(transaction.read(photos_, "none")), kBlobGone);
}

TEST_F(BlobTransactions, BX20_ABlobThatWasReadMustNotChange) {
  for (const std::string blob : {"there", "absent"}) {
    StoreTransaction overtaken = begin();
    (void)overtaken.read(photos_, blob);
    StoreTransaction good = begin();
    (void)good.read(photos_, blob);
    EXPECT_EQ(said(good.insert_or_replace(table_, with_value("p", "good", "1")).commit()), kFine);
    put_blob(photos_, blob, "other");
    overtaken.insert(table_, with_value("p", "new", "1"));
    const Result<std::vector<ETag>> refused = overtaken.commit();
    EXPECT_EQ(said(refused), (Said{Code::kConflict, ""}));
    EXPECT_NE(refused.status().message().find("blob '" + blob + "'"), std::string::npos) << refused.status().message();
    EXPECT_EQ(value_in(table_, "p", "new"), "-");
  }
  StoreTransaction dropped = begin();
  ASSERT_EQ(said(dropped.read(photos_, "there")), kFine);
  ASSERT_EQ(said(bench_.store->drop_container(kAccount, "photos")), kFine);
  const Said refused = said(dropped.insert(table_, with_value("p", "new", "1")).commit());
  const Said conflict{Code::kConflict, ""};  // The keeper may have removed the row already.
  EXPECT_TRUE(refused == kTableNotFound || refused == conflict) << refused;
  EXPECT_EQ(value_in(table_, "p", "new"), "-");
}

TEST_F(BlobTransactions, BadReadsAreRefused) {
  BlobBench elsewhere;
  StoreTransaction transaction = begin();
  EXPECT_EQ(said(transaction.read(elsewhere.container(), "there")), kInvalidInput);
  EXPECT_EQ(said(transaction.read(photos_, "")), kOutOfRangeInput);
  EXPECT_EQ(said(transaction.read(photos_, "there", {.if_match = ETag::of_timestamp(DateTime{5})})), kConditionNotMet);
  put_blob(photos_, "there", "after");
  EXPECT_EQ(said(transaction.insert(table_, with_value("p", "new", "1")).commit()), kFine) << "nothing was read";
  EXPECT_EQ(said(transaction.read(photos_, "there")), kInvalidInput) << "it has ended";
}

TEST_F(BlobTransactions, StagedBlocksLeaveAndALeaseStays) {
  ASSERT_EQ(stage(photos_, "there", "1", "block"), kFine);
  ASSERT_EQ(stage(photos_, "staged", "1", "block"), kFine);
  const Result<LeaseAnswer> lease = photos_.lease("there", {});
  ASSERT_EQ(said(lease), kFine);
  const BlobConditions mine{.lease = lease->id};
  StoreTransaction transaction = begin();
  transaction.put(photos_, "there", "after", {.conditions = mine}).put(photos_, "staged", "published");
  EXPECT_EQ(said(transaction.commit()), kFine);
  EXPECT_EQ(state_in(photos_, "there").lease.state, LeaseState::kLeased);
  EXPECT_EQ(transaction.written_blobs().front().lease.state, LeaseState::kLeased);
  for (const char* const blob : {"there", "staged"}) {
    const Result<BlockLists> lists = photos_.blocks(blob);
    ASSERT_EQ(said(lists), kFine);
    EXPECT_THAT(lists->staged, IsEmpty());
  }
}

// The failed put is the newest state, and never the visible one. So every plan is overtaken by it.
TEST_F(BlobTransactions, APoisonedStoreRefusesTheChangeOfABlobWhoseLastWriteFailed) {
  for (const char* const blob : {"replaced", "removed", "copied"}) put_blob(photos_, blob, uneven_bytes(20'000, 1));
  io::FaultRule failing;
  failing.kind = io::OperationKind::kLogWrite;
  failing.sync_point = "log group commit";
  failing.fail_count = io::FaultRule::kFromThenOn;
  bench_.machine.files->faults().add(failing);
  StoreTransaction lost = begin();
  for (const char* const blob : {"replaced", "removed", "copied"}) lost.put(photos_, blob, uneven_bytes(20'000, 2));
  EXPECT_EQ(lost.commit().code(), Code::kUnknown);
  StoreTransaction replace = begin();
  EXPECT_EQ(replace.put(photos_, "replaced", "text").commit().code(), Code::kPoisoned);
  StoreTransaction remove = begin();
  EXPECT_EQ(remove.remove(photos_, "removed").commit().code(), Code::kPoisoned);
  StoreTransaction copy = begin();
  EXPECT_EQ(copy.copy(photos_, "copy", photos_, "copied").commit().code(), Code::kPoisoned);
  EXPECT_EQ(photos_.remove("removed").code(), Code::kPoisoned) << "as outside a transaction";
}

TEST_F(BlobTransactions, BX22_ASnapshotHasEntityAndBlobOfOneMoment) {
  const auto write = [&](const std::string& text) {
    StoreTransaction transaction = begin();
    transaction.insert_or_replace(table_, with_value("p", "e", text)).put(photos_, "b", text);
    EXPECT_EQ(said(transaction.commit()), kFine);
  };
  write("first");
  const Snapshot first = *bench_.store->snapshot();
  write("second");
  EXPECT_EQ(value_in(table_, "p", "e", {.snapshot = first}), "first");
  const Result<BlobReader> reader = photos_.read("b", {.snapshot = first});
  ASSERT_EQ(said(reader), kFine);
  EXPECT_EQ(all_of(*reader), "first");
  EXPECT_EQ(value_in(table_, "p", "e"), "second");
  EXPECT_EQ(content_in(photos_, "b"), "second");
}

TEST_F(BlobTransactions, BX22_ACheckpointHasEntityAndBlobOfOneMoment) {
  StoreTransaction transaction = begin();
  transaction.insert(table_, with_value("p", "new", "first")).publish(written("new")).remove(photos_, "there");
  EXPECT_EQ(said(transaction.commit()), kFine);
  EXPECT_EQ(said(bench_.store->checkpoint("/copy")), kFine);
  EXPECT_EQ(said(photos_.remove("new")), kFine);
  bench_.store.reset();
  for (const std::string_view path : {kStorePath, std::string_view("/copy")}) {
    const Result<VerifyReport> report = Store::verify(path, bench_.options());
    ASSERT_EQ(said(report), kFine);
    EXPECT_THAT(report->findings, IsEmpty());
    EXPECT_EQ(report->blobs, path == "/copy" ? 1U : 0U);
  }
  const Result<std::unique_ptr<Store>> copy = Store::open("/copy", bench_.options());
  ASSERT_EQ(said(copy), kFine);
  EXPECT_EQ(value_in(*(*copy)->open_table(kAccount, "Orders"), "p", "new"), "first");
  EXPECT_TRUE(content_in(*(*copy)->open_container(kAccount, "photos"), "new") == kLarge);
}

}  // namespace
}  // namespace varve::test::blob_transaction_test
