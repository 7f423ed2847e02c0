// Native twin of the large entities: a property owns a content of any length. It is committed with its entity, and its
// space returns when no entity names it any more.
#include "../example.h"

using namespace varve;
using patterns::Example;

int main() {
  Example example("Large entities, natively: a property that owns 6 MB");
  // [shown]
  Table documents = Example::must(example.store().create_table("examples", "Documents", {.has_large_values = true}));
  // [/shown]
  std::string first(6'000'000, '\0');
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<char>(i * 7 % 251);

  // [shown]
  LargeValueWriter writer = Example::must(documents.write_large_value());
  Example::must(writer.append(first));
  Example::must(documents.insert(Entity("manual", "").set("Bytes", Example::must(writer.finish()))));
  // [/shown]

  std::string read(first.size(), '\0');
  // [shown]
  const LargeValueReader reader = Example::must(documents.open_large_value("manual", "", "Bytes"));
  // [/shown]
  example.show(*reader.read(0, read) == first.size() && read == first, "6 MB come back");
  example.reads(1);

  Example::must(documents.replace(Entity("manual", "").set("Bytes", Binary{"short"}), ETag::any()));
  example.show(*reader.read(5'000'000, read) == 1'000'000, "a reader of the old revision is not cut off");
  return example.end();
}
