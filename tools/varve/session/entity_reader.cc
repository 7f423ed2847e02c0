#include "tools/varve/session/entity_reader.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tools/varve/text/value_text.h"

namespace varve::tool {

namespace {

/// Returns the properties as texts in the order of their names, because a service may keep another order.
std::vector<std::string> texts_of(const Entity& entity) {
  std::vector<std::string> texts;
  for (const Property& property : entity.properties()) {
    texts.push_back(property.name + '\0' + std::string(property_type_name(property.value.type())) + '\0' +
                    to_text(property.value));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace

EntityReader::EntityReader(const TableAccess& table, ReadOptions options) : table_(table) {
  scan_.read = std::move(options);
}

Result<const Entity*> EntityReader::next() {
  while (used_ == page_.entities.size()) {
    if (is_last_) return nullptr;
    Result<Page> read = table_.scan(scan_);
    if (!read.ok()) return read.status();
    page_ = *std::move(read);
    used_ = 0;
    is_last_ = !page_.continuation;
    if (page_.continuation) scan_.continuation = *page_.continuation;
  }
  return &page_.entities[used_++];
}

bool have_same_values(const Entity& a, const Entity& b) {
  return a.partition_key() == b.partition_key() && a.row_key() == b.row_key() && texts_of(a) == texts_of(b);
}

}  // namespace varve::tool
