/* Goal: C passes the cases that C++ and Python pass, too.
   Method: each line of tests/conformance is a case; generate.py there describes the steps. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "json.h"

enum { ETAGS_MAX = 64 };

/* The state that the steps of one case share. */
struct state {
  varve_store* store;
  varve_table* table;
  varve_table* restricted;
  varve_transaction* transaction;
  varve_etag etags[ETAGS_MAX];
  size_t etag_count;
  void* memory[4096]; /* of the current step */
  size_t memory_count;
};

static void* keep(struct state* state, size_t bytes) {
  void* const made = calloc(1, bytes + 1);
  if (made == NULL || state->memory_count == sizeof state->memory / sizeof state->memory[0]) abort();
  return state->memory[state->memory_count++] = made;
}

static varve_table* table_of(const struct state* state) {
  return state->restricted != NULL ? state->restricted : state->table;
}

/* Expands @repeat:TEXT:COUNT and @bytes:HEX. */
static varve_text expanded(struct state* state, const json* value) {
  if (value == NULL) return (varve_text){NULL, 0};
  const bool repeats = strncmp(value->text, "@repeat:", 8) == 0;
  if (repeats) {
    const char* const piece = value->text + 8;
    const size_t size = (size_t)(strchr(piece, ':') - piece);
    const size_t count = strtoul(piece + size + 1, NULL, 10);
    char* const made = keep(state, size * count);
    for (size_t i = 0; i < count; ++i) memcpy(made + i * size, piece, size);
    return (varve_text){made, size * count};
  }
  if (strncmp(value->text, "@bytes:", 7) == 0) {
    const size_t count = strlen(value->text + 7) / 2;
    char* const made = keep(state, count);
    for (size_t i = 0; i < count; ++i) {
      const char digits[3] = {value->text[7 + 2 * i], value->text[8 + 2 * i], 0};
      made[i] = (char)strtoul(digits, NULL, 16);
    }
    return (varve_text){made, count};
  }
  return (varve_text){value->text, value->size};
}

static varve_text member_text(struct state* state, const json* step, const char* name) {
  return expanded(state, json_member(step, name));
}

static varve_value value_of(struct state* state, const char* kind, varve_text written) {
  varve_value value;
  memset(&value, 0, sizeof value);
  if (strcmp(kind, "binary") == 0) {
    char* const bytes = keep(state, written.size / 2);
    for (size_t i = 0; i < written.size / 2; ++i) {
      const char digits[3] = {written.data[2 * i], written.data[2 * i + 1], 0};
      bytes[i] = (char)strtoul(digits, NULL, 16);
    }
    value.type = VARVE_BINARY;
    value.as.text = (varve_text){bytes, written.size / 2};
  } else if (strcmp(kind, "boolean") == 0) {
    value.type = VARVE_BOOLEAN;
    value.as.boolean = same_text(written, "true");
  } else if (strcmp(kind, "datetime") == 0) {
    value.type = VARVE_DATETIME;
    CHECK_OK(varve_datetime_parse(written, &value.as.datetime));
  } else if (strcmp(kind, "double") == 0) {
    value.type = VARVE_DOUBLE;
    value.as.number = strtod(written.data, NULL);
  } else if (strcmp(kind, "guid") == 0) {
    value.type = VARVE_GUID;
    CHECK_OK(varve_guid_parse(written, &value.as.guid));
  } else if (strcmp(kind, "int32") == 0) {
    value.type = VARVE_INT32;
    value.as.int32 = (int32_t)strtol(written.data, NULL, 10);
  } else if (strcmp(kind, "int64") == 0) {
    value.type = VARVE_INT64;
    value.as.int64 = strtoll(written.data, NULL, 10);
  } else {
    value.type = VARVE_STRING;
    value.as.text = written;
  }
  return value;
}

static bool same_value(const varve_value* found, const varve_value* expected) {
  if (found->type != expected->type) return false;
  switch (found->type) {
    case VARVE_BINARY:
    case VARVE_STRING:
      return found->as.text.size == expected->as.text.size &&
             memcmp(found->as.text.data, expected->as.text.data, found->as.text.size) == 0;
    case VARVE_BOOLEAN: return found->as.boolean == expected->as.boolean;
    case VARVE_DATETIME: return found->as.datetime == expected->as.datetime;
    case VARVE_DOUBLE:
      if (expected->as.number != expected->as.number) return found->as.number != found->as.number;
      return memcmp(&found->as.number, &expected->as.number, sizeof(double)) == 0;
    case VARVE_GUID: return memcmp(&found->as.guid, &expected->as.guid, sizeof(varve_guid)) == 0;
    case VARVE_INT32: return found->as.int32 == expected->as.int32;
    default: return found->as.int64 == expected->as.int64;
  }
}

/* Reads a list of [name, type, value]. The element ["@many", "int32", "5"] stands for five properties. */
static const varve_property* properties_of(struct state* state, const json* list, size_t* count) {
  const json* const only = json_at(list, 0);
  if (only != NULL && strcmp(json_at(only, 0)->text, "@many") == 0) {
    *count = strtoul(json_at(only, 2)->text, NULL, 10);
    varve_property* const many = keep(state, *count * sizeof *many);
    for (size_t i = 0; i < *count; ++i) {
      char* const name = keep(state, 8);
      snprintf(name, 8, "P%03u", (unsigned)i % 1000);
      many[i] = int32_property(name, (int32_t)i);
    }
    return many;
  }
  *count = json_count(list);
  varve_property* const made = keep(state, *count * sizeof *made);
  for (size_t i = 0; i < *count; ++i) {
    const json* const one = json_at(list, i);
    made[i].name = expanded(state, json_at(one, 0));
    made[i].value = value_of(state, json_at(one, 1)->text, expanded(state, json_at(one, 2)));
  }
  return made;
}

static varve_entity entity_in(struct state* state, const json* step) {
  varve_entity entity;
  memset(&entity, 0, sizeof entity);
  entity.partition_key = member_text(state, step, "pk");
  entity.row_key = member_text(state, step, "rk");
  entity.properties = properties_of(state, json_member(step, "props"), &entity.property_count);
  return entity;
}

static varve_etag match_of(struct state* state, const json* step) {
  const char* const name = json_text(step, "match");
  varve_etag etag = VARVE_ETAG_NONE;
  if (name == NULL || strcmp(name, "none") == 0) return VARVE_ETAG_NONE;
  if (strcmp(name, "any") == 0) return VARVE_ETAG_ANY;
  if (strcmp(name, "first") == 0) return state->etags[0];
  if (strcmp(name, "last") == 0) return state->etags[state->etag_count - 1];
  CHECK_OK(varve_etag_parse(text("W/\"foreign\""), &etag));
  return etag;
}

static varve_operation operation_of(struct state* state, const json* step, const char* kind) {
  static const char* const kinds[] = {"insert", "replace", "merge", "insert_or_replace", "insert_or_merge", "remove"};
  varve_operation operation = {-1, entity_in(state, step), match_of(state, step)};
  for (int32_t i = 0; i < 6; ++i) {
    if (strcmp(kind, kinds[i]) == 0) operation.kind = i;
  }
  return operation;
}

static varve_scan scan_of(struct state* state, const json* step) {
  static const char* const ranges[] = {"table", "partition", "rows", "row_prefix", "partitions"};
  varve_scan scan = {.size = sizeof scan};
  for (int32_t i = 0; i < 5; ++i) {
    if (json_text(step, "range") != NULL && strcmp(json_text(step, "range"), ranges[i]) == 0) scan.range = i;
  }
  scan.partition_key = member_text(state, step, "partition");
  scan.from = member_text(state, step, "start");
  scan.to = member_text(state, step, "end");
  scan.filter = member_text(state, step, "filter");
  scan.order_by = member_text(state, step, "order_by");
  scan.continuation = member_text(state, step, "continuation");
  scan.backward = json_number(step, "backward", 0) != 0;
  scan.has_take = json_member(step, "take") != NULL;
  scan.take = (uint64_t)json_number(step, "take", 0);
  scan.page_entities_max = (uint32_t)json_number(step, "page_size", 0);
  return scan;
}

/// Compares the page's keys with those from `found` on, and frees the page. Returns the number of keys so far.
static size_t check_page(varve_page* page, const json* rows, size_t found) {
  varve_page_view view = {.size = sizeof view};
  CHECK_OK(varve_page_read(page, &view));
  for (size_t i = 0; i < view.count; ++i, ++found) {
    char key[64];
    snprintf(key, sizeof key, "%s/%s", view.entities[i].partition_key.data, view.entities[i].row_key.data);
    const json* const expected = json_at(rows, found);
    CHECK(expected != NULL && strcmp(expected->text, key) == 0);
  }
  varve_page_free(page);
  return found;
}

static varve_status* check_in_transaction(struct state* state, const json* step) {
  const varve_scan scan = scan_of(state, step);
  varve_page* page = NULL;
  varve_status* const failed = varve_transaction_scan_checked(state->transaction, table_of(state), &scan, &page);
  if (failed == NULL) CHECK(check_page(page, json_member(step, "rows"), 0) == json_count(json_member(step, "rows")));
  return failed;
}

static varve_status* check_scan(struct state* state, const json* step) {
  const varve_scan scan = scan_of(state, step);
  const json* const rows = json_member(step, "rows");
  varve_cursor* cursor = NULL;
  varve_status* failed = varve_cursor_open(table_of(state), &scan, &cursor);
  size_t found = 0;
  while (failed == NULL) {
    varve_page* page = NULL;
    failed = varve_cursor_next(cursor, &page);
    if (page == NULL) break;
    found = check_page(page, rows, found);
  }
  if (failed == NULL) CHECK(found == json_count(rows));
  varve_cursor_free(cursor);
  return failed;
}

static varve_status* check_count(struct state* state, const json* step) {
  const varve_scan scan = scan_of(state, step);
  uint64_t count = 0;
  varve_page* page = NULL;
  varve_status* const failed = varve_table_count(table_of(state), &scan, &count, &page);
  if (failed == NULL) CHECK((double)count == json_number(step, "count", -1));
  varve_page_free(page);
  return failed;
}

static varve_status* check_get(struct state* state, const json* step) {
  const json* const select = json_member(step, "select");
  varve_read_options options = {.size = sizeof options, .select_count = json_count(select)};
  varve_text* const names = keep(state, options.select_count * sizeof *names);
  for (size_t i = 0; i < options.select_count; ++i) names[i] = expanded(state, json_at(select, i));
  options.select = names;
  varve_page* page = NULL;
  varve_status* const failed =
      varve_table_get(table_of(state), member_text(state, step, "pk"), member_text(state, step, "rk"), &options, &page);
  if (failed != NULL) return failed;
  varve_page_view view = {.size = sizeof view};
  CHECK_OK(varve_page_read(page, &view));
  const json* const expected = json_member(step, "found");
  if (CHECK(view.count == (expected->kind == JSON_NULL ? 0 : 1)) && view.count == 1) {
    size_t count = 0;
    const varve_property* const properties = properties_of(state, expected, &count);
    CHECK(view.entities[0].property_count == count);
    for (size_t i = 0; i < count && i < view.entities[0].property_count; ++i) {
      const varve_property* const found = &view.entities[0].properties[i];
      CHECK(found->name.size == properties[i].name.size &&
            memcmp(found->name.data, properties[i].name.data, found->name.size) == 0);
      CHECK(same_value(&found->value, &properties[i].value));
    }
  }
  varve_page_free(page);
  return NULL;
}

static varve_status* check_keys(struct state* state, const json* step, bool in_transaction) {
  const json* const keys = json_member(step, "keys");
  const json* const expected = json_member(step, "found");
  const size_t count = json_count(keys);
  varve_key* const read = keep(state, count * sizeof *read);
  for (size_t i = 0; i < count; ++i) {
    read[i].partition_key = expanded(state, json_at(json_at(keys, i), 0));
    read[i].row_key = expanded(state, json_at(json_at(keys, i), 1));
  }
  varve_page* page = NULL;
  varve_status* const failed =
      in_transaction ? varve_transaction_get_many(state->transaction, table_of(state), read, count, NULL, &page)
                     : varve_table_get_many(table_of(state), read, count, NULL, &page);
  if (failed != NULL) return failed;
  varve_page_view view = {.size = sizeof view};
  CHECK_OK(varve_page_read(page, &view));
  CHECK(view.count == count);
  for (size_t i = 0; i < view.count; ++i) {
    CHECK((view.entities[i].etag != VARVE_ETAG_NONE) == (json_at(expected, i)->number != 0));
    CHECK(same_text(view.entities[i].row_key, json_at(json_at(keys, i), 1)->text));
  }
  varve_page_free(page);
  return NULL;
}

static varve_status* restrict_table(struct state* state, const json* step) {
  varve_access access = {.size = sizeof access};
  for (const char* letter = json_text(step, "permissions"); *letter != '\0'; ++letter) {
    access.permissions |= *letter == 'r'   ? VARVE_MAY_QUERY
                          : *letter == 'a' ? VARVE_MAY_ADD
                          : *letter == 'u' ? VARVE_MAY_UPDATE
                                           : VARVE_MAY_DELETE;
  }
  const json *const start = json_member(step, "start"), *const end = json_member(step, "end");
  access.from_partition_key = expanded(state, json_at(start, 0));
  access.from_row_key = expanded(state, json_at(start, 1));
  access.to_partition_key = expanded(state, json_at(end, 0));
  access.to_row_key = expanded(state, json_at(end, 1));
  return varve_table_restrict(state->table, &access, &state->restricted);
}

static varve_status* check_parse(const json* step) {
  const char* const what = json_text(step, "what");
  const varve_text from = text(json_text(step, "text"));
  char out[VARVE_FORMAT_BYTES] = "";
  varve_status* failed = NULL;
  varve_etag etag = 0;
  varve_datetime time = 0;
  varve_guid guid;
  if (strcmp(what, "etag") == 0) {
    failed = varve_etag_parse(from, &etag);
    if (failed == NULL) failed = varve_etag_format(etag, out);
  } else if (strcmp(what, "datetime") == 0) {
    failed = varve_datetime_parse(from, &time);
    if (failed == NULL) failed = varve_datetime_format(time, out);
  } else {
    failed = varve_guid_parse(from, &guid);
    if (failed == NULL) failed = varve_guid_format(guid, out);
  }
  if (failed == NULL) CHECK(json_text(step, "out") != NULL && strcmp(out, json_text(step, "out")) == 0);
  return failed;
}

static varve_status* do_write(struct state* state, const json* step, const char* verb) {
  const varve_entity entity = entity_in(state, step);
  const varve_etag match = match_of(state, step);
  varve_table* const table = table_of(state);
  varve_etag etag = VARVE_ETAG_NONE;
  varve_status* failed;
  if (strcmp(verb, "insert") == 0) {
    failed = varve_table_insert(table, &entity, NULL, &etag);
  } else if (strcmp(verb, "replace") == 0) {
    failed = varve_table_replace(table, &entity, match, NULL, &etag);
  } else if (strcmp(verb, "merge") == 0) {
    failed = varve_table_merge(table, &entity, match, NULL, &etag);
  } else if (strcmp(verb, "insert_or_replace") == 0) {
    failed = varve_table_insert_or_replace(table, &entity, NULL, &etag);
  } else {
    failed = varve_table_insert_or_merge(table, &entity, NULL, &etag);
  }
  if (failed == NULL && state->etag_count < ETAGS_MAX) state->etags[state->etag_count++] = etag;
  return failed;
}

static varve_status* do_write_if(struct state* state, const json* step, const char* verb) {
  const varve_operation operation = operation_of(state, step, verb);
  return varve_table_write_if(table_of(state), &operation, member_text(state, step, "only_if"), NULL, NULL);
}

static varve_status* do_add(struct state* state, const json* one) {
  const varve_operation operation = operation_of(state, one, json_text(one, "kind"));
  varve_table* const table = table_of(state);
  if (json_member(one, "only_if") == NULL) return varve_transaction_add(state->transaction, table, &operation);
  return varve_transaction_add_if(state->transaction, table, &operation, member_text(state, one, "only_if"));
}

static varve_status* do_execute(struct state* state, const json* list) {
  const size_t count = json_count(list);
  varve_operation* const operations = keep(state, count * sizeof *operations);
  varve_text* const conditions = keep(state, count * sizeof *conditions);
  bool has_condition = false;
  for (size_t i = 0; i < count; ++i) {
    const json* const one = json_at(list, i);
    operations[i] = operation_of(state, one, json_text(one, "kind"));
    conditions[i] = member_text(state, one, "only_if");
    has_condition = has_condition || json_member(one, "only_if") != NULL;
  }
  if (!has_condition) return varve_table_execute(table_of(state), operations, count, NULL, NULL);
  const varve_group_writes writes = {
      .size = sizeof writes, .operations = operations, .operation_count = count, .conditions = conditions};
  return varve_table_execute_with(table_of(state), &writes, NULL, NULL, NULL);
}

static varve_status* do_step(struct state* state, const json* step) {
  const char* const verb = json_text(step, "do");
  const varve_text name = member_text(state, step, "name");
  if (strcmp(verb, "scan") == 0) return check_scan(state, step);
  if (strcmp(verb, "count") == 0) return check_count(state, step);
  if (strcmp(verb, "get") == 0) return check_get(state, step);
  if (strcmp(verb, "get_many") == 0) return check_keys(state, step, false);
  if (strcmp(verb, "read") == 0) return check_keys(state, step, true);
  if (strcmp(verb, "restrict") == 0) return restrict_table(state, step);
  if (strcmp(verb, "parse") == 0) return check_parse(step);
  if (strcmp(verb, "check") == 0) return check_in_transaction(state, step);
  if (strcmp(verb, "begin") == 0) return varve_transaction_begin(state->store, &state->transaction);
  if (strcmp(verb, "commit") == 0) return varve_transaction_commit(state->transaction, NULL, NULL);
  if (strcmp(verb, "create_table") == 0) return varve_table_create(state->store, text("acct"), name, NULL);
  if (strcmp(verb, "drop_table") == 0) return varve_table_drop(state->store, text("acct"), name);
  if (strcmp(verb, "create_account") == 0) return varve_account_create(state->store, name);
  if (strcmp(verb, "drop_account") == 0) return varve_account_drop(state->store, name);
  if (strcmp(verb, "open_table") == 0) {
    varve_table* opened = NULL;
    varve_status* const failed = varve_table_open(state->store, text("acct"), name, &opened);
    varve_table_free(opened);
    return failed;
  }
  if (strcmp(verb, "add") == 0) return do_add(state, json_member(step, "operation"));
  if (strcmp(verb, "execute") == 0) return do_execute(state, json_member(step, "operations"));
  if (json_member(step, "only_if") != NULL) return do_write_if(state, step, verb);
  if (strcmp(verb, "remove") == 0) {
    return varve_table_remove(table_of(state), member_text(state, step, "pk"), member_text(state, step, "rk"),
                              match_of(state, step), NULL);
  }
  return do_write(state, step, verb);
}

static void run_case(varve_store* store, const json* test, int number) {
  struct state* const state = calloc(1, sizeof *state);
  char table[32];
  snprintf(table, sizeof table, "Case%d", number);
  state->store = store;
  state->table = new_table(store, table);
  const json* const steps = json_member(test, "steps");
  for (size_t i = 0; i < json_count(steps); ++i) {
    const json* const step = json_at(steps, i);
    const int before = check_failures();
    varve_status* const status = do_step(state, step);
    const char* const code = json_text(step, "code");
    const char* const error = json_text(step, "error");
    CHECK(strcmp(varve_code_name(varve_status_code(status)), code == NULL ? "Ok" : code) == 0);
    CHECK(strcmp(varve_status_service_error(status), error == NULL ? "" : error) == 0);
    if (json_member(step, "index") != NULL) {
      CHECK((double)varve_status_operation_index(status) == json_number(step, "index", -1));
    }
    if (check_failures() != before) {
      fprintf(stderr, "  in case %s, step %zu: %s\n", json_text(test, "case"), i, varve_status_text(status));
    }
    varve_status_free(status);
    while (state->memory_count > 0) free(state->memory[--state->memory_count]);
  }
  varve_transaction_free(state->transaction);
  varve_table_free(state->restricted);
  varve_table_free(state->table);
  free(state);
}

void conformance_suite(void) {
  char path[128];
  snprintf(path, sizeof path, "%s/store", new_directory());
  const varve_store_options options = {
      .size = sizeof options, .create_if_absent = true, .default_durability = VARVE_BUFFERED};
  varve_store* store = NULL;
  if (!CHECK_OK(varve_store_open(text(path), &options, &store))) return;
  CHECK_OK(varve_account_create(store, text("acct")));
  glob_t files;
  if (!CHECK(glob(VARVE_CONFORMANCE "/*.jsonl", 0, NULL, &files) == 0)) return;
  int number = 0;
  char* line = NULL;
  size_t capacity = 0;
  for (size_t i = 0; i < files.gl_pathc; ++i) {
    FILE* const file = fopen(files.gl_pathv[i], "r");
    if (!CHECK(file != NULL)) continue;
    while (getline(&line, &capacity, file) > 0) {
      json* const test = json_read(line);
      run_case(store, test, ++number);
      json_free(test);
    }
    fclose(file);
  }
  free(line);
  globfree(&files);
  CHECK(number >= 150);
  CHECK_OK(varve_store_close(store));
}
