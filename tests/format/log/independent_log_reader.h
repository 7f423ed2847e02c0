// Owns: a second reader of log segments, written only from FORMAT.md: it proves that the document is sufficient.
// Must never: include a header of format/. It shares only xxHash with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <xxhash.h>

namespace independent {

using Bytes = std::string;
using U64 = std::uint64_t;

/// The errors of a reader of FORMAT.md: damage, and unsupported content.
struct Damage : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Section 1.

inline U64 little_endian(const Bytes& bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || size > bytes.size() - at) throw Damage("a number runs past the end");
  U64 value = 0;
  for (std::size_t i = size; i > 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  return value;
}

inline U64 big_endian(const Bytes& bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || size > bytes.size() - at) throw Damage("a number runs past the end");
  U64 value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

inline U64 content_hash(const Bytes& bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

inline U64 checksum(U64 seed, U64 offset, const Bytes& bytes) {
  Bytes place;
  for (unsigned shift = 0; shift < 64; shift += 8) place.push_back(static_cast<char>(offset >> shift & 0xff));
  return content_hash(bytes) + XXH3_64bits_withSeed(place.data(), place.size(), seed);
}

/// Returns whether the bytes are zero. Bytes after the end of the file do not count.
inline bool all_zero(const Bytes& bytes, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to && i < bytes.size(); ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

/// A cursor over bytes.
struct Cursor {
  const Bytes& bytes;
  std::size_t at = 0;

  bool at_end() const { return at == bytes.size(); }
  unsigned byte() {
    if (at_end()) throw Damage("a byte is missing");
    return static_cast<unsigned char>(bytes[at++]);
  }
  U64 varint() {
    U64 value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const unsigned next = byte();
      if (shift == 63 && next > 1) throw Damage("a varint above 64 bits");
      value |= static_cast<U64>(next & 0x7f) << shift;
      if (next < 0x80) {
        if (next == 0 && shift > 0) throw Damage("a varint that is not the shortest");
        return value;
      }
    }
    throw Damage("a varint of more than ten bytes");
  }
  Bytes take(U64 size) {
    if (size > bytes.size() - at) throw Damage("bytes run past the end");
    const std::size_t start = at;
    at += static_cast<std::size_t>(size);
    return bytes.substr(start, static_cast<std::size_t>(size));
  }
  Bytes sized() { return take(varint()); }
};

// Section 9.

/// Reads one text of a key and its end.
inline Bytes key_text(Cursor& cursor) {
  Bytes text;
  while (true) {
    unsigned next = cursor.byte();
    if (next == 0x00) return text;
    if (next == 0x01) {
      next = cursor.byte();
      if (next != 0x01 && next != 0x02) throw Damage("an escape that does not exist");
      --next;
    } else if (next == 0xf5 || next == 0xf6) {
      next = next - 0xf5 + 0xee;
    } else if (next == 0xee || next == 0xef || next > 0xf6) {
      throw Damage("a byte that no text has");
    }
    text.push_back(static_cast<char>(next));
  }
}

struct Property {
  Bytes name;
  unsigned type = 0;
  Bytes value;
};

inline std::vector<Property> read_entity(const Bytes& entity) {
  Cursor head{entity};
  if (head.byte() != 1) throw Unsupported("entity encoding");
  if (head.byte() != 0) throw Unsupported("entity flags");
  const std::size_t count = little_endian(entity, 2, 2);
  std::vector<Property> properties;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t slot = 4 + 8 * i;
    const U64 type_and_size = little_endian(entity, slot + 2, 2);
    const std::size_t name_at = little_endian(entity, slot + 4, 4);
    const std::size_t end = i + 1 < count ? little_endian(entity, slot + 12, 4) : entity.size();
    const std::size_t name_bytes = type_and_size >> 4;
    if (end > entity.size() || name_at > end || name_bytes > end - name_at) throw Damage("a property does not fit");
    if (i == 0 && name_at != 4 + 8 * count) throw Damage("a gap behind the slots");
    Property property;
    property.name = entity.substr(name_at, name_bytes);
    property.type = static_cast<unsigned>(type_and_size & 0xf);
    property.value = entity.substr(name_at + name_bytes, end - name_at - name_bytes);
    if (property.type < 1 || property.type > 8) throw Unsupported("property type");
    if (little_endian(entity, slot, 2) != (content_hash(property.name) & 0xffff)) throw Damage("hash of a name");
    properties.push_back(property);
  }
  if (count == 0 && entity.size() != 4) throw Damage("bytes behind an entity without properties");
  return properties;
}

struct Operation {
  unsigned kind = 0;
  U64 table = 0;  // of put, delete and adopt
  Bytes partition_key;
  Bytes row_key;
  Bytes value;   // of a put
  Bytes prefix;  // of a retire
};

struct Commit {
  U64 version = 0;
  Bytes tag;
  std::vector<Operation> operations;
};

inline void read_key(const Bytes& key, Operation& operation) {
  operation.table = big_endian(key, 0, 8);
  Cursor cursor{key, 8};
  operation.partition_key = key_text(cursor);
  operation.row_key = key_text(cursor);
  if (!cursor.at_end()) throw Damage("bytes behind a sort key");
}

inline Operation read_operation(Cursor& cursor) {
  Operation operation;
  operation.kind = cursor.byte();
  switch (operation.kind) {
    case 1:
      read_key(cursor.sized(), operation);
      operation.value = cursor.sized();
      break;
    case 2: read_key(cursor.sized(), operation); break;
    case 64:
      operation.prefix = cursor.sized();
      if (operation.prefix.size() != 4 && operation.prefix.size() != 8) throw Damage("an id prefix of no such size");
      break;
    case 65: operation.table = big_endian(cursor.take(8), 0, 8); break;
    default: throw Unsupported("kind " + std::to_string(operation.kind));
  }
  return operation;
}

inline Commit read_batch(const Bytes& batch) {
  Cursor cursor{batch};
  Commit commit;
  const unsigned flags = cursor.byte();
  if (flags > 1) throw Unsupported("batch flags");
  if (flags == 1) {
    commit.tag = cursor.sized();
    if (commit.tag.empty() || commit.tag.size() > 1024) throw Damage("a tag of no such size");
  }
  for (U64 left = cursor.varint(); left > 0; --left) commit.operations.push_back(read_operation(cursor));
  if (!cursor.at_end()) throw Damage("bytes behind a batch");
  return commit;
}

// Section 5.

struct Record {
  U64 offset = 0;
  U64 size = 0;
  unsigned type = 0;
  std::map<U64, U64> fields;  // tags 1 to 15
  std::vector<Commit> commits;

  U64 field(U64 tag) const {
    const auto found = fields.find(tag);
    return found == fields.end() ? 0 : found->second;
  }
};

inline std::map<U64, U64> read_fields(const Bytes& bytes) {
  std::map<U64, U64> fields;
  U64 last_tag = 0;
  for (Cursor cursor{bytes}; !cursor.at_end();) {
    const U64 tag = cursor.varint();
    const Bytes value = cursor.sized();
    if (tag == 0 || tag > 0xffffffff || tag < last_tag) throw Damage("a tag that cannot stand here");
    if (tag % 2 == 1 && tag > 15) throw Unsupported("tag " + std::to_string(tag));
    const bool twice = tag == last_tag;
    last_tag = tag;
    if (tag % 2 == 0) continue;
    if (twice) throw Damage("a field stands twice");
    Cursor number{value};
    fields[tag] = number.varint();
    if (!number.at_end()) throw Damage("a field is more than a number");
    if (tag != 1 && fields[tag] == 0) throw Damage("a field stands as zero");
    if ((tag == 3 || tag == 5 || tag == 7) && fields[tag] > (U64{1} << 62) - 1) throw Damage("no commit version");
  }
  if (fields.count(1) == 0) throw Damage("no file number");
  return fields;
}

inline std::vector<Commit> read_group(const Record& record, const Bytes& payload) {
  std::vector<Commit> commits;
  U64 last = 0;
  for (Cursor cursor{payload}; !cursor.at_end();) {
    const U64 version = record.field(3) + cursor.varint();
    if (commits.empty() ? version != record.field(3) : version <= last) throw Damage("versions of a group");
    commits.push_back(read_batch(cursor.sized()));
    commits.back().version = last = version;
  }
  if (commits.empty() || last == 0 || last != record.field(5)) throw Damage("versions of a group");
  return commits;
}

/// Returns whether there is an intact record at `offset`, and stores it in `record`. Throws the errors of section 5
/// about intact records.
inline bool read_record(const Bytes& file, U64 offset, U64 seed, Record* record) {
  const U64 rest = file.size() - offset;
  if (rest < 16) return false;
  const U64 h = little_endian(file, offset + 8, 2);
  if (h < 16 || h > 512 || h > rest) return false;
  if (little_endian(file, offset, 8) != checksum(seed, offset, file.substr(offset + 8, h - 8))) return false;
  const U64 p = little_endian(file, offset + 12, 4);
  const U64 size = (h + p + 8 + 7) / 8 * 8;
  if (p > 67108864 || size > rest) return false;
  const Bytes payload = file.substr(offset + h, p);
  if (little_endian(file, offset + h + p, 8) != checksum(seed, offset + h, payload)) return false;
  if (!all_zero(file, offset + h + p + 8, offset + size)) return false;

  record->offset = offset;
  record->size = size;
  record->type = static_cast<unsigned char>(file[offset + 10]);
  if (record->type < 1 || record->type > 4) throw Unsupported("record type");
  if (file[offset + 11] != 0) throw Unsupported("record flags");
  record->fields = read_fields(file.substr(offset + 16, h - 16));
  record->commits.clear();
  if ((record->type == 2 || record->type == 3) && p != 0) throw Damage("a payload where the type has none");
  if (record->type == 1) record->commits = read_group(*record, payload);
  return true;
}

// Section 6.

struct Segment {
  U64 number = 0;
  U64 seed = 0;
  std::vector<Record> records;
  bool sealed = false;
  /// For a sealed segment, the end of its footer's sector. Otherwise, the end of its last record.
  U64 end = 4096;
  /// For a segment that is not sealed, the offset at which the next record would be.
  U64 hole = 4096;
  /// Whether bytes after the hole prove that it was once written.
  bool damaged = false;

  U64 previous() const { return records.empty() ? 0 : records.back().offset; }
};

inline void read_file_header(const Bytes& file, Segment& segment) {
  const unsigned char magic[8] = {0x56, 0x41, 0x52, 0x56, 0x45, 0x0d, 0x0a, 0x1a};
  if (file.size() < 4096) throw Damage("shorter than a header sector");
  for (std::size_t i = 0; i < 8; ++i) {
    if (static_cast<unsigned char>(file[i]) != magic[i]) throw Damage("not a Varve file");
  }
  segment.seed = little_endian(file, 16, 8);
  segment.number = little_endian(file, 24, 8);
  if (little_endian(file, 56, 8) != checksum(segment.seed, 0, file.substr(0, 56))) throw Damage("file header");
  if (little_endian(file, 8, 2) != 3) throw Damage("not a log segment");
  if (little_endian(file, 10, 2) > 1) throw Unsupported("newer format version");
  if (little_endian(file, 10, 2) == 0) throw Damage("format version 0");
  if (!all_zero(file, 12, 16) || !all_zero(file, 32, 56)) throw Damage("bytes that must be zero");
  if (!all_zero(file, 64, 4096)) throw Damage("bytes behind the file header");
  if (file.size() % 4096 != 0) throw Damage("a segment that does not end with a sector");
}

/// Step 7.
inline void check_footer(const Bytes& file, const Segment& segment, const Record& footer) {
  U64 last_version = 0;
  for (const Record& record : segment.records) {
    if (record.type == 1) last_version = record.field(5);
  }
  if (footer.offset % 4096 != 0) throw Damage("a footer that is no write of its own");
  if (footer.field(9) != footer.offset) throw Damage("a footer behind what was not durable");
  if (footer.field(5) != last_version) throw Damage("a footer of another last version");
  const U64 sector_end = footer.offset + 4096;
  const bool may_be_torn = file.size() > sector_end;  // it was not cut yet
  if (!all_zero(file, may_be_torn ? sector_end : footer.offset + footer.size, file.size())) {
    throw Damage("bytes behind a footer");
  }
}

/// Steps 1 to 7. Afterwards `hole` is the offset at which the records end.
inline void walk(const Bytes& file, Segment& segment) {
  U64 x = 4096;
  while (true) {
    segment.hole = x;
    if (x >= file.size()) return;
    if (all_zero(file, x, x + 8)) {
      const U64 sector_end = (x / 4096 + 1) * 4096;
      if (x % 4096 == 0 || !all_zero(file, x, sector_end)) return;
      x = sector_end;
      continue;
    }
    Record record;
    try {
      if (!read_record(file, x, segment.seed, &record)) return;
    } catch (const Damage&) {
      return;
    }
    if (record.field(15) != segment.previous()) return;
    if (record.type == 4 || record.field(1) != segment.number) throw Damage("a record of another file");
    if (record.field(9) > x) throw Damage("a record that calls later bytes durable");
    segment.records.push_back(record);
    x += record.size;
    segment.end = x;
    if (record.type != 3) continue;
    check_footer(file, segment, record);
    segment.end = (x + 4095) / 4096 * 4096;
    segment.sealed = true;
    return;
  }
}

/// Returns the intact records after the hole.
inline std::vector<Record> records_behind(const Bytes& file, const Segment& segment) {
  std::vector<Record> found;
  for (U64 sector = (segment.hole + 4095) / 4096 * 4096; sector < file.size(); sector += 4096) {
    Record record;
    for (U64 at = sector; at < file.size() && read_record(file, at, segment.seed, &record); at += record.size) {
      found.push_back(record);
    }
  }
  return found;
}

/// Decides between torn tail and damage, for a segment that is not sealed, by its own bytes.
inline void judge(const Bytes& file, Segment& segment) {
  const std::vector<Record> behind = records_behind(file, segment);
  const U64 sector_end = (segment.end + 4095) / 4096 * 4096;
  for (const Record& record : behind) {
    if (record.field(15) >= segment.end && record.field(15) < sector_end) segment.hole = segment.end;
  }
  segment.damaged = file.size() < 1048576;
  for (const Record& record : behind) {
    if (record.field(9) > segment.hole || record.field(15) < segment.previous()) segment.damaged = true;
  }
}

inline Segment read_segment(const Bytes& file) {
  Segment segment;
  read_file_header(file, segment);
  walk(file, segment);
  if (!segment.sealed) judge(file, segment);
  return segment;
}

}  // namespace independent
