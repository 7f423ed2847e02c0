// Owns: an engine with rows of contents, blobs and work, and a test's calls of the parts of that work.
// Must never: do a part of the work by itself.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/blob/blob_board.h"
#include "api/blob/blob_rows.h"
#include "api/blob/content_rows.h"
#include "api/blob/left_work.h"
#include "api/catalog/container_rows.h"
#include "api/catalog/work_rows.h"
#include "api/commit/backend.h"
#include "engine/read/cursor.h"
#include "tests/support/engine_bench.h"

namespace varve::test {

/// An engine's verbs, which notes the commits, and may say that writers are paced.
class RecordingBackend final : public Backend {
 public:
  struct Commit {
    bool frees_space = false;
    std::size_t bytes = 0;
    std::size_t tables = 0;
    std::uint64_t let_go_bytes = 0;
  };
  explicit RecordingBackend(engine::Engine& engine) : to_(engine) {}

  void pace(std::uint64_t commit_bytes) noexcept override { to_.pace(commit_bytes); }
  bool is_pacing() const noexcept override { return is_pacing_; }
  Result<engine::PartitionGuard> lock_partitions(std::span<const std::uint64_t> hashes,
                                                 std::optional<std::chrono::milliseconds> wait_max,
                                                 std::optional<std::uint64_t> row) override {
    return to_.lock_partitions(hashes, wait_max, row);
  }
  engine::ReadView view() const noexcept override { return to_.view(); }
  engine::ReadView view_at(const engine::HeldVersion& snapshot) const noexcept override {
    return to_.view_at(snapshot);
  }
  Status allow_ends() override { return to_.allow_ends(); }
  bool has_ends() const noexcept override { return to_.has_ends(); }
  Status allow_indexes() override { return to_.allow_indexes(); }
  bool has_indexes() const noexcept override { return to_.has_indexes(); }
  engine::HeldVersion snapshot() override { return to_.snapshot(); }
  Result<engine::CommitVersion> commit(engine::CommitRequest&& request) override {
    commits_.push_back({request.frees_space, request.batch.size(), request.tables.size(), request.let_go_bytes});
    if (refused_) return Status(*refused_, "the test refuses commits");
    return to_.commit(std::move(request));
  }
  engine::CommitVersion draw_tick() noexcept override { return to_.draw_tick(); }
  engine::CommitVersion time() const noexcept override { return to_.time(); }
  bool is_published(engine::CommitVersion version) const noexcept override { return to_.is_published(version); }
  Status may_answer() const noexcept override { return to_.may_answer(); }
  bool answers_wait() const noexcept override { return to_.answers_wait(); }
  Status await_published(engine::CommitVersion version) override { return to_.await_published(version); }
  Result<std::unique_ptr<engine::Load>> begin_load() override { return to_.begin_load(); }
  Result<std::unique_ptr<engine::BeneathLoad>> begin_load_beneath(format::TableId table) override {
    return to_.begin_load_beneath(table);
  }
  Durability default_durability() const noexcept override { return to_.default_durability(); }
  bool read_only() const noexcept override { return to_.read_only(); }
  const io::Env& env() const noexcept override { return to_.env(); }

  /// Used by one thread at a time.
  std::vector<Commit> commits_;
  std::optional<Code> refused_;
  std::atomic<bool> is_pacing_{false};

 private:
  EngineBackend to_;
};

class WorkBench {
 public:
  static constexpr std::uint32_t kAccountNumber = 1;
  static constexpr format::TableId kContainer = format::make_table_id(kAccountNumber, 5);
  static constexpr format::TableId kContents = contents_of(kContainer);

  WorkBench() = default;
  explicit WorkBench(OneThreadAtATime one) : machine_(1, one) {}

  /// Rows to put, or to remove where there is no value.
  using Rows = std::vector<std::pair<std::string, std::optional<std::string>>>;

  void write(const Rows& rows) {
    format::BatchBuilder batch;
    std::vector<std::uint64_t> locks;
    for (const auto& [key, value] : rows) {
      if (value) {
        batch.put(key, *value);
      } else {
        batch.remove(key);
      }
      locks.push_back(format::partition_hash(format::partition_of(key)));
    }
    commit(batch, locks);
  }
  void commit(format::BatchBuilder& batch, const std::vector<std::uint64_t>& locks) {
    Result<engine::PartitionGuard> guard = engine_->lock_partitions(locks, std::nullopt);
    ASSERT_TRUE(guard.ok()) << guard.status().to_string();
    engine::CommitRequest request;
    request.batch = batch.finish();
    request.locks = *std::move(guard);
    const Result<engine::CommitVersion> version = engine_->commit(std::move(request));
    ASSERT_TRUE(version.ok()) << version.status().to_string();
  }
  void put(const std::string& key, const std::string& value) { write({{key, value}}); }
  void put_work(const Work& work) { put(work_key(work), encode_work()); }
  /// Writes a plain content of one part, or of the length of the text.
  void put_content(ContentId content, std::uint32_t owners, std::string_view text = "text") {
    write({{content_head_key(kContents, content), encode_content_head({ContentKind::kPlain, owners, text.size(), {}})},
           {content_part_key(kContents, content, 0), encode_part(content, 0, text)}});
  }
  /// Writes a list of blocks that are these contents, and have no other owner. Leaves out the parts in `lost`.
  void put_list(ContentId list, std::uint32_t owners, const std::vector<ContentId>& blocks,
                const std::set<std::size_t>& lost = {}) {
    put(content_head_key(kContents, list), encode_content_head({ContentKind::kList, owners, blocks.size(), {}}));
    std::vector<ListEntry> entries;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      entries.push_back({4 * i, blocks[i], 4, "id"});
      const std::size_t part = i / kListEntriesOfPart;
      if (entries.size() < kListEntriesOfPart && i + 1 < blocks.size()) continue;
      const std::uint64_t first = part * kListEntriesOfPart;
      const std::string text = encode_list_entries(entries);
      if (!lost.contains(part)) put(content_part_key(kContents, list, first), encode_part(list, first, text));
      entries.clear();
    }
  }
  /// Writes a blob of these contents, each of four bytes.
  void put_blob_of(std::string_view name, const std::vector<ContentId>& contents) {
    BlobRow row;
    row.kind = contents.size() > 1 ? BlobKind::kAppend : BlobKind::kBlock;
    for (const ContentId content : contents) row.pieces.push_back({content, 4});
    row.length = 4 * contents.size();
    put(blob_row_key(kContainer, name), encode_blob_row(row));
  }
  void remove(const std::string& key) {
    format::BatchBuilder batch;
    batch.remove(key);
    commit(batch, {format::partition_hash(format::partition_of(key))});
  }
  std::optional<std::string> value_at(const std::string& key) const {
    const engine::ReadView view = engine_->view();
    const auto found = view.get(key);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    if (!found.ok() || !*found) return std::nullopt;
    return std::string((*found)->value);
  }
  bool has(const std::string& key) const { return value_at(key).has_value(); }
  bool has_work(const Work& work) const { return has(work_key(work)); }
  /// Returns the owners by the head of a content, or nothing.
  std::optional<std::uint32_t> owners_of(ContentId content) const {
    const std::optional<std::string> head = value_at(content_head_key(kContents, content));
    if (!head) return std::nullopt;
    const Result<ContentHead> decoded = decode_content_head(*head);
    EXPECT_TRUE(decoded.ok()) << decoded.status().to_string();
    return decoded.ok() ? std::optional(decoded->owners) : std::nullopt;
  }
  std::size_t count(const std::string& prefix) const {
    const engine::ReadView view = engine_->view();
    engine::Cursor rows = view.cursor(prefix, format::end_of_prefix(prefix));
    std::size_t found = 0;
    for (rows.seek_to_first(); rows.valid(); rows.next()) ++found;
    EXPECT_TRUE(rows.status().ok()) << rows.status().to_string();
    return found;
  }
  std::size_t blobs() const { return count(format::encode_table(kContainer)); }

  /// Does a part of the work, if its row is there.
  Result<bool> do_part(const Work& work) {
    const std::optional<std::string> value = value_at(work_key(work));
    return value ? left_.do_part(work, *value, damage_) : Result<bool>(false);
  }
  /// Does parts until there is nothing more to do, at most `parts_max`. Returns their number.
  int do_all(const Work& work, int parts_max) {
    int parts = 0;
    while (parts < parts_max && has_work(work)) {
      const Result<bool> done = do_part(work);
      if (!done.ok()) last_ = done.status();
      if (!done.ok() || !*done) break;
      ++parts;
    }
    return parts;
  }

  Machine machine_;
  std::unique_ptr<engine::Engine> engine_ = *machine_.open();
  RecordingBackend backend_{*engine_};
  BlobBoard board_{machine_.scheduler()};
  LeftWork left_{backend_, board_};
  Status last_;    // of the parts of do_all()
  Status damage_;  // the first one
};

inline constexpr Work kDropped{WorkKind::kContainer, WorkBench::kContainer, fence_of(WorkBench::kContainer)};
constexpr Work filling(ContentId content) {
  return {WorkKind::kFilling, content, WorkBench::kAccountNumber};
}
constexpr Work leaving(ContentId content) {
  return {WorkKind::kLeaving, content, WorkBench::kAccountNumber};
}

}  // namespace varve::test
