// Goal: containers and blobs do what the rules say, whatever the order of the verbs (BX-42), and each content is kept
// exactly as long as it has an owner (BX-08, BX-30 to BX-32).
// Method: random verbs go to a container and to a map of byte strings. All answers are compared. The store is opened anew
// and compacted now and then. At the end the keeper does its work, and all owners of contents are counted again.
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_model_state.h"
#include "tests/support/effort.h"
#include "varve/blob.h"

namespace varve::test::blob_model_test {
namespace {

class BlobModel : private BlobModelState {
 public:
  explicit BlobModel(std::uint64_t seed) : BlobModelState(seed) {}

  void step() {
    pass();
    switch (below(24)) {
      case 0:
      case 1:
      case 2: return put();
      case 3: return begin_write();
      case 4: return go_on_writing();
      case 5:
      case 6: return read();
      case 7: return remove();
      case 8: return set_state();
      case 9: return void(begin_block());
      case 10:
      case 11: return stage();
      case 12:
      case 13: return commit_blocks();
      case 14: return compare_blocks();
      case 15: return create_append_blob();
      case 16:
      case 17:
      case 18: return append();
      case 19: return lease();
      case 20: return list();
      case 21: return below(8) == 0 ? drop() : hold_reader();
      case 22: return below(6) == 0 ? reopen() : copy();
      default: return below(6) == 0 ? compact() : copy();
    }
  }

  void finish() {
    check_readers();
    writers_.clear();
    readers_.clear();
    for (const std::string& name : names()) compare(name);
    bench_.store.reset();
    expect_settled_after({}, staged_.size());
    EXPECT_EQ(expect_settled_after(std::chrono::hours(24 * 8), 0), 0U) << "staged blocks live for a week";
  }

 private:
  ModelBlob& replaced(const std::string& name, const BlobWriteOptions& options, std::string content,
                      const Result<BlobState>& state) {
    ModelBlob& blob = blobs_[name];
    ModelLease lease = blob.lease;
    lease.written(options.conditions.lease, now());
    blob = ModelBlob();
    blob.lease = lease;
    blob.content = std::move(content);
    blob.properties = options.properties;
    blob.metadata = options.metadata;
    blob.tags = options.tags;
    blob.tier = options.tier;
    EXPECT_GT(state->etag.timestamp().ticks, newest_);
    newest_ = state->etag.timestamp().ticks;
    blob.etag = state->etag;
    staged_.erase(name);
    compare(name);
    return blob;
  }

  void put() {
    const std::string& name = any_name();
    BlobWriteOptions options = write_options(name);
    if (below(8) == 0) options.tier = below(2) == 0 ? BlobTier::kArchive : BlobTier::kCool;
    const std::string text = content();
    const Result<BlobState> state = photos_.put(name, text, options);
    if (agrees(state.status(), refusals_of_replacement(name, options.conditions))) replaced(name, options, text, state);
  }

  void begin_write() {
    const std::string& name = any_name();
    const BlobWriteOptions options = write_options(name);
    Result<BlobWriter> writer = photos_.write(name, options);
    if (!agrees(writer.status(), refusals_of_replacement(name, options.conditions))) return;
    writers_.push_back({name, "", options, std::nullopt, *std::move(writer)});
  }
  /// Returns whether the writer was made.
  bool begin_block() {
    const std::string& name = any_name();
    BlobWriteOptions options;
    options.conditions.lease = conditions(name).lease;
    const std::string id = block_id();
    Refusals refusals;
    if (const ModelBlob* const blob = find(name)) {
      refusals = {blob->lease.refuses_write(options.conditions.lease, now())};
      if (blob->kind != BlobKind::kBlock) refusals.insert("InvalidBlobType");
    }
    Result<BlobWriter> writer = photos_.stage_block(name, id, options);
    if (!agrees(writer.status(), refusals)) return false;
    writers_.push_back({name, "", options, id, *std::move(writer)});
    return true;
  }
  void go_on_writing() {
    if (writers_.empty()) return;
    const std::size_t index = below(writers_.size());
    OpenWriter& open = writers_[index];
    for (std::uint64_t pieces = 1 + below(3); pieces > 0; --pieces) {
      const std::string piece = content();
      EXPECT_EQ(said(open.writer.append(piece)), kDone);
      open.content += piece;
      EXPECT_EQ(open.writer.length(), open.content.size());
    }
    const std::uint64_t end = below(3);
    if (end == 0 && writers_.size() < 5) return;
    OpenWriter ended = std::move(open);
    writers_.erase(writers_.begin() + static_cast<std::ptrdiff_t>(index));
    if (end != 1) publish(ended);  // else it is abandoned
  }
  void publish(OpenWriter& open) {
    if (open.block) return publish_block(open);
    const Refusals refusals = refusals_of_replacement(open.name, open.options.conditions);
    const Result<BlobState> state = open.writer.publish();
    if (agrees(state.status(), refusals)) replaced(open.name, open.options, open.content, state);
    EXPECT_EQ(said(open.writer.append("x")), kInvalidInput);
  }
  void publish_block(OpenWriter& open) {
    Refusals refusals;
    if (const ModelBlob* const blob = find(open.name)) {
      refusals = {blob->lease.refuses_write(open.options.conditions.lease, now())};
      if (blob->kind != BlobKind::kBlock) refusals.insert("InvalidBlobType");
    }
    if (open.content.empty()) refusals.insert("InvalidHeaderValue");
    const Result<BlobState> state = open.writer.publish();
    if (!agrees(state.status(), refusals)) return;
    EXPECT_EQ(state->length, open.content.size());
    staged_[open.name][*open.block] = open.content;
  }
  void stage() {
    if (!begin_block()) return;
    OpenWriter open = std::move(writers_.back());
    writers_.pop_back();
    open.content = content();
    EXPECT_EQ(said(open.writer.append(open.content)), kDone);
    publish(open);
  }

  void commit_blocks() {
    const std::string& name = any_name();
    const BlobWriteOptions options = write_options(name);
    std::vector<BlockChoice> choices;
    std::vector<std::pair<std::string, std::string>> blocks;
    ModelBlob* const blob = find(name);
    const BlockMap staged = staged_.contains(name) ? staged_[name] : BlockMap();
    bool is_missing = false;
    for (std::uint64_t i = below(5); i > 0; --i) {
      std::string id = block_id();
      if (!staged.empty() && below(4) != 0)
        id = std::next(staged.begin(), static_cast<std::ptrdiff_t>(below(staged.size())))->first;
      const auto from = static_cast<BlockChoice::From>(below(5) == 0 ? 1 + below(2) : 0);
      choices.push_back({id, from});
      const auto in_stage = staged.find(id);
      const std::string* found = nullptr;
      if (from != BlockChoice::From::kCommitted && in_stage != staged.end()) found = &in_stage->second;
      for (const auto& block : blob != nullptr ? blob->blocks : decltype(blocks)()) {
        if (found == nullptr && from != BlockChoice::From::kStaged && block.first == id) found = &keep(block.second);
      }
      is_missing |= found == nullptr;
      blocks.emplace_back(id, found == nullptr ? "" : *found);
    }
    Refusals refusals = refusals_of_replacement(name, options.conditions);
    if (is_missing) refusals.insert("InvalidBlockList");
    if (blob != nullptr && blob->kind != BlobKind::kBlock) refusals.insert("InvalidBlobType");
    const Result<BlobState> state = photos_.commit_blocks(name, choices, options);
    if (!agrees(state.status(), refusals)) return;
    std::string text;
    for (const auto& block : blocks) text += block.second;
    replaced(name, options, text, state).blocks = blocks;
    compare_blocks(name);
  }
  const std::string& keep(const std::string& text) { return kept_ = text; }

  void compare_blocks() { compare_blocks(any_name()); }
  void compare_blocks(const std::string& name) {
    const ModelBlob* const blob = find(name);
    const Result<BlockLists> lists = photos_.blocks(name);
    if (blob == nullptr && !staged_.contains(name)) return void(agrees(lists.status(), {"BlobNotFound"}));
    if (blob != nullptr && blob->kind != BlobKind::kBlock) return void(agrees(lists.status(), {"InvalidBlobType"}));
    if (!agrees(lists.status(), {})) return;
    EXPECT_EQ(lists->blob.has_value(), blob != nullptr);
    std::vector<std::pair<std::string, std::string>> staged;
    if (staged_.contains(name)) staged.assign(staged_[name].begin(), staged_[name].end());
    expect_blocks(lists->staged, staged);
    expect_blocks(lists->committed, blob != nullptr ? blob->blocks : decltype(blob->blocks)());
  }
  static void expect_blocks(const std::vector<BlockInfo>& found,
                            const std::vector<std::pair<std::string, std::string>>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].id, expected[i].first);
      EXPECT_EQ(found[i].length, expected[i].second.size());
    }
  }

  void remove() {
    const std::string& name = any_name();
    const BlobConditions chosen = conditions(name);
    const Refusals refusals = refusals_of_change(name, chosen);
    if (!agrees(photos_.remove(name, {chosen, {}}), refusals)) return;
    blobs_.erase(name);
    staged_.erase(name);
    compare(name);
  }

  void set_state() {
    const std::string& name = any_name();
    const BlobChangeOptions options{conditions(name), {}};
    const std::uint64_t what = below(4);
    Refusals refusals = refusals_of_change(name, options.conditions, what < 2);
    ModelBlob* const blob = find(name);
    ModelBlob changed = blob != nullptr ? *blob : ModelBlob();
    if (what == 3 && changed.kind != BlobKind::kBlock) refusals.insert("InvalidBlobType");
    Result<BlobState> state = Status(Code::kClosed);
    if (what == 0) {
      changed.properties = {.content_encoding = "e" + std::to_string(below(9))};
      state = photos_.set_properties(name, changed.properties, options);
    } else if (what == 1) {
      changed.metadata = {{"Set", std::to_string(below(9))}};
      state = photos_.set_metadata(name, changed.metadata, options);
    } else if (what == 2) {
      changed.tags = {{"t", std::to_string(below(9))}};
      state = photos_.set_tags(name, changed.tags, options);
    } else {
      changed.tier = below(2) == 0 ? BlobTier::kArchive : BlobTier::kHot;
      state = photos_.set_tier(name, changed.tier, options);
    }
    if (!agrees(state.status(), refusals)) return;
    EXPECT_EQ(state->etag == blob->etag, what >= 2);
    if (what < 2) changed.lease.written(options.conditions.lease, now());
    changed.etag = state->etag;
    *blob = changed;
    compare(name);
  }

  void create_append_blob() {
    const std::string& name = any_name();
    const BlobWriteOptions options = write_options(name);
    const Refusals refusals = refusals_of_replacement(name, options.conditions);
    const Result<BlobState> state = photos_.create_append_blob(name, options);
    if (!agrees(state.status(), refusals)) return;
    replaced(name, options, "", state).kind = BlobKind::kAppend;
  }

  void append() {
    const std::string& name = any_name();
    AppendOptions options;
    options.conditions = conditions(name);
    const std::string text = "+" + content();
    ModelBlob* const blob = find(name);
    Refusals refusals = refusals_of_change(name, options.conditions);
    if (blob != nullptr) {
      if (below(4) == 0) options.position = blob->content.size() + below(2);
      if (below(4) == 0) options.length_max = blob->content.size() + text.size() - below(2);
      if (blob->kind != BlobKind::kAppend) refusals.insert("InvalidBlobType");
      if (options.position.value_or(blob->content.size()) != blob->content.size()) {
        refusals.insert("AppendPositionConditionNotMet");
      }
      if (options.length_max && blob->content.size() + text.size() > *options.length_max) {
        refusals.insert("MaxBlobSizeConditionNotMet");
      }
    }
    const Result<AppendedBlock> appended = photos_.append(name, text, options);
    if (!agrees(appended.status(), refusals)) return;
    EXPECT_EQ(appended->offset, blob->content.size());
    EXPECT_EQ(appended->append_count, ++blob->appends);
    blob->content += text;
    blob->etag = appended->etag;
    blob->lease.written(options.conditions.lease, now());
    compare(name);
  }

  void copy() {
    const std::string& name = any_name();
    const std::string& from = any_name();
    BlobCopyOptions options;
    options.conditions = conditions(name);
    if (below(4) == 0) options.source_conditions = conditions(from);
    options.source_conditions.lease.reset();
    Refusals refusals = refusals_of_replacement(name, options.conditions);
    const ModelBlob* const source = find(from);
    if (source == nullptr) refusals.insert({"BlobNotFound", "SourceConditionNotMet"});
    if (source != nullptr) {
      const std::string_view error = refuses_read(options.source_conditions, source->etag);
      if (!error.empty()) refusals.insert({"SourceConditionNotMet", "UnsatisfiableCondition"});
      if (source->tier == BlobTier::kArchive) refusals.insert("BlobArchived");
    }
    const Result<BlobState> state = photos_.copy(name, photos_, from, options);
    if (!agrees(state.status(), refusals)) return;
    const ModelBlob taken = *source;
    BlobWriteOptions like;
    like.properties = taken.properties;
    like.metadata = taken.metadata;
    like.conditions = options.conditions;
    ModelBlob& blob = replaced(name, like, taken.content, state);
    blob.kind = taken.kind;
    blob.appends = taken.appends;
    blob.blocks = taken.blocks;
  }

  void lease() {
    const std::string& name = any_name();
    LeaseRequest request;
    request.action = static_cast<LeaseRequest::Action>(below(2) * below(5));
    request.id = lease_id_of(below(3));
    request.proposed = lease_id_of(below(3));
    request.duration = below(3) == 0 ? kInfiniteLease : std::chrono::seconds(15 + below(46));
    if (below(2) == 0) request.break_period = std::chrono::seconds(below(61));
    const Result<LeaseAnswer> answer = photos_.lease(name, request);
    ModelBlob* const blob = find(name);
    if (blob == nullptr) return void(agrees(answer.status(), {"BlobNotFound"}));
    const bool agreed = agrees(answer.status(), {blob->lease.change(request, now())});
    if (agreed && request.action < LeaseRequest::Action::kRelease) {
      EXPECT_EQ(answer->id, blob->lease.id);
    }
    compare(name);
  }

  void read() {
    const std::string& name = any_name();
    BlobReadOptions options;
    options.conditions = conditions(name);
    const Result<BlobReader> reader = photos_.read(name, options);
    const ModelBlob* const blob = find(name);
    if (blob == nullptr) {
      agrees(reader.status(), {options.conditions.if_match ? "ConditionNotMet" : "BlobNotFound"});
      return;
    }
    Refusals refusals{refuses_read(options.conditions, blob->etag)};
    if (options.conditions.lease) refusals.insert(blob->lease.refuses_write(options.conditions.lease, now()));
    if (blob->tier == BlobTier::kArchive) refusals.insert("BlobArchived");
    if (agrees(reader.status(), refusals)) expect_content(*reader, blob->content);
  }
  void hold_reader() {
    const std::string& name = any_name();
    const ModelBlob* const blob = find(name);
    if (blob == nullptr || blob->tier == BlobTier::kArchive) return;
    Result<BlobReader> reader = photos_.read(name);
    if (agrees(reader.status(), {})) readers_.push_back({blob->content, *std::move(reader)});
    if (readers_.size() > 4) check_readers();
  }
  void check_readers() {
    for (const OpenReader& open : readers_) expect_content(open.reader, open.content);
    readers_.clear();
  }

  void list() {
    const std::string prefixes[] = {"", "b", "b/", "b/c/", "zz"};
    BlobListing listing;
    listing.prefix = prefixes[below(5)];
    listing.delimiter = below(2) == 0 ? "" : "/";
    listing.page_max = static_cast<std::uint32_t>(1 + below(4));
    listing.with_uncommitted = below(2) == 0;
    std::set<std::string> expected;
    const auto add = [&](const std::string& name) {
      if (!name.starts_with(listing.prefix)) return;
      const std::size_t at = listing.delimiter.empty() ? std::string::npos : name.find('/', listing.prefix.size());
      expected.insert(at == std::string::npos ? name : name.substr(0, at + 1));
    };
    for (const auto& blob : blobs_) add(blob.first);
    for (const auto& blob : staged_) {
      if (listing.with_uncommitted) add(blob.first);
    }
    std::vector<std::string> found;
    for (bool has_more = true; has_more;) {
      const Result<BlobPage> page = photos_.list(listing);
      ASSERT_TRUE(page.ok()) << page.status().to_string();
      EXPECT_LE(page->entries.size(), listing.page_max);
      for (const BlobListed& entry : page->entries) {
        found.push_back(entry.prefix.empty() ? entry.blob.name : entry.prefix);
        if (!entry.prefix.empty()) continue;
        EXPECT_EQ(entry.blob.is_uncommitted, !blobs_.contains(entry.blob.name));
        if (!entry.blob.is_uncommitted) expect_state(entry.blob, blobs_[entry.blob.name]);
      }
      has_more = page->continuation.has_value();
      if (has_more) listing.continuation = *page->continuation;
    }
    EXPECT_EQ(found, std::vector<std::string>(expected.begin(), expected.end()));
  }

  void drop() {
    EXPECT_EQ(said(bench_.store->drop_container(kAccount, "photos")), kDone);
    EXPECT_EQ(photos_.list().status().service_error(), "ContainerNotFound");
    blobs_.clear();
    staged_.clear();
    photos_ = made();
    const Result<BlobPage> page = photos_.list();
    ASSERT_TRUE(page.ok()) << page.status().to_string();
    EXPECT_TRUE(page->entries.empty());
  }
  void compact() {
    EXPECT_EQ(said(bench_.store->compact()), kDone);
    check_readers();
  }
  void reopen() {
    check_readers();
    bench_.store.reset();
    for (OpenWriter& open : writers_) EXPECT_EQ(open.writer.append("x").code(), Code::kClosed);
    writers_.clear();
    bench_.open();
    photos_ = *bench_.store->open_container(kAccount, "photos");
    for (const std::string& name : names()) compare(name);
  }

  std::uint64_t newest_ = 0;
  std::string kept_;
};

class BlobModels : public testing::TestWithParam<std::uint64_t> {};

TEST_P(BlobModels, BX02_BX08_BX42_BX43_BlobsFollowTheirRules) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  BlobModel model(GetParam());
  for (int step = 0; step < 300; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    model.step();
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  model.finish();
}

INSTANTIATE_TEST_SUITE_P(Seeds, BlobModels, testing::Range<std::uint64_t>(1, 1 + effort(20)));

}  // namespace
}  // namespace varve::test::blob_model_test
