#include "api/rest/protocol/media_type.h"

#include <algorithm>

#include "api/rest/protocol/message.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

constexpr std::size_t kBoundaryCharactersMax = 70;
constexpr std::string_view kTokenMarks = "!#$%&'*+-.^_`|~";
constexpr std::string_view kBoundaryMarks = "'()+_,-./:=? ";

bool is_letter_or_digit(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_token_character(char c) noexcept {
  return is_letter_or_digit(c) || kTokenMarks.find(c) != std::string_view::npos;
}
bool is_bare_character(char c) noexcept {
  return c > ' ' && c < 0x7F && c != ';' && c != '"';
}

/// Parses a media type from its front.
class Reader {
 public:
  explicit Reader(std::string_view text) noexcept : rest_(trimmed(text)) {}

  std::optional<MediaType> read() {
    const std::string_view type = take_while(is_token_character);
    if (type.empty() || !take('/')) return std::nullopt;
    const std::string_view subtype = take_while(is_token_character);
    if (subtype.empty()) return std::nullopt;
    MediaType media{lower_case(type) + "/" + lower_case(subtype)};
    for (skip_spaces(); !rest_.empty(); skip_spaces()) {
      if (!take(';') || !read_parameter(media)) return std::nullopt;
    }
    return media;
  }

 private:
  void skip_spaces() noexcept { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
  bool take(char c) noexcept {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view take_while(bool (*is_part)(char)) noexcept {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_part);
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  /// Reads the rest of a quoted text whose first quote was read.
  std::optional<std::string> read_quoted() {
    std::string value;
    while (!rest_.empty()) {
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return value;
      if (c == '\\') {
        if (rest_.empty()) return std::nullopt;
        c = rest_.front();
        rest_.remove_prefix(1);
      }
      const bool is_control = (c >= 0 && c < ' ' && c != '\t') || c == 0x7F;
      if (is_control) return std::nullopt;
      value.push_back(c);
    }
    return std::nullopt;
  }
  /// Reads the parameter after a semicolon. The semicolon may also be the last character.
  bool read_parameter(MediaType& media) {
    skip_spaces();
    if (rest_.empty() || rest_.front() == ';') return true;
    std::string name = lower_case(take_while(is_token_character));
    skip_spaces();
    if (name.empty() || !take('=')) return false;
    skip_spaces();
    std::optional<std::string> value =
        take('"') ? read_quoted() : std::optional<std::string>(take_while(is_bare_character));
    if (!value || media.find(name) != nullptr) return false;
    media.parameters.emplace_back(std::move(name), *std::move(value));
    return true;
  }

  std::string_view rest_;
};

}  // namespace

const std::string* MediaType::find(std::string_view name) const noexcept {
  const auto found =
      std::find_if(parameters.begin(), parameters.end(), [&](const auto& known) { return known.first == name; });
  return found == parameters.end() ? nullptr : &found->second;
}

std::optional<MediaType> parse_media_type(std::string_view text) {
  return Reader(text).read();
}

std::string_view take_list_element(std::string_view& list) noexcept {
  bool is_quoted = false;
  std::size_t end = 0;
  for (; end < list.size() && (is_quoted || list[end] != ','); ++end) {
    if (list[end] == '"') is_quoted = !is_quoted;
    if (list[end] == '\\' && is_quoted && end + 1 < list.size()) ++end;
  }
  const std::string_view element = trimmed(list.substr(0, end));
  list.remove_prefix(std::min(end + 1, list.size()));
  return element;
}

std::optional<std::string> boundary_of(std::string_view content_type) {
  const std::optional<MediaType> media = parse_media_type(content_type);
  if (!media || media->type != "multipart/mixed") return std::nullopt;
  const std::string* const boundary = media->find("boundary");
  const bool is_boundary = boundary != nullptr && !boundary->empty() && boundary->size() <= kBoundaryCharactersMax &&
                           boundary->back() != ' ' && std::all_of(boundary->begin(), boundary->end(), [](char c) {
                             return is_letter_or_digit(c) || kBoundaryMarks.find(c) != std::string_view::npos;
                           });
  return is_boundary ? std::optional(*boundary) : std::nullopt;
}

}  // namespace varve::serve
