// Owns: a reader of the lines of accounts' logs, written from their format alone.
// Must never: share code with the writer.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace varve::serve::test {

/// Reads one line: fields between semicolons; a field in quotes is HTML, and may have semicolons.
class LogReader {
 public:
  static std::optional<std::vector<std::string>> read(const std::string& line) {
    LogReader reader(line);
    std::vector<std::string> fields;
    for (;;) {
      const std::optional<std::string> field = reader.field();
      if (!field) return std::nullopt;
      fields.push_back(*field);
      if (reader.is_at('\n')) return reader.place_ + 1 == line.size() ? std::optional(fields) : std::nullopt;
      if (!reader.is_at(';')) return std::nullopt;
      ++reader.place_;
    }
  }

 private:
  explicit LogReader(const std::string& line) : line_(line) {}
  bool is_at(char byte) const { return place_ < line_.size() && line_[place_] == byte; }

  std::optional<std::string> field() {
    if (!is_at('"')) {
      const std::size_t end = line_.find_first_of(";\n\"\r", place_);
      if (end == std::string::npos || line_[end] == '"' || line_[end] == '\r') return std::nullopt;
      const std::size_t begin = std::exchange(place_, end);
      return line_.substr(begin, end - begin);
    }
    const std::size_t end = line_.find('"', place_ + 1);
    if (end == std::string::npos) return std::nullopt;
    const std::string html = line_.substr(place_ + 1, end - place_ - 1);
    place_ = end + 1;
    return text_of(html);
  }
  static std::optional<std::string> text_of(const std::string& html) {
    std::string text;
    for (std::size_t i = 0; i < html.size(); ++i) {
      if (html[i] == '\n' || html[i] == '\r') return std::nullopt;
      if (html[i] != '&') {
        text += html[i];
        continue;
      }
      const std::size_t end = html.find(';', i);
      if (end == std::string::npos) return std::nullopt;
      const std::string name = html.substr(i + 1, end - i - 1);
      if (name == "amp")
        text += '&';
      else if (name == "quot")
        text += '"';
      else if (name == "lt")
        text += '<';
      else if (name == "gt")
        text += '>';
      else if (name.starts_with("#"))
        text += static_cast<char>(std::stoi(name.substr(1)));
      else
        return std::nullopt;
      i = end;
    }
    return text;
  }

  const std::string& line_;
  std::size_t place_ = 0;
};

/// The places of the fields, by the names of the format.
enum Field : std::size_t {
  kVersionField,
  kStartField,
  kTypeField,
  kStatusField,
  kHttpField,
  kEndToEndField,
  kServerField,
  kAuthenticationField,
  kRequesterField,
  kOwnerField,
  kServiceField,
  kUrlField,
  kKeyField,
  kRequestIdField,
  kCountField,
  kAddressField,
  kRequestVersionField,
  kRequestHeaderField,
  kRequestPacketField,
  kResponseHeaderField,
  kResponsePacketField,
  kContentLengthField,
  kRequestMd5Field,
  kServerMd5Field,
  kEtagField,
  kModifiedField,
  kConditionsField,
  kAgentField,
  kReferrerField,
  kClientIdField,
  kFieldCount,
};

/// Returns the entries of a log, or nothing if a line cannot be read or has not 30 fields.
inline std::optional<std::vector<std::vector<std::string>>> read_log(const std::string& text) {
  std::vector<std::vector<std::string>> entries;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) return std::nullopt;
    std::optional<std::vector<std::string>> fields = LogReader::read(text.substr(begin, end + 1 - begin));
    if (!fields || fields->size() != kFieldCount) return std::nullopt;
    entries.push_back(*std::move(fields));
    begin = end + 1;
  }
  return entries;
}

}  // namespace varve::serve::test
