/* Goal: large values in the C interface do what the C++ verbs of their names do, and misuse is refused (BX-01, BX-21,
   BX-24).
   Method: contents are written as streams and named by entities of a small store, and read back whole and by range. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static varve_table* new_value_table(varve_store* store, const char* name) {
  const varve_table_options options = {.size = sizeof options, .has_large_values = true};
  varve_table* table = NULL;
  CHECK_OK(varve_table_create_with(store, text("acct"), text(name), &options, &table));
  return table;
}

/* A writer that has ended a content. */
static varve_large_value_writer* written(const varve_table* table, const char* content, varve_large_value* value) {
  varve_large_value_writer* writer = NULL;
  CHECK_OK(varve_large_value_writer_open(table, &writer));
  CHECK_OK(varve_large_value_writer_append(writer, text(content)));
  CHECK_OK(varve_large_value_writer_finish(writer, value));
  CHECK(value->id != 0 && value->length == strlen(content));
  return writer;
}

static varve_property value_property(const char* name, varve_large_value value) {
  varve_property property = {.name = text(name), .value = {.type = VARVE_LARGE_VALUE}};
  property.value.as.large = value;
  return property;
}

/* Inserts an entity whose property Photo names a new content. */
static varve_large_value insert_photo(varve_table* table, const char* row_key, const char* content) {
  varve_large_value value = {0, 0};
  varve_large_value_writer* const writer = written(table, content, &value);
  const varve_property photo = value_property("Photo", value);
  const varve_entity entity = entity_of("p", row_key, &photo, 1);
  CHECK_OK(varve_table_insert(table, &entity, NULL, NULL));
  varve_large_value_writer_free(writer);
  return value;
}

/* Whether the reader has this content. */
static bool reads(const varve_large_value_reader* reader, const char* expected) {
  char buffer[64];
  size_t count = 0;
  varve_large_value value = {0, 0};
  CHECK_OK(varve_large_value_reader_value(reader, &value));
  CHECK_OK(varve_large_value_reader_read(reader, 0, buffer, sizeof buffer, &count));
  return count == strlen(expected) && value.length == count && memcmp(buffer, expected, count) == 0;
}

static bool photo_is(const varve_table* table, const char* row_key, const char* expected) {
  varve_large_value_reader* reader = NULL;
  CHECK_OK(varve_large_value_reader_open(table, text("p"), text(row_key), text("Photo"), NULL, &reader));
  const bool is_same = reads(reader, expected);
  varve_large_value_reader_free(reader);
  return is_same;
}

static void contents_are_streamed_and_read_by_range(varve_store* store) {
  enum { kPieces = 30, kPieceBytes = 100000 };
  varve_table* const people = new_value_table(store, "Streamed");
  char* const piece = malloc(kPieceBytes);
  varve_large_value_writer* writer = NULL;
  CHECK_OK(varve_large_value_writer_open(people, &writer));
  for (int i = 0; i < kPieces; ++i) {
    memset(piece, 'a' + i % 26, kPieceBytes);
    CHECK_OK(varve_large_value_writer_append(writer, (varve_text){piece, kPieceBytes}));
  }
  varve_large_value value = {0, 0};
  varve_large_value again = {0, 0};
  CHECK_OK(varve_large_value_writer_finish(writer, &value));
  CHECK(value.length == (uint64_t)kPieces * kPieceBytes);
  CHECK_OK(varve_large_value_writer_finish(writer, &again));
  CHECK(again.id == value.id && again.length == value.length);
  CHECK_FAILS(varve_large_value_writer_append(writer, text("x")), VARVE_INVALID_ARGUMENT, "InvalidInput");
  const varve_property photo = value_property("Photo", value);
  const varve_entity entity = entity_of("p", "r", &photo, 1);
  varve_large_value_reader* reader = NULL;
  CHECK_FAILS(varve_large_value_reader_open_id(store, text("acct"), value.id, &reader), VARVE_NOT_FOUND,
              "LargeValueNotFound");
  CHECK(reader == NULL);
  CHECK_OK(varve_table_insert(people, &entity, NULL, NULL));
  varve_large_value_writer_free(writer);

  CHECK_OK(varve_large_value_reader_open_id(store, text("acct"), value.id, &reader));
  CHECK_OK(varve_table_remove(people, text("p"), text("r"), VARVE_ETAG_ANY, NULL)); /* the reader goes on */
  size_t count = 0;
  for (int i = 0; i < kPieces; ++i) {
    CHECK_OK(varve_large_value_reader_read(reader, (uint64_t)i * kPieceBytes, piece, kPieceBytes, &count));
    CHECK(count == kPieceBytes && piece[0] == 'a' + i % 26 && piece[kPieceBytes - 1] == piece[0]);
  }
  CHECK_OK(varve_large_value_reader_read(reader, value.length, piece, kPieceBytes, &count));
  CHECK(count == 0);
  CHECK_OK(varve_large_value_reader_read(reader, value.length - 3, piece, kPieceBytes, &count));
  CHECK(count == 3);
  uint64_t crc64 = 0;
  CHECK_OK(varve_large_value_reader_crc64(reader, &crc64));
  CHECK(crc64 != 0);
  varve_large_value_reader_free(reader);
  free(piece);
  varve_table_free(people);
}

static void entities_own_and_share_contents(varve_store* store) {
  varve_table* const people = new_value_table(store, "People");
  const varve_large_value value = insert_photo(people, "a", "ann");
  varve_page* page = NULL;
  varve_page_view view = {.size = sizeof view};
  CHECK_OK(varve_table_get(people, text("p"), text("a"), NULL, &page));
  CHECK_OK(varve_page_read(page, &view));
  const varve_value* const found = varve_entity_find(&view.entities[0], text("Photo"));
  CHECK(found != NULL && found->type == VARVE_LARGE_VALUE && found->as.large.id == value.id);
  /* What was read is given to another entity, in a transaction. */
  const varve_operation copy = {VARVE_INSERT, entity_of("p", "b", view.entities[0].properties, 1), VARVE_ETAG_NONE};
  CHECK_OK(varve_table_execute(people, &copy, 1, NULL, NULL));
  varve_page_free(page);
  CHECK_OK(varve_table_remove(people, text("p"), text("a"), VARVE_ETAG_ANY, NULL));
  CHECK(photo_is(people, "b", "ann"));
  varve_transaction* transaction = NULL;
  varve_large_value second = {0, 0};
  varve_large_value_writer* const writer = written(people, "bob", &second);
  const varve_property replaced = value_property("Photo", second);
  const varve_operation replace = {VARVE_REPLACE, entity_of("p", "b", &replaced, 1), VARVE_ETAG_ANY};
  CHECK_OK(varve_transaction_begin(store, &transaction));
  CHECK_OK(varve_transaction_add(transaction, people, &replace));
  CHECK_OK(varve_transaction_commit(transaction, NULL, NULL));
  varve_transaction_free(transaction);
  varve_large_value_writer_free(writer);
  CHECK(photo_is(people, "b", "bob"));
  varve_large_value_reader* reader = NULL;
  CHECK_FAILS(varve_large_value_reader_open_id(store, text("acct"), value.id, &reader), VARVE_NOT_FOUND,
              "LargeValueNotFound");
  varve_table_free(people);
}

static void one_read_returns_an_entity_and_its_contents(varve_store* store) {
  varve_table* const people = new_value_table(store, "Opened");
  (void)insert_photo(people, "a", "old");
  const varve_property name = string_property("Name", "Ann");
  const varve_entity more = entity_of("p", "a", &name, 1);
  CHECK_OK(varve_table_merge(people, &more, VARVE_ETAG_ANY, NULL, NULL));
  varve_snapshot* snapshot = NULL;
  CHECK_OK(varve_store_snapshot(store, &snapshot));
  const varve_text names[] = {text("Photo"), text("Name"), text("None")};
  varve_large_value_reader* readers[3] = {(varve_large_value_reader*)store, NULL, NULL};
  varve_page* page = NULL;
  varve_page_view view = {.size = sizeof view};
  CHECK_OK(varve_table_get_opened(people, text("p"), text("a"), NULL, names, 3, &page, readers));
  CHECK_OK(varve_page_read(page, &view));
  CHECK(view.count == 1 && view.entities[0].property_count == 2);
  CHECK(readers[0] != NULL && readers[1] == NULL && readers[2] == NULL);
  varve_page_free(page);
  CHECK_OK(varve_table_remove(people, text("p"), text("a"), VARVE_ETAG_ANY, NULL));
  CHECK(reads(readers[0], "old"));
  varve_large_value_reader_free(readers[0]);

  CHECK_OK(varve_table_get_opened(people, text("p"), text("a"), NULL, names, 3, &page, readers));
  CHECK_OK(varve_page_read(page, &view));
  CHECK(view.count == 0 && readers[0] == NULL);
  varve_page_free(page);
  const varve_text select = text("Name");
  const varve_read_options before = {.size = sizeof before, .select = &select, .select_count = 1, .snapshot = snapshot};
  CHECK_OK(varve_table_get_opened(people, text("p"), text("a"), &before, names, 1, &page, readers));
  CHECK_OK(varve_page_read(page, &view));
  CHECK(view.count == 1 && view.entities[0].property_count == 2 && reads(readers[0], "old"));
  varve_page_free(page);
  varve_large_value_reader_free(readers[0]);
  CHECK_OK(varve_table_get_opened(people, text("p"), text("a"), &before, NULL, 0, &page, NULL));
  varve_page_free(page);
  varve_snapshot_free(snapshot);
  varve_table_free(people);
}

static void misuse_changes_nothing(varve_store* store) {
  varve_table* const plain = new_table(store, "Plain");
  varve_table* const people = new_value_table(store, "Refusing");
  varve_large_value_writer* writer = NULL;
  CHECK_FAILS(varve_large_value_writer_open(plain, &writer), VARVE_INVALID_ARGUMENT, "InvalidInput");
  CHECK_FAILS(varve_large_value_writer_open(people, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK(writer == NULL);
  varve_large_value value = {0, 0};
  writer = written(people, "content", &value);
  CHECK_FAILS(varve_large_value_writer_finish(writer, NULL), VARVE_INVALID_ARGUMENT, "");
  varve_property photo = value_property("Photo", value);
  const varve_entity entity = entity_of("p", "a", &photo, 1);
  CHECK_FAILS(varve_table_insert(plain, &entity, NULL, NULL), VARVE_INVALID_ARGUMENT, "InvalidInput");
  photo.value.as.large.length += 1; /* no content has this number and this length */
  CHECK_FAILS(varve_table_insert(people, &entity, NULL, NULL), VARVE_NOT_FOUND, "LargeValueNotFound");
  photo.value.as.large = value;
  photo.value.type = 10;
  CHECK_FAILS(varve_table_insert(people, &entity, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  photo.value.type = VARVE_LARGE_VALUE;
  varve_large_value_writer_free(writer); /* before an entity names the content */
  CHECK_FAILS(varve_table_insert(people, &entity, NULL, NULL), VARVE_NOT_FOUND, "LargeValueNotFound");
  varve_loader* loader = NULL;
  CHECK_FAILS(varve_loader_open(store, text("acct"), text("Refusing"), &loader), VARVE_INVALID_ARGUMENT,
              "InvalidInput");

  (void)insert_photo(people, "b", "photo");
  const varve_property name = string_property("Name", "Ann");
  const varve_entity more = entity_of("p", "b", &name, 1);
  CHECK_OK(varve_table_merge(people, &more, VARVE_ETAG_ANY, NULL, NULL));
  varve_large_value_reader* reader = NULL;
  CHECK_FAILS(varve_large_value_reader_open(people, text("p"), text("none"), text("Photo"), NULL, &reader),
              VARVE_NOT_FOUND, "ResourceNotFound");
  CHECK_FAILS(varve_large_value_reader_open(people, text("p"), text("b"), text("None"), NULL, &reader), VARVE_NOT_FOUND,
              "");
  CHECK_FAILS(varve_large_value_reader_open(people, text("p"), text("b"), text("Name"), NULL, &reader),
              VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_large_value_reader_open(people, text("p"), text("b"), text("Photo"), NULL, NULL),
              VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_large_value_reader_open_id(store, text("none"), 1, &reader), VARVE_NOT_FOUND, "ResourceNotFound");
  CHECK(reader == NULL);
  varve_page* page = NULL;
  const varve_text photo_name = text("Photo");
  CHECK_FAILS(varve_table_get_opened(people, text("p"), text("b"), NULL, &photo_name, 1, &page, NULL),
              VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_table_get_opened(people, text("p"), text("b"), NULL, NULL, 1, &page, &reader),
              VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_table_get_opened(people, text("p"), text("b"), NULL, &photo_name, 1, NULL, &reader),
              VARVE_INVALID_ARGUMENT, "");
  CHECK(page == NULL && reader == NULL && photo_is(people, "b", "photo"));
  CHECK_OK(varve_large_value_reader_open(people, text("p"), text("b"), text("Photo"), NULL, &reader));
  char buffer[4];
  size_t count = 1;
  CHECK_FAILS(varve_large_value_reader_read(reader, 0, NULL, 4, &count), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_large_value_reader_read(reader, 0, buffer, 4, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_large_value_reader_value(reader, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_large_value_reader_crc64(reader, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK(count == 0);
  varve_large_value_reader_free(reader);
  const varve_table_options unset = {.size = 0};
  CHECK_FAILS(varve_table_create_with(store, text("acct"), text("Never"), &unset, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_OK(varve_table_create_with(store, text("acct"), text("Defaults"), NULL, NULL));
  varve_table_free(people);
  varve_table_free(plain);
}

static void a_store_closes_while_contents_are_written_and_read(void) {
  const char* const directory = new_directory();
  varve_store* const store = new_store(directory);
  varve_table* const people = new_value_table(store, "People");
  (void)insert_photo(people, "a", "photo");
  varve_large_value_writer* writer = NULL;
  varve_large_value_reader* reader = NULL;
  varve_large_value value = {0, 0};
  CHECK_OK(varve_large_value_writer_open(people, &writer));
  CHECK_OK(varve_large_value_reader_open(people, text("p"), text("a"), text("Photo"), NULL, &reader));
  CHECK_OK(varve_store_close(store));
  char buffer[8];
  size_t count = 0;
  CHECK_FAILS(varve_large_value_writer_append(writer, text("x")), VARVE_CLOSED, "");
  CHECK_FAILS(varve_large_value_writer_finish(writer, &value), VARVE_CLOSED, "");
  CHECK_FAILS(varve_large_value_reader_read(reader, 0, buffer, sizeof buffer, &count), VARVE_CLOSED, "");
  CHECK_FAILS(varve_large_value_reader_value((varve_large_value_reader*)writer, &value), VARVE_INVALID_ARGUMENT, "");
  varve_large_value_reader_free(reader);
  varve_large_value_writer_free(writer);
  CHECK_FAILS(varve_large_value_writer_append(writer, text("x")), VARVE_CLOSED, "");
  varve_table_free(people);
}

void large_value_suite(void) {
  const char* const directory = new_directory();
  varve_store* const store = new_store(directory);
  contents_are_streamed_and_read_by_range(store);
  entities_own_and_share_contents(store);
  one_read_returns_an_entity_and_its_contents(store);
  misuse_changes_nothing(store);
  CHECK_OK(varve_store_close(store));
  char path[128];
  snprintf(path, sizeof path, "%s/store", directory);
  varve_verify_figures figures = {.size = sizeof figures};
  CHECK_OK(varve_verify(text(path), NULL, NULL, &figures, NULL));
  CHECK(figures.finding_count == 0);
  a_store_closes_while_contents_are_written_and_read();
}
