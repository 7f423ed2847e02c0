#include "tools/varve/large/content_get.h"

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/varve/content/byte_range.h"
#include "tools/varve/content/content_output.h"
#include "tools/varve/input/stop_signal.h"
#include "tools/varve/reach/blob_access.h"
#include "tools/varve/session/named_table.h"
#include "tools/varve/terminal/outcome.h"

namespace varve::tool {

namespace {

Result<LargeValueReader> open_content(StoreAccess& access, const Place& place, const std::string& partition_key,
                                      const std::string& row_key, const std::string& property) {
  const Result<Table> table = access.local()->open_table(place.account, place.table);
  if (!table.ok()) return with_nearest_names(access, place, table.status());
  return table->open_large_value(partition_key, row_key, property);
}

/// Writes the part of a content that the words name.
int write_content_part(const ContentGetWords& words, std::uint64_t length, const ReadContent& read) {
  const std::optional<WantedRange> range = words.range.empty() ? WantedRange() : parse_range(words.range);
  const Result<ContentPart> part =
      words.range.empty() ? ContentPart{0, length} : part_of_content(*range, length, "content");
  if (!part.ok()) return fail(part.status());
  if (words.output.empty() || words.output == "-") return content_to_output(read, *part);
  const Status written = content_to_file(read, *part, words.output);
  if (written.code() == Code::kCancelled) return 128 + stop_signal_seen();
  return written.ok() ? kSuccess : fail(written);
}

/// Opens the content at the URL that a table service shows in place of it. The key of the table's address counts for the
/// URL too, so a URL of another host is refused.
Result<std::unique_ptr<BlobSource>> open_content_at(const Place& place, const std::string& property,
                                                    const std::string& url) {
  constexpr std::string_view kValues = "$values";
  const std::size_t mark = url.rfind(std::string("/").append(kValues).append("/"));
  if (url.starts_with(std::string(kValues) + "/")) {
    return Status(Code::kUnsupported, "the server has no blob service, which reads the content of \"" + property + "\"")
        .with_hint("`varve serve --listen-blobs` adds one; or give the directory of the store");
  }
  if (!is_address(url) || mark == std::string::npos) {
    return Status::invalid_argument("the property \"" + property + "\" is no LargeValue");
  }
  if (!have_same_host(place.store, url)) {
    return Status::invalid_argument("the content of \"" + property + "\" is at another host than the table")
        .with_hint("the key is sent to the host of the table alone; give the address by which the server names itself");
  }
  const std::size_t query = place.store.find('?');
  const std::string address = url.substr(0, mark) + (query == std::string::npos ? "" : place.store.substr(query));
  const Result<std::unique_ptr<BlobAccess>> values = container_at_address(address, place.account, std::string(kValues));
  if (!values.ok()) return values.status();
  return (*values)->read(url.substr(mark + kValues.size() + 2));
}

/// Returns the URL of the content in an entity of a table at an address.
Result<std::string> content_url(StoreAccess& access, const Place& place, const std::string& partition_key,
                                const std::string& row_key, const std::string& property) {
  const Result<std::unique_ptr<TableAccess>> table = open_named_table(access, place);
  if (!table.ok()) return table.status();
  const Result<std::optional<Entity>> entity = (*table)->get(partition_key, row_key, ReadOptions());
  if (!entity.ok()) return entity.status();
  if (!*entity) {
    return Status::not_found("table " + place.table + " has no entity \"" + partition_key + "\", \"" + row_key + "\"")
        .with_service_error("ResourceNotFound");
  }
  return (**entity).get<std::string>(property);
}

int get_content_at_address(const Place& place, const std::string& partition_key, const std::string& row_key,
                           const ContentGetWords& words) {
  stop_reading_on_signals();
  const Result<std::unique_ptr<StoreAccess>> access = reach_state(place);
  if (!access.ok()) return fail(access.status());
  const Result<std::string> url = content_url(**access, place, partition_key, row_key, words.property);
  if (!url.ok()) return fail(url.status());
  const Result<std::unique_ptr<BlobSource>> content = open_content_at(place, words.property, *url);
  if (!content.ok()) return fail(content.status());
  return write_content_part(words, (*content)->state().length, [&](std::uint64_t offset, std::span<char> buffer) {
    return (*content)->read(offset, buffer);
  });
}

}  // namespace

void add_content_get_words(CLI::App& verb, ContentGetWords& words, const std::vector<CLI::Option*>& others) {
  CLI::Option* const content =
      verb.add_option("--content", words.property, "Write the content of this large value, in place of the entity")
          ->type_name("NAME");
  for (CLI::Option* const other : others) content->excludes(other);
  verb.add_option("--output", words.output, "With --content: file to write; default: standard output")->needs(content);
  verb.add_option("--range", words.range, "With --content: only these bytes: 0-99, 100- or, for the last 500, -500")
      ->check(byte_range())
      ->needs(content);
}

int get_content(const Place& place, const std::string& partition_key, const std::string& row_key,
                const ContentGetWords& words) {
  if (is_address(place.store)) return get_content_at_address(place, partition_key, row_key, words);
  stop_reading_on_signals();
  const Result<std::unique_ptr<StoreAccess>> access = reach_state(place);
  if (!access.ok()) return fail(access.status());
  const Result<LargeValueReader> reader = open_content(**access, place, partition_key, row_key, words.property);
  if (!reader.ok()) return fail(reader.status());
  return write_content_part(words, reader->length(),
                            [&](std::uint64_t offset, std::span<char> buffer) { return reader->read(offset, buffer); });
}

}  // namespace varve::tool
