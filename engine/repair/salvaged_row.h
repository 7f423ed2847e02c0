// Owns: table files whose ranges do not overlap as one walk, a file open at a time.
// Must never: open a file before all keys below it were shown.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/base/entry_cursor.h"
#include "engine/repair/salvaged_table.h"

namespace varve::engine {

/// One thread at a time.
class SalvagedRow final : public EntryStream {
 public:
  /// In the order of their keys. Both outlive the row.
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

/// As few rows as the files' ranges allow; a file without known bounds is a row of its own.
std::vector<std::vector<const TableSource*>> arrange_rows(const std::vector<TableSource>& sources);

}  // namespace varve::engine
