// Owns: the heap of the first entities, and the form of the tokens of ordered scans (first_entities.h).
// Must never: take an entity into the heap that may come after one that was left out.
#include "api/read/first_entities.h"

#include <algorithm>
#include <utility>

#include "api/model/continuation_token.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/bytes/checksum.h"
#include "format/keys/entity.h"
#include "varve/limits.h"

namespace varve {
namespace {

// The bytes of a token are an encoded entity with these properties. A component of a custom property has its index as
// its name. It is away if the entity lacks the property. A longer String or Binary than kTokenValueBytesMax has the hash of
// its bytes instead (Int64), whose name ends with kHash.
constexpr std::string_view kOrderText = "order";
constexpr std::string_view kPartition = "partition";
constexpr std::string_view kRow = "row";
constexpr std::string_view kRemaining = "remaining";
constexpr std::string_view kWrittenAt = "version";
constexpr char kHash = '#';
constexpr std::size_t kTokenValueBytesMax = 256;

std::uint64_t bytes_of_entity(const OrderedEntity& entity) noexcept {
  return entity.sort_key.size() + entity.value.size();
}

std::string name_of_component(std::size_t index) {
  return std::to_string(index);
}

Status not_of_this_order() {
  return service_error::invalid_input(
      "the continuation token is from a scan with another order; use the options of the first page");
}

/// Returns the components of an index that has the order, or the beginning of it that an index can have, as an order. An index
/// of one component serves both directions. Empty: no index has the order.
std::string components_of_index(const EntityOrder& order) {
  std::string text;
  for (const EntityOrder::Component& component : order.components()) {
    if (!component.may_have_index()) break;
    if (!text.empty()) text.push_back(',');
    text.append(component.property);
    if (component.descending) text.append(" desc");
  }
  const bool is_one = text.find(',') == std::string::npos;
  return is_one && !text.empty() ? order.components().front().property : text;
}

bool is_of_type(const std::optional<format::PropertyView>& property, PropertyType type) noexcept {
  return property && property->type == type;
}

}  // namespace

Result<OrderedPosition> decode_ordered_token(const EntityOrder& order, format::TableId table, std::string_view token) {
  auto last = std::make_unique<OrderedEntity>();
  Result<std::string> bytes = decode_bytes_token(token);
  if (!bytes.ok()) return bytes.status();
  last->value = *std::move(bytes);
  const Result<format::EncodedEntity> fields = format::EncodedEntity::open(last->value);
  if (!fields.ok() || !fields->verify().ok()) return not_a_token(token);
  const auto text = fields->find(kOrderText);
  const auto partition = fields->find(kPartition);
  const auto row = fields->find(kRow);
  const auto version = fields->find(kWrittenAt);
  const bool is_whole = is_of_type(text, PropertyType::kString) && is_of_type(partition, PropertyType::kString) &&
                        is_of_type(row, PropertyType::kString) && is_of_type(version, PropertyType::kInt64);
  if (!is_whole) return not_a_token(token);
  if (text->value != order.text()) return not_of_this_order();

  OrderedPosition position;
  if (const auto remaining = fields->find(kRemaining)) {
    if (remaining->type != PropertyType::kInt64 || remaining->as_int64() <= 0) return not_a_token(token);
    position.remaining = static_cast<std::uint64_t>(remaining->as_int64());
  }
  last->version = static_cast<format::CommitVersion>(version->as_int64());
  Result<std::string> sort_key = format::encode_sort_key(table, partition->value, row->value);
  if (!sort_key.ok()) return not_a_token(token);
  last->sort_key = *std::move(sort_key);
  const Result<EntityOrder::Values> keys = order.values_of(last->sort_key, last->version, last->value);
  if (!keys.ok()) return keys.status();
  last->values = *keys;
  for (std::size_t i = 0; i < order.components().size(); ++i) {
    if (order.components()[i].subject != Comparison::Subject::kCustom) continue;
    const auto value = fields->find(name_of_component(i));
    last->values[i] = value ? sort_value_of(*value) : SortValue();
    const auto hash = fields->find(name_of_component(i) + kHash);
    if (!hash) continue;
    if (value || hash->type != PropertyType::kInt64) return not_a_token(token);
    position.long_values.push_back({i, static_cast<std::uint64_t>(hash->as_int64())});
  }
  position.last = std::move(last);
  return position;
}

Status OrderedPosition::read_long_values(const EntityOrder& order, std::optional<std::string_view> value) {
  const Status changed = service_error::invalid_input(
      "the entity " + quoted_keys(last->sort_key) +
      " that the continuation token names has changed, and its values are too long for a token; begin the scan again");
  if (!value) return changed;
  entity = std::make_unique<const std::string>(*value);
  const Result<EntityOrder::Values> present = order.values_of(last->sort_key, last->version, *entity);
  if (!present.ok()) return present.status();
  for (const LongValue& wanted : long_values) {
    const SortValue& found = (*present)[wanted.component];
    const bool is_long = found.bytes.size() > kTokenValueBytesMax;
    if (!is_long || format::content_hash(found.bytes) != wanted.hash) return changed;
    last->values[wanted.component] = found;
  }
  return Status();
}

Status more_than_a_page_keeps(const EntityOrder& order, std::uint32_t page_entities_max) {
  std::string message = "a page in the order " + quoted(order.text()) + " has the first " +
                        std::to_string(limits::kOrderedPageEntitiesMax) + " entities at most; page_entities_max is " +
                        std::to_string(page_entities_max);
  const std::string indexed = components_of_index(order);
  if (!indexed.empty()) message += "; ask for smaller pages, which an index on " + quoted(indexed) + " serves";
  return Status::too_large(message).with_service_error("InvalidInput");
}

Status FirstEntities::offer(std::string_view sort_key, format::CommitVersion version, std::string_view value) {
  const Result<EntityOrder::Values> values = order_.values_of(sort_key, version, value);
  if (!values.ok()) return values.status();
  const OrderedEntity* const after = after_.last.get();
  if (after != nullptr && !order_.is_before(after->values, after->sort_key, *values, sort_key)) return Status();
  const bool is_closed = leaves_out_ || heap_.size() == count_;
  if (is_closed && !order_.is_before(*values, sort_key, heap_.front()->values, heap_.front()->sort_key)) {
    leaves_out_ = true;
    return Status();
  }
  auto copy = std::make_unique<OrderedEntity>();
  copy->sort_key = sort_key;
  copy->version = version;
  copy->value = value;
  const Result<EntityOrder::Values> copied = order_.values_of(copy->sort_key, version, copy->value);
  if (!copied.ok()) return copied.status();
  copy->values = *copied;
  bytes_ += bytes_of_entity(*copy);
  heap_.push_back(std::move(copy));
  std::push_heap(heap_.begin(), heap_.end(), [this](const auto& a, const auto& b) {
    return order_.is_before(a->values, a->sort_key, b->values, b->sort_key);
  });
  while (heap_.size() > count_ || (bytes_ > bytes_max_ && heap_.size() > 1)) leave_out_last();
  return Status();
}

Status FirstEntities::takes_too_long(std::chrono::milliseconds time_max) const {
  std::string message = "a page in the order " + quoted(order_.text()) + " was not complete after " +
                        std::to_string(time_max.count()) + " ms, because no index served it; ";
  const std::string indexed = components_of_index(order_);
  message += indexed.empty() ? "ask for a smaller range"
                             : "an index on " + quoted(indexed) + " can, for entities that have what it names";
  return Status::too_large(message).with_service_error("InvalidInput");
}

void FirstEntities::leave_out_last() {
  std::pop_heap(heap_.begin(), heap_.end(), [this](const auto& a, const auto& b) {
    return order_.is_before(a->values, a->sort_key, b->values, b->sort_key);
  });
  bytes_ -= bytes_of_entity(*heap_.back());
  heap_.pop_back();
  leaves_out_ = true;
}

void FirstEntities::sort() {
  std::sort_heap(heap_.begin(), heap_.end(), [this](const auto& a, const auto& b) {
    return order_.is_before(a->values, a->sort_key, b->values, b->sort_key);
  });
}

Result<std::optional<std::string>> FirstEntities::continuation() const {
  if (!leaves_out_) return std::optional<std::string>();
  format::EntityBuilder fields;
  if (after_.remaining) {
    if (*after_.remaining <= heap_.size()) return std::optional<std::string>();
    const std::uint64_t left = std::min<std::uint64_t>(*after_.remaining - heap_.size(), INT64_MAX);
    fields.add_int64(kRemaining, static_cast<std::int64_t>(left));
  }
  const OrderedEntity& last = *heap_.back();
  const Result<format::SortKey> key = format::decode_sort_key(last.sort_key);
  if (!key.ok()) return key.status();
  const Result<format::EncodedEntity> properties = format::EncodedEntity::open(last.value);
  if (!properties.ok()) return properties.status();
  fields.add_string(kOrderText, order_.text());
  fields.add_string(kPartition, key->partition_key);
  fields.add_string(kRow, key->row_key);
  fields.add_int64(kWrittenAt, static_cast<std::int64_t>(last.version));
  for (std::size_t i = 0; i < order_.components().size(); ++i) {
    const EntityOrder::Component& component = order_.components()[i];
    if (component.subject != Comparison::Subject::kCustom) continue;
    std::optional<format::PropertyView> value = properties->find(component.property);
    if (!value) continue;
    const std::string name = name_of_component(i);
    const bool is_text = value->type == PropertyType::kString || value->type == PropertyType::kBinary;
    if (is_text && value->value.size() > kTokenValueBytesMax) {
      fields.add_int64(name + kHash, static_cast<std::int64_t>(format::content_hash(value->value)));
      continue;
    }
    value->name = name;
    fields.add(*value);
  }
  return std::optional(encode_bytes_token(fields.finish()));
}

}  // namespace varve
