// Owns: the encoding of table properties (table_properties.h).
// Must never: lose an unknown field.
#include "format/table/table_properties.h"

#include "format/bytes/ordered_fields.h"

namespace varve::format {
namespace {

constexpr std::string_view kThing = "table properties";

enum PropertyTag : Tag {
  kEntriesTag = 1,
  kTombstonesTag = 3,
  kSmallestVersionTag = 5,
  kLargestVersionTag = 7,
  kSmallestKeyTag = 9,
  kLargestKeyTag = 11,
  kRunsTag = 13,
  kBlocksTag = 15,
  kDataBytesTag = 17,
  kRawBytesTag = 19,
  kKeyBytesTag = 21,
  kValueBytesTag = 23,
  kDictionariesTag = 25,
  kTablesTag = 27,
  kEndsOfFileTag = 29,
};

enum DictionaryFieldTag : Tag {
  kHashTag = 1,
  kOffsetTag = 3,
  kBytesTag = 5,
};

std::string encode_dictionary(const DictionaryEntry& dictionary) {
  std::string bytes;
  OrderedFieldWriter fields(bytes, dictionary.unknown_fields);
  fields.number(kHashTag, dictionary.content_hash);
  fields.number(kOffsetTag, dictionary.block.offset);
  fields.number(kBytesTag, dictionary.block.bytes);
  fields.finish();
  return bytes;
}

Result<DictionaryEntry> decode_dictionary(std::string_view bytes) {
  DictionaryEntry dictionary;
  OrderedFieldReader fields("dictionary of a table file", bytes);
  fields.require_number(kHashTag, &dictionary.content_hash);
  fields.require_number(kOffsetTag, &dictionary.block.offset);
  fields.require_number(kBytesTag, &dictionary.block.bytes);
  if (Status read = fields.finish(&dictionary.unknown_fields); !read.ok()) return read;
  return dictionary;
}

}  // namespace

std::string encode_table_properties(const TableProperties& properties) {
  std::string bytes;
  OrderedFieldWriter fields(bytes, properties.unknown_fields);
  fields.number(kEntriesTag, properties.entry_count);
  fields.number(kTombstonesTag, properties.tombstone_count);
  fields.number(kSmallestVersionTag, properties.smallest_version);
  fields.number(kLargestVersionTag, properties.largest_version);
  fields.bytes(kSmallestKeyTag, properties.smallest_key);
  fields.bytes(kLargestKeyTag, properties.largest_key);
  fields.number(kRunsTag, properties.run_count);
  fields.number(kBlocksTag, properties.block_count);
  fields.number(kDataBytesTag, properties.data_bytes);
  fields.number(kRawBytesTag, properties.raw_bytes);
  fields.number(kKeyBytesTag, properties.key_bytes);
  fields.number(kValueBytesTag, properties.value_bytes);
  for (const DictionaryEntry& dictionary : properties.dictionaries) {
    fields.bytes(kDictionariesTag, encode_dictionary(dictionary));
  }
  fields.number(kTablesTag, properties.table_count);
  if (properties.ends.count > 0) {
    std::string ends;
    append_ends(ends, properties.ends);
    fields.bytes(kEndsOfFileTag, ends);
  }
  fields.finish();
  return bytes;
}

Result<TableProperties> decode_table_properties(std::string_view content) {
  TableProperties properties;
  OrderedFieldReader fields(kThing, content);
  std::string_view key;
  fields.require_number(kEntriesTag, &properties.entry_count);
  fields.require_number(kTombstonesTag, &properties.tombstone_count);
  fields.require_version(kSmallestVersionTag, &properties.smallest_version);
  fields.require_version(kLargestVersionTag, &properties.largest_version);
  fields.require(kSmallestKeyTag, &key);
  properties.smallest_key = key;
  fields.require(kLargestKeyTag, &key);
  properties.largest_key = key;
  fields.require_number(kRunsTag, &properties.run_count);
  fields.require_number(kBlocksTag, &properties.block_count);
  fields.require_number(kDataBytesTag, &properties.data_bytes);
  fields.require_number(kRawBytesTag, &properties.raw_bytes);
  fields.require_number(kKeyBytesTag, &properties.key_bytes);
  fields.require_number(kValueBytesTag, &properties.value_bytes);
  for (std::string_view bytes; fields.take(kDictionariesTag, &bytes);) {
    Result<DictionaryEntry> dictionary = decode_dictionary(bytes);
    if (!dictionary.ok()) return dictionary.status();
    properties.dictionaries.push_back(*std::move(dictionary));
  }
  fields.require_number(kTablesTag, &properties.table_count);
  if (std::string_view bytes; fields.take(kEndsOfFileTag, &bytes)) {
    const Result<Ends> ends = decode_ends(bytes);
    if (!ends.ok()) return ends.status();
    properties.ends = *ends;
  }
  if (Status read = fields.finish(&properties.unknown_fields); !read.ok()) return read;
  return properties;
}

}  // namespace varve::format
