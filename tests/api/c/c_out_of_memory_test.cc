// Goal: if any single allocation of a call of the C interface fails, the call returns a failure, changes nothing, and
// leaks no handle.
// Method: each call is repeated with its 1st, 2nd, 3rd... allocation failing, until it needs no more.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "tests/io/temporary_directory.h"
#include "tests/support/allocation_counter.h"
#include "varve/c.h"

namespace varve::c_out_of_memory_test {
namespace {

/// Ok, or the code of a status, which is freed.
varve_code code_of(varve_status* status) {
  const varve_code code = varve_status_code(status);
  EXPECT_STRNE(varve_status_text(status), "");
  varve_status_free(status);
  return code;
}

class COutOfMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = directory_.path() + "/store";
    varve_store_options options{};
    options.size = sizeof options;
    options.create_if_absent = true;
    ASSERT_EQ(code_of(varve_store_open(varve_text_of(path.c_str()), &options, &store_)), VARVE_OK);
    ASSERT_EQ(code_of(varve_account_create(store_, varve_text_of("acct"))), VARVE_OK);
    ASSERT_EQ(code_of(varve_table_create(store_, varve_text_of("acct"), varve_text_of("Orders"), &table_)), VARVE_OK);
    ASSERT_EQ(code_of(varve_table_insert_or_replace(table_, &entity_, nullptr, nullptr)), VARVE_OK);
    handles_ = varve_handle_count();
  }
  void TearDown() override {
    EXPECT_EQ(varve_handle_count(), handles_);
    varve_table_free(table_);
    EXPECT_EQ(code_of(varve_store_close(store_)), VARVE_OK);
  }

  /// Repeats `call` until no allocation of it fails. After a failure nothing may be left.
  void sweep(const std::function<varve_status*()>& call, varve_code at_the_end = VARVE_OK) {
    varve_code last = VARVE_OUT_OF_MEMORY;
    for (std::uint64_t nth = 1; nth < 10'000; ++nth) {
      SCOPED_TRACE("allocation " + std::to_string(nth));
      varve_status* status = nullptr;
      bool failed = false;
      {
        const test::AllocationFailure failure(nth);
        status = call();
        failed = failure.happened();
      }
      const varve_code code = code_of(status);
      if (!failed) {
        EXPECT_EQ(code, at_the_end);
        // The last allocation of a refusal is for its text. Without that, the refusal keeps its code.
        EXPECT_EQ(last, at_the_end == VARVE_OK ? VARVE_OUT_OF_MEMORY : at_the_end);
        return;
      }
      last = code;
      ASSERT_TRUE(code == VARVE_OUT_OF_MEMORY || (at_the_end != VARVE_OK && code == at_the_end)) << code;
      ASSERT_EQ(varve_handle_count(), handles_);
      std::uint64_t count = 0;
      ASSERT_EQ(code_of(varve_table_count(table_, nullptr, &count, nullptr)), VARVE_OK);
      ASSERT_EQ(count, 1U);
    }
    FAIL() << "the call needs more than 10,000 allocations";
  }

  io::TemporaryDirectory directory_;
  varve_store* store_ = nullptr;
  varve_table* table_ = nullptr;
  std::size_t handles_ = 0;
  const std::string long_text_ = std::string(5'000, 'x');
  const varve_property property_{varve_text_of("Text"),
                                 {VARVE_STRING, {.text = {long_text_.data(), long_text_.size()}}}};
  const varve_entity entity_{varve_text_of("a partition beyond the short texts"), varve_text_of("r"), &property_, 1, 0};
};

TEST_F(COutOfMemory, WritesFailWhole) {
  varve_entity other = entity_;
  other.row_key = varve_text_of("another row key beyond the short texts");
  sweep([&] { return varve_table_insert(table_, &entity_, nullptr, nullptr); }, VARVE_EXISTS);
  sweep([&] { return varve_table_replace(table_, &entity_, VARVE_ETAG_ANY, nullptr, nullptr); });
  const varve_operation operations[] = {{VARVE_INSERT_OR_MERGE, entity_, 0}, {VARVE_REMOVE, other, VARVE_ETAG_ANY}};
  sweep([&] { return varve_table_execute(table_, operations, 2, nullptr, nullptr); }, VARVE_NOT_FOUND);
}

TEST_F(COutOfMemory, ReadsLeaveNoPage) {
  varve_page* page = nullptr;
  sweep([&] { return varve_table_get(table_, entity_.partition_key, entity_.row_key, nullptr, &page); });
  varve_page_free(page);
  const varve_key keys[] = {{entity_.partition_key, entity_.row_key}, {entity_.partition_key, varve_text_of("none")}};
  sweep([&] { return varve_table_get_many(table_, keys, 2, nullptr, &page); });
  varve_page_free(page);
  varve_scan scan{};
  scan.size = sizeof scan;
  scan.filter = varve_text_of("PartitionKey eq 'a partition beyond the short texts' and Text ne 'y'");
  sweep([&] { return varve_table_scan(table_, &scan, &page); });
  varve_page_free(page);
  const varve_aggregate figures[] = {{VARVE_AGGREGATE_COUNT, {}},
                                     {VARVE_AGGREGATE_MAX, varve_text_of("Text")},
                                     {VARVE_AGGREGATE_DISTINCT, varve_text_of("Text")}};
  const varve_group_by group{varve_text_of("Text"), 0, {}};
  sweep([&] { return varve_table_aggregate(table_, &scan, figures, 3, &group, 1, &page); });
  varve_page_free(page);
  varve_plan* plan = nullptr;
  sweep([&] { return varve_table_explain(table_, &scan, &plan); });
  varve_plan_free(plan);
  varve_list* list = nullptr;
  sweep([&] { return varve_table_list(store_, varve_text_of("acct"), nullptr, &list); });
  varve_list_free(list);
}

TEST_F(COutOfMemory, HandlesAreNotMadeByHalves) {
  varve_cursor* cursor = nullptr;
  sweep([&] { return varve_cursor_open(table_, nullptr, &cursor); });
  varve_cursor_free(cursor);
  varve_snapshot* snapshot = nullptr;
  sweep([&] { return varve_store_snapshot(store_, &snapshot); });
  varve_snapshot_free(snapshot);
  varve_transaction* transaction = nullptr;
  sweep([&] { return varve_transaction_begin(store_, &transaction); });
  varve_transaction_free(transaction);
  varve_access access{};
  access.size = sizeof access;
  access.permissions = VARVE_MAY_QUERY;
  access.from_partition_key = varve_text_of("a partition beyond the short texts");
  varve_table* restricted = nullptr;
  sweep([&] { return varve_table_restrict(table_, &access, &restricted); });
  varve_table_free(restricted);
}

TEST_F(COutOfMemory, AMessageIsPutWholeAndTakenOnce) {
  varve_queue* queue = nullptr;
  ASSERT_EQ(code_of(varve_queue_create(store_, varve_text_of("acct"), varve_text_of("orders"), nullptr, &queue)),
            VARVE_OK);
  ++handles_;
  const auto messages_now = [&] {
    varve_queue_figures figures{};
    figures.size = sizeof figures;
    EXPECT_EQ(code_of(varve_queue_statistics(queue, &figures)), VARVE_OK);
    return figures.messages;
  };
  sweep([&] { return varve_queue_put(queue, {long_text_.data(), long_text_.size()}, nullptr, nullptr); });
  EXPECT_EQ(messages_now(), 1U);
  varve_messages* messages = nullptr;
  sweep([&] { return varve_queue_peek(queue, 32, &messages); });
  varve_messages_free(messages);
  varve_queue* again = nullptr;
  sweep([&] { return varve_queue_open(store_, varve_text_of("acct"), varve_text_of("orders"), &again); });
  varve_queue_free(again);
  varve_metadata* metadata = nullptr;
  sweep([&] { return varve_queue_metadata(queue, &metadata); });
  varve_metadata_free(metadata);

  varve_get_options options{};
  options.size = sizeof options;
  options.hold_ms = 3'600'000;
  options.wait_ms = 1;
  sweep([&] { return varve_queue_get(queue, &options, &messages); });
  varve_messages_view view{};
  view.size = sizeof view;
  ASSERT_EQ(code_of(varve_messages_read(messages, &view)), VARVE_OK);
  ASSERT_EQ(view.count, 1U) << "a get that failed has hidden the message";
  EXPECT_EQ(view.messages[0].deliveries, 1U);
  EXPECT_EQ(code_of(varve_queue_remove(queue, view.messages[0].id, view.messages[0].receipt, nullptr)), VARVE_OK);
  EXPECT_EQ(messages_now(), 0U);
  varve_messages_free(messages);
  varve_queue_free(queue);
  --handles_;
}

TEST_F(COutOfMemory, AStateOfABlobThatIsNotShownIsNoDoubtfulWrite) {
  varve_container* container = nullptr;
  ASSERT_EQ(
      code_of(varve_container_create(store_, varve_text_of("acct"), varve_text_of("photos"), nullptr, &container)),
      VARVE_OK);
  const varve_text name = varve_text_of("a name of a blob beyond the short texts");
  ASSERT_EQ(code_of(varve_blob_put(container, name, varve_text_of("x"), nullptr, nullptr)), VARVE_OK);
  varve_blob_reader* reader = nullptr;
  ASSERT_EQ(code_of(varve_blob_reader_open(container, name, nullptr, &reader)), VARVE_OK);
  handles_ = varve_handle_count();
  varve_blobs* state = nullptr;
  sweep([&] { return varve_blob_state(container, name, nullptr, &state); });
  varve_blobs_free(state);
  sweep([&] { return varve_blob_reader_state(reader, &state); });
  varve_blobs_free(state);
  varve_blob_reader_free(reader);
  varve_container_free(container);
  handles_ -= 2;
}

TEST_F(COutOfMemory, BX24_AnEntityAndItsReadersComeTogether) {
  varve_table_options options{};
  options.size = sizeof options;
  options.has_large_values = true;
  varve_table* people = nullptr;
  ASSERT_EQ(code_of(varve_table_create_with(store_, varve_text_of("acct"), varve_text_of("People"), &options, &people)),
            VARVE_OK);
  varve_large_value_writer* writer = nullptr;
  ASSERT_EQ(code_of(varve_large_value_writer_open(people, &writer)), VARVE_OK);
  ASSERT_EQ(code_of(varve_large_value_writer_append(writer, varve_text_of("a content"))), VARVE_OK);
  varve_property photo{varve_text_of("Photo"), {VARVE_LARGE_VALUE, {}}};
  ASSERT_EQ(code_of(varve_large_value_writer_finish(writer, &photo.value.as.large)), VARVE_OK);
  varve_entity person = entity_;
  person.properties = &photo;
  ASSERT_EQ(code_of(varve_table_insert(people, &person, nullptr, nullptr)), VARVE_OK);
  varve_large_value_writer_free(writer);
  handles_ = varve_handle_count();
  const varve_text names[] = {photo.name, photo.name};
  varve_large_value_reader* readers[2] = {nullptr, nullptr};
  varve_page* page = nullptr;
  sweep([&] {
    return varve_table_get_opened(people, person.partition_key, person.row_key, nullptr, names, 2, &page, readers);
  });
  EXPECT_NE(readers[0], nullptr);
  EXPECT_NE(readers[1], nullptr);
  varve_page_free(page);
  varve_large_value_reader_free(readers[0]);
  varve_large_value_reader_free(readers[1]);
  sweep([&] {
    return varve_large_value_reader_open(people, person.partition_key, person.row_key, photo.name, nullptr,
                                         &readers[0]);
  });
  varve_large_value_reader_free(readers[0]);
  varve_table_free(people);
  --handles_;
}

}  // namespace
}  // namespace varve::c_out_of_memory_test
