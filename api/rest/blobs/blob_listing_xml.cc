// Owns: listings of blobs and containers as XML (blob_xml.h).
// Must never: write a character that XML cannot carry.
#include <algorithm>

#include "api/model/percent.h"
#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/blobs/blob_headers.h"
#include "api/rest/blobs/blob_xml.h"
#include "api/rest/encoding/xml_text.h"
#include "api/security/http_date.h"

namespace varve::serve {
namespace {

/// The version from which an encoded name says that it is encoded.
constexpr std::string_view kEncodedNames = "2021-02-12";

void append_name(std::string& xml, std::string_view name, std::string_view version) {
  if (is_xml_text(name)) return append_tag(xml, "Name", name);
  if (version < kEncodedNames) return append_tag(xml, "Name", percent_encode(name));
  xml.append("<Name Encoded=\"true\">").append(percent_encode(name)).append("</Name>");
}

void append_set_tag(std::string& xml, std::string_view name, std::string_view text) {
  if (!text.empty()) append_tag(xml, name, text);
}

void append_lease(std::string& xml, const LeaseInfo& lease) {
  append_tag(xml, "LeaseStatus", lease_status_name(lease.state));
  append_tag(xml, "LeaseState", lease_state_name(lease.state));
  append_set_tag(xml, "LeaseDuration", lease_duration_name(lease));
}

void append_copy(std::string& xml, const BlobState& blob) {
  if (!blob.copy_id) return;
  append_tag(xml, "CopyId", blob.copy_id->to_string());
  append_tag(xml, "CopyStatus", "success");
  append_set_tag(xml, "CopySource", blob.copy_source);
  append_tag(xml, "CopyProgress", std::to_string(blob.length) + "/" + std::to_string(blob.length));
  if (blob.copied) append_tag(xml, "CopyCompletionTime", security::http_date(*blob.copied));
}

void append_content_properties(std::string& xml, const BlobState& blob) {
  const BlobProperties& properties = blob.properties;
  append_tag(xml, "Content-Length", std::to_string(blob.length));
  append_tag(xml, "Content-Type",
             properties.content_type.empty() ? "application/octet-stream" : std::string_view(properties.content_type));
  append_set_tag(xml, "Content-Encoding", properties.content_encoding);
  append_set_tag(xml, "Content-Language", properties.content_language);
  if (properties.content_md5) append_tag(xml, "Content-MD5", md5_text(*properties.content_md5));
  append_set_tag(xml, "Cache-Control", properties.cache_control);
  append_set_tag(xml, "Content-Disposition", properties.content_disposition);
}

void append_properties(std::string& xml, const BlobState& blob, const ShownListing& shown) {
  xml.append("<Properties>");
  if (!blob.is_uncommitted) {
    append_tag(xml, "Creation-Time", security::http_date(blob.created));
    append_tag(xml, "Last-Modified", security::http_date(blob.modified));
    append_tag(xml, "Etag", plain_etag(blob.etag));
  }
  append_content_properties(xml, blob);
  append_tag(xml, "BlobType", blob.kind == BlobKind::kAppend ? "AppendBlob" : "BlockBlob");
  if (blob.kind == BlobKind::kBlock) {
    append_tag(xml, "AccessTier", tier_name(blob.tier));
    if (blob.tier == BlobTier::kDefault) append_tag(xml, "AccessTierInferred", "true");
  }
  append_lease(xml, blob.lease);
  if (shown.has_copies) append_copy(xml, blob);
  append_tag(xml, "ServerEncrypted", "true");
  if (!blob.tags.empty()) append_tag(xml, "TagCount", std::to_string(blob.tags.size()));
  xml.append("</Properties>");
}

void append_blob(std::string& xml, const BlobState& blob, const ShownListing& shown, std::string_view version) {
  xml.append("<Blob>");
  append_name(xml, blob.name, version);
  append_properties(xml, blob, shown);
  if (shown.has_metadata) append_metadata(xml, blob.metadata);
  if (shown.has_tags && !blob.tags.empty()) {
    const std::string tags = write_tags(blob.tags);
    xml.append(tags, kXmlDeclaration.size());
  }
  xml.append("</Blob>");
}

void append_given(std::string& xml, std::string_view name, const std::optional<std::string>& text) {
  if (text) append_tag(xml, name, *text);
}

}  // namespace

std::string write_blob_listing(const ShownListing& shown, std::string_view container,
                               std::span<const BlobListed> entries, std::string_view version) {
  std::string xml = begin_listing(shown.endpoint);
  xml.append(" ContainerName=\"");
  append_xml_attribute(xml, container);
  xml.append("\">");
  append_given(xml, "Prefix", shown.prefix);
  append_given(xml, "Marker", shown.marker);
  append_given(xml, "MaxResults", shown.items_max);
  append_given(xml, "Delimiter", shown.delimiter);
  xml.append(entries.empty() ? "<Blobs />" : "<Blobs>");
  for (const BlobListed& entry : entries) {
    if (entry.prefix.empty()) {
      append_blob(xml, entry.blob, shown, version);
      continue;
    }
    xml.append("<BlobPrefix>");
    append_name(xml, entry.prefix, version);
    xml.append("</BlobPrefix>");
  }
  if (!entries.empty()) xml.append("</Blobs>");
  append_tag(xml, "NextMarker", shown.next_marker);
  return xml.append("</EnumerationResults>");
}

std::string write_container_listing(const ShownListing& shown, std::span<const ContainerState> containers) {
  std::string xml = begin_listing(shown.endpoint);
  xml.append(1, '>');
  append_given(xml, "Prefix", shown.prefix);
  append_given(xml, "Marker", shown.marker);
  append_given(xml, "MaxResults", shown.items_max);
  xml.append(containers.empty() ? "<Containers />" : "<Containers>");
  for (const ContainerState& container : containers) {
    xml.append("<Container>");
    append_tag(xml, "Name", container.name);
    xml.append("<Properties>");
    append_tag(xml, "Last-Modified", security::http_date(container.modified));
    append_tag(xml, "Etag", plain_etag(container.etag));
    append_lease(xml, container.lease);
    append_set_tag(xml, "PublicAccess", public_access_name(container.public_access));
    append_tag(xml, "HasImmutabilityPolicy", "false");
    append_tag(xml, "HasLegalHold", "false");
    xml.append("</Properties>");
    if (shown.has_metadata) append_metadata(xml, container.metadata);
    xml.append("</Container>");
  }
  if (!containers.empty()) xml.append("</Containers>");
  append_tag(xml, "NextMarker", shown.next_marker);
  return xml.append("</EnumerationResults>");
}

}  // namespace varve::serve
