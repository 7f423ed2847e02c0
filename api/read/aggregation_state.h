// Owns: the figures of an aggregation while they are computed (aggregate.h).
// Must never: make an Entity, or grow beyond the limits of aggregations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api/filter/filter.h"
#include "api/read/page_scan.h"
#include "varve/aggregate.h"
#include "varve/entity_view.h"
#include "varve/version.h"

namespace varve {

/// Each entity adds to one group. A group is known by bytes that are equal for equal values.
struct VARVE_LOCAL Aggregation::State final : public EntityFold, private BlockUse {
  /// Errors: those of Aggregation::create().
  static Result<std::unique_ptr<State>> create(const std::vector<Aggregate>& figures,
                                               const std::vector<GroupBy>& group_by);

  /// Must succeed before entities are added; end() follows if all of them were. Errors: kInvalidArgument (an earlier part
  /// was never ended).
  Status begin();
  void end() noexcept { is_broken_ = false; }
  static Status broken();

  bool names_keys() const noexcept override { return names_keys_; }
  Status add(const FilterSubject& entity) override;
  Status add(const EntityView& entity);
  std::vector<std::string> properties() const override;
  /// Smallest and largest values without groups pass blocks.
  BlockUse* block_use() noexcept override;
  Result<std::vector<AggregateRow>> rows() const;

 private:
  /// A property that at least one figure or group uses. It is sought once for each entity.
  struct Column {
    Comparison::Subject subject = Comparison::Subject::kCustom;
    std::string name;
  };
  static constexpr std::size_t kNoColumn = SIZE_MAX;
  struct Figure {
    Aggregate::Kind kind = Aggregate::Kind::kCount;
    std::size_t column = kNoColumn;
  };
  struct Grouping {
    std::size_t column = 0;
    std::uint32_t characters = 0;
    std::string delimiter;
  };
  struct TextHash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the library's name
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
  };
  using TextSet = std::unordered_set<std::string, TextHash, std::equal_to<>>;

  /// A figure of one group. The sum of the integers is low + high * 2^64.
  struct Cell {
    std::uint64_t count = 0;
    std::int64_t low = 0;
    std::int64_t high = 0;
    double of_doubles = 0;
    bool has_doubles = false;
    std::optional<PropertyType> extreme_of;  // the type of a value that was compared, also of NaN
    std::optional<Value> extreme;
    std::unique_ptr<TextSet> distinct;
  };
  struct Group {
    std::vector<std::optional<Value>> values;
    std::vector<Cell> cells;
  };
  using Groups = std::unordered_map<std::string, Group, TextHash, std::equal_to<>>;

  bool may_use(const BlockFacts& facts) noexcept override;
  bool may_change(const Cell& cell, const Figure& figure, const BlockFacts& facts) const noexcept;
  Status check(const std::vector<Aggregate>& figures, const std::vector<GroupBy>& group_by);
  std::size_t column_of(const std::string& property);
  /// Adds the entity whose properties are seen_.
  Status add_seen();
  void shorten(std::optional<ValueView>& value, const Grouping& grouping) const noexcept;
  Result<Group*> group_of_seen();
  Result<Group*> add_group();
  Status add_to(Cell& cell, const Figure& figure);
  Status add_number(Cell& cell, const ValueView& value, const Figure& figure) const;
  Status add_extreme(Cell& cell, const ValueView& value, const Figure& figure);
  Status add_distinct(Cell& cell, const ValueView& value, const Figure& figure);
  Result<std::optional<Value>> result_of(const Cell& cell, const Figure& figure) const;
  /// Accounts for memory. Errors: kTooLarge.
  Status charge(std::size_t bytes);

  std::vector<Column> columns_;
  std::vector<Figure> figures_;
  std::vector<Grouping> groupings_;
  bool names_keys_ = false;
  bool is_broken_ = false;

  std::vector<std::optional<ValueView>> seen_;        // of the present entity, one for each column
  std::vector<std::optional<ValueView>> group_seen_;  // of it, one for each grouping
  std::string identity_;                              // of its group, or of a value in it
  Groups groups_;
  std::string last_identity_;  // of the group of the entity before
  Group* last_ = nullptr;
  std::size_t distinct_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace varve
