// Goal: the door for tables carries values as they are, changes one batch for each request, and refuses malformed requests.
// Method: requests are handed to the door as values. The program's tests beside a server are in socket/served_table_test.cc.
#include "tools/serve/local/table_door.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/model/large_value_maker.h"
#include "tests/serve/service_bench.h"
#include "tools/serve/local/table_fields.h"

namespace varve::serve::table_door_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

Entity entity_of_all_types() {
  Entity entity("p:\n", std::string("r\0", 2));
  entity.add("Binary", Binary{std::string("\0\xFF", 2)}).add("True", true).add("False", false);
  entity.add("Time", DateTime{630'822'816'000'000'001}).add("NaN", std::nan("")).add("Minus", -0.0);
  entity.add("Guid", *Guid::parse("01234567-89ab-cdef-0123-456789abcdef"));
  entity.add("Int32", std::numeric_limits<std::int32_t>::min());
  entity.add("Int64", std::numeric_limits<std::int64_t>::min()).add("Text", "\xC3\xA4").add("Empty", "");
  entity.add("Large", LargeValueMaker::make({7, UINT64_MAX})).add("Text", "a second one").add("", "no name");
  entity.set_etag(ETag::of_timestamp(DateTime{638'000'000'000'000'007}));
  return entity;
}

TEST(TableFields, AnEntityComesBackWithEveryValueAndEveryName) {
  const Entity entity = entity_of_all_types();
  Fields fields;
  add_fields(fields, entity);
  const Result<Fields> arrived = parse_fields(fields_text(fields));
  ASSERT_TRUE(arrived.ok());
  const Result<Entity> read = entity_of(*arrived);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->etag(), entity.etag());
  ASSERT_EQ(read->properties().size(), entity.properties().size());
  for (std::size_t i = 0; i < entity.properties().size(); ++i) {
    const Property& sent = entity.properties()[i];
    EXPECT_EQ(read->properties()[i].name, sent.name);
    EXPECT_EQ(read->properties()[i].value.type(), sent.value.type()) << sent.name;
    const bool is_nan = sent.name == "NaN";  // equals nothing; the fields are compared below
    EXPECT_EQ(read->properties()[i].value == sent.value, !is_nan) << sent.name;
  }
  Fields again;
  add_fields(again, *read);
  EXPECT_EQ(again, fields) << "also the bits of NaN and of minus zero";
}

TEST(TableFields, WritesAndChangesComeBackAsTheyWereSent) {
  Patch patch("p", "r");
  patch.set("A", 1).set("A", 2).remove("B").remove("B").increment("C", std::int64_t{-5}).increment("D", 0.5);
  patch.only_if("E eq 'x'");
  const WriteOperation sent = WriteOperation::patch(patch, ETag::any());
  Fields fields;
  add_fields(fields, sent);
  const Result<WriteOperation> read = write_operation_of(fields);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->kind, sent.kind);
  EXPECT_EQ(read->entity, sent.entity);
  EXPECT_EQ(read->if_match, sent.if_match);
  EXPECT_EQ(read->removed, sent.removed);
  EXPECT_EQ(read->increments, sent.increments);
  EXPECT_EQ(read->condition, sent.condition);

  for (const ScanRange& range :
       {ScanRange::whole_table(), ScanRange::partition(""), ScanRange::rows("p", "a"), ScanRange::rows("p", "a", "b"),
        ScanRange::rows_with_prefix("p", "x"), ScanRange::partitions("a"), ScanRange::partitions("a", "")}) {
    Fields of_where;
    add_fields(of_where, Where{range, "A eq 1", true});
    const Result<Where> where = where_of(of_where);
    ASSERT_TRUE(where.ok());
    EXPECT_EQ(where->range.kind(), range.kind());
    EXPECT_EQ(where->range.partition_key(), range.partition_key());
    EXPECT_EQ(where->range.from(), range.from());
    EXPECT_EQ(where->range.to(), range.to());
    EXPECT_EQ(where->filter, "A eq 1");
    EXPECT_TRUE(where->all);
  }
}

TEST(TableFields, MalformedOnesAreRefused) {
  for (const char* const text :
       {"", "0", "A", "2", "2x", "3x", "3", "4-1", "5x", "62147483648", "6 1", "7", "9", "9:", "91", "91:x", "9x:1"}) {
    EXPECT_EQ(entity_of(Fields{{"set:V", text}}).code(), Code::kInvalidArgument) << text;
  }
  EXPECT_EQ(entity_of(Fields{{"etag", "x"}}).code(), Code::kInvalidArgument);
  for (const char* const kind : {"", "8", "-1", "x"}) {
    EXPECT_EQ(write_operation_of(Fields{{"kind", kind}}).code(), Code::kInvalidArgument) << kind;
    EXPECT_EQ(where_of(Fields{{"range", kind}}).code(), Code::kInvalidArgument) << kind;
  }
  Fields where;
  add_fields(where, Where{ScanRange::whole_table(), "", true});
  EXPECT_TRUE((*where_of(where)).all);
  where.emplace_back("all", "0");
  EXPECT_FALSE((*where_of(where)).all);
  for (const char* const all : {"", "yes"}) {
    where.back().second = all;
    EXPECT_EQ(where_of(where).code(), Code::kInvalidArgument) << all;
  }
  EXPECT_EQ(where_progress_of(Fields{{"matched", "1"}, {"changed", "1"}}).code(), Code::kInvalidArgument);
  EXPECT_EQ(table_options_of(Fields{{"expire_after_ms", "x"}}).code(), Code::kInvalidArgument);
}

class TableDoor : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const std::string row : {"1", "2", "3", "4", "5"}) {
      ASSERT_TRUE(bench_.orders.insert(Entity("p", row).set("Lines", 7)).ok());
    }
  }
  Result<HttpResponse> ask(const std::string& query, const std::string& body) {
    const HttpRequest request = ServiceBench::request(
        "POST", "/_varve/tables?account=" + std::string(kAccount) + "&table=Orders&verb=" + query, body);
    return wait(answer_table_request(*bench_.bench.store, request, nullptr, {}));
  }
  Result<WhereProgress> change(const std::string& query, const Fields& body) {
    const Result<HttpResponse> answer = ask(query, fields_text(body));
    if (!answer.ok()) return answer.status();
    const Result<Fields> fields = parse_fields(answer->body);
    return fields.ok() ? where_progress_of(*fields) : fields.status();
  }
  std::uint64_t count() { return (*bench_.orders.count(Scan())).entities; }

  ServiceBench bench_;
};

TEST_F(TableDoor, ChangesOneBatchForEachRequest) {
  Fields body;
  add_fields(body, Where{ScanRange::whole_table(), "Lines eq 7", false});
  const Result<WhereProgress> counted = change("delete&batch=2&dry_run=1", body);
  ASSERT_TRUE(counted.ok());
  EXPECT_EQ(counted->changed, 0U);
  EXPECT_EQ(count(), 5U);
  body.emplace_back("continuation", "");
  for (const std::uint64_t left : {3U, 1U, 0U}) {
    const Result<WhereProgress> batch = change("delete&batch=2", body);
    ASSERT_TRUE(batch.ok()) << batch.status().to_string();
    EXPECT_EQ(count(), left) << "the server does not go on by itself";
    EXPECT_EQ(batch->continuation.has_value(), left != 0);
    body.back().second = batch->continuation.value_or("");
  }
}

TEST_F(TableDoor, ReadsOneEntityOrNothing) {
  const auto get = [this](const Fields& keys) -> Result<Fields> {
    const Result<HttpResponse> answer = ask("get", fields_text(keys));
    return answer.ok() ? parse_fields(answer->body) : answer.status();
  };
  const Result<Fields> whole = get({{"partition", "p"}, {"row", "2"}});
  ASSERT_TRUE(whole.ok()) << whole.status().to_string();
  EXPECT_EQ(*entity_of(*whole), **bench_.orders.get("p", "2"));
  const Result<Fields> selected = get({{"partition", "p"}, {"row", "2"}, {"select", "Absent"}});
  ASSERT_TRUE(selected.ok()) << selected.status().to_string();
  EXPECT_EQ((*entity_of(*selected)).properties().size(), 0U);
  const Result<Fields> absent = get({{"partition", "p"}, {"row", "6"}});
  ASSERT_TRUE(absent.ok()) << absent.status().to_string();
  EXPECT_TRUE(absent->empty());
  EXPECT_EQ(ask("get&table=Other", fields_text({{"partition", "p"}, {"row", "2"}})).code(), Code::kInvalidArgument)
      << "a parameter is given twice";
}

TEST_F(TableDoor, ChangesNothingWithoutAConditionOrWithAMalformedRequest) {
  Fields everything;
  add_fields(everything, Where{});
  EXPECT_EQ(change("delete", everything).status().service_error(), "InvalidInput");
  Fields body;
  add_fields(body, Where{ScanRange::whole_table(), "Lines eq 7", false});
  for (const char* const query :
       {"delete&batch=0", "delete&batch=101", "delete&batch=x", "delete&durability=2", "delete&dry_run=true",
        "delete&dry_run=", "remove", "delete&verb=delete", "update", "", "create", "expire&table=Other"}) {
    EXPECT_EQ(change(query, body).code(), *query == 'c' ? Code::kExists : Code::kInvalidArgument) << query;
  }
  EXPECT_EQ(ask("delete", "3:abc").code(), Code::kInvalidArgument);
  const std::size_t fields_max = entity_fields_max(bench_.bench.store->limits());
  Fields many(fields_max, {"x", ""});
  EXPECT_THAT(ask("delete", fields_text(many)).status().message(), ::testing::Not(HasSubstr("more than")));
  many.emplace_back();
  EXPECT_THAT(ask("delete", fields_text(many)).status().message(),
              HasSubstr("more than " + std::to_string(fields_max) + " fields"));
  EXPECT_EQ(ask("patch", "").code(), Code::kInvalidArgument);
  Fields write;
  add_fields(write, WriteOperation::remove("p", "1", ETag::any()));
  EXPECT_EQ(ask("patch", fields_text(write)).code(), Code::kInvalidArgument) << "a delete is no patch";
  EXPECT_EQ(count(), 5U);
}

}  // namespace
}  // namespace varve::serve::table_door_test
