#include "tools/varve/query/range_words.h"

#include "tools/varve/session/words.h"

namespace varve::tool {

void add_range_options(CLI::App& verb, RangeWords& words) {
  const auto add = [&verb](const char* name, auto& word, const char* about) {
    verb.add_option(name, word, about)->group(kRangeGroup);
  };
  add("--partition", words.keys.partition, "Only this partition");
  add("--from", words.keys.from, "Start at this RowKey; without --partition, at this PartitionKey");
  add("--to", words.keys.to, "Stop before this key");
  add("--prefix", words.keys.prefix, "Only RowKeys with this prefix; needs --partition");
  add("--filter", words.filter,
      "Only entities that match this $filter, which may also have `in` lists, startswith, endswith, contains, "
      "equals_ignoring_case and exists, and compare two properties; its conditions on keys limit what is read");
}

void add_range_words(CLI::App& verb, RangeWords& words) {
  add_table_words(verb, words.place);
  add_range_options(verb, words);
}

void add_key_words(CLI::App& verb, RangeWords& words) {
  verb.add_option("--row", words.keys.row, "Only this RowKey; needs --partition")->group(kRangeGroup);
  verb.add_option("--key", words.keys.keys, "PartitionKey and RowKey of one entity; may be repeated")
      ->type_name("PARTITION ROW")
      ->expected(1)
      ->take_all()
      ->group(kRangeGroup);
}

}  // namespace varve::tool
