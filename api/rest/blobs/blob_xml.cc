#include "api/rest/blobs/blob_xml.h"

#include <algorithm>
#include <utility>

#include "api/model/base64.h"
#include "api/model/service_error.h"
#include "api/rest/encoding/xml_reader.h"
#include "api/rest/encoding/xml_text.h"
#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

constexpr std::size_t kBlockIdBytesMax = 64;
constexpr std::size_t kTagElementsMax = 256;

struct BlockElement {
  std::string_view name;
  BlockChoice::From from;
};
constexpr BlockElement kBlockElements[] = {{"Latest", BlockChoice::From::kLatest},
                                           {"Uncommitted", BlockChoice::From::kStaged},
                                           {"Committed", BlockChoice::From::kCommitted}};

/// Counts the elements of a list without reading it. A text that is no list has no use for the number.
std::size_t count_block_elements(std::string_view body) noexcept {
  std::size_t count = 0;
  for (std::size_t at = body.find('<'); at != std::string_view::npos; at = body.find('<', at + 1)) {
    const std::string_view rest = body.substr(at + 1);
    count += std::any_of(std::begin(kBlockElements), std::end(kBlockElements),
                         [&](const BlockElement& element) { return rest.starts_with(element.name); })
                 ? 1U
                 : 0U;
  }
  return count;
}

Result<BlockChoice> read_block(const XmlDocument::Element& element) {
  const auto* const known = std::find_if(std::begin(kBlockElements), std::end(kBlockElements),
                                         [&](const BlockElement& one) { return one.name == element.name(); });
  if (known == std::end(kBlockElements) || element.first_child()) {
    return service_error::invalid_xml_document("BlockList may contain only Latest, Uncommitted and Committed");
  }
  std::optional<std::string> id = decode_block_id(element.text());
  if (!id) return refused("InvalidBlockList", "a block id must be base64 of 1 to 64 bytes");
  return BlockChoice{*std::move(id), known->from};
}

void append_blocks(std::string& xml, std::string_view name, std::span<const BlockInfo> blocks) {
  if (blocks.empty()) return append_tag(xml, name, "");
  xml.append(1, '<').append(name).append(1, '>');
  for (const BlockInfo& block : blocks) {
    xml.append("<Block>");
    append_tag(xml, "Name", encode_base64(block.id));
    append_tag(xml, "Size", std::to_string(block.length));
    xml.append("</Block>");
  }
  xml.append("</").append(name).append(1, '>');
}

Result<BlobTag> read_tag(const XmlDocument::Element& element) {
  if (!element.has_only_elements({"Key", "Value"})) {
    return service_error::invalid_xml_document("Tag may contain only Key and Value");
  }
  Result<std::optional<std::string>> name = element.text_of("Key");
  if (!name.ok()) return name.status();
  Result<std::optional<std::string>> value = element.text_of("Value");
  if (!value.ok()) return value.status();
  if (!*name || !*value) return service_error::invalid_xml_document("a Tag needs Key and Value");
  return BlobTag{**std::move(name), **std::move(value)};
}

}  // namespace

std::optional<std::string> decode_block_id(std::string_view text) {
  std::optional<std::string> id = decode_base64(text, UnusedBits::kMayBeSet);
  if (!id || id->empty() || id->size() > kBlockIdBytesMax) return std::nullopt;
  return id;
}

Result<std::vector<BlockChoice>> read_block_list(std::string_view body) {
  if (count_block_elements(body) > kBlocksMax) {
    return refused("BlockListTooLong", "a list of blocks has at most 50000 blocks");
  }
  const Result<XmlDocument> document = XmlDocument::read(body, "BlockList", kBlocksMax + 2);
  if (!document.ok()) return document.status();
  const XmlDocument::Element root = document->root();
  if (!is_xml_blank(root.text())) return service_error::invalid_xml_document("BlockList contains a text");
  std::vector<BlockChoice> blocks;
  for (XmlDocument::Element element = root.first_child(); element; element = element.next_sibling()) {
    Result<BlockChoice> block = read_block(element);
    if (!block.ok()) return block.status();
    blocks.push_back(*std::move(block));
  }
  return blocks;
}

std::uint64_t block_lists_bytes(const BlockLists& blocks, ShownBlocks shown) noexcept {
  constexpr std::uint64_t kElementBytes = 72;  // with a size of 10 digits
  std::uint64_t bytes = 256;                   // the declaration and the lists' own elements
  const auto add = [&bytes](const std::vector<BlockInfo>& some) {
    for (const BlockInfo& block : some) bytes += kElementBytes + (block.id.size() + 2) / 3 * 4;
  };
  if (shown != ShownBlocks::kStaged) add(blocks.committed);
  if (shown != ShownBlocks::kCommitted) add(blocks.staged);
  return bytes;
}

std::string write_block_lists(const BlockLists& blocks, ShownBlocks shown) {
  std::string xml(kXmlDeclaration);
  xml.append("<BlockList>");
  if (shown != ShownBlocks::kStaged) append_blocks(xml, "CommittedBlocks", blocks.committed);
  if (shown != ShownBlocks::kCommitted) append_blocks(xml, "UncommittedBlocks", blocks.staged);
  return xml.append("</BlockList>");
}

Result<std::vector<BlobTag>> read_tags(std::string_view body) {
  const Result<XmlDocument> document = XmlDocument::read(body, "Tags", kTagElementsMax);
  if (!document.ok()) return document.status();
  if (!document->root().has_only_elements({"TagSet"})) {
    return service_error::invalid_xml_document("Tags may contain only TagSet");
  }
  const Result<XmlDocument::Element> set = document->root().find("TagSet");
  if (!set.ok()) return set.status();
  std::vector<BlobTag> tags;
  if (!*set) return tags;
  if (!set->has_only_elements({"Tag"})) return service_error::invalid_xml_document("TagSet may contain only Tag");
  for (XmlDocument::Element element = set->first_child(); element; element = element.next_sibling()) {
    Result<BlobTag> tag = read_tag(element);
    if (!tag.ok()) return tag.status();
    tags.push_back(*std::move(tag));
  }
  return tags;
}

namespace {

void append_tag_set(std::string& xml, std::span<const BlobTag> tags) {
  xml.append("<Tags><TagSet>");
  for (const BlobTag& tag : tags) {
    xml.append("<Tag>");
    append_tag(xml, "Key", tag.name);
    append_tag(xml, "Value", tag.value);
    xml.append("</Tag>");
  }
  xml.append("</TagSet></Tags>");
}

}  // namespace

std::string write_tags(std::span<const BlobTag> tags) {
  std::string xml(kXmlDeclaration);
  append_tag_set(xml, tags);
  return xml;
}

}  // namespace varve::serve
