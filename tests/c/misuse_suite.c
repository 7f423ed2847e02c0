/* Goal: whatever a caller passes, a call returns an error and the process goes on.
   Method: every function is called with NULL, with freed handles, with handles of another kind, and with numbers that
   are no handles. Then come wrong sizes, wrong numbers, wrong texts, and calls at the wrong time. */
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* Calls every function that takes a handle, with these handles. Each returns `code`. */
struct handles {
  varve_store* store;
  varve_table* table;
  varve_snapshot* snapshot;
  varve_page* page;
  varve_cursor* cursor;
  varve_transaction* transaction;
  varve_loader* loader;
  varve_list* list;
  varve_plan* plan;
  varve_report* report;
  varve_queue* queue;
  varve_messages* messages;
  varve_metadata* metadata;
  varve_stop* stop;
  varve_container* container;
  varve_blobs* blobs;
  varve_blob_writer* writer;
  varve_blob_reader* reader;
  varve_blocks* blocks;
  varve_large_value_writer* value_writer;
  varve_large_value_reader* value_reader;
  varve_policies* policies;
  varve_properties* properties;
};

static void visit(const varve_entity* entity, void* context) {
  (void)entity;
  (void)context;
}

static varve_status* nothing(varve_transaction* transaction, void* context) {
  (void)transaction;
  (void)context;
  return NULL;
}

static void every_call_refuses(const struct handles* with, varve_code code) {
  const varve_property number = int32_property("N", 1);
  const varve_entity entity = entity_of("p", "r", &number, 1);
  const varve_operation operation = {VARVE_INSERT, entity, VARVE_ETAG_NONE};
  const varve_patch patch = {.size = sizeof patch, .entity = entity, .if_match = VARVE_ETAG_ANY};
  const varve_key key = {text("p"), text("r")};
  const varve_access access = {.size = sizeof access, .permissions = VARVE_MAY_QUERY};
  varve_statistics statistics = {.size = sizeof statistics};
  varve_page_view page_view = {.size = sizeof page_view};
  varve_list_view list_view = {.size = sizeof list_view};
  varve_plan_view plan_view = {.size = sizeof plan_view};
  varve_report_view report_view = {.size = sizeof report_view};
  varve_load_progress progress = {.size = sizeof progress};
  varve_datetime version = 0;
  uint64_t count = 0;
  varve_page* page = NULL;
  varve_table* table = NULL;
  varve_snapshot* snapshot = NULL;
  varve_cursor* cursor = NULL;
  varve_transaction* transaction = NULL;
  varve_loader* loader = NULL;
  varve_text shown = {NULL, 0};
  varve_status* reason = NULL;
  varve_list* list = NULL;
  varve_plan* plan = NULL;
  const varve_guid id = {{0}};
  const varve_receipt receipt = {0, 0, 0};
  varve_queue_figures queue_figures = {.size = sizeof queue_figures};
  varve_messages_view messages_view = {.size = sizeof messages_view};
  varve_metadata_view metadata_view = {.size = sizeof metadata_view};
  varve_sent_message sent = {.size = sizeof sent};
  varve_queue* queue = NULL;
  varve_messages* messages = NULL;
  varve_metadata* metadata = NULL;
  varve_container_view container_view = {.size = sizeof container_view};
  varve_blob_view blob_view = {.size = sizeof blob_view};
  varve_blocks_view blocks_view = {.size = sizeof blocks_view};
  const varve_text name = text("Photo");
  varve_large_value value = {0, 0};
  varve_large_value_writer* value_writer = NULL;
  varve_large_value_reader* value_reader = NULL;
  const varve_lease_request lease = {.size = sizeof lease, .action = VARVE_LEASE_RELEASE};
  varve_text continuation = {NULL, 0};
  size_t size = 0;
  varve_container* container = NULL;
  varve_blobs* blobs = NULL;
  varve_blob_writer* writer = NULL;
  varve_blob_reader* reader = NULL;
  varve_blocks* blocks = NULL;
  char tail_room[8];
  varve_tail tail = {.size = sizeof tail};
  const varve_aggregate figure = {.kind = VARVE_AGGREGATE_COUNT};
  const varve_index_component by = {text("N"), false};
  const varve_index_definition index = {
      .size = sizeof index, .name = text("I"), .components = &by, .component_count = 1};
  varve_indexes* indexes = NULL;
  const varve_where where = {.size = sizeof where, .all = true};
  varve_policies_view policies_view = {.size = sizeof policies_view};
  varve_service_properties service = {.size = sizeof service};
  varve_policies* policies = NULL;
  varve_properties* properties = NULL;
  const varve_group_writes writes = {.size = sizeof writes, .operations = &operation, .operation_count = 1};
  varve_status* const returned[] = {
      varve_store_sync(with->store),
      varve_store_compact(with->store),
      varve_store_checkpoint(with->store, text("/nowhere/x"), NULL),
      varve_store_snapshot(with->store, &snapshot),
      varve_store_statistics(with->store, &statistics),
      varve_store_last_tag(with->store, NULL, 0, NULL, NULL),
      varve_store_transact(with->store, nothing, NULL, 1, NULL, NULL),
      varve_account_create(with->store, text("other")),
      varve_account_drop(with->store, text("other")),
      varve_account_list(with->store, NULL, &list),
      varve_table_create(with->store, text("acct"), text("Never"), &table),
      varve_table_open(with->store, text("acct"), text("Never"), &table),
      varve_table_drop(with->store, text("acct"), text("Never")),
      varve_table_set_expiry(with->store, text("acct"), text("Never"), NULL),
      varve_table_show_expiry(with->store, text("acct"), text("Never"), NULL, 0, NULL, NULL),
      varve_table_list(with->store, text("acct"), NULL, &list),
      varve_index_create(with->store, text("acct"), text("Never"), &index, NULL, NULL),
      varve_index_drop(with->store, text("acct"), text("Never"), text("I")),
      varve_index_list(with->store, text("acct"), text("Never"), &indexes),
      varve_transaction_begin(with->store, &transaction),
      varve_loader_open(with->store, text("acct"), text("Never"), &loader),
      varve_table_insert(with->table, &entity, NULL, NULL),
      varve_table_replace(with->table, &entity, VARVE_ETAG_ANY, NULL, NULL),
      varve_table_merge(with->table, &entity, VARVE_ETAG_ANY, NULL, NULL),
      varve_table_insert_or_replace(with->table, &entity, NULL, NULL),
      varve_table_insert_or_merge(with->table, &entity, NULL, NULL),
      varve_table_remove(with->table, text("p"), text("r"), VARVE_ETAG_ANY, NULL),
      varve_table_patch(with->table, &patch, NULL, &page),
      varve_table_execute(with->table, &operation, 1, NULL, NULL),
      varve_table_execute_patches(with->table, &operation, 1, &patch, 1, NULL, NULL, &page),
      varve_table_execute_with(with->table, &writes, NULL, NULL, &page),
      varve_table_write_if(with->table, &operation, text("N eq 1"), NULL, NULL),
      varve_table_delete_where(with->table, &where, NULL, NULL),
      varve_table_update_where(with->table, &where, NULL, NULL),
      varve_table_get(with->table, text("p"), text("r"), NULL, &page),
      varve_table_get_many(with->table, &key, 1, NULL, &page),
      varve_table_scan(with->table, NULL, &page),
      varve_table_scan_in_place(with->table, NULL, visit, NULL, &page),
      varve_table_count(with->table, NULL, &count, NULL),
      varve_table_aggregate(with->table, NULL, &figure, 1, NULL, 0, &page),
      varve_table_explain(with->table, NULL, &plan),
      varve_table_restrict(with->table, &access, &table),
      varve_cursor_open(with->table, NULL, &cursor),
      varve_cursor_next(with->cursor, &page),
      varve_transaction_get_many(with->transaction, with->table, &key, 1, NULL, &page),
      varve_transaction_scan(with->transaction, with->table, NULL, &page),
      varve_transaction_scan_checked(with->transaction, with->table, NULL, &page),
      varve_transaction_add(with->transaction, with->table, &operation),
      varve_transaction_add_if(with->transaction, with->table, &operation, text("N eq 1")),
      varve_transaction_patch(with->transaction, with->table, &patch),
      varve_transaction_patched(with->transaction, &page),
      varve_transaction_commit(with->transaction, NULL, NULL),
      varve_loader_add(with->loader, &entity),
      varve_loader_finish(with->loader, NULL),
      varve_loader_finish_with(with->loader, NULL, NULL, NULL),
      varve_loader_progress(with->loader, &progress),
      varve_loader_unbuilt_index(with->loader, 0, &shown, &reason),
      varve_snapshot_version(with->snapshot, &version),
      varve_page_read(with->page, &page_view),
      varve_list_read(with->list, &list_view),
      varve_plan_read(with->plan, &plan_view),
      varve_report_read(with->report, &report_view),
      varve_queue_create(with->store, text("acct"), text("never"), NULL, &queue),
      varve_queue_open(with->store, text("acct"), text("never"), &queue),
      varve_queue_drop(with->store, text("acct"), text("never")),
      varve_queue_list(with->store, text("acct"), NULL, &list),
      varve_queue_statistics(with->queue, &queue_figures),
      varve_queue_metadata(with->queue, &metadata),
      varve_queue_set_metadata(with->queue, NULL, 0),
      varve_queue_put(with->queue, text("x"), NULL, &sent),
      varve_queue_get(with->queue, NULL, &messages),
      varve_queue_peek(with->queue, 1, &messages),
      varve_queue_remove(with->queue, id, receipt, NULL),
      varve_queue_update(with->queue, id, receipt, 0, text("x"), NULL, NULL),
      varve_queue_clear(with->queue),
      varve_transaction_put_message(with->transaction, with->queue, text("x"), NULL),
      varve_transaction_remove_message(with->transaction, with->queue, id, receipt),
      varve_transaction_update_message(with->transaction, with->queue, id, receipt, 0, text("x")),
      varve_transaction_sent_message(with->transaction, 0, &sent),
      varve_messages_read(with->messages, &messages_view),
      varve_metadata_read(with->metadata, &metadata_view),
      varve_stop_request(with->stop),
      varve_container_create(with->store, text("acct"), text("never"), NULL, &container),
      varve_container_open(with->store, text("acct"), text("never"), &container),
      varve_container_drop(with->store, text("acct"), text("never")),
      varve_container_list(with->store, text("acct"), NULL, &list),
      varve_container_state(with->container, &container_view),
      varve_container_metadata(with->container, &metadata),
      varve_container_set_metadata(with->container, NULL, 0),
      varve_blobs_count(with->blobs, &size),
      varve_blobs_read(with->blobs, 0, &blob_view),
      varve_blobs_continuation(with->blobs, &continuation),
      varve_blob_put(with->container, text("b"), text("x"), NULL, &blobs),
      varve_blob_get(with->container, text("b"), NULL, 0, NULL, 0, &size, NULL),
      varve_blob_state(with->container, text("b"), NULL, &blobs),
      varve_blob_remove(with->container, text("b"), NULL),
      varve_blob_list(with->container, NULL, &blobs),
      varve_blob_set_properties(with->container, text("b"), NULL, NULL, &blobs),
      varve_blob_set_metadata(with->container, text("b"), NULL, 0, NULL, &blobs),
      varve_blob_set_tags(with->container, text("b"), NULL, 0, NULL, &blobs),
      varve_blob_set_tier(with->container, text("b"), VARVE_TIER_HOT, NULL, &blobs),
      varve_blob_copy(with->container, text("c"), with->container, text("b"), NULL, &blobs),
      varve_blob_writer_open(with->container, text("b"), NULL, &writer),
      varve_blob_writer_stage(with->container, text("b"), text("0001"), NULL, &writer),
      varve_blob_writer_append(with->writer, text("x")),
      varve_blob_writer_set_properties(with->writer, NULL),
      varve_blob_writer_publish(with->writer, &blobs),
      varve_blob_reader_open(with->container, text("b"), NULL, &reader),
      varve_blob_reader_state(with->reader, &blobs),
      varve_blob_reader_read(with->reader, 0, NULL, 0, &size),
      varve_blob_commit_blocks(with->container, text("b"), NULL, 0, NULL, &blobs),
      varve_blob_blocks(with->container, text("b"), NULL, &blocks),
      varve_blocks_read(with->blocks, &blocks_view),
      varve_blob_create_append(with->container, text("b"), NULL, &blobs),
      varve_blob_append(with->container, text("b"), text("x"), NULL, NULL),
      varve_blob_tail(with->container, text("b"), 0, NULL, tail_room, sizeof tail_room, &tail),
      varve_blob_lease(with->container, text("b"), &lease, NULL, NULL),
      varve_container_lease(with->container, &lease, NULL, NULL),
      varve_container_drop_if(with->store, text("acct"), text("never"), NULL),
      varve_container_state_if(with->container, NULL, &container_view),
      varve_container_set_metadata_if(with->container, NULL, 0, NULL),
      varve_table_create_with(with->store, text("acct"), text("Never"), NULL, &table),
      varve_table_get_opened(with->table, text("p"), text("r"), NULL, &name, 1, &page, &value_reader),
      varve_large_value_writer_open(with->table, &value_writer),
      varve_large_value_writer_append(with->value_writer, text("x")),
      varve_large_value_writer_finish(with->value_writer, &value),
      varve_large_value_reader_open(with->table, text("p"), text("r"), name, NULL, &value_reader),
      varve_large_value_reader_open_id(with->store, text("acct"), 1, &value_reader),
      varve_large_value_reader_value(with->value_reader, &value),
      varve_large_value_reader_read(with->value_reader, 0, NULL, 0, &size),
      varve_large_value_reader_crc64(with->value_reader, &count),
      varve_blob_writer_open_append(with->container, text("b"), NULL, &writer),
      varve_transaction_publish_blob(with->transaction, with->writer),
      varve_transaction_put_blob(with->transaction, with->container, text("b"), text("x"), NULL),
      varve_transaction_remove_blob(with->transaction, with->container, text("b"), NULL),
      varve_transaction_copy_blob(with->transaction, with->container, text("c"), with->container, text("b"), NULL),
      varve_transaction_read_blob(with->transaction, with->container, text("b"), NULL, &reader),
      varve_transaction_written_blob(with->transaction, 0, &blobs),
      varve_transaction_get_opened(with->transaction, with->table, &key, NULL, &name, 1, &page, &value_reader),
      varve_table_policies(with->store, text("acct"), text("Never"), &policies),
      varve_table_set_policies(with->store, text("acct"), text("Never"), NULL, 0),
      varve_queue_policies(with->queue, &policies),
      varve_queue_set_policies(with->queue, NULL, 0),
      varve_container_policies(with->container, &policies),
      varve_container_set_access(with->container, NULL, 0, VARVE_PUBLIC_NONE, NULL),
      varve_policies_read(with->policies, &policies_view),
      varve_service_properties_of(with->store, text("acct"), VARVE_SERVICE_TABLES, &properties),
      varve_service_set_properties(with->store, text("acct"), VARVE_SERVICE_TABLES, &service),
      varve_properties_read(with->properties, &service),
  };
  for (size_t i = 0; i < sizeof returned / sizeof returned[0]; ++i) {
    if (varve_status_code(returned[i]) != code) fprintf(stderr, "call %zu: %s\n", i, varve_status_text(returned[i]));
    CHECK(varve_status_code(returned[i]) == code);
    varve_status_free(returned[i]);
  }
  CHECK(page == NULL && table == NULL && snapshot == NULL && cursor == NULL && transaction == NULL);
  CHECK(loader == NULL && list == NULL && plan == NULL && queue == NULL && messages == NULL && metadata == NULL);
  CHECK(container == NULL && blobs == NULL && writer == NULL && reader == NULL && blocks == NULL);
  CHECK(value_writer == NULL && value_reader == NULL && reason == NULL && policies == NULL && properties == NULL);
}

static void free_all(const struct handles* all) {
  varve_properties_free(all->properties);
  varve_policies_free(all->policies);
  varve_large_value_reader_free(all->value_reader);
  varve_large_value_writer_free(all->value_writer);
  varve_blocks_free(all->blocks);
  varve_blob_reader_free(all->reader);
  varve_blob_writer_free(all->writer);
  varve_blobs_free(all->blobs);
  varve_container_free(all->container);
  varve_stop_free(all->stop);
  varve_metadata_free(all->metadata);
  varve_messages_free(all->messages);
  varve_queue_free(all->queue);
  varve_report_free(all->report);
  varve_plan_free(all->plan);
  varve_list_free(all->list);
  varve_loader_free(all->loader);
  varve_transaction_free(all->transaction);
  varve_cursor_free(all->cursor);
  varve_page_free(all->page);
  varve_snapshot_free(all->snapshot);
  varve_table_free(all->table);
}

static struct handles all_kinds(varve_store* store, const char* path) {
  struct handles all;
  memset(&all, 0, sizeof all);
  all.store = store;
  all.table = new_table(store, "Kinds");
  fill(all.table, "p", 1);
  CHECK_OK(varve_store_snapshot(store, &all.snapshot));
  CHECK_OK(varve_table_scan(all.table, NULL, &all.page));
  CHECK_OK(varve_cursor_open(all.table, NULL, &all.cursor));
  CHECK_OK(varve_transaction_begin(store, &all.transaction));
  CHECK_OK(varve_loader_open(store, text("acct"), text("Kinds2"), &all.loader));
  CHECK_OK(varve_account_list(store, NULL, &all.list));
  CHECK_OK(varve_table_explain(all.table, NULL, &all.plan));
  CHECK_OK(varve_queue_create(store, text("acct"), text("kinds"), NULL, &all.queue));
  CHECK_OK(varve_queue_put(all.queue, text("message"), NULL, NULL));
  CHECK_OK(varve_queue_peek(all.queue, 1, &all.messages));
  CHECK_OK(varve_queue_metadata(all.queue, &all.metadata));
  CHECK_OK(varve_queue_policies(all.queue, &all.policies));
  CHECK_OK(varve_service_properties_of(store, text("acct"), VARVE_SERVICE_TABLES, &all.properties));
  CHECK_OK(varve_stop_create(&all.stop));
  CHECK_OK(varve_container_create(store, text("acct"), text("kinds"), NULL, &all.container));
  CHECK_OK(varve_blob_put(all.container, text("b"), text("blob"), NULL, &all.blobs));
  CHECK_OK(varve_blob_writer_open(all.container, text("c"), NULL, &all.writer));
  CHECK_OK(varve_blob_reader_open(all.container, text("b"), NULL, &all.reader));
  CHECK_OK(varve_blob_blocks(all.container, text("b"), NULL, &all.blocks));
  const varve_table_options options = {.size = sizeof options, .has_large_values = true};
  varve_table* values = NULL;
  CHECK_OK(varve_table_create_with(store, text("acct"), text("Kinds3"), &options, &values));
  CHECK_OK(varve_large_value_writer_open(values, &all.value_writer));
  varve_property photo = {.name = text("Photo"), .value = {.type = VARVE_LARGE_VALUE}};
  CHECK_OK(varve_large_value_writer_append(all.value_writer, text("photo")));
  CHECK_OK(varve_large_value_writer_finish(all.value_writer, &photo.value.as.large));
  const varve_entity entity = entity_of("p", "r", &photo, 1);
  CHECK_OK(varve_table_insert(values, &entity, NULL, NULL));
  CHECK_OK(varve_large_value_reader_open(values, text("p"), text("r"), photo.name, NULL, &all.value_reader));
  varve_table_free(values);
  char copy[160];
  snprintf(copy, sizeof copy, "%s/kinds", path);
  CHECK_OK(varve_store_checkpoint(store, text(copy), NULL));
  CHECK_OK(varve_verify(text(copy), NULL, NULL, NULL, &all.report));
  return all;
}

static void no_handle_and_no_number_is_followed(void) {
  struct handles none;
  memset(&none, 0, sizeof none);
  every_call_refuses(&none, VARVE_INVALID_ARGUMENT);
  CHECK_FAILS(varve_store_close(NULL), VARVE_INVALID_ARGUMENT, "");
  free_all(&none);
  int on_the_stack = 0;
  const uintptr_t numbers[] = {
      1, 2, 3, 0x101, 0xffffffffffffff03u, 0x7fff00000102u, UINTPTR_MAX, (uintptr_t)&on_the_stack};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
    void* const made_up = (void*)numbers[i];
    const struct handles wrong = {made_up, made_up, made_up, made_up, made_up, made_up, made_up, made_up,
                                  made_up, made_up, made_up, made_up, made_up, made_up, made_up, made_up,
                                  made_up, made_up, made_up, made_up, made_up, made_up, made_up};
    varve_status* const status = varve_table_scan(wrong.table, NULL, &(varve_page*){NULL});
    CHECK(varve_status_code(status) == VARVE_INVALID_ARGUMENT || varve_status_code(status) == VARVE_CLOSED);
    varve_status_free(status);
    free_all(&wrong);
    varve_status_free(varve_store_close(wrong.store));
  }
}

static void freed_handles_and_handles_of_another_kind_are_refused(void) {
  const char* const directory = new_directory();
  varve_store* const store = new_store(directory);
  const struct handles all = all_kinds(store, directory);
  const struct handles mixed = {(varve_store*)all.table,
                                (varve_table*)all.store,
                                (varve_snapshot*)all.page,
                                (varve_page*)all.cursor,
                                (varve_cursor*)all.snapshot,
                                (varve_transaction*)all.page,
                                (varve_loader*)all.table,
                                (varve_list*)all.store,
                                (varve_plan*)all.list,
                                (varve_report*)all.plan,
                                (varve_queue*)all.table,
                                (varve_messages*)all.page,
                                (varve_metadata*)all.messages,
                                (varve_stop*)all.queue,
                                (varve_container*)all.table,
                                (varve_blobs*)all.page,
                                (varve_blob_writer*)all.container,
                                (varve_blob_reader*)all.writer,
                                (varve_blocks*)all.blobs,
                                (varve_large_value_writer*)all.writer,
                                (varve_large_value_reader*)all.reader,
                                (varve_policies*)all.properties,
                                (varve_properties*)all.policies};
  every_call_refuses(&mixed, VARVE_INVALID_ARGUMENT);
  CHECK_FAILS(varve_store_close((varve_store*)all.table), VARVE_INVALID_ARGUMENT, "");
  varve_page_free((varve_page*)all.table); /* frees nothing */
  uint64_t count = 0;
  CHECK_OK(varve_table_count(all.table, NULL, &count, NULL));

  free_all(&all);
  CHECK_OK(varve_store_close(store));
  every_call_refuses(&all, VARVE_CLOSED);
  CHECK_FAILS(varve_store_close(store), VARVE_CLOSED, "");
  free_all(&all);                                         /* again: ignored */
  varve_store* const second = new_store(new_directory()); /* takes the place of a freed handle */
  const struct handles others = all_kinds(second, new_directory());
  every_call_refuses(&all, VARVE_CLOSED);
  free_all(&others);
  CHECK_OK(varve_store_close(second));
}

static void a_store_closes_while_its_parts_are_open(void) {
  const char* const directory = new_directory();
  varve_store* const store = new_store(directory);
  const struct handles all = all_kinds(store, directory);
  CHECK_OK(varve_store_close(store));
  varve_page* page = NULL;
  CHECK_FAILS(varve_cursor_next(all.cursor, &page), VARVE_CLOSED, "");
  CHECK_FAILS(varve_table_scan(all.table, NULL, &page), VARVE_CLOSED, "");
  CHECK_FAILS(varve_transaction_commit(all.transaction, NULL, NULL), VARVE_CLOSED, "");
  CHECK_FAILS(varve_loader_finish(all.loader, NULL), VARVE_CLOSED, "");
  varve_messages* messages = NULL;
  CHECK_FAILS(varve_queue_get(all.queue, NULL, &messages), VARVE_CLOSED, "");
  CHECK_FAILS(varve_queue_put(all.queue, text("late"), NULL, NULL), VARVE_CLOSED, "");
  varve_messages_view shown = {.size = sizeof shown};
  CHECK_OK(varve_messages_read(all.messages, &shown));
  CHECK(shown.count == 1 && same_text(shown.messages[0].text, "message"));
  size_t count = 0;
  char buffer[4];
  CHECK_FAILS(varve_blob_put(all.container, text("late"), text("x"), NULL, NULL), VARVE_CLOSED, "");
  CHECK_FAILS(varve_blob_writer_append(all.writer, text("x")), VARVE_CLOSED, "");
  CHECK_FAILS(varve_blob_reader_read(all.reader, 0, buffer, sizeof buffer, &count), VARVE_CLOSED, "");
  varve_blob_view blob = {.size = sizeof blob};
  CHECK_OK(varve_blobs_read(all.blobs, 0, &blob));
  CHECK(same_text(blob.name, "b") && blob.length == 4);
  varve_page_view view = {.size = sizeof view};
  CHECK_OK(varve_page_read(all.page, &view));
  CHECK(view.count == 1 && same_text(view.entities[0].row_key, "000000"));
  free_all(&all);
}

struct shared {
  varve_store* store;
  varve_table* table;
  uint64_t reads;
};

static void* read_until_closed(void* argument) {
  struct shared* const shared = argument;
  for (;;) {
    varve_page* page = NULL;
    varve_status* const status = varve_table_scan(shared->table, NULL, &page);
    varve_page_free(page);
    const varve_code code = varve_status_code(status);
    varve_status_free(status);
    if (code == VARVE_CLOSED) return NULL;
    if (code != VARVE_OK) abort();
    __atomic_add_fetch(&shared->reads, 1, __ATOMIC_RELAXED);
  }
}

static void closing_waits_for_the_calls_of_other_threads(void) {
  const char* const directory = new_directory();
  struct shared shared = {new_store(directory), NULL, 0};
  shared.table = new_table(shared.store, "Shared");
  fill(shared.table, "p", 500);
  pthread_t threads[3];
  for (size_t i = 0; i < 3; ++i) CHECK(pthread_create(&threads[i], NULL, read_until_closed, &shared) == 0);
  while (__atomic_load_n(&shared.reads, __ATOMIC_RELAXED) < 30) sched_yield();
  CHECK_OK(varve_store_close(shared.store));
  for (size_t i = 0; i < 3; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  varve_table_free(shared.table);
  varve_store* const again = reopen_store(directory, true);
  varve_statistics statistics = {.size = sizeof statistics};
  CHECK_OK(varve_store_statistics(again, &statistics));
  CHECK(statistics.recovery_clean && statistics.read_only);
  CHECK_OK(varve_store_close(again));
}

struct within {
  varve_store* store;
  varve_cursor* cursor;
  varve_code closed;
  varve_code read;
};

static varve_status* close_inside(varve_transaction* transaction, void* context) {
  struct within* const within = context;
  varve_status* status = varve_store_close(within->store);
  within->closed = varve_status_code(status);
  varve_status_free(status);
  uint64_t count = 0;
  varve_page* page = NULL;
  const varve_key key = {varve_text_of("p"), varve_text_of("000000")};
  status = varve_transaction_get_many(transaction, NULL, &key, 1, NULL, &page);
  within->read = varve_status_code(status);
  varve_status_free(status);
  (void)count;
  return NULL;
}

static void callbacks_do_not_close_the_store(void) {
  struct within within = {new_store(new_directory()), NULL, VARVE_OK, VARVE_OK};
  CHECK_OK(varve_store_transact(within.store, close_inside, &within, 0, NULL, NULL));
  CHECK(within.closed == VARVE_INVALID_ARGUMENT && within.read == VARVE_INVALID_ARGUMENT);
  CHECK_OK(varve_store_close(within.store));
}

struct future_scan {
  varve_scan known;
  uint64_t later_field;
};

static void structs_of_other_versions_are_understood(void) {
  varve_store* const store = new_store(new_directory());
  varve_table* const table = new_table(store, "Sizes");
  fill(table, "p", 3);
  varve_page* page = NULL;
  varve_scan forgotten;
  memset(&forgotten, 0, sizeof forgotten);
  CHECK_FAILS(varve_table_scan(table, &forgotten, &page), VARVE_INVALID_ARGUMENT, "");
  struct future_scan later;
  memset(&later, 0, sizeof later);
  later.known.size = sizeof later;
  CHECK_OK(varve_table_scan(table, &later.known, &page));
  varve_page_free(page);
  later.later_field = 1;
  CHECK_FAILS(varve_table_scan(table, &later.known, &page), VARVE_UNSUPPORTED, "");
  varve_scan earlier = {.size = offsetof(varve_scan, page_entities_max), .page_entities_max = UINT32_MAX};
  CHECK_OK(varve_table_scan(table, &earlier, &page)); /* the field lies beyond the caller's size */
  varve_page_view view = {.size = offsetof(varve_page_view, cost)};
  memset(&view.cost, 0xee, sizeof view.cost);
  CHECK_OK(varve_page_read(page, &view));
  CHECK(view.count == 3 && view.cost.entities_examined == UINT64_C(0xeeeeeeeeeeeeeeee));
  varve_page_free(page);
  varve_table_free(table);
  CHECK_OK(varve_store_close(store));
}

static void numbers_and_texts_out_of_range_are_refused(void) {
  varve_store* const store = new_store(new_directory());
  varve_table* const table = new_table(store, "Ranges");
  varve_property property = int32_property("N", 1);
  varve_entity entity = entity_of("p", "r", &property, 1);
  for (int i = 0; i < 3; ++i) {
    property.value.type = (varve_type[]){0, 10, -1}[i];
    CHECK_FAILS(varve_table_insert(table, &entity, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  }
  property.value.type = VARVE_DATETIME;
  property.value.as.datetime = UINT64_MAX;
  CHECK_FAILS(varve_table_insert(table, &entity, NULL, NULL), VARVE_INVALID_ARGUMENT, "OutOfRangeInput");
  property = string_property("N", "\xff\xfe");
  CHECK_FAILS(varve_table_insert(table, &entity, NULL, NULL), VARVE_INVALID_ARGUMENT, "InvalidInput");
  property = string_property("\xc3", "v");
  CHECK_FAILS(varve_table_insert(table, &entity, NULL, NULL), VARVE_INVALID_ARGUMENT, "InvalidInput");
  property = int32_property("N", 1);
  entity.partition_key = text("\xed\xa0\x80"); /* half a surrogate pair */
  CHECK_FAILS(varve_table_insert(table, &entity, NULL, NULL), VARVE_INVALID_ARGUMENT, "InvalidInput");
  entity.partition_key = (varve_text){NULL, 3};
  CHECK_FAILS(varve_table_insert(table, &entity, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  entity = entity_of("p", "r", NULL, 1);
  CHECK_FAILS(varve_table_insert(table, &entity, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_table_insert(table, NULL, NULL, NULL), VARVE_INVALID_ARGUMENT, "");

  const varve_operation unknown = {6, entity_of("p", "r", NULL, 0), VARVE_ETAG_ANY};
  varve_status* const failed = varve_table_execute(table, &unknown, 1, NULL, NULL);
  CHECK(varve_status_operation_index(failed) == 0);
  CHECK_FAILS(failed, VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_table_execute(table, NULL, 3, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  varve_page* page = NULL;
  varve_scan scan = {.size = sizeof scan, .range = 5};
  CHECK_FAILS(varve_table_scan(table, &scan, &page), VARVE_INVALID_ARGUMENT, "");
  scan.range = VARVE_RANGE_TABLE;
  scan.page_entities_max = 1001;
  CHECK_FAILS(varve_table_scan(table, &scan, &page), VARVE_INVALID_ARGUMENT, "InvalidInput");
  scan.page_entities_max = 0;
  scan.time_max_ms = UINT64_MAX;
  CHECK_FAILS(varve_table_scan(table, &scan, &page), VARVE_INVALID_ARGUMENT, "InvalidInput");
  scan.time_max_ms = 0;
  scan.filter = (varve_text){"a\0b", 3};
  CHECK_FAILS(varve_table_scan(table, &scan, &page), VARVE_INVALID_ARGUMENT, "InvalidInput");
  const varve_write_options unknown_durability = {.size = sizeof unknown_durability, .durability = 3};
  entity = entity_of("p", "r", &property, 1);
  CHECK_FAILS(varve_table_insert(table, &entity, &unknown_durability, NULL), VARVE_INVALID_ARGUMENT, "");
  const varve_write_options patient = {.size = sizeof patient, .has_wait_max = true, .wait_max_ms = UINT64_MAX};
  CHECK_OK(varve_table_insert(table, &entity, &patient, NULL));
  const varve_access bits = {.size = sizeof bits, .permissions = 16};
  varve_table* restricted = NULL;
  CHECK_FAILS(varve_table_restrict(table, &bits, &restricted), VARVE_INVALID_ARGUMENT, "");

  varve_store* other = NULL;
  varve_store_options delay = {.size = sizeof delay, .create_if_absent = true, .recreation_delay_ms = UINT64_MAX};
  CHECK_FAILS(varve_store_open(text("/tmp/varve-c-never"), &delay, &other), VARVE_INVALID_ARGUMENT, "");
  varve_store_options idle = {.size = sizeof idle, .create_if_absent = true, .reader_idle_max_ms = UINT64_MAX};
  CHECK_FAILS(varve_store_open(text("/tmp/varve-c-never"), &idle, &other), VARVE_INVALID_ARGUMENT, "");
  varve_store_options old = {.size = sizeof old, .create_if_absent = true, .staged_blocks_age_max_ms = UINT64_MAX};
  CHECK_FAILS(varve_store_open(text("/tmp/varve-c-never"), &old, &other), VARVE_INVALID_ARGUMENT, "");
  const varve_limits endless = {.size = sizeof endless, .blob_appends_max = UINT64_MAX};
  varve_store_options limited = {.size = sizeof limited, .create_if_absent = true, .limits = &endless};
  CHECK_FAILS(varve_store_open(text("/tmp/varve-c-never"), &limited, &other), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_store_open((varve_text){NULL, 0}, NULL, &other), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_store_open((varve_text){"/tmp/a\0b", 8}, NULL, &other), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_store_open(text("/tmp/varve-c-never"), NULL, &other), VARVE_NOT_FOUND, "");
  CHECK_FAILS(varve_store_open(text("/tmp/varve-c-never"), NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  char room[VARVE_FORMAT_BYTES];
  CHECK_FAILS(varve_datetime_format(UINT64_MAX, room), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_etag_format(VARVE_ETAG_ANY, NULL), VARVE_INVALID_ARGUMENT, "");
  varve_status* const made = varve_status_create(99, NULL);
  CHECK(varve_status_code(made) == VARVE_INVALID_ARGUMENT && varve_status_os_error(made) == 0);
  varve_status_free(made);
  CHECK(varve_status_code(NULL) == VARVE_OK && varve_status_operation_index(NULL) == -1);
  varve_table_free(table);
  CHECK_OK(varve_store_close(store));
}

static void failures_of_the_machine_name_the_file(void) {
  const char* const directory = new_directory();
  varve_store* store = new_store(directory);
  varve_table* table = new_table(store, "Damaged");
  fill(table, "p", 500);
  varve_table_free(table);
  CHECK_OK(varve_store_compact(store));
  CHECK_OK(varve_store_close(store));
  char path[160];
  snprintf(path, sizeof path, "%s/store/*.sst", directory);
  glob_t tables;
  if (!CHECK(glob(path, 0, NULL, &tables) == 0)) return;
  for (size_t i = 0; i < tables.gl_pathc; ++i) {
    FILE* const file = fopen(tables.gl_pathv[i], "r+b");
    CHECK(file != NULL && fseek(file, 200, SEEK_SET) == 0);
    CHECK(fputs("damage, longer than chance", file) >= 0 && fclose(file) == 0);
  }
  globfree(&tables);
  store = reopen_store(directory, true);
  /* The names of the tables are in the damaged block, too. */
  varve_status* const status = varve_table_open(store, text("acct"), text("Damaged"), &table);
  CHECK(varve_status_code(status) == VARVE_CORRUPTION && table == NULL);
  const varve_place place = varve_status_place(status);
  CHECK(place.kind == 5 && place.number > 0 && place.has_offset);
  varve_status_free(status);
  CHECK_OK(varve_store_close(store));

  const varve_store_options create = {.size = sizeof create, .create_if_absent = true};
  varve_status* const refused = varve_store_open(text("/sys/kernel/varve"), &create, &store);
  CHECK(varve_status_os_error(refused) != 0 && store == NULL);
  varve_status_free(refused);
}

void misuse_suite(void) {
  no_handle_and_no_number_is_followed();
  freed_handles_and_handles_of_another_kind_are_refused();
  a_store_closes_while_its_parts_are_open();
  closing_waits_for_the_calls_of_other_threads();
  callbacks_do_not_close_the_store();
  structs_of_other_versions_are_understood();
  numbers_and_texts_out_of_range_are_refused();
  failures_of_the_machine_name_the_file();
}
