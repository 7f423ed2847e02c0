// Goal: in every operation a restricted handle does what its permissions and its interval allow, and nothing else.
#include <random>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"
#include "tests/support/effort.h"
#include "varve/store_transaction.h"

namespace varve::access_test {
namespace {

using namespace test;
using Keys = std::vector<std::string>;

KeyBound bound(std::string partition_key) {
  return {std::move(partition_key), std::nullopt};
}
KeyBound bound(std::string partition_key, std::string row_key) {
  return {std::move(partition_key), std::move(row_key)};
}

class RestrictedTable : public ::testing::Test {
 protected:
  void SetUp() override {
    whole_.emplace(bench_.table());
    for (const std::string partition : {"a", "b", "c"}) {
      for (const std::string row : {"3", "5", "7", "9"}) {
        ASSERT_TRUE(whole_->insert(with_value(partition, row, "x")).ok());
      }
    }
  }

  Table& whole() { return *whole_; }
  Table within(std::optional<KeyBound> from, std::optional<KeyBound> to, Permissions permissions = Permissions::all()) {
    return *whole_->restricted_to({permissions, {std::move(from), std::move(to)}, nullptr});
  }
  Table permitted(std::string_view letters) { return within({}, {}, *Permissions::parse(letters)); }
  static Keys seen(const Table& table, const Scan& scan = {}) { return keys_of(*table.scan(scan)); }
  /// Returns whether nothing was committed since the last call.
  bool unchanged() {
    const DateTime now = (*bench_.store->snapshot()).version();
    const bool same = now == last_;
    last_ = now;
    return same;
  }

  StoreBench bench_;
  std::optional<Table> whole_;
  DateTime last_{};
};

TEST_F(RestrictedTable, S21_EveryVerbNeedsItsPermission) {
  struct Verb {
    std::string needs;
    std::function<Status(Table&)> call;
  };
  const std::vector<Verb> verbs = {
      {"r", [](Table& t) { return t.get("a", "3").status(); }},
      {"r",
       [](Table& t) {
         return t.get_many(std::vector<EntityKey>{{"a", "3"}}).status();
       }},
      {"r", [](Table& t) { return t.get_many({}).status(); }},
      {"r", [](Table& t) { return t.scan({}).status(); }},
      {"a", [](Table& t) { return t.insert(with_value("new", "1", "x")).status(); }},
      {"u", [](Table& t) { return t.replace(with_value("a", "5", "y"), ETag::any()).status(); }},
      {"u", [](Table& t) { return t.merge(with_value("a", "5", "y"), ETag::any()).status(); }},
      {"au", [](Table& t) { return t.insert_or_replace(with_value("a", "5", "y")).status(); }},
      {"au", [](Table& t) { return t.insert_or_merge(with_value("a", "5", "y")).status(); }},
      {"d", [](Table& t) { return t.remove("new", "1", ETag::any()); }},
  };
  for (const std::string letters :
       {"", "r", "a", "u", "d", "ra", "ru", "rd", "au", "ad", "ud", "rau", "rad", "rud", "aud", "raud"}) {
    Table table = permitted(letters);
    (void)whole().insert_or_replace(with_value("new", "1", "x"));
    for (std::size_t i = 0; i < verbs.size(); ++i) {
      if (verbs[i].needs == "a") (void)whole().remove("new", "1", ETag::any());
      if (verbs[i].needs == "d") (void)whole().insert_or_replace(with_value("new", "1", "x"));
      (void)unchanged();
      const bool enough = (*Permissions::parse(letters)).contains(*Permissions::parse(verbs[i].needs));
      const Status status = verbs[i].call(table);
      EXPECT_EQ(said(status), enough ? kFine : kPermissionMismatch) << letters << ", verb " << i;
      EXPECT_TRUE(enough || unchanged()) << letters << ", verb " << i;
    }
  }
}

TEST_F(RestrictedTable, S21_PermissionsAreSomeOfRaudInThatOrder) {
  for (const std::string letters : {"", "r", "ra", "raud", "ad", "d"}) {
    ASSERT_TRUE(Permissions::parse(letters).ok()) << letters;
    EXPECT_EQ((*Permissions::parse(letters)).to_string(), letters);
  }
  for (const std::string letters : {"ar", "rr", "x", "R", "rawd", "raudd", " r", "r "}) {
    EXPECT_EQ(said(Permissions::parse(letters)), kInvalidXmlNodeValue) << letters;
  }
}

TEST_F(RestrictedTable, T14_S24_OperationsOfATransactionAreJudgedByThemselves) {
  Table inserts = permitted("a");
  EntityGroupTransaction transaction;
  transaction.insert(with_value("a", "1", "x")).insert(with_value("a", "2", "x")).remove("a", "3", ETag::any());
  (void)unchanged();
  const Status refused = inserts.execute(transaction).status();
  EXPECT_EQ(said(refused), kPermissionMismatch);
  EXPECT_EQ(refused.operation_index(), 2u);
  EXPECT_TRUE(unchanged());
  EXPECT_EQ(value_in(whole(), "a", "1"), "-");
  EXPECT_TRUE(permitted("ad").execute(transaction).ok());
}

TEST_F(RestrictedTable, S25_BoundsAreTuplesAndInclusive) {
  EXPECT_EQ(seen(within(bound("b"), {})), (Keys{"b/3", "b/5", "b/7", "b/9", "c/3", "c/5", "c/7", "c/9"}));
  EXPECT_EQ(seen(within(bound("b", "7"), {})), (Keys{"b/7", "b/9", "c/3", "c/5", "c/7", "c/9"}));
  EXPECT_EQ(seen(within({}, bound("a"))), (Keys{"a/3", "a/5", "a/7", "a/9"}));
  EXPECT_EQ(seen(within({}, bound("b", "3"))), (Keys{"a/3", "a/5", "a/7", "a/9", "b/3"}));
  // Not a rectangle: (b, 9) and (b, 3) are inside.
  EXPECT_EQ(seen(within(bound("a", "5"), bound("c", "7"))),
            (Keys{"a/5", "a/7", "a/9", "b/3", "b/5", "b/7", "b/9", "c/3", "c/5", "c/7"}));
  EXPECT_EQ(seen(within(bound("b"), bound("b"))), (Keys{"b/3", "b/5", "b/7", "b/9"}));
  EXPECT_EQ(seen(within(bound("b", "5"), bound("b", "5"))), (Keys{"b/5"}));
  EXPECT_EQ(seen(within(bound("c"), bound("a"))), (Keys{}));
  EXPECT_EQ(said(whole().restricted_to({Permissions::all(), {bound("\xFF"), {}}, nullptr})), kInvalidInput);
  EXPECT_EQ(said(whole().restricted_to({Permissions::all(), {{}, bound("a", "\xC0\x80")}, nullptr})), kInvalidInput);
}

TEST_F(RestrictedTable, S26_PointsAndWritesOutsideAreRefused) {
  Table table = within(bound("a", "5"), bound("c", "7"));
  (void)unchanged();
  for (const auto& [partition, row] : std::vector<std::pair<std::string, std::string>>{
           {"a", "3"}, {"c", "9"}, {"", ""}, {"d", "0"}, {"a", "4\xEF\xBF\xBF"}, {"c", "70"}}) {
    EXPECT_EQ(said(table.get(partition, row)), kAuthorizationFailure);
    EXPECT_EQ(said(table.get_many(std::vector<EntityKey>{{"b", "3"}, {partition, row}})), kAuthorizationFailure);
    const Entity entity = with_value(partition, row, "y");
    EXPECT_EQ(said(table.insert(entity)), kAuthorizationFailure);
    EXPECT_EQ(said(table.replace(entity, ETag::any())), kAuthorizationFailure);
    EXPECT_EQ(said(table.merge(entity, ETag::any())), kAuthorizationFailure);
    EXPECT_EQ(said(table.insert_or_replace(entity)), kAuthorizationFailure);
    EXPECT_EQ(said(table.insert_or_merge(entity)), kAuthorizationFailure);
    EXPECT_EQ(said(table.remove(partition, row, ETag::any())), kAuthorizationFailure);
  }
  EntityGroupTransaction transaction;
  transaction.merge(with_value("a", "5", "y"), ETag::any()).merge(with_value("a", "3", "y"), ETag::any());
  const Status refused = table.execute(transaction).status();
  EXPECT_EQ(said(refused), kAuthorizationFailure);
  EXPECT_EQ(refused.operation_index(), 1u);
  EXPECT_TRUE(unchanged());
  EXPECT_TRUE(table.get("a", "5").ok());
  EXPECT_TRUE(table.insert(with_value("c", "7", "x")).code() == Code::kExists);
  EXPECT_TRUE(table.remove("b", "9", ETag::any()).ok());
}

TEST_F(RestrictedTable, S26_ScansReturnWhatIsInsideWhateverTheyAskFor) {
  const Table table = within(bound("a", "7"), bound("b", "5"));
  const Keys inside = {"a/7", "a/9", "b/3", "b/5"};
  EXPECT_EQ(seen(table), inside);
  Scan scan;
  scan.range = ScanRange::partitions("b");
  EXPECT_EQ(seen(table, scan), (Keys{"b/3", "b/5"}));
  scan.range = ScanRange::rows("a", "3", "9");
  EXPECT_EQ(seen(table, scan), (Keys{"a/7"}));
  scan.range = ScanRange::rows_with_prefix("c", "");
  EXPECT_EQ(seen(table, scan), (Keys{}));
  scan.range = ScanRange::whole_table();
  for (const auto& [filter, expected] : std::vector<std::pair<std::string, Keys>>{
           {"RowKey ge '5'", {"a/7", "a/9", "b/5"}},
           {"PartitionKey eq 'a' and RowKey eq '3'", {}},
           {"(PartitionKey eq 'a' and RowKey eq '3') or (PartitionKey eq 'b' and RowKey eq '3')", {"b/3"}},
           {"PartitionKey eq 'c' or PartitionKey eq 'b' and RowKey eq '9'", {}},
           {"not (PartitionKey eq 'q')", inside},
           {"V eq 'x'", inside},
           {"true", inside}}) {
    scan.filter = filter;
    EXPECT_EQ(seen(table, scan), expected) << filter;
  }
}

TEST_F(RestrictedTable, S26_PagesCountAndContinueInside) {
  const Table table = within(bound("a", "9"), bound("b", "7"));
  Scan scan;
  scan.page_entities_max = 2;
  Keys all;
  for (;;) {
    const Result<Page> page = table.scan(scan);
    ASSERT_TRUE(page.ok());
    for (const std::string& key : keys_of(*page)) all.push_back(key);
    if (!page->continuation) break;
    scan.continuation = *page->continuation;
  }
  EXPECT_EQ(all, (Keys{"a/9", "b/3", "b/5", "b/7"}));
}

TEST_F(RestrictedTable, S26_ContinuationsFromOutsideDoNotWiden) {
  const Table table = within(bound("b"), bound("b", "5"));
  for (const std::string outside : {"a/3", "c/3", "c/9"}) {
    Scan scan;  // A token of the whole table, which names an entity outside.
    scan.page_entities_max = 1;
    for (;;) {
      const Result<Page> page = whole().scan(scan);
      ASSERT_TRUE(page.ok());
      if (page->continuation) scan.continuation = *page->continuation;
      if (!page->continuation || keys_of(*page).front() == outside) break;
    }
    scan.page_entities_max = 100;
    const Keys got = seen(table, scan);
    EXPECT_EQ(got, outside == "a/3" ? (Keys{"b/3", "b/5"}) : (Keys{})) << outside;
  }
}

TEST_F(RestrictedTable, S26_CountsBackwardScansAndPlansKeepInside) {
  const Table table = within(bound("a", "9"), bound("b", "5"));
  Scan scan;
  EXPECT_EQ((*table.count(scan)).entities, 3u);
  scan.backward = true;
  EXPECT_EQ(seen(table, scan), (Keys{"b/5", "b/3", "a/9"}));
  Scan first;  // A token of the whole table, which names an entity after the interval.
  first.backward = true;
  first.page_entities_max = 1;
  scan.continuation = (*whole().scan(first)).continuation.value();
  EXPECT_EQ(seen(table, scan), (Keys{"b/5", "b/3", "a/9"}));
  EXPECT_EQ((*table.count(scan)).entities, 3u);
  Scan outside;
  outside.filter = "PartitionKey eq 'c'";
  EXPECT_EQ((*table.explain(outside)).path, AccessPath::kNothing);
  const Table writer = permitted("au");
  EXPECT_EQ(writer.count({}).code(), Code::kForbidden);
  EXPECT_EQ(writer.explain({}).code(), Code::kForbidden);
}

TEST_F(RestrictedTable, S26_SnapshotsAreFencedToo) {
  const Result<Snapshot> snapshot = bench_.store->snapshot();
  ASSERT_TRUE(snapshot.ok());
  const Table table = within(bound("b", "9"), bound("c", "3"));
  Scan scan;
  scan.read.snapshot = *snapshot;
  EXPECT_EQ(seen(table, scan), (Keys{"b/9", "c/3"}));
  EXPECT_EQ(said(table.get("a", "3", scan.read)), kAuthorizationFailure);
}

TEST_F(RestrictedTable, RestrictingAgainIntersectsAndNeverWidens) {
  const Table narrow = within(bound("a", "7"), bound("b", "7"), *Permissions::parse("ra"));
  Table again = *narrow.restricted_to({Permissions::all(), {bound("a", "3"), bound("c")}, nullptr});
  EXPECT_EQ(seen(again), (Keys{"a/7", "a/9", "b/3", "b/5", "b/7"}));
  EXPECT_EQ(said(again.remove("b", "3", ETag::any())), kPermissionMismatch);
  EXPECT_EQ(said(again.insert(with_value("c", "1", "x"))), kAuthorizationFailure);
  const Table less = *again.restricted_to({*Permissions::parse("rd"), {bound("b"), {}}, nullptr});
  EXPECT_EQ(seen(less), (Keys{"b/3", "b/5", "b/7"}));
  const Table none = *less.restricted_to({Permissions::all(), {{}, bound("a")}, nullptr});
  EXPECT_EQ(seen(none), (Keys{}));
  EXPECT_EQ(said(none.get("b", "3")), kAuthorizationFailure);
  EXPECT_EQ(seen(whole()).size(), 12u);
}

TEST_F(RestrictedTable, S26_TransactionsOverTablesKeepToEachHandle) {
  const Table narrow = within(bound("b"), bound("b"), *Permissions::parse("ra"));
  Result<StoreTransaction> transaction = bench_.store->begin_transaction();
  ASSERT_TRUE(transaction.ok());
  EXPECT_TRUE(transaction->get(narrow, "b", "3").ok());
  EXPECT_EQ(said(transaction->get(narrow, "a", "3")), kAuthorizationFailure);
  EXPECT_EQ(keys_of(*transaction->scan(narrow, Scan{})), (Keys{"b/3", "b/5", "b/7", "b/9"}));
  (void)unchanged();
  transaction->insert(whole(), with_value("x", "1", "x")).insert(narrow, with_value("a", "1", "x"));
  const Status outside = transaction->commit().status();
  EXPECT_EQ(said(outside), kAuthorizationFailure);
  EXPECT_EQ(outside.operation_index(), 1u);
  transaction = bench_.store->begin_transaction();
  transaction->insert(narrow, with_value("b", "1", "x")).remove(narrow, "b", "3", ETag::any());
  const Status unpermitted = transaction->commit().status();
  EXPECT_EQ(said(unpermitted), kPermissionMismatch);
  EXPECT_EQ(unpermitted.operation_index(), 1u);
  EXPECT_TRUE(unchanged());
}

class Switch final : public AccessRule {
 public:
  Result<Permissions> permitted() const override {
    ++asked;
    return answer;
  }
  mutable int asked = 0;
  Result<Permissions> answer = Permissions::all();
};

TEST_F(RestrictedTable, ARuleIsAskedOnceAVerbAndItsAnswerCounts) {
  const auto rule = std::make_shared<Switch>();
  Table table = *whole().restricted_to({Permissions::all(), {}, rule});
  EXPECT_EQ(seen(table).size(), 12u);
  EXPECT_EQ(rule->asked, 1);
  rule->answer = *Permissions::parse("r");
  EXPECT_EQ(said(table.insert(with_value("new", "1", "x"))), kPermissionMismatch);
  rule->answer = Status(Code::kForbidden, "gone").with_service_error("AuthenticationFailed");
  (void)unchanged();
  const Said gone = {Code::kForbidden, "AuthenticationFailed"};
  EXPECT_EQ(said(table.get("a", "3")), gone);
  EXPECT_EQ(said(table.get_many({})), gone);
  EXPECT_EQ(said(table.scan({})), gone);
  EXPECT_EQ(said(table.insert(with_value("new", "1", "x"))), gone);
  EXPECT_EQ(said(table.remove("a", "3", ETag::any())), gone);
  EXPECT_EQ(said(table.execute(EntityGroupTransaction().insert(with_value("new", "1", "x")))), gone);
  const Table inner = *table.restricted_to({Permissions::all(), {}, nullptr});
  EXPECT_EQ(said(inner.get("a", "3")), gone);
  EXPECT_TRUE(unchanged());
}

// -- The interval compared with a slow check of UTF-16 texts ----------------------------------------------------------

std::u16string utf16(const std::string& text) {
  std::u16string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t code = length == 1 ? lead : lead & (0x7F >> length);
    for (std::size_t k = 1; k < length; ++k) code = code << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3F);
    i += length;
    if (code < 0x10000) {
      out.push_back(static_cast<char16_t>(code));
    } else {
      out.push_back(static_cast<char16_t>(0xD800 + ((code - 0x10000) >> 10)));
      out.push_back(static_cast<char16_t>(0xDC00 + ((code - 0x10000) & 0x3FF)));
    }
  }
  return out;
}

bool slowly_inside(const KeyInterval& interval, const std::string& partition_key, const std::string& row_key) {
  const std::u16string partition = utf16(partition_key);
  const std::u16string row = utf16(row_key);
  if (interval.from) {
    const std::u16string from = utf16(interval.from->partition_key);
    if (partition < from) return false;
    if (partition == from && interval.from->row_key && row < utf16(*interval.from->row_key)) return false;
  }
  if (interval.to) {
    const std::u16string to = utf16(interval.to->partition_key);
    if (partition > to) return false;
    if (partition == to && interval.to->row_key && row > utf16(*interval.to->row_key)) return false;
  }
  return true;
}

class RandomInterval {
 public:
  explicit RandomInterval(std::uint32_t seed) : random_(seed) {}

  std::size_t below(std::size_t end) { return random_() % end; }
  std::string text() {
    static const std::vector<std::string> kParts = {
        "", "a", "b", "B", "\xC3\xA9", "\xEE\x80\x80", "\xF0\x9F\x98\x80", "\xEF\xBF\xBD", " "};
    return kParts[below(kParts.size())] + kParts[below(3)];
  }
  std::optional<KeyBound> bound() {
    if (below(4) == 0) return std::nullopt;
    return KeyBound{text(), below(3) == 0 ? std::nullopt : std::optional<std::string>(text())};
  }

 private:
  std::mt19937 random_;
};

TEST(AccessInterval, S25_RandomIntervalsHoldWhatASlowCheckSays) {
  StoreBench bench;
  Table whole = bench.table();
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    RandomInterval random(seed);
    (void)whole.insert_or_replace(with_value(random.text(), random.text(), "x"));
  }
  const std::vector<Entity> all = (*whole.scan({})).entities;
  for (std::uint32_t seed = 1; seed <= effort(600u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomInterval random(seed);
    std::vector<KeyInterval> intervals;
    Table table = whole;
    for (std::size_t depth = 1 + random.below(3); depth > 0; --depth) {
      intervals.push_back({random.bound(), random.bound()});
      table = *table.restricted_to({Permissions::all(), intervals.back(), nullptr});
    }
    std::vector<std::string> expected;
    for (const Entity& entity : all) {
      bool inside = true;
      for (const KeyInterval& interval : intervals) {
        inside = inside && slowly_inside(interval, entity.partition_key(), entity.row_key());
      }
      if (inside) expected.push_back(entity.partition_key() + "/" + entity.row_key());
      EXPECT_EQ(said(table.get(entity.partition_key(), entity.row_key())), inside ? kFine : kAuthorizationFailure);
    }
    Scan scan;
    scan.page_entities_max = static_cast<std::uint32_t>(1 + random.below(7));
    if (random.below(2) == 0) scan.filter = "V eq 'x'";
    std::vector<std::string> got;
    for (;;) {
      const Result<Page> page = table.scan(scan);
      ASSERT_TRUE(page.ok());
      for (const std::string& key : keys_of(*page)) got.push_back(key);
      if (!page->continuation) break;
      scan.continuation = *page->continuation;
    }
    ASSERT_EQ(got, expected);
  }
}

}  // namespace
}  // namespace varve::access_test
