// Owns: the properties of a service that a call of the C interface returned.
// Must never: check a rule of properties; the verb does.
#pragma once

#include <cstddef>
#include <vector>

#include "api/c/handles.h"
#include "api/c/values.h"
#include "varve/c.h"
#include "varve/service_properties.h"

namespace varve::c {

/// varve_properties.
class PropertiesObject : public Object {
 public:
  static constexpr Kind kKind = Kind::kProperties;
  static constexpr bool kOneThread = false;

  explicit PropertiesObject(ServiceProperties properties);

  varve_service_properties view() const noexcept {
    return {sizeof(varve_service_properties),    &logging_, &hour_, &minute_, true, rules_.data(), rules_.size(),
            text_of(properties_.default_version)};
  }

 private:
  const ServiceProperties properties_;
  const varve_logging logging_;
  const varve_metrics hour_;
  const varve_metrics minute_;
  std::vector<std::vector<varve_text>> texts_;  // four lists for each rule
  std::vector<varve_cors_rule> rules_;
};

}  // namespace varve::c
