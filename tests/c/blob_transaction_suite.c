/* Goal: transactions of the C interface commit blobs with entities, or neither (BX-20), and appends of any length are
   streams.
   Method: each call is made on a small store, and the result is read back. */
#include <string.h>

#include "check.h"

static varve_container* new_container(varve_store* store, const char* name) {
  varve_container* container = NULL;
  CHECK_OK(varve_container_create(store, text("acct"), text(name), NULL, &container));
  return container;
}

static bool has_content(const varve_container* container, const char* blob, const char* expected) {
  char buffer[64];
  size_t count = 0;
  uint64_t length = 0;
  CHECK_OK(varve_blob_get(container, text(blob), NULL, 0, buffer, sizeof buffer, &count, &length));
  return count == strlen(expected) && length == count && memcmp(buffer, expected, count) == 0;
}

static bool is_absent(const varve_container* container, const char* blob) {
  varve_blobs* state = NULL;
  return CHECK_FAILS(varve_blob_state(container, text(blob), NULL, &state), VARVE_NOT_FOUND, "BlobNotFound");
}

static varve_blob_writer* written(const varve_container* container, const char* blob, const char* content) {
  varve_blob_writer* writer = NULL;
  CHECK_OK(varve_blob_writer_open(container, text(blob), NULL, &writer));
  CHECK_OK(varve_blob_writer_append(writer, text(content)));
  return writer;
}

static uint64_t length_of(const varve_transaction* transaction, size_t index) {
  varve_blobs* blobs = NULL;
  varve_blob_view view = {.size = sizeof view};
  CHECK_OK(varve_transaction_written_blob(transaction, index, &blobs));
  CHECK_OK(varve_blobs_read(blobs, 0, &view));
  varve_blobs_free(blobs);
  return view.length;
}

static void entities_and_blobs_are_committed_together(varve_store* store) {
  varve_container* const photos = new_container(store, "together");
  varve_table* const people = new_table(store, "Together");
  CHECK_OK(varve_blob_put(photos, text("old"), text("old photo"), NULL, NULL));
  const varve_property name = string_property("Photo", "ann");
  const varve_operation hire = {VARVE_INSERT, entity_of("p", "ann", &name, 1), VARVE_ETAG_NONE};
  varve_blob_writer* const writer = written(photos, "ann", "a photo");
  varve_transaction* transaction = NULL;
  CHECK_OK(varve_transaction_begin(store, &transaction));
  CHECK_OK(varve_transaction_add(transaction, people, &hire));
  CHECK_OK(varve_transaction_publish_blob(transaction, writer));
  CHECK_OK(varve_transaction_put_blob(transaction, photos, text("note"), text("note"), NULL));
  CHECK_OK(varve_transaction_copy_blob(transaction, photos, text("new"), photos, text("old"), NULL));
  CHECK_OK(varve_transaction_remove_blob(transaction, photos, text("old"), NULL));
  varve_blobs* blobs = NULL;
  CHECK_FAILS(varve_transaction_written_blob(transaction, 0, &blobs), VARVE_NOT_FOUND, "");
  CHECK(blobs == NULL && is_absent(photos, "ann"));
  /* The transaction has the writer's content. */
  CHECK_FAILS(varve_blob_writer_append(writer, text("x")), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_blob_writer_set_properties(writer, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_blob_writer_publish(writer, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_transaction_publish_blob(transaction, writer), VARVE_INVALID_ARGUMENT, "");
  varve_blob_writer_free(writer);
  CHECK_OK(varve_transaction_commit(transaction, NULL, NULL));
  CHECK(length_of(transaction, 0) == 7 && length_of(transaction, 1) == 4 && length_of(transaction, 2) == 9);
  CHECK_FAILS(varve_transaction_written_blob(transaction, 3, &blobs), VARVE_NOT_FOUND, "");
  varve_transaction_free(transaction);
  CHECK(has_content(photos, "ann", "a photo") && has_content(photos, "note", "note"));
  CHECK(has_content(photos, "new", "old photo") && is_absent(photos, "old"));

  /* The entity exists, so nothing of the second transaction is there. */
  varve_blob_writer* const again = written(photos, "again", "content");
  CHECK_OK(varve_transaction_begin(store, &transaction));
  CHECK_OK(varve_transaction_publish_blob(transaction, again));
  CHECK_OK(varve_transaction_add(transaction, people, &hire));
  CHECK_FAILS(varve_transaction_commit(transaction, NULL, NULL), VARVE_EXISTS, "EntityAlreadyExists");
  varve_transaction_free(transaction);
  varve_blob_writer_free(again);
  CHECK(is_absent(photos, "again"));
  varve_table_free(people);
  varve_container_free(photos);
}

static void reads_are_checked_again_by_the_commit(varve_store* store) {
  varve_container* const photos = new_container(store, "reads");
  const varve_table_options options = {.size = sizeof options, .has_large_values = true};
  varve_table* people = NULL;
  CHECK_OK(varve_table_create_with(store, text("acct"), text("Reads"), &options, &people));
  CHECK_OK(varve_blob_put(photos, text("a"), text("first"), NULL, NULL));
  varve_property photo = {.name = text("Photo"), .value = {.type = VARVE_LARGE_VALUE}};
  varve_large_value_writer* large = NULL;
  CHECK_OK(varve_large_value_writer_open(people, &large));
  CHECK_OK(varve_large_value_writer_append(large, text("content")));
  CHECK_OK(varve_large_value_writer_finish(large, &photo.value.as.large));
  const varve_entity entity = entity_of("p", "r", &photo, 1);
  CHECK_OK(varve_table_insert(people, &entity, NULL, NULL));
  varve_large_value_writer_free(large);

  for (int blob_changes = 0; blob_changes < 2; ++blob_changes) {
    varve_transaction* transaction = NULL;
    varve_blob_reader* reader = NULL;
    varve_large_value_reader* value = NULL;
    varve_page* page = NULL;
    const varve_key key = {text("p"), text("r")};
    char buffer[16];
    size_t count = 0;
    CHECK_OK(varve_transaction_begin(store, &transaction));
    if (blob_changes != 0) {
      CHECK_OK(varve_transaction_read_blob(transaction, photos, text("a"), NULL, &reader));
      CHECK_OK(varve_blob_put(photos, text("a"), text("second"), NULL, NULL));
      CHECK_OK(varve_blob_reader_read(reader, 0, buffer, sizeof buffer, &count));
      CHECK(count == 5 && memcmp(buffer, "first", 5) == 0);
    } else {
      CHECK_OK(varve_transaction_get_opened(transaction, people, &key, NULL, &photo.name, 1, &page, &value));
      CHECK_OK(varve_table_merge(people, &entity, VARVE_ETAG_ANY, NULL, NULL));
      CHECK_OK(varve_large_value_reader_read(value, 0, buffer, sizeof buffer, &count));
      CHECK(count == 7 && memcmp(buffer, "content", 7) == 0);
    }
    CHECK_OK(varve_transaction_put_blob(transaction, photos, text("b"), text("x"), NULL));
    CHECK_FAILS(varve_transaction_commit(transaction, NULL, NULL), VARVE_CONFLICT, "");
    varve_transaction_free(transaction);
    varve_blob_reader_free(reader);
    varve_large_value_reader_free(value);
    varve_page_free(page);
  }
  CHECK(is_absent(photos, "b"));
  varve_table_free(people);
  varve_container_free(photos);
}

static void an_append_of_any_length_is_a_stream(varve_store* store) {
  varve_container* const logs = new_container(store, "appends");
  CHECK_OK(varve_blob_create_append(logs, text("log"), NULL, NULL));
  CHECK_OK(varve_blob_append(logs, text("log"), text("one "), NULL, NULL));
  const varve_append_options at_four = {.size = sizeof at_four, .has_position = true, .position = 4};
  for (int round = 0; round < 2; ++round) {
    varve_blob_writer* writer = NULL;
    varve_status* const opened = varve_blob_writer_open_append(logs, text("log"), &at_four, &writer);
    if (round == 1) {
      CHECK_FAILS(opened, VARVE_PRECONDITION_FAILED, "AppendPositionConditionNotMet");
      CHECK(writer == NULL);
      continue;
    }
    CHECK_OK(opened);
    CHECK_OK(varve_blob_writer_append(writer, text("two ")));
    CHECK_OK(varve_blob_writer_append(writer, text("three")));
    varve_blobs* state = NULL;
    CHECK_OK(varve_blob_writer_publish(writer, &state));
    varve_blob_view view = {.size = sizeof view};
    CHECK_OK(varve_blobs_read(state, 0, &view));
    CHECK(view.length == 13 && view.append_count == 2);
    varve_blobs_free(state);
    varve_blob_writer_free(writer);
  }
  CHECK(has_content(logs, "log", "one two three"));
  varve_container_free(logs);
}

void blob_transaction_suite(void) {
  varve_store* const store = new_store(new_directory());
  entities_and_blobs_are_committed_together(store);
  reads_are_checked_again_by_the_commit(store);
  an_append_of_any_length_is_a_stream(store);
  CHECK_OK(varve_store_close(store));
}
