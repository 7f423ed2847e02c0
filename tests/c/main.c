/* Owns: the program of the C tests: varve_c_tests SUITE. It ends with 1 if a check failed, and names a leaked handle. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int failures = 0;
static char directories[64][64];
static size_t directory_count = 0;

bool check_that(bool condition, const char* what, const char* file, int line) {
  if (condition) return true;
  ++failures;
  fprintf(stderr, "%s:%d: Failure: %s\n", file, line, what);
  return false;
}

bool check_status(varve_status* status, varve_code code, const char* service_error, const char* what, const char* file,
                  int line) {
  const bool as_expected =
      varve_status_code(status) == code && strcmp(varve_status_service_error(status), service_error) == 0;
  if (!as_expected) {
    ++failures;
    fprintf(stderr, "%s:%d: Failure: %s\n  is %s\n  expected %s (%s)\n", file, line, what, varve_status_text(status),
            varve_code_name(code), service_error);
  }
  varve_status_free(status);
  return as_expected;
}

int check_failures(void) {
  return failures;
}

const char* new_directory(void) {
  char* const directory = directories[directory_count++];
  strcpy(directory, "/tmp/varve-c-XXXXXX");
  if (mkdtemp(directory) == NULL) {
    perror("mkdtemp");
    exit(2);
  }
  return directory;
}

varve_text text(const char* zero_terminated) {
  return varve_text_of(zero_terminated);
}

bool same_text(varve_text found, const char* expected) {
  return found.size == strlen(expected) && (found.size == 0 || memcmp(found.data, expected, found.size) == 0);
}

static varve_store* open_store(const char* directory, bool create, bool read_only) {
  char path[128];
  snprintf(path, sizeof path, "%s/store", directory);
  varve_store_options options = {.size = sizeof options, .create_if_absent = create, .read_only = read_only};
  varve_store* store = NULL;
  CHECK_OK(varve_store_open(text(path), &options, &store));
  return store;
}

varve_store* new_store(const char* directory) {
  varve_store* const store = open_store(directory, true, false);
  CHECK_OK(varve_account_create(store, text("acct")));
  return store;
}

varve_store* reopen_store(const char* directory, bool read_only) {
  return open_store(directory, false, read_only);
}

varve_table* new_table(varve_store* store, const char* name) {
  varve_table* table = NULL;
  CHECK_OK(varve_table_create(store, text("acct"), text(name), &table));
  return table;
}

varve_property int32_property(const char* name, int32_t value) {
  varve_property property = {.name = text(name), .value = {.type = VARVE_INT32}};
  property.value.as.int32 = value;
  return property;
}

varve_property string_property(const char* name, const char* value) {
  varve_property property = {.name = text(name), .value = {.type = VARVE_STRING}};
  property.value.as.text = text(value);
  return property;
}

varve_entity entity_of(const char* partition_key, const char* row_key, const varve_property* properties, size_t count) {
  const varve_entity entity = {text(partition_key), text(row_key), properties, count, VARVE_ETAG_NONE};
  return entity;
}

void fill(varve_table* table, const char* partition_key, int count) {
  const varve_write_options buffered = {.size = sizeof buffered, .durability = VARVE_BUFFERED};
  for (int i = 0; i < count; ++i) {
    char row[16];
    snprintf(row, sizeof row, "%06d", i);
    const varve_property number = int32_property("N", i);
    const varve_entity entity = entity_of(partition_key, row, &number, 1);
    if (!CHECK_OK(varve_table_insert(table, &entity, &buffered, NULL))) return;
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } suites[] = {{"verbs", verbs_suite},   {"misuse", misuse_suite},
                {"fork", fork_suite},     {"queue", queue_suite},
                {"blob", blob_suite},     {"large_value", large_value_suite},
                {"lease", lease_suite},   {"blob_transaction", blob_transaction_suite},
                {"index", index_suite},   {"rados", rados_suite},
                {"access", access_suite}, {"conformance", conformance_suite}};
  bool found = false;
  for (size_t i = 0; i < sizeof suites / sizeof suites[0]; ++i) {
    if (argc == 2 && strcmp(argv[1], suites[i].name) != 0) continue;
    found = true;
    suites[i].run();
  }
  CHECK(found);
  CHECK(varve_handle_count() == 0);
  for (size_t i = 0; i < directory_count; ++i) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", directories[i]);
    CHECK(system(command) == 0);
  }
  if (failures == 0) printf("passed\n");
  return failures == 0 ? 0 : 1;
}
