// Owns: reading XML bodies completely: the reader understands a document to its last byte, or refuses it.
// Must never: recurse, resolve an entity of a document, skip text that it does not understand, or exceed a fixed number
// of elements.
//
// Comments, processing instructions and CDATA sections have no meaning of their own: text around and inside of them
// forms one text. A document type is refused.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "varve/result.h"

namespace varve::serve {

/// The most elements of one document, unless the caller allows more. Most bodies have fewer than 100.
inline constexpr std::size_t kXmlElementsMax = 256;
inline constexpr std::size_t kXmlDepthMax = 16;

/// A parsed document. Can be moved, but not copied: its elements view it.
class XmlDocument {
 public:
  class Element;

  /// Parses a UTF-8 body with or without a byte order mark. `root` is the required name of the root element. Errors:
  /// kInvalidArgument (InvalidXmlDocument), if one of these is true:
  /// - The body is not well-formed or not UTF-8.
  /// - The body has two roots, text beside the root, or a document type.
  /// - An element has an attribute other than `xmlns:...` or an empty `xmlns`.
  /// - An element contains both elements and text.
  /// - The document has more elements than `elements_max`, or is nested deeper than kXmlDepthMax.
  static Result<XmlDocument> read(std::string_view body, std::string_view root,
                                  std::size_t elements_max = kXmlElementsMax);

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

/// Views an element of a document. Can be null.
class XmlDocument::Element {
 public:
  constexpr Element() noexcept = default;
  explicit operator bool() const noexcept { return document_ != nullptr; }
  const std::string& name() const noexcept { return node().name; }
  /// Returns the element's whole text, including CDATA sections and without comments. Returns blank text if the element
  /// contains elements.
  const std::string& text() const noexcept { return node().text; }
  Element first_child() const noexcept { return at(node().first_child); }
  Element next_sibling() const noexcept { return at(node().next_sibling); }

  /// Returns whether the element contains no text, and no elements of other names.
  bool has_only_elements(std::initializer_list<std::string_view> names) const noexcept;
  /// Returns the child of this name, or null. Errors: kInvalidArgument (InvalidXmlDocument: the child occurs twice).
  Result<Element> find(std::string_view name) const;
  bool has(std::string_view name) const noexcept;
  /// Returns the text of a child that contains only text, or nothing if the child is missing. Errors: kInvalidArgument
  /// (InvalidXmlDocument: the child occurs twice, or contains elements).
  Result<std::optional<std::string>> text_of(std::string_view name) const;

 private:
  friend class XmlDocument;
  Element(const XmlDocument* document, std::uint32_t place) noexcept : document_(document), place_(place) {}
  const Node& node() const noexcept { return document_->nodes_[place_]; }
  Element at(std::uint32_t place) const noexcept { return place == kNone ? Element() : Element(document_, place); }

  const XmlDocument* document_ = nullptr;
  std::uint32_t place_ = 0;
};

/// Returns whether the text contains only white space of XML.
bool is_xml_blank(std::string_view text) noexcept;

}  // namespace varve::serve
