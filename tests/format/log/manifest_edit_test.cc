// Owns: the tests of manifest edits.
// Must never: trust an edit because its record verified. Edits that no writer creates are refused here.
#include "format/log/manifest_edit.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/bytes/tagged_fields.h"
#include "format/keys/batch.h"
#include "format/keys/index_key.h"
#include "format/log/log_record.h"
#include "tests/format/random_values.h"

namespace varve::format::manifest_edit_test {
namespace {

std::string key(TableId table, std::string_view partition, std::string_view row) {
  const Result<std::string> encoded = encode_sort_key(table, partition, row);
  EXPECT_TRUE(encoded.ok());
  return encoded.ok() ? *encoded : std::string();
}

TableFileEntry table_file() {
  TableFileEntry table;
  table.level = 2;
  table.number = 40;
  table.seed = 0x4141414141414141;
  table.size_bytes = 65536;
  table.content_hash = 0x4242424242424242;
  table.smallest_key = key(make_table_id(1, 5), "a", "1");
  table.largest_key = key(make_table_id(1, 6), "z", "9");
  table.entry_count = 1000;
  table.tombstone_count = 10;
  table.smallest_version = 100;
  table.largest_version = 200;
  table.first_table = make_table_id(1, 5);
  table.last_table = make_table_id(1, 6);
  return table;
}

TableFileEntry adopted_file() {
  TableFileEntry table = table_file();
  table.number = 41;
  table.adopted_version = 150;
  table.origin = "elsewhere";
  table.value_files = {{50, 3000}, {51, 70000}};
  return table;
}

ManifestEdit full_edit() {
  ManifestEdit edit;
  edit.store_id = StoreId{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  edit.features = Features{1, 2, 4};
  edit.file_number_ceiling = 1000;
  edit.version_ceiling = kCommitVersionMax;
  edit.oldest_readable_version = 99;
  edit.stored_options = StoredOptions{2, 864'000'000'000, "model", ""};
  edit.commit_tag = CommitTag{98, "position 17", ""};
  edit.log_buffer = LogBufferEntry{9, 0x9999, ""};
  edit.announced_segments = {{10, 0xaaaa, ""}, {11, 0xbbbb, "", true}};
  edit.closed_segments = {{8, 8192, 97, ""}};
  edit.removed_segments = {5, 6, 7};
  edit.added_tables = {table_file(), adopted_file()};
  edit.removed_tables = {30, 31};
  edit.added_dead_ids = {{std::string("\0\0\0\1", 4), 90, ""}, {std::string("\0\0\0\2\0\0\0\7", 8), 91, ""}};
  edit.removed_dead_ids = {std::string("\0\0\0\3\0\0\0\1", 8)};
  edit.added_loading_ids = {make_table_id(3, 3)};
  edit.removed_loading_ids = {make_table_id(3, 1), make_table_id(3, 2)};
  edit.added_value_files = {{50, 0x5050, 4096, ""}};
  edit.removed_value_files = {49};
  edit.flushed_version = 88;
  edit.moved_tables = {{32, 6, ""}};
  return edit;
}

/// A field with bytes of its own, so that a test may change it.
struct OwnedField {
  Tag tag = 0;
  std::string value;
};

std::vector<OwnedField> all_fields(std::string_view bytes) {
  std::vector<OwnedField> fields;
  for (FieldReader reader(bytes); !reader.at_end();) {
    const Result<Field> field = reader.next();
    EXPECT_TRUE(field.ok());
    if (!field.ok()) break;
    fields.push_back({field->tag, std::string(field->value)});
  }
  return fields;
}

std::string joined(const std::vector<OwnedField>& fields) {
  std::string bytes;
  for (const OwnedField& field : fields) append_field(bytes, field.tag, field.value);
  return bytes;
}

/// Returns the fields with one more in the order of tags.
std::string with(std::string_view bytes, Tag tag, std::string_view value) {
  std::vector<OwnedField> fields = all_fields(bytes);
  auto at = fields.begin();
  while (at != fields.end() && at->tag <= tag) ++at;
  fields.insert(at, OwnedField{tag, std::string(value)});
  return joined(fields);
}

std::string encoded(const std::function<void(ManifestEdit*)>& fill) {
  ManifestEdit edit;
  fill(&edit);
  return encode_manifest_edit(edit);
}

Code code_of(std::string_view bytes) {
  return decode_manifest_edit(bytes).code();
}

bool mentions(const Status& status, std::string_view words) {
  return status.message().find(words) != std::string_view::npos;
}

/// Returns whether the tag's value is itself a set of tagged fields.
bool is_struct(Tag tag) {
  switch (tag) {
    case 11:
    case 13:
    case 15:
    case 17:
    case 19:
    case 23:
    case 27:
    case 35:
    case 41: return true;
    default: return false;
  }
}

bool is_list(Tag tag) {
  return tag >= 17 && tag != 39;
}

std::string random_unknown(RandomValues& random) {
  std::string fields;
  for (Tag tag = 2 * static_cast<Tag>(1 + random.below(40)); random.one_in(3); tag += 2) {
    if (tag != 28) append_field(fields, tag, random.bytes(random.below(9)));
  }
  return fields;
}

TableFileEntry random_table(RandomValues& random) {
  TableFileEntry table = random.one_in(2) ? table_file() : adopted_file();
  table.level = static_cast<std::uint32_t>(random.number());
  table.number = random.number();
  table.seed = random.number();
  table.size_bytes = random.number();
  table.content_hash = random.number();
  table.entry_count = random.number();
  table.tombstone_count = random.number();
  table.largest_version = random.number() >> 2;
  table.smallest_version = random.below(table.largest_version + 1);
  if (table.adopted_version) table.adopted_version = random.number() >> 2;
  table.unknown_fields = random_unknown(random);
  return table;
}

ManifestEdit random_edit(RandomValues& random) {
  ManifestEdit edit = full_edit();
  if (random.one_in(2)) edit.store_id.reset();
  if (random.one_in(2)) edit.features.reset();
  if (random.one_in(2)) edit.file_number_ceiling = random.number();
  if (random.one_in(2)) edit.version_ceiling.reset();
  if (random.one_in(2)) edit.oldest_readable_version = random.number() >> 2;
  if (random.one_in(2))
    edit.stored_options = StoredOptions{1 + random.below(2), random.number(),
                                        random.bytes(random.below(kModelOptionsBytesMax + 1)), random_unknown(random)};
  if (random.one_in(2))
    edit.commit_tag =
        CommitTag{random.number() >> 2, random.bytes(random.below(kTagBytesMax + 1)), random_unknown(random)};
  if (random.one_in(2)) edit.log_buffer = LogBufferEntry{random.number(), random.number(), random_unknown(random)};
  if (random.one_in(2))
    edit.announced_segments.push_back({random.number(), random.number(), random_unknown(random), random.one_in(2)});
  if (random.one_in(2))
    edit.closed_segments.push_back({random.number(), random.number(), random.number() >> 2, random_unknown(random)});
  if (random.one_in(2)) edit.removed_segments.clear();
  while (random.one_in(2)) edit.added_tables.push_back(random_table(random));
  while (random.one_in(2)) edit.removed_tables.push_back(random.number());
  while (random.one_in(2))
    edit.added_dead_ids.push_back(
        {random.bytes(random.one_in(2) ? 4 : 8), random.number() >> 2, random_unknown(random)});
  while (random.one_in(2)) edit.removed_dead_ids.push_back(random.bytes(random.one_in(2) ? 4 : 8));
  while (random.one_in(2)) edit.added_loading_ids.push_back(random.number());
  while (random.one_in(2)) edit.removed_loading_ids.push_back(random.number());
  while (random.one_in(2))
    edit.added_value_files.push_back({random.number(), random.number(), random.number(), random_unknown(random)});
  while (random.one_in(2)) edit.removed_value_files.push_back(random.number());
  if (random.one_in(2)) edit.flushed_version = random.number() >> 2;
  while (random.one_in(2)) {
    edit.moved_tables.push_back({random.number(), static_cast<std::uint32_t>(random.number()), random_unknown(random)});
  }
  edit.unknown_fields = random_unknown(random);
  return edit;
}

TEST(ManifestEdit, EmptyEditIsNoBytes) {
  EXPECT_EQ(encode_manifest_edit(ManifestEdit{}), "");
  const Result<ManifestEdit> read = decode_manifest_edit("");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, ManifestEdit{});
}

TEST(ManifestEdit, EveryFieldRoundTrips) {
  const std::string bytes = encode_manifest_edit(full_edit());
  const Result<ManifestEdit> read = decode_manifest_edit(bytes);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, full_edit());
  std::vector<bool> seen(42);
  for (const OwnedField& field : all_fields(bytes)) seen.at(field.tag) = true;
  for (Tag tag = 1; tag < 42; tag += 2) EXPECT_TRUE(seen[tag]) << tag;  // The sample contains every field.
}

TEST(ManifestEdit, RandomEditsRoundTrip) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const ManifestEdit edit = random_edit(random);
    const std::string bytes = encode_manifest_edit(edit);
    const Result<ManifestEdit> read = decode_manifest_edit(bytes);
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(*read, edit);
    EXPECT_EQ(encode_manifest_edit(*read), bytes);
  }
}

TEST(ManifestEdit, UnknownEvenFieldsAreKeptAtTheTopWhereTheyStood) {
  std::string bytes = encode_manifest_edit(full_edit());
  for (const Tag tag : {2u, 2u, 16u, 24u, 38u, 100000u}) bytes = with(bytes, tag, "kept " + std::to_string(tag));
  const Result<ManifestEdit> read = decode_manifest_edit(bytes);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(encode_manifest_edit(*read), bytes);
}

TEST(ManifestEdit, UnknownEvenFieldsAreKeptInsideEveryStruct) {
  std::vector<OwnedField> fields = all_fields(encode_manifest_edit(full_edit()));
  const std::string original = joined(fields);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!is_struct(fields[i].tag)) continue;
    SCOPED_TRACE(fields[i].tag);
    for (const Tag tag : {2u, 4u, 30u, 500u}) {
      std::vector<OwnedField> changed = fields;
      changed[i].value = with(fields[i].value, tag, "kept");
      const std::string bytes = joined(changed);
      ASSERT_NE(bytes, original);
      const Result<ManifestEdit> read = decode_manifest_edit(bytes);
      ASSERT_TRUE(read.ok()) << read.status().to_string();
      EXPECT_EQ(encode_manifest_edit(*read), bytes);
    }
  }
}

TEST(ManifestEdit, UnknownOddFieldsAreUnsupportedAtTheTopAndInsideEveryStruct) {
  const std::string bytes = encode_manifest_edit(full_edit());
  for (const Tag tag : {43u, 4294967295u}) {
    const Status status = decode_manifest_edit(with(bytes, tag, "new")).status();
    EXPECT_EQ(status.code(), Code::kUnsupported);
    EXPECT_TRUE(mentions(status, std::to_string(tag))) << status.to_string();
  }
  const std::vector<OwnedField> fields = all_fields(bytes);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!is_struct(fields[i].tag)) continue;
    SCOPED_TRACE(fields[i].tag);
    std::vector<OwnedField> changed = fields;
    changed[i].value = with(fields[i].value, 99, "new");
    const Status status = decode_manifest_edit(joined(changed)).status();
    EXPECT_EQ(status.code(), Code::kUnsupported);
    EXPECT_TRUE(mentions(status, "99")) << status.to_string();
  }
}

TEST(ManifestEdit, AnAnnouncementWithoutTheFlagIsThatOfANewFile) {
  ManifestEdit edit;
  edit.announced_segments = {{10, 0xaaaa, ""}};
  const std::string plain = encode_manifest_edit(edit);
  EXPECT_FALSE((*decode_manifest_edit(plain)).announced_segments.front().is_recycled);
  edit.announced_segments.front().is_recycled = true;
  const std::string flagged = encode_manifest_edit(edit);
  EXPECT_TRUE((*decode_manifest_edit(flagged)).announced_segments.front().is_recycled);
  EXPECT_GT(flagged.size(), plain.size());
  std::string wrong = flagged;
  ASSERT_EQ(wrong.back(), '\1') << "the flag is the last byte";
  for (const char value : {'\0', '\2'}) {
    wrong.back() = value;
    EXPECT_EQ(code_of(wrong), Code::kCorruption);
  }
}

TEST(ManifestEdit, NoSingleFieldStandsTwice) {
  const std::string bytes = encode_manifest_edit(full_edit());
  for (const OwnedField& field : all_fields(bytes)) {
    if (is_list(field.tag)) continue;
    SCOPED_TRACE(field.tag);
    const Status status = decode_manifest_edit(with(bytes, field.tag, field.value)).status();
    EXPECT_EQ(status.code(), Code::kCorruption);
    EXPECT_TRUE(mentions(status, "twice")) << status.to_string();
  }
}

TEST(ManifestEdit, NoFieldOfAStructStandsTwiceOrIsMissing) {
  const std::vector<OwnedField> fields = all_fields(encode_manifest_edit(full_edit()));
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!is_struct(fields[i].tag)) continue;
    const std::vector<OwnedField> nested = all_fields(fields[i].value);
    for (std::size_t j = 0; j < nested.size(); ++j) {
      SCOPED_TRACE(std::to_string(fields[i].tag) + "." + std::to_string(nested[j].tag));
      std::vector<OwnedField> changed = fields;
      changed[i].value = with(fields[i].value, nested[j].tag, nested[j].value);
      EXPECT_EQ(code_of(joined(changed)), Code::kCorruption);

      std::vector<OwnedField> fewer = nested;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(j));
      changed[i].value = joined(fewer);
      const bool optional = (fields[i].tag == 23 && nested[j].tag >= 27) ||
                            (fields[i].tag == 11 && nested[j].tag == 5) || (fields[i].tag == 17 && nested[j].tag == 5);
      EXPECT_EQ(code_of(joined(changed)), optional ? Code::kOk : Code::kCorruption);
    }
  }
}

TEST(ManifestEdit, FieldsInFallingOrderAreCorruption) {
  const std::vector<OwnedField> fields = all_fields(encode_manifest_edit(full_edit()));
  for (std::size_t i = 0; i + 1 < fields.size(); ++i) {
    if (fields[i].tag == fields[i + 1].tag) continue;
    std::vector<OwnedField> swapped = fields;
    std::swap(swapped[i], swapped[i + 1]);
    EXPECT_EQ(code_of(joined(swapped)), Code::kCorruption) << fields[i].tag;
  }
}

TEST(ManifestEdit, CutInsideAFieldIsCorruption) {
  const std::string bytes = encode_manifest_edit(full_edit());
  std::vector<bool> field_ends(bytes.size() + 1);
  std::size_t end = 0;
  for (const OwnedField& field : all_fields(bytes)) {
    std::string one;
    append_field(one, field.tag, field.value);
    field_ends[end] = true;
    end += one.size();
  }
  for (std::size_t kept = 0; kept < bytes.size(); ++kept) {
    SCOPED_TRACE(kept);
    EXPECT_EQ(code_of(bytes.substr(0, kept)), field_ends[kept] ? Code::kOk : Code::kCorruption);
  }
}

TEST(ManifestEdit, AnyFlippedBitFailsOrChangesTheEdit) {
  // In a file the record's checksum refuses these bytes. This test shows that no two encodings have one meaning.
  const std::string bytes = encode_manifest_edit(full_edit());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const Result<ManifestEdit> read = decode_manifest_edit(flipped);
    if (!read.ok()) continue;
    EXPECT_FALSE(*read == full_edit()) << bit;
    EXPECT_EQ(encode_manifest_edit(*read), flipped) << bit;
  }
}

TEST(ManifestEdit, AnyFlippedBitOfItsRecordIsNeverAnEdit) {
  RecordHeader header;
  header.type = RecordType::kManifestEdit;
  header.file_number = 2;
  header.durable_upto = 64;
  std::string file(64, '\0');
  append_record(file, header, encode_manifest_edit(full_edit()), {77, 64});
  Record record;
  Status why;
  ASSERT_EQ(read_record(file, 64, 77, &record, &why), RecordOutcome::kRecord);
  for (std::size_t bit = 64 * 8; bit < file.size() * 8; ++bit) {
    std::string flipped = file;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(read_record(flipped, 64, 77, &record, &why), RecordOutcome::kInvalid) << bit;
  }
}

TEST(ManifestEdit, LengthsBeyondTheEndAreRefusedWithoutMemoryForThem) {
  for (const std::uint64_t length :
       {std::uint64_t{2}, std::uint64_t{1} << 31, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
    for (Tag tag = 1; tag < 40; ++tag) {
      std::string bytes;
      append_varint(bytes, tag);
      append_varint(bytes, length);
      bytes.push_back('x');
      EXPECT_EQ(code_of(bytes), Code::kCorruption) << tag << " " << length;
    }
  }
}

TEST(ManifestEdit, ValuesOutOfTheirRangesAreCorruption) {
  const std::uint64_t no_version = kCommitVersionMax + 1;
  const auto table = [](const std::function<void(TableFileEntry*)>& change) {
    TableFileEntry entry = adopted_file();
    change(&entry);
    return encoded([&](ManifestEdit* edit) { edit->added_tables = {entry}; });
  };
  ASSERT_EQ(code_of(table([](TableFileEntry*) {})), Code::kOk);
  const std::vector<std::string> wrong = {
      encoded([&](ManifestEdit* edit) { edit->version_ceiling = no_version; }),
      encoded([&](ManifestEdit* edit) { edit->oldest_readable_version = no_version; }),
      encoded([&](ManifestEdit* edit) {
        edit->commit_tag = CommitTag{no_version, "", ""};
      }),
      encoded([&](ManifestEdit* edit) {
        edit->closed_segments = {{1, 4096, no_version, ""}};
      }),
      encoded([&](ManifestEdit* edit) {
        edit->added_dead_ids = {{"1234", no_version, ""}};
      }),
      table([&](TableFileEntry* entry) { entry->smallest_version = entry->largest_version = no_version; }),
      table([&](TableFileEntry* entry) { entry->largest_version = no_version; }),
      table([&](TableFileEntry* entry) { entry->adopted_version = no_version; }),
      table([&](TableFileEntry* entry) { entry->smallest_version = entry->largest_version + 1; }),
      table([&](TableFileEntry* entry) { entry->first_table = entry->last_table + 1; }),
      table([&](TableFileEntry* entry) { entry->smallest_key = "not a key"; }),
      table([&](TableFileEntry* entry) { entry->largest_key = ""; }),
      table([&](TableFileEntry* entry) { std::swap(entry->smallest_key, entry->largest_key); }),
      table([&](TableFileEntry* entry) {
        entry->largest_key = std::string(8, '\xff') + std::string(kAnyKeyBytesMax, 'a') + std::string(2, '\0');
      }),
  };
  for (std::size_t i = 0; i < wrong.size(); ++i) EXPECT_EQ(code_of(wrong[i]), Code::kCorruption) << i;
}

TEST(ManifestEdit, BytesOfTheWrongSizeAreCorruption) {
  const auto field = [](Tag tag, std::string_view value) {
    std::string bytes;
    append_field(bytes, tag, value);
    return bytes;
  };
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string value(size, '\1');
    EXPECT_EQ(code_of(field(1, value)), size == 16 ? Code::kOk : Code::kCorruption);
    EXPECT_EQ(code_of(field(3, value)), size == 24 ? Code::kOk : Code::kCorruption);
    EXPECT_EQ(code_of(field(5, value)), size == 1 ? Code::kOk : Code::kCorruption);
    EXPECT_EQ(code_of(field(29, value)), size == 4 || size == 8 ? Code::kOk : Code::kCorruption);
    std::string dead;
    append_field(dead, 1, value);
    append_number_field(dead, 3, 5);
    EXPECT_EQ(code_of(field(27, dead)), size == 4 || size == 8 ? Code::kOk : Code::kCorruption);
  }
  for (const std::size_t size : {kTagBytesMax, kTagBytesMax + 1}) {
    std::string tag;
    append_number_field(tag, 1, 5);
    append_field(tag, 3, std::string(size, 't'));
    EXPECT_EQ(code_of(field(13, tag)), size == kTagBytesMax ? Code::kOk : Code::kCorruption);
  }
  std::string level;
  append_number_field(level, 1, std::uint64_t{1} << 32);
  EXPECT_TRUE(mentions(decode_manifest_edit(field(23, level)).status(), "level"));
}

TEST(ManifestEdit, EmptyOriginIsLeftOutAndRefused) {
  std::vector<OwnedField> fields = all_fields(encoded([](ManifestEdit* edit) { edit->added_tables = {table_file()}; }));
  ASSERT_EQ(fields.size(), 1u);
  fields[0].value = with(fields[0].value, 28, "");
  EXPECT_EQ(code_of(joined(fields)), Code::kCorruption);
}

TEST(ManifestEdit, OptionsOfTheModelAreLeftOutWhereThereAreNoneAndBounded) {
  const auto stored = [](const std::string& model) {
    return encoded([&](ManifestEdit* edit) { edit->stored_options = StoredOptions{1, 0, model, ""}; });
  };
  EXPECT_EQ((*decode_manifest_edit(stored("model"))).stored_options->model_options, "model");
  EXPECT_LT(stored("").size(), stored("m").size() - 1);
  EXPECT_EQ(code_of(stored(std::string(kModelOptionsBytesMax + 1, 'x'))), Code::kCorruption);
}

TEST(ManifestEdit, UnknownDurabilityIsUnsupported) {
  for (const std::uint64_t durability : {0u, 3u, 200u}) {
    const std::string bytes = encoded([&](ManifestEdit* edit) {
      edit->stored_options = StoredOptions{durability, 0, "", ""};
    });
    EXPECT_EQ(code_of(bytes), Code::kUnsupported);
  }
}

}  // namespace
}  // namespace varve::format::manifest_edit_test
