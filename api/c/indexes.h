// Owns: what the handle of a list of indexes names.
// Must never: show memory that can move.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/c/handles.h"
#include "api/c/values.h"
#include "varve/c.h"
#include "varve/table_index.h"

namespace varve::c {

/// varve_indexes. Its constructor may throw std::bad_alloc.
class IndexesObject : public Object {
 public:
  static constexpr Kind kKind = Kind::kIndexes;
  static constexpr bool kOneThread = false;

  explicit IndexesObject(std::vector<IndexInfo> infos) : Object(kKind), infos_(std::move(infos)) {
    components_.resize(infos_.size());
    carried_.resize(infos_.size());
    for (std::size_t i = 0; i < infos_.size(); ++i) {
      const IndexDefinition& definition = infos_[i].definition;
      for (const IndexComponent& component : definition.components) {
        components_[i].push_back({text_of(component.property), component.is_descending});
      }
      for (const std::string& name : definition.carried) carried_[i].push_back(text_of(name));
      shown_.push_back({text_of(definition.name), components_[i].data(), components_[i].size(), carried_[i].data(),
                        carried_[i].size(), static_cast<int32_t>(infos_[i].state), definition.is_unique,
                        text_of(infos_[i].failure)});
    }
  }

  const std::vector<varve_index>& shown() const noexcept { return shown_; }

 private:
  const std::vector<IndexInfo> infos_;
  std::vector<std::vector<varve_index_component>> components_;
  std::vector<std::vector<varve_text>> carried_;
  std::vector<varve_index> shown_;
};

}  // namespace varve::c
