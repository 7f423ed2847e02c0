// Owns: reading XML bodies whole: a document is understood to its last byte, or refused.
// Must never: recurse, resolve an entity of a document, skip text that it does not understand, or grow beyond a fixed
// number of elements.
//
// Comments, processing instructions and CDATA sections have no meaning of their own: the text around them and in them
// is one text. A document type is refused.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "varve/result.h"

namespace varve::serve {

/// Elements of one document; the bodies that the service takes have fewer than 100.
inline constexpr std::size_t kXmlElementsMax = 256;
inline constexpr std::size_t kXmlDepthMax = 16;

/// A document that was read. Moves, but is not copied: its elements view it.
class XmlDocument {
 public:
  class Element;

  /// UTF-8, with a byte order mark or without. `root` is the name that the root element must have.
  /// Errors: kInvalidArgument (InvalidXmlDocument: not well-formed; not UTF-8; two roots, or text beside the root; a
  /// document type; an attribute other than `xmlns:...` or an empty `xmlns`; elements and text mixed; more elements
  /// than kXmlElementsMax, or deeper than kXmlDepthMax).
  static Result<XmlDocument> read(std::string_view body, std::string_view root);

  XmlDocument(XmlDocument&&) = default;
  XmlDocument& operator=(XmlDocument&&) = default;

  Element root() const noexcept;

 private:
  friend class XmlParser;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Node {
    std::string name;
    std::string text{};
    std::uint32_t parent = kNone;
    std::uint32_t first_child = kNone;
    std::uint32_t last_child = kNone;
    std::uint32_t next_sibling = kNone;
  };
  XmlDocument() = default;

  std::vector<Node> nodes_;
};

/// Views an element of a document, or is null.
class XmlDocument::Element {
 public:
  constexpr Element() noexcept = default;
  explicit operator bool() const noexcept { return document_ != nullptr; }
  const std::string& name() const noexcept { return node().name; }
  /// All of its text, comments and sections resolved; blank where it holds elements.
  const std::string& text() const noexcept { return node().text; }
  Element first_child() const noexcept { return at(node().first_child); }
  Element next_sibling() const noexcept { return at(node().next_sibling); }

  /// Whether it holds no text, and no elements of other names.
  bool has_only_elements(std::initializer_list<std::string_view> names) const noexcept;
  /// The child of this name, or null. Errors: kInvalidArgument (InvalidXmlDocument: it is there twice).
  Result<Element> find(std::string_view name) const;
  bool has(std::string_view name) const noexcept;
  /// The text of a child that holds nothing else; nothing where it is missing. Errors: kInvalidArgument
  /// (InvalidXmlDocument: it is there twice, or holds elements).
  Result<std::optional<std::string>> text_of(std::string_view name) const;

 private:
  friend class XmlDocument;
  Element(const XmlDocument* document, std::uint32_t place) noexcept : document_(document), place_(place) {}
  const Node& node() const noexcept { return document_->nodes_[place_]; }
  Element at(std::uint32_t place) const noexcept { return place == kNone ? Element() : Element(document_, place); }

  const XmlDocument* document_ = nullptr;
  std::uint32_t place_ = 0;
};

/// Whether it holds nothing but white space of XML.
bool is_xml_blank(std::string_view text) noexcept;

}  // namespace varve::serve
