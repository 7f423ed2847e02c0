#include "tools/varve/import/refusal_report.h"

#include <algorithm>
#include <iostream>

#include "tools/varve/terminal/progress.h"
#include "tools/varve/terminal/terminal.h"

namespace varve::tool {

namespace {

/// If all rows of a text are refused for one reason, and there are more than kFewRows, the first kAlikeShownMax are
/// shown.
constexpr std::size_t kFewRows = 5;
constexpr std::size_t kAlikeShownMax = 3;

bool is_alike(const RefusedRow& a, const RefusedRow& b) noexcept {
  return a.fault == b.fault && a.reason.code() == b.reason.code() &&
         a.reason.service_error() == b.reason.service_error();
}

}  // namespace

std::size_t RefusalReport::begin_text(const std::string& name) {
  end();
  holds_ = true;
  names_.push_back(name);
  return names_.size() - 1;
}

std::string RefusalReport::place(const RowPlace& row) const {
  const std::string& name = names_[row.text];
  return (name.empty() ? "" : name + ": ") + "line " + std::to_string(row.line) +
         (row.row == 0 ? "" : ", row " + std::to_string(row.row));
}

void RefusalReport::show(const RefusedRow& row) {
  if (shown_ < shown_max_) {
    std::cerr << place(row.place) << ": " << row.reason.to_string() << "\n";
  } else if (shown_ == shown_max_) {
    std::cerr << "further lines are counted, not shown; see --max-errors\n";
  }
  ++shown_;
}

void RefusalReport::add(const RefusedRow& row) {
  if (row.shape_fault != 0) {
    const auto [fault, is_new] = shape_faults_.try_emplace({row.place.text, row.shape_fault}, ShapeFault{row.place, 0});
    if (!is_new) {
      ++fault->second.repeated;
      return;
    }
    release();
    show(row);
    return;
  }
  if (holds_ && !held_.empty() && !is_alike(held_.front(), row)) accept();
  if (!holds_) {
    show(row);
  } else if (held_.size() <= std::max<std::uint64_t>(shown_max_, kFewRows)) {
    held_.push_back(row);
  } else {
    ++held_uncounted_;
  }
}

/// Shows the rows that were held back.
void RefusalReport::release() {
  for (const RefusedRow& row : held_) show(row);
  held_.clear();
  held_uncounted_ = 0;
}

void RefusalReport::accept() {
  release();
  holds_ = false;
}

void RefusalReport::end() {
  if (held_.size() > kFewRows) {
    const std::uint64_t rows = held_.size() + held_uncounted_;
    held_.resize(kAlikeShownMax);
    release();
    std::cerr << counted(rows - kAlikeShownMax, "further row was", "further rows were")
              << " refused for the same kind of reason, as were all rows"
              << "\n";
  }
  release();
  for (const auto& [text_and_fault, fault] : shape_faults_) {
    if (fault.repeated == 0) continue;
    std::cerr << counted(fault.repeated, "further row has", "further rows have") << " the fault of "
              << place(fault.first) << "\n";
  }
  shape_faults_.clear();
}

}  // namespace varve::tool
