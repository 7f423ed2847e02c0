// Owns: names, plans and reports that a call of the C interface returned.
// Must never: show a view whose memory can move.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/c/handles.h"
#include "api/c/values.h"
#include "varve/c.h"
#include "varve/repair.h"
#include "varve/scan_plan.h"
#include "varve/store.h"
#include "varve/verify.h"

namespace varve::c {

/// Returns the time that a list shows with a name.
/// @{
template <typename Info>
DateTime time_of(const Info& info) noexcept {
  return info.created;
}
inline DateTime time_of(const ContainerState& container) noexcept {
  return container.modified;
}
/// @}

/// varve_list: one page of accounts, tables, queues or containers.
class ListObject : public Object {
 public:
  static constexpr Kind kKind = Kind::kList;
  static constexpr bool kOneThread = false;

  /// `Info` is AccountInfo, TableInfo, QueueInfo or ContainerState.
  template <typename Info>
  ListObject(const std::vector<Info>& all, std::optional<std::string> continuation)
      : Object(kKind), continuation_(std::move(continuation)) {
    texts_.reserve(all.size());
    for (const Info& info : all) {
      texts_.push_back(info.name);
      names_.push_back({text_of(texts_.back()), time_of(info).ticks});
    }
  }

  varve_list_view view() const noexcept {
    return {sizeof(varve_list_view), names_.data(), names_.size(),
            continuation_ ? text_of(*continuation_) : varve_text{}};
  }

 private:
  std::vector<std::string> texts_;
  std::vector<varve_name> names_;
  const std::optional<std::string> continuation_;
};

/// varve_plan: what a scan will read.
class PlanObject : public Object {
 public:
  static constexpr Kind kKind = Kind::kPlan;
  static constexpr bool kOneThread = false;

  explicit PlanObject(ScanPlan plan) : Object(kKind), plan_(std::move(plan)) {
    texts_.reserve(plan_.ranges.size());
    for (const PlannedRange& range : plan_.ranges) {
      texts_.push_back(range.to_string());
      ranges_.push_back(text_of(texts_.back()));
    }
    for (const IndexCandidate& index : plan_.indexes) {
      indexes_.push_back({text_of(index.name), index.equal_components, index.has_range, index.entities.has_value(),
                          index.entities.value_or(0), index.is_taken, index.answers_counts, index.answers_pages});
    }
  }

  varve_plan_view view() const noexcept {
    return {sizeof(varve_plan_view),
            static_cast<int32_t>(plan_.path),
            text_of(access_path_name(plan_.path)),
            ranges_.data(),
            ranges_.size(),
            text_of(plan_.residual),
            indexes_.data(),
            indexes_.size(),
            text_of(plan_.order_index),
            plan_.order_components};
  }

 private:
  const ScanPlan plan_;
  std::vector<std::string> texts_;
  std::vector<varve_text> ranges_;
  std::vector<varve_index_candidate> indexes_;
};

/// varve_report: what a verification or a repair found.
class ReportObject : public Object {
 public:
  static constexpr Kind kKind = Kind::kReport;
  static constexpr bool kOneThread = false;

  ReportObject(std::vector<std::string> findings, std::vector<RepairLoss> losses)
      : Object(kKind), texts_(std::move(findings)), parts_(std::move(losses)) {
    for (const std::string& text : texts_) findings_.push_back(text_of(text));
    for (const RepairLoss& loss : parts_) {
      losses_.push_back({text_of(loss.file), text_of(loss.what), loss.offset, loss.bytes, loss.entries_max,
                         loss.entities_possibly_stale});
    }
  }

  varve_report_view view() const noexcept {
    return {sizeof(varve_report_view), findings_.data(), findings_.size(), losses_.data(), losses_.size()};
  }

 private:
  const std::vector<std::string> texts_;
  const std::vector<RepairLoss> parts_;
  std::vector<varve_text> findings_;
  std::vector<varve_loss> losses_;
};

}  // namespace varve::c
