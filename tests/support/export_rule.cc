// Owns: the reading of declarations for the rule of exports (export_rule.h).
#include "tests/support/export_rule.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/source_text.h"

namespace varve::test {
namespace {

constexpr std::string_view kMark = "VARVE_EXPORT";

bool is_one_of(const std::string& text, std::initializer_list<std::string_view> these) {
  return std::find(these.begin(), these.end(), text) != these.end();
}

/// The declarations of a namespace or of a class, each as a range of tokens.
struct Declaration {
  std::size_t begin = 0;
  std::size_t end = 0;   // after the last token
  std::size_t body = 0;  // the `{` of its body, or `end`
};

/// Returns the text with empty lines in place of its directives.
std::string without_directives(std::string_view text) {
  std::string kept;
  bool continues = false;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, size);
    const bool is_directive = continues || line.starts_with('#');
    continues = is_directive && line.ends_with("\\\n");
    kept += is_directive ? "\n" : line;
    text.remove_prefix(size);
  }
  return kept;
}

class ExportReader {
 public:
  explicit ExportReader(const SourceFile& header)
      : path_(header.path), tokens_(tokenize(without_directives(header.text)).tokens) {}

  void read() { read_namespace(0, tokens_.size()); }
  Offences offences;
  std::set<std::string> names;

 private:
  const std::string& text(std::size_t at) const {
    static const std::string none;
    return at < tokens_.size() ? tokens_[at].text : none;
  }
  bool has(const Declaration& declaration, std::string_view token) const {
    for (std::size_t at = declaration.begin; at < declaration.end; ++at) {
      if (text(at) == token) return true;
    }
    return false;
  }

  std::size_t after_braces(std::size_t at) const {
    int depth = 0;
    for (; at < tokens_.size(); ++at) {
      if (text(at) == "{") ++depth;
      if (text(at) == "}" && --depth == 0) return at + 1;
    }
    return at;
  }

  /// Returns the declaration that begins at `at`.
  Declaration declaration(std::size_t at, std::size_t end) const {
    Declaration found{at, at, 0};
    int parentheses = 0;
    for (; at < end; ++at) {
      if (text(at) == "(") ++parentheses;
      if (text(at) == ")") --parentheses;
      if (parentheses > 0) continue;
      if (text(at) == ";") break;
      if (text(at) != "{") continue;
      if (found.body == 0) found.body = at;
      const std::size_t next = after_braces(at);
      if (!is_one_of(text(next), {";", ",", "{"}) || text(found.begin) == "namespace") {
        found.end = next;
        return found;
      }
      at = next - 1;
    }
    found.end = std::min(at + 1, end);
    if (found.body == 0) found.body = found.end;
    return found;
  }

  bool is_type(const Declaration& found) const {
    return is_one_of(text(found.begin), {"class", "struct"}) && found.body < found.end;
  }
  /// Returns whether it declares a function without a body. `operator==` and the like count.
  bool is_open_function(const Declaration& found) const {
    if (found.body < found.end || !has(found, "(")) return false;
    if (is_one_of(text(found.begin), {"using", "enum", "static_assert", "template", "class", "struct", "concept"})) {
      return false;
    }
    for (std::size_t at = found.begin; at < found.end && text(at) != "("; ++at) {
      if (text(at) == "operator") break;
      if (text(at) == "=" || text(at) == "<") return false;  // a variable, or the type std::function
    }
    return !(text(found.end - 3) == "=" && is_one_of(text(found.end - 2), {"default", "delete", "0"}));
  }

  void read_namespace(std::size_t at, std::size_t end) {
    while (at < end) {
      const Declaration found = declaration(at, end);
      if (text(found.begin) == "namespace" && found.body < found.end) {
        read_namespace(found.body + 1, found.end - 1);
      } else if (is_type(found)) {
        read_class(found);
      } else {
        read_function(found);
      }
      at = found.end;
    }
  }

  void read_function(const Declaration& found) {
    if (is_one_of(text(found.begin), {"template", "inline", "constexpr"})) return;
    const bool is_marked = has(found, kMark);
    if (!is_marked && !returns_a_function(found)) return;
    for (std::size_t at = found.begin; at < found.end; ++at) {
      if (text(at) != "(") continue;
      if (is_marked) names.insert(text(at - 1));
      if (!is_marked) offend(found, text(at - 1) + "()");
      return;
    }
  }
  bool returns_a_function(const Declaration& found) const {
    if (found.body < found.end || !has(found, "(") || has(found, "=")) {
      return false;
    }
    return !is_one_of(text(found.begin), {"using", "enum", "static_assert", "class", "struct", "concept", "friend"});
  }

  void read_class(const Declaration& found) {
    const bool is_marked = text(found.begin + 1) == kMark;
    const std::string name = text(found.begin + (is_marked ? 2 : 1));
    if (is_marked) names.insert(name);
    if (!is_marked && needs_mark(found)) offend(found, name);
    for_each_member(found, [&](const Declaration& member) {
      if (text(member.begin) == "friend" && has(member, "(") && member.body == member.end && !has(member, kMark)) {
        offend(member, "a friend function of " + name);
      }
    });
  }

  template <typename Visit>
  void for_each_member(const Declaration& type, const Visit& visit) const {
    std::size_t at = type.body + 1;
    const std::size_t end = after_braces(type.body) - 1;
    while (at < end) {
      if (is_one_of(text(at), {"public", "private", "protected"}) && text(at + 1) == ":") {
        at += 2;
        continue;
      }
      const Declaration member = declaration(at, end);
      visit(member);
      at = member.end;
    }
  }
  bool needs_mark(const Declaration& type) const {
    bool needs = false;
    for_each_member(type, [&](const Declaration& member) {
      if (text(member.begin) == "friend") return;
      needs = needs || has(member, "virtual") || is_open_function(member) || (is_type(member) && needs_mark(member));
    });
    return needs;
  }

  void offend(const Declaration& where, const std::string& what) {
    offences.push_back({path_, tokens_[where.begin].line, what + " is not exported; mark it with VARVE_EXPORT"});
  }

  const std::string path_;
  const std::vector<Token> tokens_;
};

}  // namespace

Offences check_exports(const SourceFile& header) {
  ExportReader reader(header);
  reader.read();
  return reader.offences;
}

std::set<std::string> exported_names(const SourceFile& header) {
  ExportReader reader(header);
  reader.read();
  return reader.names;
}

}  // namespace varve::test
