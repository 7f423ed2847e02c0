// Owns: the encoding of CURRENT, and the checks of feature bits (root.h).
// Must never: accept a CURRENT with a byte that was not checked.
#include "format/log/root.h"

#include <algorithm>
#include <cassert>

#include "format/bytes/bytes.h"
#include "format/bytes/checksum.h"
#include "format/bytes/ordered_fields.h"
#include "format/log/file_header.h"

namespace varve::format {
namespace {

constexpr std::size_t kFeatureSetBytes = 8;

constexpr Tag kRootStoreIdTag = 1;
constexpr Tag kGenerationTag = 3;
constexpr Tag kCompatibleTag = 5;
constexpr Tag kReadCompatibleTag = 7;
constexpr Tag kIncompatibleTag = 9;
constexpr Tag kManifestTag = 11;
constexpr Tag kStateTag = 13;
constexpr Tag kManifestBytesTag = 15;
constexpr Tag kManifestHashTag = 17;
constexpr Tag kSegmentTag = 19;
constexpr Tag kRootLastVersionTag = 21;

Status refuse_unknown_bits(std::uint64_t bits, std::uint64_t known, std::string_view set, std::string_view meaning) {
  const std::uint64_t unknown = bits & ~known;
  if (unknown == 0) return Status();
  unsigned lowest = 0;
  while (((unknown >> lowest) & 1) == 0) ++lowest;
  std::string message = "the store uses feature bit " + std::to_string(lowest) + " of the ";
  return Status::unsupported(message.append(set).append(" set, which this build does not know: ").append(meaning));
}

std::string encode_feature_set(std::uint64_t bits) {
  std::string bytes;
  append_u64(bytes, bits);
  return bytes;
}

void write_fields(std::string& out, const Root& root) {
  OrderedFieldWriter writer(out, root.unknown_fields);
  writer.bytes(kRootStoreIdTag, {reinterpret_cast<const char*>(root.store_id.data()), root.store_id.size()});
  writer.number(kGenerationTag, root.generation);
  writer.bytes(kCompatibleTag, encode_feature_set(root.features.compatible));
  writer.bytes(kReadCompatibleTag, encode_feature_set(root.features.read_compatible));
  writer.bytes(kIncompatibleTag, encode_feature_set(root.features.incompatible));
  std::string manifest;
  append_varint(manifest, root.manifest_number);
  append_varint(manifest, root.manifest_seed);
  writer.bytes(kManifestTag, manifest);
  writer.number(kStateTag, static_cast<std::uint64_t>(root.state));
  if (root.state == RootState::kClean) {
    writer.number(kManifestBytesTag, root.manifest_bytes);
    writer.number(kManifestHashTag, root.manifest_hash);
    for (const FinalSegment& segment : root.segments) {
      std::string value;
      append_varint(value, segment.number);
      append_varint(value, segment.size_bytes);
      append_varint(value, segment.footer_hash);
      writer.bytes(kSegmentTag, value);
    }
    writer.number(kRootLastVersionTag, root.last_version);
  }
  writer.finish();
}

void read_store_id(OrderedFieldReader& reader, StoreId* id) {
  std::string_view value;
  reader.require(kRootStoreIdTag, &value);
  if (value.size() != id->size()) reader.refuse(Code::kCorruption, "store id is not 16 bytes");
  if (reader.ok()) std::copy(value.begin(), value.end(), id->begin());
}

void read_feature_set(OrderedFieldReader& reader, Tag tag, std::uint64_t* bits) {
  std::string_view value;
  reader.require(tag, &value);
  if (value.size() != kFeatureSetBytes) reader.refuse(Code::kCorruption, "feature set is not 8 bytes");
  if (reader.ok()) *bits = load_u64(value.data());
}

void read_manifest(OrderedFieldReader& reader, Root* root) {
  std::string_view value;
  reader.require(kManifestTag, &value);
  ByteReader numbers(value);
  if (!numbers.read_varint(&root->manifest_number) || !numbers.read_varint(&root->manifest_seed) || !numbers.at_end()) {
    reader.refuse(Code::kCorruption, "manifest is not two numbers");
  }
}

void read_state(OrderedFieldReader& reader, RootState* state) {
  std::uint64_t number = 0;
  reader.require_number(kStateTag, &number);
  for (const RootState known : {RootState::kOpen, RootState::kClean, RootState::kCreating}) {
    if (number == static_cast<std::uint64_t>(known)) {
      *state = known;
      return;
    }
  }
  reader.refuse(Code::kUnsupported, "state " + std::to_string(number) + " is not known to this build");
}

void read_segments(OrderedFieldReader& reader, std::vector<FinalSegment>* segments) {
  std::string_view value;
  while (reader.take(kSegmentTag, &value)) {
    ByteReader numbers(value);
    FinalSegment segment;
    if (!numbers.read_varint(&segment.number) || !numbers.read_varint(&segment.size_bytes) ||
        !numbers.read_varint(&segment.footer_hash) || !numbers.at_end()) {
      reader.refuse(Code::kCorruption, "final segment is not three numbers");
      return;
    }
    segments->push_back(segment);
  }
}

void read_clean_end(OrderedFieldReader& reader, Root* root) {
  reader.require_number(kManifestBytesTag, &root->manifest_bytes);
  reader.require_number(kManifestHashTag, &root->manifest_hash);
  read_segments(reader, &root->segments);
  reader.require_version(kRootLastVersionTag, &root->last_version);
}

void refuse_clean_end(OrderedFieldReader& reader) {
  std::string_view value;
  for (const Tag tag : {kManifestBytesTag, kManifestHashTag, kSegmentTag, kRootLastVersionTag}) {
    if (reader.take(tag, &value)) {
      reader.refuse(Code::kCorruption,
                    "field " + std::to_string(tag) + " is given, but the store was not closed cleanly");
    }
  }
}

Result<Root> read_fields(std::string_view fields) {
  Root root;
  OrderedFieldReader reader("CURRENT", fields);
  read_store_id(reader, &root.store_id);
  reader.require_number(kGenerationTag, &root.generation);
  read_feature_set(reader, kCompatibleTag, &root.features.compatible);
  read_feature_set(reader, kReadCompatibleTag, &root.features.read_compatible);
  read_feature_set(reader, kIncompatibleTag, &root.features.incompatible);
  read_manifest(reader, &root);
  read_state(reader, &root.state);
  if ((root.manifest_number == 0) != (root.state == RootState::kCreating)) {
    reader.refuse(Code::kCorruption, "a manifest must be named if, and only if, the store is fully created");
  }
  if (root.state == RootState::kClean) {
    read_clean_end(reader, &root);
  } else {
    refuse_clean_end(reader);
  }
  if (Status read = reader.finish(&root.unknown_fields); !read.ok()) return read;
  return root;
}

}  // namespace

Status check_features(const Features& features, bool for_writing) {
  if (Status incompatible = refuse_unknown_bits(features.incompatible, kKnownFeatures.incompatible, "incompatible",
                                                "a newer build is needed to open it");
      !incompatible.ok()) {
    return incompatible;
  }
  if (!for_writing) return Status();
  return refuse_unknown_bits(features.read_compatible, kKnownFeatures.read_compatible, "read-compatible",
                             "this build may only open it read-only");
}

std::string encode_root(const Root& root, std::uint64_t seed) {
  assert(root.last_version <= kCommitVersionMax);
  std::string bytes = encode_file_header({FileType::kRoot, kFormatVersion, seed, 0});
  write_fields(bytes, root);
  const std::string_view fields = std::string_view(bytes).substr(kFileHeaderBytes);
  append_u64(bytes, checksum_at({seed, kFileHeaderBytes}, fields));
  assert(bytes.size() <= kRootBytesMax);
  return bytes;
}

Result<Root> decode_root(std::string_view bytes) {
  const Result<FileHeader> header = decode_file_header(bytes, FileType::kRoot);
  if (!header.ok()) return header.status();
  if (bytes.size() > kRootBytesMax) {
    return Status::corruption("CURRENT: " + std::to_string(bytes.size()) + " bytes are over the limit of " +
                              std::to_string(kRootBytesMax));
  }
  if (bytes.size() < kFileHeaderBytes + kChecksumBytes) return Status::corruption("CURRENT: is cut short");
  const std::size_t fields_end = bytes.size() - kChecksumBytes;
  const std::string_view fields = bytes.substr(kFileHeaderBytes, fields_end - kFileHeaderBytes);
  if (load_u64(bytes.data() + fields_end) != checksum_at({header->seed, kFileHeaderBytes}, fields)) {
    return Status::corruption("CURRENT: content does not verify");
  }
  return read_fields(fields);
}

}  // namespace varve::format
