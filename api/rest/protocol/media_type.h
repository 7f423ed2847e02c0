// Owns: the grammar of media types: Content-Type as a whole, and lists of them as Accept has it.
// Must never: take a part of a value for its meaning: what does not parse to its end is no media type.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve::serve {

/// `type/subtype; name=value; name="value"`. Type and names are in lower case, values as they were written.
struct MediaType {
  std::string type;
  std::vector<std::pair<std::string, std::string>> parameters{};

  /// The parameter's value, or null. `name` is in lower case.
  const std::string* find(std::string_view name) const noexcept;
};

/// Nothing if the text is not one media type from its beginning to its end, or gives a parameter twice. White space may
/// surround `;` and `=`. A value without quotes may hold any visible ASCII except `;` and quotes, since clients write
/// boundaries so.
std::optional<MediaType> parse_media_type(std::string_view text);

/// Takes the first element off a list, whose elements commas separate. A comma between quotes separates nothing.
std::string_view take_list_element(std::string_view& list) noexcept;

/// The boundary of a multipart/mixed body: 1 to 70 characters of RFC 2046, none of them a space at the end. Nothing for
/// another type.
std::optional<std::string> boundary_of(std::string_view content_type);

}  // namespace varve::serve
