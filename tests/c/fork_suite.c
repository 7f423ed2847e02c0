/* Goal: a child of a fork gets a clear error from every handle that it inherited, can free them all, and can open a
   store of its own; the parent goes on.
   Method: a parent with busy threads forks many times. An alarm ends a child that hangs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static volatile bool stopped = false;

static void* keep_busy(void* argument) {
  varve_table* const table = argument;
  while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
    const varve_property number = int32_property("N", 1);
    const varve_entity entity = entity_of("busy", "r", &number, 1);
    const varve_write_options buffered = {.size = sizeof buffered, .durability = VARVE_BUFFERED};
    CHECK_OK(varve_table_insert_or_replace(table, &entity, &buffered, NULL));
    varve_page* page = NULL;
    CHECK_OK(varve_table_scan(table, NULL, &page));
    varve_page_free(page);
  }
  return NULL;
}

/* What a child inherits. */
struct inherited {
  varve_store* store;
  varve_table* table;
  varve_cursor* cursor;
  varve_queue* queue;
  varve_container* container;
  varve_blob_writer* writer;
  varve_blob_reader* reader;
};

static void* write_contents(void* argument) {
  varve_container* const container = argument;
  static char piece[1 << 20];
  while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
    varve_blob_writer* writer = NULL;
    CHECK_OK(varve_blob_writer_open(container, text("busy"), NULL, &writer));
    for (int i = 0; i < 3; ++i) CHECK_OK(varve_blob_writer_append(writer, (varve_text){piece, sizeof piece}));
    varve_blob_writer_free(writer);
  }
  return NULL;
}

static int in_child(const struct inherited* all, const char* directory) {
  varve_store* const store = all->store;
  varve_table* const table = all->table;
  varve_cursor* const cursor = all->cursor;
  varve_queue* const queue = all->queue;
  alarm(60);
  const int before = check_failures();
  const varve_entity entity = entity_of("p", "child", NULL, 0);
  varve_page* page = NULL;
  CHECK_FAILS(varve_table_insert(table, &entity, NULL, NULL), VARVE_LOCKED, "");
  CHECK_FAILS(varve_table_scan(table, NULL, &page), VARVE_LOCKED, "");
  CHECK_FAILS(varve_cursor_next(cursor, &page), VARVE_LOCKED, "");
  CHECK_FAILS(varve_store_sync(store), VARVE_LOCKED, "");
  varve_messages* messages = NULL;
  const varve_get_options patient = {.size = sizeof patient, .wait_ms = 3600000};
  CHECK_FAILS(varve_queue_get(queue, &patient, &messages), VARVE_LOCKED, "");
  CHECK_FAILS(varve_queue_put(queue, text("child"), NULL, NULL), VARVE_LOCKED, "");
  size_t count = 0;
  char buffer[4];
  CHECK_FAILS(varve_blob_put(all->container, text("child"), text("x"), NULL, NULL), VARVE_LOCKED, "");
  CHECK_FAILS(varve_blob_writer_publish(all->writer, NULL), VARVE_LOCKED, "");
  CHECK_FAILS(varve_blob_reader_read(all->reader, 0, buffer, sizeof buffer, &count), VARVE_LOCKED, "");
  varve_blob_reader_free(all->reader);
  varve_blob_writer_free(all->writer);
  varve_container_free(all->container);
  varve_queue_free(queue);
  varve_cursor_free(cursor);
  varve_table_free(table);
  CHECK_OK(varve_store_close(store));
  CHECK_FAILS(varve_store_sync(store), VARVE_CLOSED, "");

  varve_store* const own = new_store(directory);
  varve_table* const own_table = new_table(own, "Own");
  fill(own_table, "p", 1);
  varve_table_free(own_table);
  CHECK_OK(varve_store_close(own));
  return check_failures() == before ? 0 : 1;
}

void fork_suite(void) {
  const char* const directory = new_directory();
  varve_store* const store = new_store(directory);
  varve_table* const table = new_table(store, "Forked");
  fill(table, "p", 100);
  varve_cursor* cursor = NULL;
  CHECK_OK(varve_cursor_open(table, NULL, &cursor));
  varve_queue* queue = NULL;
  CHECK_OK(varve_queue_create(store, text("acct"), text("forked"), NULL, &queue));
  struct inherited all = {store, table, cursor, queue, NULL, NULL, NULL};
  CHECK_OK(varve_container_create(store, text("acct"), text("forked"), NULL, &all.container));
  CHECK_OK(varve_blob_put(all.container, text("b"), text("blob"), NULL, NULL));
  CHECK_OK(varve_blob_reader_open(all.container, text("b"), NULL, &all.reader));
  CHECK_OK(varve_blob_writer_open(all.container, text("c"), NULL, &all.writer));
  static const char piece[3 << 20];
  CHECK_OK(varve_blob_writer_append(all.writer, (varve_text){piece, sizeof piece}));
  pthread_t threads[3];
  for (size_t i = 0; i < 2; ++i) CHECK(pthread_create(&threads[i], NULL, keep_busy, table) == 0);
  CHECK(pthread_create(&threads[2], NULL, write_contents, all.container) == 0);
  for (int round = 0; round < 10; ++round) {
    const char* const of_child = new_directory();
    const pid_t child = fork();
    if (child == 0) _exit(in_child(&all, of_child));
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  __atomic_store_n(&stopped, true, __ATOMIC_RELAXED);
  for (size_t i = 0; i < 3; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK_OK(varve_blob_writer_publish(all.writer, NULL));
  varve_blob_writer_free(all.writer);
  varve_blob_reader_free(all.reader);
  varve_container_free(all.container);
  uint64_t count = 0;
  CHECK_OK(varve_table_count(table, NULL, &count, NULL));
  CHECK(count == 101);
  varve_queue_free(queue);
  varve_cursor_free(cursor);
  varve_table_free(table);
  CHECK_OK(varve_store_close(store));
}
