#include "tools/varve/import/refusal_report.h"

#include <iostream>

#include "tools/varve/terminal/progress.h"
#include "tools/varve/terminal/terminal.h"

namespace varve::tool {

void RefusalReport::begin_text(const std::string& name) {
  end();
  shape_faults_.clear();
  name_ = name;
}

std::string RefusalReport::place(std::uint64_t line) const {
  return (name_.empty() ? "" : name_ + ": ") + "line " + std::to_string(line);
}

void RefusalReport::add(std::uint64_t line, const Status& reason, std::uint64_t shape_fault) {
  if (shape_fault != 0) {
    const auto [fault, is_new] = shape_faults_.try_emplace(shape_fault, ShapeFault{line, 0});
    if (!is_new) {
      ++fault->second.repeated;
      return;
    }
  }
  if (shown_ < shown_max_) {
    std::cerr << place(line) << ": " << reason.to_string() << "\n";
  } else if (shown_ == shown_max_) {
    std::cerr << "further lines are counted, not shown; see --max-errors\n";
  }
  ++shown_;
}

void RefusalReport::end() {
  for (const auto& [number, fault] : shape_faults_) {
    if (fault.repeated == 0) continue;
    std::cerr << counted(fault.repeated, "further row has", "further rows have") << " the fault of "
              << place(fault.first_line) << "\n";
  }
}

}  // namespace varve::tool
