// Goal: a change of a blob whose account is dropped meanwhile fails because the container is gone, not as damage;
// no blob becomes longer than a blob may be; and small appends need no content of their own.
// Method: the plan of a verb drops the account, and its judgement meets what a flush after the drop may leave. Rows of long
// contents are written without the contents.
#include "api/write/blob_change.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/blob/blob_rows.h"
#include "api/catalog/row_change.h"
#include "api/core/container_state.h"
#include "api/read/blob_read.h"
#include "api/write/append_change.h"
#include "api/write/blob_writer_state.h"
#include "api/write/block_list_change.h"
#include "tests/api/blob/blob_bench.h"
#include "varve/limits.h"

namespace varve::blob_change_test {
namespace {

using namespace test;

class BlobChanges : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::shared_ptr<StoreCore>> opened = StoreCore::open(kStorePath, bench_.options());
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    core_ = *std::move(opened);
    create();
  }
  void TearDown() override {
    container_.reset();
    if (core_) {
      EXPECT_EQ(said(core_->close()), kFine);
    }
  }
  void create() {
    EXPECT_EQ(said(core_->catalog().create_account(kAccount)), kFine);
    const TableName name{std::string(kAccount), "photos", "photos"};
    EXPECT_EQ(said(core_->catalog().create_container(name, {})), kFine);
    container_ = Container::State::named(core_, name);
  }
  void drop() { EXPECT_EQ(said(core_->catalog().drop_account(kAccount)), kFine); }

  /// Commits a verb that calls `meanwhile` between its first plan and its judgement, which finds damage.
  Status change(const std::function<void()>& meanwhile) {
    const std::shared_ptr<Container::State> used = container_;
    BlobVerb verb;
    verb.name = "a";
    int plans = 0;
    verb.plan = [&](const ResolvedTable& /*at*/, const BlobRow* /*row*/, BlobPlan& /*plan*/) {
      if (++plans == 1) meanwhile();
      return Status();
    };
    verb.judge = [&](BlobDraft& draft) -> Refusal {
      if (plans == 1) return Status::corruption("a content that a blob names is missing");
      draft.replace(BlobRow());
      return {};
    };
    return commit_blob(*used, verb).status();
  }

  using Rows = std::vector<std::pair<std::string, std::string>>;
  void write(const Rows& rows) {
    std::vector<std::string> keys;
    for (const auto& row : rows) keys.push_back(row.first);
    RowChange change(keys, [&](const auto& /*view*/, auto /*states*/, format::BatchBuilder& batch) -> Refusal {
      for (const auto& [key, value] : rows) batch.put(key, value);
      return {};
    });
    EXPECT_EQ(said(commit(core_->backend(), change)), kFine);
  }
  format::TableId id() const { return *container_->present_id(); }

  StoreBench bench_;
  std::shared_ptr<StoreCore> core_;
  std::shared_ptr<Container::State> container_;
};

TEST_F(BlobChanges, DamageIsReported) {
  EXPECT_EQ(change([] {}).code(), Code::kCorruption);
}

TEST_F(BlobChanges, TheRemnantsOfADroppedAccountAreNoDamage) {
  EXPECT_EQ(said(change([&] { drop(); })), kContainerGone);
}

TEST_F(BlobChanges, TheRemnantsOfARecreatedAccountAreNoDamage) {
  const auto recreate = [&] {
    drop();
    create();
  };
  EXPECT_EQ(said(change(recreate)), kFine);
}

TEST_F(BlobChanges, AnAppendMakesNoBlobTooLong) {
  BlobRow log;
  log.kind = BlobKind::kAppend;
  log.length = limits::kBlobBytesMax - 3;
  log.pieces = {{5, log.length}};
  write({{blob_row_key(id(), "log"), encode_blob_row(log)},
         {content_head_key(contents_of(id()), 5), encode_content_head({ContentKind::kPlain, 1, log.length, {}})}});
  const auto append = [&](std::string_view bytes) {
    return said(append_to_blob(*container_, "log", bytes, {}, Durability::kBuffered));
  };
  const Said too_large{Code::kTooLarge, "RequestBodyTooLarge"};
  EXPECT_EQ(append("four"), too_large);
  EXPECT_EQ(append("two"), kFine);
  EXPECT_EQ(append("1"), too_large);
}

TEST_F(BlobChanges, AListMakesNoBlobTooLong) {
  const std::uint64_t length = limits::kBlobBytesMax / 2;
  write({{staged_list_key(id(), "list"), encode_staged_list({9, 2, 1, 1})},
         {staged_block_key(id(), 9, "1"), encode_staged_block({{5, length}})},
         {staged_block_key(id(), 9, "2"), encode_staged_block({{6, 1}})},
         {content_head_key(contents_of(id()), 5), encode_content_head({ContentKind::kPlain, 1, length, {}})},
         {content_head_key(contents_of(id()), 6), encode_content_head({ContentKind::kPlain, 1, 1, {}})}});
  const auto commit_list = [&](const std::vector<BlockChoice>& choices) {
    return said(commit_block_list(*container_, "list", choices, {}, Durability::kBuffered));
  };
  EXPECT_EQ(commit_list({{"1"}, {"1"}, {"2"}}), (Said{Code::kTooLarge, "RequestBodyTooLarge"}));
  EXPECT_EQ(commit_list({{"1"}, {"1"}}), kFine);
}

// Only the last content of the row may grow, so the others are as well off in a list.
TEST_F(BlobChanges, BA04_ContentsBesideAListGoIntoAnotherOne) {
  constexpr std::size_t kPieces = 512;
  const format::TableId contents = contents_of(id());
  Rows rows;
  const auto add = [&](ContentId content, std::uint32_t owners, std::string_view text) {
    rows.emplace_back(content_head_key(contents, content), encode_content_head({ContentKind::kGrowing, owners, 0, {}}));
    rows.emplace_back(content_part_key(contents, content, 0), encode_part(content, 0, text));
  };
  add(1, 1, "one ");
  add(2, 1, "two ");
  const std::vector<ListEntry> entries{{0, 1, 4, "-"}, {4, 2, 4, "-"}};
  rows.emplace_back(content_head_key(contents, 3), encode_content_head({ContentKind::kList, 1, 2, {}}));
  rows.emplace_back(content_part_key(contents, 3, 0), encode_part(3, 0, encode_list_entries(entries)));
  BlobRow log;
  log.kind = BlobKind::kAppend;
  log.pieces = {{3, 8}};
  log.lists = 1;
  std::string expected = "one two ";
  for (ContentId content = 1000; log.pieces.size() < kPieces; ++content) {
    log.pieces.push_back({content, 4});
    add(content, log.pieces.size() == kPieces ? 2 : 1, std::to_string(content));
    expected += std::to_string(content);
  }
  log.length = expected.size();
  rows.emplace_back(blob_row_key(id(), "log"), encode_blob_row(log));
  write(rows);
  EXPECT_EQ(said(append_to_blob(*container_, "log", "last", {}, Durability::kBuffered)), kFine);
  const engine::ReadView view = core_->backend().view();
  const Result<std::optional<FoundBlob>> found = find_blob(view, id(), "log");
  ASSERT_TRUE(found.ok() && *found) << found.status().to_string();
  const BlobRow& row = (*found)->row;
  EXPECT_EQ(row.lists, 2U);
  EXPECT_EQ(row.pieces.size(), 4U) << "both lists, the shared content, and the new one";
  std::string all(row.length, '?');
  EXPECT_EQ(said(read_pieces(view, contents, row, 0, all)), kFine);
  EXPECT_EQ(all, expected + "last");
}

// The caller of a writer may not know how long the append will be.
TEST_F(BlobChanges, AnAppendByAWriterThatTurnsOutSmallGrowsTheLastContent) {
  BlobRow log;
  log.kind = BlobKind::kAppend;
  write({{blob_row_key(id(), "log"), encode_blob_row(log)}});
  const auto append = [&](std::string_view bytes) {
    BlobWriter::State writer(container_, id(), "log", AppendOptions());
    EXPECT_EQ(said(writer.content.append(bytes)), kFine);
    const Result<BlobState> written = append_written_content(writer);
    EXPECT_EQ(said(written), kFine);
    return written.ok() ? written->length : 0;
  };
  const auto pieces = [&] {
    const engine::ReadView view = core_->backend().view();
    const auto row = view.get(blob_row_key(id(), "log"));
    const Result<BlobRow> decoded = decode_blob_row((*row)->version, (*row)->value);
    return decoded->pieces.size();
  };
  for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_EQ(append("four"), 4 * i);
  EXPECT_EQ(pieces(), 1U);
  const std::string large(kPartBytes + 1, 'x');
  EXPECT_EQ(append(large), 12 + large.size());
  EXPECT_EQ(pieces(), 2U);
  append("four");
  append("four");
  EXPECT_EQ(pieces(), 2U) << "the content of the large append grows too";
}

}  // namespace
}  // namespace varve::blob_change_test
