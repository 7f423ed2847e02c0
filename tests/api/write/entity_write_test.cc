// Every operation on every state of an entity, with every kind of condition.
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/store_bench.h"
#include "varve/async.h"
#include "varve/store_transaction.h"

namespace varve::entity_write_test {
namespace {

using namespace test;
using Kind = WriteOperation::Kind;

constexpr std::string_view kStored = "stored";
constexpr std::string_view kWritten = "written";

enum class Verb { kInsert, kReplace, kMerge, kInsertOrReplace, kInsertOrMerge, kRemove };
enum class Condition { kNone, kAny, kMatches, kDiffers };

constexpr std::array<Verb, 6> kVerbs = {Verb::kInsert,          Verb::kReplace,       Verb::kMerge,
                                        Verb::kInsertOrReplace, Verb::kInsertOrMerge, Verb::kRemove};
/// The ways in which the API takes one write.
enum class Way {
  kVerb,
  kOperation,
  kBorrowedEntity,
  kTask,
  kTransaction,
  kList,
  kTransactionTask,
  kStoreTransaction,
};
constexpr std::array<Way, 8> kWays = {
    Way::kVerb,        Way::kOperation, Way::kBorrowedEntity,  Way::kTask,
    Way::kTransaction, Way::kList,      Way::kTransactionTask, Way::kStoreTransaction};

constexpr std::array<Condition, 4> kConditions = {Condition::kNone, Condition::kAny, Condition::kMatches,
                                                  Condition::kDiffers};

bool takes_condition(Verb verb) {
  return verb == Verb::kReplace || verb == Verb::kMerge || verb == Verb::kRemove;
}

/// Returns the answer by the rules of section 2, written down a second time.
Said expected(Verb verb, bool exists, Condition condition) {
  if (verb == Verb::kInsert) return exists ? kEntityAlreadyExists : kFine;
  if (!takes_condition(verb)) return kFine;
  if (condition == Condition::kNone) return kInvalidInput;
  if (!exists) return kResourceNotFound;
  return condition == Condition::kDiffers ? kUpdateConditionNotSatisfied : kFine;
}

class EntityWrites : public ::testing::Test {
 protected:
  void SetUp() override { table_.emplace(bench_.table()); }

  Table& table() { return *table_; }

  /// Stores an entity with two properties, and returns its ETag.
  ETag store_one(std::string_view row) {
    Entity entity = with_value("p", row, kStored);
    entity.set("Kept", 1);
    const Result<ETag> etag = table().insert(entity);
    EXPECT_TRUE(etag.ok()) << etag.status().to_string();
    return etag.ok() ? *etag : ETag();
  }

  /// Runs the operation in one of the ways that the API has for it. All take the same operation.
  Result<ETag> perform(Verb verb, std::string_view row, ETag if_match, Way way) {
    const WriteOperation operation = operation_of(verb, with_value("p", row, kWritten), if_match);
    switch (way) {
      case Way::kVerb: return perform_verb(operation);
      case Way::kOperation: return table().write(operation);
      case Way::kBorrowedEntity: return table().write({operation.kind, operation.entity, if_match});
      case Way::kTask: return wait(AsyncTable(table()).write(operation));
      case Way::kTransaction: {
        EntityGroupTransaction transaction;
        return only(table().execute(transaction.add(operation)));
      }
      case Way::kList: return only(table().execute(std::vector<WriteOperation>{operation}));
      case Way::kTransactionTask: {
        return only(wait(AsyncTable(table()).execute(EntityGroupTransaction({operation}))));
      }
      case Way::kStoreTransaction: break;
    }
    Result<StoreTransaction> transaction = bench_.store->begin_transaction();
    EXPECT_TRUE(transaction.ok()) << transaction.status().to_string();
    return only(transaction->add(table(), operation).commit());
  }

  Result<ETag> perform_verb(const WriteOperation& operation) {
    const Entity& entity = operation.entity;
    switch (operation.kind) {
      case Kind::kInsert: return table().insert(entity);
      case Kind::kReplace: return table().replace(entity, operation.if_match);
      case Kind::kMerge: return table().merge(entity, operation.if_match);
      case Kind::kInsertOrReplace: return table().insert_or_replace(entity);
      case Kind::kInsertOrMerge: return table().insert_or_merge(entity);
      case Kind::kPatch:
      case Kind::kInsertOrPatch:  // patch_test.cc has them
      case Kind::kRemove: break;
    }
    if (Status removed = table().remove("p", entity.row_key(), operation.if_match); !removed.ok()) return removed;
    return ETag();
  }

  /// Makes the operation by the factory of its name.
  static WriteOperation operation_of(Verb verb, Entity entity, ETag if_match) {
    switch (verb) {
      case Verb::kInsert: return WriteOperation::insert(std::move(entity));
      case Verb::kReplace: return WriteOperation::replace(std::move(entity), if_match);
      case Verb::kMerge: return WriteOperation::merge(std::move(entity), if_match);
      case Verb::kInsertOrReplace: return WriteOperation::insert_or_replace(std::move(entity));
      case Verb::kInsertOrMerge: return WriteOperation::insert_or_merge(std::move(entity));
      case Verb::kRemove: break;
    }
    return WriteOperation::remove(entity.partition_key(), entity.row_key(), if_match);
  }

  static Result<ETag> only(const Result<std::vector<ETag>>& etags) {
    if (!etags.ok()) {
      EXPECT_EQ(etags.status().operation_index(), 0u);
      return etags.status();
    }
    EXPECT_EQ(etags->size(), 1u);
    return etags->front();
  }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(EntityWrites, O01_EveryVerbOnEveryStateWithEveryConditionAnswersAsTheTableOfOperationsSays) {
  int number = 0;
  for (const Way way : kWays) {
    for (const Verb verb : kVerbs) {
      for (const bool exists : {false, true}) {
        for (const Condition condition : kConditions) {
          SCOPED_TRACE("verb " + std::to_string(static_cast<int>(verb)) + (exists ? " existing" : " absent") +
                       " condition " + std::to_string(static_cast<int>(condition)) + " way " +
                       std::to_string(static_cast<int>(way)));
          const std::string row = "row" + std::to_string(number++);
          const ETag stored = exists ? store_one(row) : ETag();
          const ETag older = store_one(row + "other");
          const ETag given = condition == Condition::kNone      ? ETag()
                             : condition == Condition::kAny     ? ETag::any()
                             : condition == Condition::kMatches ? (exists ? stored : older)
                                                                : older;
          const Result<ETag> result = perform(verb, row, given, way);
          EXPECT_EQ(said(result), expected(verb, exists, condition));

          const std::optional<Entity> found = read(table(), "p", row);
          if (!result.ok()) {
            EXPECT_EQ(found.has_value(), exists);
            if (found) {
              EXPECT_EQ(found->etag(), stored);
              EXPECT_EQ(*found->get<std::string>("V"), kStored);
            }
          } else if (verb == Verb::kRemove) {
            EXPECT_TRUE(result->is_none());
            EXPECT_FALSE(found.has_value());
          } else {
            ASSERT_TRUE(found.has_value());
            EXPECT_EQ(found->etag(), *result);
            EXPECT_EQ(*found->get<std::string>("V"), kWritten);
            const bool merged = verb == Verb::kMerge || verb == Verb::kInsertOrMerge;
            EXPECT_EQ(found->find("Kept") != nullptr, exists && merged);
          }
        }
      }
    }
  }
}

TEST_F(EntityWrites, O02_ConcreteETagThatDiffersIsRefusedAndChangesNothing) {
  const ETag first = store_one("r");
  const Result<ETag> second = table().replace(with_value("p", "r", "two"), first);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(said(table().replace(with_value("p", "r", "three"), first)), kUpdateConditionNotSatisfied);
  EXPECT_EQ(said(table().merge(with_value("p", "r", "three"), first)), kUpdateConditionNotSatisfied);
  EXPECT_EQ(said(table().remove("p", "r", first)), kUpdateConditionNotSatisfied);
  EXPECT_EQ(value_in(table(), "p", "r"), "two");
  EXPECT_EQ(read(table(), "p", "r")->etag(), *second);
}

TEST_F(EntityWrites, O02_AnETagSurvivesItsWayThroughText) {
  const ETag etag = store_one("r");
  EXPECT_TRUE(table().replace(with_value("p", "r", "two"), *ETag::parse(etag.to_string())).ok());
}

TEST_F(EntityWrites, O08_LastWriterWinsBetweenUnconditionalWriters) {
  store_one("r");
  ASSERT_TRUE(table().replace(with_value("p", "r", "two"), ETag::any()).ok());
  ASSERT_TRUE(table().insert_or_replace(with_value("p", "r", "three")).ok());
  EXPECT_EQ(value_in(table(), "p", "r"), "three");
}

TEST_F(EntityWrites, O11_ReplaceLeavesNoPropertyBehind) {
  const ETag etag = store_one("r");
  Entity entity("p", "r");
  entity.set("Other", true);
  ASSERT_TRUE(table().replace(entity, etag).ok());
  const std::optional<Entity> found = read(table(), "p", "r");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->properties().size(), 1u);
  EXPECT_EQ(*found->get<bool>("Other"), true);
}

TEST_F(EntityWrites, O12_MergeOverwritesAddsAndKeepsAndMayChangeTypes) {
  const ETag etag = store_one("r");
  Entity entity("p", "r");
  entity.set("V", 7).set("Added", 2.5);
  ASSERT_TRUE(table().merge(entity, etag).ok());
  const std::optional<Entity> found = read(table(), "p", "r");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->properties().size(), 3u);
  EXPECT_EQ(*found->get<std::int32_t>("V"), 7);
  EXPECT_EQ(*found->get<std::int32_t>("Kept"), 1);
  EXPECT_EQ(*found->get<double>("Added"), 2.5);
}

TEST_F(EntityWrites, O12_MergeWithoutPropertiesStillAdvancesTheTimestamp) {
  const ETag etag = store_one("r");
  const Result<ETag> merged = table().merge(Entity("p", "r"), etag);
  ASSERT_TRUE(merged.ok());
  EXPECT_GT(merged->timestamp(), etag.timestamp());
  EXPECT_EQ(value_in(table(), "p", "r"), kStored);
}

TEST_F(EntityWrites, O13_UpsertsAreIdempotent) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(table().insert_or_replace(with_value("p", "a", "x")).ok());
    EXPECT_TRUE(table().insert_or_merge(with_value("p", "b", "x")).ok());
  }
  EXPECT_EQ(value_in(table(), "p", "a"), "x");
  EXPECT_EQ(value_in(table(), "p", "b"), "x");
}

TEST_F(EntityWrites, O14_DeleteOfAnAbsentEntityIsNotFoundEvenUnconditionally) {
  EXPECT_EQ(said(table().remove("p", "r", ETag::any())), kResourceNotFound);
  store_one("r");
  EXPECT_EQ(said(table().remove("p", "r", ETag::any())), kFine);
  EXPECT_EQ(said(table().remove("p", "r", ETag::any())), kResourceNotFound);
  EXPECT_EQ(value_in(table(), "p", "r"), "-");
}

TEST_F(EntityWrites, D50_TheTimestampIsTheServersAndAClientsIsIgnored) {
  Entity entity = with_value("p", "r", "x");
  entity.set("Timestamp", DateTime{limits::kDateTimeTicksMin}).set("Timestamp2", 1);
  entity.set_etag(ETag::of_timestamp(DateTime{1}));
  const Result<ETag> etag = table().insert(entity);
  ASSERT_TRUE(etag.ok());
  const std::optional<Entity> found = read(table(), "p", "r");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->find("Timestamp"), nullptr);
  EXPECT_NE(found->find("Timestamp2"), nullptr);
  EXPECT_EQ(found->timestamp(), etag->timestamp());
  EXPECT_GE(found->timestamp().ticks, io::ManualClock::kDefaultWall);
}

TEST_F(EntityWrites, D51_TimestampsOfOneEntityStrictlyIncreaseWhateverTheClockDoes) {
  ETag last = store_one("r");
  for (int i = 0; i < 5; ++i) {
    if (i == 2) bench_.machine.clock.set_wall(io::ManualClock::kDefaultWall - 36'000'000'000);
    const Result<ETag> next = table().insert_or_replace(with_value("p", "r", "x"));
    ASSERT_TRUE(next.ok());
    EXPECT_GT(next->timestamp(), last.timestamp());
    last = *next;
  }
}

TEST_F(EntityWrites, D53_TheETagChangesWhenNoValueDoes) {
  const ETag etag = store_one("r");
  const std::optional<Entity> found = read(table(), "p", "r");
  const Result<ETag> again = table().replace(*found, etag);
  ASSERT_TRUE(again.ok());
  EXPECT_NE(*again, etag);
}

TEST_F(EntityWrites, D55_DeletedAndInsertedAgainTheETagIsNewAcrossAReopen) {
  const ETag first = store_one("r");
  ASSERT_TRUE(table().remove("p", "r", first).ok());
  table_.reset();
  bench_.machine.clock.set_wall(io::ManualClock::kDefaultWall - 36'000'000'000);
  bench_.open();
  table_.emplace(*bench_.store->open_table(kAccount, "Orders"));
  const ETag second = store_one("r");
  EXPECT_GT(second.timestamp(), first.timestamp());
  EXPECT_EQ(said(table().remove("p", "r", first)), kUpdateConditionNotSatisfied);
}

TEST_F(EntityWrites, D10_KeysAreCaseSensitiveAndEitherOrBothMayBeEmpty) {
  for (const auto& [partition, row] :
       {std::pair("", ""), std::pair("", "a"), std::pair("a", ""), std::pair("A", ""), std::pair("a", "A")}) {
    ASSERT_EQ(said(table().insert(with_value(partition, row, std::string(partition) + "/" + row))), kFine);
  }
  EXPECT_EQ(value_in(table(), "", ""), "/");
  EXPECT_EQ(value_in(table(), "a", ""), "a/");
  EXPECT_EQ(value_in(table(), "A", ""), "A/");
  EXPECT_EQ(value_in(table(), "", "A"), "-");
}

TEST_F(EntityWrites, EveryTypeComesBackAsItWas) {
  Entity entity("p", "r");
  entity.set("Binary", Binary{std::string("\0\xFF", 2)})
      .set("NoBinary", Binary{})
      .set("True", true)
      .set("False", false)
      .set("DateTime", DateTime{limits::kDateTimeTicksMax})
      .set("Double", -0.0)
      .set("Tiny", 5e-324)
      .set("Infinite", -std::numeric_limits<double>::infinity())
      .set("Guid", *Guid::parse("0f1e2d3c-0000-4000-8000-00000000abcd"))
      .set("Int32", std::numeric_limits<std::int32_t>::min())
      .set("Int64", std::numeric_limits<std::int64_t>::min())
      .set("String", "gr\xC3\xBC\xC3\x9F dich")
      .set("NoString", "")
      .set("Zero", std::string("a\0b", 3));
  const Result<ETag> etag = table().insert(entity);
  ASSERT_TRUE(etag.ok()) << etag.status().to_string();
  entity.set_etag(*etag);
  EXPECT_EQ(read(table(), "p", "r"), entity);
  entity.add("NaN", std::numeric_limits<double>::quiet_NaN());
  ASSERT_TRUE(table().insert_or_replace(entity).ok());
  const Result<double> nan = read(table(), "p", "r")->get<double>("NaN");
  ASSERT_TRUE(nan.ok());
  EXPECT_NE(*nan, *nan);
}

TEST_F(EntityWrites, D24_PropertiesKeepTheirOrder) {
  Entity entity("p", "r");
  entity.set("Zulu", 1).set("Alpha", 2).set("Mike", 3);
  ASSERT_TRUE(table().insert(entity).ok());
  Entity more("p", "r");
  more.set("Beta", 4).set("Alpha", 5);
  ASSERT_TRUE(table().insert_or_merge(more).ok());
  const std::optional<Entity> found = read(table(), "p", "r");
  ASSERT_TRUE(found.has_value());
  std::string order;
  for (const Property& property : found->properties()) order += property.name + " ";
  EXPECT_EQ(order, "Zulu Alpha Mike Beta ");
}

TEST_F(EntityWrites, D21_AnETagPropertyIsAnOrdinaryOneAndAKeyPropertyIsRefused) {
  Entity entity("p", "r");
  entity.set("ETag", "mine");
  EXPECT_EQ(said(table().insert(entity)), kFine);
  EXPECT_EQ(*read(table(), "p", "r")->get<std::string>("ETag"), "mine");
  EXPECT_EQ(said(table().insert(Entity("p", "s").set("PartitionKey", "p"))), kDuplicateKeyProperty);
  EXPECT_EQ(said(table().insert(Entity("p", "s").set("RowKey", "s"))), kDuplicateKeyProperty);
  EXPECT_EQ(said(table().insert(Entity("p", "s").set("rowKey", "s"))), kFine);
}

TEST_F(EntityWrites, O07_InputIsJudgedBeforeTheTableTheEntityAndTheETag) {
  const Entity bad = Entity("p", "r").set("1bad", 1);
  ASSERT_TRUE(bench_.store->drop_table(kAccount, "Orders").ok());
  EXPECT_EQ(said(table().insert(bad)), kPropertyNameInvalid);
  EXPECT_EQ(said(table().replace(bad, ETag::any())), kPropertyNameInvalid);
  EXPECT_EQ(said(table().insert(with_value("p", "r", "x"))), kTableNotFound);
  EXPECT_EQ(said(table().replace(with_value("p", "r", "x"), ETag::any())), kTableNotFound);
  EXPECT_EQ(said(table().remove("p", "r", ETag::any())), kTableNotFound);
  EXPECT_EQ(said(table().remove("p", std::string(1025, 'k'), ETag::any())), kTableNotFound);
}

TEST_F(EntityWrites, D13_ForbiddenCharactersAreToldByTheVerb) {
  const std::string tab = "a\tb";
  const std::string slash = "a/b";
  EXPECT_EQ(said(table().insert(Entity(slash, "r"))), kOutOfRangeInput);
  EXPECT_EQ(said(table().insert(Entity("p", slash))), kOutOfRangeInput);
  EXPECT_EQ(said(table().insert(Entity("p", tab))), kOutOfRangeInput);
  EXPECT_EQ(said(table().replace(Entity("p", slash), ETag::any())), kInvalidInput);
  EXPECT_EQ(said(table().merge(Entity("p", tab), ETag::any())), kOutOfRangeInput);
  EXPECT_EQ(said(table().insert_or_merge(Entity(slash, "r"))), kInvalidInput);
  EXPECT_EQ(said(table().remove("p", slash, ETag::any())), kInvalidInput);
  EXPECT_EQ(said(table().remove("p", tab, ETag::any())), kOutOfRangeInput);
  EXPECT_EQ(said(table().get("p", slash)), kInvalidInput);
  EXPECT_EQ(said(table().get(tab, "r")), kOutOfRangeInput);
}

TEST_F(EntityWrites, ATagIsCommittedWithItsWriteAndSurvivesAReopen) {
  EXPECT_EQ(*bench_.store->last_tag(), std::nullopt);
  WriteOptions tagged;
  tagged.tag = "position 1";
  ASSERT_TRUE(table().insert(with_value("p", "a", "x"), tagged).ok());
  ASSERT_TRUE(table().insert(with_value("p", "b", "x")).ok());
  EXPECT_EQ(*bench_.store->last_tag(), "position 1");
  tagged.tag = "refused";
  EXPECT_EQ(said(table().insert(with_value("p", "a", "x"), tagged)), kEntityAlreadyExists);
  EXPECT_EQ(*bench_.store->last_tag(), "position 1");
  const std::string longest(limits::kTagBytesMax, 't');
  tagged.tag = longest;
  EXPECT_EQ(said(table().insert(with_value("p", "c", "x"), tagged)), kFine);
  const std::string too_long(limits::kTagBytesMax + 1, 't');
  tagged.tag = too_long;
  EXPECT_EQ(said(table().insert(with_value("p", "d", "x"), tagged)), kInvalidInput);
  bench_.open();
  EXPECT_EQ(*bench_.store->last_tag(), longest);
}

TEST_F(EntityWrites, BufferedWritesAreVisibleAtOnceAndSyncMakesThemDurable) {
  WriteOptions buffered;
  buffered.durability = Durability::kBuffered;
  ASSERT_TRUE(table().insert(with_value("p", "r", "x"), buffered).ok());
  EXPECT_EQ(value_in(table(), "p", "r"), "x");
  ASSERT_TRUE(bench_.store->sync().ok());
  StoreBench after(2, bench_.machine.files->power_cut(io::CrashPolicy::kNothingUnsynced, bench_.machine.random));
  after.open();
  EXPECT_EQ(value_in(*after.store->open_table(kAccount, "Orders"), "p", "r"), "x");
}

}  // namespace
}  // namespace varve::entity_write_test
