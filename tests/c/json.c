/* Owns: the reading of json.h. */
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* room(size_t bytes) {
  void* const made = calloc(1, bytes);
  if (made == NULL) abort();
  return made;
}

static void refuse(const char* at) {
  fprintf(stderr, "malformed JSON at: %.40s\n", at);
  exit(2);
}

static const char* skip(const char* at) {
  return at + strspn(at, " \t\r\n");
}

static unsigned long hexadecimal(const char* at) {
  char digits[5] = {0};
  memcpy(digits, at, 4);
  return strtoul(digits, NULL, 16);
}

static size_t write_utf8(unsigned long c, char* to) {
  if (c < 0x80) {
    to[0] = (char)c;
    return 1;
  }
  if (c < 0x800) {
    to[0] = (char)(0xc0 | c >> 6);
    to[1] = (char)(0x80 | (c & 0x3f));
    return 2;
  }
  if (c < 0x10000) {
    to[0] = (char)(0xe0 | c >> 12);
    to[1] = (char)(0x80 | (c >> 6 & 0x3f));
    to[2] = (char)(0x80 | (c & 0x3f));
    return 3;
  }
  to[0] = (char)(0xf0 | c >> 18);
  to[1] = (char)(0x80 | (c >> 12 & 0x3f));
  to[2] = (char)(0x80 | (c >> 6 & 0x3f));
  to[3] = (char)(0x80 | (c & 0x3f));
  return 4;
}

static const char* read_text(const char* at, char** text, size_t* size) {
  if (*at != '"') refuse(at);
  *text = room(strlen(at) + 1);
  *size = 0;
  for (++at; *at != '"'; ++at) {
    if (*at == '\0') refuse(at);
    if (*at != '\\') {
      (*text)[(*size)++] = *at;
      continue;
    }
    ++at;
    const char* const known = "nrtbf\"\\/";
    const char* const found = strchr(known, *at);
    if (*at == 'u') {
      unsigned long c = hexadecimal(at + 1);
      at += 4;
      if (c >= 0xd800 && c < 0xdc00 && at[1] == '\\' && at[2] == 'u') {
        c = 0x10000 + ((c - 0xd800) << 10) + (hexadecimal(at + 3) - 0xdc00);
        at += 6;
      }
      *size += write_utf8(c, *text + *size);
    } else if (*at != '\0' && found != NULL) {
      (*text)[(*size)++] = "\n\r\t\b\f\"\\/"[found - known];
    } else {
      refuse(at);
    }
  }
  return at + 1;
}

static const char* read_value(const char* at, json* value);

static const char* read_elements(const char* at, json* value, char end) {
  json** last = &value->first;
  at = skip(at + 1);
  while (*at != end) {
    json* const element = room(sizeof *element);
    *last = element;
    last = &element->next;
    if (end == '}') {
      size_t size;
      at = skip(read_text(at, &element->name, &size));
      if (*at != ':') refuse(at);
      at = skip(at + 1);
    }
    at = skip(read_value(at, element));
    if (*at == ',') {
      at = skip(at + 1);
    } else if (*at != end) {
      refuse(at);
    }
  }
  return at + 1;
}

static const char* read_value(const char* at, json* value) {
  if (*at == '{' || *at == '[') {
    value->kind = *at == '{' ? JSON_OBJECT : JSON_ARRAY;
    return read_elements(at, value, *at == '{' ? '}' : ']');
  }
  if (*at == '"') {
    value->kind = JSON_TEXT;
    return read_text(at, &value->text, &value->size);
  }
  if (strncmp(at, "null", 4) == 0) return at + 4;
  if (strncmp(at, "true", 4) == 0 || strncmp(at, "false", 5) == 0) {
    value->kind = JSON_BOOL;
    value->number = *at == 't';
    return at + (*at == 't' ? 4 : 5);
  }
  char* end = NULL;
  value->kind = JSON_NUMBER;
  value->number = strtod(at, &end);
  if (end == at) refuse(at);
  return end;
}

json* json_read(const char* text) {
  json* const value = room(sizeof *value);
  if (*skip(read_value(skip(text), value)) != '\0') refuse(text);
  return value;
}

void json_free(json* value) {
  while (value != NULL) {
    json* const next = value->next;
    json_free(value->first);
    free(value->text);
    free(value->name);
    free(value);
    value = next;
  }
}

const json* json_member(const json* object, const char* name) {
  if (object == NULL || object->kind != JSON_OBJECT) return NULL;
  for (const json* member = object->first; member != NULL; member = member->next) {
    if (strcmp(member->name, name) == 0) return member;
  }
  return NULL;
}

const char* json_text(const json* object, const char* name) {
  const json* const member = json_member(object, name);
  return member == NULL ? NULL : member->text;
}

double json_number(const json* object, const char* name, double otherwise) {
  const json* const member = json_member(object, name);
  return member == NULL ? otherwise : member->number;
}

const json* json_at(const json* array, size_t place) {
  const json* element = array == NULL ? NULL : array->first;
  while (element != NULL && place-- > 0) element = element->next;
  return element;
}

size_t json_count(const json* array) {
  size_t count = 0;
  while (json_at(array, count) != NULL) ++count;
  return count;
}
