// Owns: the encoding of one manifest edit (manifest_edit.h).
// Must never: use more memory than a small multiple of the bytes that it reads.
#include "format/log/manifest_edit.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "format/bytes/bytes.h"
#include "format/bytes/ordered_fields.h"
#include "format/keys/batch.h"
#include "format/keys/index_key.h"
#include "format/keys/sort_key.h"

namespace varve::format {
namespace {

constexpr std::size_t kFeaturesBytes = 24;

/// Writes fields by their lists, the functions describe() below.
class WrittenFields {
 public:
  template <typename T>
  using Of = const T;

  WrittenFields(std::string& out, std::string_view unknown_fields) : writer_(out, unknown_fields) {}
  void finish() { writer_.finish(); }

  void number(Tag tag, std::uint64_t value) { writer_.number(tag, value); }
  void version(Tag tag, CommitVersion value) { writer_.number(tag, value); }
  void level(Tag tag, std::uint32_t value) { writer_.number(tag, value); }
  void bytes(Tag tag, std::string_view value) { writer_.bytes(tag, value); }
  bool bytes_if_any(Tag tag, std::string_view value) {
    if (!value.empty()) writer_.bytes(tag, value);
    return !value.empty();
  }
  void prefix(Tag tag, std::string_view value) {
    assert(is_id_prefix(value));
    writer_.bytes(tag, value);
  }
  void value_files(Tag tag, const ValueFileUses& uses) {
    if (!uses.empty()) writer_.bytes(tag, encode_value_file_uses(uses));
  }
  void ends(Tag tag, const Ends& ends) {
    if (ends.count == 0) return;
    std::string bytes;
    append_ends(bytes, ends);
    writer_.bytes(tag, bytes);
  }
  void store_id(Tag tag, const std::optional<StoreId>& id) {
    if (id) writer_.bytes(tag, {reinterpret_cast<const char*>(id->data()), id->size()});
  }
  void features(Tag tag, const std::optional<Features>& features) {
    if (!features) return;
    std::string bits;
    append_u64(bits, features->compatible);
    append_u64(bits, features->read_compatible);
    append_u64(bits, features->incompatible);
    writer_.bytes(tag, bits);
  }
  void optional_number(Tag tag, const std::optional<std::uint64_t>& number) {
    if (number) writer_.number(tag, *number);
  }
  void optional_version(Tag tag, const std::optional<CommitVersion>& version) { optional_number(tag, version); }
  void flag(Tag tag, bool flag) {
    if (flag) writer_.number(tag, 1);
  }
  template <typename T>
  void optional(Tag tag, std::string_view thing, const std::optional<T>& value) {
    if (value) write(tag, thing, *value);
  }
  template <typename T>
  void list(Tag tag, std::string_view thing, const std::vector<T>& list) {
    for (const T& entry : list) write(tag, thing, entry);
  }
  void numbers(Tag tag, const std::vector<std::uint64_t>& numbers) {
    for (const std::uint64_t number : numbers) writer_.number(tag, number);
  }
  void prefixes(Tag tag, const std::vector<std::string>& prefixes) {
    for (const std::string& value : prefixes) prefix(tag, value);
  }

  /// Does nothing, because only a reader checks.
  void refuse(Code /*code*/, std::string_view /*message*/) noexcept {}

 private:
  template <typename T>
  void write(Tag tag, std::string_view /*thing*/, const T& value) {
    std::string out;
    WrittenFields fields(out, value.unknown_fields);
    describe(fields, value);
    fields.finish();
    writer_.bytes(tag, out);
  }

  OrderedFieldWriter writer_;
};

/// Reads fields by the same lists.
class ReadFields {
 public:
  template <typename T>
  using Of = T;

  ReadFields(std::string_view thing, std::string_view bytes) : reader_(thing, bytes) {}
  Status finish(std::string* unknown_fields) { return reader_.finish(unknown_fields); }

  void number(Tag tag, std::uint64_t& value) { reader_.require_number(tag, &value); }
  void version(Tag tag, CommitVersion& value) { reader_.require_version(tag, &value); }
  void level(Tag tag, std::uint32_t& value) {
    std::uint64_t level = 0;
    reader_.require_number(tag, &level);
    if (level > std::numeric_limits<std::uint32_t>::max()) refuse(Code::kCorruption, "level is over 32 bits");
    value = static_cast<std::uint32_t>(level);
  }
  void bytes(Tag tag, std::string& value) {
    std::string_view bytes;
    reader_.require(tag, &bytes);
    value = bytes;
  }
  bool bytes_if_any(Tag tag, std::string& value) {
    std::string_view bytes;
    const bool any = reader_.take(tag, &bytes);
    if (any) value = bytes;
    return any;
  }
  void prefix(Tag tag, std::string& value) {
    bytes(tag, value);
    if (!is_id_prefix(value)) refuse(Code::kCorruption, "prefix is neither 4 nor 8 bytes");
  }
  void value_files(Tag tag, ValueFileUses& uses) {
    std::string_view bytes;
    if (!reader_.take(tag, &bytes)) return;
    Result<ValueFileUses> decoded = decode_value_file_uses(bytes);
    if (!decoded.ok()) return refuse(decoded.code(), decoded.status().message());
    uses = *std::move(decoded);
  }
  void ends(Tag tag, Ends& ends) {
    std::string_view bytes;
    if (!reader_.take(tag, &bytes)) return;
    const Result<Ends> decoded = decode_ends(bytes);
    if (!decoded.ok()) return refuse(decoded.code(), decoded.status().message());
    ends = *decoded;
  }
  void store_id(Tag tag, std::optional<StoreId>& id) {
    std::string_view bytes;
    if (!reader_.take(tag, &bytes)) return;
    if (bytes.size() != sizeof(StoreId)) return refuse(Code::kCorruption, "store id is not 16 bytes");
    std::copy(bytes.begin(), bytes.end(), id.emplace().begin());
  }
  void features(Tag tag, std::optional<Features>& features) {
    std::string_view bits;
    if (!reader_.take(tag, &bits)) return;
    if (bits.size() != kFeaturesBytes) return refuse(Code::kCorruption, "features are not 24 bytes");
    features = Features{load_u64(bits.data()), load_u64(bits.data() + 8), load_u64(bits.data() + 16)};
  }
  void optional_number(Tag tag, std::optional<std::uint64_t>& number) {
    if (std::uint64_t value = 0; reader_.take_number(tag, &value)) number = value;
  }
  /// A flag that is not set is left out.
  void flag(Tag tag, bool& flag) {
    std::uint64_t value = 0;
    flag = reader_.take_number(tag, &value);
    if (flag && value != 1) refuse(Code::kCorruption, "a flag is not 1");
  }
  void optional_version(Tag tag, std::optional<CommitVersion>& version) {
    optional_number(tag, version);
    if (version.value_or(0) <= kCommitVersionMax) return;
    refuse(Code::kCorruption, "field " + std::to_string(tag) + " is above the greatest commit version");
  }
  template <typename T>
  void optional(Tag tag, std::string_view thing, std::optional<T>& value) {
    if (T read_value; read(tag, thing, &read_value)) value = std::move(read_value);
  }
  template <typename T>
  void list(Tag tag, std::string_view thing, std::vector<T>& list) {
    for (T entry; read(tag, thing, &entry); entry = T()) list.push_back(std::move(entry));
  }
  void numbers(Tag tag, std::vector<std::uint64_t>& numbers) {
    std::uint64_t number = 0;
    while (reader_.take_number(tag, &number)) numbers.push_back(number);
  }
  void prefixes(Tag tag, std::vector<std::string>& prefixes) {
    std::string_view prefix;
    while (reader_.take(tag, &prefix)) {
      if (!is_id_prefix(prefix)) return refuse(Code::kCorruption, "removed dead id is neither 4 nor 8 bytes");
      prefixes.emplace_back(prefix);
    }
  }

  void refuse(Code code, std::string_view message) { reader_.refuse(code, message); }

 private:
  template <typename T>
  bool read(Tag tag, std::string_view thing, T* value) {
    std::string_view bytes;
    if (!reader_.take(tag, &bytes)) return false;
    ReadFields fields(thing, bytes);
    describe(fields, *value);
    const Status read = fields.finish(&value->unknown_fields);
    if (!read.ok()) refuse(read.code(), read.message());
    return read.ok();
  }

  OrderedFieldReader reader_;
};

// The list of each struct's fields, for both directions. The structs' comments in the header name the fields.

template <typename Fields>
void describe(Fields& fields, typename Fields::template Of<AnnouncedSegment>& segment) {
  fields.number(1, segment.number);
  fields.number(3, segment.seed);
  fields.flag(5, segment.is_recycled);
}

template <typename Fields>
void describe(Fields& fields, typename Fields::template Of<ClosedSegment>& segment) {
  fields.number(1, segment.number);
  fields.number(3, segment.size_bytes);
  fields.version(5, segment.last_version);
}

template <typename Fields>
void describe(Fields& fields, typename Fields::template Of<LogBufferEntry>& buffer) {
  fields.number(1, buffer.number);
  fields.number(3, buffer.seed);
}

/// Checks the relations between the fields of one table file.
template <typename Fields>
void check_bounds(Fields& fields, const TableFileEntry& table) {
  for (const std::string_view key : {std::string_view(table.smallest_key), std::string_view(table.largest_key)}) {
    if (key.size() > kAnyKeyBytesMax || !is_framed(key)) {
      return fields.refuse(Code::kCorruption, "a bound is not a sort key");
    }
  }
  if (table.smallest_key > table.largest_key) fields.refuse(Code::kCorruption, "smallest key is above the largest");
  if (table.smallest_version > table.largest_version) {
    fields.refuse(Code::kCorruption, "smallest version is above the largest");
  }
  if (table.ends.count > 0 &&
      (table.tombstone_count > table.entry_count || table.ends.count > table.entry_count - table.tombstone_count)) {
    fields.refuse(Code::kCorruption, "more entries have an end than are puts");
  }
  if (table.first_table > table.last_table) fields.refuse(Code::kCorruption, "first table id is above the last");
}

template <typename Fields>
void describe(Fields& fields, typename Fields::template Of<TableFileEntry>& table) {
  fields.level(1, table.level);
  fields.number(3, table.number);
  fields.number(5, table.seed);
  fields.number(7, table.size_bytes);
  fields.number(9, table.content_hash);
  fields.bytes(11, table.smallest_key);
  fields.bytes(13, table.largest_key);
  fields.number(15, table.entry_count);
  fields.number(17, table.tombstone_count);
  fields.version(19, table.smallest_version);
  fields.version(21, table.largest_version);
  fields.number(23, table.first_table);
  fields.number(25, table.last_table);
  fields.optional_version(27, table.adopted_version);
  if (fields.bytes_if_any(28, table.origin) && table.origin.empty()) {
    fields.refuse(Code::kCorruption, "origin is empty");
  }
  fields.value_files(29, table.value_files);
  fields.ends(31, table.ends);
  check_bounds(fields, table);
}

template <typename Fields>
void describe(Fields& fields, typename Fields::template Of<MovedTable>& moved) {
  fields.number(1, moved.number);
  fields.level(3, moved.level);
}

template <typename Fields>
void describe(Fields& fields, typename Fields::template Of<DeadId>& id) {
  fields.prefix(1, id.prefix);
  fields.version(3, id.drop_version);
}

template <typename Fields>
void describe(Fields& fields, typename Fields::template Of<ValueFileEntry>& file) {
  fields.number(1, file.number);
  fields.number(3, file.seed);
  fields.number(5, file.size_bytes);
}

template <typename Fields>
void describe(Fields& fields, typename Fields::template Of<StoredOptions>& options) {
  fields.number(1, options.default_durability);
  if (options.default_durability != 1 && options.default_durability != 2) {
    fields.refuse(Code::kUnsupported,
                  "durability " + std::to_string(options.default_durability) + " is not known to this build");
  }
  fields.number(3, options.retention_ticks);
  const bool any = fields.bytes_if_any(5, options.model_options);
  if (any && (options.model_options.empty() || options.model_options.size() > kModelOptionsBytesMax)) {
    fields.refuse(Code::kCorruption, std::to_string(options.model_options.size()) + " bytes of model options; 1 to " +
                                         std::to_string(kModelOptionsBytesMax) + " are allowed");
  }
}

template <typename Fields>
void describe(Fields& fields, typename Fields::template Of<CommitTag>& tag) {
  fields.version(1, tag.version);
  fields.bytes(3, tag.bytes);
  if (tag.bytes.size() > kTagBytesMax) {
    fields.refuse(Code::kCorruption, "the tag has more than " + std::to_string(kTagBytesMax) + " bytes");
  }
}

template <typename Fields>
void describe(Fields& fields, typename Fields::template Of<ManifestEdit>& edit) {
  fields.store_id(1, edit.store_id);
  fields.features(3, edit.features);
  fields.optional_number(5, edit.file_number_ceiling);
  fields.optional_version(7, edit.version_ceiling);
  fields.optional_version(9, edit.oldest_readable_version);
  fields.optional(11, "stored options", edit.stored_options);
  fields.optional(13, "commit tag", edit.commit_tag);
  fields.optional(15, "log buffer entry", edit.log_buffer);
  fields.list(17, "announced segment", edit.announced_segments);
  fields.list(19, "closed segment", edit.closed_segments);
  fields.numbers(21, edit.removed_segments);
  fields.list(23, "table file entry", edit.added_tables);
  fields.numbers(25, edit.removed_tables);
  fields.list(27, "dead id", edit.added_dead_ids);
  fields.prefixes(29, edit.removed_dead_ids);
  fields.numbers(31, edit.added_loading_ids);
  fields.numbers(33, edit.removed_loading_ids);
  fields.list(35, "value file entry", edit.added_value_files);
  fields.numbers(37, edit.removed_value_files);
  fields.optional_version(39, edit.flushed_version);
  fields.list(41, "moved table entry", edit.moved_tables);
}

}  // namespace

std::string encode_manifest_edit(const ManifestEdit& edit) {
  std::string out;
  WrittenFields fields(out, edit.unknown_fields);
  describe(fields, edit);
  fields.finish();
  return out;
}

Result<ManifestEdit> decode_manifest_edit(std::string_view bytes) {
  ManifestEdit edit;
  ReadFields fields("manifest edit", bytes);
  describe(fields, edit);
  if (Status read = fields.finish(&edit.unknown_fields); !read.ok()) return read;
  return edit;
}

}  // namespace varve::format
