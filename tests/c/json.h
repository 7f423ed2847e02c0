/* Owns: a small reader of JSON for the C tests. The input is trusted: a malformed text ends the program. */
#ifndef VARVE_TESTS_C_JSON_H
#define VARVE_TESTS_C_JSON_H

#include <stdbool.h>
#include <stddef.h>

typedef struct json json;
struct json {
  enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT } kind;
  double number; /* also 0 and 1 of a JSON_BOOL */
  char* text;    /* of a JSON_TEXT, and the name of a member; may contain zeros */
  size_t size;
  char* name;
  json* first; /* element or member */
  json* next;
};

/* Reads one value. json_free() frees it. */
json* json_read(const char* text);
void json_free(json* value);
/* Returns the member, or NULL. */
const json* json_member(const json* object, const char* name);
/* Returns the text of a member, or NULL. */
const char* json_text(const json* object, const char* name);
double json_number(const json* object, const char* name, double otherwise);
/* Returns the element at this place, or NULL. */
const json* json_at(const json* array, size_t place);
size_t json_count(const json* array);

#endif
