// Owns: iterating over table files with disjoint ranges, one open file at a time.
// Must never: open a file before all smaller keys were returned.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/base/entry_cursor.h"
#include "engine/repair/salvaged_table.h"

namespace varve::engine {

/// One thread at a time may use it.
class SalvagedRow final : public EntryStream {
 public:
  /// The sources are in the order of their keys. The sources and `salvage` must outlive the row.
  SalvagedRow(std::vector<const TableSource*> sources, Salvage& salvage);

  bool valid() const noexcept override { return table_ != nullptr && table_->valid(); }
  Entry entry() const noexcept override { return table_->entry(); }
  void next() override;
  Status status() const override { return table_ == nullptr ? Status() : table_->status(); }

 private:
  void settle();

  const std::vector<const TableSource*> sources_;
  Salvage& salvage_;
  std::size_t place_ = 0;
  std::unique_ptr<SalvagedTable> table_;
};

/// Arranges the files in as few rows as their ranges allow. A file without known bounds is a row of its own.
std::vector<std::vector<const TableSource*>> arrange_rows(const std::vector<TableSource>& sources);

}  // namespace varve::engine
