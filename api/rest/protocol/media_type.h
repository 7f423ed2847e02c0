// Owns: the grammar of media types: the value of Content-Type, and lists of media types as in Accept.
// Must never: interpret a part of a value. If a text does not parse to its end, it is no media type.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve::serve {

/// A media type `type/subtype; name=value; name="value"`. Type and names are in lower case. Values keep their spelling.
struct MediaType {
  std::string type;
  std::vector<std::pair<std::string, std::string>> parameters{};

  /// Returns the parameter's value, or null. `name` is in lower case.
  const std::string* find(std::string_view name) const noexcept;
};

/// Parses a media type. Returns nothing if the whole text is not one media type, or if it contains a parameter twice.
/// White space may surround `;` and `=`. A value without quotes may contain any visible ASCII except `;` and quotes,
/// because clients write boundaries without quotes.
std::optional<MediaType> parse_media_type(std::string_view text);

/// Removes and returns the first element of a comma-separated list. A comma between quotes does not separate.
std::string_view take_list_element(std::string_view& list) noexcept;

/// Returns the boundary of a multipart/mixed body: 1 to 70 characters of RFC 2046 that do not end in a space. Returns
/// nothing for another type.
std::optional<std::string> boundary_of(std::string_view content_type);

}  // namespace varve::serve
