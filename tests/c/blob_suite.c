/* Goal: every verb of containers and blobs in the C interface does what the C++ verb of its name does, and refuses bad
   input.
   Method: each verb is called on a small store and its result is read back. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static varve_container* new_container(varve_store* store, const char* name) {
  varve_container* container = NULL;
  CHECK_OK(varve_container_create(store, text("acct"), text(name), NULL, &container));
  return container;
}

static size_t count_of(const varve_blobs* blobs) {
  size_t count = 99;
  CHECK_OK(varve_blobs_count(blobs, &count));
  return count;
}

static varve_blob_view shown(const varve_blobs* blobs, size_t index) {
  varve_blob_view view = {.size = sizeof view};
  CHECK_OK(varve_blobs_read(blobs, index, &view));
  return view;
}

/* Whether the blob has this content. */
static bool has_content(const varve_container* container, const char* blob, const char* expected) {
  char buffer[64];
  size_t count = 0;
  uint64_t length = 0;
  CHECK_OK(varve_blob_get(container, text(blob), NULL, 0, buffer, sizeof buffer, &count, &length));
  return count == strlen(expected) && length == count && memcmp(buffer, expected, count) == 0;
}

/* The names of the container's blobs, with a space after each. */
static const char* names_of(const varve_container* container, const varve_blob_list_options* options) {
  static char names[256];
  varve_blobs* blobs = NULL;
  names[0] = '\0';
  CHECK_OK(varve_blob_list(container, options, &blobs));
  for (size_t i = 0; i < count_of(blobs); ++i) {
    const varve_blob_view blob = shown(blobs, i);
    strcat(strcat(names, blob.prefix.data != NULL ? blob.prefix.data : blob.name.data), " ");
  }
  varve_blobs_free(blobs);
  return names;
}

static void containers_are_created_listed_and_dropped(varve_store* store) {
  const varve_metadata_pair pair = {text("Owner"), text("Ann")};
  const varve_container_options options = {
      .size = sizeof options, .metadata = &pair, .metadata_count = 1, .public_access = VARVE_PUBLIC_BLOBS};
  varve_container* container = NULL;
  CHECK_OK(varve_container_create(store, text("acct"), text("created"), &options, &container));
  varve_container_view state = {.size = sizeof state};
  CHECK_OK(varve_container_state(container, &state));
  CHECK(state.etag != VARVE_ETAG_NONE && state.modified == state.etag);
  CHECK(state.public_access == VARVE_PUBLIC_BLOBS && state.lease_state == VARVE_LEASE_AVAILABLE);
  varve_metadata* metadata = NULL;
  varve_metadata_view view = {.size = sizeof view};
  CHECK_OK(varve_container_metadata(container, &metadata));
  CHECK_OK(varve_metadata_read(metadata, &view));
  CHECK(view.count == 1 && same_text(view.pairs[0].name, "Owner") && same_text(view.pairs[0].value, "Ann"));
  varve_metadata_free(metadata);
  CHECK_OK(varve_container_set_metadata(container, NULL, 0));
  CHECK_OK(varve_container_metadata(container, &metadata));
  CHECK_OK(varve_metadata_read(metadata, &view));
  CHECK(view.count == 0);
  varve_metadata_free(metadata);
  varve_container_free(container);

  varve_list* list = NULL;
  varve_list_view names = {.size = sizeof names};
  CHECK_OK(varve_container_list(store, text("acct"), NULL, &list));
  CHECK_OK(varve_list_read(list, &names));
  CHECK(names.count == 1 && same_text(names.names[0].name, "created") && names.names[0].created > state.modified);
  varve_list_free(list);
  CHECK_OK(varve_container_open(store, text("acct"), text("created"), &container));
  varve_container_free(container);
  CHECK_FAILS(varve_container_create(store, text("acct"), text("created"), NULL, NULL), VARVE_EXISTS,
              "ContainerAlreadyExists");
  CHECK_OK(varve_container_drop(store, text("acct"), text("created")));
  CHECK_FAILS(varve_container_open(store, text("acct"), text("created"), &container), VARVE_NOT_FOUND,
              "ContainerNotFound");
  CHECK_FAILS(varve_container_drop(store, text("acct"), text("created")), VARVE_NOT_FOUND, "ContainerNotFound");
  CHECK(container == NULL);
}

static void blobs_are_put_read_and_removed(varve_store* store) {
  varve_container* const photos = new_container(store, "photos");
  const varve_blob_properties properties = {.size = sizeof properties,
                                            .content_type = text("image/jpeg"),
                                            .cache_control = text("no-store"),
                                            .has_content_md5 = true,
                                            .content_md5 = {1, 2, 3}};
  const varve_metadata_pair metadata = {text("Owner"), text("Ann")};
  const varve_metadata_pair tag = {text("year"), text("2026")};
  const varve_blob_write_options options = {.size = sizeof options,
                                            .properties = &properties,
                                            .metadata = &metadata,
                                            .metadata_count = 1,
                                            .tags = &tag,
                                            .tag_count = 1,
                                            .tier = VARVE_TIER_COOL,
                                            .durability = VARVE_BUFFERED};
  varve_blobs* written = NULL;
  CHECK_OK(varve_blob_put(photos, text("ann"), text("0123456789"), &options, &written));
  CHECK(count_of(written) == 1);
  const varve_blob_view blob = shown(written, 0);
  CHECK(same_text(blob.name, "ann") && blob.prefix.data == NULL && blob.kind == VARVE_BLOCK_BLOB);
  CHECK(blob.length == 10 && blob.etag == blob.modified && blob.tier == VARVE_TIER_COOL);
  CHECK(same_text(blob.content_type, "image/jpeg") && same_text(blob.cache_control, "no-store"));
  CHECK(blob.has_content_md5 && blob.content_md5[2] == 3 && blob.content_encoding.size == 0);
  CHECK(blob.metadata_count == 1 && same_text(blob.metadata[0].value, "Ann"));
  CHECK(blob.tag_count == 1 && same_text(blob.tags[0].name, "year"));
  CHECK(!blob.has_copy_id && blob.copy_source.data == NULL && !blob.is_uncommitted);
  varve_text continuation = text("x");
  CHECK_OK(varve_blobs_continuation(written, &continuation));
  CHECK(continuation.data == NULL);

  char buffer[8];
  size_t count = 0;
  uint64_t length = 0;
  CHECK_OK(varve_blob_get(photos, text("ann"), NULL, 4, buffer, 3, &count, &length));
  CHECK(count == 3 && length == 10 && memcmp(buffer, "456", 3) == 0);
  CHECK_OK(varve_blob_get(photos, text("ann"), NULL, 8, buffer, sizeof buffer, &count, NULL));
  CHECK(count == 2 && memcmp(buffer, "89", 2) == 0);
  CHECK_OK(varve_blob_get(photos, text("ann"), NULL, 10, NULL, 0, &count, &length));
  CHECK(count == 0 && length == 10);

  /* A snapshot and a reader show the old state, and conditions compare. */
  varve_snapshot* snapshot = NULL;
  CHECK_OK(varve_store_snapshot(store, &snapshot));
  varve_blob_reader* reader = NULL;
  CHECK_OK(varve_blob_reader_open(photos, text("ann"), NULL, &reader));
  varve_blob_conditions conditions = {.size = sizeof conditions, .if_none_match = VARVE_ETAG_ANY};
  const varve_blob_write_options conditional = {.size = sizeof conditional, .conditions = &conditions};
  CHECK_FAILS(varve_blob_put(photos, text("ann"), text("new"), &conditional, NULL), VARVE_EXISTS, "BlobAlreadyExists");
  conditions = (varve_blob_conditions){.size = sizeof conditions, .if_match = blob.etag};
  CHECK_OK(varve_blob_put(photos, text("ann"), text("new"), &conditional, NULL));
  CHECK_FAILS(varve_blob_put(photos, text("ann"), text("newer"), &conditional, NULL), VARVE_PRECONDITION_FAILED,
              "ConditionNotMet");
  CHECK(has_content(photos, "ann", "new"));
  const varve_blob_read_options before = {.size = sizeof before, .snapshot = snapshot};
  CHECK_OK(varve_blob_get(photos, text("ann"), &before, 0, buffer, sizeof buffer, &count, &length));
  CHECK(count == 8 && length == 10);
  CHECK_OK(varve_blob_reader_read(reader, 7, buffer, sizeof buffer, &count));
  CHECK(count == 3 && memcmp(buffer, "789", 3) == 0);
  varve_blobs* state = NULL;
  CHECK_OK(varve_blob_reader_state(reader, &state));
  CHECK(shown(state, 0).etag == blob.etag && same_text(blob.name, "ann")); /* the states own their memory */
  varve_blobs_free(state);
  varve_blob_reader_free(reader);
  varve_snapshot_free(snapshot);

  const varve_blob_change_options change = {.size = sizeof change, .conditions = &conditions};
  CHECK_FAILS(varve_blob_remove(photos, text("ann"), &change), VARVE_PRECONDITION_FAILED, "ConditionNotMet");
  CHECK_OK(varve_blob_remove(photos, text("ann"), NULL));
  CHECK_FAILS(varve_blob_state(photos, text("ann"), NULL, &state), VARVE_NOT_FOUND, "BlobNotFound");
  CHECK(state == NULL);
  varve_blobs_free(written);
  varve_container_free(photos);
}

static void streams_carry_more_than_memory_holds(varve_store* store) {
  enum { kPieces = 50, kPieceBytes = 100000 };
  varve_container* const container = new_container(store, "streams");
  char* const piece = malloc(kPieceBytes);
  varve_blob_writer* writer = NULL;
  CHECK_OK(varve_blob_writer_open(container, text("long"), NULL, &writer));
  for (int i = 0; i < kPieces; ++i) {
    memset(piece, 'a' + i % 26, kPieceBytes);
    CHECK_OK(varve_blob_writer_append(writer, (varve_text){piece, kPieceBytes}));
  }
  varve_blobs* none = NULL;
  CHECK_FAILS(varve_blob_state(container, text("long"), NULL, &none), VARVE_NOT_FOUND, "BlobNotFound");
  const varve_blob_properties properties = {.size = sizeof properties, .content_type = text("text/plain")};
  CHECK_OK(varve_blob_writer_set_properties(writer, &properties));
  varve_blobs* written = NULL;
  CHECK_OK(varve_blob_writer_publish(writer, &written));
  CHECK(shown(written, 0).length == (uint64_t)kPieces * kPieceBytes);
  CHECK(same_text(shown(written, 0).content_type, "text/plain"));
  varve_blobs_free(written);
  CHECK_FAILS(varve_blob_writer_append(writer, text("x")), VARVE_INVALID_ARGUMENT, "InvalidInput");
  CHECK_FAILS(varve_blob_writer_publish(writer, &written), VARVE_INVALID_ARGUMENT, "InvalidInput");
  CHECK(written == NULL);
  varve_blob_writer_free(writer);

  varve_blob_reader* reader = NULL;
  size_t count = 0;
  CHECK_OK(varve_blob_reader_open(container, text("long"), NULL, &reader));
  for (int i = 0; i < kPieces; ++i) {
    CHECK_OK(varve_blob_reader_read(reader, (uint64_t)i * kPieceBytes, piece, kPieceBytes, &count));
    CHECK(count == kPieceBytes && piece[0] == 'a' + i % 26 && piece[kPieceBytes - 1] == piece[0]);
  }
  CHECK_OK(varve_blob_reader_read(reader, (uint64_t)kPieces * kPieceBytes, piece, kPieceBytes, &count));
  CHECK(count == 0);
  varve_blob_reader_free(reader);

  /* A writer that is freed early leaves nothing. */
  CHECK_OK(varve_blob_writer_open(container, text("never"), NULL, &writer));
  for (int i = 0; i < kPieces; ++i) CHECK_OK(varve_blob_writer_append(writer, (varve_text){piece, kPieceBytes}));
  varve_blob_writer_free(writer);
  CHECK(strcmp(names_of(container, NULL), "long ") == 0);
  free(piece);
  varve_container_free(container);
}

static void blobs_are_listed_by_prefix_delimiter_and_page(varve_store* store) {
  varve_container* const container = new_container(store, "listed");
  const char* const names[] = {"eu/ann", "eu/bob", "us/cem", "zoe"};
  for (size_t i = 0; i < 4; ++i) CHECK_OK(varve_blob_put(container, text(names[i]), text("x"), NULL, NULL));
  CHECK(strcmp(names_of(container, NULL), "eu/ann eu/bob us/cem zoe ") == 0);
  varve_blob_list_options options = {.size = sizeof options, .delimiter = text("/")};
  CHECK(strcmp(names_of(container, &options), "eu/ us/ zoe ") == 0);
  options.prefix = text("eu/");
  CHECK(strcmp(names_of(container, &options), "eu/ann eu/bob ") == 0);
  options = (varve_blob_list_options){.size = sizeof options, .page_max = 3};
  varve_blobs* page = NULL;
  CHECK_OK(varve_blob_list(container, &options, &page));
  CHECK(count_of(page) == 3);
  CHECK_OK(varve_blobs_continuation(page, &options.continuation));
  CHECK(options.continuation.size > 0);
  CHECK(strcmp(names_of(container, &options), "zoe ") == 0);
  varve_blobs_free(page);
  options.continuation = text("nonsense");
  CHECK_FAILS(varve_blob_list(container, &options, &page), VARVE_INVALID_ARGUMENT, "InvalidMarker");
  CHECK(page == NULL);
  varve_container_free(container);
}

static void states_change_and_copies_share(varve_store* store) {
  varve_container* const from = new_container(store, "source");
  varve_container* const to = new_container(store, "target");
  CHECK_OK(varve_blob_put(from, text("a"), text("content"), NULL, NULL));
  const varve_metadata_pair pairs[] = {{text("k"), text("v")}, {text("l"), text("w")}};
  const varve_blob_properties properties = {.size = sizeof properties, .content_language = text("en")};
  varve_blobs* written = NULL;
  CHECK_OK(varve_blob_set_properties(from, text("a"), &properties, NULL, &written));
  const varve_etag etag = shown(written, 0).etag;
  CHECK(same_text(shown(written, 0).content_language, "en"));
  varve_blobs_free(written);
  CHECK_OK(varve_blob_set_metadata(from, text("a"), pairs, 2, NULL, &written));
  CHECK(shown(written, 0).metadata_count == 2 && shown(written, 0).etag > etag);
  varve_blobs_free(written);
  CHECK_OK(varve_blob_set_tags(from, text("a"), pairs, 1, NULL, &written));
  CHECK(shown(written, 0).tag_count == 1);
  varve_blobs_free(written);
  CHECK_OK(varve_blob_set_tier(from, text("a"), VARVE_TIER_COLD, NULL, &written));
  CHECK(shown(written, 0).tier == VARVE_TIER_COLD && shown(written, 0).tier_changed != 0);
  varve_blobs_free(written);

  CHECK_OK(varve_blob_copy(to, text("b"), from, text("a"), NULL, &written));
  CHECK(shown(written, 0).metadata_count == 2 && shown(written, 0).tag_count == 0);
  CHECK(same_text(shown(written, 0).content_language, "en"));
  varve_blobs_free(written);
  const varve_blob_copy_options options = {.size = sizeof options,
                                           .has_metadata = true,
                                           .tags = pairs,
                                           .tag_count = 2,
                                           .source_address = text("http://127.0.0.1/acct/source/a")};
  CHECK_OK(varve_blob_copy(to, text("b"), from, text("a"), &options, &written));
  const varve_blob_view copy = shown(written, 0);
  CHECK(copy.metadata_count == 0 && copy.tag_count == 2 && copy.has_copy_id && copy.copied != 0);
  CHECK(same_text(copy.copy_source, "http://127.0.0.1/acct/source/a"));
  varve_blobs_free(written);
  CHECK_OK(varve_blob_remove(from, text("a"), NULL));
  CHECK(has_content(to, "b", "content"));
  const varve_blob_conditions other = {.size = sizeof other, .if_match = etag};
  const varve_blob_copy_options conditional = {.size = sizeof conditional, .source_conditions = &other};
  CHECK_FAILS(varve_blob_copy(to, text("c"), to, text("b"), &conditional, &written), VARVE_PRECONDITION_FAILED,
              "SourceConditionNotMet");
  CHECK_FAILS(varve_blob_copy(to, text("c"), from, text("a"), NULL, &written), VARVE_NOT_FOUND, "BlobNotFound");
  CHECK(written == NULL);
  varve_container_free(to);
  varve_container_free(from);
}

static void stage(const varve_container* container, const char* blob, const char* id, const char* content) {
  varve_blob_writer* writer = NULL;
  varve_blobs* staged = NULL;
  CHECK_OK(varve_blob_writer_stage(container, text(blob), text(id), NULL, &writer));
  CHECK_OK(varve_blob_writer_append(writer, text(content)));
  CHECK_OK(varve_blob_writer_publish(writer, &staged));
  CHECK(shown(staged, 0).length == strlen(content));
  varve_blobs_free(staged);
  varve_blob_writer_free(writer);
}

static void blocks_become_a_content(varve_store* store) {
  varve_container* const container = new_container(store, "blocks");
  stage(container, "a", "0001", "Hello, ");
  stage(container, "a", "0002", "world");
  const varve_blob_list_options all = {.size = sizeof all, .with_uncommitted = true};
  CHECK(strcmp(names_of(container, NULL), "") == 0 && strcmp(names_of(container, &all), "a ") == 0);
  varve_block_choice list[] = {{text("0001"), VARVE_BLOCK_STAGED}, {text("0003"), VARVE_BLOCK_LATEST}};
  CHECK_FAILS(varve_blob_commit_blocks(container, text("a"), list, 2, NULL, NULL), VARVE_INVALID_ARGUMENT,
              "InvalidBlockList");
  list[1].id = text("0002");
  varve_blobs* written = NULL;
  CHECK_OK(varve_blob_commit_blocks(container, text("a"), list, 2, NULL, &written));
  CHECK(shown(written, 0).length == 12);
  varve_blobs_free(written);
  CHECK(has_content(container, "a", "Hello, world"));
  stage(container, "a", "0004", "!");
  varve_blocks* blocks = NULL;
  varve_blocks_view view = {.size = sizeof view};
  CHECK_OK(varve_blob_blocks(container, text("a"), NULL, &blocks));
  CHECK_OK(varve_blocks_read(blocks, &view));
  CHECK(view.committed_count == 2 && same_text(view.committed[1].id, "0002") && view.committed[1].length == 5);
  CHECK(view.staged_count == 1 && same_text(view.staged[0].id, "0004"));
  varve_blocks_free(blocks);
  list[0].from = 3;
  CHECK_FAILS(varve_blob_commit_blocks(container, text("a"), list, 2, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_blob_commit_blocks(container, text("a"), NULL, 2, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_blob_blocks(container, text("b"), NULL, &blocks), VARVE_NOT_FOUND, "BlobNotFound");
  CHECK(blocks == NULL && has_content(container, "a", "Hello, world"));
  varve_container_free(container);
}

static void append_blobs_grow_at_their_end(varve_store* store) {
  varve_container* const container = new_container(store, "logs");
  varve_blobs* written = NULL;
  CHECK_OK(varve_blob_create_append(container, text("log"), NULL, &written));
  CHECK(shown(written, 0).kind == VARVE_APPEND_BLOB && shown(written, 0).length == 0);
  varve_blobs_free(written);
  varve_appended_block appended = {.size = sizeof appended};
  CHECK_OK(varve_blob_append(container, text("log"), text("one "), NULL, &appended));
  CHECK(appended.offset == 0 && appended.append_count == 1 && appended.etag != VARVE_ETAG_NONE);
  varve_append_options options = {.size = sizeof options, .has_position = true, .position = 4};
  CHECK_OK(varve_blob_append(container, text("log"), text("two"), &options, &appended));
  CHECK(appended.offset == 4 && appended.append_count == 2);
  CHECK_FAILS(varve_blob_append(container, text("log"), text("two"), &options, NULL), VARVE_PRECONDITION_FAILED,
              "AppendPositionConditionNotMet");
  options = (varve_append_options){.size = sizeof options, .has_length_max = true, .length_max = 8};
  CHECK_FAILS(varve_blob_append(container, text("log"), text("three"), &options, NULL), VARVE_PRECONDITION_FAILED,
              "MaxBlobSizeConditionNotMet");
  CHECK_FAILS(varve_blob_append(container, text("log"), text(""), NULL, NULL), VARVE_INVALID_ARGUMENT,
              "InvalidHeaderValue");
  varve_appended_block unset = {.size = 0};
  CHECK_FAILS(varve_blob_append(container, text("log"), text("x"), NULL, &unset), VARVE_INVALID_ARGUMENT, "");
  CHECK(has_content(container, "log", "one two"));
  char room[16];
  varve_tail tail = {.size = sizeof tail};
  CHECK_OK(varve_blob_tail(container, text("log"), 4, NULL, room, sizeof room, &tail));
  CHECK(tail.count == 3 && memcmp(room, "two", 3) == 0 && tail.length == 7 && tail.etag != VARVE_ETAG_NONE);
  varve_tail_options following = {.size = sizeof following, .wait_ms = 1, .created = tail.created};
  CHECK_OK(varve_blob_tail(container, text("log"), 7, &following, room, sizeof room, &tail));
  CHECK(tail.count == 0 && tail.length == 7 && tail.created == following.created);
  varve_stop* stop = NULL;
  CHECK_OK(varve_stop_create(&stop));
  CHECK_OK(varve_stop_request(stop));
  following.wait_ms = 3600000;
  following.stop = stop;
  CHECK_OK(varve_blob_tail(container, text("log"), 7, &following, room, sizeof room, &tail));
  CHECK(tail.count == 0);
  varve_stop_free(stop);
  following = (varve_tail_options){.size = sizeof following, .created = 1};
  CHECK_FAILS(varve_blob_tail(container, text("log"), 0, &following, room, sizeof room, &tail),
              VARVE_PRECONDITION_FAILED, "ConditionNotMet");
  CHECK_FAILS(varve_blob_tail(container, text("log"), 8, NULL, room, sizeof room, &tail), VARVE_INVALID_ARGUMENT,
              "InvalidRange");
  CHECK_FAILS(varve_blob_tail(container, text("log"), 0, NULL, room, 0, &tail), VARVE_INVALID_ARGUMENT,
              "OutOfRangeQueryParameterValue");
  CHECK_FAILS(varve_blob_tail(container, text("log"), 0, NULL, NULL, 0, &tail), VARVE_INVALID_ARGUMENT, "");
  varve_blob_writer* writer = NULL;
  CHECK_FAILS(varve_blob_writer_stage(container, text("log"), text("0001"), NULL, &writer), VARVE_CONFLICT,
              "InvalidBlobType");
  CHECK(writer == NULL);
  varve_container_free(container);
}

/* Bytes of the value files that are in use. */
static uint64_t value_bytes_of(varve_store* store) {
  varve_statistics statistics = {.size = sizeof statistics};
  CHECK_OK(varve_store_compact(store));
  CHECK_OK(varve_store_statistics(store, &statistics));
  return statistics.value_file_live_bytes;
}

static void a_content_is_compressed_if_asked_for(void) {
  varve_store* const store = new_store(new_directory());
  varve_container* const container = new_container(store, "packed");
  const size_t size = (size_t)2 << 20;
  char* const content = malloc(size);
  char* const read = malloc(size);
  if (!CHECK(content != NULL && read != NULL)) return;
  memset(content, 'x', size);
  const varve_text given = {content, size};
  varve_blob_write_options options = {.size = sizeof options, .compresses = true};
  CHECK_OK(varve_blob_put(container, text("packed"), given, &options, NULL));
  const uint64_t packed = value_bytes_of(store);
  CHECK(packed < size / 4);
  size_t count = 0;
  CHECK_OK(varve_blob_get(container, text("packed"), NULL, 0, read, size, &count, NULL));
  CHECK(count == size && memcmp(content, read, size) == 0);
  options.size = offsetof(varve_blob_write_options, compresses); /* of an earlier header */
  CHECK_OK(varve_blob_put(container, text("plain"), given, &options, NULL));
  CHECK(value_bytes_of(store) >= size);
  free(read);
  free(content);
  varve_container_free(container);
  CHECK_OK(varve_store_close(store));
}

static void bad_input_changes_nothing(varve_store* store) {
  varve_container* container = NULL;
  CHECK_FAILS(varve_container_create(store, text("acct"), text("ab"), NULL, &container), VARVE_INVALID_ARGUMENT,
              "OutOfRangeInput");
  CHECK_FAILS(varve_container_create(store, text("acct"), text("Upper"), NULL, &container), VARVE_INVALID_ARGUMENT,
              "InvalidResourceName");
  CHECK_FAILS(varve_container_create(store, text("none"), text("photos"), NULL, &container), VARVE_NOT_FOUND,
              "ResourceNotFound");
  varve_container_options wrong = {.size = sizeof wrong, .public_access = 3};
  CHECK_FAILS(varve_container_create(store, text("acct"), text("wrong"), &wrong, &container), VARVE_INVALID_ARGUMENT,
              "");
  wrong = (varve_container_options){.size = sizeof wrong, .metadata_count = 1};
  CHECK_FAILS(varve_container_create(store, text("acct"), text("wrong"), &wrong, &container), VARVE_INVALID_ARGUMENT,
              "");
  CHECK(container == NULL);
  container = new_container(store, "refusing");

  varve_blobs* written = NULL;
  CHECK_FAILS(varve_blob_put(container, text(""), text("x"), NULL, &written), VARVE_INVALID_ARGUMENT,
              "OutOfRangeInput");
  CHECK_FAILS(varve_blob_put(container, text("a"), (varve_text){NULL, 1}, NULL, &written), VARVE_INVALID_ARGUMENT, "");
  varve_blob_write_options options = {.size = sizeof options, .tier = 9};
  CHECK_FAILS(varve_blob_put(container, text("a"), text("x"), &options, &written), VARVE_INVALID_ARGUMENT, "");
  options = (varve_blob_write_options){.size = sizeof options, .durability = 7};
  CHECK_FAILS(varve_blob_put(container, text("a"), text("x"), &options, &written), VARVE_INVALID_ARGUMENT, "");
  options = (varve_blob_write_options){.size = sizeof options, .tag_count = 1};
  CHECK_FAILS(varve_blob_put(container, text("a"), text("x"), &options, &written), VARVE_INVALID_ARGUMENT, "");
  const varve_metadata_pair pair = {text("1"), text("?")};
  options = (varve_blob_write_options){.size = sizeof options, .metadata = &pair, .metadata_count = 1};
  CHECK_FAILS(varve_blob_put(container, text("a"), text("x"), &options, &written), VARVE_INVALID_ARGUMENT,
              "InvalidMetadata");
  options = (varve_blob_write_options){.size = sizeof options, .tags = &pair, .tag_count = 1};
  CHECK_FAILS(varve_blob_put(container, text("a"), text("x"), &options, &written), VARVE_INVALID_ARGUMENT,
              "InvalidTag");
  const varve_blob_conditions unset = {.size = 0};
  options = (varve_blob_write_options){.size = sizeof options, .conditions = &unset};
  CHECK_FAILS(varve_blob_put(container, text("a"), text("x"), &options, &written), VARVE_INVALID_ARGUMENT, "");
  CHECK(written == NULL && strcmp(names_of(container, NULL), "") == 0);

  size_t count = 1;
  char buffer[4];
  CHECK_FAILS(varve_blob_get(container, text("a"), NULL, 0, buffer, 4, &count, NULL), VARVE_NOT_FOUND, "BlobNotFound");
  CHECK(count == 0);
  CHECK_FAILS(varve_blob_get(container, text("a"), NULL, 0, NULL, 4, &count, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_blob_get(container, text("a"), NULL, 0, buffer, 4, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  const varve_blob_list_options list = {.size = sizeof list, .page_max = 5001};
  CHECK_FAILS(varve_blob_list(container, &list, &written), VARVE_INVALID_ARGUMENT, "OutOfRangeQueryParameterValue");
  CHECK_FAILS(varve_blob_list(container, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_blob_set_tier(container, text("a"), -1, NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_blob_copy(container, text("b"), (varve_container*)store, text("a"), NULL, NULL),
              VARVE_INVALID_ARGUMENT, "");
  varve_blob_writer* writer = NULL;
  CHECK_FAILS(varve_blob_writer_stage(container, text("a"), text(""), NULL, &writer), VARVE_INVALID_ARGUMENT,
              "InvalidQueryParameterValue");
  CHECK_FAILS(varve_blob_writer_open(container, text("a"), NULL, NULL), VARVE_INVALID_ARGUMENT, "");
  varve_blob_reader* reader = NULL;
  CHECK_FAILS(varve_blob_reader_open(container, text("a"), NULL, &reader), VARVE_NOT_FOUND, "BlobNotFound");
  CHECK(writer == NULL && reader == NULL);

  CHECK_OK(varve_blob_put(container, text("a"), text("x"), NULL, &written));
  varve_blob_view view = {.size = sizeof view};
  CHECK_FAILS(varve_blobs_read(written, 1, &view), VARVE_NOT_FOUND, "");
  view.size = 0;
  CHECK_FAILS(varve_blobs_read(written, 0, &view), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_blobs_count(written, NULL), VARVE_INVALID_ARGUMENT, "");
  CHECK_FAILS(varve_blobs_continuation(written, NULL), VARVE_INVALID_ARGUMENT, "");
  varve_blobs_free(written);
  varve_container_free(container);
}

void blob_suite(void) {
  const char* const directory = new_directory();
  varve_store* const store = new_store(directory);
  containers_are_created_listed_and_dropped(store);
  blobs_are_put_read_and_removed(store);
  streams_carry_more_than_memory_holds(store);
  blobs_are_listed_by_prefix_delimiter_and_page(store);
  states_change_and_copies_share(store);
  blocks_become_a_content(store);
  append_blobs_grow_at_their_end(store);
  bad_input_changes_nothing(store);
  CHECK_OK(varve_store_close(store));
  char path[128];
  snprintf(path, sizeof path, "%s/store", directory);
  varve_verify_figures figures = {.size = sizeof figures};
  CHECK_OK(varve_verify(text(path), NULL, NULL, &figures, NULL));
  CHECK(figures.finding_count == 0);
  a_content_is_compressed_if_asked_for();
}
