// Native twin of the data series: a message is counted when it comes, by an increment. No writer reads the hour before, and
// two writers of one hour do not conflict.
#include "../example.h"

using namespace varve;
using patterns::Example;

int main() {
  Example example("Data series, natively: each message increments its hour");
  Table messages = example.table("Messages");
  // [shown]
  for (const std::string_view hour : {"H08", "H09", "H09", "H10", "H09"}) {
    Example::must(messages.insert_or_patch(Patch("000223", "2026-03-03").increment(std::string(hour), 1)));
  }

  const Entity day = Example::must(messages.get("000223", "2026-03-03"));
  // [/shown]
  example.reads(1);
  example.show(day.properties().size() == 3 && *day.get<std::int32_t>("H09") == 3, "three messages from nine to ten");
  return example.end();
}
