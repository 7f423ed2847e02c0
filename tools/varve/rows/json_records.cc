#include "tools/varve/rows/json_records.h"

#include <nlohmann/json.hpp>

#include "tools/varve/rows/names.h"

namespace varve::tool {

namespace {

constexpr std::size_t kNameBytesMax = std::size_t{64} << 10;
constexpr std::size_t kNamesSeenMax = 50;

bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Returns whether a number, true, false or null may contain the character.
bool is_plain(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '+' || c == '-' || c == '.' || c == 'E';
}

Result<std::string> unescaped(std::string_view token) {
  std::string text;
  for (std::size_t at = 0; at < token.size(); ++at) {
    if (token[at] != '~') {
      text += token[at];
      continue;
    }
    const char code = at + 1 < token.size() ? token[at + 1] : '\0';
    if (code != '0' && code != '1') return Status::invalid_argument("in --records, ~ must be written ~0, and / ~1");
    text += code == '0' ? '~' : '/';
    ++at;
  }
  return text;
}

}  // namespace

Result<std::vector<std::string>> parse_record_path(std::string_view text) {
  std::vector<std::string> path;
  if (text.empty()) return path;
  if (text.front() != '/') {
    path.emplace_back(text);
    return path;
  }
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::size_t end = std::min(text.find('/'), text.size());
    Result<std::string> token = unescaped(text.substr(0, end));
    if (!token.ok()) return token.status();
    path.push_back(*std::move(token));
    text.remove_prefix(end);
  }
  return path;
}

Status JsonRecords::fault(const std::string& what) const {
  return Status::invalid_argument("line " + std::to_string(line_) + ": " + what);
}

/// Returns the error for a path that leads to no records.
Status JsonRecords::absent() const {
  std::string path;
  for (const std::string& token : *path_) path += "/" + token;
  return Status::invalid_argument("there is no array or object at " + (path.empty() ? "the root" : path) +
                                  ", which --records names" +
                                  names_hint(path_->empty() ? "" : path_->back(), "members beside it", seen_));
}

std::optional<JsonRecord> JsonRecords::next() {
  if (ready_.empty()) return std::nullopt;
  JsonRecord record = std::move(ready_.front());
  ready_.pop_front();
  return record;
}

Status JsonRecords::take(std::string_view bytes) {
  for (const char c : bytes) {
    for (bool again = true; again;) {
      again = false;
      Status taken;
      switch (reading_) {
        case Reading::kStructure: taken = take_structure(c); break;
        case Reading::kName: taken = take_name(c); break;
        default: taken = take_value(c, &again); break;
      }
      if (!taken.ok()) return taken;
    }
    if (c == '\n') ++line_;
  }
  return Status();
}

Status JsonRecords::finish() {
  if (reading_ == Reading::kPlain && frames_.empty()) end_value();
  if (reading_ != Reading::kStructure || !frames_.empty()) return fault("the JSON text ends before its end");
  return any_root_ && path_ && !found_ ? absent() : Status();
}

Status JsonRecords::take_structure(char c) {
  if (is_blank(c)) return Status();
  if (frames_.empty()) {
    if (any_root_ && path_) return fault("more text follows after the end of the JSON text");
    return begin_value(c);
  }
  Frame& frame = frames_.back();
  switch (frame.wanted) {
    case Wanted::kValueOrEnd:
      if (c == ']') return end_frame(c);
      return begin_value(c);
    case Wanted::kValue: return begin_value(c);
    case Wanted::kNameOrEnd:
      if (c == '}') return end_frame(c);
      [[fallthrough]];
    case Wanted::kName:
      if (c != '"') return fault("not JSON: a name in quotes is missing");
      name_ = c;
      reading_ = Reading::kName;
      return Status();
    case Wanted::kColon:
      if (c != ':') return fault("not JSON: a colon is missing");
      frame.wanted = Wanted::kValue;
      return Status();
    case Wanted::kCommaOrEnd: break;
  }
  if (c == (frame.is_object ? '}' : ']')) return end_frame(c);
  if (c != ',') return fault("not JSON: a comma is missing");
  frame.wanted = frame.is_object ? Wanted::kName : Wanted::kValue;
  ++frame.index;
  return Status();
}

Status JsonRecords::take_name(char c) {
  if (name_.size() == kNameBytesMax) return fault("a name is longer than 64 KiB");
  name_ += c;
  if (escaped_ || c == '\\') {
    escaped_ = !escaped_;
    return Status();
  }
  if (c != '"') return Status();
  const nlohmann::json name = nlohmann::json::parse(name_, nullptr, /*allow_exceptions=*/false);
  if (!name.is_string()) return fault("not JSON: a name is not valid");
  frames_.back().name = name.get<std::string>();
  frames_.back().wanted = Wanted::kColon;
  reading_ = Reading::kStructure;
  return Status();
}

/// Returns whether the present element of the frame is on the way to the records.
bool JsonRecords::is_on_path(const Frame& frame) const {
  const std::size_t level = frames_.size() - 1;
  if (!path_ || level >= path_->size()) return false;
  const std::string& wanted = (*path_)[level];
  return frame.is_object ? frame.name == wanted : std::to_string(frame.index) == wanted;
}

Status JsonRecords::begin_value(char c) {
  const bool is_container = c == '{' || c == '[';
  if (!is_container && c != '"' && !is_plain(c)) return fault("not JSON: a value is missing");
  const bool is_root = frames_.empty();
  any_root_ = true;
  if (is_root) {
    const bool has_records = path_ ? path_->empty() : c == '[';
    if (is_container && (path_ || has_records)) return descend(c, has_records);
  } else {
    Frame& frame = frames_.back();
    frame.wanted = Wanted::kCommaOrEnd;
    const bool on_path = !frame.has_records && is_on_path(frame);
    if (on_path && is_container) return descend(c, frames_.size() == path_->size());
    if (!on_path && frame.is_object && seen_.size() < kNamesSeenMax && !frame.has_records) seen_.push_back(frame.name);
  }
  keeps_ = is_root ? !path_ : frames_.back().has_records;
  if (keeps_) {
    record_ = JsonRecord();
    record_.line = line_;
    record_.is_root = is_root;
    if (!is_root && frames_.back().is_object) record_.name = frames_.back().name;
    keep(c);
  }
  depth_ = is_container ? 1 : 0;
  in_text_ = escaped_ = false;
  if (is_container) {
    reading_ = Reading::kNested;
  } else {
    reading_ = c == '"' ? Reading::kText : Reading::kPlain;
  }
  return Status();
}

Status JsonRecords::descend(char c, bool has_records) {
  found_ = found_ || has_records;
  Frame frame;
  frame.is_object = c == '{';
  frame.wanted = frame.is_object ? Wanted::kNameOrEnd : Wanted::kValueOrEnd;
  frame.has_records = has_records;
  frames_.push_back(std::move(frame));
  return Status();
}

Status JsonRecords::end_frame(char) {
  frames_.pop_back();
  return Status();
}

void JsonRecords::keep(char c) {
  if (!keeps_) return;
  if (record_.text.size() == kLineBytesMax) {
    record_.too_long = true;
    return;
  }
  record_.text += c;
}

void JsonRecords::end_value() {
  reading_ = Reading::kStructure;
  if (!keeps_) return;
  record_.last_line = line_;
  ready_.push_back(std::move(record_));
  record_ = JsonRecord();
  keeps_ = false;
}

/// Takes a byte of a value. Sets `again` if the byte comes after a value's end.
Status JsonRecords::take_value(char c, bool* again) {
  if (reading_ == Reading::kPlain) {
    if (is_plain(c)) {
      keep(c);
      return Status();
    }
    end_value();
    *again = true;
    return Status();
  }
  keep(c);
  if (reading_ == Reading::kText || in_text_) {
    if (escaped_ || c == '\\') {
      escaped_ = !escaped_;
    } else if (c == '"') {
      in_text_ = false;
      if (reading_ == Reading::kText) end_value();
    }
    return Status();
  }
  if (c == '"') in_text_ = true;
  if (c == '{' || c == '[') ++depth_;
  if ((c == '}' || c == ']') && --depth_ == 0) end_value();
  return Status();
}

}  // namespace varve::tool
