// Goal: a repaired store counts the owners of contents by their names, so that no removal takes a content that has a name
// (BX-08, BX-21).
// Method: heads are written with wrong counts. Rows are recounted, or whole stores are repaired. Then the blobs and entities
// that have the contents are used.
#include "api/blob/owner_recount.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/catalog/catalog_rows.h"
#include "api/catalog/row_change.h"
#include "format/bytes/crc64.h"
#include "format/keys/entity.h"
#include "tests/api/blob/large_value_bench.h"
#include "tests/api/blob/work_bench.h"
#include "varve/repair.h"
#include "varve/verify.h"

namespace varve::test::owner_recount_test {
namespace {

class OwnerRecounts : public testing::Test, protected WorkBench {
 protected:
  void SetUp() override {
    put_content(1, 1);
    put_blob_of("a", {1});
    put_blob_of("b", {1});
    put_content(2, 5);
    put_blob_of("c", {2});
    put_content(3, 1);
    put_content(4, 1);
    put_list(10, 1, {4});
    put_blob_of("list", {10});
    put_content(6, 1);
    put(staged_block_key(kContainer, 9, "1"), encode_staged_block({{6, 4}}));
    put_content(7, 1);
    put_content(8, 1);
    put_list(11, 0, {7, 8});
    put(work_key(leaving(11)), encode_work(1));
  }
  Rows recounted(bool may_miss_names) const {
    const engine::ReadView view = engine_->view();
    OwnerRecount recount(view, kAccountNumber, may_miss_names);
    EXPECT_TRUE(recount.add_container(kContainer).ok());
    const Result<OwnerRecount::Rows> rows = recount.finish();
    EXPECT_TRUE(rows.ok()) << rows.status().to_string();
    return rows.ok() ? *rows : Rows();
  }
};

TEST_F(OwnerRecounts, BX08_HeadsGetTheOwnersThatNameThem) {
  write(recounted(false));
  EXPECT_EQ(owners_of(1), 2U);
  EXPECT_EQ(owners_of(2), 1U);
  EXPECT_EQ(owners_of(3), 0U);
  EXPECT_TRUE(has_work(leaving(3))) << "nothing names it";
  EXPECT_EQ(owners_of(4), 1U) << "a list names it";
  EXPECT_EQ(owners_of(6), 1U) << "a staged block names it";
  EXPECT_EQ(owners_of(7), 0U) << "the list has let it go";
  EXPECT_TRUE(has_work(leaving(7)));
  EXPECT_EQ(owners_of(8), 1U);
  EXPECT_EQ(value_at(work_key(leaving(11))), encode_work(1)) << "its work goes on where it was";
  EXPECT_TRUE(recounted(false).empty());
}

TEST_F(OwnerRecounts, BX08_NoContentLosesOwnersIfNamesMayBeMissing) {
  write(recounted(true));
  EXPECT_EQ(owners_of(1), 2U);
  EXPECT_EQ(owners_of(2), 5U);
  EXPECT_EQ(owners_of(3), 1U);
  EXPECT_FALSE(has_work(leaving(3)));
}

TEST_F(OwnerRecounts, BX07_PartsOfAnAppendBlobThatNoRowReachesAreRemoved) {
  constexpr ContentId kGrown = 20;
  put(content_head_key(kContents, kGrown), encode_content_head({ContentKind::kGrowing, 2, 0, {}}));
  for (const std::uint64_t offset : {0U, 4U, 8U, 12U}) {
    put(content_part_key(kContents, kGrown, offset), encode_part(kGrown, offset, "text"));
  }
  put_blob_of("copy of old state", {kGrown});
  BlobRow row;
  row.kind = BlobKind::kAppend;
  row.pieces = {{kGrown, 8}};
  row.length = 8;
  put(blob_row_key(kContainer, "grown"), encode_blob_row(row));
  for (const bool may_miss_names : {true, false}) {
    write(recounted(may_miss_names));
    EXPECT_TRUE(value_at(content_part_key(kContents, kGrown, 0)));
    EXPECT_TRUE(value_at(content_part_key(kContents, kGrown, 4)));
    EXPECT_FALSE(value_at(content_part_key(kContents, kGrown, 8)));
    EXPECT_FALSE(value_at(content_part_key(kContents, kGrown, 12)));
    EXPECT_EQ(owners_of(kGrown), 2U);
  }
  EXPECT_TRUE(recounted(false).empty());
}

class OwnerRecountsOfEntities : public testing::Test, protected WorkBench {
 protected:
  static constexpr format::TableId kPeople = with_large_values(format::make_table_id(kAccountNumber, 7));
  static std::string entity_key(std::string_view row_key) { return *format::encode_sort_key(kPeople, "p", row_key); }
  void put_value(ContentId content, std::uint32_t owners) {
    write({{content_head_key(kContents, content), encode_content_head({ContentKind::kValue, owners, 4, 1})},
           {content_part_key(kContents, content, 0), encode_part(content, 0, "text")}});
  }
  void put_entity(std::string_view row_key, const std::vector<ContentId>& contents) {
    format::EntityBuilder builder;
    builder.add_string("Name", "text");
    for (const ContentId content : contents) builder.add_large_value("V" + std::to_string(content), {content, 4});
    put(entity_key(row_key), builder.finish());
  }
  void recount() {
    OwnerRecount::Rows rows;
    {
      const engine::ReadView view = engine_->view();
      OwnerRecount recount(view, kAccountNumber, false);
      EXPECT_TRUE(recount.add_table(kPeople).ok());
      Result<OwnerRecount::Rows> mended = recount.finish();
      ASSERT_TRUE(mended.ok()) << mended.status().to_string();
      rows = *std::move(mended);
    }
    write(rows);
  }
};

TEST_F(OwnerRecountsOfEntities, BX21_EachPropertyIsAnOwner) {
  put_value(1, 1);
  put_value(2, 4);
  put_value(3, 1);
  put_entity("a", {1, 2});
  put_entity("b", {1});
  put_entity("c", {});
  recount();
  EXPECT_EQ(owners_of(1), 2U);
  EXPECT_EQ(owners_of(2), 1U);
  EXPECT_EQ(owners_of(3), 0U);
  EXPECT_TRUE(has_work(leaving(3))) << "nothing names it";
}

TEST_F(OwnerRecountsOfEntities, BX21_AnEntityThatCannotBeReadMayHaveNames) {
  put_value(1, 1);
  put_value(2, 4);
  put_value(3, 1);
  put_entity("a", {1, 2});
  put_entity("b", {1});
  put(entity_key("c"), "no entity");
  recount();
  EXPECT_EQ(owners_of(1), 2U);
  EXPECT_EQ(owners_of(2), 4U);
  EXPECT_EQ(owners_of(3), 1U);
  EXPECT_FALSE(has_work(leaving(3)));
}

TEST_F(OwnerRecountsOfEntities, BX21_AContentThatLostItsHeadGetsOneOrLeaves) {
  const auto put_part = [this](ContentId content, std::string_view text) {
    put(content_part_key(kContents, content, 0), encode_part(content, 0, text));
  };
  put_part(1, "text");
  put_part(2, "tex");
  put_part(3, "text");
  put_part(4, "text");
  put_work(filling(4));
  put_entity("a", {1, 2});
  put_entity("b", {1});
  recount();
  const Result<ContentHead> whole = decode_content_head(value_at(content_head_key(kContents, 1)).value_or(""));
  ASSERT_TRUE(whole.ok()) << whole.status().to_string();
  EXPECT_EQ(whole->kind, ContentKind::kValue);
  EXPECT_EQ(whole->owners, 2U);
  EXPECT_EQ(whole->length, 4U);
  EXPECT_EQ(whole->crc64, format::crc64("text"));
  const Result<ContentHead> cut = decode_content_head(value_at(content_head_key(kContents, 2)).value_or(""));
  ASSERT_TRUE(cut.ok()) << cut.status().to_string();
  EXPECT_EQ(cut->owners, 1U);
  EXPECT_EQ(cut->crc64, std::nullopt) << "a part of its bytes is missing";
  EXPECT_TRUE(has_work(leaving(3))) << "nothing names it";
  EXPECT_FALSE(has_work(leaving(4))) << "a row of work leads to it already";
  do_all(leaving(3), 10);
  EXPECT_EQ(count(content_prefix(kContents, 3)), 0U);
}

TEST_F(OwnerRecountsOfEntities, BX21_AnEmptyContentThatLostItsHeadGetsOne) {
  format::EntityBuilder builder;
  builder.add_large_value("Photo", {1, 0});
  put(entity_key("a"), builder.finish());
  recount();
  EXPECT_EQ(owners_of(1), 1U);
}

TEST_F(OwnerRecountsOfEntities, BX21_PartsWithoutAHeadStayIfNamesMayBeMissing) {
  put(content_part_key(kContents, 1, 0), encode_part(1, 0, "text"));
  put_value(2, 1);
  put(entity_key("a"), "no entity");
  put_entity("b", {2});
  put_entity("c", {2});
  recount();
  EXPECT_FALSE(has_work(leaving(1)));
  EXPECT_EQ(owners_of(1), std::nullopt);
  EXPECT_EQ(owners_of(2), 2U);
}

TEST_F(OwnerRecounts, BX08_ARowThatCannotBeReadMayHaveNames) {
  put(blob_row_key(kContainer, "d"), "no row");
  write(recounted(false));
  EXPECT_EQ(owners_of(1), 2U);
  EXPECT_EQ(owners_of(3), 1U);
}

/// Sets the owners of the only content of the store, as an older state of its head had them.
void set_owners(BlobBench& bench, std::uint32_t owners) {
  const std::unique_ptr<engine::Engine> engine = *bench.machine.open();
  std::string key;
  {
    const std::string prefix = format::encode_table(contents_of_account(1));
    const engine::ReadView view = engine->view();
    engine::Cursor rows = view.cursor(prefix, format::end_of_prefix(prefix));
    rows.seek_to_first();
    ASSERT_TRUE(rows.valid());
    key = rows.key();
  }
  EngineBackend backend(*engine);
  RowChange change({key}, [&](const auto& /*view*/, auto rows, format::BatchBuilder& batch) -> Refusal {
    Result<ContentHead> head = decode_content_head(*rows[0].value);
    if (!head.ok()) return head.status();
    head->owners = owners;
    batch.put(key, encode_content_head(*head));
    return {};
  });
  EXPECT_EQ(said(commit(backend, change)), kFine);
  EXPECT_EQ(said(engine->close()), kFine);
}

TEST(RepairedBlobs, BX08_BX41_AContentWithAnOldHeadStaysForItsOtherName) {
  for (const std::uint32_t owners : {1U, 3U}) {
    const std::string content = uneven_bytes(20'000);
    BlobBench bench;
    {
      Container photos = bench.container();
      (void)put_blob(photos, "a", content);
      EXPECT_EQ(said(photos.copy("copy", photos, "a")), kFine);
    }
    EXPECT_EQ(said(bench.store->close()), kFine);
    bench.store.reset();
    set_owners(bench, owners);
    const Result<RepairReport> report = Store::repair(kStorePath, "/repaired", bench.options());
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    const Result<VerifyReport> verified = Store::verify("/repaired", bench.options());
    ASSERT_TRUE(verified.ok()) << verified.status().to_string();
    EXPECT_THAT(verified->findings, testing::IsEmpty());
    const Result<std::unique_ptr<Store>> store = Store::open("/repaired", bench.options());
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    Container photos = *(*store)->open_container(kAccount, "photos");
    EXPECT_EQ(said(photos.remove("copy")), kFine);
    EXPECT_TRUE(content_in(photos, "a") == content);
  }
}

TEST(RepairedValues, BX21_BX41_AContentWithAnOldHeadStaysForItsOtherEntity) {
  for (const std::uint32_t owners : {1U, 3U}) {
    const std::string content = uneven_bytes(20'000);
    BlobBench bench;
    {
      Table people = value_table(*bench.store);
      const Unnamed photo = written(people, content);
      EXPECT_EQ(said(people.insert(with_photo("a", photo.value))), kFine);
      EXPECT_EQ(said(people.insert(with_photo("b", photo.value))), kFine);
    }
    EXPECT_EQ(said(bench.store->close()), kFine);
    bench.store.reset();
    set_owners(bench, owners);
    const Result<RepairReport> report = Store::repair(kStorePath, "/repaired", bench.options());
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    const Result<VerifyReport> verified = Store::verify("/repaired", bench.options());
    ASSERT_TRUE(verified.ok()) << verified.status().to_string();
    EXPECT_THAT(verified->findings, testing::IsEmpty());
    const Result<std::unique_ptr<Store>> store = Store::open("/repaired", bench.options());
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    Table people = *(*store)->open_table(kAccount, "People");
    EXPECT_EQ(said(people.remove("p", "b", ETag::any())), kFine);
    EXPECT_TRUE(photo_in(people, "a") == content);
  }
}

}  // namespace
}  // namespace varve::test::owner_recount_test
