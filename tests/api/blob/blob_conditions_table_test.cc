// Goal: conditions are judged as the table of the rules says, for reads, changes and creating writes, and in their order
// among the other reasons to refuse (BC-01 to BC-03, BC-05).
// Method: each line of a table names four conditions and the three answers. Each verb is tried with each line, on a blob
// that exists and on a name without one. Then verbs with several faults at once must name the first one.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_bench.h"

namespace varve::test::blob_conditions_table_test {
namespace {

/// The ETag of a condition: none, that of the blob, another one, or any.
enum class Tag : std::uint8_t { kNone, kOwn, kOther, kAny };
/// The date of a condition: none, a second before the last change, its own second, or a second later.
enum class Date : std::uint8_t { kNone, kBefore, kSame, kAfter };

constexpr std::string_view kMet = "";
constexpr std::string_view kNotMet = "ConditionNotMet";
constexpr std::string_view kFresh = "NotModified";
constexpr std::string_view kNever = "UnsatisfiableCondition";
constexpr std::string_view kThere = "BlobAlreadyExists";

struct Line {
  Tag match;
  Tag none_match;
  Date modified_since;
  Date unmodified_since;
  std::string_view read;
  std::string_view change;
  std::string_view create;
};

constexpr Line kTable[] = {
    {Tag::kNone, Tag::kNone, Date::kNone, Date::kNone, kMet, kMet, kMet},
    {Tag::kOwn, Tag::kNone, Date::kNone, Date::kNone, kMet, kMet, kMet},
    {Tag::kOther, Tag::kNone, Date::kNone, Date::kNone, kNotMet, kNotMet, kNotMet},
    {Tag::kAny, Tag::kNone, Date::kNone, Date::kNone, kMet, kMet, kMet},
    {Tag::kNone, Tag::kOwn, Date::kNone, Date::kNone, kFresh, kNotMet, kNotMet},
    {Tag::kNone, Tag::kOther, Date::kNone, Date::kNone, kMet, kMet, kMet},
    {Tag::kNone, Tag::kAny, Date::kNone, Date::kNone, kNever, kNotMet, kThere},
    // Dates alone, in whole seconds (BC-03).
    {Tag::kNone, Tag::kNone, Date::kBefore, Date::kNone, kMet, kMet, kMet},
    {Tag::kNone, Tag::kNone, Date::kSame, Date::kNone, kFresh, kNotMet, kNotMet},
    {Tag::kNone, Tag::kNone, Date::kAfter, Date::kNone, kFresh, kNotMet, kNotMet},
    {Tag::kNone, Tag::kNone, Date::kNone, Date::kBefore, kNotMet, kNotMet, kNotMet},
    {Tag::kNone, Tag::kNone, Date::kNone, Date::kSame, kMet, kMet, kMet},
    {Tag::kNone, Tag::kNone, Date::kNone, Date::kAfter, kMet, kMet, kMet},
    {Tag::kNone, Tag::kNone, Date::kBefore, Date::kSame, kMet, kMet, kMet},
    {Tag::kNone, Tag::kNone, Date::kSame, Date::kBefore, kNotMet, kNotMet, kNotMet},
    // Reads judge all together; writes with an ETag do not look at dates (BC-02).
    {Tag::kOwn, Tag::kNone, Date::kNone, Date::kBefore, kNotMet, kMet, kMet},
    {Tag::kOther, Tag::kNone, Date::kNone, Date::kAfter, kNotMet, kNotMet, kNotMet},
    {Tag::kOwn, Tag::kNone, Date::kSame, Date::kNone, kFresh, kMet, kMet},
    {Tag::kNone, Tag::kOwn, Date::kBefore, Date::kNone, kMet, kNotMet, kNotMet},
    {Tag::kNone, Tag::kOther, Date::kSame, Date::kNone, kMet, kMet, kMet},
    {Tag::kNone, Tag::kOwn, Date::kSame, Date::kNone, kFresh, kNotMet, kNotMet},
    {Tag::kNone, Tag::kOther, Date::kBefore, Date::kNone, kMet, kMet, kMet},
    {Tag::kNone, Tag::kOther, Date::kNone, Date::kBefore, kNotMet, kMet, kMet},
    {Tag::kNone, Tag::kAny, Date::kBefore, Date::kNone, kNever, kNotMet, kThere},
    {Tag::kOwn, Tag::kOwn, Date::kNone, Date::kNone, kFresh, kNotMet, kNotMet},
    {Tag::kOwn, Tag::kOther, Date::kNone, Date::kNone, kMet, kMet, kMet},
    {Tag::kOther, Tag::kOther, Date::kNone, Date::kNone, kNotMet, kNotMet, kNotMet},
    {Tag::kAny, Tag::kOwn, Date::kBefore, Date::kNone, kMet, kNotMet, kNotMet},
};

struct NamedVerb {
  std::string_view name;
  std::function<Status(Container& photos, const BlobConditions& conditions)> run;
};

class BlobConditionTable : public testing::Test {
 protected:
  /// Makes the blob "a" anew, in the middle of a second.
  BlobState made() {
    bench_.pass(std::chrono::milliseconds(3'400));
    return put_blob(photos_, "a", "text");
  }
  static std::optional<ETag> etag_of(Tag tag, const ETag& own) {
    switch (tag) {
      case Tag::kNone: break;
      case Tag::kOwn: return own;
      case Tag::kOther: return ETag::of_timestamp(DateTime{own.timestamp().ticks - 1});
      case Tag::kAny: return ETag::any();
    }
    return std::nullopt;
  }
  static std::optional<DateTime> date_of(Date date, DateTime own) {
    constexpr std::uint64_t kSecond = 10'000'000;
    const std::uint64_t whole = own.ticks / kSecond * kSecond;
    switch (date) {
      case Date::kNone: break;
      case Date::kBefore: return DateTime{whole - 1};
      case Date::kSame: return DateTime{whole};
      case Date::kAfter: return DateTime{whole + kSecond};
    }
    return std::nullopt;
  }
  static BlobConditions conditions_of(const Line& line, const BlobState& blob) {
    BlobConditions conditions;
    conditions.if_match = etag_of(line.match, blob.etag);
    conditions.if_none_match = etag_of(line.none_match, blob.etag);
    conditions.if_modified_since = date_of(line.modified_since, blob.modified);
    conditions.if_unmodified_since = date_of(line.unmodified_since, blob.modified);
    return conditions;
  }

  static std::vector<NamedVerb> reads() {
    return {
        {"read", [](Container& c, const BlobConditions& on) { return c.read("a", {.conditions = on}).status(); }},
        {"state", [](Container& c, const BlobConditions& on) { return c.state("a", {.conditions = on}).status(); }}};
  }
  static std::vector<NamedVerb> changes() {
    return {{"set_properties",
             [](Container& c, const BlobConditions& on) {
               return c.set_properties("a", {}, {on, {}}).status();
             }},
            {"set_metadata",
             [](Container& c, const BlobConditions& on) {
               return c.set_metadata("a", {{"k", "v"}}, {on, {}}).status();
             }},
            {"set_tags",
             [](Container& c, const BlobConditions& on) {
               return c.set_tags("a", {}, {on, {}}).status();
             }},
            {"set_tier",
             [](Container& c, const BlobConditions& on) {
               return c.set_tier("a", BlobTier::kCool, {on, {}}).status();
             }},
            {"lease",
             [](Container& c, const BlobConditions& on) {
               return c.lease("a", {}, {on, {}}).status();
             }},
            {"remove", [](Container& c, const BlobConditions& on) {
               return c.remove("a", {on, {}});
             }}};
  }
  static std::vector<NamedVerb> creations() {
    return {
        {"put", [](Container& c, const BlobConditions& on) { return c.put("a", "new", {.conditions = on}).status(); }},
        {"write",
         [](Container& c, const BlobConditions& on) {
           Result<BlobWriter> writer = c.write("a", {.conditions = on});
           return writer.ok() ? writer->publish().status() : writer.status();
         }},
        {"commit_blocks",
         [](Container& c, const BlobConditions& on) { return c.commit_blocks("a", {}, {.conditions = on}).status(); }},
        {"create_append_blob",
         [](Container& c, const BlobConditions& on) { return c.create_append_blob("a", {.conditions = on}).status(); }},
        {"copy",
         [](Container& c, const BlobConditions& on) { return c.copy("a", c, "source", {.conditions = on}).status(); }}};
  }
  void end_lease() {
    (void)photos_.lease("a", {.action = LeaseRequest::Action::kBreak, .break_period = std::chrono::seconds(0)});
  }

  void try_all(const std::vector<NamedVerb>& verbs, std::string_view Line::*answer, std::string_view kind) {
    (void)put_blob(photos_, "source", "source");
    for (const NamedVerb& verb : verbs) {
      int number = 0;
      for (const Line& line : kTable) {
        end_lease();
        const BlobConditions conditions = conditions_of(line, made());
        EXPECT_EQ(verb.run(photos_, conditions).service_error(), line.*answer)
            << kind << " " << verb.name << ", line " << number;
        ++number;
      }
    }
  }
  /// `absent` is the answer for a name without a blob, and without If-Match.
  void try_without_blob(const std::vector<NamedVerb>& verbs, std::string_view absent, bool judges_match) {
    (void)put_blob(photos_, "source", "source");
    const BlobState gone = made();
    for (const NamedVerb& verb : verbs) {
      for (const Line& line : kTable) {
        (void)photos_.remove("a");
        const bool is_refused = judges_match && line.match != Tag::kNone;
        EXPECT_EQ(verb.run(photos_, conditions_of(line, gone)).service_error(), is_refused ? kNotMet : absent)
            << verb.name;
      }
    }
  }

  BlobBench bench_;
  Container photos_ = bench_.container();
};

TEST_F(BlobConditionTable, BC01_BC02_BC03_Reads) {
  try_all(reads(), &Line::read, "read");
  try_without_blob(reads(), "BlobNotFound", true);
}

TEST_F(BlobConditionTable, BC01_BC02_BC03_Changes) {
  try_all(changes(), &Line::change, "change");
  try_without_blob(changes(), "BlobNotFound", false);
}

TEST_F(BlobConditionTable, BC01_BC02_BC03_BB02_CreatingWrites) {
  try_all(creations(), &Line::create, "creation");
  try_without_blob(creations(), "", true);
}

/// Several faults at once: each verb names the first one by the order of BC-05, and then the next.
class BlobOrder : public testing::Test {
 protected:
  void SetUp() override {
    EXPECT_EQ(said(photos_.create_append_blob("log")), kFine);
    (void)put_blob(photos_, "a", "text");
    (void)put_blob(photos_, "cold", "text", {.tier = BlobTier::kArchive});
    for (const char* const name : {"a", "log", "cold"}) {
      const LeaseRequest acquire{.action = LeaseRequest::Action::kAcquire, .proposed = guid_of(1)};
      EXPECT_EQ(said(photos_.lease(name, acquire)), kFine);
    }
  }
  /// Runs the verb with all faults, then with the right lease, then also with conditions that are met.
  void expect_order(const std::function<Status(const BlobConditions&)>& verb, std::string_view last,
                    bool needs_lease = true) {
    BlobConditions conditions;
    conditions.if_match = ETag::of_timestamp(DateTime{1});
    EXPECT_EQ(verb(conditions).service_error(), needs_lease ? "LeaseIdMissing" : kNotMet);
    conditions.lease = guid_of(2);
    EXPECT_EQ(verb(conditions).service_error(), needs_lease ? "LeaseIdMismatchWithBlobOperation" : kNotMet);
    conditions.lease = guid_of(1);
    EXPECT_EQ(verb(conditions).service_error(), kNotMet);
    conditions.if_match.reset();
    EXPECT_EQ(verb(conditions).service_error(), last);
  }

  BlobBench bench_;
  Container photos_ = bench_.container();
};

TEST_F(BlobOrder, BC05_AnAppendToABlockBlob) {
  expect_order([&](const BlobConditions& on) { return photos_.append("a", "x", {.conditions = on}).status(); },
               "InvalidBlobType");
}

TEST_F(BlobOrder, BC05_AListOfBlocksThatAreNotThere) {
  const std::vector<BlockChoice> blocks = {{"none"}};
  const auto commit = [&](std::string_view name) {
    return [&, name](const BlobConditions& on) {
      return photos_.commit_blocks(name, blocks, {.conditions = on}).status();
    };
  };
  expect_order(commit("a"), "InvalidBlockList");
  expect_order(commit("log"), "InvalidBlobType");
  EXPECT_EQ(content_in(photos_, "a"), "text");
}

TEST_F(BlobOrder, BC05_ABlockForAnAppendBlob) {
  EXPECT_EQ(stage(photos_, "log", "1", "x"), (Said{Code::kPreconditionFailed, "LeaseIdMissing"}));
  BlobWriteOptions options;
  options.conditions.lease = guid_of(1);
  EXPECT_EQ(stage(photos_, "log", "1", "x", options), kWrongBlobKind);
}

TEST_F(BlobOrder, BC05_ATierOfAnAppendBlob) {
  expect_order(
      [&](const BlobConditions& on) {
        return photos_.set_tier("log", BlobTier::kCool, {on, {}}).status();
      },
      "InvalidBlobType", false);
}

TEST_F(BlobOrder, BC05_ACopyOfAnArchivedBlob) {
  expect_order(
      [&](const BlobConditions& on) { return photos_.copy("a", photos_, "cold", {.conditions = on}).status(); },
      "BlobArchived");
  BlobCopyOptions options;
  options.conditions.lease = guid_of(1);
  options.source_conditions.if_match = ETag::of_timestamp(DateTime{1});
  EXPECT_EQ(said(photos_.copy("a", photos_, "cold", options)).service_error, "SourceConditionNotMet");
  EXPECT_EQ(said(photos_.copy("a", photos_, "none", options)).service_error, "BlobNotFound");
  EXPECT_EQ(content_in(photos_, "a"), "text");
}

TEST_F(BlobOrder, BC05_AnAbsentBlobComesFirst) {
  BlobConditions conditions;
  conditions.if_match = ETag::of_timestamp(DateTime{1});
  conditions.lease = guid_of(1);
  EXPECT_EQ(said(photos_.append("none", "x", {.conditions = conditions})), kBlobGone);
  EXPECT_EQ(said(photos_.remove("none", {conditions, {}})), kBlobGone);
  EXPECT_EQ(said(photos_.set_tier("none", BlobTier::kHot, {conditions, {}})), kBlobGone);
}

TEST_F(BlobOrder, BC05_AReadOfAnArchivedBlob) {
  BlobConditions conditions;
  conditions.lease = guid_of(2);
  conditions.if_match = ETag::of_timestamp(DateTime{1});
  EXPECT_EQ(said(photos_.read("cold", {.conditions = conditions})).service_error, "LeaseIdMismatchWithBlobOperation");
  conditions.lease.reset();
  EXPECT_EQ(said(photos_.read("cold", {.conditions = conditions})).service_error, kNotMet);
  EXPECT_EQ(said(photos_.read("cold")).service_error, "BlobArchived");
}

}  // namespace
}  // namespace varve::test::blob_conditions_table_test
