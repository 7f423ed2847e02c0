#include "tools/varve/large/content_get.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tools/varve/content/byte_range.h"
#include "tools/varve/content/content_output.h"
#include "tools/varve/input/stop_signal.h"
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
  if (is_address(place.store)) {
    return fail(kUsage,
                "--content needs the directory of the store; over HTTP, a GET of the address in the property "
                "reads the content");
  }
  stop_reading_on_signals();
  const Result<std::unique_ptr<StoreAccess>> access = reach_state(place);
  if (!access.ok()) return fail(access.status());
  const Result<LargeValueReader> reader = open_content(**access, place, partition_key, row_key, words.property);
  if (!reader.ok()) return fail(reader.status());
  const std::optional<WantedRange> range = words.range.empty() ? WantedRange() : parse_range(words.range);
  const Result<ContentPart> part =
      words.range.empty() ? ContentPart{0, reader->length()} : part_of_content(*range, reader->length(), "content");
  if (!part.ok()) return fail(part.status());
  const ReadContent read = [&](std::uint64_t offset, std::span<char> buffer) { return reader->read(offset, buffer); };
  if (words.output.empty() || words.output == "-") return content_to_output(read, *part);
  const Status written = content_to_file(read, *part, words.output);
  if (written.code() == Code::kCancelled) return 128 + stop_signal_seen();
  return written.ok() ? kSuccess : fail(written);
}

}  // namespace varve::tool
