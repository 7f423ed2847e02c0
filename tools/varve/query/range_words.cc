#include "tools/varve/query/range_words.h"

#include "tools/varve/session/words.h"

namespace varve::tool {

namespace {

constexpr const char* kRangeGroup = "Which entities";

}  // namespace

void add_range_words(CLI::App& verb, RangeWords& words) {
  add_table_words(verb, words.place);
  verb.add_option("--partition", words.keys.partition, "Only this partition");
  verb.add_option("--from", words.keys.from, "Start at this RowKey; without --partition, at this PartitionKey");
  verb.add_option("--to", words.keys.to, "Stop before this key");
  verb.add_option("--prefix", words.keys.prefix, "Only RowKeys with this prefix; needs --partition");
  verb.add_option("--filter", words.filter,
                  "Only entities that match this $filter; its conditions on keys limit what is read");
  for (CLI::Option* option : verb.get_options()) {
    if (option->nonpositional() && option->get_group() == "Options" && option != verb.get_help_ptr())
      option->group(kRangeGroup);
  }
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
