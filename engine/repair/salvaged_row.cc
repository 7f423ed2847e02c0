// Owns: the iteration from file to file, and the arrangement of files in rows (salvaged_row.h).
// Must never: put two files with overlapping ranges into a row.
#include "engine/repair/salvaged_row.h"

#include <algorithm>
#include <utility>

namespace varve::engine {

SalvagedRow::SalvagedRow(std::vector<const TableSource*> sources, Salvage& salvage)
    : sources_(std::move(sources)), salvage_(salvage) {
  settle();
}

void SalvagedRow::next() {
  table_->next();
  settle();
}

void SalvagedRow::settle() {
  while (!valid() && status().ok() && place_ < sources_.size()) {
    table_.reset();
    table_ = std::make_unique<SalvagedTable>(*sources_[place_++], salvage_);
  }
}

std::vector<std::vector<const TableSource*>> arrange_rows(const std::vector<TableSource>& sources) {
  std::vector<const TableSource*> bounded;
  std::vector<std::vector<const TableSource*>> rows;
  for (const TableSource& source : sources) {
    if (source.has_bounds) {
      bounded.push_back(&source);
    } else {
      rows.push_back({&source});
    }
  }
  std::sort(bounded.begin(), bounded.end(), [](const TableSource* left, const TableSource* right) {
    return left->entry.smallest_key < right->entry.smallest_key;
  });
  const std::size_t unbounded = rows.size();
  for (const TableSource* const source : bounded) {
    const auto fits = [source](const std::vector<const TableSource*>& row) {
      return row.back()->entry.largest_key < source->entry.smallest_key;
    };
    const auto row = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(unbounded), rows.end(), fits);
    if (row == rows.end()) {
      rows.push_back({source});
    } else {
      row->push_back(source);
    }
  }
  return rows;
}

}  // namespace varve::engine
