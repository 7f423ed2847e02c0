// Owns: the fuzzer of blob names in keys, of keys of blobs' rows, and of stored tags.
// Must never: accept two keys for one name, two texts for one list of tags, or order names otherwise than by their bytes.
//
// Input: bytes that are used as a key, as the text of tags, and, in two halves, as two names.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/blob/blob_rows.h"
#include "api/blob/blob_tags.h"
#include "api/blob/content_rows.h"
#include "api/catalog/work_rows.h"
#include "format/keys/sort_key.h"

namespace varve {
namespace {

constexpr format::TableId kContainer = format::make_table_id(7, 9);

void check(bool holds) {
  if (!holds) std::abort();
}
void check_refused(const Status& status) {
  check(status.code() == Code::kCorruption);
}

void use_names(std::string_view left, std::string_view right) {
  if (!check_blob_name(left).ok() || !check_blob_name(right).ok()) return;
  const std::string left_key = blob_row_key(kContainer, left);
  const std::string right_key = blob_row_key(kContainer, right);
  const Result<std::string> back = decode_named_key(left_key);
  check(back.ok() && *back == left);
  check((left_key < right_key) == (left < right) && (left_key == right_key) == (left == right));
  const Result<std::string> list = decode_named_key(staged_list_key(kContainer, right));
  check(list.ok() && *list == right);
  const std::string prefix = named_rows_prefix(kContainer, 'B', left);
  check(right_key.starts_with(prefix) == right.starts_with(left));
}

void read_keys(std::string_view key) {
  if (blob_row_kind(key) == 'B' || blob_row_kind(key) == 'H') {
    const bool is_blob = blob_row_kind(key) == 'B';
    const Result<std::string> name = decode_named_key(key);
    if (!name.ok()) return check_refused(name.status());
    const format::TableId id = format::table_id_of(key);
    check((is_blob ? blob_row_key(id, *name) : staged_list_key(id, *name)) == key);
    return;
  }
  if (const Result<std::string> id = decode_staged_key(key); !id.ok()) check_refused(id.status());
  const Result<ContentPlace> place = decode_content_key(key);
  if (place.ok()) {
    const format::TableId id = format::table_id_of(key);
    check((place->offset ? content_part_key(id, place->content, *place->offset)
                         : content_head_key(id, place->content)) == key);
  } else {
    check_refused(place.status());
  }
  const Result<Work> work = decode_work_key(key);
  if (!work.ok()) return check_refused(work.status());
  if (format::table_id_of(key) == kWorkTable) check(work_key(*work) == key);
}

void read_tags(std::string_view text) {
  const std::optional<std::vector<BlobTag>> tags = parse_stored_tags(text);
  if (tags) check(check_blob_tags(*tags).ok() && stored_tags(*tags) == text);
}

}  // namespace
}  // namespace varve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  varve::read_keys(input);
  varve::read_tags(input);
  varve::use_names(input.substr(0, size / 2), input.substr(size / 2));
  return 0;
}
