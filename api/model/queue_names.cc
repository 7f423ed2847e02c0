// Owns: the rules for names and metadata of queues (queue.h).
// Must never: read a store.
#include <algorithm>
#include <string>

#include "api/model/ascii.h"
#include "api/model/header_text.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "varve/limits.h"
#include "varve/names.h"
#include "varve/queue.h"

namespace varve {
namespace {

bool is_metadata_name(std::string_view name) noexcept {
  const auto legal = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  return !name.empty() && !is_digit(name.front()) && std::all_of(name.begin(), name.end(), legal);
}

}  // namespace

Status check_queue_name(std::string_view name) {
  if (name.size() < limits::kQueueNameCharactersMin || name.size() > limits::kQueueNameCharactersMax) {
    return service_error::out_of_range_input("the queue name " + quoted(name) + " has " + std::to_string(name.size()) +
                                             " characters; 3 to 63 are allowed");
  }
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool may_be_hyphen = i > 0 && i + 1 < name.size() && name[i - 1] != '-';
    if (is_lower(name[i]) || is_digit(name[i]) || (name[i] == '-' && may_be_hyphen)) continue;
    return service_error::invalid_resource_name("the queue name " + quoted(name) +
                                                " has characters other than a to z, 0 to 9 and single inner hyphens");
  }
  return Status();
}

Status check_metadata(const std::vector<MetadataPair>& metadata) {
  std::size_t bytes = 0;
  std::vector<std::string> names;
  for (const MetadataPair& pair : metadata) {
    if (pair.name.empty()) return service_error::empty_metadata_key("a metadata pair has no name");
    if (!is_metadata_name(pair.name)) {
      return service_error::invalid_metadata("the metadata name " + quoted(pair.name) +
                                             " is not an identifier of letters, digits and underscores");
    }
    if (!is_header_text(pair.value)) {
      return service_error::invalid_metadata("the value of metadata " + quoted(pair.name) +
                                             " has a control character, or a blank at an end");
    }
    bytes += pair.name.size() + pair.value.size();
    names.push_back(lower_case(pair.name));
  }
  if (bytes > limits::kMetadataBytesMax) {
    return service_error::metadata_too_large("the metadata has " + std::to_string(bytes) +
                                             " bytes; at most 8192 are allowed");
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return Status();
  return service_error::invalid_metadata("the metadata name " + quoted(*twice) + " is given twice");
}

bool is_same_metadata(const std::vector<MetadataPair>& left, const std::vector<MetadataPair>& right) {
  if (left.size() != right.size()) return false;
  return std::all_of(left.begin(), left.end(), [&right](const MetadataPair& pair) {
    return std::any_of(right.begin(), right.end(), [&pair](const MetadataPair& other) {
      return lower_case(pair.name) == lower_case(other.name) && pair.value == other.value;
    });
  });
}

}  // namespace varve
