#include "tools/varve/rows/key_template.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <random>

#include "varve/keys.h"

namespace varve::tool {

namespace {

using Kind = KeyPart::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 7> kValues{{{"line", Kind::kLine},
                                                                    {"row", Kind::kRow},
                                                                    {"uuid", Kind::kUuid},
                                                                    {"ticks", Kind::kTicks},
                                                                    {"inverted-ticks", Kind::kInvertedTicks},
                                                                    {"file", Kind::kFile},
                                                                    {"name", Kind::kName}}};
constexpr std::size_t kLineDigits = 10;
constexpr std::size_t kTickDigits = 19;
/// The ticks from year 1 to 1970.
constexpr std::uint64_t kTicksAtEpoch = 621'355'968'000'000'000;

std::string padded(std::uint64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return text;
}

/// Returns the time in ticks. Each call returns a later one.
std::uint64_t next_ticks() {
  static std::uint64_t last = 0;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t ticks = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() / 100;
  last = std::max(last + 1, kTicksAtEpoch + static_cast<std::uint64_t>(ticks));
  return last;
}

/// Returns a random UUID (version 4).
std::string uuid() {
  static std::mt19937_64 bits = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(), device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  const std::uint64_t high = (bits() & ~std::uint64_t{0xF000}) | 0x4000;
  const std::uint64_t low = (bits() & ~(std::uint64_t{3} << 62)) | std::uint64_t{1} << 63;
  std::string text;
  for (const std::uint64_t half : {high, low}) {
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[half >> shift & 15];
  }
  for (const std::size_t at : {20U, 16U, 12U, 8U}) text.insert(at, 1, '-');
  return text;
}

bool is_refused_in_keys(unsigned char c) noexcept {
  return c < 0x20 || c == 0x7F || c == '/' || c == '\\' || c == '#' || c == '?';
}

}  // namespace

std::string_view first_characters(std::string_view text, std::size_t characters_max) noexcept {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    if (begins && characters++ == characters_max) return text.substr(0, at);
  }
  return text;
}

KeyTemplate::KeyTemplate(std::string column) {
  parts_.push_back({Kind::kColumn, std::move(column)});
}

/// Adds `COLUMN` or `COLUMN[:2]`.
Status KeyTemplate::add_column(std::string_view name) {
  const std::size_t bracket = name.find("[:");
  if (bracket == std::string_view::npos || !name.ends_with(']')) {
    parts_.push_back({Kind::kColumn, std::string(name)});
    return Status();
  }
  KeyPart part{Kind::kColumn, std::string(name.substr(0, bracket))};
  const std::string_view digits = name.substr(bracket + 2, name.size() - bracket - 3);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), part.characters_max);
  if (error != std::errc() || end != digits.data() + digits.size() || part.characters_max == 0) {
    return Status::invalid_argument("{" + std::string(name) +
                                    "} must have a number of characters, such as {COLUMN[:2]}");
  }
  parts_.push_back(std::move(part));
  return Status();
}

Status KeyTemplate::add_value(std::string_view name) {
  if (name.empty()) return Status::invalid_argument("{} names no column; write {{}} for braces");
  if (name.front() != '@') return add_column(name);
  for (const auto& [value, kind] : kValues) {
    if (name.substr(1) != value) continue;
    parts_.push_back({kind, ""});
    return Status();
  }
  return Status::invalid_argument(
      "{" + std::string(name) +
      "} is no value; use {@line}, {@row}, {@uuid}, {@ticks}, {@inverted-ticks}, {@file} or "
      "{@name}, or {COLUMN}");
}

Result<KeyTemplate> KeyTemplate::parse(std::string_view text) {
  KeyTemplate key;
  if (text.empty()) return Status::invalid_argument("a key needs a column, =TEXT or a template");
  if (text.front() == '=') {
    key.parts_.push_back({Kind::kText, std::string(text.substr(1))});
    return key;
  }
  if (text.find_first_of("{}") == std::string_view::npos) return KeyTemplate(std::string(text));
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c != '{' && c != '}') {
      plain += c;
      continue;
    }
    if (at + 1 < text.size() && text[at + 1] == c) {
      plain += c;
      ++at;
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (c == '}' || end == std::string_view::npos) {
      return Status::invalid_argument("\"" + std::string(text) +
                                      "\" has a lone brace; write {COLUMN}, and {{ or }} for " + "a brace");
    }
    if (!plain.empty()) key.parts_.push_back({Kind::kText, std::exchange(plain, {})});
    if (Status added = key.add_value(text.substr(at + 1, end - at - 1)); !added.ok()) return added;
    at = end;
  }
  if (!plain.empty()) key.parts_.push_back({Kind::kText, plain});
  return key;
}

const KeyPart* KeyTemplate::only_column() const noexcept {
  const bool is_column = parts_.size() == 1 && parts_[0].kind == Kind::kColumn && parts_[0].characters_max == SIZE_MAX;
  return is_column ? parts_.data() : nullptr;
}

bool KeyTemplate::operator==(const KeyTemplate& other) const {
  return parts_ == other.parts_;
}

void KeyTemplate::append(const KeyPart& part, const RowOrigin& origin, std::string& key) {
  switch (part.kind) {
    case Kind::kText: key += part.text; break;
    case Kind::kColumn: break;
    case Kind::kLine: key += padded(origin.line, kLineDigits); break;
    case Kind::kRow: key += padded(origin.row, kLineDigits); break;
    case Kind::kUuid: key += uuid(); break;
    case Kind::kTicks: key += padded(next_ticks(), kTickDigits); break;
    case Kind::kInvertedTicks: key += inverted_ticks(DateTime{next_ticks()}); break;
    case Kind::kFile: key += origin.file; break;
    case Kind::kName: key += origin.name; break;
  }
}

std::string with_replaced_characters(std::string_view key, std::string_view replacement) {
  std::string replaced;
  for (std::size_t at = 0; at < key.size(); ++at) {
    // The control characters from U+0080 to U+009F are two bytes.
    const auto next = static_cast<unsigned char>(at + 1 < key.size() ? key[at + 1] : '\0');
    const bool is_long_control = key[at] == '\xC2' && next >= 0x80 && next < 0xA0;
    if (is_long_control) ++at;
    if (is_long_control || is_refused_in_keys(static_cast<unsigned char>(key[at]))) {
      replaced += replacement;
    } else {
      replaced += key[at];
    }
  }
  return replaced;
}

}  // namespace varve::tool
