// Owns: the first entities of an order among all that a scan finds, in bounded memory, and the tokens between their pages.
// Must never: leave out an entity that comes before one that it returns.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/read/entity_order.h"
#include "format/keys/internal_key.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"

namespace varve {

/// A copy of an entity. Its values point into the copy, so it does not move.
struct OrderedEntity {
  OrderedEntity() = default;
  OrderedEntity(const OrderedEntity&) = delete;
  OrderedEntity& operator=(const OrderedEntity&) = delete;

  std::string sort_key;
  format::CommitVersion version = 0;
  std::string value;
  EntityOrder::Values values;
};

/// What a token of an ordered scan holds: all values of the last entity that was returned, and its key. So the next page
/// begins exactly after it, also if the entity was changed or deleted since.
struct OrderedPosition {
  /// Its `value` holds only the properties that the order compares.
  std::unique_ptr<OrderedEntity> last;
  std::optional<std::uint64_t> remaining;

  /// A value that is too long for a token. The entity itself has it.
  struct LongValue {
    std::size_t component = 0;
    std::uint64_t hash = 0;
  };
  /// Their values are not in `last` before read_long_values().
  std::vector<LongValue> long_values{};
  std::unique_ptr<const std::string> entity{};

  /// Takes the long values from the present value of the entity. Nothing: there is no such entity. Errors: kInvalidArgument
  /// (InvalidInput: a value has another hash).
  Status read_long_values(const EntityOrder& order, std::optional<std::string_view> value);
};

/// Errors: kInvalidArgument (InvalidInput: the text is no such token, or the token of another order).
Result<OrderedPosition> decode_ordered_token(const EntityOrder& order, format::TableId table, std::string_view token);

/// Returns the refusal of a page with more than limits::kOrderedPageEntitiesMax entities. It names the components of an index
/// that serves smaller pages, if one can.
Status more_than_a_page_keeps(const EntityOrder& order, std::uint32_t page_entities_max);

/// Collects the entities of one page. The order and the position outlive it.
class FirstEntities {
 public:
  /// `count` is at least one. `bytes_max` bounds the keys and values that are kept; one entity is kept in any case.
  FirstEntities(const EntityOrder& order, std::uint64_t count, std::uint64_t bytes_max, const OrderedPosition& after)
      : order_(order), count_(count), bytes_max_(bytes_max), after_(after) {}
  FirstEntities(const FirstEntities&) = delete;
  FirstEntities& operator=(const FirstEntities&) = delete;

  /// Takes the next entity that matches. Errors: those of EntityOrder::values_of().
  Status offer(std::string_view sort_key, format::CommitVersion version, std::string_view value);

  std::uint64_t count() const noexcept { return count_; }
  /// Returns the entity after which the page begins. Null at the beginning of the order.
  const OrderedEntity* after() const noexcept { return after_.last.get(); }
  std::uint64_t size() const noexcept { return heap_.size(); }
  /// Returns whether only entities before last() are taken from now on.
  bool is_closed() const noexcept { return !heap_.empty() && (leaves_out_ || heap_.size() == count_); }
  /// Returns whether the page has all its entities, if entities are offered in the order.
  bool is_complete() const noexcept { return leaves_out_ || after_.remaining == heap_.size(); }
  /// Returns the last of the entities in the order. There must be one.
  const OrderedEntity& last() const noexcept { return *heap_.front(); }
  /// Says that entities may follow which are not offered. All of them come after last().
  void leave_out_rest() noexcept { leaves_out_ = true; }
  /// Returns the refusal of a page without an index that takes longer than its time. It names the components that an
  /// index needs.
  Status takes_too_long(std::chrono::milliseconds time_max) const;
  /// Removes the last of the entities. There must be one.
  void leave_out_last();

  /// Puts the entities in order. Called once, after the last offer.
  void sort();
  const std::vector<std::unique_ptr<const OrderedEntity>>& entities() const noexcept { return heap_; }
  /// Returns the token of the next page, or nothing if there is none. Called after sort(). Errors: kCorruption (of a
  /// key).
  Result<std::optional<std::string>> continuation() const;

 private:
  const EntityOrder& order_;
  const std::uint64_t count_;
  const std::uint64_t bytes_max_;
  const OrderedPosition& after_;
  /// The first of all entities that were offered, as a heap whose front is the last of them.
  std::vector<std::unique_ptr<const OrderedEntity>> heap_;
  std::uint64_t bytes_ = 0;
  /// An entity was left out, which comes after all in the heap.
  bool leaves_out_ = false;
};

}  // namespace varve
