// Owns: uses of values after their end, one chosen by MISTAKE. The test checks the compiler's message.
#include <vector>

#include <varve/varve.h>

varve::Result<varve::Page> page();
const varve::Result<varve::Page> constant_page();
varve::Entity entity();
varve::EntityGroupTransaction transaction();
varve::Value value();
varve::ScanRange range();

std::size_t use() {
  std::size_t count = 0;
#if MISTAKE == 0  // no mistake: every form that the messages name
  const varve::Result<varve::Page> held = page();
  for (const varve::Entity& each : held->entities) count += each.properties().size();
  for (const varve::Entity& each : (*page()).entities) count += each.properties().size();
  for (const varve::Property& each : entity().properties()) count += each.name.size();
  const varve::Status& status = page().status();
  const varve::Entity& made = varve::Entity("eu", "0001").set("Lines", 3).add("Paid", true);
  const std::string& key = entity().row_key();
  const auto message = page().status().message();
  const varve::EntityGroupTransaction group = transaction();
  count += group.operations().size() + made.properties().size() + key.size() + message.size() + (status.ok() ? 0 : 1);
#elif MISTAKE == 1
  for (const varve::Entity& each : page()->entities) count += each.properties().size();
#elif MISTAKE == 2
  for (const varve::Entity& each : constant_page()->entities) count += each.properties().size();
#elif MISTAKE == 3
  const varve::Value* found = entity().find("Lines");
  count += found == nullptr ? 0 : 1;
#elif MISTAKE == 4
  for (const auto& operation : transaction().operations()) count += operation.entity.properties().size();
#elif MISTAKE == 5
  const auto* text = value().get_if<std::string>();
  count += text->size();
#elif MISTAKE == 6
  varve::Page& each = *page();
  count += each.entities.size();
#endif
  return count;
}
