// Owns: the text of stored tags (blob_tags.h).
// Must never: accept tags that break a limit.
#include "api/blob/blob_tags.h"

namespace varve {
namespace {

constexpr std::string_view kEquals = "%3D";

void append_tag_text(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '=') {
      out.append(kEquals);
    } else {
      out.push_back(c);
    }
  }
}

std::string plain_tag_text(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const bool is_equals = text.starts_with(kEquals);
    plain.push_back(is_equals ? '=' : text.front());
    text.remove_prefix(is_equals ? kEquals.size() : 1);
  }
  return plain;
}

}  // namespace

std::string stored_tags(const std::vector<BlobTag>& tags) {
  std::string text;
  for (const BlobTag& tag : tags) {
    if (!text.empty()) text.push_back('&');
    append_tag_text(text, tag.name);
    text.push_back('=');
    append_tag_text(text, tag.value);
  }
  return text;
}

std::optional<std::vector<BlobTag>> parse_stored_tags(std::string_view text) {
  const std::string_view all = text;
  std::vector<BlobTag> tags;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    tags.push_back({plain_tag_text(pair.substr(0, equals)), plain_tag_text(pair.substr(equals + 1))});
    text.remove_prefix(pair.size() == text.size() ? pair.size() : pair.size() + 1);
  }
  if (!check_blob_tags(tags).ok() || stored_tags(tags) != all) return std::nullopt;
  return tags;
}

}  // namespace varve
