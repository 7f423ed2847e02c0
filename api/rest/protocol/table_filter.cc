#include "api/rest/protocol/table_filter.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <vector>

#include "api/model/service_error.h"
#include "format/keys/entity.h"

namespace varve::serve {
namespace {

constexpr std::string_view kTableName = "TableName";

}  // namespace

Result<TableFilter> TableFilter::parse(std::string_view text, FilterGrammar grammar) {
  Result<Filter> filter = Filter::parse(text, grammar);
  if (!filter.ok()) return filter.status();
  for (const Comparison& comparison : filter->comparisons()) {
    const bool is_alone = comparison.kind != Comparison::Kind::kProperty || comparison.other_property == kTableName;
    if (comparison.property == kTableName && is_alone) continue;
    return service_error::invalid_input("a filter on Tables may only compare TableName");
  }
  return TableFilter(*std::move(filter));
}

bool TableFilter::names_metrics_tables() const {
  const std::vector<Comparison>& all = filter_.comparisons();
  const auto names_one = [](const Value& literal) {
    const std::string* const name = literal.get_if<std::string>();
    return name != nullptr && name->starts_with('$');
  };
  return std::any_of(all.begin(), all.end(), [&](const Comparison& comparison) {
    if (comparison.kind != Comparison::Kind::kList) return names_one(comparison.literal);
    const std::vector<Value>& names = comparison.list->of_type(PropertyType::kString);
    return std::any_of(names.begin(), names.end(), names_one);
  });
}

bool TableFilter::matches(std::string_view table) const {
  if (filter_.matches_everything()) return true;
  format::EntityBuilder builder;
  builder.add_string(kTableName, table);
  const std::string row = builder.finish();
  const Result<format::EncodedEntity> properties = format::EncodedEntity::open(row);
  assert(properties.ok());  // it was just made
  FilterSubject subject;
  subject.properties = *properties;
  return filter_.matches(subject);
}

}  // namespace varve::serve
