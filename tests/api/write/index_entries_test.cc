// Goal: at every version, the entries of an index that a reader sees are exactly those made from the entities it sees (I1),
// whichever verb wrote them.
// Method: writes below Table, in a store whose tables have indexes, and all entries read from a view compared with those
// that the entities of the same view make.
#include "api/write/index_entries.h"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/write/entity_change.h"
#include "format/keys/index_key.h"
#include "tests/api/write/index_bench.h"
#include "varve/table_expiry.h"
#include "varve/verify.h"

namespace varve::test::index_entries_test {
namespace {

using Kind = WriteOperation::Kind;
using format::IndexDefinition;
using format::IndexSource;

constexpr std::uint64_t kSeed = 20'261'128;

using IndexEntries = IndexBench;

TEST_F(IndexEntries, EachVerbKeepsTheEntriesOfItsEntity) {
  add_index("ByValue", by_value());
  ASSERT_TRUE(write({{Kind::kInsert, with_value("p", "a", "one"), ETag()}}).ok());
  expect_whole();
  ASSERT_TRUE(write({{Kind::kReplace, with_value("p", "a", "two"), ETag::any()}}).ok());
  expect_whole();
  ASSERT_TRUE(write({{Kind::kInsertOrReplace, with_value("p", "a", "three"), ETag()}}).ok());
  expect_whole();
  ASSERT_TRUE(write({{Kind::kMerge, with_values("p", "a", 1, "x"), ETag::any()}}).ok());
  expect_whole();
  EXPECT_EQ(entries_in(core_->backend().view()).size(), 1U) << "the merge keeps V";
  ASSERT_TRUE(write({{Kind::kInsertOrMerge, with_value("p", "b", "three"), ETag()}}).ok());
  expect_whole();
  EXPECT_EQ(entries_in(core_->backend().view()).size(), 2U);
  ASSERT_TRUE(write({{Kind::kInsertOrReplace, with_values("p", "b", 1, "x"), ETag()}}).ok());
  expect_whole();
  EXPECT_EQ(entries_in(core_->backend().view()).size(), 1U) << "without V there is no entry";
  ASSERT_TRUE(write({{Kind::kRemove, with_value("p", "a", ""), ETag::any()}}).ok());
  expect_whole();
  EXPECT_TRUE(entries_in(core_->backend().view()).empty());
  EXPECT_EQ(said(write({{Kind::kRemove, with_value("p", "a", ""), ETag::any()}})), kResourceNotFound);
}

TEST_F(IndexEntries, TheTimestampOfAnEntryIsThatOfItsEntity) {
  ASSERT_TRUE(write({{Kind::kInsert, with_value("p", "old", "one"), ETag()}}).ok());
  add_index("ByTime", {{{IndexSource::kTimestamp, "", true}}, false, {"V"}});
  add_index("ByValue", {{{IndexSource::kProperty, "V"}, {IndexSource::kTimestamp, ""}}});
  for (const char* const value : {"one", "one", "two"}) {
    ASSERT_TRUE(write({{Kind::kInsertOrReplace, with_value("p", "a", value), ETag()}}).ok());
    EXPECT_EQ(entries_in(core_->backend().view()).size(), 2U) << "the former entries are removed";
  }
  ASSERT_TRUE(write({{Kind::kMerge, with_values("p", "a", 1, "x"), ETag::any()}}).ok());
  ASSERT_TRUE(write({{Kind::kInsertOrReplace, with_value("p", "old", "two"), ETag()}}).ok());
  expect_whole();
  EXPECT_EQ(entries_in(core_->backend().view()).size(), 4U);
  ASSERT_TRUE(write({{Kind::kRemove, with_value("p", "a", ""), ETag::any()}}).ok());
  expect_whole();
}

TEST_F(IndexEntries, ATransactionGivesItsOneTimestampToAllEntriesAndEnds) {
  add_index("ByValue", {{{IndexSource::kProperty, "V"}, {IndexSource::kTimestamp, "", true}}});
  ASSERT_EQ(said(core_->catalog().set_table_expiry(orders_, TableExpiry::after(std::chrono::hours(1)))), kFine);
  for (const char* const value : {"one", "two"}) {
    std::vector<WriteOperation> operations;  // With those of entries, they are more than one byte can count.
    for (int row = 0; row < 100; ++row) {
      operations.push_back({Kind::kInsertOrReplace, with_value("p", std::to_string(row), value), ETag()});
    }
    std::vector<PreparedWrite> writes = prepared(operations);
    WriteOptions options;
    options.tag = "a tag comes before the operations";
    ASSERT_TRUE(commit_writes(*core_, orders_, entry(), writes, options, true).ok());
    EXPECT_EQ(entries_in(core_->backend().view()).size(), 100U);
    expect_whole();
  }
  close();
  open();
  expect_whole();
}

TEST_F(IndexEntries, ARefusedTransactionChangesNoEntry) {
  add_index("ByValue", by_value());
  ASSERT_TRUE(write({{Kind::kInsert, with_value("p", "a", "one"), ETag()}}).ok());
  const Entries before = entries_in(core_->backend().view());
  EXPECT_EQ(said(write({{Kind::kInsertOrReplace, with_value("p", "b", "two"), ETag()},
                        {Kind::kInsert, with_value("p", "a", "two"), ETag()}})),
            kEntityAlreadyExists);
  EXPECT_EQ(entries_in(core_->backend().view()), before);
}

TEST_F(IndexEntries, AnEarlierViewSeesTheEntriesOfItsEntities) {
  add_index("ByValue", by_value());
  ASSERT_TRUE(write({{Kind::kInsert, with_value("p", "a", "one"), ETag()}}).ok());
  const engine::ReadView earlier = core_->backend().view();
  const Entries before = entries_in(earlier);
  ASSERT_TRUE(write({{Kind::kReplace, with_value("p", "a", "two"), ETag::any()}}).ok());
  ASSERT_TRUE(write({{Kind::kInsert, with_value("q", "a", "one"), ETag()}}).ok());
  EXPECT_EQ(entries_in(earlier), before);
  expect_whole(earlier);
  expect_whole();
}

TEST_F(IndexEntries, AnUnchangedEntryIsNotWrittenAgain) {
  const TableIndex index = add_index("ByValue", by_value());
  const Result<ETag> first = write({{Kind::kInsert, with_value("p", "a", "one"), ETag()}});
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(write({{Kind::kMerge, with_values("p", "a", 7, "x"), ETag::any()}}).ok());
  const std::string prefix = format::encode_table(index.id);
  const engine::ReadView view = core_->backend().view();
  engine::Cursor cursor = view.cursor(prefix, format::end_of_prefix(prefix));
  cursor.seek_to_first();
  ASSERT_TRUE(cursor.valid());
  EXPECT_EQ(ETag::of_timestamp(DateTime{cursor.version()}), *first);
}

TEST_F(IndexEntries, AnIndexThatIsBeingBuiltGetsTheEntryOfAnUnchangedEntity) {
  ASSERT_TRUE(write({{Kind::kInsert, with_value("p", "a", "one"), ETag()}}).ok());
  add_index("ByValue", by_value(), false);
  ASSERT_TRUE(write({{Kind::kInsertOrReplace, with_value("p", "a", "one"), ETag()}}).ok());
  expect_whole();
}

TEST_F(IndexEntries, ADroppedIndexIsNotMaintained) {
  add_index("ByValue", by_value());
  const format::TableId dropped = add_index("ByName", {{{IndexSource::kProperty, "Name"}}}).id;
  ASSERT_TRUE(write({{Kind::kInsert, with_values("p", "a", 1, "x"), ETag()}}).ok());
  ASSERT_EQ(said(core_->catalog().drop_index(orders_, "ByName")), kFine);
  std::vector<PreparedWrite> writes = prepared({{Kind::kInsert, with_values("p", "b", 1, "y"), ETag()}});
  ASSERT_TRUE(commit_writes(*core_, orders_, entry(), writes, WriteOptions(), false).ok());
  const engine::ReadView view = core_->backend().view();
  const Result<engine::Newest> entry_of_dropped = view.newest(format::encode_index_key(
      dropped, std::string("\x18y\0", 3),
      writes.empty() ? "" : *format::encode_sort_key(*Catalog::resolve_at(view, orders_), "p", "b")));
  ASSERT_TRUE(entry_of_dropped.ok());
  EXPECT_FALSE(entry_of_dropped->value.has_value());
  expect_whole();
}

TEST_F(IndexEntries, AWritePlacedBeforeAnIndexWasDeclaredIsRefusedAndMadeAnew) {
  const WriteTarget before = *core_->catalog().resolve_target(orders_, entry());
  add_index("ByValue", by_value());
  std::vector<PreparedWrite> writes = prepared({{Kind::kInsert, with_value("p", "a", "one"), ETag()}});
  place_writes(writes, before);
  {
    EntityChange change(*core_, {before.id}, writes, WriteOptions(), false, EntityChange::Writes::kKept);
    const Status refused = commit(core_->backend(), change).status();
    EXPECT_TRUE(is_made_for_other_indexes(refused)) << refused.to_string();
  }
  const WriteTarget now = *core_->catalog().resolve_target(orders_, entry());
  place_writes(writes, now);
  EntityChange change(*core_, {now.id}, writes, WriteOptions(), false, EntityChange::Writes::kKept);
  EXPECT_TRUE(commit(core_->backend(), change).ok());
  expect_whole();
}

TEST_F(IndexEntries, EntriesEndWithTheirEntity) {
  ASSERT_EQ(said(core_->catalog().set_table_expiry(orders_, TableExpiry::after(std::chrono::seconds(1)))), kFine);
  add_index("ByValue", by_value());
  ASSERT_TRUE(write({{Kind::kInsert, with_value("p", "a", "one"), ETag()}}).ok());
  expect_whole();
  EXPECT_EQ(entries_in(core_->backend().view()).size(), 1U);
  bench_.machine.clock.advance(std::chrono::seconds(2));
  EXPECT_TRUE(entries_in(core_->backend().view()).empty());
  expect_whole();
  ASSERT_TRUE(write({{Kind::kInsert, with_value("p", "a", "two"), ETag()}}).ok());
  expect_whole();
  const engine::ReadView view = core_->backend().view();
  const TableIndex index = (*Catalog::find_indexes(view, orders_)).all.front();
  const std::string key = format::encode_index_key(
      index.id, std::string("\x18one\0", 5), *format::encode_sort_key(*Catalog::resolve_at(view, orders_), "p", "a"));
  const Result<engine::Newest> ended = view.newest(key);
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->entry.kind, format::Kind::kDelete) << "E4: removed as over an entity that lives";
}

TEST_F(IndexEntries, RandomWritesKeepEveryIndexWholeAndVerified) {
  add_index("ByTotal", {{{IndexSource::kProperty, "Total", true}, {IndexSource::kPartitionKey, ""}}, false, {"Name"}});
  add_index("ByName", {{{IndexSource::kProperty, "Name"}, {IndexSource::kProperty, "Total"}}});
  add_index("ByRow", {{{IndexSource::kRowKey, ""}}, false, {"Total", "Name"}});
  io::SeededRandom random(kSeed);
  const auto some_operation = [&](std::string_view row) -> WriteOperation {
    static constexpr Kind kKinds[] = {Kind::kInsertOrReplace, Kind::kInsertOrMerge, Kind::kInsert,
                                      Kind::kReplace,         Kind::kMerge,         Kind::kRemove};
    const Kind kind = kKinds[random.next() % 6];
    const std::optional<int> total =
        random.next() % 3 == 0 ? std::nullopt : std::optional(static_cast<int>(random.next() % 4));
    const std::string_view name = random.next() % 2 == 0 ? "one" : "two";
    return {kind, with_values("p", row, total, name), needs_etag(kind) ? ETag::any() : ETag()};
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<WriteOperation> operations{some_operation("r" + std::to_string(random.next() % 4))};
    if (random.next() % 3 == 0) operations.push_back(some_operation("s" + std::to_string(random.next() % 4)));
    (void)write(operations);
    const testing::ScopedTrace trace(__FILE__, __LINE__,
                                     "seed " + std::to_string(kSeed) + " round " + std::to_string(round));
    if (round % 10 == 0) expect_whole();
  }
  expect_whole();
  EXPECT_FALSE(entries_in(core_->backend().view()).empty());
  close();
  const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->finding_count, 0U) << (report->findings.empty() ? "" : report->findings.front());
}

TEST_F(IndexEntries, VerifyFindsAnIndexThatLacksAnEntry) {
  ASSERT_TRUE(write({{Kind::kInsert, with_value("p", "a", "one"), ETag()}}).ok());
  add_index("ByValue", by_value());  // called ready without a build
  close();
  const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  ASSERT_EQ(report->finding_count, 1U);
  EXPECT_NE(report->findings.front().find("ByValue"), std::string::npos) << report->findings.front();
}

struct StoredEntry {
  std::string key;
  std::string value;
  std::uint64_t end = 0;
};

TEST_F(IndexEntries, VerifyFindsEntriesThatAreNotThoseOfTheEntities) {
  constexpr std::uint64_t kEnd = io::ManualClock::kDefaultWall + 3600 * io::kTicksPerSecond;
  ASSERT_EQ(said(core_->catalog().set_table_expiry(orders_, TableExpiry::at("Until"))), kFine);
  format::IndexDefinition carrying = by_value();
  carrying.carried = {"Name"};
  const TableIndex index = add_index("ByValue", carrying);
  ASSERT_TRUE(
      write({{Kind::kInsert, with_values("p", "a", 1, "x").set("V", "one").set("Until", DateTime{kEnd}), ETag()}})
          .ok());
  ASSERT_TRUE(write({{Kind::kInsert, with_values("p", "b", 1, "y").set("V", "two"), ETag()}}).ok());
  const Entries made = entries_in(core_->backend().view());
  ASSERT_EQ(made.size(), 2U);
  const StoredEntry one{made.begin()->first, made.begin()->second, kEnd};
  const StoredEntry two{made.rbegin()->first, made.rbegin()->second};
  const std::string third = *format::encode_sort_key(*Catalog::resolve_at(core_->backend().view(), orders_), "p", "c");
  const std::string more = format::encode_index_key(index.id, std::string("\x18one\0", 5), third);
  // Stores these entries alone, and returns the findings.
  const auto verified = [&](const std::vector<StoredEntry>& entries) {
    format::BatchBuilder batch;
    std::set<std::string> put;
    for (const StoredEntry& entry : entries) {
      put.insert(entry.key);
      std::string stored;
      if (entry.end != 0) format::append_u64(stored, entry.end);
      stored += entry.value;
      entry.end == 0 ? batch.put(entry.key, stored) : batch.put_expiring(entry.key, stored);
    }
    for (const std::string& key : {one.key, two.key, more}) {
      if (!put.contains(key)) batch.remove(key);
    }
    engine::CommitRequest request;
    request.batch = batch.finish();
    EXPECT_EQ(said(core_->backend().commit(std::move(request))), kFine);
    close();
    const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
    EXPECT_TRUE(report.ok()) << report.status().to_string();
    open();
    return report.ok() ? report->findings : std::vector<std::string>();
  };
  EXPECT_EQ(verified({one, two}), std::vector<std::string>());
  const std::vector<std::pair<const char*, std::vector<StoredEntry>>> wrong = {
      {"one too many", {one, two, {more, one.value}}},
      {"one too few", {two}},
      {"carried properties of another entity", {{one.key, two.value, kEnd}, two}},
      {"exchanged properties", {{one.key, two.value, kEnd}, {two.key, one.value}}},
      {"a later end", {{one.key, one.value, kEnd + 1}, two}},
      {"no end", {{one.key, one.value}, two}},
      {"an end too many", {one, {two.key, two.value, kEnd}}},
      {"exchanged ends", {{one.key, one.value}, {two.key, two.value, kEnd}}}};
  for (const auto& [what, entries] : wrong) {
    const std::vector<std::string> findings = verified(entries);
    ASSERT_EQ(findings.size(), 1U) << what;
    EXPECT_NE(findings.front().find("ByValue"), std::string::npos) << findings.front();
  }
  EXPECT_EQ(verified({one, two}), std::vector<std::string>());
}

}  // namespace
}  // namespace varve::test::index_entries_test
