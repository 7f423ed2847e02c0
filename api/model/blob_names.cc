// Owns: the rules for names of containers and blobs, and for tags (blob.h).
// Must never: read a store.
#include <algorithm>
#include <string>

#include "api/model/ascii.h"
#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "format/keys/sort_key.h"
#include "varve/blob.h"
#include "varve/limits.h"

namespace varve {
namespace {

bool is_tag_text(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view(" +-./:=_").find(c) != std::string_view::npos;
  });
}

Status check_tag_pair(const BlobTag& tag) {
  if (tag.name.empty()) {
    return Status::invalid_argument("a tag has no name").with_service_error("EmptyTagName");
  }
  if (tag.name.size() > limits::kBlobTagNameCharactersMax || tag.value.size() > limits::kBlobTagValueCharactersMax) {
    return Status::too_large("the tag " + quoted(tag.name) +
                             " is too long; its name may have 128 characters, its value 256")
        .with_service_error("TagsTooLarge");
  }
  if (is_tag_text(tag.name) && is_tag_text(tag.value)) return Status();
  return Status::invalid_argument("the tag " + quoted(tag.name) +
                                  " has characters other than letters, digits, blanks and + - . / : = _")
      .with_service_error("InvalidTag");
}

}  // namespace

Status check_container_name(std::string_view name) {
  if (name == "$root" || name == "$logs" || name == "$web") return Status();
  const Status checked = check_queue_name(name);
  if (checked.ok()) return checked;
  if (checked.service_error() == "OutOfRangeInput") {
    return service_error::out_of_range_input("the container name " + quoted(name) + " has " +
                                             std::to_string(name.size()) + " characters; 3 to 63 are allowed");
  }
  return service_error::invalid_resource_name("the container name " + quoted(name) +
                                              " has characters other than a to z, 0 to 9 and single inner hyphens");
}

Status check_blob_name(std::string_view name) {
  if (!format::is_valid_utf8(name)) {
    return service_error::invalid_resource_name("the blob name " + quoted(name) + " is not UTF-8");
  }
  const std::size_t characters = format::utf16_length(name);
  if (characters >= 1 && characters <= limits::kBlobNameCharactersMax) return Status();
  return service_error::out_of_range_input("the blob name has " + std::to_string(characters) +
                                           " characters; 1 to 1024 are allowed");
}

Status check_blob_tags(const std::vector<BlobTag>& tags) {
  if (tags.size() > limits::kBlobTagsMax) {
    return Status::too_large(std::to_string(tags.size()) + " tags are given; at most 10 are allowed")
        .with_service_error("TagsTooLarge");
  }
  for (std::size_t i = 0; i < tags.size(); ++i) {
    if (Status checked = check_tag_pair(tags[i]); !checked.ok()) return checked;
    const bool is_repeated = std::any_of(tags.begin(), tags.begin() + static_cast<std::ptrdiff_t>(i),
                                         [&](const BlobTag& earlier) { return earlier.name == tags[i].name; });
    if (!is_repeated) continue;
    return Status::invalid_argument("the tag " + quoted(tags[i].name) + " is given twice")
        .with_service_error("DuplicateTagNames");
  }
  return Status();
}

}  // namespace varve
