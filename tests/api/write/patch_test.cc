// Goal: a patch changes the properties that it names, keeps all others, and returns the entity that it stores. A
// condition that the stored entity does not meet refuses a write, which changes nothing.
// Method: each way in which the API takes a write, and tables of stored values and increments.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/blob/large_value_bench.h"
#include "tests/api/seeded_threads.h"
#include "tests/api/store_bench.h"
#include "varve/async.h"
#include "varve/condition.h"
#include "varve/limits.h"
#include "varve/store_transaction.h"

namespace varve::test::patch_test {
namespace {

using Kind = WriteOperation::Kind;

constexpr Said kConditionNotMet = {Code::kPreconditionFailed, "ConditionNotMet"};
constexpr Said kPropertyTypeMismatch = {Code::kInvalidArgument, "PropertyTypeMismatch"};
constexpr Said kIncrementOutOfRange = {Code::kTooLarge, "IncrementOutOfRange"};
constexpr std::int32_t kMax32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t kMin32 = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kMax64 = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin64 = std::numeric_limits<std::int64_t>::min();

/// The ways in which the API takes a patch and returns the entity after it.
enum class Way { kVerb, kTask, kMessages, kMessagesTask, kStoreTransaction };
constexpr Way kWays[] = {Way::kVerb, Way::kTask, Way::kMessages, Way::kMessagesTask, Way::kStoreTransaction};

class Patches : public ::testing::Test {
 protected:
  void SetUp() override { table_.emplace(bench_.table()); }
  Table& table() { return *table_; }

  ETag store_item(std::string_view row) {
    Entity item("p", std::string(row));
    item.set("Name", "bolt").set("Quantity", 7).set("Note", "old");
    const Result<ETag> etag = table().insert_or_replace(item);
    EXPECT_EQ(said(etag), kFine);
    return etag.ok() ? *etag : ETag();
  }

  static Result<Entity> only(Result<ExecutedTransaction> done) {
    if (!done.ok()) {
      EXPECT_EQ(done.status().operation_index(), 0U);
      return done.status();
    }
    EXPECT_EQ(done->patched.size(), 1U);
    EXPECT_EQ(done->etags.front(), done->patched.front().etag());
    return std::move(done->patched.front());
  }

  Result<Entity> patch(const Patch& patch, ETag if_match, Way way) {
    switch (way) {
      case Way::kVerb: return table().patch(patch, if_match);
      case Way::kTask: return wait(AsyncTable(table()).patch(patch, if_match));
      case Way::kMessages:
        return only(table().execute_with_messages(EntityGroupTransaction().patch(patch, if_match), {}));
      case Way::kMessagesTask:
        return only(
            wait(AsyncTable(table()).execute_with_messages(EntityGroupTransaction().patch(patch, if_match), {})));
      case Way::kStoreTransaction: break;
    }
    Result<StoreTransaction> transaction = bench_.store->begin_transaction();
    EXPECT_EQ(said(transaction), kFine);
    const Result<std::vector<ETag>> etags = transaction->patch(table(), patch, if_match).commit();
    if (!etags.ok()) {
      EXPECT_EQ(etags.status().operation_index(), 0U);
      EXPECT_TRUE(transaction->patched_entities().empty());
      return etags.status();
    }
    EXPECT_EQ(transaction->patched_entities().size(), 1U);
    return transaction->patched_entities().front();
  }

  /// Increments the property of an entity that has this value, or lacks it. Returns the value afterwards.
  Result<Value> increment(const std::optional<Value>& stored, const Value& by) {
    Entity entity("p", "sum");
    if (stored) entity.set("N", *stored);
    EXPECT_EQ(said(table().insert_or_replace(entity)), kFine);
    const Result<Entity> patched = table().patch(Patch("p", "sum").increment("N", by), ETag::any());
    if (!patched.ok()) {
      const std::optional<Entity> kept = read(table(), "p", "sum");
      EXPECT_EQ(kept->properties().size(), stored ? 1U : 0U);
      const bool is_comparable = stored && stored->type() != PropertyType::kDouble;  // a NaN equals nothing
      EXPECT_TRUE(!is_comparable || *kept->find("N") == *stored);
      const bool is_named = patched.status().message().find("'N'") != std::string::npos;
      EXPECT_TRUE(is_named) << patched.status().to_string();
      return patched.status();
    }
    EXPECT_EQ(*patched, *read(table(), "p", "sum"));
    return *patched->find("N");
  }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(Patches, SetRemoveAndIncrementAndReturnTheStoredEntity) {
  for (const Way way : kWays) {
    SCOPED_TRACE(static_cast<int>(way));
    const ETag before = store_item("r");
    const Patch changes =
        Patch("p", "r").set("Colour", "red").set("Name", 5).remove("Note").remove("Absent").increment("Quantity", -3);
    const Result<Entity> patched = patch(changes, before, way);
    ASSERT_EQ(said(patched), kFine) << patched.status().to_string();
    Entity expected("p", "r");
    expected.set("Name", 5).set("Quantity", 4).set("Colour", "red");
    expected.set_etag(patched->etag());
    EXPECT_EQ(*patched, expected);
    EXPECT_NE(patched->etag(), before);
    EXPECT_EQ(*read(table(), "p", "r"), expected);
  }
}

TEST_F(Patches, RefuseAnAbsentEntityAnotherETagAndNoETagInEveryWay) {
  for (const Way way : kWays) {
    SCOPED_TRACE(static_cast<int>(way));
    const ETag old = store_item("r");
    const ETag now = store_item("r");
    const Patch changes = Patch("p", "r").increment("Quantity", 1);
    EXPECT_EQ(said(patch(changes, old, way)), kUpdateConditionNotSatisfied);
    EXPECT_EQ(said(patch(changes, ETag(), way)), kInvalidInput);
    EXPECT_EQ(said(patch(Patch("p", "absent").increment("Quantity", 1), ETag::any(), way)), kResourceNotFound);
    EXPECT_EQ(read(table(), "p", "r")->etag(), now);
    EXPECT_FALSE(read(table(), "p", "absent").has_value());
  }
}

TEST_F(Patches, AConditionThatDoesNotHoldRefusesAndOneThatHoldsDoesNot) {
  for (const Way way : kWays) {
    SCOPED_TRACE(static_cast<int>(way));
    const ETag before = store_item("r");
    const auto taking = [&](const std::string& condition) {
      return patch(Patch("p", "r").increment("Quantity", -5).only_if(condition), ETag::any(), way);
    };
    const Result<Entity> first = taking("Quantity ge 5");
    ASSERT_EQ(said(first), kFine) << first.status().to_string();
    EXPECT_EQ(*first->get<std::int32_t>("Quantity"), 2) << "the condition judges the entity before the patch";
    const Result<Entity> second = taking("Quantity ge 5");
    EXPECT_EQ(said(second), kConditionNotMet);
    EXPECT_NE(second.status().message().find("'Quantity ge 5'"), std::string::npos) << second.status().to_string();
    EXPECT_EQ(*read(table(), "p", "r"), *first);
    EXPECT_EQ(said(patch(Patch("p", "r").only_if("false"), before, way)), kUpdateConditionNotSatisfied);
    EXPECT_EQ(said(taking("PartitionKey eq 'p' and RowKey eq 'r' and Timestamp eq datetime'" +
                          first->timestamp().to_string() + "'")),
              kFine);
    EXPECT_EQ(said(taking("RowKey eq 'other'")), kConditionNotMet);
    EXPECT_EQ(said(taking((field("Absent") == 1).text())), kConditionNotMet);
    EXPECT_EQ(said(taking(" ")), kFine);
    EXPECT_EQ(said(taking("Quantity ge")), kInvalidInput);
  }
}

TEST_F(Patches, ReplaceMergeAndRemoveTakeAConditionToo) {
  const std::vector<std::function<WriteOperation()>> verbs = {
      [] { return WriteOperation::replace(with_value("p", "r", "new"), ETag::any()); },
      [] { return WriteOperation::merge(with_value("p", "r", "new"), ETag::any()); },
      [] { return WriteOperation::remove("p", "r", ETag::any()); }};
  for (const auto& verb : verbs) {
    const auto write = [&](const WriteOperation& operation, Way way) -> Said {
      if (way == Way::kVerb) return said(table().write(operation));
      if (way == Way::kTask) return said(wait(AsyncTable(table()).write(operation)));
      if (way == Way::kMessages) return said(table().execute(EntityGroupTransaction({operation})));
      if (way == Way::kMessagesTask) {
        return said(wait(AsyncTable(table()).execute(EntityGroupTransaction({operation}))));
      }
      Result<StoreTransaction> transaction = bench_.store->begin_transaction();
      return said(transaction->add(table(), operation).commit());
    };
    for (const Way way : kWays) {
      SCOPED_TRACE(static_cast<int>(way));
      const ETag stored = store_item("r");
      EXPECT_EQ(write(verb().only_if("Quantity ge 8"), way), kConditionNotMet);
      EXPECT_EQ(read(table(), "p", "r")->etag(), stored);
      EXPECT_EQ(write(verb().only_if("Quantity ge 7"), way), kFine);
      EXPECT_EQ(value_in(table(), "p", "r"), verb().kind == Kind::kRemove ? "-" : "new");
    }
  }
}

TEST_F(Patches, AVerbThatInsertsRefusesACondition) {
  const Entity entity = with_value("p", "r", "x");
  EXPECT_EQ(said(table().write(WriteOperation::insert(entity).only_if("true"))), kInvalidInput);
  EXPECT_EQ(said(table().write(WriteOperation::insert_or_replace(entity).only_if("true"))), kInvalidInput);
  EXPECT_EQ(said(table().write(WriteOperation::insert_or_merge(entity).only_if("true"))), kInvalidInput);
  EXPECT_EQ(said(table().insert_or_patch(Patch("p", "r").only_if("true"))), kInvalidInput);
  WriteOperation merge = WriteOperation::merge(entity, ETag::any());
  merge.removed = {"V"};
  EXPECT_EQ(said(table().write(merge)), kInvalidInput);
  EXPECT_FALSE(read(table(), "p", "r").has_value());
}

TEST_F(Patches, AConditionHasTheLimitsOfAFilter) {
  StoreBench other(2);
  StoreOptions options = other.options();
  options.limits = StoreLimits{};
  options.limits->filter_comparisons_max = 2;
  other.open(options);
  Table table = other.table();
  ASSERT_EQ(said(table.insert(with_value("p", "r", "x"))), kFine);
  EXPECT_EQ(said(table.patch(Patch("p", "r").only_if("V eq 'x' or V eq 'y'"), ETag::any())), kFine);
  EXPECT_EQ(said(table.patch(Patch("p", "r").only_if("V eq 'x' or V eq 'y' or V eq 'z'"), ETag::any())), kInvalidInput);
}

TEST_F(Patches, AnIncrementKeepsTheTypeOfTheStoredNumber) {
  const auto sum = [&](const std::optional<Value>& stored, const Value& by) { return *increment(stored, by); };
  EXPECT_EQ(sum(5, 2), Value(7));
  EXPECT_EQ(sum(5, std::int64_t{-7}), Value(-2));
  EXPECT_EQ(sum(std::int64_t{5}, 2), Value(std::int64_t{7}));
  EXPECT_EQ(sum(std::int64_t{5}, std::int64_t{2}), Value(std::int64_t{7}));
  EXPECT_EQ(sum(0.5, 2), Value(2.5));
  EXPECT_EQ(sum(0.5, std::int64_t{2}), Value(2.5));
  EXPECT_EQ(sum(0.5, -2.0), Value(-1.5));
  EXPECT_EQ(sum(std::nullopt, 3), Value(3));
  EXPECT_EQ(sum(std::nullopt, std::int64_t{3}), Value(std::int64_t{3}));
  EXPECT_EQ(sum(std::nullopt, 0.25), Value(0.25));
}

TEST_F(Patches, AnIncrementReachesEachEndOfATypeAndIsRefusedBeyondIt) {
  EXPECT_EQ(*increment(kMax32 - 1, 1), Value(kMax32));
  EXPECT_EQ(*increment(kMin32 + 1, -1), Value(kMin32));
  EXPECT_EQ(*increment(kMin32, std::int64_t{kMax32}), Value(-1));
  EXPECT_EQ(said(increment(kMax32, 1)), kIncrementOutOfRange);
  EXPECT_EQ(said(increment(kMin32, -1)), kIncrementOutOfRange);
  EXPECT_EQ(said(increment(0, kMax64)), kIncrementOutOfRange);
  EXPECT_EQ(said(increment(0, kMin64)), kIncrementOutOfRange);
  EXPECT_EQ(*increment(kMax64 - 1, 1), Value(kMax64));
  EXPECT_EQ(*increment(std::int64_t{0}, kMin64), Value(kMin64));
  EXPECT_EQ(*increment(kMax64, kMin64), Value(std::int64_t{-1}));
  EXPECT_EQ(said(increment(kMax64, 1)), kIncrementOutOfRange);
  EXPECT_EQ(said(increment(kMin64, std::int64_t{-1})), kIncrementOutOfRange);
  EXPECT_EQ(said(increment(std::int64_t{-1}, kMin64)), kIncrementOutOfRange);
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(said(increment(most, most)), kIncrementOutOfRange);
  EXPECT_EQ(said(increment(-most, -most)), kIncrementOutOfRange);
  EXPECT_EQ(said(increment(std::nan(""), 1.0)), kIncrementOutOfRange);
  EXPECT_EQ(said(increment(std::numeric_limits<double>::infinity(), 1)), kIncrementOutOfRange);
  const Status of_nan = increment(std::nan(""), 1.0).status();
  EXPECT_NE(of_nan.message().find("NaN or infinite"), std::string_view::npos) << of_nan.message();
}

TEST_F(Patches, AnIncrementOfAnotherTypeIsRefused) {
  for (const Value& stored : std::vector<Value>{"7", true, Binary{"7"}, DateTime{limits::kDateTimeTicksMin}, Guid{}}) {
    EXPECT_EQ(said(increment(stored, 1)), kPropertyTypeMismatch);
    EXPECT_EQ(said(increment(stored, 1.0)), kPropertyTypeMismatch);
  }
  EXPECT_EQ(said(increment(7, 1.0)), kPropertyTypeMismatch);
  EXPECT_EQ(said(increment(std::int64_t{7}, 1.0)), kPropertyTypeMismatch);
  EXPECT_EQ(said(increment(7, "1")), kInvalidInput);
  EXPECT_EQ(said(increment(7, std::nan(""))), kInvalidInput);
  EXPECT_EQ(said(increment(0.5, -std::numeric_limits<double>::infinity())), kInvalidInput);
}

TEST_F(Patches, RefuseKeysTimestampAndNamesGivenTwice) {
  const ETag stored = store_item("r");
  const auto refusal = [&](const Patch& patch) { return said(table().patch(patch, ETag::any())); };
  for (const std::string name : {"PartitionKey", "RowKey"}) {
    EXPECT_EQ(refusal(Patch("p", "r").set(name, "x")), kDuplicateKeyProperty);
    EXPECT_EQ(refusal(Patch("p", "r").remove(name)), kDuplicateKeyProperty);
    EXPECT_EQ(refusal(Patch("p", "r").increment(name, 1)), kDuplicateKeyProperty);
  }
  EXPECT_EQ(refusal(Patch("p", "r").set("Timestamp", DateTime{limits::kDateTimeTicksMin})), kInvalidInput);
  EXPECT_EQ(refusal(Patch("p", "r").remove("Timestamp")), kInvalidInput);
  EXPECT_EQ(refusal(Patch("p", "r").increment("Timestamp", 1)), kInvalidInput);
  EXPECT_EQ(refusal(Patch("p", "r").set("A", 1).set("A", 2)), kDuplicateProperties);
  EXPECT_EQ(refusal(Patch("p", "r").set("A", 1).remove("A")), kDuplicateProperties);
  EXPECT_EQ(refusal(Patch("p", "r").set("A", 1).increment("A", 2)), kDuplicateProperties);
  EXPECT_EQ(refusal(Patch("p", "r").remove("A").remove("A")), kDuplicateProperties);
  EXPECT_EQ(refusal(Patch("p", "r").increment("A", 1).remove("A")), kDuplicateProperties);
  EXPECT_EQ(refusal(Patch("p", "r").increment("A", 1).increment("A", 1)), kDuplicateProperties);
  EXPECT_EQ(refusal(Patch("p", "r").remove("1A")), kPropertyNameInvalid);
  EXPECT_EQ(refusal(Patch("p", "r").increment("1A", 1)), kPropertyNameInvalid);
  EXPECT_EQ(read(table(), "p", "r")->etag(), stored);
}

TEST_F(Patches, InsertOrPatchInsertsAnAbsentEntity) {
  const Patch visit = Patch("p", "home").set("Name", "home").remove("Note").increment("Visits", std::int64_t{1});
  for (std::int64_t visits = 1; visits <= 3; ++visits) {
    const Result<Entity> patched =
        visits == 2 ? wait(AsyncTable(table()).insert_or_patch(visit)) : table().insert_or_patch(visit);
    ASSERT_EQ(said(patched), kFine) << patched.status().to_string();
    EXPECT_EQ(*patched->get<std::int64_t>("Visits"), visits);
    EXPECT_EQ(patched->properties().size(), 2U);
    EXPECT_EQ(*read(table(), "p", "home"), *patched);
  }
}

TEST_F(Patches, TheLimitsApplyToTheResult) {
  Entity full("p", "full");
  for (std::size_t i = 0; i < limits::kCustomPropertiesMax; ++i) full.add("N" + std::to_string(i), 1);
  ASSERT_EQ(said(table().insert(full)), kFine);
  EXPECT_EQ(said(table().patch(Patch("p", "full").increment("More", 1), ETag::any())), kTooManyProperties);
  EXPECT_EQ(said(table().patch(Patch("p", "full").set("More", 1).remove("N0"), ETag::any())), kFine);
  EXPECT_EQ(read(table(), "p", "full")->find("N0"), nullptr);
  Patch all_out("p", "full");
  for (std::size_t i = 0; i < limits::kCustomPropertiesMax; ++i) {
    all_out.remove(i == 0 ? "More" : "N" + std::to_string(i)).set("M" + std::to_string(i), 2);
  }
  const Result<Entity> other = table().patch(all_out, ETag::any());
  ASSERT_EQ(said(other), kFine) << other.status().to_string();
  EXPECT_EQ(other->properties().size(), limits::kCustomPropertiesMax);
  EXPECT_EQ(other->properties().front().name, "M0");
  EXPECT_EQ(said(table().patch(all_out.remove("One"), ETag::any())), kTooManyProperties);
  Entity large("p", "large");
  for (int i = 0; i < 14; ++i) large.add("B" + std::to_string(i), Binary{std::string(limits::kBinaryBytesMax, 'b')});
  ASSERT_EQ(said(table().insert(large)), kFine);
  const Value more = Binary{std::string(limits::kBinaryBytesMax, 'c')};
  EXPECT_EQ(said(table().patch(Patch("p", "large").set("C", more), ETag::any())), kFine);
  EXPECT_EQ(said(table().patch(Patch("p", "large").set("D", more), ETag::any())), kEntityTooLarge);
  EXPECT_EQ(said(table().patch(Patch("p", "large").set("D", more).remove("B3"), ETag::any())), kFine);
}

TEST_F(Patches, ATransactionIsDoneWholeOrNotAtAll) {
  store_item("a");
  store_item("b");
  EntityGroupTransaction transaction;
  transaction.patch(Patch("p", "a").increment("Quantity", -5), ETag::any());
  transaction.insert(with_value("p", "log", "x"));
  transaction.insert_or_patch(Patch("p", "b").increment("Quantity", 5));
  const Result<ExecutedTransaction> done = table().execute_with_messages(transaction, {});
  ASSERT_EQ(said(done), kFine) << done.status().to_string();
  ASSERT_EQ(done->patched.size(), 2U);
  EXPECT_EQ(*done->patched[0].get<std::int32_t>("Quantity"), 2);
  EXPECT_EQ(*done->patched[1].get<std::int32_t>("Quantity"), 12);
  EntityGroupTransaction refused;
  refused.patch(Patch("p", "b").increment("Quantity", -5), ETag::any());
  refused.patch(Patch("p", "a").increment("Quantity", -5).only_if("Quantity ge 5"), ETag::any());
  const Status status = table().execute(refused).status();
  EXPECT_EQ(said(status), kConditionNotMet);
  EXPECT_EQ(status.operation_index(), 1U);
  EXPECT_EQ(*read(table(), "p", "b"), done->patched[1]);
  EntityGroupTransaction twice;
  twice.patch(Patch("p", "a").increment("Quantity", 1), ETag::any()).patch(Patch("p", "a").set("A", 1), ETag::any());
  EXPECT_EQ(said(table().execute(twice)), kInvalidDuplicateRow);
}

TEST_F(Patches, ARestrictedHandleNeedsToQueryToo) {
  store_item("r");
  const auto with = [&](std::string_view permissions) {
    return *table().restricted_to({*Permissions::parse(permissions), {}, nullptr});
  };
  const Patch changes = Patch("p", "r").increment("Quantity", 1);
  EXPECT_EQ(said(with("u").patch(changes, ETag::any())), kPermissionMismatch);
  EXPECT_EQ(said(with("r").patch(changes, ETag::any())), kPermissionMismatch);
  EXPECT_EQ(said(with("ru").patch(changes, ETag::any())), kFine);
  EXPECT_EQ(said(with("ru").insert_or_patch(changes)), kPermissionMismatch);
  EXPECT_EQ(said(with("rau").insert_or_patch(changes)), kFine);
  const auto remove = [] { return WriteOperation::remove("p", "r", ETag::any()).only_if("Quantity ge 100"); };
  EXPECT_EQ(said(with("d").write(remove())), kPermissionMismatch);
  EXPECT_EQ(said(with("rd").write(remove())), kConditionNotMet);
}

TEST_F(Patches, E2_AnEndedEntityIsAbsentAndTheRuleHoldsForTheResult) {
  Result<Table> made = bench_.store->create_table(kAccount, "Sessions", {.expiry = TableExpiry::at("Until")});
  ASSERT_EQ(said(made), kFine);
  Table sessions = *std::move(made);
  const auto in = [&](std::uint64_t seconds) { return DateTime{bench_.machine.clock.wall() + seconds * 10'000'000}; };
  Entity session = with_value("p", "s", "v");
  session.set("Until", in(10)).set("Uses", 1);
  ASSERT_EQ(said(sessions.insert(session)), kFine);
  ASSERT_EQ(said(sessions.patch(Patch("p", "s").set("Until", in(30)).increment("Uses", 1), ETag::any())), kFine);
  bench_.machine.clock.advance(std::chrono::seconds(20));
  EXPECT_EQ(*read(sessions, "p", "s")->get<std::int32_t>("Uses"), 2);
  bench_.machine.clock.advance(std::chrono::seconds(20));
  EXPECT_EQ(said(sessions.patch(Patch("p", "s").increment("Uses", 1), ETag::any())), kResourceNotFound);
  const Result<Entity> again = sessions.insert_or_patch(Patch("p", "s").set("Until", in(10)).increment("Uses", 1));
  ASSERT_EQ(said(again), kFine);
  EXPECT_EQ(*again->get<std::int32_t>("Uses"), 1);
  EXPECT_EQ(again->find("V"), nullptr);
  ASSERT_EQ(said(sessions.patch(Patch("p", "s").remove("Until"), ETag::any())), kFine);
  bench_.machine.clock.advance(std::chrono::hours(1));
  EXPECT_EQ(*read(sessions, "p", "s")->get<std::int32_t>("Uses"), 1) << "the patch took away the end";
}

TEST_F(Patches, BX21_AContentLeavesWithThePatchThatRemovesItsProperty) {
  Table people = value_table(*bench_.store);
  const Unnamed photo = written(people, "a content");
  const Result<Entity> named = people.insert_or_patch(Patch("p", "ann").set("Photo", photo.value).increment("Seen", 1));
  ASSERT_EQ(said(named), kFine) << named.status().to_string();
  EXPECT_EQ(*named->get<LargeValue>("Photo"), photo.value);
  const Result<Entity> seen = people.patch(Patch("p", "ann").increment("Seen", 1), ETag::any());
  ASSERT_EQ(said(seen), kFine) << seen.status().to_string();
  EXPECT_EQ(*seen->get<LargeValue>("Photo"), photo.value);
  EXPECT_EQ(photo_in(people, "ann"), "a content");
  EXPECT_EQ(said(people.patch(Patch("p", "ann").increment("Photo", 1), ETag::any())), kPropertyTypeMismatch);
  ASSERT_EQ(said(people.patch(Patch("p", "ann").remove("Photo"), ETag::any())), kFine);
  EXPECT_EQ(photo_in(people, "ann"), "-");
  EXPECT_EQ(said(table().insert_or_patch(Patch("p", "ann").set("Photo", photo.value))), kInvalidInput);
}

TEST(PatchThreads, IncrementsAtTheSameTimeLoseNothing) {
  for_each_seed(5, [](StoreBench& bench) {
    Table table = bench.table();
    std::vector<std::function<void()>> bodies;
    for (int i = 0; i < 3; ++i) {
      bodies.push_back([&] {
        Table own = table;
        for (int n = 0; n < 4; ++n) EXPECT_EQ(said(own.insert_or_patch(Patch("p", "r").increment("N", 1))), kFine);
      });
    }
    run_together(bench, bodies);
    EXPECT_EQ(*read(table, "p", "r")->get<std::int32_t>("N"), 12);
  });
}

}  // namespace
}  // namespace varve::test::patch_test
