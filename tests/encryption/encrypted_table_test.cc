#include <set>

#include <gtest/gtest.h>
#include <varve/encryption/encrypted_table.h>
#include <varve/table_index.h>
#include <varve/verify.h>

#include "tests/api/store_bench.h"
#include "tests/encryption/encryption_bench.h"

namespace varve::encrypted_table_test {
namespace {

using namespace test;

constexpr Said kMergeRefused = {Code::kUnsupported, ""};

class EncryptedTables : public ::testing::TestWithParam<EncryptionProtocol> {
 protected:
  void SetUp() override { table_.emplace(bench_.table()); }

  EncryptedTable table(TableEncryption encryption) const {
    encryption.protocol = GetParam();
    return {*table_, std::move(encryption)};
  }
  EncryptedTable table() const { return table({.key = aes_key("k"), .properties = PropertyChoice::names({"V"})}); }

  static std::optional<Entity> read_one(const EncryptedTable& table, std::string_view row,
                                        const ReadOptions& options = {}) {
    Result<std::optional<Entity>> found = table.get("p", row, options);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() ? *std::move(found) : std::nullopt;
  }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_P(EncryptedTables, C25_InsertReplaceAndInsertOrReplaceEncryptAndReadsDecrypt) {
  EncryptedTable secret = table();
  const Result<ETag> first = secret.insert(with_value("p", "1", "one").set("Open", 1));
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  EXPECT_EQ(read(*table_, "p", "1")->find("V")->type(), PropertyType::kBinary);
  EXPECT_EQ(text_in(*read_one(secret, "1"), "V"), "one");
  EXPECT_EQ(read_one(secret, "1")->properties().size(), 2u);
  EXPECT_EQ(read_one(secret, "1")->etag(), *first);

  const Result<ETag> second = secret.replace(with_value("p", "1", "two"), *first);
  ASSERT_TRUE(second.ok()) << second.status().to_string();
  EXPECT_EQ(text_in(*read_one(secret, "1"), "V"), "two");
  EXPECT_EQ(said(secret.replace(with_value("p", "1", "three"), *first)), kUpdateConditionNotSatisfied);
  ASSERT_TRUE(secret.insert_or_replace(with_value("p", "1", "four")).ok());
  ASSERT_TRUE(secret.insert_or_replace(with_value("p", "2", "")).ok());
  EXPECT_EQ(said(secret.insert(with_value("p", "1", "five"))), kEntityAlreadyExists);

  const Result<Page> page = secret.scan(Scan{});
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(keys_of(*page), (std::vector<std::string>{"p/1", "p/2"}));
  EXPECT_EQ(text_in(page->entities[0], "V"), "four");
  const std::vector<EntityKey> keys = {{"p", "2"}, {"p", "none"}, {"p", "1"}};
  const Result<std::vector<std::optional<Entity>>> many = secret.get_many(keys);
  ASSERT_TRUE(many.ok());
  EXPECT_EQ(text_in(*(*many)[0], "V"), "");
  EXPECT_EQ((*many)[1], std::nullopt);
  EXPECT_EQ(text_in(*(*many)[2], "V"), "four");
  ASSERT_TRUE(secret.remove("p", "1", ETag::any()).ok());
  EXPECT_EQ(read_one(secret, "1"), std::nullopt);
}

TEST_P(EncryptedTables, C25_MergesAreRefusedAndChangeNothing) {
  EncryptedTable secret = table();
  ASSERT_TRUE(secret.insert(with_value("p", "1", "one")).ok());
  const Entity before = *read(*table_, "p", "1");
  EXPECT_EQ(said(secret.merge(with_value("p", "1", "two"), ETag::any())), kMergeRefused);
  EXPECT_EQ(said(secret.insert_or_merge(with_value("p", "1", "two"))), kMergeRefused);
  EXPECT_EQ(said(secret.insert_or_merge(with_value("p", "2", "two"))), kMergeRefused);
  EXPECT_EQ(said(secret.write(WriteOperation::patch(Patch("p", "1").set("V", "two"), ETag::any()))), kMergeRefused);
  EXPECT_EQ(said(secret.write(WriteOperation::insert_or_patch(Patch("p", "2").set("V", "two")))), kMergeRefused);
  EntityGroupTransaction merging;
  merging.insert(with_value("p", "3", "x")).merge(with_value("p", "1", "two"), ETag::any());
  const Status refused = secret.execute(merging).status();
  EXPECT_EQ(said(refused), kMergeRefused);
  EXPECT_EQ(refused.operation_index(), 1u);
  EntityGroupTransaction upserting;
  upserting.insert_or_merge(with_value("p", "1", "two"));
  EXPECT_EQ(secret.execute(upserting).status().operation_index(), 0u);
  EXPECT_EQ(keys_of(*table_->scan(Scan{})), std::vector<std::string>{"p/1"});
  EXPECT_EQ(*read(*table_, "p", "1"), before);
}

TEST_P(EncryptedTables, C25_AConditionJudgesTheStoredEntity) {
  EncryptedTable secret = table();
  ASSERT_TRUE(secret.insert(with_value("p", "1", "one")).ok());
  const Said not_met{Code::kPreconditionFailed, "ConditionNotMet"};
  const auto replace = [] { return WriteOperation::replace(with_value("p", "1", "two"), ETag::any()); };
  const auto remove = [] { return WriteOperation::remove("p", "1", ETag::any()); };
  EXPECT_EQ(said(secret.write(replace().only_if("RowKey eq '2'"))), not_met);
  EXPECT_EQ(said(secret.write(remove().only_if("RowKey eq '2'"))), not_met);
  EXPECT_EQ(text_in(*read_one(secret, "1"), "V"), "one");
  EXPECT_EQ(said(secret.write(replace().only_if("RowKey eq '1'"))), kFine);
  EXPECT_EQ(said(secret.write(remove().only_if("RowKey eq '1'"))), kFine);
  EXPECT_EQ(read_one(secret, "1"), std::nullopt);
}

TEST_P(EncryptedTables, C25_ATransactionUsesOneKeyAndAContentKeyForEachEntity) {
  EncryptedTable secret = table();
  ASSERT_TRUE(secret.insert(with_value("p", "old", "x")).ok());
  ASSERT_TRUE(secret.insert(with_value("p", "gone", "x")).ok());
  EntityGroupTransaction transaction;
  for (int i = 0; i < 20; ++i) transaction.insert(with_value("p", std::to_string(i), "same"));
  transaction.replace(with_value("p", "old", "same"), ETag::any()).insert_or_replace(with_value("p", "new", "same"));
  transaction.remove("p", "gone", ETag::any());
  const Result<std::vector<ETag>> etags = secret.execute(transaction);
  ASSERT_TRUE(etags.ok()) << etags.status().to_string();
  EXPECT_EQ(etags->size(), 23u);

  std::set<std::string> ivs;
  std::set<std::string> wrapped;
  const Result<Page> stored = table_->scan(Scan{});
  for (const Entity& entity : stored->entities) {
    const EncryptionMetadata metadata = *parse_encryption_metadata(text_in(entity, kEncryptionMetadataName));
    EXPECT_EQ(metadata.key_id, "k");
    ivs.insert(metadata.iv);
    wrapped.insert(metadata.wrapped_key);
  }
  EXPECT_EQ(ivs.size(), 22u);
  EXPECT_EQ(wrapped.size(), 22u);
  const Result<Page> page = secret.scan(Scan{});
  ASSERT_TRUE(page.ok());
  for (const Entity& entity : page->entities) EXPECT_EQ(text_in(entity, "V"), "same");

  EntityGroupTransaction bad;
  bad.insert(with_value("p", "a", "x")).insert(Entity("p", "b").set("V", 7));
  const Status refused = secret.execute(bad).status();
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_EQ(refused.operation_index(), 1u);
  EXPECT_EQ(read(*table_, "p", "a"), std::nullopt);
}

TEST_P(EncryptedTables, C25_AProjectionReadsTheMetadataToo) {
  EncryptedTable secret = table({.key = aes_key("k"), .properties = PropertyChoice::names({"V", "W"})});
  ASSERT_TRUE(secret.insert(with_value("p", "1", "one").set("W", "more").set("Open", 7)).ok());
  Scan scan;
  scan.read.select = {"V", "Open"};
  for (const Entity& entity : {*read_one(secret, "1", scan.read), (*secret.scan(scan)).entities.at(0),
                               *(*secret.get_many(std::vector<EntityKey>{{"p", "1"}}, scan.read)).at(0)}) {
    EXPECT_EQ(entity.properties().size(), 2u);
    EXPECT_EQ(text_in(entity, "V"), "one");
    EXPECT_EQ(*entity.find("Open"), Value(7));
  }
  EXPECT_EQ(read_one(secret, "1", {.select = {"Absent"}})->properties().size(), 0u);
  std::vector<std::string> many;
  for (int i = 0; i < 253; ++i) many.push_back("N" + std::to_string(i));
  EXPECT_EQ(said(secret.get("p", "1", {.select = many})), kFine);
  many.emplace_back("more");
  EXPECT_EQ(said(secret.get("p", "1", {.select = many})), kInvalidInput);
}

TEST_P(EncryptedTables, C25_AnIndexThatHasTheMetadataAnswersAProjectionAlone) {
  EncryptedTable secret = table();
  for (const char* const row : {"1", "2"}) {
    ASSERT_TRUE(secret.insert(with_value("p", row, "one").set("Open", 7)).ok());
  }
  Scan scan;
  scan.filter = "Open eq 7";
  scan.read.select = {"V", "Open"};
  const Result<Page> expected = secret.scan(scan);
  ASSERT_TRUE(expected.ok());
  const IndexDefinition definition{"ByOpen",
                                   {{"Open"}, {"Timestamp"}},
                                   {"V", std::string(kEncryptionMetadataName), std::string(kEncryptedNamesName)}};
  ASSERT_EQ(said(bench_.store->create_index(kAccount, "Orders", definition)), kFine);
  const Result<Page> page = secret.scan(scan);
  ASSERT_TRUE(page.ok()) << page.status().to_string();
  EXPECT_EQ(page->entities, expected->entities);
  EXPECT_EQ(text_in(page->entities.at(0), "V"), "one");
  EXPECT_EQ(page->cost.entities_examined, 0U);
}

TEST_P(EncryptedTables, C25_WritesKeepTheIndexesOfWhatIsStored) {
  ASSERT_EQ(said(bench_.store->create_index(kAccount, "Orders", {"ByOpen", {{"Open"}}, {}})), kFine);
  ASSERT_EQ(said(bench_.store->create_index(kAccount, "Orders", {"ByMail", {{"Mail"}}, {}, true})), kFine);
  EncryptedTable secret = table();
  for (const char* const row : {"1", "2"}) {
    ASSERT_EQ(said(secret.insert(with_value("p", row, "one").set("Open", 1).set("Mail", row))), kFine);
  }
  ASSERT_EQ(said(secret.replace(with_value("p", "1", "two").set("Open", 2).set("Mail", "1"), ETag::any())), kFine);
  EntityGroupTransaction transaction;
  transaction.insert(with_value("p", "3", "two").set("Open", 2).set("Mail", "3"));
  transaction.insert_or_replace(with_value("p", "4", "two").set("Open", 2)).remove("p", "2", ETag::any());
  ASSERT_EQ(said(secret.execute(transaction)), kFine);
  EXPECT_EQ(said(secret.insert(with_value("q", "5", "two").set("Mail", "3"))),
            (Said{Code::kExists, "IndexValueAlreadyExists"}));
  Scan scan;
  scan.filter = "Open eq 2";
  const Result<ScanPlan> plan = table_->explain(scan);
  ASSERT_EQ(said(plan), kFine);
  ASSERT_EQ(plan->indexes.size(), 1U);
  EXPECT_TRUE(plan->indexes[0].is_taken);
  const Result<Page> page = secret.scan(scan);
  ASSERT_EQ(said(page), kFine);
  EXPECT_EQ(keys_of(*page), (std::vector<std::string>{"p/1", "p/3", "p/4"}));
  for (const Entity& entity : page->entities) EXPECT_EQ(text_in(entity, "V"), "two");
  bench_.store.reset();
  const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
  ASSERT_EQ(said(report), kFine);
  EXPECT_TRUE(report->sound()) << report->findings.front();
  EXPECT_EQ(report->index_entries, 5U);
}

TEST_P(EncryptedTables, C25_FiltersSeeWhatIsStored) {
  EncryptedTable secret = table();
  ASSERT_TRUE(secret.insert(with_value("p", "1", "one").set("Open", 7)).ok());
  Scan scan;
  scan.filter = "V eq 'one'";
  EXPECT_TRUE((*secret.scan(scan)).entities.empty());
  scan.filter = "Open eq 7";
  EXPECT_EQ(text_in((*secret.scan(scan)).entities.at(0), "V"), "one");
}

TEST_P(EncryptedTables, C23_TwoHundredAndFiftyPropertiesAreLeftToTheCaller) {
  EncryptedTable secret = table();
  for (const int count : {250, 251}) {
    Entity entity = with_value("p", std::to_string(count), "x");
    for (int i = 1; i < count; ++i) entity.add("N" + std::to_string(i), i);
    EXPECT_EQ(said(secret.insert(entity)), count == 250 ? kFine : kTooManyProperties);
  }
  EXPECT_EQ(read_one(secret, "250")->properties().size(), 250u);
}

TEST_P(EncryptedTables, C21_SizesAreJudgedByWhatIsStored) {
  EncryptedTable secret = table();
  EXPECT_EQ(said(secret.insert(with_value("p", "1", std::string(32'768, 'x')))), kFine);
  const std::size_t most = GetParam() == EncryptionProtocol::kClassic ? 65'535 : 65'520;
  EXPECT_EQ(said(secret.insert(with_value("p", "2", std::string(most, 'x')))), kFine);
  EXPECT_EQ(said(secret.insert(with_value("p", "3", std::string(most + 1, 'x')))), kPropertyValueTooLarge);
  EXPECT_EQ(text_in(*read_one(secret, "1"), "V"), std::string(32'768, 'x'));
}

TEST_P(EncryptedTables, C24_ReadersWithoutMarksDecryptAndOthersPassWhatIsInClear) {
  EncryptedTable writer = table();
  ASSERT_TRUE(writer.insert(with_value("p", "1", "one")).ok());
  ASSERT_TRUE(table_->insert(with_value("p", "2", "clear")).ok());
  EncryptedTable reader = table({.key = aes_key("k")});
  EXPECT_EQ(text_in(*read_one(reader, "1"), "V"), "one");
  EXPECT_EQ(text_in(*read_one(reader, "2"), "V"), "clear");
  EncryptedTable resolving = table({.resolver = [](std::string_view) -> Result<Key> { return aes_key("k"); }});
  EXPECT_EQ(text_in(*read_one(resolving, "1"), "V"), "one");
  EncryptedTable keyless = table({});
  EXPECT_EQ(keyless.get("p", "1").code(), Code::kNotFound);
  EXPECT_EQ(keyless.scan(Scan{}).code(), Code::kNotFound);
  EXPECT_EQ(keyless.get_many(std::vector<EntityKey>{{"p", "1"}}).code(), Code::kNotFound);
  EXPECT_EQ(text_in(*read_one(keyless, "2"), "V"), "clear");
}

TEST_P(EncryptedTables, C24_WhereEncryptionIsRequiredNothingInClearIsReadOrWritten) {
  ASSERT_TRUE(table_->insert(with_value("p", "clear", "x")).ok());
  EncryptedTable keyless = table({.require_encryption = true});
  EXPECT_EQ(keyless.insert(with_value("p", "1", "x")).code(), Code::kInvalidArgument);
  EXPECT_EQ(keyless.get("p", "clear").code(), Code::kCorruption);
  EXPECT_EQ(keyless.scan(Scan{}).code(), Code::kCorruption);
  EncryptedTable strict =
      table({.key = aes_key("k"), .properties = PropertyChoice::names({"V"}), .require_encryption = true});
  ASSERT_TRUE(strict.insert(with_value("p", "1", "x")).ok());
  EXPECT_EQ(text_in(*read_one(strict, "1"), "V"), "x");
  EXPECT_EQ(strict.get("p", "clear").code(), Code::kCorruption);
  EXPECT_EQ(read_one(strict, "none"), std::nullopt);
  EXPECT_EQ(text_in(*read_one(strict, "1", {.select = {"V"}}), "V"), "x");
}

TEST_P(EncryptedTables, C25_WithoutAKeyEntitiesAreWrittenInClear) {
  EncryptedTable keyless = table({});
  ASSERT_TRUE(keyless.insert(with_value("p", "1", "x")).ok());
  EXPECT_EQ(value_in(*table_, "p", "1"), "x");
  for (const std::string_view name : {kEncryptionMetadataName, kEncryptedNamesName}) {
    EXPECT_EQ(keyless.insert(with_value("p", "2", "x").set(name, "x")).code(), Code::kInvalidArgument);
  }
}

TEST_P(EncryptedTables, C25_AScanInAnotherOrderIsRefusedBecauseItWouldCompareCiphertext) {
  EncryptedTable secret = table();
  ASSERT_TRUE(secret.insert(with_value("p", "1", "one")).ok());
  Scan ordered;
  ordered.order_by = "V desc";
  EXPECT_EQ(said(secret.scan(ordered).status()), kMergeRefused);
  EXPECT_EQ(said(secret.table().scan(ordered).status()), kFine);
}

INSTANTIATE_TEST_SUITE_P(Protocols, EncryptedTables,
                         ::testing::Values(EncryptionProtocol::kAuthenticated, EncryptionProtocol::kClassic),
                         [](const auto& protocol) {
                           return protocol.param == EncryptionProtocol::kClassic ? "Classic" : "Authenticated";
                         });

}  // namespace
}  // namespace varve::encrypted_table_test
