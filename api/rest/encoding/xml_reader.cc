#include "api/rest/encoding/xml_reader.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "api/model/service_error.h"
#include "api/rest/encoding/byte_order_mark.h"
#include "format/keys/sort_key.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

constexpr std::string_view kSpace = " \t\n";
constexpr std::size_t kNone = std::string_view::npos;

bool is_space(char c) noexcept {
  return kSpace.find(c) != kNone;
}
bool is_name_start(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_name_character(char c) noexcept {
  return is_name_start(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

/// Returns whether a text contains control characters other than tab and line ends. XML 1.0 forbids them.
bool holds_control_characters(std::string_view text) noexcept {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
  });
}

bool is_character(std::uint32_t code) noexcept {
  return code == 0x9 || code == 0xA || code == 0xD || (code >= 0x20 && code <= 0xD7FF) ||
         (code >= 0xE000 && code <= 0xFFFD) || (code >= 0x10000 && code <= 0x10FFFF);
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto tail = [&](unsigned shift) { out.push_back(static_cast<char>(0x80U | (code >> shift & 0x3FU))); };
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xC0U | code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xE0U | code >> 12));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0U | code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// Returns the text with every line end as one line feed, as XML requires.
std::string with_line_feeds(std::string_view body) {
  std::string text;
  text.reserve(body.size());
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\r') {
      text.push_back(body[i]);
    } else if (i + 1 == body.size() || body[i + 1] != '\n') {
      text.push_back('\n');
    }
  }
  return text;
}

}  // namespace

/// Parses a document front to back. Each step returns false if the text is not well-formed, or not understood.
class XmlParser {
 public:
  XmlParser(std::string_view text, std::size_t elements_max, XmlDocument& document) noexcept
      : rest_(text), elements_max_(elements_max), nodes_(document.nodes_) {}

  bool parse() {
    if (!take_declaration()) return false;
    while (!rest_.empty()) {
      if (!step()) return false;
    }
    return !nodes_.empty() && open_ == XmlDocument::kNone;
  }

 private:
  using Attributes = std::vector<std::pair<std::string_view, std::string>>;

  bool take(std::string_view text) noexcept {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  /// Skips white space. Returns whether there was any.
  bool skip_spaces() noexcept {
    const std::size_t end = std::min(rest_.find_first_not_of(kSpace), rest_.size());
    rest_.remove_prefix(end);
    return end > 0;
  }
  std::string_view take_name() noexcept {
    if (rest_.empty() || !is_name_start(rest_.front())) return {};
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_name_character);
    const std::string_view name = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(name.size());
    return name;
  }
  /// Removes and returns the text before `end`. Removes `end` too.
  std::optional<std::string_view> take_until(std::string_view end) noexcept {
    const std::size_t place = rest_.find(end);
    if (place == kNone) return std::nullopt;
    const std::string_view taken = rest_.substr(0, place);
    rest_.remove_prefix(place + end.size());
    return taken;
  }

  /// Reads the optional declaration `<?xml version="1.0" encoding="utf-8"?>`.
  bool take_declaration() {
    constexpr std::string_view kStart = "<?xml";
    if (!rest_.starts_with(kStart) || rest_.size() == kStart.size() || !is_space(rest_[kStart.size()])) return true;
    rest_.remove_prefix(kStart.size());
    Attributes attributes;
    if (!take_attributes(attributes) || !take("?>")) return false;
    constexpr std::string_view kNames[] = {"version", "encoding", "standalone"};
    std::size_t known = 0;
    for (const auto& [name, value] : attributes) {
      const auto* const found = std::find(std::begin(kNames) + known, std::end(kNames), name);
      if (found == std::end(kNames)) return false;
      known = static_cast<std::size_t>(found - std::begin(kNames)) + 1;
      const bool is_understood = name == "version"    ? value == "1.0"
                                 : name == "encoding" ? is_ours(lower_case(value))
                                                      : value == "yes" || value == "no";
      if (!is_understood) return false;
    }
    return !attributes.empty() && attributes.front().first == "version";
  }
  static bool is_ours(std::string_view encoding) noexcept {
    return encoding == "utf-8" || encoding == "utf8" || encoding == "us-ascii";
  }

  /// Reads one piece of markup, or the text before the next piece.
  bool step() {
    if (rest_.front() != '<') return take_text();
    if (take("<!--")) return take_comment();
    if (take("<![CDATA[")) return take_section();
    if (take("<?")) return take_instruction();
    if (take("</")) return close();
    rest_.remove_prefix(1);
    return open();
  }

  bool take_text() {
    const std::string_view text = rest_.substr(0, rest_.find('<'));
    rest_.remove_prefix(text.size());
    if (open_ == XmlDocument::kNone) return is_xml_blank(text);
    if (text.find("]]>") != kNone) return false;
    std::string decoded;
    return append_decoded(decoded, text) && add_text(decoded);
  }
  bool take_section() {
    const std::optional<std::string_view> text = take_until("]]>");
    if (!text || open_ == XmlDocument::kNone) return false;
    return add_text(*text);
  }
  /// Appends text to the open element. An element contains text or elements. White space beside elements is dropped.
  bool add_text(std::string_view text) {
    XmlDocument::Node& node = nodes_[open_];
    if (node.first_child != XmlDocument::kNone) return is_xml_blank(text);
    node.text.append(text);
    return true;
  }
  bool take_comment() {
    const std::optional<std::string_view> text = take_until("--");
    return text && take(">");
  }
  bool take_instruction() {
    const std::string_view name = take_name();
    if (name.empty() || lower_case(name) == "xml") return false;
    if (take("?>")) return true;
    return skip_spaces() && take_until("?>").has_value();
  }

  bool open() {
    const std::string_view name = take_name();
    Attributes attributes;
    if (name.empty() || !take_attributes(attributes) ||
        !std::all_of(attributes.begin(), attributes.end(), has_no_meaning))
      return false;
    const bool is_closed = take("/>");
    if (!is_closed && !take(">")) return false;
    const bool is_second_root = open_ == XmlDocument::kNone && !nodes_.empty();
    if (is_second_root || depth_ == kXmlDepthMax || nodes_.size() == elements_max_) return false;
    const auto place = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({std::string(name), {}, open_});
    if (open_ != XmlDocument::kNone && !add_child(nodes_[open_], place)) return false;
    if (is_closed) return true;
    open_ = place;
    ++depth_;
    return true;
  }
  bool add_child(XmlDocument::Node& parent, std::uint32_t place) {
    if (!is_xml_blank(parent.text)) return false;
    parent.text.clear();
    if (parent.last_child == XmlDocument::kNone) {
      parent.first_child = place;
    } else {
      nodes_[parent.last_child].next_sibling = place;
    }
    parent.last_child = place;
    return true;
  }
  bool close() {
    const std::string_view name = take_name();
    skip_spaces();
    if (open_ == XmlDocument::kNone || name != nodes_[open_].name || !take(">")) return false;
    open_ = nodes_[open_].parent;
    --depth_;
    return true;
  }

  bool take_attributes(Attributes& attributes) {
    constexpr std::size_t kAttributesMax = 16;
    while (skip_spaces() && !rest_.empty() && is_name_start(rest_.front())) {
      const std::string_view name = take_name();
      skip_spaces();
      if (!take("=")) return false;
      skip_spaces();
      std::string value;
      if (!take_attribute_value(value) || attributes.size() == kAttributesMax) return false;
      const bool is_there =
          std::any_of(attributes.begin(), attributes.end(), [&](const auto& known) { return known.first == name; });
      if (is_there) return false;
      attributes.emplace_back(name, std::move(value));
    }
    return true;
  }
  bool take_attribute_value(std::string& value) {
    const std::string_view quote = rest_.substr(0, 1);
    if (quote != "\"" && quote != "'") return false;
    rest_.remove_prefix(1);
    const std::optional<std::string_view> text = take_until(quote);
    return text && text->find('<') == kNone && append_decoded(value, *text);
  }
  /// Returns whether an attribute can be ignored. Element names are compared as written, so declaring a prefix changes
  /// nothing. A default namespace would.
  static bool has_no_meaning(const std::pair<std::string_view, std::string>& attribute) {
    const auto& [name, value] = attribute;
    return name == "xmlns" ? value.empty()
                           : name.starts_with("xmlns:") && name.size() > std::string_view("xmlns:").size();
  }

  static bool append_decoded(std::string& out, std::string_view text) {
    while (!text.empty()) {
      const std::size_t plain = std::min(text.find('&'), text.size());
      out.append(text.substr(0, plain));
      text.remove_prefix(plain);
      if (text.empty()) break;
      const std::size_t end = text.find(';');
      if (end == kNone || !append_reference(out, text.substr(1, end - 1))) return false;
      text.remove_prefix(end + 1);
    }
    return true;
  }
  static bool append_reference(std::string& out, std::string_view name) {
    constexpr std::pair<std::string_view, char> kNamed[] = {
        {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    const auto* const named =
        std::find_if(std::begin(kNamed), std::end(kNamed), [&](const auto& known) { return known.first == name; });
    if (named != std::end(kNamed)) {
      out.push_back(named->second);
      return true;
    }
    if (!name.starts_with('#')) return false;
    name.remove_prefix(1);
    const int base = name.starts_with('x') ? 16 : 10;
    if (base == 16) name.remove_prefix(1);
    std::uint32_t code = 0;
    const auto [stopped, error] = std::from_chars(name.data(), name.data() + name.size(), code, base);
    if (error != std::errc() || stopped != name.data() + name.size() || !is_character(code)) return false;
    append_utf8(out, code);
    return true;
  }

  std::string_view rest_;
  const std::size_t elements_max_;
  std::vector<XmlDocument::Node>& nodes_;
  /// The innermost element that is still open.
  std::uint32_t open_ = XmlDocument::kNone;
  std::size_t depth_ = 0;
};

Result<XmlDocument> XmlDocument::read(std::string_view body, std::string_view root, std::size_t elements_max) {
  const auto refuse = [&] {
    return service_error::invalid_xml_document("the body must be an XML document with the root " + std::string(root));
  };
  body = without_byte_order_mark(body);
  if (holds_control_characters(body) || !format::is_valid_utf8(body)) return refuse();
  const std::string text = with_line_feeds(body);
  XmlDocument document;
  document.nodes_.reserve(64);
  if (!XmlParser(text, elements_max, document).parse() || document.nodes_.front().name != root) return refuse();
  return document;
}

XmlDocument::Element XmlDocument::root() const noexcept {
  return {this, 0};
}

bool XmlDocument::Element::has_only_elements(std::initializer_list<std::string_view> names) const noexcept {
  if (!is_xml_blank(text())) return false;
  for (Element child = first_child(); child; child = child.next_sibling()) {
    if (std::find(names.begin(), names.end(), std::string_view(child.name())) == names.end()) return false;
  }
  return true;
}

Result<XmlDocument::Element> XmlDocument::Element::find(std::string_view name) const {
  Element found;
  for (Element child = first_child(); child; child = child.next_sibling()) {
    if (child.name() != name) continue;
    if (found) return service_error::invalid_xml_document("the element " + std::string(name) + " is given twice");
    found = child;
  }
  return found;
}

bool XmlDocument::Element::has(std::string_view name) const noexcept {
  for (Element child = first_child(); child; child = child.next_sibling()) {
    if (child.name() == name) return true;
  }
  return false;
}

Result<std::optional<std::string>> XmlDocument::Element::text_of(std::string_view name) const {
  const Result<Element> child = find(name);
  if (!child.ok()) return child.status();
  if (!*child) return std::optional<std::string>();
  if (child->first_child()) {
    return service_error::invalid_xml_document("the element " + std::string(name) +
                                               " contains elements; expected a text");
  }
  return std::optional<std::string>(child->text());
}

bool is_xml_blank(std::string_view text) noexcept {
  return text.find_first_not_of(" \t\r\n") == kNone;
}

}  // namespace varve::serve
